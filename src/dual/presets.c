/* presets.c - the methods that are one outer loop (dual.c) with different B and step. */
#include "dual/presets.h"

#include "dual/dual.h"
#include "dual/hull.h"

#define ANY "any loss and task"

/* Lee and Chang: the block-diagonal Hessian as it is, and a line search. */
const method bda_method = {
    .name = "bda",
    .summary = "block-diagonal approximation with line search (Lee and Chang 2019)",
    .needs = ANY,
    .preset = &(const preset){.a1 = A1_ONE, .a2 = A2_DAMPED, .search = SEARCH_DEFAULT, .paper_inference = true},
    .train = dual_train,
};

/* For tags and trees: outputs are sought where they are needed, in every visit. */
const method online_method = {
    .name = "bda",
    .preset = &(const preset){.a1 = A1_ONE, .a2 = A2_ZERO, .search = SEARCH_DEFAULT},
    .train = dual_train,
};

/* Yang 2013, practical variant: a1 = K bounds the Hessian, so the full step is safe. */
const method disdca = {
    .name = "disdca",
    .summary = "distributed dual coordinate ascent, practical variant (Yang 2013)",
    .needs = ANY,
    .preset = &(const preset){.a1 = A1_BLOCKS, .search = SEARCH_NONE, .step = STEP_ONE},
    .train = dual_train,
};

/* Yang 2013, basic variant, all instances sampled: every instance is a block, so l times the diagonal is a bound. */
const method disdca_basic = {
    .name = "disdca-basic",
    .summary = "distributed dual coordinate ascent, basic variant (Yang 2013)",
    .needs = ANY,
    .preset = &(const preset){.a1 = A1_INSTANCES, .separate = true, .search = SEARCH_NONE, .step = STEP_ONE},
    .train = dual_train,
};

/* Ma et al. 2015: any a1 = a in [1, K] with the step a/K. */
const method cocoa_plus = {
    .name = "cocoa+",
    .summary = "CoCoA+ (Ma et al. 2015); --a1=A with 1 <= A <= K takes the step A/K",
    .needs = ANY,
    .preset =
        &(const preset){
            .a1 = A1_BLOCKS, .search = SEARCH_NONE, .step = STEP_A1_AVERAGE, .a1_between_1_and_blocks = true},
    .train = dual_train,
};

/* Pechyony, Shen and Jones 2011. */
const method dsvm_ave = {
    .name = "dsvm-ave",
    .summary = "local solutions averaged in every round (Pechyony et al. 2011)",
    .needs = ANY,
    .preset = &(const preset){.a1 = A1_ONE, .search = SEARCH_NONE, .step = STEP_AVERAGE},
    .train = dual_train,
};

/* B = a2 I. */
const method prox_grad = {
    .name = "prox-grad",
    .summary = "proximal gradient on the dual with line search",
    .needs = ANY,
    .preset = &(const preset){.a1 = A1_ZERO, .a2 = A2_LARGEST_NORM, .separate = true, .search = SEARCH_DEFAULT},
    .train = dual_train,
};

/* The block-diagonal model of bda, and a search over the hull of past points (hull.c). */
const method hull_method = {
    .name = "hull",
    .summary = "primal-dual hull: block-diagonal models, a search over past points",
    .needs = "any loss; rows, not sentences",
    .rows = true,
    .preset = &(const preset){.a1 = A1_ONE, .a2 = A2_DAMPED, .search = SEARCH_DEFAULT},
    .primal = true,
    .train = hull_train,
};
