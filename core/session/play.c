#include "core/session/play.h"

#include "core/session/place.h"
#include "core/session/screens.h"

enum { STEP_MS = 500 };

void play_stop(Session *s)
{
    s->look.playing = false;
    s->look.frame = 0;
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

int play_step_ms(const Session *s)
{
    int pace = s->look.pace;
    return pace < 0 ? STEP_MS << -pace : STEP_MS >> pace;
}

int play_wait(const Session *s)
{
    return s->look.frame ? play_step_ms(s) / PLAY_FRAMES : play_step_ms(s);
}

static int onward(const Session *s)
{
    return s->look.backwards ? stages_before(&s->stages, s->open, s->place.box)
                             : stages_after(&s->stages, s->open, s->place.box);
}

void play_begin(Session *s, bool backwards)
{
    bool own = screen_now(s)->play && !backwards;
    play_stop(s);
    s->look.backwards = backwards;
    if (!own && onward(s) == NO_BOX)
        place_on_box(s, stages_step(&s->stages, backwards ? s->stages.steps : 1));
    s->look.playing = true;
}

/* The screen's own steps. *more: or those of the pass, since all of these are there. */
static bool own_step(Session *s, bool *more)
{
    if (s->look.frame || s->look.backwards || !screen_now(s)->play)
        return false;
    *more = screen_now(s)->play(s);
    if (!*more && s->now->model) { /* looked at for as long as a step's result is */
        s->look.frame = 1;
        *more = true;
    }
    return true;
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
    int box = onward(s);
    look->frame = box == NO_BOX ? 0 : first;
    if (box != NO_BOX)
        place_on_box(s, box);
    return box != NO_BOX;
}
