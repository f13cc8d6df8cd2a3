/* How a model knows places: the table that it learned, or sinusoids. */
#include <string.h>

#include "core/models/probes.h"
#include "core/session/ask/say.h"
#include "core/session/options.h"
#include "core/session/screens.h"

static const char NO_POSITIONS[] = "this model has no table of position embeddings";

/* --- sinusoids --- */

static bool fits_waves(const Graph *g, NodeId n)
{
    return screen_is_site(g, n, SITE_POSITIONS) && site_node_any(g, SITE_WAVE_LENGTH) != NO_NODE;
}

static bool come_waves(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (site_node_any(g, SITE_WAVE_LENGTH) == NO_NODE)
        return err_set(err, "this model's positions are no sinusoids%s",
                       site_node_any(g, SITE_POSITIONS) == NO_NODE ? "" : ": `view positions` shows what it learned");
    if (!site_is(g, s->place.path, SITE_POSITIONS))
        return session_go(s, site_path_any(g, SITE_POSITIONS), to, err);
    return come_here(s, to, err);
}

/* Into the residual: what the rotation misses of this number, so many places on. */
static bool enter_wave(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_of(g, s->place.path);
    const char *path = site_path(g, part, SITE_WAVE_CARRIED);
    NodeId n = path ? graph_find(g, path) : NO_NODE;
    if (n == NO_NODE)
        return err_set(err, "this model has no sinusoids here");
    Dims d = graph_node(g, n)->dims; /* carried[place, places onward, pair, sine or cosine] */
    int width = graph_role(g, ROLE_WIDTH, SEQUENCE_ANY);
    s->place.at[d.axis[1]] = s->look.waves.onward < g->axes[d.axis[1]].n ? s->look.waves.onward
                                                                         : g->axes[d.axis[1]].n - 1;
    s->place.at[d.axis[2]] = s->place.at[width] / 2;
    s->place.at[d.axis[3]] = s->place.at[width] % 2;
    return session_go(s, path, SCREEN_EXPLAIN, err);
}

static bool say_waves(const Teller *t)
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
    const int wave = probes_wave(t->g, part, (int)dimension);
    int onward = t->s->look.waves.onward < places ? t->s->look.waves.onward : places - 1;
    buf_printf(t->out, "Dimension %zu is the %s of a wave of length ", dimension, wave % 2 ? "cosine" : "sine");
    ask_put_short(t->out, length[wave / 2]);
    buf_printf(
        t->out,
        " positions. One rotation turns the vector of every position into that of the position %d further on; here its "
        "largest error is ",
        onward);
    ask_put_short(t->out, most[place * (size_t)places + (size_t)onward]);
    buf_puts(t->out, "; in exact arithmetic it would be 0.");
    return true;
}

static bool onward_there(Session *s, int value, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_WAVE_ROTATION);
    int last = n == NO_NODE ? 0 : g->axes[graph_node(g, n)->dims.axis[0]].n - 1;
    if (value == 1 || (value >= 0 && value <= last))
        return true;
    return n == NO_NODE ? err_set(err, "this model has no sinusoids")
                        : err_set(err, "the rotations here lead 0 to %d positions on", last);
}

static const LookOption WAVES_OPTIONS[] = {
    {.name = "onward", .kind = OPTION_NUMBER, .at = LOOK(waves.onward), .there = onward_there, .start = 1},
    {.name = NULL}};

SCREEN_SPEC(WAVES, .name = "waves", .about = "sinusoids as positions: heat map, wavelengths, the rotation onward",
            .command = "view waves", .come = come_waves, .words = true, .fits = fits_waves, .move = move_on_plane,
            .enter = enter_wave, .next = enter_tensor, .off = OFF_NOTHING, .say = say_waves, .tell = tell_tensor,
            .options = WAVES_OPTIONS);

/* --- a table --- */

/* Places of a picture: those of a text lie in a line, and their cosines are a matrix like any other. */
static bool on_a_grid(const Graph *g)
{
    return graph_role(g, ROLE_PLACE, SEQUENCE_ANY) != AXIS_NONE;
}

static bool fits_positions(const Graph *g, NodeId n)
{
    return (screen_is_site(g, n, SITE_POSITIONS) && on_a_grid(g)) || node_role(g, n, ROLE_OTHER_PLACE) != AXIS_NONE;
}

/* Of the stack in focus, if it has a table. */
static const char *words_cosine(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Site site = s->look.positions.centred ? SITE_POSITION_COSINE_CENTRED : SITE_POSITION_COSINE;
    const int here = session_attention(s, g, -1);
    for (int e = NO_PART; here != NO_PART && (e = anatomy_next(g, e, PART_EMBEDDING)) != NO_PART;)
        if (strcmp(anatomy_part(g, e)->stack, anatomy_part(g, here)->stack) == 0 && site_path(g, e, site))
            return site_path(g, e, site);
    const char *any = site_path_any(g, site);
    return any ? any : site_path_any(g, SITE_POSITIONS);
}

