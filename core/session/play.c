#include "core/session/play.h"

#include "core/session/place.h"
#include "core/session/screens.h"

enum { STEP_MS = 500 };

void play_stop(Session *s)
{
    s->look.playing = s->look.rows = false;
    s->look.frame = s->look.until = 0;
}

bool play_shows(const Session *s)
{
    return s->look.frame > 0 && !screen_now(s)->play;
}

double play_share(const Session *s)
{
    int frame = s->look.frame;
    return !play_shows(s) || frame >= PLAY_FILLS ? 1 : (double)frame / PLAY_FILLS;
}

static int onward(const Session *s)
{
    return s->look.backwards ? stages_before(&s->stages, s->open, s->place.box)
                             : stages_after(&s->stages, s->open, s->place.box);
}

/* The close-up of a step, which the pass goes on behind. */
static bool in_pass(const Session *s)
{
    return screen_now(s)->group == GROUP_ARITHMETIC;
}

static bool has_own(const Session *s)
{
    return screen_now(s)->play && !(s->look.backwards && in_pass(s));
}

/* Is a step one of the screen's own, not of the pass? */
static bool is_own(const Session *s)
{
    return !s->look.frame && (s->look.rows || has_own(s));
}

int play_step_ms(const Session *s)
{
    int pace = s->look.pace;
    return pace < 0 ? STEP_MS << -pace : STEP_MS >> pace;
}

int play_wait(const Session *s)
{
    return s->look.frame ? play_step_ms(s) / PLAY_FRAMES : play_step_ms(s);
}

void play_begin(Session *s, bool backwards)
{
    play_stop(s);
    s->look.backwards = backwards;
    s->look.playing = true;
    if (has_own(s))
        return;
    if (!s->now->model)
        s->place.screen = SCREEN_WORKED;
    else if (onward(s) == NO_BOX)
        place_on_box(s, stages_step(&s->stages, backwards ? s->stages.steps : 1));
    else if (screen_now(s)->group == GROUP_LEARNED)
        place_on_box(s, s->place.box);
}

/* The last row of the map that belongs to a box: a block's is that of its last part. */
static int end_of(const Session *s, int box)
{
    const Box *boxes = s->stages.boxes;
    while (stages_is_block(&s->stages, box) && boxes[box].child != NO_BOX)
        for (box = boxes[box].child; boxes[box].next != NO_BOX;)
            box = boxes[box].next;
    return place_row(s, box);
}

bool play_to(Session *s, int box, Err *err)
{
    const Box *boxes = s->stages.boxes;
    if (!s->now->model)
        return err_set(err, "a worked example has no forward pass; `play` shows its terms");
    int end = end_of(s, box);
    if (boxes[end].first < boxes[s->place.box].first)
        return err_set(err, "%s lies behind: go to a step before it first", boxes[end].path);
    play_stop(s);
    if (screen_now(s)->group == GROUP_LEARNED || in_pass(s)) /* they have films of their own */
        place_on_box(s, s->place.box);
    s->look.backwards = false;
    s->look.playing = true;
    s->look.until = end + 1;
    return true;
}

static int row_axis(const Session *s)
{
    const Graph *g = session_base(s);
    NodeId n = graph_find(g, s->place.path);
    return node_role(g, n, ROLE_KEY) == AXIS_NONE ? AXIS_NONE : node_role(g, n, ROLE_QUERY);
}

bool play_rows(Session *s, Err *err)
{
    if (row_axis(s) == AXIS_NONE)
        return err_set(err, "rows of attention are played on attention: `goto` its pattern");
    play_stop(s);
    s->look.backwards = false;
    s->look.playing = s->look.rows = true;
    return true;
}

bool play_index(const Session *s, int *at, int count)
{
    int last = count > 0 ? count - 1 : 0, end = s->look.backwards ? 0 : last;
    *at = *at == end ? last - end : clamp(*at + (s->look.backwards ? -1 : 1), 0, last);
    return *at != end;
}

static bool next_row(Session *s)
{
    int axis = row_axis(s);
    if (axis == AXIS_NONE)
        return false;
    int at = s->place.at[axis];
    bool more = play_index(s, &at, session_base(s)->axes[axis].n);
    session_set_index(s, axis, at);
    session_sync(s, axis);
    return more;
}

/* The screen's own steps; behind the last one it stops: who looks into a close-up does not leave it unasked. */
static bool own_step(Session *s, bool *more)
{
    if (!is_own(s))
        return false;
    *more = s->look.rows ? next_row(s) : screen_now(s)->play(s);
    if (!*more && !s->look.rows && in_pass(s))
        session_say(s, "That is the whole operation. `.` plays it again, Backspace goes back.");
    return true;
}

void play_end(Session *s)
{
    if (s->look.playing && s->look.until)
        place_on_box(s, s->look.until - 1);
    play_stop(s);
}

bool play_frame(Session *s)
{
    LookAt *look = &s->look;
    bool more = false;
    s->changes++;
    if (own_step(s, &more))
        return more;
    int by = look->backwards ? -1 : 1, first = look->backwards ? PLAY_FRAMES : 1;
    look->frame = look->frame ? look->frame + by : first;
    if (look->frame >= 1 && look->frame <= PLAY_FRAMES)
        return true;
    int box = look->until == s->place.box + 1 ? NO_BOX : onward(s);
    look->frame = box == NO_BOX ? 0 : first;
    if (box != NO_BOX)
        place_on_box(s, box);
    return box != NO_BOX;
}
