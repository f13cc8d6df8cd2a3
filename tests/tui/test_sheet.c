/* The sheet of blocks × heads: all of them on one page, one scale or own, and the head in focus large where there is
 * room beside it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui_views/where_test.h"
#include "tui/canvas/export.h"
#include "tui/frame.h"

static void open_heads(int blocks, int heads, int grid)
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.layers = blocks;
    c.heads = heads;
    c.width = 2 * heads;
    c.head_dim = 2;
    c.mlp = 8;
    c.image_h = grid * c.patch_h;
    c.image_w = grid * c.patch_w;
    open_config(&c, "#1");
}

/* The pane's head of every cell, as its Ref and as a click there have it; −1: none. In characters a cell is one value:
 * the largest of the head's patches, by size where it is signed, is one of them. Returns the heads that are there. */
static int heads_in(const Canvas *c, const Paint *p, const Pane *pane, int asks)
{
    enum { HEADS_MOST = 24 * 16, NONE = -1 };
    const Graph *g = shown_graph(&session, pane->side);
    float most[HEADS_MOST] = {0};
    bool there[HEADS_MOST] = {false};
    int found = 0, heads = 0;
    for (int k = 0; k < c->h * c->w; k++) {
        const Ref ref = c->cells[k].ref;
        int index[DIMS_MAX], block, clicked = NONE, head = NONE;
        if (!ref.run || !rect_has(pane->inside, k / c->w, k % c->w))
            continue;
        const Node *n = graph_node(g, ref.node);
        assert_int_equal(sscanf(n->path, "blocks.%d.attn.pattern", &block), 1);
        dims_unravel(g->axes, n->dims, ref.cell, index);
        assert_int_equal(index[1], asks);
        Buf said = {0};
        assert_true(view_click(pane->view, p, pane->inside, pane->side, k / c->w, k % c->w, &said));
        if (sscanf(buf_str(&said), "block %d; head %d", &clicked, &head) == 2) {
            assert_int_equal(clicked, block);
            assert_int_equal(head, index[0]);
        } else
            assert_string_equal(buf_str(&said), "in");
        buf_free(&said);
        heads = g->axes[n->dims.axis[0]].n;
        const int i = block * heads + index[0];
        found += !there[i];
        there[i] = true;
        most[i] = fmaxf(most[i], fabsf(session_peek(&session, pane->side, n->path)[ref.cell]));
    }
    for (int i = 0; i < HEADS_MOST && c->ascii; i++) {
        char path[64];
        if (!there[i])
            continue;
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", i / heads);
        const int tokens = g->axes[graph_node(g, graph_find(g, path))->dims.axis[2]].n;
        const float *row = session_peek(&session, pane->side, path) + (i % heads * tokens + asks) * tokens;
        float largest = 0;
        for (int u = 1; u < tokens; u++)
            largest = fmaxf(largest, fabsf(row[u]));
        assert_true(most[i] == largest);
    }
    return found;
}

/* On a screen of that size every pane of the sheet has so many heads, and one that has not all says how many. */
static void screen_has(int h, int w, bool ascii, int panes, int most, int asks)
{
    Canvas c;
    canvas_init(&c, h, w);
    c.ascii = ascii;
    const Frame f = frame_layout(&session, h, w, 0);
    const Paint p = {.s = &session, .c = &c, .mode = ascii ? MODE_MONO : MODE_256};
    Needs needs = {.count = 0};
    frame_needs(&session, &f, &needs);
    assert_true(session_step(&session, needs.item, needs.count, CLOCK_NEVER));
    for (int i = 0; i < f.count; i++) {
        const Pane *pane = &f.pane[i];
        char range[32];
        Buf text = {0};
        if (pane->view != &VIEW_SHEET)
            continue;
        view_draw(pane->view, &p, pane->inside, pane->side, pane->focus);
        const int found = heads_in(&c, &p, pane, asks);
        for (int k = 0; k < c.h * c.w; k++)
            if (rect_has(pane->inside, k / c.w, k % c.w))
                buf_putc(&text, c.cells[k].ch < 0x7f ? (char)c.cells[k].ch : '?');
        snprintf(range, sizeof range, "/%d ", most / 16);
        if (most == 24 * 16 && found < most && !strstr(buf_str(&text), range))
            fail_msg("%d of %d heads, unsaid: %s", found, most, buf_str(&text));
        if (found != most && panes > 0)
            fail_msg("%d × %d: %d of %d heads in %d × %d", w, h, found, most, pane->inside.w, pane->inside.h);
        buf_free(&text);
        panes -= panes > 0;
    }
    assert_int_equal(panes, 0);
    canvas_free(&c);
}

