/* accelerate.h - a preset of the outer loop inside an accelerated proximal point method (--accelerate). */
#ifndef DUAL_ACCELERATE_H
#define DUAL_ACCELERATE_H

#include "dual/dual.h"

/* As dual_train. Collective. */
bool dual_accelerated(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err);

#endif
