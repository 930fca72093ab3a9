/* page.h - a comparison as a page of HTML, as a table of comma-separated values, and as pictures. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/scaling.h"

typedef struct report_view {
    const comparison *comparison;
    const series_list *series;
    const network *network;
    const char *network_text; /* as it was asked for */
    int refresh;              /* seconds after which the page loads itself again; 0: never */
} report_view;

/* All in one file that needs no other. */
bool page_write(const report_view *v, const char *path, bda_error *err);
/* A line for each round of each run. */
bool csv_write(const report_view *v, const char *path, bda_error *err);
/* Figures for papers, into a directory that is made if need be. */
bool svg_write(const report_view *v, const char *directory, bda_error *err);

#endif
