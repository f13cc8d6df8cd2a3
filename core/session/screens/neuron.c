/* A hidden unit of an MLP: what excites it most among many inputs, its map here, what it writes into each answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/neurons.h"
#include "core/session/place.h"
#include "core/session/screens.h"

/* The axes of its activations. False where there are none. */
static bool axes_of(const Session *s, NeuronAxes *out)
{
    NodeId n = session_node(s, SIDE_B, neuron_path(s, SIDE_B, SITE_MLP_POST));
    return neuron_axes(session_graph(s, SIDE_B), n, out);
}

/* "1.37", "decoder.1.37": block and unit, of experts "1.2.37"; "37": the unit in this block, or this expert; "+1". */
static bool pick(const Session *s, const Args *a, const char *word, char path[SESSION_PATH], int *unit, Err *err)
{
    const Graph *g = session_base(s);
    int block = -1, used = 0, part, expert = 0, number[3], count = 0;
    bool relative = false;
    const char *dot = strrchr(word, '.'), *stack = NULL;
    char name[24] = "";
    NeuronAxes axes;
    if (!neuron_here(s, &part, unit) || !axes_of(s, &axes))
        return err_set(err, "this model has no MLP");
    snprintf(path, SESSION_PATH, "%s", neuron_path(s, SIDE_B, SITE_MLP_POST));
    if (!*word)
        return true;
    if (!dot) {
        int by;
        if (!args_number(word, &by, &relative))
            return err_set(err, "column %d: expected a unit such as 1.37 (block 1, unit 37), +1 or -1, found '%.40s'",
                           a->column[0], word);
        if (relative) {
            *unit = clamp(*unit + by, 0, axes.count - 1);
            return true;
        }
        expert = *unit / g->axes[axes.units].n;
        *unit = by;
    } else {
        stack = anatomy_part(g, part)->stack;
        if (sscanf(word, "%20[a-z].%n", name, &used) == 1 && used)
            stack = name;
        for (const char *at = word + used; count < 3 && sscanf(at, "%d%n", &number[count], &used) == 1;) {
            count++;
            at += used;
            dot = at;
            if (*at++ != '.')
                break;
        }
        if (count < 2 || *dot)
            return err_set(err,
                           "column %d: expected a unit such as 1.37 (block 1, unit 37; of experts 1.2.37), found "
                           "'%.40s'",
                           a->column[0], word);
        block = number[0];
        expert = count > 2 ? number[1] : 0;
        *unit = number[count - 1];
        int of = anatomy_block(g, *stack ? stack : NULL, block), mlp;
        mlp = of == NO_PART ? NO_PART : anatomy_next_in(g, NO_PART, PART_MLP, of);
        const char *post = mlp == NO_PART ? NULL : site_path(g, mlp, SITE_MLP_POST);
        post = post || mlp == NO_PART ? post : site_path(g, mlp, SITE_EXPERTS_POST);
        if (!post || !neuron_axes(g, graph_find(g, post), &axes))
            return err_set(err, "column %d: there is no MLP in '%.40s': blocks go from 0 to %d", a->column[0], word,
                           anatomy_blocks(g, *stack ? stack : NULL) - 1);
        snprintf(path, SESSION_PATH, "%s", post);
        if (count != (axes.experts == AXIS_NONE ? 2 : 3))
            return err_set(err,
                           axes.experts == AXIS_NONE
                               ? "column %d: block %d has one MLP: name a unit of it, %d.%d"
                               : "column %d: block %d has experts: name one and its unit, %d.0.%d",
                           a->column[0], block, block, *unit);
    }
    const int units = g->axes[axes.units].n, experts = axes.count / units;
    if (expert < 0 || expert >= experts)
        return err_set(err, "column %d: there is no expert %d: they go from 0 to %d", a->column[0], expert,
                       experts - 1);
    if (*unit < 0 || *unit >= units)
        return err_set(err, "column %d: there is no unit %d: they go from 0 to %d", a->column[0], *unit, units - 1);
    *unit += expert * units;
    return true;
}

