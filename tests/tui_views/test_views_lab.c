/* The scale laboratory and the head census: at every size they stay in their rectangle, every tagged number is the
 * trace's, shares are those that were measured, and what cannot be measured is said. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/session/ask/ask.h"
#include "core/session/edit/edits.h"
#include "core/session/learned/measures.h"
#include "core/session/screens/heads.h"
#include "core/session/screens/laboratory.h"
#include "tests/tui_views/drawn.h"
#include "tui/canvas/dots.h"
#include "tui/canvas/export.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/shown.h"

static Session session;
static Commands commands;
static char dir[64];

static const int SIZES[][2] = {{1, 1},  {1, 9},   {2, 2},   {3, 1},   {4, 18},   {7, 11},   {8, 40},
                               {9, 58}, {15, 46}, {18, 78}, {34, 90}, {54, 158}, {150, 500}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static void must(const char *line)
{
    Err err;
    if (!command_do(&session, &commands, line, ~0U, &err))
        fail_msg("%s: %s", line, err.text);
}

/* A small model of drawn shapes, or one of classes that nobody has labelled pictures for. */
static void open_model(bool shapes, int layers, int heads)
{
    VitConfig c = model_bundled_config();
    Model m = {0};
    Err err;
    c.image_h = c.image_w = 24;
    c.layers = layers;
    c.heads = heads;
    c.head_dim = 4;
    c.width = 4 * heads;
    c.mlp = 8;
    c.scale = vit_scale(4);
    model_seeded(&m, &c, 5);
    m.drawn_shapes = shapes;
    m.class_names = shapes ? SHAPES_NAMES : NULL;
    if (!model_save(&m, dir, &err))
        fail_msg("%s", err.text);
    model_free(&m);
    session_free(&session);
    if (!session_init(&session, dir, "#17", 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

/* --- drawing and reading back --- */

/* Draws with a canary all around; returns how many numbers were right. */
static int draw_checked(const ViewSpec *v, int h, int w, ColourMode mode, bool ascii)
{
    Canvas c;
    Rect r = {2, 3, h, w};
    canvas_init(&c, h + 4, w + 6);
    c.ascii = ascii;
    canvas_fill(&c, (Rect){0, 0, c.h, c.w}, STYLE_ERROR, '~');
    canvas_fill(&c, r, STYLE_TEXT, ' ');
    Paint p = {.s = &session, .c = &c, .mode = mode};
    Rect clip = c.clip;
    view_draw(v, &p, r, SIDE_B, true);
    assert_memory_equal(&clip, &c.clip, sizeof clip);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            bool inside = rect_has(r, y, x);
            if (!inside && (k->ch != '~' || k->style != STYLE_ERROR || k->ref.run || k->level))
                fail_msg("%s drew outside its %d × %d at %d %d", v->name, h, w, y, x);
            assert_true(!ascii || !inside || k->ch < 0x7f);
        }
    assert_true(c.cursor_y < 0 || rect_has(r, c.cursor_y, c.cursor_x));
    int numbers = drawn_numbers(&session, &c);
    canvas_free(&c);
    return numbers;
}

static int all_sizes(const ViewSpec *v)
{
    static const ColourMode MODES[] = {MODE_TRUE, MODE_256, MODE_8, MODE_MONO};
    int numbers = 0;
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int m = 0; m < 4; m++)
            numbers += draw_checked(v, SIZES[i][0], SIZES[i][1], MODES[m], m == 3);
    for (int h = 1; h < 40; h += 1 + h / 9)
        for (int w = 1; w < 130; w += 1 + h % 3 * 4)
            draw_checked(v, h, w, h % 2 ? MODE_256 : MODE_MONO, w % 2);
    Buf title = {0};
    v->title(&session, SIDE_B, &title);
    assert_true(title.len > 0);
    buf_free(&title);
    return numbers;
}

static const char *drawn(const ViewSpec *v, int h, int w, Buf *out)
{
    Canvas c;
    canvas_init(&c, h, w);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    view_draw(v, &p, c.clip, SIDE_B, true);
    buf_clear(out);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            char glyph[8];
            uint32_t ch = canvas_at(&c, y, x)->ch;
            glyph[ch ? utf8_put(glyph, ch) : 0] = '\0';
            buf_puts(out, glyph);
        }
        buf_puts(out, "\n");
    }
    canvas_free(&c);
    return buf_str(out);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static int lines_with(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        n++;
    return n;
}

