/* table.h - all methods by name, and which of them serve a problem. */
#ifndef METHODS_TABLE_H
#define METHODS_TABLE_H

#include "problem/problem.h"

extern const method *const methods[]; /* NULL-terminated */
const method *method_find(const char *name);

/* Can the method do what is asked of it, by what is known before any data is read? BDA_USAGE and one sentence if not:
 * the option, the reason, and the methods that would do. The task takes the loss. */
bool method_may_serve(const method *m, const char *task, const loss *l, double l1_ratio, bool free_intercept,
                      bda_error *err);

/* The same with all that is known of the problem: the number of classes, the length of w. The same on every rank. */
bool method_serves(const method *m, const problem *p, bda_error *err);

#endif
