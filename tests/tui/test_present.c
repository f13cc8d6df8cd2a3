/* Presenter mode without a terminal: letters, decks, the frame, what keys mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/session/play.h"
#include "core/session/state.h"
#include "tests/tui/opened.h"
#include "tui/canvas/letters.h"
#include "tui/presenter.h"

static Session s;
static Commands all;
static Overlay lists;

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    opened_session(&s, NULL, "#17");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    overlay_free(&lists);
    return 0;
}

static int inked(const Canvas *c)
{
    int n = 0;
    for (int i = 0; i < c->h * c->w; i++)
        n += c->cells[i].ch != ' ';
    return n;
}

static void test_letters(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 24, 80);
    canvas_clear(&c);
    letters_line(&c, 0, 0, 80, STYLE_TEXT, "I", 1); /* 7 2 2 2 7: three rows of half blocks */
    const uint32_t want[3][3] = {{0x2580, 0x2588, 0x2580}, {' ', 0x2588, ' '}, {0x2580, 0x2580, 0x2580}};
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            assert_int_equal(canvas_at(&c, y, x)->ch, want[y][x]);
    assert_int_equal(letters_columns("AB", 2), 14);
    assert_int_equal(letters_rows(2), 5);
    canvas_clear(&c);
    letters_line(&c, 0, 0, 6, STYLE_TEXT, "HHH", 1); /* a letter that does not fit whole is left away */
    assert_int_equal(canvas_at(&c, 0, 4)->ch, ' ');
    canvas_clear(&c);
    assert_false(letters_fill(&c, (Rect){0, 0, 24, 80}, STYLE_TEXT, "a-word-that-is-far-too-long-for-eighty-columns"));
    assert_int_equal(inked(&c), 0);
    assert_true(letters_fill(&c, (Rect){2, 3, 20, 70}, STYLE_TEXT, "√ of x"));
    for (int y = 0; y < 24; y++)
        for (int x = 0; x < 80; x++)
            assert_true(rect_has((Rect){2, 3, 20, 70}, y, x) || canvas_at(&c, y, x)->ch == ' ');
    canvas_free(&c);
}

static void test_keys(void **state)
{
    (void)state;
    static const char *const NEXT[] = {"Space", "Enter", "n", "l", "j", "Right", "Down", "PgDn", "Click"},
                             *const BACK[] = {"Backspace", "p", "h", "k", "Left", "Up", "PgUp"},
                             *const NOTHING[] = {"Esc", "F5", "Tab", "WheelDown"};
    Present v = {.on = true};
    Buf b = {0};
    for (size_t i = 0; i < sizeof NEXT / sizeof *NEXT; i++) {
        buf_clear(&b);
        assert_true(present_key(&v, NEXT[i], 0, &b));
        assert_string_equal(buf_str(&b), "present next");
    }
    for (size_t i = 0; i < sizeof BACK / sizeof *BACK; i++) {
        buf_clear(&b);
        assert_true(present_key(&v, BACK[i], 0, &b));
        assert_string_equal(buf_str(&b), "present prev");
    }
    for (size_t i = 0; i < sizeof NOTHING / sizeof *NOTHING; i++) {
        buf_clear(&b);
        assert_true(present_key(&v, NOTHING[i], 0, &b));
        assert_string_equal(buf_str(&b), "");
    }
    static const char *const OTHERS[][2] = {{".", "play"}, {"<", "play slower"}, {">", "play faster"}, {"b", "blank"}};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        buf_clear(&b);
        assert_true(present_key(&v, OTHERS[i][0], 0, &b));
        assert_string_equal(buf_str(&b), OTHERS[i][1]);
    }
    buf_clear(&b);
    assert_true(present_key(&v, "G", 12, &b));
    assert_string_equal(buf_str(&b), "present go 12");
    buf_clear(&b);
    assert_false(present_key(&v, "s", 0, &b)); /* what it means everywhere */
    v.blank = true;
    assert_true(present_key(&v, "s", 0, &b));
    assert_string_equal(buf_str(&b), "blank off");
    buf_free(&b);
}

static char *whole(void)
{
    Buf b = {0};
    session_write(&s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &b);
    char *text = xstrdup(buf_str(&b));
    buf_free(&b);
    return text;
}

