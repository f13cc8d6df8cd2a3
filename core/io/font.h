/* Letters as pixels, from a TrueType font of the machine: $VITRINE_FONT, else one of the monospaced ones that systems
 * have (DejaVu Sans Mono first). stb_truetype trusts its font: none that came with a picture or a model is read. */
#ifndef VITRINE_IO_FONT_H
#define VITRINE_IO_FONT_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

typedef struct Font Font;
/* A letter fills a cell of so many pixels. NULL with an error that says what was looked for; font_close. */
Font *font_open(int cell_w, int cell_h, Err *err);
void font_close(Font *f); /* NULL is allowed */
/* Coverage 0 … 255 of a glyph, alpha[cell_h * cell_w * cells], zeroed first; cells: 1, or 2 for a wide one. False where
 * the font has none: its sign for that is drawn. */
bool font_glyph(const Font *f, uint32_t ch, int cells, uint8_t *alpha);
#endif
