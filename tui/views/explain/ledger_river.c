/* The ledger as a river. Its height over the bed is what stands so far (below it: less than zero); on it stands what a
 * head or MLP adds, under it hangs what one takes, in the same scale. Beside a tributary, thin, what the number really
 * loses without the part; where there is no column for that, a bar across its own at the height of the loss. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum {
    UPPER_EDGE = 0x2594,
    LOWER_EDGE = 0x2581,
    EDGE_AWAY = 2, /* eighths of a cell by which a mark may be off */
    HIGHEST = 96,  /* lines of a river */
    TALL = 5,      /* … that has some to spare */
    PARTS = RIVER_PARTS,
    WIDEST = 9, /* columns of a tributary */
    APART = 3,  /* … between blocks */
    ENDS_NARROW = 4,
    SPRING_NARROW = 2,
    MARGIN_BELOW = 2, /* lines of names */
    PATH_LEAST = 8,   /* lines of a river that has one for its path in words */
    PATH_DRAWN = 14,  /* … that has one more to draw it */
    PATH_TWO = 18,    /* … and a second for its words */
    VOTES_SAID = 23,
    ABOVE = 2,     /* the cursor's tributary in words, the legend */
    LINES_AWAY = 8 /* … of the river between a bar and its number */
};

/* By which the largest are chosen: the larger one of A and B, so that all panels show the same parts. */
static float size_of(const LedgerView *v, NodeId n, size_t cell, float x)
{
    const float *a = v->twins ? session_peek(v->s, SIDE_A, ledger_view_path(v, n)) : NULL,
                *b = a ? session_peek(v->s, SIDE_B, ledger_view_path(v, n)) : NULL;
    return b ? fmaxf(fabsf(a[cell]), fabsf(b[cell])) : fabsf(x);
}

/* What each one wrote, as they stand in the model; false while one is not computed. */
static bool read_all(const LedgerView *v, Tributary *at, int *count)
{
    const LedgerEntry *e;
    int head;
    for (*count = 0; *count < RIVER_MOST && ledger_tributary(v->g, v->l, *count, &e, &head); ++*count) {
        NodeId node = head < 0 ? e->total : e->heads;
        const size_t cell = head < 0 ? 0 : (size_t)head;
        float x;
        if (!ledger_view_value(v, node, cell, &x))
            return false;
        at[*count] = (Tributary){e, head, *count, x, NAN, 0, node, cell, 0, size_of(v, node, cell, x)};
    }
    return true;
}

/* A block, or an attention of several in one, begins with the second. */
static bool begins_block(const Tributary *a, const Tributary *b)
{
    return b->e != a->e && (b->e->layer != a->e->layer || b->e->kind != LEDGER_MLP);
}

static void reach(River *r, float base, float by)
{
    if (!isfinite(base) || !isfinite(by))
        return;
    float edge = by > 0 ? fmaxf(base, 0) + by : fminf(base, 0) + by;
    r->low = fminf(r->low, edge);
    r->high = fmaxf(r->high, edge);
}

static float lost_of(const LedgerView *v, const Tributary *t)
{
    return t->number < 0 || !v->measured ? NAN : session_ledger_effect(v->s, v->side, TAKEN_LINES, t->e, t->head);
}

bool river_is_here(const River *r, const Tributary *t)
{
    return r->here.e && (r->blocks ? t->e->layer == r->here.e->layer : t->number == r->here.number);
}

