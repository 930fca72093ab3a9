/* cost.c - the work of newton, tron, l-commdir and a dual method for a problem, in counts that are known before training.
 *
 * What a round or a pass takes follows from its loops. How many of them there will be does not: that is what the
 * constants below are for. `./dev bench auto` and `./dev bench regret` judge them; they are far from critical, for where
 * methods are close it does not matter, and where they are not the estimates differ by orders of magnitude.
 *
 * How many passes a dual method takes for a differentiable loss follows from C times the mean of |x_i|^2, the stiffness
 * s (the rate of stochastic dual coordinate ascent, Shalev-Shwartz and Zhang 2013), within a factor of two on the data
 * sets tried. For losses with kinks nothing of the kind is known beforehand, but passes tell: a hundredth of the gap
 * takes about four times as many, and a dual method is cheap to begin with beside newton. */
#include "methods/cost.h"

#include <math.h>

#include "base/sizes.h"

/* Rounds of newton where P is not quadratic, where one would do; of a loss that is quadratic but for a narrow tube the
 * mean of the two. The entropies take one less, and more with the cube root of s, for the less P is bent, the nearer to
 * a quadratic it is all the way. */
#define NEWTON_ROUNDS 5.0
#define NEWTON_BENT 2.0
/* Rounds of its interior point form: for a digit asked for (natural logarithms) and for log n. */
#define INTERIOR_DIGITS 0.65
#define INTERIOR_WEIGHTS 0.9
/* Rounds of l-commdir: a few to begin with, and for a digit 13.5 s; with few weights a share of a round more, because
 * there is less to learn in the first ones. */
#define LCOMMDIR_FIRST 2.0
#define LCOMMDIR_DIGITS 13.5
#define LCOMMDIR_FEW_WEIGHTS 0.35
/* Rounds of lbfgs where g is not strongly convex, until the gap follows the objective; those of newton are so many times
 * as many there. */
#define LBFGS_ROUNDS 300.0
#define NEWTON_WITHOUT_CONVEXITY 4.0
/* Passes of tron for the softmax grow slowly with the condition of the problem, of which all rows together are the
 * measure: within a factor of 1.5 from 100 to a million on the data sets tried, but for one of nearly independent
 * columns, which needs half. */
#define TRON_DIGITS 0.55
#define TRON_CONDITION 0.35
/* Passes of a dual method for the softmax, where steps are dear and few passes and many are told apart more closely:
 * to begin with (also rounds of l-commdir with few weights), for a digit where blocks hardly disturb each other, and
 * with momentum, which makes passes grow with the root of s. */
#define SOFTMAX_FIRST 1.5
#define SOFTMAX_DIGITS 0.3
#define SOFTMAX_MOMENTUM 2.0
#define BLOCKS_FACTOR 4.0 /* more passes, and more for each, where there are several blocks that do not share */
/* The objective falls from P(0) to about P(0) / (1 + 3 min(s, 1)), within a factor of three on the data sets tried: a
 * gap relative to it is as much smaller beside that of the start. */
#define FALL_OF_LOSS 3.0
/* Blocks do not share where the stiffness is less and w longer than that, see own_blocks_do; for the logistic loss it is the stiffness
 * times the digits. */
#define SOFT 0.03
#define SOFT_LOGISTIC 2.4
#define SOFT_DIGITS 0.2 /* of the same product: few enough for any smooth loss */
#define SOFT_COLUMNS 8192
#define CELLS_A_WEIGHT 16.0 /* fewer: rows with little in common */
/* See cost_newton_is_faster. */
#define TRIED 0.08 /* of newton's time is spent on hull before it is given up */
#define FALL 0.31
#define UNCERTAIN 0.75   /* of P: the gap after the first pass */
#define MANY_PASSES 60.0 /* are needed then */

/* Counts that follow from the loops. In exponentials: the logistic loss in a pass of l-commdir, beside the loss itself;
 * a dual step of it, which is an iteration; a class of the softmax in either, and its step for all classes together. */
#define LOGISTIC_EXPONENTIALS 0.5
#define ENTROPY_EXPONENTIALS 4.0
#define CLASS_EXPONENTIALS 2.0
#define SOFTMAX_EXPONENTIALS 8.0
#define INTERIOR_PASSES 4.0 /* of a round: two systems are solved, each with margins and an image */
#define SHORT_MESSAGES 4    /* of a round, beside its vectors: sums for the evaluation and for the step */

