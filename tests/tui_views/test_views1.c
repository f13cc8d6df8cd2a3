/* Steps, facts, picture, tensor and answer: drawn at every size they stay in their rectangle, and every number on
 * screen is the trace's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/base/utf8.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "tests/tui_views/bundled.h"
#include "tests/tui_views/says.h"
#include "tui/views/answer.h"
#include "tui/views/picture/picture.h"

static const char *node_path(Ref ref)
{
    return graph_node(shown_graph(&session, (Side)ref.run), ref.node)->path;
}

/* One run of cells with the same Ref: if they spell a number it is that cell's. Returns 1 for a number. */
static int check_run(const char *text, Ref ref)
{
    while (*text == ' ')
        text++;
    char word[512];
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        length--;
    memcpy(word, text, length);
    word[length] = '\0';
    const float *values = session_peek(&session, (Side)ref.run, node_path(ref));
    assert_non_null(values);
    assert_true(ref.cell < graph_cells(shown_graph(&session, (Side)ref.run), ref.node));
    float x = values[ref.cell];
    if (strcmp(word, "<.01") == 0) {
        assert_true(x > 0 && x < 0.005F);
        return 1;
    }
    char *unit = strstr(word, " points"), *number = word;
    const Shown v = {.side = (Side)ref.run, .graph = shown_graph(&session, (Side)ref.run), .node = ref.node};
    bool points = ref.run == SIDE_DIFF && shown_is_share(&v);
    if (unit) { /* "0.0123 = 1.2 points" */
        assert_true(points);
        *unit = '\0';
        number = strrchr(word, ' ') ? strrchr(word, ' ') + 1 : word;
    }
    if (!is_number_text(number))
        return 0;                        /* a bar, a mark, or ### where nothing fits */
    if (points && says(number, 100 * x)) /* in a column its head says so */
        return 1;
    if (unit || !says(word, x))
        fail_msg("%s[%zu] is %.9g, the screen says %s", node_path(ref), ref.cell, (double)x, word);
    return 1;
}

static int check_numbers(Canvas *c)
{
    int numbers = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w;) {
            const Cell *k = canvas_at(c, y, x);
            Ref ref = k->ref;
            char text[512] = "";
            size_t n = 0;
            if (!ref.run || k->level) {
                x++;
                continue;
            }
            for (; x < c->w; x++) {
                k = canvas_at(c, y, x);
                if (k->level || k->ref.run != ref.run || k->ref.node != ref.node || k->ref.cell != ref.cell)
                    break;
                n += utf8_put(text + n, k->ch ? k->ch : ' ');
                assert_true(n < sizeof text - 8);
            }
            text[n] = '\0';
            numbers += check_run(text, ref);
        }
    return numbers;
}

static void step_needs(const ViewSpec *v, Side side, Rect r)
{
    Needs needs = {0};
    (v ? v : &VIEW_ANSWER)->needs(&session, side, r, &needs);
    compute(&needs);
}

/* Draws one view, a canary of '~' all around it; returns how many numbers were checked. */
static int draw_checked(const ViewSpec *v, Side side, Rect r, int h, int w, ColourMode mode, bool ascii)
{
    Canvas c;
    canvas_init(&c, h, w);
    c.ascii = ascii;
    canvas_fill(&c, (Rect){0, 0, h, w}, STYLE_ERROR, '~');
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            canvas_glyph(&c, y, x, STYLE_TEXT, ' ');
    Paint p = {.s = &session, .c = &c, .mode = mode};
    Rect clip = c.clip;
    step_needs(v, side, r);
    if (v)
        view_draw(v, &p, r, side, true);
    else
        answer_line(&p, r.y, r.x, r.w);
    assert_memory_equal(&clip, &c.clip, sizeof clip);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            if (!rect_has((Rect){r.y, r.x, v ? r.h : 1, r.w}, y, x) && !rect_has(r, y, x) &&
                (k->ch != '~' || k->style != STYLE_ERROR || k->ref.run))
                fail_msg("%s drew outside its rectangle at %d %d", v ? v->name : "answer line", y, x);
            if (ascii && rect_has(r, y, x))
                assert_true(k->ch < 0x7f || k->level);
        }
    if (c.cursor_y >= 0)
        assert_true(rect_has(r, c.cursor_y, c.cursor_x));
    for (int y = r.y; v && y < r.y + r.h; y += 3)
        for (int x = r.x; x < r.x + r.w; x += 5) {
            Buf command = {0};
            bool hit = view_click(v, &p, r, side, y, x, &command);
            assert_int_equal(hit, command.len > 0);
            buf_free(&command);
        }
    int numbers = check_numbers(&c);
    canvas_free(&c);
    return numbers;
}

