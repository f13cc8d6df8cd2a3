/* Events become commands: keys with their counts, clicks, the wheel, pastes. */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/learned/measures.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "lessons/check.h"
#include "lessons/layout.h"
#include "tui/app_parts.h"
#include "tui/keymap.h"
#include "tui/words.h"

bool app_digit(App *a, const char *key)
{
    if (key[1] || key[0] < (a->count ? '0' : '1') || key[0] > '9')
        return false;
    a->count = a->count < 10000 ? a->count * 10 + (key[0] - '0') : a->count; /* what `next` takes */
    a->counted = clock_ns();
    a->counts = false;
    return true;
}

bool app_counted(const App *a, const KeyBinding *k, char *line, size_t n)
{
    if (!a->count || !(k->traits & (KEY_COUNTS | KEY_COUNTS_STEP)))
        return false;
    utf8_print(line, n, "%.60s %d", k->traits & KEY_COUNTS_STEP ? "goto" : k->command, a->count);
    return true;
}

static void run_binding(App *a, const KeyBinding *k)
{
    char line[SESSION_PATH + 16];
    bool says = k->traits & KEY_TWICE, again = says && a->said, copies = strcmp(k->command, "copy") == 0;
    if (again && screen_now(&a->s)->say) /* it speaks of itself, whatever node lies behind it */
        snprintf(line, sizeof line, "glossary screen");
    else if (again)
        snprintf(line, sizeof line, "glossary %s", a->s.place.path);
    else if (!app_counted(a, k, line, sizeof line))
        snprintf(line, sizeof line, copies && a->copied ? "%s row" : "%s", k->command);
    a->copied = copies && !a->copied;
    a->count = 0;
    a->boxed = says;
    app_do(a, line);
    a->boxed = false;
    a->said = says && !again;
    if (a->said && a->overlay.kind == OVERLAY_TEXT && !a->desk.open) {
        const Buf *text = &a->overlay.text;
        if (text->len && text->data[text->len - 1] != '\n')
            buf_putc(&a->overlay.text, '\n');
        desk_offer(&a->s, &a->overlay.text);
    }
    a->overlay.more = a->said && a->overlay.kind == OVERLAY_TEXT;
}

/* The line that was chosen in a list; a search goes on from there. */
static void run_chosen(App *a, const Buf *command)
{
    app_do(a, buf_str(command));
    if (*a->overlay.sought)
        find_begin(&a->s, a->overlay.sought);
    *a->overlay.sought = 0;
}

/* --- who may take a key: each says whether it is done --- */

/* Over a list or a page too. */
static bool glossary_takes(App *a, const char *key)
{
    if (strcmp(key, "F1") != 0 || a->prompt.open || a->presenter.view.on)
        return false;
    app_do(a, "glossary here");
    return true;
}

static bool prompt_takes(App *a, const char *key)
{
    if (!a->prompt.open)
        return false;
    if (prompt_key(&a->prompt, key, &a->s, &a->commands) == PROMPT_RUN) {
        char line[PROMPT_SIZE]; /* a command may open the prompt with other text */
        snprintf(line, sizeof line, "%s", a->prompt.text);
        app_do(a, line);
    }
    return true;
}

static bool join_takes(App *a, const char *key)
{
    bool taken = a->shows_join && *key;
    a->shows_join = a->shows_join && !taken;
    return taken;
}

static bool overlay_takes(App *a, const char *key)
{
    Buf command = {0};
    if (a->overlay.kind == OVERLAY_NONE)
        return false;
    OverlayResult result = overlay_key(&a->overlay, key, &command);
    if (result == OVERLAY_RUN)
        run_chosen(a, &command);
    buf_free(&command);
    a->said = a->said && (result == OVERLAY_PASSED || result == OVERLAY_STAYS);
    return result != OVERLAY_PASSED;
}

static bool class_takes(App *a, const char *key)
{
    if (!app_class_key(a, key))
        return false;
    a->count = 0; /* a digit typed before the question opened is no part of the answer */
    return true;
}

static bool presenter_takes(App *a, const char *key)
{
    return a->presenter.view.on && app_presents(a, key);
}

/* The numbers of a card's prose are computed here, with progress that ends: drawing finds them. */
static void desk_computes(App *a)
{
    Laid laid;
    if (a->desk.open && card_lay(&a->desk.player, CHECK_COLUMNS, &laid, NULL))
        laid_free(&laid);
}

static bool desk_takes(App *a, const char *key)
{
    Buf command = {0};
    a->work_since = a->last_report = clock_ns();
    a->cancelled = false;
    if (!a->desk.open || !desk_key(&a->desk, key, a->canvas.w, a->canvas.h, &command))
        return false;
    if (command.len)
        app_do(a, buf_str(&command));
    else {
        desk_computes(a);
        app_pass(a, ""); /* a progress line, or what was said on the card before */
        buf_clear(&a->s.said);
    }
    buf_free(&command);
    a->count = 0;
    return true;
}

/* A key stops what moves and does what it does besides; some are its own, and those that would leave only stop it. */
static bool play_takes(App *a, const char *key)
{
    const KeyBinding *k = keymap_find(&a->s, key);
    if (!a->s.look.playing)
        return false;
    if (a->follow.following) { /* the presenter's: the key is the reader's own */
        play_stop(&a->s);
        return false;
    }
    bool own = k && (k->traits & WHILE_PLAYING);
    app_do(a, own ? k->command : "play off");
    a->count = 0;
    return own || strcmp(key, "Esc") == 0 || strcmp(key, "q") == 0 || strcmp(key, "^C") == 0;
}

