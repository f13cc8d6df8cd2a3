/* Where it looked, the lens, and fill in the blanks: at every size they stay in their rectangle, every number on screen
 * is the trace's or the measurement's, what does not exist is said, and a click goes where it points. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/session/learned/neurons.h"
#include "core/session/screens.h"
#include "core/session/screens/patches.h"
#include "tests/tui_views/where_test.h"
#include "tui/canvas/cell_look.h"
#include "tui/canvas/plot.h"
#include "tui/views/answer_table.h"
#include "tui/views/classes.h"

/* --- sizes and numbers --- */
static void every_size_and_side(void **state)
{
    (void)state;
    static const char *const GO[] = {"where", "lens", "blanks", "alike 0"};
    for (int edited = 0; edited < 2; edited++) {
        if (edited)
            command("set scale off; hide r3c4 r0c0; compare sides");
        for (int k = 0; k < VIEW_SPECS; k++) {
            command(GO[k]);
            step_to_the_end();
            for (Side side = SIDE_A; side <= (edited ? SIDE_DIFF : SIDE_A); side++) {
                int numbers = draw_all(VIEWS[k], side);
                bool colours = side == SIDE_DIFF && (VIEWS[k] == &VIEW_BLANKS || VIEWS[k] == &VIEW_ALIKE);
                if (!(numbers > 0 || colours))
                    fail_msg("%s shows no number on side %d", VIEWS[k]->name, side);
            }
        }
    }
}

static void computing_is_said(void **state)
{
    (void)state;
    static const int NARROW[][2] = {{3, 12}, {17, 78}};
    command("gradient where.answer");
    for (int k = 0; k < VIEW_SPECS; k++)
        for (int i = 0; i < 2; i++) {
            Canvas c;
            Rect r = {0, 0, NARROW[i][0], NARROW[i][1]};
            canvas_init(&c, r.h, r.w);
            c.ascii = true;
            Paint p = {.s = &session, .c = &c, .mode = MODE_256};
            view_draw(VIEWS[k], &p, r, SIDE_A, true); /* nothing was computed: nothing may be read */
            assert_int_equal(drawn_numbers(&session, &c), 0);
            Buf text = {0};
            for (int y = 0; y < r.h; y++)
                for (int x = 0; x < r.w; x++)
                    buf_putc(&text, (char)canvas_at(&c, y, x)->ch);
            if (r.h > 3 && !strstr(buf_str(&text), "computing"))
                fail_msg("%s does not say that it is computing", VIEWS[k]->name);
            buf_free(&text);
            canvas_free(&c);
        }
}

/* --- where --- */
static void occlusion_is_the_measurement(void **state)
{
    (void)state;
    Err err;
    command("where occlusion r2c5");
    assert_true(session_measure_all(&session, MEASURE_OCCLUSION, 1, &err));
    const Measure *m = where_occlusion(&session, SIDE_A).of;
    assert_non_null(m);
    int patch = session.place.at[graph_axis_find(session_base(&session), "p")];
    assert_int_equal(patch, 2 * 8 + 5);
    char number[32];
    number_text(number, sizeof number, where_drop(m, patch), 10);
    shows(&VIEW_WHERE, SIDE_A, 17, 78, number);
    command("grey r2c5"); /* the same by hand: the answer's logit falls by as much */
    const float *a = session_need(&session, SIDE_A, "logits", &err),
                *b = session_need(&session, SIDE_B, "logits", &err);
    assert_null(where_occlusion(&session, SIDE_B).of); /* it is that of what is on show */
    int answer = 0;
    for (int i = 1; i < 10; i++)
        answer = a[i] > a[answer] ? i : answer;
    assert_true(session_measure_all(&session, MEASURE_OCCLUSION, 1, &err));
    m = where_occlusion(&session, SIDE_B).of;
    assert_true(fabsf(where_drop(m, patch)) < 1e-6f || m->answer != answer); /* grey already */
    assert_true(a[answer] != b[answer]);
}

/* With an edit A has its map too, B's scale is A's, and what stands under A − B is the one less the other. */
static void occlusion_of_both_sides(void **state)
{
    (void)state;
    enum { PATCHES = 64, AT = 1 * 8 + 1 };
    char number[3][32], range[32];
    float most = 0, mass[3] = {0};
    command("where occlusion r1c1; set scale off; compare sides");
    step_to_the_end();
    const WhereOccluded a = where_occlusion(&session, SIDE_A), b = where_occlusion(&session, SIDE_B),
                        diff = where_occlusion(&session, SIDE_DIFF);
    assert_true(a.of && b.of && a.of != b.of && diff.of == a.of && diff.less == b.of && !a.less && !b.less);
    int differ = 0;
    for (int i = 0; i < PATCHES; i++) {
        float of_a = where_drop(a.of, i), of_b = where_drop(b.of, i), less = where_fall(&diff, i);
        assert_true(where_fall(&a, i) == of_a && where_fall(&b, i) == of_b && less == of_a - of_b);
        differ += of_a != of_b;
        most = fmaxf(most, fmaxf(fabsf(of_a), fabsf(of_b)));
    }
    assert_true(differ > PATCHES / 2);
    for (int side = 0; side < 3; side++)
        assert_true(where_occluded_mass(&session, (Side)(SIDE_A + side), &mass[side]));
    assert_true(mass[2] == mass[0] - mass[1] && mass[2] != 0);
    number_text(number[0], sizeof number[0], where_drop(a.of, AT), 8);
    number_text(number[1], sizeof number[1], where_drop(b.of, AT), 8);
    number_text(number[2], sizeof number[2], where_fall(&diff, AT), 8);
    snprintf(range, sizeof range, "-%.3f", (double)most);
    for (int side = 0; side < 3; side++) {
        shows(&VIEW_WHERE, (Side)(SIDE_A + side), 27, 28, number[side]);
        if (side < 2)
            shows(&VIEW_WHERE, (Side)(SIDE_A + side), 27, 28, range);
    }
}

/* As it is drawn while nothing more is computed. */
static bool says_now(Side side, const char *words)
{
    Canvas c;
    Rect r = {0, 0, 27, 28};
    Buf text = {0};
    canvas_init(&c, r.h, r.w);
    c.ascii = true;
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    view_draw(&VIEW_WHERE, &p, r, side, true);
    for (int i = 0; i < r.h * r.w; i++)
        buf_putc(&text, (char)canvas_at(&c, i / r.w, i % r.w)->ch);
    const bool says = strstr(buf_str(&text), words) != NULL;
    buf_free(&text);
    canvas_free(&c);
    return says;
}

/* How many half cells have the colour of a value that is no number; as it is drawn now. */
static int drawn_as_nan(Side side)
{
    Canvas c;
    Rect r = {0, 0, 27, 28};
    const Colour nan = colourmap_colour((MapId)0, MODE_TRUE, (double)NAN);
    int count = 0;
    canvas_init(&c, r.h, r.w);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    view_draw(&VIEW_WHERE, &p, r, side, true);
    for (int i = 0; i < r.h * r.w; i++)
        count += (canvas_at(&c, i / r.w, i % r.w)->bg == nan) + (canvas_at(&c, i / r.w, i % r.w)->fg == nan);
    canvas_free(&c);
    return count;
}

/* Sides beside each other have no notes: how far each of them is stands where its scale will. */
static void occlusion_comes_side_by_side(void **state)
{
    (void)state;
    Needs needs = {.count = 0};
    char far[32];
    command("where occlusion r1c1; set scale off; compare sides");
    while (!session_step_pass(&session, NULL, 0, CLOCK_NEVER))
        continue;
    for (Side side = SIDE_A; side <= SIDE_DIFF; side++) {
        VIEW_WHERE.needs(&session, side, (Rect){0, 0, 27, 28}, &needs);
        assert_true(says_now(side, "measuring"));
    }
    assert_true(session_step_pass(&session, needs.item, needs.count, CLOCK_NEVER));
    for (int i = 0; i < 2; i++)
        assert_false(measures_step(&session, 0)); /* a few pictures of B */
    const Measure *b = where_occlusion(&session, SIDE_B).of;
    assert_true(b && b->done > 0 && b->done < b->total);
    for (Side side = SIDE_A; side <= SIDE_DIFF; side++) {
        snprintf(far, sizeof far, "%zu of %zu", side == SIDE_B ? b->done : 0, b->total);
        assert_true(says_now(side, far));
    }
    assert_true(says_now(SIDE_A, "after") && !says_now(SIDE_B, "after"));
    assert_int_equal(drawn_as_nan(SIDE_B), 0); /* what is not measured yet is not a value that is no number */
    step_to_the_end();
    for (Side side = SIDE_A; side <= SIDE_DIFF; side++)
        assert_false(says_now(side, " of 65"));
}

/* `view next` goes through the maps in the order of the menu, and from the last to the first; one stands on the node
 * of the map, on the same screen. */
static void next_is_the_next_map(void **state)
{
    (void)state;
    command("where rollout r2c5");
    for (int i = 1; i <= 2 * WHERE_METHODS; i++) {
        WhereMethod m = (WhereMethod)(i % WHERE_METHODS);
        int at[SESSION_AXES];
        memcpy(at, session.place.at, sizeof at);
        command("view next");
        assert_int_equal(session.look.where.method, m);
        assert_int_equal(session.place.screen, SCREEN_WHERE);
        assert_string_equal(session.place.path, where_path(&session, SIDE_B, m));
        assert_memory_equal(at, session.place.at, sizeof at);
    }
}

static void mass_of_the_drops(void **state)
{
    (void)state;
    float value[4] = {1, 5, 3, -7}, object[4] = {0, 0, 1, 1}, mass = -1;
    Measure m = {.rows = 2, .cols = 2, .value = value, .base = 5, .done = 5, .total = 5};
    assert_true(where_drop_mass(&m, object, &mass) && mass == 14.0f / 18);
    assert_false(where_drop_mass(&m, NULL, &mass));
    m.done = 4;
    assert_false(where_drop_mass(&m, object, &mass));
    m.done = 5;
    m.base = -8;
    assert_false(where_drop_mass(&m, object, &mass)); /* nothing falls */
}

/* The object's patches have an edge wherever the next one is none of it; in ASCII at their sides. */
static void the_object_has_an_edge(void **state)
{
    (void)state;
    Canvas c;
    Rect r = {2, 3, 17, 78};
    command("where");
    draw_on(&c, &VIEW_WHERE, SIDE_A, r.h, r.w, MODE_MONO, true);
    const float *object = session_peek(&session, SIDE_A, "where.object");
    assert_non_null(object);
    int edges = 0;
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            edges += canvas_at(&c, y, x)->ch == '|';
    int want = 0;
    for (int i = 0; i < 64; i++)
        if (object[i] != 0.0f)
            want += (i % 8 == 0 || object[i - 1] == 0.0f) + (i % 8 == 7 || object[i + 1] == 0.0f);
    assert_true(want > 0);
    assert_true(edges <= 4 * want && edges > 3 * want); /* four maps; the brackets of the cursor may cover some */
    canvas_free(&c);
}

/* Where a patch is one line high its edge is thin: no cell is covered, each keeps the colour of its number. */
static void small_maps_have_a_thin_edge(void **state)
{
    (void)state;
    Canvas thin, plain;
    Rect r = {2, 3, 17, 78};
    command("where");
    float *object = (float *)session_peek(&session, SIDE_A, "where.object"), kept[64];
    assert_non_null(object);
    int want = 0, sides = 0, edges = 0;
    for (int i = 0; i < 64; i++)
        if (object[i] != 0.0f)
            want += (i % 8 == 0 || object[i - 1] == 0.0f) + (i % 8 == 7 || object[i + 1] == 0.0f);
    draw_on(&thin, &VIEW_WHERE, SIDE_A, r.h, r.w, MODE_256, false);
    memcpy(kept, object, sizeof kept);
    memset(object, 0, sizeof kept); /* the same without an edge */
    draw_on(&plain, &VIEW_WHERE, SIDE_A, r.h, r.w, MODE_256, false);
    memcpy(object, kept, sizeof kept);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            const Cell *a = canvas_at(&thin, y, x), *b = canvas_at(&plain, y, x);
            const bool edge = b->level && a->ch != b->ch;
            edges += edge;
            sides += edge && (a->ch == 0x258f || a->ch == 0x2595);
            assert_true(!edge || (a->bg == b->bg && a->bg == b->fg && a->ref.cell == b->ref.cell));
        }
    assert_true(sides <= 4 * want && sides > 3 * want && edges > sides); /* the cursor's brackets may cover some */
    canvas_free(&thin);
    canvas_free(&plain);
}

/* Whatever patch of whatever map is clicked, the cursor goes there and that map comes into focus. */
static void clicks_go_to_patch_and_map(void **state)
{
    (void)state;
    Rect r = {0, 0, 17, 78};
    Canvas c;
    canvas_init(&c, r.h, r.w);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    command("where");
    drawn_prepare(&session, &VIEW_WHERE, SIDE_A, r);
    bool met[WHERE_METHODS] = {false};
    for (int y = 0; y < r.h; y += 2)
        for (int x = 0; x < r.w; x += 3) {
            Buf line = {0};
            if (view_click(&VIEW_WHERE, &p, r, SIDE_A, y, x, &line) && strcmp(buf_str(&line), "in") != 0) {
                command(buf_str(&line));
                assert_int_equal(session.place.screen, SCREEN_WHERE);
                met[session.look.where.method] = true;
                Buf again = {0}; /* now it is the picked one */
                assert_true(view_click(&VIEW_WHERE, &p, r, SIDE_A, y, x, &again));
                assert_string_equal(buf_str(&again), "in");
                buf_free(&again);
            }
            buf_free(&line);
        }
    for (int m = 0; m < WHERE_METHODS; m++)
        assert_true(met[m]);
    command("where rollout; in"); /* into the arithmetic of that cell */
    assert_int_equal(session.place.screen, SCREEN_EXPLAIN);
    assert_string_equal(session.place.path, "rollout.patches");
    canvas_free(&c);
}

static void heads_one_by_one(void **state)
{
    (void)state;
    command("where attention");
    assert_string_equal(session.place.path, "where.attention_mean");
    shows(&VIEW_WHERE, SIDE_A, 17, 90, "mean of heads");
    command("average; head 2");
    assert_string_equal(session.place.path, "where.attention");
    shows(&VIEW_WHERE, SIDE_A, 17, 90, "head 2");
    assert_false(session.look.average); /* the switch of the attention screens is another */
    command("average");
    assert_string_equal(session.place.path, "where.attention_mean");
    refused("where sideways", "rollout");
    refused("where rollout r9c9", "patch");
}

static int cells_of(Canvas *c, const char *path, size_t cell)
{
    NodeId n = session_node(&session, SIDE_A, path);
    int cells = 0;
    for (int i = 0; i < c->h * c->w; i++)
        cells += c->cells[i].level && c->cells[i].ref.run && c->cells[i].ref.node == n && c->cells[i].ref.cell == cell;
    return cells;
}

/* The maps take the arrangement in which they are largest, and the picture is there as soon as that costs them nothing.
 */
static void maps_are_as_large_as_can_be(void **state)
{
    (void)state;
    static const struct {
        int h, w, cells;
        bool picture;
    } want[] = {{8, 58, 1, false},
                {18, 78, 2, true},
                {34, 90, 8, true},
                {54, 158, 18, true}}; /* lines × columns of a patch */
    command("where rollout r7c7");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        Canvas c;
        draw_on(&c, &VIEW_WHERE, SIDE_A, want[i].h, want[i].w, MODE_256, false);
        size_t corner = 4 * 8 + 5; /* no edge, no cursor */
        const float *object = session_peek(&session, SIDE_A, "where.object");
        assert_true(object && object[corner] == 0.0f);
        assert_int_equal(cells_of(&c, "rollout.patches", corner), want[i].cells);
        Buf text = {0};
        for (int k = 0; k < c.h * c.w; k++)
            buf_putc(&text, c.cells[k].ch < 0x7f ? (char)c.cells[k].ch : '?');
        const char *share = strstr(buf_str(&text), "outlined object: ");
        assert_true((strstr(buf_str(&text), "the picture ") != NULL &&
                     strstr(buf_str(&text), "the picture ") < share) == want[i].picture);
        assert_true(share && strstr(share, "of the patches"));
        assert_non_null(strstr(buf_str(&text), "row sum "));
        buf_free(&text);
        canvas_free(&c);
    }
}

/* With an edit three of them share 80 columns: the maps are whole there, before any table. */
static void maps_are_whole_beside_each_other(void **state)
{
    (void)state;
    command("where rollout r7c7; ablate blocks.0.attn.z[h=1]; compare sides");
    for (int w = 24; w <= 26; w += 2)
        for (int m = 0; m < WHERE_OCCLUSION; m++) {
            Canvas c;
            const char *path = where_path(&session, SIDE_A, (WhereMethod)m);
            int lines = 0;
            draw_on(&c, &VIEW_WHERE, SIDE_A, 11, w, MODE_256, false);
            for (size_t patch = 0; patch < 56; patch += patch % 8 < 7 ? 1 : 9) { /* two rows share a line of cells */
                bool there = patch + 8 == 63 ||                                  /* the cursor */
                             cells_of(&c, path, patch) + cells_of(&c, path, patch + 8) > 0;
                if (!there)
                    fail_msg("%s in %d columns: patch %zu is not drawn", path, w, patch);
                lines += there && patch % 8 == 0;
            }
            assert_int_equal(lines, 4);
            canvas_free(&c);
        }
}

/* The gradient is that of the answer's logit unless the reader asked for another one. */
static void gradients_of_the_answer(void **state)
{
    (void)state;
    shows(&VIEW_WHERE, SIDE_A, 17, 90, "no gradients");
    command("where gradient");
    assert_string_equal(session.place.path, "where.gradient");
    shows(&VIEW_WHERE, SIDE_A, 17, 90, "the answer's logit");
    command("gradient logits[o=3]; where rollout");
    shows(&VIEW_WHERE, SIDE_A, 17, 90, "logits[o=frame]");
    command("set scale off"); /* gradients pass through edits */
    assert_int_not_equal(session_node(&session, SIDE_B, "where.gradient"), NO_NODE);
}