static const ViewSpec *const VIEWS[] = {&VIEW_STEPS,  &VIEW_STEP_INFO, &VIEW_CURSOR, &VIEW_PICTURE,
                                        &VIEW_TENSOR, &VIEW_ANSWER,    NULL};

static int draw_all(int h, int w, Side side)
{
    int numbers = 0;
    for (size_t k = 0; k < sizeof VIEWS / sizeof *VIEWS; k++) {
        int high = VIEWS[k] ? h : 1;
        numbers += draw_checked(VIEWS[k], side, (Rect){2, 3, high, w}, high + 4, w + 6, MODE_256, false);
        numbers += draw_checked(VIEWS[k], side, (Rect){2, 3, high, w}, high + 4, w + 6, MODE_MONO, true);
    }
    return numbers;
}

static const int SIZES[][2] = {{1, 1}, {1, 7}, {2, 2}, {3, 9}, {9, 3}, {4, 18}, {17, 38}, {33, 66}, {50, 120}};

static void all_nodes_all_views(void **state)
{
    (void)state;
    const Graph *g = session_graph(&session, SIDE_A);
    int numbers = 0;
    for (NodeId n = 0; n < g->count; n++) { /* every shape that the model has, at a few sizes each */
        const Node *node = graph_node(g, n);
        if (strncmp(node->path, "blocks.", 7) == 0 && strncmp(node->path, "blocks.1.", 9) != 0)
            continue;
        focus_on(node->path);
        for (int view = 0; view < VIEW_COUNT; view++) {
            session.look.view = (View)view;
            numbers += draw_checked(&VIEW_TENSOR, SIDE_A, (Rect){1, 1, 14, 38}, 16, 40, MODE_256, false);
            numbers += draw_checked(&VIEW_TENSOR, SIDE_A, (Rect){1, 1, 1 + n % 7, 1 + (n * 7) % 60}, 16, 64, MODE_8,
                                    n % 2);
        }
    }
    session.look.view = VIEW_HEAT;
    assert_true(numbers > 5000);
}

static void all_sizes(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"image", "blocks.0.attn.pattern", "blocks.2.attn.w_o", "logits"};
    for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
        focus_on(PATHS[k]);
        for (int view = 0; view < VIEW_COUNT; view++) {
            session.look.view = (View)view;
            int numbers = 0;
            for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
                numbers += draw_all(SIZES[i][0], SIZES[i][1], SIDE_A);
            assert_true(numbers > 100);
        }
    }
    session.look.view = VIEW_HEAT;
    draw_all(150, 500, SIDE_A);
}

static void edited(void **state)
{
    (void)state;
    Err err;
    assert_true(edits_add(&session, "set scale off", false, &err));
    static const char *const PATHS[] = {"image", "blocks.0.attn.pattern", "probs"};
    for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
        focus_on(PATHS[k]);
        for (int view = 0; view < VIEW_COUNT; view++) {
            session.look.view = (View)view;
            for (int side = SIDE_A; side <= SIDE_DIFF; side++)
                for (size_t i = 2; i < sizeof SIZES / sizeof *SIZES - 1; i++)
                    draw_all(SIZES[i][0], SIZES[i][1], (Side)side);
        }
    }
    session.look.view = VIEW_HEAT;
    edits_undo(&session, &err);
    assert_false(session_edited(&session));
}

/* --- what the pictures show --- */

/* Text of a canvas row without trailing blanks. */
static const char *row_text(Canvas *c, int y, char *out, size_t n)
{
    size_t used = 0, end = 0;
    for (int x = 0; x < c->w && used + 8 < n; x++) {
        uint32_t ch = canvas_at(c, y, x)->ch;
        if (ch)
            used += utf8_put(out + used, ch);
        end = ch && ch != ' ' ? used : end;
    }
    out[end] = '\0';
    return out;
}

