#include "tui/presenter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/play.h"
#include "core/session/state.h"

enum { TITLE_S = 3 };

static void settle(void *presenter, Session *s, const Commands *c)
{
    Buf said = s->said; /* may be what the step shows */
    s->said = (Buf){0};
    presenter_lock(presenter, s, c);
    buf_free(&s->said);
    s->said = said;
}

static bool go(Presenter *p, Session *s, const Commands *c, int step, Err *err)
{
    present_count(&p->view, &p->deck, clock_ns());
    p->due = 0;
    log_hold(s, true); /* a step is one entry, whatever its commands are */
    bool ok = deck_go(&p->deck, s, c, step, err);
    log_hold(s, false);
    p->film = ok && !p->deck.lesson && s->look.playing && !s->look.until;
    present_kind(s, p->view.kind);                                    /* the step's state has its lock */
    if (ok && !p->deck.caption.len && !deck_is_title(&p->deck, step)) /* a step that asks shows what it was told */
        buf_puts(&p->deck.caption, buf_str(&s->said));
    buf_clear(&s->said);
    p->view.pointer = false;
    return ok;
}

static void bring_back(Presenter *p, Session *s)
{
    deck_close(&p->deck);
    if (aside_back(&p->own, s))
        buf_clear(&s->said);
}

static bool start(Presenter *p, Session *s, const Commands *c, const char *which, Err *err)
{
    bool first = !p->own.lines;
    if (first)
        aside_put(&p->own, s);
    if (!deck_open(&p->deck, s, which, err)) {
        if (first) /* nothing is presented, so nothing was set aside */
            aside_drop(&p->own, s);
        return false;
    }
    free(p->view.spent);
    p->view.spent = xcalloc((size_t)p->deck.count, sizeof *p->view.spent);
    p->timed = false;
    p->deck.settle = settle;
    p->deck.context = p;
    p->view.on = true;
    p->view.blank = false;
    p->view.kind[0] = 0;
    p->view.began = p->view.entered = clock_ns();
    return go(p, s, c, 0, err);
}

/* Without a deck the forward pass is the story. */
static bool run(Session *s, const Commands *c, const char *line, Err *err)
{
    log_hold(s, true);
    bool ok = command_do(s, c, line, 0, err);
    log_hold(s, false);
    return ok;
}

static bool turn(Presenter *p, Session *s, const Commands *c, int by, Buf *said, Err *err)
{
    p->view.on = true;
    p->view.pointer = false;
    if (!p->deck.open)
        return run(s, c, by > 0 ? "next" : "prev", err);
    if (by > 0) {
        log_hold(s, true);
        bool on = deck_on(&p->deck, s, err);
        log_hold(s, false);
        buf_clear(&s->said);
        if (on || *err->text)
            return on;
    }
    int to = p->deck.at + by;
    if (to < 0 || to >= p->deck.count) {
        buf_puts(said, to < 0 ? "This is the first step." : "That was the last step. P: the model; q leaves.");
        return true;
    }
    return go(p, s, c, to, err);
}

static bool jump(Presenter *p, Session *s, const Commands *c, const char *where, Err *err)
{
    char line[64], *end;
    bool last = strcmp(where, "last") == 0;
    long step = strtol(where, &end, 10);
    if (!last && (end == where || *end || step < 1))
        return err_set(err, "go where? present go 3, present go last");
    if (!p->deck.open) {
        snprintf(line, sizeof line, last ? "goto last" : "goto %ld", step);
        return run(s, c, line, err);
    }
    if (!last && step > p->deck.count)
        return err_set(err, "there are %d steps", p->deck.count);
    return go(p, s, c, last ? p->deck.count - 1 : (int)step - 1, err);
}

static bool play(Presenter *p, Err *err)
{
    if (!p->deck.open || p->deck.lesson)
        return err_set(err, p->deck.open ? "a lesson has no pauses in seconds: its reader goes on"
                                         : "play what? present FILE opens a script, and present play plays it");
    p->timed = !p->timed;
    p->view.on = true;
    p->due = 0;
    return true;
}

int64_t presenter_left(Presenter *p, const Session *s, bool done, int64_t now)
{
    const Deck *d = &p->deck;
    bool arrives = s->look.playing && s->look.until; /* the pause comes behind it */
    p->film &= s->look.playing;                      /* nobody has stopped it */
    if (!(p->timed || p->film) || arrives || !p->view.on || p->view.blank || p->view.asks || !d->open || !done)
        return -1;
    double seconds = deck_is_title(d, d->at) ? TITLE_S : deck_seconds(d, d->at);
    seconds = seconds < SCRIPT_IDLE_S || !p->timed ? seconds : SCRIPT_IDLE_S;
    if (!p->due)
        p->due = now + (int64_t)(seconds * 1e9);
    return p->due > now ? p->due - now : 0;
}

bool presenter_ended(Presenter *p, Session *s)
{
    p->due = 0;
    if (p->film)
        play_stop(s);
    p->film = false;
    s->changes++;
    return p->timed;
}

static bool toggle(Presenter *p, Session *s, const Commands *c, const char *open, Err *err)
{
    if (p->view.on) {
        p->view.on = false;
        s->look.locked = false;
        return true;
    }
    if (!p->deck.open && open)
        return start(p, s, c, open, err);
    p->view.on = true;
    p->view.blank = false;
    p->view.kind[0] = 0;
    log_hold(s, true);
    bool ok = !p->deck.open || deck_return(&p->deck, s, c, err);
    log_hold(s, false);
    if (p->deck.open)
        present_kind(s, p->view.kind);
    buf_clear(&s->said);
    return ok;
}