static bool river_open(const LedgerView *v, int columns, River *r)
{
    Tributary all[RIVER_MOST];
    int count;
    *r = (River){.v = v};
    float value, start = 0;
    if (!ledger_view_value(v, v->l->value, 0, &value) ||
        (v->l->start != NO_NODE && !ledger_view_value(v, v->l->start, 0, &start)) || !read_all(v, all, &count) ||
        columns < 2 || !count)
        return false;
    r->start = start;
    const int here = ledger_here(v->s, v->side);
    if (here >= 0 && here < count) {
        r->here = all[here];
        r->here.lost = lost_of(v, &r->here);
    }
    river_choose(r, all, count, columns);
    for (int i = 0; i < r->count; i++)
        r->at[i].group = r->groups += i > 0 && begins_block(&r->at[i - 1], &r->at[i]);
    r->wide = columns / r->count > WIDEST ? WIDEST : columns / r->count;
    r->apart = r->groups && r->wide ? clamp((columns - r->count * r->wide) / r->groups, 0, APART) : 0;
    float so_far = r->start;
    reach(r, 0, r->start);
    for (int i = 0; i < r->count; i++) {
        Tributary *t = &r->at[i];
        t->before = so_far;
        t->lost = lost_of(v, t);
        reach(r, so_far, t->wrote);
        reach(r, so_far, t->lost);
        so_far += t->wrote;
        reach(r, 0, so_far);
    }
    r->end = value;
    return r->wide > 0;
}

/* --- the water --- */

/* Losses are marked where a part has one column for both. */
static bool has_marks(const River *r, Rect room)
{
    return r->v->measured && r->wide == 1 && room.w >= RIVER_MARKED;
}

static Bed bed_of(const River *r, Rect room)
{
    Bed b = {.r = room};
    const bool both = session_compares(r->v->s) && !r->v->less && r->wide == 1 && room.w >= RIVER_MARKED; /* one bed */
    const int mark = (has_marks(r, room) || both) && room.h > TALL; /* may need a line beyond highest and lowest */
    const int h = room.h - mark - (mark && r->low < 0);
    for (int below = r->low < 0; below < h && (below == (r->low < 0) || r->low < 0); below++) { /* the tallest */
        float scale = r->high > 0 ? (float)(PARTS * (h - below)) / r->high : INFINITY;
        scale = r->low < 0 ? fminf(scale, (float)(PARTS * below) / -r->low) : scale;
        if (below > (r->low < 0) && !(scale > b.scale))
            break;
        b.zero = PARTS * (below + (mark && r->low < 0));
        b.scale = isfinite(scale) ? scale : 0; /* a dry bed */
    }
    return b;
}

int river_level(const Bed *b, float x)
{
    float most = (float)(b->r.h * PARTS), level = (float)b->zero + floorf(x * b->scale + 0.5f);
    return isnan(level) ? b->zero : (int)fminf(fmaxf(level, 0), most);
}

/* Orange for the number, blue against it, as votes are. */
static Colour water_colour(const Paint *p, Water w, bool above)
{
    static const float DEPTH[] = {[STREAM] = 0.3f, [ADDS] = 0.8f, [TAKES] = 0.8f, [LOST] = 0};
    ColourScale scale = colour_scale_of_range(p, -1, 1);
    if (w == LOST || p->mode < MODE_256)
        return w == LOST && p->mode >= MODE_256 ? style_look(STYLE_DIM, p->mode, p->light).fg : COLOUR_DEFAULT;
    return colour_scale_colour(&scale, w == TAKES || (w == STREAM && !above) ? -DEPTH[w] : DEPTH[w]);
}

static const Style WATER_STYLE[] = {
    [DRY] = STYLE_TEXT, [STREAM] = STYLE_TEXT, [ADDS] = STYLE_GOOD, [TAKES] = STYLE_NEGATIVE, [LOST] = STYLE_DIM};

/* Without many colours each has a texture of its own, whole cells of it. */
static uint32_t texture(const Paint *p, Water w)
{
    static const uint32_t SHADE[] = {
        [DRY] = ' ', [STREAM] = 0x2591, [ADDS] = 0x2588, [TAKES] = 0x2593, [LOST] = 0x2502};
    static const char PLAIN[] = {[DRY] = ' ', [STREAM] = '.', [ADDS] = '+', [TAKES] = '-', [LOST] = '|'};
    return p->c->ascii ? (uint32_t)PLAIN[w] : SHADE[w];
}

static uint32_t lost_glyph(const Paint *p)
{
    return p->c->ascii ? '=' : 0x2501;
}

