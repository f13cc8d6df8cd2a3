/* The row of attention in focus as a profile, a bar for every token looked at: of A above that of B where two sides are
 * compared. A row that collapses onto one token is one tall bar. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/canvas/plot.h"
#include "tui/views/attention/word_row.h"

enum { LABEL_LEAST = 13, LABEL_MOST = 26, NUMBER = 9, CELL_MOST = 3, WORD_CELL = 8, TALL_LEAST = 2 };

/* One side's row, with a maximum and how bars stand for values. */
typedef struct Profile {
    Attend a;
    ColourScale scale;
    Style style;
} Profile;

static float bar_value(const void *of, int u, Ref *ref)
{
    const Profile *f = of;
    size_t cell = attend_cell(&f->a, f->a.head, f->a.at_t, u);
    *ref = shown_ref(&f->a.v, cell);
    return (float)colour_scale_share(&f->scale, f->a.v.values[cell]);
}

static Rect bars_of(Rect r, const Attend *a)
{
    const int n = a->u_axis->n, most = attend_listed(a) ? WORD_CELL : CELL_MOST;
    int cell = (r.w - LABEL_LEAST) / n, label;
    cell = cell < 1 ? 1 : cell > most ? most : cell;
    label = r.w - n * cell;
    label = label < LABEL_LEAST ? LABEL_LEAST : label > LABEL_MOST ? LABEL_MOST : label;
    rect_cut(&r, 'l', r.w >= 3 * LABEL_LEAST ? label : 0);
    r.w = r.w > n * cell ? n * cell : r.w;
    return r;
}

/* What is said of a row beside its bars, as there are lines: its tallest bar, which is their scale, how evenly it
 * looks, the spread of its scores. Of A − B how far the bars go: the difference of the tallest is none of them. */
static const struct {
    Site site;
    const char *text;
} LINES[] = {{SITE_LARGEST, "max"}, {SITE_ENTROPY, "H"}, {SITE_SCORE_VARIANCE, "var"}};
enum { LINE_COUNT = sizeof LINES / sizeof *LINES };

/* "A max 0.523" and below "H 3.73", or "A − B" and all of them below: as many lines as there are. */
static void draw_label(const Paint *p, const Profile *f, Rect r)
{
    static const char *const NAMES[] = {[SIDE_A] = "A", [SIDE_B] = "B", [SIDE_DIFF] = "A − B"};
    static const Style STYLES_OF[] = {[SIDE_A] = STYLE_SIDE_A, [SIDE_B] = STYLE_SIDE_B, [SIDE_DIFF] = STYLE_STRONG};
    if (r.w < LABEL_LEAST)
        return;
    if (session_compares(p->s) && f->a.v.side <= SIDE_DIFF) {
        int cells = canvas_text(p->c, r.y, r.x, r.w, STYLES_OF[f->a.v.side], NAMES[f->a.v.side]);
        rect_cut(&r, 't', cells > 1 ? 1 : 0); /* a letter has its place before the first figure, a word has not */
    }
    const int zero = f->scale.is_signed, from = r.x + 2 - zero; /* the last column is then that of the 0 of the bars */
    for (int i = 0; i < LINE_COUNT && i < r.h && f->a.pattern; i++) {
        Shown v;
        if (f->a.v.side == SIDE_DIFF && LINES[i].site == SITE_LARGEST) {
            const char *unit = f->a.in_share ? " pts" : "";
            char most[24];
            const int room = r.w - 4 - 1 - (int)strlen(unit);
            number_text(most, sizeof most, f->scale.high * (f->a.in_share ? 100 : 1), clamp(room, 3, 5));
            canvas_printf(p->c, r.y + i, from, r.w - 4, STYLE_DIM, "±%s%s", most, unit);
            continue;
        }
        if (!shown_open(p->s, f->a.v.side, attend_probe(p->s, f->a.v.side, LINES[i].site), &v) || !v.values)
            continue;
        int x = from + canvas_text(p->c, r.y + i, from, 3, STYLE_DIM, LINES[i].text);
        int width = r.x + r.w - zero - 1 - x - 1;
        shown_number(p, &v, v.cell, r.y + i, x + 1, width < NUMBER ? width : NUMBER, STYLE_STRONG);
    }
}

