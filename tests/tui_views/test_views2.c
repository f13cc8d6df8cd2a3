/* Attention, positions, explanations and figures: at every size they stay in their rectangle, every number on screen is
 * the trace's, and pooling keeps to the lattice of the patches. */
#define _GNU_SOURCE
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/session/place.h"
#include "tests/tui_views/drawn.h"
#include "tui/canvas/export.h"
#include "tui/views/attention/attend.h"
#include "tui/views/classes.h"
#include "tui/views/explain/explain.h"
#include "tui/views/tensor/tensor.h"

static Session session;

static const ViewSpec *const VIEWS[] = {&VIEW_SHEET,   &VIEW_MATRIX,    &VIEW_ROW,     &VIEW_ROW_TOP, &VIEW_OTHER_HEADS,
                                        &VIEW_FIGURES, &VIEW_POSITIONS, &VIEW_EXPLAIN, &VIEW_CLOSEUP, &VIEW_PROFILE};
enum { VIEW_SPECS = sizeof VIEWS / sizeof *VIEWS };
static const int SIZES[][2] = {{1, 1},  {1, 9},   {2, 2},   {3, 1},   {4, 18},   {7, 11},
                               {8, 40}, {15, 46}, {17, 78}, {34, 76}, {54, 150}, {150, 500}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

/* --- drawing and reading back --- */
static Paint open_canvas(Canvas *c, int h, int w, ColourMode mode)
{
    canvas_init(c, h, w);
    return (Paint){.s = &session, .c = c, .mode = mode};
}

/* Draws with canaries all around; returns how many numbers were right. */
static int draw_checked(const ViewSpec *v, Side side, int h, int w, ColourMode mode, bool ascii)
{
    Canvas c;
    Rect r = {.y = 2, .x = 3, .h = h, .w = w};
    Paint p = open_canvas(&c, h + 4, w + 6, mode);
    c.ascii = ascii;
    canvas_fill(&c, c.clip, STYLE_ERROR, '~');
    canvas_fill(&c, r, STYLE_TEXT, ' ');
    Rect clip = c.clip;
    drawn_prepare(&session, v, side, r);
    view_draw(v, &p, r, side, true);
    assert_memory_equal(&clip, &c.clip, sizeof clip);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            if (!rect_has(r, y, x) && (k->ch != '~' || k->style != STYLE_ERROR || k->ref.run || k->level))
                fail_msg("%s drew outside its %d × %d at %d %d", v->name, h, w, y, x);
            if (ascii && rect_has(r, y, x))
                assert_true(k->ch < 0x7f);
        }
    if (c.cursor_y >= 0)
        assert_true(rect_has(r, c.cursor_y, c.cursor_x));
    for (int y = 0; y < c.h; y += 1 + h / 12)
        for (int x = 0; x < c.w; x += 1 + w / 16) {
            Buf command = {0};
            bool hit = view_click(v, &p, r, side, y, x, &command);
            assert_int_equal(hit, command.len > 0);
            assert_true(!hit || rect_has(r, y, x));
            buf_free(&command);
        }
    Buf title = {0};
    v->title(&session, side, &title);
    assert_true(title.len > 0);
    buf_free(&title);
    int numbers = drawn_numbers(&session, &c);
    canvas_free(&c);
    return numbers;
}

static int draw_all(const ViewSpec *v, Side side)
{
    int numbers = 0;
    for (int i = 0; i < SIZE_COUNT; i++) {
        bool large = SIZES[i][0] > 60;
        numbers += draw_checked(v, side, SIZES[i][0], SIZES[i][1], MODE_256, false);
        if (!large)
            numbers += draw_checked(v, side, SIZES[i][0], SIZES[i][1], MODE_MONO, true);
    }
    return numbers;
}

static void focus(const char *path)
{
    if (session_node(&session, SIDE_B, path) == NO_NODE)
        fail_msg("no node %s", path);
    session.place.path[0] = '\0';
    strncat(session.place.path, path, sizeof session.place.path - 1);
    session.place.term = 0;
    session.place.operand = 0;
}

static void edit(const char *line)
{
    EditState state = {0};
    Err err;
    if (line)
        edit_state_add(&state, line);
    if (!edits_apply(&session, &state, false, &err))
        fail_msg("%s", err.text);
    edit_state_free(&state);
}

