/* target_model.c - a model file; what is read makes sense, can be described and exported, labels rows or sentences, and is
 * written again as it was read. With the first byte odd the checksums are made right first. */
#include "fuzz/forge.h"
#include "fuzz/target.h"

static void predict(const bda_model *m, const char *text)
{
    bda_error err = {0};
    bda_settings *s = target_settings("predict");
    target_put("d", text, strlen(text));
    data *d = bda_data_read_for(alone, m, s, "d", &err);
    target_sentence(d != NULL, &err);
    if (d)
        target_sentence(bda_predict(alone, m, d, s, "out", NULL, &err), &err);
    bda_data_free(d);
    bda_settings_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    unsigned char *copy = malloc(size);
    target_require(copy != NULL, "no memory");
    memcpy(copy, bytes + 1, size - 1);
    if (bytes[0] & 1)
        forge_sections(copy, size - 1);
    bda_error err = {0};
    bda_model *m = bda_model_unpack(copy, size - 1, &err);
    target_sentence(m != NULL, &err);
    free(copy);
    if (!m)
        return 0;
    target_require(forge_makes_sense(m), "a model that makes no sense");
    bda_model_summary about = {.size = sizeof about};
    bda_model_summarise(m, &about);
    if (about.features < FORGE_LARGE) {
        static const char *const formats[] = {"liblinear", "json", "c"};
        target_put("out", "", 0);
        target_sentence(bda_model_describe(m, 5, "/dev/null", &err), &err);
        err = (bda_error){0};
        target_sentence(bda_model_export(m, formats[bytes[0] % 3], "/dev/null", &err), &err);
        predict(m, "1 1:1 2:0.5\n-1 3:2\n");
        predict(m, "1\tthe\t_\tD\tX\t_\t2\tdet\t_\t_\n2\tdog\t_\tN\tX\t_\t0\troot\t_\t_\n\n");
        predict(m, "a,b,y\n1,red,0\n");
    }
    bda_model_free(m);
    return 0;
}
