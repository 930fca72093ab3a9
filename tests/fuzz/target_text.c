/* target_text.c - LIBSVM text, plain or packed: rows are sound, and the same for one thread and for two. */
#include "fuzz/forge.h"
#include "fuzz/target.h"

static data *read_with(const char *threads, const char *zero_based, bda_error *err)
{
    bda_settings *s = target_settings("train");
    target_set(s, "threads", threads);
    target_set(s, "blocks", "1");
    target_set(s, "zero-based", zero_based);
    data *d = bda_data_read(alone, s, "d", err);
    bda_settings_free(s);
    return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    target_put("d", bytes, size);
    bda_error err = {0}, other = {0};
    data *d = read_with("1", "0", &err);
    target_sentence(d != NULL, &err);
    target_require(!d || forge_sound(d), "rows break a promise");
    if (d || size % 2)
        bda_data_free(read_with("1", "1", &other));
    if (size % 16 == 0) {
        data *both = read_with("2", "0", &other);
        target_require(!both == !d, "two threads see something else");
        char *one = d ? support_show(d) : NULL, *two = both ? support_show(both) : NULL;
        target_require(d ? strcmp(one, two) == 0 : strcmp(err.text, other.text) == 0,
                       "two threads read something else");
        free(one);
        free(two);
        bda_data_free(both);
    }
    bda_data_free(d);
    return 0;
}
