/* table.c - all methods by name: the one file that knows both the dual methods and their rivals. */
#include "methods/table.h"

#include <string.h>

#include "dual/presets.h"

const method *const methods[] = {
    &bda_method, &disdca, &disdca_basic, &cocoa_plus, &dsvm_ave, &prox_grad, NULL,
};

const method *method_find(const char *name)
{
    if (strcmp(name, "auto") == 0) /* the fastest we know for the problem */
        return &bda_method;
    for (const method *const *m = methods; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}
