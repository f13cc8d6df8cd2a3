/* How a text became tokens: the text, what the normaliser made of it, the pieces that it was cut into, the piece at the
 * cursor with its merges (or longest pieces, or best two ways), and every token with its number and the row of the
 * embedding that it fetches. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/text_model.h"
#include "core/session/screens/tokens.h"
#include "tui/views/shown.h"

enum {
    NAME = 7,
    RIBBON = 2,
    HOW = 6,
    HOW_WIDE = 44,
    WIDE = 96,
    LIST_LEAST = 4,
    FOOT_FROM = 6,
    BAR_MOST = 48,
    ENDS = 512,
    NUMBER = 5,
    PIECE = 14,
    ID = 8,
    STRIP_LEAST = 8,
    PITCH_MOST = 3,
    SMALL = 64
};

typedef struct Cutting {
    const Encoding *e; /* NULL: not there yet */
    const Text *words;
    const Vocabulary *v;
    Shown rows; /* [token, width] */
    const Axis *tokens;
    size_t width;
    int at, j, part, done; /* the token at the cursor; its place in the record; its piece; merges done */
    Rect top, how, list, foot;
    int first, pitch, piece; /* token; lines of one, cells of its piece */
} Cutting;

static Side side_of(Side side)
{
    return side == SIDE_A ? SIDE_A : SIDE_B;
}

/* One text's tokens and their rows; nobody's cursor is in it yet. */
static bool open_text(const Session *s, Side side, int text, const char *path, Cutting *w)
{
    const Exhibit *x = session_exhibit(s, side);
    *w = (Cutting){.at = -1, .j = -1, .part = -1, .pitch = 1};
    if (!x || !model_way(x->model) || !shown_open(s, side, path, &w->rows))
        return false;
    Dims d = graph_node(w->rows.graph, w->rows.node)->dims;
    if (d.n != 2 || w->rows.graph->axes[d.axis[0]].role != ROLE_QUERY)
        return false;
    w->tokens = &w->rows.graph->axes[d.axis[0]];
    w->width = (size_t)w->rows.graph->axes[d.axis[1]].n;
    w->words = &x->input.text[text];
    w->v = text == TEXT_SOURCE ? &x->model->source : &x->model->target;
    w->e = session_encoding(s, side, text);
    w->piece = w->v->cutter ? PIECE : PIECE - 1;
    return w->words->count == w->tokens->n;
}

static int other_text(const Session *s)
{
    return encoding_text(s) == TEXT_SOURCE ? TEXT_TARGET : TEXT_SOURCE;
}

/* Cuts the foot: which tokens are shown, and what the colours mean. */
static Rect cut_foot(Cutting *w)
{
    return w->list.h >= FOOT_FROM ? rect_cut(&w->list, 'b', 1) : (Rect){0};
}

/* Cuts room for the other text's tokens below these, where all of these and a few of those fit; what is over makes
 * the rows higher, these first. */
static bool open_other(const Session *s, Side side, Cutting *w, Cutting *other)
{
    const char *path = encoding_rows(shown_graph(s, side), other_text(s));
    const int lines = 1 + w->tokens->n;
    if (!path || !open_text(s, side, other_text(s), path, other) || w->list.h < lines + 1 + LIST_LEAST)
        return false;
    w->pitch = clamp((w->list.h - 3 - other->tokens->n) / w->tokens->n, 1, PITCH_MOST);
    other->list = w->list;
    w->list = rect_cut(&other->list, 't', 1 + w->tokens->n * w->pitch);
    other->pitch = clamp((other->list.h - 2) / other->tokens->n, 1, w->pitch);
    rect_cut(&other->list, 't', other->list.h > 1 + other->tokens->n);
    return true;
}

