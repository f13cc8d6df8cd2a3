#include "tui/canvas/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/canvas/dots.h"

enum { LEFT_LABEL = 6, WIDE = 18, TALL = 4, TENS = 12 };
static void sample(const CanvasLine *l, int i, float *x, float *y)
{
    if (l->sample) {
        l->sample(l->of, i, x, y);
        return;
    }
    *x = l->x ? l->x[i] : (float)i;
    *y = l->y[i];
}

float plot_value(const CanvasLine *l, double at)
{
    float value = NAN, x, y;
    for (int i = 0; i < l->n; i++) {
        sample(l, i, &x, &y);
        if ((double)x > at)
            break;
        value = y;
    }
    return value;
}

/* Share of the axis, 0 … 1 and beyond. */
static double share(double x, double from, double to)
{
    return to > from ? (x - from) / (to - from) : 0;
}

/* The same of the x axis. */
static double along(const CanvasPlot *p, double x)
{
    if (!(p->x_unit > 0) || x <= 0)
        return share(x, p->x0, p->x1);
    return share(dm_log(1 + x / p->x_unit), 0, dm_log(1 + p->x1 / p->x_unit));
}

int plot_column(const CanvasPlot *p, Rect body, double x)
{
    int column = (int)floor(along(p, x) * (body.w - 1) + 0.5);
    return column < 0 ? 0 : column >= body.w ? body.w - 1 : column;
}

/* --- numbers at the axes --- */

static const char *short_number(char out[16], double x, int width)
{
    for (int digits = 5; digits > 0; digits--) {
        snprintf(out, 16, "%.*g", digits, x);
        char *zero = strstr(out, "0."); /* ".743" */
        if (zero && (zero == out || (zero == out + 1 && *out == '-')))
            memmove(zero, zero + 1, strlen(zero));
        if ((int)strlen(out) <= width)
            break;
    }
    return out;
}

/* What the axes leave of r, which has no title any more. */
static Rect cut_axes(const CanvasPlot *p, Rect *r, Rect *left)
{
    Rect under = r->h >= TALL && !p->no_x ? rect_cut(r, 'b', 1) : (Rect){0};
    *left = r->w >= WIDE && !p->no_y ? rect_cut(r, 'l', LEFT_LABEL) : (Rect){0};
    under.x = r->x;
    under.w = r->w;
    return under;
}

/* The first of `cells` columns in a row in r that are blank, with a blank or an end on either side; −1: none. */
static int blank_from(Canvas *c, Rect r, int from, int cells)
{
    for (int x = from, run = 0; x <= r.w; x++) {
        const Cell *k = canvas_at(c, r.y, r.x + x);
        run = x == r.w || !k || k->ch == ' ' || k->ch == 0 ? run + 1 : 0;
        if (run == cells + 2)
            return x - cells;
    }
    return -1;
}

/* Powers of ten, each where it belongs, between what stands there already; those drawn are in `at`. Returns their
 * number. */
static int draw_tens(Canvas *c, Rect r, const CanvasPlot *p, Rect at[TENS])
{
    char text[48];
    int n = 0;
    for (double ten = 10; ten < p->x1 && n < TENS; ten *= 10) {
        const int w = utf8_print(text, sizeof text, "%.0f", ten), x = plot_column(p, r, ten) - (w - 1) / 2;
        if (!(x > 0 && x + w < r.w && blank_from(c, r, x - 1, w) == x))
            continue;
        canvas_text(c, r.y, r.x + x, w, STYLE_AXIS, text);
        at[n++] = (Rect){r.y, r.x + x, 1, w};
    }
    return n;
}

static bool put_blank(Canvas *c, Rect r, const char *text)
{
    const int w = utf8_cells(text), x = blank_from(c, r, 0, w);
    if (x >= 0)
        canvas_text(c, r.y, r.x + x, w, STYLE_AXIS, text);
    return x >= 0;
}

/* What a logarithmic axis counts and its powers of ten; that it is logarithmic comes before them where not all has
 * room. */