/* Every command that a click gives is done; returns how many different ones there were. */
static int click_everywhere(const ViewSpec *v, const char *go, int h, int w)
{
    char seen[64][96];
    int kinds = 0;
    Canvas c;
    canvas_init(&c, h, w);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x += 1 + w / 30) {
            Buf line = {0};
            if (session.place.screen != SCREEN_LABORATORY && session.place.screen != SCREEN_CENSUS)
                must(go);
            Paint p = {.s = &session, .c = &c, .mode = MODE_256};
            bool hit = view_click(v, &p, (Rect){0, 0, h, w}, SIDE_B, y, x, &line);
            assert_int_equal(hit, line.len > 0);
            int i = 0;
            while (hit && i < kinds && strcmp(seen[i], buf_str(&line)) != 0)
                i++;
            if (hit && i == kinds && kinds < 64) {
                snprintf(seen[kinds++], sizeof *seen, "%s", buf_str(&line));
                must(buf_str(&line));
            }
            buf_free(&line);
        }
    canvas_free(&c);
    return kinds;
}

/* --- the laboratory --- */

static void laboratory_draws_the_trace(void **state)
{
    (void)state;
    open_model(true, 3, 2);
    must("laboratory");
    assert_true(*session.target.path); /* gradients are there to be told about */
    assert_int_equal(session_block(&session), 1);
    Buf text = {0};
    drawn(&VIEW_LABORATORY, 34, 90, &text); /* before anything was computed */
    has(buf_str(&text), "…");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    assert_true(all_sizes(&VIEW_LABORATORY) > 300);
    must("block 0; move right 2");
    assert_true(session_compares(&session));
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    assert_true(all_sizes(&VIEW_LABORATORY) > 600);
    drawn(&VIEW_LABORATORY, 34, 90, &text);
    has(buf_str(&text), "A as trained");
    has(buf_str(&text), "B now");
    has(buf_str(&text), "×4"); /* the variance, by the square of the factor 2: before block 0 nothing changed */
    has(buf_str(&text), "gradient through");
    must("pin; set scale off");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    has(drawn(&VIEW_LABORATORY, 34, 90, &text), "A as pinned");
    buf_free(&text);
}

/* Both ends of every number: the share above a notch is the one measured with its factor. */
static void laboratory_shows_what_was_measured(void **state)
{
    (void)state;
    open_model(true, 2, 2);
    must("option pictures 500; laboratory");
    Err err;
    Buf text = {0};
    if (!session_measure_all(&session, MEASURE_SCALE, 1, &err))
        fail_msg("%s", err.text);
    const Measure *m = session_measure(&session, MEASURE_SCALE, NULL);
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    drawn(&VIEW_LABORATORY, 34, 90, &text);
    has(buf_str(&text), "accuracy over 500 held-out pictures");
    assert_null(strstr(buf_str(&text), "measuring"));
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        char share[16];
        snprintf(share, sizeof share, "%.3f", (double)m->value[i]);
        has(buf_str(&text), share + 1);
    }
    has(buf_str(&text), "[1]");
    ((float *)m->value)[0] = 3.9984F; /* nats may be above 1: rounded, not cut */
    ((float *)m->value)[1] = 12.37F;
    drawn(&VIEW_LABORATORY, 34, 90, &text);
    has(buf_str(&text), "4.00");
    has(buf_str(&text), "12.4");
    must("laboratory 8");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    has(drawn(&VIEW_LABORATORY, 34, 90, &text), "[2.83]");
    must("laboratory head +1");
    assert_int_equal(session.look.laboratory.reach, REACH_HEAD);
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    has(drawn(&VIEW_LABORATORY, 34, 90, &text), "[block 0, head 0]");
    has(drawn(&VIEW_LABORATORY, 6, 30, &text), "×1.41");
    buf_free(&text);
}

