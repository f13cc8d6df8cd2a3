#include "tui/views/attention/word_row.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/utf8.h"

enum {
    WORD_MOST = 14,
    BAR_MOST = 96,
    BAR_TIGHT = 10,
    NUMBER = 9,
    SPREAD_MOST = 6,
    FEW_WORDS = 3,
    SCORES_RULE = 37,
    PAIRS_FROM = 28
};

bool word_beside(const Paint *p, int y, int x, int from, int end)
{
    const Cell *k = canvas_at(p->c, y, x), *before = x > from ? canvas_at(p->c, y, x - 1) : NULL,
               *behind = x + 1 < end ? canvas_at(p->c, y, x + 1) : NULL;
    return k && k->ch == ' ' && ((before && before->ch != ' ') || (behind && behind->ch != ' '));
}

void word_ground(const Paint *p, int y, int x, int cells, const ColourScale *scale, float value, Ref ref)
{
    const bool none = !isnan(value) && colour_scale_level(scale, value) == 0; /* the page's own ground is not drawn */
    for (int i = 0; i < cells; i++) {
        Cell *k = canvas_at(p->c, y, x + i);
        if (!k)
            continue;
        if (k->style == STYLE_CURSOR)
            k->style = STYLE_TEXT; /* strong is what stands out */
        k->ref = ref;
        k->level = 1; /* a word is not the number that the trace has */
        if (none)
            continue;
        k->bg = colour_scale_colour(scale, value);
        k->level = (uint8_t)(1 + (word_beside(p, y, x + i, x, x + cells) ? 0 : colour_scale_level(scale, value)));
        k->sign = (int8_t)colour_scale_sign(scale, value);
    }
}

/* Of how many a share is one: of those that the row may look at; of one word its share is no news, but a line is. */
static int sharers(const Attend *a)
{
    return a->seen < 2 && a->u_axis->n > 1 ? 2 : a->seen;
}

/* Twice uniform; of so few words that this would be (nearly) all, halfway from uniform to all. */
static float threshold(const Attend *a)
{
    const float n = (float)sharers(a);
    return a->whole * (n < FEW_WORDS ? (1 + 1 / n) / 2 : 2 / n);
}

bool word_stands_out(const Attend *a, float value, bool largest)
{
    return a->whole > 0 ? fabsf(value) > threshold(a)
                        : (largest || attend_is_mask(a)) && value != 0; /* nothing is drawn for nothing */
}

static size_t cell_of(const Attend *a, int u)
{
    return attend_cell(a, a->head, a->at_t, u);
}

void word_rule(const Paint *p, const Attend *a, const char *what, Rect r)
{
    char text[96];
    const bool diff = a->v.side == SIDE_DIFF, lines = strcmp(what, "lines") == 0;
    if (r.h < 1)
        return;
    if (!(a->whole > 0)) { /* scores: nothing is uniform there */
        const char *of = !diff ? "score" : "change", *rows = r.w < SCORES_RULE ? "" : " of each row";
        if (attend_is_mask(a))
            canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "1: may be looked at");
        else if (lines)
            canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "lines: %slargest %s%s", *rows ? "the " : "", of, rows);
        return;
    }
    if (a->seen == 1) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "of one word every weight is 100 %");
        return;
    }
    bool bold = !diff || lines;
    for (int u = 0; !bold && u < a->u_axis->n; u++)
        bold = word_stands_out(a, a->v.values[cell_of(a, u)], false);
    if (!bold)
        return;
    const char *why = diff                     ? ""
                      : sharers(a) < FEW_WORDS ? ", halfway from uniform to all"
                                               : ", twice uniform",
               *unit = diff ? "points" : "%";
    const double from = (double)(100 * threshold(a) / a->whole);
    const int forms = lines && a->t_axis->n > 1 ? 4 : 0; /* of other rows' lines fewer are drawn */
    for (int k = 0; k < forms; k++) {
        const int used = k >= 2 ? utf8_print(text, sizeof text,
                                             k == 2 ? "lines > %.3g %s; grey > 50 %s" : "> %.3g %s; grey: > 50 %s",
                                             from, unit, unit)
                                : utf8_print(text, sizeof text, "lines: > %.3g %s%s; grey, others': > 50 %s", from,
                                             unit, k ? "" : why, unit);
        if (used <= r.w) {
            canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, text);
            return;
        }
    }
    int used = utf8_print(text, sizeof text, "%s: > %.3g %s", what, from, unit);
    canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "%s%s", text, used + (int)strlen(why) <= r.w ? why : "");
}

