/* A text as it runs, each token on the ground of its surprise: −log of the probability that the row before it gives it.
 * Where there is room the tokens again, one a line, as bars. Below them the token at the cursor, its probability, its
 * rank among all words and what stood before it in the list; then the text as a whole. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/text_model.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/classes.h"

enum {
    BELOW = 5,
    BELOW_FROM = 8,
    PIECE = 96,
    NUMBER = 9,
    NAME = 12,
    NAME_BOTH = 18,
    BOTH_FROM = 40,
    RIVAL_MOST = 14,
    RIVAL_SHARE = 7
};
enum {
    LIST_LEAST = 5,
    BAR_MOST = 48,
    RIVALS_WIDE = 58,
    PITCH_MOST = 3,
    LOOKED_AT = 400000 /* words in a frame, for the rivals */
};
static const float LEAST_NATS = 1;
static const double NAT = 1.4426950408889634; /* bits */

typedef struct Stream {
    Shown nats; /* [token that is asked for] */
    const Vocabulary *v, *other_v;
    Text text, other; /* other: of A − B the text of A, or of no tokens */
    Rect lines, list, below;
    int first;  /* line of the text that is drawn first */
    int pitch;  /* lines of a token in the list */
    int listed; /* the token that the list begins with, without the one that nothing stands before */
} Stream;

static void put_piece(const Vocabulary *v, const Text *text, int i, char out[PIECE])
{
    Buf line = {0};
    words_piece_line(v, i ? text->word[i - 1] : -1, text->word[i], &line);
    utf8_fit(out, PIECE, buf_str(&line), PIECE / 4);
    buf_free(&line);
}

/* A token's text in one line, in cells; of A − B those of both, " il/elle", where they are two. */
static int piece_of(const Stream *w, int i, char out[PIECE])
{
    char a[PIECE], b[PIECE];
    put_piece(w->v, &w->text, i, out);
    if (i < w->other.count) {
        put_piece(w->other_v, &w->other, i, a);
        memcpy(b, out, sizeof b);
        if (strcmp(a, b) != 0)
            utf8_print(out, PIECE, "%s/%s", a, b + (*b == ' ' && b[1]));
    }
    return utf8_cells(out);
}

typedef void EachToken(void *context, const Stream *w, int i, Rect at, const char *text);

/* Every token with its place, lines counted from 0: the blank in front of one that begins a line goes. Returns how many
 * lines they take. */
static int each_token(const Stream *w, int width, EachToken *f, void *context)
{
    int y = 0, x = 0;
    char text[PIECE];
    for (int i = 0; i < w->text.count; i++) {
        int cells = piece_of(w, i, text);
        if (x && x + cells > width) {
            y++;
            x = 0;
        }
        const char *from = text + (!x && *text == ' ' && text[1]);
        cells -= (int)(from - text);
        f(context, w, i, (Rect){y, x, 1, cells < width ? cells : width}, from);
        x += cells;
    }
    return y + 1;
}

typedef struct Sought {
    int token, y, x; /* of a token its line; of a place the token */
} Sought;

static void find_line(void *context, const Stream *w, int i, Rect at, const char *text)
{
    Sought *s = context;
    (void)w, (void)text;
    if (i == s->token)
        s->y = at.y;
}

static void find_token(void *context, const Stream *w, int i, Rect at, const char *text)
{
    Sought *s = context;
    (void)w, (void)text;
    if (rect_has(at, s->y, s->x))
        s->token = i;
}

