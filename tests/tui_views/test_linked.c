/* Linked highlights: what an operation reads is lit in the tensors that it reads, the token under the cursor and the
 * one that asks are marked in every pane that shows them, and a row's shares are written on its patches on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/command.h"
#include "tests/tui_views/bundled.h"
#include "tui/views/attention/attend.h"

static int begin(void **state)
{
    (void)state;
    open_bundled();
    return 0;
}

static int end(void **state)
{
    (void)state;
    session_free(&session);
    return 0;
}

static void command(const char *line)
{
    Err err = {""};
    Commands set = session_command_set();
    if (!command_do(&session, &set, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
    commands_free(&set);
}

static void stand(const char *path, int head, int t, int u)
{
    assert_true(session_go(&session, path, session.place.screen, NULL));
    const Graph *g = session_base(&session);
    Dims d = graph_node(g, graph_find(g, path))->dims;
    const struct {
        AxisRole role;
        int at;
    } AXES[] = {{ROLE_HEAD, head}, {ROLE_QUERY, t}, {ROLE_KEY, u}};
    for (size_t i = 0; i < sizeof AXES / sizeof *AXES; i++) {
        int axis = dims_role(g, d, AXES[i].role);
        if (axis == AXIS_NONE)
            continue;
        session.place.at[axis] = AXES[i].at;
        session_sync(&session, axis);
    }
}

static Canvas drawn(const ViewSpec *v, int h, int w, ColourMode mode)
{
    Canvas c;
    Rect r = {0, 0, h, w};
    Needs needs = {0};
    v->needs(&session, SIDE_B, r, &needs);
    compute(&needs);
    canvas_init(&c, h, w);
    Paint p = {.s = &session, .c = &c, .mode = mode};
    view_draw(v, &p, r, SIDE_B, true);
    return c;
}

/* Of the map cells of that tensor: those of (token, head) are lit, all others dimmed, and there are both. */
static void lit_where(const Canvas *c, const char *path, AxisRole token, int at, int head)
{
    const Graph *g = session_base(&session);
    NodeId n = graph_find(g, path);
    Dims d = graph_node(g, n)->dims;
    int lit = 0, dimmed = 0;
    for (int i = 0; i < c->h * c->w; i++) {
        const Cell *k = &c->cells[i];
        int index[DIMS_MAX];
        if (!k->level || k->ref.node != n || !(k->attrs & (ATTR_BOLD | ATTR_DIM)))
            continue;
        dims_unravel(g->axes, d, k->ref.cell, index);
        bool read = index[dims_find(d, dims_role(g, d, token))] == at &&
                    index[dims_find(d, dims_role(g, d, ROLE_HEAD))] == head;
        assert_int_equal(read, (k->attrs & ATTR_BOLD) != 0);
        lit += read;
        dimmed += !read;
    }
    if (!lit || !dimmed)
        fail_msg("%s: %d cells lit, %d dimmed", path, lit, dimmed);
}

/* A score is of one row of q and one of k. The smallest is what is left of a screen of 80 × 24. */
static void both_operands_are_lit(void **state)
{
    (void)state;
    static const int EXPLAIN[][2] = {{18, 78}, {36, 88}, {54, 158}}, CLOSEUP[][2] = {{36, 88}, {54, 158}};
    for (int i = 0; i < 5; i++) {
        const ViewSpec *v = i < 3 ? &VIEW_EXPLAIN : &VIEW_CLOSEUP;
        const int *size = i < 3 ? EXPLAIN[i] : CLOSEUP[i - 3];
        session.place.screen = i < 3 ? SCREEN_EXPLAIN : SCREEN_CLOSEUP;
        for (int t = 0; t < 65; t += 13) {
            stand("blocks.1.attn.scores_raw", 2, t, 64 - t);
            Canvas c = drawn(v, size[0], size[1], MODE_MONO);
            lit_where(&c, "blocks.1.attn.q", ROLE_QUERY, t, 2);
            lit_where(&c, "blocks.1.attn.k", ROLE_KEY, 64 - t, 2);
            canvas_free(&c);
        }
    }
}