static bool view_open(const Session *s, Side side, Rect r, Cutting *w)
{
    if (!open_text(s, side, encoding_text(s), s->place.path, w))
        return false;
    w->at = w->rows.at[graph_node(w->rows.graph, w->rows.node)->dims.axis[0]];
    w->j = encoding_here(s, side, w->e, &w->part);
    w->done = w->part < 0 ? 0 : encoding_done(s, w->e, w->part);
    const bool there = w->e && w->e->there;
    const int top = !there ? 2 : r.h >= 18 ? 2 * RIBBON + 2 : r.h >= 12 ? 3 : 1;
    w->top = rect_cut(&r, 't', top);
    if (there && r.w >= WIDE) {
        w->how = rect_cut(&r, 'r', HOW_WIDE);
        rect_cut(&r, 'r', 1);
    } else if (there && r.h >= HOW + LIST_LEAST)
        w->how = rect_cut(&r, 't', HOW);
    w->list = r;
    w->foot = cut_foot(w);
    const int room = w->list.h > 1 ? w->list.h - 1 : w->list.h;
    w->pitch = clamp(room / w->tokens->n, 1, PITCH_MOST);
    w->first = (int)scroll_first((size_t)w->tokens->n, (size_t)w->at, (size_t)(room / w->pitch));
    return true;
}

/* --- a text in a few lines, a part of it marked --- */

typedef struct Ribbon {
    const char *text;
    size_t n, from, to; /* the bytes that are marked */
    const Buf *said;    /* or NULL: all of it is */
    const Tokens *cut;  /* a bar between its parts; or NULL */
} Ribbon;

/* The character at byte i as it is drawn; its bytes. */
static size_t char_of(const Ribbon *b, size_t i, char out[8])
{
    char part[8];
    size_t n = b->n - i < 4 ? b->n - i : 4;
    memcpy(part, b->text + i, n);
    part[n] = '\0';
    const char *s = part;
    uint32_t c = utf8_next(&s);
    size_t used = s > part ? (size_t)(s - part) : 1;
    if (c == '\n')
        strcpy(out, "↵");
    else if (c < ' ')
        strcpy(out, "·");
    else
        out[utf8_put(out, c)] = '\0';
    return used;
}

static int chars_in(const char *s, size_t n)
{
    int count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xc0) != 0x80;
    return count;
}

/* Draws into r from line `first` on, or with p NULL finds the line of the mark. */
static int ribbon_walk(const Paint *p, const Ribbon *b, Rect r, int first)
{
    int x = 0, y = 0;
    size_t part = 1;
    char c[8];
    for (size_t i = 0, n; i < b->n; i += n) {
        n = char_of(b, i, c);
        int cells = utf8_cells(c);
        const bool bar = b->cut && part < b->cut->parts && i >= b->cut->part[part].from;
        while (bar && part < b->cut->parts && i >= b->cut->part[part].from)
            part++;
        const size_t next = b->cut && part < b->cut->parts ? b->cut->part[part].from : b->n;
        const int whole = bar ? chars_in(b->text + i, next - i) : cells;
        if (x + cells + bar > r.w || (bar && x + 1 + whole > r.w && whole < r.w)) {
            x = 0;
            y++;
        }
        if (!p && i >= b->from)
            return y;
        const bool drawn = p && y >= first && y < first + r.h, marked = i >= b->from && i < b->to,
                   given = !b->said || !b->said->len || b->said->data[i];
        if (drawn && bar)
            canvas_glyph(p->c, r.y + y - first, r.x + x, STYLE_BORDER, 0x2502);
        x += bar;
        if (drawn)
            canvas_text(p->c, r.y + y - first, r.x + x, cells,
                        marked  ? STYLE_SELECTED
                        : given ? STYLE_TEXT
                                : STYLE_DIM,
                        c);
        x += cells;
    }
    return y;
}

static void draw_ribbon(const Paint *p, const char *name, const Ribbon *b, Rect r)
{
    canvas_text(p->c, r.y, r.x, NAME < r.w ? NAME : r.w, STYLE_HEADER, name);
    rect_cut(&r, 'l', NAME);
    if (r.w < 4 || !r.h)
        return;
    int line = b->from < b->to ? ribbon_walk(NULL, b, r, 0) : 0, first = line < r.h ? 0 : line - r.h + 1;
    ribbon_walk(p, b, r, first);
    if (first) /* of the text in front of it */
        canvas_text(p->c, r.y, r.x - 1, 1, STYLE_DIM, "…");
}

