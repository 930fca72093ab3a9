/* weights.h - weights of instances, from a text file (--weights). */
#ifndef RUN_WEIGHTS_H
#define RUN_WEIGHTS_H

#include "data/data.h"

/* Weighs the data by the file: a number from 0 on for each instance, a line each in the order of the data, perhaps
 * packed; with "{rank}" in its name each rank has a file for its own instances. Collective. */
bool weights_read(comm *c, const char *path, data *d, bda_error *err);

#endif
