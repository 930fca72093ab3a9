/* files.c - what a file is, as far as its content shows.
 *
 * Models and binary data begin with a mark of their own; run logs and metrics with the text that log.c and predict.c
 * begin them with, pages and tables of reports with that of page.c and csv.c; LIBLINEAR's models with their first two lines. LIBSVM text has a row of `label index:value`.
 * Predictions in CSV and JSON are seen from their beginning. As text they have no mark: they are lines of numbers, all of the same length, with every number in the form in which
 * text_real writes it, from the first byte to the last. A row of data with at least one feature has a colon, which no
 * number has, so that data is never taken for predictions. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "data/binary.h"
#include "data/data.h"
#include "data/paths.h"
#include "data/source.h"
#include "run/checkpoint_file.h"
#include "run/files.h"
#include "run/model.h"
#include "run/settings.h"
#include "run/text.h"

#define BEGINNING 65536 /* bytes that are looked at, of all but predictions */

static bool starts_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_log(const char *text)
{
    return starts_with(text, "{\"event\":\"start\",\"version\":");
}

static bool is_metrics(const char *text)
{
    static const char *const keys[] = {"\"accuracy\":", "\"mse\":"};
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        found |= strstr(text, keys[i]) != NULL;
    const bool unlabelled = !strchr(text, ',');
    return (found || unlabelled) && starts_with(text, "{\"instances\":");
}

static bool is_liblinear(const char *text)
{
    const char *line = strchr(text, '\n');
    return starts_with(text, "solver_type ") && line && starts_with(line, "\nnr_class ");
}

static bool is_page(const char *text)
{
    const char *generator = strstr(text, "<meta name=\"generator\" content=\"bda ");
    return starts_with(text, "<!doctype html>\n") && generator;
}

static bool is_csv(const char *text)
{
    return starts_with(text, "problem,run,method,log,");
}

/* The heads of lines in CSV: no column but those of lines_head. */
static bool is_prediction_table(const char *text)
{
    if (!starts_with(text, "label\n") && !starts_with(text, "label,") && !starts_with(text, "prediction\n") &&
        !starts_with(text, "prediction,"))
        return false;
    const char *end = strchr(text, '\n');
    for (const char *comma = strchr(text, ','); end && comma && comma < end; comma = strchr(comma + 1, ',')) {
        const char *name = comma + 1 + (comma[1] == '"');
        if (!starts_with(name, "score") && !starts_with(name, "probability_"))
            return false;
    }
    return end;
}

static bool is_prediction_json(const char *text)
{
    return starts_with(text, "{\"label\":") || starts_with(text, "{\"prediction\":");
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r");
}

/* "index:value" at p? */
static bool is_cell(const char *p)
{
    size_t digits = strspn(p, "0123456789");
    return digits > 0 && p[digits] == ':' && p[digits + 1] && strchr("+-.0123456789", p[digits + 1]);
}

/* The first row with more than a label decides. */
static bool is_libsvm(const char *text)
{
    for (const char *line = text; *line;) {
        const char *label = skip_blanks(line);
        const char *cell = skip_blanks(label + strcspn(label, " \t\r\n#:"));
        if (*label != '#' && *cell && !strchr("\n#", *cell))
            return is_cell(cell) && cell > label;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return false;
}

/* ---- predictions ---------------------------------------------------------------------------------------------- */

/* As "%.17g" writes it: -12, 0.5, 1e-05. */
static bool is_written_number(const char *p, const char *end)
{
    const char *before = p;
    p += *p == '-';
    const char *whole = p;
    while (p < end && isdigit((unsigned char)*p))
        p++;
    if (p == whole || (*whole == '0' && p > whole + 1))
        return false;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && isdigit((unsigned char)*p))
            p++;
        if (p == fraction || p[-1] == '0')
            return false;
    }
    if (p < end && *p == 'e') {
        p++;
        if (p == end || (*p != '-' && *p != '+'))
            return false;
        const char *exponent = ++p;
        while (p < end && isdigit((unsigned char)*p))
            p++;
        if (p < exponent + 2)
            return false;
    }
    return p == end && end - before < TEXT_REAL;
}

typedef struct number_lines {
    char number[TEXT_REAL + 1]; /* as much as has been seen of it */
    uint64_t length;            /* of that */
    uint64_t fields;            /* of this line, before that number */
    uint64_t per_line;          /* fields of the first line; 0: it has not ended yet */
    bool good;
} number_lines;

static void take_byte(number_lines *l, char byte)
{
    if (byte != ' ' && byte != '\n') {
        l->number[l->length] = byte;
        l->length++;
        l->good &= l->length < TEXT_REAL;
        return;
    }
    l->number[l->length] = 0;
    l->good &= is_written_number(l->number, l->number + l->length);
    l->length = 0;
    l->fields++;
    if (byte == '\n') {
        l->per_line = l->per_line ? l->per_line : l->fields;
        l->good &= l->fields == l->per_line;
        l->fields = 0;
    }
}

