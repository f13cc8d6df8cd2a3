/* The format of a lesson: what becomes of it, and what is refused, with file, line and remedy. */
#include "tests/lessons/lessons_test.h"

#define HEAD "# 7. T\n\n```vitrine\nminutes 3\nable \"x\"\n```\n\n"

static void refuses(const char *text, const char *where, const char *what)
{
    Lesson l;
    Err err = {{0}};
    if (lesson_parse(&l, "t.md", text, strlen(text), 0, &err))
        fail_msg("taken: %s", text);
    if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, what))
        fail_msg("expected %s … %s in: %s", where, what, err.text);
    lesson_free(&l);
}

static void a_lesson_is_cut_into_cards(void **state)
{
    (void)state;
    const char *text = HEAD "## One\n\nSome *softmax* and `scale`,\nand **much**.\n\n- a\n- b\n\n1. c\n\n"
                            "```vitrine\ndo goto image\nexpect 2 = 1+1; 3 < 4\nquoted 5 6 \"a work\"\nclaim A-1 B-2\n"
                            "hint \"say \\\"it\\\"\"\n```\n\n## Two\n\n```\nplain\n```\n";
    Lesson l;
    Err err = {{0}};
    if (!lesson_parse(&l, "t.md", text, strlen(text), 0, &err))
        fail_msg("%s", err.text);
    assert_int_equal(l.number, 7);
    assert_string_equal(l.title, "T");
    assert_int_equal(l.minutes, 3);
    assert_int_equal(l.count, 2);
    const Card *c = &l.cards[0];
    assert_string_equal(c->title, "One");
    assert_int_equal(c->line, 8);
    assert_int_equal(c->item_count, 4);
    assert_int_equal(c->items[0].count, 7);
    assert_int_equal(c->items[0].spans[1].style, SPAN_TERM);
    assert_string_equal(c->items[0].spans[4].text, ", and ");
    assert_int_equal(c->items[2].kind, ITEM_BULLET);
    assert_int_equal(c->items[3].kind, ITEM_NUMBERED);
    assert_int_equal(c->expect_count, 2);
    assert_int_equal(c->expect[0].line, 20);
    assert_string_equal(c->quoted.at[2].text, "6");
    assert_string_equal(c->claims.at[1].text, "B-2");
    assert_string_equal(c->hints.at[0].text, "say \"it\"");
    assert_int_equal(l.cards[1].items[0].kind, ITEM_VERBATIM);
    assert_int_equal(card_words(c), 9);
    lesson_free(&l);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    (void)state;
    refuses("", "t.md:1:", "no title");
    refuses("# A\n", "t.md:1:", "no cards");
    refuses("## A\n", "t.md:1:", "a card before the title");
    refuses("# A\n# B\n", "t.md:2:", "a second title");
    refuses(HEAD "## A\n\n### B\n", "t.md:10:", "headings are");
    refuses(HEAD "## A\n\n<b>x</b>\n", "t.md:10:", "HTML");
    refuses(HEAD "## A\n\n![x](y.png)\n", "t.md:", "a picture");
    refuses(HEAD "## A\n\n[x](/etc/passwd)\n", "t.md:", "leads out");
    refuses(HEAD "## A\n\n[x](http://a)\n", "t.md:", "leads out");
    refuses(HEAD "## A\n\n```vitrine\n\nfly me\n```\n", "t.md:12:", "no statement 'fly'");
    refuses(HEAD "## A\n\n```vitrine\nminutes 3\n```\n", "t.md:11:", "before the first card");
    refuses("# A\n\n```vitrine\ndo next\n```\n## A\n", "t.md:4:", "behind a ## heading");
    refuses(HEAD "## A\n\n```vitrine\nexpect 3\n```\n", "t.md:11:", "expected `expect");
    refuses(HEAD "## A\n\n```vitrine\npicture /etc/passwd\n```\n", "t.md:11:", "opens no files");
    refuses(HEAD "## A\n\n```vitrine\npicture #cart\n```\n", "t.md:11:", "#ship");
    refuses("# A\n\n```vitrine\ntranslator \"a\"\nphotos #ship\n```\n## A\n", "t.md:5:", "one model");
    refuses("# A\n\n```vitrine\nphotos #ship\nphotos #cat\n```\n## A\n", "t.md:5:", "a lesson has one");
    refuses("# A\n\n```vitrine\nphotos cat.png\n```\n## A\n", "t.md:4:", "opens no files");
    refuses(HEAD "## A\n\n```vitrine\nask choice \"a\"\nright \"b\" \"c\"\n```\n", "t.md:11:", "a `wrong` one");
    refuses(HEAD "## A\n\n```vitrine\nask place \"a\" until 1\n```\n", "t.md:11:", "no `solution`");
    refuses(HEAD "## A\n\n```vitrine\nright \"b\" \"c\"\n```\n", "t.md:11:", "before its question");
    refuses(HEAD "## A\n\n```vitrine\nask number \"b\" = 3\n```\n", "t.md:11:", "within");
    refuses(HEAD "## A\n\n```vitrine example a\nx = 1\n```\n", "t.md:10:", "another name");
    refuses(HEAD "## A\n\n```vitrine example x\nx = 1\n```\n```vitrine example x\nx = 1\n```\n",
            "t.md:13:", "two examples");
    refuses(HEAD "## A\n\n\x1b[2J\n", "t.md:10:", "control character");
    refuses(HEAD "## A\n\n\xff\n", "t.md:10:", "no UTF-8");
}

