/* The steps of decoding: after every word that stands in the target, what the model writes next, with its share, how
 * far its logit is ahead of the second one, and the words that come second and third. One step per line; the row at the
 * cursor is the one whose words the answer pane lists. Of a model without a decoder: the word that it names at every
 * place. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/classes.h"

enum {
    WORD_LEAST = 5,
    /* "after" */ WORD_MOST = 14,
    NUMBER = 4,
    SHARE = 8,
    BAR_LEAST = 4,
    BAR_NAMED = 6, /* "logit" and a blank */
    BAR_MOST = 32,
    SECOND = 18,
    WRITES = 8, /* "A writes" */
    AWAY = 7,
    AWAY_BRIEF = 6,
    AWAY_OF = 9, /* "A ahead" */
    PITCH_MOST = 3
};

typedef struct Writing {
    Shown probs;  /* [token, word] */
    Shown margin; /* [token]: the logit of what is written less that of what comes second */
    float most;   /* the largest of them */
    const Axis *tokens, *words;
    size_t n;       /* words of the vocabulary */
    int word;       /* widest token shown */
    bool distanced; /* margin is there, or will be */
    Rect lines;
    int first, pitch; /* lines of a step */
} Writing;

/* Where a step's parts begin, from the left, and how wide they are; 0 wide: no room. */
typedef struct Columns {
    int after, arrow, writes, word, share, ahead, away, bar, then, seconds, each;
} Columns;

static bool writing_open(const Session *s, Side side, Writing *w)
{
    *w = (Writing){.n = 0};
    if (!shown_open(s, side, shown_site(s, side, SITE_PROBS), &w->probs))
        return false;
    Dims d = graph_node(w->probs.graph, w->probs.node)->dims;
    if (d.n != 2 || w->probs.graph->axes[d.axis[0]].role != ROLE_QUERY)
        return false;
    w->tokens = &w->probs.graph->axes[d.axis[0]];
    w->words = &w->probs.graph->axes[d.axis[1]];
    w->n = (size_t)w->words->n;
    w->word = shown_axis_widest(w->tokens, WORD_MOST);
    w->word = w->word < WORD_LEAST ? WORD_LEAST : w->word;
    w->distanced = shown_open(s, side, shown_site(s, side, SITE_MARGIN), &w->margin);
    if (w->distanced && w->margin.values)
        for (size_t i = 0; i < w->margin.count; i++)
            w->most = w->margin.values[i] > w->most ? w->margin.values[i] : w->most;
    return true;
}

static int cursor_row(const Writing *w)
{
    return (int)(w->probs.cell / w->n);
}

static const float *row_of(const Writing *w, int t)
{
    return w->probs.values + (size_t)t * w->n;
}

/* Room for the words that are written, too, where that leaves some for the numbers. */
static void widen_words(Rect r, Writing *w)
{
    const int most = clamp((r.w - NUMBER - 3 - SHARE - AWAY) / 2, w->word, WORD_MOST);
    char label[64];
    for (int t = w->first; w->probs.values && t < w->tokens->n && (t - w->first) * w->pitch < w->lines.h; t++) {
        const int cells = utf8_cells(axis_label(w->words, (int)classes_best(row_of(w, t), w->n), label, sizeof label));
        w->word = cells > w->word ? cells : w->word;
    }
    w->word = w->word < most ? w->word : most;
}

static void place_lines(Rect r, Writing *w)
{
    if (r.h > 2)
        rect_cut(&r, 't', 1);
    w->lines = r;
    w->pitch = clamp(r.h / w->tokens->n, 1, PITCH_MOST);
    w->first = (int)scroll_first((size_t)w->tokens->n, (size_t)cursor_row(w), (size_t)(r.h / w->pitch));
    widen_words(r, w);
}

static bool writes_same(const Writing *a, const Writing *b, int t)
{
    char label[64], other[64];
    return strcmp(axis_label(a->words, (int)classes_best(row_of(a, t), a->n), label, sizeof label),
                  axis_label(b->words, (int)classes_best(row_of(b, t), b->n), other, sizeof other)) == 0;
}

/* The step nearest to the cursor's, less than `most` away, at which another word is written; its own where there is
 * none. */
static int nearest_other(const Writing *a, const Writing *b, int most)
{
    const int here = cursor_row(a);
    for (int far = 0; far < most; far++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const int t = here + sign * far;
            if (t >= 0 && t < a->tokens->n && !writes_same(a, b, t))
                return t;
        }
    return here;
}

