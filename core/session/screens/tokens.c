/* A text as the tokens that a model reads: what the tokeniser made of it, step by step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/learned/encoding.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/play.h"
#include "core/session/screens.h"

/* The rows of the embedding that the tokens of a text fetch; NULL: that text is not there. */
static const char *rows_of(const Graph *g, int text)
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
    const char *path = rows_of(g, encoding_text(s));
    path = path ? path : rows_of(g, TEXT_SOURCE);
    path = path ? path : rows_of(g, TEXT_TARGET);
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
    const char *path = rows_of(session_graph(s, SIDE_B), text);
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
    const char *path = rows_of(session_graph(s, SIDE_B), encoding_text(s) == TEXT_SOURCE ? TEXT_TARGET : TEXT_SOURCE);
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
        buf_puts(t->out, v->cutter ? " It was given by number, or written by the model: no text was cut."
                                   : " This model's words are whole, and stand between blanks: nothing is cut.");
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