int word_widest(const Session *s, const Attend *a, bool asks, int width)
{
    const Axis *axis = asks ? a->t_axis : a->u_axis, *of_a = asks ? a->t_of_a : a->u_of_a;
    int most = shown_pairs_widest(width < PAIRS_FROM ? NULL : of_a, axis, WORD_MOST); /* rather bars than whole pairs */
    for (Side side = SIDE_A; s->compare == COMPARE_SIDES && side <= SIDE_B; side++) {
        Attend other;
        const int widest = side != a->v.side && attend_open(s, side, -1, &other)
                               ? shown_axis_widest(asks ? other.t_axis : other.u_axis, WORD_MOST)
                               : 0;
        most = widest > most ? widest : most;
    }
    return most;
}

WordList word_list(Rect r, int widest, int n, int here, int least, int pitch)
{
    WordList l = {.r = r, .n = n, .columns = 1, .word = widest + WORD_MARKS};
    if (r.h < 1 || r.w < 1)
        return l;
    int most = least ? r.w / (l.word + least) : 1, need = (l.n + r.h - 1) / r.h;
    l.columns = need < most ? need : most > 1 ? most : 1;
    l.wide = r.w / l.columns;
    int lines = (l.n + l.columns - 1) / l.columns;
    int room = lines > 1 ? (r.h - 1) / (lines - 1) : pitch; /* nothing stands below the last one */
    l.pitch = room < 1 ? 1 : room > pitch ? pitch : room;
    l.lines = lines < (r.h - 1) / l.pitch + 1 ? lines : (r.h - 1) / l.pitch + 1;
    l.first = (int)scroll_first((size_t)l.n, (size_t)here, (size_t)(l.lines * l.columns));
    return l;
}

void word_list_show(WordList *l, int from, int to)
{
    const int room = l->lines * l->columns;
    if (to - from >= room)
        return;
    l->first = from < l->first ? from : to >= l->first + room ? to - room + 1 : l->first;
}

void word_list_more(const Paint *p, const WordList *l, Rect line)
{
    const int above = l->first, below = l->n - l->first - l->lines * l->columns;
    char text[48] = "";
    if (above)
        utf8_print(text, sizeof text, " ↑%d", above);
    if (below > 0)
        utf8_print(text + strlen(text), sizeof text - strlen(text), " ↓%d", below);
    const int from = line.x + line.w - utf8_cells(text);
    bool free = line.h > 0 && from >= line.x;
    for (int x = from; x < line.x + line.w && free; x++) {
        const Cell *k = canvas_at(p->c, line.y, x);
        free = !k || k->ch == ' ';
    }
    if (free)
        canvas_right(p->c, line.y, line.x, line.w, STYLE_DIM, text);
}

Rect word_list_at(const WordList *l, int word)
{
    int i = word - l->first;
    if (i < 0 || word >= l->n || i >= l->lines * l->columns)
        return (Rect){0};
    int y = i % l->lines * l->pitch, h = l->pitch < l->r.h - y ? l->pitch : l->r.h - y;
    return (Rect){l->r.y + y, l->r.x + i / l->lines * l->wide, h, l->wide};
}

int word_list_hit(const WordList *l, int y, int x)
{
    for (int i = l->first; i < l->n; i++)
        if (rect_has(word_list_at(l, i), y, x))
            return i;
    return -1;
}

char word_mark(const char *label, bool here, bool closes)
{
    return !here ? (closes ? '<' : '>') : *label == '[' ? '|' : closes ? ']' : '[';
}

