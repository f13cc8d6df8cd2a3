/* Which cell of a tensor is drawn where: planes, pooling, panning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/session/address.h"
#include "tests/tui_views/bundled.h"
#include "tui/canvas/cell_look.h"
#include "tui/views/heat.h"
#include "tui/views/tensor/tensor.h"

static void look_at(const char *path)
{
    Needs needs = {0};
    focus_on(path);
    VIEW_TENSOR.needs(&session, SIDE_A, (Rect){0, 0, 20, 60}, &needs);
    compute(&needs);
}

/* Every node, every axis somewhere in its middle: the quick way to a cell agrees with the plain one. */
static void cells_of_planes(void **state)
{
    (void)state;
    const Graph *g = session_graph(&session, SIDE_A);
    for (int a = 0; a < g->axis_count; a++)
        session.place.at[a] = g->axes[a].n / 2;
    int held = 0;
    for (NodeId n = 0; n < g->count; n++) {
        Tensor t;
        assert_true(tensor_open(&session, SIDE_A, graph_node(g, n)->path, &t));
        assert_int_equal(tensor_cell(&t, t.row, t.col), session_cell(&session, SIDE_A, t.v.node));
        held += t.plane.held.n > 0;
        for (size_t r = 0; r < t.plane.row_count; r += 1 + t.plane.row_count / 5)
            for (size_t c = 0; c < t.plane.col_count; c += 1 + t.plane.col_count / 7)
                assert_int_equal(tensor_cell(&t, r, c), plane_cell(t.v.graph, t.v.node, &t.plane, t.v.at, r, c));
    }
    assert_true(held > 8);
    Tensor t; /* a patch: rows of channel and pixel row lie apart in memory */
    assert_true(tensor_open(&session, SIDE_A, "image", &t));
    Dims d = graph_node(g, t.v.node)->dims;
    Tensor patch = tensor_plane(&t.v, DIMS(d.axis[0], d.axis[2]), DIMS(d.axis[4]));
    assert_false(patch.linear);
    assert_int_equal(patch.plane.row_count, 18);
    for (size_t r = 0; r < 18; r++)
        for (size_t c = 0; c < 6; c++) {
            int index[DIMS_MAX];
            dims_unravel(g->axes, d, tensor_cell(&patch, r, c), index);
            assert_int_equal(index[0], r / 6);
            assert_int_equal(index[1], session.place.at[d.axis[1]]);
            assert_int_equal(index[2], r % 6);
            assert_int_equal(index[3], session.place.at[d.axis[3]]);
            assert_int_equal(index[4], c);
        }
}

/* Pooled by 4 × 4 in one-character cells: each shows the value that is largest in its block. */
static void pooling(void **state)
{
    (void)state;
    look_at("blocks.0.mlp.post");
    Canvas c;
    canvas_init(&c, 24, 15);
    Paint p = {.s = &session, .c = &c, .mode = MODE_MONO};
    Rect r = {0, 0, 24, 15};
    for (int kind = 0; kind < POOL_KINDS; kind++) {
        session.look.pool = 4;
        session.look.pool_kind = (PoolKind)kind;
        canvas_clear(&c);
        view_draw(&VIEW_TENSOR, &p, r, SIDE_A, true);
        Tensor t;
        assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
        ColourScale scale = colour_scale_for(&p, SIDE_A, t.v.node, t.v.values, t.v.count);
        Buf caption = {0};
        TENSOR_HEAT.caption(&p, (Rect){0, 0, 21, 15}, &t, &caption);
        assert_int_equal(strncmp(buf_str(&caption), "1 cell = 4×4, ", strlen("1 cell = 4×4, ")), 0);
        buf_free(&caption);
        int seen = 0;
        for (int y = 1; y < 21; y++)
            for (int x = 0; x < 15; x++) {
                const Cell *k = canvas_at(&c, y, x);
                if (!k->level)
                    continue;
                size_t row = k->ref.cell / t.plane.col_count / 4 * 4, col = k->ref.cell % t.plane.col_count / 4 * 4;
                float best = t.v.values[tensor_cell(&t, row, col)];
                double sum = 0;
                int count = 0;
                for (size_t a = row; a < row + 4 && a < t.plane.row_count; a++)
                    for (size_t b = col; b < col + 4 && b < t.plane.col_count; b++, count++) {
                        float v = t.v.values[plane_cell(t.v.graph, t.v.node, &t.plane, t.v.at, a, b)];
                        sum += (double)v;
                        if (fabsf(v) > fabsf(best)) /* the largest of signed values is that by size */
                            best = v;
                    }
                float want = kind == POOL_MEAN ? (float)(sum / count) : best;
                assert_int_equal(k->level, 1 + colour_scale_level(&scale, want));
                if (kind != POOL_MEAN)
                    assert_true(t.v.values[k->ref.cell] == best);
                seen++;
            }
        assert_true(seen > 200);
    }
    session.look.pool = 0;
    session.look.pool_kind = POOL_MAX;
    canvas_free(&c);
}