static void draw_log(Canvas *c, Rect r, const CanvasPlot *p)
{
    static const char SHORT[] = "log";
    char text[48];
    Rect at[TENS];
    const int n = draw_tens(c, r, p, at);
    utf8_print(text, sizeof text, "%s, %s", p->x_name, SHORT);
    if (put_blank(c, r, text) || put_blank(c, r, SHORT))
        return;
    for (int i = 0; i < n; i++)
        canvas_fill(c, at[i], STYLE_TEXT, ' ');
    put_blank(c, r, SHORT);
    draw_tens(c, r, p, at);
}

static Rect draw_axes(Canvas *c, Rect r, const CanvasPlot *p)
{
    char text[16];
    Rect left, under = cut_axes(p, &r, &left);
    if (left.w) {
        canvas_right(c, left.y, left.x, left.w - 1, STYLE_AXIS, short_number(text, p->y1, LEFT_LABEL - 1));
        if (left.h > 1)
            canvas_right(c, left.y + left.h - 1, left.x, left.w - 1, STYLE_AXIS,
                         short_number(text, p->y0, LEFT_LABEL - 1));
        for (int y = left.y; y < left.y + left.h; y++)
            canvas_glyph(c, y, left.x + left.w - 1, STYLE_BORDER, 0x2502);
        if (under.h) /* the corner */
            canvas_glyph(c, under.y, left.x + left.w - 1, STYLE_BORDER, 0x2514);
    }
    if (!under.h || r.w < 1)
        return r;
    int end = canvas_printf(c, under.y, r.x, r.w, STYLE_AXIS, "%s", short_number(text, p->x0, 6));
    short_number(text, p->x1, 8);
    int most = (int)strlen(text), name = utf8_cells(p->x_name ? p->x_name : "");
    int cursor = isnan(p->cursor) ? r.w : plot_column(p, r, p->cursor), right = cursor >= r.w - most ? cursor : r.w;
    if (end + 1 + most <= right)
        canvas_right(c, under.y, r.x, right, STYLE_AXIS, text);
    if (p->x_unit > 0 && p->x_name) {
        if (cursor < r.w)
            canvas_glyph(c, under.y, r.x + cursor, STYLE_CURSOR, 0x25b2);
        draw_log(c, (Rect){under.y, r.x, 1, r.w}, p);
        return r;
    }
    int from = (r.w - name) / 2;
    if (name && end + most + name + 6 <= r.w && (cursor < from - 1 || cursor > from + name))
        canvas_text(c, under.y, r.x + from, name, STYLE_AXIS, p->x_name);
    return r;
}

/* --- the lines --- */

typedef struct Pen {
    Canvas *c;
    Rect body;
    const CanvasLine *line;
    int drawn; /* dots so far: a dashed line leaves out two of four */
    uint64_t
        *in; /* of each cell of the body which lines have dots there, a bit each (of 64 the last is the others') … */
    uint64_t bit; /* … this one's; 0: it is one of those that others are seen among */
} Pen;

static void put_dot(Pen *n, int x, int y)
{
    int down = dots_down(n->c), row = n->body.y + y / down, column = n->body.x + x / DOTS_ACROSS;
    if (x < 0 || y < 0 || x >= n->body.w * DOTS_ACROSS || y >= n->body.h * down)
        return;
    if (n->line->dashed && n->drawn++ % 4 >= 2)
        return;
    uint64_t *in = &n->in[y / down * n->body.w + x / DOTS_ACROSS];
    if (*in && !n->bit) /* a cell has one colour: those that others are seen among leave it to them */
        return;
    const Cell *k = canvas_at(n->c, row, column);
    canvas_glyph(n->c, row, column, n->line->style,
                 dots_add(n->c, k && (*in || !n->bit) ? k->ch : ' ', y % down, x % DOTS_ACROSS));
    *in |= n->bit;
}

