/* Fill in the blanks: the picture as the model sees it, with hidden patches; the same with its guess in their place;
 * the truth; and how far the guess is off. Where nothing is hidden the guess of every patch is shown. */
#include <string.h>

#include "tui/views/panels.h"

enum { SQUARE_MOST = 24, NOTE_WIDTH = 60, LINES_LEAST = 6, ASIDE = 22, ASIDE_WIDE = 44, ASIDE_LABEL = 13 };
typedef enum Panel { PART_SEEN, PART_GUESS, PART_TRUTH, PART_ERROR, PARTS } Panel;
/* A hidden patch: the two greys of a chequerboard, which no picture has by itself. */
static const Colour CHEQUER[2] = {0x444444, 0x6c6c6c};

typedef struct Blanks {
    Pixels truth, guess;
    Shown error, flat, hidden, count, error_mean, flat_mean;
    bool can_hide;    /* the model has a mask token */
    int many;         /* patches hidden */
    float low, high;  /* the values that are dark and bright */
    int row, col, at; /* the picked patch */
    const Axis *p;
    Shown other; /* the errors of the other side, where there is one of as many patches */
    Side beside;
    bool compared;
} Blanks;

static const char *guess_path(const Session *s, Side side)
{
    const char *pixels = shown_site(s, side, SITE_GUESS_PIXELS);
    return session_node(s, side, pixels) == NO_NODE ? shown_site(s, side, SITE_GUESS) : pixels;
}

static bool open_blanks(const Session *s, Side side, Blanks *out)
{
    Blanks b = {.high = 255};
    bool there = pixels_open(s, side, pixels_input(s, side), &b.truth) &&
                 pixels_open(s, side, guess_path(s, side), &b.guess) &&
                 shown_open(s, side, shown_site(s, side, SITE_GUESS_ERROR), &b.error) &&
                 shown_open(s, side, shown_site(s, side, SITE_GUESS_FLAT), &b.flat);
    if (!there)
        return false;
    b.can_hide = shown_open(s, side, shown_site(s, side, SITE_GUESS_HIDDEN), &b.hidden) &&
                 shown_open(s, side, shown_site(s, side, SITE_GUESS_HIDDEN_COUNT), &b.count) &&
                 shown_open(s, side, shown_site(s, side, SITE_GUESS_HIDDEN_ERROR_MEAN), &b.error_mean) &&
                 shown_open(s, side, shown_site(s, side, SITE_GUESS_HIDDEN_FLAT_MEAN), &b.flat_mean);
    b.p = &b.error.graph->axes[graph_node(b.error.graph, b.error.node)->dims.axis[0]];
    b.at = (int)b.error.cell;
    axis_patch(b.p, b.at, &b.row, &b.col);
    b.beside = side == SIDE_A ? SIDE_B : SIDE_A;
    b.compared = session_compares(s) && shown_open(s, b.beside, shown_site(s, b.beside, SITE_GUESS_ERROR), &b.other) &&
                 b.other.count == b.error.count;
    *out = b;
    return true;
}

static bool complete(Blanks *b)
{
    if (!b->truth.v.values || !b->guess.v.values || !b->error.values || !b->flat.values)
        return false;
    if (b->can_hide && (!b->hidden.values || !b->count.values || !b->error_mean.values || !b->flat_mean.values))
        return false;
    b->many = b->can_hide ? (int)b->count.values[0] : 0;
    return true;
}

static bool is_hidden(const Blanks *b, int patch)
{
    return b->can_hide && b->hidden.values[patch] != 0.0f;
}

static bool inside_hidden(const void *context, int patch)
{
    return is_hidden(context, patch);
}

/* Is the guess what is drawn of that patch? */
static bool guessed(const Blanks *b, Panel part, int patch)
{
    return part == PART_GUESS && (!b->many || is_hidden(b, patch));
}

/* --- one picture --- */
static void put_error(const Paint *p, const Blanks *b, const ColourScale *s, int y, int x, int half, int patch)
{
    float e = b->error.values[patch];
    canvas_pixel(p->c, y, x, half, colour_scale_colour(s, e), colour_scale_level(s, e), colour_scale_sign(s, e),
                 shown_ref(&b->error, (size_t)patch));
}

