#include "core/session/ask/ledger_effects.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/eval/removal.h"
#include "core/session/exhibit.h"

struct LedgerEffects {
    RemovalRun *lines, *tokens;
    size_t line_count;
    int entry, head; /* whose tokens */
};

static int heads_of(const Graph *g, const LedgerEntry *e)
{
    return e->heads == NO_NODE ? 1 : (int)graph_cells(g, e->heads);
}

int ledger_line_count(const Graph *g, const Ledger *l)
{
    int count = 0;
    for (int i = 0; i < l->count; i++)
        count += heads_of(g, &l->entry[i]);
    return count;
}

void ledger_line_at(const Graph *g, const Ledger *l, int i, int *entry, int *head)
{
    for (*entry = l->count - 1; *entry > 0 && i >= heads_of(g, &l->entry[*entry]); --*entry)
        i -= heads_of(g, &l->entry[*entry]); /* a ledger begins at the end of the model */
    *head = l->entry[*entry].heads == NO_NODE ? -1 : i;
}

static void begin_lines(Exhibit *e, const Ledger *l, Pool *pool)
{
    const Graph *g = exhibit_graph(e);
    int count = ledger_line_count(g, l);
    Removal *what = xcalloc((size_t)count + 1, sizeof *what);
    for (int i = 0; i < count; i++) {
        ledger_line_at(g, l, i, &what[i].entry, &what[i].head);
        what[i].at = -1;
    }
    exhibit_pass(e)->effects = xcalloc(1, sizeof *exhibit_pass(e)->effects);
    *exhibit_pass(e)->effects = (struct LedgerEffects){.line_count = (size_t)count, .entry = -1};
    exhibit_pass(e)->effects->lines = removal_run_new(g, exhibit_run(e), l, what, (size_t)count, pool);
    free(what);
}

static void begin_tokens(Exhibit *e, const Ledger *l, int entry, int head, Pool *pool)
{
    struct LedgerEffects *f = exhibit_pass(e)->effects;
    const Graph *g = exhibit_graph(e);
    size_t tokens = graph_cells(g, l->entry[entry].tokens) / graph_cells(g, l->entry[entry].heads);
    Removal *what = xcalloc(tokens + 1, sizeof *what);
    for (size_t u = 0; u < tokens; u++)
        what[u] = (Removal){entry, head, (int)u};
    removal_run_free(f->tokens);
    f->tokens = removal_run_new(g, exhibit_run(e), l, what, tokens, pool);
    f->entry = entry;
    f->head = head;
    free(what);
}

bool ledger_effects_step(Exhibit *e, Pool *pool, int entry, int head, int64_t deadline_ns)
{
    const LedgerOn *on = exhibit_ledger(e);
    if (!on->there)
        return true;
    if (!exhibit_pass(e)->effects)
        begin_lines(e, &on->ledger, pool);
    if (!removal_run_step(exhibit_pass(e)->effects->lines, deadline_ns))
        return false;
    if (entry < 0 || entry >= on->ledger.count || on->ledger.entry[entry].tokens == NO_NODE)
        return true;
    if (exhibit_pass(e)->effects->entry != entry || exhibit_pass(e)->effects->head != head)
        begin_tokens(e, &on->ledger, entry, head, pool);
    return removal_run_step(exhibit_pass(e)->effects->tokens, deadline_ns);
}

static float effect_of(const RemovalRun *r, size_t i)
{
    return r && i < removal_run_done(r) ? removal_run_effect(r, i) : NAN;
}

float ledger_effect(const Exhibit *e, int line)
{
    return exhibit_pass(e)->effects ? effect_of(exhibit_pass(e)->effects->lines, (size_t)line) : NAN;
}

float ledger_token_effect(const Exhibit *e, int entry, int head, int u)
{
    const struct LedgerEffects *f = exhibit_pass(e)->effects;
    return f && f->entry == entry && f->head == head ? effect_of(f->tokens, (size_t)u) : NAN;
}

void ledger_effects_done(const Exhibit *e, size_t *done, size_t *total)
{
    *done = exhibit_pass(e)->effects ? removal_run_done(exhibit_pass(e)->effects->lines) : 0;
    *total = exhibit_pass(e)->effects ? exhibit_pass(e)->effects->line_count : 0;
}

void ledger_effects_drop(Forward *p)
{
    if (!p->effects)
        return;
    removal_run_free(p->effects->lines);
    removal_run_free(p->effects->tokens);
    free(p->effects);
    p->effects = NULL;
}
