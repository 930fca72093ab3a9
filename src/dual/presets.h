/* presets.h - the members of the framework: which B, which step. Data, not code: there is one outer loop. */
#ifndef DUAL_PRESETS_H
#define DUAL_PRESETS_H

#include "problem/method.h"

typedef enum a1_choice { A1_ZERO, A1_ONE, A1_BLOCKS, A1_INSTANCES } a1_choice;
typedef enum a2_choice { A2_ZERO, A2_DAMPED, A2_LARGEST_NORM } a2_choice;
typedef enum step_choice { STEP_ONE, STEP_AVERAGE, STEP_A1_AVERAGE } step_choice; /* 1, 1/K, a1/K */

typedef struct preset {
    a1_choice a1;
    a2_choice a2;  /* A2_DAMPED: 1e-3 where xi* is not strongly convex and there is more than one block */
    bool separate; /* only the diagonal of the blocks */
    line_search search;
    step_choice step;             /* where there is no line search */
    bool a1_between_1_and_blocks; /* what --a1 may be */
    bool paper_inference;         /* of structures: INFERENCE_ROUND and 10 learning epochs, as in the paper */
    bool safe;                    /* of structures: a1 = 1 does with h as it is */
} preset;

extern const method online_method; /* of auto alone */
extern const method momentum_method, bda_method, hull_method, disdca, disdca_basic, cocoa_plus, dsvm_ave, prox_grad;

#endif
