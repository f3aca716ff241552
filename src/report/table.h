#ifndef XB_REPORT_TABLE_H
#define XB_REPORT_TABLE_H

#include "report/report.h"

/*
 * The first screen: header, one row per suite with a rate column per client, footnotes with the
 * reason of each row without a rate, and on a terminal the answer in words. All that is shown was
 * measured or says what it is not.
 */
extern const struct xb_report xb_report_table;

#endif