/* Which bar is which token, in lines under the bars: of a picture where its rows begin. */
static void draw_places(const Paint *p, const Attend *a, Rect bars, Rect under)
{
    const int n = a->u_axis->n, cell = bars.w / n;
    if (attend_listed(a)) {
        under.w += under.x - bars.x;
        words_across(p, a->u_axis, 0, n, a->at_u, attend_largest(a, a->head), (Rect){under.y, bars.x, under.h, under.w},
                     cell);
        return;
    }
    int free_from = bars.x, here = bars_column(bars, n, a->at_u);
    for (int u = 0; u < n; u++) {
        int row, col, x = bars_column(bars, n, u);
        bool patch = axis_patch(a->u_axis, u, &row, &col);
        if (x < free_from || (patch && col > 0) || (!patch && u > 0))
            continue;
        char text[32];
        snprintf(text, sizeof text, patch ? "r%d" : "c", row);
        bool marked = here >= x && here < x + (int)strlen(text);
        free_from = x + 1 +
                    canvas_text(p->c, under.y, x, bars.x + bars.w - x, marked ? STYLE_CURSOR : STYLE_AXIS, text);
    }
    const Cell *k = canvas_at(p->c, under.y, here);
    if (k && k->ch == ' ')
        canvas_glyph(p->c, under.y, here, STYLE_CURSOR, '^');
    if (n > bars.w && bars.x - under.x >= LABEL_LEAST) /* shared() */
        canvas_printf(p->c, under.y, under.x, bars.x - under.x, STYLE_DIM, "1 bar = %d–%d", n / bars.w,
                      (n + bars.w - 1) / bars.w);
}

/* Lines that the names of a side take of the `tall` at the bottom of r; places stand between A and B. */
static int name_lines(const Attend *a, Rect r, int tall, bool alone)
{
    if (!attend_listed(a))
        return alone && tall > TALL_LEAST;
    return words_across_lines(a->u_axis, bars_of(r, a).w / a->u_axis->n, tall - TALL_LEAST);
}

/* Do several tokens share a bar? How many they are stands beside their names. */
static bool shared(const Attend *a, Rect bars)
{
    return !attend_listed(a) && a->u_axis->n > bars.w;
}

/* `tall` lines of bars, at the bottom of r, the last `lines` of them for names. */
static void draw_one(const Paint *p, const Profile *f, Rect r, int tall, int lines)
{
    const int n = f->a.u_axis->n;
    Rect bars = bars_of(r, &f->a);
    draw_label(p, f, (Rect){r.y, r.x, r.h - (lines > 0 && shared(&f->a, bars)), bars.x - r.x});
    rect_cut(&bars, 't', bars.h - tall);
    if (lines > 0) {
        Rect under = rect_cut(&bars, 'b', lines);
        draw_places(p, &f->a, bars, (Rect){under.y, r.x, under.h, r.w});
    }
    int column = bars_column(bars, n, f->a.at_u);
    for (int y = 0; y < bars.h; y++)
        canvas_glyph(p->c, bars.y + y, column, STYLE_AXIS, 0x250a);
    CanvasBars b = {.value = bar_value, .of = f, .n = n, .style = f->style};
    b.negative = f->style == STYLE_SIDE_A || f->style == STYLE_SIDE_B ? f->style : STYLE_NEGATIVE;
    b.low = f->scale.is_signed ? -1 : 0;
    b.high = 1;
    bars_draw(p->c, bars, &b);
}

static bool open_side(const Paint *p, Side side, Profile *f)
{
    if (!attend_open(p->s, side, -1, &f->a) || !f->a.v.values)
        return false;
    f->scale = attend_scale(p, &f->a, true);
    return true;
}

/* A and B, or the one side where there is one. */
static int sides_of(const Session *s, Side side, Side out[2])
{
    bool both = s->compare == COMPARE_SIDES && session_compares(s);
    out[0] = both ? SIDE_A : side;
    out[1] = SIDE_B;
    return both ? 2 : 1;
}

/* Of two sides as high as the other, the first at the top, the second at the bottom. */
static Rect part(Rect r, int i, int n)
{
    int h = r.h / n;
    return (Rect){i ? r.y + r.h - h : r.y, r.x, h, r.w};
}

/* "pict…/text" in so many cells, each in its side's colour but under the cursor. */
static void put_pair(const Paint *p, const char *of_a, const char *of_b, int y, int x, int a, int b, bool here)
{
    x += canvas_label(p->c, y, x, a, here ? STYLE_CURSOR : STYLE_SIDE_A, of_a);
    x += canvas_text(p->c, y, x, 1, here ? STYLE_CURSOR : STYLE_AXIS, "/");
    canvas_label(p->c, y, x, b, here ? STYLE_CURSOR : STYLE_SIDE_B, of_b);
}

static bool is_free(const Paint *p, int y, int x)
{
    const Cell *k = canvas_at(p->c, y, x);
    return k && k->ch == ' ';
}

