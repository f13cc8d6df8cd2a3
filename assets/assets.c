/* The files lie in ASSET_DIR when this is compiled, ASSET_SIZES is a header with their sizes (macros of assets.mk). The
 * assembler copies the bytes in. */
#include "assets/assets.h"

#include <string.h>

#include ASSET_SIZES

/* Defines asset_NAME: a file's bytes, on a cache line. */
#define EMBED(name, file)                                                                                              \
    extern const uint8_t asset_##name[];                                                                               \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".balign 64\n"                                                                                             \
            ".global asset_" #name "\n"                                                                                \
            "asset_" #name ":\n"                                                                                       \
            ".incbin \"" ASSET_DIR "/" file "\"\n"                                                                     \
            ".byte 0\n"                                                                                                \
            ".popsection\n")

EMBED(weights, "shapes-vit.f32");
EMBED(history, "history.safetensors");
EMBED(history_twin, "history-twin.safetensors");
EMBED(translator, "translator.f32");
EMBED(history_translator, "history-translator.safetensors");
EMBED(photos, "photos.safetensors");
EMBED(photos_config, "photos-config.json");
EMBED(photos_processor, "photos-preprocessor_config.json");
EMBED(photos_seen, "photos-seen.safetensors");
EMBED(photos_history, "photos-history.safetensors");
EMBED(photos_recipe, "photos-recipe.json");
#define PICTURE(name, number) EMBED(name, #name ".ppm");
#include "assets/pictures.def"
#undef PICTURE

static const Asset FILES[] = {
    {"shapes-vit.f32", "weights of shapes-vit, trained by `make train`", asset_weights, ASSET_SIZE_weights},
    {"history.safetensors", "the record of its training", asset_history, ASSET_SIZE_history},
    {"history-twin.safetensors", "the record of its twin, trained without the scale", asset_history_twin,
     ASSET_SIZE_history_twin},
#define PICTURE(name, number) {#name ".ppm", "drawn picture " #number ": " #name, asset_##name, ASSET_SIZE_##name},
#include "assets/pictures.def"
#undef PICTURE
    {"translator.f32", "weights of the translator, trained by `make train`", asset_translator, ASSET_SIZE_translator},
    {"history-translator.safetensors", "the record of its training", asset_history_translator,
     ASSET_SIZE_history_translator},
    {"photos.safetensors", "weights of photos in 16 bits, trained by `make train-photos`", asset_photos,
     ASSET_SIZE_photos},
    {"photos-config.json", "its configuration", asset_photos_config, ASSET_SIZE_photos_config},
    {"photos-preprocessor_config.json", "what is done to its pictures", asset_photos_processor,
     ASSET_SIZE_photos_processor},
    {"photos-seen.safetensors", "what its photographs look like to it, measured by `make figures-photos`",
     asset_photos_seen, ASSET_SIZE_photos_seen},
    {"photos-history.safetensors", "the record of its training", asset_photos_history, ASSET_SIZE_photos_history},
    {"photos-recipe.json", "the recipe of its training", asset_photos_recipe, ASSET_SIZE_photos_recipe},
};
enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

const Asset *asset_at(size_t i)
{
    return i < FILE_COUNT ? &FILES[i] : NULL;
}

const Asset *asset_find(const char *name)
{
    for (size_t i = 0; i < FILE_COUNT; i++)
        if (strcmp(FILES[i].name, name) == 0)
            return &FILES[i];
    return NULL;
}
