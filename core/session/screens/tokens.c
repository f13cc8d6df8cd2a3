/* A text as the tokens that a model reads: what the tokeniser made of it, step by step. */
#include "core/session/screens/tokens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/chat.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/play.h"
#include "core/session/screens.h"

/* --- what the tokeniser recorded --- */

typedef struct Recorded {
    const Model *model; /* what it is of */
    char *path;
    Encoding text[TEXTS];
} Recorded;
struct EncodingWork {
    Recorded side[2];
};

static void free_recorded(Recorded *r)
{
    for (int k = 0; k < TEXTS; k++) {
        Encoding *e = &r->text[k];
        buf_free(&e->text);
        buf_free(&e->said);
        tokens_free(&e->k);
        free(e->of);
        free(e->part);
    }
    free(r->path);
    *r = (Recorded){.model = NULL};
}

void encoding_free(struct EncodingWork *w)
{
    if (!w)
        return;
    free_recorded(&w->side[0]);
    free_recorded(&w->side[1]);
    free(w);
}

/* --- recording --- */

/* k's tokens behind those of out, whose text goes on at byte `shift`. */
static void append(Tokens *out, const Tokens *k, size_t shift)
{
    const size_t n = out->n, merges = out->merges, cut = out->cut.len, rivals = out->rivals;
    for (size_t i = 0; i < k->n; i++) {
        out->at = grow(out->at, &out->cap, out->n, sizeof *out->at);
        Token t = k->at[i];
        out->at[out->n++] = (Token){t.id, t.from + shift, t.to + shift, t.end + cut};
    }
    for (size_t i = 0; i < k->merges; i++) {
        out->merge = grow(out->merge, &out->merge_cap, out->merges, sizeof *out->merge);
        TokenMerge *m = &out->merge[out->merges++];
        *m = k->merge[i];
        m->from += shift;
        m->to += shift;
        m->between += cut;
    }
    for (size_t i = 0; i < k->parts; i++) {
        out->part = grow(out->part, &out->part_cap, out->parts, sizeof *out->part);
        TokenPart *p = &out->part[out->parts++];
        *p = k->part[i];
        p->from += cut;
        p->to += cut;
        p->token += n;
        p->merge += merges;
        p->rival += rivals;
    }
    for (size_t i = 0; i < k->rivals; i++) {
        out->rival = grow(out->rival, &out->rival_cap, out->rivals, sizeof *out->rival);
        out->rival[out->rivals++] = k->rival[i];
    }
    buf_add(&out->normal, k->normal.data, k->normal.len);
    buf_add(&out->cut, k->cut.data, k->cut.len);
}

/* Of two segments each by itself: what stands between and around them was put there. */
static bool record_pair(Encoding *e, const char *typed, const char *bar)
{
    static const char BETWEEN[] = " | ";
    Tokens second;
    buf_puts(&e->text, typed);
    if (!tokenizer_encode(e->by, typed, (size_t)(bar - typed), false, true, &e->k, NULL) ||
        !tokenizer_encode(e->by, bar + 3, strlen(bar + 3), false, true, &second, NULL))
        return false;
    buf_puts(&e->k.normal, BETWEEN);
    append(&e->k, &second, (size_t)(bar - typed) + 3);
    tokens_free(&second);
    return true;
}

static bool record_text(Encoding *e, const Model *m, const char *typed, int text)
{
    const char *bar = text == TEXT_SOURCE && !(model_way(m) & MODEL_WRITES) ? strstr(typed, " | ") : NULL;
    if (strncmp(typed, CHAT_PREFIX, strlen(CHAT_PREFIX)) == 0)
        return tokenizer_chat(e->by, typed + strlen(CHAT_PREFIX), true, &e->k, &e->text, &e->said, NULL);
    if (bar)
        return record_pair(e, typed, bar);
    buf_puts(&e->text, typed);
    return tokenizer_encode(e->by, typed, e->text.len, true, true, &e->k, NULL);
}

