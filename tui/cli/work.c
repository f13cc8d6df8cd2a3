#include "tui/cli/work.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/stop.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/session/address.h"
#include "core/session/ask/ask.h"
#include "core/session/state.h"

enum { PATIENCE_NS = 500000000, REDRAW_NS = 100000000, SLICE_NS = 100000000, LINE_CELLS = 60, TIME_CELLS = 14 };

static void erase_line(Progress *p)
{
    if (p->drawn)
        tell_over("", LINE_CELLS + 5 + TIME_CELLS);
    p->drawn = 0;
}

/* The SessionProgress of a verb. */
static bool progress(void *context, const char *what, double share)
{
    Progress *p = context;
    int64_t now = clock_ns();
    int left = pace_left(&p->pace, share, now);
    if (stop_asked())
        return false;
    if (!p->terminal || now - p->began < PATIENCE_NS || (p->drawn && now - p->drawn < REDRAW_NS))
        return true;
    char line[2 * LINE_CELLS], time[24] = "", *text = p->what;
    utf8_clean(text, sizeof p->what, what);
    if (left)
        snprintf(time, sizeof time, ", %d s left", left);
    int pad = LINE_CELLS - utf8_cells(text), percent = share > 0 ? share < 1 ? (int)(share * 100) : 100 : 0;
    snprintf(line, sizeof line, "%s%*s%3d %%%s", text, pad, "", percent, time);
    tell_over(line, LINE_CELLS + 5 + TIME_CELLS);
    p->drawn = now;
    return true;
}

/* While something is read or written that says nothing of how far it is: seconds, so that nobody takes it for dead. */
static bool waiting(void *context)
{
    Progress *p = context;
    char line[LINE_CELLS + 24];
    int64_t now = clock_ns(), since = p->drawn ? p->drawn : p->began;
    if (p->terminal && now - since >= 2 * PATIENCE_NS) {
        utf8_print(line, sizeof line, "%s, %d s", p->what, (int)((now - p->began) / 1000000000));
        tell_over(line, LINE_CELLS + 5 + TIME_CELLS);
        p->drawn = now;
    }
    return false;
}

/* Where there is a screen its table stands first: its export knows pictures of the screen too. Elsewhere it stands
 * last, so that its commands are known and refused. */
static Commands all_commands(Work *w, unsigned allowed)
{
    Commands own = session_command_set(), c = {0};
    w->ui = (Ui){.overlay = &w->overlay, .commands = &w->commands};
    if (allowed & COMMAND_UI)
        commands_add(&c, app_commands(&w->ui));
    commands_add_all(&c, &own);
    if (!(allowed & COMMAND_UI))
        commands_add(&c, app_commands(NULL));
    commands_free(&own);
    return c;
}

/* The picture comes through a pipe: waits for its first byte while Ctrl-C still works at once. */
static bool await_stdin(Err *err)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (isatty(STDIN_FILENO))
        return err_set(err, "standard input is a terminal: send a picture through a pipe (vitrine run -i - < cat.png), "
                            "or name the file");
    poll(&in, 1, -1);
    return true;
}

static bool go(Work *w, const char *address, Err *err)
{
    bool ok = link_go(&w->session, &w->commands, address, err);
    w->session.back_count = 0;
    return ok;
}

/* --gradient TARGET: the command of that name. */
static bool ask_gradient(Work *w, Err *err)
{
    Buf line = {0};
    if (!w->options->gradient)
        return true;
    buf_puts(&line, "gradient ");
    command_quote(w->options->gradient, &line);
    bool ok = command_do(&w->session, &w->commands, buf_str(&line), 0, err);
    buf_free(&line);
    return ok;
}

