/* The arrangement: as many places as there is room for, side by side or below each other. */
#include "tui/views/learned/alike_room.h"

#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/screens.h"
#include "tui/views/attention/word_row.h"

enum { COLUMNS_MOST = 6, MAPS_MOST = 8, MAP_LEAST = 11, GAP_MOST = 3, PICTURE_FROM = 60, LABEL_MOST = 14, NAMED = 10 };
enum { PITCH_MOST = 5, PITCH_TIGHT = 3, SWATCH_MOST = 16, WORD_MOST = ALIKE_ALL + SWATCH_MOST - ALIKE_SWATCH };
enum { NUMBERED = 3, HEADS = 2 };     /* ">11" left of a row of maps; lines above the only map */
static const float DIFF_LEAST = 0.2F; /* A − B of cosines: smaller ones stay dark */

static int lines_of(const Paint *p, int pixels)
{
    return heat_halves(p) ? (pixels + 1) / 2 : pixels;
}

_Static_assert((int)COSINE == ALIKE_COSINE && (int)COLOURS == ALIKE_COLOURS && (int)NORMS == ALIKE_LENGTHS,
               "a band for each that can come first");

/* Which rows of maps there are, those that the reader chose first. */
static void order_bands(Alike *a)
{
    int count = 0;
    for (int i = 0; i < BANDS; i++) {
        const Band band = (Band)((a->s->look.alike.first + i) % BANDS);
        if (band != COLOURS || a->coloured)
            a->band[count++] = band;
    }
}

/* Two rows of maps, three where that makes none of them smaller. */
static void arrange_maps(const Paint *p, Alike *a)
{
    bool diff = a->side == SIDE_DIFF,
         picture = !diff && a->r.w >= PICTURE_FROM && shown_input(p->s, a->side)->resized.data;
    int most = clamp(a->r.w / MAP_LEAST, 1, MAPS_MOST);
    picture = picture && a->places != most; /* all places before the picture */
    int columns = clamp(a->places + picture, 1, most);
    for (int bands = 1; bands <= (a->coloured ? BANDS : BANDS - 1); bands++) {
        Rect room = {0, 0, (a->r.h - 1 - bands) / bands, (a->r.w + 1) / columns - 1};
        HeatSize size = heat_within(p, (HeatSize){heat_pixels(p, room.h), room.w}, a->l.rows, a->l.cols, 1);
        if (bands > 1 && (lines_of(p, size.tall) > room.h || (bands > 2 && size.wide < a->size.wide)))
            break;
        a->bands = bands;
        a->size = size;
    }
    order_bands(a);
    a->wide = a->size.wide;
    picture = picture && lines_of(p, a->size.tall) <= a->r.h - HEADS; /* of which no part is drawn */
    columns = clamp((a->r.w + 1) / (a->wide + 1), 1, a->places + picture);
    picture = picture && columns > 1;
    a->gap = clamp(columns > 1 ? (a->r.w - columns * a->wide) / (columns - 1) : 1, 1, GAP_MOST);
    a->left = picture ? a->wide + a->gap : 0;
    a->shown = columns - picture;
}

/* A row of maps per place, where more places have room that way, or as many have room for larger maps; A − B as A and
 * B. */
static void arrange_down(const Paint *p, Alike *a)
{
    int least = lines_of(p, a->l.rows), number = a->places > 10 ? NUMBERED : NUMBERED - 1;
    int lines = clamp(a->r.h / a->places - 1, least, a->r.h), shown = clamp(a->r.h / (lines + 1), 1, a->places);
    HeatSize room = {heat_pixels(p, lines), (a->r.w - number + 1) / BANDS - 1};
    Alike across = *a;
    across.side = SIDE_B;
    across.coloured = true;
    arrange_maps(p, &across);
    HeatSize size = heat_within(p, room, a->l.rows, a->l.cols, 1);
    if (least >= a->r.h || room.wide < a->l.cols || shown < across.shown ||
        (shown == across.shown && size.wide <= across.wide))
        return;
    a->down = true;
    a->bands = a->coloured ? BANDS : BANDS - 1;
    order_bands(a);
    a->size = size;
    a->wide = size.wide;
    a->gap = clamp((a->r.w - number - a->bands * a->wide) / (a->bands - 1), 1, GAP_MOST);
    a->left = number + (a->r.w > number + a->bands * (a->wide + a->gap) - a->gap);
    a->shown = shown;
}

