/* The matrix of one head over patches: what its tiles stand for, and how much of the pane they fill. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui_views/where_test.h"
#include "tui/canvas/cell_look.h"
#include "tui/canvas/export.h"
#include "tui/views/attention/attend.h"

/* Panes of terminals of 80 × 24, 120 × 40 and 200 × 60, of the first zoomed too. */
static const int PANES[][2] = {{18, 40}, {17, 78}, {34, 58}, {52, 98}};
enum { PANE_COUNT = sizeof PANES / sizeof *PANES, TOKENS_MOST = 577, LINES_MOST = 64, COLUMNS_MOST = 128 };

static void open_grid(int patches)
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.image_h = c.image_w = 4 * patches;
    c.patch_h = c.patch_w = 4;
    open_config(&c, "#1");
    command("goto blocks.1.attn.pattern[h=1,t=r3c3]; view matrix");
}

/* The number of a token in a command "query T; looked U". */
static int token_said(const Axis *axis, const char *from)
{
    char label[32], said[32];
    if (sscanf(from, "%31[^;]", said) != 1)
        return -1;
    for (int t = 0; t < axis->n; t++)
        if (strcmp(axis_label(axis, t, label, sizeof label), said) == 0)
            return t;
    return -1;
}

/* Clicks and goes there: the tokens with which the tiles begin, −1 where none is. */
static void clicked(const Paint *p, Rect r, int y, int x, int *t, int *u)
{
    Buf line = {0};
    Attend a;
    *t = *u = -1;
    if (view_click(&VIEW_MATRIX, p, r, SIDE_A, y, x, &line)) {
        const bool there = strcmp(buf_str(&line), "in") == 0;
        if (!there)
            command(buf_str(&line));
        assert_true(attend_open(&session, SIDE_A, -1, &a));
        *t = there ? a.at_t : token_said(a.t_axis, buf_str(&line) + strlen("query "));
        *u = there ? a.at_u : token_said(a.u_axis, strstr(buf_str(&line), "looked ") + strlen("looked "));
        assert_true(*t == a.at_t && *u == a.at_u);
    }
    buf_free(&line);
}

/* The first tokens of the tiles in the halves of every line, and in every column; −1: none. */
typedef struct Tiles {
    int line[LINES_MOST][2], column[COLUMNS_MOST];
    int first_line, lines, first_column, columns; /* those with tiles */
} Tiles;

static bool is_data(Canvas *c, int y, int x)
{
    return canvas_at(c, y, x)->ref.run && canvas_at(c, y, x)->level > 0;
}

static void find_tiles(const Paint *p, Rect r, Canvas *c, Tiles *tiles)
{
    int last_line = -1, last_column = -1, t, u;
    *tiles = (Tiles){.first_line = r.h, .first_column = r.w};
    for (int y = 0; y < r.h; y++)
        for (int x = 0; x < r.w; x++)
            if (is_data(c, y, x)) {
                tiles->first_line = y < tiles->first_line ? y : tiles->first_line;
                tiles->first_column = x < tiles->first_column ? x : tiles->first_column;
                last_line = y;
                last_column = x > last_column ? x : last_column;
            }
    tiles->lines = last_line + 1 - tiles->first_line;
    tiles->columns = last_column + 1 - tiles->first_column;
    for (int y = 0; y < r.h; y++) {
        command("query cls; looked cls"); /* in none of the lower halves */
        clicked(p, r, y, tiles->first_column, &tiles->line[y][0], &u);
        clicked(p, r, y, tiles->first_column, &tiles->line[y][1], &u);
    }
    for (int x = 0; x < r.w; x++) {
        command("query cls; looked cls");
        clicked(p, r, tiles->first_line, x, &t, &tiles->column[x]);
    }
}

/* One behind the last token of the tile that begins with this one. */
static int end_of(const bool *begins, int first, int n)
{
    int end = first + 1;
    while (end < n && !begins[end])
        end++;
    return end;
}

static float largest(const Attend *a, const bool *rows, int t, const bool *cols, int u)
{
    float most = -INFINITY;
    for (int i = t; i < end_of(rows, t, a->t_axis->n); i++)
        for (int j = u; j < end_of(cols, u, a->u_axis->n); j++)
            most = fmaxf(most, a->v.values[attend_cell(a, a->head, i, j)]);
    return most;
}

