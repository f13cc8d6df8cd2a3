/* The subcommands that answer one question: info, explain, why, ledger, verify. */
#include <stdio.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/ledgers.h"
#include "tui/cli/verbs.h"

static int info(Work *w, Err *err)
{
    (void)err;
    if (w->options->nodes)
        ask_nodes(&w->session, &w->out, w->options->all, w->options->json);
    else
        ask_info(&w->session, &w->out, w->options->json);
    return STATUS_DONE;
}

const Verb VERB_INFO = {.name = "info",
                        .usage = "info [INPUT]",
                        .summary = "model, input, sizes, costs, assumptions, machine",
                        .details = "Nothing is computed, so this is quick even for a large model; `vitrine run` prints "
                                   "the trace hash. --nodes lists every node of the model with its shape: the names "
                                   "that show, explain and --map of diff take; --nodes --all the analyses too.",
                        .example = "vitrine info -m vit/",
                        .flags = VERB_JSON,
                        .run = info};

typedef bool CellAnswer(Session *s, Side side, const char *path, size_t cell, Buf *out, bool json, Err *err);

static int answer_cell(Work *w, CellAnswer *answer, Err *err)
{
    char path[SESSION_PATH];
    size_t cell;
    bool ok = work_cell(w, path, &cell, err) &&
              answer(&w->session, session_side(&w->session), path, cell, &w->out, w->options->json, err);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int explain(Work *w, Err *err)
{
    return answer_cell(w, ask_explain_text, err);
}

const Verb VERB_EXPLAIN = {
    .name = "explain",
    .usage = "explain [ADDRESS]",
    .summary = "the arithmetic of one number with its real operands",
    .details = "The terms are listed by size; added in the engine's order they give the stored number bit for bit. For "
               "axes that the address does not name the cursor's index is taken, at first the middle of the picture. "
               "Without an address: where -c led to, else the logit of the most probable class.",
    .example = "vitrine explain 'blocks.0.attn.pattern[h=2,t=r3c4,u=cls]'",
    .flags = VERB_ADDRESS | VERB_JSON,
    .run = explain};

static int why(Work *w, Err *err)
{
    return answer_cell(w, ask_why_text, err);
}

const Verb VERB_WHY = {
    .name = "why",
    .usage = "why [ADDRESS]",
    .summary = "the chain of largest terms from a number down to a weight or a pixel",
    .details = "The size of a term is not a cause; `vitrine run -c 'ablate …'` shows what switching something off "
               "does. Without an address: where -c led to, else the logit of the most probable class.",
    .example = "vitrine why 'logits[o=star]'",
    .flags = VERB_ADDRESS | VERB_JSON,
    .run = why};

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
        if (!ledger_rivals(s, SIDE_B, row, o, &t, err))
            return false;
        const bool chosen = s->ledger.cell == t.cell && strcmp(s->ledger.path, t.path) == 0; /* -c named its rival */
        return chosen || ledger_set(s, &t, err);
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
    .details =
        "A class is compared with its strongest rival; `-c 'ledger star against=ring'` names another one. With 1/σ of "
        "each LayerNorm (1/rms of an RMSNorm) kept as it is, the entries add up to the number but for rounding. Any "
        "cell of the residual stream has a ledger too. The entries are nodes: `show ledger.votes -c ledger`. With "
        "--json `value` is "
        "the table's column \"wrote\", `taken_out` its column \"less\".",
    .example = "vitrine ledger 'logits[o=star]'",
    .flags = VERB_ADDRESS | VERB_JSON,
    .run = ledger};

static int verify(Work *w, Err *err)
{
    Session *s = &w->session;
    Verdict v;
    if (!ask_verify(s, session_side(s), (size_t)w->options->sample, &v, err))
        return STATUS_BAD;
    if (!v.complete) {
        err_set(err, "cancelled");
        return STATUS_BAD;
    }
    ask_verify_text(s, &v, &w->out, w->options->json);
    return verdict_holds(&v) ? STATUS_DONE : STATUS_NO;
}

const Verb VERB_VERIFY = {
    .name = "verify",
    .usage = "verify [INPUT] [--sample N]",
    .summary = "computes every number again, by other routes, and compares",
    .details = "Proves that the arithmetic is as defined: every cell, of analyses and gradients (--gradient) too, is "
               "computed again from its terms and compared bit for bit, and a second forward pass has the same hash. "
               "Functions that both routes use are compared with a second implementation in double precision, to a "
               "stated bound: exp, GELU and the rest with their definitions, gradients with the chain rule, and "
               "(without edits) embedding, blocks and answer with the equations of the model. This does not prove that "
               "the weights are right, nor the assumptions made in reading the file: `vitrine info` lists those, and "
               "diff compares with another implementation. Exit status 3: a bit differs or a bound is exceeded. For a "
               "large model --sample N takes N cells of every tensor, and four tokens of the model's equations.",
    .example = "vitrine verify -m vit/ --sample 100",
    .flags = VERB_JSON,
    .run = verify};