/* Those around the picked one where the only maps have no room for all. */
static void choose_rows(const Paint *p, Alike *a)
{
    const int room = heat_pixels(p, a->r.h - HEADS);
    a->rows = a->l.rows;
    if (a->down || room >= a->size.tall)
        return;
    a->rows = a->size.tall = room < 1 ? 1 : room;
    a->top = (int)scroll_first((size_t)a->l.rows, (size_t)a->row, (size_t)a->rows);
}

static void arrange_columns(Alike *a, int word)
{
    a->left = word + WORD_MARKS + 1;
    a->gap = 1;
    a->wide = clamp((a->r.w - a->left) / clamp(a->places, 1, COLUMNS_MOST) - a->gap, ALIKE_LEAST, WORD_MOST);
    a->shown = clamp((a->r.w - a->left + a->gap) / (a->wide + a->gap), 1, a->places);
    a->thin = a->wide;
    if (a->shown < a->places && a->shown < COLUMNS_MOST) { /* numbers at one of them, the colours of all */
        int room = a->r.w - a->left;
        a->wide = !a->coloured ? ALIKE_NUMBER
                               : clamp(room - (a->places - 1) * (ALIKE_THIN + a->gap), ALIKE_NUMBER, ALIKE_LEAST);
        a->wide = a->wide < ALIKE_LEAST ? ALIKE_NUMBER : a->wide;
        a->shown = clamp((room - a->wide) / (ALIKE_THIN + a->gap) + 1, 1, a->places);
        a->thin = clamp((room - a->wide) / clamp(a->shown - 1, 1, a->shown) - a->gap, ALIKE_THIN, ALIKE_NUMBER);
    }
    int taken = a->wide + (a->shown - 1) * a->thin;
    a->gap = clamp(a->shown > 1 ? (a->r.w - a->left - taken) / (a->shown - 1) : 1, 1, 2 * GAP_MOST);
    a->head = a->r.h >= NAMED ? 2 : 1;
    a->pitch = PITCH_MOST; /* the last word does not need all of its lines */
    while (a->pitch > 1 &&
           (a->pitch > PITCH_TIGHT ? a->pitch * a->p->n + 1 : a->pitch * a->p->n - a->pitch / 2) > a->r.h - a->head - 1)
        a->pitch--;
}

/* The more of a place's columns, the more. */
static int columns_told(const Alike *a)
{
    return (a->wide >= ALIKE_ALL) + (a->wide >= ALIKE_LEAST) + (a->thin >= ALIKE_NUMBER);
}

static int pairs_widest(const Alike *a)
{
    int widest = 1;
    for (int i = 0; i < a->p->n; i++) {
        char pair[128];
        const int cells = utf8_cells(shown_pair(a->of_a, a->p, i, LABEL_MOST, pair, sizeof pair));
        widest = cells > widest ? cells : widest;
    }
    return widest < LABEL_MOST ? widest : LABEL_MOST;
}

/* Of A − B the names of words that both sides don't share are whole where no place and no column goes for them:
 * "tired/wide", else "tired…". */
static void arrange_words(Alike *a)
{
    int word = shown_axis_widest(a->p, LABEL_MOST);
    for (Side side = SIDE_A; a->s->compare == COMPARE_SIDES && side <= SIDE_B;
         side++) { /* their columns are compared */
        Shown v;
        if (shown_open(a->s, side, alike_path(a->s, side, alike_row_of(a, a->here), SITE_ALIKE_COSINE), &v)) {
            const int other = shown_axis_widest(&v.graph->axes[graph_node(v.graph, v.node)->dims.axis[0]], LABEL_MOST);
            word = other > word ? other : word;
        }
    }
    const Alike plain = *a;
    arrange_columns(a, word);
    const int more[] = {pairs_widest(a), word + 1};
    for (int i = 0; i < 2 && a->of_a && pairs_widest(a) > word; i++) {
        Alike whole = plain;
        arrange_columns(&whole, more[i]);
        if (whole.shown == a->shown && columns_told(&whole) == columns_told(a)) {
            *a = whole;
            return;
        }
    }
}

/* Without the number that it has where the text has it twice. */
static size_t word_length(const char *label)
{
    const char *number = strrchr(label, '#');
    return number && number > label ? (size_t)(number - label) : strlen(label);
}

