/* csv.c - the parser of CSV and TSV: lines to cells, the header, and rows. */
#include "data/csv.h"

#include "data/number.h"

#include <math.h>
#include <string.h>

/* ---- lines to cells --------------------------------------------------------------------------------------------- */

static bool make_room(csv_line *l, uint64_t length, bda_error *err)
{
    const uint64_t cells = (length + 1) * sizeof *l->cell;
    if (cells > l->cell_bytes) {
        mem_free(l->cell, l->cell_bytes);
        l->cell = mem_resize(NULL, 0, cells, "a line of a table", err);
        l->cell_bytes = l->cell ? cells : 0;
    }
    const uint64_t copy = LINES_BEFORE + length + LINES_PADDING; /* numbers are read as in a block of lines */
    if (l->cell && copy > l->copy_bytes) {
        mem_free(l->copy, l->copy_bytes);
        l->copy = mem_resize(NULL, 0, copy, "a line of a table", err);
        l->copy_bytes = l->copy ? copy : 0;
    }
    return l->cell && l->copy;
}

void csv_line_free(csv_line *l)
{
    mem_free(l->cell, l->cell_bytes);
    mem_free(l->copy, l->copy_bytes);
    *l = (csv_line){0};
}

/* The cell that begins behind the quote at p. Returns what follows the closing quote. */
static const char *take_quoted(csv_cell *c, char **copy, const char *p, const char *end, bda_error *err)
{
    const char *from = p + 1, *quote = memchr(from, '"', (size_t)(end - from));
    if (quote && quote + 1 < end && quote[1] == '"') {
        char *to = *copy;
        c->text = to;
        for (; quote && quote + 1 < end && quote[1] == '"'; quote = memchr(from, '"', (size_t)(end - from))) {
            to = mempcpy(to, from, (size_t)(quote + 1 - from));
            from = quote + 2;
        }
        if (quote)
            to = mempcpy(to, from, (size_t)(quote - from));
        c->length = (uint64_t)(to - c->text);
        *copy = to;
    } else if (quote) {
        *c = (csv_cell){from, (uint64_t)(quote - from)};
    }
    if (!quote) {
        err_set(err, BDA_FAILED,
                "a cell in quotes does not end on its line; line breaks within quotes are not supported");
        return NULL;
    }
    return quote + 1;
}

bool csv_split(csv_line *l, char separator, const char *p, const char *end, const char **where, bda_error *err)
{
    *where = NULL;
    l->count = 0;
    if (!make_room(l, (uint64_t)(end - p), err))
        return false;
    *where = p;
    if (memchr(p, '\0', (size_t)(end - p)))
        return err_set(err, BDA_FAILED, "a NUL byte; this is no table");
    char *copy = l->copy + LINES_BEFORE;
    for (;;) {
        csv_cell *c = &l->cell[l->count++];
        if (p < end && *p == '"') {
            p = take_quoted(c, &copy, p, end, err);
            if (!p)
                return false;
            if (p < end && *p != separator)
                return err_set(err, BDA_FAILED, "text behind the closing quote of cell %llu",
                               (unsigned long long)l->count);
        } else {
            const char *stop = memchr(p, separator, (size_t)(end - p));
            *c = (csv_cell){p, (uint64_t)((stop ? stop : end) - p)};
            if (memchr(p, '"', c->length))
                return err_set(
                    err, BDA_FAILED,
                    "a quote within cell %llu; such a cell begins and ends with a quote, and has it doubled",
                    (unsigned long long)l->count);
            p = stop ? stop : end;
        }
        if (p == end)
            break;
        p++;
    }
    *where = NULL;
    return true;
}

bool csv_number(csv_cell c, double *x)
{
    const char *p = c.text, *end = c.text + c.length;
    while (p < end && *p == ' ')
        p++;
    while (end > p && end[-1] == ' ')
        end--;
    return p < end && number_read(p, x) == end && isfinite(*x);
}

/* ---- units: lines that are not empty ----------------------------------------------------------------------------- */

/* Where the line ends, its carriage return left out. */
static const char *end_of_line(const char *p, const char *next)
{
    const char *end = next - 1;
    return end > p && end[-1] == '\r' ? end - 1 : end;
}

static uint64_t csv_count(const char *text, uint64_t length)
{
    uint64_t count = 0;
    for (const char *p = text, *end = text + length, *next; p < end; p = next) {
        next = lines_after(p, end);
        count += end_of_line(p, next) > p;
    }
    return count;
}