bool come_positions(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (site_node_any(g, SITE_WAVE_LENGTH) != NO_NODE)
        return come_waves(s, SCREEN_WAVES, err);
    const char *turned = site_path_any(g, SITE_QUERY_ROPE), *bias = site_path_any(g, SITE_BIAS);
    if (site_node_any(g, SITE_POSITIONS) != NO_NODE && !on_a_grid(g))
        return session_go(s, words_cosine(s), SCREEN_TENSOR, err);
    if (site_node_any(g, SITE_POSITIONS) != NO_NODE)
        return session_go(s, site_path_any(g, SITE_POSITIONS), to, err);
    return turned ? err_set(err, "%s: it turns queries and keys by their place, `goto %s`", NO_POSITIONS, turned)
           : bias ? err_set(err, "%s: it adds a bias of places to the scores, `goto %s`", NO_POSITIONS, bias)
                  : err_set(err, NO_POSITIONS);
}

/* The patch compared with goes with the picked one: the cursor's value is that of the patch in brackets. */
static void move_positions(Session *s, int dy, int dx)
{
    const Graph *g = session_base(s);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), other = graph_role(g, ROLE_OTHER_PLACE, SEQUENCE_ANY);
    move_on_patches(s, dy, dx);
    if (p != AXIS_NONE && other != AXIS_NONE)
        s->place.at[other] = s->place.at[p];
}

static bool enter_cosine(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    Site site = s->look.positions.centred ? SITE_POSITION_COSINE_CENTRED : SITE_POSITION_COSINE;
    if (s->look.positions.fitted && site_node_any(g, SITE_FIT_BICUBIC) != NO_NODE)
        site = SITE_FIT_BICUBIC;
    if (site_node_any(g, site) == NO_NODE)
        return err_set(err, NO_POSITIONS);
    return session_go(s, site_path_any(g, site), SCREEN_EXPLAIN, err);
}

bool positions_fitted_there(const Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (site_node_any(g, SITE_FIT_OLD) != NO_NODE)
        return true;
    if (site_node_any(g, SITE_POSITIONS) == NO_NODE)
        return err_set(err, "%s", NO_POSITIONS);
    if (site_node_any(g, SITE_SCORES_BIASED) != NO_NODE)
        return err_set(err, "this position table is used on the grid that it was made for, as the model's relative "
                            "positions are: neither is fitted to another");
    return err_set(err,
                   "this position table is used on the grid that it was made for: start with --resolution, such as "
                   "--resolution 72, to see it fitted to another");
}

/* Raw, centred; then the same of all positions at once; then the table fitted to another grid, where it is. */
static bool next_positions(Session *s, Err *err)
{
    Err none;
    bool last = s->look.positions.centred && s->look.positions.grids;
    (void)err;
    if (s->look.positions.fitted || (last && positions_fitted_there(s, &none))) {
        s->look.positions.fitted = !s->look.positions.fitted;
        if (s->look.positions.fitted)
            return true;
    }
    if (s->look.positions.centred)
        s->look.positions.grids = !s->look.positions.grids;
    s->look.positions.centred = !s->look.positions.centred;
    return true;
}

bool say_positions(const Teller *t)
{
    bool centred = t->s->place.screen == SCREEN_POSITIONS ? t->s->look.positions.centred
                                                          : strstr(t->s->place.path, "centred") != NULL;
    const char *path = teller_model(t, centred ? SITE_POSITION_COSINE_CENTRED : SITE_POSITION_COSINE);
    char here[64], most[64], least[64];
    NodeId n = graph_find(t->g, path);
    if (n == NO_NODE) {
        buf_puts(t->out, "This model has no table of position embeddings for patches.");
        return true;
    }
    const float *x = ask_need(t->s, t->side, n, t->err);
    if (!x)
        return false;
    size_t count, self = (size_t)teller_index(t, ROLE_PLACE), best = self ? 0 : 1, worst = 0;
    const float *row = teller_row(t, x, n, self * (size_t)teller_length(t, ROLE_PLACE), &count);
    for (size_t i = 0; i < count; i++) {
        best = i != self && row[i] > row[best] ? i : best;
        worst = row[i] < row[worst] ? i : worst;
    }
    if (count < 2) {
        buf_puts(t->out, "There is only one patch: nothing to compare its position with.");
        return true;
    }
    buf_printf(t->out, "The position of patch %s is most similar to that of %s (cosine ",
               teller_label(t, ROLE_PLACE, (int)self, here), teller_label(t, ROLE_PLACE, (int)best, most));
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ") and least similar to that of %s (", teller_label(t, ROLE_PLACE, (int)worst, least));
    ask_put_short(t->out, row[worst]);
    buf_printf(t->out, ")%s.", centred ? ", with the mean of all positions subtracted" : "");
    return true;
}

static bool fitted_there(Session *s, int value, Err *err)
{
    return !value || positions_fitted_there(s, err);
}

static const LookOption POSITIONS_OPTIONS[] = {
    {.name = "grids", .kind = OPTION_SWITCH, .at = LOOK(positions.grids)},
    {.name = "centred", .kind = OPTION_SWITCH, .at = LOOK(positions.centred)},
    {.name = "fitted", .kind = OPTION_SWITCH, .at = LOOK(positions.fitted), .there = fitted_there},
    {.name = NULL}};

SCREEN_SPEC(POSITIONS, .name = "positions", .about = "cosine similarity of position embeddings",
            .command = "view positions", .come = come_positions, .fits = fits_positions, .move = move_positions,
            .enter = enter_cosine, .next = next_positions, .off = OFF_POSITIONS, .say = say_positions,
            .tell = tell_tensor, .options = POSITIONS_OPTIONS);
