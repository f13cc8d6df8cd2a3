/* `vitrine screen`: the very picture that the terminal would show, as a file. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/io/font.h"
#include "core/io/image.h"
#include "core/io/tensors.h"
#include "core/session/address.h"
#include "core/session/learned/measures.h"
#include "tui/canvas/dots.h"
#include "tui/canvas/export.h"
#include "tui/cli/play.h"
#include "tui/cli/verbs.h"
#include "tui/frame.h"
#include "tui/overlay.h"

enum { WIDTH = 120, HEIGHT = 40, SLICE_NS = 100000000 };

typedef enum Kind { KIND_TEXT, KIND_ANSI, KIND_SVG, KIND_HTML, KIND_PNG, KIND_GOLDEN, KIND_COUNT } Kind;

/* golden: text and styles in planes, for comparing two screens. */
static const struct {
    const char *suffix;
    ColourMode mode; /* when --colour does not say */
} KINDS[KIND_COUNT] = {
    [KIND_TEXT] = {"txt", MODE_MONO},  [KIND_ANSI] = {"ans", MODE_256}, [KIND_SVG] = {"svg", MODE_TRUE},
    [KIND_HTML] = {"html", MODE_TRUE}, [KIND_PNG] = {"png", MODE_TRUE}, [KIND_GOLDEN] = {"golden", MODE_256}};

static Kind kind_of(const char *path)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (strcasecmp(file_suffix(path), KINDS[k].suffix) == 0)
            return (Kind)k;
    return KIND_COUNT;
}