/* --- lens --- */
static void lens_rows_and_clicks(void **state)
{
    (void)state;
    Rect r = {0, 0, 17, 130};
    Canvas c;
    Err err;
    command("lens 1 heart");
    assert_string_equal(session.place.path, "blocks.1.lens.probs");
    Buf out = {0};
    drawn(&VIEW_LENS, SIDE_A, r.h, r.w, &out);
    for (int block = 0; block < session.model.vit.layers; block++) {
        char label[32];
        snprintf(label, sizeof label, "%safter block %d", block == 1 ? ">" : " ", block);
        assert_non_null(strstr(buf_str(&out), label));
    }
    assert_non_null(strstr(buf_str(&out), "patch mean"));
    buf_free(&out);
    command("move down");
    assert_string_equal(session.place.path, "blocks.2.lens.probs");
    canvas_init(&c, r.h, r.w);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    drawn_prepare(&session, &VIEW_LENS, SIDE_A, r);
    int o = graph_axis_find(session_base(&session), "o"), places = 0;
    for (int y = 0; y < r.h; y++)
        for (int x = 30; x < r.w; x += 7) {
            Buf line = {0};
            if (view_click(&VIEW_LENS, &p, r, SIDE_A, y, x, &line) && strncmp(buf_str(&line), "lens ", 5) == 0) {
                char again[16];
                command(buf_str(&line));
                assert_int_equal(session.place.screen, SCREEN_LENS);
                snprintf(again, sizeof again, "%d", session.place.at[o]);
                assert_string_equal(strrchr(buf_str(&line), ' ') + 1, again);
                places++;
            }
            buf_free(&line);
        }
    assert_true(places >= session.model.vit.layers * 8);
    canvas_free(&c);
    command("goto blocks.3.lens.probs[o=star]");
    assert_int_equal(session.place.screen, SCREEN_LENS);
    refused("lens 99", "0 to 3");
    refused("lens 1 unicorn", "unicorn");
    assert_true(session_measure_all(&session, MEASURE_READOUT, 1, &err));
    const Measure *m = session_measure(&session, MEASURE_READOUT, NULL);
    char text[160], cls[48], mean[48];
    assert_int_equal(m->pictures, 5000);
    snprintf(text, sizeof text, "%zu pictures: class token %s, patch mean %s right", m->pictures,
             measure_share_text(m->right[0], m->pictures, cls, sizeof cls),
             measure_share_text(m->right[1], m->pictures, mean, sizeof mean));
    assert_non_null(strchr(cls, '('));
    *(strstr(text, "–")) = 0; /* the screen's text here is ASCII */
    shows(&VIEW_LENS, SIDE_A, 17, 100, text);
}

static bool is_dots(const Cell *k)
{
    return k->ch > 0x2800 && k->ch < 0x2900;
}

/* Where the lines of a low plot meet, too, each of those named at its right has dots of its own colour. */
static void every_named_line_is_seen(void **state)
{
    (void)state;
    for (int block = 0; block < 4; block++) {
        char line[16];
        Canvas c;
        int named = 0, dots[STYLE_COUNT] = {0}, names[STYLE_COUNT] = {0};
        snprintf(line, sizeof line, "lens %d", block);
        command(line);
        draw_on(&c, &VIEW_LENS, SIDE_A, 18, 78, MODE_256, false);
        for (int i = 0; i < c.h * c.w; i++)
            dots[c.cells[i].style] += is_dots(&c.cells[i]);
        for (int y = 0; y < c.h; y++) {
            int end = 0;
            for (int x = 0; x < c.w; x++)
                end = is_dots(canvas_at(&c, y, x)) ? x : end;
            const Cell *k = canvas_at(&c, y, end + 2);
            if (!end || k->ch < 'a' || k->ch > 'z')
                continue;
            named++;
            names[k->style]++;
            assert_true(k->style == STYLE_SELECTED || dots[k->style] > 0);
            assert_int_equal(names[k->style], 1);
        }
        assert_true(named > 1);
        canvas_free(&c);
    }
}

/* All classes have a column as soon as their numbers fit; the start is a row like any other, and bars are as high as
 * their shares. */
/* Every number of the table stands on the colour of its own value, in narrow columns and in wide ones. */
static void lens_numbers_on_their_colours(void **state)
{
    (void)state;
    command("lens 1 heart");
    const NodeId n = session_node(&session, SIDE_A, "blocks.2.lens.probs"); /* not the row of the cursor */
    const float *probs = NULL;
    for (int w = 90; w <= 156; w += 66) {
        Canvas c;
        draw_on(&c, &VIEW_LENS, SIDE_A, 12, w, MODE_256, false);
        probs = session_peek(&session, SIDE_A, "blocks.2.lens.probs");
        const Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        const ColourScale scale = colour_scale_of_range(&p, 0, 1);
        int coloured = 0;
        for (int y = 0; y < c.h; y++)
            for (int x = 0; x < c.w; x++) {
                const Cell *k = canvas_at(&c, y, x);
                if (k->ref.run != SIDE_A || k->ref.node != n || !colour_scale_level(&scale, probs[k->ref.cell]))
                    continue;
                assert_int_equal(k->bg, colour_scale_colour(&scale, probs[k->ref.cell]));
                coloured += k->ch >= '0' && k->ch <= '9';
            }
        assert_true(coloured >= 2);
        canvas_free(&c);
    }
}

/* Accuracies are those of the model as trained: an edit's side has none, nor has a difference. Differences of shares
 * are in points. */
/* Over the rows the logits as lines: a label on each with its class' logit in the cursor's row, the highest above. */
static void lens_lines_are_logits(void **state)
{
    (void)state;
    static const char *const ROWS[] = {"lens start 2", "lens 1 heart", "lens answer star"};
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
        Canvas c;
        command(ROWS[k]);
        draw_on(&c, &VIEW_LENS, SIDE_A, 34, 90, MODE_256, false);
        const Graph *g = session_graph(&session, SIDE_A);
        NodeId n = graph_find(g, k == 0 ? "embed.lens.logits" : k == 1 ? "blocks.1.lens.logits" : "logits");
        const float *end = session_peek(&session, SIDE_A, "logits");
        float last = INFINITY;
        int labels = 0;
        for (int y = 0; y < c.h; y++)
            for (int x = 0; x < c.w; x++) {
                Ref ref = canvas_at(&c, y, x)->ref;
                if (!ref.run || ref.node != n || (x > 0 && canvas_at(&c, y, x - 1)->ref.node == n))
                    continue;
                labels++;
                assert_true(end[ref.cell] <= last);
                last = end[ref.cell];
            }
        assert_int_equal(labels, 10);
        canvas_free(&c);
    }
}

/* A − B has a line at 0, and no line of a class has the colour of A or of B where those are compared. */
static void lines_of_both_are_not_a_and_b(void **state)
{
    (void)state;
    static const Side SIDES[] = {SIDE_A, SIDE_B, SIDE_DIFF};
    command("set scale off; lens; compare sides");
    for (int k = 0; k < 3; k++) {
        Canvas c;
        int lines = 0, zeros = 0;
        draw_on(&c, &VIEW_LENS, SIDES[k], 34, 50, MODE_256, false);
        float zero = 0, top = -INFINITY, bottom = INFINITY;
        for (size_t i = 0; i < c.strokes.strokes; i++) {
            const CanvasStroke *s = &c.strokes.stroke[i];
            assert_true(s->style != STYLE_SIDE_A && s->style != STYLE_SIDE_B && s->style != STYLE_NEGATIVE);
            for (size_t j = s->first; j < s->first + s->count && !s->dashed; j++) {
                top = fmaxf(top, c.strokes.point[j][1]);
                bottom = fminf(bottom, c.strokes.point[j][1]);
            }
            if (s->dashed)
                zero = c.strokes.point[s->first][1];
            lines += !s->dashed;
            zeros += s->dashed;
        }
        assert_int_equal(zeros, SIDES[k] == SIDE_DIFF);
        assert_true(lines >= 4);
        if (zeros) { /* before the first block A and B are alike: every line begins there */
            assert_true(zero < top && zero > bottom);
            for (size_t i = 0; i < c.strokes.strokes; i++) {
                const CanvasStroke *s = &c.strokes.stroke[i];
                assert_true(s->count < 4 || fabsf(c.strokes.point[s->first][1] - zero) < 1e-3F);
            }
        }
        canvas_free(&c);
    }
}

/* At the end of each line stands its label, in the line of the screen that it ends in (of two that end in one, below
 * it), of A − B in a pane of three too. */
static void every_line_has_its_label(void **state)
{
    (void)state;
    Canvas c;
    command("model translator; set scale off; lens");
    draw_on(&c, &VIEW_LENS, SIDE_DIFF, 23, 28, MODE_256, false);
    int lines = 0;
    bool taken[64] = {false};
    for (size_t i = 0; i < c.strokes.strokes; i++) {
        const CanvasStroke *s = &c.strokes.stroke[i];
        char label[32] = "";
        size_t used = 0;
        if (s->count < 2 || s->dashed) /* that of zero has a number */
            continue;
        const float share = (c.strokes.point[s->first + s->count - 1][1] - (float)s->body.y) / (float)s->body.h;
        int y = s->body.y + plot_line(&c, s->body, (double)share);
        while (taken[y])
            y++;
        taken[y] = true;
        for (int x = s->body.x + s->body.w; x < c.w && used < sizeof label - 8; x++)
            used += canvas_at(&c, y, x)->ch > ' ' ? utf8_put(label + used, canvas_at(&c, y, x)->ch) : 0;
        label[used] = '\0';
        if (!strpbrk(label, "abcdefghijklmnopqrstuvwxyz"))
            fail_msg("line %zu ends in row %d, where \"%s\" stands", i, y, label);
        lines++;
    }
    assert_int_equal(lines, 4);
    canvas_free(&c);
    command("model bundled; reset edits; open #17");
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A line goes from block to block; what stands after attention is a dot beside it, at that logit. In a low pane there
 * are no dots, and the title doesn't speak of them. */
static void attention_is_apart_from_the_lines(void **state)
{
    (void)state;
    enum { CLASSES = 10, BLOCKS = 4 };
    Canvas c;
    command("lens 1 heart");
    draw_on(&c, &VIEW_LENS, SIDE_A, 34, 90, MODE_256, false);
    float want[CLASSES * BLOCKS], have[CLASSES * BLOCKS], low = INFINITY, high = -INFINITY;
    for (int row = -1; row <= BLOCKS; row++)
        for (int mid = 0; mid < 2; mid++) {
            const char *path = mid ? lens_mid(&session, SIDE_A, row) : lens_logits(&session, SIDE_A, row);
            const float *x = path ? session_peek(&session, SIDE_A, path) : NULL;
            assert_true(x || mid);
            for (int o = 0; x && o < CLASSES; o++) {
                low = fminf(low, x[o]);
                high = fmaxf(high, x[o]);
                if (mid)
                    want[row * CLASSES + o] = x[o];
            }
        }
    int lines = 0, dots = 0;
    for (size_t i = 0; i < c.strokes.strokes; i++) {
        const CanvasStroke *s = &c.strokes.stroke[i];
        const float y = c.strokes.point[s->first][1];
        lines += s->count == BLOCKS + 2; /* the start, the answer */
        if (s->count == 1 && dots < CLASSES * BLOCKS)
            have[dots++] = high - (y - (float)s->body.y) / (float)s->body.h * (high - low);
    }
    assert_int_equal(lines, CLASSES);
    assert_int_equal(dots, CLASSES * BLOCKS);
    qsort(want, CLASSES * BLOCKS, sizeof *want, by_value);
    qsort(have, CLASSES * BLOCKS, sizeof *have, by_value);
    for (int i = 0; i < dots; i++)
        assert_true(fabsf(want[i] - have[i]) < 1e-3f * (high - low));
    canvas_free(&c);
    draw_on(&c, &VIEW_LENS, SIDE_A, 18, 78, MODE_256, false);
    for (size_t i = 0; i < c.strokes.strokes; i++)
        assert_true(c.strokes.stroke[i].count == BLOCKS + 2);
    assert_true(c.strokes.strokes > 0);
    canvas_free(&c);
}

/* No name of a class is cut without its number. */
static void names_of_classes_are_whole_or_numbered(void **state)
{
    (void)state;
    const Shown answer = {.graph = session_graph(&session, SIDE_A),
                          .node = session_node(&session, SIDE_A, "probs"),
                          .count = 10};
    for (size_t o = 0; o < answer.count; o++)
        for (int room = 4; room < 12; room++) {
            char name[64], label[64], number[24];
            classes_name(&answer, o, name, sizeof name);
            classes_label(&answer, o, room, label, sizeof label);
            snprintf(number, sizeof number, "%zu ", o);
            assert_true(utf8_cells(label) <= room);
            if (utf8_cells(name) <= room)
                assert_string_equal(label, name);
            else
                assert_true(strncmp(label, number, strlen(number)) == 0 && label[strlen(number)] == name[0]);
        }
}

static void lens_of_an_edit(void **state)
{
    (void)state;
    command("open #66; set scale off; lens 3 heart");
    shows(&VIEW_LENS, SIDE_A, 17, 78, "Right of 5000: class token 99");
    command("compare b");
    Buf out = {0};
    for (Side side = SIDE_B; side <= SIDE_DIFF; side++) {
        drawn(&VIEW_LENS, side, 17, 78, &out);
        assert_null(strstr(buf_str(&out), "5000"));
        assert_null(strstr(buf_str(&out), "Right"));
        buf_clear(&out);
    }
    drawn(&VIEW_LENS, SIDE_DIFF, 12, 25, &out);
    assert_non_null(strstr(buf_str(&out), "-74.6"));
    assert_null(strstr(buf_str(&out), "-0.7"));
    buf_free(&out);
    for (int undone = 0; undone < 2; undone++) {
        command(undone ? "undo; lens 3; say" : "compare b; say");
        assert_true((strstr(buf_str(&session.said), "held-out") != NULL) == undone);
    }
}

static void lens_from_the_start(void **state)
{
    (void)state;
    Buf out = {0};
    static const int WIDTHS[] = {78, 90, 158};
    command("lens start 2");
    assert_string_equal(session.place.path, "embed.lens.probs");
    assert_int_equal(session.place.screen, SCREEN_LENS);
    for (int i = 0; i < 3; i++) {
        drawn(&VIEW_LENS, SIDE_A, 34, WIDTHS[i], &out);
        for (int o = 0; o < 10; o++) {
            char name[64];
            const Graph *g = session_graph(&session, SIDE_A);
            assert_non_null(strstr(buf_str(&out), axis_label(&g->axes[graph_axis_find(g, "o")], o, name, sizeof name)));
        }
        assert_non_null(strstr(buf_str(&out), WIDTHS[i] > 100 ? ">before block 0" : ">start"));
    }
    command("move down");
    assert_string_equal(session.place.path, "blocks.0.lens.probs");
    command("move up 9");
    assert_string_equal(session.place.path, "embed.lens.probs");
    Canvas c;
    draw_on(&c, &VIEW_LENS, SIDE_A, 54, 158, MODE_256, false);
    const float *probs = session_peek(&session, SIDE_A, "probs"),
                *start = session_peek(&session, SIDE_A, "embed.lens.probs");
    size_t best = 0, first = 0;
    for (size_t o = 1; o < 10; o++) {
        best = probs[o] > probs[best] ? o : best;
        first = start[o] > start[first] ? o : first;
    }
    NodeId answer = session_node(&session, SIDE_A, "probs"),
           before = session_node(&session, SIDE_A, "embed.lens.probs");
    int high = 0, low = 0;
    for (int i = 0; i < c.h * c.w; i++) {
        Ref ref = c.cells[i].ref;
        if (ref.run && ref.node == answer && ref.cell == best && c.cells[i].level)
            high = c.cells[i].level;
        if (ref.run && ref.node == before && ref.cell == first && c.cells[i].level)
            low = c.cells[i].level;
    }
    assert_true(start[first] < 0.8f * probs[best] && low > 0 && low < high);
    canvas_free(&c);
    command("say");
    assert_non_null(strstr(buf_str(&session.said), "Without any block"));
    buf_free(&out);
}

/* --- what a model lacks --- */
static void absent_things_are_said(void **state)
{
    (void)state;
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.classes = 0;
    c.pool = VIT_POOL_NONE;
    open_config(&c, "#1");
    shows(&VIEW_BLANKS, SIDE_A, 17, 78, "no reconstruction head");
    shows(&VIEW_LENS, SIDE_A, 17, 78, "no classes");
    command("where");
    shows(&VIEW_WHERE, SIDE_A, 17, 78, "no classes");
    refused("blanks", "never learned");
    refused("lens", "no classes");
    for (int k = 0; k < VIEW_SPECS; k++)
        draw_all(VIEWS[k], SIDE_A);
    session_free(&session);
    assert_true(model_size("tiny", &c));
    c.reconstruct = true; /* a head, but nothing to hide behind */
    c.pool = VIT_POOL_MEAN;
    c.cls = false;
    open_config(&c, "#1");
    command("blanks");
    shows(&VIEW_BLANKS, SIDE_A, 17, 78, "no mask token");
    command("lens");
    shows(&VIEW_LENS, SIDE_A, 17, 78, "no labelled pictures");
    command("where");
    for (int k = 0; k < VIEW_SPECS; k++)
        assert_true(draw_all(VIEWS[k], SIDE_A) > 0);
    session_free(&session);
}

/* Many small patches, with registers in front: nothing runs over. (A rollout costs the cube of the tokens, per block.)
 */
static void many_patches(void **state)
{
    (void)state;
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.image_h = 96;
    c.image_w = 64;
    c.patch_h = c.patch_w = 4;
    c.layers = 1;
    c.registers = 3;
    c.mask_token = c.reconstruct = true;
    open_config(&c, "#1");
    command("where; hide random 0.3");
    for (int k = 0; k < VIEW_SPECS; k++)
        for (Side side = SIDE_A; side <= SIDE_DIFF; side++)
            draw_all(VIEWS[k], side);
    session_free(&session);
}

/* As many patches as many models have: the matrix is pooled, and its scale is there in a narrow pane too. */
static void a_narrow_matrix_has_its_scale(void **state)
{
    (void)state;
    VitConfig c;
    Buf out = {0};
    Err err = {""};
    assert_true(model_size("tiny", &c));
    c.image_h = c.image_w = 56;
    c.patch_h = c.patch_w = 4;
    open_config(&c, "#1");
    command("goto blocks.1.attn.pattern[h=1,t=r3c3]; view matrix");
    const float *x = session_need(&session, SIDE_B, "blocks.1.attn.pattern", &err);
    assert_non_null(x);
    const size_t n = 197;
    float most = 0;
    for (size_t i = n * n; i < 2 * n * n; i++)
        most = fmaxf(most, x[i]);
    for (int w = 30; w <= 60; w++) {
        char end[16];
        number_text(end, sizeof end, most, 7);
        if (!strstr(drawn(&VIEW_MATRIX, SIDE_B, 18, w, &out), end))
            fail_msg("%d columns: no %s in\n%s", w, end, buf_str(&out));
    }
    buf_free(&out);
    session_free(&session);
}

/* More blocks than differences were once kept, and a thousand classes. */
/* Eighths of the cells that show a node's cell, per column: what is filled from below, what hangs (reversed), and its
 * part where two waters meet (a ground of its own). */
static int eighths(const Canvas *c, const LedgerEntry *e, int head, bool takes)
{
    int sum = 0, columns[200] = {0}, wide = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w && x < 200; x++) {
            const Cell *k = &c->cells[y * c->w + x];
            if (k->ref.node != (head < 0 ? e->total : e->heads) || k->ref.cell != (size_t)(head < 0 ? 0 : head) ||
                k->ch < 0x2581 || k->ch > 0x2588)
                continue;
            int n = (int)k->ch - 0x2580;
            sum += k->attrs & ATTR_REVERSE || (k->bg != COLOUR_DEFAULT && !takes) ? 8 - n : n;
            wide += !columns[x]++;
        }
    return wide ? sum / wide : 0;
}

