/* Numbers of a lesson, cards on a session, and answers graded. */
#include "tests/lessons/lessons_test.h"

#include <math.h>

#include "core/session/ask/ask.h"
#include "core/session/screens.h"

static void numbers_as_they_are_printed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t used;
        double value, half;
    } CASES[] = {{"150,528", 7, 150528, 0.5}, {"1,2", 1, 1, 0.5},
                 {"0.50", 4, 0.5, 0.005},     {"−3.2 x", 6, -3.2, 0.05},
                 {"1e-21", 5, 1e-21, 5e-22},  {"3.4e+38", 7, 3.4e38, 5e36},
                 {"7.", 1, 7, 0.5},           {"x", 0, 0, 0},
                 {"12,3456", 2, 12, 0.5},     {"3e4294967297", 0, 0, 0},
                 {"3e-4294967295", 0, 0, 0},  {"3e99999999999999999999", 0, 0, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double x = 0, half = 0;
        assert_int_equal(number_printed(CASES[i].text, &x, &half), CASES[i].used);
        if (CASES[i].used) {
            assert_true(x == CASES[i].value);
            assert_true(fabs(half / CASES[i].half - 1) < 1e-9);
        }
    }
}

static double value(Player *p, const char *text)
{
    double x = 0;
    Err err = {{0}};
    if (!player_value(p, text, &x, &err))
        fail_msg("%s: %s", text, err.text);
    return x;
}

static void refused(Player *p, const char *text, const char *what)
{
    double x;
    Err err = {{0}};
    if (player_value(p, text, &x, &err) || !strstr(err.text, what))
        fail_msg("%s: %s", text, err.text);
}

#define CARD "# T\n\n```vitrine\nminutes 1\nable \"x\"\n```\n\n"
#define EXAMPLE "```vitrine example m\naxis d 3\naxis e 3\nx[d] = 3 -1 2\ny[e] = 1 1 1\n```\n\n"

static void expressions(void **state)
{
    (void)state;
    Player p;
    open_text(&p, CARD EXAMPLE "## A\n\nx\n");
    assert_true(value(&p, "2 + 3*4^2 - 10/5") == 48);
    assert_true(value(&p, "-2^2") == -4 && value(&p, "2^-1") == 0.5 && value(&p, "(1+1)^3") == 8);
    assert_true(value(&p, "m:x[d=1]") == -1 && value(&p, "sum(m:x)") == 4 && value(&p, "norm(m:y)") == sqrt(3));
    assert_true(value(&p, "argmax(m:x)") == 0 && value(&p, "max(m:x[d=1:3])") == 2 && value(&p, "count(m:x)") == 3);
    assert_true(value(&p, "min(3, 2) + max(1, 5)") == 7 && value(&p, "max(m:x[d=1], 5) - max( m:x )") == 2 &&
                value(&p, "3 > 2 and 2 = 2") == 1);
    assert_true(value(&p, "cell(m:x, 2)") == 2 && value(&p, "cell(m:x[d=1:3], 1 - 1)") == -1);
    assert_true(command_do(&s, &p.commands, "goto blocks.1.attn.pattern[h=2,t=r3c1,u=r0c5]", LINE_FOREIGN, NULL));
    assert_true(value(&p, "here()") == value(&p, "blocks.1.attn.pattern[h=2,t=r3c1,u=r0c5]"));
    refused(&p, "cell(m:x, 3)", "no number 3 among 3");
    refused(&p, "cell(m:x, -1)", "no number -1");
    refused(&p, "cell(m:x)", "a second operand");
    refused(&p, "here(m:x)", "the value under the cursor");
    assert_true(value(&p, "params(pos_embed)") == 65 * 64);
    assert_true(fabs(value(&p, "sum(probs)") - 1) < 1e-6);
    refused(&p, "2 +", "expected a number");
    refused(&p, "m:x", "3 numbers");
    refused(&p, "m:z", "no node 'z'");
    refused(&p, "q:x", "no example 'q'");
    refused(&p, "fly(2)", "no function");
    refused(&p, "dot(m:x, probs)", "3 cells on one side, 10");
    refused(&p, "1 1", "nothing is expected");
    refused(&p, "((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))",
            "too many brackets");
    player_close(&p);
}