/* Of scores the largest lights its patch of the picture and the least does not, though both are below 0 or near it. */
static void scores_light_the_picture(void **state)
{
    (void)state;
    session.place.screen = SCREEN_TENSOR;
    stand("blocks.0.attn.scores_raw", 0, 37, 37);
    Canvas c = drawn(&VIEW_ROW, 22, 57, MODE_TRUE);
    Attend a;
    assert_true(attend_open(&session, SIDE_B, -1, &a) && a.v.values);
    float most = -INFINITY, least = INFINITY;
    int brightest[2] = {0, 0}; /* of the least, of the most */
    for (int u = a.u.prefix; u < a.u_axis->n; u++) {
        most = fmaxf(most, a.v.values[attend_cell(&a, a.head, a.at_t, u)]);
        least = fminf(least, a.v.values[attend_cell(&a, a.head, a.at_t, u)]);
    }
    assert_true(least < 0);
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        if (i % c.w < c.w / 2 || !k->ref.run || k->ref.node != a.v.node)
            continue;
        const float x = a.v.values[k->ref.cell];
        const int green = (int)(k->fg >> 8 & 0xff);
        if (x == most || x == least)
            brightest[x == most] = green > brightest[x == most] ? green : brightest[x == most];
    }
    if (brightest[1] < 200 || brightest[0] > 100)
        fail_msg("the largest: %d, the least: %d of 255", brightest[1], brightest[0]);
    canvas_free(&c);
}

/* The mean luminance of every patch of the picture beside the map, of its pixels; 0 of none. */
static void luminance(const Canvas *c, const Attend *a, double out[64])
{
    int n[64] = {0};
    memset(out, 0, 64 * sizeof *out);
    for (int i = 0; i < c->h * c->w; i++) {
        const Cell *k = &c->cells[i];
        if (i % c->w < c->w / 2 || !k->level || !k->ref.run || k->ref.node != a->v.node)
            continue;
        for (int u = a->u.prefix; u < a->u_axis->n; u++)
            if (k->ref.cell == attend_cell(a, a->head, a->at_t, u)) {
                out[u - a->u.prefix] += 0.2126 * (k->fg >> 16 & 0xff) + 0.7152 * (k->fg >> 8 & 0xff) +
                                        0.0722 * (k->fg & 0xff);
                n[u - a->u.prefix]++;
            }
    }
    for (int i = 0; i < 64; i++)
        out[i] /= n[i] ? n[i] : 1;
}

/* A dark object with the largest weight is brighter than a bright ground with next to none. */
static void the_largest_weight_is_brightest(void **state)
{
    (void)state;
    static const char *const OPEN[] = {"open #17", "open #ship"};
    enum { CLEARLY = 15 };
    for (size_t i = 0; i < 2; i++)
        for (int light = 0; light < 2; light++)
            for (int head = 0; head < 4; head++) {
                command(OPEN[i]);
                session.place.screen = SCREEN_TENSOR;
                stand("blocks.3.attn.pattern", head, 37, 37);
                const Rect r = {0, 0, 22, 57};
                Needs needs = {0};
                Canvas c;
                VIEW_ROW.needs(&session, SIDE_B, r, &needs);
                compute(&needs);
                canvas_init(&c, r.h, r.w);
                view_draw(&VIEW_ROW, &(Paint){.s = &session, .c = &c, .mode = MODE_TRUE, .light = light}, r, SIDE_B,
                          true);
                Attend a;
                double lit[64];
                int top = 0, low = 0;
                assert_true(attend_open(&session, SIDE_B, -1, &a) && a.v.values && a.u_axis->n - a.u.prefix == 64);
                luminance(&c, &a, lit);
                const float *w = a.v.values + attend_cell(&a, a.head, a.at_t, a.u.prefix);
                for (int u = 1; u < 64; u++)
                    top = w[u] > w[top] ? u : top;
                for (int u = 0; u < 64; u++) {
                    const bool tenth = w[u] < w[top] / 10 && lit[u] > 0;
                    low += tenth;
                    if (tenth && lit[u] + CLEARLY > lit[top])
                        fail_msg("%s, head %d: the largest at %.0f, patch %d with %.2g of it at %.0f", OPEN[i], head,
                                 lit[top], u, (double)(w[u] / w[top]), lit[u]);
                }
                assert_true(low > 0 || head > 0);
                canvas_free(&c);
            }
    command("open #17");
}

