/* The record of training, patch filters and heads' reach: at every size they stay in their rectangle, every tagged
 * number is the trace's, what was recorded is drawn as it was recorded, and what does not exist is said. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/ask/ask.h"
#include "core/session/learned/measures.h"
#include "tests/tui_views/drawn.h"
#include "tui/canvas/export.h"
#include "tui/views/learned/curves.h"
#include "tui/views/shown.h"

static Session session;
static Commands commands;
static char dir[64];

enum { STEPS = 6, EVERY = 10, H = 12, W = 20, PATCH = 4, ROWS = H / PATCH, COLS = W / PATCH, PLACES = ROWS * COLS };
static const ViewSpec *const VIEWS[] = {&VIEW_TRAINING, &VIEW_FILTERS, &VIEW_FILTERS, &VIEW_HEADS};
static const Screen SCREENS[] = {SCREEN_TRAINING, SCREEN_FILTERS, SCREEN_FILTERS, SCREEN_HEADS};
static const char *const GO[] = {"training", "filters", "filters filters", "heads"};
enum { VIEW_SPECS = sizeof VIEWS / sizeof *VIEWS };
static const int SIZES[][2] = {{1, 1},  {1, 9},   {2, 2},   {3, 1},   {4, 18},   {7, 11},   {8, 40},
                               {9, 58}, {15, 46}, {18, 78}, {33, 90}, {54, 158}, {150, 500}};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static void must(const char *line)
{
    Err err;
    if (!command_do(&session, &commands, line, ~0U, &err))
        fail_msg("%s: %s", line, err.text);
}

/* --- a model with a record of training --- */
static VitConfig config(void)
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    c.image_h = H;
    c.image_w = W;
    c.patch_h = c.patch_w = PATCH;
    return c;
}

/* Rows as a run leaves them: loss falls, accuracy grows, a check at every second one. */
static void add_rows(History *h, float slower)
{
    for (int i = 0; i < STEPS; i++) {
        float *row = history_add(h);
        row[HISTORY_STEP] = (float)(i * EVERY);
        row[HISTORY_LOSS] = slower * 2.5F / (float)(i + 1);
        row[HISTORY_ACCURACY] = (float)i / STEPS;
        row[HISTORY_GRADIENT] = slower * (float)(3 + i % 2);
        row[HISTORY_CHECK] = i % 2 ? (float)i / (STEPS + 1) : -1;
        for (int b = 0; b < h->vit.layers; b++)
            row[HISTORY_FIXED + b] = 0.95F - 0.05F * (float)(i + b);
    }
}

/* A snapshot whose patches lie on a circle for rows and one for columns: more and more so as the run goes on, none of
 * it at first. The last one has the model's own table. */
static void add_snapshots(History *h, const Model *m)
{
    for (int i = 0; i < STEPS; i++) {
        Snapshot *s = history_snap(h, i * EVERY);
        size_t cells = s->positions ? vit_role_cells(&h->vit, VIT_POS) : 0, width = (size_t)h->vit.width;
        for (size_t k = 0; k < cells; k++) {
            int place = (int)(k / width) - ((int)(cells / width) - PLACES), d = (int)(k % width);
            double angle = (d / 2 % 2 ? place / COLS * 0.8 : place % COLS * 0.5) + d % 2 * 1.5707963;
            double noise = (double)(k * 2654435761U % 1000) / 500 - 1;
            s->positions[k] = i == STEPS - 1 ? vit_weight(&m->weights, VIT_POS, 0)->data[k]
                                             : (float)(i * 0.3 * sin(angle) + noise);
        }
    }
}

static void save_history(const VitConfig *c, const Model *m, const char *name, float slower)
{
    char path[128];
    Err err;
    History h;
    history_init(&h, c);
    add_rows(&h, slower);
    add_snapshots(&h, m);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!history_write(&h, path, &err))
        fail_msg("%s", err.text);
    history_free(&h);
}

static void clear_dir(void)
{
    static const char *const NAMES[] = {"history.safetensors", "history-twin.safetensors", "config.json",
                                        "model.safetensors", "preprocessor_config.json"};
    char path[128];
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, NAMES[i]);
        unlink(path);
    }
}

