/* label_table.c - see label_table.h. */
#include "data/label_table.h"

#include <string.h>

#include "data/number.h"

uint32_t label_of_number(const label_table *t, double x)
{
    uint64_t low = 0, high = t->count;
    while (high - low > LABEL_FEW) {
        const uint64_t middle = low + (high - low) / 2;
        if (t->number[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    while (low < high && t->number[low] != x)
        low++;
    return low < high ? (uint32_t)low : LABEL_NONE;
}

uint32_t label_of_name(const label_table *t, const char *name)
{
    uint64_t low = 0, high = t->count;
    while (high - low > LABEL_FEW) {
        const uint64_t middle = low + (high - low) / 2;
        if (strcmp(t->name[middle], name) <= 0)
            low = middle;
        else
            high = middle;
    }
    while (low < high && strcmp(t->name[low], name) != 0)
        low++;
    return low < high ? (uint32_t)low : LABEL_NONE;
}

void label_match(const label_table *from, const label_table *to, uint32_t *class)
{
    for (uint64_t k = 0; k < from->count; k++) {
        if (from->number && to->number)
            class[k] = label_of_number(to, from->number[k]);
        else /* names that are numbers are in the order of these */
            class[k] = to->number ? LABEL_NONE : label_of_name(to, from->name[k]);
    }
}

static char *store(char *to, const char *name, double x)
{
    if (name)
        return stpcpy(to, name) + 1;
    to = number_write(to, x);
    *to++ = '\0';
    return to;
}

bool label_table_make(label_table *t, uint64_t count, const char *const *name, const double *number, arena *memory,
                      bda_error *err)
{
    uint64_t bytes = 0;
    for (uint64_t k = 0; k < count; k++)
        bytes += name ? strlen(name[k]) + 1 : NUMBER_TEXT + 1;
    const char **names = ARENA_TAKE(memory, const char *, count, err);
    double *numbers = number ? ARENA_TAKE(memory, double, count, err) : NULL;
    char *text = ARENA_TAKE(memory, char, bytes, err);
    if (!names || !text || (number && !numbers))
        return false;
    for (uint64_t k = 0; k < count; k++) {
        names[k] = text;
        text = store(text, name ? name[k] : NULL, number ? number[k] : 0);
        if (number)
            numbers[k] = number[k];
    }
    *t = (label_table){count, names, numbers};
    return true;
}
