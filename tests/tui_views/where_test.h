/* A session, drawing with canaries, and reading back what the screens of the laboratory say. Included once, after
 * cmocka.h. */
#ifndef VITRINE_TESTS_TUI_VIEWS_WHERE_TEST_H
#define VITRINE_TESTS_TUI_VIEWS_WHERE_TEST_H
#include <stdio.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/ask/ledgers.h"
#include "core/session/command.h"
#include "core/session/screens/where.h"
#include "tests/tui_views/drawn.h"
#include "tui/views/panels.h"

static Session session;

static const ViewSpec *const VIEWS[] = {&VIEW_WHERE, &VIEW_LENS, &VIEW_BLANKS, &VIEW_ALIKE};
enum { VIEW_SPECS = sizeof VIEWS / sizeof *VIEWS };
static const int SIZES[][2] = {{1, 1},  {1, 9},   {2, 2},   {3, 1},   {4, 18},   {7, 11},   {8, 40},
                               {9, 58}, {15, 46}, {17, 78}, {34, 90}, {54, 156}, {150, 500}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static inline void command(const char *line)
{
    Err err = {""};
    static Commands set;
    commands_free(&set);
    set = session_command_set();
    if (!command_do(&session, &set, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
}

static inline void refused(const char *line, const char *words)
{
    Err err = {""};
    static Commands set;
    commands_free(&set);
    set = session_command_set();
    if (command_do(&session, &set, line, LINE_OWN, &err))
        fail_msg("%s was not refused", line);
    if (!strstr(err.text, words))
        fail_msg("%s: \"%s\" does not say \"%s\"", line, err.text, words);
}

static inline int open_bundled(void **state)
{
    (void)state;
    Err err;
    if (!session_init(&session, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static inline int close_session(void **state)
{
    (void)state;
    session_free(&session);
    return 0;
}

/* A seeded model of this configuration, opened the way a reader opens one: from its files. */
static inline void open_config(const VitConfig *c, const char *input)
{
    char dir[] = "/tmp/vitrine-where-XXXXXX", file[96];
    static const char *const FILES[] = {"model.safetensors", "config.json", "preprocessor_config.json"};
    Model m;
    Err err;
    assert_non_null(mkdtemp(dir));
    model_seeded(&m, c, 3);
    if (!model_save(&m, dir, &err) || !session_init(&session, dir, input, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    model_free(&m);
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/%s", dir, FILES[i]);
        unlink(file);
    }
    rmdir(dir);
}

static inline VitConfig guessing(void)
{
    VitConfig c = model_bundled_config();
    c.mask_token = c.reconstruct = true;
    return c;
}

static inline int open_guessing(void **state)
{
    (void)state;
    VitConfig c = guessing();
    open_config(&c, "#17");
    return 0;
}

/* --- drawing and reading back --- */
/* Draws with canaries all around; the canvas is the caller's. */
static inline void draw_on(Canvas *c, const ViewSpec *v, Side side, int h, int w, ColourMode mode, bool ascii)
{
    Rect r = {.y = 2, .x = 3, .h = h, .w = w};
    canvas_init(c, h + 4, w + 6);
    Paint p = {.s = &session, .c = c, .mode = mode};
    c->ascii = ascii;
    canvas_fill(c, c->clip, STYLE_ERROR, '~');
    canvas_fill(c, r, STYLE_TEXT, ' ');
    Rect clip = c->clip;
    drawn_prepare(&session, v, side, r);
    view_draw(v, &p, r, side, true);
    assert_memory_equal(&clip, &c->clip, sizeof clip);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *k = canvas_at(c, y, x);
            if (!rect_has(r, y, x) && (k->ch != '~' || k->style != STYLE_ERROR || k->ref.run || k->level))
                fail_msg("%s drew outside its %d × %d at %d %d", v->name, h, w, y, x);
            if (ascii && rect_has(r, y, x))
                assert_true(k->ch < 0x7f);
        }
    if (c->cursor_y >= 0)
        assert_true(rect_has(r, c->cursor_y, c->cursor_x));
    for (int y = 0; y < c->h; y += 1 + h / 12)
        for (int x = 0; x < c->w; x += 1 + w / 16) {
            Buf line = {0};
            bool hit = view_click(v, &p, r, side, y, x, &line);
            assert_int_equal(hit, line.len > 0);
            assert_true(!hit || rect_has(r, y, x));
            buf_free(&line);
        }
    Buf title = {0};
    v->title(&session, side, &title);
    assert_true(title.len > 0);
    buf_free(&title);
}

static inline int draw_all(const ViewSpec *v, Side side)
{
    int numbers = 0;
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int ascii = 0; ascii < (SIZES[i][0] > 60 ? 1 : 2); ascii++) {
            Canvas c;
            draw_on(&c, v, side, SIZES[i][0], SIZES[i][1], ascii ? MODE_MONO : MODE_256, ascii);
            numbers += drawn_numbers(&session, &c);
            canvas_free(&c);
        }
    return numbers;
}

/* Everything that is drawn, line by line. */
static inline const char *drawn(const ViewSpec *v, Side side, int h, int w, Buf *out)
{
    Canvas c;
    buf_clear(out);
    draw_on(&c, v, side, h, w, MODE_MONO, true);
    for (int y = 2; y < h + 2; y++) {
        for (int x = 3; x < w + 3; x++)
            buf_putc(out, (char)canvas_at(&c, y, x)->ch);
        buf_putc(out, '\n');
    }
    canvas_free(&c);
    return buf_str(out);
}

static inline void shows(const ViewSpec *v, Side side, int h, int w, const char *words)
{
    Buf out = {0};
    if (!strstr(drawn(v, side, h, w, &out), words))
        fail_msg("%s does not show \"%s\":\n%s", v->name, words, buf_str(&out));
    buf_free(&out);
}

static inline void step_to_the_end(void)
{
    while (!session_step(&session, NULL, 0, CLOCK_NEVER))
        continue;
}
#endif
