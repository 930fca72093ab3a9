/* csv_read.c - see csv_read.h: makes the schema, in which all ranks agree, and then rows by it.
 *
 * The names of the columns are those of rank 0's first file. Which columns are numbers, their means and the values of
 * the others are facts of all the data: counts, exact sums and sets, which do not depend on who read what. */
#include "data/csv_read.h"

#include "data/csv.h"
#include "data/text.h"

#include <string.h>

#define LONGEST_HEADER ((uint64_t)64 << 20)

/* ---- the names of the columns ------------------------------------------------------------------------------------ */

/* The first line of the first file: rank 0 reads it and tells all. NULL and a sentence on failure. */
static char *read_first_line(comm *c, const parts *from, arena *memory, uint64_t *length, bda_error *err)
{
    source own = {.fd = -1};
    lines l = {0};
    const char *text = NULL;
    uint64_t offset;
    bool ok = true;
    *length = 0;
    if (bda_comm_rank(c) == 0) {
        if (from->at[0].stream)
            ok = err_set(err, BDA_FAILED,
                         "%s: a table is read more than once for training, which a pipe cannot be; write "
                         "it to a file first",
                         from->at[0].stream->path);
        source *s = ok ? parts_source(from, 0, &own, err) : NULL;
        ok = s && lines_open(&l, s, LINES_ONE, 0, 1, err) && lines_next(&l, &text, length, &offset, err);
        if (ok && *length == 0)
            ok = err_set(err, BDA_FAILED, "%s: is empty; a table begins with a header", from->at[0].path);
        if (ok && *length > LONGEST_HEADER)
            ok = err_set(err, BDA_FAILED, "%s: its first line is too long for a header", from->at[0].path);
    }
    ok = comm_agree(c, ok, err);
    comm_broadcast(c, 0, length, sizeof *length);
    char *line = ok ? ARENA_TAKE(memory, char, *length + LINES_PADDING, err) : NULL;
    if (line && text)
        memcpy(line, text, *length);
    lines_close(&l);
    source_close(&own);
    if (!comm_agree(c, line != NULL, err))
        return NULL;
    comm_broadcast(c, 0, line, *length);
    return line;
}

static const char *copy_cell(arena *memory, csv_cell c, bda_error *err)
{
    char *text = ARENA_TAKE(memory, char, c.length + 1, err);
    if (text)
        memcpy(text, c.text, c.length);
    return text;
}

/* The columns of a header, without that of labels. */
static bool name_columns(data_schema *s, const csv_line *l, const char *path, bda_error *err)
{
    bool labelled = false;
    s->column = ARENA_TAKE(&s->memory, schema_column, l->count, err);
    for (uint64_t k = 0; s->column && k < l->count; k++) {
        const char *name = copy_cell(&s->memory, l->cell[k], err);
        if (!name)
            return false;
        if (strcmp(name, s->label) == 0 && !labelled)
            labelled = true;
        else
            s->column[s->columns++].name = name;
    }
    return s->column &&
           (labelled ||
            err_set(err, BDA_FAILED, "%s, line 1: there is no column '%s', which --label names", path, s->label));
}

static bool check_names(const data_schema *s, const char *path, bda_error *err)
{
    name_set names = {0};
    bool ok = true;
    uint32_t number;
    for (uint64_t j = 0; ok && j < s->columns; j++) {
        ok = names_add(&names, s->column[j].name, strlen(s->column[j].name), &number, err);
        if (ok && (number < j || strcmp(s->column[j].name, s->label) == 0))
            ok = err_set(err, BDA_FAILED, "%s, line 1: two columns have the name '%.200s'", path, s->column[j].name);
    }
    names_free(&names);
    return ok;
}

static bool begin_schema(comm *c, const parts *from, const table_request *t, data_schema *s, bda_error *err)
{
    arena memory = {0};
    uint64_t length;
    const char *where, *path = from->at[0].path;
    csv_line l = {0};
    s->separator = t->separator;
    s->missing = (schema_missing)t->missing;
    const char *line = read_first_line(c, from, &memory, &length, err);
    bool ok = line != NULL;
    if (ok) {
        const csv_cell label = {t->label, strlen(t->label)};
        const char *end = line + length - 1;
        end -= end > line && end[-1] == '\r';
        s->label = copy_cell(&s->memory, label, err);
        ok = s->label && csv_split(&l, s->separator, line, end, &where, err);
        if (s->label && !ok) {
            const bda_error reason = *err;
            err_clear(err);
            err_set(err, reason.status, "%s%s%s", where ? path : "", where ? ", line 1: " : "", reason.text);
        }
        ok = comm_agree(c, ok && name_columns(s, &l, path, err) && check_names(s, path, err), err);
    }
    csv_line_free(&l);
    arena_free(&memory);
    return ok;
}

/* ---- what they are ----------------------------------------------------------------------------------------------- */

/* Reads all the tables once; the facts of this rank's share are in s->facts. */
static bool survey(comm *c, parts *from, bool shared, int threads, csv_survey *s, const csv_survey *like,
                   bda_error *err)
{
    csv_survey_format.like(s, like);
    bool ok = text_look(&csv_survey_format, from, shared ? bda_comm_rank(c) : 0, shared ? bda_comm_size(c) : 1,
                        threads, s, err);
    if (ok && s->failed)
        ok = err_memory(err, s->columns.schema->columns * sizeof *s->facts, "columns");
    return comm_agree(c, ok, err);
}

