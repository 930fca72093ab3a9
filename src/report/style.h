/* style.h - how a run is drawn, in the page and in pictures alike: colours that the colour-blind tell apart, the same for
 * a method wherever it is drawn, and dashes for runs that share one. */
#ifndef REPORT_STYLE_H
#define REPORT_STYLE_H

#include "report/compare.h"

enum { STYLE_COLOURS = 7, STYLE_DASHES = 5 };

extern const char *const style_colour[STYLE_COLOURS]; /* on white; the page has its own for dark screens */
extern const char *const style_dash[STYLE_DASHES];    /* of SVG; "": none */

typedef struct run_style {
    int colour, dash;
} run_style;

/* style: [runs] */
void style_choose(const comparison *c, run_style *style);

/* Rounds of a run that are drawn where there are many: at most `room` (at least 2), the first and the last among them,
 * half evenly spread and half more densely at the beginning. t: [room], increasing; returns how many. */
uint64_t style_thin(uint64_t rounds, uint64_t room, uint64_t *t);

#endif