/* What a GELU lets pass, a hundred values in a cell: the cells run from one end of the scale to the other, and the bar
 * has its ends. Of values of both signs zero stays in the middle. */
static void crowded_cells_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool own;
    } CASE[] = {{"blocks.1.mlp.post", true}, {"blocks.1.resid_post", false}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        look_at(CASE[i].path);
        Canvas c;
        Rect r = {0, 0, 11, 24};
        canvas_init(&c, r.h, r.w);
        Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
        view_draw(&VIEW_TENSOR, &p, r, SIDE_A, true);
        Tensor t;
        assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
        ColourScale scale = TENSOR_HEAT.scale(&p, (Rect){0, 0, 8, 24}, &t);
        assert_int_equal(scale.is_signed, !CASE[i].own);
        int seen[11] = {0};
        for (int k = 0; k < 8 * r.w; k++) {
            const Cell *cell = &c.cells[k];
            if (!cell->level || !cell->ref.run)
                continue;
            float x = t.v.values[cell->ref.cell];
            seen[cell->level - 1] += colour_scale_level(&scale, x) == cell->level - 1;
            assert_true(!CASE[i].own || (x >= scale.low && (x <= scale.high || scale.clipped)));
        }
        int kinds = 0;
        for (int k = 0; k < 10; k++)
            kinds += seen[k] > 0;
        assert_true(!CASE[i].own || (kinds >= 6 && seen[0] + seen[1] > 0 && seen[6] + seen[7] + seen[8] + seen[9] > 0));
        canvas_free(&c);
    }
}

/* One NaN among values of every size, and larger values before and behind it in its block: its cell is the one that is
 * shown. */
static void nan_stays(void **state)
{
    (void)state;
    static float values[1 << 20];
    static const size_t places[][2] = {{0, 0}, {3, 3}, {5, 6}, {4, 7}, {11, 2}};
    look_at("blocks.0.mlp.post");
    Canvas c;
    canvas_init(&c, 20, 60);
    Paint p = {.s = &session, .c = &c, .mode = MODE_MONO};
    session.look.pool = 4;
    for (int k = 0; k < POOL_KINDS * (int)(sizeof places / sizeof *places); k++) {
        const size_t *at = places[k / POOL_KINDS];
        Tensor t;
        session.look.pool_kind = (PoolKind)(k % POOL_KINDS);
        assert_true(tensor_open(&session, SIDE_A, session.place.path, &t) && t.linear &&
                    t.v.count <= sizeof values / sizeof *values);
        memcpy(values, t.v.values, t.v.count * sizeof *values);
        size_t nan = tensor_cell(&t, at[0], at[1]);
        values[nan] = NAN;
        t.v.values = values;
        for (int linear = 0; linear < 2; linear++) { /* cell by cell too */
            t.linear = linear;
            canvas_clear(&c);
            TENSOR_HEAT.draw(&p, (Rect){0, 0, 20, 60}, &t, false);
            int seen = 0;
            for (int y = 0; y < 20; y++)
                for (int x = 0; x < 60; x++) {
                    const Cell *cell = canvas_at(&c, y, x);
                    if (!cell->ref.run || cell->ref.cell / t.plane.col_count / 4 != at[0] / 4 ||
                        cell->ref.cell % t.plane.col_count / 4 != at[1] / 4)
                        continue;
                    if (cell->style == STYLE_CURSOR) /* names the cell in focus */
                        continue;
                    assert_int_equal(cell->ref.cell, nan);
                    seen++;
                }
            assert_true(seen > 0 || (at[0] < 4 && at[1] < 4)); /* the first block is under the cursor's mark */
        }
    }
    session.look.pool = 0;
    session.look.pool_kind = POOL_MAX;
    canvas_free(&c);
}

