/* Presenting on this screen: keys, the frame, and what is open on the ordinary screen. */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "tui/app_parts.h"

static const char STOPPED[] = "Stopped: Space goes on by hand, :present play by itself.";

static void list_keys(Overlay *o)
{
    int count;
    const PresentKey *keys = present_keys(&count);
    overlay_list(o, "Presenting: keys");
    for (int i = 0; i < count; i++)
        overlay_add(o, keys[i].help, keys[i].keys, "present on");
}

/* Who follows is asked what the card asks, whichever way it was come to. */
static void ask_followers(App *a, int step)
{
    const Deck *d = &a->presenter.deck;
    const Question *q = d->at != step ? deck_question(d) : NULL;
    Err err;
    if (q && *a->share.room.path && !app_ask(a, NULL, &err))
        session_say(&a->s, "%s", err.text);
}

bool app_present(App *a, const char *word, Err *err)
{
    if (strcmp(word, "keys") == 0) {
        list_keys(&a->overlay);
        return true;
    }
    const char *open = a->desk.open ? a->desk.player.lesson.file : a->stage.open ? a->stage.script.file : NULL;
    char name[1024];
    int card = a->desk.open ? a->desk.player.card + 1 : 0;
    if (open)
        open = utf8_fit(name, sizeof name, open, -1);
    int step = a->presenter.deck.at;
    if (a->question.closed && (strcmp(word, "prev") == 0 || strncmp(word, "go ", 3) == 0))
        app_reveal(a);
    bool fresh = !a->presenter.view.on && !a->presenter.deck.open && !*word && a->desk.open;
    if (a->desk.open && (fresh || presenter_opens(word))) /* one lesson at a time has the model */
        desk_close(&a->desk, &a->s);
    bool ok = presenter_do(&a->presenter, &a->s, &a->commands, word, open, &a->s.said, err);
    if (ok && fresh && card) { /* at the card that was open */
        char go[32];
        snprintf(go, sizeof go, "go %d", card + 1);
        ok = presenter_do(&a->presenter, &a->s, &a->commands, go, NULL, &a->s.said, err);
    }
    if (ok)
        ask_followers(a, step);
    a->hint = a->hint && !a->presenter.view.on;
    return ok;
}

/* The question on show comes first. */
static void do_line(App *a, const char *line)
{
    if (strcmp(line, "present next") == 0 && !a->presenter.view.blank && app_reveal(a))
        return;
    app_do(a, line);
}

void app_present_tick(App *a, bool done, int64_t *wait)
{
    Presenter *p = &a->presenter;
    int64_t left = presenter_left(p, &a->s, done, clock_ns());
    if (left < 0 || a->prompt.open || a->overlay.kind != OVERLAY_NONE)
        return;
    if (left > 0) {
        *wait = *wait < 0 || left < *wait ? left : *wait;
        return;
    }
    if (!presenter_ended(p, &a->s))
        presenter_lock(p, &a->s, &a->commands);
    else if (p->deck.at + 1 < p->deck.count || a->question.open)
        do_line(a, "present next");
    else {
        p->timed = false;
        app_say(a, false, "The script has ended. p goes back, q leaves.");
    }
    a->touched = true;
    *wait = 0;
}

bool app_presents(App *a, const char *key)
{
    Buf command = {0};
    Presenter *p = &a->presenter;
    if (presenter_answers(p, &a->s, key)) {
        a->count = 0;
        return true;
    }
    if (!p->view.blank && app_digit(a, key))
        return true;
    if (p->timed && strcmp(key, "^C") == 0) {
        p->timed = false;
        app_say(a, false, STOPPED);
        return true;
    }
    bool taken = present_key(&p->view, key, a->count, &command);
    if (taken)
        a->count = 0;
    if (taken && !command.len && a->s.look.playing) /* a key that does nothing else stops what moves */
        buf_puts(&command, "play off");
    if (command.len) {
        p->view.pointer |= strncmp(buf_str(&command), "move ", 5) == 0;
        bool stops = p->timed && strcmp(buf_str(&command), "present next") != 0;
        p->timed = p->timed && !stops;
        do_line(a, buf_str(&command));
        if (stops && !p->view.asks && !*a->message)
            app_say(a, false, STOPPED);
    }
    buf_free(&command);
    return taken;
}

void app_draw_presented(App *a)
{
    Paint p = app_paint(a);
    Frame f = app_frame(a);
    PresentLine line = {a->message, a->message_is_error};
    if (a->presenter.view.asks)
        line = (PresentLine){"Leave the presentation? q once more leaves, any other key stays.", false};
    present_draw(&p, &f, &a->presenter.view, &a->presenter.deck, &line);
}

void app_tell_times(App *a)
{
    Buf times = {0};
    Err err;
    present_count(&a->presenter.view, &a->presenter.deck, clock_ns());
    present_times(&a->presenter.view, &a->presenter.deck, &times);
    tell_clean(&times);
    if (!file_write("-", times.data, times.len, &err))
        tell(err.text);
    buf_free(&times);
}
