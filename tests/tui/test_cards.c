/* The cards of all lessons with the screens that they speak of, at 80 x 24: the numbers in a card's words stand on one
 * of its screens. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/session/screens.h"
#include "lessons/numbers.h"
#include "tests/tui/opened.h"
#include "tui/app_parts.h"
#include "tui/desk_parts.h"

static App a;
static TermStatus terminal = {.mode = MODE_256, .term = "test", .why = "asked for"};

static int start(void **state)
{
    (void)state;
    a = (App){.terminal = &terminal};
    opened_session(&a.s, NULL, NULL);
    a.ui = (Ui){.overlay = &a.overlay, .commands = &a.commands, .act = app_act, .app = &a};
    opened_commands(&a.commands, &a.ui);
    canvas_init(&a.canvas, 24, 80);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    desk_close(&a.desk, &a.s);
    canvas_free(&a.canvas);
    overlay_free(&a.overlay);
    messages_free(&a.messages);
    session_free(&a.s);
    commands_free(&a.commands);
    return 0;
}

/* The screen above the card as text, behind what is in `out`: without the header and without the trace's name. */
static void put_screen(Buf *out)
{
    Needs needs = {.count = 0};
    Frame f = app_frame(&a);
    Rect card, screen;
    char ch[5];
    frame_needs(&a.s, &f, &needs);
    assert_true(session_step(&a.s, needs.item, needs.count, CLOCK_NEVER));
    canvas_clear(&a.canvas);
    Paint p = app_paint(&a);
    frame_draw(&p, &f, &(FrameState){.message = a.message, .status = ""});
    desk_layout(&a.desk, 24, 80, &card, &screen);
    for (int y = 1; y < screen.h; y++) {
        for (int x = 0; x < screen.w; x++) {
            uint32_t c = canvas_at(&a.canvas, y, x)->ch;
            ch[utf8_put(ch, c ? c : ' ')] = 0;
            buf_puts(out, ch);
        }
        buf_putc(out, '\n');
    }
}

/* Is it a number that a screen shows, as far as both are printed? Shares may stand in percent. */
static bool stands_on(const char *screen, double x, double half)
{
    for (const char *p = screen; *p; p++) {
        double y, other;
        char squeezed[32];
        bool begins = p == screen || !(isalnum((unsigned char)p[-1]) || strchr("._", p[-1]));
        const char *minus = *p == '-' ? p + 1 : p;
        if (!begins)
            continue;
        if (*minus == '.' && isdigit((unsigned char)minus[1])) /* ".0085" */
            snprintf(squeezed, sizeof squeezed, "%s0%.20s", minus > p ? "-" : "", minus);
        size_t n = number_printed(*minus == '.' ? squeezed : p, &y, &other);
        if (!n)
            continue;
        for (int percent = 0; percent < 2; percent++, y /= 100, other /= 100)
            if ((other <= half * 1.001 || other * 200 <= dm_abs(y) * 1.001) && dm_abs(x - y) <= (half + other) * 1.001)
                return true;
    }
    return false;
}

/* How many there are, and arithmetic of what the text says: no value of the run. */
static bool is_size(const char *expression)
{
    static const char *const SIZES[] = {"count", "params", "flops", "argmax", "argmin", "sqrt", "log2", "log",
                                        "exp",   "abs",    "floor", "ceil",   "round",  "min",  "max"};
    for (const char *p = expression; *p;) {
        size_t n = 0;
        bool size = false, known = false;
        while (isalnum((unsigned char)p[n]) || (n && strchr("_.:", p[n]) && p[n]))
            n++;
        if (!n || !isalpha((unsigned char)*p)) {
            p += n ? n : 1;
            continue;
        }
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
            if (strlen(SIZES[i]) == n && strncmp(p, SIZES[i], n) == 0) {
                known = p[n] == '(';
                size = i < 5;
            }
        if (!known)
            return false;
        p += n;
        if (size)
            p += strcspn(p, ")");
    }
    return true;
}

typedef struct Seen {
    const char *screen; /* what the card's screens show */
    int lesson, card;
    int shown, led, told; /* numbers that stand there; that = leads to; of which it says the arithmetic alone */
} Seen;

/* A number stands on a screen of its card, or the list behind `=` has it with what it is the value of; the line leads
 * to that node, where it is one of what is on show. */
static void look(Seen *k, const char *expression, double x, double half)
{
    char is[300], path[SESSION_PATH];
    const Item *item = NULL;
    if (is_size(expression) || stands_on(k->screen, x, half)) {
        k->shown++;
        return;
    }
    desk_numbers(&a.desk, &a.overlay);
    snprintf(is, sizeof is, "  is  %s", expression);
    for (int i = 0; i < a.overlay.count && !item; i++)
        item = strstr(a.overlay.items[i].text, is) ? &a.overlay.items[i] : NULL;
    if (!item || !*item->key)
        fail_msg("lesson %d, card %d: %.6g stands on no screen, and = does not say that it is %s", k->lesson,
                 k->card + 1, x, expression);
    k->led += item->command != NULL;
    k->told += !item->command;
    if (item->command) {
        const char *command = xstrdup(item->command);
        app_do(&a, command);
        snprintf(path, sizeof path, "%.*s", (int)strcspn(command + 5, "[;"), command + 5);
        if (a.message_is_error || !strstr(a.s.place.path, path))
            fail_msg("lesson %d, card %d: '%s' leads to %s (%s)", k->lesson, k->card + 1, command, a.s.place.path,
                     a.message);
        app_do(&a, "back");
        free((char *)(uintptr_t)command);
    }
}

