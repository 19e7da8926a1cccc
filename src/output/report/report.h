/*
 * report: all of a report, for outputs that contain one.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "findings/findings.h"
#include "findings/suspects.h"
#include "output/report/page.h"

/*
 * Runs the findings, and writes the report to each of count pages. findings has what is set before
 * findings_begin(), and then the results for the report. source is what the heap was read from.
 * *suspects, {0} before, gets those of the report, if it is about a whole heap; the caller passes
 * it to who_suspects_deinit() in any case. Errors: G2H_ERROR_MEMORY, and those of
 * g2h_write_report() for the queried object or class.
 */
struct g2h_error *report_make(struct findings *findings, const struct g2h_report_options *wanted,
                              const char *source, struct page *pages, size_t count,
                              struct who_suspects *suspects);

#endif
