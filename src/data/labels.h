/* labels.h - labels that are numbers: the distinct ones of all ranks, their range, and the class number of each
 * row's.
 */
#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include "data/data.h"

typedef struct label_set {
    double *at;         /* [room] a hash table; NAN where nothing is */
    uint64_t room;      /* a power of two, at least twice the count; 0: no table */
    uint64_t count;     /* at most DATA_LABELS_COUNTED */
    bool more;          /* there are others that did not go in */
    double least, most; /* of all; least > most where there are none */
} label_set;

/* The labels of this rank. Zero is +0. Local. */
bool labels_take(label_set *s, const double *label, uint64_t count, bda_error *err);
/* Joins the sets of all ranks and fills labels (from `memory`), label_least and label_most of d. Collective. */
bool labels_agree(comm *c, label_set *s, data *d, arena *memory, bda_error *err);
/* class: [count] the class numbers of labels that are in the table. Local. */
void labels_classify(const label_table *t, const double *label, uint64_t count, uint32_t *class);
void labels_free(label_set *s);

#endif
