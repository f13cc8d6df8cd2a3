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
#include "lessons/layout.h"
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
    opened_quick(&a.s, NULL, NULL);
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
    prompt_free(&a.prompt);
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
    canvas_resize(&a.canvas, 24, 80); /* progress was drawn as large as the terminal, which is none */
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
    bool percent = strncmp(expression, "100*", 4) == 0; /* 4.1 % of a share that stands there as 0.041 */
    if (is_size(expression) || stands_on(k->screen, x, half) ||
        (percent && stands_on(k->screen, x / 100, half / 100))) {
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
    assert_true(all.shown > 800 && all.led < 78 && all.told <= 4); /* those of an example that is not on show */
}

/* The line of keys at the bottom of a card says q to its end: fresh, with its answer wrong, away from it. */
static void check_keys(const char *what)
{
    Rect card, screen;
    Buf line = {0};
    char ch[5];
    canvas_resize(&a.canvas, 24, 80); /* as above */
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

static void key(const char *name)
{
    TermEvent e = {.kind = TERM_KEY};
    snprintf(e.key, sizeof e.key, "%s", name);
    if (a.canvas.w < 60) /* where the machine is busy progress was drawn, as large as no terminal is */
        canvas_resize(&a.canvas, 24, 80);
    app_event(&a, &e);
}

static void open_lesson(int number)
{
    char line[32];
    snprintf(line, sizeof line, "lesson %d", number);
    app_do(&a, line);
    assert_int_equal(a.desk.player.lesson.number, number);
}

/* The words that explain what is right, with their values as they are now. */
static void put_right(const Question *q, Buf *out)
{
    const char *why = q->why ? q->why : "";
    for (int i = 0; q->kind == QUESTION_CHOICE && i < q->count; i++)
        why = q->choices[i].right ? q->choices[i].why : why;
    buf_clear(out);
    assert_true(player_text(&a.desk.player, why, out, NULL));
}

/* Among its answers that one is marked that is right. */
static void right_is_marked(const Question *q)
{
    Laid laid;
    int marked = 0;
    assert_true(card_lay(&a.desk.player, 76, &laid, NULL));
    for (int i = 0; i < laid.count; i++)
        if (laid.lines[i].choice >= 0 && laid.lines[i].count && laid.lines[i].parts[0].style == LAID_RIGHT)
            marked += q->choices[laid.lines[i].choice].right ? 1 : 100;
    assert_true(marked > 0 && marked < 100);
    laid_free(&laid);
}

/* A question of every card of every lesson: passed over, or answered wrong and left so. Before the next one it is said
 * what is right, and why; a task is done. Both are named at the lesson's end. */
static void what_was_missed_is_told(void **state)
{
    (void)state;
    LessonFile f;
    Buf right = {0}, said = {0};
    for (int i = 0; lesson_at(i, &f) && f.number >= 0; i++) {
        open_lesson(f.number);
        Player *p = &a.desk.player;
        for (int k = 0; k < p->lesson.count; k++) {
            const Question *q = p->lesson.cards[k].question;
            bool act = q && (q->kind == QUESTION_PLACE || q->kind == QUESTION_CHANGE), done = !act;
            if (!q)
                continue;
            desk_go(&a.desk, k);
            for (int n = 0; n < 9 && a.desk.first < desk_next_page(&a.desk, 24, 80); n++)
                key("Space");
            if ((f.number + k) % 2 && q->kind == QUESTION_NUMBER)
                app_do(&a, "answer 987654321");
            else if ((f.number + k) % 2 && q->kind == QUESTION_CHOICE)
                app_do(&a, q->choices[0].right ? "answer 2" : "answer 1");
            for (int n = 0; n < 20 && p->card == k && !a.desk.ended; n++) {
                put_right(q, &right);
                if (q->kind == QUESTION_CHOICE && p->answers[k].told)
                    right_is_marked(q);
                buf_clear(&said);
                buf_puts(&said, buf_str(&a.desk.said));
                done = done || (number_value(p->s, SIDE_B, q->answer, &(double){0}, NULL) && p->answers[k].told);
                key("n");
            }
            if (q->predict && p->card == k + 1) {
                buf_clear(&said);
                put_right(q, &right);
                assert_true(player_prediction(p, &said, NULL));
            }
            if ((p->card != k + 1 && !a.desk.ended) || !done || !strstr(buf_str(&said), buf_str(&right)))
                fail_msg("lesson %d, card %d was left with '%s'", f.number, k + 1, buf_str(&said));
        }
        for (int n = 0; n < 40 && !a.desk.ended; n++)
            key("n");
        for (int k = 0; k < p->lesson.count; k++) { /* those that were asked are named at the end */
            char number[16];
            snprintf(number, sizeof number, " %d", k + 1);
            const char *at = strstr(buf_str(&a.desk.said), "cards:"), *found = at ? strstr(at, number) : NULL;
            if (p->lesson.cards[k].question && (!found || isdigit((unsigned char)found[strlen(number)])))
                fail_msg("lesson %d does not name card %d: %s", f.number, k + 1, buf_str(&a.desk.said));
        }
        session_trim(&a.s);
    }
    buf_free(&right);
    buf_free(&said);
}

/* The first card of that lesson that asks for this. */
static const Question *ask(int number, QuestionKind kind)
{
    open_lesson(number);
    Player *p = &a.desk.player;
    int k = 0;
    while (!p->lesson.cards[k].question || p->lesson.cards[k].question->kind != kind ||
           p->lesson.cards[k].question->predict)
        k++;
    p->answers[k] = (Answer){0}; /* whatever was kept of it */
    desk_go(&a.desk, k);
    while (desk_next_page(&a.desk, 24, 80) >= 0)
        key("Space");
    return player_card(p)->question;
}

/* What was refused or wrong is taken up again by Backspace, which never leaves the question; only Esc does. */
static void a_number_is_typed_where_it_is_asked(void **state)
{
    (void)state;
    static const char *const TYPED[][4] = {{"-", ".", "e", "answer -."}, {"8", "8", "8", "answer 88"}};
    ask(0, QUESTION_NUMBER);
    Player *p = &a.desk.player;
    int card = p->card;
    for (size_t i = 0; i < sizeof TYPED / sizeof *TYPED; i++) {
        for (int k = 0; k < 3; k++)
            key(TYPED[i][k]);
        key("Enter");
        assert_false(a.prompt.open || p->answers[card].right || a.message_is_error || !a.desk.said.len);
        key("Backspace");
        assert_true(a.prompt.open && p->card == card);
        assert_string_equal(a.prompt.text, TYPED[i][3]);
        for (int k = 0; k < 9; k++)
            key("Backspace");
        key("^U");
        key("^W");
        assert_true(a.prompt.open && p->card == card);
        assert_string_equal(a.prompt.text, "answer ");
        key("Esc");
    }
    key("Backspace"); /* nothing typed is left to edit */
    assert_int_equal(p->card, card - 1);
    desk_go(&a.desk, card);
    key("6");
    key("4");
    key("Enter");
    key("Backspace");
    key("5");
    key("Enter");
    assert_true(p->answers[card].right && p->answers[card].missed);
    p->answers[card] = (Answer){0};
    desk_go(&a.desk, card);
    app_do(&a, "answer 3");
    key("."); /* wrong, and typed anew */
    assert_true(a.prompt.open && strcmp(a.prompt.text, "answer .") == 0);
    key("Esc");
}

/* What is typed before the question has come into sight is not lost: its page comes with it. */
static void digits_bring_their_question(void **state)
{
    (void)state;
    LessonFile f;
    int cards = 0;
    for (int i = 0; lesson_at(i, &f) && f.number >= 0; i++) {
        open_lesson(f.number);
        Player *p = &a.desk.player;
        for (int k = 0; k < p->lesson.count; k++) {
            const Question *q = p->lesson.cards[k].question;
            p->answers[k] = (Answer){0};
            if (!q || q->kind != QUESTION_NUMBER || !desk_go(&a.desk, k) || desk_next_page(&a.desk, 24, 80) < 0)
                continue;
            key(cards % 2 ? "-" : "6");
            assert_true(a.prompt.open && strchr("6-", a.prompt.text[7]) && a.prompt.length == 8 &&
                        desk_next_page(&a.desk, 24, 80) < 0);
            key("Esc");
            cards++;
        }
        session_trim(&a.s);
    }
    assert_true(cards > 0);
}

/* No letter and no digit that is no answer acts on what is shown, until the question is done with. */
static void a_question_keeps_its_keys(void **state)
{
    (void)state;
    static const QuestionKind KINDS[] = {QUESTION_CHOICE, QUESTION_NUMBER};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const Question *q = ask(i ? 0 : 12, KINDS[i]); /* both show the model */
        Player *p = &a.desk.player;
        char path[SESSION_PATH];
        int card = p->card;
        Screen screen = a.s.place.screen;
        snprintf(path, sizeof path, "%s", a.s.place.path);
        for (char c = '0'; c <= 'z'; c++) {
            bool answers = isdigit((unsigned char)c) &&
                           (q->kind == QUESTION_NUMBER || (c > '0' && c - '0' <= q->count));
            if (!isalnum((unsigned char)c) || strchr("npqNthjklHJKL", c) || answers ||
                (c == 's' && q->kind == QUESTION_NUMBER)) /* sqrt( ) */
                continue;
            desk_clear_said(&a.desk);
            key((const char[]){c, 0});
            if (!a.desk.said.len || p->card != card || a.s.edits.count || a.s.place.screen != screen || a.prompt.open ||
                a.overlay.kind != OVERLAY_NONE || !player_awaits(p) || strcmp(a.s.place.path, path) != 0)
                fail_msg("card %d: %c acts on the screen", card + 1, c);
        }
        key("l"); /* but one may look about */
        assert_int_equal(p->card, card);
        for (int k = 0; k < 6 && !p->answers[card].told; k++)
            key("n");
        assert_int_equal(p->card, card);
        key("s");
        assert_int_equal(a.s.edits.count, 1);
    }
}

