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
    return v.different ? STATUS_NO : STATUS_DONE;
}

const Verb VERB_VERIFY = {
    .name = "verify",
    .usage = "verify [INPUT] [--sample N]",
    .summary = "derives every number again from its terms and compares bit for bit",
    .details =
        "The exit status is 3 when a single bit differs. For a large model --sample N takes N cells of every tensor.",
    .example = "vitrine verify -m vit/ --sample 100",
    .flags = VERB_JSON,
    .run = verify};