static void check_tiles(const Attend *a, Canvas *c, const Tiles *tiles, int cols)
{
    static bool rows_begin[TOKENS_MOST], cols_begin[TOKENS_MOST];
    int checked = 0;
    memset(rows_begin, 0, sizeof rows_begin);
    memset(cols_begin, 0, sizeof cols_begin);
    for (int y = 0; y < c->h; y++)
        for (int half = 0; half < 2; half++)
            if (tiles->line[y][half] >= 0)
                rows_begin[tiles->line[y][half]] = true;
    for (int x = 0; x < c->w; x++)
        if (tiles->column[x] >= 0)
            cols_begin[tiles->column[x]] = true;
    for (int token = 0; token < a->u_axis->n; token++) { /* a tile has no end of one row and start of the next */
        const int patch = token - a->u.prefix;
        if (cols_begin[token] && patch >= 0) {
            const int end = end_of(cols_begin, token, a->u_axis->n) - a->u.prefix - 1;
            assert_true(end / cols == patch / cols || (patch % cols == 0 && end % cols == cols - 1));
        }
    }
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++)
            for (int half = 0; half < 2 && is_data(c, y, x); half++) {
                const Cell *cell = canvas_at(c, y, x);
                const Ref ref = half ? cell->below : cell->ref;
                const int t = half && tiles->line[y][1] >= 0 ? tiles->line[y][1] : tiles->line[y][0];
                if (!ref.run)
                    continue;
                assert_true(t >= 0 && tiles->column[x] >= 0);
                const float most = largest(a, rows_begin, t, cols_begin, tiles->column[x]);
                if (memcmp(&a->v.values[ref.cell], &most, sizeof most) != 0)
                    fail_msg("line %d, column %d, half %d: %.9g, not %.9g", y, x, half, (double)a->v.values[ref.cell],
                             (double)most);
                checked++;
            }
    assert_true(checked > 100);
}

static void tiles_are_the_largest_of_their_tokens_and_fill_the_pane(void **state)
{
    (void)state;
    static const int GRIDS[] = {8, 14, 16, 24};
    static const ColourMode MODES[] = {MODE_MONO, MODE_256};
    for (int g = 0; g < 4; g++) {
        open_grid(GRIDS[g]);
        for (int k = 0; k < PANE_COUNT * 2; k++) {
            static Tiles tiles;
            const int h = PANES[k / 2][0], w = PANES[k / 2][1], per_line = MODES[k % 2] == MODE_MONO ? 1 : 2;
            const Rect r = {0, 0, h, w};
            Canvas c;
            Attend a;
            canvas_init(&c, h, w);
            const Paint p = {.s = &session, .c = &c, .mode = MODES[k % 2]};
            command("query cls; looked cls");
            drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, r);
            view_draw(&VIEW_MATRIX, &p, r, SIDE_A, false);
            find_tiles(&p, r, &c, &tiles);
            assert_true(attend_open(&session, SIDE_A, -1, &a));
            check_tiles(&a, &c, &tiles, GRIDS[g]);
            /* less the lines of names, scale and value, and the names of rows */
            const double down = (double)tiles.lines / (h - 3), across = (double)tiles.columns / (w - 7);
            const bool wide = w - 7 > per_line * (h - 3), pooled = a.t_axis->n > per_line * (h - 3);
            if ((pooled || wide ? down : 1) < 0.8 || (pooled || !wide ? across : 1) < 0.8)
                fail_msg("%d × %d patches in %d × %d: %d lines, %d columns", GRIDS[g], GRIDS[g], h, w, tiles.lines,
                         tiles.columns);
            canvas_free(&c);
        }
        session_free(&session);
    }
}