void word_put(const Paint *p, const Attend *a, const ColourScale *scale, int u, int y, int x, int width)
{
    char label[64];
    bool here = u == a->at_u, asks = !here && attend_asks(a, u);
    Style style = here ? STYLE_CURSOR : STYLE_TEXT;
    shown_pair(a->u_of_a, a->u_axis, u, width - WORD_MARKS, label, sizeof label);
    if (here || asks)
        canvas_glyph(p->c, y, x, style, (uint32_t)word_mark(label, here, false));
    int used = width > WORD_MARKS ? canvas_label(p->c, y, x + 1, width - WORD_MARKS, style, label) : 0;
    if (scale)
        word_ground(p, y, x + 1, used, scale, a->v.values[cell_of(a, u)], shown_ref(&a->v, cell_of(a, u)));
    if (here || asks)
        canvas_glyph(p->c, y, x + 1 + used, style, (uint32_t)word_mark(label, here, true));
}

/* A score's bar where there are few cells: its zero stands where it leaves most of them to the row's scores. */
static void put_tight_bar(const Paint *p, const Attend *a, const ColourScale *scale, Rect at, size_t cell)
{
    double low = 0, high = 0;
    for (int u = 0; u < a->u_axis->n; u++) {
        const double share = colour_scale_share(scale, a->v.values[cell_of(a, u)]);
        if (attend_masked(a, u) || isnan(share))
            continue;
        low = fmin(low, share);
        high = fmax(high, share);
    }
    if (!(high > low))
        return;
    const int room = at.w - 1;
    int left = (int)(room * -low / (high - low) + 0.5);
    left -= left == room && high > 0;
    left += left == 0 && low < 0;
    const double unit = fmin(low < 0 ? left / -low : HUGE_VAL, high > 0 ? (room - left) / high : HUGE_VAL);
    canvas_bar_around(p->c, at.y, at.x, left, room - left, unit * colour_scale_share(scale, a->v.values[cell]),
                      STYLE_TEXT, STYLE_NEGATIVE, shown_ref(&a->v, cell));
}

void word_put_share(const Paint *p, const Attend *a, const ColourScale *scale, int u, float end, Rect r)
{
    const bool share = a->whole > 0, both = share ? a->v.side == SIDE_DIFF : scale->is_signed; /* signs */
    int number = share ? WORD_SHARE : NUMBER, bar = r.w - number - 1;
    size_t cell = cell_of(a, u);
    float x = a->v.values[cell];
    Style style = word_stands_out(a, x, false) ? STYLE_STRONG : STYLE_TEXT;
    if (r.w < number)
        return;
    if (attend_masked(a, u)) { /* no weight that happens to be 0 */
        canvas_right(p->c, r.y, r.x, number, STYLE_DIM, "masked");
        canvas_ref(p->c, r.y, r.x, number, shown_ref(&a->v, cell));
        return;
    }
    (a->in_share ? shown_share_right : shown_number_right)(p, &a->v, cell, r.y, r.x, number, style);
    bar = bar > BAR_MOST ? BAR_MOST : bar;
    double length = share && !both ? (double)(x / end) : colour_scale_share(scale, x); /* points are few of 100 */
    for (int i = 0; bar >= WORD_BAR && !isnan(x) && i < (r.h > 1 ? r.h - 1 : 1); i++)
        if (!both)
            canvas_bar(p->c, r.y + i, r.x + number + 1, bar, length, STYLE_TEXT, shown_ref(&a->v, cell));
        else if (!share && bar < BAR_TIGHT)
            put_tight_bar(p, a, scale, (Rect){r.y + i, r.x + number + 1, 1, bar}, cell);
        else
            canvas_bar_signed(p->c, r.y + i, r.x + number + 1, bar, length, STYLE_TEXT, STYLE_NEGATIVE,
                              shown_ref(&a->v, cell));
}

int word_masked_tail(const Attend *a)
{
    int tail = 0;
    while (tail < a->u_axis->n - 1 && attend_masked(a, a->u_axis->n - 1 - tail))
        tail++;
    return tail > 1 ? tail : 0;
}