/* Lines, counted from the top, of the points of the plot; −1: none in that notch's band. */
static void point_lines(int at[MEASURES_FACTORS])
{
    Canvas c;
    canvas_init(&c, 40, 160);
    canvas_plots(&c, "blocks");
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    view_draw(&VIEW_LABORATORY, &p, c.clip, SIDE_B, true);
    int found = 0;
    for (int i = 0; i < MEASURES_FACTORS; i++)
        at[i] = -1;
    for (int x = 0; x < c.w; x++) /* from left to right: a point in each band */
        for (int y = 0; y < c.h; y++)
            if (canvas_at(&c, y, x)->ch == 0x25cf) {
                Buf line = {0};
                assert_true(found < MEASURES_FACTORS);
                assert_true(
                    view_click(&VIEW_LABORATORY, &p, c.clip, SIDE_B, y, x, &line)); /* its own notch is under it */
                int notch = -1;
                assert_int_equal(sscanf(buf_str(&line), "laboratory %d", &notch), 1);
                assert_true(notch >= 0 && notch < MEASURES_FACTORS && at[notch] == -1);
                at[notch] = y;
                found++;
                buf_free(&line);
            }
    canvas_free(&c);
}

/* A point is as high as its share: at the top for 1, at the bottom for 0, in the middle for a half; there is none where
 * nothing was measured yet. */
static void points_are_shares(void **state)
{
    (void)state;
    Measure *m = (Measure *)(uintptr_t)session_measure(&session, MEASURE_SCALE, NULL);
    must("reset edits");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 40, 160});
    float kept[MEASURES_FACTORS];
    int at[MEASURES_FACTORS];
    memcpy(kept, m->value, sizeof kept);
    for (int i = 0; i < MEASURES_FACTORS; i++)
        m->value[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 0.5F;
    m->value[7] = NAN;
    point_lines(at);
    assert_int_equal(at[7], -1);
    for (int i = 0; i < MEASURES_FACTORS; i++)
        if (i != 7)
            assert_int_equal(at[i], i % 3 == 0 ? at[0] : i % 3 == 1 ? at[1] : at[2]);
    assert_true(at[0] - at[1] >= 8);
    assert_true(abs(at[2] * 2 - at[0] - at[1]) <= 1);
    memcpy(m->value, kept, sizeof kept);
}

/* Twice as much is equally far everywhere, and a factor between two notches is neither: it stands between them. */
static void notches_are_octaves(void **state)
{
    (void)state;
    must("reset edits");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 40, 160});
    Canvas c;
    canvas_init(&c, 40, 160);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    view_draw(&VIEW_LABORATORY, &p, c.clip, SIDE_B, true);
    int column[MEASURES_FACTORS], first[MEASURES_FACTORS], found = -1;
    for (int x = 0; x < c.w; x++) { /* where a click means each of them */
        Buf said = {0};
        int notch = -1;
        if (view_click(&VIEW_LABORATORY, &p, c.clip, SIDE_B, 10, x, &said) &&
            sscanf(buf_str(&said), "laboratory %d", &notch) == 1) {
            first[notch] = notch > found ? x : first[notch];
            column[notch] = (first[notch] + x) / 2;
            found = notch;
        }
        buf_free(&said);
    }
    assert_int_equal(found, MEASURES_FACTORS - 1);
    double octave = (column[MEASURES_FACTORS - 1] - column[0]) /
                    log2((double)(measures_factor(&session, MEASURES_FACTORS - 1) / measures_factor(&session, 0)));
    assert_true(octave > 10);
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        double octaves = log2((double)measures_factor(&session, i));
        assert_true(fabs(column[i] - column[MEASURES_FACTORS / 2] - octaves * octave) < 2);
    }
    canvas_free(&c);
    Buf text = {0};
    must("laboratory all; set scale x1.6");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 40, 160});
    const char *at = strstr(drawn(&VIEW_LABORATORY, 40, 160, &text), "[1.6]");
    assert_non_null(at);
    const char *start = at;
    while (start > buf_str(&text) && start[-1] != '\n')
        start--;
    const char *less = at - 1;
    while (less > start && (*less == ' ' || less[-1] != ' '))
        less--;
    assert_true(strtod(less, NULL) >= 1 && strtod(less, NULL) < 1.6 && strtod(at + 5, NULL) > 1.6);
    buf_free(&text);
    must("reset edits");
}

