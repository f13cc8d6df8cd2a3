/* libFuzzer: any bytes as the record of a training. What is accepted can be written and reads the same again. */
#include <stdlib.h>
#include <string.h>

#include "core/models/model.h"
#include "core/train/history.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Err err = {{0}};
    History h, again;
    VitConfig c = model_bundled_config();
    c.image_h = c.image_w = 8; /* small enough for a history of some hundred bytes */
    c.patch_h = c.patch_w = 4;
    c.width = c.mlp = 4;
    c.layers = 1;
    c.heads = 1;
    if (!vit_check(&c, &err))
        abort();
    history_init(&h, &c);
    history_init(&again, &c);
    if (!history_fill_bytes(&h, "fuzz", bytes, n, &err)) {
        if (!*err.text)
            abort();
        return 0;
    }
    TensorOut out[HISTORY_TENSORS];
    Arena arena = {0};
    Buf file = {0};
    size_t count = history_tensors(&h, &arena, out);
    if (!tensors_encode(&file, TF_SAFETENSORS, out, count, NULL, &err) ||
        !history_fill_bytes(&again, "fuzz", file.data, file.len, &err) || again.row_count != h.row_count ||
        again.snapshot_count != h.snapshot_count)
        abort();
    history_free(&again);
    history_free(&h);
    arena_free(&arena);
    buf_free(&file);
    return 0;
}