/* A cell has one colour: those of all lines with dots there in turns. */
static void share_cells(const Pen *n, const CanvasPlot *p)
{
    for (int i = 0; i < n->body.h * n->body.w; i++) {
        const int row = n->body.y + i / n->body.w, column = n->body.x + i % n->body.w;
        int count = 0, turn = 0;
        for (uint64_t in = n->in[i]; in; in &= in - 1)
            count++;
        for (int k = 0; k < p->lines && count; k++)
            if (n->in[i] >> (k < 63 ? k : 63) & 1 && turn++ == (row + column) % count) {
                const Cell *cell = canvas_at(n->c, row, column);
                canvas_glyph(n->c, row, column, p->line[k].style, cell ? cell->ch : ' ');
            }
    }
}

/* Bresenham 1965 */
static void put_line(Pen *n, int x, int y, int to_x, int to_y)
{
    int dx = to_x > x ? to_x - x : x - to_x, dy = to_y > y ? to_y - y : y - to_y, sx = to_x > x ? 1 : -1,
        sy = to_y > y ? 1 : -1, off = dx - dy;
    for (;;) {
        put_dot(n, x, y);
        if (x == to_x && y == to_y)
            return;
        int twice = 2 * off;
        if (twice > -dy) {
            off -= dy;
            x += sx;
        }
        if (twice < dx) {
            off += dx;
            y += sy;
        }
    }
}