/* Opens a model of that configuration from the folder, with 0, 1 or 2 records beside it. */
static void open_model(const VitConfig *c, int records)
{
    Model m = {0};
    Err err;
    clear_dir();
    if (!vit_check(c, &err))
        fail_msg("%s", err.text);
    model_seeded(&m, c, 5);
    if (!model_save(&m, dir, &err))
        fail_msg("%s", err.text);
    if (records > 0)
        save_history(c, &m, "history.safetensors", 1);
    if (records > 1)
        save_history(c, &m, "history-twin.safetensors", 1.5F);
    model_free(&m);
    session_free(&session);
    if (!session_init(&session, dir, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

/* --- drawing and reading back --- */
/* Draws a view with a canary all around; returns how many numbers were checked. */
static int draw_checked(const ViewSpec *v, Side side, int h, int w, ColourMode mode, bool ascii)
{
    Canvas c;
    Rect r = {2, 3, h, w};
    canvas_init(&c, h + 4, w + 6);
    c.ascii = ascii;
    canvas_fill(&c, (Rect){0, 0, c.h, c.w}, STYLE_ERROR, '~');
    canvas_fill(&c, r, STYLE_TEXT, ' ');
    Paint p = {.s = &session, .c = &c, .mode = mode};
    Rect clip = c.clip;
    drawn_prepare(&session, v, side, r);
    view_draw(v, &p, r, side, true);
    assert_memory_equal(&clip, &c.clip, sizeof clip);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            bool inside = rect_has(r, y, x);
            if (!inside && (k->ch != '~' || k->style != STYLE_ERROR || k->ref.run))
                fail_msg("%s drew outside its rectangle at %d %d", v->name, y, x);
            assert_true(!ascii || !inside || k->ch < 0x7f || k->level);
        }
    assert_true(c.cursor_y < 0 || rect_has(r, c.cursor_y, c.cursor_x));
    int numbers = drawn_numbers(&session, &c);
    canvas_free(&c);
    return numbers;
}

/* Every command that a click gives is one that can be done, and is done. */
static int click_everywhere(const ViewSpec *v, const char *go, int h, int w)
{
    int hits = 0;
    Canvas c;
    canvas_init(&c, h, w);
    for (int y = 0; y < h; y += 1 + h / 12)
        for (int x = 0; x < w; x += 1 + w / 17) {
            Buf line = {0};
            must(go);
            Paint p = {.s = &session, .c = &c, .mode = MODE_256};
            Rect r = {0, 0, h, w};
            drawn_prepare(&session, v, SIDE_A, r);
            bool hit = view_click(v, &p, r, SIDE_A, y, x, &line);
            assert_int_equal(hit, line.len > 0);
            if (hit)
                must(buf_str(&line));
            hits += hit;
            buf_free(&line);
        }
    canvas_free(&c);
    return hits;
}

static int all_views_all_sizes(Side side)
{
    int numbers = 0;
    for (int k = 0; k < VIEW_SPECS; k++) {
        must(GO[k]);
        for (int i = 0; i < SIZE_COUNT; i++) {
            static const ColourMode MODES[] = {MODE_TRUE, MODE_256, MODE_8, MODE_MONO};
            for (int m = 0; m < 4; m++)
                numbers += draw_checked(VIEWS[k], side, SIZES[i][0], SIZES[i][1], MODES[m], m == 3);
        }
    }
    return numbers;
}

static void sizes(void **state)
{
    (void)state;
    VitConfig c = config();
    for (int records = 0; records <= 2; records++) {
        open_model(&c, records);
        assert_true(all_views_all_sizes(SIDE_A) > 500);
        must("filters components");
        must("training");
        must("view next"); /* mean removed */
        assert_true(session.look.positions.centred);
        assert_true(all_views_all_sizes(SIDE_A) > 500);
        session.look.filters.components = session.look.positions.centred = false;
    }
    must("set scale off");
    for (int side = SIDE_A; side <= SIDE_DIFF; side++)
        assert_true(all_views_all_sizes((Side)side) > 200);
    must("undo");
}

static void strange_sizes(void **state)
{
    (void)state;
    for (int k = 0; k < VIEW_SPECS; k++) {
        must(GO[k]);
        for (int h = 1; h < 24; h++)
            for (int w = 1; w < 100; w += 1 + h % 3 * 3)
                draw_checked(VIEWS[k], SIDE_A, h, w, h % 2 ? MODE_256 : MODE_MONO, w % 2);
    }
}

static void clicks(void **state)
{
    (void)state;
    VitConfig c = config();
    open_model(&c, 2);
    for (int k = 0; k < VIEW_SPECS; k++) {
        assert_true(click_everywhere(VIEWS[k], GO[k], 33, 90) > 10);
        click_everywhere(VIEWS[k], GO[k], 7, 30);
        click_everywhere(VIEWS[k], GO[k], 1, 1);
    }
}

/* --- what they show --- */
static const char *text_of(Canvas *c, Buf *out)
{
    buf_clear(out);
    for (int y = 0; y < c->h; y++) {
        char glyph[8];
        for (int x = 0; x < c->w; x++) {
            uint32_t ch = canvas_at(c, y, x)->ch;
            size_t n = ch ? utf8_put(glyph, ch) : 0;
            glyph[n] = '\0';
            buf_puts(out, glyph);
        }
        buf_puts(out, "\n");
    }
    return buf_str(out);
}

static const char *drawn(Canvas *c, const ViewSpec *v, Buf *out)
{
    Paint p = {.s = &session, .c = c, .mode = MODE_256};
    canvas_clear(c);
    drawn_prepare(&session, v, SIDE_A, c->clip);
    view_draw(v, &p, c->clip, SIDE_A, true);
    return text_of(c, out);
}

static double cosine(const float *table, size_t rows, size_t width, int p, int q)
{
    const float *a = table + (rows - PLACES + (size_t)p) * width, *b = table + (rows - PLACES + (size_t)q) * width;
    double ab = 0, aa = 0, bb = 0;
    for (size_t d = 0; d < width; d++) {
        ab += (double)a[d] * (double)b[d];
        aa += (double)a[d] * (double)a[d];
        bb += (double)b[d] * (double)b[d];
    }
    return ab / sqrt(aa * bb);
}

static void film_is_the_record(void **state)
{
    (void)state;
    VitConfig c = config();
    size_t shape[4];
    open_model(&c, 2);
    must("training");
    drawn_prepare(&session, &VIEW_TRAINING, SIDE_A, (Rect){0, 0, 30, 90});
    const PositionFilm *film = session_film(&session, false);
    const History *h = session_history(&session);
    assert_non_null(film);
    assert_int_equal(film->made, STEPS);
    assert_int_equal(film->rows * film->cols, PLACES);
    vit_role_shape(&c, VIT_POS, shape);
    for (int i = 0; i < STEPS; i++)
        for (int p = 0; p < PLACES; p++)
            for (int q = 0; q < PLACES; q++)
                assert_true(fabs((double)position_film_frame(film, i)->cosine[FILM_RAW][p * PLACES + q] -
                                 cosine(h->snapshot[i].positions, shape[0], shape[1], p, q)) < 1e-6);
    const char *const path[] = {"pos.probe.cosine", "pos.probe.cosine_centred"};
    for (int k = 0; k < FILM_KINDS; k++) { /* the last snapshot is the model itself */
        Err err;
        const float *x = session_need(&session, SIDE_A, path[k], &err);
        assert_non_null(x);
        for (int i = 0; i < PLACES * PLACES; i++)
            assert_true(fabsf(position_film_frame(film, STEPS - 1)->cosine[k][i] - x[i]) < 1e-5F);
    }
    assert_null(position_film_frame(film, STEPS));
    assert_null(position_film_frame(film, -1));
}

/* Colours of the large map are those of the recorded cosines, in every snapshot. */
static void map_colours(void **state)
{
    (void)state;
    Canvas c;
    Buf text = {0};
    canvas_init(&c, 33, 90);
    for (int i = 0; i < STEPS; i++) {
        char line[64];
        snprintf(line, sizeof line, "training %d patch=r1c2", i);
        must(line);
        drawn(&c, &VIEW_TRAINING, &text);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        ColourScale scale = colour_scale_of_range(&p, -1, 1);
        const PositionFilmFrame *frame = position_film_frame(session_film(&session, false), i);
        for (int q = 0; q < PLACES; q++) { /* the squares are 8 columns wide: 40 of 90 */
            int y = q / COLS * 8 / 2 + 1, x = q % COLS * 8 + 3;
            const Cell *k = canvas_at(&c, y, x);
            Colour want = colour_scale_colour(&scale, frame->cosine[FILM_RAW][(COLS + 2) * PLACES + q]);
            assert_true(k->level > 0);
            assert_int_equal(k->ref.run, 0);
            assert_int_equal(k->ch == ' ' ? k->bg : k->fg, want);
        }
    }
    buf_free(&text);
    canvas_free(&c);
}

/* The figures at the chosen step are means of the records up to it, for the run and its twin. */
static void figures_of_the_step(void **state)
{
    (void)state;
    Canvas c;
    Buf text = {0};
    canvas_init(&c, 33, 120);
    must("training 1");
    drawn(&c, &VIEW_TRAINING, &text);
    assert_non_null(strstr(buf_str(&text), "recorded while training, step 10  2 of 6"));
    assert_non_null(strstr(buf_str(&text), "loss ─ 1.88 ┄ 2.81"));
    assert_non_null(strstr(buf_str(&text), "accuracy ─ .083 ┄ .083"));
    assert_non_null(strstr(buf_str(&text), "gradient norm ─ 3.5 ┄ 5.25"));
    assert_non_null(strstr(buf_str(&text), "[10]"));
    assert_non_null(strstr(buf_str(&text), "0–1: .8"));
    assert_non_null(strstr(buf_str(&text), "14.3 %")); /* check: 1 / 7 */
    must("training 0");
    drawn(&c, &VIEW_TRAINING, &text);
    assert_non_null(strstr(buf_str(&text), "loss ─ 2.5 ┄ 3.75"));
    assert_null(strstr(buf_str(&text), "check pictures"));        /* not measured by then */
    History *h = (History *)(uintptr_t)session_history(&session); /* of an untrained model no batch is recorded */
    h->row[HISTORY_STEP] = 5;
    drawn(&c, &VIEW_TRAINING, &text);
    assert_null(strstr(buf_str(&text), "loss ─ 2.5"));
    assert_null(strstr(buf_str(&text), "mean"));
    h->row[HISTORY_STEP] = 0;
    must("training 1");
    for (int w = 34; w <= 150; w += 4) { /* that they are means, and of which steps, is said at every width */
        canvas_resize(&c, 33, w);
        drawn(&c, &VIEW_TRAINING, &text);
        if (!strstr(buf_str(&text), w >= 130  ? "means of the recorded batches of steps 0–10"
                                    : w > 100 ? "means of steps 0–10"
                                              : "mean 0–10") &&
            !strstr(buf_str(&text), "steps 0–10"))
            fail_msg("nothing at %d columns says what the figures are:\n%s", w, buf_str(&text));
    }
    must("training twin");
    Buf title = {0};
    VIEW_TRAINING.title(&session, SIDE_A, &title);
    assert_non_null(strstr(buf_str(&title), "without 1/√d_k"));
    must("training own last");
    buf_free(&title);
    buf_free(&text);
    canvas_free(&c);
}

/* The marker under the curves stands elsewhere for every snapshot, the early ones further apart than the late ones. */
static void marker_moves(void **state)
{
    (void)state;
    Canvas c;
    Buf text = {0};
    int at[STEPS];
    canvas_init(&c, 33, 120);
    for (int i = 0; i < STEPS; i++) {
        char line[64];
        snprintf(line, sizeof line, "training %d", i);
        must(line);
        drawn(&c, &VIEW_TRAINING, &text);
        at[i] = -1;
        for (int y = 0; y < c.h && at[i] < 0; y++)
            for (int x = 0; x < c.w && at[i] < 0; x++)
                at[i] = canvas_at(&c, y, x)->ch == 0x25b2 ? x : -1;
        assert_true(at[i] >= 0 && (i == 0 || at[i] > at[i - 1]));
    }
    assert_true(at[1] - at[0] > 2 * (at[STEPS - 1] - at[STEPS - 2]));
    buf_free(&text);
    canvas_free(&c);
}

/* A figure over all rows: beside a curve stands the mean of the last ones, and here there are fewer. */
static float mean_of(const History *h, int figure)
{
    double sum = 0;
    for (int i = 0; i < h->row_count; i++)
        sum += (double)history_at(h, i, (HistoryFigure)figure) / h->row_count;
    return (float)sum;
}

/* The number that begins there, to the digits that a legend has room for: none is left away. */
static void is_whole(const char *text, const char *at, float value)
{
    char number[16] = "";
    snprintf(number, sizeof number, "%.*s", (int)strspn(at, "0123456789.e-"), at);
    if (!says(number, value) || fabs(strtod(number, NULL) - (double)value) > 0.01 * fabs((double)value))
        fail_msg("'%s' is not %.6g whole in:\n%s", number, (double)value, text);
}

/* Behind `title` both runs' values stand. Is there such a curve? */
static bool legend_of_runs(const char *text, const char *title, int figure)
{
    static const char BETWEEN[] = " ┄ ";
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s ─ ", title);
    const char *at = strstr(text, wanted), *twin;
    if (!at)
        return false;
    at += strlen(wanted);
    twin = at + strspn(at, "0123456789.e-");
    if (strncmp(twin, BETWEEN, strlen(BETWEEN)) != 0)
        fail_msg("'%s' has no twin's value in:\n%s", title, text);
    is_whole(text, at, mean_of(session_history(&session), figure));
    is_whole(text, twin + strlen(BETWEEN), mean_of(session_history_twin(&session), figure));
    return true;
}

/* Behind `title` stands from where to where the entropies of a run's blocks go. */
static bool legend_of_blocks(const char *text, const char *title, const History *h)
{
    const int last = h->vit.layers - 1;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s 0–%d", title, last);
    const char *at = strstr(text, wanted);
    if (!at)
        return false;
    at += strlen(wanted);
    const char *high = strncmp(at, ": ", 2) == 0 ? strstr(at, "–") : NULL;
    if (!high)
        fail_msg("'%s' has no values in:\n%s", title, text);
    is_whole(text, at + 2, mean_of(h, HISTORY_FIXED + last)); /* it falls from block to block */
    is_whole(text, high + strlen("–"), mean_of(h, HISTORY_FIXED));
    return true;
}

/* The legends of all curves that have room, each whole; returns how many. */
static int whole_legends(const char *text)
{
    const History *const runs[] = {session_history(&session), session_history_twin(&session)};
    static const char *const BLOCKS[2][3] = {{"entropy ─", "entropy, with", "entropy, with, blocks"},
                                             {"entropy ┄", "entropy, without", "entropy, without, blocks"}};
    if (strstr(text, "…"))
        fail_msg("something is cut in:\n%s", text);
    int legends = legend_of_runs(text, "loss", HISTORY_LOSS) + legend_of_runs(text, "accuracy", HISTORY_ACCURACY) +
                  legend_of_runs(text, "gradient", HISTORY_GRADIENT) +
                  legend_of_runs(text, "gradient norm", HISTORY_GRADIENT);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            legends += legend_of_blocks(text, BLOCKS[k][i], runs[k]);
    return legends;
}

/* Where the run and its twin were the same (their accuracy here) the curve is of both colours in turn, neither over the
 * other; what the colours stand for is said whole, and so is every legend on screens of 80x24, 120x40 and 200x60. */
static void both_runs_are_seen(void **state)
{
    (void)state;
    static const struct {
        int h, w;
        const char *legend[2];
        int curves;
    } sizes[] = {{18, 78, {"with 1/√d_k", "without"}, 2},
                 {34, 90, {"with 1/√d_k", "without"}, 5},
                 {54, 148, {"with 1/√d_k", "without"}, 5},
                 {21, 76, {" with ", "without"}, 0}};
    must("training last");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Canvas c;
        Buf text = {0};
        int top = -1, left = -1, dots[2] = {0};
        canvas_init(&c, sizes[i].h, sizes[i].w);
        drawn(&c, &VIEW_TRAINING, &text);
        for (int k = 0; k < 2; k++)
            assert_non_null(strstr(buf_str(&text), sizes[i].legend[k]));
        if (sizes[i].curves)
            assert_int_equal(whole_legends(buf_str(&text)), sizes[i].curves);
        for (int y = 0; y < c.h && top < 0; y++)
            for (int x = 0; x + 8 < c.w && top < 0; x++)
                if (canvas_at(&c, y, x)->ch == 'a' && canvas_at(&c, y, x + 1)->ch == 'c' &&
                    canvas_at(&c, y, x + 2)->ch == 'c') {
                    top = y;
                    left = x;
                }
        assert_true(top >= 0);
        bool under = false; /* its axis, with the marker */
        for (int y = top + 1; y < c.h && !under; y++)
            for (int x = left; x < c.w; x++) {
                const Cell *k = canvas_at(&c, y, x);
                under |= k->ch == 0x25b2;
                if (k->ch > 0x2800 && k->ch < 0x2900 && (k->style == STYLE_SIDE_A || k->style == STYLE_SIDE_B))
                    dots[k->style == STYLE_SIDE_B]++;
            }
        assert_true(dots[0] > 0 && dots[1] > 0);
        buf_free(&text);
        canvas_free(&c);
    }
}

static double apart(Style a, Style b, bool light)
{
    const Style of[] = {a, b};
    double sum = 0;
    Colour colour[2];
    for (int k = 0; k < 2; k++) {
        colour[k] = style_look(of[k], MODE_256, light).fg;
        colour[k] = colour[k] != COLOUR_DEFAULT ? colour[k] : light ? 0x000000 : 0xffffff;
    }
    for (int shift = 0; shift < 24; shift += 8) {
        const double d = (double)(colour[0] >> shift & 0xff) - (double)(colour[1] >> shift & 0xff);
        sum += d * d;
    }
    return sqrt(sum);
}

/* The lines of six blocks have six colours, which differ on a dark ground and on a light one. */
static void blocks_are_told_apart(void **state)
{
    (void)state;
    enum { BLOCKS = 6, LEAST = 75 };
    VitConfig c = config();
    History h;
    Canvas canvas;
    Style style[STYLE_COUNT];
    bool there[STYLE_COUNT] = {false};
    int n = 0;
    c.layers = BLOCKS;
    history_init(&h, &c);
    for (int row = 0; row < 4; row++) {
        const double figures[HISTORY_FIXED] = {[HISTORY_STEP] = 100 * row};
        float *entropy = history_note(&h, figures);
        for (int i = 0; i < BLOCKS; i++)
            entropy[i] = 0.15F * (float)(i + 1);
    }
    canvas_init(&canvas, 24, 60);
    const Paint p = {.s = &session, .c = &canvas, .mode = MODE_256};
    curves_draw(&p, canvas.clip, &(Curves){.run = &h, .step = 300, .line = -1});
    for (int i = 0; i < canvas.h * canvas.w; i++) {
        const Cell *k = &canvas.cells[i];
        if (k->ch > 0x2800 && k->ch < 0x2900 && !there[k->style]) {
            there[k->style] = true;
            style[n++] = (Style)k->style;
        }
    }
    assert_int_equal(n, BLOCKS);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            assert_true(apart(style[i], style[k], false) >= LEAST && apart(style[i], style[k], true) >= LEAST);
    canvas_free(&canvas);
    history_free(&h);
}

/* Without its frames a film says so, and one step makes that of the chosen snapshot first. */
static void film_in_steps(void **state)
{
    (void)state;
    VitConfig c = config();
    Canvas canvas;
    Buf text = {0};
    PositionFilm film;
    open_model(&c, 1);
    must("training 3");
    canvas_init(&canvas, 30, 90);
    Paint p = {.s = &session, .c = &canvas, .mode = MODE_256};
    view_draw(&VIEW_TRAINING, &p, canvas.clip, SIDE_A, true);
    assert_non_null(strstr(text_of(&canvas, &text), "computing"));
    assert_true(position_film_init(&film, session_history(&session)));
    assert_false(position_film_step(&film, 3, 0));
    assert_non_null(position_film_frame(&film, 3));
    assert_int_equal(film.made, 1);
    assert_false(position_film_step(&film, 99, 0)); /* beyond the last: the last */
    assert_non_null(position_film_frame(&film, STEPS - 1));
    assert_true(position_film_step(&film, -5, CLOCK_NEVER));
    assert_int_equal(film.made, STEPS);
    position_film_free(&film);
    position_film_free(&film);
    buf_free(&text);
    canvas_free(&canvas);
}

/* A place without length is like nothing, and nothing breaks on it. */
static void place_without_length(void **state)
{
    (void)state;
    VitConfig c = config();
    History h;
    PositionFilm film;
    history_init(&h, &c);
    Snapshot *s = history_snap(&h, 0);
    s->positions[vit_role_cells(&c, VIT_POS) - 1] = 2; /* all others are 0 */
    assert_true(position_film_init(&film, &h));
    assert_true(position_film_step(&film, 0, CLOCK_NEVER));
    const float *raw = position_film_frame(&film, 0)->cosine[FILM_RAW];
    assert_true(isnan(raw[0]) && isnan(raw[PLACES - 1]));
    assert_true(fabsf(raw[PLACES * PLACES - 1] - 1) < 1e-6F);
    position_film_free(&film);
    history_free(&h);
}

/* Numbers of every head are those of the probes, and the mark stands between the reference lines where it should. */
static void heads_are_the_probes(void **state)
{
    (void)state;
    VitConfig c = config();
    c.layers = 3;
    Canvas canvas;
    Buf text = {0};
    open_model(&c, 0);
    must("heads");
    canvas_init(&canvas, 20, 90);
    drawn(&canvas, &VIEW_HEADS, &text);
    static const char *const PROBE[] = {"distance", "entropy_share_mean", "largest_mean"};
    for (int b = 0; b < c.layers; b++)
        for (int f = 0; f < 3; f++) {
            char path[SESSION_PATH];
            snprintf(path, sizeof path, "blocks.%d.attn.probe.%s", b, PROBE[f]);
            NodeId n = session_node(&session, SIDE_A, path);
            for (int h = 0; h < c.heads; h++) {
                int cells = 0;
                for (int i = 0; i < canvas.h * canvas.w; i++)
                    cells += canvas.cells[i].ref.run && canvas.cells[i].ref.node == n &&
                             canvas.cells[i].ref.cell == (size_t)h;
                assert_true(cells >= 3); /* a number; and a dot or a bar */
            }
        }
    assert_non_null(strstr(buf_str(&text), "px uniform attention"));
    assert_non_null(strstr(buf_str(&text), "0 px")); /* the axis under the plot */
    must("block 1; head 1; in");
    assert_int_equal(session.place.screen, SCREEN_ROW);
    assert_string_equal(session.place.path, "blocks.1.attn.pattern");
    assert_int_equal(session_head(&session), 1);
    buf_free(&text);
    canvas_free(&canvas);
}

/* More heads than lines: the block in focus is shown head by head, the others in a line each. */
static void many_heads(void **state)
{
    (void)state;
    VitConfig c = config();
    c.layers = 40; /* more than a view may ask for at once */
    c.width = 24;
    c.heads = 6;
    c.head_dim = 4;
    c.mlp = 8;
    Canvas canvas;
    Buf text = {0};
    open_model(&c, 0);
    must("heads; block 20; head 5");
    canvas_init(&canvas, 16, 78);
    drawn(&canvas, &VIEW_HEADS, &text);
    assert_non_null(strstr(buf_str(&text), ">block 20  h5"));
    assert_non_null(strstr(buf_str(&text), " block 21 "));
    assert_null(strstr(buf_str(&text), "block 21  h"));
    int folded = 0; /* their heads stand on the line, or it says how many lie under others */
    for (const char *at = buf_str(&text); (at = strstr(at, " h0–5 ")); at++, folded++) {
        int stand = 0, under = 0;
        for (const char *k = at + strlen(" h0–5 "); *k && *k != '\n' && *k != '+'; k++)
            stand += *k >= '0' && *k <= '5';
        const char *plus = strchr(at, '+'), *end = strchr(at, '\n');
        if (plus && end && plus < end)
            under = atoi(plus + 1);
        assert_int_equal(stand + under, c.heads);
    }
    assert_true(folded > 1);
    Paint p = {.s = &session, .c = &canvas, .mode = MODE_256};
    Buf line = {0};
    assert_true(view_click(&VIEW_HEADS, &p, canvas.clip, SIDE_A, canvas.cursor_y + 1, 3, &line));
    assert_string_equal(buf_str(&line), "block 21");
    buf_free(&line);
    for (int i = 0; i < SIZE_COUNT; i++)
        draw_checked(&VIEW_HEADS, SIDE_A, SIZES[i][0], SIZES[i][1], MODE_256, false);
    buf_free(&text);
    canvas_free(&canvas);
}

/* A tile's pixel has the colour of its three weights. */
static void tiles_are_the_weights(void **state)
{
    (void)state;
    VitConfig c = config();
    Canvas canvas;
    Buf text = {0};
    open_model(&c, 0);
    must("filters 9");
    canvas_init(&canvas, 40, 120);
    Paint p = {.s = &session, .c = &canvas, .mode = MODE_TRUE};
    drawn_prepare(&session, &VIEW_FILTERS, SIDE_A, canvas.clip);
    view_draw(&VIEW_FILTERS, &p, canvas.clip, SIDE_A, true);
    const Graph *g = session_graph(&session, SIDE_A);
    NodeId n = session_node(&session, SIDE_A, "patch_embed.probe.filters");
    const float *x = session_peek(&session, SIDE_A, "patch_embed.probe.filters");
    int found = 0;
    size_t tile = PATCH * PATCH * 3, plane = PATCH * PATCH;
    for (int i = 0; i < canvas.h * canvas.w; i++) {
        const Cell *k = &canvas.cells[i];
        if (!k->level || k->ref.node != n)
            continue;
        size_t filter = k->ref.cell / tile, pixel = k->ref.cell % plane;
        float most = 0;
        for (size_t j = 0; j < tile; j++)
            most = fmaxf(most, fabsf(x[filter * tile + j]));
        for (size_t channel = 0; channel < 3; channel++) {
            int want = (int)(128 + 127.5F * x[filter * tile + channel * plane + pixel] / most),
                got = (int)(k->fg >> (16 - 8 * channel) & 0xff);
            assert_true(abs(want - got) <= 1);
        }
        found++;
    }
    assert_true(found > 100);
    assert_int_equal(session.place.at[graph_axis_find(g, "d")], 9);
    must("filters components; filters 2");
    assert_non_null(strstr(drawn(&canvas, &VIEW_FILTERS, &text), "component 2 of 0–"));
    assert_non_null(strstr(buf_str(&text), "singular value"));
    must("view next");
    assert_false(session.look.filters.components);
    assert_non_null(strstr(drawn(&canvas, &VIEW_FILTERS, &text), "filter 9 of 0–"));
    buf_free(&text);
    canvas_free(&canvas);
}

/* Where a tile has no room for all its pixels, each point is the largest weight by size of those that it stands for;
 * the caption says so. */
static void tiles_pool_by_size(void **state)
{
    (void)state;
    enum { LOW = 2, BIN = PATCH / LOW, PLANE = PATCH * PATCH, TILE = PLANE * 3 };
    VitConfig c = config();
    Canvas canvas;
    Buf text = {0};
    open_model(&c, 0);
    must("filters 9");
    canvas_init(&canvas, 19, 44); /* too low for the one in focus, which is drawn finer */
    Paint p = {.s = &session, .c = &canvas, .mode = MODE_MONO};
    drawn_prepare(&session, &VIEW_FILTERS, SIDE_A, canvas.clip);
    view_draw(&VIEW_FILTERS, &p, canvas.clip, SIDE_A, true);
    NodeId n = session_node(&session, SIDE_A, "patch_embed.probe.filters");
    const float *x = session_peek(&session, SIDE_A, "patch_embed.probe.filters");
    int found = 0, against_mean = 0;
    for (int i = 0; i < canvas.h * canvas.w; i++) {
        const Cell *k = &canvas.cells[i];
        if (!k->level || k->ref.node != n)
            continue;
        size_t tile = k->ref.cell / TILE * TILE, pixel = k->ref.cell % PLANE, row = pixel / PATCH / BIN * BIN,
               col = pixel % PATCH / BIN * BIN;
        float most = 0, sum = 0;
        for (size_t at = 0; at < TILE; at++)
            if (at % PLANE / PATCH / BIN * BIN == row && at % PATCH / BIN * BIN == col) {
                sum += x[tile + at];
                most = fmaxf(most, fabsf(x[tile + at]));
            }
        assert_true(fabsf(x[k->ref.cell]) >= most);
        assert_int_equal(k->sign, (x[k->ref.cell] > 0) - (x[k->ref.cell] < 0));
        against_mean += sum * x[k->ref.cell] < 0;
        found++;
    }
    assert_true(found > 100 && against_mean > 0);
    export_text(&canvas, &text);
    if (!strstr(buf_str(&text), "the largest"))
        fail_msg("%s", buf_str(&text));
    buf_free(&text);
    canvas_free(&canvas);
}

/* In a pane so small that tiles would be a pixel or two, the one in focus stands alone, with every pixel of it. */
static void a_small_pane_has_one_tile(void **state)
{
    (void)state;
    static const char *const WHICH[] = {"filters filters; filters 9", "filters components; filters 2"};
    VitConfig c = config();
    open_model(&c, 0);
    for (int i = 0; i < 2; i++) {
        must(WHICH[i]);
        Canvas canvas;
        canvas_init(&canvas, 12, 24);
        Paint p = {.s = &session, .c = &canvas, .mode = MODE_256};
        drawn_prepare(&session, &VIEW_FILTERS, SIDE_A, canvas.clip);
        view_draw(&VIEW_FILTERS, &p, canvas.clip, SIDE_A, true);
        const char *path = i ? "patch_embed.probe.components" : "patch_embed.probe.filters";
        const NodeId n = session_node(&session, SIDE_A, path);
        assert_true(n != NO_NODE);
        enum { PLANE = PATCH * PATCH, TILE = PLANE * 3 };
        bool seen[PLANE] = {false};
        int pixels = 0, brackets = 0;
        for (int k = 0; k < canvas.h * canvas.w; k++) {
            const Cell *cell = &canvas.cells[k];
            brackets += cell->ch == '[';
            if (!cell->level || cell->ref.node != n)
                continue;
            assert_int_equal(cell->ref.cell / TILE, i ? 2 : 9);
            seen[cell->ref.cell % PLANE] = true;
        }
        for (int k = 0; k < PLANE; k++)
            pixels += seen[k];
        assert_int_equal(brackets, 0);
        assert_true(pixels >= PLANE / 2); /* a cell of two pixels has the number of one */
        canvas_free(&canvas);
    }
}

/* --- what does not exist --- */
static void absent(void **state)
{
    (void)state;
    VitConfig c = config();
    Canvas canvas;
    Buf text = {0};
    Err err;
    canvas_init(&canvas, 24, 80);
    open_model(&c, 0);
    must("training");
    assert_non_null(strstr(drawn(&canvas, &VIEW_TRAINING, &text), "No record of this model's training"));
    assert_false(command_do(&session, &commands, "training 1", ~0U, &err));
    assert_false(command_do(&session, &commands, "training patch=r9c9", ~0U, &err));
    assert_false(command_do(&session, &commands, "filters 100000", ~0U, &err));
    must("say");
    assert_non_null(strstr(buf_str(&session.said), "No record"));
    c.pos = VIT_POS_NONE;
    open_model(&c, 2);
    must("training 2");
    drawn(&canvas, &VIEW_TRAINING, &text);
    assert_non_null(strstr(buf_str(&text), "no table of position embeddings"));
    assert_non_null(strstr(buf_str(&text), "loss ─ 1.53"));
    must("say");
    assert_true(all_views_all_sizes(SIDE_A) > 100);
    c = config();
    c.channels = 1;
    c.mean[0] = 0.5F;
    c.std[0] = 0.25F;
    c.cls = false;
    c.pool = VIT_POOL_NONE;
    c.classes = 0;
    c.image_w = c.patch_w;
    c.image_h = c.patch_h; /* one patch: one token, no entropy share, no neighbours */
    open_model(&c, 0);
    all_views_all_sizes(SIDE_A);
    buf_free(&text);
    canvas_free(&canvas);
}

/* What `say` tells on each screen has the numbers of the trace and of the record. */
static void sayings(void **state)
{
    (void)state;
    VitConfig c = config();
    Err err;
    char want[64];
    open_model(&c, 1);
    must("training 2; say");
    assert_non_null(strstr(buf_str(&session.said), "At step 20 "));
    assert_non_null(strstr(buf_str(&session.said), ", at step 50 "));
    assert_non_null(strstr(buf_str(&session.said), "cosine "));
    must("heads; block 1; head 1; say");
    const float *x = session_need(&session, SIDE_A, "blocks.1.attn.probe.distance", &err);
    assert_non_null(x);
    const char *number = strstr(buf_str(&session.said), "Head 1 of block 1 looks ");
    assert_non_null(number);
    assert_int_equal(sscanf(number, "Head 1 of block 1 looks %63s", want), 1);
    assert_true(says(want, x[1]));
    must("filters 3; say");
    assert_non_null(strstr(buf_str(&session.said), "Filter 3 weighs the 48 values of a patch"));
    must("filters components; say");
    assert_non_null(strstr(buf_str(&session.said), "more than any other"));
    must("filters 1; say");
    assert_non_null(strstr(buf_str(&session.said), "with those before it"));
}

static int set_up(void **state)
{
    (void)state;
    Err err;
    commands_free(&commands);
    commands = session_command_set();
    snprintf(dir, sizeof dir, "/tmp/vitrine-learning-XXXXXX");
    return mkdtemp(dir) && session_init(&session, NULL, NULL, 1, NULL, NULL, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    session_free(&session);
    clear_dir();
    return rmdir(dir);
}

int main(void)
{
    for (int k = 0; k < VIEW_SPECS; k++)
        if (view_of(SCREENS[k]) != VIEWS[k])
            return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(strange_sizes),
        cmocka_unit_test(clicks),
        cmocka_unit_test(film_is_the_record),
        cmocka_unit_test(map_colours),
        cmocka_unit_test(figures_of_the_step),
        cmocka_unit_test(marker_moves),
        cmocka_unit_test(both_runs_are_seen),
        cmocka_unit_test(film_in_steps),
        cmocka_unit_test(blocks_are_told_apart),
        cmocka_unit_test(place_without_length),
        cmocka_unit_test(heads_are_the_probes),
        cmocka_unit_test(many_heads),
        cmocka_unit_test(tiles_are_the_weights),
        cmocka_unit_test(a_small_pane_has_one_tile),
        cmocka_unit_test(tiles_pool_by_size),
        cmocka_unit_test(absent),
        cmocka_unit_test(sayings),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