void river_put_key(const Paint *p, int y, int x, Water w, bool above, bool mark)
{
    canvas_glyph(p->c, y, x, mark ? STYLE_TEXT : WATER_STYLE[w],
                 mark                                ? lost_glyph(p)
                 : p->mode < MODE_256 || p->c->ascii ? texture(p, w)
                                                     : 0x2588);
    Cell *k = canvas_at(p->c, y, x);
    if (k && !mark)
        k->fg = water_colour(p, w, above);
}

/* A cell has no third colour: where two waters leave some of it dry, they fill it if what is dry is the least of the
 * three, else the larger one stands for both. Either way the height is right, or less than half of a cell too much. */
static void to_two(const uint8_t from[PARTS], uint8_t e[PARTS])
{
    int ends[PARTS], runs = 0;
    memcpy(e, from, PARTS);
    for (int i = 0; i < PARTS; i++)
        if (i + 1 == PARTS || e[i] != e[i + 1])
            ends[runs++] = i + 1;
    if (runs < 3)
        return;
    const bool up = e[0] != DRY; /* dry above */
    const int dry = up ? PARTS - ends[1] : ends[0], edge = ends[1] - ends[0], inner = up ? ends[0] : PARTS - ends[1];
    const uint8_t at_edge = e[ends[0]], within = up ? e[0] : e[PARTS - 1];
    const bool fills = dry <= edge && dry <= inner;
    for (int i = 0; i < PARTS; i++)
        if (fills ? e[i] == DRY : e[i] != DRY)
            e[i] = fills || edge >= inner ? at_edge : within;
}

/* A cell of eighths from below: of one water from its lower edge on an eighth block, of two that fill it with the upper
 * one as ground. What hangs from the upper edge has blocks of one, four and eight. */
static void put_cell(const Paint *p, int y, int x, const uint8_t parts[PARTS], bool above, Ref ref[LOST + 1])
{
    uint8_t e[PARTS];
    to_two(parts, e);
    int filled = 0, low = 0;
    for (int i = 0; i < PARTS; i++) {
        filled += e[i] != DRY;
        low += e[i] == e[0] && low == i;
    }
    Water lower = (Water)e[0], upper = (Water)e[PARTS - 1], most = lower != DRY ? lower : upper;
    if (!filled)
        return;
    if (p->mode < MODE_256 || p->c->ascii) {
        most = lower != DRY && low >= PARTS / 2 ? lower : upper != DRY ? upper : (Water)e[PARTS / 2];
        if (filled >= PARTS / 2)
            canvas_glyph(p->c, y, x, WATER_STYLE[most], texture(p, most));
    } else {
        uint32_t ch = (uint32_t)(0x2580 + low);
        canvas_glyph(p->c, y, x, WATER_STYLE[most], ch);
        Cell *k = canvas_at(p->c, y, x);
        Water second = lower != DRY && filled == PARTS && low < PARTS ? (Water)e[low] : DRY;
        if (k)
            k->fg = water_colour(p, most, above);
        if (k && lower == DRY) /* what hangs: the block below it in the ground's colour */
            k->attrs |= ATTR_REVERSE;
        if (k && second != DRY)
            k->bg = water_colour(p, second, above);
        most = second != DRY && second != STREAM ? second : most;
    }
    canvas_ref(p->c, y, x, 1, ref[most]);
}

/* One column: the stream, and from its surface or its bed a tributary. */
static void put_column(const Paint *p, const Bed *b, int x, float stream, float by, Water up, Water down,
                       Ref of[LOST + 1])
{
    uint8_t e[HIGHEST * PARTS] = {0};
    bool above = stream >= 0;
    int s = river_level(b, stream), from = s < b->zero ? s : b->zero, to = s < b->zero ? b->zero : s;
    for (int i = from; i < to; i++)
        e[i] = STREAM;
    int base = by > 0 ? to : from, tip = river_level(b, (by > 0 ? fmaxf(stream, 0) : fminf(stream, 0)) + by);
    for (int i = base; i < tip; i++)
        e[i] = (uint8_t)up;
    for (int i = tip; i < base && by < 0; i++)
        e[i] = (uint8_t)down;
    for (int k = 0; k < b->r.h; k++)
        put_cell(p, b->r.y + b->r.h - 1 - k, x, e + k * PARTS, above, of);
}