/* The place first, so that commands act on it; an address that the edits have yet to make is tried again after them. */
static bool run_commands(Work *w, unsigned allowed, Err *err)
{
    const char *at = w->options->at, *start = at ? at : w->address;
    bool both = at && w->link.address, placed = *start && go(w, start, NULL);
    if (!ask_gradient(w, err)) /* of the focus, where it is of . */
        return false;
    placed = placed || (*start && go(w, start, both ? err : NULL)); /* a gradient's place */
    if (both && !placed)
        return false;
    buf_clear(&w->session.said);
    if (!session_read(&w->session, &w->commands, buf_str(&w->link.edits), LINE_FOREIGN | (allowed & COMMAND_UI), err) ||
        !session_read(&w->session, &w->commands, buf_str(&w->options->commands), allowed, err))
        return false;
    if (link_has_place(&w->link))
        return link_place(&w->link, &w->session, &w->commands, err);
    bool again = (allowed & COMMAND_UI) && *w->address && (both || !placed);
    if (again)
        return go(w, w->address, err);
    return !at || placed || go(w, at, err); /* a place that exists nowhere is an error for every verb */
}

void work_begin(Work *w)
{
    if (w->progress.began) /* a verb that began without a session opens one after all */
        return;
    w->progress = (Progress){.began = clock_ns(), .terminal = isatty(STDERR_FILENO)};
    snprintf(w->progress.what, sizeof w->progress.what, "reading");
    stop_hold();
    stop_listen(waiting, &w->progress);
}

bool work_progress(Work *w, const char *what, double share)
{
    return progress(&w->progress, what, share);
}

bool work_open(Work *w, unsigned allowed, Err *err)
{
    const Options *o = w->options;
    const char *input = w->link.input ? w->link.input : o->input;
    w->commands = all_commands(w, allowed);
    if (!link_files(&w->link, input, o->model, err))
        return false;
    if (input && strcmp(input, "-") == 0 && !await_stdin(err))
        return false;
    work_begin(w);
    ModelWish wish = {o->assume, o->resolution, o->text};
    if (!session_init_as(&w->session, o->model, wish, input, (int)o->threads, progress, &w->progress, err))
        return false;
    if (o->memory)
        session_budget(&w->session, o->memory);
    return run_commands(w, allowed, err);
}

bool work_complete(Work *w, Err *err)
{
    while (!session_step(&w->session, NULL, 0, clock_ns() + SLICE_NS))
        if (!progress(&w->progress, "computing", session_progress_share(&w->session)))
            return stop_refuse(err);
    const char *seen = site_path_any(session_base(&w->session), SITE_SEEN_DISTANCE);
    /* what the answer is worth is said beside it */
    return !seen || session_need(&w->session, session_judged(&w->session), seen, err);
}

void work_put_changes(const Work *w, Buf *out)
{
    for (int i = 0; i < w->session.edits.count; i++)
        buf_printf(out, "%s%s\n", i ? "     " : "with ", w->session.edits.line[i]);
}

void work_json_changes(const Work *w, Buf *out)
{
    json_open(out, "changes", '[');
    for (int i = 0; i < w->session.edits.count; i++)
        json_put_text(out, NULL, w->session.edits.line[i]);
    buf_putc(out, ']');
}

void work_json_nan(const Session *s, Buf *out)
{
    Buf nan = {0};
    if (ask_nan_begins(s, SIDE_B, &nan))
        json_put_text(out, "nan", buf_str(&nan));
    buf_free(&nan);
}

size_t work_memory(const Work *w)
{
    return w->options->memory ? w->options->memory : machine_memory() / 4;
}

bool work_to_stdout(const Work *w)
{
    return !w->options->output || strcmp(w->options->output, "-") == 0;
}

bool work_deliver(Work *w, Err *err)
{
    erase_line(&w->progress);
    if (stop_asked()) /* what is in its place already is done, with or without a report */
        return w->written || stop_refuse(err);
    tell_clean(&w->out);
    buf_add(&w->out, buf_str(&w->drawn), w->drawn.len);
    if (!w->out.len)
        return true;
    const bool out = w->written || work_to_stdout(w);
    errno = 0;
    if (file_write(out ? "-" : w->options->output, buf_str(&w->out), w->out.len, err))
        return true;
    return (out && errno == EPIPE) ||
           (w->written && stop_asked()); /* `vitrine … | head` has read what it wanted: nothing to complain about */
}

bool work_print(Work *w, Err *err)
{
    Err other = {{0}};
    erase_line(&w->progress);
    tell_clean(&w->out);
    errno = 0;
    bool ok = file_write("-", buf_str(&w->out), w->out.len, &other);
    if (!ok && errno != EPIPE && !stop_asked() && !stop_came())
        *err = other;
    buf_clear(&w->out);
    return ok;
}

