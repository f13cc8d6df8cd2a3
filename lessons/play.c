#include "lessons/play.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/ask/number.h"
#include "core/session/edit/edits.h"
#include "core/session/place.h"
#include "core/session/screens.h"

static bool at_line(const Player *p, int line, Err *err)
{
    char file[120];
    return err_prefix(err, "%s:%d", utf8_clean(file, sizeof file, p->lesson.file), line);
}

/* The model that the lesson speaks of, which may be the translator or the one of photographs; else the model of drawn
 * shapes in the place of one of these. */
static bool right_model(Player *p, Err *err)
{
    const char *now = p->s->model_path;
    const char *of = p->lesson.translator.count ? "translator" : p->lesson.photos.count ? "photos" : NULL;
    bool open = of ? strcmp(of, now) == 0 : !*now || !model_in_program(now);
    return open || session_open_model(p->s, of, err);
}

/* What a card looks at: its own picture or sentence, else the lesson's. */
static const char *input_of(const Player *p, const Card *c)
{
    if (p->lesson.translator.count)
        return c->text.count ? c->text.at[0].text : p->lesson.translator.at[0].text;
    if (c->picture.count)
        return c->picture.at[0].text;
    return p->lesson.photos.count ? p->lesson.photos.at[0].text : "#17";
}

bool player_open(Player *p, Session *s, Lesson *lesson, Err *err)
{
    *p = (Player){.s = s, .commands = session_command_set(), .lesson = *lesson, .home = s->now, .card = -1};
    *lesson = (Lesson){0};
    p->answers = xcalloc((size_t)p->lesson.count, sizeof *p->answers);
    p->examples = xcalloc((size_t)p->lesson.example_count + 1, sizeof *p->examples);
    if (!right_model(p, err))
        return false;
    p->home = s->now;
    p->uses = true;
    s->model_uses++;
    s->keep_model = "a lesson is open, and it speaks of this model; `lesson close`, the key q, leaves it";
    size_t cells = 0;
    for (int i = 0; i < p->lesson.example_count; i++) {
        Example *e = &p->examples[i];
        if (!example_build(e, p->lesson.file, &p->lesson.examples[i], &s->model, err))
            return false;
        cells += e->cells;
        if (cells > EXAMPLE_CELLS) {
            err_set(err, "more than %d numbers in all examples; make the axes shorter", EXAMPLE_CELLS);
            return at_line(p, p->lesson.examples[i].line, err);
        }
        example_exhibit(e, s);
    }
    return true;
}

const Card *player_card(const Player *p)
{
    return p->card >= 0 && p->card < p->lesson.count ? &p->lesson.cards[p->card] : NULL;
}

/* The model with its picture on show, whichever of the reader's pictures it is, without edits. */
static bool come_home(Player *p, Err *err)
{
    Session *s = p->s;
    if (session_pinned(s) && !command_do(s, &p->commands, "pin off", LINE_FOREIGN, err))
        return false;
    if (session_edited(s) && !command_do(s, &p->commands, "reset edits", LINE_FOREIGN, err))
        return false;
    if (!command_do(s, &p->commands, "gradient off; ledger off", LINE_FOREIGN, err))
        return false;
    if (s->now == p->home)
        return true;
    bool there = false; /* another picture may have been opened meanwhile, and this one given up for it */
    Exhibit *other = NULL;
    for (int i = 0; i < s->exhibit_count; i++) {
        there = there || s->exhibits[i] == p->home;
        other = s->exhibits[i]->model ? s->exhibits[i] : other;
    }
    if (s->now->model) {
        if (there)
            session_drop(s, p->home);
        p->home = s->now;
        return true;
    }
    p->home = there ? p->home : other;
    REQUIRE(p->home);
    if (!session_show(s, p->home, err))
        return false;
    session_start_place(s);
    place_find_box(s);
    return true;
}

void player_close(Player *p)
{
    Err err;
    if (p->s) {
        p->s->model_uses -= p->uses;
        come_home(p, &err);
    }
    for (int i = 0; p->examples && i < p->lesson.example_count; i++)
        example_free(&p->examples[i]);
    free(p->examples);
    free(p->answers);
    commands_free(&p->commands);
    lesson_free(&p->lesson);
    *p = (Player){0};
}

/* Where addresses are looked up that name no example: what is on show, or the model behind the example that is. */
static Side plain_side(const Player *p)
{
    return p->s->now->model ? SIDE_B : session_run_number(p->home, false);
}

bool player_value(const Player *p, const char *text, double *out, Err *err)
{
    Side side = plain_side(p);
    return number_value(p->s, side, text, out, err);
}

bool player_address(const Player *p, const char *text, Err *err)
{
    Cells c;
    Side side = plain_side(p);
    if (cells_address(text) != strlen(text))
        return err_set(err, "'%.60s' is no address", text);
    return cells_find(p->s, side, text, &c, err);
}

