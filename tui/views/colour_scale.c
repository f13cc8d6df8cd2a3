/* From a value to a colour, and the bar that says so. */
#include "tui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "tui/views/spread.h"

enum {
    BEYOND = 13,
    BEYOND_BRIEF = 8,
    NAN_CELLS = 6,
    SHORT_END = 5
}; /* columns for what is beyond an end of a clipped scale; of "  own"; of an end where there is little room */

static MapId map_automatic(const Paint *p, bool is_signed)
{
    if (p->light)
        return is_signed ? CM_VIK : CM_BLUE_LIGHT;
    return is_signed ? CM_BLUE_ORANGE : CM_MAGMA;
}

/* The map that the reader chose serves every kind of value: a sequential one runs from the smallest to the largest, a
 * signed one has zero in its middle. Left to itself the scale is signed where a value is negative. */
ColourScale colour_scale_of_range(const Paint *p, float low, float high)
{
    const LookAt *look = &p->s->look;
    ColourScale s = {.mode = p->mode, .light = p->light};
    if (look->locked) {
        low = look->low;
        high = look->high;
    }
    s.is_signed = low < 0;
    if (look->map[0] && colourmap_find(look->map, &s.map))
        s.is_signed = colourmap_signed(s.map);
    else
        s.map = map_automatic(p, s.is_signed);
    s.high = s.is_signed ? fmaxf(fabsf(low), fabsf(high)) : high;
    s.low = s.is_signed ? -s.high : low;
    return s;
}

ColourScale colour_scale_of_spread(const Paint *p, Side side, const Spread *s)
{
    float low = s->least, high = s->most;
    if (side == SIDE_DIFF) /* a difference always has its zero in the middle */
        low = -(high = fmaxf(fabsf(low), fabsf(high)));
    else if (low > 0 &&
             (low < high / 2 || !(low < high))) /* zero is the dark end unless the values are crowded far from it */
        low = 0;
    bool far = !p->s->look.locked && s->common > 0 && fmaxf(fabsf(low), fabsf(high)) > 2 * s->common;
    float other = fminf(fabsf(s->least), fabsf(s->most)), /* the side that is not far stays whole */
        end = other > s->common && other <= 2 * s->common && s->least < 0 && s->most > 0 ? other : s->common;
    ColourScale scale = colour_scale_of_range(p, far ? fmaxf(low, -end) : low, far ? fminf(high, end) : high);
    scale.clipped = far;
    scale.least = s->least;
    scale.most = s->most;
    scale.diff = side == SIDE_DIFF;
    scale.shared = s->shared;
    scale.nans = s->nans > 0;
    scale.own = p->s->compare == COMPARE_SIDES && side != SIDE_DIFF && !s->shared;
    return scale;
}

ColourScale colour_scale_for(const Paint *p, Side side, NodeId n, const float *values, size_t count)
{
    (void)n;
    Spread s = spread_of(values, count);
    return colour_scale_of_spread(p, side, &s);
}

/* A share 0 … 1 of the highest value, as a share of the decades below it. */
static double by_decades(double share)
{
    double at = share > 0 ? 1 + dm_log(share < 1e-30 ? 1e-30 : share) / (SCALE_DECADES * dm_log(10)) : 0;
    return at < 0 ? 0 : at > 1 ? 1 : at;
}

double colour_scale_share(const ColourScale *s, float x)
{
    double high = fabs((double)s->high), low = fabs((double)s->low), most = low > high ? low : high,
           share = most > 0 ? fabs((double)x) / most : 0;
    if (isnan(x))
        return (double)x;
    share = share > 1 ? 1 : share;
    share = s->log ? by_decades(share) : share;
    return x < 0.0f ? s->is_signed ? -share : 0 : share;
}

const char *colour_scale_word(const Session *s, bool both)
{
    static const char *const WORDS[RANGES] = {"one scale for A and B (r: each its own)",
                                              "A and B each on its own scale",
                                              "log scale", [RANGE_HEADS] = "one scale for A and B"};
    return s->look.locked ? "locked scale" : both || s->look.range == RANGE_LOG ? WORDS[s->look.range] : "";
}

/* 0 … 1, or NaN. */
static double position(const ColourScale *s, float x)
{
    double low = (double)s->low, range = (double)s->high - low;
    if (isnan(x))
        return (double)x;
    if (s->log && range > 0) {
        double share = colour_scale_share(s, x);
        return s->is_signed ? 0.5 + share / 2 : share;
    }
    if (!(range > 0))
        return s->is_signed ? 0.5 : 0;
    double at = ((double)x - low) / range;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    if (s->root && s->is_signed) /* on either side of zero */
        return 0.5 + copysign(sqrt(fabs(2 * at - 1)), at - 0.5) / 2;
    return s->root ? sqrt(at) : at;
}

