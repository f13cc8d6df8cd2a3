/* Pictures on the terminal: what was sent, read as a terminal reads it and put where the placeholders say, is what the
 * canvas has, pixel for pixel; and no more is sent than has changed. */
#include "tui/term_graphics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/base/utf8.h"
#include "tests/tui/pictures.h"

enum { PIXEL_H = 6, PIXEL_W = 3 };

typedef struct Desk {
    Graphics g;
    Canvas c;
    Pictures p;
    Buf out;
} Desk;

static void desk_open(Desk *d, int h, int w, bool within)
{
    *d = (Desk){.g = {.within = within, .salt = 77}};
    canvas_init(&d->c, h, w);
    canvas_fine(&d->c, PIXEL_H, PIXEL_W);
}

static void desk_close(Desk *d)
{
    canvas_free(&d->c);
    pictures_free(&d->p);
    buf_free(&d->out);
}

/* No two pixels near each other are alike; seed moves all of them. */
static Colour noise(uint32_t seed, int y, int x)
{
    uint32_t v = ((uint32_t)y * 2654435761u + (uint32_t)x * 40503u + seed) * 2246822519u;
    return v >> 29 ? v & 0xffffff : COLOUR_DEFAULT; /* an eighth is ground */
}

static void draw(Desk *d, Rect r, uint32_t seed)
{
    int h = r.h * PIXEL_H, w = r.w * PIXEL_W, *row = malloc((size_t)h * sizeof *row),
        *col = malloc((size_t)w * sizeof *col);
    Colour *colour = malloc((size_t)h * (size_t)w * sizeof *colour);
    for (int i = 0; i < h * w; i++)
        colour[i] = noise(seed, i / w, i % w);
    for (int y = 0; y < h; y++)
        row[y] = y;
    for (int x = 0; x < w; x++)
        col[x] = x;
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            canvas_pixel(&d->c, y, x, -1, 0x808080, 5, 0, (Ref){0});
    canvas_pixels(&d->c, r, &(CanvasGrid){colour, w, row, col});
    free(colour);
    free(row);
    free(col);
}

static int commands; /* of the last frame */

static size_t show(Desk *d)
{
    int sent = d->p.sent;
    buf_clear(&d->out);
    graphics_put(&d->g, &d->c, &d->out);
    assert_true(pictures_read(&d->p, buf_str(&d->out), d->out.len, d->g.within));
    commands = d->p.sent - sent;
    return d->out.len;
}

static int mark_index(uint32_t mark)
{
    for (int i = 0; graphics_mark(i); i++)
        if (graphics_mark(i) == mark)
            return i;
    fail_msg("U+%04X is no mark", (unsigned)mark);
    return -1;
}

/* What a terminal would show of that cell: its part of the picture. */
static void check_cell(Desk *d, int y, int x)
{
    uint32_t text[GRAPHICS_TEXT];
    int colour;
    const Colour *is = canvas_block(&d->c, y, x);
    assert_int_equal(graphics_cell(&d->g, &d->c, y, x, text, &colour), canvas_block_shown(&d->c, y, x));
    if (!canvas_block_shown(&d->c, y, x))
        return;
    assert_non_null(is);
    assert_int_equal(text[0], 0x10eeee);
    int row = mark_index(text[1]), column = mark_index(text[2]);
    const Picture *p = picture_find(&d->p, (unsigned)mark_index(text[3]) << 24 | (unsigned)colour);
    assert_non_null(p);
    assert_true(row < p->rows && column < p->columns && colour > 15 && colour < 256);
    assert_true(p->w == p->columns * PIXEL_W && p->h == p->rows * PIXEL_H); /* else it would be scaled */
    for (int i = 0; i < PIXEL_H; i++)
        for (int k = 0; k < PIXEL_W; k++, is++) {
            const uint8_t *at = p->rgba + 4 * ((row * PIXEL_H + i) * p->w + column * PIXEL_W + k);
            if (*is == COLOUR_DEFAULT)
                assert_int_equal(at[3], 0);
            else
                assert_true(at[3] == 255 && (Colour)(at[0] << 16 | at[1] << 8 | at[2]) == *is);
        }
}

static void check(Desk *d)
{
    for (int y = 0; y < d->c.h; y++)
        for (int x = 0; x < d->c.w; x++)
            check_cell(d, y, x);
}

static void test_pixels(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{24, 80}, {40, 120}, {60, 200}, {1, 1}, {300, 1000}};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        for (int within = 0; within < 2; within++) {
            Desk d;
            int h = SIZES[i][0], w = SIZES[i][1];
            desk_open(&d, h, w, within);
            draw(&d, (Rect){h / 5, w / 7, h / 2 + 1, w / 2 + 1}, 1);
            draw(&d, (Rect){h - 1, 0, 1, w}, 2);
            canvas_text(&d.c, h / 3, w / 4, 4, STYLE_CURSOR, "[  ]"); /* over it: drawn as it is */
            canvas_attr(&d.c, (Rect){h / 4, w / 3, 1, 1}, ATTR_REVERSE);
            show(&d);
            check(&d);
            desk_close(&d);
        }
}