static bool stream_open(const Session *s, Side side, Rect r, Stream *w)
{
    const Exhibit *e = session_exhibit(s, side == SIDE_A ? SIDE_A : SIDE_B);
    *w = (Stream){.first = 0};
    if (!e || !model_way(e->model) || !shown_open(s, side, shown_site(s, side, SITE_SURPRISE), &w->nats))
        return false;
    w->v = &e->model->target;
    w->text = e->input.text[TEXT_TARGET];
    const Exhibit *a = side == SIDE_DIFF ? session_exhibit(s, SIDE_A) : NULL;
    if (a && a->input.text[TEXT_TARGET].count == w->text.count) {
        w->other_v = &a->model->target;
        w->other = a->input.text[TEXT_TARGET];
    }
    if (w->text.count != (int)w->nats.count + 1)
        return false;
    if (r.h >= BELOW_FROM) {
        w->below = rect_cut(&r, 'b', BELOW);
        rect_cut(&r, 'b', 1);
    }
    w->lines = r;
    Sought here = {.token = (int)w->nats.cell + 1};
    int lines = each_token(w, r.w, find_line, &here);
    if (r.h >= lines + 1 + LIST_LEAST) {
        w->lines = rect_cut(&r, 't', lines);
        rect_cut(&r, 't', 1);
        w->list = r;
        w->pitch = clamp(r.h / (int)w->nats.count, 1, PITCH_MOST);
        w->listed = (int)scroll_first(w->nats.count, w->nats.cell, (size_t)(r.h / w->pitch));
    }
    w->first = (int)scroll_first((size_t)lines, (size_t)here.y, (size_t)w->lines.h);
    return true;
}

/* From 0 to 1 nat at least: a text that is known as a whole is dark, and so is what hardly differs. Of A and B beside
 * each other one for both: a ground means the same on either side. */
static ColourScale scale_of(const Paint *p, Side side, const Stream *w)
{
    float most = LEAST_NATS;
    Shown v;
    if (side == SIDE_DIFF) {
        const ColourScale own = colour_scale_for(p, side, w->nats.node, w->nats.values, w->nats.count);
        ColourScale roomy = colour_scale_of_range(p, -LEAST_NATS, LEAST_NATS);
        roomy.diff = true;
        roomy.nans = own.nans;
        return own.high > 0 && own.high < LEAST_NATS && !p->s->look.locked ? roomy : own;
    }
    for (int k = SIDE_A; k <= SIDE_B; k++)
        if ((k == (int)side || p->s->compare == COMPARE_SIDES) &&
            shown_open(p->s, (Side)k, shown_site(p->s, (Side)k, SITE_SURPRISE), &v) && v.values)
            for (size_t i = 0; i < v.count; i++)
                most = v.values[i] > most ? v.values[i] : most;
    ColourScale scale = colour_scale_of_range(p, 0, most);
    scale.shared = p->s->compare == COMPARE_SIDES;
    return scale;
}

typedef struct Drawing {
    const Paint *p;
    const ColourScale *scale;
    bool focus;
} Drawing;

static void draw_token(void *context, const Stream *w, int i, Rect at, const char *text)
{
    const Drawing *d = context;
    const int y = w->lines.y + at.y - w->first, x = w->lines.x + at.x;
    const bool here = i == (int)w->nats.cell + 1;
    if (at.y < w->first || at.y >= w->first + w->lines.h)
        return;
    canvas_text(d->p->c, y, x, at.w, here ? STYLE_CURSOR : i ? STYLE_TEXT : STYLE_DIM, text);
    if (i) /* nothing stands before the first */
        word_ground(d->p, y, x, at.w, d->scale, w->nats.values[i - 1], shown_ref(&w->nats, (size_t)i - 1));
    if (here) {
        canvas_attr(d->p->c, (Rect){y, x, 1, at.w}, ATTR_BOLD | ATTR_UNDERLINE);
        focus_cursor(d->p, d->focus, y, x);
    }
}

