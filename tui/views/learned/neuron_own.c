#include "core/base/byte_text.h"
#include "core/base/utf8.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/learned/neuron_view.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_WIDE = 40, /* columns of a list of units where there are several */
    UNIT_NUMBER = 6
};

/* Bytes of that mark. */
static size_t mark_of(const char *label)
{
    static const char *const MARKS[] = {"Ġ", "▁"};
    for (size_t k = 0; k < sizeof MARKS / sizeof *MARKS; k++)
        if (strncmp(label, MARKS[k], strlen(MARKS[k])) == 0 && label[strlen(MARKS[k])])
            return strlen(MARKS[k]);
    return 0;
}

const char *neuron_label(const Axis *axis, int i, char out[64])
{
    axis_label(axis, i, out, 64);
    const size_t mark = mark_of(out);
    memmove(out, out + mark, strlen(out + mark) + 1);
    return out;
}

bool neuron_begins(const Axis *axis, int i)
{
    char label[64];
    return mark_of(axis_label(axis, i, label, sizeof label)) > 0;
}

void neuron_draw_writes_head(const Paint *p, Rect line, size_t hidden, bool words)
{
    static const char *const SAYS[] = {"it writes into each %s, per unit of activation, before the norm scales it",
                                       "it writes into each %s, per unit of activation, before the norm",
                                       "it writes into each %s, per unit of activation",
                                       "it writes, per unit of activation", "writes per activation"};
    enum { FORMS = sizeof SAYS / sizeof *SAYS };
    char text[96];
    for (int i = 0; i < 2 * FORMS; i++) {
        int w = utf8_print(text, sizeof text, SAYS[i % FORMS], words ? "token" : "class");
        if (hidden && i < FORMS)
            w += utf8_print(text + strlen(text), sizeof text - strlen(text), "; %zu more", hidden);
        if (w <= line.w)
            break;
    }
    canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, text);
}

const char *neuron_excites_says(const Unit *u, const NeuronShown *n, int width)
{
    static const struct {
        int least;
        const char *one, *both;
    } PICTURES[] = {{39, "pictures that excite it most, and where", "pictures that excite it, as trained"},
                    {28, "pictures that excite it most", "excite it, as trained"},
                    {NEURON_BOTH_SAID, "excites", "excite, as trained"},
                    {0, "excites", "trained"}};
    int i = 0;
    if (u->words)
        return n && n->window_tokens ? "tokens that excite it most" : "words that excite it most";
    while (width < PICTURES[i].least)
        i++;
    return u->post.side == SIDE_DIFF ? PICTURES[i].both : PICTURES[i].one;
}

/* By which the tokens are in order; what is no number comes before all numbers. */
static float rank_of(const Unit *u, int token, int most)
{
    const float x = u->post.values[neuron_cell(u, token)];
    return token == neuron_token(u) || token == most ? INFINITY : isfinite(x) ? fabsf(x) : FLT_MAX;
}

static int by_order(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int neuron_largest(const Unit *u, int lines, int token[NEURON_LINES])
{
    const int n = u->tokens->n, room = clamp(lines, 0, NEURON_LINES);
    int most = 0, count = 0, last = -1;
    float above = INFINITY;
    for (int t = 1; t < n; t++)
        most = u->post.values[neuron_cell(u, t)] > u->post.values[neuron_cell(u, most)] ? t : most;
    for (; count < room && count < n; count++) {
        int best = -1;
        float rank = 0;
        for (int t = 0; t < n; t++) { /* below the one before; of equals by their order */
            const float x = rank_of(u, t, most);
            if ((x < above || (x >= above && x <= above && t > last)) && (best < 0 || x > rank)) {
                best = t;
                rank = x;
            }
        }
        token[count] = last = best;
        above = rank;
    }
    qsort(token, (size_t)count, sizeof *token, by_order);
    return count;
}

/* The unit that this token excites k-th most, of `units`; the one before it is `after` (units: none). */
static int next_unit(const float *row, int units, int after)
{
    int best = -1;
    for (int i = 0; i < units; i++)
        if ((after < 0 || row[i] < row[after] || (row[i] == row[after] && i > after)) &&
            (best < 0 || row[i] > row[best]))
            best = i;
    return best;
}

void neuron_draw_units(const Paint *p, const Unit *u, Rect r)
{
    char label[64];
    const int units = u->post.graph->axes[u->axes.units].n, before = u->unit / units * units;
    int at = neuron_token(u), unit = -1, columns = r.w / UNIT_WIDE > 1 ? r.w / UNIT_WIDE : 1, wide = r.w / columns;
    const float *row = u->post.values + (size_t)at * (size_t)u->units + before;
    Rect head = rect_cut(&r, 't', 1);
    neuron_label(u->tokens, at, label);
    if (u->axes.experts == AXIS_NONE)
        canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "units that %s excites most", label);
    else
        canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "units of expert %d that %s excites most",
                      u->unit / units, label);
    float most = 0;
    for (int k = 0; k < r.h * columns && (unit = next_unit(row, units, unit)) >= 0; k++) {
        size_t cell = (size_t)at * (size_t)u->units + (size_t)(before + unit);
        int y = r.y + k % r.h, x = r.x + k / r.h * wide, bar = wide - UNIT_NUMBER - NEURON_NUMBER - 3;
        most = k ? most : row[unit];
        canvas_printf(p->c, y, x, UNIT_NUMBER, before + unit == u->unit ? STYLE_CURSOR : STYLE_AXIS, "%s%d",
                      before + unit == u->unit ? ">" : " ", unit);
        shown_number_right(p, &u->post, cell, y, x + UNIT_NUMBER, NEURON_NUMBER, STYLE_TEXT);
        if (bar >= NEURON_BAR_LEAST)
            canvas_bar(p->c, y, x + UNIT_NUMBER + NEURON_NUMBER + 1, bar, most > 0 ? (double)(row[unit] / most) : 0,
                       STYLE_TEXT, shown_ref(&u->post, cell));
    }
}