/* Arithmetic with a root is a number; q does not throw away what is being worked at; an answer that was given takes its
 * keys from the card's foot. */
static void a_number_is_worked_at(void **state)
{
    (void)state;
    ask(0, QUESTION_NUMBER);
    Player *p = &a.desk.player;
    int card = p->card;
    for (const char *c = "sqrt(64)"; *c; c++)
        key((const char[]){*c, 0});
    assert_string_equal(a.prompt.text, "answer sqrt(64)");
    key("Enter");
    assert_true(p->answers[card].given && p->answers[card].number == 8 && *a.desk.typed);
    key("q");
    assert_true(a.desk.open && strstr(buf_str(&a.desk.said), "q again leaves"));
    key("l"); /* not at once: asked again */
    key("q");
    assert_true(a.desk.open);
    app_do(&a, "answer sqrt"); /* none */
    assert_true(a.desk.open && a.desk.wrong && strstr(buf_str(&a.desk.said), "no number"));
    key("q");
    key("q");
    assert_false(a.desk.open);
}

/* A question that was answered right stays so, whatever is typed behind it; of a sum of which not all terms have room
 * the largest one is shown. */
static void what_was_right_stays_right(void **state)
{
    (void)state;
    open_lesson(26);
    Player *p = &a.desk.player;
    Buf screen = {0};
    desk_go(&a.desk, 2);
    put_screen(&screen);
    assert_non_null(strstr(buf_str(&screen), "largest 1 of 15 terms shown"));
    assert_null(strstr(buf_str(&screen), "0 = "));
    buf_free(&screen);
    desk_go(&a.desk, 4);
    app_do(&a, "answer 8");
    assert_true(p->answers[4].right && a.desk.right);
    app_do(&a, "answer 257");
    assert_true(p->answers[4].right && !p->answers[4].missed && p->answers[4].number == 8);
    assert_non_null(strstr(buf_str(&a.desk.said), "Your right answer counts."));
}