/* All heads are there on the smallest screens, alone and as A, B and A − B, in colours and in characters; only three
 * sheets of 24 × 16 beside each other have no room on 80 × 24, and say so. */
static void all_heads_have_room(void **state)
{
    (void)state;
    enum { ASKS = 20 };
    for (int large = 0; large < 2; large++) {
        const int blocks = large ? 24 : 12, heads = large ? 16 : 12, all = blocks * heads;
        open_heads(blocks, heads, large ? 6 : 14);
        char go[80];
        snprintf(go, sizeof go, "goto blocks.7.attn.pattern[h=7,t=%s]; view sheet", large ? "r3c1" : "r1c5");
        command(go);
        for (int ascii = 0; ascii < 2; ascii++) {
            screen_has(24, 80, ascii, 1, all, ASKS);
            screen_has(40, 120, ascii, 1, all, ASKS);
        }
        command("set scale off; compare sides");
        for (int ascii = 0; ascii < 2; ascii++) {
            screen_has(40, 120, ascii, 3, all, ASKS);
            screen_has(24, 80, ascii, large ? 0 : 3, all, ASKS);
        }
        session_free(&session);
    }
}

/* Draws the sheet in characters, each a value of the shapes model; returns the largest of all patches. The cells are as
 * bright as their values are beside the largest: of all heads, or of their own. */
static float brightness(bool one, Buf *text)
{
    enum { TOKENS = 65, ASKS = 29, HEADS = 4 };
    const Rect r = {0, 0, 70, 150};
    float most[HEADS * HEADS] = {0}, all = 0;
    Canvas c;
    canvas_init(&c, r.h, r.w);
    c.ascii = true;
    drawn_prepare(&session, &VIEW_SHEET, SIDE_B, r);
    for (int i = 0; i < HEADS * HEADS; i++) {
        char path[64];
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", i / HEADS);
        const float *row = session_peek(&session, SIDE_B, path) + (i % HEADS * TOKENS + ASKS) * TOKENS;
        for (int u = 1; u < TOKENS; u++)
            most[i] = fmaxf(most[i], row[u]);
        all = fmaxf(all, most[i]);
    }
    view_draw(&VIEW_SHEET, &(Paint){.s = &session, .c = &c, .mode = MODE_MONO}, r, SIDE_B, true);
    const Graph *g = session_graph(&session, SIDE_B);
    int cells = 0;
    for (int k = 0; k < c.h * c.w; k++) {
        const Ref ref = c.cells[k].ref;
        int index[DIMS_MAX], block;
        if (!ref.run || !c.cells[k].level || sscanf(graph_node(g, ref.node)->path, "blocks.%d.attn.p", &block) != 1)
            continue;
        dims_unravel(g->axes, graph_node(g, ref.node)->dims, ref.cell, index);
        const float x = session_peek(&session, SIDE_B, graph_node(g, ref.node)->path)[ref.cell],
                    end = one ? all : most[block * HEADS + index[0]];
        assert_int_equal(c.cells[k].level, 1 + (int)((double)x / (double)end * 9 + 0.5));
        cells++;
    }
    assert_true(cells >= HEADS * HEADS * (TOKENS - 1));
    buf_free(text);
    export_text(&c, text);
    canvas_free(&c);
    return all;
}

/* `r` on the sheet of one run: each head's own scale, one for all of them, by powers of ten; the line below says where
 * it ends. With two runs it goes on as elsewhere. */
static void one_scale_or_own(void **state)
{
    (void)state;
    static const RangeOf OF_TWO[] = {RANGE_SHARED, RANGE_OWN, RANGE_LOG, RANGE_SHARED};
    Buf text = {0};
    char number[16];
    command("goto blocks.1.attn.pattern[h=2,t=r3c4]; view sheet");
    brightness(false, &text);
    assert_non_null(strstr(buf_str(&text), "own scale"));
    command("colours scale");
    const float all = brightness(true, &text);
    assert_non_null(strstr(buf_str(&text), "one scale"));
    snprintf(number, sizeof number, "%.3f", (double)all);
    assert_non_null(strstr(buf_str(&text), number));
    command("colours scale");
    assert_int_equal(session.look.range, RANGE_LOG);
    command("colours scale");
    brightness(false, &text);
    command("view row; colours scale"); /* a row alone is of one head */
    assert_int_equal(session.look.range, RANGE_LOG);
    command("colours shared; view sheet; set scale off");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(session.look.range, OF_TWO[i]);
        command("colours scale");
    }
    buf_free(&text);
}