static double clamp(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Sample i in shares of the body, from its upper left corner. False where the line is broken. */
static bool place(const CanvasPlot *p, const CanvasLine *l, int i, double *x, double *y)
{
    float at, value;
    sample(l, i, &at, &value);
    *x = along(p, (double)at);
    *y = 1 - clamp(share((double)value, p->y0, p->y1));
    return isfinite(value) && *x >= 0 && *x <= 1;
}

int plot_line(const Canvas *c, Rect body, double share)
{
    const int per = canvas_of_dots(c) ? dots_down(c) : 3; /* thirds of a cell, as draw_blocks has them */
    return (int)(clamp(share) * (per * body.h - 1) + 0.5) / per;
}

/* A dot at every sample: what lies between two of them was not measured. */
static bool has_points(const CanvasPlot *p, const CanvasLine *l)
{
    return p->points && !l->dashed && !l->apart;
}

static void draw_dots(Pen *n, const CanvasPlot *p)
{
    int w = n->body.w * DOTS_ACROSS - 1, h = n->body.h * dots_down(n->c) - 1, last_x = 0, last_y = 0;
    bool joined = false;
    for (int i = 0; i < n->line->n; i++) {
        double x, y;
        if (!place(p, n->line, i, &x, &y)) {
            joined = false;
            continue;
        }
        int dot_x = (int)(x * w + 0.5), dot_y = (int)(y * h + 0.5);
        put_line(n, joined ? last_x : dot_x, joined ? last_y : dot_y, dot_x, dot_y);
        for (int k = 1; n->line->apart && k < 4; k++)
            put_dot(n, dot_x + k % 2, dot_y - k / 2);
        for (int k = 0; has_points(p, n->line) && k < 9; k++)
            put_dot(n, dot_x + k % 3 - 1, dot_y + k / 3 - 1);
        last_x = dot_x;
        last_y = dot_y;
        joined = !n->line->apart;
    }
}

/* The line's height in the middle of a column, between its neighbours there; false where it has none. */
static bool height_at(const CanvasPlot *p, const CanvasLine *l, double at, double *y)
{
    double x0 = 0, y0 = 0, x1, y1;
    bool before = false;
    for (int i = 0; i < l->n; i++) {
        if (!place(p, l, i, &x1, &y1)) {
            before = false;
            continue;
        }
        if (x1 >= at) {
            *y = before && x1 > x0 ? y0 + (y1 - y0) * (at - x0) / (x1 - x0) : y1;
            return before || x1 - at < 1e-9;
        }
        x0 = x1;
        y0 = y1;
        before = true;
    }
    *y = y0;
    return before && at - x0 < 1e-9;
}

/* Thin blocks at three heights of a cell; in ASCII too, or the line's own mark where there are several lines. */
static void draw_blocks(const Pen *n, const CanvasPlot *p)
{
    static const uint32_t THIRDS[] = {0x2594, 0x2500, 0x2581};
    static const char PLAIN[] = "'-.";
    for (int column = 0; column < n->body.w; column++) {
        double y, at = n->body.w > 1 ? (double)column / (n->body.w - 1) : 0;
        if (!height_at(p, n->line, at, &y) || (n->line->dashed && column % 2))
            continue;
        int third = (int)(y * (3 * n->body.h - 1) + 0.5);
        uint32_t ch = !n->c->ascii && !n->c->marks    ? THIRDS[third % 3]
                      : p->lines > 1 && n->line->mark ? (uint32_t)(unsigned char)n->line->mark
                                                      : (uint32_t)(unsigned char)PLAIN[third % 3];
        canvas_glyph(n->c, n->body.y + third / 3, n->body.x + column, n->line->style, ch);
    }
}

static void add_point(CanvasStrokes *s, double x, double y)
{
    s->point = grow(s->point, &s->point_cap, s->points, sizeof *s->point);
    s->point[s->points][0] = (float)x;
    s->point[s->points++][1] = (float)y;
}

static void keep_stroke(const Pen *n, const CanvasPlot *p)
{
    CanvasStrokes *s = &n->c->strokes;
    size_t first = s->points;
    for (int i = 0; i <= n->line->n; i++) {
        double x = 0, y = 0;
        if (i < n->line->n && place(p, n->line, i, &x, &y)) {
            add_point(s, n->body.x + x * n->body.w, n->body.y + y * n->body.h);
            if (!n->line->apart)
                continue;
        }
        if (s->points > first) {
            s->stroke = grow(s->stroke, &s->stroke_cap, s->strokes, sizeof *s->stroke);
            s->stroke[s->strokes++] = (CanvasStroke){.first = first,
                                                     .count = s->points - first,
                                                     .style = (uint8_t)n->line->style,
                                                     .dashed = n->line->dashed,
                                                     .points = n->line->apart || has_points(p, n->line),
                                                     .body = n->body};
        }
        first = s->points;
    }
}

/* Where the line is made of blocks or marks. */
static void put_points(Canvas *c, Rect body, const CanvasPlot *p, const CanvasLine *l)
{
    double x, y;
    for (int i = 0; i < l->n; i++)
        if (place(p, l, i, &x, &y))
            canvas_glyph(c, body.y + (int)(y * (3 * body.h - 1) + 0.5) / 3, body.x + (int)(x * (body.w - 1) + 0.5),
                         l->style, c->ascii || c->marks ? 'o' : 0x25cf);
}

enum { NAMES_MOST = 64, NAMES_BESIDE = 3 };

/* Where the mark of one of many lines goes: where it ends. */
typedef struct NamePlace {
    int row, column;
    double y;
    const CanvasLine *line;
} NamePlace;

static bool name_place(const Canvas *c, Rect body, const CanvasPlot *p, const CanvasLine *l, NamePlace *out)
{
    double x = 0, y = 0;
    int last = l->n - 1;
    while (last >= 0 && !place(p, l, last, &x, &y))
        last--;
    if (last >= 0)
        *out = (NamePlace){body.y + plot_line(c, body, y), body.x + (int)(x * (body.w - 1) + 0.5), y, l};
    return last >= 0 && l->mark;
}

/* Their rows, with at most `each` in one. False, with nothing changed, where one would be further than `off` away. */
static bool keep_apart(NamePlace at[NAMES_MOST], int n, int each, int off, Rect body)
{
    int row[NAMES_MOST];
    bool near = true;
    for (int i = 0; i < n; i++)
        row[i] = i >= each && at[i].row <= row[i - each] ? row[i - each] + 1 : at[i].row;
    for (int i = n - 1; i >= 0; i--) {
        const int end = i + each < n ? row[i + each] - 1 : body.y + body.h - 1;
        row[i] = row[i] < end ? row[i] : end;
        near = near && row[i] >= body.y && abs(row[i] - at[i].row) <= off;
    }
    for (int i = 0; near && i < n; i++)
        at[i].row = row[i];
    return near;
}

/* Each in the row in which its line ends, beside those that end there, too, the highest first; where that would
 * take too many columns a row off: further it would name another line. Returns how many there are, sorted; *each:
 * of a row. */
static int name_places(const Canvas *c, Rect body, const CanvasPlot *p, NamePlace at[NAMES_MOST], int *each)
{
    NamePlace here;
    int n = 0;
    for (int i = 0, k; i < p->lines && n < NAMES_MOST; i++) {
        if (!name_place(c, body, p, &p->line[i], &here))
            continue;
        for (k = n++; k > 0 && at[k - 1].y > here.y; k--)
            at[k] = at[k - 1];
        at[k] = here;
    }
    for (*each = 1; *each <= NAMES_BESIDE; (*each)++)
        if (keep_apart(at, n, *each, 0, body))
            return n;
    for (*each = 1; *each < n && !keep_apart(at, n, *each, 1, body); (*each)++)
        continue;
    return n;
}

/* Columns of so many in a row: 1 and 2 are not 12. */
static int names_cells(int count)
{
    return 2 * count - 1;
}

/* Columns that they take behind the lines. */
static int names_width(const Canvas *c, Rect r, const CanvasPlot *p)
{
    NamePlace at[NAMES_MOST];
    int each = 0;
    if (!p->numbered || r.w < WIDE || !name_places(c, (Rect){r.y, r.x, r.h - !p->no_x, r.w}, p, at, &each))
        return 0;
    return names_cells(each < NAMES_BESIDE ? each : NAMES_BESIDE);
}

static void put_names(Canvas *c, Rect body, const CanvasPlot *p, int right)
{
    NamePlace at[NAMES_MOST];
    int each, n = name_places(c, body, p, at, &each);
    for (int i = 0, k; i < n; i += k) {
        int column = at[i].column;
        for (k = 0; i + k < n && at[i + k].row == at[i].row; k++)
            column = at[i + k].column > column ? at[i + k].column : column;
        column = column + names_cells(k) > right ? right - names_cells(k) : column;
        for (int j = 0; j < k; j++)
            canvas_glyph(c, at[i].row, column + 1 + 2 * j, at[i + j].line->style,
                         (uint32_t)(unsigned char)at[i + j].line->mark);
    }
}

static void draw_lines(Canvas *c, Rect body, const CanvasPlot *p, int right)
{
    size_t first = c->strokes.strokes;
    Pen n = {c, body, NULL, 0, xcalloc(size_mul((size_t)body.h, (size_t)body.w), sizeof *n.in), 0};
    for (int k = 0; k < p->lines; k++) {
        const int i = p->first_on_top ? p->lines - 1 - k : k;
        n.line = &p->line[i];
        n.drawn = 0;
        n.bit = n.line->aside ? 0 : (uint64_t)1 << (i < 63 ? i : 63);
        if (!canvas_of_dots(c) && p->line[i].apart)
            put_points(c, body, p, &p->line[i]);
        else if (!canvas_of_dots(c))
            draw_blocks(&n, p);
        else {
            draw_dots(&n, p);
            keep_stroke(&n, p);
        }
    }
    share_cells(&n, p);
    free(n.in);
    if (p->numbered)
        put_names(c, body, p, right);
    for (int i = 0; i < p->lines; i++)
        if (!p->numbered && has_points(p, &p->line[i]) && !canvas_of_dots(c))
            put_points(c, body, p, &p->line[i]);
    int dotted = canvas_dotted(c, body);
    for (size_t i = first; i < c->strokes.strokes; i++)
        c->strokes.stroke[i].dotted = dotted;
}

/* --- title, legend, cursor --- */

/* " ─ run 1.25", without a name " ─ 1.25"; of many lines " 3:.85", of one alone its value. */
static void legend_text(const Canvas *c, const CanvasPlot *p, const CanvasLine *l, char out[64])
{
    char number[16] = "", mark[8] = "";
    float y = isnan(p->cursor) ? NAN : l->read ? l->read(l->of, p->cursor) : plot_value(l, p->cursor);
    if (isfinite(y))
        short_number(number, (double)y, p->numbered ? 3 : 4);
    int told = 0;
    for (int i = 0; i < p->lines; i++)
        told += !p->line[i].aside;
    if (told > 1 && !p->numbered && (c->ascii || c->marks) && l->mark)
        snprintf(mark, sizeof mark, "%c", l->mark);
    else if (told > 1 && !p->numbered)
        snprintf(mark, sizeof mark, "%s", l->dashed ? "┄" : "─");
    bool named = *l->name && !p->numbered;
    const char *apart = *mark && !named ? " " : ""; /* a dash before a number reads as a minus */
    utf8_print(out, 64, " %s%s%s%.32s%s%s", mark, apart, named ? " " : "", l->name, named && *number ? " " : "",
               number);
}

/* Do the values of all lines have room behind the title? */
static bool legend_fits(const Canvas *c, const CanvasPlot *p, int room)
{
    char text[64];
    for (int i = 0; i < p->lines; i++) {
        legend_text(c, p, &p->line[i], text);
        room -= utf8_cells(text);
    }
    return room >= 0;
}

/* " 0–11: .64–.91": of a family of which not every line has room, which lines there are and how far their values go. */
static void legend_family(const CanvasPlot *p, char out[64])
{
    const char *first = p->line[0].name, *last = p->line[p->lines - 1].name;
    char least[16] = "", most[16] = "";
    float low = NAN, high = NAN;
    for (int i = 0; i < p->lines && !isnan(p->cursor); i++) {
        const CanvasLine *l = &p->line[i];
        float y = l->read ? l->read(l->of, p->cursor) : plot_value(l, p->cursor);
        low = isnan(low) || y < low ? y : low;
        high = isnan(high) || y > high ? y : high;
    }
    if (isfinite(low) && isfinite(high)) {
        short_number(least, (double)low, 3);
        short_number(most, (double)high, 3);
    }
    utf8_print(out, 64, " %.*s–%s %s%s%s", (int)strcspn(first, ":"), first, last, least, *least ? "–" : "", most);
}

static void draw_legend(Canvas *c, Rect r, const CanvasPlot *p)
{
    int used = canvas_text(c, r.y, r.x, r.w, STYLE_DIM, p->title);
    if (p->numbered && p->lines > 1 && *p->line[0].name && (p->family || !legend_fits(c, p, r.w - used))) {
        char text[64];
        legend_family(p, text);
        if (used + utf8_cells(text) > r.w) /* rather whose they are than how far they go */
            text[strcspn(text, ":")] = '\0';
        if (used + utf8_cells(text) <= r.w)
            canvas_text(c, r.y, r.x + used, r.w - used, STYLE_TEXT, text);
        return;
    }
    for (int i = 0; i < p->lines; i++) {
        char text[64];
        legend_text(c, p, &p->line[i], text);
        if (p->line[i].aside)
            continue;
        if (used + utf8_cells(text) > r.w)
            return;
        used += canvas_text(c, r.y, r.x + used, r.w - used, p->line[i].style, text);
    }
    if (p->rest && used + utf8_cells(p->rest) <= r.w)
        canvas_text(c, r.y, r.x + used, r.w - used, STYLE_DIM, p->rest);
}

Rect plot_draw(Canvas *c, Rect r, const CanvasPlot *p)
{
    if (r.h < 2 || r.w < 2)
        return (Rect){.y = r.y, .x = r.x};
    draw_legend(c, rect_cut(&r, 't', 1), p);
    const int names = names_width(c, r, p);
    r.w -= names;
    Rect body = draw_axes(c, r, p);
    if (!isnan(p->cursor)) {
        int column = body.x + plot_column(p, body, p->cursor);
        for (int y = body.y; y < body.y + body.h; y++)
            canvas_glyph(c, y, column, STYLE_BORDER, 0x2502);
        if (r.h > body.h)
            canvas_glyph(c, body.y + body.h, column, STYLE_CURSOR, 0x25b2);
    }
    draw_lines(c, body, p, body.x + body.w - 1 + names);
    return body;
}