void word_put_folded(const Paint *p, const Attend *a, const ColourScale *scale, int folded, Rect at, int word)
{
    char text[WORD_LABEL];
    int x = at.x + 1, end = at.x + at.w;
    const bool here = a->at_u >= a->u_axis->n - folded;
    const char *words[] = {here ? "and %d more: masked" : "%d later tokens: masked",
                           here ? "+%d: masked" : "%d masked"};
    if (here) {
        word_put(p, a, scale, a->at_u, at.y, at.x, word);
        const int used = utf8_cells(axis_label(a->u_axis, a->at_u, text, sizeof text)) + WORD_MARKS;
        x = at.x + (used < word ? used : word) + 1;
    }
    for (int i = 0; i < 2; i++)
        if (utf8_print(text, sizeof text, words[i], folded - here) <= end - x || i) {
            canvas_text(p->c, at.y, x, end - x, STYLE_DIM, text);
            return;
        }
}

/* Bytes of what a tokeniser writes before a piece. */
static size_t sign_of(const char *label)
{
    static const char *const SIGNS[] = {"Ġ", "▁", "##"};
    for (size_t k = 0; k < sizeof SIGNS / sizeof *SIGNS; k++)
        if (strncmp(label, SIGNS[k], strlen(SIGNS[k])) == 0)
            return strlen(SIGNS[k]);
    return 0;
}

const char *word_itself(const Axis *axis, int i, char out[WORD_LABEL])
{
    char other[WORD_LABEL];
    axis_label(axis, i, out, WORD_LABEL);
    char *mark = strrchr(out, '#');
    for (int k = 0; mark && k < i; k++) {
        axis_label(axis, k, other, WORD_LABEL);
        if (strlen(other) == (size_t)(mark - out) && strncmp(other, out, strlen(other)) == 0) {
            *mark = '\0';
            break;
        }
    }
    const size_t sign = sign_of(out);
    if (out[sign])
        memmove(out, out + sign, strlen(out + sign) + 1);
    return out;
}

/* Do pieces say whether a blank stands before them, as byte-level and SentencePiece tokenisers' do? */
static bool says_blanks(const Axis *axis)
{
    char label[WORD_LABEL];
    for (int i = 0; i < axis->n; i++)
        if (sign_of(axis_label(axis, i, label, sizeof label)) > 0 && *label != '#')
            return true;
    return false;
}

bool word_joined(const Axis *axis, int i)
{
    char label[WORD_LABEL];
    if (i + 1 >= axis->n)
        return false;
    axis_label(axis, i + 1, label, sizeof label);
    if (*label == '#')
        return sign_of(label) > 0;
    if (says_blanks(axis)) /* a special token, "<s>", stands by itself */
        return sign_of(label) == 0 && (*label != '<' || byte_text_raw(label));
    const char *word = word_itself(axis, i, label);
    return *word && word[strlen(word) - 1] == '\'';
}

void running_spread(Running *v, Rect r)
{
    const Rect *last = &v->word[v->n - 1];
    int blanks = 0, end = v->word[0].x + v->word[0].w;
    for (int i = 1; i < v->n; end = v->word[i].x + v->word[i].w, i++)
        blanks += v->word[i].x > end;
    int each = blanks && v->lines == 1 ? (r.x + r.w - 1 - last->x - last->w) / blanks : 0;
    each = each > SPREAD_MOST ? SPREAD_MOST : each;
    int more = 0;
    end = v->word[0].x + v->word[0].w;
    for (int i = 1; i < v->n && each > 0; i++) {
        more += v->word[i].x > end ? each : 0;
        end = v->word[i].x + v->word[i].w;
        v->word[i].x += more;
    }
}

bool running_layout(const Axis *axis, int here, int asks, Rect r, Running *out)
{
    char label[WORD_LABEL];
    int x = r.x + 1, y = r.y;
    const bool joins = says_blanks(axis);
    out->n = axis->n;
    for (int i = 0; i < axis->n; i++) {
        int cells = i < RUNNING_MOST ? utf8_cells(word_itself(axis, i, label)) : 0;
        if (x + cells + 1 > r.x + r.w) {
            x = r.x + 1;
            y++;
        }
        if (i >= RUNNING_MOST || y >= r.y + r.h || x + cells + 1 > r.x + r.w)
            return false;
        const bool marked = i == here || i == asks || i + 1 == here || i + 1 == asks;
        out->word[i] = (Rect){y, x, 1, cells};
        x += cells + (marked || !joins || !word_joined(axis, i));
    }
    out->lines = y - r.y + 1;
    return true;
}

