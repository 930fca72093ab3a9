/* auto.c - which method is the fastest for a problem, by counts that are known before training.
 *
 * Few weights and a differentiable loss, or the logistic loss: the least of the estimates for newton, tron, l-commdir
 * and a dual method.
 *
 * Few weights and a loss with kinks: hull; newton instead, as soon as the fall of the gap says that it will be
 * faster.
 *
 * Otherwise: hull, or bda where there is no memory for what hull keeps. hull begins as plain dual coordinate descent
 * with shrinking, or with several blocks as bda, and goes on so where few passes will do.
 *
 * How many passes a dual method takes for a differentiable loss follows from C times the mean of |x_i|^2 (the rate of
 * stochastic dual coordinate ascent, Shalev-Shwartz and Zhang 2013), within a factor of two on the data sets tried.
 * For losses with kinks nothing of the kind is known beforehand, but passes tell: a hundredth of the gap takes about
 * four times as many, and a dual method is cheap to begin with beside newton.
 *
 * Options are kept: --local-epochs leaves bda and hull to choose from, --hull is hull's, --a1, --a2 and those of the
 * line search are bda's. The constants come from `./dev bench auto`; they are far from critical, for where the
 * methods are close it does not matter, and where they are not the estimates differ by orders of magnitude. No clock
 * is asked, so that the choice is the same for the same command. */
#include "methods/auto.h"

#include <math.h>
#include <string.h>

#include "dual/hull.h"
#include "dual/presets.h"
#include "methods/rivals.h"
#include "methods/table.h"

/* Rounds of newton; of its interior point form for the digits asked for and for log n, and the passes in each. */
#define NEWTON_ROUNDS 5.0 /* 1 where P is quadratic */
#define TUBE_ROUNDS 3.0   /* where it is but for a narrow tube */
#define INTERIOR_DIGITS 0.65
#define INTERIOR_WEIGHTS 0.9
#define INTERIOR_PASSES 4.0
/* From so many cells, times classes, on the blocks of one machine share their u; not where the stiffness is less than
 * SOFT and w as long as that, for a smooth loss one weight for so many cells or few digits asked for, see
 * own_blocks_do. For the logistic losses it is the stiffness times the digits. */
#define LEAST_SHARED 6e4
#define SOFT 0.03
#define SOFT_DIGITS 0.2
#define SOFT_LOGISTIC 2.4
#define SOFT_COLUMNS 8192
#define CELLS_A_WEIGHT 16.0
/* Multiplications a nanosecond: along sparse rows, in pairs of their cells, in dense_factor. */
#define ROW_SPEED 0.4
#define CLASS_SPEED 1.6 /* where each cell serves all classes */
#define PAIR_SPEED 1.0
#define DENSE_SPEED 6.0
/* Nanoseconds of a loss: in a primal method's pass (the logistic one in l-commdir's), in a dual step, and in a dual
 * step of the logistic loss, which is an iteration. */
#define LOSS_TIME 20.0
#define LOGISTIC_TIME 45.0
#define DUAL_TIME 10.0
#define ENTROPY_TIME 200.0
#define CLASS_TIME 100.0   /* for a class of the softmax, in l-commdir's pass as well */
#define SOFTMAX_TIME 400.0 /* in its dual step for all classes together */
/* Nanoseconds in tron with several classes: of a cell and of each of its classes in a pass, of a class of a row
 * there, and of that once a round, where exponentials are taken. */
#define CELL_PASS 1.2
#define CELL_CLASS_PASS 0.18
#define ROW_CLASS_PASS 4.0
#define ROW_CLASS_ROUND 50.0
/* The dual methods never need more passes than that, to the usual and to tight accuracies. */
#define MOST_DUAL_PASSES 120.0
#define MOST_TIGHT_PASSES 400.0
#define TIGHT 1e-4
#define BLOCKS_FACTOR 4.0 /* more passes, and more for each, where there are several blocks that do not share */
#define TRIED 0.08        /* of newton's time is spent on hull before it is given up */
#define FALL 0.31         /* see newton_is_faster */
#define UNCERTAIN 0.75    /* of P: the gap after the first pass */
#define MANY_PASSES 60.0  /* are needed then */
#define FALL_OF_LOSS 3.0  /* see gap_of_start */
#define FEW_COLUMNS 10.0  /* instances for each: no more than MOST_FALL is learnt from so few weights */
#define MOST_FALL 4.0

/* What the estimates are made from. Nanoseconds of a block, as blocks work side by side: not of a rank, for the model
 * shall not depend on how many ranks share the blocks out. */
typedef struct extent {
    double cells, pairs, rows; /* of a block */
    double n, classes;         /* 1 class where there is one margin */
    double stiffness;          /* the problem's */
    double digits;             /* logarithm of the accuracy asked for */
} extent;

/* The counts below are of digits gained since the start. The objective falls from P(0) to about P(0) / (1 + 3 s), s
 * the stiffness, by a factor of three at most from there on the data sets tried: less where weights are few. */