static int open_bundled(void **state)
{
    (void)state;
    Err err;
    if (!session_init(&session, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    focus("blocks.1.attn.pattern");
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    session_free(&session);
    return 0;
}

/* A seeded model of this configuration, opened the way a reader opens one: from its files. */
static void open_config(const VitConfig *c)
{
    char dir[] = "/tmp/vitrine-views-XXXXXX", file[96];
    static const char *const FILES[] = {"model.safetensors", "config.json", "preprocessor_config.json"};
    Model m;
    Err err;
    assert_non_null(mkdtemp(dir));
    model_seeded(&m, c, 3);
    if (!model_save(&m, dir, &err) || !session_init(&session, dir, "#1", 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    model_free(&m);
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/%s", dir, FILES[i]);
        unlink(file);
    }
    rmdir(dir);
}

/* --- the lattice --- */
static void tilings_keep_the_picture(void **state)
{
    (void)state;
    static const Lattice LATTICES[] = {{1, 14, 14}, {1, 8, 8}, {0, 3, 5},   {5, 4, 6},
                                       {2, 1, 1},   {0, 1, 7}, {1, 37, 37}, {1, 16, 12}};
    for (size_t n = 0; n < sizeof LATTICES / sizeof *LATTICES; n++) {
        Lattice l = LATTICES[n];
        Tiling list[TILINGS];
        int count = lattice_tilings(l, list), tokens = l.prefix + l.rows * l.cols;
        assert_true(count > 0 && list[0].gy == 1 && list[0].gx == 1);
        for (int i = 0; i < count; i++) {
            Tiling t = list[i];
            assert_true(l.rows % t.gy == 0 && l.cols % t.gx == 0);
            assert_true(t.gy == 1 || t.gy == t.gx || t.gx == l.cols);
            if (i)
                assert_true(t.gy * t.gx >= list[i - 1].gy * list[i - 1].gx);
            int seen = 0;
            for (int tile = 0; tile < tiling_count(l, t); tile++)
                for (int k = 0; k < tiling_size(l, t, tile); k++, seen++) {
                    int token = tiling_token(l, t, tile, k), first = tiling_token(l, t, tile, 0);
                    assert_true(token >= 0 && token < tokens);
                    assert_int_equal(tiling_of_token(l, t, token), tile);
                    if (tile >= l.prefix) { /* one rectangle of the picture */
                        int a = first - l.prefix, b = token - l.prefix;
                        assert_in_range(b / l.cols - a / l.cols, 0, t.gy - 1);
                        assert_in_range(b % l.cols - a % l.cols, 0, t.gx - 1);
                    } else
                        assert_int_equal(tiling_size(l, t, tile), 1);
                }
            assert_int_equal(seen, tokens); /* every token in one tile */
        }
    }
    Lattice vit_b = {1, 14, 14};
    for (int bins = 1; bins < 198; bins++) {
        const Tiling t = tiling_of_bins(vit_b, bins);
        const int tiles = tiling_count(vit_b, t) - 1;
        int next = 0;
        assert_in_range(tiles, bins < 14 ? bins : bins / 14 * 14 < 196 ? bins / 14 * 14 : 196, bins);
        for (int tile = 0; tile <= tiles; tile++) {
            const int size = tiling_size(vit_b, t, tile), first = tiling_token(vit_b, t, tile, 0) - 1;
            assert_true(!tile ? size == 1 : size <= t.gy * t.gx && size > t.gy * t.gx - (bins < 14 ? 15 : 2));
            /* whole rows or a piece of one, each row cut alike */
            assert_true(!tile || (bins < 14 ? first % 14 == 0 && size % 14 == 0 : first % 14 + size <= 14));
            assert_true(!tile || bins < 14 || size == tiling_size(vit_b, t, 1 + (tile - 1) % (tiles / 14)));
            for (int k = 0; k < size; k++, next++) {
                assert_int_equal(tiling_token(vit_b, t, tile, k), next);
                assert_int_equal(tiling_of_token(vit_b, t, next), tile);
            }
        }
        assert_int_equal(next, 197);
    }
    assert_int_equal(tiling_of_size(vit_b, 4).gy, 2); /* four in a row would not divide 14 */
    assert_int_equal(tiling_of_size(vit_b, 4).gx, 2);
    assert_int_equal(tiling_of_size(vit_b, 7).gx, 7);
    assert_int_equal(tiling_of_size(vit_b, 3).gx, 2); /* no such piece: the coarsest below */
    assert_int_equal(tiling_count(vit_b, (Tiling){.gy = 2, .gx = 2}), 50);
}

/* The pooled value worked out from the definition, cell by cell. */
static double naive(const float *v, int tokens, int cols, int prefix, Tiling t, int head, int tile_t, int tile_u,
                    PoolKind kind)
{
    double best = 0, sum = 0;
    int n = 0;
    for (int a = 0; a < tokens; a++)
        for (int b = 0; b < tokens; b++) {
            int of[2] = {a, b}, tile[2];
            for (int k = 0; k < 2; k++) {
                int patch = of[k] - prefix;
                tile[k] = of[k] < prefix ? of[k] : prefix + patch / cols / t.gy * (cols / t.gx) + patch % cols / t.gx;
            }
            if (tile[0] != tile_t || tile[1] != tile_u)
                continue;
            double x = (double)v[(head * tokens + a) * tokens + b];
            if (!n || (kind == POOL_ABSMAX ? fabs(x) > fabs(best) : x > best))
                best = x;
            sum += x;
            n++;
        }
    return kind == POOL_MEAN ? (double)(float)(sum / n) : best;
}

static void pooling_is_right(void **state)
{
    (void)state;
    focus("blocks.2.attn.scores_scaled");
    drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, (Rect){0, 0, 20, 40});
    Attend a;
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    Tiling list[TILINGS];
    int count = lattice_tilings(a.u, list);
    assert_true(count >= 7);
    for (int i = 0; i < count; i++)
        for (int kind = 0; kind < POOL_KINDS; kind++)
            for (int probe = 0; probe < 12; probe++) {
                int tiles = tiling_count(a.u, list[i]), t = probe * 7 % tiles, u = probe * 5 % tiles;
                Ref ref;
                float got = attend_tile(&a, 3, list[i], t, u, (PoolKind)kind, &ref);
                assert_true((double)got == naive(a.v.values, 65, 8, 1, list[i], 3, t, u, (PoolKind)kind));
                bool whole = kind != POOL_MEAN || tiling_size(a.u, list[i], t) * tiling_size(a.u, list[i], u) == 1;
                assert_int_equal(ref.run, whole ? SIDE_A : 0);
                if (whole) /* what is drawn is the value of the cell that it names */
                    assert_memory_equal(&got, &a.v.values[ref.cell], sizeof got);
            }
    focus("blocks.1.attn.pattern");
}

/* --- everything at every size --- */
static void every_size(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"blocks.1.attn.pattern", "blocks.0.attn.scores_raw", "blocks.3.attn.shifted"};
    int numbers = 0;
    for (int i = 0; i < VIEW_SPECS; i++)
        for (int k = 0; k < 3; k++) {
            focus(PATHS[k]);
            session.look.positions.grids = k == 1;
            session.look.positions.centred = k == 2;
            session.look.average = k == 2;
            numbers += draw_all(VIEWS[i], SIDE_A);
        }
    session.look = (LookAt){0};
    focus("blocks.1.attn.pattern");
    assert_true(numbers > 1500);
}

static void both_sides(void **state)
{
    (void)state;
    edit("set scale off");
    session.compare = COMPARE_SIDES;
    for (int i = 0; i < VIEW_SPECS; i++)
        for (Side side = SIDE_A; side <= SIDE_DIFF; side++)
            assert_true(draw_all(VIEWS[i], side) > 0 || VIEWS[i] == &VIEW_FIGURES || VIEWS[i] == &VIEW_OTHER_HEADS ||
                        VIEWS[i] == &VIEW_SHEET || VIEWS[i] == &VIEW_MATRIX);
    /* side by side A and B have one scale */
    Attend a, b;
    Canvas c;
    Paint p = open_canvas(&c, 20, 40, MODE_256);
    drawn_prepare(&session, &VIEW_ROW, SIDE_A, c.clip);
    drawn_prepare(&session, &VIEW_ROW, SIDE_B, c.clip);
    assert_true(attend_open(&session, SIDE_A, -1, &a) && attend_open(&session, SIDE_B, -1, &b));
    session.look.range = RANGE_OWN;
    assert_true(attend_scale(&p, &a, true).high < attend_scale(&p, &b, true).high); /* each its own */
    session.look.range = (LookAt){0}.range;
    ColourScale x = attend_scale(&p, &a, true), y = attend_scale(&p, &b, true);
    assert_true(x.low == y.low && x.high == y.high);
    session.look.range = RANGE_LOG; /* six powers of ten below the largest */
    x = attend_scale(&p, &b, true);
    assert_true(fabs(colour_scale_share(&x, x.high) - 1) < 1e-12);
    assert_true(fabs(colour_scale_share(&x, x.high / 1000) - 0.5) < 1e-6 && colour_scale_share(&x, x.high / 1e8f) == 0);
    session.look.range = RANGE_SHARED;
    session.compare = COMPARE_OFF;
    assert_true(attend_scale(&p, &a, true).high <
                attend_scale(&p, &b, true).high); /* without the scale the row is sharper */
    canvas_free(&c);
    edit(NULL);
}

static void masked_scores(void **state)
{
    (void)state;
    edit("mask causal");
    focus("blocks.1.attn.scores_masked");
    for (int i = 0; i < VIEW_SPECS; i++)
        draw_all(VIEWS[i], SIDE_B);
    Attend a;
    assert_true(attend_open(&session, SIDE_B, -1, &a));
    Canvas c;
    Paint p = open_canvas(&c, 20, 40, MODE_256);
    ColourScale s = attend_scale(&p, &a, false);
    assert_true(isfinite(s.low) && isfinite(s.high)); /* −∞ is no end of a scale */
    canvas_free(&c);
    edit(NULL);
    focus("blocks.1.attn.pattern");
}

/* --- what stands where --- */
static void matrix_shows_every_cell(void **state)
{
    (void)state;
    Canvas c;
    Paint p = open_canvas(&c, 70, 72, MODE_MONO); /* one weight per cell */
    Rect all = c.clip;
    Attend a;
    drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, all);
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    view_draw(&VIEW_MATRIX, &p, all, SIDE_A, true);
    static unsigned char seen[65][65];
    memset(seen, 0, sizeof seen);
    int last_row[65] = {0};
    for (int y = 0; y < c.h - 1; y++) /* the last line says a number of its own */
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            if (!k->ref.run)
                continue;
            size_t cell = k->ref.cell - attend_cell(&a, a.head, 0, 0);
            assert_true(cell < 65 * 65);
            seen[cell / 65][cell % 65]++;
            assert_true(y >= last_row[cell % 65]); /* rows ask: downwards */
            last_row[cell % 65] = y;
        }
    for (int t = 0; t < 65; t++)
        for (int u = 0; u < 65; u++)
            assert_int_equal(seen[t][u], 1);
    canvas_free(&c);
}

static void unpooled_where_it_fits(void **state)
{
    (void)state;
    for (int h = 34; h <= 40; h += 6) { /* 65 × 65 in half blocks: 33 lines and one for the value */
        Canvas c;
        Paint p = open_canvas(&c, h, 76, MODE_256);
        Rect all = c.clip;
        drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, all);
        view_draw(&VIEW_MATRIX, &p, all, SIDE_A, true);
        int data = 0;
        for (int y = 0; y < c.h; y++)
            for (int x = 0; x < c.w; x++)
                data += canvas_at(&c, y, x)->level > 0 && canvas_at(&c, y, x)->ref.run;
        assert_in_range(data, 65 * 33 - 2, 65 * 33);
        canvas_free(&c);
    }
}

/* 18 × 40, the pane of a terminal of 80 × 24: three pieces of every row that asks by four, columns named. */
static void a_low_pane_has_all_of_it_and_names_columns(void **state)
{
    (void)state;
    Canvas c;
    Paint p = open_canvas(&c, 18, 40, MODE_256);
    Attend a;
    static bool rows[25], cols[33];
    char line[512] = "";
    drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, c.clip);
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    view_draw(&VIEW_MATRIX, &p, c.clip, SIDE_A, true);
    memset(rows, 0, sizeof rows);
    memset(cols, 0, sizeof cols);
    for (int y = 0; y < c.h - 1; y++)
        for (int x = 0; x < c.w; x++) {
            const Ref of[] = {canvas_at(&c, y, x)->ref, canvas_at(&c, y, x)->below};
            for (int half = 0; half < 2; half++) {
                size_t cell = of[half].cell - attend_cell(&a, a.head, 0, 0);
                if (of[half].run) /* cls, then bins */
                    rows[cell / 65 ? (cell / 65 * 24 - 1) / 64 + 1 : 0] = cols[(cell % 65 + 1) / 2] = true;
            }
        }
    for (int i = 0; i < 33; i++)
        assert_true(cols[i] && (i > 24 || rows[i]));
    size_t n = 0;
    for (int x = 0; x < c.w; x++)
        n += utf8_put(line + n, canvas_at(&c, c.h - 2, x)->ch ? canvas_at(&c, c.h - 2, x)->ch : ' ');
    assert_non_null(strstr(line, "3×2"));
    int named = 0;
    for (int y = 0; y < c.h - 2; y++)
        for (int x = 5; x < c.w; x++)
            named += canvas_at(&c, y, x)->ch == 'r';
    assert_int_equal(named, 8);
    assert_true(drawn_numbers(&session, &c) > 0); /* the value at the cursor */
    session.look.pool = 1;                        /* one by one, with their labels: what is not shown scrolls */
    canvas_clear(&c);
    view_draw(&VIEW_MATRIX, &p, c.clip, SIDE_A, true);
    int labels = 0;
    for (int x = 0; x < c.w; x++)
        labels += canvas_at(&c, c.h - 3, x)->ch == '^';
    assert_int_equal(labels, 1);
    session.look.pool = 0;
    canvas_free(&c);
}

