/* A text as the model that writes expected it: −log p of every token but the first. */
#include <stdio.h>
#include <string.h>

#include "core/models/text_model.h"
#include "core/session/ask/number.h"
#include "core/session/ask/say.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/screens/answer.h"

enum { LINE = 10 }; /* tokens that up and down pass over */

static bool fits_stream(const Graph *g, NodeId n)
{
    return screen_is_site(g, n, SITE_SURPRISE);
}

/* Token n of the axis is asked for by row n of the logits: both are in focus, whatever screen follows. */
static void stand_on(Session *s, int at)
{
    const Graph *g = session_base(s);
    NodeId nats = site_node_any(g, SITE_SURPRISE), logits = site_node_any(g, SITE_LOGITS);
    if (nats == NO_NODE || logits == NO_NODE)
        return;
    int asked = graph_node(g, nats)->dims.axis[0], row = graph_node(g, logits)->dims.axis[0];
    at = clamp(at, 0, g->axes[asked].n - 1);
    session_set_index(s, row, at);
    session_sync(s, row);
    s->place.at[asked] = at;
}

static bool come_stream(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Model *m = s->now->model;
    const char *path = site_path_any(g, SITE_SURPRISE);
    if (!model_way(m))
        return err_set(err,
                       "this model reads no text: vitrine \"the animal did not cross the street\" opens one that does");
    if (model_way(m) == MODEL_READS)
        return err_set(err, "an encoder reads all of a text at once and gives none a probability: `view writing` names "
                            "a word for each place");
    if (!path)
        return err_set(err, "nothing stands before the only token of this text: open a text of two or more");
    int row = graph_node(g, site_node_any(g, SITE_LOGITS))->dims.axis[0], at = s->place.at[row];
    if (!session_go(s, site_path_any(g, SITE_PROBS), to, err)) /* its step on the map */
        return false;
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    stand_on(s, at);
    return true;
}

static void move_in_stream(Session *s, int dy, int dx)
{
    NodeId nats = site_node_any(session_base(s), SITE_SURPRISE);
    if (nats != NO_NODE)
        stand_on(s, s->place.at[graph_node(session_base(s), nats)->dims.axis[0]] + dx + LINE * dy);
}

/* Into the arithmetic of the surprise. */
static bool enter_stream(Session *s, Err *err)
{
    return session_go(s, site_path_any(session_base(s), SITE_SURPRISE), SCREEN_EXPLAIN, err);
}

static bool next_stream(Session *s, Err *err)
{
    return session_go(s, site_path_any(session_base(s), SITE_PROBS), SCREEN_WRITING, err);
}

static void put_number(Buf *out, const Teller *t, Site site)
{
    NodeId n;
    const float *x = teller_values(t, teller_model(t, site), &n);
    if (x)
        ask_put_short(out, *x);
}

static bool say_stream(const Teller *t)
{
    NodeId n, p, rows;
    const float *nats = teller_values(t, teller_model(t, SITE_SURPRISE), &n),
                *probs = nats ? teller_values(t, teller_model(t, SITE_PROBS), &rows) : NULL,
                *prob = probs ? teller_values(t, teller_model(t, SITE_SURPRISE_PROB), &p) : NULL;
    char label[64], share[32];
    if (!prob)
        return false;
    const Axis *asked = &t->g->axes[graph_node(t->g, n)->dims.axis[0]];
    size_t at = session_cell(t->s, t->side, n);
    Dims d = graph_node(t->g, rows)->dims;
    const Axis *words = &t->g->axes[d.axis[1]];
    const float *row = probs + at * (size_t)words->n;
    size_t rank = 1, best = largest_of(row, (size_t)words->n);
    for (int i = 0; i < words->n; i++)
        rank += row[i] > prob[at];
    buf_printf(t->out, "%s surprises by ", axis_label(asked, (int)at, label, sizeof label));
    ask_put_short(t->out, nats[at]);
    share_text(share, sizeof share, prob[at]);
    buf_printf(t->out, " nats, −log of its probability %s: rank %zu of %d", share, rank, words->n);
    if (rank > 1 || words->n > 1) {
        if (rank == 1) /* itself: the next */
            best = ranking_next((Ranking){row, (size_t)words->n, false}, best);
        share_text(share, sizeof share, row[best]);
        buf_printf(t->out, rank > 1 ? "; %s, %s, was expected" : "; likeliest instead: %s, %s",
                   axis_label(words, (int)best, label, sizeof label), share);
    }
    buf_printf(t->out, ". Over %d token%s the mean is ", asked->n, asked->n == 1 ? "" : "s");
    put_number(t->out, t, SITE_SURPRISE_MEAN);
    buf_puts(t->out, " nats, a perplexity of ");
    put_number(t->out, t, SITE_PERPLEXITY);
    buf_putc(t->out, '.');
    if (!t->s->model.trained)
        buf_puts(t->out, " The model is untrained: these probabilities mean nothing.");
    return true;
}

/* A token a line. */
static bool tell_stream(const Teller *t)
{
    NodeId n, p;
    const float *nats = teller_values(t, teller_model(t, SITE_SURPRISE), &n),
                *prob = nats ? teller_values(t, teller_model(t, SITE_SURPRISE_PROB), &p) : NULL;
    char label[64], share[32];
    if (!prob)
        return false;
    const Axis *asked = &t->g->axes[graph_node(t->g, n)->dims.axis[0]];
    for (int i = 0; i < asked->n; i++) {
        share_text(share, sizeof share, prob[i]);
        buf_printf(t->out, "%d. %s: ", i + 2, axis_label(asked, i, label, sizeof label));
        ask_put_short(t->out, nats[i]);
        buf_printf(t->out, " nats, probability %s.\n", share);
    }
    return true;
}

SCREEN_SPEC(STREAM, .name = "stream", .about = "a text with the surprise of each token: −log of its probability",
            .command = "view stream", .come = come_stream, .words = true, .fits = fits_stream, .move = move_in_stream,
            .enter = enter_stream, .next = next_stream, .off = OFF_NOTHING, .say = say_stream, .tell = tell_stream);
