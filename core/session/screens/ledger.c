/* The ledger: what every part of the model wrote into the answer, or another number of the stream. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/difference.h"
#include "core/session/exhibit.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"

enum { SAID = 76 /* cells of a sentence on the screen */ };

/* --- the command --- */

/* ": it is 2 pieces (▁T om), and a ledger is of one", where the model's tokeniser cuts it. */
static void put_pieces(const Vocabulary *v, const char *word, Err *err)
{
    Words w = {0};
    Buf pieces = {0};
    if (err && v->cutter && v->word && words_parse(&w, v, word, false, NULL))
        for (int i = 0; i < w.n; i++)
            if (w.number[i] != v->start && w.number[i] != v->end)
                buf_printf(&pieces, "%s%s", pieces.len ? " + " : "", v->word[w.number[i]]);
    if (pieces.len)
        utf8_print(err->text + strlen(err->text), sizeof err->text - strlen(err->text),
                   ", which it reads as %.80s: name a piece", buf_str(&pieces));
    buf_free(&pieces);
    words_free(&w);
}

bool ledger_parse_class(const Session *s, const char *word, int column, int *o, Err *err)
{
    const Graph *g = s->now->pass.base;
    NodeId logits = ledger_answers(g);
    if (logits == NO_NODE)
        return err_set(err, "%s", session_no_answer(s, SIDE_B));
    Dims d = graph_node(g, logits)->dims;
    const Axis *answers = &g->axes[d.axis[d.n - 1]];
    if (axis_parse(answers, word, o))
        return true;
    if (!session_words(s, SIDE_B))
        return err_set(err, "column %d: there is no class '%.60s'", column, word);
    err_set(err, "column %d: the model has no word '%.60s'", column, word);
    put_pieces(model_vocabulary(s->now->model), word, err);
    return false;
}

