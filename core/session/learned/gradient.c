#include "core/session/learned/gradient.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/address.h"
#include "core/session/ask/say.h"
#include "core/session/exhibit.h"
#include "core/session/place.h"

static const char LOSS[] = "loss";

static bool is_loss(const char *word)
{
    return strncmp(word, LOSS, strlen(LOSS)) == 0 && (!word[strlen(LOSS)] || word[strlen(LOSS)] == '[');
}

/* A node of the model itself that has something before it. */
static bool parse_node(const Session *s, const char *word, int column, GradTarget *t, Err *err)
{
    Graph plain = *session_base(s);
    Address to;
    plain.count = s->now->pass.base_count; /* no gradients of gradients */
    if (!address_word(s, &plain, word, column, &to, err)) {
        const Err why = err ? *err : (Err){""};
        return site_node_any(&plain, SITE_LOGITS) == NO_NODE
                   ? err_set(err, "%s; %s", why.text, session_input_words(s, SIDE_B)->no_loss)
                   : false;
    }
    if (!to.is_node)
        return err_set(err, "column %d: '%s' is a group of nodes: name one of them", column, to.path);
    NodeId n = graph_find(&plain, to.path);
    if (graph_node(&plain, n)->op == OP_LEAF)
        return err_set(err, "column %d: %s is an input: nothing comes before it", column, to.path);
    snprintf(t->path, sizeof t->path, "%s", to.path);
    t->cell = address_cell(s, &plain, n, &to.cells);
    return true;
}

/* The class axis and, where it is named, the class: "loss", "loss[o=star]", "loss[label=star]". */
static bool parse_loss(const Session *s, const char *word, int column, GradTarget *t, Err *err)
{
    char value[128];
    int label = session_input(s, SIDE_B)->label, used = 0;
    NodeId logits = site_node_any(session_base(s), SITE_LOGITS);
    if (logits == NO_NODE)
        return err_set(err, "%s", session_input_words(s, SIDE_B)->no_loss);
    Dims d = graph_node(session_base(s), logits)->dims;
    if (d.n != 1)
        return err_set(err, "there is a loss of one answer, and this text has %d: name a number, as in %s[t=0,v=1]",
                       session_base(s)->axes[d.axis[0]].n, graph_node(session_base(s), logits)->path);
    const Axis *classes = &session_base(s)->axes[d.axis[d.n - 1]];
    const char *cells = word + strlen(LOSS);
    bool named = sscanf(cells, "[o=%127[^]]]%n", value, &used) == 1 ||
                 sscanf(cells, "[label=%127[^]]]%n", value, &used) == 1;
    if (*cells && (!named || !used || cells[used]))
        return err_set(err, "column %d: expected loss[o=CLASS], the class that is right, found '%.60s'", column, word);
    if (named && !axis_parse(classes, value, &label))
        return err_set(err, "column %d: there is no class '%.60s'", column, value);
    if (label < 0 || label >= classes->n)
        return err_set(err, "the right class of this picture is not known: name it, as in loss[o=0]");
    snprintf(t->path, sizeof t->path, "%s", LOSS);
    t->cell = (size_t)label;
    return true;
}

bool gradient_set(Session *s, const GradTarget *t, Err *err)
{
    exhibit_append(s->now, t, &s->ledger);
    char path[SESSION_PATH + 8];
    snprintf(path, sizeof path, "grad.%s", t->path);
    bool ok = !*t->path || graph_find(exhibit_graph(s->now), path) != NO_NODE;
    const GradTarget *in_force = ok ? t : &s->target;
    if (!ok)
        exhibit_append(s->now, in_force, &s->ledger);
    if (session_pinned(s))
        exhibit_append(s->pinned, in_force, &s->ledger);
    if (in_force == t)
        s->target = *t;
    session_changed(s);
    return ok || err_set(err, "%s depends neither on weights nor on the input", t->path);
}

bool gradient_answer(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    GradTarget answer = {.cell = 0};
    if (*s->target.path || site_node_any(g, SITE_WHERE_ANSWER) == NO_NODE)
        return true;
    snprintf(answer.path, sizeof answer.path, "%s", site_path_any(g, SITE_WHERE_ANSWER));
    return gradient_set(s, &answer, err);
}

void gradient_text(const Session *s, Buf *out)
{
    const Graph *g = session_base(s);
    bool loss = strcmp(s->target.path, LOSS) == 0;
    NodeId n = *s->target.path ? loss ? site_node_any(g, SITE_LOGITS) : graph_find(g, s->target.path) : NO_NODE;
    Buf text = {0};
    if (n == NO_NODE)
        return;
    address_put(g, n, s->target.cell, &text);
    const char *cells = strchr(buf_str(&text), '[');
    buf_printf(out, "%s%s", s->target.path, cells ? cells : "");
    buf_free(&text);
}

/* The node in the model whose gradient the teller stands on, or NO_NODE: on a part of a gradient, a constant. */
static NodeId node_of(const Teller *t)
{
    const char *path = graph_node(t->g, t->n)->path + strlen("grad.");
    NodeId n = graph_find(t->g, path);
    return n != NO_NODE && dims_equal(graph_node(t->g, n)->dims, graph_node(t->g, t->n)->dims) ? n : NO_NODE;
}

bool say_gradient(const Teller *t)
{
    NodeId n = node_of(t);
    size_t cells = graph_cells(t->g, t->n), most = 0;
    if (n == NO_NODE)
        return say_anything(t);
    for (size_t i = 1; i < cells; i++)
        most = fabsf(t->x[i]) > fabsf(t->x[most]) ? i : most;
    gradient_text(t->s, t->out);
    buf_puts(t->out, " changes by ");
    ask_put_short(t->out, t->x[t->cell]);
    buf_puts(t->out, " per unit of change of ");
    address_put(t->g, n, t->cell, t->out);
    buf_puts(t->out, ", as long as the change is small.");
    if (cells < 2)
        return true;
    buf_puts(t->out, " Of this tensor ");
    address_put(t->g, n, most, t->out);
    buf_puts(t->out, " moves it most, by ");
    ask_put_short(t->out, t->x[most]);
    buf_putc(t->out, '.');
    return true;
}

bool gradient_command(Session *s, const Args *a, Err *err)
{
    GradTarget t = {{0}, 0};
    const char *word = a->count ? a->word[0] : "";
    int column = a->count ? a->column[0] : 1;
    if (strcmp(word, "off") != 0 &&
        !(is_loss(word) ? parse_loss(s, word, column, &t, err) : parse_node(s, word, column, &t, err)))
        return false;
    if (!gradient_set(s, &t, err))
        return false;
    if (!*t.path) {
        session_say(s, "Gradients are off.");
        return true;
    }
    Buf text = {0};
    gradient_text(s, &text);
    session_say(s, "grad.NODE now says how %s changes with every cell of NODE: `goto grad.%s`. `gradient off` ends it.",
                buf_str(&text), session_first(s));
    buf_free(&text);
    return true;
}

void gradient_complete(const Session *s, int index, Buf *out)
{
    if (index > 0)
        return;
    NodeId logits = site_node_any(session_base(s), SITE_LOGITS);
    buf_puts(out, "off\n");
    if (logits == NO_NODE)
        return;
    Dims d = graph_node(session_base(s), logits)->dims;
    const Axis *classes = &session_base(s)->axes[d.axis[d.n - 1]];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < classes->n && i < 20; i++) {
            char label[64];
            buf_printf(out, "%s[%s=%s]\n", k ? LOSS : graph_node(session_base(s), logits)->path, classes->sym,
                       axis_label(classes, i, label, sizeof label));
        }
}
