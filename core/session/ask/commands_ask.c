/* Commands that ask: what is this, where does it come from, is it right. The answer goes into `said`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/address.h"
#include "core/session/ask/ask_diff.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/ledgers.h"
#include "core/session/command.h"
#include "core/session/learned/gradient.h"
#include "core/session/place.h"

enum { SLICE_NS = 100000000 };

/* The cell that is asked about: an address in the command, or the focus. */
typedef struct Target {
    Side side; /* A or B */
    Address address;
    NodeId node;
    size_t cell;
} Target;

static bool target(const Session *s, const Args *a, Target *t, Err *err)
{
    *t = (Target){.side = ask_side(session_side(s))};
    const Graph *g = session_graph(s, t->side);
    if (!address_word(s, g, a->count ? a->word[0] : "", a->count ? a->column[0] : 1, &t->address, err))
        return false;
    if (!t->address.is_node)
        return err_set(err, "'%s' is a group of nodes: name one of them, perhaps with a cell such as [t=3]",
                       t->address.path);
    t->node = ask_node(s, t->side, t->address.path, err);
    if (t->node == NO_NODE)
        return false;
    t->cell = address_cell(s, g, t->node, &t->address.cells);
    return true;
}

static bool said(Session *s, bool ok, Buf *text)
{
    if (ok) {
        while (text->len && text->data[text->len - 1] == '\n')
            text->data[--text->len] = 0;
        session_say(s, "%s", buf_str(text));
    }
    buf_free(text);
    return ok;
}

/* With every axis named it is one cell, otherwise the screen that suits the node decides what is said. */
static Screen screen_of(const Session *s, const Target *t)
{
    bool one = t->address.cells.n > 0;
    for (int i = 0; i < t->address.cells.n; i++)
        one = one && t->address.cells.range[i].to == t->address.cells.range[i].from + 1;
    Dims d = graph_node(session_graph(s, t->side), t->node)->dims;
    return one && t->address.cells.n == d.n ? SCREEN_EXPLAIN : session_screen_for(s, t->address.path);
}

static bool run_say(Session *s, const Args *a, Err *err)
{
    Target t;
    Buf text = {0};
    bool both = session_compares(s) && (s->compare == COMPARE_SIDES || s->compare == COMPARE_DIFF);
    Place here = s->place;
    if (a->count && strcmp(a->word[0], "screen") == 0)
        return said(s, ask_say_screen(s, &text, err), &text);
    if (a->count) {
        if (!target(s, a, &t, err))
            return false;
        const Graph *g = session_graph(s, t.side);
        if (!session_point(s, t.side, graph_node(g, t.node)->dims, t.cell, s->place.at, err))
            return false;
        s->place.screen = screen_of(s, &t);
        snprintf(s->place.path, sizeof s->place.path, "%s", t.address.path);
    }
    bool ok = ask_say(s, both ? SIDE_DIFF : session_side(s), &text, err);
    s->place = here;
    return said(s, ok, &text);
}

static bool run_explain(Session *s, const Args *a, Err *err)
{
    Target t;
    Buf text = {0};
    return target(s, a, &t, err) &&
           said(s, ask_explain_text(s, t.side, t.address.path, t.cell, &text, false, err), &text);
}

/* To the pixel, word or weight in which the chain of the focus ends. */
static bool go_to_end(Session *s, Err *err)
{
    Side side = ask_side(session_side(s));
    NodeId n = session_node(s, side, s->place.path);
    Buf from = {0};
    Ref end;
    int count;
    bool ok = n != NO_NODE && ask_why_end(s, side, s->place.path, session_cell(s, side, n), &end, &count, err);
    if (n == NO_NODE)
        err_set(err, "there is no number under the cursor on that side");
    if (ok) {
        const Graph *g = session_graph(s, side);
        const char *path = graph_node(g, end.node)->path;
        buf_puts(&from, graph_node(g, n)->path); /* short: it stands on one line of a small screen */
        ok = session_go(s, path, session_screen_for(s, path), err) &&
             session_point(s, side, graph_node(g, end.node)->dims, end.cell, s->place.at, err);
    }
    if (ok) {
        int row = dims_role(session_base(s), graph_node(session_graph(s, side), end.node)->dims, ROLE_PLACE_ROW);
        if (row != AXIS_NONE && side == SIDE_B)
            session_sync(s, row);
        session_say(s, "%d steps along the largest terms from %s.  ⌫ returns", count - 1, buf_str(&from));
    }
    buf_free(&from);
    return ok;
}