/* Nothing where nothing changed; one tile where one cell did; nothing for a cursor. */
static void test_only_changes(void **state)
{
    (void)state;
    Desk d;
    desk_open(&d, 40, 120, false);
    const Rect all = {2, 3, 34, 100};
    draw(&d, all, 1);
    size_t first = show(&d);
    assert_int_equal(commands, 12);
    for (int step = 0; step < 4; step++) {
        canvas_clear(&d.c);
        draw(&d, all, 1);
        if (step == 1)
            draw(&d, (Rect){20, 40, 1, 1}, 9);
        size_t n = show(&d);
        check(&d);
        assert_int_equal(commands, step == 1 || step == 2); /* there, and back again */
        assert_true(step == 0 || step == 3 ? n == 0 : n < first / 4);
    }
    canvas_clear(&d.c);
    draw(&d, all, 1);
    canvas_text(&d.c, 10, 50, 2, STYLE_CURSOR, "[]");
    assert_int_equal(show(&d), 0); /* only its own cells are text */
    check(&d);
    assert_false(canvas_block_shown(&d.c, 10, 50));
    canvas_clear(&d.c);
    assert_int_equal(show(&d), 0); /* another screen: text erases */
    draw(&d, all, 1);
    canvas_text(&d.c, 10, 50, 2, STYLE_CURSOR, "[]");
    assert_int_equal(show(&d), 0); /* and back: it is still there */
    check(&d);
    desk_close(&d);
}

static void test_taken_away(void **state)
{
    (void)state;
    for (int within = 0; within < 2; within++) {
        Desk d;
        desk_open(&d, 40, 120, within);
        draw(&d, (Rect){0, 0, 40, 120}, 1);
        show(&d);
        assert_int_equal(pictures_count(&d.p), 12);
        canvas_resize(&d.c, 24, 80);
        draw(&d, (Rect){0, 0, 5, 5}, 1);
        show(&d);
        assert_int_equal(pictures_count(&d.p), 1); /* of another size nothing is left */
        check(&d);
        buf_clear(&d.out);
        graphics_delete(&d.g, true, &d.out); /* the way out, made before anything was drawn */
        assert_true(d.out.len < 3000 && pictures_read(&d.p, d.out.data, d.out.len, within));
        assert_int_equal(pictures_count(&d.p), 0);
        graphics_forget(&d.g);
        show(&d);
        check(&d);
        desk_close(&d);
    }
}

static void test_found(void **state)
{
    (void)state;
#define SIZE .pixel_h = 20, .pixel_w = 10
#define WHOLE .text = true, .colours = true, SIZE
    static const struct {
        GraphicsEnv env;
        bool found;
    } cases[] = {
        {{.ok = true, .who = "kitty(0.28.0)", WHOLE}, true},
        {{.ok = true, .who = "kitty(0.35.2)", WHOLE}, true},
        {{.ok = true, .who = "kitty(1.0.1)", WHOLE}, true},
        {{.ok = true, .who = "kitty(0.26.5)", WHOLE}, false},
        {{.ok = true, .who = "ghostty 1.1.3", WHOLE}, true},
        {{.ok = true, .who = "WezTerm 20240203", WHOLE}, false},
        {{.ok = true, .who = "Konsole 22.12.3", WHOLE}, false},
        {{.ok = true, .who = "", WHOLE}, false},
        {{.ok = false, .who = "ghostty 1.1.3", WHOLE}, false},
        {{.ok = true, .who = "ghostty 1.1.3", .text = true, .colours = true}, false},
        {{.ok = true, .who = "ghostty 1.1.3", .colours = true, SIZE}, false},
        {{.ok = true, .who = "ghostty 1.1.3", .text = true, SIZE}, false},
        {{.option = "auto", .ok = true, .who = "ghostty 1.1.3", WHOLE}, true},
        {{.option = "never", .ok = true, .who = "ghostty 1.1.3", WHOLE}, false},
        {{.option = "always", .who = "", .text = true, .colours = true}, true},
        {{.option = "always", .who = "", .colours = true, SIZE}, false},
        {{.ok = true, .who = "tmux 3.3a", .within = true, WHOLE}, false},
        {{.ok = true, .who = "tmux 3.3a", .within = true, .kitty = true, WHOLE}, true},
        {{.ok = true, .who = "tmux 3.3a", .within = true, .ghostty = true, WHOLE}, true},
        {{.ok = false, .who = "tmux 3.3a", .within = true, .kitty = true, WHOLE}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        if (graphics_found(&cases[i].env, &why) != cases[i].found)
            fail_msg("case %d", (int)i);
        assert_non_null(why);
    }
}

/* As many as a tile may have rows and columns, all different, none of a cell of its own. */
static void test_marks(void **state)
{
    (void)state;
    int n = 0;
    for (uint32_t last = 0; graphics_mark(n); last = graphics_mark(n++))
        assert_true(graphics_mark(n) > last && utf8_width(graphics_mark(n)) == 0);
    assert_true(n >= 1000 / GRAPHICS_ACROSS && n > 126);
    assert_int_equal(graphics_mark(0), 0x305);
    assert_int_equal(graphics_mark(8), 0x346);
    assert_int_equal(graphics_mark(117), 0x820);
    assert_int_equal(graphics_mark(-1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pixels), cmocka_unit_test(test_only_changes),
                                       cmocka_unit_test(test_taken_away), cmocka_unit_test(test_found),
                                       cmocka_unit_test(test_marks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
