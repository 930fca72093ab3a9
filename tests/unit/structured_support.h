/* structured_support.h - the corpora of checker/outputs.h as a problem with its blocks. */
#ifndef UNIT_STRUCTURED_SUPPORT_H
#define UNIT_STRUCTURED_SUPPORT_H

#include "checker/outputs.h"
#include "unit/cmocka_all.h"

static void corpus_open(corpus *t, const structure *kind, const char *loss, double cost, uint64_t blocks)
{
    static const char *const names[] = {"0", "1", "2"};
    corpus_draw(t, kind);
    bda_error err = {0};
    t->comm = bda_comm_single(&err);
    data_units from = {.units = UNITS,
                       .unit_row = t->unit_row,
                       .start = t->start,
                       .column = t->column,
                       .value = t->trees ? NULL : t->value,
                       .class = t->class,
                       .labels = t->trees ? 2 : TAGS,
                       .label = names,
                       .name = "corpus",
                       .format = "made",
                       .features = COLUMNS};
    t->data = data_copy_units(t->comm, blocks, &from, &err);
    assert_non_null(t->data);
    problem_request request = {.loss = loss_find(loss), .structure = kind, .cost = cost, .bias = -1, .threads = 1};
    assert_true(problem_open(&t->problem, t->comm, t->data, &request, &err));
    t->blocks = blocks_open(&t->memory, &t->problem, &err);
    assert_non_null(t->blocks);
}

static void corpus_close(corpus *t)
{
    blocks_close(t->blocks);
    arena_free(&t->memory);
    problem_close(&t->problem);
    data_free(t->data);
    bda_comm_free(t->comm);
}

#endif
