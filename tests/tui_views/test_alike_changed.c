/* A − B of what tokens are like: along what they changed in different ways, as nodes of the pair's graph and as
 * colours. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/graph/explain.h"
#include "core/models/probe_parts.h"
#include "core/models/probes.h"
#include "core/session/ask/ask.h"
#include "core/session/difference.h"
#include "core/session/input.h"
#include "core/session/screens.h"
#include "tests/tui_views/where_test.h"
#include "tui/canvas/export.h"
#include "tui/views/learned/alike_spot.h"

enum { GRID = 8, N = GRID * GRID, SHOWN = 3 };

static const float *changed(const char *path, Site what)
{
    assert_true(difference_changed_step(&session, path, CLOCK_NEVER));
    const float *x = difference_changed(&session, path, what);
    assert_non_null(x);
    return x;
}

/* Of the patches, in double: x_A − x_B less its mean, [N][width]; the sum of its squares. */
static double centred(const char *path, size_t *width, double **out)
{
    Err err;
    double total = 0;
    const NodeId n = session_node(&session, SIDE_B, path);
    const size_t cells = graph_cells(session_graph(&session, SIDE_B), n);
    const float *a = session_need(&session, SIDE_A, path, &err), *b = session_need(&session, SIDE_B, path, &err);
    assert_true(a && b);
    const size_t d = *width = cells / (N + 1); /* a class token stands in front */
    double *x = *out = xcalloc(N * d, sizeof *x), *mean = xcalloc(d, sizeof *mean);
    for (size_t i = 0; i < N * d; i++) {
        x[i] = (double)a[d + i] - (double)b[d + i];
        mean[i % d] += x[i] / N;
    }
    for (size_t i = 0; i < N * d; i++) {
        x[i] -= mean[i % d];
        total += x[i] * x[i];
    }
    free(mean);
    return total;
}

/* The lengths and components of the difference, against a plain calculation in double and the exact components. */
static void components_of_what_changed(void **state)
{
    (void)state;
    Err err;
    command("open #17; ablate blocks.1.attn.z[h=2]; alike 2 r2c3; compare diff");
    static const char *const PATHS[] = {"blocks.1.resid_post", "blocks.2.resid_post", "blocks.3.resid_post"};
    for (size_t place = 0; place < sizeof PATHS / sizeof *PATHS; place++) {
        const char *path = PATHS[place];
        size_t d;
        double *x;
        const double total = centred(path, &d, &x);
        const float *a = session_need(&session, SIDE_A, path, &err), *b = session_need(&session, SIDE_B, path, &err);
        for (size_t t = 0; t <= N; t++) {
            double sum = 0;
            for (size_t i = 0; i < d; i++)
                sum += pow((double)a[t * d + i] - (double)b[t * d + i], 2);
            const double length = (double)changed(path, SITE_ALIKE_NORM)[t];
            assert_true(fabs(length - sqrt(sum)) <= 1e-5 * sqrt(sum));
        }
        float *rows = xcalloc(N * d, sizeof *rows), *exact = xcalloc((size_t)COMPONENTS_MAX * d, sizeof *exact);
        for (size_t i = 0; i < N * d; i++)
            rows[i] = (float)x[i];
        Arena arena = {0};
        Components all;
        components_init(&all, &arena, rows, N, (int)d, exact);
        assert_true(components_make(&all, CLOCK_NEVER));
        for (int k = 0; k < SHOWN; k++) {
            const float *c = changed(path, (Site)(SITE_ALIKE_COMPONENT + k));
            double both = 0, ours = 0, theirs = 0;
            for (size_t p = 0; p < N; p++) {
                double part = 0;
                for (size_t i = 0; i < d; i++)
                    part += x[p * d + i] * (double)exact[(size_t)k * d + i];
                both += part * (double)c[p];
                ours += (double)c[p] * (double)c[p];
                theirs += part * part;
            }
            const double share = (double)changed(path, (Site)(SITE_ALIKE_SHARE + k))[0];
            if (fabs(both) < 0.99 * sqrt(ours * theirs) || fabs(share - theirs / total) > 0.01 * share)
                fail_msg("%s %d: cosine with the exact component %g, share %g of %g", path, k,
                         both / sqrt(ours * theirs), share, theirs / total);
        }
        arena_free(&arena);
        free(exact);
        free(rows);
        free(x);
    }
}