/* Beyond the ends of a clipped scale: colours that no map has. */
static Colour beyond_colour(const ColourScale *s, bool above)
{
    return s->light ? above ? 0xd000d0 : 0x5000d0 : above ? 0x00e676 : 0x00d0ff;
}

Colour colour_scale_colour(const ColourScale *s, float x)
{
    if (s->waits && isnan(x))
        return s->light ? 0xc6c6c6 : 0x3a3a3a;
    if (s->clipped && (x > s->high || x < s->low))
        return beyond_colour(s, x > s->high);
    return colourmap_colour(s->map, s->mode, position(s, x));
}

PoolKind colour_scale_pool(const Paint *p, const ColourScale *s)
{
    PoolKind kind = p->s->look.pool_kind;
    return kind == POOL_MAX && (s->is_signed || s->low < 0) ? POOL_ABSMAX : kind; /* in whatever map was chosen */
}

const char *colour_scale_pool_word(const Paint *p, const ColourScale *s)
{
    static const char *const KINDS[POOL_KINDS] = {"max", "mean", "absmax"};
    return KINDS[colour_scale_pool(p, s)];
}

int colour_scale_level(const ColourScale *s, float x)
{
    double at = position(s, x);
    if (isnan(at))
        return 0;
    if (s->is_signed)
        at = fabs(at - 0.5) * 2;
    return (int)(at * 9 + 0.5);
}

int colour_scale_sign(const ColourScale *s, float x)
{
    return s->is_signed && !isnan(x) ? (x > 0) - (x < 0) : 0;
}

/* " █ 16.7": the colour of what is beyond an end of the scale, and how far it goes. Returns the columns used. */
static int put_beyond(const Paint *p, const ColourScale *s, int y, int x, int each)
{
    int used = 0;
    for (int above = 1; above >= 0; above--) {
        float end = above ? s->most : s->least;
        char number[16];
        if (!s->clipped || (above ? !(end > s->high) : !(end < s->low)))
            continue;
        number_text(number, sizeof number, end, each < BEYOND ? 5 : 7);
        canvas_pixel(p->c, y, x + used + 1, -1, colour_scale_colour(s, end), colour_scale_level(s, end),
                     colour_scale_sign(s, end), (Ref){0});
        used += 2 + canvas_printf(p->c, y, x + used + 2, each - 2, STYLE_DIM, "%s%s",
                                  each >= BEYOND ? " to "
                                  : above        ? "≤"
                                                 : "≥",
                                  number);
    }
    return used;
}

/* "  locked", or what else is to be known of the scale; "": nothing. */
static const char *kind_word(const Paint *p, const ColourScale *s)
{
    return p->s->look.locked ? "  locked"
           : s->log          ? "  log"
           : s->root         ? p->c->ascii ? "  root" : "  √ scale"
           : s->shared       ? "  shared"
           : s->own          ? "  own"
           : s->diff         ? "  +: more in A"
                             : "";
}

/* The same, of a root of A − B which sign A has too, in as much of the room as leaves it its colours: that it is a root
 * is said always. */
