#ifndef XB_REPORT_JSON_PARTS_H
#define XB_REPORT_JSON_PARTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "model/namelist.h"

/*
 * What the parts of the JSON report share; private to the json*.c files. A NULL that one of these
 * functions returns, for want of memory, makes each json_pack and append above it give NULL too, and
 * is told once at the end.
 */

struct xb_run;

/* NAN and infinities are null. */
json_t *xb_json_number(double value);

/* JSON integers are signed here; what is larger is a number all the same. */
json_t *xb_json_count(uint64_t value);

/* The first len bytes; NULL is null. What is no UTF-8 is shown as \xNN. */
json_t *xb_json_text_part(const char *text, size_t len);
json_t *xb_json_text(const char *text);

/* A string in an array of its own, which a broken trial may have left open; "" is null. */
json_t *xb_json_text_array(const char *array, size_t size);

/* Adds to an array and returns it; NULL when one of both is NULL or memory ran out. */
json_t *xb_json_append(json_t *array, json_t *value);

json_t *xb_json_names(const struct xb_namelist *list);

/* Each case with its samples, in the order of the plan. */
json_t *xb_json_results(const struct xb_run *run);

#endif