static void draw_top(const Paint *p, const Cutting *w, Rect r)
{
    const Encoding *e = w->e;
    const Token *t = w->j < 0 ? NULL : &e->k.at[w->j];
    const size_t from = w->part < 0                               ? SIZE_MAX
                        : (size_t)w->j > e->k.part[w->part].token ? e->k.at[w->j - 1].end
                                                                  : e->k.part[w->part].from;
    const Ribbon text = {buf_str(&e->text), e->text.len, t ? t->from : SIZE_MAX, t ? t->to : 0, &e->said, NULL},
                 normal = {buf_str(&e->k.normal), e->k.normal.len, SIZE_MAX, 0, NULL, NULL},
                 cut = {buf_str(&e->k.cut), e->k.cut.len, from, t ? t->end : 0, NULL, &e->k};
    const bool same = e->text.len == e->k.normal.len && memcmp(text.text, normal.text, text.n) == 0;
    draw_ribbon(p, "text", &text, rect_cut(&r, 't', r.h > 4 ? RIBBON : 1));
    if (r.h > 1 && !same)
        draw_ribbon(p, "normal", &normal, rect_cut(&r, 't', 1));
    else if (r.h > 1) {
        Rect line = rect_cut(&r, 't', 1);
        canvas_text(p->c, line.y, line.x, NAME, STYLE_HEADER, "normal");
        canvas_text(p->c, line.y, line.x + NAME, line.w - NAME, STYLE_DIM, "the same: no normaliser changed it");
    }
    if (r.h)
        draw_ribbon(p, "pieces", &cut, rect_cut(&r, 't', RIBBON));
}

/* --- how the piece at the cursor became tokens --- */

static bool is_text(const char *s, size_t n)
{
    char part[SMALL];
    if (n >= sizeof part)
        return true;
    memcpy(part, s, n);
    part[n] = '\0';
    for (const char *at = part; *at;)
        if (utf8_next(&at) == 0xfffd)
            return false;
    return true;
}

/* What stands there, bytes that are no character by their numbers; the cells used. */
static int put_bytes(const Paint *p, int y, int x, int room, Style style, const char *s, size_t n)
{
    char part[SMALL], hex[SMALL] = "";
    if (room < 1)
        return 0;
    if (is_text(s, n)) {
        utf8_take(part, sizeof part, s, n);
        return canvas_label(p->c, y, x, room, style, part);
    }
    for (size_t i = 0; i < n && i < 12; i++)
        snprintf(hex + strlen(hex), sizeof hex - strlen(hex), "<%02X>", (unsigned)(unsigned char)s[i]);
    return canvas_label(p->c, y, x, room, style, hex);
}

static const char *piece_name(const Cutting *w, int id)
{
    const char *name = tokenizer_piece(w->e->by, id);
    return name ? name : "unknown";
}

/* The piece as it stands after so many merges, those marked that are joined next; of a long one the part around them,
 * or around the token at the cursor. */
static void draw_state(const Paint *p, const Cutting *w, Rect r)
{
    const Encoding *e = w->e;
    const TokenPart *part = &e->k.part[w->part];
    const TokenMerge *next = (size_t)w->done < part->merges ? &e->k.merge[part->merge + (size_t)w->done] : NULL;
    const size_t focus = next ? next->between : e->k.at[w->j].end;
    size_t end[ENDS], from = part->from;
    int n = encoding_ends(e, w->part, w->done, focus, end, ENDS), x = r.x, first = n, cells = 0;
    for (int i = n; i-- > 0;) { /* as many in front of the focus as two thirds of the room hold */
        const size_t begin = i ? end[i - 1] : part->from;
        cells += begin < focus ? (int)(end[i] - begin) + 1 : 0;
        if (begin < focus && cells > 2 * r.w / 3 && first < n)
            break;
        first = i;
    }
    from = first ? end[first - 1] : part->from;
    if (first > 0)
        x += canvas_text(p->c, r.y, x, 2, STYLE_DIM, "…") + 1;
    for (int i = first; i < n && x < r.x + r.w; from = end[i++]) {
        const bool joins = next && (end[i] == next->between || from == next->between);
        x += put_bytes(p, r.y, x, r.x + r.w - x, joins ? STYLE_SELECTED : STYLE_STRONG, e->k.cut.data + from,
                       end[i] - from);
        if (i + 1 < n && x + 2 < r.x + r.w)
            x += canvas_text(p->c, r.y, x, 1, joins && end[i] == next->between ? STYLE_SELECTED : STYLE_DIM,
                             joins && end[i] == next->between ? "+" : " ");
    }
}

