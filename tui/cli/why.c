/* `vitrine why`: where a number comes from, down to a pixel or a weight. */
#include "core/session/ask/ask.h"
#include "tui/cli/verbs.h"

static int why(Work *w, Err *err)
{
    char path[SESSION_PATH];
    size_t cell;
    if (!work_cell(w, path, &cell, err))
        return STATUS_BAD;
    return ask_why_text(&w->session, session_side(&w->session), path, cell, &w->out, w->options->json, err)
               ? STATUS_DONE
               : STATUS_BAD;
}

const Verb VERB_WHY = {.name = "why",
                       .usage = "why [ADDRESS]",
                       .summary = "the chain of largest terms from a number down to a weight or a pixel",
                       .details = "The size of a term is not a cause; `vitrine run -c 'ablate …'` shows what switching "
                                  "something off does. Without an address: where -c led to, else "
                                  "the logit of the class that comes first.",
                       .example = "vitrine why 'logits[o=star]'",
                       .flags = VERB_ADDRESS | VERB_JSON,
                       .run = why};