int neuron_draw_own_text(const Paint *p, const Unit *u, Rect r)
{
    char label[3][WORD_LABEL];
    const int n = u->tokens->n;
    int token = -1, lines = 1;
    canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG,
                r.w >= 36 ? "words of this text that excite it most" : "words here that excite it most");
    for (; lines < r.h; lines++) {
        int best = -1;
        for (int t = 0; t < n; t++) {
            const float x = u->post.values[neuron_cell(u, t)],
                        last = token < 0 ? 0 : u->post.values[neuron_cell(u, token)];
            if ((token < 0 || x < last || (!(x > last) && t > token)) &&
                (best < 0 || x > u->post.values[neuron_cell(u, best)]))
                best = t;
        }
        if (best < 0 || !(u->post.values[neuron_cell(u, best)] > 0))
            break;
        token = best;
        const int y = r.y + lines;
        int x = r.x;
        shown_number_right(p, &u->post, neuron_cell(u, token), y, x, NEURON_NUMBER, STYLE_TEXT);
        x += NEURON_NUMBER + 2;
        for (int k = -1; k <= 1; k++) {
            if (token + k < 0 || token + k >= n || x >= r.x + r.w)
                continue;
            x += canvas_label(p->c, y, x, r.x + r.w - x, k ? STYLE_DIM : STYLE_STRONG,
                              word_itself(u->tokens, token + k, label[k + 1])) +
                 !word_joined(u->tokens, token + k);
        }
    }
    if (lines == 1)
        canvas_text(p->c, r.y + lines++, r.x, r.w, STYLE_DIM, "none: it is at most 0 for all");
    return lines;
}

enum { PIECE = 128 };

/* The characters that end in a token: one of several bytes may begin in those before it. */
static void put_ended(const NeuronShown *n, int k, int token, Buf *out)
{
    enum { BEFORE = 3 };
    Buf all = {0};
    char text[4 * PIECE];
    size_t own = 0;
    for (int t = token > BEFORE ? token - BEFORE : 0; t <= token; t++) {
        own = all.len;
        neuron_piece(n, k, t, &all);
    }
    snprintf(text, sizeof text, "%s", buf_str(&all));
    utf8_mend(text);
    for (const char *c = text, *end = c; *c; c = end) {
        utf8_next(&end);
        if ((size_t)(end - text) > own)
            buf_add(out, c, (size_t)(end - c));
    }
    buf_free(&all);
}

/* What a token adds, in one line; returns its cells. */
static int piece_of(const NeuronShown *n, int k, int token, char out[PIECE])
{
    Buf piece = {0}, line = {0};
    put_ended(n, k, token, &piece);
    for (char *c = piece.data; c && *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    byte_text_shown(buf_str(&piece), true, &line);
    utf8_fit(out, PIECE, buf_str(&line), PIECE / 4);
    buf_free(&piece);
    buf_free(&line);
    return utf8_cells(out);
}

void neuron_draw_windows(const Paint *p, const NeuronShown *n, Rect r)
{
    for (int k = 0; k < n->count && k < r.h; k++) {
        char number[32], piece[PIECE];
        int x = r.x + NEURON_NUMBER + 1, token = n->hit[k].token, from = token, left = (r.x + r.w - x) / 2;
        number_text(number, sizeof number, n->hit[k].value, NEURON_NUMBER);
        canvas_right(p->c, r.y + k, r.x, NEURON_NUMBER, STYLE_TEXT, number);
        for (int cells; from > 0 && (cells = piece_of(n, k, from - 1, piece)) <= left; from--)
            left -= cells;
        x += left;
        for (int t = from; t < neuron_words(n, k) && x < r.x + r.w; t++) {
            piece_of(n, k, t, piece);
            const int blank = t == token && piece[0] == ' ' && piece[1]; /* of it only what is seen is marked */
            x += blank;
            x += canvas_text(p->c, r.y + k, x, r.x + r.w - x, t == token ? STYLE_SELECTED : STYLE_TEXT, piece + blank);
        }
    }
}
