/* cases.h - command lines that are tried with every fault, and the small files that they read. */
#ifndef FAULT_CASES_H
#define FAULT_CASES_H

#include <stdbool.h>

typedef struct fault_case {
    const char *words;  /* with blanks between */
    const char *output; /* the file that must be whole or as it was; NULL: none */
    int most_ranks;     /* 1: makes sense alone only; 0: any number */
    bool loose;         /* its output has other bytes each time, of the same number */
} fault_case;

extern const fault_case fault_cases[], fault_preparations[]; /* end with words NULL */

bool fault_write_inputs(void); /* into the current directory */

#endif