/* Beside another side its columns and its bars are the same, and a step at which the two differ is in sight. */
static void writing_layout(const Session *s, Rect r, Writing *w)
{
    Writing o;
    place_lines(r, w);
    if (!session_compares(s) || !writing_open(s, w->probs.side == SIDE_A ? SIDE_B : SIDE_A, &o))
        return;
    place_lines(r, &o);
    w->word = o.word > w->word ? o.word : w->word;
    w->most = o.most > w->most ? o.most : w->most;
    const int room = w->lines.h / w->pitch;
    if (w->probs.values && o.probs.values && o.tokens->n == w->tokens->n && room < w->tokens->n)
        w->first = (int)scroll_both((size_t)w->tokens->n, (size_t)cursor_row(w), (size_t)nearest_other(w, &o, room),
                                    (size_t)room);
}

/* A label that two tokens share ends in "#2": the word itself does not. A word without a name is w5 in a text and 5 in
 * the vocabulary. */
static bool same_word(const char *token, const char *word, bool named)
{
    size_t n = strlen(word);
    token += !named && *token == 'w';
    return strncmp(token, word, n) == 0 && (!token[n] || token[n] == '#');
}

/* What stands there next is another word than the one that the model would have written. */
static bool forced(const Writing *w, int t, size_t best)
{
    char token[64], word[64];
    return t + 1 < w->tokens->n && w->tokens->sequence == SEQUENCE_TARGET &&
           !same_word(axis_label(w->tokens, t + 1, token, sizeof token),
                      axis_label(w->words, (int)best, word, sizeof word), w->words->labels != NULL);
}

static int put_share(const Paint *p, const Writing *w, int t, size_t word, int y, int x, Style style)
{
    shown_share_right(p, &w->probs, (size_t)t * w->n + word, y, x, SHARE, style);
    return x + SHARE;
}

/* What comes second and third, each in so many columns, with its share where there is room; and before them how far the
 * second is away: a number, and a bar in what is left over. */
static int second_of(int left)
{
    return left >= SECOND + AWAY + 2 * BAR_LEAST ? SECOND : SECOND - SHARE;
}

static int seconds_of(int left)
{
    return left >= 2 * SECOND + AWAY + 2 * BAR_LEAST ? 2 : left >= second_of(left) + AWAY ? 1 : 0;
}

static int bar_of(int left, int seconds)
{
    int bar = left - seconds * second_of(left) - AWAY - 1;
    return bar > BAR_MOST ? BAR_MOST : bar;
}

/* Beside A and B there is no room for all: rather the rival and its distance than the word before, which stands a line
 * higher. */
static bool is_brief(const Writing *w, int width)
{
    return w->distanced && width < NUMBER + 2 * (w->word + 1) + 2 + SHARE + 1 + AWAY &&
           width >= NUMBER + w->word + 1 + AWAY_BRIEF + WORD_LEAST;
}

static Columns columns_of(const Writing *w, int width)
{
    Columns c = {.word = w->word, .away = AWAY};
    if (is_brief(w, width)) {
        c.arrow = NUMBER - 1;
        c.writes = NUMBER;
        c.ahead = NUMBER + w->word + 1;
        c.away = AWAY_BRIEF;
        c.then = c.ahead + c.away;
        c.seconds = 1;
        c.each = width - c.then + 1;
        return c;
    }
    c.after = NUMBER;
    c.arrow = c.after + w->word + 1;
    c.writes = c.arrow + 2;
    c.word = w->word < width - c.writes ? w->word : width - c.writes;
    int x = c.writes + w->word + 1;
    if (x + SHARE <= width) {
        c.share = x;
        x += SHARE + 1;
    }
    c.seconds = seconds_of(width - x);
    c.each = second_of(width - x);
    const int bar = bar_of(width - x, c.seconds);
    if (bar >= -1) {
        c.ahead = x;
        c.bar = bar >= BAR_LEAST ? bar : 0;
        x += AWAY + (c.bar ? c.bar + 1 : 0);
    }
    c.then = x;
    return c;
}

/* The further the rival, the longer. */
static void put_margin(const Paint *p, const Writing *w, int t, int y, int x, int away, int bar, Style style)
{
    if (!w->margin.values)
        return;
    shown_number_right(p, &w->margin, (size_t)t, y, x, away - 1, style);
    for (int line = 0; line < (w->pitch > 1 ? w->pitch - 1 : 1) && bar >= BAR_LEAST && w->most > 0; line++)
        canvas_bar(p->c, y + line, x + away, bar, (double)(w->margin.values[t] / w->most), style,
                   shown_ref(&w->margin, (size_t)t));
}