/* "il  3.214 nats (4.637 bits)  prob. 4.02 %": what has room as a whole. */
static void draw_here(const Paint *p, const Stream *w, Side side, Rect r)
{
    Shown prob;
    char name[PIECE], text[32];
    Buf bits = {0};
    int x = r.x, end = r.x + r.w;
    const size_t at = w->nats.cell;
    piece_of(w, (int)at + 1, name);
    x += canvas_label(p->c, r.y, x, NAME < r.w ? NAME : r.w, STYLE_STRONG, name + (*name == ' ' && name[1])) + 2;
    if (x + NUMBER >= end)
        return;
    x += shown_number(p, &w->nats, at, r.y, x, NUMBER, STYLE_TEXT);
    x += canvas_text(p->c, r.y, x, end - x, STYLE_DIM, " nats");
    buf_puts(&bits, " (");
    buf_fixed(&bits, 0, NAT * (double)w->nats.values[at], 3);
    buf_puts(&bits, " bits)");
    if ((int)bits.len <= end - x)
        x += canvas_text(p->c, r.y, x, end - x, STYLE_DIM, buf_str(&bits));
    buf_free(&bits);
    if (side != SIDE_DIFF && shown_open(p->s, side, shown_site(p->s, side, SITE_SURPRISE_PROB), &prob) && prob.values &&
        x + NUMBER + 8 < end) {
        x += canvas_text(p->c, r.y, x, end - x, STYLE_DIM, "  prob.");
        share_text(text, sizeof text, prob.values[at]);
        canvas_right(p->c, r.y, x, RIVAL_SHARE + 1, STYLE_TEXT, text);
        canvas_ref(p->c, r.y, x, RIVAL_SHARE + 1, shown_ref(&prob, at));
    }
}

/* What stands between a rank and the words that are named: the longest that leaves room for the first of them; NULL
 * where none does. */
static const char *rivals_word(bool likelier, bool brief, int room)
{
    static const char *const WORDS[2][2] = {{"; likeliest instead:", ", then"}, {"; likelier:", "; likelier:"}};
    for (int k = brief; k < 2; k++)
        if (utf8_cells(WORDS[likelier][k]) <= room)
            return WORDS[likelier][k];
    return NULL;
}

/* Its place among all words, and those that the row before it holds likelier, or where it is the likeliest the next.
 * brief: one line of many. */
static void draw_rivals(const Paint *p, const Stream *w, Side side, Rect r, bool brief)
{
    Shown probs;
    char label[64], text[32];
    if (!shown_open(p->s, side, shown_site(p->s, side, SITE_PROBS), &probs) || !probs.values)
        return;
    Dims d = graph_node(probs.graph, probs.node)->dims;
    const Axis *words = &probs.graph->axes[d.axis[1]];
    const size_t n = (size_t)words->n, first = w->nats.cell * n;
    const Ranking row = {probs.values + first, n, false};
    const size_t rank = ranking_rank(row, (size_t)w->text.word[w->nats.cell + 1]);
    int x = r.x, end = r.x + r.w;
    if (isnan(row.v[w->text.word[w->nats.cell + 1]])) {
        canvas_text(p->c, r.y, x, r.w, STYLE_WARNING, "NaN: no rank");
        return;
    }
    x += canvas_printf(p->c, r.y, x, r.w, rank ? STYLE_WARNING : STYLE_GOOD, brief ? "rank %zu" : "rank %zu of %zu",
                       rank + 1, n);
    const size_t first_named = rank ? ranking_best(row) : ranking_next(row, ranking_best(row));
    const int first_cells = first_named < n ? utf8_cells(axis_label(words, (int)first_named, label, sizeof label)) : 0;
    const char *word = rivals_word(rank > 0, brief,
                                   end - x - 3 - RIVAL_SHARE - (first_cells < RIVAL_MOST ? first_cells : RIVAL_MOST));
    if (!word)
        return;
    x += canvas_text(p->c, r.y, x, end - x, STYLE_DIM, word);
    for (size_t k = first_named, shown = 0; k < n && shown < 8; k = ranking_next(row, k), shown++) {
        if (k == (size_t)w->text.word[w->nats.cell + 1])
            break;
        axis_label(words, (int)k, label, sizeof label);
        int cells = utf8_cells(label) < RIVAL_MOST ? utf8_cells(label) : RIVAL_MOST;
        if (x + 2 + cells + 1 + RIVAL_SHARE > end)
            break;
        x += 2 + canvas_label(p->c, r.y, x + 2, cells, STYLE_TEXT, label) + 1;
        share_text(text, sizeof text, row.v[k]);
        int used = canvas_text(p->c, r.y, x, RIVAL_SHARE, STYLE_DIM, text);
        canvas_ref(p->c, r.y, x, used, shown_ref(&probs, first + k));
        x += used;
    }
}