/* The first word that A and B don't share, of texts of one length. */
static int changed_word(const Session *s, int row)
{
    const Axis *p[2];
    char label[2][64];
    for (int k = 0; k < 2; k++) {
        Shown v;
        const Side side = k ? SIDE_B : SIDE_A;
        if (!session_compares(s) || !shown_open(s, side, alike_path(s, side, row, SITE_ALIKE_COSINE), &v))
            return -1;
        p[k] = &v.graph->axes[graph_node(v.graph, v.node)->dims.axis[0]];
    }
    for (int i = 0; i < p[0]->n && p[0]->n == p[1]->n; i++) {
        const char *a = axis_label(p[0], i, label[0], sizeof label[0]),
                   *b = axis_label(p[1], i, label[1], sizeof label[1]);
        const size_t length = word_length(a);
        if (length != word_length(b) || memcmp(a, b, length) != 0)
            return i;
    }
    return -1;
}

bool alike_open(const Paint *p, Side side, Rect r, Alike *out)
{
    const Session *s = p->s;
    Alike a = {.s = s, .side = side, .r = r, .places = session_blocks_on(s, side) + 1};
    Shown v;
    const int row = alike_row(s);
    a.more = shown_open(s, side, alike_path(s, side, ALIKE_PIXELS, SITE_ALIKE_COSINE), &v);
    a.pixels = a.more && row == ALIKE_PIXELS; /* they take no room from the others while the reader is elsewhere */
    a.more = a.more && !a.pixels;
    a.places += a.pixels;
    a.here = a.pixels ? 0 : clamp(row + 1, 0, a.places - 1);
    if (!shown_open(s, side, alike_path(s, side, alike_row_of(&a, a.here), SITE_ALIKE_COSINE), &v))
        return false;
    int tokens = graph_node(v.graph, v.node)->dims.axis[0];
    a.p = &v.graph->axes[tokens];
    a.of_a = shown_axis_of_a(s, &v, 0);
    a.l = lattice_of(a.p);
    a.at = v.at[tokens];
    a.coloured = side != SIDE_DIFF || session_node(s, side, alike_tokens(s, side, alike_row_of(&a, a.here))) != NO_NODE;
    a.words = !axis_patch(a.p, a.at, &a.row, &a.col);
    a.pin = a.words ? changed_word(s, alike_row_of(&a, a.here)) : -1;
    if (a.words)
        arrange_words(&a);
    else {
        arrange_maps(p, &a);
        arrange_down(p, &a);
        choose_rows(p, &a);
    }
    a.first = (int)scroll_first((size_t)a.places, (size_t)a.here, (size_t)a.shown);
    a.end = side == SIDE_DIFF ? DIFF_LEAST : 1;
    for (int i = a.first; i < a.first + a.shown && side == SIDE_DIFF; i++) {
        bool there = shown_open(s, side, alike_path(s, side, alike_row_of(&a, i), SITE_ALIKE_COSINE), &v) && v.values;
        for (int k = 0; there && k < a.p->n; k++)
            a.end = fmaxf(a.end, fabsf(v.values[(size_t)a.at * (size_t)a.p->n + (size_t)k]));
    }
    *out = a;
    return true;
}

int alike_place_wide(const Alike *a, int place)
{
    return a->words && place != a->here ? a->thin : a->wide;
}

int alike_place_x(const Alike *a, int place)
{
    int x = a->r.x + a->left + (place - a->first) * (alike_place_wide(a, a->here - 1) + a->gap);
    return place > a->here ? x + alike_place_wide(a, a->here) - alike_place_wide(a, place) : x;
}

Rect alike_map(const Paint *p, const Alike *a, int band, int place)
{
    int lines = lines_of(p, a->size.tall);
    if (a->down)
        return (Rect){a->r.y + 1 + (place - a->first) * (lines + 1), a->r.x + a->left + band * (a->wide + a->gap),
                      lines, a->wide};
    return (Rect){a->r.y + 2 + band * (lines + 1), alike_place_x(a, place), lines, a->wide};
}

int alike_words(const Alike *a)
{
    return clamp((a->r.h - a->head - 1 + a->pitch / 2) / a->pitch, 1, a->p->n);
}

int alike_token(const Alike *a, int i)
{
    const int n = a->p->n, count = alike_words(a);
    int first = (int)scroll_first((size_t)n, (size_t)a->at, (size_t)count);
    if (a->pin < 0 || count < 2 || (a->pin >= first && a->pin < first + count))
        return first + i;
    first = (int)scroll_first((size_t)n, (size_t)a->at, (size_t)count - 1); /* the others' */
    if (a->pin < first)
        return i ? first + i - 1 : a->pin;
    return i < count - 1 ? first + i : a->pin;
}

Rect alike_word(const Alike *a, int i, int place)
{
    int y = i * a->pitch, room = a->r.h - a->head - 1 - y;
    return (Rect){a->r.y + a->head + y, alike_place_x(a, place), room < a->pitch ? room : a->pitch,
                  alike_place_wide(a, place)};
}