int running_hit(const Running *v, int y, int x)
{
    for (int i = 0; i < v->n; i++)
        if (rect_has(v->word[i], y, x))
            return i;
    return -1;
}

void running_draw(const Paint *p, const Attend *a, int head, const ColourScale *scale, const Running *v)
{
    for (int u = 0; u < v->n; u++) {
        char label[WORD_LABEL];
        Rect at = v->word[u];
        size_t cell = attend_cell(a, head, a->at_t, u);
        bool here = u == a->at_u, asks = !here && attend_asks(a, u);
        const Style style = here ? STYLE_CURSOR : attend_masked(a, u) ? STYLE_DIM : STYLE_TEXT;
        canvas_text(p->c, at.y, at.x, at.w, style, word_itself(a->u_axis, u, label));
        word_ground(p, at.y, at.x, at.w, scale, a->v.values[cell], shown_ref(&a->v, cell));
        if (here || asks) {
            canvas_glyph(p->c, at.y, at.x - 1, here ? STYLE_CURSOR : STYLE_TEXT,
                         (uint32_t)word_mark(label, here, false));
            canvas_glyph(p->c, at.y, at.x + at.w, here ? STYLE_CURSOR : STYLE_TEXT,
                         (uint32_t)word_mark(label, here, true));
        }
    }
}

enum { STAIR_LEAST = 3 }; /* cells of a word */

/* Lines of a stair: each label on the line below that of the label before, until it is free again. 0: cells are too
 * narrow for one. */
static int stair_lines(const Axis *axis, int wide)
{
    int widest = shown_axis_widest(axis, INT_MAX), lines = wide > 1 ? (widest + wide) / wide : 0;
    return lines < widest ? lines : 0;
}

int words_paired(const Axis *axis, int first, int count, int least, int most)
{
    char upper[64], lower[64];
    int widest = least;
    for (int i = first; i + 1 < first + count; i += 2) {
        const int both = utf8_cells(axis_label(axis, i, upper, sizeof upper)) +
                         utf8_cells(axis_label(axis, i + 1, lower, sizeof lower)) + 2;
        widest = both > widest && both <= most ? both : widest;
    }
    return widest;
}

int words_across_lines(const Axis *axis, int wide, int most)
{
    int widest = shown_axis_widest(axis, INT_MAX), stair = stair_lines(axis, wide),
        lines = wide > widest               ? 1
                : stair                     ? stair
                : wide < 2 || most < widest ? 1 /* see put_some */
                                            : widest;
    return lines < most ? lines : most > 0 ? most : 0;
}

/* One glyph below the other, "…" where the word goes on. */
static void put_upright(const Paint *p, int y, int x, int lines, Style style, const char *text)
{
    int n = utf8_cells(text);
    for (int i = 0; i < lines && *text; i++) {
        uint32_t ch = utf8_next(&text);
        canvas_glyph(p->c, y + i, x, style, i + 1 == lines && n > lines ? 0x2026 : ch);
    }
}

/* The label of column i on line i % lines, below a thin line from its column; at the end one that does not fit stands
 * in front of a corner in its column, where that is free. */
static void put_stair(const Paint *p, const Axis *axis, int first, int count, int here, Rect at, int wide, int lines)
{
    int ends[WORD_LABEL] = {0}; /* of the last label on each line */
    lines = lines < WORD_LABEL ? lines : WORD_LABEL;
    for (int i = 0; i < count; i++) {
        char text[64];
        int x = at.x + i * wide, y = at.y + i % lines, room = lines * wide - 1;
        const int n = utf8_cells(axis_label(axis, first + i, text, sizeof text));
        if (x + n > at.x + at.w && x < at.x + at.w && x - n > (i < lines ? at.x - 1 : ends[i % lines])) {
            canvas_glyph(p->c, y, x, first + i == here ? STYLE_CURSOR : STYLE_AXIS, 0x2518);
            x -= n;
        }
        ends[i % lines] = x + canvas_label(p->c, y, x, room < at.x + at.w - x ? room : at.x + at.w - x,
                                           first + i == here ? STYLE_CURSOR : STYLE_AXIS, text);
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i % lines; k++) {
            const Cell *cell = canvas_at(p->c, at.y + k, at.x + i * wide);
            if (cell && cell->ch == ' ')
                canvas_glyph(p->c, at.y + k, at.x + i * wide, STYLE_DIM, 0x2502);
        }
}

