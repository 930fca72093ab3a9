/* page.c - the report as one file of HTML: styles, numbers and scripts within, nothing fetched. A browser is told so, too:
 * the policy in the head forbids every request. */
#include "report/page.h"

#include <string.h>

#include "report/page_data.h"
#include "report/web.h"

static bool ends_in(const char *name, const char *ending)
{
    const size_t a = strlen(name), b = strlen(ending);
    return a > b && strcmp(name + a - b, ending) == 0;
}

static void write_files(output *out, const char *ending, const char *tag)
{
    for (const web_file *f = web_files; f->name; f++) {
        if (!ends_in(f->name, ending))
            continue;
        out_printf(out, "<%s>\n", tag);
        out_write(out, f->bytes, f->length);
        out_printf(out, "</%s>\n", tag);
    }
}

/* The chart library's licence asks to go where the library goes. */
static void write_licence(output *out)
{
    for (const web_file *f = web_files; f->name; f++)
        if (strcmp(f->name, "LICENSE") == 0) {
            out_printf(out, "<!-- The charts are drawn by uPlot:\n\n");
            out_write(out, f->bytes, f->length);
            out_printf(out, "-->\n");
        }
}

bool page_write(const report_view *v, const char *path, bda_error *err)
{
    output *out = out_open(path, err);
    if (!out)
        return false;
    out_printf(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"bda %s\">\n<title>Training runs</title>\n",
        bda_version());
    write_licence(out);
    write_files(out, ".css", "style");
    out_printf(out, "</head>\n<body>\n<noscript>The figures of this page are drawn by a script in it, which needs "
                    "JavaScript.</noscript>\n<main id=\"page\"></main>\n"
                    "<script type=\"application/json\" id=\"data\">\n");
    if (!page_data_write(out, v, err)) {
        out_abandon(out);
        return false;
    }
    out_printf(out, "</script>\n");
    write_files(out, ".js", "script");
    out_printf(out, "</body>\n</html>\n");
    return out_commit(out, err);
}