int river_left(Rect room)
{
    return room.w < RIVER_NARROW ? SPRING_NARROW : RIVER_SPRING;
}

static int columns_of(Rect room)
{
    return room.w - (room.w < RIVER_NARROW ? ENDS_NARROW : RIVER_ENDS);
}

int river_column(const River *r, Rect room, int i)
{
    int after = i < r->count ? r->at[i].group : r->groups;
    return room.x + river_left(room) + i * r->wide + after * r->apart;
}

Ref river_ref(const LedgerView *v, NodeId n, size_t cell)
{
    Shown shown;
    return n != NO_NODE && shown_open(v->s, v->side, ledger_view_path(v, n), &shown) ? shown_ref(&shown, cell)
                                                                                     : (Ref){0};
}

/* Of what it wrote: beside it is one of what is lost, and one between it and the next where there is room. */
int river_own(const River *r, const Tributary *t)
{
    int own = r->wide - (r->wide > 2) - (r->wide > 1 && !isnan(t->lost));
    return own > 0 ? own : 1;
}

static bool is_stream(const Paint *p, Colour colour)
{
    return colour == water_colour(p, STREAM, false) || colour == water_colour(p, STREAM, true);
}

/* Is a cell filled by one water, and by one that is no stream? */
static bool is_full(const Cell *k)
{
    return k && k->ch == 0x2588 && !(k->attrs & ATTR_REVERSE);
}
static bool is_tributary(const Paint *p, const Cell *k)
{
    return is_full(k) && !is_stream(p, k->fg);
}

bool river_is_mark(const Paint *p, const Cell *k)
{
    return k->ch == lost_glyph(p) || /* neither the bed nor water */
           ((k->ch == LOWER_EDGE || k->ch == UPPER_EDGE) && k->style == STYLE_TEXT && k->fg == COLOUR_DEFAULT);
}

/* Where a part has one column for both: how far its loss would reach, over what stands there. In the cell where its
 * water ends there is no room for both: then at the edge of the next, the inner one where less is lost than was
 * written, and nowhere where that is too far off: the loss of the one in focus stands in words. */
static void put_lost_mark(const Paint *p, const River *r, const Bed *b, int i)
{
    const Tributary *t = &r->at[i];
    const bool up = t->lost > 0;
    float from = up ? fmaxf(t->before, 0) : fminf(t->before, 0);
    const int level = river_level(b, from + t->lost), line = clamp((level - up) / PARTS, 0, b->r.h - 1);
    int y = b->r.y + b->r.h - 1 - line, x = river_column(r, b->r, i);
    Cell *k = canvas_at(p->c, y, x);
    const int over = level - PARTS * line; /* the cell's lower edge */
    uint32_t glyph = p->c->ascii || (over > EDGE_AWAY && over < PARTS - EDGE_AWAY) ? lost_glyph(p)
                     : over <= EDGE_AWAY                                           ? LOWER_EDGE
                                                                                   : UPPER_EDGE;
    if (!k || isnan(t->lost) || fabsf(t->lost) * b->scale < 1)
        return;
    if (k->ch > ' ' && !is_full(k)) {
        const bool inside = t->lost * t->wrote > 0 && fabsf(t->lost) < fabsf(t->wrote), above = inside != up;
        y += above ? -1 : 1;
        const Cell *next = y < b->r.y || y >= b->r.y + b->r.h ? NULL : canvas_at(p->c, y, x);
        if ((above ? PARTS - over : over) > EDGE_AWAY || !next || (inside ? !is_tributary(p, next) : next->ch > ' '))
            return;
        if (!p->c->ascii)
            glyph = above ? LOWER_EDGE : UPPER_EDGE;
        k = canvas_at(p->c, y, x);
    }
    /* as tall as it is, to half a cell */
    const uint32_t eighths = k->ch - 0x2580, part = k->attrs & ATTR_REVERSE ? PARTS - eighths : eighths;
    const bool full = k->ch > ' ' && (is_full(k) || k->bg != COLOUR_DEFAULT || 2 * part >= PARTS || p->mode < MODE_256);
    const Colour under = is_stream(p, k->fg) && k->bg != COLOUR_DEFAULT ? k->bg : k->fg;
    canvas_glyph(p->c, y, x, STYLE_TEXT, glyph);
    k->attrs = 0;
    if (full)
        k->bg = under;
}