/* Which of the recorded tokens each token on show is: they stand in the same order, with a start in front of them or an
 * end behind them that the tokeniser did not write, or tokens between two texts. */
static void align(Encoding *e, const Text *t)
{
    e->of = xcalloc((size_t)t->count + 1, sizeof *e->of);
    e->part = xcalloc(e->k.n + 1, sizeof *e->part);
    for (size_t i = 0; i < e->k.n; i++)
        e->part[i] = -1;
    for (size_t p = 0; p < e->k.parts; p++)
        for (size_t i = 0; i < e->k.part[p].tokens; i++)
            e->part[e->k.part[p].token + i] = (int)p;
    size_t lead = 0; /* as they end, so they begin: what is in front is not the text's */
    for (bool fits = false; !fits && lead <= 1; lead += !fits) {
        fits = (size_t)t->count >= lead;
        for (size_t i = 0; fits && i < e->k.n && i + lead < (size_t)t->count; i++)
            fits = t->word[i + lead] == e->k.at[i].id;
    }
    size_t at = 0;
    for (int i = 0; i < t->count; i++) {
        const bool in = (lead > 1 || (size_t)i >= lead) && at < e->k.n && t->word[i] == e->k.at[at].id;
        e->of[i] = in ? (int)at++ : -1;
    }
}

static void record(Recorded *r, const Exhibit *x)
{
    Arena arena = {0};
    free_recorded(r);
    r->model = x->model;
    r->path = xstrdup(x->input.path);
    for (int k = 0; k < TEXTS; k++) {
        const Vocabulary *v = k == TEXT_SOURCE ? &x->model->source : &x->model->target;
        const char *typed = v->cutter ? text_typed(x->model, r->path, k, &arena) : NULL;
        Encoding *e = &r->text[k];
        if (!typed || !x->input.text[k].count || strncmp(typed + strspn(typed, " \t\n\r"), "ids:", 4) == 0)
            continue;
        e->by = v->cutter->own;
        e->there = record_text(e, x->model, typed, k);
        if (e->there)
            align(e, &x->input.text[k]);
    }
    arena_free(&arena);
}

static const Exhibit *exhibit_of(const Session *s, int k)
{
    const Exhibit *x = session_exhibit(s, k ? SIDE_B : SIDE_A);
    return x && model_way(x->model) && x->input.kind == INPUT_TEXT ? x : NULL;
}

static bool is_of(const Recorded *r, const Exhibit *x)
{
    return r->path && r->model == x->model && strcmp(r->path, x->input.path) == 0;
}

bool encoding_step(Session *s, int64_t deadline_ns)
{
    struct Measures *all = measures_of(s);
    (void)deadline_ns;
    if (!all->encoding)
        all->encoding = xcalloc(1, sizeof *all->encoding);
    for (int k = session_pinned(s) ? 0 : 1; k < 2; k++) {
        const Exhibit *x = exhibit_of(s, k);
        if (x && !is_of(&all->encoding->side[k], x)) {
            record(&all->encoding->side[k], x);
            s->changes++;
        }
    }
    return true;
}

/* --- reading --- */

const Encoding *session_encoding(const Session *s, Side side, int text)
{
    const int k = session_pinned(s) && side == SIDE_A ? 0 : 1;
    const Exhibit *x = exhibit_of(s, k);
    const struct EncodingWork *w = s->measures ? s->measures->encoding : NULL;
    return x && w && is_of(&w->side[k], x) ? &w->side[k].text[text] : NULL;
}

int encoding_text(const Session *s)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int axis = n == NO_NODE ? AXIS_NONE : node_role(session_graph(s, SIDE_B), n, ROLE_QUERY);
    const Sequence sequence = axis == AXIS_NONE ? SEQUENCE_TARGET : session_graph(s, SIDE_B)->axes[axis].sequence;
    return sequence == SEQUENCE_SOURCE ? TEXT_SOURCE : TEXT_TARGET;
}

