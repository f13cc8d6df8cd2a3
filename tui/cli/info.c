/* `vitrine info`: what is loaded, what it costs, what had to be assumed. */
#include "core/session/ask/ask.h"
#include "tui/cli/verbs.h"

static int info(Work *w, Err *err)
{
    (void)err;
    if (w->options->nodes)
        ask_nodes(&w->session, &w->out, w->options->json);
    else
        ask_info(&w->session, &w->out, w->options->json);
    return STATUS_DONE;
}

const Verb VERB_INFO = {
    .name = "info",
    .usage = "info [INPUT]",
    .summary = "model, input, sizes, costs, assumptions, machine",
    .details = "Nothing is computed, so that it is quick for a large model too; `vitrine run` prints the trace hash. "
               "--nodes lists every node with its shape: the names that show, explain and the maps of diff take.",
    .example = "vitrine info -m vit/",
    .flags = VERB_JSON,
    .run = info};
