#include "tui/views/learned/lens_tokens.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/screens.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/classes.h"

enum { LABEL = 9, CELL_LEAST = 8, CELL_MOST = 11, BELOW = 2, BELOW_FROM = 7, BANDS_MOST = 8, LETTERS_MOST = 16 };
enum { NAN_CELLS = 5, WORDS_MOST = 5, LOOKED_AT = 4000000 /* probabilities in a frame */ };

typedef struct Tokens {
    const Session *s;
    Side side;
    const Axis *token, *word;
    int at;                 /* the token in focus */
    int rows, top, row;     /* blocks and the answer, and perhaps the start; the first of all, and that in focus */
    int first, shown, w;    /* rows drawn */
    int left, across;       /* tokens drawn in a band */
    int bands;              /* of the same rows below each other, for more tokens or for wider ones */
    int words;              /* the likeliest of each, where there is room for more than one */
    Rect head, body, below; /* head and body of the first band */
} Tokens;

bool lens_tokens_on(const Session *s, Side side)
{
    const char *path = shown_site(s, side, SITE_PROBS);
    const NodeId n = path ? session_node(s, side, path) : NO_NODE;
    return s->look.lens.tokens && side != SIDE_DIFF && n != NO_NODE &&
           node_role(session_graph(s, side), n, ROLE_QUERY) != AXIS_NONE;
}

/* Of a row: its words, and a blank line behind several. */
static int row_lines(const Tokens *t)
{
    return t->words + (t->words > 1);
}

/* From one band to the next: its rows, a blank one, the tokens of the next. */
static int band_lines(const Tokens *t)
{
    return t->shown * row_lines(t) + (t->words > 1 ? 1 : 2);
}

static Tokens open_tokens(const Session *s, Side side, Rect r)
{
    const Graph *g = session_graph(s, side);
    const Dims d = graph_node(g, session_node(s, side, shown_site(s, side, SITE_PROBS)))->dims;
    const int blocks = lens_blocks(s, side), token = dims_role(g, d, ROLE_QUERY);
    const char *start = lens_path(s, side, LENS_START);
    const int here = session_block(s) < blocks ? session_block(s) : blocks - 1;
    Tokens t = {.s = s, .side = side, .token = &g->axes[token], .word = &g->axes[dims_role(g, d, ROLE_ANSWER)]};
    t.at = session_index_on(s, g, token);
    t.top = session_node(s, side, start) == NO_NODE ? 0 : LENS_START;
    t.rows = blocks + 1 - t.top;
    t.row = (here >= 0 ? here : start && strcmp(s->place.path, start) == 0 ? t.top : blocks) - t.top;
    t.head = rect_cut(&r, 't', r.h > 2);
    if (r.h >= t.rows + BELOW || r.h >= BELOW_FROM)
        t.below = rect_cut(&r, 'b', BELOW);
    t.shown = r.h < t.rows ? r.h : t.rows;
    t.first = (int)scroll_first((size_t)t.rows, (size_t)t.row, (size_t)(t.shown > 0 ? t.shown : 1));
    const int room = r.w - LABEL, fit = t.shown == t.rows && t.rows ? (r.h + 2) / (t.rows + 2) : 1;
    const int letters = clamp(shown_axis_widest(t.token, LETTERS_MOST) + 1, CELL_LEAST, LETTERS_MOST);
    t.bands = 1; /* until all tokens are there, each with its letters */
    while (t.bands < clamp(fit, 1, BANDS_MOST) && t.bands * (room / letters) < t.token->n)
        t.bands++;
    int each = (t.token->n + t.bands - 1) / t.bands;
    t.across = clamp(each, 1, room / CELL_LEAST < 1 ? 1 : room / CELL_LEAST);
    t.w = room / t.across > CELL_MOST && letters <= CELL_MOST ? CELL_MOST : room / t.across;
    t.w = t.w > LETTERS_MOST ? LETTERS_MOST : t.w;
    t.left = (int)scroll_first((size_t)t.token->n, (size_t)t.at, (size_t)(t.across * t.bands));
    t.body = r;
    const double looked_at = (double)t.rows * t.across * t.bands * t.word->n;
    t.words = 1;
    while (t.shown == t.rows && t.words < WORDS_MOST && t.words + 1 < t.word->n &&
           (t.words + 1) * looked_at < LOOKED_AT && t.bands * (t.rows * (t.words + 2) + 1) - 2 <= r.h)
        t.words++;
    const int end = r.y + t.bands * band_lines(&t) - 1;
    if (t.below.h && t.below.y > end) /* right under the table */
        t.below.y = end;
    return t;
}

