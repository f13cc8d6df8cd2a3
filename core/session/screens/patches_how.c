/* How a sheet of patches begins: what to do where nothing is pinned, for the input on show; which answer and which
 * token it is about at first; which tokens it leaves out. */
#include <stdio.h>

#include "core/base/clock.h"
#include "core/models/ledger.h"
#include "core/models/text_model.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/place.h"
#include "core/session/screens/patches.h"
#include "core/session/state.h"

/* The text with another word, the next of the vocabulary: of names the last one ("word tired hungry keep"), of numbers
 * or pieces that of the token that is asked; or the next of the drawn pictures. */
static bool put_other(const Session *s, Buf *out)
{
    const Model *m = s->now->model;
    const Vocabulary *v = model_vocabulary(m);
    const Text *text = s->now->input.text, *t = &text[model_given(m)];
    const bool named = v && v->word && !v->cutter && t->label,
               both = text[TEXT_SOURCE].count && text[TEXT_TARGET].count;
    int n = 17, i = t->count - 1;
    while (named && i > 0 && *t->label[i] == '<') /* put there by the reader */
        i--;
    if (i < 0) {
        const bool drawn = sscanf(s->now->input.name, "#%d", &n) == 1 && n > 0 && n < 9999;
        buf_printf(out, "open #%d", drawn ? n + 1 : 18);
        return true;
    }
    if (!named && both) {
        buf_puts(out, "open TEXT");
        return false;
    }
    i = named ? i : clamp(s->look.patches.at, 0, t->count - 1);
    const int next = t->word[i] + 1, other = next < v->n && !(named && *v->word[next] == '<') ? next : next - 2;
    if (named)
        buf_printf(out, "word %s %s%s", t->label[i], v->word[other], both ? " keep" : "");
    for (int k = 0; !named && k < t->count; k++)
        buf_printf(out, "%s%d", k ? "," : "open ids:", k == i ? other : t->word[k]);
    return true;
}

static bool lacks_other(const Session *s)
{
    return patches_axis(s) && !(session_pinned(s) && s->pinned->model == s->now->model);
}

bool patches_example(const Session *s, Buf *out)
{
    buf_puts(out, "pin; ");
    const bool whole = lacks_other(s) && put_other(s, out);
    buf_printf(out, "; patching %s", s->look.patches.tokens ? "tokens" : "heads");
    return whole;
}

void patches_put_how(const Session *s, Buf *out)
{
    if (!lacks_other(s))
        return;
    Buf first = {0};
    const bool whole = patches_example(s, &first);
    buf_printf(out,
               "Patching puts one value that the model computed for A into its run on B, computes what follows anew, "
               "and sees how far B's answer moves towards A's. A is what you pin; B is what is on show then, another "
               "%s, of the same model.%s\n \n"
               "%s, with what is on show now as A:\n:%s\n \n"
               "Drawn then: a row for each block, a column for each head and the MLP (or for each token, or a map of "
               "them); in each cell "
               "how much the logit of A's answer, less that of B's, rises with A's value there, measured; and a second "
               "sheet of what the gradient foretells.",
               session_input_words(s, SIDE_B)->alike,
               s->edits.count ? " (The A beside an edit is B itself without it.)" : "",
               whole ? "Enter does this" : "Try", buf_str(&first));
    buf_free(&first);
}

bool patches_begin_example(Session *s, Err *err)
{
    Buf line = {0};
    bool ok = patches_example(s, &line);
    if (ok) {
        Commands set = session_command_set();
        log_hold(s, true); /* what it comes to is one entry */
        ok = session_read(s, &set, buf_str(&line), LINE_REPLAY, err);
        log_hold(s, false);
        commands_free(&set);
    } else
        session_patching(s, err);
    buf_free(&line);
    return ok;
}

static bool apart(const float *a, const float *b, size_t row, size_t answers)
{
    return largest_of(a + row * answers, answers) != largest_of(b + row * answers, answers);
}

void patches_hint(Session *s)
{
    const Graph *g = s->now->pass.base, *from = session_pinned(s) ? exhibit_graph(s->pinned) : NULL;
    const NodeId y = ledger_answers(g), z = from ? graph_find(from, graph_node(g, y)->path) : NO_NODE;
    const size_t answers = (size_t)patches_axis(s)->n, rows = graph_cells(g, y) / answers,
                 at = (size_t)clamp(s->look.patches.at, 0, (int)rows - 1);
    const int asks = node_role(g, y, ROLE_QUERY);
    size_t row = 0;
    char there[32];
    if (asks == AXIS_NONE || s->look.patches.of || s->look.patches.against || z == NO_NODE ||
        s->pinned->model != s->now->model || graph_cells(from, z) != graph_cells(g, y) ||
        !run_step(s->now->pass.base_run, y, CLOCK_NEVER) || !run_step(exhibit_run(s->pinned), z, CLOCK_NEVER))
        return;
    const float *b = run_peek(s->now->pass.base_run, y), *a = run_peek(exhibit_run(s->pinned), z);
    while (row < rows && !apart(a, b, row, answers))
        row++;
    if (row == rows || apart(a, b, at, answers))
        return;
    const Axis *t = &g->axes[asks];
    session_say(s, "A and B answer alike here; apart after %s: `goto logits[t=%zu]; patching`",
                axis_label(t, (int)row, there, sizeof there), row);
}

int patches_first_token(const Session *s)
{
    const int k = s->now->input.text[TEXT_SOURCE].count ? TEXT_SOURCE : TEXT_TARGET;
    const Text *a = session_pinned(s) ? &s->pinned->input.text[k] : NULL, *b = &s->now->input.text[k];
    int i = 0;
    if (!a || k == TEXT_TARGET) /* the sheet begins there */
        return 0;
    while (i < a->count && i < b->count && a->word[i] == b->word[i])
        i++;
    return i < b->count ? i : 0;
}

bool patches_on_show(const Session *s)
{
    return s->place.screen == SCREEN_PATCHES;
}

void patches_put_after(const Session *s, int row, Buf *out)
{
    char label[64];
    const Graph *g = s->now->pass.base;
    const int t = node_role(g, ledger_answers(g), ROLE_QUERY);
    if (t != AXIS_NONE)
        buf_printf(out, " after %s", axis_label(&g->axes[t], row, label, sizeof label));
}

void patches_put_same(const Session *s, const PatchingResult *r, Buf *out)
{
    char first[64];
    if (!r->first)
        return;
    patches_col_name(s, 0, 0, false, first, sizeof first);
    buf_printf(out, "The %d token%s before %s %s left out: the same in A and B, %s would change nothing.", r->first,
               r->first == 1 ? "" : "s", first, r->first == 1 ? "is" : "are", r->first == 1 ? "it" : "they");
}