static const float *values(const void *context, NodeId n)
{
    (void)context;
    return run_need(session.diff.run, n);
}

/* Every number is a node of the pair's graph with terms, which fold to its bits. */
static void they_are_made_of_terms(void **state)
{
    (void)state;
    static const Site SITES[] = {SITE_ALIKE_NORM, SITE_ALIKE_COMPONENT, SITE_ALIKE_COMPONENT2, SITE_ALIKE_SHARE1};
    command("open #17; ablate blocks.1.attn.z[h=2]; alike 1 r2c3; compare diff");
    changed("blocks.1.resid_post", SITE_ALIKE_NORM);
    const Graph *g = &session.diff.graph;
    int nodes = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!strstr(node->path, ".changed.") || node->op == OP_LEAF)
            continue;
        assert_true(node->flags & NODE_PROBE);
        const float *x = run_need(session.diff.run, n);
        const size_t cells = graph_cells(g, n);
        for (size_t cell = 0; cell < cells; cell += cells / 3 + 1) {
            Explain e = explain_open(g, n, cell);
            const float folded = explain_fold(&e, values, NULL);
            if (memcmp(&folded, &x[cell], sizeof folded) != 0)
                fail_msg("%s[%zu]: %.9g, folded %.9g", node->path, cell, (double)x[cell], (double)folded);
        }
        nodes++;
    }
    assert_true(nodes > 100);
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++) {
        char path[PROBES_PATH];
        assert_non_null(probes_changed(g, "blocks.1.resid_post", SITES[i], path));
    }
}

/* Colours of the map of components at a place, patch by patch. */
static void colours_of(int place, uint32_t out[N])
{
    Canvas c;
    Alike a;
    const Rect r = {2, 3, 36, 90};
    draw_on(&c, &VIEW_ALIKE, SIDE_DIFF, r.h, r.w, MODE_TRUE, true);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    assert_true(alike_open(&p, SIDE_DIFF, r, &a) && a.coloured && a.bands == BANDS && a.band[1] == COLOURS);
    const Rect map = alike_map(&p, &a, 1, place);
    for (int i = 0; i < N; i++) {
        const int y = map.y + i / GRID * map.h / GRID, x = map.x + i % GRID * map.w / GRID;
        out[i] = canvas_at(&c, y, x)->level ? canvas_at(&c, y, x)->bg : 0; /* "no change" */
    }
    canvas_free(&c);
}

static void said(const char *words)
{
    Err err = {""};
    Buf out = {0};
    if (!ask_say(&session, SIDE_DIFF, &out, &err))
        fail_msg("%s", err.text);
    if (!strstr(buf_str(&out), words))
        fail_msg("\"%s\" does not say \"%s\"", buf_str(&out), words);
    buf_free(&out);
}

