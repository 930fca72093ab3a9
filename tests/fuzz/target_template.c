/* target_template.c - a file of templates, and behind a line "===" the columns that it is used with. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char columns[] = "the x D\ndog y N\n\na x D\ncat z N\nsleeps y V\n";
    const uint8_t *mark = memmem(bytes, size, "===\n", 4);
    const size_t length = mark ? (size_t)(mark - bytes) : size;
    target_put("template", bytes, length);
    if (mark)
        target_put("d", mark + 4, size - length - 4);
    else
        target_put("d", columns, sizeof columns - 1);
    bda_error err = {0};
    bda_settings *s = target_settings("train");
    target_set(s, "task", "tag");
    target_set(s, "template", "template");
    target_set(s, "blocks", "1");
    data *d = bda_data_read(alone, s, "d", &err);
    target_sentence(d != NULL, &err);
    bda_data_free(d);
    bda_settings_free(s);
    return 0;
}