static const char *brief_kind(const Paint *p, const ColourScale *s, int room)
{
    enum { CELLS = 4, CELLS_SIGNS = 7 };
    static const char *const SIGNS[] = {"  √ scale, +: more in A", "  √  +: more in A", " √ +: A"};
    const char *kind = kind_word(p, s);
    const bool both = s->root && s->diff && !s->log && !p->s->look.locked && !p->c->ascii;
    for (size_t i = 0; both && i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (room - utf8_cells(SIGNS[i]) >= CELLS_SIGNS)
            return SIGNS[i];
    if (room - utf8_cells(kind) >= CELLS)
        return kind;
    if (!s->root || s->log || p->s->look.locked || p->c->ascii)
        return "";
    return room - 2 >= CELLS ? " √" : room - 1 >= CELLS - 1 ? "√" : "";
}

/* The place between the ends whose colour is so far along the map: a root is steep at 0, and evenly spaced values would
 * leave out the dark colours that fill what is drawn with it. */
static double at_share(const ColourScale *s, double along)
{
    if (!s->root || s->log)
        return along;
    const double from = 2 * along - 1;
    return s->is_signed ? 0.5 + from * fabs(from) / 2 : along * along;
}

void colour_scale_bar(const Paint *p, const ColourScale *s, int y, int x, int width)
{
    char low[16], high[16], name[48];
    if (!(s->high > s->low) && s->high == 0.0f) { /* a part that was switched off, or a difference of equals */
        canvas_text(p->c, y, x, width, STYLE_DIM,
                    s->nans   ? "all else is 0; here and there NaN"
                    : s->diff ? "0: A and B are the same"
                              : "all of it is 0");
        return;
    }
    const float unit = s->points ? 100 : 1;
    const int digits = s->points ? SHORT_END : 9;
    number_text(low, sizeof low, unit * s->low, digits);
    number_text(high, sizeof high, unit * s->high, digits - (s->points && s->low < 0)); /* as many as beside the sign */
    const bool cut = s->clipped || s->capped;
    const char *below = cut && s->least < s->low ? "≤" : "", *above = cut && s->most > s->high ? "≥" : "";
    const int marks = s->capped ? utf8_cells(below) + utf8_cells(above) : 0;
    int ends = (int)strlen(low) + (int)strlen(high) + marks;
    int beyond = s->clipped ? (s->most > s->high) + (s->least < s->low) : 0,
        part = width - ends - 6 < beyond * BEYOND ? BEYOND_BRIEF : BEYOND;
    const int nan = s->nans && width - ends - 2 - beyond * part >= NAN_CELLS + 3 ? NAN_CELLS : 0;
    int cells = width - ends - 2 - beyond * part - nan;
    snprintf(name, sizeof name, "%s", s->root && s->diff ? brief_kind(p, s, cells) : kind_word(p, s));
    int named = utf8_cells(name);
    cells -= named;
    if (cells < 6) { /* as much of it as leaves the scale its colours */
        snprintf(name, sizeof name, "%s", brief_kind(p, s, cells + named));
        cells += named - utf8_cells(name);
    }
    if (cells < 3) { /* fewer digits before no colours */
        number_text(low, sizeof low, unit * s->low, SHORT_END);
        number_text(high, sizeof high, unit * s->high, SHORT_END - (s->low < 0)); /* as many as beside the sign */
        cells += *low != '#' && *high != '#' ? ends - marks - (int)strlen(low) - (int)strlen(high) : 0;
        if (!*name) {
            snprintf(name, sizeof name, "%s", brief_kind(p, s, cells));
            cells -= utf8_cells(name);
        }
    }
    if (cells < 3) { /* numbers alone, with as many digits as there is room for */
        int each = (width - (p->c->ascii ? 5 : 3) - (*below || *above ? 2 : 0)) / 2;
        each = each < 9 ? each : 9;
        number_text(low, sizeof low, unit * s->low, each);
        number_text(high, sizeof high, unit * s->high, each - (s->low < 0)); /* as many as beside the sign */
        if (*low != '#' && *high != '#')
            canvas_printf(p->c, y, x, width, STYLE_DIM, "%s%s … %s%s", below, low, above, high);
        else if (s->low == -s->high && !*below && !*above && width > 4) {
            number_text(high, sizeof high, unit * s->high, width < 7 ? width - 1 : 5);
            const char *of = utf8_cells(high) + 5 + p->c->ascii <= width ? "map " : ""; /* a "±" is "+-" there */
            canvas_printf(p->c, y, x, width, STYLE_DIM, "%s±%s", of, high);
        }
        return;
    }
    if (cells > 40)
        cells = 40;
    cells -= s->root && s->is_signed && cells > 4 && cells % 2 == 0; /* 0, of which most are near, has a cell */
    x += canvas_printf(p->c, y, x, width, STYLE_DIM, "%s%s", s->capped ? below : "", low) + 1;
    for (int i = 0; i < cells; i++, x++) {
        const double share = at_share(s, ((double)i + 0.5) / cells);
        float value = (float)((double)s->low + ((double)s->high - (double)s->low) * share);
        canvas_pixel(p->c, y, x, -1, colour_scale_colour(s, value), colour_scale_level(s, value),
                     colour_scale_sign(s, value), (Ref){0});
    }
    x += 1 + canvas_printf(p->c, y, x + 1, width, STYLE_DIM, "%s%s", s->capped ? above : "", high);
    x += put_beyond(p, s, y, x, part);
    if (nan) {
        canvas_pixel(p->c, y, x + 1, -1, colour_scale_colour(s, NAN), colour_scale_level(s, NAN), 0, (Ref){0});
        canvas_text(p->c, y, x + 3, nan - 3, STYLE_DIM, "NaN");
        x += nan;
    }
    canvas_text(p->c, y, x, width, STYLE_DIM, name);
}