/* A cell of a node, a row of logits, or a class alone. */
static bool parse_target(Session *s, const char *word, int column, LedgerTarget *t, Err *err)
{
    Graph plain = *s->now->pass.base;
    Address to;
    int o;
    if (ledger_parse_class(s, word, column, &o, NULL))
        return ledger_rivals(s, SIDE_B, -1, o, t, err);
    plain.count = s->now->pass.base_count;
    if (session_words(s, SIDE_B) && !strpbrk(word, "[.") && graph_find(&plain, word) == NO_NODE)
        return ledger_parse_class(s, word, column, &o, err);
    if (!address_word(s, &plain, word, column, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "column %d: '%s' is a group of nodes: name one of them", column, to.path);
    snprintf(t->path, sizeof t->path, "%s", to.path);
    t->cell = address_cell(s, &plain, graph_find(&plain, to.path), &to.cells);
    t->against = LEDGER_ALONE;
    if (ledger_asks_row(&plain, &to, t->cell, &o))
        return ledger_rivals(s, SIDE_B, o, -1, t, err);
    if (site_is(&plain, t->path, SITE_LOGITS)) /* of the same cell before a soft cap */
        snprintf(t->path, sizeof t->path, "%s", graph_node(&plain, ledger_answers(&plain))->path);
    return true;
}

/* That of the answer on show; where A and B answer differently, A's answer less B's, as patching has it: the number
 * that they differ in, on both sides. */
static bool opens_with(Session *s, LedgerTarget *t, Err *err)
{
    if (!ledger_rivals(s, SIDE_B, -1, -1, t, err))
        return false;
    const Graph *a = session_graph(s, SIDE_A), *b = session_graph(s, SIDE_B);
    const NodeId n = ledger_answers(a), m = ledger_answers(b);
    if (!session_compares(s) || session_exhibit(s, SIDE_A)->model != s->now->model || n == NO_NODE ||
        !difference_same_shape(a, n, b, m))
        return true;
    LedgerTarget of;
    int row, o;
    ledger_class(b, m, t->cell, &row, &o);
    if (!ledger_rivals(s, SIDE_A, row, -1, &of, err))
        return false;
    if (of.cell != t->cell) {
        of.against = t->cell;
        *t = of;
    }
    return true;
}

static bool parse(Session *s, const Args *a, LedgerTarget *t, Err *err)
{
    const char *against = a->count == 2 ? a->word[1] : args_named(a, "against");
    int rival;
    if (a->count > 2)
        return err_set(err, "column %d: expected one class or address such as logits[o=0], or two classes, or off",
                       a->column[2]);
    if (a->count && strcmp(a->word[0], "off") == 0)
        return true;
    if (!(a->count ? parse_target(s, a->word[0], a->column[0], t, err) : opens_with(s, t, err)))
        return false;
    if (!against)
        return true;
    const Graph *g = s->now->pass.base;
    if (graph_find(g, t->path) != ledger_answers(g))
        return err_set(err, "against=%.40s: only a class can be set against another", against);
    t->against = LEDGER_ALONE;
    if (strcmp(against, "none") == 0)
        return true;
    if (!ledger_parse_class(s, against, a->count == 2 ? a->column[1] : 1, &rival, err))
        return false;
    int row, o;
    ledger_class(g, graph_find(g, t->path), t->cell, &row, &o);
    if (rival == o)
        return err_set(err, "against=%.40s: that is the same class", against);
    t->against = t->cell - (size_t)o + (size_t)rival;
    return true;
}

/* To its screen, on a head of the attention in focus, of the last block's where none is. */
static bool go(Session *s, Err *err)
{
    const char *path = site_path(session_graph(s, SIDE_B), ledger_attention(s, SIDE_B), SITE_Z);
    return !path || s->place.screen == SCREEN_LEDGER || session_go(s, path, SCREEN_LEDGER, err);
}

/* The next of a list with commas between; false after the last, or where it is too long. */
static bool next_of(const char **list, char *out, size_t n)
{
    size_t len = *list ? strcspn(*list, ",") : 0;
    if (!len || len >= n)
        return false;
    memcpy(out, *list, len);
    out[len] = 0;
    *list += len + ((*list)[len] == ',');
    return true;
}

/* via=PATH,PATH head=N,N token=N,N: whose votes `why` looked at, one within the other, as a state says it. */
static bool parse_via(const Args *a, LedgerTarget *t, Err *err)
{
    const char *list[] = {args_named(a, "via"), args_named(a, "head"), args_named(a, "token")};
    char number[16];
    bool relative[2], ok = true;
    if (!list[0] || !*t->path)
        return true;
    for (int i = 0; ok && (i == 0 || (list[0] && *list[0])); i++) {
        LedgerStep *step = &t->step[i < LEDGER_STEPS ? i : 0];
        ok = i < LEDGER_STEPS && next_of(&list[0], step->via, sizeof step->via) &&
             next_of(&list[1], number, sizeof number) && args_number(number, &step->head, &relative[0]) &&
             next_of(&list[2], number, sizeof number) && args_number(number, &step->token, &relative[1]) &&
             !relative[0] && !relative[1] && step->head >= 0 && step->token >= 0;
    }
    return (ok && !*list[1] && !*list[2]) || err_set(err, "expected via=PATH head=N token=N, as `why` leaves it");
}

void ledger_complete(const Session *s, int index, Buf *out)
{
    NodeId logits = site_node_any(s->now->pass.base, SITE_LOGITS);
    if (index > 1)
        return;
    buf_puts(out, index ? "" : "off\n");
    if (logits == NO_NODE)
        return;
    Dims d = graph_node(s->now->pass.base, logits)->dims;
    const Axis *classes = &s->now->pass.base->axes[d.axis[d.n - 1]];
    for (int i = 0; i < classes->n && i < 40; i++) {
        char label[64];
        buf_printf(out, "%s\n", axis_label(classes, i, label, sizeof label));
    }
}

/* --- the screen --- */

/* Onto a head (of the attention that wrote the entry) or an MLP. */
static void stand_on(Session *s, const LedgerEntry *e, int head)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = graph_node(g, e->part)->path, *edit = strstr(path, ".unedited");
    utf8_print(s->place.path, sizeof s->place.path, "%.*s", edit ? (int)(edit - path) : SESSION_PATH - 1, path);
    if (head >= 0)
        s->place.at[node_role(g, e->heads, ROLE_HEAD)] = head;
    place_find_box(s);
}