/* In an SVG the plot is lines: the shares and what chance would name. */
static void the_plot_is_exported_as_lines(void **state)
{
    (void)state;
    Canvas c;
    Buf out = {0};
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    canvas_init(&c, 34, 90);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    view_draw(&VIEW_LABORATORY, &p, c.clip, SIDE_B, true);
    assert_int_equal(c.strokes.strokes, 2);
    assert_int_equal(c.strokes.stroke[0].count, MEASURES_FACTORS);
    export_svg(&c, MODE_TRUE, false, "laboratory", &out);
    assert_int_equal(lines_with(buf_str(&out), "stroke-width=\"1.5\""), 2);
    buf_free(&out);
    canvas_free(&c);
}

static void laboratory_clicks(void **state)
{
    (void)state;
    must("laboratory");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    assert_true(click_everywhere(&VIEW_LABORATORY, "laboratory", 34, 90) >= MEASURES_FACTORS + REACH_COUNT + 5);
    click_everywhere(&VIEW_LABORATORY, "laboratory", 9, 58);
    click_everywhere(&VIEW_LABORATORY, "laboratory", 1, 1);
    must("reset edits");
}

/* The gradient that is let through, from the gradients themselves. */
static void gradient_through(void **state)
{
    (void)state;
    Err err;
    open_model(true, 2, 2);
    must("laboratory; block 0");
    const float *weights = session_need(&session, SIDE_B, "grad.blocks.0.attn.pattern", &err);
    const float *scores = session_need(&session, SIDE_B, "grad.blocks.0.attn.scores_scaled", &err);
    const float *row = session_need(&session, SIDE_B, "blocks.0.attn.probe.gradient_through", &err);
    const float *head = session_need(&session, SIDE_B, "blocks.0.attn.probe.gradient_through_head", &err);
    int tokens = vit_tokens(&session.model.vit);
    assert_true(weights && scores && row && head);
    for (int h = 0; h < 2; h++) {
        double in_all = 0, out_all = 0;
        for (int t = 0; t < tokens; t++) {
            double in = 0, out = 0;
            for (int u = 0; u < tokens; u++) {
                size_t i = ((size_t)h * (size_t)tokens + (size_t)t) * (size_t)tokens + (size_t)u;
                in += (double)weights[i] * (double)weights[i];
                out += (double)scores[i] * (double)scores[i];
            }
            in_all += in;
            out_all += out;
            assert_true(in > 0);
            assert_true(fabs((double)row[h * tokens + t] / sqrt(out / in) - 1) < 1e-5);
            assert_true(row[h * tokens + t] <= 0.5F); /* the norm of softmax's Jacobian is at most 1/2 */
        }
        assert_true(fabs((double)head[h] / sqrt(out_all / in_all) - 1) < 1e-5);
    }
    row = session_need(&session, SIDE_B, "blocks.1.attn.probe.gradient_through", &err);
    assert_true(isfinite(row[0])); /* of the last block only the class token is read */
    assert_true(isnan(row[1]));
    Buf text = {0};
    must("block 1; query 1");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    has(drawn(&VIEW_LABORATORY, 34, 90, &text), "none");
    must("gradient off");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 90});
    assert_null(strstr(drawn(&VIEW_LABORATORY, 34, 90, &text), "none"));
    has(buf_str(&text), "not asked for yet (:gradient ADDRESS)"); /* why there is no number */
    buf_free(&text);
}

/* --- the census --- */