/* An edit of one patch lights that patch alone; before it nothing is lit, and that is said. */
static void an_edit_lights_its_patch(void **state)
{
    (void)state;
    enum { AT = 5 * GRID + 3, HERE = 2 * GRID + 2 };
    uint32_t colour[N], before[N];
    command("open #17; set blocks.1.resid_post[t=r5c3] 20; alike 1 r2c2; compare diff");
    colours_of(2, colour);
    colours_of(0, before);
    for (int i = 0; i < N; i++) {
        if (i == HERE) /* the cursor's mark */
            continue;
        assert_true(before[i] == before[0] || before[i] == 0);
        assert_true((colour[i] == before[0]) == (i != AT));
    }
    const float *length = changed("blocks.1.resid_post", SITE_ALIKE_NORM);
    for (int t = 0; t <= N; t++)
        assert_true((length[t] != 0) == (t == AT + 1));
    shows(&VIEW_ALIKE, SIDE_DIFF, 36, 90, "components of what changed, each place its own: red 100 %");
    said("r5c3 changed most, by ");
    char own[160]; /* the numbers of the picked token's colour are said */
    const float *c[SHOWN];
    for (int k = 0; k < SHOWN; k++)
        c[k] = changed("blocks.1.resid_post", (Site)(SITE_ALIKE_COMPONENT + k));
    snprintf(own, sizeof own,
             "The change of r2c2, less the mean change, along these directions, in the tokens' own units: %.3g",
             (double)c[0][HERE]);
    said(own);
    command("alike start");
    shows(&VIEW_ALIKE, SIDE_DIFF, 36, 90, "unchanged blank: nothing changed");
    said("From A to B no token changed there.");
}

/* Where no token changed every map of A − B says so, once, beside the mark; where one did, none does. */
static void blanks_are_said(void **state)
{
    (void)state;
    static const struct {
        int h, w;
        const char *said;
    } OF[] = {{36, 90, "no change"}, {17, 78, "no change"}, {26, 30, "same"}, {26, 28, "same"}};
    command("open #17; ablate blocks.1.attn.z[h=2]; alike 3 r4c4; compare diff");
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        Canvas c;
        Alike a;
        const Rect r = {2, 3, OF[i].h, OF[i].w}; /* as draw_on draws */
        draw_on(&c, &VIEW_ALIKE, SIDE_DIFF, r.h, r.w, MODE_256, false);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        assert_true(alike_open(&p, SIDE_DIFF, r, &a));
        for (int place = a.first; place < a.first + a.shown; place++)
            for (int b = 0; b < a.bands; b++) {
                const Rect map = alike_map(&p, &a, b, place);
                int found = 0;
                for (int y = map.y; y < map.y + map.h; y++) {
                    char line[128] = "";
                    for (int x = 0; x < map.w && x < 127; x++)
                        line[x] = (char)canvas_at(&c, y, map.x + x)->ch;
                    found += strstr(line, OF[i].said) != NULL;
                }
                if (found != (alike_row_of(&a, place) < 1))
                    fail_msg("%d × %d, place %d, band %d: \"%s\" %d times", OF[i].h, OF[i].w, place, b, OF[i].said,
                             found);
            }
        canvas_free(&c);
    }
}

/* A component of a share that is said as 0 % gives no colour, of A, of B and of their difference; every other does. */
static void no_colour_of_nothing(void **state)
{
    (void)state;
    int left_out = 0, shown = 0;
    static const char *const OF[] = {
        "open #17; set blocks.1.resid_post[t=r5c3] 2000; alike 1 r2c2; compare diff",
        "model translator; open \"the cat is tired\"; word tired wide; alike; compare diff"};
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        command(OF[i]);
        for (Side side = SIDE_A; side <= SIDE_DIFF; side++) {
            Canvas c;
            Alike a;
            const Rect r = {2, 3, 36, 90};
            draw_on(&c, &VIEW_ALIKE, side, r.h, r.w, MODE_TRUE, true);
            Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
            assert_true(alike_open(&p, side, r, &a));
            for (int place = a.first; place < a.first + a.shown; place++) {
                const Spot v = alike_spot(&p, &a, place);
                for (int k = 0; k < COMPONENTS; k++) {
                    char share[16];
                    if (!v.share[k].values || isnan(v.share[k].values[0]))
                        continue;
                    snprintf(share, sizeof share, "%.0f", 100 * (double)v.share[k].values[0]);
                    const bool none = strcmp(share, "0") == 0;
                    assert_true(none == (v.most[k] == 0));
                    left_out += none;
                    shown += !none;
                }
            }
            canvas_free(&c);
        }
    }
    assert_true(left_out > 6 && shown > 10);
}