/* Where no block is in focus: on the head that wrote most of what A and B differ in, or of the number itself. An MLP
 * may have written more, but no token is named by it. Left as it was where the values can't be had. */
static void stand_on_largest(Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    const LedgerEntry *e, *best = NULL;
    const Ledger *ledger = session_ledger(s, SIDE_B);
    float most = -1;
    int head, best_head = 0;
    for (int i = 0; ledger && ledger_tributary(g, ledger, i, &e, &head); i++) {
        Err none;
        const float *b = head < 0 ? NULL : ask_need(s, SIDE_B, e->heads, &none),
                    *a = b && session_compares(s) ? session_need(s, SIDE_A, graph_node(g, e->heads)->path, &none)
                                                  : NULL;
        if (head >= 0 && !b)
            return;
        const float size = b ? fabsf(b[head] - (a ? a[head] : 0)) : -1;
        if (size > most) {
            most = size;
            best = e;
            best_head = head;
        }
    }
    if (best)
        stand_on(s, best, best_head);
}

bool ledger_command(Session *s, const Args *a, Err *err)
{
    LedgerTarget t = {.path = ""};
    if (!parse(s, a, &t, err) || !parse_via(a, &t, err) || !ledger_set(s, &t, err))
        return false;
    if (!*t.path) {
        session_say(s, "The ledger is closed.");
        return true;
    }
    const bool opens = s->place.screen != SCREEN_LEDGER && session_block(s) < 0;
    if (!go(s, err))
        return false;
    if (opens)
        stand_on_largest(s);
    return true;
}

/* What tributary i wrote; NaN while that is not computed. */
static float wrote(const Session *s, int i)
{
    const LedgerEntry *e;
    int head;
    const Graph *g = session_graph(s, SIDE_B);
    if (!ledger_tributary(g, session_ledger(s, SIDE_B), i, &e, &head))
        return NAN;
    const float *x = session_peek(s, SIDE_B, graph_node(g, head < 0 ? e->total : e->heads)->path);
    return x ? x[head < 0 ? 0 : head] : NAN;
}

/* The next smaller (by 1) or larger (by −1) one than tributary `here`, by size; of equal ones the later is smaller. */
static int by_size(const Session *s, int here, int by, int count)
{
    float size = fabsf(wrote(s, here)), nearest = 0;
    int best = here;
    for (int i = 0; i < count; i++) {
        float other = fabsf(wrote(s, i));
        bool smaller = other < size || (other == size && i > here);
        bool nearer = best == here || (by > 0 ? other > nearest : other < nearest || (other == nearest && i > best));
        if (i == here || isnan(other) || smaller != (by > 0) || !nearer)
            continue;
        best = i;
        nearest = other;
    }
    return best;
}

/* Left and right along the model, MLPs too; up and down from block to block in the table, in the river from size to
 * size: up is larger. */
static void move_in_ledger(Session *s, int dy, int dx)
{
    const Ledger *l = session_ledger(s, SIDE_B);
    const LedgerEntry *e;
    int head, here = ledger_here(s, SIDE_B), count = 0;
    if (!l || here < 0 || (dy && s->look.ledger.table)) {
        move_over_attentions(s, dy, dx, true);
        return;
    }
    const Graph *g = session_graph(s, SIDE_B);
    while (ledger_tributary(g, l, count, &e, &head))
        count++;
    here = clamp(here + dx, 0, count - 1);
    for (int by = dy < 0 ? -1 : 1; dy != 0; dy -= by)
        here = by_size(s, here, by, count);
    if (ledger_tributary(g, l, here, &e, &head))
        stand_on(s, e, head);
}