/* Over what is known of the model, or the folder (of a decoder the text) that the next word names. */
static bool measure_over(Session *s, const Args *a, Err *err)
{
    const bool texts = model_way(s->now->model) == MODEL_WRITES;
    if (a->count < 2)
        return session_measure_neurons(s, err);
    if (a->count > 2)
        return err_set(err, "column %d: expected one %s", a->column[2], texts ? "text" : "folder of pictures");
    if (!texts && !model_grid(s->now->model).rows)
        return err_set(err, "a text to measure is for models that write, decoders alone");
    const char *path = permit_read(s, a->word[1], err);
    if (path && !texts && !file_is_dir(path))
        return err_set(err, "column %d: expected a folder of pictures, found '%.200s'", a->column[1], a->word[1]);
    return path && session_measure_neurons_of(s, path, err);
}

static bool run_neuron(Session *s, const Args *a, Err *err)
{
    char path[SESSION_PATH];
    int unit, at = -1;
    NeuronAxes axes = {.count = 0};
    bool measure = a->count && strcmp(a->word[0], "measure") == 0;
    if (!pick(s, a, a->count && !measure ? a->word[0] : "", path, &unit, err) || (measure && !measure_over(s, a, err)))
        return false;
    Place before = s->place;
    if (!screen_go(s, SCREEN_NEURON, path, err))
        return false;
    place_find_box(s);
    axes_of(s, &axes);
    neuron_put(session_base(s), &axes, unit, s->place.at);
    char last[64];
    const Axis *axis = &session_base(s)->axes[axes.tokens];
    if (a->count > 1 && !measure && !axis_parse(axis, a->word[1], &at)) {
        s->place = before;
        return err_set(err, "column %d: expected a patch or word such as %s, found '%.40s'", a->column[1],
                       axis_label(axis, axis->n - 1, last, sizeof last), a->word[1]);
    }
    if (at >= 0) {
        s->place.at[axes.tokens] = at;
        session_sync(s, axes.tokens);
    }
    return true;
}

/* Over the picture; of words, which stand below each other, left and right lead to another unit. */
static void move_neuron(Session *s, int dy, int dx)
{
    NeuronAxes a;
    if (!axes_of(s, &a))
        return;
    const Graph *g = session_base(s);
    const Axis *t = &g->axes[a.tokens];
    if (t->kind == AXIS_TOKEN && t->cols > 0) {
        move_on_grid(s, ROLE_QUERY, dy, dx);
        return;
    }
    s->place.at[a.tokens] = clamp(s->place.at[a.tokens] + dy, 0, t->n - 1);
    neuron_put(g, &a, clamp(neuron_at(g, &a, s->place.at) + dx, 0, a.count - 1), s->place.at);
    session_sync(s, a.tokens);
}

/* Into its activation here. */
static bool enter_neuron(Session *s, Err *err)
{
    return session_go(s, s->place.path, SCREEN_EXPLAIN, err);
}

/* The next unit. */
static bool next_neuron(Session *s, Err *err)
{
    NeuronAxes a;
    (void)err;
    if (axes_of(s, &a))
        neuron_put(session_base(s), &a, (neuron_at(session_base(s), &a, s->place.at) + 1) % a.count, s->place.at);
    return true;
}

static void put_writes(const Teller *t, int unit)
{
    NodeId n;
    char label[64];
    const char *path = neuron_path(t->s, t->side, SITE_UNIT_WRITES);
    const float *x = path ? teller_values(t, path, &n) : NULL;
    if (!x)
        return;
    Dims d = graph_node(t->g, n)->dims;
    const Axis *o = &t->g->axes[d.axis[d.n - 1]];
    size_t most = 0, least = 0;
    x += (size_t)unit * (size_t)o->n;
    for (size_t i = 1; i < (size_t)o->n; i++) {
        most = x[i] > x[most] ? i : most;
        least = x[i] < x[least] ? i : least;
    }
    buf_printf(t->out, " For each 1 of activation it writes most into %s (",
               axis_label(o, (int)most, label, sizeof label));
    ask_put_short(t->out, x[most]);
    buf_printf(t->out, ") and takes most from %s (", axis_label(o, (int)least, label, sizeof label));
    ask_put_short(t->out, x[least]);
    buf_printf(t->out, "), directly and before the norm scales it%s.",
               d.n > 2 ? ", times the weight that a token gives the expert" : "");
}

