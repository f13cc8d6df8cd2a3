/* Lessons: the card that the screen would show, in lines. */
#include <string.h>

#include "core/base/clock.h"
#include "core/session/screens.h"
#include "lessons/layout.h"
#include "tui/cli/plain_parts.h"
#include "tui/views/explain/explain.h"

enum { CARD_COLUMNS = 76, SHOWN_COLUMNS = 100, SHOWN_ROWS = 15 };

/* The worked example that the card points at: its drawing without the frames round it. */
static void put_shown(const Plain *p, Buf *out)
{
    Session *s = &p->work->session;
    Needs needs = {.count = 0};
    Canvas c;
    if (!desk_shows_worked(&p->desk))
        return;
    VIEW_WORKED.needs(s, SIDE_B, (Rect){0, 0, SHOWN_ROWS, SHOWN_COLUMNS}, &needs);
    session_step_pass(s, needs.item, needs.count, CLOCK_NEVER);
    canvas_init(&c, SHOWN_ROWS, SHOWN_COLUMNS);
    canvas_clear(&c);
    worked_text(&(Paint){.s = s, .c = &c}, out);
    canvas_free(&c);
}

/* Is something else behind the next pause, and not only the terms that were said already? */
static bool more_behind_pause(const Player *p)
{
    const Card *c = player_card(p);
    int i = 0;
    for (int pauses = p->pause + 1; pauses && i < c->commands.count; i++)
        pauses -= !*c->commands.at[i].text;
    return player_waits(p) && i < c->commands.count && !strstr(c->commands.at[i].text, "play ");
}

static void put_card(Plain *p)
{
    Laid laid;
    Err err = {{0}};
    Buf b = {0};
    const Player *player = &p->desk.player;
    buf_printf(&b, "Card %d of %d.\n", player->card + 1, player->lesson.count);
    if (card_lay(player, CARD_COLUMNS, &laid, &err)) {
        laid_text(&laid, &b);
        laid_free(&laid);
    } else
        buf_printf(&b, "%s\n", err.text);
    put_shown(p, &b);
    const Question *q = player_card(player)->question;
    if (more_behind_pause(player))
        buf_puts(&b, "An empty line: see it change.\n");
    if (q)
        buf_puts(&b, q->kind == QUESTION_CHOICE   ? "Type the number of an answer. hint helps.\n"
                     : q->kind == QUESTION_NUMBER ? "Type answer and a number. hint helps.\n"
                                                  : "Do it by commands. hint helps.\n");
    plain_put(p, buf_str(&b));
    buf_free(&b);
}

/* Its title and the card on show; and what a question that comes back is for. */
static void put_lesson(Plain *p)
{
    Buf b = {0};
    buf_printf(&b, "Lesson: %s. An empty line, or n: the next card; p: the one before; lesson close: leave.\n",
               p->desk.player.lesson.title);
    if (*p->desk.then)
        buf_printf(&b, "%s\n", buf_str(&p->desk.said));
    plain_put(p, buf_str(&b));
    buf_free(&b);
    put_card(p);
}

bool plain_lesson(Plain *p, const char *which, Err *err)
{
    Session *s = &p->work->session;
    if (strcmp(which, "close") == 0) {
        desk_close(&p->desk, s);
        session_say(s, "Back where you were. lessons lists them.");
        return true;
    }
    if (strcmp(which, "help") == 0 && p->desk.open) {
        desk_help(&p->desk, &p->work->overlay);
        return true;
    }
    if (strcmp(which, "numbers") == 0 && p->desk.open) {
        desk_numbers(&p->desk, &p->work->overlay);
        return true;
    }
    follow_leave(&p->follow);
    if (!desk_open(&p->desk, s, which, err))
        return false;
    put_lesson(p);
    return true;
}

bool plain_turn_card(Plain *p, const char *line)
{
    bool on = !*line || strcmp(line, "n") == 0 || strcmp(line, "next") == 0, back = strcmp(line, "p") == 0;
    Buf command = {0};
    if (!p->desk.open || (!on && !back))
        return false;
    const Player *player = &p->desk.player;
    const char *file = player->lesson.file;
    int card = player->card;
    bool more;
    do {
        more = on && more_behind_pause(player);
        desk_key(&p->desk, !*line ? "Space" : on ? "n" : "p", 200, 60, &command);
    } while (on && !more && player->card == card && player->lesson.file == file && desk_shows_worked(&p->desk) &&
             !p->desk.said.len); /* terms that
                                                                                                   were said already */
    buf_free(&command);
    bool seen = player->pause > 0; /* past a pause: the same words, another screen */
    if (player->lesson.file != file) {
        put_lesson(p);
    } else if (player->card != card) {
        put_card(p);
        if (!desk_shows_worked(&p->desk)) {
            plain_put_where(p);
            plain_put_say(p);
        }
    } else if (p->desk.said.len)
        plain_put_line(p, buf_str(&p->desk.said));
    else if (seen) {
        playing_end(&p->work->session); /* all its terms are said at once */
        if (desk_shows_worked(&p->desk)) {
            Buf b = {0};
            put_shown(p, &b);
            plain_put(p, buf_str(&b));
            buf_free(&b);
        } else {
            plain_put_where(p);
            plain_put_say(p);
        }
    }
    buf_clear(&p->work->session.said);
    session_trim(&p->work->session);
    return true;
}

void plain_put_verdict(Plain *p)
{
    bool new = desk_done(&p->desk);
    if (p->desk.said.len && (p->turned || new)) {
        Buf b = {0};
        buf_printf(&b, "%s\n", buf_str(&p->desk.said));
        plain_put(p, buf_str(&b));
        buf_free(&b);
    }
    p->turned = false;
}