/* Every ready-made deck: forwards, then in jumps; each step is the same whichever way it is reached. */
static void test_decks(void **state)
{
    (void)state;
    static const char *const DECKS[] = {"heads", "root-dk", "6", "0"};
    for (size_t i = 0; i < sizeof DECKS / sizeof *DECKS; i++) {
        Deck d = {.at = -1};
        Err err = {{0}};
        if (!deck_open(&d, &s, DECKS[i], &err))
            fail_msg("%s", err.text);
        char *seen[64] = {0};
        assert_true(deck_is_title(&d, 0));
        assert_in_range(d.count, 4, 63);
        for (int k = 0; k < d.count; k++) {
            if (!deck_go(&d, &s, &all, k, &err))
                fail_msg("%s step %d: %s", DECKS[i], k, err.text);
            seen[k] = whole();
            assert_true(k == 0 || d.caption.len > 0);
        }
        for (int k = d.count - 1; k >= 0; k -= 2) {
            const char *away = s.now->model ? "goto first; skip mlp" : "goto last; set . 2"; /* an excursion */
            if (!command_do(&s, &all, away, LINE_FOREIGN, &err))
                fail_msg("%s step %d: %s", DECKS[i], k, err.text);
            if (!deck_go(&d, &s, &all, k, &err))
                fail_msg("%s step %d again: %s", DECKS[i], k, err.text);
            char *now = whole();
            size_t at = 0;
            while (now[at] && now[at] == seen[k][at])
                at++;
            if (now[at] != seen[k][at])
                fail_msg("%s step %d is another one at '%.60s': it was '%.60s'", DECKS[i], k, now + at, seen[k] + at);
            free(now);
        }
        const char *away = s.now->model ? "goto first; shuffle seed=3" : "goto last; set . 2";
        assert_true(command_do(&s, &all, away, LINE_FOREIGN, &err));
        assert_true(deck_return(&d, &s, &all, &err));
        char *now = whole();
        assert_string_equal(now, seen[d.at]);
        free(now);
        for (int k = 0; k < d.count; k++)
            free(seen[k]);
        deck_close(&d);
    }
}

static void test_frame(void **state)
{
    (void)state;
    Presenter p = {.deck = {.at = -1}};
    Buf said = {0};
    Err err = {{0}};
    assert_true(presenter_do(&p, &s, &all, "heads", NULL, &said, &err));
    assert_true(presenter_do(&p, &s, &all, "go 3", NULL, &said, &err));
    assert_true(command_do(&s, &all, "view matrix", LINE_FOREIGN, &err));
    Frame low = present_frame(&s, &p.deck, 24, 80), high = present_frame(&s, &p.deck, 50, 120);
    assert_string_equal(low.pane[0].view->name, "row");
    assert_string_equal(high.pane[0].view->name, "matrix");
    assert_int_equal(low.count, 1);
    presenter_lock(&p, &s, &all);
    assert_true(s.look.locked);
    float high_end = s.look.high;
    assert_true(command_do(&s, &all, "head 3", LINE_FOREIGN, &err)); /* the same tensor: the scale stays */
    presenter_lock(&p, &s, &all);
    assert_true(s.look.locked && s.look.high == high_end);
    for (int light = 0; light < 2; light++) {
        Canvas c;
        canvas_init(&c, 24, 80);
        canvas_clear(&c);
        Paint paint = {.s = &s, .c = &c, .mode = MODE_256, .light = light};
        present_draw(&paint, &low, &p.view, &p.deck, &(PresentLine){"", false});
        for (int i = 0; i < 24 * 80; i++) {
            const Cell *k = &c.cells[i];
            assert_true(k->bg == (light ? 0xffffff : 0) || k->level || k->fg != COLOUR_DEFAULT ||
                        k->bg != COLOUR_DEFAULT);
            assert_true(k->style != STYLE_DIM || k->level || k->fg != COLOUR_DEFAULT);
        }
        canvas_free(&c);
    }
    assert_true(command_do(&s, &all, "play next", LINE_FOREIGN, &err)); /* the film has what its step is made from */
    Frame film = present_frame(&s, &p.deck, 24, 80);
    assert_int_equal(film.count, 2);
    assert_string_equal(film.pane[1].view->name, "from");
    presenter_close(&p);
    buf_free(&said);
}