static void census_shows_what_was_measured(void **state)
{
    (void)state;
    open_model(true, 2, 3);
    must("option pictures 500; census");
    Err err;
    Buf text = {0};
    has(drawn(&VIEW_CENSUS, 18, 78, &text), "measuring…");
    assert_true(all_sizes(&VIEW_CENSUS) == 0); /* nothing is computed yet, so there are no numbers of the trace */
    if (!session_measure_all(&session, MEASURE_CENSUS, 1, &err))
        fail_msg("%s", err.text);
    Measure *m = (Measure *)(uintptr_t)session_measure(&session, MEASURE_CENSUS, NULL);
    drawn_prepare(&session, &VIEW_CENSUS, SIDE_B, (Rect){0, 0, 18, 78});
    assert_true(all_sizes(&VIEW_CENSUS) > 50);
    for (int i = 0; i < 6; i++) /* drops that no two heads share */
        m->value[i] = m->base - 0.001F * (float)(7 * i - 3);
    for (int i = 0; i < 6; i++)
        m->pair[i] = (Paired){i == 5 ? 250U : (unsigned)i, 0, 500};
    drawn(&VIEW_CENSUS, 18, 78, &text);
    static const char *const POINTS[] = {"~-0.3", "~0.4", "~1.1", "~1.8", "~2.5", " 3.2"};
    for (int i = 0; i < 6; i++)
        has(buf_str(&text), POINTS[i]);
    has(buf_str(&text), "of 500 held-out pictures right");
    must("block 1; head 2");
    drawn_prepare(&session, &VIEW_CENSUS, SIDE_B, (Rect){0, 0, 18, 78});
    has(drawn(&VIEW_CENSUS, 18, 78, &text), "block 1, head 2");
    has(buf_str(&text), "rank 1 of 6"); /* missed most */
    m->value[5] = NAN;
    m->done = m->total / 2;
    has(drawn(&VIEW_CENSUS, 18, 78, &text), "measuring 50 %");
    has(buf_str(&text), "not measured yet");
    m->done = m->total;
    m->value[5] = m->base;
    must("block 1; head 1");
    drawn_prepare(&session, &VIEW_CENSUS, SIDE_B, (Rect){0, 0, 18, 78});
    has(drawn(&VIEW_CENSUS, 18, 78, &text),
        "rank 2–6 of 6, intervals overlap"); /* the pictures can't tell it from the others */
    buf_free(&text);
}

/* x switches the head under the cursor off and on again, Enter goes to where it looks. */
static void census_acts(void **state)
{
    (void)state;
    Buf text = {0};
    must("census; block 1; head 1");
    must("move left; move up; ablate");
    assert_true(edits_has(&session, "ablate blocks.0.attn.z[h=0]"));
    drawn_prepare(&session, &VIEW_CENSUS, SIDE_B, (Rect){0, 0, 18, 78});
    has(drawn(&VIEW_CENSUS, 18, 78, &text), "off now");
    assert_non_null(
        session_measure(&session, MEASURE_CENSUS, NULL)); /* it is of the model as trained: edits leave it */
    must("ablate");
    assert_int_equal(session.edits.count, 0);
    must("in");
    assert_int_equal(session.place.screen, SCREEN_ROW);
    assert_string_equal(session.place.path, "blocks.0.attn.pattern");
    must("census");
    assert_true(click_everywhere(&VIEW_CENSUS, "census", 18, 78) >= 6 + 3);
    click_everywhere(&VIEW_CENSUS, "census", 5, 20);
    click_everywhere(&VIEW_CENSUS, "census", 1, 1);
    buf_free(&text);
}

static void many_heads(void **state)
{
    (void)state;
    open_model(true, 14, 12);
    must("census; block 13; head 11");
    Buf text = {0};
    Needs needs = {0};
    VIEW_CENSUS.needs(&session, SIDE_B, (Rect){0, 0, 10, 40}, &needs);
    for (int i = 0; i < needs.count; i++) {
        Err err;
        assert_non_null(session_need(&session, needs.item[i].side, needs.item[i].path, &err));
    }
    all_sizes(&VIEW_CENSUS);
    has(drawn(&VIEW_CENSUS, 10, 40, &text), "block 13");
    has(buf_str(&text), "h11");
    has(buf_str(&text), "of 12:"); /* not all have room, which is said */
    has(drawn(&VIEW_CENSUS, 36, 100, &text), "h0");
    has(buf_str(&text), "h11");
    assert_null(strstr(buf_str(&text), "of 12:"));
    must("laboratory");
    all_sizes(&VIEW_LABORATORY);
    buf_free(&text);
}

/* --- what cannot be measured --- */