/* However far it is pooled: a token further on stands no further left, nor higher. */
static void tokens_stand_in_their_order(void **state)
{
    (void)state;
    static const int SIZE[][2] = {{11, 24}, {19, 28}, {18, 40}, {7, 16}, {34, 76}};
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++) {
        Canvas c;
        Paint p = open_canvas(&c, SIZE[i][0], SIZE[i][1], MODE_256);
        Attend a;
        int from = 0, found = 0;
        drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, c.clip);
        assert_true(attend_open(&session, SIDE_A, -1, &a));
        view_draw(&VIEW_MATRIX, &p, c.clip, SIDE_A, true);
        int right[65];
        for (int u = 0; u < 65; u++)
            right[u] = -1;
        for (int y = 0; y < c.h - 2; y++)
            for (int x = 0; x < c.w; x++) {
                const Cell *k = canvas_at(&c, y, x);
                if (!k->ref.run || k->ref.cell < attend_cell(&a, a.head, 0, 0))
                    continue;
                int u = (int)((k->ref.cell - attend_cell(&a, a.head, 0, 0)) % 65);
                right[u] = x > right[u] ? x : right[u];
                found++;
            }
        for (int u = 0; u < 65; u++) {
            assert_true(right[u] < 0 || right[u] >= from);
            from = right[u] > from ? right[u] : from;
        }
        assert_true(found > 20);
        canvas_free(&c);
    }
}

/* Above "r3" stands the bar of the first patch of that row. */
static void bars_stand_above_their_names(void **state)
{
    (void)state;
    static const int WIDTHS[] = {58, 96, 240}; /* several tokens to a column, one, three columns to a token */
    for (size_t i = 0; i < sizeof WIDTHS / sizeof *WIDTHS; i++) {
        Canvas c;
        Paint p = open_canvas(&c, 10, WIDTHS[i], MODE_256);
        Attend a;
        int named = 0;
        drawn_prepare(&session, &VIEW_PROFILE, SIDE_A, c.clip);
        assert_true(attend_open(&session, SIDE_A, -1, &a));
        view_draw(&VIEW_PROFILE, &p, c.clip, SIDE_A, true);
        for (int x = 0; x + 1 < c.w; x++) {
            const Cell *k = canvas_at(&c, c.h - 1, x), *digit = canvas_at(&c, c.h - 1, x + 1);
            const int u = 1 + 8 * ((int)digit->ch - '0');
            Buf command = {0};
            char label[32], wanted[64];
            if (k->ch != 'r' || digit->ch < '0' || digit->ch > '7' ||
                !view_click(&VIEW_PROFILE, &p, c.clip, SIDE_A, c.h - 2, x, &command)) {
                buf_free(&command);
                continue;
            }
            snprintf(wanted, sizeof wanted, "looked %s", axis_label(a.u_axis, u, label, sizeof label));
            if (strcmp(buf_str(&command), wanted) != 0) { /* the one before it shares its column */
                assert_true(WIDTHS[i] < 65 + 13);
                snprintf(wanted, sizeof wanted, "looked %s", axis_label(a.u_axis, u - 1, label, sizeof label));
            }
            if (strcmp(buf_str(&command), "in") != 0)
                assert_string_equal(buf_str(&command), wanted);
            buf_free(&command);
            named++;
        }
        assert_true(named >= 7);
        canvas_free(&c);
    }
}

static void clicks_go_where_they_point(void **state)
{
    (void)state;
    Canvas c;
    Paint p = open_canvas(&c, 80, 80, MODE_MONO);
    Rect all = c.clip;
    Attend a;
    drawn_prepare(&session, &VIEW_MATRIX, SIDE_A, all);
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    for (int view = 0; view < 2; view++) {
        const ViewSpec *v = view ? &VIEW_ROW : &VIEW_MATRIX;
        int hits = 0;
        canvas_clear(&c);
        view_draw(v, &p, all, SIDE_A, true);
        for (int y = 0; y < c.h - 2; y++)
            for (int x = 0; x < c.w; x++) {
                const Cell *k = canvas_at(&c, y, x);
                Buf command = {0};
                char wanted[96], t[32], u[32];
                if (!k->ref.run || !k->level || !view_click(v, &p, all, SIDE_A, y, x, &command)) {
                    buf_free(&command);
                    continue;
                }
                size_t cell = k->ref.cell - attend_cell(&a, a.head, 0, 0);
                axis_label(a.t_axis, (int)(cell / 65), t, sizeof t);
                axis_label(a.u_axis, (int)(cell % 65), u, sizeof u);
                if (view)
                    snprintf(wanted, sizeof wanted, "looked %s", u);
                else
                    snprintf(wanted, sizeof wanted, "query %s; looked %s", t, u);
                if (strcmp(buf_str(&command), "in") != 0)
                    assert_string_equal(buf_str(&command), wanted);
                hits++;
                buf_free(&command);
            }
        assert_true(hits > 60);
    }
    canvas_free(&c);
}

static void row_lies_on_the_picture(void **state)
{
    (void)state;
    Canvas c;
    Paint p = open_canvas(&c, 20, 20, MODE_MONO);
    LatticeMap m = lattice_map(&p, c.clip, 8, 8, 24, 0, 0);
    Attend a;
    drawn_prepare(&session, &VIEW_ROW, SIDE_A, c.clip);
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    ColourScale s = attend_scale(&p, &a, true);
    lattice_map_draw(&p, &m, &s, attend_row_value, &(AttendRow){&a, a.head});
    assert_int_equal(m.k, 2);
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++) {
            Rect patch = lattice_map_patch(&m, row, col);
            int hit_row, hit_col;
            assert_true(patch.h == 1 && patch.w == 2);
            assert_true(lattice_map_hit(&m, patch.y, patch.x + 1, &hit_row, &hit_col) && hit_row == row &&
                        hit_col == col);
            size_t cell = attend_cell(&a, a.head, a.at_t, 1 + row * 8 + col); /* cls stands before the patches */
            assert_int_equal(canvas_at(&c, patch.y, patch.x)->ref.cell, cell);
            assert_int_equal(canvas_at(&c, patch.y, patch.x + 1)->ref.cell, cell);
        }
    canvas_free(&c);
}

static void list_is_sorted_and_whole(void **state)
{
    (void)state;
    Canvas c;
    Paint p = open_canvas(&c, 80, 18, MODE_256);
    Attend a;
    drawn_prepare(&session, &VIEW_ROW_TOP, SIDE_A, c.clip);
    view_draw(&VIEW_ROW_TOP, &p, c.clip, SIDE_A, true);
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    bool seen[65] = {false};
    float last = INFINITY;
    for (int y = 1; y <= 65; y++) { /* below the headings */
        const Cell *k = canvas_at(&c, y, 17);
        assert_int_equal(k->ref.node, a.v.node);
        size_t u = k->ref.cell - attend_cell(&a, a.head, a.at_t, 0);
        assert_true(u < 65 && !seen[u] && a.v.values[k->ref.cell] <= last);
        seen[u] = true;
        last = a.v.values[k->ref.cell];
    }
    canvas_free(&c);
}

/* --- figures --- */
static void line_text(Canvas *c, int y, char *out)
{
    size_t n = 0;
    for (int x = 0; x < c->w; x++)
        n += utf8_put(out + n, canvas_at(c, y, x)->ch ? canvas_at(c, y, x)->ch : ' ');
    out[n] = '\0';
}

static float probe_value(Side side, Site site)
{
    Shown v;
    assert_true(shown_open(&session, side, attend_probe(&session, side, site), &v) && v.values);
    return v.values[v.cell];
}

static void figures_compare(void **state)
{
    (void)state;
    edit("set scale off");
    Canvas c;
    Paint p = open_canvas(&c, 4, 70, MODE_256);
    char text[400], word[32];
    Rect all = c.clip;
    drawn_prepare(&session, &VIEW_FIGURES, SIDE_DIFF, all);
    view_draw(&VIEW_FIGURES, &p, all, SIDE_DIFF, false);
    line_text(&c, 0, text);
    assert_non_null(strstr(text, "×"));
    assert_int_equal(sscanf(strstr(text, "×") + strlen("×"), "%31s", word), 1);
    float a = probe_value(SIDE_A, SITE_SCORE_VARIANCE), b = probe_value(SIDE_B, SITE_SCORE_VARIANCE);
    assert_true(says(word, b / a));
    assert_true(b > 10 * a); /* 1/√d_k = 1/4: the variance is about 16 times as large */
    line_text(&c, 1, text);
    assert_int_equal(sscanf(text + strlen("entropy"), "%31s", word), 1);
    assert_true(says(word + 1, probe_value(SIDE_A, SITE_ENTROPY) -
                                   probe_value(SIDE_B, SITE_ENTROPY))); /* as its pane is titled: A − B */
    assert_true(word[0] == '+');
    canvas_free(&c);
    edit(NULL);
    assert_int_equal(draw_checked(&VIEW_FIGURES, SIDE_A, 4, 70, MODE_256, false), 4);
}

