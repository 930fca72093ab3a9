/* target_sentences.c - text of sentences, CoNLL-U or columns as the text itself shows, read to learn tags and trees. */
#include "fuzz/target.h"

static void read_for(const char *task, bda_error *err)
{
    bda_settings *s = target_settings("train");
    *err = (bda_error){0};
    target_set(s, "task", task);
    target_set(s, "blocks", "2");
    data *d = bda_data_read(alone, s, "d", err);
    target_sentence(d != NULL, err);
    bda_data_free(d);
    bda_settings_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    bda_error err;
    target_put("d", bytes, size);
    read_for("tag", &err);
    read_for("parse", &err);
    return 0;
}