/* Of A − B from the middle, in the colour of the side that is more surprised. */
static void draw_bar(const Paint *p, const Stream *w, Side side, size_t k, Rect r, float most)
{
    const float value = w->nats.values[k] / most;
    const Style style = k == w->nats.cell ? STYLE_SELECTED : STYLE_TEXT;
    for (int y = r.y; y < r.y + r.h; y++)
        if (side == SIDE_DIFF)
            canvas_bar_signed(p->c, y, r.x, r.w, (double)value, STYLE_SIDE_A, STYLE_SIDE_B, shown_ref(&w->nats, k));
        else
            canvas_bar(p->c, y, r.x, r.w, (double)fabsf(value), value < 0 ? STYLE_NEGATIVE : style,
                       shown_ref(&w->nats, k));
}

/* One token a line: how surprising it is, as a number and a bar, and what was likelier; below, how many of them. */
static void draw_list(const Paint *p, const Stream *w, Side side)
{
    float most = LEAST_NATS;
    for (size_t i = 0; i < w->nats.count; i++)
        most = fmaxf(most, fabsf(w->nats.values[i]));
    Shown probs;
    const Rect r = w->list;
    const int name_w = w->other.count && r.w >= BOTH_FROM ? NAME_BOTH : NAME;
    const int bar = clamp((r.w - name_w - NUMBER - 4 - RIVALS_WIDE), 0, BAR_MOST), x = r.x + name_w + 2 + NUMBER + 2;
    const bool rivals = side != SIDE_DIFF && bar &&
                        shown_open(p->s, side, shown_site(p->s, side, SITE_PROBS), &probs) &&
                        probs.count / w->nats.count * (size_t)r.h < LOOKED_AT;
    const int wide = rivals ? bar : clamp(r.w - name_w - NUMBER - 4, 0, BAR_MOST);
    for (int i = 0; i < (w->pitch ? r.h / w->pitch : 0) && w->listed + i < (int)w->nats.count; i++) {
        Stream one = *w; /* as if the cursor were there */
        char name[PIECE];
        const size_t k = one.nats.cell = (size_t)(w->listed + i);
        const bool here = k == w->nats.cell;
        const int y = r.y + i * w->pitch;
        const Style style = here ? STYLE_SELECTED : STYLE_TEXT;
        piece_of(w, (int)k + 1, name);
        canvas_label(p->c, y, r.x, name_w, style, name + (*name == ' ' && name[1]));
        shown_number_right(p, &w->nats, k, y, r.x + name_w + 2, NUMBER, style);
        if (wide)
            draw_bar(p, w, side, k, (Rect){y, x, w->pitch > 1 ? w->pitch - 1 : 1, wide}, most);
        if (rivals)
            draw_rivals(p, &one, side, (Rect){y, x + wide + 2, 1, r.x + r.w - x - wide - 2}, true);
    }
    const int shown = w->pitch ? r.h / w->pitch : 0;
    if (w->below.h && shown && shown < (int)w->nats.count)
        canvas_printf(p->c, r.y + r.h, r.x, r.w, STYLE_DIM, "%d–%d of %zu, %zu more", w->listed + 1, w->listed + shown,
                      w->nats.count, w->nats.count - (size_t)shown);
}

static int put_whole(const Paint *p, Side side, Site site, const char *name, int y, int x, int end)
{
    Shown v;
    if (x + utf8_cells(name) + NUMBER > end || !shown_open(p->s, side, shown_site(p->s, side, site), &v) || !v.values)
        return x;
    x += canvas_text(p->c, y, x, end - x, STYLE_DIM, name);
    return x + shown_number(p, &v, 0, y, x, NUMBER, STYLE_TEXT) + 2;
}

/* The mean once more, of a byte of the text: what models whose tokens are others share. */
static int put_bits(const Paint *p, const Stream *w, Side side, int y, int x, int end)
{
    char text[32];
    Shown v;
    const size_t bytes = words_bytes(w->v, w->text.word, w->text.count, 1);
    if (side == SIDE_DIFF || !bytes || !shown_open(p->s, side, shown_site(p->s, side, SITE_SURPRISE_TOTAL), &v) ||
        !v.values ||
        utf8_print(text, sizeof text, "bits a byte %.4g", NAT * (double)*v.values / (double)bytes) > end - x)
        return x;
    return x + canvas_text(p->c, y, x, end - x, STYLE_DIM, text) + 2;
}

