/* What views draw with: text, boxes, bars, data pixels. Everything goes through cell_put or canvas_at, so nothing
 * leaves the clip. */
#include "tui/canvas/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"

enum { HALF_UPPER = 0x2580, HALF_LOWER = 0x2584, ELLIPSIS = 0x2026, LEVELS = 10 };

/* One code point as it will be drawn: its glyph, and its cells. ASCII text (a sequence) is in plain, else plain is
 * NULL. */
typedef struct Piece {
    uint32_t ch;
    const char *plain;
    int cells; /* 0: combining marks have no cell of their own and are left out */
} Piece;

static Piece piece_next(const Canvas *c, const char **text)
{
    uint32_t ch = utf8_next(text);
    if (ch == '\t' || ch == '\n')
        ch = ' ';
    if (!utf8_printable(ch))
        ch = '?';
    if (ch < 0x7f || !c->ascii || utf8_width(ch) == 0)
        return (Piece){.ch = ch, .cells = utf8_width(ch)};
    const char *plain = ascii_text(ch);
    return (Piece){.plain = plain, .cells = (int)strlen(plain)};
}

/* Cells of the text up to end (NULL: all of it), counting no further than limit + 1. */
static int text_cells(const Canvas *c, const char *text, const char *end, int limit)
{
    int n = 0;
    while (*text && text != end && n <= limit)
        n += piece_next(c, &text).cells;
    return n;
}

static int draw_piece(Canvas *c, int y, int x, Style s, Piece p)
{
    if (!p.plain)
        cell_put(c, y, x, s, p.ch);
    for (int i = 0; p.plain && i < p.cells; i++)
        cell_put(c, y, x + i, s, (unsigned char)p.plain[i]);
    return p.cells;
}

/* Draws [text, end) in width cells, cut with an ellipsis where it does not fit. */
static int draw_run(Canvas *c, int y, int x, int width, Style s, const char *text, const char *end)
{
    if (width <= 0)
        return 0;
    bool fits = text_cells(c, text, end, width) <= width;
    int room = fits ? width : width - 1, used = 0;
    while (*text && text != end) {
        Piece p = piece_next(c, &text);
        if (used + p.cells > room)
            break;
        if (p.cells > 0)
            used += draw_piece(c, y, x + used, s, p);
    }
    if (!fits)
        cell_put(c, y, x + used++, s, c->ascii ? '~' : ELLIPSIS);
    return used;
}

int canvas_label(Canvas *c, int y, int x, int width, Style s, const char *text)
{
    char fitted[512];
    return canvas_text(c, y, x, width, s, utf8_fit(fitted, sizeof fitted, text, width));
}

int canvas_text(Canvas *c, int y, int x, int width, Style s, const char *text)
{
    return draw_run(c, y, x, width, s, text, NULL);
}

int canvas_printf(Canvas *c, int y, int x, int width, Style s, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    utf8_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    return canvas_text(c, y, x, width, s, text);
}

void canvas_right(Canvas *c, int y, int x, int width, Style s, const char *text)
{
    int n = text_cells(c, text, NULL, width);
    int pad = n < width ? width - n : 0;
    canvas_text(c, y, x + pad, width - pad, s, text);
}

/* Where the line that starts at text ends so that it fits, and in *next where the following one starts. */
static const char *line_end(const Canvas *c, const char *text, int width, const char **next)
{
    const char *at = text, *space = NULL;
    int used = 0;
    while (*at && *at != '\n') {
        const char *before = at;
        used += piece_next(c, &at).cells;
        if (used > width) { /* break at the last space, or inside a word that is longer than a line */
            const char *cut = *before == ' ' ? before : space && space > text ? space : before;
            if (cut == text)
                cut = at; /* one glyph wider than the line: it must not stop the wrapping */
            *next = *cut == ' ' ? cut + 1 : cut;
            return cut;
        }
        if (*before == ' ' && *at != '%') /* a number keeps its percent sign */
            space = before;
    }
    *next = *at == '\n' ? at + 1 : at;
    return at;
}

int canvas_wrap(Canvas *c, Rect r, Style s, const char *text)
{
    int line = 0;
    while (r.w > 0 && *text && line < r.h) {
        const char *next;
        const char *end = line_end(c, text, r.w, &next);
        if (line == r.h - 1 && *next) /* the last line says that there is more */
            end = NULL;
        draw_run(c, r.y + line++, r.x, r.w, s, text, end);
        text = next;
    }
    return line;
}

int canvas_wrap_rows(const Canvas *c, int width, const char *text)
{
    int rows = 0;
    while (width > 0 && *text) {
        line_end(c, text, width, &text);
        rows++;
    }
    return rows;
}