static void steps_show_here(void **state)
{
    (void)state;
    Canvas c;
    for (int h = 1; h <= 30; h += 7) {
        canvas_init(&c, h, 40);
        Paint p = {.s = &session, .c = &c, .mode = MODE_MONO};
        int before = 0;
        for (int box = 0; box != NO_BOX;
             before = session.stages.boxes[box].step, box = stages_after(&session.stages, session.open, box)) {
            session.place.box = box;
            canvas_clear(&c);
            view_draw(&VIEW_STEPS, &p, (Rect){0, 0, h, 40}, SIDE_A, true);
            char text[512];
            assert_true(c.cursor_y >= 0);
            row_text(&c, c.cursor_y, text, sizeof text);
            assert_non_null(strstr(text, session.stages.boxes[box].label));
            assert_int_equal(canvas_at(&c, c.cursor_y, 0)->ch, 0x25CF);
            Buf command = {0};
            assert_true(view_click(&VIEW_STEPS, &p, (Rect){0, 0, h, 40}, SIDE_A, c.cursor_y, 5, &command));
            assert_string_equal(buf_str(&command), "in");
            if (c.cursor_y > (h >= 8)) { /* above the first step there is the line of headings, where it has room */
                char want[32];
                buf_clear(&command);
                assert_true(view_click(&VIEW_STEPS, &p, (Rect){0, 0, h, 40}, SIDE_A, c.cursor_y - 1, 5, &command));
                snprintf(want, sizeof want, "step %d", before);
                assert_string_equal(buf_str(&command), want);
            }
            buf_free(&command);
        }
        canvas_free(&c);
    }
    session.place.box = 0;
}

/* The model's picture: each cell's colour is that of the pixels it stands for. */
static void picture_pixels(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 56, 60); /* 8 × 8 patches of 6 × 6 pixels, one unit each: no pixel is averaged */
    Rect r = {0, 0, 27, 49};
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    session.look.picture.grid = false;
    step_needs(&VIEW_PICTURE, SIDE_A, r);
    Pixels px;
    assert_true(pixels_open(&session, SIDE_A, "pixels", &px));
    PictureFit f = picture_fit(&p, (Rect){0, 0, 24, 49}, &px);
    assert_int_equal(f.kx, 6);
    assert_int_equal(f.ky, 6);
    picture_model(&p, (Rect){0, 0, 24, 49}, &px, false);
    int compared = 0;
    for (int y = 0; y < 48; y++)
        for (int x = 0; x < 48; x++) {
            const Cell *k = canvas_at(&c, y / 2, x + 1);
            if (k->level == 0)
                continue; /* a mark */
            const uint8_t *pixel = session_input(&session, SIDE_B)->resized.data + (y * 48 + x) * 3;
            Colour want = (Colour)pixel[0] << 16 | (Colour)pixel[1] << 8 | pixel[2];
            assert_int_equal(y % 2 == 0 ? k->fg : k->ch == ' ' ? k->fg : k->bg, want);
            for (int channel = 0; channel < 3; channel++)
                assert_int_equal((int)px.v.values[pixels_cell(&px, channel, y, x)], pixel[channel]);
            compared++;
        }
    assert_true(compared > 48 * 48 - 48);
    session.look.picture.grid = true;
    size_t cell;
    f = picture_fit(&p, (Rect){0, 0, 24, 16}, &px); /* no gap between patches: none is left at the left either */
    assert_int_equal(f.pitch_x, 2);
    assert_int_equal(f.at.x, 0);
    assert_int_equal(picture_fit(&p, (Rect){0, 0, 24, 17}, &px).at.x, 1);
    f = picture_fit(&p, (Rect){0, 0, 17, 38}, &px);
    assert_true(f.pitch_x > f.kx && f.pitch_y > f.ky && f.span_x <= 37 && f.span_y <= 34);
    for (int py = 0; py < 8; py++)
        for (int at = 0; at < 8; at++) { /* a click on any patch finds a pixel of that patch */
            assert_true(picture_hit(&p, (Rect){0, 0, 17, 38}, &px, py * f.pitch_y / 2, 1 + at * f.pitch_x, &cell));
            int index[DIMS_MAX];
            dims_unravel(px.v.graph->axes, graph_node(px.v.graph, px.v.node)->dims, cell, index);
            assert_int_equal(index[1], py);
            assert_int_equal(index[3], at);
        }
    canvas_free(&c);
}

static void answer_line_text(void **state)
{
    (void)state;
    Canvas c;
    char text[512], want[64];
    canvas_init(&c, 1, 100);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    step_needs(NULL, SIDE_A, (Rect){0, 0, 1, 100});
    answer_line(&p, 0, 0, 100);
    row_text(&c, 0, text, sizeof text);
    uint64_t hash;
    assert_true(session_hash(&session, SIDE_A, &hash));
    snprintf(want, sizeof want, "trace %04x %04x ✓", (unsigned)(hash >> 48), (unsigned)(hash >> 32 & 0xffff));
    assert_non_null(strstr(text, want));
    if (!session.model.trained)
        assert_non_null(strstr(text, "untrained"));
    assert_int_equal(strncmp(text, "A ", 2), 0);
    Err err;
    assert_true(edits_add(&session, "set scale off", false, &err));
    canvas_clear(&c); /* nothing of B is computed yet: no number is invented for it */
    answer_line(&p, 0, 0, 100);
    row_text(&c, 0, text, sizeof text);
    assert_non_null(strstr(text, "│ B …"));
    assert_non_null(strstr(text, "computing"));
    step_needs(NULL, SIDE_B, (Rect){0, 0, 1, 100});
    canvas_clear(&c);
    answer_line(&p, 0, 0, 100);
    row_text(&c, 0, text, sizeof text);
    assert_null(strstr(text, "…"));
    assert_true(session_hash(&session, SIDE_B, &hash));
    snprintf(want, sizeof want, "B %04x %04x ✓", (unsigned)(hash >> 48), (unsigned)(hash >> 32 & 0xffff));
    assert_non_null(strstr(text, want));
    assert_true(edits_undo(&session, &err));
    canvas_free(&c);
}