/* At a fixed pooling the window follows the cursor to every corner. */
static void panning(void **state)
{
    (void)state;
    look_at("blocks.0.mlp.post");
    Tensor t;
    Canvas c;
    canvas_init(&c, 10, 40);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    session.look.pool = 1;
    for (int view = VIEW_HEAT; view < VIEW_HISTOGRAM; view++)
        for (int corner = 0; corner < 5; corner++) {
            session.look.view = (View)view;
            assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
            plane_set(t.v.graph, t.plane.rows,
                      corner == 4  ? 30
                      : corner & 1 ? t.plane.row_count - 1
                                   : 0,
                      session.place.at);
            plane_set(t.v.graph, t.plane.cols,
                      corner == 4  ? 70
                      : corner & 2 ? t.plane.col_count - 1
                                   : 0,
                      session.place.at);
            canvas_clear(&c);
            view_draw(&VIEW_TENSOR, &p, (Rect){0, 0, 10, 40}, SIDE_A, true);
            assert_true(c.cursor_y >= 0);
            Buf command = {0};
            assert_true(view_click(&VIEW_TENSOR, &p, (Rect){0, 0, 10, 40}, SIDE_A, c.cursor_y, c.cursor_x, &command));
            if (view != VIEW_HEAT) /* two rows share a line of half blocks: the click takes the upper */
                assert_string_equal(buf_str(&command), "in");
            buf_free(&command);
        }
    session.look.view = VIEW_HEAT;
    session.look.pool = 0;
    canvas_free(&c);
}

/* No room for all columns of a vector: it is broken over lines, not pooled. */
static void vectors(void **state)
{
    (void)state;
    look_at("blocks.0.ln1.gamma");
    Canvas c;
    canvas_init(&c, 20, 40);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    view_draw(&VIEW_TENSOR, &p, (Rect){0, 0, 20, 40}, SIDE_A, true);
    bool seen[64] = {false};
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 40; x++)
            if (canvas_at(&c, y, x)->ref.run)
                seen[canvas_at(&c, y, x)->ref.cell] = true;
    for (int i = 0; i < 64; i++)
        assert_true(seen[i]);
    canvas_free(&c);
}

/* Two half lines a row or more: each row has its label, in a line where it is drawn, the one below the cursor's too. */
static void every_row_is_named(void **state)
{
    (void)state;
    look_at("blocks.0.attn.pattern");
    NodeId pattern = session_node(&session, SIDE_A, session.place.path);
    session.place.at[graph_node(session_graph(&session, SIDE_A), pattern)->dims.axis[1]] = 4;
    Canvas c;
    canvas_init(&c, 120, 150);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    for (int h = 78; h < 118; h += 13) {
        canvas_clear(&c);
        view_draw(&VIEW_TENSOR, &p, (Rect){0, 0, h, 150}, SIDE_A, true);
        Tensor t;
        assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
        size_t named = 0;
        for (int y = 1; y < h; y++) {
            const Cell *k = canvas_at(&c, y, tensor_label_width(&t, 150));
            char label[64];
            size_t row = k->ref.run ? k->ref.cell / t.plane.col_count % t.plane.row_count : 0;
            if (canvas_at(&c, y, 0)->ch == ' ' || !k->ref.run)
                continue;
            assert_true(row == named || row + 1 == named); /* the upper half of a line */
            shown_label(t.v.graph, t.plane.rows, named++, label, sizeof label);
            for (size_t i = 0; label[i]; i++)
                assert_int_equal(canvas_at(&c, y, (int)i)->ch, (unsigned char)label[i]);
        }
        assert_int_equal(named, t.plane.row_count);
    }
    canvas_free(&c);
}

