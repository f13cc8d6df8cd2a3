#include "core/session/screens.h"

#include <stddef.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/edit/slider.h"
#include "core/session/learned/decoding.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/where.h"
#include "core/session/options.h"

/* --- which screen suits a node --- */

static bool is_site(const Graph *g, NodeId n, Site site)
{
    return site_is(g, graph_node(g, n)->path, site);
}

/* That node, or one on the way to it: "guess" and "guess_nobias". */
static bool leads_to(const Graph *g, NodeId n, Site site)
{
    const char *path = site_path_any(g, site);
    return path && strncmp(graph_node(g, n)->path, path, strlen(path)) == 0;
}

static bool has_role(const Graph *g, NodeId n, AxisRole role)
{
    return node_role(g, n, role) != AXIS_NONE;
}

/* A guess is as wide as the picture, but not the picture. */
static bool fits_picture(const Graph *g, NodeId n)
{
    return has_role(g, n, ROLE_CHANNEL) && has_role(g, n, ROLE_PLACE_ROW) && has_role(g, n, ROLE_PIXEL_ROW) &&
           !leads_to(g, n, SITE_GUESS);
}

/* Words that look at words; patches have a picture to be laid over. */
static bool fits_sentence(const Graph *g, NodeId n)
{
    int asks = node_role(g, n, ROLE_QUERY), keys = node_role(g, n, ROLE_KEY);
    return asks != AXIS_NONE && keys != AXIS_NONE && g->axes[asks].sequence != SEQUENCE_PICTURE &&
           g->axes[asks].sequence != SEQUENCE_NONE && g->axes[keys].sequence != SEQUENCE_PICTURE;
}

static bool fits_row(const Graph *g, NodeId n)
{
    return has_role(g, n, ROLE_QUERY) && has_role(g, n, ROLE_KEY);
}

static bool fits_positions(const Graph *g, NodeId n)
{
    return is_site(g, n, SITE_POSITIONS) || has_role(g, n, ROLE_OTHER_PLACE);
}

static bool fits_waves(const Graph *g, NodeId n)
{
    return is_site(g, n, SITE_POSITIONS) && site_node_any(g, SITE_WAVE_LENGTH) != NO_NODE;
}

static bool fits_answer(const Graph *g, NodeId n)
{
    return leads_to(g, n, SITE_PROBS) || is_site(g, n, SITE_LOGITS);
}

static bool fits_lens(const Graph *g, NodeId n)
{
    return is_site(g, n, SITE_LENS_PROBS);
}

static bool fits_blanks(const Graph *g, NodeId n)
{
    return is_site(g, n, SITE_GUESS);
}

/* Named matrices, made into a graph without a model. */
static bool fits_worked(const Graph *g, NodeId n)
{
    (void)n;
    return !anatomy_count(g);
}

/* --- the rows --- */

static const char *method_word(int i)
{
    return i < WHERE_METHODS ? where_word((WhereMethod)i) : NULL;
}

static const char *reach_word(int i)
{
    static const char *const WORDS[] = {"all", "block", "head"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == REACH_COUNT, "a word for each reach");
    return i < REACH_COUNT ? WORDS[i] : NULL;
}

static const char *overlay_word(int i)
{
    static const char *const WORDS[ROW_OVERLAYS] = {"off", "numbers"};
    return i < ROW_OVERLAYS ? WORDS[i] : NULL;
}

static const char *heads_word(int i)
{
    static const char *const WORDS[] = {"one", "all", "sum"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == SENTENCE_HEADS, "a word for each");
    return i < SENTENCE_HEADS ? WORDS[i] : NULL;
}

static bool fitted_there(Session *s, int value, Err *err)
{
    return !value || positions_fitted_there(s, err);
}

static bool onward_there(Session *s, int value, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_WAVE_ROTATION);
    int last = n == NO_NODE ? 0 : g->axes[graph_node(g, n)->dims.axis[0]].n - 1;
    if (value == 1 || (value >= 0 && value <= last))
        return true;
    return n == NO_NODE ? err_set(err, "this model has no sinusoids")
                        : err_set(err, "the rotations here lead 0 to %d places on", last);
}

static bool snapshot_there(Session *s, int value, Err *err)
{
    if (value == 0)
        return true;
    measures_read_history(s);
    const History *h = session_history_shown(s);
    int last = h ? h->snapshot_count - 1 : 0;
    return (value > 0 && value <= last) || err_set(err, "there is no snapshot %d: they go from 0 to %d", value, last);
}

static bool twin_there(Session *s, int value, Err *err)
{
    if (!value)
        return true;
    measures_read_history(s);
    return session_history_twin(s) || err_set(err, "no twin, trained without the scale, is known for this model");
}

static bool terms_there(Session *s, int value, Err *err)
{
    (void)s;
    return value >= 0 || err_set(err, "the first so many terms; 0 shows all");
}

static const char *by_word(int i)
{
    static const char *const WORDS[] = {[DECODE_GREEDY] = "greedy", [DECODE_BEAM] = "beam", [DECODE_SAMPLE] = "draw"};
    return i < (int)(sizeof WORDS / sizeof *WORDS) ? WORDS[i] : NULL;
}

/* Options that decode_options_check would refuse are no options. */
static bool width_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = decode_options_default();
    o.kind = DECODE_BEAM;
    o.width = value;
    return decode_options_check(&o, err);
}

static bool alpha_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = decode_options_default();
    o.kind = DECODE_BEAM;
    o.alpha = value / 100.0;
    return decode_options_check(&o, err);
}