/* Where the canvas has pixels no line of a low pane is free: the map is as high as tokens that are alike allow. */
static void pixels_leave_no_line_free(void **state)
{
    (void)state;
    enum { H = 18, W = 40, PIXEL_H = 32, PIXEL_W = 16, PATCHES = 64 };
    const Rect r = {0, 0, H, W};
    Canvas c;
    open_grid(8);
    canvas_init(&c, H, W);
    canvas_fine(&c, PIXEL_H, PIXEL_W);
    canvas_clear(&c);
    const Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, r);
    view_draw(&VIEW_MATRIX, &p, r, SIDE_A, false);
    int lines = 0;
    for (int y = 0; y < H; y++) {
        int x = 0;
        while (x < W && canvas_at(&c, y, x)->ch == ' ' && !is_data(&c, y, x))
            x++;
        if (x == W)
            fail_msg("line %d is free", y);
        for (x = W / 2; x < W && !is_data(&c, y, x); x++)
            ;
        lines += x < W;
    }
    assert_int_equal(lines, 1 + 14); /* cls, and 7 pixels for each of 64 tokens */
    assert_int_equal(14 * PIXEL_H % PATCHES, 0);
    canvas_free(&c);
    session_free(&session);
}

/* With pixels of its own the row that asks is marked on the line in which it is drawn, between the names of its row of
 * patches and of the next. */
static void a_row_is_marked_where_its_pixels_are(void **state)
{
    (void)state;
    enum { H = 18, W = 40, PIXEL_H = 32, PIXEL_W = 16, SIDE = 8, TALL = 7, LABELS = 5 };
    const Rect r = {0, 0, H, W};
    Canvas c;
    open_grid(SIDE);
    canvas_init(&c, H, W);
    canvas_fine(&c, PIXEL_H, PIXEL_W);
    const Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    for (int patch = 0; patch < SIDE * SIDE; patch++) {
        char line[40];
        snprintf(line, sizeof line, "query r%dc%d", patch / SIDE, patch % SIDE);
        command(line);
        canvas_clear(&c);
        drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, r);
        view_draw(&VIEW_MATRIX, &p, r, SIDE_A, false);
        int marked = -1, named = -1;
        for (int y = 0; y < H - 3; y++) {
            if (canvas_at(&c, y, LABELS - 1)->ch == '>')
                marked = y;
            if (canvas_at(&c, y, 0)->ch == 'r' && (marked < 0 || marked == y))
                named = (int)canvas_at(&c, y, 1)->ch - '0';
        }
        assert_int_equal(marked, 1 + (patch * TALL + TALL / 2) / PIXEL_H); /* below cls */
        assert_true(named == patch / SIDE || (named == patch / SIDE - 1 && patch % SIDE < PIXEL_H / TALL));
    }
    canvas_free(&c);
    session_free(&session);
}

/* Of a difference its value is called one, its scale says which sign A has, and has the dark colours that are most of
 * the map; the row is drawn in the tone of the matrix. */
static void a_difference_is_told_as_one(void **state)
{
    (void)state;
    static const ViewSpec *const OF[] = {&VIEW_MATRIX, &VIEW_ROW};
    const Rect r = {0, 0, 18, 40};
    open_grid(8);
    command("set scale off; compare diff; goto blocks.1.attn.pattern[h=1,t=r3c3,u=r2c2]");
    Attend a;
    for (int i = 0; i < 2; i++) {
        Canvas c;
        Buf text = {0};
        canvas_init(&c, r.h, r.w);
        canvas_clear(&c);
        const Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
        drawn_prepare(&session, OF[i], SIDE_DIFF, r);
        view_draw(OF[i], &p, r, SIDE_DIFF, false);
        assert_true(attend_open(&session, SIDE_DIFF, -1, &a));
        assert_int_equal(attend_scale(&p, &a, true).root, attend_scale(&p, &a, false).root);
        export_text(&c, &text);
        assert_non_null(strstr(buf_str(&text), "A−B of r3c3,r2c2 = "));
        assert_non_null(strstr(buf_str(&text), ": more in A"));
        buf_free(&text);
        canvas_free(&c);
    }
    session_free(&session);
}