/* Space goes on with what is open. */
static bool stage_takes(App *a, const char *key)
{
    if (!a->stage.open || strcmp(key, "Space") != 0)
        return false;
    app_do(a, "demo next");
    a->count = 0;
    return true;
}

static bool binding_takes(App *a, const char *key)
{
    const KeyBinding *k = keymap_find(&a->s, key);
    if (k)
        run_binding(a, k);
    return k != NULL;
}

static bool nobody_takes(App *a, const char *key)
{
    char text[80] = "";
    double share;
    a->count = 0;
    if (strcmp(key, "^C") == 0) {
        a->halted = session_busy(&a->s) || session_again(&a->s, &share) ||
                    !measures_step(&a->s, 0); /* what the screen works on: a search, a measure */
        snprintf(text, sizeof text, "%s",
                 a->halted ? "Stopped computing. The next key goes on with it; q twice leaves."
                           : "Nothing is being computed. q twice leaves.");
    } else if (strcmp(key, "Esc") == 0)
        a->s.sought.on = false;
    else
        snprintf(text, sizeof text, "%s does nothing here. ? lists the keys.", key);
    app_say(a, false, text);
    return true;
}

static void on_key(App *a, const TermEvent *e)
{
    static bool (*const TAKERS[])(App * a, const char *key) = {join_takes,    glossary_takes, prompt_takes,
                                                               overlay_takes, class_takes,    presenter_takes,
                                                               desk_takes,    play_takes,     app_digit,
                                                               stage_takes,   binding_takes,  nobody_takes};
    a->leaving -= a->leaving > 0;
    for (size_t i = 0; !TAKERS[i](a, e->key); i++)
        continue;
}

/* The right button: what the word or the key under it means. */
static void explain_at(App *a, int y, int x)
{
    char word[64], line[80];
    Paint p = app_paint(a);
    Frame f = app_frame(a);
    const KeyBinding *k = a->overlay.kind == OVERLAY_NONE && !a->prompt.open ? frame_key(&p, &f, y, x) : NULL;
    if (k) {
        Buf text = {0};
        buf_printf(&text, "%s  (:%s)  %s", key_text(k->key), k->command, k->help);
        app_say(a, false, buf_str(&text));
        buf_free(&text);
    } else if (words_at(&a->s, &a->commands, &a->canvas, y, x, word, sizeof word)) {
        snprintf(line, sizeof line, "glossary %s", word);
        overlay_close(&a->overlay);
        app_do(a, line);
    } else
        app_say(a, false, "The glossary has no entry for this word. F1 lists those of this screen.");
}

static void on_mouse(App *a, const TermEvent *e)
{
    Buf command = {0};
    Paint p = app_paint(a);
    Frame f = app_frame(a);
    bool wheel = strncmp(e->key, "Wheel", 5) == 0;
    if (strcmp(e->key, "RightClick") == 0 && !a->presenter.view.on) {
        explain_at(a, e->y, e->x);
        return;
    }
    if (a->overlay.kind != OVERLAY_NONE) {
        if (wheel)
            overlay_key(&a->overlay, strcmp(e->key, "WheelUp") == 0 ? "Up" : "Down", &command);
        else if (overlay_click(&a->overlay, &a->canvas, e->y, e->x, &command) == OVERLAY_RUN)
            run_chosen(a, &command);
    } else if (a->prompt.open) {
        a->prompt.open = false;
    } else if (a->presenter.view.on && app_presents(a, e->key)) {
    } else if (a->desk.open && !wheel && strcmp(e->key, "Click") == 0 &&
               desk_click(&a->desk, a->canvas.h, a->canvas.w, e->y, e->x, &command)) {
        app_do(a, buf_str(&command));
    } else if (!wheel && strcmp(e->key, "Click") == 0 && frame_key(&p, &f, e->y, e->x)) {
        TermEvent pressed = {.kind = TERM_KEY}; /* a key's name is that key */
        snprintf(pressed.key, sizeof pressed.key, "%s", frame_key(&p, &f, e->y, e->x)->key);
        on_key(a, &pressed);
    } else if (wheel ? frame_wheel(&f, e->y, e->x, strcmp(e->key, "WheelUp") == 0 ? -1 : 1, &command)
                     : strcmp(e->key, "Click") == 0 && frame_click(&p, &f, e->y, e->x, &command))
        app_do(a, buf_str(&command));
    buf_free(&command);
}

void app_event(App *a, const TermEvent *e)
{
    a->halted = a->halted && e->kind != TERM_KEY && e->kind != TERM_MOUSE;
    switch (e->kind) {
    case TERM_KEY: on_key(a, e); break;
    case TERM_MOUSE:
        if (!a->presenter.view.on && a->s.look.playing) /* it stops by a click, as by a key */
            app_do(a, "play off");
        else
            on_mouse(a, e);
        break;
    case TERM_PASTE:
        if (a->prompt.open)
            prompt_paste(&a->prompt, e->text);
        else
            app_say(a, false, "Pasted text goes into the command line: open it with : first.");
        break;
    case TERM_HANGUP:
    case TERM_TERMINATE: a->s.quit = true; break;
    default: break;
    }
}
