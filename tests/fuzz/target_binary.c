/* target_binary.c - binary data. With the first byte odd the checksums are made right first. */
#include "fuzz/forge.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    char *copy = malloc(size);
    target_require(copy != NULL, "no memory");
    memcpy(copy, bytes + 1, size - 1);
    if (bytes[0] & 1 && size - 1 >= BINARY_HEADER)
        forge_binary(copy, size - 1);
    target_put("d", copy, size - 1);
    free(copy);
    bda_error err = {0};
    bda_settings *s = target_settings("train");
    target_set(s, "blocks", "1");
    data *d = bda_data_read(alone, s, "d", &err);
    target_sentence(d != NULL, &err);
    target_require(!d || forge_sound(d), "rows break a promise");
    bda_data_free(d);
    bda_settings_free(s);
    return 0;
}