/* In maps whose patches are half cells nothing stands over the looked at one: it would hide its value. */
static void no_mark_hides_a_patch(void **state)
{
    (void)state;
    const Rect r = {0, 0, 5, 40};
    Canvas c[2];
    open_grid(8);
    for (int i = 0; i < 2; i++) {
        command(i ? "looked r3c4" : "looked r7c7");
        canvas_init(&c[i], r.h, r.w);
        canvas_clear(&c[i]);
        const Paint p = {.s = &session, .c = &c[i], .mode = MODE_TRUE};
        drawn_prepare(&session, &VIEW_OTHER_HEADS, SIDE_A, r);
        view_draw(&VIEW_OTHER_HEADS, &p, r, SIDE_A, false);
    }
    const Cell *marked = canvas_at(&c[1], 2, 4), *plain = canvas_at(&c[0], 2, 4); /* below the names, r2 and r3 */
    Colour was[2], is[2];
    cell_halves(plain, &was[0], &was[1]);
    cell_halves(marked, &is[0], &is[1]);
    assert_memory_equal(is, was, sizeof was);
    canvas_free(&c[0]);
    canvas_free(&c[1]);
    session_free(&session);
}

/* Columns and half lines in which one weight is drawn. */
static void cell_size(Canvas *c, size_t cell, NodeId node, int *wide, int *tall)
{
    bool column[COLUMNS_MOST] = {false}, half[2 * LINES_MOST] = {false};
    *wide = *tall = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *k = canvas_at(c, y, x);
            const bool upper = k->ref.run && k->ref.node == node && k->ref.cell == cell,
                       lower = k->below.run ? k->below.node == node && k->below.cell == cell : upper;
            if (!k->level || (!upper && !lower))
                continue;
            *wide += !column[x];
            *tall += (upper && !half[2 * y]) + (lower && !half[2 * y + 1]);
            column[x] = true;
            half[2 * y] = half[2 * y] || upper;
            half[2 * y + 1] = half[2 * y + 1] || lower;
        }
}

/* Of words every weight is a square, where half lines make one, and the one under the cursor is marked. */
static void words_are_squares(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int h, w, side;
    } PANES_OF_WORDS[] = {
        {"the cat is tired", 16, 40, 5},
        {"the cat is tired", 24, 58, 8},
        {"the animal did not cross the street because it was too wide", 26, 58, 3},
        {"the animal did not cross the street because it was too wide", 16, 40, 2},
    };
    for (size_t i = 0; i < sizeof PANES_OF_WORDS / sizeof *PANES_OF_WORDS; i++) {
        const int h = PANES_OF_WORDS[i].h, w = PANES_OF_WORDS[i].w, side = PANES_OF_WORDS[i].side;
        const Rect r = {0, 0, h, w};
        Canvas c;
        Attend a;
        Err err;
        bool marked = false;
        if (!session_init(&session, "translator", PANES_OF_WORDS[i].text, 1, NULL, NULL, &err))
            fail_msg("%s", err.text);
        command("goto encoder.blocks.1.self_attn.pattern; view matrix; query the; looked </s>");
        canvas_init(&c, h, w);
        canvas_clear(&c);
        const Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, r);
        view_draw(&VIEW_MATRIX, &p, r, SIDE_A, true);
        assert_true(attend_open(&session, SIDE_A, -1, &a));
        for (int t = 0; t < a.t_axis->n - side % 2; t++) /* the last one's line may have a half that is nobody's */
            for (int u = 0; u < a.u_axis->n; u++) {
                int wide, tall;
                cell_size(&c, attend_cell(&a, a.head, t, u), a.v.node, &wide, &tall);
                if (t == a.at_t && u == a.at_u) /* its mark has no half lines */
                    continue;
                if (wide != side || tall != side)
                    fail_msg("%s, %d × %d: %d columns, %d half lines", PANES_OF_WORDS[i].text, h, w, wide, tall);
            }
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                marked |= canvas_at(&c, y, x)->ch == '[' &&
                          canvas_at(&c, y, x)->ref.cell == attend_cell(&a, a.head, a.at_t, a.at_u);
        assert_true(marked);
        canvas_free(&c);
        session_free(&session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_are_the_largest_of_their_tokens_and_fill_the_pane),
                                       cmocka_unit_test(pixels_leave_no_line_free),
                                       cmocka_unit_test(a_row_is_marked_where_its_pixels_are),
                                       cmocka_unit_test(a_difference_is_told_as_one),
                                       cmocka_unit_test(no_mark_hides_a_patch),
                                       cmocka_unit_test(words_are_squares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
