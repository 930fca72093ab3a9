/* working_set.h - the outputs of one unit that have dual variables, and the sub-problem over them.
 *
 * A member is an output y with alpha_y >= 0. Its image phi_y is not kept, but the products of all pairs of images are
 * (their Gram matrix), so that the sub-problem of the unit is one over few numbers:
 *
 *     min over alpha >= 0   sum_y d_y g_y + 1/2 d'(a1 G + a2 I) d + xi*(-alpha),      d = alpha - now
 *
 * with g_y = phi_y'u - wrong_y where a2 is centred at `start`, and sum alpha <= C for the hinge. */
#ifndef PROBLEM_WORKING_SET_H
#define PROBLEM_WORKING_SET_H

#include "base/archive.h"

typedef struct member {
    double now, start;    /* alpha_y: as the epochs leave it, and at the start of the round */
    double slope;         /* g_y at hand */
    double was;           /* alpha_y before the visit at hand */
    uint32_t wrong;       /* parts that differ from gold */
    uint32_t rounds_idle; /* in which it stayed at 0 */
} member;

/* All in one piece of memory: members, products [room][room], outputs [room][length]. */
typedef struct working_set {
    uint32_t used, room, length;
    member *member;
    double *gram;
    uint16_t *output;
} working_set;

void working_set_free(working_set *w);

static inline const uint16_t *working_set_output(const working_set *w, uint32_t y)
{
    return w->output + (uint64_t)y * w->length;
}

/* The output's number, or `used` where it is none of them. */
uint32_t working_set_find(const working_set *w, const uint16_t *y);

/* Room for one more output of this length: `used` is its number, and its row of the Gram matrix is to be filled
 * before working_set_add. False: no memory. */
bool working_set_reserve(working_set *w, uint32_t length);
/* y: not an output of the set; product: [used + 1] with those of the set, and with itself */
void working_set_add(working_set *w, const uint16_t *y, uint32_t wrong, const double *product);
/* Outputs that stayed at 0 for so many rounds, counting this one, leave the set. */
void working_set_drop_idle(working_set *w, uint32_t rounds);

typedef struct set_problem {
    double a1, a2;
    double C;
    bool squared; /* hinge otherwise */
} set_problem;

/* From slope, now and start to a new now; `was` keeps the old one. True: something has changed. */
bool working_set_solve(working_set *w, const set_problem *p);

/* Of a unit of this length; see base/archive.h. */
void working_set_state(working_set *w, uint32_t length, archive *a);

double working_set_sum(const working_set *w); /* of now */

#endif
