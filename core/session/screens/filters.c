/* What the patch projection looks for: its filters as tiles, or their principal components. */
#include <stdio.h>
#include <string.h>

#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/play.h"
#include "core/session/screens.h"

/* The axis along which the tiles stand. */
static int tile_axis(const Session *s)
{
    NodeId n = site_node_any(session_base(s), s->look.filters.components ? SITE_COMPONENTS : SITE_FILTERS);
    return n == NO_NODE ? AXIS_NONE : graph_node(session_base(s), n)->dims.axis[0];
}

static bool run_filters(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_base(s);
    bool has = site_node_any(g, SITE_COMPONENTS) !=
               NO_NODE; /* which show edges and colours, where filters show noise */
    const char *word = a->count ? a->word[0] : s->place.screen == SCREEN_FILTERS ? "" : has ? "components" : "filters";
    int value, axis = tile_axis(s), last = axis == AXIS_NONE ? -1 : g->axes[axis].n - 1;
    bool relative, counts = args_number(word, &value, &relative);
    if (model_way(s->now->model))
        return err_set(err, "this model reads words: it has no patches to filter; `heads` says where its heads look");
    if (counts && relative && last >= 0)
        value = clamp(s->place.at[axis] + value, 0, last);
    if (counts && (value < 0 || value > last))
        return err_set(err, "column %d: there is no tile %d: they go from 0 to %d", a->column[0], value, last);
    if (strcmp(word, "components") == 0)
        s->look.filters.components = true;
    else if (strcmp(word, "filters") == 0)
        s->look.filters.components = false;
    else if (strcmp(word, "next") == 0)
        s->look.filters.components = !s->look.filters.components;
    else if (*word && !counts)
        return err_set(err, "column %d: expected filters, components, next or a tile's number, found '%s'",
                       a->column[0], word);
    Site site = s->look.filters.components ? SITE_COMPONENTS : SITE_FILTERS;
    if (!screen_go(s, SCREEN_FILTERS, site_path_any(g, site_node_any(g, site) == NO_NODE ? SITE_EMBED : site), err))
        return false;
    if (counts)
        s->place.at[axis] = value;
    return true;
}

static void move_on_tiles(Session *s, int dy, int dx)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE || graph_node(session_graph(s, SIDE_B), n)->dims.n == 0)
        return;
    const Graph *g = session_graph(s, SIDE_B);
    int axis = graph_node(g, n)->dims.axis[0]; /* filters[d,…], components[k,…] */
    s->place.at[axis] = clamp(s->place.at[axis] + dx + dy * MEASURES_TILES_ACROSS, 0, g->axes[axis].n - 1);
}

static bool play_tiles(Session *s)
{
    int axis = tile_axis(s);
    return axis != AXIS_NONE && play_index(s, &s->place.at[axis], session_base(s)->axes[axis].n);
}

static bool next_tiles(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    Site site = s->look.filters.components ? SITE_FILTERS : SITE_COMPONENTS;
    (void)err;
    if (site_node_any(g, site) == NO_NODE)
        return true;
    s->look.filters.components = !s->look.filters.components;
    snprintf(s->place.path, sizeof s->place.path, "%s", site_path_any(g, site));
    return true;
}

static bool say_component(const Teller *t)
{
    NodeId n;
    const float *share = teller_values(t, teller_model(t, SITE_COMPONENTS_EXPLAINED), &n);
    if (!share)
        return false;
    int k = teller_index(t, ROLE_COMPONENT), count = teller_length(t, ROLE_COMPONENT), half = 0;
    double sum = 0, to = 0;
    for (int i = 0; i < count; i++) {
        to += i <= k ? (double)share[i] : 0;
        sum += sum < 0.9 ? (double)share[i] : 0;
        half += sum < 0.9;
    }
    buf_printf(t->out, "Component %d of %d holds %.1f %% of how the filters differ", k, count, 100 * (double)share[k]);
    buf_printf(t->out, k ? ", with those before it %.1f %%." : ", more than any other.", 100 * to);
    if (sum >= 0.9)
        buf_printf(t->out, " Nine tenths are in the first %d.", half + 1);
    return true;
}

static bool say_filters(const Teller *t)
{
    if (t->s->look.filters.components &&
        session_node(t->s, t->side, teller_model(t, SITE_COMPONENTS_EXPLAINED)) != NO_NODE)
        return say_component(t);
    NodeId n;
    const float *x = teller_values(t, teller_model(t, SITE_EMBED), &n);
    if (!x)
        return false;
    int d = teller_index(t, ROLE_WIDTH), patches = teller_length(t, ROLE_PLACE), least = 0, most = 0,
        down = graph_role(t->g, ROLE_PLACE, SEQUENCE_ANY), across = graph_role(t->g, ROLE_WIDTH, SEQUENCE_ANY);
    Dims dims = graph_node(t->g, n)->dims;
    if (dims_find(dims, down) < 0 || dims_find(dims, across) < 0)
        return say_anything(t);
    size_t step = dims_stride(t->g->axes, dims, down);
    const float *column = x + (size_t)d * dims_stride(t->g->axes, dims, across);
    for (int i = 1; i < patches; i++) {
        least = column[(size_t)i * step] < column[(size_t)least * step] ? i : least;
        most = column[(size_t)i * step] > column[(size_t)most * step] ? i : most;
    }
    char label[64];
    buf_printf(t->out, "Filter %d weighs the %d values of a patch into number %d of its vector: in this picture from ",
               d, teller_length(t, ROLE_CHANNEL) * teller_length(t, ROLE_PIXEL_ROW) * teller_length(t, ROLE_PIXEL_COL),
               d);
    ask_put_short(t->out, column[(size_t)least * step]);
    buf_printf(t->out, " at %s to ", teller_label(t, ROLE_PLACE, least, label));
    ask_put_short(t->out, column[(size_t)most * step]);
    buf_printf(t->out, " at %s.", teller_label(t, ROLE_PLACE, most, label));
    return true;
}

static const LookOption OPTIONS[] = {{.name = "components", .kind = OPTION_SWITCH, .at = LOOK(filters.components)},
                                     {.name = NULL}};

static const Command OWN = COMMAND("filters", "learned", "filters [filters, components, next, N, +1, -1]",
                                   "what the patch filters look for; principal components",
                                   COMMAND_SESSION | COMMAND_PICTURES, run_filters, NULL);

SCREEN_SPEC(FILTERS, .name = "filters",
            .about = "principal components of the patch projection as colour tiles, or all its filters",
            .group = GROUP_LEARNED, .command = "filters", .own = {&OWN, 1, NULL}, .move = move_on_tiles,
            .enter = enter_arithmetic, .next = next_tiles, .play = play_tiles, .say = say_filters, .tell = tell_tensor,
            .options = OPTIONS);
