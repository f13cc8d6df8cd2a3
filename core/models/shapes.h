/* Drawn pictures of ten shapes on textured grounds, each made from its number alone: what the bundled model looks at.
 */
#ifndef VITRINE_MODELS_SHAPES_H
#define VITRINE_MODELS_SHAPES_H
#include <stdint.h>

enum { SHAPES_SIDE = 48, SHAPES_CLASSES = 10 };

extern const char
    *const SHAPES_NAMES[SHAPES_CLASSES]; /* circle ring square frame triangle star cross crescent heart arrow */

/* Picture `number` (the same bytes on every machine): pixels[48·48·3], RGB, rows from the top. Returns its class.
 * mask[48·48] (or NULL): how much of a pixel the shape covers, 0 … 255. */
int shapes_picture(uint64_t number, uint8_t *pixels, uint8_t *mask);
/* A picture of another series than the program's own (its pictures are series SHAPES_SERIES at difficulty 1), and an
 * easier one: difficulty 0 … 1 lowers contrast of the ground, clutter, variety of size, rotation and grain. 1 gives
 * what shapes_picture gives for the same stream. */
enum { SHAPES_SERIES = 6 };
int shapes_draw(uint64_t series, uint64_t number, double difficulty, uint8_t *pixels, uint8_t *mask);
/* The class of a picture without drawing it. */
int shapes_label(uint64_t number);
#endif
