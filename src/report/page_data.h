/* page_data.h - the numbers of a page as JSON, for the script in web/ that draws them. */
#ifndef REPORT_PAGE_DATA_H
#define REPORT_PAGE_DATA_H

#include "base/output.h"
#include "report/page.h"

bool page_data_write(output *out, const report_view *v, bda_error *err);

#endif