/* A row of differences says whose it is: letters have their place before the first figure, the words a line. */
static void profiles_say_their_side(void **state)
{
    (void)state;
    edit("set scale off");
    session.compare = COMPARE_DIFF;
    Rect r = {0, 0, 8, 58};
    Canvas c;
    char text[400];
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    drawn_prepare(&session, &VIEW_PROFILE, SIDE_DIFF, r);
    view_draw(&VIEW_PROFILE, &p, r, SIDE_DIFF, false);
    line_text(&c, 0, text);
    assert_int_equal(strncmp(text, "A − B ", strlen("A − B ")), 0);
    canvas_free(&c);
    int ranges = 0, zeros = 0;
    for (int w = 40; w < 100; w++) { /* how far the bars go is said with its unit, or not at all */
        r = (Rect){0, 0, 9, w};
        p = open_canvas(&c, r.h, r.w, MODE_256);
        view_draw(&VIEW_PROFILE, &p, r, SIDE_DIFF, false);
        for (int y = 0; y < r.h; y++) {
            line_text(&c, y, text);
            ranges += strstr(text, "±") != NULL;
            assert_true(!strstr(text, "±") || strstr(strstr(text, "±"), " pts"));
            for (int x = 1; x < c.w; x++) /* the 0 of the bars is none of a number beside it */
                if (canvas_at(&c, y, x)->ch == '0' && canvas_at(&c, y, x)->style == STYLE_AXIS) {
                    assert_int_equal(canvas_at(&c, y, x - 1)->ch, ' ');
                    zeros++;
                }
        }
        canvas_free(&c);
    }
    assert_true(ranges > 20 && zeros > 20);
    session.compare = COMPARE_OFF;
}

static int style_cells(const Canvas *c, int y, Style style)
{
    int n = 0;
    for (int x = 13; x < c->w; x++)
        n += c->cells[y * c->w + x].style == style;
    return n;
}

/* The title says what H and var are where they stand beside the bars, and only there. */
static void a_profile_explains_what_it_shows(void **state)
{
    (void)state;
    int told = 0, silent = 0;
    for (int h = 1; h < 8; h++)
        for (int w = 30; w <= 70; w += 20) {
            Canvas c;
            Buf title = {0}, text = {0};
            const Rect r = {0, 0, h, w};
            Paint p = open_canvas(&c, h, w, MODE_256);
            drawn_prepare(&session, &VIEW_PROFILE, SIDE_B, r);
            view_draw(&VIEW_PROFILE, &p, r, SIDE_B, false);
            export_text(&c, &text);
            VIEW_PROFILE.title_in(&p, r, SIDE_B, &title);
            const bool var = strstr(buf_str(&text), "var ") != NULL, of_h = strstr(buf_str(&text), "H ") != NULL;
            if (var != (strstr(buf_str(&title), "var:") != NULL) || of_h != (strstr(buf_str(&title), "H:") != NULL))
                fail_msg("%dx%d: %s\n%s", w, h, buf_str(&title), buf_str(&text));
            told += var;
            silent += !var;
            buf_free(&title);
            buf_free(&text);
            canvas_free(&c);
        }
    assert_true(told > 0 && silent > 0);
}

/* One scale for A and B unless the reader asks for each its own; a line is free between them; each in its colour; and
 * nothing is said of B where there is none. */
static void profiles_have_one_scale(void **state)
{
    (void)state;
    enum { TALL = 4 };
    Rect r = {0, 0, 2 * TALL + 1, 58};
    Canvas c;
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    Buf title = {0};
    VIEW_PROFILE.title(&session, SIDE_A, &title);
    assert_null(strstr(title.data, "scale"));
    edit("set scale off");
    session.compare = COMPARE_SIDES;
    int lines[2][2] = {{0}};
    for (int own = 0; own < 2; own++) {
        session.look.range = own ? RANGE_OWN : (LookAt){0}.range;
        canvas_clear(&c);
        drawn_prepare(&session, &VIEW_PROFILE, SIDE_B, r);
        view_draw(&VIEW_PROFILE, &p, r, SIDE_B, false);
        assert_int_equal(style_cells(&c, TALL, STYLE_SIDE_A) + style_cells(&c, TALL, STYLE_SIDE_B), 0);
        for (int y = 0; y < r.h; y++) {
            lines[own][0] += style_cells(&c, y, STYLE_SIDE_A) > 0;
            lines[own][1] += style_cells(&c, y, STYLE_SIDE_B) > 0;
        }
        buf_clear(&title);
        VIEW_PROFILE.title(&session, SIDE_B, &title);
        assert_non_null(strstr(title.data, own ? "A and B each on its own scale" : "one scale for A and B"));
    }
    assert_true(lines[0][0] < TALL && lines[0][1] == TALL); /* the row is sharper without the scale */
    assert_true(lines[1][0] == TALL && lines[1][1] == TALL);
    session.look.range = RANGE_SHARED;
    session.compare = COMPARE_OFF;
    buf_free(&title);
    canvas_free(&c);
    edit(NULL);
}

/* The first line of the view that has these words, or "". */
static void line_with(const ViewSpec *view, Side side, Rect r, const char *words, char text[400])
{
    Canvas c;
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    drawn_prepare(&session, view, side, r);
    view_draw(view, &p, r, side, false);
    *text = 0;
    for (int y = 0; y < r.h && !strstr(text, words); y++)
        line_text(&c, y, text);
    if (!strstr(text, words))
        *text = 0;
    canvas_free(&c);
}

/* A and B of a tensor have one scale and one map, signed if either is, unless the reader asks for each its own. */
static void sides_share_their_colours(void **state)
{
    (void)state;
    char a[400], b[400];
    Rect r = {0, 0, 36, 58};
    Canvas c;
    Tensor t[SIDE_DIFF + 1];
    edit("set scale off");
    session.compare = COMPARE_SIDES;
    focus("blocks.1.mlp.post");
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    for (int own = 0; own < 2; own++) {
        ColourScale s[SIDE_DIFF + 1];
        session.look.range = own ? RANGE_OWN : (LookAt){0}.range;
        for (Side side = SIDE_A; side <= SIDE_B; side++)
            drawn_prepare(&session, &VIEW_TENSOR, side, r);
        for (Side side = SIDE_A; side <= SIDE_B; side++) {
            assert_true(tensor_open(&session, side, "blocks.1.mlp.post", &t[side]) && t[side].v.values);
            s[side] = colour_scale_of_spread(&p, side, &t[side].spread);
            assert_true(s[side].shared == !own && s[side].own == own);
        }
        assert_true(t[SIDE_A].spread.max != t[SIDE_B].spread.max);
        assert_true((s[SIDE_A].high == s[SIDE_B].high) == !own);
        assert_true(own || (s[SIDE_A].map == s[SIDE_B].map && s[SIDE_A].low == s[SIDE_B].low));
        const Rect wide = {0, 0, 36, 90}; /* with the scale of lengths beside their title */
        line_with(&VIEW_ALIKE, SIDE_A, wide, "length of", a);
        line_with(&VIEW_ALIKE, SIDE_B, wide, "length of", b);
        line_with(&VIEW_ALIKE, SIDE_A, wide, "length of", a); /* B is computed now */
        assert_true(strstr(a, "length") && (strcmp(a, b) == 0) == !own);
    }
    session.look.range = RANGE_SHARED;
    line_with(&VIEW_NEURON, SIDE_B, r, "it writes", b);
    line_with(&VIEW_NEURON, SIDE_DIFF, r, "it writes", a);
    assert_true(*b && !*a); /* A − B of weights that nobody changed */
    session.compare = COMPARE_OFF;
    canvas_free(&c);
    edit(NULL);
    focus("blocks.1.attn.pattern");
}

/* A, B and A − B show the same classes, the one that changed most among them, in the same order; and few lines. */
static void lens_has_the_same_classes(void **state)
{
    (void)state;
    enum { NARROW = 26 };
    char line[400], first[SIDE_DIFF + 1][2][32] = {{{0}}}, most[64];
    edit("set scale off");
    session.compare = COMPARE_SIDES;
    for (int k = 0; k < 2; k++)
        for (Side side = SIDE_A; side <= SIDE_DIFF; side++)
            line_with(&VIEW_LENS, side, (Rect){0, 0, 13, NARROW - 2 * (side != SIDE_DIFF)}, "  ", line),
                assert_int_equal(sscanf(line, "%31s %31s", first[side][0], first[side][1]), 2);
    Shown v;
    assert_true(shown_answer(&session, SIDE_DIFF, shown_site(&session, SIDE_DIFF, SITE_PROBS), &v) && v.values);
    classes_name(&v, ranking_best((Ranking){v.values, v.count, true}), most, sizeof most);
    for (Side side = SIDE_A; side <= SIDE_DIFF; side++) {
        assert_string_equal(first[side][0], most);
        assert_string_equal(first[side][1], first[SIDE_A][1]);
    }
    char ends[SIDE_DIFF + 1][400]; /* the upper end of the axis: one for A and B */
    for (int k = 0; k < 2; k++)
        for (Side side = SIDE_A; side <= SIDE_B; side++) {
            Canvas c;
            Rect r = {0, 0, 40, 50};
            Paint p = open_canvas(&c, r.h, r.w, MODE_256);
            drawn_prepare(&session, &VIEW_LENS, side, r);
            view_draw(&VIEW_LENS, &p, r, side, false);
            line_text(&c, 1, ends[side]);
            ends[side][6] = '\0';
            canvas_free(&c);
        }
    assert_true(atof(ends[SIDE_A]) > 0);
    assert_string_equal(ends[SIDE_A], ends[SIDE_B]);
    session.compare = COMPARE_OFF;
    edit(NULL);
}

