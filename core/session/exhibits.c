/* The session's exhibits, and the table of their runs. */
#include <stdlib.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/place.h"

static uint16_t take_row(Session *s, RunRow row)
{
    size_t i = RUN_FIRST;
    while (i < s->run_count && s->runs[i].exhibit)
        i++;
    REQUIRE(i < RUN_LAST);
    while (s->run_count <= i) {
        s->runs = grow(s->runs, &s->run_cap, s->run_count, sizeof *s->runs);
        s->runs[s->run_count++] = (RunRow){0};
    }
    s->runs[i] = row;
    return (uint16_t)i;
}

static void number(Session *s, uint16_t *have, const Run *run, RunRow row)
{
    if (*have && !run)
        s->runs[*have] = (RunRow){0};
    if (!run)
        *have = 0;
    else if (!*have)
        *have = take_row(s, row);
}

void exhibits_number(Session *s, Exhibit *e)
{
    for (int i = 0; i < e->pass_count; i++) {
        Forward *p = &e->passes[i];
        number(s, &p->base_number, p->base_run, (RunRow){e, i, false});
        number(s, &p->edited_number, p->edited_run, (RunRow){e, i, true});
    }
}

Exhibit *exhibits_keep(Session *s, Exhibit *e)
{
    s->exhibits = grow(s->exhibits, &s->exhibit_cap, (size_t)s->exhibit_count, sizeof(Exhibit *));
    s->exhibits[s->exhibit_count++] = e;
    exhibits_number(s, e);
    return e;
}

static void forget(Session *s, Exhibit *e)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (s->runs[i].exhibit == e)
            s->runs[i] = (RunRow){0};
    s->now = s->now == e ? NULL : s->now;
    s->pinned = s->pinned == e ? NULL : s->pinned;
    exhibit_free(e);
    free(e);
}

void exhibits_drop(Session *s, Exhibit *e)
{
    int at = 0;
    if (!e)
        return;
    while (at < s->exhibit_count && s->exhibits[at] != e)
        at++;
    REQUIRE(at < s->exhibit_count);
    for (s->exhibit_count--; at < s->exhibit_count; at++)
        s->exhibits[at] = s->exhibits[at + 1];
    forget(s, e);
}

void exhibits_free(Session *s)
{
    for (int i = 0; i < s->exhibit_count; i++)
        forget(s, s->exhibits[i]);
    free(s->exhibits);
    free(s->runs);
    s->exhibits = NULL;
    s->runs = NULL;
    s->exhibit_count = 0;
    s->exhibit_cap = s->run_count = s->run_cap = 0;
}

Exhibit *session_add(Session *s, const Model *m, Input *in)
{
    Exhibit *e = xcalloc(1, sizeof *e);
    exhibit_init(e, m, in, s->pool);
    return exhibits_keep(s, e);
}

Exhibit *session_add_graph(Session *s, Graph *g, Input *in)
{
    Exhibit *e = xcalloc(1, sizeof *e);
    exhibit_init_graph(e, g, in, s->pool);
    return exhibits_keep(s, e);
}

bool session_show(Session *s, Exhibit *e, Err *err)
{
    Exhibit *was = s->now;
    s->now = e;
    if (edits_renew(s, err))
        return true;
    s->now = was;
    session_changed(s);
    return false;
}

void session_pin(Session *s, Exhibit *e)
{
    s->pinned = e;
    session_changed(s);
}

bool session_show_pass(Session *s, int pass, Err *err)
{
    Exhibit *e = s->now;
    int was = e->pass;
    if (pass < 0 || pass >= e->pass_count)
        return err_set(err, "there is no pass %d: there are %d, from 0", pass, e->pass_count);
    e->pass = pass;
    if (edits_renew(s, err))
        return true;
    e->pass = was;
    session_changed(s);
    return false;
}

void session_drop(Session *s, Exhibit *e)
{
    REQUIRE(e != s->now);
    bool shown = e && e == s->pinned;
    exhibits_drop(s, e);
    if (shown)
        session_changed(s);
    else
        session_budget(s, s->memory);
}

bool session_next_word(Session *s, Err *err)
{
    Exhibit *e = s->now;
    const Family *family = e->model ? e->model->family : NULL;
    const Graph *g = session_graph(s, SIDE_B);
    NodeId probs = site_node_any(g, SITE_PROBS);
    if (!family || !family->next_word || probs == NO_NODE)
        return err_set(err, "this model does not write: its answer is not a word of a text");
    const float *answer = run_peek(session_run(s, SIDE_B), probs);
    if (!answer)
        return err_set(err, "the answer is not computed yet");
    int word = family->next_word(e->model, g, answer);
    err->text[0] = 0;
    if (word == NO_WORD)
        return false;
    Text before = exhibit_pass(e)->text[TEXT_TARGET];
    int *words = xmalloc(size_mul((size_t)before.count + 1, sizeof *words));
    const char **labels = xmalloc(size_mul((size_t)before.count + 1, sizeof *labels));
    for (int i = 0; i < before.count; i++) {
        words[i] = before.word[i];
        labels[i] = before.label ? before.label[i] : NULL;
    }
    char label[64];
    const Axis *answers = &g->axes[graph_node(g, probs)->dims.axis[graph_node(g, probs)->dims.n - 1]];
    words[before.count] = word;
    labels[before.count] = axis_label(answers, word, label, sizeof label);
    exhibit_add_pass(e, (Text){words, before.label || !before.count ? labels : NULL, before.count + 1}, s->pool);
    free(words);
    free(labels);
    exhibits_number(s, e);
    return session_show_pass(s, e->pass_count - 1, err);
}