/* One step is one entry of the log. */
static void test_log(void **state)
{
    (void)state;
    Presenter p = {.deck = {.at = -1}};
    Buf said = {0};
    Err err = {{0}};
    assert_true(presenter_do(&p, &s, &all, "root-dk", NULL, &said, &err));
    assert_false(presenter_do(&p, &s, &all, "go 99", NULL, &said, &err));
    assert_false(presenter_do(&p, &s, &all, "go x", NULL, &said, &err));
    assert_false(presenter_do(&p, &s, &all, "nothing-like-it", NULL, &said, &err));
    assert_true(p.deck.open); /* what was there stays */
    assert_true(presenter_do(&p, &s, &all, "leave", NULL, &said, &err));
    assert_true(p.view.asks);
    assert_true(presenter_answers(&p, &s, "x"));
    assert_true(p.view.on);
    assert_true(presenter_do(&p, &s, &all, "leave", NULL, &said, &err));
    assert_true(presenter_answers(&p, &s, "q"));
    assert_false(p.view.on);
    presenter_close(&p);
    buf_free(&said);
}

/* Who leaves has back what was there, and can undo what could be undone; a lesson does not take it away. */
static void test_own_comes_back(void **state)
{
    (void)state;
    static const char *const DECKS[] = {"6", "heads"};
    for (size_t i = 0; i < sizeof DECKS / sizeof *DECKS; i++) {
        Presenter p = {.deck = {.at = -1}};
        Buf said = {0};
        Err err = {{0}};
        assert_true(command_do(&s, &all,
                               "reset edits; goto blocks.1.attn.pattern[h=3]; set scale off; skip mlp block=0",
                               LINE_FOREIGN, &err));
        int undo = s.undo_count;
        char *before = whole();
        assert_false(presenter_do(&p, &s, &all, "no-such-thing", NULL, &said, &err));
        assert_int_equal(s.undo_count, undo); /* what is not there takes nothing away */
        assert_true(presenter_do(&p, &s, &all, DECKS[i], NULL, &said, &err));
        assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
        assert_true(presenter_do(&p, &s, &all, "go 5", NULL, &said, &err));
        assert_true(presenter_do(&p, &s, &all, "leave", NULL, &said, &err));
        assert_true(presenter_answers(&p, &s, "q"));
        char *after = whole();
        assert_string_equal(before, after);
        assert_int_equal(s.undo_count, undo);
        assert_true(command_do(&s, &all, "undo", LINE_FOREIGN, &err));
        assert_int_equal(s.edits.count, 1);
        assert_string_equal(s.edits.line[0], "set scale off");
        assert_true(command_do(&s, &all, "undo", LINE_FOREIGN, &err));
        assert_int_equal(s.edits.count, 0);
        free(before);
        free(after);
        presenter_close(&p);
        buf_free(&said);
    }
}

/* A script that plays by itself: a pause begins when its step is there, none is longer than in a cast; a lesson does
 * not. */
static void test_timed(void **state)
{
    (void)state;
    Presenter p = {.deck = {.at = -1}};
    Buf said = {0};
    Err err = {{0}};
    const int64_t second = 1000000000, begun = 50 * second;
    assert_false(presenter_do(&p, &s, &all, "play", NULL, &said, &err));
    assert_true(presenter_do(&p, &s, &all, "heads", NULL, &said, &err));
    assert_int_equal(presenter_left(&p, &s, true, begun), -1);
    assert_true(presenter_do(&p, &s, &all, "play", NULL, &said, &err));
    assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
    assert_int_equal(presenter_left(&p, &s, false, begun), -1); /* still computing */
    assert_int_equal(presenter_left(&p, &s, true, begun + second), 8 * second);
    assert_int_equal(presenter_left(&p, &s, true, begun + 3 * second), 6 * second);
    assert_int_equal(presenter_left(&p, &s, true, begun + 10 * second), 0);
    p.view.blank = true;
    assert_int_equal(presenter_left(&p, &s, true, begun + 10 * second), -1);
    p.view.blank = false;
    assert_true(presenter_do(&p, &s, &all, "go 3", NULL, &said, &err)); /* seven seconds in its file */
    assert_int_equal(presenter_left(&p, &s, true, begun), 7 * second);
    p.deck.script.steps[1].seconds = 100;
    p.due = 0;
    assert_int_equal(presenter_left(&p, &s, true, begun), SCRIPT_IDLE_S * second);
    assert_true(presenter_do(&p, &s, &all, "play", NULL, &said, &err)); /* and off */
    assert_int_equal(presenter_left(&p, &s, true, begun), -1);
    assert_true(presenter_do(&p, &s, &all, "6", NULL, &said, &err));
    assert_false(presenter_do(&p, &s, &all, "play", NULL, &said, &err));
    presenter_close(&p);
    buf_free(&said);
}

