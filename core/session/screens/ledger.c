/* The ledger: what every part of the model wrote into the answer, or another number of the stream. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/address.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/options.h"
#include "core/session/screens.h"

/* --- the command --- */

/* A class by its name or number. */
static bool parse_class(const Session *s, const char *word, int column, int *o, Err *err)
{
    NodeId logits = site_node_any(s->now->pass.base, SITE_LOGITS);
    if (logits == NO_NODE)
        return err_set(err, "this model has no classes");
    Dims d = graph_node(s->now->pass.base, logits)->dims;
    return axis_parse(&s->now->pass.base->axes[d.axis[d.n - 1]], word, o) ||
           err_set(err, "column %d: there is no class '%.60s'", column, word);
}

/* A cell of a node, or a class alone. */
static bool parse_target(Session *s, const char *word, int column, LedgerTarget *t, Err *err)
{
    Graph plain = *s->now->pass.base;
    Address to;
    int o;
    if (parse_class(s, word, column, &o, NULL))
        return ledger_rivals(s, SIDE_B, -1, o, t, err);
    plain.count = s->now->pass.base_count;
    if (!address_word(s, &plain, word, column, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "column %d: '%s' is a group of nodes: name one of them", column, to.path);
    snprintf(t->path, sizeof t->path, "%s", to.path);
    t->cell = address_cell(s, &plain, graph_find(&plain, to.path), &to.cells);
    t->against = LEDGER_ALONE;
    return true;
}

static bool parse(Session *s, const Args *a, LedgerTarget *t, Err *err)
{
    const char *against = args_named(a, "against");
    int rival;
    if (a->count > 1)
        return err_set(err, "column %d: expected one class or address such as logits[o=0], or off", a->column[1]);
    if (a->count && strcmp(a->word[0], "off") == 0)
        return true;
    if (!(a->count ? parse_target(s, a->word[0], a->column[0], t, err) : ledger_rivals(s, SIDE_B, -1, -1, t, err)))
        return false;
    if (!against)
        return true;
    if (!site_is(s->now->pass.base, t->path, SITE_LOGITS))
        return err_set(err, "against=%.40s: only a class can be set against another", against);
    t->against = LEDGER_ALONE;
    if (strcmp(against, "none") == 0)
        return true;
    if (!parse_class(s, against, 1, &rival, err))
        return false;
    int row, o;
    const Graph *g = s->now->pass.base;
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

bool ledger_command(Session *s, const Args *a, Err *err)
{
    LedgerTarget t = {{0}, 0, 0};
    if (!parse(s, a, &t, err) || !ledger_set(s, &t, err))
        return false;
    if (!*t.path) {
        session_say(s, "The ledger is closed.");
        return true;
    }
    return go(s, err);
}

void ledger_complete(const Session *s, int index, Buf *out)
{
    NodeId logits = site_node_any(s->now->pass.base, SITE_LOGITS);
    if (index > 0)
        return;
    buf_puts(out, "off\n");
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

static void move_in_ledger(Session *s, int dy, int dx)
{
    move_over_attentions(s, dy, dx, true);
}

/* The sum over tokens that the entry in focus is. */
static bool enter_ledger(Session *s, Err *err)
{
    const LedgerEntry *e = ledger_heads_here(s, SIDE_B);
    if (!e)
        return err_set(err, "no head of this block wrote into that number");
    return session_go(s, graph_node(session_graph(s, SIDE_B), e->heads)->path, SCREEN_EXPLAIN, err);
}

static bool next_ledger(Session *s, Err *err)
{
    (void)err;
    s->look.ledger.one_head = !s->look.ledger.one_head;
    return true;
}

static bool say_ledger(const Teller *t)
{
    const LedgerEntry *e = ledger_heads_here(t->s, t->side);
    int head = teller_index(t, ROLE_HEAD);
    if (!e) {
        buf_puts(t->out, "There is no ledger here: `ledger` makes one of the answer.");
        return true;
    }
    const float *x = ask_need(t->s, t->side, e->heads, t->err);
    if (!x)
        return false;
    head = head < (int)graph_cells(t->g, e->heads) ? head : (int)graph_cells(t->g, e->heads) - 1;
    char name[ATTENTION_NAME];
    buf_printf(t->out, "Head %d of %s wrote ", head,
               session_attention_name(t->g, anatomy_of(t->g, graph_node(t->g, e->part)->path), name));
    ask_put_short(t->out, x[head]);
    buf_puts(t->out, " into ");
    ledger_text(t->s, t->out);
    float effect = session_ledger_effect(t->s, t->side, e, head);
    if (isfinite(effect)) {
        buf_printf(t->out, "; without what it wrote there the number %s by ", effect < 0 ? "rises" : "falls");
        ask_put_short(t->out, fabsf(effect));
    }
    buf_putc(t->out, '.');
    return true;
}

static const LookOption OPTIONS[] = {{.name = "one-head-votes", .kind = OPTION_SWITCH, .at = LOOK(ledger.one_head)},
                                     {.name = NULL}};

SCREEN_SPEC(LEDGER, .name = "ledger", .about = "what every part of the model wrote into the answer",
            .group = GROUP_ARITHMETIC, .command = "ledger", .move = move_in_ledger, .enter = enter_ledger,
            .next = next_ledger, .off = OFF_HEAD, .work = ledger_step, .say = say_ledger, .options = OPTIONS);