static void put_water(const Paint *p, const River *r, const Bed *b)
{
    Ref of[LOST + 1] = {{0}};
    of[STREAM] = river_ref(r->v, r->v->l->start, 0);
    for (int x = b->r.x; x < river_column(r, b->r, 0); x++)
        put_column(p, b, x, r->start, 0, DRY, DRY, of);
    for (int i = 0; i < r->count; i++) {
        const Tributary *t = &r->at[i];
        int x = river_column(r, b->r, i), lost = r->wide > 1 && !isnan(t->lost), own = river_own(r, t);
        of[ADDS] = of[TAKES] = river_ref(r->v, t->node, t->cell);
        int end = river_column(r, b->r, i + 1);
        for (int k = 0; k < r->wide; k++)
            if (k < own)
                put_column(p, b, x + k, t->before, t->wrote, ADDS, TAKES, of);
            else if (k == own && lost)
                put_column(p, b, x + k, t->before, t->lost, LOST, LOST, of);
            else
                put_column(p, b, x + k, t->before, 0, DRY, DRY, of);
        if (i + 1 == r->count || r->at[i + 1].e != t->e)
            of[STREAM] = river_ref(r->v, t->e->so_far, 0);
        for (x += r->wide; x < end; x++)
            put_column(p, b, x, t->before + t->wrote, 0, DRY, DRY, of);
    }
    for (int x = river_column(r, b->r, r->count), k = 0; k < 2; k++)
        put_column(p, b, x + k, r->end, 0, DRY, DRY, of);
    for (int i = 0; i < r->count && has_marks(r, b->r); i++)
        put_lost_mark(p, r, b, i);
}

/* In a narrow pane A and B are drawn alike: what is lost is known of B only. */
static LedgerView alike(LedgerView v, Rect room)
{
    v.measured = v.measured && !(session_compares(v.s) && room.w < RIVER_MARKED);
    return v;
}

/* Are they drawn nowhere in A and B, with a line to spare to say so? */
static bool lacks_losses(const LedgerView *v, Rect room)
{
    return session_compares(v->s) && !v->less && room.w < RIVER_MARKED && room.h >= PATH_DRAWN &&
           ledger_view(v->s, SIDE_B).measured;
}

/* Of the same reach as the other side's, where two are compared. */
static void share_reach(const LedgerView *v, River *r, Rect room)
{
    River other;
    for (int side = SIDE_A; session_compares(v->s) && !v->less && side <= SIDE_B; side++) {
        LedgerView of = alike(ledger_view(v->s, (Side)side), room);
        if (side == (int)v->side || !of.l || !river_open(&of, columns_of(room), &other))
            continue;
        r->low = fminf(r->low, other.low);
        r->high = fmaxf(r->high, other.high);
    }
}

/* Has A or B a bar that begins at 0 against the water? A says it for both, B what it alone knows. */
static bool either_against(const LedgerView *v, Rect room)
{
    River of;
    bool is = false;
    for (int side = SIDE_A; side <= SIDE_B && !is; side++) {
        const LedgerView each = alike(ledger_view(v->s, (Side)side), room);
        is = each.l && river_open(&each, columns_of(room), &of) && river_against(&of);
    }
    return is;
}

/* In the line over the water, before the first value that stands in it. */
static void put_against_over(const Paint *p, River *r, Rect bed)
{
    Rect line = {bed.y - 1, bed.x, 1, bed.w};
    for (int x = 0; x < line.w; x++)
        if (canvas_at(p->c, line.y, line.x + x) && canvas_at(p->c, line.y, line.x + x)->ch > ' ')
            line.w = x - 1; /* a blank before it */
    if (river_against(r))
        river_put_against(p, r, line, 0);
}