static void look_live(Seen *k, const char *text)
{
    for (const char *open = text; (open = strstr(open, "{{")) != NULL; open += 2) {
        char expression[256];
        double x;
        Err err;
        snprintf(expression, sizeof expression, "%.*s", (int)strcspn(open + 2, "}"), open + 2);
        char *bar = strchr(expression, '|');
        int decimals = bar ? atoi(bar + 1) : 4;
        if (bar)
            *bar = 0;
        if (!player_value(&a.desk.player, expression, &x, &err))
            fail_msg("%s", err.text);
        look(k, expression, x, 0.5 * dm_pow(10, -decimals));
    }
}

static void numbers_stand_on_the_screen(void **state)
{
    (void)state;
    LessonFile f;
    Seen all = {NULL, 0, 0, 0, 0, 0};
    for (int i = 0; lesson_at(i, &f) && f.number >= 0; i++) {
        char line[32];
        snprintf(line, sizeof line, "lesson %d", f.number);
        app_do(&a, line);
        Player *p = &a.desk.player;
        for (int k = 0; k < p->lesson.count; k++) {
            const Card *c = &p->lesson.cards[k];
            Buf screen = {0}, words = {0};
            Err err = {{0}};
            bool entered = player_enter(p, k, &err);
            for (;; entered = player_on(p, &err)) {
                if (!entered)
                    fail_msg("%s", err.text);
                put_screen(&screen);
                playing_end(p->s);
                put_screen(&screen);
                if (!player_waits(p))
                    break;
            }
            for (int n = 0; n < c->item_count; n++)
                for (int m = 0; m < c->items[n].count; m++) {
                    buf_puts(&words, c->items[n].spans[m].text);
                    buf_putc(&words, ' ');
                }
            buf_puts(&words, c->question ? c->question->text : "");
            Seen seen = {.screen = buf_str(&screen), .lesson = f.number, .card = k};
            look_live(&seen, buf_str(&words));
            for (int e = 0; e < c->expect_count; e++) {
                double x, half;
                bool left = number_literal(c->expect[e].left, &x, &half);
                if (c->expect[e].relation == RELATION_EQUAL &&
                    (left || number_literal(c->expect[e].right, &x, &half)) &&
                    strstr(buf_str(&words), left ? c->expect[e].left : c->expect[e].right))
                    look(&seen, left ? c->expect[e].right : c->expect[e].left, x, half);
            }
            all.shown += seen.shown;
            all.led += seen.led;
            all.told += seen.told;
            buf_free(&screen);
            buf_free(&words);
        }
        session_trim(&a.s);
    }
    print_message(
        "of the numbers in the words of all cards %d stand on their screens, = leads to %d more, and says of %d "
        "what they are made of\n",
        all.shown, all.led, all.told);
    assert_true(all.shown > 700 && all.led < 165 && all.told <= 5); /* those of an example that is not on show */
}

/* The line of keys at the bottom of a card says q to its end: fresh, with its answer wrong, away from it. */
static void check_keys(const char *what)
{
    Rect card, screen;
    Buf line = {0};
    char ch[5];
    canvas_clear(&a.canvas);
    desk_layout(&a.desk, 24, 80, &card, &screen);
    desk_draw(&a.desk, &a.canvas, card);
    for (int x = 0; x < 80; x++) {
        uint32_t c = canvas_at(&a.canvas, 23, x)->ch;
        ch[utf8_put(ch, c ? c : ' ')] = 0;
        buf_puts(&line, ch);
    }
    if (strstr(buf_str(&line), "…") || !strstr(buf_str(&line), what))
        fail_msg("lesson %d, card %d: %s", a.desk.player.lesson.number, a.desk.player.card + 1, buf_str(&line));
    buf_free(&line);
}

static void the_keys_of_a_card_are_whole(void **state)
{
    (void)state;
    LessonFile f;
    for (int i = 0; lesson_at(i, &f) && f.number >= 0; i++) {
        char line[32];
        snprintf(line, sizeof line, "lesson %d", f.number);
        app_do(&a, line);
        const Player *p = &a.desk.player;
        for (int k = 0; k < p->lesson.count; k++) {
            const Question *q = p->lesson.cards[k].question;
            desk_go(&a.desk, k);
            check_keys("q leave");
            if (q && q->kind == QUESTION_NUMBER)
                app_do(&a, "answer 987654321");
            else if (q && q->kind == QUESTION_CHOICE)
                app_do(&a, q->choices[0].right ? "answer 2" : "answer 1");
            check_keys("q leave");
            app_do(&a, "in");
            if (a.s.back_count > 0)
                check_keys("q to the card");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_stand_on_the_screen, start, stop),
        cmocka_unit_test_setup_teardown(the_keys_of_a_card_are_whole, start, stop),
    };
    return cmocka_run_group_tests_name("cards", tests, NULL, NULL);
}
