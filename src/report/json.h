#ifndef XB_REPORT_JSON_H
#define XB_REPORT_JSON_H

#include "report/report.h"

/*
 * A whole run as JSON, "schema": "xferbench/1", described by doc/result.schema.json: rates in bytes
 * per second, times in seconds, what is unknown is null. Always valid ASCII JSON, whatever bytes
 * a string has: those that are not UTF-8 are shown as \xNN. The style is not used.
 */
extern const struct xb_report xb_report_json;

#endif
