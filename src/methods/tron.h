/* tron.h - the trust region of TRON, for who wants to see it: its rule, and a run that shows every region. */
#ifndef METHODS_TRON_H
#define METHODS_TRON_H

#include "problem/method.h"

typedef struct tron_trial {
    double radius; /* of the region in which the step was sought */
    double length; /* of the step that was found */
    double taken;  /* the part of it at which P is least */
    bool boundary; /* the region cut it short */
} tron_trial;

/* The radius of the next region. */
double tron_radius(const tron_trial *s);

/* Is told of every trial, on every rank, before the step is taken. */
typedef struct tron_observer tron_observer;
struct tron_observer {
    void (*trial)(tron_observer *self, const tron_trial *s, double next_radius);
};

/* What the method's train does; observer may be NULL. Collective. */
bool tron_minimise(problem *p, watch *watch, tron_observer *observer, bda_error *err);

#endif