/* The line of keys of the card in a canvas of 80 x 24. */
static void put_foot(Buf *out)
{
    Rect card, screen;
    buf_clear(out);
    canvas_clear(&a.canvas);
    desk_layout(&a.desk, 24, 80, &card, &screen);
    desk_draw(&a.desk, &a.canvas, card);
    for (int y = card.y; y < card.y + card.h; y++)
        for (int x = 0; x < card.w; x++) {
            char ch[5];
            uint32_t c = canvas_at(&a.canvas, y, x)->ch;
            ch[utf8_put(ch, c ? c : ' ')] = 0;
            buf_puts(out, ch);
        }
}

/* What is right of a prediction does not show in the keys before its card tells it. */
static void a_kept_answer_hides_itself(void **state)
{
    (void)state;
    Buf foot = {0};
    open_lesson(6);
    Player *p = &a.desk.player;
    assert_true(p->lesson.cards[7].question->predict && p->lesson.cards[7].question->kind == QUESTION_CHOICE);
    for (int i = 0; i < 2; i++) {
        char line[16];
        p->answers[7] = (Answer){0};
        desk_go(&a.desk, 7);
        snprintf(line, sizeof line, "answer %d", i + 1);
        app_do(&a, line);
        put_foot(&foot);
        assert_true(p->answers[7].given && !strstr(buf_str(&foot), "! hint") && !strstr(buf_str(&foot), "answer  "));
    }
    ask(0, QUESTION_NUMBER);
    put_foot(&foot);
    assert_non_null(strstr(buf_str(&foot), "0-9 answer"));
    app_do(&a, "answer 65");
    assert_true(p->answers[p->card].right);
    put_foot(&foot);
    assert_null(strstr(buf_str(&foot), "0-9 answer"));
    LessonFile f;
    int last = 0;
    while (lesson_by_number(last + 1, &f))
        last++;
    open_lesson(last);
    desk_go(&a.desk, p->lesson.count - 1);
    for (int i = 0; i < 12 && !a.desk.ended; i++)
        key("n");
    put_foot(&foot);
    assert_true(a.desk.ended && strstr(buf_str(&foot), "The end  t lessons") && !strstr(buf_str(&foot), "Space on"));
    buf_free(&foot);
}