/* A strip with room below: all rows of the plane, of which a click takes one; of a vector its bars, one for each. */
static void below_the_strip(void **state)
{
    (void)state;
    enum { H = 34, W = 60 };
    Canvas c;
    canvas_init(&c, H, W);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    session.look.view = VIEW_STRIP;
    static const char *const PATHS[] = {"blocks.1.resid_post", "readout"};
    for (int vector = 0; vector < 2; vector++) {
        look_at(PATHS[vector]);
        Tensor t;
        assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
        canvas_clear(&c);
        view_draw(&VIEW_TENSOR, &p, (Rect){0, 0, H, W}, SIDE_A, true);
        bool row[65] = {false}, bar[64] = {false};
        int rows = 0, bars = 0, y = H - 4, clicked = 0;
        for (; y > 0 && !strstr("0123456789.", (char[]){(char)canvas_at(&c, y, W / 2)->ch, 0}); y--)
            for (int x = 0; x < W; x++) {
                const Cell *k = canvas_at(&c, y, x);
                if (!k->ref.run)
                    continue;
                row[k->ref.cell / t.plane.col_count] = true;
                bar[k->ref.cell % t.plane.col_count] = true;
                Buf command = {0};
                if (!vector && k->ref.cell / t.plane.col_count != t.row && k->level)
                    clicked += view_click(&VIEW_TENSOR, &p, (Rect){0, 0, H, W}, SIDE_A, y, x, &command) &&
                               strstr(buf_str(&command), "goto blocks.1.resid_post[") != NULL;
                buf_free(&command);
            }
        for (int i = 0; i < 65; i++)
            rows += row[i];
        for (int i = 0; i < 64; i++)
            bars += bar[i];
        assert_true(vector ? rows == 1 && bars == 64 : rows > 10 && clicked > 100);
    }
    session.look.view = VIEW_HEAT;
    canvas_free(&c);
}

/* A map of vectors with room below: the one at the cursor as bars, each under its column and the longer the larger. */
static void below_the_map(void **state)
{
    (void)state;
    enum { H = 92, W = 75, ROW = 30, N = 64 };
    Canvas c;
    Tensor t;
    canvas_init(&c, H, W);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    look_at("blocks.1.resid_post");
    NodeId n = session_node(&session, SIDE_A, session.place.path);
    session.place.at[graph_node(session_graph(&session, SIDE_A), n)->dims.axis[0]] = ROW;
    assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
    view_draw(&VIEW_TENSOR, &p, (Rect){0, 0, H, W}, SIDE_A, true);
    const int label = tensor_label_width(&t, W);
    for (int i = 0; i < N; i++) {
        const size_t cell = (size_t)ROW * N + (size_t)i;
        int bars = 0, other = 0;
        for (int y = 67; y < H - 3; y++) { /* its head, 65 lines, one between */
            const Ref ref = canvas_at(&c, y, label + i)->ref;
            bars += ref.run && ref.cell == cell;
            other += ref.run && ref.cell != cell;
        }
        assert_int_equal(other, 0);
        const float x = t.v.values[cell];
        for (int k = 0; k < N; k++) {
            int shorter = 0;
            for (int y = 67; y < H - 3; y++)
                shorter += canvas_at(&c, y, label + k)->ref.run > 0;
            if (x * t.v.values[cell - (size_t)i + (size_t)k] > 0 &&
                fabsf(x) > fabsf(t.v.values[cell - (size_t)i + (size_t)k]))
                assert_true(bars >= shorter);
        }
        assert_true(bars > 0);
    }
    session.place.at[graph_node(session_graph(&session, SIDE_A), n)->dims.axis[0]] = 0;
    canvas_free(&c);
}