static void draw_whole(const Paint *p, const Stream *w, Side side, Rect r)
{
    int x = r.x, end = r.x + r.w;
    x += side == SIDE_DIFF ? canvas_text(p->c, r.y, x, r.w, STYLE_DIM, "A − B: ")
                           : canvas_printf(p->c, r.y, x, r.w, STYLE_DIM, "%zu token%s  ", w->nats.count,
                                           w->nats.count == 1 ? "" : "s");
    x = put_whole(p, side, SITE_SURPRISE_MEAN, "mean ", r.y, x, end);
    x = put_whole(p, side, SITE_PERPLEXITY, "perplexity ", r.y, x, end);
    x = put_whole(p, side, SITE_SURPRISE_TOTAL, "total ", r.y, x, end);
    const Model *m = session_exhibit(p->s, side == SIDE_A ? SIDE_A : SIDE_B)->model;
    x = put_bits(p, w, side, r.y, x, end);
    if (!m->trained)
        canvas_text(p->c, r.y, x, end - x > 0 ? end - x : 0, STYLE_WARNING, "untrained");
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Stream w;
    char why[SESSION_WHY];
    const char *apart = side == SIDE_DIFF ? session_diff_why(p->s, shown_site(p->s, SIDE_B, SITE_SURPRISE), why) : NULL;
    if (apart)
        canvas_wrap(p->c, r, STYLE_DIM, apart);
    else if (!stream_open(p->s, side, r, &w))
        canvas_wrap(p->c, r, STYLE_DIM, "This side gives no text a probability.");
    else if (!w.nats.values)
        shown_computing(p, r);
    else {
        const ColourScale scale = scale_of(p, side, &w);
        Drawing d = {p, &scale, focus};
        each_token(&w, w.lines.w, draw_token, &d);
        draw_list(p, &w, side);
        if (!w.below.h)
            return;
        Rect line = rect_cut(&w.below, 't', 1);
        int used = canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM,
                               side == SIDE_DIFF ? "A − B, nats  " : "−log p, nats  ");
        colour_scale_bar(p, &scale, line.y, line.x + used, line.w - used);
        draw_here(p, &w, side, rect_cut(&w.below, 't', 1));
        if (side != SIDE_DIFF)
            draw_rivals(p, &w, side, rect_cut(&w.below, 't', 1), false);
        rect_cut(&w.below, 't', 1);
        draw_whole(p, &w, side, w.below);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    static const Site SITES[] = {SITE_SURPRISE,      SITE_SURPRISE_PROB,  SITE_PROBS,
                                 SITE_SURPRISE_MEAN, SITE_SURPRISE_TOTAL, SITE_PERPLEXITY};
    (void)r;
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++)
        if (side != SIDE_DIFF || (SITES[i] != SITE_PROBS && SITES[i] != SITE_SURPRISE_PROB))
            needs_add(out, side, shown_site(s, side, SITES[i]));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Stream w;
    if (!stream_open(p->s, side, r, &w))
        return false;
    const int listed = w.pitch ? w.listed + (y - w.list.y) / w.pitch : 0;
    if (rect_has(w.list, y, x) && listed < (int)w.nats.count) {
        click_cell(p, &w.nats, (size_t)listed, command);
        return true;
    }
    if (!rect_has(w.lines, y, x))
        return false;
    Sought at = {.token = 0, .y = y - w.lines.y + w.first, .x = x - w.lines.x};
    each_token(&w, w.lines.w, find_token, &at);
    if (!at.token)
        return false;
    click_cell(p, &w.nats, (size_t)at.token - 1, command);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)s;
    buf_puts(out, side == SIDE_DIFF ? "surprise" : "surprise, −log p");
}

VIEW_SPEC(STREAM, .name = "stream", .traits = VIEW_TRACED | VIEW_TELLS,
          .sentence = "Each token on the ground of its surprise: what stands before it decides.");
