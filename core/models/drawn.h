/* Drawn pictures of ten shapes on textured grounds, each made from its number alone: what the bundled model looks at.
 */
#ifndef VITRINE_MODELS_DRAWN_H
#define VITRINE_MODELS_DRAWN_H
#include <stdint.h>

enum { DRAWN_SIDE = 48, DRAWN_CLASSES = 10 };

extern const char
    *const SHAPES_NAMES[DRAWN_CLASSES]; /* circle ring square frame triangle star cross crescent heart arrow */

/* Picture `number` (the same bytes on every machine): pixels[48·48·3], RGB, rows from the top. Returns its class.
 * mask[48·48] (or NULL): how much of a pixel the shape covers, 0 … 255. */
int drawn_picture(uint64_t number, uint8_t *pixels, uint8_t *mask);
/* A picture of another series than the program's own (its pictures are series DRAWN_SERIES at difficulty 1), and an
 * easier one: difficulty 0 … 1 lowers contrast of the ground, clutter, variety of size, rotation and grain. 1 gives
 * what drawn_picture gives for the same stream. */
enum { DRAWN_SERIES = 6 };
int drawn_series(uint64_t series, uint64_t number, double difficulty, uint8_t *pixels, uint8_t *mask);
/* The class of a picture without drawing it. */
int drawn_label(uint64_t number);
#endif