/* The value under the cursor is that of the patch in brackets, wherever the cursor came from. */
static void the_brackets_have_the_value(void **state)
{
    (void)state;
    const Graph *g = session_graph(&session, SIDE_B);
    Rect r = {0, 0, 34, 76};
    Err err;
    Commands set = session_command_set();
    static const char *const LINES[] = {"view positions", "move down", "goto pos_cosine[p=r2c3,p0=r5c6]",
                                        "goto pos_cosine[p=r1c1]", "view heat; move left; view positions"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        char line[96];
        snprintf(line, sizeof line, "%s", LINES[i]);
        if (strncmp(line, "goto", 4) == 0)
            snprintf(line, sizeof line, "goto %s%s; view positions", site_path_any(g, SITE_POSITION_COSINE),
                     strchr(LINES[i], '['));
        if (!command_do(&session, &set, line, LINE_OWN, &err))
            fail_msg("%s: %s", line, err.text);
        Canvas c;
        Shown v;
        Paint p = open_canvas(&c, r.h, r.w, MODE_256);
        drawn_prepare(&session, &VIEW_POSITIONS, SIDE_B, r);
        view_draw(&VIEW_POSITIONS, &p, r, SIDE_B, true);
        assert_true(shown_open(&session, SIDE_B, site_path_any(g, SITE_POSITION_COSINE), &v) && v.values);
        int marks = 0;
        for (int k = 0; k < r.h * r.w; k++)
            if (c.cells[k].ch == '[') {
                assert_int_equal(c.cells[k].ref.cell, v.cell);
                marks++;
            }
        assert_int_equal(marks, 1);
        canvas_free(&c);
    }
    commands_free(&set);
}

/* --- explain --- */
static bool screen_has(Canvas *c, const char *what)
{
    char text[2048];
    for (int y = 0; y < c->h; y++) {
        line_text(c, y, text);
        if (strstr(text, what))
            return true;
    }
    return false;
}

/* What the close-up's steps are: its products, so many at once, and its results; all of them, in every contraction. */
static void steps_add_up(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int products, results;
    } OF[] = {{"blocks.0.attn.scores_raw", 16, 1},
              {"blocks.0.attn.q", 64, 2},
              {"blocks.0.attn.z", 65, 1},
              {"blocks.1.mlp.out", 128, 2}};
    session.place.screen = SCREEN_CLOSEUP;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        Canvas c;
        Rect r = {0, 0, 30, 150}; /* beside how many values a bar has */
        char text[2048];
        int products = 0, at_once = 1, results = 0, steps = 0;
        Paint p = open_canvas(&c, r.h, r.w, MODE_256);
        focus(OF[i].path);
        drawn_prepare(&session, &VIEW_CLOSEUP, SIDE_A, r);
        view_draw(&VIEW_CLOSEUP, &p, r, SIDE_A, true);
        for (int y = 0; y < 4; y++) {
            line_text(&c, y, text);
            const char *at = strstr(text, " products");
            while (at && at > text && isdigit((unsigned char)at[-1]))
                at--;
            if (at &&
                sscanf(at, "%d products by %d + %d result%*[s:] %d steps", &products, &at_once, &results, &steps) < 4)
                sscanf(at, "%d products + %d result%*[s:] %d steps", &products, &results, &steps);
        }
        canvas_free(&c);
        assert_int_equal(products, OF[i].products);
        assert_int_equal(results, OF[i].results);
        assert_int_equal(steps, (products + at_once - 1) / at_once + results);
    }
}

/* In a low pane every row of colours says the number at the cursor; and none runs into the 0 of an axis. */
static void rows_say_their_number(void **state)
{
    (void)state;
    static const char *const ROWS[] = {"resid_pre", "centered", "normalized", "gamma", "scaled", "beta"};
    session.place.screen = SCREEN_CLOSEUP;
    focus("blocks.0.ln1.out");
    for (int w = 70; w <= 110; w++) {
        Canvas c;
        Rect r = {0, 0, w == 78 ? 17 : 34, w};
        char text[2048];
        size_t said = 0;
        Paint p = open_canvas(&c, r.h, r.w, MODE_256);
        drawn_prepare(&session, &VIEW_CLOSEUP, SIDE_A, r);
        view_draw(&VIEW_CLOSEUP, &p, r, SIDE_A, true);
        for (int y = 2; y < r.h; y++) {
            line_text(&c, y, text);
            for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
                const char *at = strstr(text, ROWS[i]), *number = at ? strpbrk(at, "0123456789") : NULL;
                said += number && number - text < 20 && strchr(number, '.') && strchr(number, '.') - number < 4;
            }
            for (int x = 1; x + 1 < w; x++) {
                const uint32_t next = canvas_at(&c, y, x + 1)->ch;
                if (canvas_at(&c, y, x)->ch == '0' && next >= 0x2581 && next <= 0x2588)
                    assert_false(isdigit((int)(canvas_at(&c, y, x - 1)->ch & 0x7f)));
            }
        }
        canvas_free(&c);
        assert_true(w != 78 || said >= sizeof ROWS / sizeof *ROWS);
    }
}

/* Where a row goes below zero all rows of a close-up have its map of colours: one key is the key of each. */
static void rows_share_a_map(void **state)
{
    (void)state;
    static const char *const OF[] = {"blocks.0.ln1.out", "blocks.1.attn.pattern", "blocks.0.attn.q"};
    Canvas c;
    Paint p = open_canvas(&c, 1, 1, MODE_256);
    int positive = 0;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        const Closeup *steps;
        Rect r = {0, 0, 17, 78};
        focus(OF[i]);
        drawn_prepare(&session, &VIEW_CLOSEUP, SIDE_A, r);
        const NodeId n = session_node(&session, SIDE_A, OF[i]);
        assert_true(explained_closeup(&session, SIDE_A, n, session_cell(&session, SIDE_A, n), &steps) && steps);
        for (int k = 0; k < steps->count; k++) {
            double low, high;
            closeup_range(&steps->line[k], &low, &high);
            const ColourScale scale = closeup_scale(&p, steps, &steps->line[k]);
            positive += low >= 0 && steps->line[k].count > 1;
            assert_true(scale.is_signed || steps->line[k].count < 2 || !(high > 0));
            assert_true((double)scale.high >= high);
        }
    }
    canvas_free(&c);
    assert_true(positive > 3);
}

/* What a formula is made of stands behind it in numbers; on a large screen the row's steps fill what maps leave. */
static void formulas_are_filled_in(void **state)
{
    (void)state;
    static const int LINES[] = {17, 50};
    for (int i = 0; i < 2; i++) {
        Canvas c;
        Rect r = {0, 0, LINES[i], i ? 148 : 78};
        char sum[32], text[64];
        Paint p = open_canvas(&c, r.h, r.w, MODE_256);
        session.place.term = 0;
        session.place.operand = 0;
        focus("blocks.1.attn.pattern");
        drawn_prepare(&session, &VIEW_EXPLAIN, SIDE_A, r);
        view_draw(&VIEW_EXPLAIN, &p, r, SIDE_A, true);
        const NodeId n = session_node(&session, SIDE_A, "blocks.1.attn.pattern");
        const Explanation *e = explained_cell(&session, SIDE_A, n, session_cell(&session, SIDE_A, n), 1);
        assert_true(e && e->line_count == 1 && e->lines[0].operands == 2);
        number_text(sum, sizeof sum, e->lines[0].value[1], 12);
        snprintf(text, sizeof text, " / %s", sum);
        assert_true(screen_has(&c, text));
        assert_int_equal(screen_has(&c, "sum so far"), i);
        canvas_free(&c);
    }
}

/* Below a small map stand its axes with their ends, how far its colours go, and how many share a cell of it. */
static void maps_say_their_axes(void **state)
{
    (void)state;
    Canvas c;
    char text[2048];
    Rect r = {0, 0, 17, 78};
    bool ends = false, heads = false, shared = false, lit = false;
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    session.place.term = 0;
    session.place.operand = 0;
    focus("blocks.1.attn.pattern");
    drawn_prepare(&session, &VIEW_EXPLAIN, SIDE_A, r);
    view_draw(&VIEW_EXPLAIN, &p, r, SIDE_A, true);
    for (int y = 0; y < r.h; y++) {
        line_text(&c, y, text);
        ends = ends || strstr(text, "u cls…r7c7");
        heads = heads || strstr(text, "h 0…3");
        shared = shared || strstr(text, "×2 a cell");
        lit = lit || strstr(text, "lit:");
    }
    canvas_free(&c);
    if (!ends || !heads || !shared || !lit)
        fail_msg("axes %d, heads %d, shared %d, lit %d", ends, heads, shared, lit);
}

