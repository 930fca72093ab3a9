/* rivals.h - the methods that are not presets of the outer loop of dual/; each is a file of its own. */
#ifndef METHODS_RIVALS_H
#define METHODS_RIVALS_H

#include "problem/method.h"

extern const method newton_method, tron_method;
extern const method l_commdir, lbfgs;
extern const method admm, average, perceptron;

#endif
