/* `vitrine explain`: the arithmetic of one number. */
#include "core/session/ask/ask.h"
#include "tui/cli/verbs.h"

static int explain(Work *w, Err *err)
{
    char path[SESSION_PATH];
    size_t cell;
    if (!work_cell(w, path, &cell, err))
        return STATUS_BAD;
    return ask_explain_text(&w->session, session_side(&w->session), path, cell, &w->out, w->options->json, err)
               ? STATUS_DONE
               : STATUS_BAD;
}

const Verb VERB_EXPLAIN = {.name = "explain",
                           .usage = "explain [ADDRESS]",
                           .summary = "the arithmetic of one number with its real operands",
                           .details = "The terms are listed by size; worked out again in the engine's order they give "
                                      "the stored number bit for bit. Axes that the address does not "
                                      "name are where the cursor is: in the middle of the picture. Without an address: "
                                      "where -c led to, else the logit of the class that comes first.",
                           .example = "vitrine explain 'blocks.0.attn.pattern[h=2,t=r3c4,u=cls]'",
                           .flags = VERB_ADDRESS | VERB_JSON,
                           .run = explain};
