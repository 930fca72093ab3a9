/* schema.c - see schema.h. */
#include "data/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void schema_free(data_schema *s)
{
    arena_free(&s->memory);
    *s = (data_schema){0};
}

bool schema_number(data_schema *s, bda_error *err)
{
    s->features = 0;
    for (uint64_t j = 0; j < s->columns; j++) {
        s->column[j].first = (uint32_t)s->features;
        s->features += s->column[j].is_text ? s->column[j].values.count : 1;
        if (s->features > UINT32_MAX)
            return err_set(err, BDA_FAILED, "the columns make more than %u features", UINT32_MAX);
    }
    return true;
}

void schema_pack(const data_schema *s, bytes *to)
{
    bytes_put_u32(to, (uint32_t)s->separator);
    bytes_put_u32(to, (uint32_t)s->missing);
    bytes_put_u32(to, s->named);
    bytes_put_text(to, s->label);
    bytes_put_u64(to, s->columns);
    for (uint64_t j = 0; j < s->columns; j++) {
        const schema_column *x = &s->column[j];
        bytes_put_text(to, x->name);
        bytes_put_u32(to, x->is_text);
        bytes_put_real(to, x->mean);
        bytes_put_u64(to, x->values.count);
        for (uint64_t k = 0; k < x->values.count; k++)
            bytes_put_text(to, x->values.name[k]);
    }
}

static bool unpack_column(data_schema *s, schema_column *x, byte_reader *from, bda_error *err)
{
    x->name = bytes_get_text(from, &s->memory, err);
    x->is_text = bytes_get_u32(from);
    x->mean = bytes_get_real(from);
    x->values.count = bytes_get_u64(from);
    if (!x->name || from->failed || x->values.count > SCHEMA_MOST_VALUES || !isfinite(x->mean) ||
        (!x->is_text && x->values.count > 0))
        return false;
    const char **value = ARENA_TAKE(&s->memory, const char *, x->values.count, err);
    x->values.name = value;
    for (uint64_t k = 0; value && k < x->values.count; k++) {
        value[k] = bytes_get_text(from, &s->memory, err);
        if (!value[k] || (k > 0 && strcmp(value[k - 1], value[k]) >= 0))
            return false;
    }
    return value != NULL;
}

static bool unpack(data_schema *s, byte_reader *from, bda_error *err)
{
    s->separator = (char)bytes_get_u32(from);
    const uint32_t missing = bytes_get_u32(from);
    s->missing = (schema_missing)missing;
    s->named = bytes_get_u32(from);
    s->label = bytes_get_text(from, &s->memory, err);
    s->columns = bytes_get_u64(from);
    if (from->failed || missing > SCHEMA_MEAN || (s->separator != ',' && s->separator != '\t') || !s->label ||
        s->columns > from->left)
        return false;
    s->column = ARENA_TAKE(&s->memory, schema_column, s->columns, err);
    for (uint64_t j = 0; s->column && j < s->columns; j++)
        if (!unpack_column(s, &s->column[j], from, err))
            return false;
    return s->column && bytes_ended(from) && schema_number(s, err);
}

bool schema_unpack(data_schema *s, byte_reader *from, bda_error *err)
{
    *s = (data_schema){0};
    const bool ok = unpack(s, from, err);
    if (!ok)
        schema_free(s);
    return ok;
}

void schema_feature(const data_schema *s, uint64_t j, char *text, uint64_t room)
{
    uint64_t low = 0, high = s->columns; /* the last column that begins at or before j and has a feature */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (s->column[middle].first <= j)
            low = middle;
        else
            high = middle;
    }
    const schema_column *x = &s->column[low];
    if (x->is_text)
        snprintf(text, room, "%s=%s", x->name, x->values.name[j - x->first]);
    else
        snprintf(text, room, "%s", x->name);
}