/* The sum over tokens that the head in focus is, or what the MLP wrote. */
static bool enter_ledger(Session *s, Err *err)
{
    const LedgerEntry *mlp = ledger_mlp_here(s, SIDE_B), *e = mlp ? mlp : ledger_heads_here(s, SIDE_B);
    if (!e)
        return err_set(err, "no head of this block wrote into that number");
    return session_go(s, graph_node(session_graph(s, SIDE_B), mlp ? e->total : e->heads)->path, SCREEN_EXPLAIN, err);
}

/* Is the cursor of the ledger's screen on that line already? Then what it wrote is *path's *cell. */
static bool stands_on(const Session *s, const LedgerLine *l, const char **path, size_t *cell)
{
    const Graph *g = session_graph(s, SIDE_B);
    const LedgerEntry *e;
    int head, here = ledger_here(s, SIDE_B);
    if (s->place.screen != SCREEN_LEDGER || here < 0 ||
        !ledger_tributary(g, session_ledger(s, SIDE_B), here, &e, &head))
        return false;
    *path = graph_node(g, head < 0 ? e->total : e->heads)->path;
    *cell = head < 0 ? 0 : (size_t)head;
    return e == l->entry && head == l->head && s->look.ledger.one_head == (head >= 0);
}

/* What the patch or the word of that token wrote into the vote, before any block; NULL: it is no such token. */
static const LedgerEntry *token_itself(const Ledger *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->entry[i].kind == LEDGER_PATCHES || l->entry[i].kind == LEDGER_WORDS)
            return &l->entry[i];
    return NULL;
}

/* Everything that one step of the chain says. */
static bool need_via(Session *s, int step)
{
    Err none;
    const Ledger *l = session_ledger_via(s, SIDE_B, step);
    for (int i = 0; l && i < l->count; i++)
        if (l->entry[i].kind == LEDGER_HEADS &&
            (!ask_need(s, SIDE_B, l->entry[i].tokens, &none) || !ask_need(s, SIDE_B, l->entry[i].heads, &none)))
            return false;
    const LedgerEntry *itself = l ? token_itself(l) : NULL;
    return l && (!itself || ask_need(s, SIDE_B, itself->total, &none)) && ask_need(s, SIDE_B, l->value, &none);
}

/* What the token of a step itself wrote into its vote; NULL: nothing of it is known. */
static const float *wrote_itself(const Session *s, int step)
{
    const Ledger *l = session_ledger_via(s, SIDE_B, step);
    const LedgerEntry *itself = l ? token_itself(l) : NULL;
    return itself ? session_peek(s, SIDE_B, graph_node(session_graph(s, SIDE_B), itself->total)->path) : NULL;
}

/* Is what a head wrote there enough to ask where that came from: a tenth of the vote, and more than the token itself?
 */
static bool goes_on(const Session *s, int step, const LedgerVia *v)
{
    const float *itself = wrote_itself(s, step);
    return v->wrote / v->vote >= 0.1f && !(itself && fabsf(*itself) >= fabsf(v->wrote));
}

/* The vote of that head for that token has a ledger of its own from now on, and so has the largest part of that, as far
 * as goes_on; where it can't have one nothing is lost. */