static void draw_step(const Paint *p, const Writing *w, int t, int y, bool here)
{
    const float *row = row_of(w, t);
    const Columns at = columns_of(w, w->lines.w);
    size_t best = classes_best(row, w->n), next = classes_next(row, w->n, best);
    char label[64];
    const int x = w->lines.x, end = x + w->lines.w;
    const Style style = here ? STYLE_SELECTED : STYLE_TEXT, dim = here ? STYLE_SELECTED : STYLE_DIM;
    const bool other = forced(w, t, best);
    if (here)
        canvas_fill(p->c, (Rect){y, x, 1, w->lines.w}, STYLE_SELECTED, ' ');
    canvas_printf(p->c, y, x, NUMBER, here ? STYLE_SELECTED : STYLE_AXIS, "%s%2d", here ? ">" : " ", t + 1);
    if (at.after)
        canvas_label(p->c, y, x + at.after, w->word, dim, axis_label(w->tokens, t, label, sizeof label));
    if ((other || at.after) && at.arrow + w->word + 2 <= w->lines.w)
        canvas_glyph(p->c, y, x + at.arrow, other ? STYLE_WARNING : style, other ? 0x2260 : 0x2192);
    canvas_label(p->c, y, x + at.writes, at.word, other ? STYLE_WARNING : style,
                 axis_label(w->words, (int)best, label, sizeof label));
    if (at.share)
        put_share(p, w, t, best, y, x + at.share, style);
    else
        canvas_ref(p->c, y, x + at.writes, at.word, shown_ref(&w->probs, (size_t)t * w->n + best));
    if (at.ahead)
        put_margin(p, w, t, y, x + at.ahead, at.away, at.bar, style);
    if (here && at.bar && !at.seconds) /* the light line ends where the bar begins */
        canvas_fill(p->c, (Rect){y, x + at.then - 1, 1, end - x - at.then + 1}, STYLE_TEXT, ' ');
    for (int k = 0; k < at.seconds && next < w->n; k++, next = classes_next(row, w->n, next)) {
        const int from = x + at.then + k * at.each;
        const bool shared = at.each == SECOND && at.share;
        canvas_label(p->c, y, from, at.share ? SECOND - SHARE - 1 : at.each - 1, dim,
                     axis_label(w->words, (int)next, label, sizeof label));
        if (shared)
            put_share(p, w, t, next, y, from + SECOND - SHARE - 1, dim);
    }
}

/* What A and B write after the same number of words, and where there is room how far their rivals are behind. */
static void draw_both(const Paint *p, Rect r)
{
    Writing a, b;
    if (!writing_open(p->s, SIDE_A, &a) || !writing_open(p->s, SIDE_B, &b)) {
        canvas_wrap(p->c, r, STYLE_DIM, "One of the two writes no words.");
        return;
    }
    if (!a.probs.values || !b.probs.values) {
        shown_computing(p, r);
        return;
    }
    writing_layout(p->s, r, &b);
    int steps = a.tokens->n < b.tokens->n ? a.tokens->n : b.tokens->n, wide = a.word > b.word ? a.word : b.word;
    wide = wide < WRITES ? WRITES : wide;
    const bool far = a.distanced && b.distanced && r.w >= NUMBER + 2 * wide + 2 + 2 * AWAY_OF;
    if (b.lines.y > r.y)
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_HEADER, "    %-*s  %-*s%s", wide, "A writes", wide, "B writes",
                      far ? "  A ahead  B ahead" : "");
    for (int i = 0; (i + 1) * b.pitch <= b.lines.h && i + b.first < steps; i++) {
        int t = i + b.first, y = b.lines.y + i * b.pitch; /* beside the same step of A and B */
        size_t x = classes_best(row_of(&a, t), a.n), z = classes_best(row_of(&b, t), b.n);
        char label[64], other[64];
        axis_label(a.words, (int)x, label, sizeof label);
        axis_label(b.words, (int)z, other, sizeof other);
        const bool same = writes_same(&a, &b, t);
        canvas_printf(p->c, y, r.x, NUMBER, t == cursor_row(&b) ? STYLE_CURSOR : STYLE_AXIS, "%s%2d",
                      t == cursor_row(&b) ? ">" : " ", t + 1);
        canvas_label(p->c, y, r.x + NUMBER, wide, same ? STYLE_DIM : STYLE_SIDE_A, label);
        canvas_ref(p->c, y, r.x + NUMBER, 1, shown_ref(&a.probs, (size_t)t * a.n + x));
        int at = r.x + NUMBER + wide + 2;
        canvas_label(p->c, y, at, wide < r.x + r.w - at ? wide : r.x + r.w - at, same ? STYLE_DIM : STYLE_SIDE_B,
                     other);
        canvas_ref(p->c, y, at, 1, shown_ref(&b.probs, (size_t)t * b.n + z));
        if (far && a.margin.values)
            shown_number_right(p, &a.margin, (size_t)t, y, at + wide + 2, AWAY_OF - 2, same ? STYLE_DIM : STYLE_SIDE_A);
        if (far && b.margin.values)
            shown_number_right(p, &b.margin, (size_t)t, y, at + wide + AWAY_OF + 2, AWAY_OF - 2,
                               same ? STYLE_DIM : STYLE_SIDE_B);
    }
}