int encoding_here(const Session *s, Side side, const Encoding *e, int *part)
{
    const Graph *g = session_graph(s, side);
    NodeId n = session_node(s, side, s->place.path);
    int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_QUERY), at[SESSION_AXES];
    *part = -1;
    if (axis == AXIS_NONE || !e || !e->there)
        return -1;
    int j = e->of[session_at(s, side, at)[axis]];
    *part = j >= 0 ? e->part[j] : -1;
    return j;
}

int encoding_done(const Session *s, const Encoding *e, int part)
{
    const int merges = part < 0 ? 0 : (int)e->k.part[part].merges, step = s->look.tokens.step;
    return step <= 0 || step > merges ? merges : step - 1;
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

int encoding_ends(const Encoding *e, int part, int done, size_t focus, size_t *end, int most)
{
    const TokenPart *p = &e->k.part[part];
    const size_t reach = (size_t)most / 2, low = focus > reach ? focus - reach : 0;
    int n = 0;
    for (size_t i = 0; i < p->tokens; i++)
        if (e->k.at[p->token + i].end > low && e->k.at[p->token + i].end <= focus + reach && n < most)
            end[n++] = e->k.at[p->token + i].end;
    for (size_t i = (size_t)done; i < p->merges; i++) { /* those still to be done: it is not yet one */
        const size_t between = e->k.merge[p->merge + i].between;
        if (between > low && between <= focus + reach && n < most)
            end[n++] = between;
    }
    qsort(end, (size_t)n, sizeof *end, by_size);
    return n;
}

/* --- the screen --- */

const char *encoding_rows(const Graph *g, int text)
{
    const Sequence wanted = text == TEXT_SOURCE ? SEQUENCE_SOURCE : SEQUENCE_TARGET;
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_EMBEDDING)) != NO_PART;) {
        NodeId n = site_node(g, p, SITE_EMBED);
        int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_QUERY);
        if (axis != AXIS_NONE && g->axes[axis].sequence == wanted)
            return site_path(g, p, SITE_EMBED);
    }
    return NULL;
}

static bool come_tokens(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (!session_words(s, SIDE_B))
        return err_set(err, "this model reads a picture: its tokens are patches (`goto tokens` shows them)");
    const char *path = encoding_rows(g, encoding_text(s));
    path = path ? path : encoding_rows(g, TEXT_SOURCE);
    path = path ? path : encoding_rows(g, TEXT_TARGET);
    if (!path)
        return err_set(err, "nothing on show looks words up");
    s->look.tokens.step = 0;
    return session_go(s, path, to, err);
}

/* `tokens [source, target]`: of the text in focus, or the first one. */
static bool run_tokens(Session *s, const Args *a, Err *err)
{
    static const char *const WORDS[] = {[TEXT_SOURCE] = "source", [TEXT_TARGET] = "target"};
    int text = 0;
    if (!a->count || !session_words(s, SIDE_B))
        return come_tokens(s, SCREEN_TOKENS, err);
    while (text < TEXTS && strcmp(a->word[0], WORDS[text]) != 0)
        text++;
    if (text == TEXTS)
        return err_set(err, "column %d: expected source or target, found '%s'", a->column[0], a->word[0]);
    const char *path = encoding_rows(session_graph(s, SIDE_B), text);
    if (!path)
        return err_set(err, "this model has no %s: it reads one text", WORDS[text]);
    s->look.tokens.step = 0;
    return session_go(s, path, SCREEN_TOKENS, err);
}

/* Merges of the piece at the cursor, as the model on show has them. */
static int merges_here(Session *s, int *done)
{
    encoding_step(s, 0); /* on the screen it is done long before a key comes */
    const Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    const Encoding *e = session_encoding(s, side, encoding_text(s));
    int part;
    encoding_here(s, side, e, &part);
    *done = part < 0 ? 0 : encoding_done(s, e, part);
    return part < 0 ? 0 : (int)e->k.part[part].merges;
}