static void draw_merges(const Paint *p, const Cutting *w, Rect r)
{
    const TokenPart *part = &w->e->k.part[w->part];
    const int merges = (int)part->merges;
    Rect line = rect_cut(&r, 't', 1);
    canvas_printf(p->c, line.y, line.x, line.w, STYLE_HEADER, "merge %d of %d", w->done, merges);
    draw_state(p, w, rect_cut(&r, 't', 1));
    if (!merges) {
        canvas_wrap(p->c, r, STYLE_DIM,
                    part->tokens == 1 ? "It is a piece as it stands: nothing is merged."
                                      : "No two neighbours are in the table of merges.");
        return;
    }
    int first = (int)scroll_first((size_t)merges, (size_t)(w->done ? w->done - 1 : 0), (size_t)r.h);
    for (int i = 0; i < r.h && first + i < merges; i++) {
        const TokenMerge *m = &w->e->k.merge[part->merge + (size_t)(first + i)];
        const bool last = first + i + 1 == w->done;
        Style style = last ? STYLE_SELECTED : first + i < w->done ? STYLE_TEXT : STYLE_DIM;
        if (last)
            canvas_fill(p->c, (Rect){r.y + i, r.x, 1, r.w}, STYLE_SELECTED, ' ');
        canvas_printf(p->c, r.y + i, r.x, r.w, style, "rank %6d  %s + %s = %s", m->rank, piece_name(w, m->left),
                      piece_name(w, m->right), piece_name(w, m->whole));
    }
}

static void draw_longest(const Paint *p, const Cutting *w, Rect r)
{
    const Encoding *e = w->e;
    const TokenPart *part = &e->k.part[w->part];
    Rect line = rect_cut(&r, 't', 1);
    canvas_text(p->c, line.y, line.x, line.w, STYLE_HEADER, "the longest piece, from the left");
    int here = w->j - (int)part->token, first = (int)scroll_first(part->tokens, (size_t)here, (size_t)r.h);
    for (int i = 0; i < r.h && first + i < (int)part->tokens; i++) {
        const size_t k = part->token + (size_t)(first + i), from = k > part->token ? e->k.at[k - 1].end : part->from;
        const Style style = (int)k == w->j ? STYLE_STRONG : STYLE_TEXT;
        const int longer = chars_in(e->k.cut.data + from, part->to - from) -
                           chars_in(e->k.cut.data + from, e->k.at[k].end - from);
        if (e->k.at[k].id == tokenizer_unknown(e->by)) {
            canvas_printf(p->c, r.y + i, r.x, r.w, STYLE_WARNING, "%s: a part of it is in no piece",
                          piece_name(w, e->k.at[k].id));
            continue;
        }
        int used = canvas_printf(p->c, r.y + i, r.x, r.w, style, "%s", piece_name(w, e->k.at[k].id));
        canvas_printf(p->c, r.y + i, r.x + used, r.w - used, STYLE_DIM,
                      longer == 0   ? "  all that is left"
                      : longer == 1 ? "  %d longer one is no piece"
                                    : "  %d longer ones are no pieces",
                      longer);
    }
}

static void put_way(const Paint *p, const Cutting *w, const char *name, double sum, const int *id, size_t n, Rect r)
{
    int x = r.x, end = r.x + r.w;
    x += canvas_printf(p->c, r.y, x, r.w, STYLE_DIM, "%-6s", name);
    x += canvas_printf(p->c, r.y, x, end - x, STYLE_STRONG, "%9.3f ", sum);
    for (size_t i = 0; i < n && x < end; i++) {
        x += canvas_printf(p->c, r.y, x, end - x, STYLE_TEXT, " %s", piece_name(w, id[i]));
        if (x < end)
            x += canvas_printf(p->c, r.y, x, end - x, STYLE_DIM, " %.3f", tokenizer_score(w->e->by, id[i]));
    }
}