/* Tributaries are as long as what they stand for, to an eighth of a line; start and all of them are the number, and
 * what stands so far behind each block is a node. */
static void a_river_is_its_ledger(void **state)
{
    (void)state;
    static const char *const OF[] = {"ledger", "ledger circle against=star", "set scale off"};
    for (size_t k = 0; k < sizeof OF / sizeof *OF; k++) {
        Canvas c;
        command(OF[k]);
        draw_on(&c, &VIEW_LEDGER, SIDE_B, 34, 90, MODE_256, false);
        const Ledger *l = session_ledger(&session, SIDE_B);
        const Graph *g = session_graph(&session, SIDE_B);
        const LedgerEntry *e;
        int head, longest = 0, drawn_ones = 0;
        float most = 0, so_far = *session_peek(&session, SIDE_B, graph_node(g, l->start)->path);
        for (int i = 0; ledger_tributary(g, l, i, &e, &head); i++) {
            float x = session_peek(&session, SIDE_B,
                                   graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head];
            int n = eighths(&c, e, head, x < 0);
            longest = fabsf(x) > most ? n : longest;
            most = fmaxf(most, fabsf(x));
            so_far += x;
            drawn_ones += n > 0;
            float node = *session_peek(&session, SIDE_B, graph_node(g, e->so_far)->path);
            if (head < 0 || (size_t)head + 1 == graph_cells(g, e->heads))
                assert_true(fabsf(node - so_far) < 1e-4f);
        }
        assert_true(fabsf(so_far - *session_peek(&session, SIDE_B, graph_node(g, l->value)->path)) < 1e-4f);
        assert_true(longest > 20 && drawn_ones >= 8);
        for (int i = 0; ledger_tributary(g, l, i, &e, &head); i++) {
            float x = session_peek(&session, SIDE_B,
                                   graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head];
            float want = fabsf(x) * (float)longest / most;
            float off = x < 0 ? 4.1f : 1.1f; /* of two that hang in one cell only the larger is seen */
            if (fabsf((float)eighths(&c, e, head, x < 0) - want) > off)
                fail_msg("%s: tributary %d is %d eighths long, not %g", OF[k], i, eighths(&c, e, head, x < 0),
                         (double)want);
        }
        canvas_free(&c);
    }
}

/* Where a tributary has one column, what its loss would reach is a mark across it, as high as that is. */
static void a_narrow_river_marks_what_is_lost(void **state)
{
    (void)state;
    Canvas c;
    command("ledger");
    draw_on(&c, &VIEW_LEDGER, SIDE_B, 26, 40, MODE_256, false);
    const Ledger *l = session_ledger(&session, SIDE_B);
    const Graph *g = session_graph(&session, SIDE_B);
    const LedgerEntry *e;
    int head, names = 0, bed = 0, marks = 0, large = 0, tallest = 0, run = 0, longest = 0;
    float most = 0, before = *session_peek(&session, SIDE_B, graph_node(g, l->start)->path);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x + 4 < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            names = k->ch == '0' && k[1].ch == '1' && k[2].ch == '2' && k[3].ch == '3' && k[4].ch == 'M' ? y : names;
            run = x && k->ch == 0x2581 ? run + 1 : 0;
            bed = run > longest ? y : bed;
            longest = run > longest ? run : longest;
        }
    assert_true(names && bed);
    for (int i = 0; ledger_tributary(g, l, i, &e, &head); i++) {
        float x = session_peek(&session, SIDE_B,
                               graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head];
        tallest = x > most ? eighths(&c, e, head, false) : tallest;
        most = fmaxf(most, x);
    }
    assert_true(tallest > 8);
    for (int i = 0, x = 0; ledger_tributary(g, l, i, &e, &head); i++, x++) {
        while (x < c.w && (canvas_at(&c, names, x)->ch > 0x7f || !canvas_at(&c, names, x)->ch ||
                           !strchr("0123M", (int)canvas_at(&c, names, x)->ch)))
            x++; /* the names stand under their tributaries */
        float lost = session_ledger_effect(&session, SIDE_B, TAKEN_LINES, e, head), lines = (float)tallest / 8 / most;
        assert_true(isfinite(lost));
        float to = (lost > 0 ? fmaxf(before, 0) : fminf(before, 0)) + lost;
        int at = 0;
        float edge = 0.5F; /* across a cell, or at its upper or lower edge; the bed is no mark */
        for (int y = 0; y < names; y++) {
            const Cell *k = canvas_at(&c, y, x);
            const bool lower = k->ch == 0x2581 && k->style == STYLE_TEXT && k->fg == COLOUR_DEFAULT;
            if (k->ch != 0x2501 && k->ch != 0x2594 && !lower)
                continue;
            at = y;
            edge = lower ? 1 : k->ch == 0x2594 ? 0 : 0.5F;
        }
        marks += at > 0;
        large += fabsf(lost) * lines > 0.3f;
        if (at && fabsf((float)(bed + 1 - at) - edge - to * lines) > 0.8f)
            fail_msg("tributary %d: its mark is %g lines over the bed, not %g", i,
                     (double)(bed + 1 - at) - (double)edge, (double)(to * lines));
        before += session_peek(&session, SIDE_B,
                               graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head];
    }
    assert_true(marks >= 8 && 2 * marks >= large); /* one that no cell has room for is left out */
    canvas_free(&c);
}

/* Twelve blocks of twelve heads at 80x24: every MLP, the head of the cursor and the largest others have a column of
 * their own, with the number that each wrote; the rest of a block's heads are one. */
static void a_deep_river_has_room(void **state)
{
    (void)state;
    VitConfig config;
    Canvas c;
    assert_true(model_size("tiny", &config));
    config.image_h = config.image_w = 16;
    config.patch_h = config.patch_w = 8;
    config.layers = config.heads = 12;
    config.head_dim = 2;
    config.width = config.mlp = 24;
    config.scale = vit_scale(config.head_dim);
    open_config(&config, "#1");
    command("ledger; block 5; head 4");
    shows(&VIEW_LEDGER, SIDE_B, 18, 78, "8 of 144 heads, +: the others");
    draw_on(&c, &VIEW_LEDGER, SIDE_B, 18, 78, MODE_256, false);
    assert_true(drawn_numbers(&session, &c) > 1);
    const Ledger *l = session_ledger(&session, SIDE_B);
    const LedgerEntry *e;
    int head, mlps = 0, heads = 0, at, last = -1;
    for (int i = 0; ledger_tributary(session_graph(&session, SIDE_B), l, i, &e, &head); i++) {
        at = -1;
        for (int k = 0; k < c.h * c.w && at < 0; k++)
            if (c.cells[k].ref.node == (head < 0 ? e->total : e->heads) &&
                c.cells[k].ref.cell == (size_t)(head < 0 ? 0 : head) && c.cells[k].ch >= 0x2581 &&
                c.cells[k].ch <= 0x2588)
                at = k % c.w;
        if (at < 0)
            continue;
        mlps += head < 0;
        heads += head >= 0;
        assert_true(at > last); /* a column of its own, behind that before it */
        last = at;
    }
    if (heads < 6 || heads > 8 || mlps < 10)
        fail_msg("%d heads and %d MLPs are drawn", heads, mlps);
    canvas_free(&c);
    shows(&VIEW_LEDGER, SIDE_B, 40, 190, "789abM"); /* all of them: what a and b are is said */
    shows(&VIEW_LEDGER, SIDE_B, 40, 190, "a: head 10");
    shows(&VIEW_LEDGER, SIDE_B, 40, 190, "sum"); /* below the number at the end */
    session_free(&session);
}

/* In a pane too narrow for an attention and an MLP of each block, each block is one: as long as what its heads and MLP
 * wrote together, which stands beside it where it is largest. Where not even that has room they are a list. */
static void a_narrow_deep_river_is_of_blocks(void **state)
{
    (void)state;
    VitConfig config;
    assert_true(model_size("tiny", &config));
    config.image_h = config.image_w = 16;
    config.patch_h = config.patch_w = 8;
    config.layers = config.heads = 12;
    config.head_dim = 2;
    config.width = config.mlp = 24;
    config.scale = vit_scale(config.head_dim);
    open_config(&config, "#1");
    command("ledger; ablate blocks.5.attn.z[h=2]; block 5; head 4");
    for (int wide = 24; wide <= 28; wide += 4)
        for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
            Canvas c;
            draw_on(&c, &VIEW_LEDGER, (Side)side, 14, wide, MODE_256, false);
            canvas_free(&c);
            const Ledger *of[2] = {session_ledger(&session, SIDE_A), session_ledger(&session, SIDE_B)};
            float block[12] = {0}, most = 0;
            const LedgerEntry *e;
            int head;
            char text[16];
            for (int k = side == SIDE_DIFF ? SIDE_A : side; k <= SIDE_B && (side == SIDE_DIFF || k == side); k++)
                for (int i = 0; ledger_tributary(session_graph(&session, (Side)k), of[k - SIDE_A], i, &e, &head); i++) {
                    const Graph *g = session_graph(&session, (Side)k);
                    const float x = session_peek(
                        &session, (Side)k, graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head];
                    block[e->layer] += side == SIDE_DIFF && k == SIDE_B ? -x : x;
                }
            for (int i = 0; i < 12; i++)
                most = fabsf(block[i]) > fabsf(most) ? block[i] : most;
            number_text(text, sizeof text, most, 6);
            shows(&VIEW_LEDGER, (Side)side, 14, wide, text);
        }
    shows(&VIEW_LEDGER, SIDE_B, 14, 24, "0123456789ab");
    session_free(&session);
    config.layers = 24;
    open_config(&config, "#1");
    command("ledger");
    shows(&VIEW_LEDGER, SIDE_B, 14, 24, "the largest");
    session_free(&session);
}

/* Whatever is drawn, the largest part whose water is at least half a line high has its number. */
static void the_largest_of_a_river_has_its_number(void **state)
{
    (void)state;
    for (int picture = 0; picture < 12; picture++)
        for (int wide = 36; wide <= 84; wide += 12) {
            Canvas c;
            char line[32];
            snprintf(line, sizeof line, "open #%d; ledger", picture);
            command(line);
            draw_on(&c, &VIEW_LEDGER, SIDE_B, 17, wide, MODE_256, false);
            const Ledger *l = session_ledger(&session, SIDE_B);
            const Graph *g = session_graph(&session, SIDE_B);
            const LedgerEntry *e, *best = NULL;
            int head, of = -1;
            float most = 0;
            for (int i = 0; ledger_tributary(g, l, i, &e, &head); i++) {
                const float x = session_peek(&session, SIDE_B,
                                             graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head];
                if (!best || fabsf(x) > fabsf(most)) {
                    most = x;
                    best = e;
                    of = head;
                }
            }
            const bool tall = eighths(&c, best, of, most < 0) >= 4;
            canvas_free(&c);
            char text[16];
            number_text(text, sizeof text, most, 6);
            if (tall)
                shows(&VIEW_LEDGER, SIDE_B, 17, wide, text);
        }
}

/* Lines from y on in which such words stand in that style. */
static int lines_with(Canvas *c, int y, const char *words, Style style)
{
    int lines = 0;
    for (const int n = (int)strlen(words); y < c->h; y++)
        for (int x = 0; x + n <= c->w; x++) {
            int at = 0;
            for (const Cell *k = canvas_at(c, y, x); at < n && k[at].style == style && k[at].ch == (uint32_t)words[at];)
                at++;
            lines += at == n;
        }
    return lines;
}

/* The line of a river's bed. */
static int bed_line(Side side, int h, int w)
{
    Canvas c;
    int bed = -1, most = 0;
    draw_on(&c, &VIEW_LEDGER, side, h, w, MODE_256, false);
    for (int y = 0; y < h; y++) {
        int n = 0;
        for (int x = 0; x < w; x++)
            n += canvas_at(&c, y, x)->ch == 0x2581 && canvas_at(&c, y, x)->style == STYLE_BORDER;
        bed = n > most ? y : bed;
        most = n > most ? n : most;
    }
    canvas_free(&c);
    return bed;
}

/* The largest of a river's parts of one side, or of A − B, and what it wrote. */
static float largest_part(Side side, const LedgerEntry **of, int *of_head)
{
    const Side graph = side == SIDE_DIFF ? SIDE_B : side;
    const LedgerEntry *e;
    int head;
    float most = 0;
    for (int i = 0; ledger_tributary(session_graph(&session, graph), session_ledger(&session, graph), i, &e, &head);
         i++) {
        const char *path = graph_node(session_graph(&session, graph), head < 0 ? e->total : e->heads)->path;
        const size_t cell = head < 0 ? 0 : (size_t)head;
        const float *a = session_peek(&session, SIDE_A, path), *b = session_peek(&session, SIDE_B, path),
                    x = side == SIDE_A   ? a[cell]
                        : side == SIDE_B ? b[cell]
                                         : a[cell] - b[cell];
        if (fabsf(x) < fabsf(most))
            continue;
        most = x;
        *of = e;
        *of_head = head;
    }
    return most;
}

/* In narrow panes of A and B, whose numbers stand over other blocks' columns, too, the largest part has its number,
 * with its block and its name. */
static void the_largest_of_narrow_rivers_is_named(void **state)
{
    (void)state;
    static const int NARROW_OF[][2] = {{10, 24}, {12, 24}, {22, 28}, {24, 28}};
    command("model translator");
    command("open \"the animal did not cross the street because it was too tired\"; word tired wide; "
            "goto logits[t=qu']; ledger");
    for (size_t k = 0; k < sizeof NARROW_OF / sizeof *NARROW_OF; k++)
        for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
            Canvas c;
            draw_on(&c, &VIEW_LEDGER, (Side)side, NARROW_OF[k][0], NARROW_OF[k][1], MODE_256, false);
            canvas_free(&c);
            const LedgerEntry *e = NULL;
            int head = 0;
            char number[16], label[64];
            const float most = largest_part((Side)side, &e, &head);
            assert_true(e && head < 0);
            number_text(number, sizeof number, most, 6);
            snprintf(label, sizeof label, "%dM %s%s", e->layer, most > 0 ? "+" : "", number);
            shows(&VIEW_LEDGER, (Side)side, NARROW_OF[k][0], NARROW_OF[k][1], label);
        }
    /* one zero line, now that it is measured what is lost: more than anything that is drawn */
    for (int h = 10; h <= 24; h += 2)
        assert_int_equal(bed_line(SIDE_A, h, 34), bed_line(SIDE_B, h, 34));
}

/* The part of the cursor is in the list of the largest, whichever it is. */
static void the_largest_have_that_of_the_cursor(void **state)
{
    (void)state;
    command("ledger");
    for (int block = 0; block < 4; block++)
        for (int head = 0; head < 4; head++) {
            Canvas c;
            char line[32];
            snprintf(line, sizeof line, "block %d; head %d", block, head);
            command(line);
            draw_on(&c, &VIEW_LEDGER, SIDE_B, 34, 90, MODE_256, false);
            snprintf(line, sizeof line, "block %d head %d", block, head);
            const int marked = lines_with(&c, 17, line, STYLE_CURSOR);
            canvas_free(&c);
            if (marked != 1)
                fail_msg("%s is marked in %d lines of the list", line, marked);
        }
}

/* What is lost without a part goes further than anything written, and has its number. */
static void the_largest_loss_has_its_number(void **state)
{
    (void)state;
    command("model translator");
    command("open \"the animal did not cross the street because it was too tired\"; ledger; move left");
    /* the words above are about another part than the one that most is lost without */
    shows(&VIEW_LEDGER, SIDE_B, 17, 78, "lost without it"); /* it is measured */
    const Graph *g = session_graph(&session, SIDE_B);
    const LedgerEntry *e;
    int head;
    float most = 0;
    for (int i = 0; ledger_tributary(g, session_ledger(&session, SIDE_B), i, &e, &head); i++) {
        const float lost = session_ledger_effect(&session, SIDE_B, TAKEN_LINES, e, head);
        most = fabsf(lost) > fabsf(most) ? lost : most;
    }
    assert_true(fabsf(most) > fabsf(largest_part(SIDE_B, &e, &head)));
    char number[16];
    number_text(number, sizeof number, most, 6);
    Canvas c;
    draw_on(&c, &VIEW_LEDGER, SIDE_B, 17, 78, MODE_256, false);
    assert_int_equal(lines_with(&c, 4, number, STYLE_DIM), 1); /* below the words that have it, too */
    canvas_free(&c);
    int marked = 0; /* of a mark it stands straight over it, or right of it: not over another's */
    for (int w = 36; w < 78; w++) {
        draw_on(&c, &VIEW_LEDGER, SIDE_B, 17, w, MODE_256, false);
        for (int y = 4; y < c.h - 1; y++) /* below the words that have it, too */
            for (int x = 2; x + 3 < w; x++) {
                static const char WORD[] = "lost "; /* of a mark alone: a bar's number is as grey as the bar */
                const int before = canvas_at(&c, y, x - 2)->ch == 't' ? (int)sizeof WORD - 1 : 0;
                const Cell *under = canvas_at(&c, y + 1, x - before + (before + (int)strlen(number)) / 2),
                           *left = canvas_at(&c, y, x - before - 2);
                int at = 0;
                while (number[at] && x + at < w && canvas_at(&c, y, x + at)->ch == (uint32_t)number[at])
                    at++;
                if (number[at])
                    continue;
                marked++;
                if (under->ch != 0x2501 && under->ch != 0x2594 && left->ch != 0x2501 && left->ch != 0x2594 &&
                    left->ch != 0x2581 && canvas_at(&c, y, x + at)->ch != 0x2588)
                    fail_msg("at %d columns %s is not at its mark: line %d, column %d", w, number, y, x);
            }
        canvas_free(&c);
    }
    assert_true(marked > 0);
}

/* A value of the river stands straight over or under its own tributary, or has a line to it; none has lost its own.
 */
