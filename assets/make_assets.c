/* make_assets DIR: writes the files that are embedded in the binary, the bundled model's weights, the records of its
 * training and its pictures, and sizes.h for them. The model comes from assets/trained, which `make train` makes again
 * byte for byte; the pictures come from their numbers. So everyone's build has the same bytes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/models/drawn.h"
#include "core/models/model.h"
#include "core/models/text_model.h"

#define TRAINED "assets/trained"
#define TRANSLATOR TRAINED "/translator"
enum { FILE_MAX = 64 << 20 };

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
static bool write_file(const char *dir, const char *name, const char *symbol, const char *head, const void *data,
                       size_t n)
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
    static uint8_t pixels[DRAWN_SIDE * DRAWN_SIDE * 3];
    char head[32], file[64];
    int label = drawn_picture(number, pixels, NULL);
    if (strcmp(SHAPES_NAMES[label], name) != 0) {
        fprintf(stderr, "make_assets: picture %llu is a %s, not a %s: correct assets/pictures.def\n",
                (unsigned long long)number, SHAPES_NAMES[label], name);
        return false;
    }
    snprintf(head, sizeof head, "P6\n%d %d\n255\n", DRAWN_SIDE, DRAWN_SIDE);
    snprintf(file, sizeof file, "%s.ppm", name);
    return write_file(dir, file, name, head, pixels, sizeof pixels);
}

/* All weights in order: what model_fill_bundled reads. */
static void add_weights(Buf *all, const Model *m)
{
    for (WeightPlace w = {0}; model_weight(m, &w);)
        buf_add(all, w.data, w.cells * sizeof *w.data);
}

static bool write_weights(const char *dir)
{
    VitConfig c = model_bundled_config();
    Model m;
    Err err;
    if (!model_load(&m, TRAINED, NULL, NULL, &err)) {
        fprintf(stderr, "make_assets: %s\n", err.text);
        return false;
    }
    if (vit_params(&m.vit) != vit_params(&c) || m.vit.input != c.input || m.vit.scale != c.scale ||
        m.vit.act != c.act || m.vit.eps != c.eps) {
        fprintf(stderr, "make_assets: " TRAINED ": is not the model that model_bundled_config describes\n");
        return false;
    }
    Buf all = {0};
    add_weights(&all, &m);
    bool ok = write_file(dir, "shapes-vit.f32", "weights", "", all.data, all.len);
    buf_free(&all);
    model_free(&m);
    return ok;
}

static bool write_translator(const char *dir)
{
    Model m;
    Err err;
    Seq2seqConfig c = text_model_bundled_config();
    if (!text_model_load(&m, TRANSLATOR, NULL, NULL, &err)) {
        fprintf(stderr, "make_assets: %s\n", err.text);
        return false;
    }
    if (seq2seq_params(&m.text) != seq2seq_params(&c) || m.text.act != c.act || m.text.pre_norm != c.pre_norm ||
        m.text.scale != c.scale || m.text.eps != c.eps || m.text.heads != c.heads) {
        fprintf(stderr, "make_assets: " TRANSLATOR ": is not the model that text_model_bundled_config describes\n");
        return false;
    }
    Buf all = {0};
    add_weights(&all, &m);
    bool ok = write_file(dir, "translator.f32", "translator", "", all.data, all.len);
    buf_free(&all);
    model_free(&m);
    return ok;
}

/* A file of the folder, as it is. */
static bool copy_file(const char *dir, const char *from, const char *name, const char *symbol)
{
    char path[256];
    Buf record = {0};
    Err err;
    snprintf(path, sizeof path, TRAINED "/%s", from);
    bool ok = file_read(path, FILE_MAX, &record, &err);
    if (!ok)
        fprintf(stderr, "make_assets: %s\n", err.text);
    ok = ok && write_file(dir, name, symbol, "", record.data, record.len);
    buf_free(&record);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_assets DIR\n");
        return 2;
    }
    bool ok = write_weights(argv[1]) && write_translator(argv[1]) &&
              copy_file(argv[1], "history.safetensors", "history.safetensors", "history") &&
              copy_file(argv[1], "history-twin.safetensors", "history-twin.safetensors", "history_twin") &&
              copy_file(argv[1], "translator/history.safetensors", "history-translator.safetensors",
                        "history_translator") &&
              copy_file(argv[1], "photos/model.safetensors", "photos.safetensors", "photos") &&
              copy_file(argv[1], "photos/config.json", "photos-config.json", "photos_config") &&
              copy_file(argv[1], "photos/preprocessor_config.json", "photos-preprocessor_config.json",
                        "photos_processor") &&
              copy_file(argv[1], "photos/seen.safetensors", "photos-seen.safetensors", "photos_seen") &&
              copy_file(argv[1], "photos/history.safetensors", "photos-history.safetensors", "photos_history") &&
              copy_file(argv[1], "photos/recipe.json", "photos-recipe.json", "photos_recipe");
    for (size_t i = 0; ok && i < sizeof PICTURES / sizeof *PICTURES; i++)
        ok = write_picture(argv[1], PICTURES[i].name, PICTURES[i].number);
    ok = ok && write_file(argv[1], "sizes.h", NULL, buf_str(&sizes), "", 0);
    buf_free(&sizes);
    return ok ? 0 : 1;
}