/* --- other models: one channel, one head, no class token, no classes, patches that are not square --- */

static void other_models(void **state)
{
    (void)state;
    char dir[] = "/tmp/vitrine-views-XXXXXX";
    assert_non_null(mkdtemp(dir));
    for (int kind = 0; kind < 3; kind++) {
        VitConfig cfg;
        Model m = {0};
        Err err;
        assert_true(model_size("tiny", &cfg));
        cfg.channels = kind == 0 ? 1 : 3;
        cfg.mean[0] = 0.5F;
        cfg.std[0] = 0.25F;
        cfg.image_h = 12;
        cfg.image_w = 40;
        cfg.patch_h = 4;
        cfg.patch_w = kind == 1 ? 8 : 4;
        cfg.heads = 1;
        cfg.scale = vit_scale(cfg.head_dim);
        if (kind == 1) {
            cfg.cls = false;
            cfg.pool = VIT_POOL_MEAN;
        }
        if (kind == 2)
            cfg.classes = 0, cfg.pool = VIT_POOL_NONE;
        if (!vit_check(&cfg, &err))
            fail_msg("%s", err.text);
        model_seeded(&m, &cfg, 3);
        if (!model_save(&m, dir, &err))
            fail_msg("%s", err.text);
        model_free(&m);
        session_free(&session);
        if (!session_init(&session, dir, NULL, 1, NULL, NULL, &err))
            fail_msg("%s", err.text);
        static const char *const PATHS[] = {"image", "blocks.0.attn.pattern", "full_embed"};
        for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
            focus_on(PATHS[k]);
            for (int view = 0; view < VIEW_COUNT; view++) {
                session.look.view = (View)view;
                for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
                    draw_all(SIZES[i][0], SIZES[i][1], SIDE_A);
            }
        }
    }
    session_free(&session);
    static const char *const FILES[] = {"model.safetensors", "config.json", "preprocessor_config.json"};
    for (size_t k = 0; k < 3; k++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, FILES[k]);
        remove(path);
    }
    remove(dir);
    open_bundled();
}

/* A photograph in many small patches is drawn with as many points as there is room for: no gaps between them, and the
 * file's picture only where room is left. The cursor marks its patch, and a click finds what it is on. */
