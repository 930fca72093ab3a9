/* auto.h - the method for a person who does not want to choose. */
#ifndef METHODS_AUTO_H
#define METHODS_AUTO_H

#include "problem/problem.h"
#include "problem/stage.h"

/* What `--method=auto` is until the data are known. */
extern const method auto_method;

/* The methods that are expected to be the fastest for the problem and what the person asked for, the same on all
 * ranks. Collective. */
plan auto_plan(const problem *p, const method_options *asked);

#endif