/* One patch of one panel. scale is that of the errors: of all patches, for the model guesses also what it sees. */
static void draw_patch(const Paint *p, const Blanks *b, const LatticeMap *m, Panel part, const ColourScale *scale,
                       int row, int col)
{
    int patch = row * b->truth.cols + col, i = row - m->row, j = col - m->col;
    if (part != PART_ERROR && !(part == PART_SEEN && is_hidden(b, patch))) {
        panels_patch(p, m, guessed(b, part, patch) ? &b->guess : &b->truth, b->low, b->high, row, col);
        return;
    }
    int tall = m->halves ? m->k : m->k > 1 ? m->k / 2 : 1;
    for (int dy = 0; dy < tall; dy++)
        for (int dx = 0; dx < m->k; dx++) {
            int line = i * tall + dy, y = m->r.y + (m->halves ? line / 2 : line), x = m->r.x + j * m->k + dx;
            if (part == PART_ERROR)
                put_error(p, b, scale, y, x, m->halves ? line % 2 : -1, patch);
            else if (m->halves)
                canvas_pixel(p->c, y, x, line % 2, CHEQUER[(line + x) % 2], 4, 0, shown_ref(&b->hidden, (size_t)patch));
            else {
                canvas_glyph(p->c, y, x, STYLE_DIM, '?');
                canvas_ref(p->c, y, x, 1, shown_ref(&b->hidden, (size_t)patch));
            }
        }
}

static ColourScale error_scale(const Paint *p, const Blanks *b)
{
    float most = 0;
    for (int i = 0; i < b->p->n; i++)
        if (b->error.values[i] > most)
            most = b->error.values[i];
    ColourScale scale = colour_scale_of_range(p, 0, most);
    scale.root = true; /* those of an object's edge are ten times what is hidden beside it */
    return scale;
}

static void draw_title(const Paint *p, const Blanks *b, Rect r, Panel part)
{
    static const char *const LONG[PARTS] = {"what the model sees", "its guess in the gaps", "truth",
                                            "error of each patch"};
    static const char *const SHORT[PARTS] = {"seen", "guess", "truth", "error"};
    static const char SEEN_TOO[] = "error of each patch, seen too";
    const char *text = r.w < 22                                                           ? SHORT[part]
                       : part == PART_GUESS && !b->many                                   ? "its guess of all patches"
                       : part == PART_ERROR && b->many && r.w >= (int)sizeof SEEN_TOO - 1 ? SEEN_TOO
                                                                                          : LONG[part];
    if (r.h > 0)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_HEADER, text);
}

static void draw_panels(const Paint *p, const Blanks *b, const Panels *s, const ColourScale *scale, bool focus)
{
    for (int k = 0; k < s->count; k++) {
        const LatticeMap *m = &s->map[k];
        draw_title(p, b, s->title[k], (Panel)k);
        for (int row = m->row; row < m->row + m->rows; row++)
            for (int col = m->col; col < m->col + m->cols; col++)
                draw_patch(p, b, m, (Panel)k, scale, row, col);
        if (k == PART_ERROR && b->many)
            panels_outline(p, s, k, inside_hidden, b);
        panels_mark(p, s, k, b->row, b->col, shown_ref(&b->error, (size_t)b->at), focus && k == PART_GUESS);
    }
}

/* --- the lines below --- */
static const char NO_TOKEN[] = "This model has no mask token: nothing can be hidden from it.";

static int put_value(const Paint *p, const char *before, const Shown *v, size_t cell, Rect line, int used)
{
    char number[32];
    number_text(number, sizeof number, v->values[cell], 8);
    if (used + (int)strlen(before) + (int)strlen(number) > line.w)
        return line.w; /* no part of a number, and nothing behind it */
    used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, before);
    return used + shown_number(p, v, cell, line.y, line.x + used, 8, STYLE_STRONG);
}

static void draw_here(const Paint *p, const Blanks *b, Rect line)
{
    char label[32];
    const char *state = is_hidden(b, b->at) ? "hidden" : "seen";
    int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "%s %s",
                             axis_label(b->p, b->at, label, sizeof label), state);
    if (line.w < NOTE_WIDTH)
        put_value(p, "  error ", &b->error, (size_t)b->at, line, used);
    else {
        used = put_value(p, "   error ", &b->error, (size_t)b->at, line, used);
        if (b->compared && b->other.values)
            used = put_value(p, b->beside == SIDE_A ? ", in A " : ", in B ", &b->other, (size_t)b->at, line, used);
        put_value(p, "   the mean colour would have ", &b->flat, (size_t)b->at, line, used);
    }
}

static void draw_total(const Paint *p, const Blanks *b, Rect line)
{
    if (!b->can_hide) {
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, NO_TOKEN);
        return;
    }
    if (!b->many) {
        canvas_text(p->c, line.y, line.x, line.w, STYLE_SENTENCE,
                    line.w < NOTE_WIDTH
                        ? "Nothing is hidden: x hides a patch."
                        : "Nothing is hidden: x hides the patch under the cursor, `hide random 0.4` many.");
        return;
    }
    int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "%d of %d hidden", b->many, b->p->n);
    used = put_value(p, line.w < NOTE_WIDTH ? "  error " : "   mean error ", &b->error_mean, 0, line, used);
    put_value(p, line.w < NOTE_WIDTH ? "  flat " : "   the mean colour would have ", &b->flat_mean, 0, line, used);
}