static double gap_of_start(const problem *p, const method_options *o)
{
    const bool few = (double)p->data->instances > FEW_COLUMNS * (double)p->rows.columns;
    const double fall = 1 + FALL_OF_LOSS * p->stiffness;
    return o->gap_of_start ? o->gap : o->gap / (few ? fmin(fall, MOST_FALL) : fall);
}

static extent measure(const problem *p, double gap)
{
    const double blocks = (double)p->data->blocks, rows = (double)p->data->rows_all;
    return (extent){
        .cells = (double)p->nonzeros / blocks,
        .pairs = p->pairs * rows / blocks,
        .rows = rows / blocks,
        .n = (double)p->n,
        .classes = (double)p->outputs,
        .stiffness = p->stiffness,
        .digits = -log(fmin(fmax(gap, 1e-15), 0.5)),
    };
}

/* One model takes the rounds of one rank. Trainings of no time at all keep to blocks, and so to the same bits. Where
 * C is small and blocks hardly disturb each other, long vectors cost more to share than that saves: most alpha of a
 * loss with kinks then go to their bounds and stay there, rows with many rare columns have little in common, and the
 * first few rounds are as good in blocks of their own, which may be all. With the logistic losses, whose rounds are
 * few, this holds for larger C. A hinge loss of many classes wants to be shared whatever C is. */
static bool own_blocks_do(const problem *p, const extent *e)
{
    const bool kinks = !p->loss->smooth, rare = CELLS_A_WEIGHT * (double)p->n > (double)p->nonzeros;
    const double asked = e->stiffness * e->digits;
    const bool soft = p->task->entropic ? asked < SOFT_LOGISTIC : p->task->single && e->stiffness < SOFT;
    return soft && p->n >= SOFT_COLUMNS && (kinks || rare || asked < SOFT_DIGITS);
}

static bool sharing_pays(const problem *p, const extent *e)
{
    return p->data->blocks > 1 && e->classes * (double)p->nonzeros >= LEAST_SHARED && !own_blocks_do(p, e);
}

static double row_speed(const extent *e)
{
    return e->classes > 1 ? CLASS_SPEED : ROW_SPEED;
}

static double primal_pass(const extent *e)
{
    return e->classes * (e->cells / row_speed(e) + LOSS_TIME * e->rows);
}

static bool is_softmax(const problem *p)
{
    return p->task->entropic && !p->task->single;
}

static double dual_pass(const problem *p, const extent *e)
{
    double step = e->classes > 1 ? CLASS_TIME : p->task->entropic ? ENTROPY_TIME : DUAL_TIME;
    double together = is_softmax(p) ? SOFTMAX_TIME : 0;
    return e->classes * (2 * e->cells / row_speed(e) + step * e->rows) + together * e->rows;
}

static double newton_time(const problem *p, const extent *e)
{
    double matrix = e->classes * e->classes * e->pairs / PAIR_SPEED + e->n * e->n * e->n / 3 / DENSE_SPEED;
    if (!p->loss->smooth)
        return (INTERIOR_DIGITS * e->digits + INTERIOR_WEIGHTS * log(e->n)) *
               (matrix + INTERIOR_PASSES * primal_pass(e));
    double rounds = p->loss->quadratic ? 1 : p->loss->regression ? TUBE_ROUNDS : NEWTON_ROUNDS;
    if (p->task->entropic) /* the less P is bent, the nearer to a quadratic it is all the way */
        rounds = fmin(rounds, 4 + 2 * cbrt(e->stiffness));
    return rounds * (matrix + 2 * primal_pass(e));
}

/* Of the softmax. Passes grow slowly with the condition of the problem, of which all rows together are the measure:
 * within a factor of 1.5 from 100 to a million on the data sets tried, but for one of nearly independent columns,
 * which needs half. */
static double tron_time(const problem *p, const extent *e)
{
    const double condition = (double)p->data->rows_all * e->stiffness;
    const double passes = (1.2 + 0.54 * e->digits) * pow(condition, 0.35), rounds = 1 + e->digits / 2;
    const double pass = (CELL_PASS + CELL_CLASS_PASS * e->classes) * e->cells + ROW_CLASS_PASS * e->classes * e->rows;
    return passes * pass + rounds * ROW_CLASS_ROUND * e->classes * e->rows;
}

/* Of the logistic loss and the softmax: a step of a quasi-Newton method for each round, of which rows that have much
 * in common need more. */
static double l_commdir_time(const extent *e, bool few_weights)
{
    double rounds = few_weights ? 1.5 + (0.35 + 15 * e->stiffness) * e->digits : 2 + 12 * e->stiffness * e->digits;
    double loss = e->classes > 1 ? CLASS_TIME : LOGISTIC_TIME;
    return rounds * 2 * e->classes * (e->cells / row_speed(e) + loss * e->rows);
}

/* With the softmax, where steps are dear, few passes and many are told apart more closely: momentum makes the passes
 * grow with the root of the stiffness. */
static double dual_passes(const problem *p, const extent *e, double gap)
{
    if (is_softmax(p))
        return 1.5 + (0.3 + 0.5 * fmin(e->stiffness, 2 * sqrt(e->stiffness))) * e->digits;
    const double passes = 1 + (1 + e->stiffness) * e->digits / 2;
    return fmin(passes, gap < TIGHT ? MOST_TIGHT_PASSES : MOST_DUAL_PASSES);
}