/* Whoever wrote it, an expression takes no more of the machine than a card does. */
static void expressions_are_bounded(void **state)
{
    (void)state;
    Player p;
    Buf text = {0};
    open_text(&p, CARD "```vitrine example m\naxis a 4096\naxis b 2048\nx[a,b] = fill(1)\n```\n\n## A\n\nx\n");
    assert_true(value(&p, "sum(m:x)") == 4096 * 2048);
    refused(&p, "sum(m:x) + sum(m:x) + sum(m:x)", "goes through more than 16777216 numbers");
    buf_puts(&text, "1");
    for (int i = 0; i < 60000; i++)
        buf_puts(&text, " and 1");
    assert_true(value(&p, buf_str(&text)) == 1);
    assert_true(value(&p, "1 = 1 and 2 > 3") == 0 && value(&p, "1 and 2 < 3 and 4") == 1);
    buf_free(&text);
    player_close(&p);
    Lesson l;
    Err err = {{0}};
    static const char TWICE[] = CARD "```vitrine example m\naxis a 4096\naxis b 2048\nx[a,b] = fill(1)\n```\n\n"
                                     "```vitrine example n\naxis a 2\nx[a] = fill(1)\n```\n\n## A\n\nx\n";
    assert_true(lesson_parse(&l, "t.md", TWICE, sizeof TWICE - 1, 0, &err));
    assert_false(player_open(&p, &s, &l, &err));
    assert_non_null(strstr(err.text, "t.md:14: more than 8388608 numbers in all examples"));
    player_close(&p);
}

static void a_card_has_few_live_values(void **state)
{
    (void)state;
    Player p;
    Laid laid;
    Err err = {{0}};
    Buf text = {0};
    for (int many = 32; many <= 33; many++) {
        buf_clear(&text);
        buf_puts(&text, CARD "## A\n\n");
        for (int i = 0; i < many; i++)
            buf_puts(&text, "{{1}} ");
        open_text(&p, buf_str(&text));
        assert_int_equal(card_lay(&p, 60, &laid, &err), many == 32);
        if (many == 32)
            laid_free(&laid);
        player_close(&p);
    }
    assert_non_null(strstr(err.text, "more than 32 values in {{ }}"));
    buf_free(&text);
}

static void a_card_starts_clean_and_back_gives_the_same(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    open_text(&p,
              CARD "## A\n\nx\n\n```vitrine\ndo set scale off; goto blocks.1.attn.pattern[h=2]\n```\n\n## B\n\ny\n\n"
                   "```vitrine\npicture #66\n```\n");
    double off = value(&p, "probs[o=star]");
    assert_true(session_edited(&s) && off < 0.9);
    assert_true(player_enter(&p, 1, &err));
    assert_false(session_edited(&s));
    assert_string_equal(s.now->input.path, "#66");
    assert_true(player_enter(&p, 0, &err));
    assert_true(value(&p, "probs[o=star]") == off);
    assert_string_equal(s.place.path, "blocks.1.attn.pattern");
    player_close(&p);
}

/* A lesson says whose it is: the model of photographs opens with its scene, and the next lesson has its own again. */
static void a_lesson_opens_its_model(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    open_text(&p, "# T\n\n```vitrine\nminutes 1\nable \"x\"\nphotos #horse\n```\n\n## A\n\nx\n\n## B\n\ny\n\n"
                  "```vitrine\npicture #17\n```\n");
    assert_string_equal(s.model_path, "photos");
    assert_string_equal(s.now->input.path, "#horse");
    assert_true(value(&p, "probs[o=horse]") > 0.5);
    assert_true(player_enter(&p, 1, &err)); /* a drawn shape, and still that model */
    assert_string_equal(s.model_path, "photos");
    assert_string_equal(s.now->input.path, "#17");
    player_close(&p);
    open_text(&p, CARD "## A\n\nx\n\n```vitrine\npicture #ship\n```\n"); /* a scene, and still the shapes' model */
    assert_string_equal(s.model_path, "");
    assert_string_equal(s.now->input.path, "#ship");
    player_close(&p);
}

