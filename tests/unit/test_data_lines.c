/* test_data_lines.c - text cut anywhere: the units that begin in consecutive ranges are those of the whole text, each
 * once and in order, for lines and for paragraphs; and a block can be read again from its own offset. */
#include "base/random.h"
#include "data/lines.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"

#define MOST 4096

/* What a range delivers: paragraphs with '|' between them and without blank lines, or lines without blank ones. */
typedef struct heard {
    char text[2 * MOST];
    size_t length;
    bool apart; /* a blank line, or the beginning of a range, came before */
} heard;

static void hear(heard *h, lines_unit unit, const char *text, uint64_t length)
{
    for (const char *p = text, *end = text + length; p < end; p = lines_after(p, end)) {
        size_t line = (size_t)(lines_after(p, end) - p);
        if (*lines_skip_blanks(p) == '\n') {
            h->apart = true;
            continue;
        }
        if (h->apart && unit == LINES_PARAGRAPH)
            h->text[h->length++] = '|';
        h->apart = false;
        assert_true(h->length + line + 2 < sizeof h->text);
        memcpy(h->text + h->length, p, line);
        h->length += line;
    }
}

static void listen(heard *h, lines_unit unit, uint64_t from, uint64_t to)
{
    bda_error err = {0};
    source s;
    lines l;
    const char *text;
    uint64_t length, offset, expected = from;
    h->apart = true;
    assert_true(source_open(&s, "t", &err));
    assert_true(lines_open(&l, &s, unit, from, to, &err));
    while (lines_next(&l, &text, &length, &offset, &err) && length > 0) {
        assert_true(offset >= expected && text[length - 1] == '\n');
        hear(h, unit, text, length);
        expected = offset + length;
    }
    assert_int_equal(err.status, BDA_OK);
    h->text[h->length] = 0;
    lines_close(&l);
    source_close(&s);
}

static size_t draw_text(rng *r, char *text)
{
    static const char *const pieces[] = {"a", "b c", "\n", "\n\n", "\n \t\n", " ", "\r\n", "d\n", "\n\n\n", "#x\n"};
    size_t length = 0;
    if (rng_below(r, 3) == 0) {
        strcpy(text, "\xef\xbb\xbf");
        length = 3;
    }
    for (uint32_t k = rng_below(r, 30); k > 0; k--) {
        strcpy(text + length, pieces[rng_below(r, sizeof pieces / sizeof *pieces)]);
        length += strlen(text + length);
    }
    return length;
}

static void cut_anywhere(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 3, 1, 4);
    for (int i = 0; i < 3000; i++) {
        char text[MOST];
        size_t length = draw_text(&r, text);
        support_write("t", text, length);
        lines_unit unit = i % 2 ? LINES_PARAGRAPH : LINES_ONE;
        static heard whole, parts;
        whole = parts = (heard){0};
        listen(&whole, unit, 0, UINT64_MAX);
        uint64_t at = 0;
        while (at < length + 1) {
            uint64_t next = at + 1 + rng_below(&r, (uint32_t)length / 2 + 1);
            listen(&parts, unit, at, next);
            at = next;
        }
        if (strcmp(whole.text, parts.text) != 0)
            fail_msg("'%s'\nwhole '%s'\nparts '%s'", text, whole.text, parts.text);
        assert_null(strstr(whole.text, "\xef\xbb\xbf"));
    }
    unlink("t");
}

/* Longer than the buffer: several blocks, each of whole paragraphs, and reading goes on from the offset of any. */
static void blocks_of_paragraphs(void **state)
{
    (void)state;
    bda_error err = {0};
    FILE *to = fopen("t", "w");
    for (int i = 0; i < 60000; i++) {
        for (int k = 0; k < (i == 20000 ? 100000 : i % 7); k++)
            fprintf(to, "%d-%d word\n", i, k);
        fputs("\n", to);
    }
    assert_int_equal(fclose(to), 0);
    source s;
    lines l, again;
    const char *text, *other;
    uint64_t length, offset, blocks = 0, same, from;
    assert_true(source_open(&s, "t", &err) && lines_open(&l, &s, LINES_PARAGRAPH, 0, UINT64_MAX, &err));
    while (lines_next(&l, &text, &length, &offset, &err) && length > 0) {
        source copy = s;
        assert_true(blocks == 0 || text[0] == '\n');
        assert_true(lines_open(&again, &copy, LINES_PARAGRAPH, offset, UINT64_MAX, &err));
        assert_true(lines_next(&again, &other, &same, &from, &err));
        assert_int_equal(from, offset);
        assert_memory_equal(text, other, length < same ? length : same);
        lines_close(&again);
        blocks++;
    }
    assert_true(blocks > 3);
    lines_close(&l);
    source_close(&s);
    unlink("t");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_anywhere), cmocka_unit_test(blocks_of_paragraphs)};
    return cmocka_run_group_tests(tests, support_open, support_close);
}