static void absent(void **state)
{
    (void)state;
    Buf text = {0};
    open_model(false, 2, 2);
    must("census");
    drawn_prepare(&session, &VIEW_CENSUS, SIDE_B, (Rect){0, 0, 18, 78});
    assert_true(all_sizes(&VIEW_CENSUS) > 20);
    has(drawn(&VIEW_CENSUS, 18, 140, &text), "no labelled inputs are known: what this one's logits[o=5]");
    has(buf_str(&text), "lost without it");
    must("block 0; head 0");
    float loss = census_here(&session, 0, 0);
    must("say");
    has(buf_str(&session.said), "cannot be measured");
    char line[160];
    snprintf(
        line, sizeof line,
        "For this input alone: with head 0 of block 0 switched off at every token, logits[o=5] − logits[o=0] %s by ",
        loss < 0 ? "rises" : "falls");
    has(buf_str(&session.said), line);
    for (int b = 0; b < 2; b++) /* every head is measured */
        assert_true(isfinite(census_here(&session, b, 0)) && isfinite(census_here(&session, b, 1)));
    assert_true(isnan(census_here(&session, 2, 0)) && isnan(census_here(&session, 0, 2)));
    must("laboratory +1");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 34, 140});
    assert_true(all_sizes(&VIEW_LABORATORY) > 100);
    has(drawn(&VIEW_LABORATORY, 34, 140, &text), "no labelled pictures are known for this model");
    must("say");
    has(buf_str(&session.said), "attn.scale is times");
    assert_null(strstr(buf_str(&session.said), "named right"));
    must("reset edits");
    buf_free(&text);
}

static void sayings(void **state)
{
    (void)state;
    Err err;
    char text[64];
    open_model(true, 2, 2);
    must("census; say");
    has(buf_str(&session.said), "being measured");
    assert_true(session_measure_all(&session, MEASURE_CENSUS, 1, &err) &&
                session_measure_all(&session, MEASURE_SCALE, 1, &err));
    must("block 1; head 1; say");
    snprintf(text, sizeof text, "Without head 1 of block 1 %.1f %%",
             100 * (double)session_measure(&session, MEASURE_CENSUS, NULL)->value[3]);
    has(buf_str(&session.said), text);
    must("laboratory +1; say");
    snprintf(text, sizeof text, "With that factor %.1f %% (",
             100 * (double)session_measure(&session, MEASURE_SCALE, NULL)->value[MEASURES_FACTORS / 2 + 1]);
    has(buf_str(&session.said), text);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/test_views_lab.XXXXXX");
    commands_free(&commands);
    commands = session_command_set();
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const NAMES[] = {"config.json", "model.safetensors", "preprocessor_config.json"};
    char path[128];
    (void)state;
    session_free(&session);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, NAMES[i]);
        unlink(path);
    }
    return rmdir(dir);
}

/* The two numbers behind a figure's label: of the row, and the mean of the head's rows. */
static void reads_figure(const char *text, const char *label, double row, double mean)
{
    char number[2][32];
    const char *at = strstr(text, label);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(label), " %31s %31s", number[0], number[1]), 2);
    if (!says(number[0], (float)row) || !says(number[1], (float)mean))
        fail_msg("%s: %s and %s, not %.9g and %.9g", label, number[0], number[1], row, mean);
}

/* The figures of a row of cross-attention and the mean over all its rows, computed from the pattern and the scores. */
static void figures_are_the_rows(const char *text, int head, int row)
{
    enum { ROWS = 15, COLS = 13 };
    Err err;
    const float *w = session_need(&session, SIDE_B, "decoder.blocks.2.cross_attn.pattern", &err),
                *x = session_need(&session, SIDE_B, "decoder.blocks.2.cross_attn.scores_scaled", &err);
    double of[3][ROWS], mean[3] = {0};
    assert_true(w && x);
    for (int t = 0; t < ROWS; t++) {
        const float *weights = w + (head * ROWS + t) * COLS, *scores = x + (head * ROWS + t) * COLS;
        double sum = 0, variance = 0, entropy = 0, largest = 0;
        for (int u = 0; u < COLS; u++)
            sum += (double)scores[u] / COLS;
        for (int u = 0; u < COLS; u++) {
            variance += ((double)scores[u] - sum) * ((double)scores[u] - sum) / COLS;
            entropy -= weights[u] > 0 ? (double)weights[u] * log((double)weights[u]) / log(COLS) : 0;
            largest = fmax(largest, (double)weights[u]);
        }
        of[0][t] = variance;
        of[1][t] = entropy;
        of[2][t] = largest;
        for (int k = 0; k < 3; k++)
            mean[k] += of[k][t] / ROWS;
    }
    static const char *const LABELS[] = {"variance of scores", "entropy, 0–1", "largest weight"};
    for (int k = 0; k < 3; k++)
        reads_figure(text, LABELS[k], of[k][row], mean[k]);
}

