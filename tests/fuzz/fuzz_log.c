/* fuzz_log.c - run logs with mistakes in them: each is taken or refused with a sentence, and what is taken makes a page.
 *
 * usage: fuzz_log SEED [CASES] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "report/page.h"

enum { CASES = 300, ROUNDS = 12, MOST = 16384 };

static size_t write_good(char *text)
{
    size_t used =
        (size_t)sprintf(text, "{\"event\":\"start\",\"task\":\"classify\",\"loss\":\"hinge\",\"method\":\"bda\","
                              "\"ranks\":1,\"threads\":1,\"blocks\":4,\"weights\":10,\"data\":\"d\\u00e9\"}\n");
    for (int t = 0; t < ROUNDS; t++)
        used += (size_t)sprintf(text + used,
                                "{\"event\":\"round\",\"round\":%d,\"seconds\":%g,\"primal\":%g,\"best_primal\":%g,"
                                "\"dual\":%g,\"step\":0.5,\"vectors_sent\":%d,\"bytes_sent\":%d}\n",
                                t, 0.1 * t, 10 + exp(-t), 10 + exp(-t), -10 + exp(-t), t, 80 * t);
    return used + (size_t)sprintf(text + used, "{\"event\":\"end\",\"reason\":\"gap\"}\n");
}

/* One mistake; returns the new length. */
static size_t spoil(rng *random, char *text, size_t length)
{
    static const char special[] = "{}[]\",:\\0-eEu\n";
    const size_t at = rng_below(random, (uint32_t)length), from = rng_below(random, (uint32_t)length);
    const size_t count = rng_below(random, 60);
    switch (rng_below(random, 4)) {
    case 0:
        text[at] = (char)rng_u32(random);
        break;
    case 1:
        text[at] = special[rng_below(random, sizeof special - 1)];
        break;
    case 2:
        return at > 0 ? at : 1;
    default:
        if (at + count < length && from + count < length)
            memmove(text + at, text + from, count);
    }
    return length;
}

/* False: a page of it could not be made. */
static bool make_page(const run_list *list, const char *path, bda_error *err)
{
    comparison c;
    series_list series;
    network net;
    if (!network_parse(&net, "1Gbit,1ms", err) || !comparison_open(&c, list, NAN, err))
        return false;
    bool ok = series_find(&series, &c, err);
    if (ok) {
        const report_view view = {.comparison = &c, .series = &series, .network = &net, .network_text = "1Gbit,1ms"};
        ok = page_write(&view, path, err) && csv_write(&view, path, err);
        series_free(&series);
    }
    comparison_close(&c);
    return ok;
}

static bool one_case(rng *random, const char *log, const char *page, uint64_t *taken)
{
    static char text[MOST];
    size_t length = write_good(text);
    for (uint32_t mistakes = rng_below(random, 4); mistakes > 0; mistakes--)
        length = spoil(random, text, length);
    FILE *file = fopen(log, "w");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0)
        return false;
    run_list list = {0};
    bda_error err = {0};
    bool ok = true;
    if (run_list_read(&list, log, rng_below(random, 2), &err)) {
        ok = make_page(&list, page, &err);
        ++*taken;
    } else {
        ok = err.text[0] && list.count == 0;
    }
    run_list_free(&list);
    if (!ok)
        fprintf(stderr, "failed with '%s' on:\n%.*s\n", err.text, (int)length, text);
    return ok;
}

int main(int argc, char **argv)
{
    char log[] = "/tmp/bda-fuzz-log-XXXXXX", page[] = "/tmp/bda-fuzz-page-XXXXXX";
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : CASES;
    uint64_t taken = 0;
    close(mkstemp(log));
    close(mkstemp(page));
    bool ok = true;
    for (uint64_t i = 0; ok && i < cases; i++) {
        rng random;
        rng_open(&random, seed, i, 0);
        ok = one_case(&random, log, page, &taken);
    }
    unlink(log);
    unlink(page);
    printf("%llu of %llu logs were taken\n", (unsigned long long)taken, (unsigned long long)cases);
    return ok && taken > 0 && (cases < CASES || taken < cases) ? EXIT_SUCCESS : EXIT_FAILURE;
}