static double dual_time(const problem *p, const extent *e, double gap)
{
    const bool few_rounds = p->task->entropic && own_blocks_do(p, e);
    const bool apart = p->data->blocks > 1 && !sharing_pays(p, e) && !few_rounds;
    return dual_passes(p, e, gap) * (apart ? BLOCKS_FACTOR : 1) * dual_pass(p, e);
}

static bool serves(const method *m, const problem *p)
{
    bda_error ignored = {0};
    return method_serves(m, p, &ignored);
}

/* ---- hull until newton would be faster ----------------------------------------------------------------------- */

/* Where the first epoch leaves most of P uncertain, many are needed. Later on, what is left takes about epochs
 * (to_go^FALL - 1) epochs more: on the data sets tried the powers that fit are between 0.22 and 0.31, the rest of a
 * round counted in epochs. */
static bool newton_is_faster(const stage *s)
{
    const double worth = s->next_cost, epochs = s->pace.work;
    if (s->point.round == 1 && s->point.gap > UNCERTAIN * s->point.primal && worth < MANY_PASSES)
        return true;
    return epochs >= TRIED * worth && epochs * (pow(s->pace.to_go, FALL) - 1) > worth;
}

/* ---- the choice ---------------------------------------------------------------------------------------------- */

/* The least of the estimates; NULL: a dual method. tron is for the softmax over few features. */
static const method *primal_method(const problem *p, double gap)
{
    const bool newton = serves(&newton_method, p), logistic = p->task->entropic;
    const bool tron = !p->task->single && p->data->instances > 10 * p->rows.columns && serves(&tron_method, p);
    const bool few_vectors = logistic && (p->task->single || !newton) && serves(&l_commdir, p);
    if ((newton && !p->loss->smooth) || (!newton && !tron && !few_vectors))
        return NULL;
    extent e = measure(p, gap);
    const struct {
        const method *method;
        double time;
    } candidates[] = {
        {NULL, dual_time(p, &e, gap)},
        {&newton_method, newton ? newton_time(p, &e) : INFINITY},
        {&tron_method, tron ? tron_time(p, &e) : INFINITY},
        {&l_commdir, few_vectors ? l_commdir_time(&e, newton) : INFINITY},
    };
    size_t least = 0;
    for (size_t k = 1; k < sizeof candidates / sizeof *candidates; k++)
        least = candidates[k].time < candidates[least].time ? k : least;
    return candidates[least].method;
}

static bool asks_for_bda(const method_options *o)
{
    return !isnan(o->a1) || o->a1_is_blocks || !isnan(o->a2) || o->search != SEARCH_DEFAULT;
}

static const method *choose_for_structures(const problem *p, const method_options *o)
{
    const bool ahead = p->task->dual->advance && p->penalty.kind->identity;
    return p->data->blocks > 1 && ahead && !asks_for_bda(o) && !method_shares(o) ? &momentum_method : &online_method;
}

/* The first stage. `open`: nobody asked for what is a dual method's. */
static const method *choose_first(const problem *p, const method_options *o, bool open)
{
    if (p->task->structure)
        return choose_for_structures(p, o);
    if (o->hull != HULL_DEFAULT)
        return &hull_method;
    if (asks_for_bda(o))
        return &bda_method;
    const method *primal = open ? primal_method(p, gap_of_start(p, o)) : NULL;
    if (primal)
        return primal;
    return hull_fits(p) ? &hull_method : &bda_method;
}

plan auto_plan(const problem *p, const method_options *asked)
{
    const bool open = asked->local_epochs == 0 && asked->sharing != SHARE_MEMORY;
    const method *first = choose_first(p, asked, open);
    plan plan = {.method = {first}, .options = *asked};
    method_options *o = &plan.options;
    if (first != &hull_method && first != &bda_method)
        return plan;
    extent e = measure(p, gap_of_start(p, asked));
    if (o->local_epochs == 0 && o->hull == HULL_DEFAULT)
        o->local_epochs = EPOCHS_AS_NEEDED;
    if (o->sharing == SHARE_DEFAULT && p->data->blocks > 1)
        o->sharing = sharing_pays(p, &e) ? SHARE_ON_ONE_MACHINE : SHARE_DEFAULT;
    if (first == &hull_method && open && asked->hull == HULL_DEFAULT && !p->loss->smooth &&
        serves(&newton_method, p)) {
        plan.method[1] = &newton_method;
        plan.cost[1] = newton_time(p, &e) / dual_pass(p, &e);
        plan.leaves = newton_is_faster;
    }
    return plan;
}

static bool auto_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    const plan plan = auto_plan(p, options);
    return plan_train(&plan, p, watch, err);
}

const method auto_method = {
    .name = "auto",
    .summary = "the fastest we know for the problem: newton for few weights, plain coordinate descent for one block "
               "where few passes will do, hull otherwise",
    .needs = "any loss and task",
    .train = auto_train,
};