static void explain_every_kind(void **state)
{
    (void)state;
    const Graph *g = session_graph(&session, SIDE_A);
    int numbers = 0, kinds[OP_COUNT] = {0};
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (strncmp(node->path, "blocks.", 7) == 0 && strncmp(node->path, "blocks.2.", 9) != 0)
            continue;
        focus(node->path);
        session.place.term = (size_t)n % 5;
        session.place.operand = n % 3;
        numbers += draw_checked(&VIEW_EXPLAIN, SIDE_A, 17, 78, MODE_256, false);
        numbers += draw_checked(&VIEW_EXPLAIN, SIDE_A, 8, 40, MODE_MONO, true);
        draw_checked(&VIEW_EXPLAIN, SIDE_A, 1 + n % 9, 1 + n % 23, MODE_256, false);
        kinds[node->op]++;
        Canvas c;
        Paint p = open_canvas(&c, 17, 78, MODE_256);
        view_draw(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, true);
        float value = session_peek(&session, SIDE_A, node->path)[session_cell(&session, SIDE_A, n)];
        uint32_t bits;
        char hex[32];
        memcpy(&bits, &value, sizeof bits);
        snprintf(hex, sizeof hex, "(%08x)", (unsigned)bits);
        if (node->op == OP_LEAF)
            assert_true(screen_has(&c, "Here the arithmetic begins."));
        else
            assert_true(screen_has(&c, "equal, bit for bit ✓") && screen_has(&c, hex));
        canvas_free(&c);
    }
    assert_true(numbers > 800);
    assert_true(kinds[OP_CONTRACT] && kinds[OP_SUM] && kinds[OP_MAX] && kinds[OP_MAP] && kinds[OP_DIV] &&
                kinds[OP_LEAF] && kinds[OP_CONCAT]);
    focus("blocks.1.attn.pattern");
}

/* In 40 × 8 there are fewer columns but every number has all its digits. */
static void digits_are_never_dropped(void **state)
{
    (void)state;
    focus("blocks.1.attn.scores_raw");
    for (size_t term = 0; term < 16; term++)
        for (int w = 16; w <= 44; w++) {
            Canvas c;
            session.place.term = term;
            Paint p = open_canvas(&c, 8, w, MODE_256);
            drawn_prepare(&session, &VIEW_EXPLAIN, SIDE_A, c.clip);
            view_draw(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, true);
            int found = 0;
            for (int y = 0; y < c.h; y++)
                for (int x = 0; x < c.w; x++) {
                    Ref ref = canvas_at(&c, y, x)->ref;
                    if (!ref.run || (x > 0 && canvas_at(&c, y, x - 1)->ref.node == ref.node &&
                                     canvas_at(&c, y, x - 1)->ref.cell == ref.cell))
                        continue;
                    char full[32], text[32] = "";
                    const Graph *g = session_graph(&session, SIDE_A);
                    number_text(full, sizeof full,
                                session_peek(&session, SIDE_A, graph_node(g, ref.node)->path)[ref.cell], 12);
                    for (size_t i = 0; i < strlen(full) && x + (int)i < c.w; i++)
                        text[i] = (char)canvas_at(&c, y, x + (int)i)->ch;
                    assert_string_equal(text, full);
                    found++;
                }
            assert_true(found >= 2); /* an operand and the stored value */
            canvas_free(&c);
        }
    session.place.term = 0;
    focus("blocks.1.attn.pattern");
}

static void the_path_stays(void **state)
{
    (void)state;
    Canvas c;
    session.back_count = 0;
    session.place.screen = SCREEN_EXPLAIN;
    focus("probs");
    place_push(&session);
    focus("logits");
    place_push(&session);
    focus("readout");
    Paint p = open_canvas(&c, 17, 100, MODE_256);
    drawn_prepare(&session, &VIEW_EXPLAIN, SIDE_A, c.clip);
    view_draw(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, true);
    assert_true(screen_has(&c, "probs[") && screen_has(&c, " ‹ logits[") && screen_has(&c, " ‹ readout["));
    assert_true(drawn_numbers(&session, &c) >= 5);
    canvas_free(&c);
    for (int i = 0; i < SESSION_BACK + 9; i++) /* a long walk: the first and the last remain */
        place_push(&session);
    p = open_canvas(&c, 17, 60, MODE_256);
    view_draw(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, true);
    assert_true(screen_has(&c, "…") && screen_has(&c, " ‹ readout["));
    canvas_free(&c);
    session.back_count = 0;
    focus("blocks.1.attn.pattern");
}

/* "9 more" has what those nine come to beside it: with the rows above it, the number itself. */
static void what_is_left_out_adds_up(void **state)
{
    (void)state;
    int checked = 0;
    focus("blocks.1.attn.scores_raw");
    NodeId n = session_node(&session, SIDE_A, "blocks.1.attn.scores_raw");
    for (int h = 6; h <= 14; h++)
        for (size_t term = 0; term < 16; term += 5) {
            Canvas c;
            char text[2048];
            session.place.term = term;
            Paint p = open_canvas(&c, h, 78, MODE_256);
            drawn_prepare(&session, &VIEW_EXPLAIN, SIDE_A, c.clip);
            view_draw(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, true);
            double sum = 0, most = 0;
            bool more = false;
            for (int y = 0; y < h && !more; y++) {
                line_text(&c, y, text);
                more = strstr(text, " more") != NULL;
                const Explanation *e = explained_cell(&session, SIDE_A, n, session_cell(&session, SIDE_A, n), 1);
                Ref ref = {0};
                for (int x = 0; x < c.w && !ref.run; x++)
                    ref = canvas_at(&c, y, x)->ref;
                for (size_t i = 0; !more && i < e->line_count; i++) /* the row's first operand says which term it is */
                    if (ref.run && e->lines[i].ref[0].node == ref.node && e->lines[i].ref[0].cell == ref.cell) {
                        sum += (double)e->lines[i].contribution;
                        most = fmax(most, fabs((double)e->lines[i].contribution));
                    }
            }
            char *last = more ? strrchr(text, ' ') : NULL;
            while (last && last > text && last[1] == '\0') { /* blanks at the end */
                *last = '\0';
                last = strrchr(text, ' ');
            }
            if (last && is_number_text(last + 1)) {
                double stored = (double)session_peek(&session, SIDE_A,
                                                     "blocks.1.attn.scores_raw")[session_cell(&session, SIDE_A, n)];
                if (fabs(sum + strtod(last + 1, NULL) - stored) > half_unit(last + 1) + 4e-6 * most)
                    fail_msg("%d lines, term %zu: %.9g shown and %s more are not %.9g", h, term, sum, last + 1, stored);
                checked++;
            }
            canvas_free(&c);
        }
    assert_true(checked >= 10);
    session.place.term = 0;
    focus("blocks.1.attn.pattern");
}

static void a_click_chooses_the_operand(void **state)
{
    (void)state;
    focus("blocks.1.attn.scores_raw");
    Canvas c;
    Paint p = open_canvas(&c, 17, 70, MODE_256); /* without maps, whose cells are places to go to */
    drawn_prepare(&session, &VIEW_EXPLAIN, SIDE_A, c.clip);
    view_draw(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, true);
    NodeId k_node = session_node(&session, SIDE_A, "blocks.1.attn.k");
    int line = 0, lines = 0;
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            Ref ref = canvas_at(&c, y, x)->ref;
            if (!ref.run || ref.node != k_node || (x > 0 && canvas_at(&c, y, x - 1)->ref.run))
                continue;
            Buf command = {0};
            char wanted[96];
            assert_true(view_click(&VIEW_EXPLAIN, &p, c.clip, SIDE_A, y, x, &command));
            snprintf(wanted, sizeof wanted, "; move down %d", line);
            assert_true(line == 0 || strstr(buf_str(&command), wanted));
            assert_non_null(strstr(buf_str(&command), "; move right 1"));
            buf_free(&command);
            line++;
            lines++;
        }
    assert_true(lines >= 5);
    canvas_free(&c);
    focus("blocks.1.attn.pattern");
}

/* --- other models --- */
static void plain_model(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    c.image_h = 24;
    c.image_w = 40;
    c.patch_h = c.patch_w = 8;
    c.width = 8;
    c.layers = 1;
    c.heads = 1;
    c.head_dim = 8;
    c.scale = vit_scale(8);
    c.mlp = 16;
    c.classes = 3;
    c.cls = false;
    c.pos = VIT_POS_NONE;
    c.pool = VIT_POOL_MEAN;
    open_config(&c);
    focus("blocks.0.attn.pattern");
    for (int i = 0; i < VIEW_SPECS; i++)
        draw_all(VIEWS[i], SIDE_A);
    Attend a;
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    assert_true(a.u.prefix == 0 && a.u.rows == 3 && a.u.cols == 5 && a.heads == 1);
    Canvas canvas;
    Paint p = open_canvas(&canvas, 10, 100, MODE_256);
    view_draw(&VIEW_POSITIONS, &p, canvas.clip, SIDE_A, true);
    assert_true(screen_has(&canvas, "no table of position embeddings"));
    canvas_free(&canvas);
    session_free(&session);
}