static void draw_ways(const Paint *p, const Cutting *w, Rect r)
{
    const Encoding *e = w->e;
    const TokenPart *part = &e->k.part[w->part];
    int id[ENDS];
    size_t n = 0;
    for (; n < part->tokens && n < ENDS; n++)
        id[n] = e->k.at[part->token + n].id;
    Rect line = rect_cut(&r, 't', 1);
    canvas_text(p->c, line.y, line.x, line.w, STYLE_HEADER, "sum of log probabilities: the largest wins");
    if (r.h)
        put_way(p, w, "taken", part->score, id, n, rect_cut(&r, 't', 1));
    if (r.h && isfinite(part->rival_score))
        put_way(p, w, "next", part->rival_score, e->k.rival + part->rival, part->rivals, rect_cut(&r, 't', 1));
    else if (r.h)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "there is no other way to cut it");
}

static void draw_how(const Paint *p, const Cutting *w, Rect r)
{
    const Encoding *e = w->e;
    Rect head = rect_cut(&r, 't', 1);
    if (!e || !e->there)
        return;
    if (w->j < 0 || w->part < 0) {
        canvas_text(p->c, head.y, head.x, head.w, STYLE_DIM, "put there: it stands for no part of the text");
        return;
    }
    const TokenPart *part = &e->k.part[w->part];
    const Token *t = &e->k.at[w->j];
    int used = canvas_printf(p->c, head.y, head.x, head.w, STYLE_DIM, "piece %d of %zu", w->part + 1, e->k.parts);
    if (t->to > t->from && t->to - t->from <= 12) {
        used += canvas_text(p->c, head.y, head.x + used, head.w - used, STYLE_DIM, "; bytes");
        for (size_t i = t->from; i < t->to; i++)
            used += canvas_printf(p->c, head.y, head.x + used, head.w - used, STYLE_TEXT, " %02X",
                                  (unsigned)(unsigned char)e->text.data[i]);
    }
    if (part->added)
        canvas_wrap(p->c, r, STYLE_DIM, "A token as it is named: it is taken out of the text before anything else.");
    else if (tokenizer_way(e->by) == WAY_MERGES)
        draw_merges(p, w, r);
    else if (tokenizer_way(e->by) == WAY_LONGEST)
        draw_longest(p, w, r);
    else if (tokenizer_way(e->by) == WAY_LIKELIEST)
        draw_ways(p, w, r);
    else
        canvas_wrap(p->c, r, STYLE_DIM, "A word is a token, or unknown: nothing is cut further.");
}

/* --- the tokens --- */

static void put_origin(const Paint *p, const Cutting *w, int i, int y, int x, int room, Style style)
{
    const Encoding *e = w->e;
    char word[SMALL];
    const int j = e && e->there ? e->of[i] : -1;
    const Token *t = j < 0 ? NULL : &e->k.at[j];
    bool said = !e || !e->said.len;
    for (size_t k = t ? t->from : 0; t && !said && k < t->to; k++)
        said = e->said.data[k];
    if (e && e->there && (!t || t->from == t->to))
        canvas_text(p->c, y, x, room, style == STYLE_SELECTED ? style : STYLE_DIM, "put there");
    else if (t && !said)
        canvas_text(p->c, y, x, room, style == STYLE_SELECTED ? style : STYLE_DIM, "by template");
    else if (t) {
        canvas_glyph(p->c, y, x, style, '"');
        int used = 1 + put_bytes(p, y, x + 1, room - 2, style, e->text.data + t->from, t->to - t->from);
        canvas_glyph(p->c, y, x + used, style, '"');
    } else {
        Buf line = {0};
        words_piece_line(w->v, i ? w->words->word[i - 1] : -1, w->words->word[i], &line);
        utf8_fit(word, sizeof word, buf_str(&line), -1);
        canvas_label(p->c, y, x, room, style, word + (*word == ' ' && word[1]));
        buf_free(&line);
    }
}