static void bad_example(const char *body, const char *where, const char *what)
{
    Buf text = {0};
    Lesson l;
    Example e;
    Err err = {{0}};
    buf_printf(&text, "# T\n\n## A\n\n```vitrine example x\n%s\n```\n", body);
    if (!lesson_parse(&l, "t.md", buf_str(&text), text.len, 0, &err))
        fail_msg("%s", err.text);
    if (example_build(&e, "t.md", &l.examples[0], &s.model, &err))
        fail_msg("taken: %s", body);
    if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, what))
        fail_msg("expected %s … %s in: %s", where, what, err.text);
    example_free(&e);
    lesson_free(&l);
    buf_free(&text);
}

static void examples_that_cannot_be(void **state)
{
    (void)state;
    bad_example("axis t 2\nx[t] = 1 2 3", "t.md:7:", "more numbers");
    bad_example("axis t 2\nx[t] = 1", "t.md:7:", "1 numbers for 2 cells");
    bad_example("axis t 2\nx[t,t] = 1 2", "t.md:7:", "twice");
    bad_example("x[t] = 1", "t.md:6:", "no axis 't'");
    bad_example("axis tooo 2", "t.md:6:", "at most 3 letters");
    bad_example("axis t 5000", "t.md:6:", "length 1 to 4096");
    bad_example("axis t 2\naxis t 3", "t.md:7:", "already");
    bad_example("axis t 2 a", "t.md:6:", "2 indices and 1 labels");
    bad_example("axis t 2\nx[t] = 1 2\ny[t] = x @ z", "t.md:8:", "no 'z' above");
    bad_example("axis t 2\naxis u 3\nx[t] = 1 2\ny[u] = x * 2", "t.md:9:", "gives the axes [t]");
    bad_example("axis t 2\nx[t] = 1 2\ny = fly(x)", "t.md:8:", "no function 'fly'");
    bad_example("axis t 2\nx[t] = 1 2\ny[t] = softmax(x, u)", "t.md:8:", "no axis of the first operand");
    bad_example("axis t 2\nx[t] = 1 2\ny[t] = gather(x, t, 0 2)", "t.md:8:", "an index of the axis");
    bad_example("axis t 2\nx[t] = 1 2\ngradient x", "t.md:8:", "of a single number");
    bad_example("axis a 4096\naxis b 4096\nx[a,b] = fill(1)", "t.md:8:", "numbers in all");
    bad_example("repeat i 1 5 {\nx$i = 1", "t.md:6:", "has no }");
    Buf long_one = {0};
    buf_puts(&long_one, "repeat k of ");
    for (int i = 0; i < 3000; i++)
        buf_putc(&long_one, 'x');
    buf_puts(&long_one, " {\ny$k# = $k $k\n}");
    bad_example(buf_str(&long_one), "t.md:6:", "written out, is longer than 4096 bytes");
    buf_free(&long_one);
    bad_example("repeat i 1 900 {\naxis a$i 2\n}", "t.md:7:", "more than 40 axes");
    bad_example("model fly", "t.md:6:", "none of");
    bad_example("model depth=9", "t.md:6:", "none of");
    bad_example("", "t.md:5:", "empty");
}