/* Of cross-attention: the row is a word that is written, and so is their number; the factors are its own. */
static void of_cross_attention(void **state)
{
    (void)state;
    Err err;
    Buf out = {0};
    char node[64];
    session_free(&session);
    if (!session_init(&session, "translator", NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    session.look.pictures = MEASURES_ROUND; /* what is measured is not looked at here */
    must("goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]; laboratory");
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 36, 90});
    const char *text = drawn(&VIEW_LABORATORY, 36, 90, &out);
    assert_non_null(strstr(text, "row qu'"));
    assert_non_null(strstr(text, "mean of its 15 rows"));
    figures_are_the_rows(text, 2, 10);
    must("set scale x2 at=decoder.blocks.2.cross_attn; compare off"); /* the table is that attention's, of no other */
    drawn_prepare(&session, &VIEW_LABORATORY, SIDE_B, (Rect){0, 0, 36, 90});
    text = drawn(&VIEW_LABORATORY, 36, 90, &out);
    const char *table = strstr(text, "cross_attn.scale of every head");
    assert_non_null(table);
    for (int block = 0; block < 3; block++) {
        char label[16], number[4][32];
        Err none;
        snprintf(label, sizeof label, "block %d ", block);
        const char *line = strstr(table, label);
        assert_non_null(line);
        snprintf(node, sizeof node, "decoder.blocks.%d.cross_attn.scale", block);
        const float *scale = session_need(&session, SIDE_B, node, &none);
        assert_true(scale && (block == 2) == (scale[2] > 0.4F));
        assert_int_equal(sscanf(line + strlen(label), " %31s %31s %31s %31s", number[0], number[1], number[2],
                                number[3]),
                         4);
        assert_true(says(number[strcmp(number[2], ">") == 0 ? 3 : 2], scale[2])); /* > marks the head in focus */
    }
    buf_free(&out);
}

/* Over columns of one cell whole words, in one line, each behind a corner in its column (here L): the cursor's, and
 * those that have room. */
static void words_over_narrow_columns(void **state)
{
    (void)state;
    Canvas c;
    Attend a;
    const char *const LINE = "Lthe  Lstreet";
    must("goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]");
    assert_true(attend_open(&session, SIDE_B, -1, &a));
    assert_int_equal(a.u_axis->n, 13);
    assert_int_equal(words_across_lines(a.u_axis, 1, 9), 1);
    canvas_init(&c, 1, 13);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    words_across(&p, a.u_axis, 0, 13, a.at_u, -1, c.clip, 1);
    for (int x = 0; x < 13; x++) {
        const uint32_t ch = canvas_at(&c, 0, x)->ch;
        assert_int_equal(ch ? ch : ' ', LINE[x] == 'L' ? 0x2514 : (uint32_t)LINE[x]);
    }
    assert_int_equal(canvas_at(&c, 0, 7)->style, STYLE_CURSOR);
    canvas_free(&c);
}

int main(void)
{
    if (view_of(SCREEN_LABORATORY) != &VIEW_LABORATORY || view_of(SCREEN_CENSUS) != &VIEW_CENSUS)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laboratory_draws_the_trace),
        cmocka_unit_test(laboratory_shows_what_was_measured),
        cmocka_unit_test(points_are_shares),
        cmocka_unit_test(notches_are_octaves),
        cmocka_unit_test(the_plot_is_exported_as_lines),
        cmocka_unit_test(laboratory_clicks),
        cmocka_unit_test(gradient_through),
        cmocka_unit_test(census_shows_what_was_measured),
        cmocka_unit_test(census_acts),
        cmocka_unit_test(many_heads),
        cmocka_unit_test(absent),
        cmocka_unit_test(sayings),
        cmocka_unit_test(of_cross_attention),
        cmocka_unit_test(words_over_narrow_columns),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
