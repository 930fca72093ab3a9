/* crammer_singer.h - what the two files of Crammer-Singer blocks share: crammer_singer.c (the solver) and
 * crammer_singer_points.c (kept points). */
#ifndef PROBLEM_CRAMMER_SINGER_H
#define PROBLEM_CRAMMER_SINGER_H

#include "base/vector.h"
#include "problem/multiclass.h"
#include "problem/points.h"

typedef struct entry {
    double now, start;
    uint32_t class;
} entry;

/* Where the entries of an instance are in the pool. */
typedef struct span {
    uint64_t at;
    uint32_t used, room;
} span;

typedef struct cs_cell {
    double value;
    uint32_t class;
} cs_cell;

/* A kept point: the alphas that are not 0, but for each instance's own class, which has minus their sum. */
typedef struct cs_point {
    uint64_t *start; /* [count + 1] */
    double *own;     /* [count] */
    cs_cell *cell;
    uint64_t room;
} cs_point;

typedef struct crammer_singer {
    multiclass m;
    bool squared;
    double *clear_until; /* [count] as in linear.c */
    uint8_t *settled;    /* [count] left out of this round */
    uint32_t active;     /* so many of m.order are not settled */
    uint32_t moving;     /* so many of these moved when last visited in this round */
    bool fresh;          /* the round has not begun */
    double allowed;      /* cells that the epochs of this round may still visit */
    span *span;          /* [count] */
    entry *pool;
    uint64_t pool_used, pool_room;

    /* Work space, [classes] each; now and place are clean between visits */
    double *now;     /* alpha */
    double *bound;   /* B */
    uint32_t *place; /* of the class among the instance's entries, counted from 1; 0: none */
    uint32_t *above; /* classes with B_m > theta, or those that change */
    uint32_t *all;   /* 0, 1, 2 ... */
    uint32_t *held;  /* classes of the instance's entries, and its own */

    cs_point point[POINTS_MOST];
    double *merged;    /* [classes] work space of the points, clean between instances */
    uint32_t *touched; /* [classes] */
} crammer_singer;

static inline entry *cs_entries(const crammer_singer *b, uint32_t i)
{
    return b->pool + b->span[i].at;
}

/* Room for one more entry of instance i; entries may move. False: no memory. */
bool cs_make_room(crammer_singer *b, uint32_t i);

/* Adds the loss, the conjugate and the gap of an instance at its scores z. */
void cs_evaluate_instance(const crammer_singer *b, uint32_t i, const double *z, sum *loss, sum *conjugate, sum *gap);

/* The next epoch is the first of a round. */
void cs_begin_round(crammer_singer *b);

/* See block_state. */
void crammer_singer_state(block *base, archive *a);

extern const point_kind crammer_singer_points;

/* block_describe and block_move */
void cs_describe(const block *base, block_direction *d);
void cs_move(block *base, double eta);

#endif