/* A name between the bars is that of A's word: where B has another one both stand there, or as much of each as there
 * is room for, or A's alone. */
static void put_both(const Paint *p, const char *of_a, const char *of_b, Rect bars, int y, int from)
{
    enum { CUT_LEAST = 3, BOTH_CUT = 2, ENDS_HERE = 0x2518 };
    const int end = bars.x + bars.w, b = utf8_cells(of_b), all = utf8_cells(of_a);
    const Cell *k = canvas_at(p->c, y, from);
    int x = from, to;
    if (!k || k->ch == ' ')
        return;
    const bool here = k->style == STYLE_CURSOR, ends = k->ch == ENDS_HERE;
    while (x < end && !is_free(p, y, x))
        x++;
    const int named = x - from;
    const bool corner = named > all; /* a mark before the name */
    for (to = x; to < end && is_free(p, y, to);)
        to++;
    to -= to < end; /* a blank before the next */
    const int room = to - from - corner - 1 - b, a = all < room ? all : room,
              first = from - (from > bars.x + 1 && is_free(p, y, from - 1) && is_free(p, y, from - 2)),
              cut = (to - first - 1) / 2;
    if (!ends && a >= (all < CUT_LEAST ? all : CUT_LEAST)) {
        canvas_fill(p->c, (Rect){y, from + corner, 1, to - from - corner}, STYLE_TEXT, ' ');
        put_pair(p, of_a, of_b, y, from + corner, a, b, here);
    } else if (!ends && !corner && cut >= BOTH_CUT) {
        canvas_fill(p->c, (Rect){y, first, 1, to - first}, STYLE_TEXT, ' ');
        put_pair(p, of_a, of_b, y, first, cut, to - first - 1 - cut, here);
    } else
        for (x = from; x < from + named; x++)
            if (canvas_at(p->c, y, x)->style == STYLE_AXIS)
                canvas_at(p->c, y, x)->style = STYLE_SIDE_A;
}

/* A name that begins below its bar, without a corner, and goes on below a taller one is taken for that one's: there
 * stands the taller one's name instead, in front of a corner, where that is free. */
static void name_taller(const Paint *p, const Profile *f, Rect bars, int y)
{
    enum { ENDS_HERE = 0x2518 };
    static const float SEEN = 0.125F; /* of the scale: lower bars mislead no one */
    const int n = f->a.u_axis->n;
    Ref ref;
    for (int u = 0; u < n; u++) {
        char text[64];
        const int x = bars_column(bars, n, u), end = x + utf8_cells(axis_label(f->a.u_axis, u, text, sizeof text));
        const char *first = text;
        const Cell *k = canvas_at(p->c, y, x);
        if (!k || k->style == STYLE_CURSOR || k->ch != utf8_next(&first) || (x > bars.x && !is_free(p, y, x - 1)))
            continue;
        int tall = u + 1;
        while (tall < n && bars_column(bars, n, tall) < end &&
               bar_value(f, tall, &ref) < fmaxf(SEEN, 2 * bar_value(f, u, &ref)))
            tall++;
        const int corner = tall < n ? bars_column(bars, n, tall) : end;
        if (corner >= end)
            continue;
        canvas_fill(p->c, (Rect){y, x, 1, end - x}, STYLE_TEXT, ' ');
        const int cells = utf8_cells(axis_label(f->a.u_axis, tall, text, sizeof text));
        int from = corner;
        while (from > bars.x && from >= corner - cells && is_free(p, y, from - 1))
            from--;
        if (from > corner - cells || (from == corner - cells && from > bars.x))
            continue;
        canvas_label(p->c, y, corner - cells, cells, STYLE_AXIS, text);
        canvas_glyph(p->c, y, corner, STYLE_AXIS, ENDS_HERE);
    }
}

