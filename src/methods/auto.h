/* auto.h - the method for a person who does not want to choose. */
#ifndef METHODS_AUTO_H
#define METHODS_AUTO_H

#include "problem/problem.h"

/* What `--method=auto` is until the data are known. */
extern const method auto_method;

/* The method that is expected to be the fastest for the problem, the same on all ranks. */
const method *auto_choose(const problem *p, const method_options *options);

/* The options that the chosen method is run with, likewise. */
method_options auto_options(const problem *p, const method *chosen, const method_options *asked);

#endif