/* Of a word that A and B don't share the name is whole where columns are free, else it begins as A's; a difference that
 * is rounding alone is about 0; and the words take the pane. */
static void words_of_both_are_whole(void **state)
{
    enum { PITCH = 5 }; /* higher rows would be all colour */
    (void)state;
    Canvas c;
    Alike a;
    Buf text = {0};
    command("model translator; open \"the cat is tired\"; word tired wide; alike; compare diff");
    static const int PANES[][2] = {{16, 78}, {31, 90}, {50, 148}};
    for (size_t i = 0; i < sizeof PANES / sizeof *PANES; i++) {
        const Rect r = {2, 3, PANES[i][0], PANES[i][1]};
        shows(&VIEW_ALIKE, SIDE_DIFF, r.h, r.w, "[tired/wide]");
        drawn(&VIEW_ALIKE, SIDE_DIFF, r.h, r.w, &text);
        assert_null(strstr(buf_str(&text), "e-7"));
        draw_on(&c, &VIEW_ALIKE, SIDE_DIFF, r.h, r.w, MODE_256, false);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        assert_true(alike_open(&p, SIDE_DIFF, r, &a));
        const Rect last = alike_word(&a, alike_words(&a) - 1, a.here);
        assert_int_equal(alike_words(&a), a.p->n);
        assert_true(last.h == PITCH || r.y + r.h - last.y - last.h <= 2 + a.p->n);
        canvas_free(&c);
    }
    shows(&VIEW_ALIKE, SIDE_DIFF, 20, 30, "[tire");
    buf_free(&text);
}

/* Tokens that have another width in A cannot be subtracted: cosines and lengths alone, as ever. */
static void another_width_has_none(void **state)
{
    (void)state;
    VitConfig c = model_bundled_config();
    Model other;
    Input in;
    Err err;
    c.width /= 2;
    c.heads /= 2;
    model_seeded(&other, &c, 3);
    if (!input_open(&in, &other, "#17", &err))
        fail_msg("%s", err.text);
    Exhibit *a = session_add(&session, &other, &in);
    session_pin(&session, a);
    command("alike 1 r2c2; compare diff");
    Buf text = {0};
    drawn(&VIEW_ALIKE, SIDE_DIFF, 36, 90, &text);
    assert_non_null(strstr(buf_str(&text), "cosine to r2c2"));
    assert_non_null(strstr(buf_str(&text), "length"));
    assert_null(strstr(buf_str(&text), "what changed"));
    buf_free(&text);
    session_pin(&session, NULL);
    session_drop(&session, a);
    model_free(&other);
}

/* Before the first place of the model stand the patches' pixels: their cosines in double from the picture itself. They
 * take no room while the reader is elsewhere, and a text has none. */
