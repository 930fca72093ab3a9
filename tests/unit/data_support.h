/* data_support.h - one rank, files in a directory of their own, data as text, and memory that runs out, for the tests
 * of src/data. */
#ifndef DATA_SUPPORT_H
#define DATA_SUPPORT_H

#include "base/memory.h"
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static comm *alone;
static char support_home[64];

/* In memory where there is such a place: some tests write thousands of files. */
static inline int support_open(void **state)
{
    (void)state;
    bda_error err = {0};
    alone = bda_comm_single(&err);
    strcpy(support_home, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    strcat(support_home, "/bda-test-data-XXXXXX");
    return alone && mkdtemp(support_home) && chdir(support_home) == 0 ? 0 : -1;
}

static inline int support_close(void **state)
{
    (void)state;
    bda_comm_free(alone);
    return chdir("/") == 0 && rmdir(support_home) == 0 ? 0 : -1; /* tests leave no files */
}

static inline void support_write(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
        abort();
}

static inline char *support_load(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        abort();
    *count = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*count + 1);
    if (!bytes || fread(bytes, 1, *count, file) != *count)
        abort();
    fclose(file);
    bytes[*count] = 0;
    return bytes;
}

static inline uint32_t support_column(const rows *r, uint64_t k)
{
    return r->form == ROWS_FLOAT ? r->pair[k].column : r->column[k];
}

static inline double support_value(const rows *r, uint64_t i, uint64_t k)
{
    switch (r->form) {
    case ROWS_ONES:
        return 1;
    case ROWS_CONSTANT:
        return r->value[i];
    case ROWS_FLOAT:
        return (double)r->pair[k].value;
    default:
        return r->value[k];
    }
}

/* The rows as "label column:value ...;" with columns from 0; to be freed. */
static inline char *support_show(const data *d)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (uint64_t i = 0; i < d->rows.count; i++) {
        fprintf(to, "%.17g", d->target.real[i]);
        for (uint64_t k = d->rows.start[i]; k < d->rows.start[i + 1]; k++)
            fprintf(to, " %u:%.17g", support_column(&d->rows, k), support_value(&d->rows, i, k));
        fprintf(to, ";");
    }
    fclose(to);
    return text;
}

/* Tries with the first allocation failing, then the second, until it goes well. Returns how often it was tried; 0
 * where a failure was not called one of memory, or there is no end of them. */
static inline uint64_t support_run_short(bool (*attempt)(void *what, bda_error *err), void *what)
{
    for (uint64_t k = 1; k < 1000; k++) {
        bda_error err = {0};
        mem_fail_at(k);
        bool ok = attempt(what, &err);
        mem_fail_at(0);
        if (ok)
            return k;
        if (!strstr(err.text, "out of memory"))
            return 0;
    }
    return 0;
}

static inline data *support_read(comm *c, const char *path, uint64_t blocks, int threads, bda_error *err)
{
    data_request request = {.path = path, .blocks = blocks, .threads = threads};
    return data_read(c, &request, err);
}

/* support_read for support_run_short. */
typedef struct support_reading {
    const char *path;
    uint64_t blocks;
    int threads;
    data *read;
} support_reading;

static inline bool support_try_reading(void *what, bda_error *err)
{
    support_reading *r = what;
    r->read = support_read(alone, r->path, r->blocks, r->threads, err);
    return r->read != NULL;
}

#endif
