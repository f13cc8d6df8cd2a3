/* Files embedded in the binary: the bundled model's weights and a few pictures. Made by assets/make_assets.c at build
 * time. */
#ifndef VITRINE_ASSETS_ASSETS_H
#define VITRINE_ASSETS_ASSETS_H
#include <stddef.h>
#include <stdint.h>

typedef struct Asset {
    const char *name;    /* "shapes-vit.f32", "star.ppm" */
    const char *about;   /* "drawn picture 17: a star" */
    const uint8_t *data; /* 64-byte aligned */
    size_t size;
} Asset;

const Asset *asset_find(const char *name); /* NULL when there is none */
/* In the order of the table; NULL past the end. Asset 0 is the weights, asset 1 the picture that is shown first. */
const Asset *asset_at(size_t i);
#endif