static bool look_via(Session *s, WhyAnswer *a)
{
    LedgerTarget t = s->ledger;
    if (a->token < 0)
        return true;
    memset(t.step, 0, sizeof t.step);
    LedgerStep next = {.head = a->head.head, .token = a->token};
    snprintf(next.via, sizeof next.via, "%s", graph_node(session_graph(s, SIDE_B), a->head.entry->total)->path);
    for (int i = 0; i < LEDGER_STEPS; i++) {
        LedgerVia via;
        memset(&t.step[i], 0, sizeof t.step[i]); /* compared byte by byte */
        snprintf(t.step[i].via, sizeof t.step[i].via, "%s", next.via);
        t.step[i].head = next.head;
        t.step[i].token = next.token;
        if (!ledger_set(s, &t, NULL))
            return false;
        if (!session_ledger_via(s, SIDE_B, i) && i == 0) /* a value that is no sum: the token alone is named */
            break;
        if (!session_ledger_via(s, SIDE_B, i)) { /* … the chain ends before it */
            memset(&t.step[i], 0, sizeof t.step[i]);
            if (!ledger_set(s, &t, NULL))
                return false;
            break;
        }
        for (int k = 0; k <= i; k++) /* the nodes are new ones */
            if (!need_via(s, k))
                return false;
        if (!ledger_via(s, SIDE_B, i, &via) || !goes_on(s, i, &via))
            break;
        snprintf(next.via, sizeof next.via, "%s", graph_node(session_graph(s, SIDE_B), via.entry->total)->path);
        next.head = via.head;
        next.token = via.token;
    }
    return ask_why_ledger(s, SIDE_B, a, NULL); /* its lines were those of the graph before */
}

/* "Of that vote, 0.812, block 1 head 0 had written 0.712, from r3c5; the patch r3c5 itself 0.041. Of what came from
 * r3c5, …". */
static void put_via(const Session *s, const WhyAnswer *a, Buf *out)
{
    LedgerVia via;
    char label[64];
    const Graph *g = session_graph(s, SIDE_B);
    const Axis *tokens = a->token < 0 ? NULL : &g->axes[node_role(g, a->head.entry->tokens, ROLE_KEY)];
    int steps = 0, token = a->token;
    for (bool more = tokens; more && ledger_via(s, SIDE_B, steps, &via); steps++) {
        LedgerLine line = {.entry = via.entry, .head = via.head};
        const float *x = wrote_itself(s, steps);
        axis_label(tokens, token, label, sizeof label);
        buf_printf(out, steps ? " Of what came from %s, " : "Of that vote, ", label);
        ask_put_short(out, via.vote);
        buf_puts(out, ", ");
        ledger_part_text(g, &line, out);
        buf_puts(out, " had written ");
        ask_put_short(out, via.wrote);
        tokens = &g->axes[node_role(g, via.entry->tokens, ROLE_KEY)];
        token = via.token;
        if (x) {
            const LedgerEntry *itself = token_itself(session_ledger_via(s, SIDE_B, steps));
            char from[64];
            buf_printf(out, ", from %s; the %s %s itself ", axis_label(tokens, token, from, sizeof from),
                       itself->kind == LEDGER_PATCHES ? "patch" : "word", label);
            ask_put_short(out, *x);
        } else
            buf_printf(out, ", from %s", axis_label(tokens, token, label, sizeof label));
        buf_putc(out, '.');
        more = goes_on(s, steps, &via);
    }
    if (!steps)
        return;
    buf_printf(
        out,
        " Told %s back, as far as a head wrote a tenth of the part and more than the token itself%s. Values only: "
        "why a head looks where it does is left out.",
        steps == 1   ? "one step"
        : steps == 2 ? "two steps"
        : steps == 3 ? "three steps"
                     : "four steps",
        steps == LEDGER_STEPS ? ", at most four" : "");
    buf_puts(out, "\n\n");
}