/* What a word asks of the presenter; go is followed by where to. */
typedef enum Wish {
    WISH_TOGGLE,
    WISH_OFF,
    WISH_ON,
    WISH_LIGHT,
    WISH_DARK,
    WISH_NEXT,
    WISH_PREV,
    WISH_GO,
    WISH_PLAY,
    WISH_LEAVE,
    WISH_OPEN
} Wish;

static Wish wish_of(const char *word)
{
    static const char *const WORDS[WISH_OPEN] = {
        [WISH_TOGGLE] = "",   [WISH_OFF] = "off",   [WISH_ON] = "on",  [WISH_LIGHT] = "light", [WISH_DARK] = "dark",
        [WISH_NEXT] = "next", [WISH_PREV] = "prev", [WISH_GO] = "go ", [WISH_PLAY] = "play",   [WISH_LEAVE] = "leave"};
    int i = 0;
    while (i < WISH_OPEN && (i == WISH_GO ? strncmp(word, WORDS[i], strlen(WORDS[i])) : strcmp(word, WORDS[i])) != 0)
        i++;
    return (Wish)i;
}

bool presenter_opens(const char *word)
{
    return wish_of(word) == WISH_OPEN;
}

bool presenter_do(Presenter *p, Session *s, const Commands *c, const char *word, const char *open, Buf *said, Err *err)
{
    bool on = p->view.on;
    Wish wish = wish_of(word);
    switch (wish) {
    case WISH_OFF:
    case WISH_ON: return on == (wish == WISH_ON) || toggle(p, s, c, open, err);
    case WISH_TOGGLE: return toggle(p, s, c, open, err);
    case WISH_LIGHT:
    case WISH_DARK: p->view.light = wish == WISH_LIGHT; return true;
    case WISH_NEXT:
    case WISH_PREV: return turn(p, s, c, wish == WISH_NEXT ? 1 : -1, said, err);
    case WISH_GO: return jump(p, s, c, word + strlen("go "), err);
    case WISH_PLAY: return play(p, err);
    case WISH_LEAVE: p->view.asks = on; return on || err_set(err, "nothing is being presented");
    case WISH_OPEN: break;
    }
    return start(p, s, c, word, err);
}

void presenter_blank(Presenter *p, const char *word)
{
    p->view.blank = *word ? strcmp(word, "on") == 0 : !p->view.blank;
}

void presenter_free_colours(Presenter *p, Session *s)
{
    if (!p->view.on)
        return;
    s->look.locked = false;
    p->view.kind[0] = 0;
}

void presenter_lock(Presenter *p, Session *s, const Commands *c)
{
    char kind[SESSION_PATH];
    if (s->look.playing) /* every step has other numbers */
        presenter_free_colours(p, s);
    if (!p->view.on || s->look.playing)
        return;
    present_kind(s, kind);
    if (strcmp(kind, p->view.kind) == 0)
        return;
    memcpy(p->view.kind, kind, sizeof kind);
    command_do(s, c, "colours free", 0, NULL);
    if (*kind)
        command_do(s, c, "colours lock", 0, NULL); /* a node without numbers keeps free colours */
    buf_clear(&s->said);
}

bool presenter_answers(Presenter *p, Session *s, const char *key)
{
    if (!p->view.asks)
        return false;
    p->view.asks = false;
    if (strcmp(key, "q") != 0 && strcmp(key, "y") != 0)
        return true;
    present_count(&p->view, &p->deck, clock_ns());
    p->view.on = p->view.blank = false;
    s->look.locked = false;
    s->quit = p->alone;
    if (!p->alone && p->own.lines)
        bring_back(p, s);
    s->changes++;
    return true;
}

void presenter_page(const Presenter *p, const Session *s, Buf *out)
{
    const Deck *d = &p->deck;
    int64_t now = clock_ns();
    int total, step = session_step_number(s, &total), all = (int)((now - p->view.began) / 1000000000),
               here = (int)((now - p->view.entered) / 1000000000);
    bool deck = d->open && d->at >= 0;
    buf_printf(out, "Step %d of %d, %d:%02d, this step %d:%02d", deck ? d->at + 1 : step, deck ? d->count : total,
               all / 60, all % 60, here / 60, here % 60);
    if (deck && deck_seconds(d, d->at) > 0)
        buf_printf(out, " of %g s", deck_seconds(d, d->at));
    buf_printf(out, "%s. ", p->view.blank ? ", blank" : "");
    if (deck)
        buf_puts(out, *d->title ? d->title : d->which);
    else
        buf_printf(out, "%s, %s", s->now->model ? s->now->model->name : "", session_input(s, SIDE_B)->name);
    buf_putc(out, '\n');
    if (deck)
        deck_label(d, d->at, out);
    else
        buf_puts(out, s->stages.boxes[s->place.box].label);
    if (deck && d->at + 1 < d->count) {
        buf_puts(out, "\nNext: ");
        deck_label(d, d->at + 1, out);
    }
}

void presenter_close(Presenter *p)
{
    deck_close(&p->deck);
    free(p->view.spent);
    aside_free(&p->own);
    *p = (Presenter){.deck = {.at = -1}};
}