/* --- or a column beside them --- */
static void draw_beside_value(const Paint *p, const char *label, const Shown *v, size_t cell, Rect *r)
{
    Rect line = rect_cut(r, 't', 1);
    if (line.h < 1)
        return;
    canvas_text(p->c, line.y, line.x, ASIDE_LABEL - 1, STYLE_DIM, label);
    shown_number(p, v, cell, line.y, line.x + ASIDE_LABEL, line.w - ASIDE_LABEL, STYLE_STRONG);
}

static void draw_beside(const Paint *p, const Blanks *b, Rect r, const ColourScale *scale)
{
    static const char *const NOTHING = "Nothing is hidden: x hides the patch under the cursor, `hide random 0.4` many.";
    char label[32];
    Rect line = rect_cut(&r, 't', 1);
    canvas_printf(p->c, line.y, line.x, line.w, STYLE_HEADER, "%s, %s", axis_label(b->p, b->at, label, sizeof label),
                  is_hidden(b, b->at) ? "hidden" : "seen");
    draw_beside_value(p, "error", &b->error, (size_t)b->at, &r);
    if (b->compared && b->other.values)
        draw_beside_value(p, b->beside == SIDE_A ? "in A" : "in B", &b->other, (size_t)b->at, &r);
    draw_beside_value(p, "mean colour", &b->flat, (size_t)b->at, &r);
    rect_cut(&r, 't', r.h > 0);
    if (b->many && r.h > 0) {
        line = rect_cut(&r, 't', 1);
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_HEADER, "%d of %d hidden", b->many, b->p->n);
        draw_beside_value(p, "mean error", &b->error_mean, 0, &r);
        draw_beside_value(p, "mean colour", &b->flat_mean, 0, &r);
    } else if (r.h > 0)
        rect_cut(&r, 't', canvas_wrap(p->c, r, STYLE_SENTENCE, b->can_hide ? NOTHING : NO_TOKEN));
    rect_cut(&r, 't', r.h > 0);
    if (r.h > 2) {
        line = rect_cut(&r, 't', 2);
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, "error of each patch");
        colour_scale_bar(p, scale, line.y + 1, line.x, line.w);
        rect_cut(&r, 't', 1);
    }
    static const char ABOUT[] = "An error is the mean square of what a guess of standardised pixels is off; mean "
                                "colour: the error of guessing one flat colour.",
                      SEEN_TOO[] = "Seen patches are guessed, too: their errors are in the map, their guesses are not "
                                   "drawn. Outlined: hidden ones.";
    const int about = r.h > 0 ? canvas_wrap(p->c, r, STYLE_DIM, ABOUT) : 0;
    rect_cut(&r, 't', about + 1);
    if (b->many && r.h > 0 && canvas_wrap_rows(p->c, r.w, SEEN_TOO) <= r.h)
        canvas_wrap(p->c, r, STYLE_DIM, SEEN_TOO);
}

/* Panels on top and up to three lines below them; or all of the text beside them, where that makes them larger. */
typedef struct Layout {
    Panels panels;
    Rect beside, here, total, bar;
} Layout;

/* The three pictures in one line without the map of errors, whose picked one stands below: where they are larger so. */
static bool without_errors(const Paint *p, const Blanks *b, Rect room, int square, Panels *out)
{
    enum { GAP = 2 };
    Panels s = {.count = PART_ERROR, .rows = b->truth.rows, .cols = b->truth.cols};
    int w = (room.w - GAP * (PART_ERROR - 1)) / PART_ERROR;
    for (int k = 0; k < s.count && room.h > 3 && w > 0; k++) {
        Rect r = {room.y, room.x + k * (w + GAP), room.h, w};
        s.title[k] = rect_cut(&r, 't', 1);
        s.map[k] = lattice_map(p, r, s.rows, s.cols, SQUARE_MOST, b->row, b->col);
    }
    bool larger = square > 0 && s.map[0].rows == s.rows && s.map[0].cols == s.cols && s.map[0].k > square;
    if (larger)
        *out = s;
    return larger;
}

