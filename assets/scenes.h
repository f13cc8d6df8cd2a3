/* Scenes that look a little like photographs, rendered by the project itself: for showing the model of photographs
 * without anybody's photographs. The same bytes on every machine. */
#ifndef VITRINE_ASSETS_SCENES_H
#define VITRINE_ASSETS_SCENES_H
#include <stdint.h>

enum { SCENE_SIDE = 32 };
const char *scene_name(int i); /* "airplane"; NULL past the last one */
/* pixels[side, side, 3]: RGB, rows from the top. */
void scene_render(int i, uint8_t *pixels);
#endif