static void values_of_a_river_are_at_their_tributaries(void **state)
{
    (void)state;
    static const int WIDTHS_OF[] = {58, 78, 90, 120};
    int values = 0;
    for (size_t i = 0; i < sizeof WIDTHS_OF / sizeof *WIDTHS_OF; i++) {
        Canvas c;
        command("ledger");
        draw_on(&c, &VIEW_LEDGER, SIDE_B, 24, WIDTHS_OF[i], MODE_256, false);
        const Graph *g = session_graph(&session, SIDE_B);
        const Ledger *l = session_ledger(&session, SIDE_B);
        const LedgerEntry *e;
        int head;
        for (int t = 0; ledger_tributary(g, l, t, &e, &head); t++) {
            NodeId n = head < 0 ? e->total : e->heads;
            const size_t cell = head < 0 ? 0 : (size_t)head;
            int left = c.w, right = -1, row = -1, from = c.w, to = -1, water[256] = {0};
            for (int y = 5; y < c.h; y++) /* below the words about the cursor's */
                for (int x = 0; x < c.w; x++) {
                    const Cell *k = canvas_at(&c, y, x);
                    if (!k->ref.run || k->ref.node != n || k->ref.cell != cell)
                        continue;
                    if (k->ch >= 0x2581 && k->ch <= 0x2588) {
                        left = x < left ? x : left;
                        right = x > right ? x : right;
                        water[y] = 1;
                    } else if ((k->ch >= '0' && k->ch <= '9') || k->ch == '-' || k->ch == '.') {
                        assert_int_not_equal(canvas_at(&c, y, x - 1)->ch, 0x2501); /* which would be a minus */
                        from = x < from ? x : from;
                        to = x > to ? x : to;
                        row = y;
                    }
                }
            if (row < 0)
                continue;
            values++;
            assert_true(right >= left && from <= right && to >= left);
            bool below = false;
            for (int k = row; k < c.h; k++)
                below |= water[k];
            int step = below ? 1 : -1, y = row;
            bool led = false; /* without a line it is its middle that says whose it is */
            for (int x = left; x <= right; x++)
                led |= canvas_at(&c, row + step, x)->ch == 0x2502;
            if (!led && abs(from + to - left - right) > right - left + 3)
                fail_msg("width %d: the value of tributary %d stands over another", WIDTHS_OF[i], t);
            do
                y += step;
            while (y > 0 && y < c.h &&
                   (canvas_at(&c, y, left)->ch == 0x2502 || canvas_at(&c, y, (left + right + 1) / 2)->ch == 0x2502));
            bool reached = false;
            for (int x = left; x <= right; x++)
                reached |= canvas_at(&c, y, x)->ref.node == n && canvas_at(&c, y, x)->ref.run;
            if (!reached)
                fail_msg("width %d: the value of tributary %d in line %d does not lead to it", WIDTHS_OF[i], t, row);
        }
        canvas_free(&c);
    }
    assert_true(values >= 16);
}

/* The river of A − B: every tributary is as long as what its part wrote in A, less that in B; together, and with what
 * is neither head nor MLP, they are the difference of the numbers. */
static void a_river_of_both(void **state)
{
    (void)state;
    Canvas c;
    command("ledger; set scale off");
    draw_on(&c, &VIEW_LEDGER, SIDE_DIFF, 34, 90, MODE_256, false);
    const Ledger *l = session_ledger(&session, SIDE_B);
    const Graph *g = session_graph(&session, SIDE_B);
    const LedgerEntry *e;
    int head, longest = 0, drawn_ones = 0;
    float most = 0, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; ledger_tributary(g, l, i, &e, &head); i++) {
            const char *path = graph_node(g, head < 0 ? e->total : e->heads)->path;
            size_t cell = (size_t)(head < 0 ? 0 : head);
            float x = session_peek(&session, SIDE_A, path)[cell] - session_peek(&session, SIDE_B, path)[cell];
            int n = eighths(&c, e, head, x < 0);
            float want = pass ? fabsf(x) * (float)longest / most : 0;
            float off = want < 8 ? 7.1f : x < 0 ? 4.1f : 1.1f; /* what ends in the stream's own cell fills it */
            if (pass && fabsf((float)n - want) > off)
                fail_msg("tributary %d is %d eighths long, not %g", i, n, (double)want);
            if (pass)
                continue;
            longest = fabsf(x) > most ? n : longest;
            most = fmaxf(most, fabsf(x));
            sum += x;
            drawn_ones += n > 0;
        }
    const char *start = graph_node(g, l->start)->path, *value = graph_node(g, l->value)->path;
    sum += *session_peek(&session, SIDE_A, start) - *session_peek(&session, SIDE_B, start);
    assert_true(fabsf(sum - (*session_peek(&session, SIDE_A, value) - *session_peek(&session, SIDE_B, value))) < 1e-4f);
    assert_true(longest > 20 && drawn_ones >= 8);
    canvas_free(&c);
    shows(&VIEW_LEDGER, SIDE_DIFF, 34, 90, "more in A than in B");
    for (int wide = 24; wide <= 96; wide += 24) /* it is drawn as large as there is room, A and B are not */
        shows(&VIEW_LEDGER, SIDE_DIFF, 34, wide, "own scale");
}

/* A cell of the table has the more colour the more its part wrote, of the scale that is drawn; that of the cursor is
 * one piece. What is out is out at the token that is read: that is said in the river. */
static void a_table_has_the_colours_of_its_scale(void **state)
{
    (void)state;
    Canvas c;
    char bound[16];
    command("ledger; option ledger-table on");
    draw_on(&c, &VIEW_LEDGER, SIDE_B, 20, 78, MODE_256, false);
    const Graph *g = session_graph(&session, SIDE_B);
    const Ledger *l = session_ledger(&session, SIDE_B);
    const LedgerEntry *e;
    const int here = ledger_here(&session, SIDE_B);
    int head, level[24] = {0}, count = 0;
    float wrote[24], most = 0;
    for (; count < 24 && ledger_tributary(g, l, count, &e, &head); count++) {
        const NodeId n = head < 0 ? e->total : e->heads;
        const size_t cell = head < 0 ? 0 : (size_t)head;
        wrote[count] = session_peek(&session, SIDE_B, graph_node(g, n)->path)[cell];
        most = fmaxf(most, fabsf(wrote[count]));
        int cells = 0, blanks = 0;
        for (int y = 0; y < c.h; y++)
            for (int x = 20; x < c.w; x++) { /* right of the votes */
                const Cell *k = canvas_at(&c, y, x);
                if (k->ref.run && k->ref.node == n && k->ref.cell == cell) {
                    level[count] = count == here || k->bg == COLOUR_DEFAULT ? 0 : k->level;
                    cells++;
                }
                blanks += k->style == STYLE_CURSOR && (k - 1)->ch == '[';
            }
        assert_true(cells > 3 && (count != here || blanks == 1));
    }
    number_text(bound, sizeof bound, most, 6);
    bool said = false; /* the scale of its colours */
    for (int i = 0; i + (int)sizeof bound < c.h * c.w; i++) {
        size_t same = 0;
        while (c.cells[i].ch == 0xb1 && bound[same] && c.cells[i + 1 + (int)same].ch == (uint32_t)bound[same])
            same++;
        said |= same > 0 && !bound[same];
    }
    canvas_free(&c);
    assert_true(count >= 20 && said);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (i != here && k != here && wrote[i] > 0 && wrote[k] > wrote[i])
                assert_true(level[k] >= level[i]);
    command("option ledger-table off");
    assert_true(l->token >= 0);
    shows(&VIEW_LEDGER, SIDE_B, 20, 78, "at this token");
}

/* Lines in which a table draws what the MLPs wrote, and how many heads of block 0 it draws. */
static int table_drawn(Side side, int high, int wide, int line[12])
{
    Canvas c;
    int heads = 0, head, of[16] = {0}, count = 0;
    draw_on(&c, &VIEW_LEDGER, side, high, wide, MODE_256, false);
    const Ledger *l = session_ledger(&session, side);
    const LedgerEntry *e;
    for (int i = 0; ledger_tributary(session_graph(&session, side), l, i, &e, &head); i++) {
        int at = -1;
        for (int k = 0; k < c.h * c.w && at < 0; k++)
            if (c.cells[k].ref.run && c.cells[k].ref.node == (head < 0 ? e->total : e->heads) &&
                c.cells[k].ref.cell == (size_t)(head < 0 ? 0 : head))
                at = k / c.w;
        if (head >= 0 && e->layer == 0 && count < 16)
            of[count++] = at;
        if (head < 0 && e->layer < 12)
            line[e->layer] = at;
    }
    for (int i = 0; i < count; i++) /* not in a list below */
        heads += of[i] == line[0];
    canvas_free(&c);
    return heads;
}

/* The same parts of A and B stand in the same lines, and no head is left out for a map of votes. */
static void tables_of_both_are_alike(void **state)
{
    (void)state;
    command("ledger; option ledger-table on; set scale off");
    for (int high = 12; high <= 40; high += 14)
        for (int wide = 24; wide <= 46; wide += 11) {
            int line[2][12] = {{0}};
            const int heads = table_drawn(SIDE_A, high, wide, line[0]);
            assert_int_equal(heads, table_drawn(SIDE_B, high, wide, line[1]));
            assert_true(heads >= (wide < 28 ? 1 : wide < 42 ? 2 : 4) || high < 40);
            assert_memory_equal(line[0], line[1], sizeof line[0]);
        }
    command("option ledger-table off");
    session_free(&session);
    VitConfig config;
    assert_true(model_size("tiny", &config));
    config.layers = config.heads = 12;
    config.head_dim = 2;
    config.width = config.mlp = 24;
    config.scale = vit_scale(config.head_dim);
    open_config(&config, "#1");
    command("ledger; option ledger-table on");
    int line[12];
    assert_true(table_drawn(SIDE_B, 34, 88, line) >= 6);
    assert_int_equal(table_drawn(SIDE_B, 50, 146, line), 12);
    command("option ledger-table off");
}

/* Rows of patches without room: those around the picked one are shown, it among them, and which they are is said. */
static void rows_without_room_are_told(void **state)
{
    (void)state;
    static const struct {
        const ViewSpec *view;
        const char *go, *pick;
        int lines; /* below the maps and above */
    } OF[] = {{&VIEW_ALIKE, "alike", "query", 2},
              {&VIEW_WHERE, "where", "query", 2},
              {&VIEW_ROW, "goto blocks.1.attn.pattern; view row", "looked", 3}};
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        command(OF[i].go);
        for (int high = 7; high <= 9; high++)
            for (int row = 0; row < 8; row++) {
                char line[32];
                int first = 0, last = 0;
                bool picked = false;
                Canvas c;
                Buf out = {0};
                snprintf(line, sizeof line, "%s r%dc2", OF[i].pick, row);
                command(line);
                const char *said = strstr(drawn(OF[i].view, SIDE_A, high, 58, &out), "rows ");
                if (!said || sscanf(said, "rows %d-%d of 8", &first, &last) != 2)
                    fail_msg("%s of %d lines does not say which rows:\n%s", OF[i].view->name, high, buf_str(&out));
                assert_int_equal(last - first + 1, high - OF[i].lines);
                assert_true(first >= 1 && last <= 8 && row + 1 >= first && row + 1 <= last);
                draw_on(&c, OF[i].view, SIDE_A, high, 58, MODE_MONO, true);
                for (int k = 0; k < c.h * c.w; k++)
                    picked |= c.cells[k].ch == '!' && c.cells[k].ref.run;
                assert_true(picked && c.cursor_y >= 0);
                canvas_free(&c);
                buf_free(&out);
            }
    }
    Buf out = {0};
    assert_null(strstr(drawn(&VIEW_ROW, SIDE_A, 14, 58, &out), "rows "));
    command("alike");
    assert_null(strstr(drawn(&VIEW_ALIKE, SIDE_A, 12, 58, &out), "rows "));
    buf_free(&out);
}

/* Where the picture beside the votes' map has outlines, it says of what; all colours light it instead, however large:
 * votes for, with more red than blue, and those against the other way round. */
static void outlines_of_votes_are_explained(void **state)
{
    (void)state;
    enum { GOLD = 0xffd700 };
    int some = 0, hued = 0;
    command("ledger");
    for (int high = 40; high <= 54; high += 7)
        for (int wide = 100; wide <= 146; wide += 23)
            for (int mode = MODE_256; mode <= MODE_TRUE; mode++) {
                Canvas c;
                bool lined = false, said = false;
                draw_on(&c, &VIEW_LEDGER, SIDE_B, high, wide, (ColourMode)mode, false);
                const Graph *g = session_graph(&session, SIDE_B);
                const NodeId votes = session_ledger(&session, SIDE_B)->votes;
                const float *x = session_peek(&session, SIDE_B, graph_node(g, votes)->path);
                float most = 0;
                for (size_t i = 0; i < graph_cells(g, votes); i++)
                    most = fmaxf(most, fabsf(x[i]));
                for (int k = 0; k < c.h * c.w; k++) {
                    const Cell *cell = &c.cells[k];
                    lined |= cell->fg == GOLD || cell->bg == GOLD;
                    said |= cell->ch == 0x2265; /* "≥0.413" */
                    if (mode != MODE_TRUE || !cell->level || !cell->ref.run || cell->ref.node != votes ||
                        fabsf(x[cell->ref.cell]) < most / 4)
                        continue;
                    const int red = (int)(cell->fg >> 16 & 0xff), blue = (int)(cell->fg & 0xff);
                    assert_true(x[cell->ref.cell] > 0 ? red > blue : blue > red);
                    hued++;
                }
                assert_true(lined == said);
                assert_true(!lined || mode != MODE_TRUE);
                some += lined;
                canvas_free(&c);
            }
    assert_true(some > 0 && hued > 0);
}

/* On the path of a river no number is called a part of a smaller one, or of one against it. */
static void a_path_of_a_river_has_no_part_above_its_whole(void **state)
{
    (void)state;
    int parts = 0, wholes = 0;
    for (int picture = 5; picture < 10; picture++) {
        LedgerVia via;
        char line[32], part[64], text[2][16];
        snprintf(line, sizeof line, "open #%d; ledger; why", picture);
        command(line);
        step_to_the_end();
        for (int step = 0; ledger_via(&session, SIDE_B, step, &via); step++) {
            const bool inside = via.wrote * via.vote >= 0 && fabsf(via.wrote) <= fabsf(via.vote);
            number_text(text[0], sizeof text[0], via.wrote, 7);
            number_text(text[1], sizeof text[1], via.vote, 7);
            Buf out = {0};
            drawn(&VIEW_LEDGER, SIDE_B, 40, 240, &out);
            snprintf(part, sizeof part, " %s of %s", text[0], text[1]);
            const bool called_part = strstr(buf_str(&out), part);
            snprintf(part, sizeof part, " %s, in all %s", text[0], text[1]);
            assert_true(!called_part || inside);
            parts += inside && called_part;
            wholes += !inside && strstr(buf_str(&out), part);
            buf_free(&out);
        }
    }
    assert_true(parts > 3 && wholes > 1);
}

/* The line of a path names each token on it, its words each base; the key of M is no part of the word beside it. */
static void a_path_of_a_river_names_its_stops(void **state)
{
    (void)state;
    Buf out = {0};
    command("open #17; ledger; why");
    step_to_the_end();
    shows(&VIEW_LEDGER, SIDE_B, 36, 90, "block 1 head 0 wrote 0.050 of 0.268 into r1c0, from r1c2");
    shows(&VIEW_LEDGER, SIDE_B, 36, 90, " r1c0 .---");
    shows(&VIEW_LEDGER, SIDE_B, 19, 78, "block 3 M: MLP sum");
    drawn(&VIEW_LEDGER, SIDE_B, 19, 78, &out);
    assert_null(strstr(buf_str(&out), "; …"));
    buf_free(&out);
}

/* Beside each other: how to see what is lost, and in every pane that has such bars where those of the other sign begin;
 * blocks without a column between them have two tints. */
static void rivers_of_a_and_b_say_what_they_lack(void **state)
{
    (void)state;
    command("open #66; set scale off; ledger");
    step_to_the_end();
    shows(&VIEW_LEDGER, SIDE_A, 42, 48, "lost: undo with u");
    shows(&VIEW_LEDGER, SIDE_B, 26, 28, "lost: zoom B with z");
    for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
        shows(&VIEW_LEDGER, (Side)side, 42, 48, "other sign than the river: bar from 0");
        shows(&VIEW_LEDGER, (Side)side, 12, 24, "other sign");
    }
    Canvas c;
    draw_on(&c, &VIEW_LEDGER, SIDE_B, 12, 24, MODE_256, false);
    assert_int_equal(lines_with(&c, 2, "0123M", STYLE_AXIS), 2); /* blocks 0 and 2 */
    assert_int_equal(lines_with(&c, 2, "0123M", STYLE_TEXT), 1); /* 1; in 3 is the cursor */
    canvas_free(&c);
}

/* At every width the largest step of a path is told with the numbers, and whose it is; where there is room also the
 * token that was read, and none of it is cut. */
static void a_path_of_a_river_names_its_heads(void **state)
{
    (void)state;
    Buf out = {0};
    command("open #17; ledger; why");
    step_to_the_end();
    LedgerVia via;
    assert_true(ledger_via(&session, SIDE_B, 0, &via));
    char number[2][16], said[64], from[64], label[64];
    number_text(number[0], sizeof number[0], via.wrote, 7);
    number_text(number[1], sizeof number[1], via.vote, 7);
    snprintf(said, sizeof said, " %s of %s", number[0], number[1]);
    const Graph *g = session_graph(&session, SIDE_B);
    const Axis *tokens = &g->axes[node_role(g, via.entry->tokens, ROLE_KEY)];
    snprintf(from, sizeof from, ", from %s", axis_label(tokens, via.token, label, sizeof label));
    for (int wide = 24; wide <= 120; wide += 4)
        for (int high = 16; high <= 24; high += 8) {
            drawn(&VIEW_LEDGER, SIDE_B, high, wide, &out);
            const char *at = strstr(buf_str(&out), said), *line = at;
            if (!at)
                fail_msg("%d columns: no%s in\n%s", wide, said, buf_str(&out));
            while (line > buf_str(&out) && line[-1] != '\n')
                line--;
            char name[2][32];
            snprintf(name[0], sizeof name[0], "%d h%d", via.entry->layer, via.head);
            snprintf(name[1], sizeof name[1], "block %d head %d", via.entry->layer, via.head);
            const char *named = strstr(line, name[0]) ? strstr(line, name[0]) : strstr(line, name[1]);
            assert_true(named && named < at);
            assert_true(wide < 66 || strstr(at, from) == at + strlen(said) || strstr(at, " into "));
        }
    buf_free(&out);
}