/* Tokens stand below each other; left and right undo and do a merge. */
static void move_in_tokens(Session *s, int dy, int dx)
{
    int done, merges = merges_here(s, &done);
    if (dy) {
        move_axis(s, ROLE_QUERY, dy);
        s->look.tokens.step = 0;
    }
    done = clamp(done + dx, 0, merges);
    if (dx && !dy)
        s->look.tokens.step = done == merges ? 0 : done + 1;
}

static bool play_tokens(Session *s)
{
    int done, merges = merges_here(s, &done);
    bool more = play_index(s, &done, merges + 1);
    s->look.tokens.step = done == merges ? 0 : done + 1;
    s->changes++;
    return more;
}

/* The other text, where there are two. */
static bool next_tokens(Session *s, Err *err)
{
    const char *path = encoding_rows(session_graph(s, SIDE_B),
                                     encoding_text(s) == TEXT_SOURCE ? TEXT_TARGET : TEXT_SOURCE);
    s->look.tokens.step = 0;
    return path ? session_go(s, path, SCREEN_TOKENS, err) : enter_tensor(s, err);
}

/* --- in words --- */

static void put_name(const Encoding *e, int id, Buf *out)
{
    const char *piece = tokenizer_piece(e->by, id);
    buf_puts(out, piece ? piece : "what no piece is");
}

static void put_quoted(const char *text, size_t n, Buf *out)
{
    buf_puts(out, "\"");
    buf_add(out, text, n);
    buf_puts(out, "\"");
}

static void say_merges(const Encoding *e, const TokenPart *p, Buf *out)
{
    if (!p->merges) {
        buf_puts(out, p->tokens == 1 ? " It is a piece as it stands: nothing is merged."
                                     : " No two neighbours in it are in the table of merges.");
        return;
    }
    const TokenMerge *m = &e->k.merge[p->merge];
    buf_printf(out, " %zu merge%s, the lowest rank first: ", p->merges, p->merges == 1 ? "" : "s");
    put_name(e, m->left, out);
    buf_puts(out, " and ");
    put_name(e, m->right, out);
    buf_printf(out, " (rank %d)", m->rank);
    if (p->merges > 1) {
        m += p->merges - 1;
        buf_puts(out, " to ");
        put_name(e, m->left, out);
        buf_puts(out, " and ");
        put_name(e, m->right, out);
        buf_printf(out, " (rank %d)", m->rank);
    }
    buf_putc(out, '.');
}

static void say_ways(const Encoding *e, const TokenPart *p, Buf *out)
{
    buf_printf(out, " Of all ways to cut it this one has the largest sum of log probabilities, %.3f", p->score);
    if (isfinite(p->rival_score)) {
        buf_printf(out, "; the next has %.3f:", p->rival_score);
        for (size_t i = 0; i < p->rivals; i++) {
            buf_puts(out, " ");
            put_name(e, e->k.rival[p->rival + i], out);
        }
    }
    buf_putc(out, '.');
}

const char *encoding_missing(const Vocabulary *v)
{
    return v->cutter ? "It was given by number, or written by the model: no text was cut."
           : v->word ? "This model's words are whole, and stand between blanks: nothing is cut."
                     : "The model's folder has no tokeniser: a text is given by its numbers.";
}