static bool river_in(const LedgerView *v, Rect room, River *r)
{
    return room.h > ABOVE + MARGIN_BELOW + 2 && room.w > ENDS_NARROW && river_open(v, columns_of(room), r);
}

bool ledger_draw_river(const Paint *p, const LedgerView *of, Rect room, bool focus)
{
    River r;
    const LedgerView drawn = alike(*of, room), *v = &drawn;
    if (!river_in(v, room, &r)) {
        float sum;
        if (ledger_view_value(v, v->l->sum, 0, &sum))
            ledger_draw_largest(p, v, room);
        else
            canvas_text(p->c, room.y, room.x, room.w, STYLE_DIM, "computing…");
        return false;
    }
    share_reach(v, &r, room);
    const bool way = session_ledger_via(v->s, v->side, 0) && !v->less, low = room.h <= PATH_LEAST + 2,
               two = way && room.h >= PATH_DRAWN;
    const int words = two ? river_path_lines(&r, room.w, room.h >= PATH_TWO ? 2 : 1) : 1;
    river_put_here(p, &r, rect_cut(&room, 't', 1), way && room.w < RIVER_NARROW && !two);
    const bool told = (!way || !low) /* the way takes its line where there is none for both */
                      && river_put_legend(p, &r, rect_cut(&room, 't', 1));
    if (way)
        river_put_path(p, &r, rect_cut(&room, 't', words + two));
    else if (v->elsewhere) { /* in the line of their paths */
        const Rect line = rect_cut(&room, 't', 1);
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM,
                    line.w >= VOTES_SAID ? "votes' map: z in A or B" : "votes' map: z");
    }
    if (lacks_losses(v, room)) {
        const Rect line = rect_cut(&room, 't', 1);
        if (v->side == SIDE_A && either_against(v, room))
            river_put_against(p, &r, line, 0);
        else
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM,
                        line.w >= VOTES_SAID ? "lost: zoom B with z" : "lost: zoom B, z");
    }
    Rect names = rect_cut(&room, 'b', MARGIN_BELOW);
    if (!told || river_numbered(&r, room))
        river_put_letters(p, &r, &names, &room);
    rect_cut(&room, 't', 1); /* for the value of the highest, and the lowest */
    if (r.low < 0)
        rect_cut(&room, 'b', 1);
    rect_cut(&room, 't', room.h > HIGHEST ? room.h - HIGHEST : 0);
    Bed b = bed_of(&r, room);
    put_water(p, &r, &b);
    for (int x = room.x, y = room.y + room.h - b.zero / PARTS - 1; x < river_column(&r, room, r.count) + 2; x++)
        if (canvas_at(p->c, y, x) && canvas_at(p->c, y, x)->ch <= ' ')
            canvas_glyph(p->c, y, x, STYLE_BORDER, p->c->ascii ? '_' : 0x2581); /* the bed */
    const int line = room.y + room.h - b.zero / PARTS - 1, after = river_column(&r, room, r.count) + 2;
    const Cell *bed = canvas_at(p->c, line, room.x);
    if (after < room.x + room.w)
        canvas_text(p->c, line, after, 1, STYLE_AXIS, "0");
    else if (bed && bed->style == STYLE_BORDER) /* no room behind it */
        canvas_text(p->c, line, room.x, 1, STYLE_AXIS, "0");
    river_put_values(p, &r, &b);
    put_against_over(p, &r, room);
    river_put_names(p, &r, room, names.y, focus);
    return true;
}

int ledger_river_at(const LedgerView *v, Rect room, int x)
{
    River r;
    for (int i = 0; river_in(v, room, &r) && i < r.count; i++)
        if (x >= river_column(&r, room, i) && x < river_column(&r, room, i) + r.wide)
            return r.at[i].number;
    return -1;
}

bool river_of_all(const LedgerView *v, River *r)
{
    return river_open(v, 2 * RIVER_MOST, r);
}

Colour river_colour(const Paint *p, float wrote)
{
    return water_colour(p, wrote < 0 ? TAKES : ADDS, true);
}