/* The legend of a river is whole at every width, or not there. */
static void a_legend_of_a_river_is_not_cut(void **state)
{
    (void)state;
    Buf out = {0};
    command("ledger; set scale off");
    for (int side = SIDE_A; side <= SIDE_DIFF; side++)
        for (int wide = 18; wide < 60; wide++) {
            const char *line = drawn(&VIEW_LEDGER, (Side)side, 12, wide, &out);
            for (int y = 0; y < 2; y++) {
                line = strchr(line, '\n');
                assert_non_null(line);
                line++;
            }
            const char *end = strchr(line, '\n'), *cut = strchr(line, '~');
            if (cut && cut < end)
                fail_msg("side %d, %d columns: '%.*s'", side, wide, (int)(end - line), line);
        }
    buf_free(&out);
}

/* The colour of the patch in A and in B stands for the same vote: the scales that are drawn say so. */
static void votes_of_both_on_one_scale(void **state)
{
    (void)state;
    char bound[2][16];
    command("ledger; set scale off");
    float most[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        const Ledger *l = session_ledger(&session, (Side)k);
        const Graph *g = session_graph(&session, (Side)k);
        Canvas c;
        draw_on(&c, &VIEW_LEDGER, (Side)k, 40, 60, MODE_256, false);
        canvas_free(&c);
        const float *x = session_peek(&session, (Side)k, graph_node(g, l->votes)->path);
        assert_non_null(x);
        for (size_t i = 0; i < graph_cells(g, l->votes); i++)
            most[k] = fmaxf(most[k], fabsf(x[i]));
        number_text(bound[k], sizeof bound[k], most[k], 6);
    }
    assert_string_not_equal(bound[0], bound[1]);
    for (int k = 0; k < 2; k++)
        shows(&VIEW_LEDGER, (Side)k, 40, 60, bound[most[1] > most[0]]);
}

/* Where three of them stand beside each other there is room for all of a number, of the legend, and in the title for
 * the two classes by name. */
static void narrow_rivers_of_two_sides(void **state)
{
    (void)state;
    command("ledger; set scale off");
    for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
        Canvas c;
        Buf title = {0};
        draw_on(&c, &VIEW_LEDGER, (Side)side, 12, 24, MODE_256, false);
        canvas_free(&c);
        const Ledger *l = session_ledger(&session, side == SIDE_A ? SIDE_A : SIDE_B);
        const Graph *g = session_graph(&session, side == SIDE_A ? SIDE_A : SIDE_B);
        const LedgerEntry *e;
        int head;
        char number[24], said[64], of[2][32];
        assert_true(ledger_tributary(g, l, ledger_here(&session, (Side)side), &e, &head) && head >= 0);
        const char *path = graph_node(g, e->heads)->path;
        const float *a = session_peek(&session, SIDE_A, path), *b = session_peek(&session, SIDE_B, path);
        number_text(number, sizeof number, side == SIDE_A ? a[head] : side == SIDE_B ? b[head] : a[head] - b[head], 6);
        utf8_print(said, sizeof said, "head %d: %s", head, number);
        shows(&VIEW_LEDGER, (Side)side, 12, 24, said);
        shows(&VIEW_LEDGER, (Side)side, 12, 24, side == SIDE_DIFF ? " less" : "takes");
        const char *value = graph_node(g, l->value)->path;
        const float *va = session_peek(&session, SIDE_A, value), *vb = session_peek(&session, SIDE_B, value);
        number_text(number, sizeof number, side == SIDE_A ? *va : side == SIDE_B ? *vb : *va - *vb, 7);
        Buf out = {0};
        const char *water = drawn(&VIEW_LEDGER, (Side)side, 12, 24, &out);
        for (int line = 0; line < 3; line++)
            water = strchr(water, '\n') + 1;
        assert_non_null(strstr(water, number)); /* the sum is at the river's end */
        buf_free(&out);
        const Axis *classes = &g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)];
        utf8_print(said, sizeof said, "\n%s − %s", axis_label(classes, (int)session.ledger.cell, of[0], sizeof of[0]),
                   axis_label(classes, (int)session.ledger.against, of[1], sizeof of[1]));
        VIEW_LEDGER.title(&session, (Side)side, &title);
        assert_true(title.len > strlen(said));
        assert_string_equal(buf_str(&title) + title.len - strlen(said), said);
        buf_free(&title);
    }
}

/* With a head out in B (an entry of its own there) the river of A − B is of the parts that both have; of the one that
 * is out it is all that A's wrote, and that is said. */
static void a_river_without_a_head(void **state)
{
    (void)state;
    Canvas c;
    const LedgerEntry *e;
    char said[96];
    int head = -1, flows = 0;
    command("ledger; ablate blocks.2.attn.z[h=1]; block 2; head 1");
    draw_on(&c, &VIEW_LEDGER, SIDE_DIFF, 34, 90, MODE_256, false);
    canvas_free(&c);
    const Ledger *a = session_ledger(&session, SIDE_A), *l = session_ledger(&session, SIDE_B);
    const Graph *of = session_graph(&session, SIDE_A), *g = session_graph(&session, SIDE_B);
    assert_int_equal(l->count, a->count + 1);
    float sum = *session_peek(&session, SIDE_A, graph_node(of, a->start)->path) -
                *session_peek(&session, SIDE_B, graph_node(g, l->start)->path);
    for (int i = 0; ledger_tributary(g, l, i, &e, &head); i++, flows++) {
        const char *path = graph_node(g, head < 0 ? e->total : e->heads)->path;
        size_t cell = (size_t)(head < 0 ? 0 : head);
        const float x = session_peek(&session, SIDE_A, path)[cell], y = session_peek(&session, SIDE_B, path)[cell];
        sum += x - y;
        if (head != 1 || e->layer != 2)
            continue;
        assert_true(fabsf(x) > 0 && fabsf(y) <= 0);
        utf8_print(said, sizeof said, "wrote %.4g %s in A than in B, 0 in B: out", fabs((double)x),
                   x < 0 ? "less" : "more");
    }
    const char *value = graph_node(g, l->value)->path;
    assert_true(flows >= 20 &&
                fabsf(sum - (*session_peek(&session, SIDE_A, value) - *session_peek(&session, SIDE_B, value))) < 1e-4f);
    shows(&VIEW_LEDGER, SIDE_DIFF, 34, 90, said);
    command("head 2");
    shows(&VIEW_LEDGER, SIDE_DIFF, 34, 90, "in A than in B ");
}

/* Brackets on the patch of that cell: how many; any on another one, or one that leads elsewhere, is a failure. */
static int marks_at(const char *what, Side side, int h, int w, const char *path, size_t cell)
{
    Canvas c;
    int marks = 0;
    draw_on(&c, &VIEW_LEDGER, side, h, w, MODE_256, false);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x + 1 < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            if (k->ch != '[' || k->bg == COLOUR_DEFAULT)
                continue;
            const Graph *g = session_graph(&session, side);
            if (strcmp(graph_node(g, k->ref.node)->path, path) != 0 || k->ref.cell != cell)
                fail_msg("%s, side %d, %d × %d: %s[%zu] is marked, not %s[%zu]", what, side, h, w,
                         graph_node(g, k->ref.node)->path, (size_t)k->ref.cell, path, cell);
            marks++;
        }
    canvas_free(&c);
    return marks;
}

/* The patch that the sentence of `why` names is the one that is marked, on both sides and at every size at which there
 * is a picture: also where another one wrote more in A. */
static void why_marks_the_patch_it_names(void **state)
{
    (void)state;
    static const char *const OF[] = {"open #66", "set scale off", "open #17", "open #8"};
    static const int PANES[][2] = {{26, 28}, {23, 28}, {34, 90}, {39, 48}, {17, 78}};
    int others = 0;
    for (size_t k = 0; k < sizeof OF / sizeof *OF; k++) {
        char label[32], named[48];
        command(OF[k]);
        command("ledger off; option one-head-votes off; ledger; why"); /* the sentence, not the chain behind it */
        const Graph *g = session_graph(&session, SIDE_B);
        const LedgerEntry *e = ledger_heads_here(&session, SIDE_B);
        const Axis *tokens = &g->axes[node_role(g, e->tokens, ROLE_KEY)];
        const int head = session_head(&session), token = ledger_why_token(&session, SIDE_B, e, head);
        assert_true(token >= tokens->prefix);
        utf8_print(named, sizeof named, " %s", axis_label(tokens, token, label, sizeof label));
        assert_non_null(strstr(buf_str(&session.said), named));
        const char *path = graph_node(g, e->tokens)->path;
        const size_t first = (size_t)head * (size_t)tokens->n, cell = first + (size_t)token;
        for (size_t i = 0; i < sizeof PANES / sizeof *PANES; i++)
            for (int side = SIDE_A; side <= (session_compares(&session) ? SIDE_B : SIDE_A); side++)
                if (!marks_at(OF[k], (Side)side, PANES[i][0], PANES[i][1], path, cell))
                    fail_msg("%s, side %d: no patch is marked in %d × %d", OF[k], side, PANES[i][0], PANES[i][1]);
        assert_int_equal(marks_at(OF[k], SIDE_B, 12, 24, path, cell), 0); /* the river has all of the room */
        const float *a = session_peek(&session, SIDE_A, path) + first;
        for (int i = tokens->prefix; i < tokens->n; i++)
            others += fabsf(a[i]) > fabsf(a[token]);
    }
    assert_true(others > 0);
    command("undo");
}

/* The head at which the path of `why` begins stands in front of it by name, and where there is a line for it what it
 * wrote of which vote, at every width of a pane: also where its column is one of the others'. */
static void why_names_the_head_where_its_path_begins(void **state)
{
    (void)state;
    static const int PANES[][2] = {{12, 24}, {26, 28}, {44, 48}, {34, 90}, {17, 78}};
    command("set scale off; ledger; why");
    for (int side = SIDE_A; side <= SIDE_B; side++) {
        Buf first = {0};
        LedgerVia via, last = {.head = -1};
        int steps = 0;
        drawn(&VIEW_LEDGER, (Side)side, 34, 90, &first); /* what is drawn is computed */
        buf_free(&first);
        for (; ledger_via(&session, (Side)side, steps, &via); steps++)
            last = via;
        assert_int_equal(steps, 1); /* else its number is on a piece of its own */
        for (size_t i = 0; i < sizeof PANES / sizeof *PANES; i++) {
            Buf out = {0};
            char brief[32], whole[48], wrote[16], vote[16], part[48];
            utf8_print(brief, sizeof brief, "%d h%d", last.entry->layer, last.head);
            utf8_print(whole, sizeof whole, "block %d head %d", last.entry->layer, last.head);
            number_text(wrote, sizeof wrote, last.wrote, 7);
            number_text(vote, sizeof vote, last.vote, 7);
            utf8_print(part, sizeof part, "%s of %s", wrote, vote);
            const char *screen = drawn(&VIEW_LEDGER, (Side)side, PANES[i][0], PANES[i][1], &out);
            if (!strstr(screen, brief) && !strstr(screen, whole))
                fail_msg("no \"%s\" in %d × %d:\n%s", brief, PANES[i][0], PANES[i][1], screen);
            if (PANES[i][0] > 12 && PANES[i][1] < 50 && !strstr(screen, part))
                fail_msg("no \"%s\" in %d × %d:\n%s", part, PANES[i][0], PANES[i][1], screen);
            assert_non_null(strstr(screen, vote)); /* what it is a part of stands there, if nowhere else, alone */
            buf_free(&out);
        }
    }
    command("undo");
}

/* Behind `why` the votes are painted over a grey picture: a patch that gave nothing has no colour, whatever the picture
 * has there. */
static void votes_are_seen_over_the_picture(void **state)
{
    (void)state;
    Canvas c;
    int grey = 0, coloured = 0;
    command("set scale off; ledger; why");
    draw_on(&c, &VIEW_LEDGER, SIDE_A, 26, 28, MODE_TRUE, false);
    const Graph *g = session_graph(&session, SIDE_A);
    const LedgerEntry *e = ledger_heads_here(&session, SIDE_A);
    const Axis *tokens = &g->axes[node_role(g, e->tokens, ROLE_KEY)];
    const float *x = session_peek(&session, SIDE_A, graph_node(g, e->tokens)->path);
    const size_t first = (size_t)session_head(&session) * (size_t)tokens->n;
    float most = 0;
    for (Side side = SIDE_A; side <= SIDE_B; side++) {
        const float *of = session_peek(&session, side, graph_node(g, e->tokens)->path) + first;
        for (int i = tokens->prefix; i < tokens->n; i++)
            most = fmaxf(most, fabsf(of[i]));
    }
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = canvas_at(&c, i / c.w, i % c.w);
        if (!k->ref.run || k->ref.node != e->tokens || k->ch != 0x2580)
            continue;
        const float share = fabsf(x[k->ref.cell]) / most;
        const int red = (int)(k->fg >> 16 & 0xff), blue = (int)(k->fg & 0xff), apart = abs(red - blue);
        if (share < 0.01f && apart > 12)
            fail_msg("a patch with %g of the most has the colour %06x", (double)share, (unsigned)k->fg);
        grey += share < 0.01f;
        coloured += share > 0.1f && apart > 24;
    }
    assert_true(grey > 32 && coloured > 0);
    canvas_free(&c);
    command("undo");
}

/* Behind `why` the picture is in the votes' place: where it has lines no scale of colours stands below it, but the
 * colour of its lines and the least number that has one, a quarter of the largest in A and B. */
static void the_picture_of_votes_says_what_its_lines_are(void **state)
{
    (void)state;
    enum { ABOVE = 0xffd700, BELOW = 0x5ab4ff, TOKENS = 65 };
    Canvas c;
    Err err = {""};
    const LedgerEntry *e;
    int head, keys[2] = {0}, key_y = 0, others = 0, lined = 0;
    bool line[TOKENS] = {false};
    command("set scale off; ledger; why");
    draw_on(&c, &VIEW_LEDGER, SIDE_B, 44, 48, MODE_256, false);
    const Graph *g = session_graph(&session, SIDE_B);
    const Ledger *l = session_ledger(&session, SIDE_B);
    assert_true(ledger_tributary(g, l, ledger_here(&session, SIDE_B), &e, &head));
    float most = 0, own[TOKENS];
    for (Side side = SIDE_A; side <= SIDE_B; side++) {
        const float *x = session_need(&session, side, graph_node(g, e->tokens)->path, &err);
        assert_non_null(x);
        for (int i = 1; i < TOKENS; i++) {
            own[i] = x[head * TOKENS + i];
            most = fmaxf(most, fabsf(own[i]));
        }
    }
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            for (int i = 0; i < 2 && k->level; i++) {
                const Colour colour = i ? BELOW : ABOVE;
                if (k->ref.run && k->ref.node == e->tokens && (k->fg == colour || k->bg == colour))
                    line[k->ref.cell - (size_t)head * TOKENS] = true;
                else if (!k->ref.run && k->fg == colour) {
                    keys[i]++;
                    key_y = y;
                }
            }
        }
    assert_true(keys[0] == 1 && keys[1] == 1);
    char number[16], said[2][24], text[256] = "";
    size_t n = 0;
    for (int x = 0; x < 36; x++) {
        const Cell *k = canvas_at(&c, key_y, x);
        others += k->level > 0;
        n += k->ch < 0x80 ? (size_t)snprintf(text + n, sizeof text - n, "%c", (char)k->ch)
                          : (size_t)snprintf(text + n, sizeof text - n, "%s", k->ch == 0x2265 ? "≥" : "≤");
    }
    number_text(number, sizeof number, most / 4, 5);
    snprintf(said[0], sizeof said[0], "≥%s", number);
    snprintf(said[1], sizeof said[1], "≤-%s", number);
    assert_true(strstr(text, said[0]) && strstr(text, said[1]));
    assert_int_equal(others, 2);       /* no scale */
    for (int i = 1; i < TOKENS; i++) { /* a cell whose halves are of two patches is the upper one's */
        const bool here = fabsf(own[i]) >= most / 4, below = i + 8 < TOKENS && fabsf(own[i + 8]) >= most / 4;
        assert_true(here ? line[i] : !line[i] || below);
        lined += here;
    }
    assert_true(lined > 0);
    canvas_free(&c);
}

static void many_blocks_and_classes(void **state)
{
    (void)state;
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.layers = 20;
    c.registers = 3;
    c.classes = 1000;
    c.mask_token = c.reconstruct = true;
    open_config(&c, "#1");
    command("where; hide random 0.3");
    for (int k = 0; k < VIEW_SPECS; k++)
        for (Side side = SIDE_A; side <= SIDE_DIFF; side++)
            draw_all(VIEWS[k], side);
    command("lens 18 999");
    shows(&VIEW_LENS, SIDE_DIFF, 40, 78, ">after block 18");
    Buf out = {0};
    assert_null(strstr(drawn(&VIEW_LENS, SIDE_DIFF, 40, 78, &out), "computing"));
    buf_free(&out);
    shows(&VIEW_LENS, SIDE_B, 17, 78, "999"); /* the picked class has a column */
    session_free(&session);
}

static int times(const char *text, const char *words)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        n++;
    return n;
}

/* Each picture that excites a unit has its class in full, or the line below says how many have room. */
static void pictures_that_are_left_out_are_counted(void **state)
{
    (void)state;
    int left_out = 0, below = 0;
    command("option pictures 500; neuron 1.5; neuron measure");
    const NeuronShown *n = session_neuron(&session, NULL);
    const Graph *g = session_graph(&session, SIDE_A);
    const Axis *classes = &g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)];
    assert_true(n && n->count > 6);
    for (int w = 70; w < 100; w += 2)
        for (int h = 12; h < 26; h++) {
            const int aside = clamp(w * 2 / 5, 24, 44) + 2;
            Canvas c;
            Buf text = {0};
            char said[32], label[64];
            int shown = 0;
            draw_on(&c, &VIEW_NEURON, SIDE_A, h, w, MODE_256, false);
            for (int y = 0; y < c.h; y++)
                for (int x = 3; x < 3 + w - aside; x++) {
                    const Cell *k = canvas_at(&c, y, x);
                    buf_putc(&text, k->level || k->ch > '~' ? '~' : (char)k->ch);
                }
            for (int k = 0; k < n->count; k++) {
                bool before = false;
                for (int j = 0; j < k; j++)
                    before |= n->label[j] == n->label[k];
                shown += before ? 0 : times(buf_str(&text), axis_label(classes, n->label[k], label, sizeof label));
            }
            snprintf(said, sizeof said, "%d of %d shown", shown, n->count);
            const bool counted = strstr(buf_str(&text), said);
            if (counted != (shown < n->count))
                fail_msg("%d × %d: %s", h, w, said);
            left_out += counted;
            below += !counted;
            buf_free(&text);
            canvas_free(&c);
        }
    assert_true(left_out > 0 && below > 0);
}