/* Where columns share a bar the cursor's is that of its own value, whichever of them is larger. */
static void below_the_map_the_cursors_own(void **state)
{
    (void)state;
    enum { H = 92, W = 42, ROW = 30, N = 64 };
    Canvas c;
    Tensor t;
    canvas_init(&c, H, W);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    look_at("blocks.1.resid_post");
    const Dims d = graph_node(session_graph(&session, SIDE_A), session_node(&session, SIDE_A, session.place.path))
                       ->dims;
    session.place.at[d.axis[0]] = ROW;
    for (int i = 0; i < N; i++) {
        session.place.at[d.axis[1]] = i;
        canvas_clear(&c);
        assert_true(tensor_open(&session, SIDE_A, session.place.path, &t));
        view_draw(&VIEW_TENSOR, &p, (Rect){0, 0, H, W}, SIDE_A, true);
        int own = 0, other = 0;
        for (int y = 67; y < H - 3; y++)
            for (int x = tensor_label_width(&t, W); x < W; x++) {
                const Ref ref = canvas_at(&c, y, x)->ref;
                own += ref.run && ref.cell == (size_t)ROW * N + (size_t)i;
                other += ref.run > 0;
            }
        assert_true(own > 0 && other > own);
    }
    session.place.at[d.axis[0]] = session.place.at[d.axis[1]] = 0;
    canvas_free(&c);
}

/* Beside others few rows of many columns that share a cell are as high as there is room for. */
static void few_rows_fill_their_column(void **state)
{
    (void)state;
    enum { H = 34, W = 60, ROWS = 5 };
    Canvas c;
    canvas_init(&c, H, W);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    session.look.view = VIEW_HEAT;
    look_at("blocks.1.mlp.post");
    Tensor all, t;
    assert_true(tensor_open(&session, SIDE_A, session.place.path, &all));
    t = tensor_rows(&all, 0, ROWS);
    t.lit = true;
    canvas_clear(&c);
    TENSOR_HEAT.draw(&p, (Rect){0, 0, H, W}, &t, false);
    int lines = 0;
    for (int y = 0; y < H; y++) {
        bool any = false;
        for (int x = 0; x < W; x++)
            any |= canvas_at(&c, y, x)->ref.run != 0;
        lines += any;
    }
    canvas_free(&c);
    assert_true(lines >= 2 * ROWS);
}

/* Few rows of many columns: broken into bands, in which every value is drawn, a cell at least each, and hit. */
static void bands(void **state)
{
    (void)state;
    enum { H = 34, W = 60 };
    Canvas c;
    canvas_init(&c, H, W);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    session.look.view = VIEW_HEAT;
    look_at("blocks.1.mlp.post");
    Tensor all, t;
    assert_true(tensor_open(&session, SIDE_A, session.place.path, &all));
    t = tensor_rows(&all, 0, 5);
    t.row = 2;
    t.v.cell = tensor_cell(&t, t.row, t.col);
    canvas_clear(&c);
    TENSOR_HEAT.draw(&p, (Rect){0, 0, H, W}, &t, false);
    bool seen[5][256] = {{false}};
    int used = 0, marks = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const Cell *k = canvas_at(&c, y, x);
            size_t cell = 0;
            if (!k->ref.run)
                continue;
            used++;
            marks += k->style == STYLE_CURSOR;
            assert_true(TENSOR_HEAT.hit(&p, (Rect){0, 0, H, W}, &t, y, x, &cell));
            assert_int_equal(cell, k->ref.cell);
            size_t row = cell / t.plane.col_count, col = cell % t.plane.col_count;
            assert_true(row < 5 && col < 256);
            seen[row][col] = true;
        }
    for (int row = 0; row < 5; row++)
        for (size_t col = 0; col < t.plane.col_count; col++)
            assert_true(seen[row][col]);
    assert_true(marks == 1 || marks == 2); /* the cursor in one band only */
    assert_true(used > H * W / 2);
    assert_true(TENSOR_HEAT.per_cell(&p, (Rect){0, 0, H, W}, &t) == 1);
    canvas_clear(&c);
    TENSOR_NUMBERS.draw(&p, (Rect){0, 0, H, W}, &t, false); /* as numbers likewise: five bands of five rows */
    size_t shown = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const Cell *k = canvas_at(&c, y, x);
            size_t cell = 0;
            if (!k->ref.run)
                continue;
            assert_true(TENSOR_NUMBERS.hit(&p, (Rect){0, 0, H, W}, &t, y, x, &cell));
            assert_int_equal(cell, k->ref.cell);
            shown += x == 0 || canvas_at(&c, y, x - 1)->ref.cell != cell || !canvas_at(&c, y, x - 1)->ref.run;
        }
    assert_true(shown == 5 * 5 * 6 || shown == 5 * 5 * 5);
    Buf caption = {0};
    TENSOR_HEAT.caption(&p, (Rect){0, 0, H, W}, &t, &caption);
    assert_non_null(strstr(buf_str(&caption), "columns a band"));
    assert_null(strstr(buf_str(&caption), "1 cell"));
    TENSOR_HEAT.draw(&p, (Rect){0, 0, H, W}, &all, false); /* 65 rows: none */
    buf_clear(&caption);
    TENSOR_HEAT.caption(&p, (Rect){0, 0, H, W}, &all, &caption);
    assert_null(strstr(buf_str(&caption), "band"));
    buf_free(&caption);
    canvas_free(&c);
}

