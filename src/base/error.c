/* error.c - see error.h. Sentences may quote what a file or a person said, so control characters, which could break
 * the line or steer a terminal, are replaced here, once for all. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* C0 and DEL, and C1 as UTF-8 has it (0xc2, then 0x80 to 0x9f): a terminal obeys these as well. */
void bda_plain_text(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f)
            *c = c[1] = '?';
        else if (*c < ' ' || *c == 127)
            *c = '?';
    }
}

void err_clear(bda_error *err)
{
    err->status = BDA_OK;
    err->text[0] = 0;
    err->option[0] = 0;
}

/* The option at fault is the first one that the sentence names. */
static void find_option(bda_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *dashes = strstr(err->text, "--");
    const size_t length = dashes ? strspn(dashes + 2, letters) : 0;
    err->option[0] = 0;
    if (length > 0 && length < sizeof err->option)
        snprintf(err->option, sizeof err->option, "%.*s", (int)length, dashes + 2);
}

bool err_set(bda_error *err, bda_status status, const char *format, ...)
{
    if (err->status != BDA_OK)
        return false;
    err->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    bda_plain_text(err->text);
    find_option(err);
    return false;
}

bool err_memory(bda_error *err, uint64_t bytes, const char *what)
{
    static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    if (bytes < 1000)
        return err_set(err, BDA_FAILED, "out of memory: needed %d bytes for %s", (int)bytes, what);
    int u = 0;
    double amount = (double)bytes / 1000;
    for (; amount >= 999.95 && u < 5; u++)
        amount /= 1000;
    return err_set(err, BDA_FAILED, "out of memory: needed %.1f %s for %s", amount, unit[u], what);
}
