/* lines.h - predictions as text: a line for each row, in one of three formats.
 *
 *     text    the predicted label or number; then scores and probabilities where they are asked for. Of classes, these
 *             have a line "labels ..." in front, which names what the columns stand for, as LIBLINEAR's -b 1 has
 *     csv     a line of column names in front (RFC 4180)
 *     json    an object a line */
#ifndef RUN_LINES_H
#define RUN_LINES_H

#include "base/bytes.h"
#include "run/model.h"
#include "run/settings.h"

typedef struct line_writer {
    const bda_model *model;
    bool scores, probabilities;
    enum { LINES_TEXT, LINES_CSV, LINES_JSON } format;
    const char **label;  /* [classes] as they stand in a line of this format */
    double *probability; /* [classes] */
    arena memory;
} line_writer;

bool lines_open_writer(line_writer *w, const bda_model *m, const bda_settings *s, bda_error *err);
void lines_close_writer(line_writer *w); /* accepts one that failed to open */

void lines_head(const line_writer *w, bytes *to);
void lines_row(const line_writer *w, const double *score, bytes *to);

#endif