/* The values as numbers: each on the colour of its value, or of its channel; with few colours on none, and readable. */
static void numbers_on_their_colours(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        const ViewSpec *view;
        ColourMode mode;
    } CASES[] = {{"blocks.1.attn.q", &VIEW_TENSOR, MODE_256},
                 {"blocks.1.attn.q", &VIEW_TENSOR, MODE_8},
                 {"image", &VIEW_PICTURE, MODE_TRUE},
                 {"image", &VIEW_PICTURE, MODE_MONO}};
    Canvas c;
    canvas_init(&c, 30, 60);
    session.look.view = VIEW_NUMBERS;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Paint p = {.s = &session, .c = &c, .mode = CASES[i].mode};
        Needs needs = {0};
        focus_on(CASES[i].path);
        CASES[i].view->needs(&session, SIDE_A, c.clip, &needs);
        compute(&needs);
        canvas_clear(&c);
        view_draw(CASES[i].view, &p, c.clip, SIDE_A, false);
        bool picture = CASES[i].view == &VIEW_PICTURE;
        const Graph *g = session_graph(&session, SIDE_A);
        const char *path = picture ? site_path_any(g, SITE_INPUT) : CASES[i].path;
        const float *x = session_peek(&session, SIDE_A, path);
        Spread spread = spread_of(x, graph_cells(g, graph_find(g, path)));
        spread.common = spread_common(x, spread.count, 1);
        ColourScale scale = colour_scale_of_spread(&p, SIDE_A, &spread);
        int grounds = 0;
        for (int y = 1; y < c.h - 3; y++)
            for (int column = 0; column < 28; column++) {
                const Cell *k = canvas_at(&c, y, column);
                if (!k->ref.run || k->style == STYLE_CURSOR || k->ch < '0' || k->ch > '9')
                    continue;
                if (p.mode < MODE_256) {
                    assert_int_equal(k->bg, COLOUR_DEFAULT);
                    continue;
                }
                size_t channel = k->ref.cell / (size_t)(48 * 48);
                const float value = x[k->ref.cell];
                Colour want = picture ? (Colour)(value + 0.5F) * 5 / 8 << (16 - 8 * channel)
                                      : colour_scale_colour(&scale, value);
                assert_int_equal(k->bg, want);
                CellLook look = cell_look(k, p.mode, false, false);
                assert_true(colour_contrast(look.fg, look.bg) >= CONTRAST_TENTHS / 10.0);
                grounds++;
            }
        assert_true(p.mode < MODE_256 || grounds > 100);
    }
    session.look.view = VIEW_HEAT;
    canvas_free(&c);
}