static void mark_own(const Paint *p, const Attend *a, const Attend *b, Rect bars, int y)
{
    const int n = a->u_axis->n;
    for (int u = 0; u < n && u < b->u_axis->n; u++) {
        char of_a[64], of_b[64];
        axis_label(a->u_axis, u, of_a, sizeof of_a);
        axis_label(b->u_axis, u, of_b, sizeof of_b);
        if (strcmp(of_a, of_b) != 0)
            put_both(p, of_a, of_b, bars, y, bars_column(bars, n, u));
    }
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Side sides[2];
    (void)focus;
    int n = sides_of(p->s, side, sides);
    int tall = r.h > n ? (r.h - n + 1) / n : 1; /* with a line free between A and B, or B's bars stand on A's foot */
    int lines = 0; /* for the names of both: bars of one scale are as high as each other's */
    for (int i = 0; i < n && r.h >= n; i++) {
        Attend a;
        const int own = attend_open(p->s, sides[i], -1, &a) ? name_lines(&a, part(r, i, n), tall, n == 1) : 0;
        lines = own > lines ? own : lines;
    }
    for (int i = 0; i < n && r.h >= n; i++) {
        Profile f;
        if (!open_side(p, sides[i], &f))
            continue;
        f.style = n == 1 ? STYLE_TEXT : i ? STYLE_SIDE_B : STYLE_SIDE_A;
        draw_one(p, &f, part(r, i, n), tall, lines);
        Rect above = part(r, i, n), bars = bars_of(above, &f.a);
        const int between = r.y + r.h - tall - above.y - above.h; /* lines above B's bars */
        if (n == 2 && i == 0 && between > 0 && !lines)
            draw_places(p, &f.a, bars, (Rect){above.y + above.h, r.x, 1, r.w});
        if (n == 2 && i == 0 && between > 0 && !lines && attend_listed(&f.a))
            name_taller(p, &f, bars, above.y + above.h);
        Attend b;
        if (n == 2 && i == 0 && between > 0 && attend_listed(&f.a) && attend_open(p->s, SIDE_B, -1, &b))
            mark_own(p, &f.a, &b, bars, above.y + above.h);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    Side sides[2];
    (void)r;
    int n = sides_of(s, side, sides);
    for (int i = 0; i < n; i++) {
        attend_needs(s, sides[i], true, out);
        for (int k = 0; k < LINE_COUNT; k++)
            needs_add(out, sides[i], attend_probe(s, sides[i], LINES[k].site));
    }
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Side sides[2];
    Attend a;
    int first, last;
    (void)y;
    sides_of(p->s, side, sides);
    if (!attend_open(p->s, sides[0], -1, &a) || !a.v.values || !bars_at(bars_of(r, &a), a.u_axis->n, x, &first, &last))
        return false;
    return attend_click(&a, first, command);
}

/* What the short names beside the bars stand for, of those that have a line there. */
static const char *names_told(const Session *s, const Attend *a, Rect r, int sides, const Rect *bars)
{
    static const char *const TOLD[] = {"", "", "; H: entropy", "; H: entropy, var: of scores"};
    Shown v;
    const int tall = part(r, 0, sides).h, names = name_lines(a, r, tall, sides == 1);
    int lines = tall - (a->v.side == SIDE_DIFF) - (names > 0 && shared(a, *bars));
    lines = bars->x - r.x < LABEL_LEAST || !a->pattern ? 0 : lines;
    lines = lines < 0 ? 0 : lines > LINE_COUNT ? LINE_COUNT : lines;
    while (lines > 0 && !shown_open(s, a->v.side, attend_probe(s, a->v.side, LINES[lines - 1].site), &v))
        lines--;
    return TOLD[lines];
}

static void title_in(const Paint *p, Rect r, Side side, Buf *out)
{
    const Session *s = p->s;
    Side sides[2];
    Attend a, b;
    char label[64], other[24];
    const int n = sides_of(s, side, sides);
    const bool both = n > 1;
    if (!attend_open(s, sides[0], -1, &a)) {
        buf_puts(out, "profile");
        return;
    }
    const Rect bars = bars_of(part(r, 0, n), &a);
    const char *scale = colour_scale_word(s, both), *var = names_told(s, &a, r, n, &bars);
    axis_label(a.t_axis, a.at_t, label, sizeof label);
    if (both && attend_open(s, SIDE_B, -1, &b) && strcmp(label, axis_label(b.t_axis, b.at_t, other, sizeof other)) != 0)
        utf8_print(label + strlen(label), sizeof label - strlen(label), "/%s", other);
    const char *stop = *scale ? "; " : "";
    const int key = (int)strcspn(scale, "("), brief = scale[key] ? key - 1 : key; /* without the key that changes it */
    const char *q = attend_listed(&a) ? "\"" : "";
    buf_printf(out, "row %s%s%s as a profile%s%s%s\n", q, label, q, var, stop, scale);
    buf_printf(out, "row %s%s%s%s%s%s\nrow %s%s%s%s%s%.*s\n", q, label, q, var, stop, scale, q, label, q, var, stop,
               brief, scale);
    buf_printf(out, "row %s%s%s%s%.*s", q, label, q, stop, brief, scale);
}

static void title(const Session *s, Side side, Buf *out)
{
    const Paint p = {.s = s};
    title_in(&p, (Rect){.h = 0}, side, out); /* without what stands beside the bars */
}

VIEW_SPEC(PROFILE, .name = "profile", .title_in = title_in);