static void commands_with_files_are_refused(void **state)
{
    (void)state;
    static const char *const LINES[] = {"open /etc/passwd", "model /tmp", "export /tmp/x.npy logits"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        char text[256];
        Lesson l;
        Player p;
        Err err = {{0}};
        snprintf(text, sizeof text, CARD "## A\n\nx\n\n```vitrine\ndo %s\n```\n", LINES[i]);
        assert_true(lesson_parse(&l, "t.md", text, strlen(text), 0, &err) && player_open(&p, &s, &l, &err));
        assert_false(player_enter(&p, 0, &err));
        assert_true(strncmp(err.text, "t.md:13: ", 9) == 0 && strstr(err.text, "is a file"));
        player_close(&p);
    }
}

static void answers_are_graded_and_explained(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    Buf why = {0};
    bool done;
    open_text(
        &p, CARD EXAMPLE
        "## A\n\n```vitrine\npredict choice \"a?\"\nright \"yes\" \"so\"\nwrong \"no\" \"{{sum(m:x)}} of it\"\n```\n\n"
        "## B\n\n```vitrine\nask number \"sum?\" = sum(m:x) within 0.1\nwrong m:x[d=0] \"only the first\"\nhint "
        "\"{{m:x[d=0]}} and …\"\n```\n\n"
        "## C\n\n```vitrine\nask change \"c?\" until max(blocks.0.attn.pattern[h=1,t=r3c4]) > 0.9\nsolution set "
        "scale x4\nright \"done\"\nwrong \"it is {{max(m:x)}}\"\n```\n");
    int no = p.lesson.cards[0].question->choices[0].right ? 1 : 0; /* the answers are mixed */
    assert_true(player_choose(&p, no, &why, &err));
    assert_string_equal(buf_str(&why), "4 of it");
    assert_false(p.answers[0].right);
    assert_false(player_choose(&p, 2, &why, &err) || player_number(&p, "3", &why, &err));
    assert_true(player_enter(&p, 1, &err));
    buf_clear(&why);
    assert_true(player_prediction(&p, &why, &err));
    assert_string_equal(buf_str(&why), "You said: no. Not so. 4 of it It is: yes. so");
    buf_clear(&why);
    assert_true(player_number(&p, "3", &why, &err) && !p.answers[1].right);
    assert_string_equal(buf_str(&why), "only the first");
    buf_clear(&why);
    assert_true(player_number(&p, "9.5", &why, &err) && strncmp(buf_str(&why), "It is less. A hint (!)", 22) == 0);
    assert_true(player_number(&p, "4.05", &why, &err) && p.answers[1].right);
    assert_false(player_number(&p, "four", &why, &err) || player_number(&p, "m:x", &why, &err));
    assert_true(player_number(&p, "8/2", &why, &err) && p.answers[1].right);
    assert_true(player_number(&p, "sqrt(4*4)", &why, &err) && p.answers[1].right); /* as lessons write it */
    assert_false(player_number(&p, "sqrt", &why, &err) || player_number(&p, "exp(2)", &why, &err) ||
                 player_number(&p, "sqrt(-4)", &why, &err));
    static const struct {
        const char *typed;
        double x;
    } WRITTEN[] = {{".4", 0.4},     {"-.6", -0.6},  {"+3", 3},         {"5.", 5},
                   {"1e-3", 1e-3},  {"1E-3", 1e-3}, {" 2.5 ", 2.5},    {"\xE2\x88\x92.5", -0.5},
                   {"1,024", 1024}, {".5*3", 1.5},  {"-(1+.5)", -1.5}, {"2 / 4", 0.5}};
    for (size_t i = 0; i < sizeof WRITTEN / sizeof *WRITTEN; i++)
        if (!player_number(&p, WRITTEN[i].typed, &why, &err) || fabs(p.answers[1].number - WRITTEN[i].x) > 1e-12)
            fail_msg("'%s' is read as %g", WRITTEN[i].typed, p.answers[1].number);
    static const char *const COMMAS[][2] = {{"-0,6", "type -0.6"},
                                            {"0,123", "type 0.123"},
                                            {"3,5", "type 3.5"},
                                            {"12345,678", "type 12345.678"}};
    for (size_t i = 0; i < sizeof COMMAS / sizeof *COMMAS; i++) /* what to type instead is said, and is taken */
        assert_true(!player_number(&p, COMMAS[i][0], &why, &err) && strstr(err.text, COMMAS[i][1]) &&
                    player_number(&p, strstr(err.text, "type ") + 5, &why, &err));
    assert_true(player_number(&p, "4 %", &why, &err) && p.answers[1].right); /* asked for in percent, or as a share */
    assert_true(player_number(&p, "400%", &why, &err) && p.answers[1].right && p.answers[1].number == 4);
    assert_true(player_number(&p, "40%", &why, &err) && !p.answers[1].right);
    assert_false(player_number(&p, "", &why, &err) || player_number(&p, "%", &why, &err) ||
                 player_number(&p, "-", &why, &err) || player_number(&p, "1/0", &why, &err) ||
                 player_number(&p, "1,2,3", &why, &err));
    buf_clear(&why);
    assert_true(player_number(&p, "1,024", &why, &err) && strstr(buf_str(&why), "1024")); /* no 1.024 */
    buf_clear(&why);
    assert_true(player_hint(&p, &why, &err));
    assert_string_equal(buf_str(&why), "3 and …");
    buf_clear(&why);
    assert_true(player_number(&p, "1", &why, &err)); /* the hint was read, and said no longer */
    assert_string_equal(buf_str(&why), "It is more. 3 and …");
    buf_clear(&why);
    assert_true(player_enter(&p, 2, &err) && player_done(&p, &done, &why, &err) && !done);
    assert_string_equal(buf_str(&why), "it is 3");
    assert_true(command_do(&s, &p.commands, "set scale x4", LINE_FOREIGN, &err));
    assert_true(player_done(&p, &done, &why, &err) && done && p.answers[2].right);
    assert_false(player_owes(&p));
    p.answers[2] = (Answer){.skipped = true};
    buf_clear(&why);
    assert_true(player_owes(&p) && command_do(&s, &p.commands, "reset edits", LINE_FOREIGN, &err));
    assert_true(player_settle(&p, &why, &err) && strstr(buf_str(&why), "set scale x4") &&
                strstr(buf_str(&why), "done"));
    assert_true(!player_owes(&p) && s.edits.count == 1 && s.back_count == 0 && !p.answers[2].right);
    p.card = 1;
    p.answers[1] = (Answer){.given = true};
    assert_true(player_owes(&p));
    p.card = 0; /* a prediction is told by the card behind it, … */
    p.answers[0].told = false;
    assert_false(player_owes(&p));
    p.lesson.count = 1; /* … where there is one */
    bool owes = player_owes(&p);
    p.lesson.count = 3;
    assert_true(owes);
    buf_free(&why);
    player_close(&p);
}

