/* table.h - all methods by name. */
#ifndef METHODS_TABLE_H
#define METHODS_TABLE_H

#include "problem/method.h"

extern const method *const methods[]; /* NULL-terminated */
const method *method_find(const char *name);

#endif