/* ---- what is known ------------------------------------------------------------------------------------------------- */

static double gap_of_start(const problem *p, const method_options *o)
{
    return o->gap_of_start ? o->gap : o->gap / (1 + FALL_OF_LOSS * fmin(p->stiffness, 1));
}

extent cost_extent(const problem *p, const method_options *o)
{
    const double blocks = (double)p->data->blocks, rows = (double)p->data->rows_all, gap = gap_of_start(p, o);
    return (extent){
        .problem = p,
        .cells = (double)p->nonzeros / blocks,
        .pairs = p->pairs * rows / blocks,
        .rows = rows / blocks,
        .n = (double)p->n,
        .classes = (double)p->outputs,
        .stiffness = p->stiffness,
        .gap = gap,
        .digits = -log(fmin(fmax(gap, 1e-15), 0.5)),
    };
}

static bool is_softmax(const extent *e)
{
    return e->problem->task->entropic && !e->problem->task->single;
}

/* One model takes the rounds of one rank. Trainings of no time at all keep to blocks, and so to the same bits. Where
 * C is small and blocks hardly disturb each other, long vectors cost more to share than that saves: most alpha of a
 * loss with kinks then go to their bounds and stay there, rows with many rare columns have little in common, and the
 * first few rounds are as good in blocks of their own, which may be all. With the logistic losses, whose rounds are
 * few, this holds for larger C. A hinge loss of many classes wants to be shared whatever C is. */
static bool own_blocks_do(const extent *e)
{
    const problem *p = e->problem;
    const bool kinks = !p->loss->smooth, rare = CELLS_A_WEIGHT * (double)p->n > (double)p->nonzeros;
    const double asked = e->stiffness * e->digits;
    const bool soft = p->task->entropic ? asked < SOFT_LOGISTIC : p->task->single && e->stiffness < SOFT;
    return soft && p->n >= SOFT_COLUMNS && (kinks || rare || asked < SOFT_DIGITS);
}

bool cost_sharing_pays(const extent *e)
{
    const problem *p = e->problem;
    return p->data->blocks > 1 && e->classes * (double)p->nonzeros >= (double)base_sizes.shared_cells &&
           !own_blocks_do(e);
}

/* ---- work ------------------------------------------------------------------------------------------------------------ */

static work none(void)
{
    return (work){0};
}

static void add(work *to, double times, work w)
{
    for (int k = 0; k < MACHINE_UNITS; k++)
        to->count[k] += times * w.count[k];
}

static void add_cells(work *to, const extent *e, double times)
{
    to->count[e->classes > 1 ? UNIT_CLASS_CELL : UNIT_CELL] += times * e->classes * e->cells;
}

/* Vectors of n numbers that all ranks sum. One block has nobody to tell. */
static void add_messages(work *to, const extent *e, double numbers)
{
    if (e->problem->data->blocks > 1) {
        to->count[UNIT_MESSAGE] += 1 + SHORT_MESSAGES;
        to->count[UNIT_BYTE] += sizeof(double) * numbers;
    }
}

static work primal_pass(const extent *e)
{
    work w = none();
    add_cells(&w, e, 1);
    w.count[UNIT_LOSS] += e->classes * e->rows;
    return w;
}

static work matrix(const extent *e)
{
    work w = none();
    w.count[UNIT_PAIR] = e->classes * e->classes * e->pairs;
    w.count[UNIT_DENSE] = e->n * e->n * e->n / 3;
    add_messages(&w, e, e->n * (e->n + 1) / 2);
    return w;
}

static double newton_rounds(const extent *e)
{
    const loss *f = e->problem->loss;
    if (!f->smooth)
        return INTERIOR_DIGITS * e->digits + INTERIOR_WEIGHTS * log(e->n);
    if (e->problem->task->entropic)
        return NEWTON_ROUNDS - 1 + fmin(1, NEWTON_BENT * cbrt(e->stiffness));
    return f->quadratic ? 1 : f->regression ? (1 + NEWTON_ROUNDS) / 2 : NEWTON_ROUNDS;
}