/* text: what has been read of the file, `got` bytes; the rest is read into it. */
static bool read_predictions(source *s, char *text, uint64_t got, bool *are, bda_error *err)
{
    number_lines l = {.good = true};
    const char *end = starts_with(text, "labels ") ? strchr(text, '\n') : NULL;
    if (end) { /* what --scores and --probability have in front */
        got -= (uint64_t)(end + 1 - text);
        text = memmove(text, end + 1, got);
    }
    while (l.good && got > 0) {
        for (uint64_t i = 0; i < got && l.good; i++)
            take_byte(&l, text[i]);
        if (!source_read(s, text, BEGINNING, &got, err))
            return false;
    }
    *are = l.good && l.length == 0 && l.fields == 0 && l.per_line > 0;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */

static bda_file_kind kind_of_beginning(const source *s, const char *text)
{
    if (is_libsvm(text))
        return BDA_FILE_TEXT;
    if (s->packing != SOURCE_PLAIN)
        return BDA_FILE_OTHER;
    if (is_log(text))
        return BDA_FILE_LOG;
    if (is_metrics(text))
        return BDA_FILE_METRICS;
    if (is_liblinear(text))
        return BDA_FILE_LIBLINEAR;
    if (starts_with(text, "{\"file\":\"model\","))
        return BDA_FILE_JSON;
    if (starts_with(text, "/* A linear model, task "))
        return BDA_FILE_C;
    if (is_prediction_table(text) || is_prediction_json(text))
        return BDA_FILE_PREDICTIONS;
    if (is_page(text))
        return BDA_FILE_PAGE;
    return is_csv(text) ? BDA_FILE_CSV : BDA_FILE_OTHER;
}

/* text: [BEGINNING + 1] */
static bool kind_of_source(source *s, char *text, bda_file_kind *kind, bda_error *err)
{
    uint64_t got = 0;
    *kind = BDA_FILE_MODEL;
    if (s->heads >= SECTIONS_MAGIC && memcmp(s->head, MODEL_MAGIC, SECTIONS_MAGIC) == 0)
        return true;
    *kind = BDA_FILE_BINARY;
    if (binary_starts(s->head, s->heads))
        return true;
    *kind = BDA_FILE_CHECKPOINT;
    if (s->heads >= 8 && memcmp(s->head, CHECKPOINT_MAGIC, 8) == 0)
        return true;
    *kind = BDA_FILE_OTHER;
    bda_error damage = {0};
    if (!source_read(s, text, BEGINNING, &got,
                     &damage)) { /* what cannot be unpacked can be read, and is none of ours */
        const bool unpacked = s->packing == SOURCE_PLAIN || strstr(damage.text, ": cannot be read: ");
        if (unpacked)
            *err = damage;
        return !unpacked;
    }
    text[got] = 0;
    *kind = kind_of_beginning(s, text);
    bool predictions = false;
    if (*kind == BDA_FILE_OTHER && s->packing == SOURCE_PLAIN && !read_predictions(s, text, got, &predictions, err))
        return false;
    if (predictions)
        *kind = BDA_FILE_PREDICTIONS;
    return true;
}

bool file_kind(const char *path, bda_file_kind *kind, bda_error *err)
{
    struct stat about;
    *kind = BDA_FILE_NONE;
    if (stat(path, &about) != 0)
        return errno == ENOENT || errno == ENOTDIR ||
               err_set(err, BDA_FAILED, "%s: cannot be looked at: %s", path, strerror(errno));
    *kind = S_ISREG(about.st_mode) ? BDA_FILE_NONE : S_ISDIR(about.st_mode) ? BDA_FILE_OTHER : BDA_FILE_STREAM;
    if (!S_ISREG(about.st_mode) || about.st_size == 0)
        return true;
    arena memory = {0};
    source file = {.fd = -1};
    char *text = ARENA_TAKE(&memory, char, BEGINNING + 1, err);
    const bool ok = text && source_open(&file, path, err) && kind_of_source(&file, text, kind, err);
    source_close(&file);
    arena_free(&memory);
    return ok;
}

bda_file_kind bda_file_is(const char *path)
{
    bda_error ignored = {0};
    bda_file_kind kind;
    return file_kind(path, &kind, &ignored) ? kind : BDA_FILE_OTHER;
}

bda_file_kind bda_data_file_kind(const bda_settings *s, const char *input, const char *path)
{
    bool text_otherwise = true;
    if (input) {
        arena memory = {0};
        bda_error ignored = {0};
        struct stat about;
        const char *first = path_of_rank(&memory, input, 0, &ignored);
        /* What comes through a pipe is text: binary data is mapped. */
        bool regular = first && stat(first, &about) == 0 && S_ISREG(about.st_mode);
        text_otherwise = regular && data_is_binary(first);
        arena_free(&memory);
    }
    return settings_text(s, path, text_otherwise) ? BDA_FILE_TEXT : BDA_FILE_BINARY;
}