static int band_count(const Tokens *t, int band)
{
    return clamp(t->token->n - t->left - band * t->across, 0, t->across);
}

/* Row `row` of the table: which word is named behind a token, and how probable. */
static bool cell_of(const Tokens *t, int row, int token, Shown *v, size_t *cell)
{
    const char *path = lens_path(t->s, t->side, row + t->top);
    if (!path || !shown_open(t->s, t->side, path, v) || !v->values)
        return false;
    const size_t words = (size_t)t->word->n, from = (size_t)token * words;
    *cell = from + classes_best(v->values + from, words);
    return true;
}

static void put_row_name(const Tokens *t, int row, char out[24])
{
    const int block = row + t->top;
    if (block == LENS_START)
        snprintf(out, 24, "start");
    else if (row + 1 == t->rows)
        snprintf(out, 24, "answer");
    else
        snprintf(out, 24, "block %d", block);
}

/* Is there one, in what is drawn, whose probabilities are no numbers? */
static bool has_nan(const Tokens *t)
{
    Shown v;
    size_t cell;
    for (int row = t->first; row < t->first + t->shown; row++)
        for (int i = t->left; i < t->token->n && i < t->left + t->bands * t->across; i++)
            if (cell_of(t, row, i, &v, &cell) && isnan(v.values[cell]))
                return true;
    return false;
}

/* At the end of a line of which `used` cells are: which tokens have a place, where not all have. */
static void draw_seen(const Paint *p, const Tokens *t, Rect line, int used)
{
    const int last = t->left + t->across * t->bands, n = t->token->n;
    char text[64];
    if (t->left == 0 && last >= n)
        return;
    if (utf8_print(text, sizeof text, "tokens %d–%d of %d", t->left + 1, last < n ? last : n, n) > line.w - used &&
        utf8_print(text, sizeof text, "%d–%d/%d", t->left + 1, last < n ? last : n, n) > line.w - used)
        return;
    canvas_right(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, text);
}

/* The cell in focus in words, and the ground's scale. */
static void draw_below(const Paint *p, const Tokens *t, const ColourScale *scale)
{
    char row[24], token[64], word[64], share[32];
    Rect r = t->below;
    Shown v;
    size_t cell;
    if (r.h && cell_of(t, t->row, t->at, &v, &cell)) {
        put_row_name(t, t->row, row);
        share_text(share, sizeof share, v.values[cell]);
        const Rect line = rect_cut(&r, 't', 1);
        axis_label(t->word, (int)(cell % (size_t)t->word->n), word, sizeof word);
        const bool number = !isnan(v.values[cell]);
        const int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_SENTENCE, "%s, behind %s: %s%s", row,
                                       axis_label(t->token, t->at, token, sizeof token), number ? word : "",
                                       number ? " " : "");
        canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_SENTENCE, share);
        canvas_ref(p->c, line.y, line.x + used, utf8_cells(share), shown_ref(&v, cell));
        draw_seen(p, t, line, used + utf8_cells(share) + 2);
    }
    if (!r.h)
        return;
    int used = canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM,
                           t->words > 1 && r.w > 70 ? "probability of the word; the likeliest on top  "
                           : r.w > 50               ? "probability of the word  "
                                                    : "prob. ");
    if (has_nan(t) && r.w - used > NAN_CELLS) {
        word_ground(p, r.y, r.x + used, canvas_text(p->c, r.y, r.x + used, 3, STYLE_TEXT, "NaN"), scale, NAN, (Ref){0});
        used += NAN_CELLS;
    }
    colour_scale_bar(p, scale, r.y, r.x + used, r.w - used);
}