static void pixels_are_the_first_place(void **state)
{
    (void)state;
    enum { P = 6, C = 3, D = C * P * P };
    Err err;
    command("open #17; alike 0 r2c3; alike -1");
    assert_string_equal(session.place.path, "embed.alike.cosine");
    shows(&VIEW_ALIKE, SIDE_B, 36, 90, ">start");
    command("alike -1; alike -1");
    assert_string_equal(session.place.path, "image.alike.cosine");
    shows(&VIEW_ALIKE, SIDE_B, 36, 90, ">pixels");
    const float *image = session_need(&session, SIDE_B, "image", &err),
                *cosine = session_need(&session, SIDE_B, "image.alike.cosine", &err),
                *length = session_need(&session, SIDE_B, "image.alike.norm", &err);
    double *x = xcalloc(N * D, sizeof *x), mean[D] = {0};
    for (int p = 0; p < N; p++)
        for (int k = 0; k < D; k++) {
            const int c = k / (P * P), i = k / P % P, j = k % P, y = p / GRID, at = p % GRID;
            x[p * D + k] = (double)image[((c * GRID + y) * P + i) * GRID * P + at * P + j];
            mean[k] += x[p * D + k] / N;
        }
    for (int p = 0; p < N; p++) {
        double sum = 0;
        for (int k = 0; k < D; k++)
            sum += x[p * D + k] * x[p * D + k];
        assert_true(fabs((double)length[p] - sqrt(sum)) < 1e-5 * sqrt(sum));
    }
    for (int p = 0; p < N; p++)
        for (int q = 0; q < N; q++) {
            double pq = 0, pp = 0, qq = 0;
            for (int k = 0; k < D; k++) {
                const double a = x[p * D + k] - mean[k], b = x[q * D + k] - mean[k];
                pq += a * b;
                pp += a * a;
                qq += b * b;
            }
            assert_true(fabs((double)cosine[p * N + q] - pq / sqrt(pp * qq)) < 1e-4);
        }
    free(x);
    command("alike +1");
    assert_string_equal(session.place.path, "embed.alike.cosine");
    command("alike pixels r0c0; say");
    assert_non_null(
        strstr(buf_str(&session.said), "Of the pixels alone, the mean of all taken away, r0c0 is most like"));
    command("grey r5c3; compare diff"); /* what changed in the picture is that patch */
    shows(&VIEW_ALIKE, SIDE_DIFF, 36, 90, "components of what changed, each place its own: red 100 %");
    said("r5c3 changed most, by ");
    command("model translator");
    refused("alike pixels", "sees no pixels");
}

/* Words have a colour each, and what the colours are stands below them. */
static void words_have_colours(void **state)
{
    (void)state;
    command("model translator; ablate encoder.blocks.0.self_attn.z[h=1]");
    command("goto encoder.blocks.1.resid_post; alike 1 0; compare diff");
    shows(&VIEW_ALIKE, SIDE_DIFF, 33, 90, "PCA of what changed");
    shows(&VIEW_ALIKE, SIDE_DIFF, 33, 90, "PCA of what changed: r 48 %, g 13 %, b 7 %");
    shows(&VIEW_ALIKE, SIDE_DIFF, 16, 78, "PCA of what changed, as rgb");
}

/* In room for one row of maps `v` makes it that of the cosines, of the colours, of the lengths, and says so below; the
 * scale stands once. Where all have room the first one is another; words have no other view, and that is said. */
static void one_row_turns(void **state)
{
    (void)state;
    static const char *const SAID[][2] = {{"centred cosine to r2c2", "v: colours, lengths"},
                                          {"components, each place its own", "v: lengths, cosine"},
                                          {"length; own scale each", "v: cosine, colours"}};
    Buf wide[2] = {{0}, {0}};
    command("open #17; alike 1 r2c2");
    for (int i = 0; i < 4; i++) {
        Canvas c;
        Buf text = {0};
        draw_on(&c, &VIEW_ALIKE, SIDE_B, 9, 58, MODE_256, false);
        export_text(&c, &text);
        for (int k = 0; k < 2; k++)
            if (!strstr(buf_str(&text), SAID[i % 3][k]))
                fail_msg("%d: no \"%s\" in\n%s", i, SAID[i % 3][k], buf_str(&text));
        const char *cosine = strstr(buf_str(&text), "cosine ");
        assert_true(!cosine || !strstr(cosine + 1, "cosine "));
        drawn(&VIEW_ALIKE, SIDE_B, 34, 90, &wide[i & 1]);
        assert_true(i == 0 || strcmp(buf_str(&wide[0]), buf_str(&wide[1])) != 0);
        command("view next");
        canvas_free(&c);
        buf_free(&text);
    }
    buf_free(&wide[0]);
    buf_free(&wide[1]);
    command("model translator; goto encoder.blocks.1.resid_post; alike 1 0");
    refused("view next", "no other view");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(components_of_what_changed, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(they_are_made_of_terms, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(an_edit_lights_its_patch, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(blanks_are_said, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(no_colour_of_nothing, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(words_of_both_are_whole, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(another_width_has_none, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(pixels_are_the_first_place, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(one_row_turns, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(words_have_colours, open_bundled, close_session)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
