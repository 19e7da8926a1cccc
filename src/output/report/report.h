/* report: all of a report, for outputs that contain one. */
#ifndef OUTPUT_REPORT_REPORT_H
#define OUTPUT_REPORT_REPORT_H

#include "findings/findings.h"
#include "output/report/page.h"

/*
 * Finds what a report says, and puts the report on each of count pages. findings has what is set
 * before findings_begin(), and then all that the report is made of. source is what the heap was
 * read from. Errors: G2H_ERROR_MEMORY, and those of g2h_write_report() for what is asked for.
 */
struct g2h_error *report_make(struct findings *findings, const struct g2h_report_options *wanted,
                              const char *source, struct page *pages, size_t count);

#endif