/* Of a list of A and B every class that there is room for is in it. */
static void a_list_of_ab_fills_its_pane(void **state)
{
    (void)state;
    Buf out = {0};
    command("open #66; set scale off; goto logits; view answer");
    drawn(&VIEW_ANSWER, SIDE_B, 9, 58, &out);
    assert_non_null(strstr(buf_str(&out), "circle"));
    assert_non_null(strstr(buf_str(&out), " 4 more, none by as much as 0.1 points"));
    buf_free(&out);
}

/* The lines of a list of A and B that tell a difference: which words they are of. Returns how many; *rows: lines from
 * the first to the last. */
static int words_listed(Canvas *c, const Shown *diff, size_t *which, int most, int *rows)
{
    int n = 0, first = -1, last = -1;
    for (int y = 0; y < c->h; y++) {
        bool here = false;
        for (int x = 0; x < c->w && !here && n < most; x++)
            for (size_t i = 0; i < diff->count && !here; i++)
                if (c->cells[y * c->w + x].ref.run && ref_same(c->cells[y * c->w + x].ref, shown_ref(diff, i))) {
                    which[n++] = i;
                    here = true;
                    first = first < 0 ? y : first;
                    last = y;
                }
    }
    *rows = last - first + 1;
    return n;
}

/* Words are listed that moved by what can be seen, at most a dozen, with their logits where there is room; what is said
 * of the others is true. */
static void words_that_did_not_move_are_counted(void **state)
{
    (void)state;
    static const struct {
        int height, width, words, lines; /* lines: of a word */
    } CASES[] = {{16, 40, 6, 1}, {29, 58, 6, 3}, {48, 104, 12, 3}, {58, 104, 12, 3}};
    command("model translator; open \"the cat is tired\"; word tired wide; goto logits; view answer");
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        Canvas c;
        Shown v;
        size_t which[64];
        int rows = 0;
        draw_on(&c, &VIEW_ANSWER, SIDE_B, CASES[k].height, CASES[k].width, MODE_TRUE, false);
        assert_true(shown_answer(&session, SIDE_DIFF, shown_site(&session, SIDE_DIFF, SITE_PROBS), &v) && v.values);
        const int n = words_listed(&c, &v, which, 64, &rows);
        canvas_free(&c);
        if (n != CASES[k].words || rows != (n - 1) * CASES[k].lines + 1)
            fail_msg("%d lines: %d words in %d lines", CASES[k].height, n, rows);
        float least = INFINITY, hidden = 0;
        for (size_t i = 0; i < v.count; i++) {
            bool listed = false;
            for (int j = 0; j < n; j++)
                listed |= which[j] == i;
            if (listed)
                least = fminf(least, fabsf(v.values[i]));
            else
                hidden = fmaxf(hidden, fabsf(v.values[i]));
        }
        assert_true(least >= 0.001F && hidden <= least);
        Buf out = {0};
        drawn(&VIEW_ANSWER, SIDE_B, CASES[k].height, CASES[k].width, &out);
        const char *said = strstr(buf_str(&out), " by as much as ");
        if (!said || !(100 * hidden < strtof(said + strlen(" by as much as "), NULL)) || 100 * hidden < 0.05F)
            fail_msg("%d lines, %g: %s", CASES[k].height, (double)hidden, buf_str(&out));
        char more[32];
        snprintf(more, sizeof more, " %d more, none", (int)v.count - n);
        assert_non_null(strstr(buf_str(&out), more));
        assert_true(strstr(buf_str(&out), "fatigu") && !strstr(buf_str(&out), "fatig..."));
        buf_free(&out);
    }
}

/* The ends of the logits' scale stand once, below the last class. */
static void the_scale_of_logits_stands_once(void **state)
{
    (void)state;
    Buf out = {0};
    command("open #66; set scale off; goto logits; view answer");
    drawn(&VIEW_ANSWER, SIDE_B, 48, 104, &out);
    const char *scale = strstr(buf_str(&out), "-5.68 "), *last = NULL;
    for (const char *at = buf_str(&out); (at = strstr(at, "logit ")) != NULL; at++)
        last = at;
    assert_true(scale && last && last < scale && !strstr(scale + 1, "-5.68 "));
    buf_free(&out);
}

/* Among a thousand classes the cursor's pane tells the points with the digits that the table has. */
static void points_have_the_tables_digits(void **state)
{
    (void)state;
    VitConfig c;
    Buf out = {0};
    assert_true(model_size("tiny", &c));
    c.classes = 1000;
    open_config(&c, "#1");
    command("pin; open #3; view answer; goto probs[o=7]");
    AnswerTable t;
    char points[24];
    drawn(&VIEW_ANSWER, SIDE_DIFF, 34, 80, &out);
    assert_true(answer_table_open(&session, SIDE_DIFF, 80, &t) && t.compares && t.decimals > 1);
    points_text_to(points, sizeof points, t.diff.values[7], t.decimals);
    assert_non_null(strstr(drawn(&VIEW_CURSOR, SIDE_B, 12, 60, &out), points));
    buf_free(&out);
    session_free(&session);
}

/* Many heads and classes: what has no room is said, no two labels are alike, no bar is a sliver. */
static void what_is_left_out_is_said(void **state)
{
    (void)state;
    VitConfig c;
    Buf out = {0};
    assert_true(model_size("tiny", &c));
    c.layers = 13;
    c.width = 24;
    c.heads = 12;
    c.head_dim = 2;
    c.mlp = 8;
    c.classes = 1000;
    open_config(&c, "#1");
    command("ledger; option ledger-table on; head 11");
    drawn(&VIEW_LEDGER, SIDE_B, 34, 80, &out);
    assert_true(times(buf_str(&out), " head ") < 12);
    assert_int_equal(times(buf_str(&out), "-11 of 12"), 1);
    command("head 0");
    assert_int_equal(times(drawn(&VIEW_LEDGER, SIDE_B, 12, 80, &out), "of 13"), 1); /* lines */
    assert_int_equal(times(drawn(&VIEW_LEDGER, SIDE_B, 34, 80, &out), "1 of 12"), 0);
    int parts = 0, kept = 0, more = 0;
    const Ledger *l = session_ledger(&session, SIDE_B);
    for (int i = 0; i < l->count; i++)
        parts += l->entry[i].kind != LEDGER_HEADS && l->entry[i].kind != LEDGER_MLP;
    drawn(&VIEW_LEDGER, SIDE_B, 34, 80, &out);
    const char *list = strstr(buf_str(&out), "other parts");
    assert_non_null(list);
    for (const char *line = strchr(list, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        const char *at = line + 1 + (list - buf_str(&out)) % 81;
        if (sscanf(at, "%d more", &more) != 1)
            kept++;
    }
    assert_int_equal(kept + more, parts);
    command("option ledger-table off");
    assert_int_equal(times(drawn(&VIEW_LEDGER, SIDE_B, 34, 80, &out), " of 156 heads"), 1);
    command("heads; block 11; head 11");
    static const int WIDTHS[] = {78, 50};
    for (int i = 0; i < 2; i++) {
        drawn(&VIEW_HEADS, SIDE_B, 34, WIDTHS[i], &out);
        for (int h = 0; h < 12; h++) {
            char label[16];
            snprintf(label, sizeof label, "11%s h%d ", WIDTHS[i] == 78 ? " " : "", h);
            assert_int_equal(times(buf_str(&out), label), 1);
        }
    }
    command("view sheet; block 11; head 11");
    assert_int_equal(times(drawn(&VIEW_SHEET, SIDE_B, 8, 30, &out), "11 of 12"), 0);
    assert_int_equal(times(buf_str(&out), "/13"), 1);
    assert_int_equal(times(buf_str(&out), "/12"), 1);
    command("view row");
    assert_int_equal(times(drawn(&VIEW_OTHER_HEADS, SIDE_B, 4, 30, &out), " of 12"), 1);
    assert_int_equal(times(drawn(&VIEW_OTHER_HEADS, SIDE_B, 20, 90, &out), " of 12"), 0);
    command("view answer");
    drawn(&VIEW_ANSWER, SIDE_B, 20, 60, &out);
    assert_true(times(buf_str(&out), "#") > 20 * 8);
    buf_free(&out);
    session_free(&session);
}

/* 24 blocks of 16 heads on one page, of a terminal of 120 × 40 too: each head's map is square, and where a cell of the
 * screen is one value the largest weight is among those shown. */
static void a_sheet_always_fits(void **state)
{
    (void)state;
    VitConfig config;
    enum { BLOCKS = 24, HEADS = 16, ASKS = 7 };
    static const Rect ROOMS[] = {{0, 0, 34, 56}, {0, 0, 80, 90}};
    assert_true(model_size("tiny", &config));
    config.layers = BLOCKS;
    config.width = 2 * HEADS;
    config.heads = HEADS;
    config.head_dim = 2;
    config.mlp = 8;
    open_config(&config, "#1");
    command("goto blocks.3.attn.pattern[h=15,t=r1c2]; view sheet");
    for (int i = 0; i < 2; i++) {
        Canvas c;
        canvas_init(&c, ROOMS[i].h, ROOMS[i].w);
        Paint p = {.s = &session, .c = &c, .mode = i ? MODE_MONO : MODE_256};
        drawn_prepare(&session, &VIEW_SHEET, SIDE_B, c.clip);
        view_draw(&VIEW_SHEET, &p, c.clip, SIDE_B, true);
        const Graph *g = session_graph(&session, SIDE_B);
        int lines[BLOCKS][HEADS] = {{0}}, cells[BLOCKS][HEADS] = {{0}};
        float shown[BLOCKS][HEADS] = {{0}};
        for (int k = 0, last = -1; k < c.h * c.w; k++) {
            const Cell *cell = &c.cells[k];
            int index[DIMS_MAX], block;
            last = k % c.w ? last : -1;
            if (!cell->level || !cell->ref.run)
                continue;
            const Node *n = graph_node(g, cell->ref.node);
            assert_int_equal(sscanf(n->path, "blocks.%d.attn.pattern", &block), 1);
            dims_unravel(g->axes, n->dims, cell->ref.cell, index);
            assert_int_equal(index[1], ASKS);
            shown[block][index[0]] = fmaxf(shown[block][index[0]],
                                           session_peek(&session, SIDE_B, n->path)[cell->ref.cell]);
            cells[block][index[0]]++;
            lines[block][index[0]] += last != index[0];
            last = index[0];
        }
        for (int k = 0; k < BLOCKS * HEADS; k++) {
            int b = k / HEADS, h = k % HEADS;
            char path[64];
            snprintf(path, sizeof path, "blocks.%d.attn.pattern", b);
            const float *row = session_peek(&session, SIDE_B, path) + (h * 17 + ASKS) * 17;
            float largest = row[1];
            for (int u = 2; u < 17; u++)
                largest = fmaxf(largest, row[u]);
            assert_true(lines[b][h] > 0 && cells[b][h] == 2 * lines[b][h] * lines[b][h]);
            assert_true(shown[b][h] == largest || !i);
        }
        canvas_free(&c);
    }
    session_free(&session);
}

/* Twelve blocks below each other would pool their patches: they stand in columns, where each patch is a cell. */
static void a_sheet_folds_rather_than_pools(void **state)
{
    (void)state;
    VitConfig config;
    enum { BLOCKS = 12, HEADS = 4, TOKENS = 17, ASKS = 7 };
    assert_true(model_size("tiny", &config));
    config.layers = BLOCKS;
    config.width = 2 * HEADS;
    config.heads = HEADS;
    config.head_dim = 2;
    config.mlp = 8;
    open_config(&config, "#1");
    command("goto blocks.3.attn.pattern[h=3,t=r1c2]; view sheet");
    Canvas c;
    canvas_init(&c, 26, 46);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    drawn_prepare(&session, &VIEW_SHEET, SIDE_B, c.clip);
    view_draw(&VIEW_SHEET, &p, c.clip, SIDE_B, true);
    int found = 0;
    for (int k = 0; k < BLOCKS * HEADS; k++) {
        char path[64];
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", k / HEADS);
        NodeId n = session_node(&session, SIDE_B, path);
        for (int u = 1; u < TOKENS; u++) {
            size_t cell = (size_t)((k % HEADS * TOKENS + ASKS) * TOKENS + u);
            int cells = 0;
            for (int i = 0; i < c.h * c.w; i++)
                cells += c.cells[i].ref.run && c.cells[i].ref.node == n && c.cells[i].ref.cell == cell;
            found += cells > 0 || (u - 1) / 4 % 2; /* a cell of the screen that is two values has the upper one's Ref */
        }
    }
    assert_int_equal(found, BLOCKS * HEADS * (TOKENS - 1));
    for (int y = 0, ahead = 0; y < c.h; y++) /* every head is clicked, none twice on a line */
        for (int x = 0; x < c.w; x++) {
            Buf said = {0};
            if (view_click(&VIEW_SHEET, &p, c.clip, SIDE_B, y, x, &said) && !strcmp(buf_str(&said), "block 11; head 2"))
                ahead = ahead ? ahead : x;
            buf_free(&said);
            assert_true(y + 1 < c.h || x + 1 < c.w || ahead > c.w / 2);
        }
    canvas_free(&c);
    session_free(&session);
}

/* Twelve heads of 14 × 14 patches have no room in ten lines: pooled, all of them are there, and a click is its head. */
static void every_head_is_there(void **state)
{
    (void)state;
    VitConfig config;
    enum { HEADS = 12, GRID = 14 };
    assert_true(model_size("tiny", &config));
    config.layers = 1;
    config.width = 2 * HEADS;
    config.heads = HEADS;
    config.head_dim = 2;
    config.mlp = 8;
    config.image_h = GRID * config.patch_h;
    config.image_w = GRID * config.patch_w;
    open_config(&config, "#1");
    command("goto blocks.0.attn.pattern[h=3,t=r1c2]; view row");
    Canvas c;
    canvas_init(&c, 10, 54);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    drawn_prepare(&session, &VIEW_OTHER_HEADS, SIDE_B, c.clip);
    view_draw(&VIEW_OTHER_HEADS, &p, c.clip, SIDE_B, true);
    const Graph *g = session_graph(&session, SIDE_B);
    int cells[HEADS] = {0};
    for (int k = 0; k < c.h * c.w; k++) {
        int index[DIMS_MAX], head = -1;
        Buf said = {0};
        if (c.cells[k].ref.run) {
            dims_unravel(g->axes, graph_node(g, c.cells[k].ref.node)->dims, c.cells[k].ref.cell, index);
            assert_true(view_click(&VIEW_OTHER_HEADS, &p, c.clip, SIDE_B, k / c.w, k % c.w, &said));
            assert_int_equal(sscanf(buf_str(&said), "head %d", &head), 1);
            assert_int_equal(head, index[0]);
            cells[head]++;
        }
        buf_free(&said);
    }
    for (int h = 0; h < HEADS; h++)
        assert_true(cells[h] >= 20);
    Buf said = {0}; /* so that no square is taken for a patch */
    int rows = 0, cols = 0, across = 0;
    VIEW_OTHER_HEADS.title_in(&p, c.clip, SIDE_B, &said);
    const char *to = strstr(buf_str(&said), "pooled to ");
    assert_non_null(to);
    assert_int_equal(sscanf(to, "pooled to %d×%d", &rows, &cols), 2);
    for (int x = 0; x < c.w && canvas_at(&c, 1, x)->ref.run; x++)
        across++;
    assert_true(cols < GRID && rows < GRID);
    assert_int_equal(across, cols);
    buf_clear(&said);
    VIEW_OTHER_HEADS.title_in(&p, (Rect){0, 0, 60, 200}, SIDE_B, &said);
    assert_null(strstr(buf_str(&said), "pooled"));
    buf_free(&said);
    canvas_free(&c);
    session_free(&session);
}

/* Where twelve such heads have no room there is a page of them, at 5 × 5 cells each: in five lines six heads, and which
 * they are. A sheet has all heads of all blocks, pooled down to 2 × 2 cells each, and close, before any is left out. A
 * click is its head, and every drawn cell that head's weight. */
static void a_page_of_heads_is_legible(void **state)
{
    (void)state;
    enum { BLOCKS = 12, HEADS = 12, GRID = 14 };
    static const struct {
        const ViewSpec *view;
        const char *go, *said;
        int h, w, blocks, heads, least; /* cells a side */
    } PAGES[] = {
        {&VIEW_OTHER_HEADS, "block 7; head 7; view row", "of 12;", 5, 40, 1, 6, 5},
        {&VIEW_SHEET, "block 7; head 7; view sheet", "1 cell = 7", 17, 78, 12, 12, 2},
        {&VIEW_SHEET, "block 7; head 7; view sheet", "own scales", 17, 28, 12, 12, 2},
        {&VIEW_SHEET, "block 7; head 7; view sheet", "heads ", 17, 20, 12, 6, 2},
        {&VIEW_SHEET, "block 7; head 7; view sheet", "blocks 0?11", 20, 24, 12, 12, 2}, /* no numbers beside them */
    };
    VitConfig config;
    assert_true(model_size("tiny", &config));
    config.layers = BLOCKS;
    config.heads = HEADS;
    config.width = 2 * HEADS;
    config.head_dim = 2;
    config.mlp = 8;
    config.image_h = GRID * config.patch_h;
    config.image_w = GRID * config.patch_w;
    open_config(&config, "#1");
    command("goto blocks.7.attn.pattern[h=7,t=r1c2]");
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++) {
        command(PAGES[i].go);
        Canvas c;
        draw_on(&c, PAGES[i].view, SIDE_B, PAGES[i].h, PAGES[i].w, MODE_256, false);
        Rect r = {2, 3, PAGES[i].h, PAGES[i].w};
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        const Graph *g = session_graph(&session, SIDE_B);
        int cells[BLOCKS][HEADS] = {{0}}, blocks = 0, heads = 0;
        for (int k = 0; k < c.h * c.w; k++) {
            int index[DIMS_MAX], block, head = 7;
            if (!c.cells[k].ref.run || !strstr(graph_node(g, c.cells[k].ref.node)->path, "pattern"))
                continue;
            assert_int_equal(sscanf(graph_node(g, c.cells[k].ref.node)->path, "blocks.%d.", &block), 1);
            dims_unravel(g->axes, graph_node(g, c.cells[k].ref.node)->dims, c.cells[k].ref.cell, index);
            Buf said = {0};
            assert_true(view_click(PAGES[i].view, &p, r, SIDE_B, k / c.w, k % c.w, &said));
            const char *at = strstr(buf_str(&said), "head ");
            if (at)
                assert_int_equal(sscanf(at, "head %d", &head), 1);
            assert_int_equal(head, index[0]);
            cells[block][head]++;
            buf_free(&said);
        }
        for (int b = 0; b < BLOCKS; b++) {
            int here = 0;
            for (int h = 0; h < HEADS; h++) {
                here += cells[b][h] > 0;
                if (cells[b][h] && cells[b][h] < PAGES[i].least * PAGES[i].least / 2)
                    fail_msg("block %d head %d: only %d cells", b, h, cells[b][h]);
            }
            blocks += here > 0;
            heads = here > heads ? here : heads;
        }
        assert_int_equal(blocks, PAGES[i].blocks);
        assert_int_equal(heads, PAGES[i].heads);
        assert_true(cells[7][7] > 0);
        canvas_free(&c);
        Buf said = {0};
        canvas_init(&c, PAGES[i].h, PAGES[i].w);
        view_draw(PAGES[i].view, &p, c.clip, SIDE_B, true);
        for (int k = 0; k < c.h * c.w; k++)
            buf_putc(&said, c.cells[k].ch < 0x7f ? (char)c.cells[k].ch : '?');
        if (!strstr(buf_str(&said), PAGES[i].said))
            fail_msg("'%s' does not say which", buf_str(&said));
        buf_free(&said);
        canvas_free(&c);
    }
    session_free(&session);
}