/* What a lesson of a few lines may become: it is taken from strangers. */
static void what_grows_is_bounded(void **state)
{
    (void)state;
    Buf text = {0};
    buf_puts(&text, HEAD "## A\n\n```vitrine\nvary a xxxxxxxxxx xxxxxxxxxx\n");
    for (char name = 'b'; name < 'i'; name++) { /* 10 characters ten times, ten times …: 10^8 at the end */
        buf_printf(&text, "vary %c ", name);
        for (int i = 0; i < 10; i++)
            buf_printf(&text, "$%c", name - 1);
        buf_puts(&text, " z\n");
    }
    Lesson l;
    Err err = {{0}};
    bool refused = false;
    for (uint64_t seed = 0; seed < 60; seed++) { /* those in which z ends the chain are harmless */
        refused = (!lesson_parse(&l, "t.md", buf_str(&text), text.len, seed, &err) &&
                   strstr(err.text, "longer than 4096 bytes, what it varies written out")) ||
                  refused;
        lesson_free(&l);
    }
    assert_true(refused);
    buf_clear(&text);
    buf_puts(&text, HEAD "## A\n\n");
    for (int i = 0; i < 2000; i++)
        buf_puts(&text, "words ");
    refuses(buf_str(&text), "t.md:10:", "more text than a card can have");
    buf_clear(&text);
    buf_puts(&text, HEAD "## A\n\n");
    for (int i = 0; i < 33; i++)
        buf_printf(&text, "```vitrine example e%d\naxis d 2\nx[d] = 1 2\n```\n\n", i);
    refuses(buf_str(&text), "t.md:", "more examples than a lesson can have");
    buf_free(&text);
}

static void repeats_write_out_lines(void **state)
{
    (void)state;
    Player p;
    open_text(&p, "# T\n\n## A\n\n```vitrine example x\naxis d 2\nx0[d] = 1 2\nrepeat i 1 3 {\n"
                  "x$i[d] = x$i- * 2\n}\nrepeat k of 5 7 {\ny$k# = $k\n}\nr[d] = normal(3)\n```\n");
    double v;
    Err err = {{0}};
    assert_true(player_value(&p, "x:x3[d=1]", &v, &err) && v == 16);
    assert_true(player_value(&p, "x:y0 + x:y1", &v, &err) && v == 12);
    player_close(&p);
}

static void questions_vary_with_the_seed(void **state)
{
    (void)state;
    const char *text = HEAD "## A\n\n```vitrine\nvary n 1 2 3 4 5\nask number \"Twice $n?\" = 2*$n within 0.1\n```\n";
    bool seen[6] = {false};
    for (uint64_t seed = 0; seed < 40; seed++) {
        Lesson l;
        Err err = {{0}};
        assert_true(lesson_parse(&l, "t.md", text, strlen(text), seed, &err));
        int n = l.cards[0].question->text[6] - '0';
        char answer[8];
        snprintf(answer, sizeof answer, "2*%d", n);
        assert_string_equal(l.cards[0].question->answer, answer);
        seen[n] = true;
        lesson_free(&l);
    }
    for (int n = 1; n <= 5; n++)
        assert_true(seen[n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lesson_is_cut_into_cards),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
        cmocka_unit_test_setup_teardown(examples_that_cannot_be, start, stop),
        cmocka_unit_test(what_grows_is_bounded),
        cmocka_unit_test_setup_teardown(repeats_write_out_lines, start, stop),
        cmocka_unit_test(questions_vary_with_the_seed),
    };
    unused();
    return cmocka_run_group_tests_name("lessons/format", tests, NULL, NULL);
}
