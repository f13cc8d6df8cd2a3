/* What can be said of words: the next one, sinusoids. */
#include <stdio.h>
#include <string.h>

#include "core/session/ask/say.h"

static void put_word(const Teller *t, NodeId n, const float *row, size_t word)
{
    Dims d = graph_node(t->g, n)->dims;
    char label[64];
    buf_printf(t->out, "%s ", axis_label(&t->g->axes[d.axis[d.n - 1]], (int)word, label, sizeof label));
    ask_put_short(t->out, row[word]);
}

/* The largest that comes after `last`; n where there is none. */
static size_t next_of(const float *x, size_t n, size_t last)
{
    size_t next = n;
    for (size_t i = 0; i < n; i++) {
        bool after = x[i] < x[last] || (x[i] == x[last] && i > last);
        if (after && (next == n || x[i] > x[next]))
            next = i;
    }
    return next;
}

bool say_writing(const Teller *t)
{
    NodeId n;
    const float *probs = teller_values(t, teller_model(t, SITE_PROBS), &n);
    if (!probs)
        return false;
    if (node_role(t->g, n, ROLE_QUERY) == AXIS_NONE) /* A may be a model that writes nothing */
        return say_answer(t);
    Dims d = graph_node(t->g, n)->dims;
    const Axis *tokens = &t->g->axes[d.axis[0]];
    size_t count, cell = session_cell(t->s, t->side, n);
    const float *row = teller_row(t, probs, n, cell, &count);
    size_t best = largest_of(row, count), second = next_of(row, count, best);
    char label[64];
    int at = (int)(cell / count);
    if (tokens->sequence == SEQUENCE_TARGET)
        buf_printf(t->out, "Step %d of %d: after %s the model writes ", at + 1, tokens->n,
                   axis_label(tokens, at, label, sizeof label));
    else
        buf_printf(t->out, "At %s the model names ", axis_label(tokens, at, label, sizeof label));
    put_word(t, n, row, best);
    if (second < count) {
        buf_puts(t->out, ", before ");
        put_word(t, n, row, second);
    }
    buf_printf(t->out, ", of %zu words.", count);
    if (!t->s->model.trained)
        buf_puts(t->out, " The model is untrained: the arithmetic is exact, the word means nothing.");
    return true;
}

bool say_waves(const Teller *t)
{
    int part = anatomy_of(t->g, t->s->place.path);
    const char *lengths = site_path(t->g, part, SITE_WAVE_LENGTH),
               *largest = site_path(t->g, part, SITE_WAVE_RESIDUAL_LARGEST);
    NodeId n, m, table = site_node(t->g, part, SITE_POSITIONS);
    if (!lengths || !largest || table == NO_NODE) {
        buf_puts(t->out, "This model's positions are no sinusoids.");
        return true;
    }
    const float *length = teller_values(t, lengths, &n), *most = length ? teller_values(t, largest, &m) : NULL;
    if (!most)
        return false;
    Dims d = graph_node(t->g, table)->dims;
    int places = t->g->axes[d.axis[0]].n, width = t->g->axes[d.axis[1]].n;
    size_t cell = session_cell(t->s, t->side, table), place = cell / (size_t)width, dimension = cell % (size_t)width;
    int onward = t->s->look.waves.onward < places ? t->s->look.waves.onward : places - 1;
    buf_printf(t->out, "Dimension %zu is the %s of a wave that comes round after ", dimension,
               dimension % 2 ? "cosine" : "sine");
    ask_put_short(t->out, length[dimension / 2]);
    buf_printf(t->out,
               " places. One rotation leads from every place to the one %d further on; here it misses it by at most ",
               onward);
    ask_put_short(t->out, most[place * (size_t)places + (size_t)onward]);
    buf_puts(t->out, "; in exact arithmetic it would miss by nothing.");
    return true;
}