static void model_with_registers(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    c.image_h = 32;
    c.image_w = 48;
    c.patch_h = c.patch_w = 8;
    c.width = 12;
    c.layers = 2;
    c.heads = 3;
    c.head_dim = 4;
    c.scale = vit_scale(4);
    c.mlp = 16;
    c.classes = 3;
    c.registers = 4;
    open_config(&c);
    focus("blocks.1.attn.pattern");
    Attend a;
    assert_true(attend_open(&session, SIDE_A, -1, &a));
    assert_true(a.u.prefix == 5 && a.u.rows == 4 && a.u.cols == 6 && a.heads == 3);
    int u = graph_axis_find(session_base(&session), "u"), t = graph_axis_find(session_base(&session), "t");
    for (int token = 0; token < 29; token += 7) { /* the cursor on a register too */
        session.place.at[u] = token;
        session.place.at[t] = 28 - token;
        for (int i = 0; i < VIEW_SPECS; i++)
            draw_all(VIEWS[i], SIDE_A);
    }
    session_free(&session);
}

/* Is that cell of A − B on the screen? */
static bool shows_cell(const ViewSpec *v, int h, int w, size_t cell)
{
    Canvas c;
    Rect r = {0, 0, h, w};
    Paint p = open_canvas(&c, h, w, MODE_MONO);
    c.ascii = true; /* a cell of the screen is one drawn cell */
    drawn_prepare(&session, v, SIDE_DIFF, r);
    view_draw(v, &p, r, SIDE_DIFF, true);
    bool found = false;
    for (int i = 0; i < h * w; i++)
        found = found || (c.cells[i].ref.run == SIDE_DIFF && (c.cells[i].level || *session.look.map) &&
                          c.cells[i].ref.cell == cell); /* on a map without a zero the least is its dark end */
    canvas_free(&c);
    return found;
}

/* However coarse it is drawn, the largest change is on the screen, whichever its sign. */
static void pooled_changes_keep_the_largest(void **state)
{
    (void)state;
    edit("set scale off");
    session.compare = COMPARE_DIFF;
    session.place.at[graph_role(session_graph(&session, SIDE_B), ROLE_HEAD, SEQUENCE_ANY)] = 2;
    Attend a;
    drawn_prepare(&session, &VIEW_MATRIX, SIDE_DIFF, (Rect){0, 0, 40, 100});
    assert_true(attend_open(&session, SIDE_DIFF, -1, &a) && a.v.values);
    size_t most = attend_cell(&a, 2, 0, 0);
    int asks = 0;
    for (int t = 0; t < a.t_axis->n; t++)
        for (int u = 0; u < a.u_axis->n; u++) {
            size_t cell = attend_cell(&a, 2, t, u);
            if (fabsf(a.v.values[cell]) > fabsf(a.v.values[most])) {
                most = cell;
                asks = t;
            }
        }
    assert_true(a.v.values[most] < -0.5F);                      /* the largest by value would not have it */
    static const char *const MAPS[] = {"", "magma", "viridis"}; /* in a map that the reader chose, too */
    for (int i = 0; i < 6; i++) {
        session.look.pool = i % 2 ? 4 : 2;
        snprintf(session.look.map, sizeof session.look.map, "%s", MAPS[i / 2]);
        assert_true(shows_cell(&VIEW_MATRIX, 40, 100, most));
    }
    session.look.pool = 0;
    *session.look.map = '\0';
    session.place.at[graph_role(session_graph(&session, SIDE_B), ROLE_QUERY, SEQUENCE_ANY)] = asks;
    assert_true(shows_cell(&VIEW_SHEET, 40, 100, most));
    assert_true(shows_cell(&VIEW_SHEET, 80, 200, most));
}

/* A class's line has a dot of A's value and one of B's, as far along as they are large, and a line between them. */
static void a_line_is_the_way_from_a_to_b(int w)
{
    Canvas c;
    Shown v[2];
    enum { H = 12 };
    Paint p = open_canvas(&c, H, w, MODE_256);
    const char *probs = shown_site(&session, SIDE_B, SITE_PROBS);
    view_draw(&VIEW_ANSWER, &p, c.clip, SIDE_B, false);
    assert_true(shown_answer(&session, SIDE_A, probs, &v[0]) && shown_answer(&session, SIDE_B, probs, &v[1]));
    int zero = w, most = 0, ways = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int y = 1; y < H; y++) {
            int at[2] = {-1, -1};
            size_t class = 0;
            for (int x = 0; x < w; x++) {
                const Cell *k = canvas_at(&c, y, x);
                if (k->ch != 0x25cb && k->ch != 0x25cf && k->ch != 0x25c9)
                    continue;
                at[k->ref.run - SIDE_A] = x;
                at[0] = k->ch == 0x25c9 ? x : at[0]; /* one dot in the other */
                class = k->ref.cell;
                zero = x < zero ? x : zero;
                most = x > most ? x : most;
            }
            if (!pass || at[1] < 0)
                continue;
            assert_true(at[0] >= 0);
            for (int k = 0; k < 2; k++) {
                double want = (double)v[k].values[class];
                assert_true(fabs((double)(at[k] - zero) / (most - zero) - want) < 0.6 / (most - zero) + 0.001);
            }
            for (int x = at[0] < at[1] ? at[0] + 1 : at[1] + 1; x < at[0] || x < at[1]; x++, ways++)
                assert_int_equal(canvas_at(&c, y, x)->ch, 0x2500);
        }
    assert_true(ways > (most - zero) * 3 / 2); /* square goes, heart and ring come */
    canvas_free(&c);
}

/* A − B of an answer begins with what changed most, whichever its sign; the cursor leaves the bars to be seen. */
static void answers_are_listed_by_change(void **state)
{
    (void)state;
    Err err;
    Canvas c;
    Rect r = {0, 0, 12, 40};
    assert_true(session_open_input(&session, "#66", &err));
    edit("set scale off");
    session.compare = COMPARE_SIDES;
    drawn_prepare(&session, &VIEW_ANSWER, SIDE_DIFF, r);
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    view_draw(&VIEW_ANSWER, &p, r, SIDE_DIFF, false);
    Shown v;
    assert_true(shown_answer(&session, SIDE_DIFF, shown_site(&session, SIDE_DIFF, SITE_PROBS), &v) && v.values);
    float last = INFINITY, most = 0;
    for (size_t i = 0; i < v.count; i++)
        most = fmaxf(most, fabsf(v.values[i]));
    int seen = 0;
    for (int y = 0; y < r.h; y++)
        for (int x = 0; x < r.w; x++)
            if (canvas_at(&c, y, x)->ref.run == SIDE_DIFF) {
                float size = fabsf(v.values[canvas_at(&c, y, x)->ref.cell]);
                assert_true(size <= last && (seen || size == most));
                last = size;
                seen++;
                break;
            }
    assert_int_equal(seen, v.count);
    canvas_free(&c);
    a_line_is_the_way_from_a_to_b(90);
    a_line_is_the_way_from_a_to_b(40);
    edit(NULL);
    session.compare = COMPARE_OFF;
    const char *probs = shown_site(&session, SIDE_B, SITE_PROBS);
    assert_true(session_go(&session, probs, SCREEN_ANSWER, NULL));
    drawn_prepare(&session, &VIEW_ANSWER, SIDE_B, r);
    assert_true(shown_answer(&session, SIDE_B, probs, &v) && v.values);
    session.place.at[graph_node(v.graph, v.node)->dims.axis[0]] = (int)classes_best(v.values, v.count);
    drawn_prepare(&session, &VIEW_ANSWER, SIDE_B, r);
    p = open_canvas(&c, r.h, r.w, MODE_256);
    view_draw(&VIEW_ANSWER, &p, r, SIDE_B, true);
    int bars = 0;
    assert_true(c.cursor_y >= 0);
    for (int x = 0; x < r.w; x++) /* of the class that leads */
        if (canvas_at(&c, c.cursor_y, x)->ch == 0x2588) {
            assert_int_not_equal(canvas_at(&c, c.cursor_y, x)->style, STYLE_SELECTED);
            bars++;
        }
    assert_true(bars > 3);
    canvas_free(&c);
}

/* Does the line have a value of that side's cell? */
static bool line_has(Canvas *c, int y, Side side, size_t cell)
{
    bool has = false;
    for (int x = 0; x < c->w; x++) {
        const Ref ref = canvas_at(c, y, x)->ref;
        has = has || (ref.run == (int)side && ref.cell == cell);
    }
    return has;
}