static void many_patches_are_whole(void **state)
{
    (void)state;
    enum { PATCHES = 14 };
    static const struct {
        int h, w, pitch;
        bool file;
    } ROOMS[] = {{18, 41, 2, false}, {34, 58, 4, false}, {34, 90, 4, true}, {54, 103, 7, false}};
    char dir[] = "/tmp/vitrine-views-XXXXXX", path[128];
    VitConfig cfg;
    Model m = {0};
    Err err;
    assert_non_null(mkdtemp(dir));
    assert_true(model_size("tiny", &cfg));
    cfg.image_h = cfg.image_w = 224;
    cfg.patch_h = cfg.patch_w = 16;
    cfg.layers = 1;
    if (!vit_check(&cfg, &err))
        fail_msg("%s", err.text);
    model_seeded(&m, &cfg, 3);
    assert_true(model_save(&m, dir, &err));
    model_free(&m);
    session_free(&session);
    if (!session_init(&session, dir, "#ship", 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    focus_on("image");
    session.look.view = VIEW_HEAT;
    session.look.picture.grid = true;
    for (size_t i = 0; i < sizeof ROOMS / sizeof *ROOMS; i++) {
        Canvas c;
        int of_model = 0, of_file = 0, marks = 0, pitch = ROOMS[i].pitch;
        canvas_init(&c, ROOMS[i].h, ROOMS[i].w);
        Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
        step_needs(&VIEW_PICTURE, SIDE_A, c.clip);
        view_draw(&VIEW_PICTURE, &p, c.clip, SIDE_A, true);
        for (int k = 0; k < c.h * c.w; k++) {
            const Cell *cell = &c.cells[k];
            of_model += cell->level && cell->ref.run;
            of_file += cell->level && !cell->ref.run;
            if (cell->ch == '[' && cell->style == STYLE_CURSOR) {
                Buf command = {0};
                assert_true(view_click(&VIEW_PICTURE, &p, c.clip, SIDE_A, k / c.w, k % c.w, &command));
                assert_true(pitch % 2 || strstr(buf_str(&command), "y=7,")); /* else a line is of two patches */
                assert_non_null(strstr(buf_str(&command), "x=7,"));
                buf_free(&command);
                marks++;
            }
        }
        int rows = (PATCHES * pitch + 1) / 2, wide = PATCHES * pitch, marked = 2 * ((pitch + 2) / 2);
        if (of_model < rows * wide - marked || (of_file > 0) != ROOMS[i].file || !marks)
            fail_msg("%d×%d: %d cells of the picture, %d of the file, %d marks", c.h, c.w, of_model, of_file, marks);
        canvas_free(&c);
    }
    session_free(&session);
    static const char *const FILES[] = {"model.safetensors", "config.json", "preprocessor_config.json"};
    for (size_t k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, FILES[k]);
        remove(path);
    }
    remove(dir);
    open_bundled();
}

/* A − B of two pictures, with fewer cells than pixels: each is the difference that is largest by size of those that it
 * stands for, with its own sign. */
static void difference_pools_by_size(void **state)
{
    (void)state;
    enum { SIDE = 48, HIGH = 6, WIDE = 3 };
    Commands set = session_command_set();
    Err err;
    session_free(&session);
    if (!session_init(&session, NULL, "#66", 1, NULL, NULL, &err) ||
        !command_do(&session, &set, "pin; open #3; set scale off; view picture", ~0U, &err))
        fail_msg("%s", err.text);
    Canvas c;
    Buf text = {0};
    canvas_init(&c, 8, 17);
    Paint p = {.s = &session, .c = &c, .mode = MODE_MONO};
    Pixels px;
    session.look.picture.grid = false;
    step_needs(&VIEW_PICTURE, SIDE_DIFF, c.clip);
    assert_true(pixels_open(&session, SIDE_DIFF, pixels_input(&session, SIDE_DIFF), &px) && px.v.values);
    picture_model(&p, c.clip, &px, false);
    picture_caption(&p, c.clip, &px, &text);
    assert_string_equal(buf_str(&text), "cell = 6×3 px, absmax");
    const float *x = px.v.values;
    int found = 0, against_mean = 0;
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        if (k->level <= 1 || k->ref.run != SIDE_DIFF || k->ref.node != px.v.node)
            continue;
        size_t row = k->ref.cell / SIDE / HIGH * HIGH, col = k->ref.cell % SIDE / WIDE * WIDE;
        float most = 0, sum = 0;
        for (size_t at = 0; at < HIGH * WIDE; at++) {
            float own = x[(row + at / WIDE) * SIDE + col + at % WIDE];
            most = fabsf(own) > most ? fabsf(own) : most;
            sum += own;
        }
        assert_true(fabsf(x[k->ref.cell]) >= most);
        assert_int_equal(k->sign, (x[k->ref.cell] > 0) - (x[k->ref.cell] < 0));
        against_mean += sum * x[k->ref.cell] < 0;
        found++;
    }
    if (found < 100 || !against_mean)
        fail_msg("%d cells, %d against the mean", found, against_mean);
    session.look.picture.grid = true;
    canvas_free(&c);
    canvas_init(&c, 26, 28); /* below the picture what its colours mean, from below 0 to above it */
    p.mode = MODE_TRUE;
    view_draw(&VIEW_PICTURE, &p, c.clip, SIDE_DIFF, false);
    int ends[2] = {0, 0};
    for (int i = 0; i < c.w; i++) {
        const Cell *k = canvas_at(&c, c.h - 2, i);
        if (k->level)
            ends[k->sign > 0]++;
    }
    assert_true(ends[0] > 1 && ends[1] > 1);
    buf_free(&text);
    canvas_free(&c);
    commands_free(&set);
    session_free(&session);
    open_bundled();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_show_here),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(all_nodes_all_views),
        cmocka_unit_test(picture_pixels),
        cmocka_unit_test(answer_line_text),
        cmocka_unit_test(edited),
        cmocka_unit_test(other_models),
        cmocka_unit_test(many_patches_are_whole),
        cmocka_unit_test(difference_pools_by_size),
    };
    open_bundled();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    session_free(&session);
    return failed;
}
