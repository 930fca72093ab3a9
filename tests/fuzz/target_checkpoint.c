/* target_checkpoint.c - a file that --resume is to go on from: it is refused, passed over with a warning, or taken, and then
 * a training of numbers follows. With the first byte odd the checksums of head and parts are made right first. */
#include "base/bytes.h"
#include "fuzz/target.h"
#include "run/checkpoint_file.h"

#include <math.h>
#include <xxhash.h>

static const char text[] = "1 1:1 2:0.5\n-1 2:1\n1 3:2\n-1 1:0.5 3:1\n";

static void forge(unsigned char *bytes, uint64_t size)
{
    checkpoint_head h;
    bda_error err = {0};
    const uint64_t length = size >= 24 ? bytes_decode_u64(bytes + 16) : 0;
    if (length < 32 || length > size)
        return;
    bytes_encode_u64(bytes + length - 8, XXH3_64bits(bytes, length - 8));
    if (checkpoint_decode(&h, bytes, length, &err) && h.bytes == size)
        for (uint64_t part = 0; part < h.pieces + h.blocks; part++)
            checkpoint_seal(&h, part, bytes + h.place[part]);
    checkpoint_head_free(&h);
}

static void resume(void)
{
    static const char *const settings[][2] = {{"method", "bda"},       {"blocks", "2"},           {"max-rounds", "5"},
                                              {"checkpoint", "state"}, {"checkpoint-every", "1"}, {"resume", "1"}};
    bda_error err = {0};
    bda_outcome outcome = {.size = sizeof outcome};
    bda_settings *s = target_settings("train");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        target_set(s, settings[i][0], settings[i][1]);
    data *d = bda_data_read(alone, s, "d", &err);
    target_require(d != NULL, err.text);
    bda_model *m = bda_train(alone, d, s, NULL, &outcome, &err);
    target_sentence(m != NULL, &err);
    target_require(!m || isfinite(outcome.last.best_primal), "an objective that is none");
    bda_model_free(m);
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
        forge(copy, size - 1);
    target_put("d", text, sizeof text - 1);
    target_put("state", copy, size - 1);
    unlink("state.old");
    free(copy);
    resume();
    return 0;
}
