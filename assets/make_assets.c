/* make_assets DIR: writes the files that are embedded in the binary, the bundled model's weights and its pictures, and sizes.h for them.
 * Everything comes from fixed seeds, so that everyone's build has the same bytes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/models/model.h"
#include "core/models/shapes.h"

enum { MODEL_SEED = 48 };

static Buf sizes; /* the text of sizes.h */

static const struct {
    const char *name;
    uint64_t number;
} PICTURES[] = {
#define PICTURE(name_, number_) {#name_, number_},
#include "assets/pictures.def"
#undef PICTURE
};

/* symbol: what the file is called in sizes.h; NULL for that header itself. */
static bool write_file(const char *dir, const char *name, const char *symbol, const char *head, const void *data, size_t n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(head, 1, strlen(head), f) == strlen(head) && fwrite(data, 1, n, f) == n;
    if (f && fclose(f) != 0)
        ok = false;
    if (!ok)
        fprintf(stderr, "make_assets: %s: cannot be written\n", path);
    if (symbol)
        buf_printf(&sizes, "#define ASSET_SIZE_%s %zu\n", symbol, strlen(head) + n);
    return ok;
}

static bool write_picture(const char *dir, const char *name, uint64_t number)
{
    static uint8_t pixels[SHAPES_SIDE * SHAPES_SIDE * 3];
    char head[32], file[64];
    int label = shapes_picture(number, pixels, NULL);
    if (strcmp(SHAPES_NAMES[label], name) != 0) {
        fprintf(stderr, "make_assets: picture %llu is a %s, not a %s: correct assets/pictures.def\n", (unsigned long long)number,
                SHAPES_NAMES[label], name);
        return false;
    }
    snprintf(head, sizeof head, "P6\n%d %d\n255\n", SHAPES_SIDE, SHAPES_SIDE);
    snprintf(file, sizeof file, "%s.ppm", name);
    return write_file(dir, file, name, head, pixels, sizeof pixels);
}

/* All weights in role order, the whole model's first, then block by block: what model_bundled reads. */
static bool write_weights(const char *dir)
{
    VitConfig c = model_bundled_config();
    size_t n = 0;
    float *all = xfloats(vit_params(&c));
    for (int layer = -1; layer < c.layers; layer++)
        for (int r = 0; r < VIT_ROLES; r++) {
            VitRole role = (VitRole)r;
            if (vit_role_in_block(role) != (layer >= 0) || !vit_has(&c, role))
                continue;
            model_seeded_weight(&c, MODEL_SEED, role, layer, all + n);
            n += vit_role_cells(&c, role);
        }
    bool ok = write_file(dir, "shapes-vit.f32", "weights", "", all, n * sizeof *all);
    free(all);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_assets DIR\n");
        return 2;
    }
    bool ok = write_weights(argv[1]);
    for (size_t i = 0; ok && i < sizeof PICTURES / sizeof *PICTURES; i++)
        ok = write_picture(argv[1], PICTURES[i].name, PICTURES[i].number);
    ok = ok && write_file(argv[1], "sizes.h", NULL, buf_str(&sizes), "", 0);
    buf_free(&sizes);
    return ok ? 0 : 1;
}
