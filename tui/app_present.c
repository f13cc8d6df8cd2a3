/* Presenting on this screen: keys, the frame, and what is open on the ordinary screen. */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "tui/app_parts.h"

static void list_keys(Overlay *o)
{
    int count;
    const PresentKey *keys = present_keys(&count);
    overlay_list(o, "Presenting: keys");
    for (int i = 0; i < count; i++)
        overlay_add(o, keys[i].help, keys[i].keys, "present on");
}

bool app_present(App *a, const char *word, Err *err)
{
    if (strcmp(word, "keys") == 0) {
        list_keys(&a->overlay);
        return true;
    }
    const char *open = a->desk.open ? a->desk.name : a->stage.open ? a->stage.script.file : NULL;
    char name[64];
    int card = a->desk.open ? a->desk.player.card + 1 : 0;
    if (open)
        open = utf8_fit(name, sizeof name, open, -1);
    bool fresh = !a->presenter.view.on && !a->presenter.deck.open && !*word && a->desk.open;
    if (fresh)
        desk_close(&a->desk, &a->s);
    bool ok = presenter_do(&a->presenter, &a->s, &a->commands, word, open, &a->s.said, err);
    if (ok && fresh && card) { /* at the card that was open */
        char go[32];
        snprintf(go, sizeof go, "go %d", card + 1);
        ok = presenter_do(&a->presenter, &a->s, &a->commands, go, NULL, &a->s.said, err);
    }
    a->hint = a->hint && !a->presenter.view.on;
    return ok;
}

void app_present_line(App *a, const char *line)
{
    bool on = strcmp(line, "present next") == 0, any = strncmp(line, "present ", 8) == 0;
    if (on && !a->presenter.view.blank && app_reveal(a))
        return;
    if (any && !on && a->question.closed)
        app_reveal(a);
    int step = a->presenter.deck.at;
    app_do(a, line);
    const Question *q = a->presenter.deck.at != step ? deck_question(&a->presenter.deck) : NULL;
    if (q && q->kind == QUESTION_CHOICE && share_is_open(&a->share)) /* who follows is asked what the card asks */
        app_do(a, "ask");
}

bool app_presents(App *a, const char *key, bool (*digit)(App *a, const char *key))
{
    Buf command = {0};
    Presenter *p = &a->presenter;
    if (!p->view.on)
        return false;
    if (presenter_answers(p, &a->s, key)) {
        a->count = 0;
        return true;
    }
    if (!p->view.blank && digit(a, key))
        return true;
    bool taken = present_key(&p->view, key, a->count, &command);
    if (taken)
        a->count = 0;
    if (command.len) {
        p->view.pointer |= strncmp(buf_str(&command), "move ", 5) == 0;
        app_present_line(a, buf_str(&command));
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
