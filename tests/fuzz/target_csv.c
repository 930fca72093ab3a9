/* target_csv.c - tables with a column "y"; what is read is sound. The first byte chooses the separator and what empty cells
 * mean. */
#include "fuzz/forge.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const missing[] = {"error", "zero", "mean", "mean"};
    if (size == 0)
        return 0;
    target_put("d", bytes + 1, size - 1);
    bda_error err = {0};
    bda_settings *s = target_settings("train");
    target_set(s, "format", bytes[0] & 1 ? "tsv" : "csv");
    target_set(s, "label", "y");
    if (bytes[0] & 6)
        target_set(s, "missing", missing[bytes[0] >> 1 & 3]);
    target_set(s, "task", bytes[0] & 8 ? "regress" : "classify");
    data *d = bda_data_read(alone, s, "d", &err);
    target_sentence(d != NULL, &err);
    if (d && d->target.real)
        target_require(forge_sound(d), "rows break a promise");
    bda_data_free(d);
    bda_settings_free(s);
    return 0;
}
