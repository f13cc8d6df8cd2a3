/* Fill in the blanks: hidden patches look hidden, and only they are drawn from the guess. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tui_views/where_test.h"
#include "tui/views/picture/picture.h"

static size_t count_of(const char *text, char ch)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == ch;
    return n;
}

static void hidden_patches_look_hidden(void **state)
{
    (void)state;
    Buf out = {0};
    command("blanks r1c1");
    assert_int_equal(count_of(drawn(&VIEW_BLANKS, SIDE_A, 12, 90, &out), '?'), 0);
    assert_non_null(strstr(buf_str(&out), "Nothing is hidden"));
    command("ablate"); /* what x does */
    assert_true(strstr(session.edits.line[0], "hide r1c1") != NULL);
    command("hide r2c2 r2c3");
    command("blanks r7c7");
    const int cells = 2; /* a patch is two columns wide here and one line high */
    assert_int_equal(count_of(drawn(&VIEW_BLANKS, SIDE_B, 12, 90, &out), '?'), 3 * cells);
    assert_non_null(strstr(buf_str(&out), "3 of 64 hidden"));
    const float *mean = session_peek(&session, SIDE_B, "guess.hidden_error_mean");
    char number[32];
    number_text(number, sizeof number, *mean, 8);
    assert_non_null(strstr(buf_str(&out), number));
    command("blanks r1c1; ablate"); /* shown again */
    command("blanks r7c7");
    assert_int_equal(count_of(drawn(&VIEW_BLANKS, SIDE_B, 12, 90, &out), '?'), 2 * cells);
    buf_free(&out);
    refused("blanks r9c9", "patch");
}

/* Where the text stands beside larger pictures it says the same. */
static void text_beside_the_pictures(void **state)
{
    (void)state;
    Buf out = {0};
    command("blanks r1c1");
    assert_non_null(strstr(drawn(&VIEW_BLANKS, SIDE_A, 34, 90, &out), "Nothing is hidden"));
    command("hide r1c1 r2c2; blanks r7c7");
    assert_int_equal(count_of(drawn(&VIEW_BLANKS, SIDE_B, 34, 90, &out), '?'),
                     2 * 4 * 2); /* a patch has two lines of four columns */
    assert_non_null(strstr(buf_str(&out), "2 of 64 hidden"));
    assert_non_null(strstr(buf_str(&out), "r7c7, seen"));
    char number[32];
    number_text(number, sizeof number, *session_peek(&session, SIDE_B, "guess.hidden_error_mean"), 8);
    assert_non_null(strstr(buf_str(&out), number));
    buf_free(&out);
}

/* Only hidden patches are drawn from the guess, and only seen ones from the picture. */
static void guesses_fill_the_gaps_only(void **state)
{
    (void)state;
    Canvas c;
    Rect r = {2, 3, 15, 90};
    command("blanks; hide r1c1 r4c6");
    draw_on(&c, &VIEW_BLANKS, SIDE_B, r.h, r.w, MODE_256, false);
    const Graph *g = session_graph(&session, SIDE_B);
    NodeId guess = session_node(&session, SIDE_B, "guess.pixels");
    int y = graph_axis_find(g, "y"), x = graph_axis_find(g, "x"), found = 0;
    for (int row = 0; row < c.h; row++)
        for (int col = 0; col < c.w; col++) {
            const Cell *k = canvas_at(&c, row, col);
            int index[DIMS_MAX];
            if (!k->ref.run || k->ref.node != guess)
                continue;
            Dims d = graph_node(g, guess)->dims;
            dims_unravel(g->axes, d, k->ref.cell, index);
            int py = index[dims_find(d, y)], px = index[dims_find(d, x)];
            assert_true((py == 1 && px == 1) || (py == 4 && px == 6));
            found++;
        }
    assert_true(found >= 2);
    canvas_free(&c);
}

/* On a screen that is wide and low the three pictures are larger without the map of errors; a patch is as wide in each,
 * and is gone to from all of them. */
static void pictures_before_errors(void **state)
{
    (void)state;
    command("blanks; hide r1c1; blanks r7c7");
    Rect r = {0, 0, 18, 78};
    Canvas c;
    canvas_init(&c, r.h, r.w);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    drawn_prepare(&session, &VIEW_BLANKS, SIDE_B, r);
    view_draw(&VIEW_BLANKS, &p, r, SIDE_B, true);
    int wide = 0, runs = 0, before = 0;
    for (int x = 0; x < r.w; x++) {
        Buf said = {0};
        bool at = view_click(&VIEW_BLANKS, &p, r, SIDE_B, 2, x, &said) && strcmp(buf_str(&said), "blanks r0c1") == 0;
        buf_free(&said);
        runs += at && !before;
        wide += at;
        before = at;
    }
    assert_int_equal(runs, 3);
    assert_int_equal(wide, 3 * 3);
    canvas_free(&c);
}

/* Cells of the picture without a pixel's value; each must lie in a patch that is hidden, and the others in one that is
 * not. */
