/* structured.c - see structured.h. */
#include "problem/structured.h"

#include <math.h>
#include <string.h>

/* Lengths and gold outputs. */
static bool read_units(structured *s, arena *memory, bda_error *err)
{
    const data *d = s->p->data;
    const uint64_t rows = data_unit_row(d, s->first + s->count) - data_unit_row(d, s->first);
    if (!(s->gold_at = ARENA_TAKE(memory, uint64_t, s->count + 1, err)) ||
        !(s->gold = ARENA_TAKE(memory, uint16_t, rows + 1, err)))
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t row = structured_row(s, i);
        const uint32_t length = s->kind->length(structured_row(s, i + 1) - row);
        if (length == 0 || !s->kind->gold(s, row, length, s->gold + s->gold_at[i]))
            return err_set(err, BDA_FAILED, "%s: sentence %llu is not one that %s can be learnt from", d->name,
                           (unsigned long long)(d->first_instance + s->first + i + 1), s->kind->name);
        s->gold_at[i + 1] = s->gold_at[i] + length;
        s->longest = length > s->longest ? length : s->longest;
    }
    return true;
}

bool structured_open(structured *s, arena *memory, const problem *p, uint64_t first, uint32_t count, bda_error *err)
{
    *s = (structured){.kind = p->task->structure, .p = p, .first = first, .count = count};
    s->tags = (int)p->outputs;
    if (!p->penalty.kind->identity) /* products of images would change with its curvature */
        return err_set(err, BDA_USAGE,
                       "sentences are learnt with the squared norm alone, without --l1-ratio, --feature-penalty and "
                       "--accelerate");
    if (!read_units(s, memory, err) || (s->kind->open && !s->kind->open(s, memory, err)))
        return false;
    s->largest = s->kind->table(s, s->longest);
    return (s->S = ARENA_TAKE(memory, double, s->largest + 1, err)) &&
           (s->x = ARENA_TAKE(memory, double, s->largest + 1, err)) &&
           (s->work = ARENA_TAKE(memory, double, s->kind->work(s, s->longest) + 1, err)) &&
           (s->output = ARENA_TAKE(memory, uint16_t, s->longest + 1, err)) &&
           (s->token = ARENA_TAKE(memory, uint32_t, 2 * (uint64_t)s->longest + 1, err));
}

double structured_loss(structured *s, uint32_t i, const double *w)
{
    const structure *kind = s->kind;
    const uint16_t *gold = structured_gold(s, i);
    const double C = s->p->cost[0];
    kind->score(s, i, w, s->S);
    if (s->p->loss->kind == LOSS_LOGISTIC)
        return C * (kind->sum(s, i, s->S, NULL) - kind->total(s, i, s->S, gold));
    kind->best(s, i, s->S, gold, s->output);
    const double wrong = structured_wrong(structured_length(s, i), s->output, gold);
    const double m = fmax(0, wrong - kind->difference(s, i, s->S, gold, s->output));
    return s->p->loss->kind == LOSS_SQUARED_HINGE ? C * m * m : C * m;
}

static void forget_kernels(structured *s)
{
    for (uint32_t i = 0; s->kernel && i < s->count; i++) {
        mem_free(s->kernel[i], s->kernel_bytes[i]);
        s->kernel[i] = NULL;
    }
}

void structured_close(structured *s)
{
    forget_kernels(s);
}

void structured_weigh(structured *s, const double *h)
{
    if (h != s->h)
        forget_kernels(s);
    s->h = h;
}