bool screen_suffix(const char *path)
{
    return kind_of(path) != KIND_COUNT;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* On standard output: colours where the reader is a terminal that has them, or where they were asked for. */
static Kind stdout_kind(const Options *o)
{
    const char *term = getenv("TERM");
    bool asked = o->colour && strcmp(o->colour, "auto") != 0 && strcmp(o->colour, "mono") != 0;
    bool terminal = isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0 && !is_set("NO_COLOR") &&
                    !(o->colour && strcmp(o->colour, "mono") == 0);
    return asked || terminal ? KIND_ANSI : KIND_TEXT;
}

static ColourMode mode_of(const Options *o, Kind kind)
{
    static const struct {
        const char *name;
        ColourMode mode;
    } MODES[] = {{"true", MODE_TRUE}, {"256", MODE_256}, {"8", MODE_8}, {"mono", MODE_MONO}};
    for (size_t i = 0; o->colour && i < sizeof MODES / sizeof *MODES; i++)
        if (strcmp(MODES[i].name, o->colour) == 0)
            return MODES[i].mode;
    return kind == KIND_ANSI && is_set("NO_COLOR") ? MODE_MONO : KINDS[kind].mode;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    TensorFormat format;
    bool cast = o->output && file_is(o->output, "cast");
    if (!o->script && (o->cast || cast))
        return err_set(err, "a cast is made of a script: name it with --script");
    if (o->cast && o->output)
        return err_set(err, "--cast and -o: one of them");
    if ((o->cast || cast) && o->height && o->height <= CAST_CAPTION_ROWS)
        return err_set(err, "--size: a cast needs more than %d rows", CAST_CAPTION_ROWS);
    if (o->script && o->output && !cast && strcmp(o->output, "-") != 0 && !screen_suffix(o->output))
        return err_set(err, "%.200s: a script's steps are .svg, .png, .html, .txt or .ans, or one .cast", o->output);
    if (cast)
        return true;
    if (!o->output || strcmp(o->output, "-") == 0 || screen_suffix(o->output))
        return true;
    if (!tensor_format(o->output, &format, NULL))
        return err_set(err,
                       "%.200s: expected a name that ends in .svg, .png, .html, .txt or .ans (the screen), or in .npy, "
                       ".npz, .csv, .json or .safetensors (the values)",
                       o->output);
    return l->address || o->at ||
           err_set(err,
                   "%.200s holds values: say of which node, as in `vitrine screen logits -o %.60s`; the screen itself "
                   "goes to .svg, .png, .html, .txt or .ans",
                   o->output, o->output);
}

/* Computes what the frame shows; afterwards drawing finds everything. */
bool screen_compute(Work *w, int height, int width, Err *err)
{
    Session *s = &w->session;
    for (;;) {
        Needs *needs = xcalloc(1, sizeof *needs);
        Frame f = frame_layout(s, height, width, false);
        frame_needs(s, &f, needs);
        bool ready = session_step(s, needs->item, needs->count, clock_ns() + SLICE_NS);
        free(needs);
        if (ready) {
            session_trim(s); /* as between two frames: what a view draws it has asked for */
            return true;
        }
        /* the pass is there long before every part has been left out of it once */
        double share = session_progress_share(s), measured = measures_share(s);
        bool measuring = share >= 1 && measured < 1;
        if (!s->progress(s->progress_context, measuring ? "measuring" : "computing", measuring ? measured : share))
            return stop_refuse(err);
    }
}

/* What the commands put over the frame: a list, or what the last one said. */
static void put_said(Work *w, int width, char message[512])
{
    const char *said = buf_str(&w->session.said), *end = strchr(said, '\n');
    message[0] = 0;
    if (w->overlay.kind != OVERLAY_NONE || !*said)
        return;
    if ((!end || !end[1]) && utf8_cells(said) <= width - 2)
        utf8_print(message, 512, "%.*s", (int)strcspn(said, "\n"), said);
    else {
        overlay_text(&w->overlay, "", said);
        w->overlay.apart = view_now(&w->session) == &VIEW_LEDGER;
    }
}

ColourMode screen_mode(const Options *o)
{
    return mode_of(o, stdout_kind(o));
}

static void font_alpha(void *font, uint32_t ch, int cells, uint8_t *alpha)
{
    font_glyph(font, ch, cells, alpha);
}

bool shot_png(const Canvas *c, ColourMode mode, bool light, Buf *out, Err *err)
{
    Image im;
    Font *font = font_open(PIXELS_W, PIXELS_H, err);
    if (!font)
        return false;
    image_init(&im, export_width(c), export_height(c), 3);
    export_pixels(c, mode, light, font_alpha, font, im.data);
    bool ok = image_png(&im, out, err);
    image_free(&im);
    font_close(font);
    return ok;
}

static bool put(const Canvas *c, Kind kind, ColourMode mode, bool light, const char *title, Buf *out, Err *err)
{
    switch (kind) {
    case KIND_TEXT: export_text(c, out); break;
    case KIND_ANSI: export_ansi(c, mode, light, out); break;
    case KIND_SVG: export_svg(c, mode, light, title, out); break;
    case KIND_HTML: export_html(c, mode, light, title, out); break;
    case KIND_PNG: return shot_png(c, mode, light, out, err);
    case KIND_GOLDEN: export_golden(c, out); break;
    case KIND_COUNT: break;
    }
    return true;
}

void screen_print(const Canvas *c, const Options *o, Buf *out)
{
    Kind kind = stdout_kind(o);
    put(c, kind, mode_of(o, kind), o->light, "", out, NULL); /* text: it can't fail */
}

/* A picture of the screen has pixels, unless they are forbidden. */
static void fine(const Options *o, Kind kind, Canvas *c)
{
    if (kind == KIND_PNG && !(o->graphics && strcmp(o->graphics, "never") == 0))
        canvas_fine(c, PIXELS_H, PIXELS_W);
}

static void draw(Work *w, Canvas *c, Overlay *o, const char *message, ColourMode mode)
{
    Paint p = {.s = &w->session, .c = c, .mode = mode, .light = w->options->light};
    const int below = overlay_below(o, c);
    Frame f = frame_layout(&w->session, c->h - below, c->w, below ? FRAME_CARD_BELOW : 0);
    FrameState state = {.message = message};
    canvas_clear(c);
    c->ascii = w->options->ascii;
    canvas_plots(c, w->options->plots);
    frame_draw(&p, &f, &state);
    overlay_draw(o, c);
}

int screen_width(const Options *o)
{
    return o->width ? o->width : WIDTH;
}

int screen_height(const Options *o)
{
    return o->height ? o->height : HEIGHT;
}

ColourMode screen_mode_of(const Options *o, ColourMode otherwise)
{
    ColourMode mode = mode_of(o, KIND_TEXT);
    return o->colour && strcmp(o->colour, "auto") != 0 ? mode : otherwise;
}

static bool compose(Work *w, int height, int below, const char *text, Kind kind, ColourMode mode, Canvas *out, Err *err)
{
    int width = screen_width(w->options);
    char message[512];
    Canvas screen;
    put_said(w, width, message);
    if (!screen_compute(w, height, width, err))
        return false;
    canvas_init(&screen, height, width);
    fine(w->options, kind, &screen);
    draw(w, &screen, &w->overlay, message, mode);
    canvas_init(out, height + below, width);
    canvas_clear(out);
    out->ascii = w->options->ascii;
    memcpy(out->cells, screen.cells, sizeof *out->cells * (size_t)height * (size_t)width);
    canvas_lend(out, &screen); /* a picture with a text below it has lines and pixels too */
    canvas_lend(&screen, &(Canvas){.h = 0});
    canvas_free(&screen);
    for (int row = height; *text && row < height + below;) { /* a line of the text is a paragraph */
        char line[2048];
        size_t n = strcspn(text, "\n");
        utf8_take(line, sizeof line, text, n);
        row += canvas_wrap(out, (Rect){row, 1, height + below - row, width - 2},
                           row == height ? STYLE_SENTENCE : STYLE_DIM, line);
        text += n + (text[n] == '\n');
    }
    return true;
}

bool screen_compose(Work *w, int height, int below, const char *text, Canvas *out, Err *err)
{
    return compose(w, height, below, text, KIND_ANSI, screen_mode_of(w->options, MODE_256), out, err);
}

bool screen_draw_below(Work *w, const char *path, const char *text, Buf *out, Err *err)
{
    const Options *o = w->options;
    Kind kind = path ? kind_of(path) : stdout_kind(o);
    ColourMode mode = mode_of(o, kind);
    Canvas c;
    if (kind == KIND_COUNT)
        return err_set(err, "%.200s: expected a name that ends in .svg, .png, .html, .txt, .ans or .cast", path);
    const int rows = canvas_wrap_rows(&(Canvas){.h = 0}, screen_width(o) - 2, text); /* a line is a paragraph */
    if (!compose(w, screen_height(o), rows, text, kind, mode, &c, err))
        return false;
    bool ok = put(&c, kind, mode, o->light, text, out, err);
    canvas_free(&c);
    return ok;
}

static bool draw_to(Work *w, Kind kind, const char *message, Buf *out, Err *err)
{
    const Options *o = w->options;
    ColourMode mode = mode_of(o, kind);
    int height = screen_height(o), width = screen_width(o);
    Canvas canvas;
    const Canvas size = {.h = height, .w = width};
    bool ok = screen_compute(w, height - overlay_below(&w->overlay, &size), width, err);
    if (ok) {
        Buf title = {0};
        buf_printf(&title, "Vitrine: %s, ", session_input(&w->session, SIDE_B)->name);
        address_put_focus(&w->session, &title);
        canvas_init(&canvas, height, width);
        fine(o, kind, &canvas);
        draw(w, &canvas, &w->overlay, message, mode);
        ok = put(&canvas, kind, mode, o->light, buf_str(&title), out, err);
        canvas_free(&canvas);
        buf_free(&title);
    }
    return ok;
}

/* Is `say` the last of the commands? What it said of figures that the screen had yet to measure is said again. */
static bool ends_with_say(const Options *o)
{
    const char *line = buf_str(&o->commands), *last = strrchr(line, ';');
    last = last ? last + 1 : line;
    last += strspn(last, " ");
    return strncmp(last, "say", 3) == 0 && !last[3 + strspn(last + 3, " ")];
}

int screen_write(Work *w, Err *err)
{
    const Options *o = w->options;
    char message[512];
    if (ends_with_say(o) && !(screen_compute(w, screen_height(o), screen_width(o), err) &&
                              command_do(&w->session, &w->commands, "say", LINE_FOREIGN, err)))
        return STATUS_BAD;
    put_said(w, o->width ? o->width : WIDTH, message);
    Kind kind = work_to_stdout(w) ? stdout_kind(o) : kind_of(o->output);
    return draw_to(w, kind, message, &w->drawn, err) ? STATUS_DONE : STATUS_BAD;
}

bool screen_save(Work *w, const char *path, Err *err)
{
    Buf out = {0};
    Kind kind = kind_of(path);
    if (kind == KIND_COUNT)
        return err_set(err, "%.200s: expected a name that ends in .svg, .png, .html, .txt or .ans", path);
    bool ok = draw_to(w, kind, "", &out, err) && file_write(path, out.data, out.len, err);
    buf_free(&out);
    return ok;
}

/* The user's own file: its lines may do what -c may. */
static int script(Work *w, Err *err)
{
    Script s;
    Buf cast = {0};
    const char *path = w->options->cast;
    bool ok = script_read(&s, w->options->script, err);
    if (ok && path)
        ok = play_cast(w, &s, LINE_REPLAY | COMMAND_UI, &cast, err) && file_write(path, cast.data, cast.len, err);
    else if (ok)
        ok = play_export(w, &s, LINE_REPLAY | COMMAND_UI, err);
    script_free(&s);
    buf_free(&cast);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int screen(Work *w, Err *err)
{
    if (w->options->script)
        return script(w, err);
    bool drawn = work_to_stdout(w) || screen_suffix(w->options->output);
    return drawn ? screen_write(w, err) : show_write(w, err);
}

const Verb VERB_SCREEN = {
    .name = "screen",
    .usage = "screen [ADDRESS] [--size WxH] [--script FILE] [-o FILE]",
    .summary = "draws what the terminal would show there",
    .details = "FILE.svg .png .html .txt .ans; without -o to standard output. -c takes all commands of the screen: "
               "view, compare, zoom, say, help. With --script every `pause` of FILE ends a step, and each step is "
               "drawn, its caption and the command that makes it below: NAME.svg becomes NAME-01.svg and so on; "
               "NAME.cast, or --cast NAME, is one asciicast.",
    .example = "vitrine screen 'blocks.1.attn.pattern[h=2]' -c 'view matrix' --size 120x40 -o shot.svg",
    .flags = VERB_ADDRESS | VERB_UI,
    .check = check,
    .run = screen};