work cost_newton(const extent *e)
{
    const double times = e->problem->penalty.l1_ratio == 1 ? NEWTON_WITHOUT_CONVEXITY : 1;
    work round = matrix(e), all = none();
    add(&round, e->problem->loss->smooth ? 2 : INTERIOR_PASSES, primal_pass(e));
    add(&all, times * newton_rounds(e), round);
    return all;
}

/* Of the softmax. */
work cost_tron(const extent *e)
{
    const double condition = (double)e->problem->data->rows_all * e->stiffness;
    const double passes = TRON_DIGITS * (2 + e->digits) * pow(condition, TRON_CONDITION), rounds = 1 + e->digits / 2;
    work pass = none(), all = none();
    pass.count[UNIT_WIDE_CELL] = e->cells;
    pass.count[UNIT_WIDE_CLASS] = e->classes * e->cells;
    pass.count[UNIT_WIDE_ROW] = e->classes * e->rows;
    add_messages(&pass, e, e->n);
    add(&all, passes, pass);
    all.count[UNIT_EXPONENTIAL] += rounds * e->classes * e->rows;
    return all;
}

/* Of the logistic loss and the softmax: a step of a quasi-Newton method for each round, of which rows that have much in
 * common need more; less so where weights are few. */
work cost_l_commdir(const extent *e, bool few_weights)
{
    const double rounds = few_weights ? SOFTMAX_FIRST + LCOMMDIR_FEW_WEIGHTS * e->digits : LCOMMDIR_FIRST;
    work round = none(), all = none();
    add_cells(&round, e, 2);
    if (e->classes > 1) {
        round.count[UNIT_EXPONENTIAL] = 2 * CLASS_EXPONENTIALS * e->classes * e->rows;
    } else {
        round.count[UNIT_LOSS] = 2 * e->rows;
        round.count[UNIT_EXPONENTIAL] = 2 * LOGISTIC_EXPONENTIALS * e->rows;
    }
    add_messages(&round, e, e->n);
    add(&all, rounds + LCOMMDIR_DIGITS * e->stiffness * e->digits, round);
    return all;
}

work cost_lbfgs(const extent *e)
{
    work round = none(), all = none();
    add(&round, 2, primal_pass(e));
    add_messages(&round, e, e->n);
    add(&all, LBFGS_ROUNDS, round);
    return all;
}

work cost_dual_pass(const extent *e)
{
    work w = none();
    const double steps = e->classes * e->rows;
    add_cells(&w, e, 2);
    if (e->classes > 1)
        w.count[UNIT_EXPONENTIAL] = CLASS_EXPONENTIALS * steps + (is_softmax(e) ? SOFTMAX_EXPONENTIALS * e->rows : 0);
    else
        w.count[e->problem->task->entropic ? UNIT_EXPONENTIAL : UNIT_STEP] =
            e->problem->task->entropic ? ENTROPY_EXPONENTIALS * steps : steps;
    add_messages(&w, e, e->n);
    return w;
}

static double dual_passes(const extent *e)
{
    const double s = e->stiffness;
    if (is_softmax(e))
        return SOFTMAX_FIRST + (SOFTMAX_DIGITS + fmin(s, SOFTMAX_MOMENTUM * sqrt(s)) / 2) * e->digits;
    return 1 + (1 + s) * e->digits / 2;
}

work cost_dual(const extent *e)
{
    const problem *p = e->problem;
    const bool few_rounds = p->task->entropic && own_blocks_do(e);
    const bool apart = p->data->blocks > 1 && !cost_sharing_pays(e) && !few_rounds;
    work all = none();
    add(&all, dual_passes(e) * (apart ? BLOCKS_FACTOR : 1), cost_dual_pass(e));
    return all;
}

/* ---- while hull is under way ----------------------------------------------------------------------------------------- */

/* Where the first epoch leaves most of P uncertain, many are needed. Later on, what is left takes about epochs
 * (to_go^FALL - 1) epochs more: on the data sets tried the powers that fit are between 0.22 and 0.31, the rest of a
 * round counted in epochs. */
bool cost_newton_is_faster(const stage *s)
{
    const double worth = s->next_cost, epochs = s->pace.work;
    if (s->point.round == 1 && s->point.gap > UNCERTAIN * s->point.primal && worth < MANY_PASSES)
        return true;
    return epochs >= TRIED * worth && epochs * (pow(s->pace.to_go, FALL) - 1) > worth;
}
