/* A canvas as pixels: grounds, half blocks, bars and lines fall on exact pixels, letters where the font says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/canvas/cell_look.h"
#include "tui/canvas/export.h"

static int letters;

/* Every letter is a full cell. */
static void full(void *font, uint32_t ch, int cells, uint8_t *alpha)
{
    (void)font, (void)ch;
    memset(alpha, 255, (size_t)(PIXELS_W * PIXELS_H * cells));
    letters++;
}

static Colour at(const Canvas *c, const uint8_t *rgb, int y, int x)
{
    const uint8_t *p = rgb + 3 * ((size_t)y * (size_t)export_width(c) + (size_t)x);
    return (Colour)(p[0] << 16 | p[1] << 8 | p[2]);
}

static void test_pixels(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 3, 4);
    canvas_clear(&c);
    canvas_pixel(&c, 0, 0, 0, 0x102030, 3, 1, (Ref){0});
    canvas_pixel(&c, 0, 0, 1, 0x405060, 5, 1, (Ref){0});
    canvas_text(&c, 0, 2, 1, STYLE_TEXT, "a");
    canvas_bar(&c, 1, 0, 1, 0.5, STYLE_TEXT, (Ref){0});
    canvas_glyph(&c, 2, 1, STYLE_TEXT, 0x2502);
    Paper paper = paper_of(false);
    assert_int_equal(export_width(&c), 4 * PIXELS_W + 2 * PIXELS_MARGIN);
    uint8_t *rgb = malloc(3 * (size_t)export_width(&c) * (size_t)export_height(&c));
    letters = 0;
    export_pixels(&c, MODE_TRUE, false, full, NULL, rgb);
    enum { M = PIXELS_MARGIN };
    assert_int_equal(at(&c, rgb, 0, 0), paper.ground);
    assert_int_equal(at(&c, rgb, M, M), 0x102030); /* the halves, to their last pixel */
    assert_int_equal(at(&c, rgb, M + PIXELS_H / 2 - 1, M + PIXELS_W - 1), 0x102030);
    assert_int_equal(at(&c, rgb, M + PIXELS_H / 2, M), 0x405060);
    assert_int_equal(at(&c, rgb, M + PIXELS_H - 1, M + PIXELS_W - 1), 0x405060);
    assert_int_equal(at(&c, rgb, M, M + PIXELS_W), paper.ground); /* nothing beside it */
    assert_int_equal(at(&c, rgb, M + 5, M + 2 * PIXELS_W + 5), paper.ink);
    assert_int_equal(letters, 1);
    assert_int_equal(at(&c, rgb, M + PIXELS_H + 5, M + PIXELS_W / 2 - 1), paper.ink); /* half a bar */
    assert_int_equal(at(&c, rgb, M + PIXELS_H + 5, M + PIXELS_W / 2), paper.ground);
    int lit = 0; /* a line two pixels wide, from edge to edge of its cell */
    for (int x = 0; x < PIXELS_W; x++)
        lit += at(&c, rgb, M + 2 * PIXELS_H, M + PIXELS_W + x) == paper.ink;
    assert_int_equal(lit, 2);
    export_pixels(&c, MODE_TRUE, true, full, NULL, rgb);
    assert_int_equal(at(&c, rgb, 0, 0), paper_of(true).ground);
    free(rgb);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pixels)};
    return cmocka_run_group_tests_name("pixels", tests, NULL, NULL);
}