/* The part of r inside the clip and the canvas. */
static Rect visible(Canvas *c, Rect r)
{
    Rect old = canvas_clip(c, (Rect){.h = c->h, .w = c->w});
    canvas_clip(c, r);
    Rect seen = c->clip;
    c->clip = old;
    return seen;
}

static uint32_t glyph_of(const Canvas *c, uint32_t ch)
{
    return c->ascii ? (uint32_t)(unsigned char)ascii_char(ch) : ch;
}

void canvas_fill(Canvas *c, Rect r, Style s, uint32_t ch)
{
    ch = glyph_of(c, ch);
    int step = utf8_printable(ch) && utf8_width(ch) == 2 ? 2 : 1;
    Rect v = visible(c, r);
    int left = v.x - (v.x - r.x) % step;
    for (int y = v.y; y < v.y + v.h; y++)
        for (int x = left; x < v.x + v.w; x += step)
            cell_put(c, y, x, s, ch);
}

void canvas_glyph(Canvas *c, int y, int x, Style s, uint32_t ch)
{
    cell_put(c, y, x, s, glyph_of(c, ch));
}

void canvas_mark(Canvas *c, int y, int x, int half, Style s, uint32_t ch)
{
    Cell *k = canvas_at(c, y, x);
    Colour ground = k ? cell_ground(k) : COLOUR_DEFAULT;
    if (k && half >= 0 && cell_is_data(k)) {
        Colour of[2];
        cell_halves(k, &of[0], &of[1]);
        ground = of[half] == COLOUR_DEFAULT ? ground : of[half];
    }
    canvas_glyph(c, y, x, s, ch);
    if (k)
        k->bg = ground;
}

void canvas_ref(Canvas *c, int y, int x, int width, Ref ref)
{
    Rect v = visible(c, (Rect){.y = y, .x = x, .h = 1, .w = width});
    for (int i = 0; v.h && i < v.w; i++)
        canvas_at(c, v.y, v.x + i)->ref = ref;
}

void canvas_attr(Canvas *c, Rect r, uint8_t attrs)
{
    Rect v = visible(c, r);
    for (int y = v.y; y < v.y + v.h; y++)
        for (int x = v.x; x < v.x + v.w; x++) {
            Cell *k = canvas_at(c, y, x);
            k->attrs = (uint8_t)(k->attrs | attrs);
        }
}

Rect canvas_box(Canvas *c, Rect r, const char *title, bool focus)
{
    if (r.h < 2 || r.w < 2)
        return (Rect){.y = r.y, .x = r.x};
    static const uint32_t thin[] = {0x2500, 0x2502, 0x250c, 0x2510, 0x2514, 0x2518};
    static const uint32_t heavy[] = {0x2501, 0x2503, 0x250f, 0x2513, 0x2517, 0x251b};
    static const uint32_t plain[] = {'-', '|', '+', '+', '+', '+'}, plain_focus[] = {'=', '|', '#', '#', '#', '#'};
    const uint32_t *line = c->ascii ? (focus ? plain_focus : plain) : focus ? heavy : thin;
    Style s = focus ? STYLE_BORDER_FOCUS : STYLE_BORDER;
    int y1 = r.y + r.h - 1, x1 = r.x + r.w - 1;
    Rect top = {.y = r.y, .x = r.x, .h = 1, .w = r.w}, side = {.y = r.y, .x = r.x, .h = r.h, .w = 1};
    canvas_fill(c, top, s, line[0]);
    top.y = y1;
    canvas_fill(c, top, s, line[0]);
    canvas_fill(c, side, s, line[1]);
    side.x = x1;
    canvas_fill(c, side, s, line[1]);
    const int at[4][2] = {{r.y, r.x}, {r.y, x1}, {y1, r.x}, {y1, x1}};
    for (int i = 0; i < 4; i++)
        cell_put(c, at[i][0], at[i][1], s, line[2 + i]);
    if (title && *title && r.w >= 5) {
        int used = canvas_text(c, r.y, r.x + 2, r.w - 4, STYLE_TITLE, title);
        cell_put(c, r.y, r.x + 1, s, ' ');
        cell_put(c, r.y, r.x + 2 + used, s, ' ');
    }
    return rect_inset(r, 1);
}

/* The level and sign of a cell that shows two numbers. Same sign: the mean, rounded up. Opposite signs would cancel:
 * the larger wins. */
static void join_levels(Cell *k, int level, int sign)
{
    int old = k->level - 1, old_sign = k->sign;
    if (old_sign * sign < 0) {
        if (level > old) {
            k->level = (uint8_t)(1 + level);
            k->sign = (int8_t)sign;
        }
        return;
    }
    k->level = (uint8_t)(1 + (old + level + 1) / 2);
    k->sign = (int8_t)(old_sign ? old_sign : sign);
}