/* Cells of bars, which are no values of a run. */
static int bar_cells(Side side)
{
    Canvas c;
    int n = 0;
    canvas_init(&c, 18, 40);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    drawn_prepare(&session, &VIEW_SHEET, side, c.clip);
    view_draw(&VIEW_SHEET, &p, c.clip, side, true);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            n += !k->ref.run && k->ch >= 0x2581 && k->ch <= 0x2588;
        }
    canvas_free(&c);
    return n;
}

/* What a head is worth was measured without the change. */
static void losses_stand_beside_what_they_are_of(void **state)
{
    (void)state;
    command("goto blocks.1.attn.pattern[h=2,t=r3c4]; view sheet");
    assert_true(measures_step(&session, INT64_MAX));
    const int bars = bar_cells(SIDE_B);
    assert_true(bars > 0);
    command("set scale off");
    assert_int_equal(bar_cells(SIDE_A), bars);
    assert_int_equal(bar_cells(SIDE_B), 0);
    assert_int_equal(bar_cells(SIDE_DIFF), 0);
}

/* Eighths of a line that a bar fills in column x; where the map at its right ends in the middle of its last line, none
 * of them are below that. */
static int bar_eighths(const Canvas *c, int x, int top, int bottom, bool odd)
{
    int filled = 0;
    for (int y = top; y <= bottom; y++) {
        const uint32_t ch = canvas_at((Canvas *)c, y, x)->ch;
        if (odd && y == bottom)
            assert_true(ch == ' ' || ch == 0x2580 || ch == 0x2500);
        filled += ch >= 0x2581 && ch <= 0x2588 ? (int)(ch - 0x2580) : ch == 0x2580 ? 4 : ch == 0x2500;
    }
    return filled;
}

/* A bar left of a head's map is as long as the accuracy lost without it, and there is none where that may be chance. */
static void a_sheet_has_its_losses_in(int height, int width, bool of_odd)
{
    enum { NARROW = 30 };
    const Measure *m = session_measure(&session, MEASURE_CENSUS, NULL);
    assert_non_null(m);
    float most = 0;
    for (int i = 0; i < m->rows * m->cols; i++)
        most = fmaxf(most, m->base - m->value[i]);
    Canvas c;
    canvas_init(&c, height, width);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    drawn_prepare(&session, &VIEW_SHEET, SIDE_B, c.clip);
    view_draw(&VIEW_SHEET, &p, c.clip, SIDE_B, true);
    int bars = 0;
    char full[32];
    Buf said = {0};
    for (int k = 0; k < c.h * c.w; k++)
        buf_putc(&said, c.cells[k].ch < 0x7f ? (char)c.cells[k].ch : '?');
    snprintf(full, sizeof full, "to ?%.1f points", 100 * (double)most); /* in the fewest words: the longest bar's */
    assert_true(width > NARROW || strstr(buf_str(&said), full));
    buf_free(&said);
    for (int b = 0; b < m->rows; b++)
        for (int h = 0; h < m->cols; h++) {
            char command[48];
            int top = -1, bottom = -1, left = -1, cell = b * m->cols + h;
            snprintf(command, sizeof command, "block %d; head %d", b, h);
            for (int k = 0; k < c.h * c.w; k++) {
                said = (Buf){0};
                bool in = view_click(&VIEW_SHEET, &p, c.clip, SIDE_B, k / c.w, k % c.w, &said) &&
                          (!strcmp(buf_str(&said), command) || (b == 1 && h == 2 && !strcmp(buf_str(&said), "in")));
                buf_free(&said);
                top = in && top < 0 ? k / c.w : top;
                left = in && left < 0 ? k % c.w : left;
                bottom = in ? k / c.w : bottom;
            }
            assert_true(top >= 0 && left > 0);
            const bool odd = canvas_at(&c, bottom, left)->bg == COLOUR_DEFAULT;
            assert_int_equal(odd, of_odd);
            const int filled = bar_eighths(&c, left - 1, top, bottom, odd);
            const float share = (m->base - m->value[cell]) / most,
                        high = 8 * (float)(bottom - top + 1) - 4 * (float)odd;
            if (!paired_differs(m->pair[cell]))
                assert_int_equal(filled, 0);
            else if (b != 1) /* where the cursor's brackets cover the first line */
                assert_true(fabsf((float)filled - fmaxf(1, share * high)) < 1.01F + odd);
            bars += filled > 0;
        }
    assert_true(bars > 3 && bars < m->rows * m->cols);
    canvas_free(&c);
}

static void a_sheet_has_its_losses(void **state)
{
    (void)state;
    command("goto blocks.1.attn.pattern[h=2,t=r3c4]; view sheet");
    assert_true(measures_step(&session, INT64_MAX));
    a_sheet_has_its_losses_in(40, 90, false);
    a_sheet_has_its_losses_in(18, 40, false);
    a_sheet_has_its_losses_in(19, 30, true);
}

/* Every map has a brightest patch, also of a head that looks most at cls, which is none. */
static void a_sheet_lights_its_patches(void **state)
{
    (void)state;
    command("goto blocks.1.attn.pattern[h=2,t=r7c7]; view sheet");
    Canvas c;
    draw_on(&c, &VIEW_SHEET, SIDE_B, 40, 100, MODE_256, false);
    const Graph *g = session_graph(&session, SIDE_B);
    int brightest[4][4] = {{0}}, at_cls = 0;
    for (int k = 0; k < c.h * c.w; k++) {
        int index[DIMS_MAX], block;
        const Ref ref = c.cells[k].ref;
        if (!ref.run || sscanf(graph_node(g, ref.node)->path, "blocks.%d.attn.pattern", &block) != 1)
            continue;
        dims_unravel(g->axes, graph_node(g, ref.node)->dims, ref.cell, index);
        int *most = &brightest[block][index[0]];
        *most = c.cells[k].level > *most ? c.cells[k].level : *most;
    }
    for (int k = 0; k < 16; k++) {
        enum { TOKENS = 65 };
        char path[64];
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", k / 4);
        const float *row = session_peek(&session, SIDE_B, path) + (k % 4 * TOKENS + TOKENS - 1) * TOKENS;
        float most = row[1];
        for (int u = 2; u < TOKENS; u++)
            most = fmaxf(most, row[u]);
        at_cls += row[0] > most;
        assert_int_equal(brightest[k / 4][k % 4], 1 + 9);
    }
    assert_true(at_cls > 0);
    canvas_free(&c);
}

/* The head in focus is marked alike in A, B and A − B, though bars stand in A alone; and A − B says which colour has
 * more in A. */
static void a_sheet_is_marked_alike(void **state)
{
    (void)state;
    command("goto blocks.1.attn.pattern[h=2,t=r3c4]; view sheet");
    assert_true(measures_step(&session, INT64_MAX));
    command("set scale off; compare sides");
    int marks[SIDE_DIFF + 1] = {0}, key = 0; /* the last line of colours, on any side the same */
    for (Side side = SIDE_A; side <= SIDE_DIFF; side++) {
        Canvas c;
        canvas_init(&c, 24, 30);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        drawn_prepare(&session, &VIEW_SHEET, side, c.clip);
        view_draw(&VIEW_SHEET, &p, c.clip, side, true);
        for (int k = 0; k < c.h * c.w; k++)
            marks[side] += canvas_at(&c, k / c.w, k % c.w)->ch == '[';
        for (int k = 0; k < c.h * c.w && side == SIDE_A; k++)
            key = c.cells[k].level ? k / c.w : key;
        int signs = 0, cells = 0; /* below the maps: swatches of A, then of B; or 0 to the most */
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, key, x);
            signs = k->level ? 3 * signs + k->sign : signs;
            cells += k->level > 0;
        }
        assert_true(side == SIDE_DIFF ? cells == 4 : cells > 4);
        assert_int_equal(signs, side == SIDE_DIFF ? 27 + 9 - 3 - 1 : 0);
        canvas_free(&c);
    }
    assert_int_equal(marks[SIDE_A], 1);
    assert_int_equal(marks[SIDE_B], marks[SIDE_A]);
    assert_int_equal(marks[SIDE_DIFF], marks[SIDE_A]);
    shows(&VIEW_SHEET, SIDE_DIFF, 34, 60, "more in A");
    shows(&VIEW_SHEET, SIDE_DIFF, 18, 38, "more in A");
    shows(&VIEW_SHEET, SIDE_DIFF, 11, 24, "A>B");
}

/* Is half a cell, line y of halves, of the outline's colour; or no data, where a map ends? */
static bool on_outline(const Canvas *c, int y, int x, bool or_end)
{
    const Cell *k = canvas_at((Canvas *)c, y / 2, x);
    return k && k->level ? (y % 2 ? k->bg : k->fg) == 0x00e676 : or_end;
}

/* Every map says what its colours stand for, and its object has an edge of one colour. */
static void maps_have_their_scales(void **state)
{
    (void)state;
    Buf out = {0};
    Canvas c;
    command("where gradient");
    const char *text = drawn(&VIEW_WHERE, SIDE_A, 34, 90, &out);
    static const WhereMethod SHOWN[] = {WHERE_ROLLOUT, WHERE_ATTENTION, WHERE_GRADIENT};
    for (int k = 0; k < 3; k++) {
        const float *x = session_peek(&session, SIDE_A, where_path(&session, SIDE_A, SHOWN[k]));
        float most = 0;
        char number[24];
        assert_non_null(x);
        for (int i = 0; i < 64; i++)
            most = fmaxf(most, fabsf(x[i]));
        snprintf(number, sizeof number, "%.3f", (double)most);
        assert_true(times(text, number + 1) >= 1);
    }
    draw_on(&c, &VIEW_WHERE, SIDE_A, 34, 90, MODE_256, false);
    int edges = 0;
    for (int y = 1; y < 2 * c.h - 1; y++) /* a line that closes: each of its pixels has two others beside it */
        for (int x = 0; x < c.w; x++) {
            if (!on_outline(&c, y, x, false))
                continue;
            edges++;
            assert_true(on_outline(&c, y - 1, x, true) + on_outline(&c, y + 1, x, true) +
                            on_outline(&c, y, x - 1, true) + on_outline(&c, y, x + 1, true) >=
                        2);
        }
    assert_true(edges > 10);
    canvas_free(&c);
    buf_free(&out);
}

/* Where the canvas has pixels the picture is sharp: each of its own has its colour, but for the edge of the object. */
static void the_picture_has_its_own_pixels(void **state)
{
    (void)state;
    enum { H = 34, W = 90, FINE_H = 32, FINE_W = 16, EDGE = 0x00e676 };
    const Rect r = {0, 0, H, W};
    const Image *im = &session_input(&session, SIDE_A)->resized;
    Canvas c;
    int top = H, left = W, bottom = 0, right = 0, same = 0, edge = 0, other = 0;
    command("where rollout");
    drawn_prepare(&session, &VIEW_WHERE, SIDE_A, r);
    canvas_init(&c, H, W);
    canvas_fine(&c, FINE_H, FINE_W);
    view_draw(&VIEW_WHERE, &(Paint){.s = &session, .c = &c, .mode = MODE_TRUE}, r, SIDE_A, true);
    const NodeId node = session_node(&session, SIDE_A, pixels_input(&session, SIDE_A));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (canvas_at(&c, y, x)->ref.run && canvas_at(&c, y, x)->ref.node == node && canvas_block(&c, y, x)) {
                top = y < top ? y : top;
                left = x < left ? x : left;
                bottom = y >= bottom ? y + 1 : bottom;
                right = x >= right ? x + 1 : right;
            }
    if (bottom <= top)
        fail_msg("the picture has no pixels");
    for (int i = 0; i < im->height; i++)
        for (int j = 0; j < im->width; j++) {
            const int y = (2 * i + 1) * (bottom - top) * FINE_H / (2 * im->height),
                      x = (2 * j + 1) * (right - left) * FINE_W / (2 * im->width);
            const Colour *block = canvas_block(&c, top + y / FINE_H, left + x / FINE_W);
            const uint8_t *at = im->data + ((size_t)i * (size_t)im->width + (size_t)j) * 3;
            assert_non_null(block);
            const Colour is = block[y % FINE_H * FINE_W + x % FINE_W];
            same += is == ((Colour)at[0] << 16 | (Colour)at[1] << 8 | at[2]);
            edge += is == EDGE;
            other += is != EDGE && is != ((Colour)at[0] << 16 | (Colour)at[1] << 8 | at[2]);
        }
    assert_int_equal(other, 0);
    assert_true(edge > 0 && same > 9 * edge);
    canvas_free(&c);
}

/* --- in words --- */
static void said(const char *line, const char *words)
{
    command(line);
    command("say");
    if (!strstr(buf_str(&session.said), words))
        fail_msg("%s: \"%s\" does not say \"%s\"", line, buf_str(&session.said), words);
}

static void sentences(void **state)
{
    (void)state;
    said("where rollout r3c4", "patch r3c4 gets");
    said("where rollout", "of all patches");
    said("where gradient", "answer's logit");
    said("where occlusion", "not measured yet");
    step_to_the_end();
    said("where occlusion", "grey the answer's logit");
    said("lens 0 2", "after block 0");
    said("lens answer", "The answer names");
    said("blanks r3c4", "Patch r3c4 is seen");
    said("hide r3c4", "Patch r3c4 is hidden");
}

/* After block 0 every patch of the star is like all of them, which it is not before; most other patches are not. */
static void a_patch_lights_the_star(void **state)
{
    (void)state;
    Err err;
    command("open #17");
    const float *object = session_need(&session, SIDE_B, "where.object", &err), *x;
    for (int block = 0; block < 2; block++) {
        x = session_need(&session, SIDE_B, block ? "blocks.0.alike.cosine" : "embed.alike.cosine", &err);
        int like = 0, pairs = 0, others = 0, beside = 0;
        for (int i = 0; i < 64 * 64; i++) {
            bool from = object[i / 64] != 0, to = object[i % 64] != 0;
            pairs += from && to;
            like += from && to && x[i] > 0;
            others += from && !to;
            beside += from && !to && x[i] > 0;
        }
        assert_true(pairs == 81 && (like == pairs) == (block == 1));
        assert_true(!block || beside * 3 < others);
    }
    command("alike 0 r2c2");
    shows(&VIEW_ALIKE, SIDE_A, 17, 78, ">block 0");
    shows(&VIEW_ALIKE, SIDE_A, 17, 78, "cosine to r2c2");
    shows(&VIEW_ALIKE, SIDE_A, 17, 78, "r2c1 0.912"); /* the most alike, below the picture */
    said("alike 0 r2c2", "r2c2 is most like r2c1 (cosine 0.912)");
    command("in");
    assert_int_equal(session.place.screen, SCREEN_EXPLAIN);
    x = session_need(&session, SIDE_B, session.place.path, &err);
    assert_true(x[session_cell(&session, SIDE_B, session_node(&session, SIDE_B, session.place.path))] > 0.9f);
    command("back; alike -1; move left");
    assert_string_equal(session.place.path, "embed.alike.cosine");
    command("alike +1");
    assert_string_equal(session.place.path, "blocks.0.alike.cosine");
    refused("alike 4", "0 to 3");
    refused("alike r2c2", "start or a block");
    refused("alike 0 r9c9", "r9c9");
    assert_string_equal(session.place.path, "blocks.0.alike.cosine");
}

/* A row of maps per place: no words stand between the rows, where they would look like a row's title, and below the
 * maps a blank stands between a scale's colours and its ends. */
static void rows_of_maps_have_no_words_between(void **state)
{
    (void)state;
    command("set scale off; alike 1 r3c3; compare sides");
    shows(&VIEW_ALIKE, SIDE_A, 29, 30, "PCA: "); /* what the colours are */
    for (Side side = SIDE_A; side <= SIDE_DIFF; side++) {
        Canvas c;
        canvas_init(&c, 26, side == SIDE_DIFF ? 30 : 28);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        drawn_prepare(&session, &VIEW_ALIKE, side, c.clip);
        view_draw(&VIEW_ALIKE, &p, c.clip, side, true);
        int maps = 0, blanks = 0, ends = 0;
        for (int y = 1; y < c.h; y++) {
            int data = 0, words = 0;
            for (int x = 0; x < c.w; x++) {
                const Cell *k = canvas_at(&c, y, x), *next = canvas_at(&c, y, x + 1);
                data += k->level > 0;
                words += !k->level && k->ch != ' ';
                ends += y == c.h - 1 && next && !k->level != !next->level; /* where colours begin or end */
                blanks += y == c.h - 1 && next && !k->level != !next->level && (k->level ? next : k)->ch == ' ';
            }
            maps += data > 0;
            if (!data)
                assert_int_equal(words, 0);
        }
        assert_int_equal(maps, 5 * 4 + 1); /* of eight lines of patches, and the scale */
        assert_true(ends >= 4);
        assert_int_equal(blanks, ends);
        canvas_free(&c);
        Buf out = {0};
        VIEW_ALIKE.title(&session, side, &out);
        assert_non_null(strstr(buf_str(&out), "cosine to r3c3\n"));
        buf_free(&out);
    }
}

