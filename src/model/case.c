#include "model/case.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cipher.h"
#include "model/mac.h"

static const char *const status_names[] = {
	[XB_PLANNED] = "planned",
	[XB_MEASURED] = "measured",
	[XB_NOT_OFFERED] = "not_offered",
	[XB_UNSUPPORTED] = "unsupported",
	[XB_FAILED] = "failed",
};

static const char *const method_names[XB_METHOD_COUNT] = {
	[XB_METHOD_EXEC] = "exec",
	[XB_METHOD_SCP] = "scp",
	[XB_METHOD_SFTP] = "sftp",
	[XB_METHOD_LOGIN] = "login",
};

static const char *const direction_names[XB_DIRECTION_COUNT] = {
	[XB_UPLOAD] = "upload",
	[XB_DOWNLOAD] = "download",
};

const char *
xb_status_name(enum xb_status status)
{
	return status_names[status];
}

const char *
xb_method_name(enum xb_method method)
{
	return method_names[method];
}

const char *
xb_direction_name(enum xb_direction direction)
{
	return direction_names[direction];
}

bool
xb_method_find(const char *name, enum xb_method *method)
{
	for (int i = 0; i < XB_METHOD_COUNT; i++)
		if (strcmp(name, method_names[i]) == 0) {
			*method = (enum xb_method)i;
			return true;
		}
	return false;
}

static char *
copy_of(const char *name)
{
	return name != NULL ? xb_strdup(name) : NULL;
}

void
xb_suite_init(struct xb_suite *suite, const char *cipher_name, const char *mac_name,
    const char *compression)
{
	*suite = (struct xb_suite){
		.cipher_name = copy_of(cipher_name),
		.cipher = cipher_name != NULL ? xb_cipher_by_name(cipher_name) : NULL,
		.mac_name = copy_of(mac_name),
		.mac = mac_name != NULL ? xb_mac_by_name(mac_name) : NULL,
		.compression = copy_of(compression),
	};
}

static bool
same_name(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
xb_suite_equal(const struct xb_suite *a, const struct xb_suite *b)
{
	return same_name(a->cipher_name, b->cipher_name) && same_name(a->mac_name, b->mac_name) &&
	    same_name(a->compression, b->compression) && same_name(a->kex, b->kex) &&
	    same_name(a->hostkey, b->hostkey);
}

void
xb_suite_free(struct xb_suite *suite)
{
	free(suite->cipher_name);
	free(suite->mac_name);
	free(suite->compression);
	free(suite->kex);
	free(suite->hostkey);
	*suite = (struct xb_suite){ 0 };
}

const char *
xb_suite_cipher_label(const struct xb_suite *suite)
{
	if (suite->cipher_name == NULL)
		return "as negotiated";
	return suite->cipher != NULL ? suite->cipher->label : suite->cipher_name;
}

const char *
xb_suite_mac_label(const struct xb_suite *suite)
{
	if (suite->mac_name == NULL)
		return suite->cipher != NULL ? "built in" : "-";
	return suite->mac != NULL ? suite->mac->label : suite->mac_name;
}

void
xb_case_refuse(struct xb_case *c, enum xb_status status, const char *reason, const char *hint)
{
	bool refused = c->status != XB_PLANNED && c->status != XB_MEASURED;

	/* A status always goes with the reason that was given for it. */
	if (refused && c->reason != NULL)
		return;
	c->status = status;
	if (c->reason != NULL)
		return;
	c->reason = xb_strdup(reason);
	free(c->hint);
	c->hint = hint != NULL ? xb_strdup(hint) : NULL;
}

void
xb_case_free(struct xb_case *c)
{
	xb_suite_free(&c->suite);
	free(c->reason);
	free(c->hint);
	*c = (struct xb_case){ 0 };
}