static void writes(const char *path, const char *text)
{
    Err err = {{0}};
    if (!file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

/* A step that ends in `play` plays as long as its pause, by hand too; one that ends in `play to` as far as that step,
 * and its pause comes behind it. */
static void test_film_of_a_step(void **state)
{
    (void)state;
    char path[80];
    Presenter p = {.deck = {.at = -1}};
    Buf said = {0};
    Err err = {{0}};
    const int64_t second = 1000000000, begun = 50 * second;
    snprintf(path, sizeof path, "/tmp/vitrine-film-%d.txt", (int)getpid());
    writes(path, "caption One.\npause 3\ngoto blocks.0.attn.scores_raw\nplay\npause 6\n"
                 "play to blocks.0.attn.pattern\npause 2\n");
    bool there = presenter_do(&p, &s, &all, path, NULL, &said, &err);
    unlink(path);
    assert_true(there);
    assert_int_equal(presenter_left(&p, &s, true, begun), -1); /* nothing plays: it waits for the speaker */
    assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
    assert_true(s.look.playing);
    assert_int_equal(play_step_ms(&s), 500);
    assert_int_equal(presenter_left(&p, &s, true, begun), 6 * second);
    assert_int_equal(presenter_left(&p, &s, true, begun + 6 * second), 0);
    assert_false(presenter_ended(&p, &s));
    assert_false(s.look.playing || s.look.frame);
    assert_string_equal(s.place.path, "blocks.0.attn.scores_raw");
    assert_int_equal(presenter_left(&p, &s, true, begun), -1);
    assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
    assert_true(s.look.playing);
    assert_int_equal(presenter_left(&p, &s, true, begun), -1);
    assert_true(presenter_do(&p, &s, &all, "play", NULL, &said, &err)); /* nor where steps follow one another */
    assert_int_equal(presenter_left(&p, &s, true, begun), -1);
    int frames = 1;
    for (; s.look.playing; frames++)
        s.look.playing = play_frame(&s);
    assert_string_equal(s.place.path, "blocks.0.attn.pattern");
    assert_int_equal(frames % PLAY_FRAMES, 1);
    assert_int_equal(presenter_left(&p, &s, true, begun), 2 * second);
    assert_true(presenter_do(&p, &s, &all, "prev", NULL, &said, &err)); /* it begins anew with its step */
    assert_true(s.look.playing);
    assert_string_equal(s.place.path, "blocks.0.attn.scores_raw");
    assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
    play_end(&s); /* as its slide has it */
    assert_false(s.look.playing || s.look.frame || s.look.until);
    assert_string_equal(s.place.path, "blocks.0.attn.pattern");
    assert_true(presenter_do(&p, &s, &all, "prev", NULL, &said, &err));
    assert_true(presenter_do(&p, &s, &all, "off", NULL, &said, &err));
    assert_true(command_do(&s, &all, "goto blocks.1.attn.z", LINE_FOREIGN, &err));
    assert_true(presenter_do(&p, &s, &all, "on", NULL, &said, &err)); /* not where one comes back to it */
    assert_false(s.look.playing);
    assert_string_equal(s.place.path, "blocks.0.attn.scores_raw");
    assert_true(command_do(&s, &all, "goto blocks.1.attn.z", LINE_FOREIGN, &err));
    assert_false(command_do(&s, &all, "play to blocks.0.attn.pattern", LINE_FOREIGN, &err)); /* it lies behind */
    assert_false(s.look.playing);
    presenter_close(&p);
    buf_free(&said);
}

static bool says(const Buf *text, const char *part)
{
    return strstr(buf_str(text), part) != NULL;
}

/* What a card asks is answered before the next one comes, what it lets predict by the next; a class that is asked has
 * the question in its own box. */
static void test_answers(void **state)
{
    (void)state;
    Presenter p = {.deck = {.at = -1}};
    Deck *d = &p.deck;
    Buf said = {0};
    Err err = {{0}};
    assert_true(presenter_do(&p, &s, &all, "6", NULL, &said, &err));
    assert_true(presenter_do(&p, &s, &all, "go last", NULL, &said, &err));
    assert_true(says(&d->caption, "learning rate") && says(&d->caption, "all alike"));
    assert_true(deck_asked(d, &err));
    assert_true(says(&d->caption, "learning rate") && !says(&d->caption, "all alike"));
    assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
    assert_true(says(&d->caption, "It is: Rows that give nearly all to one key. The largest weight averages 0."));
    assert_false(says(&said, "last step"));
    assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
    assert_true(says(&said, "last step"));
    for (int step = 0; step < d->count; step++) {
        assert_true(deck_go(d, &s, &all, step, &err));
        const Question *q = deck_question(d);
        if (!q || !q->predict)
            continue;
        assert_false(says(&d->caption, "It is"));
        for (int at = step; d->at == at;) /* behind its pauses */
            assert_true(presenter_do(&p, &s, &all, "next", NULL, &said, &err));
        assert_int_equal(d->at, step + 1);
        assert_true(says(&d->caption, "It is"));
    }
    presenter_close(&p);
    buf_free(&said);
}

static void put_row(Canvas *c, int y, Buf *out)
{
    buf_clear(out);
    for (int x = 0; x < c->w; x++)
        buf_putc(out, canvas_at(c, y, x)->ch < 0x7f ? (char)canvas_at(c, y, x)->ch : '?');
}

/* What is said stands in the header's place, beside the number of the step: the caption is whole. */
static void test_line(void **state)
{
    (void)state;
    Presenter p = {.deck = {.at = -1}};
    Buf said = {0}, row = {0}, before = {0};
    Err err = {{0}};
    Canvas c;
    canvas_init(&c, 24, 80);
    assert_true(presenter_do(&p, &s, &all, "root-dk", NULL, &said, &err));
    assert_true(presenter_do(&p, &s, &all, "go last", NULL, &said, &err));
    for (int i = 0; i < 2; i++) {
        canvas_clear(&c);
        Paint paint = {.s = &s, .c = &c, .mode = MODE_256};
        Frame f = present_frame(&s, &p.deck, 24, 80);
        present_draw(&paint, &f, &p.view, &p.deck, &(PresentLine){i ? "That was the last step." : "", false});
        put_row(&c, 23, i ? &row : &before);
    }
    assert_true(strspn(buf_str(&before), " ") < 40);
    assert_string_equal(buf_str(&row), buf_str(&before));
    put_row(&c, 0, &row);
    assert_non_null(strstr(buf_str(&row), "That was the last step."));
    assert_non_null(strstr(buf_str(&row), "7/7"));
    canvas_free(&c);
    presenter_close(&p);
    buf_free(&said);
    buf_free(&row);
    buf_free(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_letters),
                                       cmocka_unit_test(test_keys),
                                       cmocka_unit_test_setup_teardown(test_decks, start, stop),
                                       cmocka_unit_test_setup_teardown(test_frame, start, stop),
                                       cmocka_unit_test_setup_teardown(test_log, start, stop),
                                       cmocka_unit_test_setup_teardown(test_own_comes_back, start, stop),
                                       cmocka_unit_test_setup_teardown(test_timed, start, stop),
                                       cmocka_unit_test_setup_teardown(test_film_of_a_step, start, stop),
                                       cmocka_unit_test_setup_teardown(test_answers, start, stop),
                                       cmocka_unit_test_setup_teardown(test_line, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