static void cards_are_laid_out_in_any_width(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    open_text(&p, CARD EXAMPLE
              "## A\n\nA sentence with `code in it`, an *attention* and {{m:x[d=0]}} apples, long enough to be "
              "broken.\n\n- one\n- two\n\n```vitrine\nask choice \"Which?\"\nright \"this\" \"a\"\nwrong \"that\" "
              "\"b\"\n```\n");
    for (int width = 1; width < 90; width++) {
        Laid l;
        if (!card_lay(&p, width, &l, &err))
            fail_msg("%s", err.text);
        assert_true(l.count >= 7 && l.lines[l.count - 1].choice == 1);
        laid_free(&l);
    }
    Laid l;
    Buf text = {0};
    assert_true(card_lay(&p, 200, &l, &err));
    laid_text(&l, &text);
    assert_non_null(strstr(buf_str(&text), "A sentence with code in it, an attention and 3 apples"));
    buf_free(&text);
    laid_free(&l);
    player_close(&p);
}

static void a_false_lesson_has_faults(void **state)
{
    (void)state;
    static const struct {
        const char *card, *fault;
    } CASES[] = {{"There are 12 of them.", "t.md:10: nothing says what 12 is"},
                 {"There are Twelve of them.", "t.md:10: nothing says what 'Twelve' is"},
                 {"A patch, and half of it.\n\n```vitrine\nexpect 0.6 = 3/5\n```", "nothing says what 'half' is"},
                 {"x\n\n```vitrine\nask choice \"b\"\nright \"c\" \"Three.\"\nwrong \"d\" \"e\"\n```", "'Three'"},
                 {"See `blocks.9.attn.q`.", "no key, command, address"},
                 {"A *flumph*.", "the glossary has no 'flumph'"},
                 {"x\n\n```vitrine\nexpect 3 = 4\n```", "t.md:13: 3 = 4 is not so"},
                 {"x {{nothing}}", "{{nothing}}"},
                 {"x\n\n```vitrine\nask number \"a\" = 3 within 1\nwrong 3.5 \"b\"\n```", "within the tolerance"},
                 {"x\n\n```vitrine\nask place \"a\" until 1 = 1\nsolution next\n```", "before anybody has done"},
                 {"x\n\n```vitrine\nask place \"a\" until at(t) = 3\nwrong \"{{no()}}\"\nsolution next\n```",
                  "{{no()}}"},
                 {"x\n\n```vitrine\nask place \"a\" until 1 = 2\nsolution next\n```", "own solution does not"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[512];
        Player p;
        CheckCount n;
        Buf faults = {0};
        snprintf(text, sizeof text, CARD "## A\n\n%s\n", CASES[i].card);
        open_text(&p, text);
        assert_false(lesson_check(&p, &n, &faults));
        if (!strstr(buf_str(&faults), CASES[i].fault))
            fail_msg("expected %s in %s", CASES[i].fault, buf_str(&faults));
        buf_free(&faults);
        player_close(&p);
    }
}

/* A worked example is an exhibit: it is shown, changed, compared and explained by the session's own commands, and the
 * model comes back with the next card. */
static void an_example_is_an_exhibit(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    Buf out = {0};
    open_text(&p, CARD EXAMPLE "## A\n\nx\n\n```vitrine\nshow m:x[d=1]\n```\n\n## B\n\ny\n");
    assert_ptr_equal(s.now, p.examples[0].exhibit);
    Err no = {""};
    assert_false(command_do(&s, &p.commands, "set scale toggle", LINE_OWN, &no)); /* s */
    assert_string_equal(no.text, "set: this worked example has no factor on its scores to change");
    no = (Err){""};
    assert_false(command_do(&s, &p.commands, "ablate", LINE_OWN, &no)); /* x */
    assert_string_equal(no.text, "ablate: this worked example has no part to switch off; `set ADDRESS NUMBER` changes "
                                 "a cell of it");
    assert_true(s.place.screen == SCREEN_WORKED && strcmp(s.place.path, "x") == 0);
    assert_int_equal(s.stages.count, 2);
    assert_true(value(&p, "probs[o=star]") > 0.9); /* of the model, which is not on show */
    assert_true(command_do(&s, &p.commands, "set x[d=1] 5; compare diff", LINE_FOREIGN, &err));
    assert_true(value(&p, "m:x[d=1]") == 5 && value(&p, "sum(m:x)") == 10);
    assert_non_null(session_need(&s, SIDE_DIFF, "x", &err));
    assert_true(ask_explain_text(&s, SIDE_B, "x", 1, &out, false, &err));
    assert_true(command_do(&s, &p.commands, "model bundled", LINE_OWN, &err));
    assert_true(session_edited(&s)); /* it is the one that is open */
    assert_false(command_do(&s, &p.commands, "model translator", LINE_OWN, &err));
    assert_non_null(strstr(err.text, "a lesson is open"));
    assert_true(player_enter(&p, 1, &err));
    assert_false(session_edited(&s));
    assert_non_null(s.now->model);
    assert_true(value(&p, "m:x[d=1]") == -1);
    assert_true(player_enter(&p, 0, &err));
    assert_true(command_do(&s, &p.commands, "open #66", LINE_FOREIGN, &err)); /* away from the example by hand */
    assert_true(player_enter(&p, 1, &err));
    assert_string_equal(s.now->input.path, "#17");
    player_close(&p);
    assert_int_equal(s.exhibit_count, 1);
    buf_free(&out);
}

static void arithmetic_is_played_term_by_term(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    open_text(&p, CARD "```vitrine example m\naxis d 3\nx[d] = 3 -1 2\nsum = sum(x)\n```\n\n"
                       "## A\n\nx\n\n```vitrine\nshow m:sum\ndo play\n```\n");
    assert_true(s.look.playing && s.look.worked.terms == 1 && playing_terms(&s) == 3);
    assert_true(command_do(&s, &p.commands, "play", LINE_FOREIGN, &err));
    assert_false(s.look.playing);
    assert_true(command_do(&s, &p.commands, "play next", LINE_FOREIGN, &err));
    assert_true(s.look.worked.terms == 2 && !s.look.playing);
    assert_true(command_do(&s, &p.commands, "play on", LINE_FOREIGN, &err));
    assert_true(s.look.worked.terms == 0 && !s.look.playing);                    /* all are there: it stops */
    assert_true(command_do(&s, &p.commands, "in; play on", LINE_FOREIGN, &err)); /* from its terms by size too */
    assert_true(s.place.screen == SCREEN_WORKED && s.look.playing && s.look.worked.terms == 1);
    player_close(&p);
}

static void a_card_stops_at_its_pauses(void **state)
{
    (void)state;
    Player p;
    Err err = {{0}};
    open_text(&p, CARD "## A\n\nx\n\n```vitrine\ndo goto blocks.0.attn.pattern\npause\ndo set scale off\npause\n"
                       "do reset edits\n```\n");
    assert_true(player_waits(&p) && !session_edited(&s));
    assert_true(player_on(&p, &err) && session_edited(&s));
    assert_true(player_on(&p, &err) && !session_edited(&s) && !player_waits(&p));
    assert_false(player_on(&p, &err));
    assert_string_equal(err.text, "");
    assert_true(player_enter(&p, 0, &err) && player_waits(&p));
    player_close(&p);
}

static void words_of_a_card(void **state)
{
    (void)state;
    Player p;
    Laid laid;
    LaidTerm terms[LAID_TERMS];
    Err err = {{0}};
    open_text(&p, CARD "## A\n\nThe heads, a (softmax) and a plain *dot\nproduct* of `query`; softmax again.\n");
    for (int width = 14; width < 60; width += 15) {
        assert_true(card_lay(&p, width, &laid, &err));
        assert_int_equal(laid_terms(&laid, terms), 3);
        assert_string_equal(terms[0].word, "dot product"); /* what is emphasised comes first */
        assert_string_equal(terms[1].word, "heads");
        assert_string_equal(terms[2].word, "softmax");
        laid_mark(&laid, &terms[0]);
        int marked = 0;
        for (int i = 0; i < laid.count; i++)
            for (int k = 0; k < laid.lines[i].count; k++)
                marked += laid.lines[i].parts[k].style == LAID_HERE;
        assert_int_equal(marked, 2);
        laid_free(&laid);
    }
    player_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_as_they_are_printed),
        cmocka_unit_test_setup_teardown(expressions, start, stop),
        cmocka_unit_test_setup_teardown(expressions_are_bounded, start, stop),
        cmocka_unit_test_setup_teardown(a_card_has_few_live_values, start, stop),
        cmocka_unit_test_setup_teardown(an_example_is_an_exhibit, start, stop),
        cmocka_unit_test_setup_teardown(arithmetic_is_played_term_by_term, start, stop),
        cmocka_unit_test_setup_teardown(a_card_stops_at_its_pauses, start, stop),
        cmocka_unit_test_setup_teardown(words_of_a_card, start, stop),
        cmocka_unit_test_setup_teardown(a_card_starts_clean_and_back_gives_the_same, start, stop),
        cmocka_unit_test_setup_teardown(a_lesson_opens_its_model, start, stop),
        cmocka_unit_test_setup_teardown(commands_with_files_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(answers_are_graded_and_explained, start, stop),
        cmocka_unit_test_setup_teardown(cards_are_laid_out_in_any_width, start, stop),
        cmocka_unit_test_setup_teardown(a_false_lesson_has_faults, start, stop),
    };
    unused();
    return cmocka_run_group_tests_name("lessons/play", tests, NULL, NULL);
}