void work_complain(Work *w, const char *text)
{
    erase_line(&w->progress);
    tell(text);
}

/* A run with more room keeps more: an eighth beyond what was needed is enough for that too. */
void work_say_memory(Work *w, size_t needed)
{
    enum { MEGABYTE = 1 << 20 };
    char text[160];
    if (!needed || !w->options->memory)
        return;
    utf8_print(text, sizeof text,
               "--memory was too little: %zu MB of values were needed at once. --memory %zuM is enough for this",
               needed / MEGABYTE + 1, (needed + needed / 8) / MEGABYTE + 1);
    work_complain(w, text);
}

void work_close(Work *w, bool done)
{
    stop_listen(NULL, NULL);
    erase_line(&w->progress);
    work_say_memory(w, session_short(&w->session));
    session_free(&w->session); /* accepts one that was never opened */
    link_free(&w->link);
    commands_free(&w->commands);
    overlay_free(&w->overlay);
    task_free(&w->ui.task);
    buf_free(&w->out);
    buf_free(&w->drawn);
    stop_release(done); /* a request that was not met ends the program here */
}

/* "embedding[d=7]", the largest number of what a model without answers ends with. */
static bool first_number(Work *w, Side side, const char *embedding, char *out, size_t n, Err *err)
{
    const Graph *g = session_graph(&w->session, side);
    const float *x = session_need(&w->session, side, embedding, err);
    const Dims d = graph_node(g, graph_find(g, embedding))->dims;
    const Axis *axis = &g->axes[d.axis[d.n - 1]];
    int best = 0;
    if (!x)
        return false;
    for (int i = 1; i < axis->n; i++)
        best = fabsf(x[i]) > fabsf(x[best]) ? i : best;
    snprintf(out, n, "%s[%s=%d]", embedding, axis->sym, best);
    return true;
}

/* "logits[o=5]" of the largest probability; false where a model has neither answers nor an embedding. */
static bool first_class(Work *w, Side side, char *out, size_t n, Err *err)
{
    Session *s = &w->session;
    const Graph *g = session_graph(s, side);
    const char *embedding = site_path_any(g, SITE_EMBEDDING);
    if (embedding && !site_path_any(g, SITE_LOGITS))
        return first_number(w, side, embedding, out, n, err);
    const char *logits = site_path_any(g, SITE_LOGITS), *probs = site_path_any(g, SITE_PROBS);
    const float *p = session_need(s, side, logits ? logits : site_name(SITE_LOGITS), err) && probs
                         ? session_need(s, side, probs, err)
                         : NULL;
    if (!p)
        return err_prefix(err, "name an ADDRESS");
    NodeId node = graph_find(g, logits);
    const Axis *classes = &g->axes[node_role(g, node, ROLE_ANSWER)];
    int best = 0, token = node_role(g, node, ROLE_QUERY);
    if (token != AXIS_NONE) /* of words the row under the cursor */
        p += (size_t)session_index_on(s, g, token) * (size_t)classes->n;
    for (int i = 1; i < classes->n; i++)
        best = p[i] > p[best] ? i : best;
    snprintf(out, n, "%s[%s=%d]", logits, classes->sym, best);
    return true;
}

bool work_cell(Work *w, char path[SESSION_PATH], size_t *cell, Err *err)
{
    Session *s = &w->session;
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    const Graph *g = session_graph(s, side);
    char answer[32];
    const char *address = w->address;
    Address to;
    if (!*address && s->back_count == 0) {
        if (!first_class(w, side, answer, sizeof answer, err))
            return false;
        address = answer;
    }
    if (!address_parse(s, g, address, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes: name one of them, perhaps with a cell such as [t=3]", to.path);
    memcpy(path, to.path, SESSION_PATH);
    *cell = address_cell(s, g, graph_find(g, to.path), &to.cells);
    LedgerTarget of;
    int row;
    if (!ledger_asks_row(g, &to, *cell, &row))
        return true;
    const bool ok = ledger_rivals(s, side, row, -1, &of, err);
    *cell = ok ? of.cell : *cell;
    return ok;
}
