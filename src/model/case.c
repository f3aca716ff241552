#include "model/case.h"

#include <stdlib.h>

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

static const char *const method_names[] = { [XB_METHOD_EXEC] = "exec" };

static const char *const direction_names[] = { [XB_UPLOAD] = "upload" };

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

const char *
xb_suite_cipher_label(const struct xb_suite *suite)
{
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
	free(c->suite.cipher_name);
	free(c->suite.mac_name);
	free(c->reason);
	free(c->hint);
	*c = (struct xb_case){ 0 };
}
