/* made.h - made-up problems, each in two copies: as the program gets it, and as the checker sees it.
 *
 * Instances of more than two classes come sorted by label, so that most ranks miss some. */
#ifndef MATRIX_MADE_H
#define MATRIX_MADE_H

#include "checker.h"
#include "methods/table.h"

#define MOST_CLASSES 5

typedef enum extra { EXTRA_NONE, EXTRA_BIAS, EXTRA_WEIGHTS } extra;

/* One cell of the matrix. */
typedef struct setup {
    const loss *loss;
    const method *method;
    uint64_t classes; /* more than 2; 0 for two labels or regression */
    int penalty;      /* squared norm, weighted norm, elastic net, weighted elastic net */
    uint64_t instances, blocks;
    int threads;
    extra extra;
    rows_form form;
    double cost;
    method_options options;
    const char *note; /* what is special about the options */
} setup;

typedef struct made {
    uint64_t l, n; /* n without the constant feature */
    uint64_t *start;
    uint32_t *column;
    double *value, *label;
    double bias, cost_factor[MOST_CLASSES];
    double *penalty_factor; /* [n + 1], NULL for 1 */
    double l1_ratio;
    check_problem check;
    long double optimum; /* what the checker's solver reached */
    long double slack;   /* and how far off that may be */
} made;

made *made_new(const setup *s);
void made_free(made *g);

/* By the checker's solver; what was found for a problem is kept, as methods and numbers of blocks share it. */
void made_find_optimum(made *g);

void made_write(const made *g, const char *path); /* as LIBSVM text */

/* Zeroed memory, or the end of the program. */
void *take(uint64_t count, size_t bytes);
uint64_t hash_doubles(uint64_t hash, const double *x, uint64_t n);

#endif