/* Right of the column in which every head ends: cells of each patch of the head in focus, no other's. */
static void large_cells(const Canvas *c, const Paint *p, int from, int cells[64])
{
    enum { TOKENS = 65, HEAD = 2, ASKS = 29 };
    const Graph *g = session_graph(&session, SIDE_B);
    for (int k = 0; k < c->h * c->w; k++) {
        const Ref ref = c->cells[k].ref;
        int index[DIMS_MAX];
        if (!ref.run || k % c->w < from)
            continue;
        assert_string_equal(graph_node(g, ref.node)->path, "blocks.1.attn.pattern");
        dims_unravel(g->axes, graph_node(g, ref.node)->dims, ref.cell, index);
        assert_int_equal(index[0], HEAD);
        assert_int_equal(index[1], ASKS);
        assert_in_range(index[2], 1, TOKENS - 1);
        Buf said = {0};
        assert_true(view_click(&VIEW_SHEET, p, c->clip, SIDE_B, k / c->w, k % c->w, &said));
        assert_string_equal(buf_str(&said), "in");
        buf_free(&said);
        cells[index[2] - 1]++;
    }
}

/* Columns that the sheet leaves have the head in focus over the picture, larger than in its thumbnail, with its name;
 * what is said below the maps stays. Where there are few of them they stay empty. */
static void the_head_in_focus_is_large(void **state)
{
    (void)state;
    static const struct {
        int h, w;
        bool large;
    } PANES[] = {{36, 118, true}, {54, 198, true}, {36, 84, false}, {20, 44, false}};
    command("goto blocks.1.attn.pattern[h=2,t=r3c4]; view sheet");
    for (size_t i = 0; i < sizeof PANES / sizeof *PANES; i++)
        for (int ascii = 0; ascii < 2; ascii++) {
            Canvas c;
            Buf text = {0};
            int cells[64] = {0}, end = 0;
            canvas_init(&c, PANES[i].h, PANES[i].w);
            c.ascii = ascii;
            const Paint p = {.s = &session, .c = &c, .mode = ascii ? MODE_MONO : MODE_TRUE};
            drawn_prepare(&session, &VIEW_SHEET, SIDE_B, c.clip);
            view_draw(&VIEW_SHEET, &p, c.clip, SIDE_B, true);
            for (int k = 0; k < c.h * c.w; k++) {
                Buf said = {0};
                if (view_click(&VIEW_SHEET, &p, c.clip, SIDE_B, k / c.w, k % c.w, &said) && k % c.w > end &&
                    strcmp(buf_str(&said), "in") != 0)
                    end = k % c.w;
                buf_free(&said);
            }
            large_cells(&c, &p, end + 2, cells);
            for (int u = 0; u < 64; u++) /* 3 × 3 pixels at least; in half a cell the upper one has the Ref */
                assert_true(PANES[i].large ? cells[u] >= 6 : !cells[u]);
            export_text(&c, &text);
            assert_int_equal(strstr(buf_str(&text), "block 1, head 2") != NULL, PANES[i].large);
            assert_non_null(strstr(buf_str(&text), "own"));
            buf_free(&text);
            canvas_free(&c);
        }
    command("ablate; compare diff"); /* its own pattern stays */
    Canvas c;
    Buf text = {0};
    canvas_init(&c, 36, 118);
    c.ascii = true;
    drawn_prepare(&session, &VIEW_SHEET, SIDE_DIFF, c.clip);
    view_draw(&VIEW_SHEET, &(Paint){.s = &session, .c = &c, .mode = MODE_MONO}, c.clip, SIDE_DIFF, true);
    export_text(&c, &text);
    assert_non_null(strstr(buf_str(&text), "the same"));
    buf_free(&text);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_heads_have_room),
        cmocka_unit_test_setup_teardown(one_scale_or_own, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_head_in_focus_is_large, open_bundled, close_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
