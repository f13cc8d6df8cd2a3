/* `vitrine verify`: is the trace right? */
#include "core/session/ask/ask.h"
#include "tui/cli/verbs.h"

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
    .summary = "derives every number again, by other routes, and compares",
    .details =
        "That the arithmetic is as defined: every cell, of analyses and gradients (--gradient) too, is derived again "
        "from its terms and compared bit for bit, and the pass computed a second time has the same hash. What the "
        "terms share with the pass is compared with a second writing of it in double, to a stated bound: maps (exp, "
        "GELU and the rest) with their definitions, gradients with the chain rule, embedding, blocks and answer with "
        "the equations of the model (not where edits are in force, which those do not know). It does not prove that "
        "the weights are right, nor what a reading of the file took for granted: `vitrine info` lists that, and diff "
        "compares with another implementation. The exit status is 3 when a bit differs or a bound is exceeded. For a "
        "large model --sample N takes N cells of every tensor, and of the model's equations four tokens.",
    .example = "vitrine verify -m vit/ --sample 100",
    .flags = VERB_JSON,
    .run = verify};