/* The model as it is, looking at the picture, seen from the start of the trip. */
static bool clean(Player *p, const char *picture, Err *err)
{
    Session *s = p->s;
    if (!come_home(p, err))
        return false;
    if (strcmp(s->now->input.path, picture) != 0 && !session_open_input(s, picture, err))
        return false;
    p->home = s->now;
    const int opens = session_opens(s);
    for (int i = 0; i < s->stages.count; i++) /* an example has a map of its own: which boxes were open is forgotten */
        s->open[i] = i == opens;
    session_start_place(s); /* the cursor too is where the card puts it, whatever card was before */
    place_find_box(s);
    return command_do(s, &p->commands, "reset view; goto first", LINE_FOREIGN, err);
}

/* The worked example on show, the cursor on the cell that the card names. */
static bool show_example(Player *p, Err *err)
{
    const Card *c = player_card(p);
    Session *s = p->s;
    const char *text = c->show.at[0].text;
    Address to;
    const Example *e = player_shows(p, &to);
    if (!e)
        return err_set(err, "there is no '%.80s'; show NAME:NODE of a worked example", text);
    if (!session_show(s, e->exhibit, err))
        return false;
    session_start_place(s);
    Buf line = {0};
    buf_printf(&line, "goto %s; view worked", strchr(text, ':') + 1);
    bool ok = command_do(s, &p->commands, buf_str(&line), LINE_FOREIGN, err);
    buf_free(&line);
    return ok;
}

/* The commands from number `i` to the next pause, an empty one. */
static bool run_from(Player *p, int i, Err *err)
{
    const Card *c = player_card(p);
    for (; i < c->commands.count && *c->commands.at[i].text; i++)
        if (!command_do(p->s, &p->commands, c->commands.at[i].text, LINE_FOREIGN, err))
            return at_line(p, c->commands.at[i].line, err);
    return true;
}

/* The command behind so many pauses; -1: there are not so many. */
static int behind(const Card *c, int pauses)
{
    int i = 0;
    for (; pauses; i++) {
        if (i >= c->commands.count)
            return -1;
        pauses -= !*c->commands.at[i].text;
    }
    return i;
}

bool player_waits(const Player *p)
{
    const Card *c = player_card(p);
    return c && behind(c, p->pause + 1) >= 0;
}

bool player_on(Player *p, Err *err)
{
    if (!player_waits(p)) {
        err->text[0] = 0;
        return false;
    }
    p->moves++;
    bool ok = run_from(p, behind(player_card(p), ++p->pause), err);
    p->s->back_count = 0;
    return ok;
}

bool player_enter(Player *p, int card, Err *err)
{
    REQUIRE(card >= 0 && card < p->lesson.count);
    p->card = card;
    p->pause = 0;
    p->moves++;
    const Card *c = player_card(p);
    if (!clean(p, input_of(p, c), err))
        return at_line(p, c->line, err);
    EditHistory before = edits_history_take(p->s); /* undo is about this card, not about one before it */
    edits_history_free(&before);
    if (c->show.count && !show_example(p, err))
        return at_line(p, c->show.at[0].line, err);
    if (!run_from(p, 0, err))
        return false;
    p->s->back_count = 0;
    return true;
}

bool player_through(Player *p, int card, Err *err)
{
    if (!player_enter(p, card, err))
        return false;
    while (player_waits(p))
        if (!player_on(p, err))
            return false;
    playing_end(p->s); /* what plays by itself has been played */
    return true;
}

const Example *player_shows(const Player *p, Address *at)
{
    const Card *c = player_card(p);
    const char *text = c && c->show.count ? c->show.at[0].text : "", *colon = strchr(text, ':');
    for (int i = 0; colon && i < p->lesson.example_count; i++) {
        const Example *e = &p->examples[i];
        if (strlen(e->name) == (size_t)(colon - text) && strncmp(e->name, text, (size_t)(colon - text)) == 0)
            return address_parse(p->s, e->graph, colon + 1, at, NULL) && at->is_node ? e : NULL;
    }
    return NULL;
}

/* ---- numbers in prose ---- */

/* Does the card compare with what was before a change that still waits behind a pause? */
static bool before_its_change(const Player *p)
{
    const Card *c = player_card(p);
    if (!c || !player_waits(p))
        return false;
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            for (const char *at = c->items[i].spans[k].text; (at = strstr(at, "{{")) != NULL; at += 2) {
                const char *close = strstr(at, "}}");
                for (const char *q = at; close && q < close; q++)
                    if (strncmp(q, "a:", 2) == 0 && !isalnum((unsigned char)q[-1]))
                        return true;
            }
    return false;
}

bool player_text(const Player *p, const char *text, Buf *out, Err *err)
{
    const bool early = before_its_change(p);
    for (const char *open; (open = strstr(text, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        char expression[256];
        if (!close || close - open - 2 >= (long)sizeof expression)
            return err_set(err, "{{ without }}, or a longer expression than there can be");
        buf_add(out, text, (size_t)(open - text));
        utf8_print(expression, sizeof expression, "%.*s", (int)(close - open - 2), open + 2);
        char *bar = strchr(expression, '|');
        int decimals = bar ? (int)strtol(bar + 1, NULL, 10) : -1;
        double x;
        if (bar)
            *bar = 0;
        if (!player_value(p, expression, &x, err))
            return err_prefix(err, "{{%s}}", expression);
        if (early)
            buf_puts(out, "\xE2\x80\xA6");
        else
            number_put(x, decimals, out);
        text = close + 2;
    }
    buf_puts(out, text);
    return true;
}