static bool is_blank(const Paint *p, int y, int from, int to)
{
    bool blank = true;
    for (int x = from; x < to; x++) {
        const Cell *k = canvas_at(p->c, y, x);
        blank = blank && (!k || k->ch == ' ');
    }
    return blank;
}

/* Behind a corner in its column; at the end from its column on, or in front of a corner in it; on the first line down
 * to which that is free. */
static void put_cornered(const Paint *p, Rect at, int x, Style style, const char *text)
{
    const int n = utf8_cells(text), end = at.x + at.w;
    for (int y = at.y; y < at.y + at.h; y++) {
        const bool right = x + 1 + n <= end && is_blank(p, y, x - (x > at.x), x + n + 1 + (x + n + 1 < end));
        const bool plain = !right && y == at.y && x + n <= end && is_blank(p, y, x - (x > at.x), x + n);
        const int from = right || plain ? x : x - n;
        if (!right && !plain && (from < at.x || !is_blank(p, y, from - (from > at.x), x + 1))) {
            if (!is_blank(p, y, x, x + 1))
                return;
            continue;
        }
        canvas_label(p->c, y, right ? x + 1 : from, n, style, text);
        if (!plain)
            canvas_glyph(p->c, y, x, style, right ? 0x2514 : 0x2518);
        for (int above = at.y; above < y; above++)
            canvas_glyph(p->c, above, x, STYLE_DIM, 0x2502);
        return;
    }
}

/* Whole words, each with a corner in its column, or it would be taken for that of those above it, too: that of the
 * cursor, that of the largest, the last, and as many others as have room; in several lines from the right, so that no
 * line down to a corner crosses a word. */
static void put_some(const Paint *p, const Axis *axis, int first, int count, int here, int largest, Rect at, int wide)
{
    const int before[] = {here - first, largest - first, count - 1};
    enum { BEFORE = sizeof before / sizeof *before };
    for (int k = -BEFORE; k < count; k++) {
        char text[64];
        const int i = k < 0 ? before[k + BEFORE] : at.h > 1 ? count - 1 - k : k;
        bool there = i < 0 || i >= count;
        for (int m = 0; m < (k < 0 ? k + BEFORE : BEFORE); m++)
            there = there || before[m] == i;
        if (!there)
            put_cornered(p, at, at.x + i * wide, first + i == here ? STYLE_CURSOR : STYLE_AXIS,
                         axis_label(axis, first + i, text, sizeof text));
    }
}

void words_across(const Paint *p, const Axis *axis, int first, int count, int here, int largest, Rect at, int wide)
{
    const int stair = wide <= shown_axis_widest(axis, INT_MAX) ? stair_lines(axis, wide) : 0;
    if (stair && (stair <= at.h || at.h * wide > STAIR_LEAST)) { /* rather cut words than cut columns of letters */
        put_stair(p, axis, first, count, here, at, wide, stair < at.h ? stair : at.h);
        return;
    }
    bool upright = wide <= shown_axis_widest(axis, INT_MAX);
    if (upright && at.h && (wide < 2 || at.h < shown_axis_widest(axis, INT_MAX))) { /* letters would run together */
        put_some(p, axis, first, count, here, largest, at, wide);
        return;
    }
    for (int i = 0; i < count && at.h; i++) {
        char text[64];
        int x = at.x + i * wide;
        Style style = first + i == here ? STYLE_CURSOR : STYLE_AXIS;
        axis_label(axis, first + i, text, sizeof text);
        if (upright)
            put_upright(p, at.y, x + (wide - 1) / 2, at.h, style, text);
        else
            canvas_label(p->c, at.y, x, wide - 1, style, text);
    }
}
