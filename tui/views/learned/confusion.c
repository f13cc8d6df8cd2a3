/* Which class is taken for which: a line for every class, a column for every name it was given. The shares are
 * measurements over pictures and in no trace: they carry no Ref. */
#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "core/session/screens/confusion.h"
#include "tui/views/heat.h"
#include "tui/views/number.h"
#include "tui/views/picture/picture.h"
#include "tui/views/shown.h"

enum {
    LABEL_MOST = 12,
    CELL_LEAST = 5,
    CELL_WIDEST = 12,
    CELL_TALLEST = 5,
    NOTE_LINES = 2,
    PICTURE_LINES = 6,
    NAME = 64
};

static const char *class_of(const Session *s, int o, char out[NAME])
{
    if (s->model.class_names)
        return utf8_clean(out, NAME, s->model.class_names[o]);
    snprintf(out, NAME, "class %d", o);
    return out;
}

static size_t in_class(const Confusion *c, int of)
{
    size_t n = 0;
    for (int o = 0; o < c->classes; o++)
        n += c->count[(size_t)of * (size_t)c->classes + (size_t)o];
    return n;
}

static size_t count_of(const Confusion *c, int of, int named)
{
    return c->count[(size_t)of * (size_t)c->classes + (size_t)named];
}

typedef struct Layout {
    Rect status, table, note; /* table: the header line and the label column included */
    Rect picture;             /* below it, where there is room for the one that was opened */
    int head; /* lines of names above it: two where every other one stands higher, so that none is cut */
    int wide, tall, label, first_row, first_col, down, across;
} Layout;

/* What the table's cells are, the first that there is room for. */
static const char *const AXES[] = {"; rows: what it is, columns: named, %", "; rows: truth, columns: named, %"};
enum { AXES_BRIEF = sizeof AXES / sizeof *AXES - 1 };

/* What is right of how many, without the axes of the table. */
static void status_text(const Confusion *c, char *out, size_t n)
{
    char share[48], count[32];
    size_t right = 0;
    for (int o = 0; o < c->classes; o++)
        right += count_of(c, o, o);
    count_text(count, sizeof count, c->pictures);
    utf8_print(out, n, "%s of %s %s right", measure_share_text(right, c->pictures, share, sizeof share), count, c->of);
}

static int lines_each(const Confusion *c, int lines)
{
    return c->classes && !c->opens ? clamp(lines / c->classes, 1, CELL_TALLEST) : 1; /* the room is a picture's */
}

static Layout layout(const Session *s, const Confusion *c, Rect r)
{
    Layout l = {0};
    char name[NAME], text[160];
    int longest = 0;
    status_text(c, text, sizeof text);
    if (r.h > 4)
        l.status = rect_cut(&r, 't', 1);
    if (r.h > 4 + NOTE_LINES)
        l.note = rect_cut(&r, 'b', NOTE_LINES);
    for (int o = 0; o < c->classes && o < 200; o++) {
        int cells = utf8_cells(class_of(s, o, name)) + 1;
        longest = cells > longest ? cells : longest;
    }
    l.label = longest;
    l.label = clamp(l.label, 2, LABEL_MOST);
    l.wide = clamp(c->classes ? (r.w - l.label) / c->classes : 0, CELL_LEAST, CELL_WIDEST);
    l.head = 1 + (longest > l.wide && r.h > c->classes + 1);
    if (l.head > 1 && l.note.h > 1 && !c->opens && lines_each(c, r.h - 2) < lines_each(c, r.h - 1)) {
        l.note.h--; /* rather than lower cells */
        l.note.y++;
        r.h++;
    }
    l.tall = lines_each(c, r.h - l.head);
    if (l.status.h && utf8_cells(text) + utf8_cells(AXES[AXES_BRIEF]) > r.w && l.tall * c->classes + l.head < r.h) {
        rect_cut(&r, 't', 1);
        l.status.h++;
    }
    l.table = r;
    l.down = clamp((r.h - l.head) / l.tall, 0, c->classes);
    l.picture = (Rect){r.y + l.head + l.down + 1, r.x, r.h - l.head - l.down - 2, r.w};
    l.across = clamp((r.w - l.label) / l.wide, 0, c->classes);
    l.first_row = (int)scroll_first((size_t)c->classes, (size_t)s->look.confusion.of, (size_t)l.down);
    l.first_col = (int)scroll_first((size_t)c->classes, (size_t)s->look.confusion.named, (size_t)l.across);
    return l;
}

static Rect cell_rect(const Layout *l, int of, int named)
{
    return (Rect){l->table.y + l->head + (of - l->first_row) * l->tall,
                  l->table.x + l->label + (named - l->first_col) * l->wide, l->tall, l->wide - 1};
}

static void draw_cell(const Paint *p, const Confusion *c, Rect r, const ColourScale *scale, int of, int named)
{
    char text[16];
    const size_t n = in_class(c, of), k = count_of(c, of, named);
    const float share = n ? (float)(100 * (double)k / (double)n) : NAN;
    for (int i = 0; i < r.w * r.h && !isnan(share); i++)
        canvas_pixel(p->c, r.y + i / r.w, r.x + i % r.w, -1, colour_scale_colour(scale, share),
                     colour_scale_level(scale, share), 0, (Ref){0});
    if (!k)
        snprintf(text, sizeof text, "·");
    else
        utf8_print(text, sizeof text, r.w >= 7 ? "%.1f" : share < 0.5F ? "<1" : "%.0f", (double)share);
    canvas_right(p->c, r.y + (r.h - 1) / 2, r.x + 1, r.w - 2, STYLE_STRONG,
                 text); /* the marks of the cursor beside it */
    for (int i = 0; i < r.w && !isnan(share); i++) {
        Cell *at = canvas_at(p->c, r.y + (r.h - 1) / 2, r.x + i);
        if (at)
            at->bg = colour_scale_colour(scale, share);
    }
    if (of == p->s->look.confusion.of && named == p->s->look.confusion.named)
        heat_mark(p, r.y, r.x, r.h, r.w, (Ref){0});
}