/* Where card and screen take turns, n skips what is asked from the card that asks it. */
static void a_small_card_is_skipped_at_once(void **state)
{
    (void)state;
    canvas_resize(&a.canvas, 20, 60);
    ask(1, QUESTION_NUMBER); /* its card has no pause behind the question */
    Player *p = &a.desk.player;
    const int card = p->card;
    desk_go(&a.desk, card);
    while (desk_next_page(&a.desk, 20, 60) >= 0)
        key("Space");
    assert_true(a.desk.front && player_awaits(p));
    key("Space");
    assert_false(a.desk.front);
    assert_string_equal(app_frame(&a).space, "the question"); /* where Space leads to */
    key("Space");
    assert_true(a.desk.front && player_awaits(p));
    key("n");
    assert_true(a.desk.front && p->card == card && p->answers[card].told && a.desk.said.len);
    key("Space"); /* what it is about, once more */
    assert_true(!a.desk.front && p->card == card);
    assert_string_equal(app_frame(&a).space, "next card");
    key("Space");
    assert_int_equal(p->card, card + 1);
}

/* "After it you can say …": in every lesson one sentence. */
static void what_one_will_be_able_to_do_is_a_sentence(void **state)
{
    (void)state;
    static const char FRONT[] = "After it you can ";
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson lesson;
        Laid laid;
        Buf text = {0};
        Err err = {{0}};
        assert_true(lesson_parse(&lesson, f.name, f.text, f.size, 0, &err));
        Player p;
        assert_true(player_open(&p, &a.s, &lesson, &err) && player_enter(&p, 0, &err));
        p.opens = true;
        assert_true(card_lay(&p, 4000, &laid, &err));
        laid_text(&laid, &text);
        const char *at = strstr(buf_str(&text), FRONT), *end = at ? strchr(at, '\n') : NULL;
        if (!end || !islower((unsigned char)at[strlen(FRONT)]) || end[-1] != '.')
            fail_msg("%s: %.80s", f.name, at ? at : buf_str(&text));
        laid_free(&laid);
        buf_free(&text);
        player_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_stand_on_the_screen, start, stop),
        cmocka_unit_test_setup_teardown(the_keys_of_a_card_are_whole, start, stop),
        cmocka_unit_test_setup_teardown(what_was_missed_is_told, start, stop),
        cmocka_unit_test_setup_teardown(a_number_is_typed_where_it_is_asked, start, stop),
        cmocka_unit_test_setup_teardown(digits_bring_their_question, start, stop),
        cmocka_unit_test_setup_teardown(a_question_keeps_its_keys, start, stop),
        cmocka_unit_test_setup_teardown(a_number_is_worked_at, start, stop),
        cmocka_unit_test_setup_teardown(what_was_right_stays_right, start, stop),
        cmocka_unit_test_setup_teardown(a_kept_answer_hides_itself, start, stop),
        cmocka_unit_test_setup_teardown(a_small_card_is_skipped_at_once, start, stop),
        cmocka_unit_test_setup_teardown(what_one_will_be_able_to_do_is_a_sentence, start, stop),
    };
    return cmocka_run_group_tests_name("cards", tests, NULL, NULL);
}