static bool temperature_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = decode_options_default();
    o.kind = DECODE_SAMPLE;
    o.temperature = value / 100.0;
    return decode_options_check(&o, err);
}

static bool top_p_there(Session *s, int value, Err *err)
{
    (void)s;
    DecodeOptions o = decode_options_default();
    o.kind = DECODE_SAMPLE;
    o.top_p = value / 100.0;
    return decode_options_check(&o, err);
}

#define FIELD(name) offsetof(LookAt, name)
static const LookOption PICTURE_OPTIONS[] = {
    {.name = "grid", .kind = OPTION_SWITCH, .at = FIELD(picture.grid), .start = true}, {.name = NULL}};
static const LookOption POSITIONS_OPTIONS[] = {
    {.name = "grids", .kind = OPTION_SWITCH, .at = FIELD(positions.grids)},
    {.name = "centred", .kind = OPTION_SWITCH, .at = FIELD(positions.centred)},
    {.name = "fitted", .kind = OPTION_SWITCH, .at = FIELD(positions.fitted), .there = fitted_there},
    {.name = NULL}};
static const LookOption TRAINING_OPTIONS[] = {
    {.name = "twin", .kind = OPTION_SWITCH, .at = FIELD(training.twin), .there = twin_there},
    {.name = "snapshot", .kind = OPTION_NUMBER, .at = FIELD(training.snapshot), .there = snapshot_there},
    {.name = NULL}};
static const LookOption FILTERS_OPTIONS[] = {
    {.name = "components", .kind = OPTION_SWITCH, .at = FIELD(filters.components)}, {.name = NULL}};
static const LookOption WHERE_OPTIONS[] = {
    {.name = "method", .kind = OPTION_WORD, .at = FIELD(where.method), .word = method_word},
    {.name = "one-head", .kind = OPTION_SWITCH, .at = FIELD(where.one_head)},
    {.name = NULL}};
static const LookOption LABORATORY_OPTIONS[] = {
    {.name = "reach", .kind = OPTION_WORD, .at = FIELD(laboratory.reach), .word = reach_word}, {.name = NULL}};
static const LookOption LEDGER_OPTIONS[] = {
    {.name = "one-head-votes", .kind = OPTION_SWITCH, .at = FIELD(ledger.one_head)}, {.name = NULL}};
static const LookOption WORKED_OPTIONS[] = {
    {.name = "terms", .kind = OPTION_NUMBER, .at = FIELD(worked.terms), .there = terms_there}, {.name = NULL}};
static const LookOption ROW_OPTIONS[] = {
    {.name = "overlay", .kind = OPTION_WORD, .at = FIELD(row.overlay), .word = overlay_word}, {.name = NULL}};
static const LookOption SENTENCE_OPTIONS[] = {
    {.name = "heads", .kind = OPTION_WORD, .at = FIELD(sentence.heads), .word = heads_word}, {.name = NULL}};
static const LookOption WAVES_OPTIONS[] = {
    {.name = "onward", .kind = OPTION_NUMBER, .at = FIELD(waves.onward), .there = onward_there, .start = 1},
    {.name = NULL}};
static const LookOption DECODING_OPTIONS[] = {
    {.name = "decode-by", .kind = OPTION_WORD, .at = FIELD(decoding.by), .word = by_word, .start = DECODE_BEAM},
    {.name = "beam", .kind = OPTION_NUMBER, .at = FIELD(decoding.width), .there = width_there, .start = 4},
    {.name = "alpha", .kind = OPTION_HUNDREDTHS, .at = FIELD(decoding.alpha), .there = alpha_there, .start = 60},
    {.name = "temperature",
     .kind = OPTION_HUNDREDTHS,
     .at = FIELD(decoding.temperature),
     .there = temperature_there,
     .start = 100},
    {.name = "top-k", .kind = OPTION_NUMBER, .at = FIELD(decoding.top_k)},
    {.name = "top-p", .kind = OPTION_HUNDREDTHS, .at = FIELD(decoding.top_p), .there = top_p_there, .start = 100},
    {.name = "seed", .kind = OPTION_NUMBER, .at = FIELD(decoding.seed), .start = 1},
    {.name = "cache", .kind = OPTION_SWITCH, .at = FIELD(decoding.kept), .start = true},
    {.name = "beginning", .kind = OPTION_NUMBER, .at = FIELD(decoding.line)},
    {.name = NULL}};
#undef FIELD

static const ScreenSpec SCREENS[SCREEN_COUNT] = {
#define SCREEN(symbol, word, ...) [SCREEN_##symbol] = {.name = word, __VA_ARGS__},
#include "core/session/screens.def"
#undef SCREEN
};

const ScreenSpec *screen_spec(Screen screen)
{
    REQUIRE((unsigned)screen < SCREEN_COUNT);
    return &SCREENS[screen];
}

const ScreenSpec *screen_now(const Session *s)
{
    return screen_spec(s->place.screen);
}

const char *screen_name(Screen screen)
{
    return screen_spec(screen)->name;
}

Screen screen_find(const char *name)
{
    int i = 0;
    while (i < SCREEN_COUNT && strcmp(SCREENS[i].name, name) != 0)
        i++;
    return (Screen)i;
}

Screen session_screen_for(const Session *s, const char *path)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, path);
    if (n == NO_NODE || anatomy_is_gradient(path)) /* a gradient is no picture, no row of shares */
        return SCREEN_TENSOR;
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (SCREENS[i].fits && SCREENS[i].fits(g, n))
            return (Screen)i;
    return SCREEN_TENSOR;
}