static void draw_table(const Paint *p, const Confusion *c, const Layout *l, bool focus)
{
    ColourScale scale = colour_scale_of_range(p, 0, 100);
    scale.root = true; /* mistakes are a hundredth of what is right */
    char name[NAME];
    for (int o = l->first_col; o < l->first_col + l->across; o++) {
        Rect at = cell_rect(l, l->first_row, o);
        bool high = l->head > 1 && (o - l->first_col) % 2 == 0;
        int end = l->table.x + l->table.w - at.x, room = l->head > 1 ? 2 * l->wide - 1 : at.w;
        canvas_label(p->c, at.y - 1 - high, at.x, room < end ? room : end,
                     o == p->s->look.confusion.named ? STYLE_STRONG : STYLE_AXIS, class_of(p->s, o, name));
    }
    for (int of = l->first_row; of < l->first_row + l->down; of++) {
        Rect line = cell_rect(l, of, l->first_col);
        canvas_label(p->c, line.y + (line.h - 1) / 2, l->table.x, l->label - 1,
                     of == p->s->look.confusion.of ? STYLE_STRONG : STYLE_AXIS, class_of(p->s, of, name));
        for (int o = l->first_col; o < l->first_col + l->across; o++)
            draw_cell(p, c, cell_rect(l, of, o), &scale, of, o);
    }
    Rect here = cell_rect(l, p->s->look.confusion.of, p->s->look.confusion.named);
    focus_cursor(p, focus, here.y + (here.h - 1) / 2, here.x);
}

static void draw_status(const Paint *p, const Confusion *c, Rect r)
{
    char text[160];
    status_text(c, text, sizeof text);
    int used = canvas_text(p->c, r.y, r.x, r.w, STYLE_TEXT, text);
    if (r.h > 1)
        canvas_text(p->c, r.y + 1, r.x, r.w, STYLE_DIM, AXES[0] + 2);
    for (int i = 0; r.h == 1 && i <= AXES_BRIEF; i++)
        if (utf8_cells(AXES[i]) <= r.w - used) {
            canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, AXES[i]);
            return;
        }
}

/* The picture on show, where it may be one of the folder's; or NULL. */
static const Input *opened(const Paint *p, const Confusion *c)
{
    const Input *in = shown_input(p->s, SIDE_B);
    return c->opens && in->resized.data && !in->drawn && !in->rendered ? in : NULL;
}

static void draw_note(const Paint *p, const Confusion *c, Rect r)
{
    const int of = p->s->look.confusion.of, named = p->s->look.confusion.named;
    const size_t n = in_class(c, of), k = count_of(c, of, named);
    char a[NAME], b[NAME], share[48];
    if (r.h < 1)
        return;
    canvas_printf(p->c, r.y, r.x, r.w, STYLE_TEXT, "%s named %s: %zu of %zu, %s", class_of(p->s, of, a),
                  class_of(p->s, named, b), k, n, measure_share_text(k, n, share, sizeof share));
    if (r.h < 2)
        return;
    const Input *in = opened(p, c);
    if (in)
        canvas_printf(p->c, r.y + 1, r.x, r.w, STYLE_DIM, "%s is open (`view picture`); Enter opens the next.",
                      in->name);
    else
        canvas_text(p->c, r.y + 1, r.x, r.w, STYLE_DIM,
                    !c->opens ? "`confusion FOLDER` measures over pictures of your own; Enter opens those."
                    : c->part ? "Enter opens them. One in ten, as in training; `confusion FOLDER all`: each."
                              : "Enter opens them, one after the other.");
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Confusion c;
    const char *why;
    (void)side;
    if (!session_confusion(p->s, &c, &why))
        canvas_wrap(p->c, r, STYLE_DIM, why);
    else if (!c.count)
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "measuring %.0f %%", 100 * c.share);
    else {
        Layout l = layout(p->s, &c, r);
        if (l.status.h)
            draw_status(p, &c, l.status);
        draw_table(p, &c, &l, focus);
        draw_note(p, &c, l.note);
        if (opened(p, &c) && l.picture.h >= PICTURE_LINES)
            picture_file(p, l.picture, &opened(p, &c)->resized);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)s;
    (void)side;
    (void)r;
    (void)out;
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Confusion c;
    (void)side;
    if (!session_confusion(p->s, &c, NULL) || !c.count)
        return false;
    Layout l = layout(p->s, &c, r);
    for (int of = l.first_row; of < l.first_row + l.down; of++)
        for (int o = l.first_col; o < l.first_col + l.across; o++) {
            Rect at = cell_rect(&l, of, o);
            if (!rect_has(at, y, x))
                continue;
            if (of == p->s->look.confusion.of && o == p->s->look.confusion.named)
                buf_puts(command, "in");
            else
                buf_printf(command, "option class-of %d; option class-named %d", of, o);
            return true;
        }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)s;
    (void)side;
    buf_puts(out, "which class is taken for which");
}

VIEW_SPEC(CONFUSION, .name = "confusion", .traits = VIEW_WIDE | VIEW_CLASSES, .sides = SIDES_TOGETHER,
          .sentence = "What pictures of every class are named, as trained.");