bool ledger_why(Session *s, const char **path, size_t *cell, Buf *rest)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = graph_find(g, *path);
    LedgerTarget of;
    WhyAnswer a;
    int row, o;
    bool answer = s->place.screen != SCREEN_LEDGER && ask_why_of_answer(g, n, *cell, &row, &o);
    if ((!answer && s->place.screen != SCREEN_LEDGER) ||
        (answer && (!ledger_rivals(s, SIDE_B, row, o, &of, NULL) || !ledger_set(s, &of, NULL))) ||
        !ask_why_ledger(s, SIDE_B, &a, NULL) || !look_via(s, &a))
        return false;
    const LedgerLine *to = a.token < 0 ? &a.line : &a.head;
    if (stands_on(s, to, path, cell)) {
        put_via(s, &a, rest);
        return false;
    }
    if (!go(s, NULL))
        return false;
    Buf text = {0};
    stand_on(s, to->entry, to->head);
    s->look.ledger.one_head = to->head >= 0;
    if (a.token >= 0)
        s->place.at[node_role(session_graph(s, SIDE_B), to->entry->tokens, ROLE_KEY)] = a.token;
    ask_why_sentence(s, SIDE_B, &a, SAID, &text);
    session_say(s, "%s", buf_str(&text));
    buf_free(&text);
    return true;
}

bool ledger_on_show(const Session *s)
{
    return s->place.screen == SCREEN_LEDGER;
}

static bool next_ledger(Session *s, Err *err)
{
    (void)err;
    s->look.ledger.table = !s->look.ledger.table;
    return true;
}

/* From an MLP, which looks at nothing, to the heads of its block. */
static bool average_ledger(Session *s, bool on, Err *err)
{
    const LedgerEntry *e = on || !ledger_mlp_here(s, SIDE_B) ? NULL : ledger_heads_here(s, SIDE_B);
    (void)err;
    if (e)
        stand_on(s, e, s->place.at[node_role(session_graph(s, SIDE_B), e->heads, ROLE_HEAD)]);
    return true;
}

static const float SEEN = 0.05f; /* so large a part of what was written is a difference from it */

static bool say_ledger(const Teller *t)
{
    const LedgerEntry *mlp = ledger_mlp_here(t->s, t->side), *e = mlp ? mlp : ledger_heads_here(t->s, t->side);
    if (!e) {
        buf_puts(t->out, "There is no ledger here: `ledger` makes one of the answer.");
        return true;
    }
    NodeId n = mlp ? e->total : e->heads;
    int head = clamp(mlp ? 0 : teller_index(t, ROLE_HEAD), 0, (int)graph_cells(t->g, n) - 1);
    const float *x = ask_need(t->s, t->side, n, t->err);
    if (!x)
        return false;
    char name[ATTENTION_NAME];
    LedgerLine line = {.entry = e, .head = -1};
    buf_puts(t->out, mlp ? "The " : "");
    if (mlp)
        ledger_part_text(t->g, &line, t->out);
    else
        buf_printf(t->out, "Head %d of %s", head,
                   session_attention_name(t->g, anatomy_of(t->g, graph_node(t->g, e->part)->path), name));
    buf_puts(t->out, " wrote ");
    ask_put_short(t->out, x[head]);
    buf_puts(t->out, " into ");
    ledger_text(t->s, t->out);
    float effect = session_ledger_effect(t->s, t->side, TAKEN_LINES, e, mlp ? -1 : head);
    if (isfinite(effect)) {
        buf_printf(t->out, "; without what it wrote there the number %s by ", effect < 0 ? "rises" : "falls");
        ask_put_short(t->out, fabsf(effect));
        if (fabsf(effect - x[head]) > SEEN * fabsf(x[head]))
            buf_puts(t->out, ", for later parts read it too");
    }
    buf_putc(t->out, '.');
    return true;
}

static const LookOption OPTIONS[] = {{.name = "one-head-votes", .kind = OPTION_SWITCH, .at = LOOK(ledger.one_head)},
                                     {.name = "ledger-table", .kind = OPTION_SWITCH, .at = LOOK(ledger.table)},
                                     {.name = NULL}};

SCREEN_SPEC(LEDGER, .name = "ledger", .about = "what every part of the model wrote into the answer",
            .group = GROUP_ARITHMETIC, .command = "ledger", .move = move_in_ledger, .enter = enter_ledger,
            .next = next_ledger, .one_head = LOOK(ledger.one_head), .average = average_ledger, .off = OFF_HEAD,
            .work = ledger_step, .say = say_ledger, .options = OPTIONS);