/* The column of what a token was in the text; of words that are tokens as they stand it would say them twice. */
static int text_cells(const Cutting *w)
{
    return w->v->cutter && w->list.w >= NUMBER + 2 * PIECE + ID + STRIP_LEAST + 3 ? PIECE : 0;
}

static void draw_row(const Paint *p, const Cutting *w, const ColourScale *scale, int i, int y)
{
    const bool here = i == w->at;
    const Style style = here ? STYLE_SELECTED : STYLE_TEXT;
    const char *name = w->v->word ? w->v->word[w->words->word[i]] : "";
    int x = w->list.x, end = w->list.x + w->list.w, text = text_cells(w);
    char number[16];
    const int strip = x + NUMBER + w->piece + (text ? text + 1 : 0) + ID,
              wide = clamp((end - strip) / (int)w->width, 1, w->pitch), used = strip + wide * (int)w->width - x;
    if (here)
        canvas_fill(p->c, (Rect){y, x, 1, used < w->list.w ? used : w->list.w}, STYLE_SELECTED, ' ');
    canvas_printf(p->c, y, x, NUMBER, here ? STYLE_SELECTED : STYLE_AXIS, "%s%3d", here ? ">" : " ", i);
    x += NUMBER;
    snprintf(number, sizeof number, "w%d", w->words->word[i]);
    const bool special = w->v->cutter && tokenizer_is_special(w->v->cutter->own, w->words->word[i]);
    canvas_label(p->c, y, x, w->piece,
                 here      ? STYLE_SELECTED
                 : special ? STYLE_AXIS
                           : STYLE_TEXT,
                 *name ? name : number);
    x += w->piece + 1;
    if (text) {
        put_origin(p, w, i, y, x, text, style);
        x += text + 1;
    }
    snprintf(number, sizeof number, "%d", w->words->word[i]);
    canvas_right(p->c, y, x, ID - 2, style, number);
    x += ID - 1;
    for (size_t k = 0; w->rows.values && x < end && k < w->width; k++, x += wide) {
        const size_t cell = (size_t)i * w->width + k;
        const float value = w->rows.values[cell];
        for (int part = 0; part < wide * w->pitch; part++)
            canvas_pixel(p->c, y + part / wide, x + part % wide, -1, colour_scale_colour(scale, value),
                         colour_scale_level(scale, value), colour_scale_sign(scale, value), shown_ref(&w->rows, cell));
    }
}

/* title: of the first column. */
static void draw_list(const Paint *p, const Cutting *w, const char *title, bool focus)
{
    Rect r = w->list;
    const ColourScale scale = w->rows.values
                                  ? colour_scale_for(p, w->rows.side, w->rows.node, w->rows.values, w->rows.count)
                                  : colour_scale_of_range(p, 0, 1);
    if (r.h > 1) {
        Rect line = rect_cut(&r, 't', 1);
        int x = line.x + NUMBER, end = line.x + line.w;
        canvas_text(p->c, line.y, x, w->piece, STYLE_HEADER, title);
        x += w->piece + 1;
        if (text_cells(w)) {
            canvas_text(p->c, line.y, x, PIECE, STYLE_HEADER, "of the text");
            x += PIECE + 1;
        }
        canvas_right(p->c, line.y, x, ID - 2, STYLE_HEADER, "number");
        x += ID - 1;
        char text[SMALL], wide[SMALL]; /* the longest that fits */
        const int seen = end - x < (int)w->width ? end - x : (int)w->width;
        utf8_print(wide, sizeof wide, "%d wide", seen);
        if (seen < (int)w->width)
            utf8_print(wide, sizeof wide, "1–%d of %zu", seen, w->width);
        if (utf8_print(text, sizeof text, "row of the embedding, %s", wide) > end - x &&
            utf8_print(text, sizeof text, "embedding, %s", wide) > end - x)
            utf8_print(text, sizeof text, "embedding %d/%zu", seen, w->width);
        if (x < end)
            canvas_text(p->c, line.y, x, end - x, STYLE_HEADER, text);
    }
    for (int i = 0; i < r.h / w->pitch && w->first + i < w->tokens->n; i++) {
        draw_row(p, w, &scale, w->first + i, r.y + i * w->pitch);
        if (w->first + i == w->at)
            focus_cursor(p, focus, r.y + i * w->pitch, r.x);
    }
}

