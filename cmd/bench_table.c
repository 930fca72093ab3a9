/* bench_table.c - rounds, vectors, bytes and seconds to each accuracy, for people and for `column` and the like. */
#include <math.h>
#include <string.h>

#include "bench.h"

enum { ROUNDS, VECTORS, BYTES, SECONDS, QUANTITIES };

static void print_number(FILE *to, int quantity, double x)
{
    char text[32];
    if (isnan(x))
        snprintf(text, sizeof text, "-");
    else if (quantity == SECONDS)
        snprintf(text, sizeof text, "%.3g", x);
    else
        snprintf(text, sizeof text, "%.0f", x);
    fprintf(to, " %10s", text);
}

static void print_quantity(FILE *to, const bda_run_summary *runs, size_t count, bool dual, int quantity)
{
    static const char *const names[] = {
        [ROUNDS] = "rounds", [VECTORS] = "vectors", [BYTES] = "bytes", [SECONDS] = "seconds"};
    char heading[64];
    snprintf(heading, sizeof heading, "%s to %s", names[quantity], dual ? "dual" : "primal");
    fprintf(to, "  %-34s", heading);
    for (int k = 1; k <= BDA_REPORT_TARGETS; k++)
        fprintf(to, "       1e-%d", k);
    fprintf(to, "\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(to, "    %-32s", runs[i].label);
        for (int k = 0; k < BDA_REPORT_TARGETS; k++)
            print_number(to, quantity, dual ? runs[i].dual[k][quantity] : runs[i].primal[k][quantity]);
        fprintf(to, "\n");
    }
}

#define MOST_SHOWN 256 /* runs of a problem */

void bench_print_table(FILE *to, const bda_report *report)
{
    static bda_run_summary runs[MOST_SHOWN];
    const size_t all = bda_report_runs(report);
    for (size_t i = 0, count; i < all; i += count) {
        bda_report_run(report, i, &runs[0]);
        for (count = 1; count < MOST_SHOWN && i + count < all; count++) {
            bda_report_run(report, i + count, &runs[count]);
            if (runs[count].problem != runs[0].problem)
                break;
        }
        fprintf(to, "%s: optimum %.10g", runs[0].problem, runs[0].optimum);
        if (runs[0].uncertainty > 0)
            fprintf(to, ", certified to a relative %.2g", runs[0].uncertainty);
        fprintf(to, "\n");
        for (int dual = 0; dual < 2; dual++)
            for (int quantity = 0; quantity < QUANTITIES; quantity++)
                print_quantity(to, runs, count, dual, quantity);
        fprintf(to, "\n");
    }
}