void canvas_pixel(Canvas *c, int y, int x, int half, Colour colour, int level, int sign, Ref ref)
{
    Cell *k = canvas_at(c, y, x);
    if (!k)
        return;
    level = level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
    sign = (sign > 0) - (sign < 0);
    bool top = k->level && (k->ch == HALF_UPPER || k->ch == ' '),
         bottom = k->level && (k->ch == HALF_LOWER || k->bg != COLOUR_DEFAULT);
    Colour upper = top ? k->fg : COLOUR_DEFAULT, lower = !bottom ? COLOUR_DEFAULT : k->ch == HALF_LOWER ? k->fg : k->bg;
    if (half != 0)
        lower = colour;
    if (half <= 0)
        upper = colour;
    bool join = (half == 0 && bottom && !top) || (half > 0 && top && !bottom);
    Cell old = *k;
    cell_put(c, y, x, STYLE_TEXT, ' ');
    k->block = 0;
    k->level = (uint8_t)(1 + level);
    k->sign = (int8_t)sign;
    k->ref = ref;
    if (join) {
        k->level = old.level;
        k->sign = old.sign;
        join_levels(k, level, sign);
        if (old.ref.run)
            k->ref = old.ref;
        if (half > 0 && !ref_same(ref, k->ref))
            k->below = ref;
    }
    if (upper == COLOUR_DEFAULT) {
        k->ch = HALF_LOWER;
        k->fg = lower;
    } else {
        k->ch = upper == lower ? ' ' : HALF_UPPER;
        k->fg = upper;
        k->bg = lower;
    }
}

void canvas_upper(Canvas *c, int y, int x)
{
    Cell *k = canvas_at(c, y, x);
    if (!k || !k->below.run)
        return;
    k->ch = HALF_UPPER;
    k->bg = COLOUR_DEFAULT;
    k->below = (Ref){0};
    const size_t all = (size_t)c->pixel_h * (size_t)c->pixel_w;
    for (size_t i = (size_t)(c->pixel_h / 2) * (size_t)c->pixel_w; k->block && i < all; i++)
        c->pixels.pixel[all * (k->block - 1) + i] = COLOUR_DEFAULT;
}

void canvas_bar(Canvas *c, int y, int x, int width, double value, Style s, Ref ref)
{
    int parts = c->ascii ? 1 : 8, full = 0;
    if (width <= 0)
        return;
    bool marked = s == STYLE_SELECTED || s == STYLE_CURSOR;
    if (marked) /* ground and glyph change places in these: a bar would be a gap */
        s = STYLE_HEADER;
    if (isnan(value)) {
        canvas_text(c, y, x, width, s, "NaN");
    } else {
        double share = value < 0 ? 0 : value > 1 ? 1 : value;
        full = (int)(share * width * parts + 0.5);
        if (marked && !full) { /* and where there is none, the ground a bar */
            canvas_ref(c, y, x, width, ref);
            return;
        }
        for (int i = 0; i < width; i++) {
            int here = full - i * parts;
            uint32_t ch = here <= 0       ? ' '
                          : here >= parts ? 0x2588
                                          : (uint32_t)(0x2590 - here); /* U+2589 … 258F: 7/8 … 1/8 */
            cell_put(c, y, x + i, s, c->ascii && here > 0 ? '#' : ch);
        }
    }
    canvas_ref(c, y, x, width, ref);
}

int canvas_bar_zero(int x, int width)
{
    return x + (width - 1) / 2;
}

void canvas_bar_around(Canvas *c, int y, int x, int left, int right, double cells, Style s, Style negative, Ref ref)
{
    const int zero = x + left;
    canvas_fill(c, (Rect){y, x, 1, left + 1 + right}, STYLE_TEXT, ' ');
    canvas_glyph(c, y, zero, STYLE_AXIS, 0x2502);
    if (negative == STYLE_SELECTED || negative == STYLE_CURSOR) /* as in canvas_bar */
        negative = STYLE_HEADER;
    if (cells >= 0) {
        canvas_bar(c, y, zero + 1, right, right ? cells / right : 0, s, ref);
    } else {
        int parts = c->ascii ? 1 : 8, full = (int)(fmin(-cells, left) * parts + 0.5);
        for (int i = 0; i < left && full > i * parts; i++) {
            int here = full - i * parts;
            canvas_glyph(c, y, zero - 1 - i, negative, here >= 6 || c->ascii ? 0x2588 : here >= 3 ? 0x2590 : 0x2595);
        }
    }
    canvas_ref(c, y, x, left + 1 + right, ref);
}

void canvas_bar_signed(Canvas *c, int y, int x, int width, double value, Style s, Style negative, Ref ref)
{
    int side = canvas_bar_zero(x, width) - x;
    if (side < 1 || isnan(value))
        canvas_bar(c, y, x, width, value, s, ref);
    else
        canvas_bar_around(c, y, x, side, width - 1 - side, fmin(value, 1) * side, s, negative, ref);
}
