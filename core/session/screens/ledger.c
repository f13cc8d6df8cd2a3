/* The ledger: what every part of the model wrote into the answer, or another number of the stream. */
#include <math.h>

#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/options.h"
#include "core/session/screens.h"

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
