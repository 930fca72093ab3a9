/* read.c - lists the data files, sees what they are, and has them read: by each rank its own, or by all ranks
 * together. */
#include "base/clock.h"
#include "data/binary.h"
#include "data/csv_read.h"
#include "data/libsvm.h"
#include "data/listing.h"
#include "data/paths.h"
#include "data/shard.h"
#include "data/text.h"

#include <stdio.h>
#include <string.h>

static bool read_text(comm *c, const data_request *request, parts *from, bool shared, shard *to, bda_error *err)
{
    static const char *const packings[] = {[SOURCE_PLAIN] = "", [SOURCE_GZIP] = ", gzip", [SOURCE_ZSTD] = ", zstd"};
    if (request->table) {
        const bool read = csv_read(c, request, from, shared, to, err);
        to->bytes_read = from->bytes_read;
        return read;
    }
    const format *f = &libsvm_format;
    libsvm sink = {.zero_based = request->zero_based, .may_lack_labels = request->may_lack_labels};
    bool ok = shared ? text_read_shared(c, f, from, request->blocks, request->threads, &sink, err)
                     : text_read(f, from, request->threads, &sink, err);
    snprintf(to->format, sizeof to->format, "%s%s", f->name, packings[from->at[0].packing]);
    to->rows = sink.to.rows;
    to->features = sink.to.features;
    to->reordered = sink.to.reordered;
    to->bytes_read = from->bytes_read;
    sink.to = (row_sink){0};
    f->close(&sink);
    return ok;
}

/* Has every rank a block to put its own files into? */
static bool check_blocks(const data_request *request, int size, bda_error *err)
{
    return request->blocks >= (uint64_t)size ||
           err_set(err, BDA_USAGE, "%llu blocks are too few for %d ranks that each read a file of their own",
                   (unsigned long long)request->blocks, size);
}

/* "a.svm", or "a.svm and 3 more files". */
static const char *name_of(const listing *l, const data_request *request, char *text, size_t room)
{
    if (request->other_count == 0)
        return request->path;
    snprintf(text, room, "%.*s and %llu more file%s", (int)room - 64, request->path, (unsigned long long)l->count - 1,
             l->count == 2 ? "" : "s");
    return text;
}

/* What a note to the user says about files of ranks: how many, and which ranks have none with instances. */
static void count_files(comm *c, data *d)
{
    const bool empty = d->rows.count == 0;
    double first = empty ? (double)(bda_comm_size(c) - bda_comm_rank(c)) : 0;
    d->empty_files = empty ? d->files : 0;
    uint64_t sums[] = {d->files, d->empty_files};
    comm_sum_counts(c, sums, 2);
    comm_max_reals(c, &first, 1);
    d->files = sums[0];
    d->empty_files = sums[1];
    d->first_empty = bda_comm_size(c) - (int)first;
}

data *data_read(comm *c, const data_request *request, bda_error *err)
{
    const double began = clock_now();
    const int rank = bda_comm_rank(c), size = bda_comm_size(c);
    const bool of_rank = path_is_of_rank(request->path), shared = size > 1 && !of_rank;
    char name[1024];
    shard s = {.may_lack_labels = request->may_lack_labels};
    parts from = {0};
    listing files = {0};
    bool ok = !of_rank || check_blocks(request, size, err);
    ok = ok && listing_open(&files, c, request->path, request->others, request->other_count, err) &&
         parts_open(&from, c, shared, files.count, files.path, err);
    if (ok && from.at[0].binary && request->table)
        ok = err_set(err, BDA_FAILED, "%s: is binary data, not a table", from.at[0].path);
    if (ok && from.at[0].binary) {
        ok = binary_read(&from, request->blocks, shared ? rank : 0, shared ? size : 1, &s, err);
        strcpy(s.format, "bda binary");
        s.binary = true;
    } else if (ok) {
        ok = read_text(c, request, &from, shared, &s, err) && parts_unchanged(&from, err);
    }
    data *d =
        shard_finish(c, &s, ok, shared, name_of(&files, request, name, sizeof name), request->blocks, began, err);
    if (d) {
        d->files = files.count;
        if (of_rank)
            count_files(c, d);
    }
    parts_close(&from);
    listing_close(&files);
    return d;
}

bool data_is_binary(const char *path)
{
    bda_error ignored = {0};
    source file = {.fd = -1};
    bool binary = source_open(&file, path, &ignored) && binary_starts(file.head, file.heads);
    source_close(&file);
    return binary;
}