/* The likeliest words, each on the ground of its probability. */
static void draw_token(const Paint *p, const Tokens *t, int row, int token, Rect r, const ColourScale *scale,
                       bool focus)
{
    char label[64];
    Shown v;
    size_t cell;
    const bool here = row == t->row && token == t->at;
    if (!cell_of(t, row, token, &v, &cell)) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "…");
        return;
    }
    const size_t words = (size_t)t->word->n, from = (size_t)token * words;
    for (int k = 0; k < t->words && cell < from + words && !(k && isnan(v.values[cell])); k++) {
        const Rect line = {r.y + k, r.x, 1, r.w};
        canvas_label(p->c, line.y, line.x, line.w, here && !k ? STYLE_CURSOR : STYLE_TEXT,
                     isnan(v.values[cell]) ? "NaN" : axis_label(t->word, (int)(cell - from), label, sizeof label));
        word_ground(p, line.y, line.x, line.w, scale, v.values[cell], shown_ref(&v, cell));
        if (here && !k)
            canvas_attr(p->c, line, ATTR_BOLD | ATTR_UNDERLINE);
        cell = from + classes_next(v.values + from, words, cell - from);
    }
    if (here)
        focus_cursor(p, focus, r.y, r.x);
}

static void draw_band(const Paint *p, const Tokens *t, int band, const ColourScale *scale, bool focus)
{
    char label[64], name[24];
    const int first = t->left + band * t->across, down = band * band_lines(t);
    for (int i = 0; t->head.h && i < band_count(t, band); i++)
        canvas_label(p->c, t->head.y + down, t->head.x + LABEL + i * t->w, t->w - 1,
                     first + i == t->at ? STYLE_TITLE : STYLE_HEADER,
                     axis_label(t->token, first + i, label, sizeof label));
    for (int k = 0; k < t->shown; k++) {
        const int row = t->first + k, y = t->body.y + down + k * row_lines(t);
        put_row_name(t, row, name);
        canvas_printf(p->c, y, t->body.x, LABEL, row == t->row ? STYLE_TITLE : STYLE_TEXT, "%s%s",
                      row == t->row ? ">" : " ", name);
        for (int i = 0; i < band_count(t, band); i++)
            draw_token(p, t, row, first + i, (Rect){y, t->body.x + LABEL + i * t->w, 1, t->w - 1}, scale, focus);
    }
}

/* Which of the tokens are shown, where not all are: "9-24/24". */
static void draw_which(const Paint *p, const Tokens *t)
{
    const int last = t->left + t->bands * t->across < t->token->n ? t->left + t->bands * t->across : t->token->n;
    char text[48];
    if (!t->head.h || (t->left == 0 && last == t->token->n))
        return;
    snprintf(text, sizeof text, "%d-%d/%d", t->left + 1, last, t->token->n);
    if ((int)strlen(text) >= LABEL)
        snprintf(text, sizeof text, "of %d:", t->token->n);
    canvas_text(p->c, t->head.y, t->head.x, LABEL - 1, STYLE_DIM, text);
}

void lens_tokens_draw(const Paint *p, Side side, Rect r, bool focus)
{
    const Tokens t = open_tokens(p->s, side, r);
    const ColourScale scale = colour_scale_of_range(p, 0, 1);
    for (int band = 0; band < t.bands; band++)
        draw_band(p, &t, band, &scale, focus);
    draw_which(p, &t);
    draw_below(p, &t, &scale);
}

void lens_tokens_need(const Session *s, Side side, Rect r, Needs *out)
{
    const Tokens t = open_tokens(s, side, r);
    for (int k = 0; k < t.shown; k++)
        needs_add(out, side, lens_path(s, side, t.first + k + t.top));
}

bool lens_tokens_click(const Session *s, Side side, Rect r, int y, int x, Buf *command)
{
    const Tokens t = open_tokens(s, side, r);
    const int i = (x - t.body.x - LABEL) / (t.w > 0 ? t.w : 1), lines = y - t.body.y,
              band = lines < 0 ? t.bands : lines / band_lines(&t), k = lines % band_lines(&t) / row_lines(&t);
    if (x < t.body.x + LABEL || band >= t.bands || i >= band_count(&t, band) || k >= t.shown)
        return false;
    const int right = t.left + band * t.across + i - t.at, down = t.first + k - t.row;
    if (!right && !down)
        buf_puts(command, "in");
    if (right)
        buf_printf(command, "move %s %d", right < 0 ? "left" : "right", right < 0 ? -right : right);
    if (down)
        buf_printf(command, "%smove %s %d", right ? "; " : "", down < 0 ? "up" : "down", down < 0 ? -down : down);
    return true;
}
