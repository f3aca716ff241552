#ifndef XB_OPTIONS_H
#define XB_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"
#include "model/namelist.h"
#include "target/target.h"

struct xb_err;

enum xb_command { XB_COMMAND_RUN, XB_COMMAND_RAW, XB_COMMAND_LIST };

/* The command line, parsed and checked; const afterwards. Strings are owned. */
struct xb_options {
	enum xb_command command;
	bool help;
	bool version;
	/* target */
	char *host; /* NULL: a private server */
	unsigned port;
	char *user;
	struct xb_namelist identities;
	char *ssh_config;               /* -F; NULL: ssh's own files */
	struct xb_namelist ssh_options; /* -o */
	char *jump;                     /* -J */
	enum xb_hostkey_policy policy;
	char *known_hosts;
	char *sshd;
	int64_t connect_timeout_ns;
	bool timeout_given;
	int64_t stall_timeout_ns;
	/* what */
	char *ciphers; /* NULL: the default */
	char *macs;
	/* lists as struct xb_plan_request has them, NULL: not given */
	char *compression;
	char *clients;
	char *methods;
	char *directions;
	char *streams;
	char *servers;       /* kinds of private servers, each once, by commas; NULL: openssh */
	unsigned window;     /* --dropbear-window, bytes; 0: dropbear's own */
	unsigned handshakes; /* --handshake; 0: a run that streams */
	char *kex;
	char *hostkeys; /* --host-key-algorithms */
	char *remote_file;
	char *payload;
	/* how much */
	int64_t time_ns; /* 0: no time-box */
	uint64_t size;   /* 0: no size */
	unsigned rounds;
	int64_t max_ns; /* 0: no bound */
	uint64_t seed;
	bool pin;
	/* output */
	enum xb_rate_unit unit;
	char *export_json; /* NULL: none */
	bool quiet;
	bool verbose;
};

/* Parses argv into options. False with err set (XB_FAULT_USAGE): it names the option, the value and
 * what would be accepted. Free in either case. */
bool xb_options_parse(struct xb_options *options, int argc, const char **argv, struct xb_err *err);
void xb_options_free(struct xb_options *options);

/*
 * The target that the options ask for; strings stay theirs. server is the kind of a private server, one
 * of options->servers, NULL: the usual one; server_cpu is for a private server, -1: anywhere.
 */
struct xb_target_options xb_options_target(const struct xb_options *options, const char *server,
    int server_cpu);

/* The help text, grouped, within 80 columns. */
void xb_options_help(FILE *out);

#endif