/* Of A − B what B has more lights the picture as much as what A has: blue, that orange, as the sentence below says. */
static void differences_light_the_picture(void **state)
{
    (void)state;
    command("set scale off; compare diff; goto blocks.0.attn.pattern");
    session.place.screen = SCREEN_TENSOR;
    stand("blocks.0.attn.pattern", 0, 37, 37);
    Needs needs = {0};
    const Rect r = {0, 0, 22, 57};
    Canvas c;
    VIEW_ROW.needs(&session, SIDE_DIFF, r, &needs);
    compute(&needs);
    canvas_init(&c, r.h, r.w);
    view_draw(&VIEW_ROW, &(Paint){.s = &session, .c = &c, .mode = MODE_TRUE}, r, SIDE_DIFF, true);
    Attend a;
    assert_true(attend_open(&session, SIDE_DIFF, -1, &a) && a.v.values);
    float most = 0;
    int lit[2] = {0, 0}, unlit = 255, orange = 0; /* the brightest of what B and A have more, of the least changes */
    for (int u = a.u.prefix; u < a.u_axis->n; u++)
        most = fmaxf(most, fabsf(a.v.values[attend_cell(&a, a.head, a.at_t, u)]));
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        orange += k->ch == 'o' && (k + 2)->ch == 'a' && (k + 5)->ch == 'e'; /* "orange: more in A" */
        if (i % c.w < c.w / 2 || !k->level || !k->ref.run || k->ref.node != a.v.node || k->ref.cell >= a.v.count)
            continue;
        const float x = a.v.values[k->ref.cell];
        const int red = (int)(k->fg >> 16 & 0xff), blue = (int)(k->fg & 0xff), more = red > blue ? red : blue;
        if (fabsf(x) < most / 4) {
            unlit = fabsf(x) < most / 50 && more < unlit ? more : unlit;
            continue;
        }
        assert_true(x > 0 ? red > blue : blue > red);
        lit[x > 0] = more > lit[x > 0] ? more : lit[x > 0];
    }
    if (lit[0] < unlit + 60 || lit[1] < unlit + 60 || orange != 1)
        fail_msg("more in B %d, in A %d, the same %d of 255; said %d times", lit[0], lit[1], unlit, orange);
    canvas_free(&c);
    command("undo");
}

/* In colour the lit cells have the colours of the scale and the others are nearer to the ground. */
static void the_others_are_dimmed(void **state)
{
    (void)state;
    session.place.screen = SCREEN_EXPLAIN;
    int same = 0, other = 0;
    for (int i = 0; i < 16; i++) { /* the upper half of a cell is looked at */
        int light = i % 2;
        Canvas c;
        stand("blocks.1.attn.scores_raw", 0, 30 + i / 2, 20);
        canvas_init(&c, 36, 88);
        Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE, .light = light};
        Needs needs = {0};
        VIEW_EXPLAIN.needs(&session, SIDE_B, (Rect){0, 0, 36, 88}, &needs);
        compute(&needs);
        view_draw(&VIEW_EXPLAIN, &p, (Rect){0, 0, 36, 88}, SIDE_B, true);
        Shown v;
        assert_true(shown_open(&session, SIDE_B, "blocks.1.attn.q", &v));
        ColourScale scale = colour_scale_for(&p, SIDE_B, v.node, v.values, v.count);
        for (int j = 0; j < c.h * c.w; j++) {
            const Cell *k = &c.cells[j];
            if (!k->level || k->ref.node != v.node)
                continue;
            bool scaled = k->fg == colour_scale_colour(&scale, v.values[k->ref.cell]);
            same += scaled;
            other += !scaled;
        }
        canvas_free(&c);
    }
    if (same < 16 || other < 10 * same)
        fail_msg("%d cells in the scale's colour, %d dimmed", same, other);
}

static int count_glyph(const Canvas *c, uint32_t ch, int style)
{
    int n = 0;
    for (int i = 0; i < c->h * c->w; i++)
        n += c->cells[i].ch == ch && c->cells[i].style == style;
    return n;
}

/* In every head's map and in the list, however small its share: the token that is looked at, and the one that asks. */
static void tokens_are_marked_in_every_pane(void **state)
{
    (void)state;
    session.place.screen = SCREEN_ROW;
    for (int u = 1; u < 65; u += 7) {
        int asks = u == 8 ? 9 : 8;
        stand("blocks.1.attn.pattern", 1, asks, u);
        Canvas c = drawn(&VIEW_OTHER_HEADS, 17, 100, MODE_256);
        assert_int_equal(count_glyph(&c, '[', STYLE_CURSOR), 4);
        assert_int_equal(count_glyph(&c, ']', STYLE_CURSOR), 4);
        assert_int_equal(count_glyph(&c, '>', STYLE_STRONG), 4);
        assert_int_equal(count_glyph(&c, '<', STYLE_STRONG), 4);
        canvas_free(&c);
        c = drawn(&VIEW_ROW_TOP, 6, 20, MODE_256); /* four of 65 */
        assert_int_equal(count_glyph(&c, '[', STYLE_CURSOR), 1);
        assert_int_equal(count_glyph(&c, ']', STYLE_CURSOR), 1);
        const float *row = session_peek(&session, SIDE_B, "blocks.1.attn.pattern") + (size_t)(65 + asks) * 65;
        int larger = 0;
        for (int k = 0; k < 65; k++)
            larger += row[k] > row[u];
        assert_int_equal(count_glyph(&c, 0x2026, STYLE_DIM), larger >= 5); /* what is left out before it */
        canvas_free(&c);
        c = drawn(&VIEW_ROW_TOP, 80, 20, MODE_256);
        assert_int_equal(count_glyph(&c, '>', STYLE_AXIS), 1);
        assert_int_equal(count_glyph(&c, '<', STYLE_AXIS), 1);
        canvas_free(&c);
    }
}