/* Beside its numbers the patch itself: each pixel has its three numbers as colour, and is gone to by a click. */
static void patch_beside_its_numbers(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 30, 60);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    Needs needs = {0};
    session.look.view = VIEW_NUMBERS;
    focus_on("image");
    VIEW_PICTURE.needs(&session, SIDE_A, c.clip, &needs);
    compute(&needs);
    view_draw(&VIEW_PICTURE, &p, c.clip, SIDE_A, false);
    const Graph *g = session_graph(&session, SIDE_A);
    const float *x = session_peek(&session, SIDE_A, site_path_any(g, SITE_INPUT));
    const size_t plane = (size_t)48 * 48;
    bool seen[48 * 48] = {false};
    int pixels = 0;
    for (int y = 0; y < c.h; y++)
        for (int column = 30; column < c.w; column++) {
            const Cell *k = canvas_at(&c, y, column);
            if (!k->ref.run || !k->level || !cell_is_data(k))
                continue;
            size_t at = k->ref.cell % plane;
            Colour want = (Colour)(x[at] + 0.5F) << 16 | (Colour)(x[at + plane] + 0.5F) << 8 |
                          (Colour)(x[at + 2 * plane] + 0.5F);
            assert_int_equal(k->fg, want);
            pixels += !seen[at];
            seen[at] = true;
        }
    assert_true(pixels >= 18); /* the cursor's one, and the lower of two in a cell, have no Ref of their own here */
    Buf command = {0};
    assert_true(view_click(&VIEW_PICTURE, &p, c.clip, SIDE_A, 9, 40, &command));
    Buf want = {0};
    buf_puts(&want, "goto ");
    address_put(g, graph_find(g, "image"), canvas_at(&c, 9, 40)->ref.cell, &want);
    assert_string_equal(buf_str(&command), buf_str(&want));
    buf_free(&want);
    buf_free(&command);
    Canvas narrow; /* the pane at 80x24: all six columns of numbers all the same */
    canvas_init(&narrow, 18, 40);
    p.c = &narrow;
    view_draw(&VIEW_PICTURE, &p, narrow.clip, SIDE_A, false);
    for (size_t k = 0; k < 6; k++) {
        size_t first = canvas_at(&narrow, 1, 6)->ref.cell / 6 * 6;
        bool there = false;
        for (int column = 0; column < 29; column++)
            there = there ||
                    (canvas_at(&narrow, 1, column)->ref.run && canvas_at(&narrow, 1, column)->ref.cell == first + k);
        assert_true(there);
    }
    canvas_free(&narrow);
    session.look.view = VIEW_HEAT;
    canvas_free(&c);
}

static HeatLook row_colour(const void *context, int row, int col)
{
    (void)context, (void)col;
    return (HeatLook){.colour = 0x101010U * (Colour)(row + 1), .level = 5};
}

/* The cursor's brackets stand on a line that is their value's for the most part, in its colour, however the rows of a
 * map lie on the lines. */
static void marks_stand_on_their_values(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 14; rows++)
        for (int tall = rows; tall <= 40; tall++)
            for (int row = 0; row < rows; row++) {
                Canvas c;
                canvas_init(&c, 24, 8);
                Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
                const Rect all = {0, 0, 24, 8};
                const HeatSize size = {tall, 4};
                heat_paint(&p, all, rows, 1, size, row_colour, NULL);
                const Rect at = heat_mark_cell(&p, all, rows, 1, size, row, 0, (Ref){0});
                const int top = (int)heat_first((size_t)row, (size_t)tall, (size_t)rows),
                          bottom = (int)heat_first((size_t)row + 1, (size_t)tall, (size_t)rows);
                int own = 0, most = 0; /* its half lines in that line, and in the one that has most of them */
                for (int y = top / 2; y <= (bottom - 1) / 2; y++) {
                    const int in = (2 * y >= top && 2 * y < bottom) + (2 * y + 1 >= top && 2 * y + 1 < bottom);
                    own = y == at.y ? in : own;
                    most = in > most ? in : most;
                }
                assert_int_equal(own, most);
                assert_int_equal(canvas_at(&c, at.y, 0)->ch, '[');
                assert_true(cell_ground(canvas_at(&c, at.y, 0)) == 0x101010U * (Colour)(row + 1));
                canvas_free(&c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_planes),
        cmocka_unit_test(marks_stand_on_their_values),
        cmocka_unit_test(pooling),
        cmocka_unit_test(crowded_cells_are_told_apart),
        cmocka_unit_test(nan_stays),
        cmocka_unit_test(panning),
        cmocka_unit_test(vectors),
        cmocka_unit_test(every_row_is_named),
        cmocka_unit_test(few_rows_fill_their_column),
        cmocka_unit_test(bands),
        cmocka_unit_test(below_the_strip),
        cmocka_unit_test(below_the_map),
        cmocka_unit_test(below_the_map_the_cursors_own),
        cmocka_unit_test(numbers_on_their_colours),
        cmocka_unit_test(patch_beside_its_numbers),
    };
    open_bundled();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    session_free(&session);
    return failed;
}
