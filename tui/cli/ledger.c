/* `vitrine ledger`: what every part of the model wrote into a number, and what taking it out does. */
#include <stdio.h>

#include "core/graph/anatomy.h"
#include "core/session/ask/ledgers.h"
#include "tui/cli/verbs.h"

static bool choose(Work *w, Err *err)
{
    Session *s = &w->session;
    LedgerTarget t = {.against = LEDGER_ALONE};
    char path[SESSION_PATH];
    if (!*w->address)
        return ledger_answer(s, err);
    if (!work_cell(w, path, &t.cell, err))
        return false;
    const Graph *g = session_graph(s, SIDE_A);
    if (site_is(g, path, SITE_LOGITS) || site_is(g, path, SITE_PROBS)) {
        int row, o;
        ledger_class(g, graph_find(g, path), t.cell, &row, &o);
        return ledger_rivals(s, SIDE_B, row, o, &t, err) && ledger_set(s, &t, err);
    }
    snprintf(t.path, sizeof t.path, "%s", path);
    return ledger_set(s, &t, err);
}

static int ledger(Work *w, Err *err)
{
    return choose(w, err) && ledger_table(&w->session, SIDE_B, true, &w->out, w->options->json, err) ? STATUS_DONE
                                                                                                     : STATUS_BAD;
}

const Verb VERB_LEDGER = {
    .name = "ledger",
    .usage = "ledger [ADDRESS]",
    .summary = "what every part of the model wrote into a logit, and what taking that part out does",
    .details = "A class is set against its strongest rival; `-c 'ledger star against=ring'` names another one. The "
               "entries add up to the number but for rounding, with 1/σ of each LayerNorm (1/rms of an RMSNorm) kept "
               "as it is. Any "
               "cell of the residual stream has a ledger too. The entries are nodes: `show ledger.votes -c ledger`.",
    .example = "vitrine ledger 'logits[o=star]'",
    .flags = VERB_ADDRESS | VERB_JSON,
    .run = ledger};