static int upwards(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A token much longer than the others is named, with how many times the median it is; the scale of lengths ends before
 * it, so that the others are still told apart. */
static void an_outlier_is_named(void **state)
{
    (void)state;
    enum { AT = 5 * 8 + 3, N = 64 };
    Err err;
    Canvas c;
    Buf out = {0};
    char want[64];
    float sorted[N];
    uint32_t seen[N];
    int kinds = 0, beyond = 0;
    command("open #17; set blocks.0.resid_post[t=r5c3] 20; alike 0 r2c2; compare off");
    const char *path = alike_path(&session, SIDE_B, 0, SITE_ALIKE_NORM);
    const NodeId n = session_node(&session, SIDE_B, path);
    const float *x = session_need(&session, SIDE_B, path, &err);
    const size_t prefix = graph_cells(session_graph(&session, SIDE_B), n) - N;
    assert_non_null(x);
    memcpy(sorted, x + prefix, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, upwards);
    assert_true(sorted[N - 1] == x[prefix + AT] && sorted[N - 1] > 4 * sorted[N - 2]);
    snprintf(want, sizeof want, "longest r5c3, %.1fx ", /* on a screen of ASCII */
             (double)sorted[N - 1] * 2 / ((double)sorted[N / 2] + (double)sorted[N / 2 - 1]));
    if (!strstr(drawn(&VIEW_ALIKE, SIDE_B, 36, 90, &out), want))
        fail_msg("no \"%s\" in %s", want, strstr(buf_str(&out), "longest") ? strstr(buf_str(&out), "longest") : "it");
    draw_on(&c, &VIEW_ALIKE, SIDE_B, 36, 90, MODE_TRUE, true);
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        if (k->ref.run != SIDE_B || k->ref.node != n || k->ref.cell < prefix || !cell_is_data(k))
            continue;
        int j = 0;
        while (j < kinds && seen[j] != k->fg)
            j++;
        if (j == kinds && kinds < N)
            seen[kinds++] = k->fg;
        if (k->ref.cell == prefix + AT)
            beyond += k->fg == 0x00e676;
        else
            assert_int_not_equal(k->fg, 0x00e676);
    }
    assert_true(kinds > 20 && beyond > 0);
    canvas_free(&c);
    buf_free(&out);
    command("reset edits");
}

/* A click is a place and a token; so is one on words, of either stack. */
static void alike_is_clicked(void **state)
{
    (void)state;
    static const char *const GO[] = {"alike 1 0", "model translator; alike 1 0",
                                     "goto decoder.blocks.0.resid_post; alike 1 0"};
    for (size_t i = 0; i < sizeof GO / sizeof *GO; i++) {
        Rect r = {0, 0, 33, 92};
        Canvas c;
        char line[64];
        snprintf(line, sizeof line, "%s", GO[i]);
        for (char *word = strtok(line, ";"); word; word = strtok(NULL, ";"))
            command(word + strspn(word, " "));
        canvas_init(&c, r.h, r.w);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        drawn_prepare(&session, &VIEW_ALIKE, SIDE_B, r);
        int places = 0;
        for (int y = 0; y < r.h; y += 3)
            for (int x = 0; x < r.w; x += 3) {
                Buf out = {0};
                int block, token;
                if (view_click(&VIEW_ALIKE, &p, r, SIDE_B, y, x, &out) &&
                    sscanf(buf_str(&out), "alike %d %d", &block, &token) == 2) {
                    command(buf_str(&out));
                    assert_int_equal(session_block(&session), block);
                    NodeId n = session_node(&session, SIDE_B, session.place.path);
                    assert_int_equal(session.place.at[graph_node(session_base(&session), n)->dims.axis[0]], token);
                    places++;
                }
                buf_free(&out);
            }
        assert_true(places > 10);
        canvas_free(&c);
    }
}

/* Under each place its columns are named: a number stands under *cosine* or *length*, a colour under *rgb*; every word
 * has its line, and with more room than words the last is not left out. */
static void columns_of_alike_words_are_named(void **state)
{
    (void)state;
    static const int OF[][2] = {{16, 78}, {32, 95}, {50, 145}};
    command("model translator");
    command("goto decoder.blocks.0.resid_post");
    command("alike 1 0");
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        Canvas c;
        draw_on(&c, &VIEW_ALIKE, SIDE_B, OF[i][0], OF[i][1], MODE_256, false);
        NodeId cosine = session_node(&session, SIDE_B, "decoder.blocks.1.alike.cosine"),
               norm = session_node(&session, SIDE_B, "decoder.blocks.1.alike.norm");
        const Graph *g = session_graph(&session, SIDE_B);
        const int words = g->axes[graph_node(g, cosine)->dims.axis[0]].n;
        int under_cosine = 0, under_length = 0;
        bool seen[64] = {false};
        assert_true(cosine != NO_NODE && norm != NO_NODE && words < 64);
        for (int x = 3; x < c.w - 9; x++) {
            char head[7] = "";
            for (int k = 0; k < 6; k++)
                head[k] = canvas_at(&c, 3, x + k)->ch < 0x7f ? (char)canvas_at(&c, 3, x + k)->ch : '?';
            bool is_cosine = strcmp(head, "cosine") == 0, is_length = strcmp(head, "length") == 0;
            for (int y = 4; y < c.h && (is_cosine || is_length); y++) {
                Ref ref = canvas_at(&c, y, x + 5)->ref;
                if (!ref.run || canvas_at(&c, y, x + 5)->ch <= ' ')
                    continue;
                under_cosine += is_cosine && ref.node == cosine;
                under_length += is_length && ref.node == norm;
                assert_true(strstr(graph_node(g, ref.node)->path, is_cosine ? "cosine" : "norm"));
                seen[ref.cell % (size_t)words] = true;
            }
        }
        Buf text = {0};
        drawn(&VIEW_ALIKE, SIDE_B, OF[i][0], OF[i][1], &text);
        if (!strstr(buf_str(&text), "principal components") && !strstr(buf_str(&text), "PCA"))
            fail_msg("%d × %d: what the colours are is unsaid:\n%s", OF[i][0], OF[i][1], buf_str(&text));
        buf_free(&text);
        const int fit = OF[i][0] - 3 < words ? OF[i][0] - 3 : words;
        assert_int_equal(under_cosine, fit);
        assert_int_equal(under_length, OF[i][1] > 90 ? fit : 0);
        for (int k = 0; k < fit; k++)
            assert_true(seen[k]);
        canvas_free(&c);
    }
}

/* Where a part changes so little that its cell is 0, the sheet says how little that is. */
static void a_cell_of_nothing_is_explained(void **state)
{
    (void)state;
    static const int OF[][2] = {{18, 78}, {33, 90}, {52, 148}};
    command("model translator");
    command("open \"the animal did not cross the street because it was too tired\"; pin; word tired wide; patching");
    while (!screen_now(&session)->work(&session, CLOCK_NEVER))
        continue;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        shows(&VIEW_PATCHES, SIDE_B, OF[i][0], OF[i][1], "  0  ");
        shows(&VIEW_PATCHES, SIDE_B, OF[i][0], OF[i][1], " 0: under ");
    }
    int falls = 0, rises = 0;
    for (int i = 0; i < 4; i++) { /* what is below 0 falls, by what is above it */
        const PatchingResult *r = session_patching(&session, NULL);
        const int here = patches_here(&session, r);
        const bool fall = here >= 0 && r->exact[here] < 0;
        shows(&VIEW_PATCHES, SIDE_B, 33, 90, fall ? "It falls by " : "It rises by ");
        falls += fall;
        rises += !fall;
        command("move right");
    }
    assert_true(falls && rises);
}

/* Beside a map in a narrow pane every number has room, however small the difference; and its colours have a scale. */
static void numbers_beside_a_narrow_map(void **state)
{
    (void)state;
    command("pin; open #3; alike");
    for (int i = 0; i < 6 * 12 * 3; i++) {
        const int h = 7 + i % 6, w = 18 + i / 6 % 12, side = i / 72;
        Buf text = {0};
        drawn(&VIEW_ALIKE, (Side)side, h, w, &text);
        if (strstr(buf_str(&text), "###"))
            fail_msg("side %d, %d × %d:\n%s", side, h, w, buf_str(&text));
        buf_free(&text);
    }
}

/* Below the maps of A − B stands how far their colours go, to two digits, apart from the colours. */
static void scales_of_alike_are_true(void **state)
{
    (void)state;
    int ends = 0;
    command("pin; open #3; alike 3 r4c4; compare sides");
    for (int h = 26; h < 34; h++)
        for (int w = 28; w < 40; w++) {
            Canvas c;
            float most = 0;
            draw_on(&c, &VIEW_ALIKE, SIDE_DIFF, h, w, MODE_256, false);
            const Graph *g = session_graph(&session, SIDE_DIFF);
            for (int block = -1; block < 4; block++) {
                const char *path = alike_path(&session, SIDE_DIFF, block, SITE_ALIKE_COSINE);
                const Axis *p = &g->axes[graph_node(g, session_node(&session, SIDE_DIFF, path))->dims.axis[0]];
                const float *x = session_peek(&session, SIDE_DIFF, path);
                for (int i = 0; i < p->n; i++)
                    most = fmaxf(most, fabsf(x[(4 * 8 + 4) * p->n + i]));
            }
            for (int i = 1; i < c.h * c.w - 8; i++) { /* the first number behind the swatches is that of the cosines */
                char word[9] = "";
                if (!c.cells[i - 1].level || c.cells[i].level || c.cells[i].style == STYLE_HEADER)
                    continue;
                for (int k = 0; k < 8; k++) {
                    const uint32_t ch = c.cells[i + k].ch;
                    word[k] = ch == ' ' || ch == '.' || (ch >= '0' && ch <= '9') ? (char)ch : ch == 0xb1 ? ' ' : 0;
                }
                if (c.cells[i].style != STYLE_DIM && c.cells[i + 1].style != STYLE_DIM)
                    continue;
                assert_true(c.cells[i].ch == ' ');
                if (fabs(strtod(word, NULL) - (double)most) > 0.05 * (double)most)
                    fail_msg("%d × %d: %s for %g", h, w, word, (double)most);
                ends++;
                break;
            }
            canvas_free(&c);
        }
    assert_true(ends > 40);
}

/* Where what is neither head nor MLP has no list, the table says what it comes to; three rivers in 80 columns say once
 * what their letters are. */
static void narrow_ledgers_are_whole(void **state)
{
    (void)state;
    char number[16];
    command("pin; open #3; ledger; view next");
    shows(&VIEW_LEDGER, SIDE_B, 12, 38, "parts together ");
    const Ledger *l = session_ledger(&session, SIDE_B);
    const Graph *g = session_graph(&session, SIDE_B);
    number_text(number, sizeof number, session_peek(&session, SIDE_B, graph_node(g, l->start)->path)[0], 8);
    shows(&VIEW_LEDGER, SIDE_B, 12, 38, number);
    command("pin off; model translator");
    command("open \"the animal did not cross the street because it was too tired\"; word tired wide; ledger");
    Canvas c;
    for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
        draw_on(&c, &VIEW_LEDGER, (Side)side, 10, 24, MODE_256, false);
        canvas_free(&c);
    }
    shows(&VIEW_LEDGER, SIDE_DIFF, 10, 24, "self cross MLP, + others");
}

/* Two rows of words in one line have both names where the map leaves columns free. */
static void rows_of_a_line_have_both_names(void **state)
{
    (void)state;
    Canvas c;
    command("model translator");
    command("open \"the animal did not cross the street because it was too tired\"");
    command("goto decoder.blocks.1.cross_attn.pattern; view matrix");
    draw_on(&c, &VIEW_MATRIX, SIDE_B, 16, 40, MODE_256, false);
    int found = 0;
    for (int y = 0; y < c.h; y++) {
        char line[16] = "";
        for (int x = 0; x < 9; x++)
            line[x] = (char)canvas_at(&c, y, 3 + x)->ch;
        found += strcmp(line, "rue parce") == 0;
    }
    canvas_free(&c);
    assert_int_equal(found, 1);
}

/* Where A, B and A − B don't add up as they are rounded, a mark says so, in a narrow list too, and below it why. */
static void rounded_in_a_narrow_list(void **state)
{
    (void)state;
    int marked = 0;
    command("pin; open #3");
    for (int w = 30; w < 60; w++) {
        Buf text = {0};
        drawn(&VIEW_ANSWER, SIDE_B, 16, w, &text);
        const char *first = strstr(buf_str(&text), "~"); /* in ASCII */
        marked += first != NULL;
        if (first && !strstr(buf_str(&text), "~ before rounding"))
            fail_msg("%d columns:\n%s", w, buf_str(&text));
        buf_free(&text);
    }
    if (!marked)
        fail_msg("nothing is marked");
}

/* Among 65 tokens a bar to 1 is a sliver: the longest is full, and the heading says what that stands for. */
static void largest_weights_have_a_scale(void **state)
{
    (void)state;
    command("goto blocks.1.attn.pattern");
    Canvas c;
    draw_on(&c, &VIEW_ROW_TOP, SIDE_B, 20, 36, MODE_256, false);
    canvas_free(&c);
    const Graph *g = session_base(&session);
    const NodeId n = graph_find(g, "blocks.1.attn.pattern");
    const float *x = session_peek(&session, SIDE_B, graph_node(g, n)->path);
    const int t_axis = dims_role(g, graph_node(g, n)->dims, ROLE_QUERY);
    float most = 0;
    char share[16], says[32];
    for (int u = 0; u < 65; u++) /* of head 0 */
        most = fmaxf(most, x[session_index_on(&session, g, t_axis) * 65 + u]);
    share_text(share, sizeof share, most);
    snprintf(says, sizeof says, "to %s", share);
    shows(&VIEW_ROW_TOP, SIDE_B, 20, 36, says);
    shows(&VIEW_ROW_TOP, SIDE_B, 20, 36, "################"); /* all of its columns */
}

/* Token by token over a picture no patch of any block is left out, and each is found by a click. */
static void all_patches_of_all_blocks_are_there(void **state)
{
    (void)state;
    enum { BLOCKS = 4, TOKENS = 65 };
    static const int OF[][2] = {{18, 78}, {33, 90}, {52, 148}};
    command("pin; open #3; patching tokens");
    while (!screen_now(&session)->work(&session, CLOCK_NEVER))
        continue;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        Canvas c;
        Buf line = {0};
        int found[BLOCKS][TOKENS] = {{0}}, all = 0, row, col;
        draw_on(&c, &VIEW_PATCHES, SIDE_B, OF[i][0], OF[i][1], MODE_256, false);
        const Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        for (int at = 0; at < c.h * c.w; at++) {
            buf_clear(&line);
            if (!view_click(&VIEW_PATCHES, &p, c.clip, SIDE_B, at / c.w, at % c.w, &line))
                continue;
            if (sscanf(buf_str(&line), "option patch-row %d; option patch-column %d", &row, &col) != 2)
                row = col = 0; /* the cursor */
            assert_in_range(row, 0, BLOCKS - 1);
            assert_in_range(col, 0, TOKENS - 1);
            all += !found[row][col]++;
        }
        assert_int_equal(all, BLOCKS * TOKENS);
        buf_free(&line);
        canvas_free(&c);
    }
    for (int i = 0; i < 20; i++)
        command("move right");
    shows(&VIEW_PATCHES, SIDE_B, 33, 90, "into block 0 at r2c3"); /* whose number stands beside the title */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_size_and_side, open_guessing, close_session),
        cmocka_unit_test_setup_teardown(computing_is_said, open_guessing, close_session),
        cmocka_unit_test_setup_teardown(occlusion_is_the_measurement, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(occlusion_of_both_sides, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(occlusion_comes_side_by_side, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(next_is_the_next_map, open_bundled, close_session),
        cmocka_unit_test(mass_of_the_drops),
        cmocka_unit_test_setup_teardown(the_object_has_an_edge, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(small_maps_have_a_thin_edge, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(maps_are_whole_beside_each_other, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(clicks_go_to_patch_and_map, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(maps_are_as_large_as_can_be, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(heads_one_by_one, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_list_of_ab_fills_its_pane, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(words_that_did_not_move_are_counted, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_scale_of_logits_stands_once, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(gradients_of_the_answer, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lens_rows_and_clicks, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lens_numbers_on_their_colours, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lens_lines_are_logits, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(attention_is_apart_from_the_lines, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(names_of_classes_are_whole_or_numbered, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lens_of_an_edit, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lens_from_the_start, open_bundled, close_session),
        cmocka_unit_test(absent_things_are_said),
        cmocka_unit_test(many_patches),
        cmocka_unit_test(a_narrow_matrix_has_its_scale),
        cmocka_unit_test(many_blocks_and_classes),
        cmocka_unit_test(points_have_the_tables_digits),
        cmocka_unit_test_setup_teardown(a_river_is_its_ledger, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_narrow_river_marks_what_is_lost, open_bundled, close_session),
        cmocka_unit_test(a_deep_river_has_room),
        cmocka_unit_test(a_narrow_deep_river_is_of_blocks),
        cmocka_unit_test_setup_teardown(the_largest_of_a_river_has_its_number, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_largest_of_narrow_rivers_is_named, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_largest_have_that_of_the_cursor, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_largest_loss_has_its_number, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(values_of_a_river_are_at_their_tributaries, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(votes_of_both_on_one_scale, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_table_has_the_colours_of_its_scale, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_legend_of_a_river_is_not_cut, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_path_of_a_river_has_no_part_above_its_whole, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(tables_of_both_are_alike, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rows_without_room_are_told, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(outlines_of_votes_are_explained, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_path_of_a_river_names_its_heads, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_path_of_a_river_names_its_stops, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rivers_of_a_and_b_say_what_they_lack, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_river_of_both, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(narrow_rivers_of_two_sides, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_river_without_a_head, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(why_marks_the_patch_it_names, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(why_names_the_head_where_its_path_begins, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(votes_are_seen_over_the_picture, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_picture_of_votes_says_what_its_lines_are, open_bundled, close_session),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(a_sheet_always_fits),
        cmocka_unit_test(a_sheet_folds_rather_than_pools),
        cmocka_unit_test(every_head_is_there),
        cmocka_unit_test(a_page_of_heads_is_legible),
        cmocka_unit_test_setup_teardown(losses_stand_beside_what_they_are_of, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_sheet_has_its_losses, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_sheet_lights_its_patches, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_sheet_is_marked_alike, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(maps_have_their_scales, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(the_picture_has_its_own_pixels, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(an_outlier_is_named, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(lines_of_both_are_not_a_and_b, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(every_line_has_its_label, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_patch_lights_the_star, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rows_of_maps_have_no_words_between, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(alike_is_clicked, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(columns_of_alike_words_are_named, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(a_cell_of_nothing_is_explained, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(numbers_beside_a_narrow_map, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(scales_of_alike_are_true, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(every_named_line_is_seen, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(pictures_that_are_left_out_are_counted, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(narrow_ledgers_are_whole, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rows_of_a_line_have_both_names, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(rounded_in_a_narrow_list, open_guessing, close_session),
        cmocka_unit_test_setup_teardown(largest_weights_have_a_scale, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(all_patches_of_all_blocks_are_there, open_bundled, close_session),
        cmocka_unit_test_setup_teardown(sentences, open_guessing, close_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
