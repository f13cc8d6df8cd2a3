/* Long names of classes, every letter of several bytes, on all screens: whole, or cut between two letters with "…"
 * behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/models/checkpoint.h"
#include "core/session/screens.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"

enum { LETTERS = 90, FIRST = 0x3b1, KINDS = 10 }; /* α β γ …: no screen uses these in a row */

static Session s;
static Commands all;
static char folder[] = "/tmp/vitrine-names-XXXXXX";

/* Each name is one Greek letter of its own, many times over: what follows the last of them tells whether it was cut. */
static const char *const *long_names(void)
{
    static char text[KINDS][2 * LETTERS + 1];
    static const char *name[KINDS];
    for (int i = 0; i < KINDS; i++) {
        for (int k = 0; k < LETTERS; k++) {
            text[i][2 * k] = (char)(0xc0 | (FIRST + i) >> 6);
            text[i][2 * k + 1] = (char)(0x80 | ((FIRST + i) & 63));
        }
        name[i] = text[i];
    }
    return name;
}

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    VitConfig c = model_bundled_config();
    c.image_h = c.image_w = 24;
    c.layers = c.heads = 2;
    c.head_dim = 4;
    c.width = 8;
    c.mlp = 8;
    c.scale = vit_scale(4);
    Model m = {0};
    model_seeded(&m, &c, 5);
    assert_int_equal(c.classes, KINDS);
    m.class_names = long_names();
    assert_non_null(mkdtemp(folder));
    if (!model_save(&m, folder, &err))
        fail_msg("%s", err.text);
    model_free(&m);
    static Ui ui;
    ui.commands = &all;
    opened_commands(&all, &ui);
    opened_session(&s, folder, "#17");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : 1;
}

static bool is_of_name(uint32_t ch)
{
    return ch >= FIRST && ch < FIRST + KINDS;
}

/* How many names are on the canvas; fails on one that ends without "…" and is not whole. */
static int names_on(const Canvas *c, const char *screen)
{
    int seen = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *row = &c->cells[y * c->w];
            int n = 0;
            while (x + n < c->w && is_of_name(row[x].ch) && row[x + n].ch == row[x].ch)
                n++;
            if (n < 2) /* an axis has letters too */
                continue;
            uint32_t behind = x + n < c->w ? row[x + n].ch : ' ';
            if (n != LETTERS && behind != 0x2026)
                fail_msg("%s at %dx%d: a name is cut after %d letters in line %d without an ellipsis", screen, c->w,
                         c->h, n, y);
            seen++;
            x += n;
        }
    return seen;
}

static void every_screen_cuts_names_alike(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{16, 60}, {24, 80}, {40, 120}, {60, 200}};
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    int seen = 0;
    for (int i = 0; i < SCREEN_COUNT; i++) {
        Err err = {{0}};
        const ScreenSpec *screen = screen_spec((Screen)i);
        assert_true(command_do(&s, &all, "goto last", LINE_FOREIGN | COMMAND_UI, &err));
        if (!command_do(&s, &all, screen->command, LINE_FOREIGN | COMMAND_UI, &err))
            continue; /* one of words, or of a worked example */
        for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
            canvas_resize(&c, SIZES[k][0], SIZES[k][1]);
            canvas_clear(&c);
            Frame f = frame_layout(&s, SIZES[k][0], SIZES[k][1], false);
            Needs needs = {.count = 0};
            frame_needs(&s, &f, &needs);
            assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
            Paint p = {.s = &s, .c = &c, .mode = MODE_256};
            FrameState drawn = {.message = "", .status = "256c"};
            frame_draw(&p, &f, &drawn);
            seen += names_on(&c, screen->name);
        }
    }
    assert_true(seen > 40);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(every_screen_cuts_names_alike, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