/* Sums the facts of all ranks: counts and digits. */
static bool add_facts(comm *c, csv_survey *s, uint64_t count, bda_error *err)
{
    enum { WIDTH = EXACT_DIGITS + 3 };
    arena memory = {0};
    uint64_t *sums = ARENA_TAKE(&memory, uint64_t, count * WIDTH, err);
    const bool ok = comm_agree(c, sums != NULL, err);
    for (uint64_t j = 0; ok && j < count; j++) {
        csv_facts *f = &s->facts[j];
        const uint64_t counts[] = {f->empty, f->texts, f->numbers};
        exact_tidy(&f->sum);
        memcpy(sums + j * WIDTH, counts, sizeof counts);
        memcpy(sums + j * WIDTH + 3, f->sum.digit, sizeof f->sum.digit);
    }
    if (ok)
        comm_sum_long(c, sums, count * WIDTH);
    for (uint64_t j = 0; ok && j < count; j++) {
        csv_facts *f = &s->facts[j];
        f->empty = sums[j * WIDTH];
        f->texts = sums[j * WIDTH + 1];
        f->numbers = sums[j * WIDTH + 2];
        memcpy(f->sum.digit, sums + j * WIDTH + 3, sizeof f->sum.digit);
    }
    arena_free(&memory);
    return ok;
}

/* A column is one of texts where some cell is a text. */
static void decide_kinds(data_schema *schema, const csv_survey *s, bool *any_text)
{
    *any_text = false;
    for (uint64_t j = 0; j < schema->columns; j++) {
        const csv_facts *f = &s->facts[j];
        schema->column[j].is_text = f->texts > 0;
        *any_text |= f->texts > 0;
        if (f->texts == 0 && f->numbers > 0)
            schema->column[j].mean = exact_value(&f->sum) / (double)f->numbers;
    }
    schema->named = s->facts[schema->columns].texts > 0;
}

/* The values of all columns of texts, in order of bytes. */
static bool agree_on_values(comm *c, data_schema *schema, csv_survey *s, bda_error *err)
{
    for (uint64_t j = 0; j < schema->columns; j++) {
        schema_column *x = &schema->column[j];
        arena temporary = {0};
        uint32_t *class = ARENA_TAKE(&temporary, uint32_t, (uint64_t)s->facts[j].values.count + 1, err);
        bool ok = comm_agree(c, class != NULL, err);
        if (ok && x->is_text &&
            !names_agree(c, &s->facts[j].values, SCHEMA_MOST_VALUES, &x->values, class, &schema->memory, err)) {
            const bda_error reason = *err;
            err_clear(err);
            ok = err_set(err, reason.status, "column '%.200s': %.700s", x->name, reason.text);
        }
        arena_free(&temporary);
        if (!ok)
            return false;
    }
    return true;
}

static bool make_schema(comm *c, const data_request *request, parts *from, bool shared, data_schema *schema,
                        bda_error *err)
{
    csv_survey s = {0};
    const csv_survey like = {.columns = {.schema = schema, .strict = true}};
    const csv_survey collecting = {.columns = {.schema = schema, .strict = true}, .collects = true};
    bool any_text = false;
    bool ok = begin_schema(c, from, request->table, schema, err) &&
              survey(c, from, shared, request->threads, &s, &like, err) && add_facts(c, &s, schema->columns + 1, err);
    if (ok)
        decide_kinds(schema, &s, &any_text);
    csv_survey_format.close(&s);
    if (ok && any_text) {
        ok = survey(c, from, shared, request->threads, &s, &collecting, err) && agree_on_values(c, schema, &s, err);
        csv_survey_format.close(&s);
    }
    return ok && schema_number(schema, err);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A copy of the schema of training, which may not live as long as the data. */
static bool copy_schema(data_schema *to, const data_schema *from, bda_error *err)
{
    bytes packed = {0};
    schema_pack(from, &packed);
    bool ok = bytes_done(&packed, "the columns of a table", err);
    byte_reader r = {packed.at, packed.count, false};
    ok = ok && schema_unpack(to, &r, err);
    bytes_free(&packed);
    return ok;
}

bool csv_read(comm *c, const data_request *request, parts *from, bool shared, shard *to, bda_error *err)
{
    const table_request *t = request->table;
    csv_rows rows = {.needs_label = !request->may_lack_labels};
    to->schema = mem_resize(NULL, 0, sizeof *to->schema, "the columns of a table", err);
    if (!comm_agree(c, to->schema != NULL, err))
        return false;
    *to->schema = (data_schema){0};
    bool ok = t->schema ? comm_agree(c, copy_schema(to->schema, t->schema, err), err)
                        : make_schema(c, request, from, shared, to->schema, err);
    rows.columns.schema = to->schema;
    rows.columns.strict = !t->schema;
    strcpy(to->format, to->schema->separator == ',' ? "CSV" : "TSV");
    if (ok)
        ok = shared ? text_read_shared(c, &csv_format, from, request->blocks, request->threads, &rows, err)
                    : text_read(&csv_format, from, request->threads, &rows, err);
    to->rows = rows.to.rows;
    to->named = to->schema->named;
    to->names = rows.to.names;
    to->features = to->schema->features;
    rows.to = (row_sink){0};
    csv_format.close(&rows);
    return ok;
}