/* The numbers over the row's patches: each is its cell's share in percent. Returns how many. */
static int percents(const Canvas *c, const float *values, NodeId node)
{
    int count = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *k = &c->cells[y * c->w + x];
            char text[16] = "", *last;
            size_t n = 0, cell = k->ref.cell;
            while (x < c->w && n + 1 < sizeof text && k->level && k->ref.node == node && k->ref.cell == cell &&
                   ((k->ch >= '0' && k->ch <= '9') || k->ch == '.')) {
                text[n++] = (char)k->ch;
                text[n] = '\0';
                k = &c->cells[y * c->w + ++x];
            }
            if (!n)
                continue;
            x--; /* the next number may touch it */
            double said = strtod(text, &last), off = fabs(said - 100 * (double)values[cell]);
            if (*last || off > (strchr(text, '.') ? 0.0500001 : 0.500001))
                fail_msg("%d × %d: '%s' of a share of %.9g", c->h, c->w, text, (double)values[cell]);
            count++;
        }
    return count;
}

static void shares_are_written_on_patches(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{11, 38}, {17, 56}, {34, 76}, {54, 150}};
    session.place.screen = SCREEN_ROW;
    stand("blocks.1.attn.pattern", 1, 8, 20);
    Shown v;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        for (int mode = MODE_256; mode <= MODE_TRUE; mode++) {
            session.look.row.overlay = ROW_BARE;
            Canvas c = drawn(&VIEW_ROW, SIZES[i][0], SIZES[i][1], (ColourMode)mode);
            assert_true(shown_open(&session, SIDE_B, "blocks.1.attn.pattern", &v) && v.values);
            assert_int_equal(percents(&c, v.values, v.node), 0);
            canvas_free(&c);
            session.look.row.overlay = ROW_NUMBERS;
            c = drawn(&VIEW_ROW, SIZES[i][0], SIZES[i][1], (ColourMode)mode);
            Attend a;
            int whole = 0;
            assert_true(attend_open(&session, SIDE_B, -1, &a));
            for (int u = 1; u < 65; u++)
                whole += u != a.at_u && u != a.at_t && a.v.values[attend_cell(&a, a.head, a.at_t, u)] >= 0.005F;
            int count = percents(&c, v.values, v.node);
            if (whole < 3 || count < whole) /* on the map; where squares are large in the picture too */
                fail_msg("%d × %d: %d numbers for %d shares", SIZES[i][0], SIZES[i][1], count, whole);
            canvas_free(&c);
        }
    session.look.row.overlay = ROW_BARE;
}

/* The colours of a part of a table run over what is seen of it, up to the last one of the map. */
static void a_part_of_a_table_has_all_colours(void **state)
{
    (void)state;
    stand("blocks.1.attn.pattern", 0, 30, 30);
    Canvas c = drawn(&VIEW_WORKED, 30, 90, MODE_TRUE);
    const float *x = session_need(&session, SIDE_B, "blocks.1.attn.pattern", NULL);
    const Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    float least = INFINITY, most = 0;
    int seen = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < c.h * c.w; i++) {
            const Cell *k = &c.cells[i];
            if (!k->ref.run || k->level || k->bg == COLOUR_DEFAULT) /* no number of the table */
                continue;
            const float value = x[k->ref.cell];
            most = fmaxf(most, value);
            least = fminf(least, value);
            ColourScale scale = colour_scale_of_range(&p, least < most / 2 ? 0 : least, most);
            if (pass)
                assert_int_equal(k->bg, colour_scale_colour(&scale, value));
            seen += pass;
        }
    assert_true(seen > 100 && most < 0.5F);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_operands_are_lit, begin, end),
        cmocka_unit_test_setup_teardown(scores_light_the_picture, begin, end),
        cmocka_unit_test_setup_teardown(differences_light_the_picture, begin, end),
        cmocka_unit_test_setup_teardown(the_largest_weight_is_brightest, begin, end),
        cmocka_unit_test_setup_teardown(the_others_are_dimmed, begin, end),
        cmocka_unit_test_setup_teardown(tokens_are_marked_in_every_pane, begin, end),
        cmocka_unit_test_setup_teardown(shares_are_written_on_patches, begin, end),
        cmocka_unit_test_setup_teardown(a_part_of_a_table_has_all_colours, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