static bool run_why(Session *s, const Args *a, Err *err)
{
    Target t;
    Buf text = {0};
    if (a->count == 1 && strcmp(a->word[0], "end") == 0)
        return go_to_end(s, err);
    if (!a->count && s->place.due && session_need(s, SIDE_B, site_path_any(session_base(s), SITE_PROBS), NULL))
        place_arrive(s); /* why the answer, not why class 0 */
    if (!target(s, a, &t, err))
        return false;
    const char *path = t.address.path;
    if (!a->count && (t.side == SIDE_B || !session_compares(s)) && ledger_why(s, &path, &t.cell, &text))
        return true;
    return said(s, ask_why_text(s, t.side, path, t.cell, &text, false, err), &text);
}

static bool run_verify(Session *s, const Args *a, Err *err)
{
    const char *sample = args_named(a, "sample");
    char *end = NULL;
    unsigned long long n = sample ? strtoull(sample, &end, 10) : 0;
    if (sample && (*sample < '0' || *sample > '9' || *end || n == 0 || n > 1000000000))
        return err_set(err, "sample=%.40s: expected how many cells of every tensor to check, 1 to 1000000000", sample);
    Verdict v;
    Buf text = {0};
    if (!ask_verify(s, session_side(s), (size_t)n, &v, err))
        return false;
    ask_verify_text(s, &v, &text, false);
    return said(s, true, &text);
}

static bool run_info(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    Buf text = {0};
    ask_info(s, &text, false);
    return said(s, true, &text);
}

static bool run_glossary(Session *s, const Args *a, Err *err)
{
    Buf text = {0};
    return said(s, ask_glossary(s, a->count == 1 ? a->word[0] : a->rest, &text, err), &text);
}

static bool put_hash(Session *s, Side side, Buf *out, Err *err)
{
    uint64_t hash;
    while (!run_step_all(session_run(s, side), clock_ns() + SLICE_NS))
        if (s->progress && !s->progress(s->progress_context, "computing", run_progress(session_run(s, side))))
            return err_set(err, "cancelled");
    if (session_hash(s, side, &hash))
        buf_printf(out, "%s%016llx\n", session_compares(s) ? side == SIDE_A ? "A " : "B " : "trace hash ",
                   (unsigned long long)hash);
    return true;
}

static bool run_hash_command(Session *s, const Args *a, Err *err)
{
    (void)a;
    Buf text = {0};
    bool ok = (!session_compares(s) || put_hash(s, SIDE_A, &text, err)) && put_hash(s, SIDE_B, &text, err);
    return said(s, ok, &text);
}

static const Command COMMANDS[] = {
    COMMAND("say", "ask", "say [ADDRESS, screen]",
            "say in a sentence or two what is under the cursor; screen: the whole screen, as lines", COMMAND_SESSION,
            run_say, NULL),
    COMMAND("explain", "ask", "explain [ADDRESS]", "show the arithmetic of a cell with its real numbers",
            COMMAND_SESSION, run_explain, NULL),
    COMMAND("why", "ask", "why [ADDRESS, end]",
            "show which head and token spoke most for an answer; else, and again, follow the largest terms; end: there",
            COMMAND_SESSION, run_why, NULL),
    COMMAND("ledger", "ask", "ledger [NAME [NAME], ADDRESS, off] [against=NAME] [via=PATH] [head=N] [token=N]",
            "list what every part of the model wrote into the answer, or into a cell of the residual stream",
            COMMAND_SESSION, ledger_command, ledger_complete),
    COMMAND("gradient", "ask", "gradient ADDRESS",
            "compute the gradient of a cell, or of the loss (loss[o=NAME]): it is at grad.NODE; off ends it",
            COMMAND_SESSION, gradient_command, gradient_complete),
    COMMAND("verify", "ask", "verify [sample=N]", "recompute every cell from its terms and compare bit for bit",
            COMMAND_SESSION, run_verify, NULL),
    COMMAND("diff", "ask", "diff FILE [map=FILE] [tolerance=X] [precision=bf16] [require=NODES] [item=N] [input=own]",
            "find where another program's trace, or another model, first differs from this run, and why",
            COMMAND_SESSION | COMMAND_READ, diff_command, NULL),
    COMMAND("info", "ask", "info", "show model, input, sizes, costs, assumptions, machine", COMMAND_SESSION, run_info,
            NULL),
    COMMAND("glossary", "ask", "glossary [WORD]", "say what a word, a letter or a node's name means", COMMAND_SESSION,
            run_glossary, ask_glossary_complete),
    COMMAND("hash", "ask", "hash", "compute the trace hash: equal hashes are equal runs, bit for bit", COMMAND_SESSION,
            run_hash_command, NULL),
};

CommandTable session_commands_ask(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