static const char *csv_skip(const char *text, const char *end, uint64_t units)
{
    while (text < end && units > 0) {
        const char *next = lines_after(text, end);
        units -= end_of_line(text, next) > text;
        text = next;
    }
    return text;
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

void csv_columns_free(csv_columns *s)
{
    csv_line_free(&s->line);
    arena_free(&s->memory);
    *s = (csv_columns){0};
}

/* Which column of the schema has a name: those of the schema were added first, and in order. */
static bool find_columns(csv_columns *s, name_set *names, bda_error *err)
{
    const data_schema *schema = s->schema;
    uint32_t number;
    for (uint64_t j = 0; j < schema->columns; j++)
        if (!names_add(names, schema->column[j].name, strlen(schema->column[j].name), &number, err))
            return false;
    const uint64_t known = names->count;
    for (uint64_t k = 0; k < s->count; k++) {
        const csv_cell c = s->line.cell[k];
        const bool label = strlen(schema->label) == c.length && memcmp(schema->label, c.text, c.length) == 0;
        const uint32_t before = names->count;
        if (!label && !names_add(names, c.text, c.length, &number, err))
            return false;
        s->place[k] = label ? CSV_LABEL : number < known ? number : CSV_OTHER;
        if (!label && s->place[k] == CSV_OTHER && s->strict)
            return err_set(err, BDA_FAILED, "column '%.*s' is not in the header of the first file",
                           (int)(c.length < 200 ? c.length : 200), c.text);
        for (uint64_t i = 0; (label || number < before) && i < k; i++)
            if (s->place[i] == s->place[k] && s->place[k] != CSV_OTHER)
                return err_set(err, BDA_FAILED, "two columns have the name '%.*s'",
                               (int)(c.length < 200 ? c.length : 200), c.text);
        s->has_label |= label;
    }
    return true;
}

bool csv_header(csv_columns *s, const char *text, uint64_t length, const char **where, bda_error *err)
{
    const data_schema *schema = s->schema;
    if (!csv_split(&s->line, schema->separator, text, end_of_line(text, text + length), where, err))
        return false;
    s->count = s->line.count;
    s->has_label = false;
    s->place = ARENA_TAKE(&s->memory, uint32_t, s->count, err);
    name_set names = {0};
    bool ok = s->place && find_columns(s, &names, err);
    names_free(&names);
    arena temporary = {0};
    bool *seen = ok ? ARENA_TAKE(&temporary, bool, schema->columns + 1, err) : NULL;
    for (uint64_t k = 0; seen && k < s->count; k++)
        if (s->place[k] < schema->columns)
            seen[s->place[k]] = true;
    ok = ok && seen;
    for (uint64_t j = 0; ok && j < schema->columns; j++)
        if (!seen[j])
            ok = err_set(err, BDA_FAILED, "the header has no column '%s'", schema->column[j].name);
    if (ok && s->strict && !s->has_label)
        ok = err_set(err, BDA_FAILED, "the header has no column '%s', which --label names", schema->label);
    arena_free(&temporary);
    *where = ok ? NULL : text;
    return ok;
}

/* The cells of the next line that is not empty, *p behind it. */
static bool next_line(csv_columns *s, const char **p, const char *end, bool *empty, const char **where,
                      bda_error *err)
{
    const char *line = *p, *next = lines_after(line, end), *stop = end_of_line(line, next);
    *p = next;
    *empty = stop == line;
    if (*empty)
        return true;
    if (!csv_split(&s->line, s->schema->separator, line, stop, where, err))
        return false;
    *where = line;
    return s->line.count == s->count || err_set(err, BDA_FAILED, "has %llu cells instead of the %llu of the header",
                                                (unsigned long long)s->line.count, (unsigned long long)s->count);
}

/* ---- the survey -------------------------------------------------------------------------------------------------- */

static bool survey_cell(csv_survey *s, uint64_t j, csv_cell c, bda_error *err)
{
    const data_schema *schema = s->columns.schema;
    csv_facts *f = &s->facts[j];
    const bool is_text = j < schema->columns ? schema->column[j].is_text : schema->named;
    double x;
    uint32_t number;
    if (c.length == 0) {
        f->empty++;
        return true;
    }
    if (s->collects && is_text) {
        if (!names_add(&f->values, c.text, c.length, &number, err))
            return false;
        return f->values.count <= SCHEMA_MOST_VALUES ||
               err_set(err, BDA_FAILED, "column '%s' has more than %d different texts",
                       j < schema->columns ? schema->column[j].name : schema->label, SCHEMA_MOST_VALUES);
    }
    if (!s->collects && csv_number(c, &x)) {
        exact_add(&f->sum, x);
        f->numbers++;
    } else {
        f->texts++;
    }
    return true;
}

static bool survey_parse(void *sink, const char *text, uint64_t length, uint64_t most, const char **where,
                         bda_error *err)
{
    csv_survey *s = sink;
    const uint64_t last = s->columns.schema->columns;
    if (s->failed)
        return err_memory(err, last * sizeof *s->facts, "columns");
    for (const char *p = text, *end = text + length; p < end && most > 0; most--) {
        bool empty;
        if (!next_line(&s->columns, &p, end, &empty, where, err))
            return false;
        for (uint64_t k = 0; !empty && k < s->columns.count; k++) {
            const uint32_t place = s->columns.place[k];
            if (place != CSV_OTHER &&
                !survey_cell(s, place == CSV_LABEL ? last : place, s->columns.line.cell[k], err))
                return false;
        }
        s->lines += !empty;
        most += empty;
    }
    *where = NULL;
    return true;
}

static void survey_like(void *sink, const void *other)
{
    const csv_survey *o = other;
    csv_survey *s = sink;
    bda_error ignored = {0};
    *s = (csv_survey){.columns = {.schema = o->columns.schema, .strict = o->columns.strict}, .collects = o->collects};
    s->facts = ARENA_TAKE(&s->columns.memory, csv_facts, s->columns.schema->columns + 1, &ignored);
    s->failed = !s->facts;
}

static void survey_close(void *sink)
{
    csv_survey *s = sink;
    for (uint64_t j = 0; s->facts && j <= s->columns.schema->columns; j++)
        names_free(&s->facts[j].values);
    csv_columns_free(&s->columns);
    *s = (csv_survey){0};
}

static uint64_t survey_held(const void *sink)
{
    return ((const csv_survey *)sink)->lines;
}

static bool survey_join(void *sink, void *other, bool front, bda_error *err)
{
    csv_survey *s = sink, *o = other;
    (void)front;
    if (s->failed || o->failed)
        return err_memory(err, s->columns.schema->columns * sizeof *s->facts, "columns");
    for (uint64_t j = 0; j <= s->columns.schema->columns; j++) {
        csv_facts *to = &s->facts[j], *from = &o->facts[j];
        uint32_t number;
        to->empty += from->empty;
        to->texts += from->texts;
        to->numbers += from->numbers;
        exact_join(&to->sum, &from->sum);
        for (uint32_t k = 0; k < from->values.count; k++)
            if (!names_add(&to->values, from->values.name[k], strlen(from->values.name[k]), &number, err))
                return false;
    }
    s->lines += o->lines;
    return true;
}

static bool survey_header(void *sink, const char *text, uint64_t length, const char **where, bda_error *err)
{
    return csv_header(&((csv_survey *)sink)->columns, text, length, where, err);
}

const format csv_survey_format = {
    .name = "table",
    .cut_at = LINES_ONE,
    .header = survey_header,
    .count = csv_count,
    .skip = csv_skip,
    .parse = survey_parse,
    .sink_bytes = sizeof(csv_survey),
    .like = survey_like,
    .close = survey_close,
    .held = survey_held,
    .join = survey_join,
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A copy of a cell that ends in a zero, cut to `room` bytes. */
static char *show(csv_cell c, char *text, uint64_t room)
{
    const uint64_t length = c.length < room ? c.length : room - 1;
    memcpy(text, c.text, length);
    text[length] = 0;
    return text;
}

static bool read_label(csv_rows *s, const csv_cell *c, double *label, bda_error *err)
{
    char shown[60];
    uint32_t number;
    if (!c || c->length == 0) {
        *label = NAN;
        return !s->needs_label || err_set(err, BDA_FAILED, "the label is missing");
    }
    if (!s->columns.schema->named)
        return csv_number(*c, label) ||
               err_set(err, BDA_FAILED, "label '%s' is not a number", show(*c, shown, sizeof shown));
    if (!names_add(&s->to.names, c->text, c->length, &number, err))
        return false;
    *label = number;
    return true;
}

/* What an empty cell counts as. */
static bool fill(const data_schema *schema, const schema_column *x, double *value, bda_error *err)
{
    *value = schema->missing == SCHEMA_MEAN && !x->is_text ? x->mean : 0;
    return schema->missing != SCHEMA_REFUSE ||
           err_set(err, BDA_FAILED, "the cell of column '%s' is empty; --missing=zero or --missing=mean accepts that",
                   x->name);
}

/* The feature and its value, 0: none. A text that training did not see has none. */
static bool read_cell(const data_schema *schema, const schema_column *x, csv_cell c, uint32_t *feature, double *value,
                      bda_error *err)
{
    char shown[60];
    *feature = x->first;
    if (c.length == 0)
        return fill(schema, x, value, err);
    if (!x->is_text)
        return csv_number(c, value) ||
               err_set(err, BDA_FAILED, "'%s' in column '%s' is not a number", show(c, shown, sizeof shown), x->name);
    uint64_t low = 0, high = x->values.count;
    *value = 0;
    while (low < high && *value == 0) {
        const uint64_t middle = low + (high - low) / 2;
        const char *name = x->values.name[middle];
        const uint64_t length = strlen(name);
        int order = memcmp(name, c.text, length < c.length ? length : c.length);
        order = order ? order : (length > c.length) - (length < c.length);
        *feature = x->first + (uint32_t)middle;
        *value = order == 0;
        low = order < 0 ? middle + 1 : low;
        high = order > 0 ? middle : high;
    }
    return true;
}

static bool add_row(csv_rows *s, bda_error *err)
{
    const data_schema *schema = s->columns.schema;
    const csv_cell *label_cell = NULL;
    for (uint64_t k = 0; k < s->columns.count; k++) {
        const uint32_t place = s->columns.place[k];
        if (place == CSV_LABEL)
            label_cell = &s->columns.line.cell[k];
        else if (place != CSV_OTHER)
            s->cell_of[place] = &s->columns.line.cell[k];
    }
    uint64_t cells = 0;
    double label;
    for (uint64_t j = 0; j < schema->columns; j++) {
        if (!read_cell(schema, &schema->column[j], *s->cell_of[j], &s->column[cells], &s->value[cells], err))
            return false;
        cells += s->value[cells] != 0;
    }
    return read_label(s, label_cell, &label, err) &&
           builder_add(&s->to.rows, label + 0.0, s->column, s->value, cells, err);
}

static bool rows_room(csv_rows *s, bda_error *err)
{
    const uint64_t room = s->columns.schema->columns + 1;
    if (s->room > 0)
        return true;
    s->cell_of = ARENA_TAKE(&s->columns.memory, const csv_cell *, room, err);
    s->column = ARENA_TAKE(&s->columns.memory, uint32_t, room, err);
    s->value = ARENA_TAKE(&s->columns.memory, double, room, err);
    s->room = s->cell_of && s->column && s->value ? room : 0;
    return s->room > 0;
}

static bool rows_parse(void *sink, const char *text, uint64_t length, uint64_t most, const char **where,
                       bda_error *err)
{
    csv_rows *s = sink;
    const uint64_t lines = csv_count(text, length);
    *where = NULL;
    s->to.features = s->columns.schema->features;
    s->to.named = s->columns.schema->named;
    if (!rows_room(s, err) || !builder_reserve(&s->to.rows, lines, length + lines, err))
        return false;
    for (const char *p = text, *end = text + length; p < end && most > 0; most--) {
        bool empty;
        if (!next_line(&s->columns, &p, end, &empty, where, err) || (!empty && !add_row(s, err)))
            return false;
        most += empty;
    }
    *where = NULL;
    return true;
}

static void rows_like(void *sink, const void *other)
{
    const csv_rows *o = other;
    *(csv_rows *)sink = (csv_rows){.columns = {.schema = o->columns.schema, .strict = o->columns.strict},
                                   .needs_label = o->needs_label};
}

static void rows_close(void *sink)
{
    csv_rows *s = sink;
    csv_columns_free(&s->columns);
    row_sink_free(&s->to);
    *s = (csv_rows){0};
}

static bool rows_header(void *sink, const char *text, uint64_t length, const char **where, bda_error *err)
{
    return csv_header(&((csv_rows *)sink)->columns, text, length, where, err);
}

const format csv_format = {
    .name = "table",
    .cut_at = LINES_ONE,
    .header = rows_header,
    .count = csv_count,
    .skip = csv_skip,
    .parse = rows_parse,
    .sink_bytes = sizeof(csv_rows),
    .like = rows_like,
    .close = rows_close,
    .held = row_sink_held,
    .cut = row_sink_cut,
    .join = row_sink_join,
    .expect = row_sink_expect,
};