static int covered_cells(Side side, ColourMode mode, const bool hidden[64])
{
    Canvas c;
    Pixels px;
    Rect r = {0, 0, 24, 60};
    int covered = 0;
    canvas_init(&c, r.h, r.w);
    Paint p = {.s = &session, .c = &c, .mode = mode};
    drawn_prepare(&session, &VIEW_PICTURE, side, r);
    assert_true(pixels_open(&session, side, pixels_input(&session, side), &px));
    picture_model(&p, r, &px, false);
    for (int y = 0; y < r.h; y++)
        for (int x = 0; x < r.w; x++) {
            size_t cell;
            int index[DIMS_MAX];
            if (!picture_hit(&p, r, &px, y, x, &cell))
                continue;
            dims_unravel(px.v.graph->axes, graph_node(px.v.graph, px.v.node)->dims, cell, index);
            const Cell *k = canvas_at(&c, y, x);
            if (k->ch == '[' || k->ch == ']')
                continue;
            assert_int_equal(k->ref.run == 0, hidden[index[1] * 8 + index[3]]);
            covered += k->ref.run == 0;
        }
    canvas_free(&c);
    return covered;
}

static void the_picture_covers_what_is_hidden(void **state)
{
    (void)state;
    static const bool NONE[64] = {false};
    const bool two[64] = {[1 * 8 + 1] = true, [4 * 8 + 6] = true}, one[64] = {[4 * 8 + 6] = true};
    static const ColourMode MODES[] = {MODE_TRUE, MODE_MONO};
    command("view picture; hide r1c1 r4c6");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(covered_cells(SIDE_A, MODES[i], NONE), 0);
        assert_true(covered_cells(SIDE_B, MODES[i], two) >= 2);
        assert_true(covered_cells(SIDE_DIFF, MODES[i], two) >= 2);
    }
    Buf out = {0};
    assert_non_null(strstr(drawn(&VIEW_PICTURE, SIDE_B, 24, 60, &out), "2 patches hidden"));
    command("hide not r1c1");
    assert_non_null(strstr(drawn(&VIEW_PICTURE, SIDE_B, 24, 60, &out), "r4c6 hidden"));
    assert_true(covered_cells(SIDE_B, MODE_TRUE, one) >= 1);
    buf_free(&out);
}

/* The map of errors has every patch, the seen ones too: each its own, on one scale. */
static void every_patch_has_its_error(void **state)
{
    (void)state;
    Canvas c;
    command("blanks; hide r1c1 r4c6; blanks r7c7");
    draw_on(&c, &VIEW_BLANKS, SIDE_B, 34, 90, MODE_256, false);
    const NodeId n = session_node(&session, SIDE_B, "guess.error");
    const float *error = session_peek(&session, SIDE_B, "guess.error");
    const Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    enum { OUTLINE = 0x00e676 };
    bool there[64] = {false}, edged[64] = {false};
    float most = 0;
    int patches = 0;
    for (int i = 0; i < 64; i++)
        most = error[i] > most ? error[i] : most;
    ColourScale scale = colour_scale_of_range(&p, 0, most);
    scale.root = true;
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            if (k->ref.run != SIDE_B || k->ref.node != n || !k->level || k->ref.cell == 63) /* which has the cursor */
                continue;
            const bool edge = k->bg == OUTLINE || (k->ch != ' ' && k->fg == OUTLINE);
            edged[k->ref.cell] |= edge;
            if (!edge)
                assert_int_equal(k->ch == ' ' ? k->bg : k->fg, colour_scale_colour(&scale, error[k->ref.cell]));
            patches += !there[k->ref.cell];
            there[k->ref.cell] = true;
        }
    assert_int_equal(patches, 63);
    for (int i = 0; i < 64; i++) /* which of them were hidden */
        assert_int_equal(edged[i], i == 1 * 8 + 1 || i == 4 * 8 + 6);
    canvas_free(&c);
}

static void blanks_of_ready_values(void **state)
{
    (void)state;
    command("blanks");
    assert_int_equal(session_node(&session, SIDE_A, "guess.pixels"), NO_NODE);
    assert_true(draw_all(&VIEW_BLANKS, SIDE_A) > 0);
    command("where");
    assert_int_equal(session_node(&session, SIDE_A, "where.object"), NO_NODE);
    assert_true(draw_all(&VIEW_WHERE, SIDE_A) > 0);
}

static int open_ready(void **state)
{
    (void)state;
    char file[] = "/tmp/vitrine-where-XXXXXX", input[64];
    VitConfig c = guessing();
    int fd = mkstemp(file);
    FILE *f = fdopen(fd, "wb");
    assert_non_null(f);
    unsigned long long values = (unsigned long long)c.channels * (unsigned long long)c.image_h *
                                (unsigned long long)c.image_w;
    char header[128];
    unsigned long long n = (unsigned long long)
        snprintf(header, sizeof header, "{\"x\":{\"dtype\":\"F32\",\"shape\":[%d,%d,%d],\"data_offsets\":[0,%llu]}}",
                 c.channels, c.image_h, c.image_w, values * 4);
    fwrite(&n, 8, 1, f);
    fwrite(header, 1, n, f);
    for (unsigned long long i = 0; i < values; i++) {
        float x = (float)(i % 97) / 40 - 1.2f;
        fwrite(&x, 4, 1, f);
    }
    fclose(f);
    snprintf(input, sizeof input, "%s:x", file);
    open_config(&c, input);
    unlink(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hidden_patches_look_hidden, open_guessing, close_session),
        cmocka_unit_test_setup_teardown(text_beside_the_pictures, open_guessing, close_session),
        cmocka_unit_test_setup_teardown(guesses_fill_the_gaps_only, open_guessing, close_session),
        cmocka_unit_test_setup_teardown(pictures_before_errors, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_picture_covers_what_is_hidden, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(every_patch_has_its_error, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(blanks_of_ready_values, open_ready, close_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
