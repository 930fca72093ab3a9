/* labels.h - the distinct labels of all ranks, and their range. */
#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include "data/data.h"

typedef struct label_set {
    double *at; /* the smallest, increasing, up to DATA_LABELS_COUNTED of them; one place more */
    uint64_t count;
    bool more;          /* there are larger ones that are not listed */
    double least, most; /* of all; least > most where there are none */
} label_set;

/* The labels of this rank. Zero is +0. Local. */
bool labels_take(label_set *s, const double *label, uint64_t count, bda_error *err);
/* Joins the sets of all ranks and writes labels, label_count, label_least and label_most of d. Collective. */
bool labels_agree(comm *c, label_set *s, data *d, bda_error *err);
void labels_free(label_set *s);

#endif
