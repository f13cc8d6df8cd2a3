/* `vitrine screen`: the very picture that the terminal would show, as a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/tensors.h"
#include "core/session/address.h"
#include "tui/canvas/export.h"
#include "tui/cli/verbs.h"
#include "tui/frame.h"
#include "tui/overlay.h"

enum { WIDTH = 120, HEIGHT = 40, SLICE_NS = 100000000 };

typedef enum Kind { KIND_TEXT, KIND_ANSI, KIND_SVG, KIND_HTML, KIND_GOLDEN, KIND_COUNT } Kind;

/* golden: text and styles in planes, for comparing two screens. */
static const struct {
    const char *suffix;
    ColourMode mode; /* when --colour does not say */
} KINDS[KIND_COUNT] = {[KIND_TEXT] = {"txt", MODE_MONO},
                       [KIND_ANSI] = {"ans", MODE_256},
                       [KIND_SVG] = {"svg", MODE_TRUE},
                       [KIND_HTML] = {"html", MODE_TRUE},
                       [KIND_GOLDEN] = {"golden", MODE_256}};

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
    if (!o->output || strcmp(o->output, "-") == 0 || screen_suffix(o->output))
        return true;
    if (!tensor_format(o->output, &format, NULL))
        return err_set(err,
                       "%.200s: expected a name that ends in .svg, .html, .txt or .ans (the screen), or in .npy, .npz, "
                       ".csv, .json or .safetensors (the values)",
                       o->output);
    return show_check(o, l, err);
}

/* Computes what the frame shows; afterwards drawing finds everything. */
static bool compute(Work *w, int height, int width, Err *err)
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
        if (!s->progress(s->progress_context, "computing", session_progress_share(s)))
            return err_set(err, "cancelled");
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
        snprintf(message, 512, "%.*s", (int)strcspn(said, "\n"), said);
    else
        overlay_text(&w->overlay, "", said);
}

ColourMode screen_mode(const Options *o)
{
    return mode_of(o, stdout_kind(o));
}

static void put(const Canvas *c, Kind kind, ColourMode mode, bool light, const char *title, Buf *out)
{
    switch (kind) {
    case KIND_TEXT: export_text(c, out); break;
    case KIND_ANSI: export_ansi(c, mode, light, out); break;
    case KIND_SVG: export_svg(c, light, title, out); break;
    case KIND_HTML: export_html(c, light, title, out); break;
    case KIND_GOLDEN: export_golden(c, out); break;
    case KIND_COUNT: break;
    }
}

void screen_print(const Canvas *c, const Options *o, Buf *out)
{
    Kind kind = stdout_kind(o);
    put(c, kind, mode_of(o, kind), o->light, "", out);
}

static void draw(Work *w, Canvas *c, const Overlay *o, const char *message, ColourMode mode)
{
    Paint p = {.s = &w->session, .c = c, .mode = mode, .light = w->options->light};
    Frame f = frame_layout(&w->session, c->h, c->w, false);
    FrameState state = {.message = message};
    canvas_clear(c);
    c->ascii = w->options->ascii;
    frame_draw(&p, &f, &state);
    overlay_draw(o, c);
}

static bool draw_to(Work *w, Kind kind, const char *message, Buf *out, Err *err)
{
    const Options *o = w->options;
    ColourMode mode = mode_of(o, kind);
    int height = o->height ? o->height : HEIGHT, width = o->width ? o->width : WIDTH;
    Canvas canvas;
    bool ok = compute(w, height, width, err);
    if (ok) {
        Buf title = {0};
        buf_printf(&title, "Vitrine: %s, ", session_input(&w->session, SIDE_B)->name);
        address_put_focus(&w->session, &title);
        canvas_init(&canvas, height, width);
        draw(w, &canvas, &w->overlay, message, mode);
        put(&canvas, kind, mode, o->light, buf_str(&title), out);
        canvas_free(&canvas);
        buf_free(&title);
    }
    return ok;
}

int screen_write(Work *w, Err *err)
{
    const Options *o = w->options;
    char message[512];
    put_said(w, o->width ? o->width : WIDTH, message);
    Kind kind = work_to_stdout(w) ? stdout_kind(o) : kind_of(o->output);
    return draw_to(w, kind, message, &w->out, err) ? STATUS_DONE : STATUS_BAD;
}

bool screen_save(Work *w, const char *path, Err *err)
{
    Buf out = {0};
    Kind kind = kind_of(path);
    if (kind == KIND_COUNT)
        return err_set(err, "%.200s: expected a name that ends in .svg, .html, .txt or .ans", path);
    bool ok = draw_to(w, kind, "", &out, err) && file_write(path, out.data, out.len, err);
    buf_free(&out);
    return ok;
}

static int screen(Work *w, Err *err)
{
    bool drawn = work_to_stdout(w) || screen_suffix(w->options->output);
    return drawn ? screen_write(w, err) : show_write(w, err);
}

const Verb VERB_SCREEN = {
    .name = "screen",
    .usage = "screen [ADDRESS] [--size WxH] [-o FILE]",
    .summary = "draws what the terminal would show there",
    .details = "FILE.svg .html .txt .ans; without -o to standard output. The commands of -c may do whatever can be "
               "done on the screen: view, compare, zoom, say, "
               "help.",
    .example = "vitrine screen 'blocks.1.attn.pattern[h=2]' -c 'view matrix' --size 120x40 -o shot.svg",
    .flags = VERB_ADDRESS | VERB_UI,
    .check = check,
    .run = screen};