static int open_tired(void **state)
{
    (void)state;
    Err err;
    if (!session_init(&session, "translator", "the animal did not cross the street because it was too tired", 1, NULL,
                      NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

/* What was tired or wide is an animal or a street: behind qu' the two pronouns change most, with both runs' values. */
static void pronouns_change_most(void **state)
{
    (void)state;
    static const char *const WORD[] = {"elle", "il"}; /* by how much they change */
    Err err;
    Canvas c;
    Commands commands = session_command_set();
    if (!command_do(&session, &commands,
                    "pin; open \"the animal did not cross the street because it was too wide\"; goto probs[t=qu']; "
                    "view answer; compare diff",
                    ~0U, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    const Graph *g = session_graph(&session, SIDE_B);
    const char *probs = shown_site(&session, SIDE_B, SITE_PROBS);
    const Dims d = graph_node(g, graph_find(g, probs))->dims;
    const Axis *word = &g->axes[d.axis[1]];
    const size_t words = (size_t)word->n, row = (size_t)session.place.at[d.axis[0]] * words;
    int which[2];
    for (int k = 0; k < 2; k++)
        assert_true(axis_parse(word, WORD[k], &which[k]));
    for (int w = 40; w <= 100; w += 30) {
        const Rect r = {0, 0, 16, w};
        drawn_prepare(&session, &VIEW_ANSWER, SIDE_DIFF, r);
        Paint p = open_canvas(&c, r.h, r.w, MODE_256);
        view_draw(&VIEW_ANSWER, &p, r, SIDE_DIFF, false);
        const float *a = session_peek(&session, SIDE_A, probs), *b = session_peek(&session, SIDE_B, probs);
        Shown v;
        assert_true(a && b && shown_answer(&session, SIDE_DIFF, probs, &v) && v.values);
        for (int k = 0; k < 2; k++) {
            const size_t cell = row + (size_t)which[k];
            const float *names = k ? a : b, *other = k ? b : a;
            assert_int_equal(classes_best(names + row, words), which[k]);
            assert_true(names[cell] > 0.85F && other[cell] < 0.01F);
            assert_true(v.values[which[k]] == a[cell] - b[cell]);
            for (int side = SIDE_A; side <= SIDE_DIFF; side++)
                assert_true(line_has(&c, 1 + k, (Side)side, cell));
            for (size_t o = 0; o < words; o++)
                assert_true((int)o == which[0] || (int)o == which[k] ||
                            fabsf(a[row + o] - b[row + o]) < fabsf(a[cell] - b[cell]));
        }
        assert_true(fabsf(v.values[which[0]]) > fabsf(v.values[which[1]]));
        assert_true(drawn_numbers(&session, &c) >= 6); /* each is its cell's value */
        canvas_free(&c);
    }
}

/* A head that is off has the pattern that it had: its tile on B and A − B says so, and no other one; so do the titles
 * of its row and matrix, and of no other head's. */
static void heads_that_are_off_say_so(void **state)
{
    (void)state;
    Canvas c;
    Err err;
    assert_true(session_open_input(&session, "#66", &err));
    edit("ablate blocks.1.attn.z[h=2]");
    session.compare = COMPARE_SIDES;
    static const ViewSpec *const OF_ONE[] = {&VIEW_ROW, &VIEW_MATRIX};
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
            Rect r = {0, 0, SIZES[i][0], SIZES[i][1]};
            int found = 0;
            if (r.h < 16 || r.w < 24)
                continue;
            drawn_prepare(&session, &VIEW_SHEET, (Side)side, r);
            Paint p = open_canvas(&c, r.h, r.w, MODE_256);
            view_draw(&VIEW_SHEET, &p, r, (Side)side, true);
            for (int y = 0; y < r.h; y++)
                for (int x = 0; x + 2 < r.w; x++)
                    found += canvas_at(&c, y, x)->style == STYLE_EDITED && canvas_at(&c, y, x)->ch == 'o' &&
                             canvas_at(&c, y, x + 1)->ch == 'f' && canvas_at(&c, y, x + 2)->ch == 'f';
            assert_int_equal(found, side != SIDE_A);
            canvas_free(&c);
        }
    const Graph *g = session_base(&session);
    const int heads = graph_role(g, ROLE_HEAD, SEQUENCE_ANY);
    for (int head = 1; head <= 2; head++)
        for (int k = 0; k < 2; k++)
            for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
                Buf title = {0};
                session.place.at[heads] = head;
                OF_ONE[k]->title(&session, (Side)side, &title);
                assert_int_equal(strncmp(buf_str(&title), "off: ", 5) == 0, head == 2 && side != SIDE_A);
                buf_free(&title);
            }
    edit(NULL);
    session.compare = COMPARE_OFF;
}

/* A logit's bar goes from the line at 0 to its own side, and all are of one scale. */
static void logit_bars_begin_at_zero(void **state)
{
    (void)state;
    Canvas c;
    Err err;
    Shown v;
    Rect r = {0, 0, 12, 90};
    assert_true(session_open_input(&session, "#17", &err));
    session.compare = COMPARE_OFF;
    drawn_prepare(&session, &VIEW_ANSWER, SIDE_A, r);
    Paint p = open_canvas(&c, r.h, r.w, MODE_256);
    view_draw(&VIEW_ANSWER, &p, r, SIDE_A, false);
    assert_true(shown_answer(&session, SIDE_A, shown_site(&session, SIDE_A, SITE_LOGITS), &v) && v.values);
    const Ref at = shown_ref(&v, 0);
    int zero = -1, lines[2] = {0, 0};
    double cell = 0; /* cells of 1, of the largest */
    for (int y = 0; y < r.h; y++) {
        int line = -1, filled[2] = {0, 0};
        size_t k = 0;
        for (int x = 0; x < r.w; x++) {
            const Cell *of = canvas_at(&c, y, x);
            if (of->ref.run != at.run || of->ref.node != at.node)
                continue;
            k = of->ref.cell;
            line = of->ch == 0x2502 ? x : line;
            filled[line >= 0] += of->ch >= 0x2588 && of->ch <= 0x2595;
        }
        if (line < 0)
            continue;
        assert_true(zero < 0 || line == zero);
        zero = line;
        const double x = (double)v.values[k];
        cell = cell > 0 ? cell : filled[1] / x;
        assert_int_equal(filled[x < 0], 0);
        assert_true(fabs(filled[x > 0] - cell * fabs(x)) < 1.5);
        lines[x > 0]++;
    }
    assert_int_equal(lines[0] + lines[1], (int)v.count);
    assert_true(lines[0] > 2 && lines[1] > 2 && canvas_at(&c, 0, zero)->ch == '0');
    canvas_free(&c);
}

/* Whatever else changed more, a short list of A − B has what A and what B answers: one line of B's, two of both. */
static void short_lists_have_both_answers(void **state)
{
    (void)state;
    Canvas c;
    static const char *const EDITS[][3] = {{"set probs[o=frame] 0.3", "set probs[o=arrow] 0.4",
                                            "set probs[o=heart] 0.35"},
                                           {"set probs[o=frame] 0.9", "set probs[o=star] 0.95",
                                            "set probs[o=heart] 0.96"}};
    static const int OF_B[] = {0, 1}; /* is B's answer another one than A's? */
    Err none;
    assert_true(session_open_input(&session, "#17", &none));
    for (int e = 0; e < 2; e++) {
        EditState edits = {0};
        Err err;
        for (int i = 0; i < 3; i++)
            edit_state_add(&edits, EDITS[e][i]);
        assert_true(edits_apply(&session, &edits, false, &err));
        edit_state_free(&edits);
        session.compare = COMPARE_SIDES;
        const char *probs = shown_site(&session, SIDE_B, SITE_PROBS);
        for (int h = 1; h <= 6; h++) {
            Rect r = {0, 0, h, 78};
            Shown v;
            size_t best[2];
            bool seen[2] = {false, false};
            drawn_prepare(&session, &VIEW_ANSWER, SIDE_B, r);
            for (int k = 0; k < 2; k++) {
                assert_true(shown_answer(&session, k ? SIDE_B : SIDE_A, probs, &v) && v.values);
                best[k] = classes_best(v.values, v.count);
            }
            assert_int_equal(best[0] != best[1], OF_B[e]);
            Paint p = open_canvas(&c, r.h, r.w, MODE_256);
            view_draw(&VIEW_ANSWER, &p, r, SIDE_B, false);
            for (int i = 0; i < r.h * r.w; i++)
                for (int k = 0; k < 2; k++)
                    seen[k] |= c.cells[i].ref.run == SIDE_DIFF && c.cells[i].ref.cell == best[k];
            int lines = h >= 3 ? h - 1 : h;
            assert_true(seen[1]);
            assert_true(seen[0] || lines < 2);
            canvas_free(&c);
        }
        edit(NULL);
    }
    session.compare = COMPARE_OFF;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tilings_keep_the_picture),
        cmocka_unit_test_setup_teardown(pooling_is_right, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(every_size, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(both_sides, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(masked_scores, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(matrix_shows_every_cell, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_low_pane_has_all_of_it_and_names_columns, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(steps_add_up, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rows_say_their_number, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rows_share_a_map, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(formulas_are_filled_in, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(maps_say_their_axes, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(unpooled_where_it_fits, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(tokens_stand_in_their_order, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(bars_stand_above_their_names, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(clicks_go_where_they_point, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(row_lies_on_the_picture, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(list_is_sorted_and_whole, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(profiles_say_their_side, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_profile_explains_what_it_shows, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(profiles_have_one_scale, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(sides_share_their_colours, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lens_has_the_same_classes, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_brackets_have_the_value, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(figures_compare, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(explain_every_kind, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(digits_are_never_dropped, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_path_stays, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(what_is_left_out_adds_up, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_click_chooses_the_operand, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(pooled_changes_keep_the_largest, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(answers_are_listed_by_change, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(pronouns_change_most, open_tired, close_session),
        cmocka_unit_test_setup_teardown(heads_that_are_off_say_so, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(logit_bars_begin_at_zero, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(short_lists_have_both_answers, open_bundled, close_session),
        cmocka_unit_test(plain_model),
        cmocka_unit_test(model_with_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