/* For how many tokens an expert is chosen: elsewhere what its units hold is written nowhere. */
static void put_chosen(const Teller *t, int expert)
{
    NodeId n;
    const char *path = neuron_path(t->s, t->side, SITE_EXPERTS_CHOSEN);
    const float *x = path ? teller_values(t, path, &n) : NULL;
    if (!x)
        return;
    const int experts = t->g->axes[graph_node(t->g, n)->dims.axis[1]].n, tokens = (int)graph_cells(t->g, n) / experts;
    int chosen = 0;
    for (int i = 0; i < tokens; i++)
        chosen += x[i * experts + expert] > 0;
    buf_printf(t->out, " Expert %d is chosen for %d of %d tokens; for the others this is written nowhere.", expert,
               chosen, tokens);
}

/* The token of the first hit, as text. */
static void put_token(const NeuronShown *n, Buf *out)
{
    char line[64];
    Buf piece = {0}, all = {0};
    neuron_piece(n, 0, n->hit[0].token, &piece);
    byte_text_shown(buf_str(&piece), true, &all);
    buf_printf(out, "one with “%s”", utf8_fit(line, sizeof line, buf_str(&all), -1));
    buf_free(&all);
    buf_free(&piece);
}

static void put_excites(const Teller *t, float here)
{
    const char *why;
    char label[64];
    const NeuronShown *n = session_neuron(t->s, &why);
    if (!n) {
        buf_printf(t->out, " What excites it is %s%s.", why ? "not known: " : "not measured yet (:neuron measure)",
                   why ? why : "");
        return;
    }
    if (!n->count) {
        buf_printf(t->out, " None of %zu %s excites it.", n->done, neuron_over(t->s));
        return;
    }
    buf_printf(t->out, " Of %zu %s ", n->done, neuron_over(t->s));
    if (n->window_tokens)
        put_token(n, t->out);
    else if (n->words)
        buf_printf(t->out, "one with “%s”", neuron_word(n, 0, n->hit[0].token));
    else if (neuron_file(n, 0))
        buf_printf(t->out, "“%s”", utf8_clean(label, sizeof label, neuron_file(n, 0)));
    else
        buf_printf(t->out, "a picture of class %s", teller_label(t, ROLE_ANSWER, n->label[0], label));
    buf_puts(t->out, " excites it most (");
    ask_put_short(t->out, n->hit[0].value);
    buf_printf(t->out, "); this input does more than %.0f %% of them.",
               100 * (double)session_neuron_below(t->s, here) / (double)n->done);
}

static bool say_neuron(const Teller *t)
{
    NodeId n;
    char label[64];
    int part, unit;
    const char *path = neuron_path(t->s, t->side, SITE_MLP_POST);
    const float *x = path ? teller_values(t, path, &n) : NULL;
    if (!x || !neuron_here(t->s, &part, &unit))
        return false;
    NeuronAxes a;
    if (!neuron_axes(t->g, n, &a))
        return false;
    const Axis *tokens = &t->g->axes[a.tokens];
    size_t units = (size_t)a.count, best = 0;
    unit = unit < (int)units ? unit : (int)units - 1;
    for (size_t i = 1; i < (size_t)tokens->n; i++)
        best = x[i * units + (size_t)unit] > x[best * units + (size_t)unit] ? i : best;
    float here = x[best * units + (size_t)unit];
    const int each = t->g->axes[a.units].n;
    buf_printf(t->out, "Unit %d of ", unit % each);
    if (a.experts != AXIS_NONE)
        buf_printf(t->out, "expert %d in ", unit / each);
    buf_printf(t->out, "block %d is excited here most at %s (", session_block(t->s),
               axis_label(tokens, (int)best, label, sizeof label));
    ask_put_short(t->out, here);
    buf_puts(t->out, ").");
    if (a.experts != AXIS_NONE)
        put_chosen(t, unit / each);
    put_excites(t, here);
    put_writes(t, unit);
    return true;
}

static const Command OWN = COMMAND(
    "neuron", "learned", "neuron [BLOCK.UNIT, UNIT, +1, -1, measure] [TOKEN, FOLDER]",
    "a hidden unit of an MLP: what excites it most (measure FOLDER: of your own), its map, "
    "what it writes",
    COMMAND_SESSION | COMMAND_READ, run_neuron, NULL);

SCREEN_SPEC(NEURON, .name = "neuron", .about = "what excites a hidden unit, and what it writes", .group = GROUP_LEARNED,
            .command = "neuron", .own = {&OWN, 1, NULL}, .move = move_neuron, .enter = enter_neuron,
            .next = next_neuron, .work = measures_step_neurons, .say = say_neuron, .tell = tell_tensor);