static void draw_lists(const Paint *p, Side side, Cutting *w, bool focus)
{
    Cutting other;
    const bool both = open_other(p->s, side, w, &other), reads = encoding_text(p->s) == TEXT_SOURCE;
    draw_list(p, w, !both ? "token" : reads ? "reads" : "writes", focus);
    if (both && other.list.h <= other.tokens->n * other.pitch) {
        const Rect line = rect_cut(&other.list, 'b', 1);
        canvas_printf(p->c, line.y, line.x + NUMBER, line.w, STYLE_DIM, "%d more", other.tokens->n + 1 - other.list.h);
    }
    if (both)
        draw_list(p, &other, reads ? "writes" : "reads", false);
    if (!w->foot.h || !w->rows.values)
        return;
    const ColourScale scale = colour_scale_for(p, w->rows.side, w->rows.node, w->rows.values, w->rows.count);
    const int shown = (w->list.h - 1) / w->pitch, last = w->first + shown;
    int used = 0;
    if (shown < w->tokens->n)
        used = canvas_printf(p->c, w->foot.y, w->foot.x, w->foot.w, STYLE_DIM, "  %d–%d of 0–%d", w->first, last - 1,
                             w->tokens->n - 1);
    else if (!both) /* right under the table */
        w->foot.y = clamp(w->list.y + 2 + w->tokens->n * w->pitch, 0, w->foot.y);
    const int wide = w->foot.w - used - 2 < BAR_MOST ? w->foot.w - used - 2 : BAR_MOST;
    colour_scale_bar(p, &scale, w->foot.y, w->foot.x + w->foot.w - wide, wide);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Cutting w;
    if (!view_open(p->s, side_of(side), r, &w))
        canvas_wrap(p->c, r, STYLE_DIM, "This side looks no words up.");
    else {
        if (w.e && w.e->there)
            draw_top(p, &w, w.top);
        else if (w.e)
            canvas_wrap(p->c, w.top, STYLE_DIM, encoding_missing(w.v));
        else
            shown_computing(p, w.top);
        draw_how(p, &w, w.how);
        draw_lists(p, side_of(side), &w, focus);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    Cutting w, other;
    if (!view_open(s, side_of(side), r, &w))
        return;
    needs_add(out, side_of(side), s->place.path);
    if (open_other(s, side_of(side), &w, &other))
        needs_add(out, side_of(side), encoding_rows(shown_graph(s, side_of(side)), other_text(s)));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Cutting w, other;
    char label[SMALL];
    if (!view_open(p->s, side_of(side), r, &w))
        return false;
    open_other(p->s, side_of(side), &w, &other);
    rect_cut(&w.list, 't', w.list.h > 1);
    int t = (y - w.list.y) / w.pitch + w.first;
    if (!rect_has(w.list, y, x) || t >= w.tokens->n)
        return false;
    if (t == w.at)
        buf_puts(command, "in");
    else
        buf_printf(command, "query %s", axis_label(w.tokens, t, label, sizeof label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Cutting w;
    if (!view_open(s, side_of(side), (Rect){0, 0, 1, 1}, &w) || !w.e || !w.e->there) {
        buf_puts(out, "tokens");
        return;
    }
    const char *kind = tokenizer_kind(w.e->by);
    buf_printf(out, "tokens: %s, %d pieces\ntokens: %s", kind, tokenizer_count(w.e->by), kind);
}

static const KeyBinding KEYS[] = {{"Space", "play next", "merge",
                                   "the next merge of the piece; from the last one it begins anew", 0, 1, NULL},
                                  {"p", "play prev", "prev", "one merge less", 0, 2, NULL},
                                  {".", "play", "play", "the merges one after the other by themselves; again: stop", 0,
                                   3, NULL},
                                  {.key = NULL}};

VIEW_SPEC(TOKENS, .name = "tokens", .traits = VIEW_TRACED | VIEW_TELLS, .sides = SIDES_ONE, .keys = KEYS,
          .sentence = "Every token, where it comes from, and the row that its number fetches.");