static void draw_header(const Paint *p, Rect r, const Writing *w)
{
    const bool target = w->tokens->sequence == SEQUENCE_TARGET;
    const Columns at = columns_of(w, r.w);
    if (at.after)
        canvas_text(p->c, r.y, r.x + at.after, w->word, STYLE_HEADER, target ? "after" : "place");
    canvas_text(p->c, r.y, r.x + at.writes, r.w - at.writes > 0 ? r.w - at.writes : 0, STYLE_HEADER,
                target ? "writes" : "names");
    if (at.share)
        canvas_right(p->c, r.y, r.x + at.share, SHARE, STYLE_HEADER, "prob.");
    if (at.ahead)
        canvas_right(p->c, r.y, r.x + at.ahead, at.away - 1, STYLE_HEADER, "ahead");
    if (at.bar >= BAR_NAMED)
        canvas_text(p->c, r.y, r.x + at.ahead + AWAY, at.bar, STYLE_DIM, "logit");
    for (int k = 0; k < at.seconds; k++) {
        const int from = r.x + at.then + k * at.each;
        const int room = at.share ? SECOND - SHARE - 1 : at.each - 1;
        canvas_text(p->c, r.y, from, room, STYLE_HEADER, k ? "third" : room < 6 ? "2nd" : "second");
        if (at.each == SECOND && at.share)
            canvas_right(p->c, r.y, from + SECOND - SHARE - 1, SHARE, STYLE_HEADER, "prob.");
    }
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Writing w;
    if (side == SIDE_DIFF)
        draw_both(p, r);
    else if (!writing_open(p->s, side, &w))
        canvas_wrap(p->c, r, STYLE_DIM, "This model writes no words.");
    else if (!w.probs.values)
        shown_computing(p, r);
    else {
        writing_layout(p->s, r, &w);
        if (w.lines.y > r.y)
            draw_header(p, r, &w);
        for (int i = 0; (i + 1) * w.pitch <= w.lines.h && i + w.first < w.tokens->n; i++) {
            bool here = i + w.first == cursor_row(&w);
            draw_step(p, &w, i + w.first, w.lines.y + i * w.pitch, here);
            if (here)
                focus_cursor(p, focus, w.lines.y + i * w.pitch, w.lines.x);
        }
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    for (int k = SIDE_A; k <= SIDE_B; k++)
        if (side == SIDE_DIFF || (int)side == k) {
            needs_add(out, (Side)k, shown_site(s, (Side)k, SITE_PROBS));
            needs_add(out, (Side)k, shown_site(s, (Side)k, SITE_MARGIN));
        }
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Writing w;
    char label[64];
    if (side == SIDE_DIFF || !writing_open(p->s, side, &w) || !w.probs.values)
        return false;
    writing_layout(p->s, r, &w);
    int t = (y - w.lines.y) / w.pitch + w.first;
    if (!rect_has(w.lines, y, x) || t >= w.tokens->n)
        return false;
    if (t == cursor_row(&w))
        buf_puts(command, "in");
    else
        buf_printf(command, "query %s", axis_label(w.tokens, t, label, sizeof label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Writing w;
    if (!writing_open(s, side == SIDE_DIFF ? SIDE_B : side, &w))
        buf_puts(out, "writing");
    else if (w.tokens->sequence == SEQUENCE_TARGET)
        buf_printf(out, "writing: %d steps\nwriting", w.tokens->n);
    else
        buf_printf(out, "a word for each of %d places\na word each", w.tokens->n);
}

VIEW_SPEC(WRITING, .name = "writing", .traits = VIEW_TRACED,
          .sentence = "Its word at each place; ahead: logit less the second's; ≠: the text differs");