static bool say_tokens(const Teller *t)
{
    encoding_step(t->s, 0);
    const int text = encoding_text(t->s);
    const Encoding *e = session_encoding(t->s, t->side, text);
    const Text *words = &session_input(t->s, t->side)->text[text];
    const int at = teller_index(t, ROLE_QUERY);
    char label[64];
    int part, j = encoding_here(t->s, t->side, e, &part);
    if (at >= words->count)
        return false;
    buf_printf(t->out, "Token %d of %d, %s, has the number %d: row %d of the embedding.", at + 1, words->count,
               teller_label(t, ROLE_QUERY, at, label), words->word[at], words->word[at]);
    if (!e || !e->there) {
        const Vocabulary *v = text == TEXT_SOURCE ? &session_exhibit(t->s, t->side)->model->source
                                                  : &session_exhibit(t->s, t->side)->model->target;
        buf_printf(t->out, " %s", encoding_missing(v));
        return true;
    }
    if (j < 0 || part < 0) {
        buf_puts(t->out, " It stands for no part of the text: it was put there.");
        return true;
    }
    const TokenPart *p = &e->k.part[part];
    buf_puts(t->out, " It comes from ");
    put_quoted(buf_str(&e->text) + e->k.at[j].from, e->k.at[j].to - e->k.at[j].from, t->out);
    if (p->added) {
        buf_puts(t->out, ", which is a token as it is named.");
        return true;
    }
    buf_printf(t->out, ", in piece %d of %zu: ", part + 1, e->k.parts);
    put_quoted(buf_str(&e->k.cut) + p->from, p->to - p->from, t->out);
    buf_putc(t->out, '.');
    const TokenizerWay way = tokenizer_way(e->by);
    if (way == WAY_MERGES)
        say_merges(e, p, t->out);
    else if (way == WAY_LIKELIEST)
        say_ways(e, p, t->out);
    else if (way == WAY_LONGEST && e->k.at[j].id == tokenizer_unknown(e->by))
        buf_puts(t->out, " A part of it is in no piece of the vocabulary: all of it is unknown.");
    else if (way == WAY_LONGEST)
        buf_puts(t->out, " From the left, the longest piece that the vocabulary has is taken each time.");
    return true;
}

/* A token a line, then the merges. */
static bool tell_tokens(const Teller *t)
{
    encoding_step(t->s, 0);
    const int text = encoding_text(t->s);
    const Encoding *e = session_encoding(t->s, t->side, text);
    const Text *words = &session_input(t->s, t->side)->text[text];
    char label[64];
    for (int i = 0; i < words->count; i++) {
        buf_printf(t->out, "%d. %s: number %d", i + 1, teller_label(t, ROLE_QUERY, i, label), words->word[i]);
        int j = e && e->there ? e->of[i] : -1;
        if (j >= 0 && e->k.at[j].to > e->k.at[j].from) {
            buf_puts(t->out, ", ");
            put_quoted(buf_str(&e->text) + e->k.at[j].from, e->k.at[j].to - e->k.at[j].from, t->out);
        } else if (e && e->there)
            buf_puts(t->out, ", put there");
        buf_puts(t->out, ".\n");
    }
    for (size_t i = 0; e && e->there && i < e->k.merges; i++) {
        const TokenMerge *m = &e->k.merge[i];
        buf_printf(t->out, "Merge of rank %d: ", m->rank);
        put_name(e, m->left, t->out);
        buf_puts(t->out, " and ");
        put_name(e, m->right, t->out);
        buf_puts(t->out, ".\n");
    }
    return true;
}

static void complete_tokens(const Session *s, int index, Buf *out)
{
    (void)s;
    if (index == 0)
        buf_puts(out, "source\ntarget\n");
}

static const Command OWN = COMMAND("tokens", "look", "tokens [source, target]",
                                   "show how the text became tokens: pieces, merges, numbers, rows of the embedding",
                                   COMMAND_SESSION, run_tokens, complete_tokens);

static const LookOption OPTIONS[] = {{"token-step", OPTION_NUMBER, LOOK(tokens.step), NULL, NULL, 0}, {.name = NULL}};

SCREEN_SPEC(TOKENS, .name = "tokens",
            .about = "how a text becomes tokens: pieces, merges, numbers, rows of the embedding",
            .command = "view tokens", .come = come_tokens, .own = {&OWN, 1, NULL}, .words = true,
            .move = move_in_tokens, .enter = enter_arithmetic, .next = next_tokens, .play = play_tokens,
            .work = encoding_step, .off = OFF_NOTHING, .say = say_tokens, .tell = tell_tokens, .options = OPTIONS);