static Layout layout(const Paint *p, const Blanks *b, Rect r)
{
    Layout l = {.beside = {0}};
    Rect room = r, panels;
    if (room.h >= LINES_LEAST)
        l.bar = rect_cut(&room, 'b', 1);
    if (room.h >= LINES_LEAST)
        l.total = rect_cut(&room, 'b', 1);
    if (room.h >= LINES_LEAST)
        l.here = rect_cut(&room, 'b', 1);
    int square = panels_square(p, room, PARTS, b->truth.rows, b->truth.cols, SQUARE_MOST);
    bool beside = panels_beside(r, PARTS, b->truth.rows, b->truth.cols, SQUARE_MOST, square, ASIDE, &panels,
                                &l.beside) ||
                  (square > 1 && panels_beside(r, PARTS, b->truth.rows, b->truth.cols, SQUARE_MOST, square - 1,
                                               ASIDE_WIDE, &panels, &l.beside));
    l.panels = panels_make(p, beside ? panels : room, PARTS, b->truth.rows, b->truth.cols, SQUARE_MOST, b->row, b->col);
    if (!beside && without_errors(p, b, room, square, &l.panels))
        l.bar.h = 0;
    int unused = room.h - panels_lines(&l.panels); /* the lines follow the pictures */
    l.here.y -= l.here.h ? unused : 0;
    l.total.y -= l.total.h ? unused : 0;
    l.bar.y -= l.bar.h ? unused : 0;
    return l;
}

static void draw_blanks(const Paint *p, Blanks *b, Rect r, bool focus)
{
    Layout l = layout(p, b, r);
    ColourScale scale = error_scale(p, b);
    panels_range(p, &b->truth, &b->low, &b->high);
    draw_panels(p, b, &l.panels, &scale, focus);
    if (l.beside.h) {
        draw_beside(p, b, l.beside, &scale);
        return;
    }
    if (l.here.h)
        draw_here(p, b, l.here);
    if (l.total.h)
        draw_total(p, b, l.total);
    if (l.bar.h)
        colour_scale_bar(p, &scale, l.bar.y, l.bar.x, l.bar.w);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Blanks b;
    if (side == SIDE_DIFF)
        canvas_wrap(p->c, r, STYLE_DIM, "Guesses are looked at in A or in B: b goes there.");
    else if (!open_blanks(p->s, side, &b))
        canvas_wrap(p->c, r, STYLE_TEXT,
                    "This model has no reconstruction head: it never learned to guess what a hidden patch looks like.");
    else if (!complete(&b))
        shown_computing(p, r);
    else
        draw_blanks(p, &b, r, focus);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    static const Site SITES[] = {SITE_GUESS_ERROR,
                                 SITE_GUESS_FLAT,
                                 SITE_GUESS_HIDDEN,
                                 SITE_GUESS_HIDDEN_COUNT,
                                 SITE_GUESS_HIDDEN_ERROR_MEAN,
                                 SITE_GUESS_HIDDEN_FLAT_MEAN};
    (void)r;
    if (side == SIDE_DIFF)
        return;
    needs_add(out, side, pixels_input(s, side));
    needs_add(out, side, guess_path(s, side));
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++)
        needs_add(out, side, shown_site(s, side, SITES[i]));
    const Side other = side == SIDE_A ? SIDE_B : SIDE_A;
    if (session_compares(s) && session_node(s, other, shown_site(s, other, SITE_GUESS_ERROR)) != NO_NODE)
        needs_add(out, other, shown_site(s, other, SITE_GUESS_ERROR));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Blanks b;
    int panel, row, col;
    char label[32];
    if (side == SIDE_DIFF || !open_blanks(p->s, side, &b) || !complete(&b))
        return false;
    Layout l = layout(p, &b, r);
    if (!panels_hit(&l.panels, y, x, &panel, &row, &col))
        return false;
    int patch = row * b.truth.cols + col;
    if (patch == b.at)
        buf_puts(command, "ablate"); /* what x does here */
    else
        buf_printf(command, "blanks %s", axis_label(b.p, patch, label, sizeof label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    const float *count = side == SIDE_DIFF ? NULL : session_peek(s, side, shown_site(s, side, SITE_GUESS_HIDDEN_COUNT));
    if (session_compares(s) && side != SIDE_DIFF)
        buf_puts(out, side == SIDE_A ? "A  " : "B  ");
    if (count && count[0] > 0)
        buf_printf(out, "fill in the blanks, %d hidden", (int)count[0]);
    else
        buf_puts(out, "fill in the blanks");
}

static const ViewWay WAYS[] = {{"random     hide four patches of ten", "hide random 0.4"}, {NULL, NULL}};

VIEW_SPEC(BLANKS, .name = "blanks", .traits = VIEW_WIDE, .sides = SIDES_TOGETHER, .ways = WAYS);
