#include "core/session/screens.h"

#include <stddef.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"

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

static bool fits_row(const Graph *g, NodeId n)
{
    return has_role(g, n, ROLE_QUERY) && has_role(g, n, ROLE_KEY);
}

static bool fits_positions(const Graph *g, NodeId n)
{
    return is_site(g, n, SITE_POSITIONS) || has_role(g, n, ROLE_OTHER_PLACE);
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

/* --- the rows --- */

#define FLAG(name, field, start)                                                                                       \
    {                                                                                                                  \
        name, LOOK_FLAG, offsetof(LookAt, field), start                                                                \
    }
#define NUMBER(name, field, start)                                                                                     \
    {                                                                                                                  \
        name, LOOK_NUMBER, offsetof(LookAt, field), start                                                              \
    }
static const ScreenOption PICTURE_OPTIONS[] = {FLAG("grid", picture.grid, true), {NULL, LOOK_FLAG, 0, 0}};
static const ScreenOption POSITIONS_OPTIONS[] = {FLAG("grids", positions.grids, false),
                                                 FLAG("centred", positions.centred, false),
                                                 {NULL, LOOK_FLAG, 0, 0}};
static const ScreenOption TRAINING_OPTIONS[] = {NUMBER("snapshot", training.snapshot, 0),
                                                FLAG("twin", training.twin, false),
                                                {NULL, LOOK_FLAG, 0, 0}};
static const ScreenOption FILTERS_OPTIONS[] = {FLAG("components", filters.components, false), {NULL, LOOK_FLAG, 0, 0}};
static const ScreenOption WHERE_OPTIONS[] = {NUMBER("method", where.method, 0),
                                             FLAG("one_head", where.one_head, false),
                                             {NULL, LOOK_FLAG, 0, 0}};
static const ScreenOption LABORATORY_OPTIONS[] = {NUMBER("reach", laboratory.reach, 0), {NULL, LOOK_FLAG, 0, 0}};
#undef FLAG
#undef NUMBER

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

/* --- options --- */

int screen_option(const LookAt *look, const ScreenOption *o)
{
    const char *at = (const char *)look + o->offset;
    return o->kind == LOOK_FLAG ? *(const bool *)(const void *)at : *(const int *)(const void *)at;
}

void screen_option_set(LookAt *look, const ScreenOption *o, int value)
{
    char *at = (char *)look + o->offset;
    if (o->kind == LOOK_FLAG)
        *(bool *)(void *)at = value != 0;
    else
        *(int *)(void *)at = value;
}

LookAt screen_look_start(void)
{
    LookAt look = {.view = VIEW_HEAT};
    for (int i = 0; i < SCREEN_COUNT; i++)
        for (const ScreenOption *o = SCREENS[i].options; o && o->name; o++)
            screen_option_set(&look, o, o->start);
    return look;
}
