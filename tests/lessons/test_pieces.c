/* What lesson 26 computes with matrices is what the tokeniser does with its table, and what its text says of it. */
#include "tests/lessons/lessons_test.h"

#include "core/base/utf8.h"
#include "core/io/tokenizer.h"
#include "core/models/lexicon.h"
#include "core/models/text_model.h"

/* A tokenizer.json with the 256 bytes and these merges, "o w" in the order of their ranks. */
static Tokenizer *table_of(const char *const *merge, const char *const *whole, int n)
{
    Buf json = {0};
    Err err = {{0}};
    unsigned other = 0;
    buf_puts(&json,
             "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"model\":{\"type\":\"BPE\","
             "\"vocab\":{");
    for (unsigned b = 0; b < 256; b++) {
        bool plain = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        char c[5] = "";
        c[utf8_put(c, plain ? b : 256 + other++)] = 0;
        buf_puts(&json, b ? "," : "");
        buf_json(&json, c);
        buf_printf(&json, ":%u", b);
    }
    for (int i = 0; i < n; i++)
        buf_printf(&json, ",\"%s\":%d", whole[i], 256 + i);
    buf_puts(&json, "},\"merges\":[");
    for (int i = 0; i < n; i++)
        buf_printf(&json, "%s\"%s\"", i ? "," : "", merge[i]);
    buf_puts(&json, "]}}");
    Tokenizer *t = tokenizer_parse("test", buf_str(&json), json.len, &err);
    if (!t)
        fail_msg("%s", err.text);
    buf_free(&json);
    return t;
}

static double value_of(const Player *p, const char *text)
{
    double x = 0;
    Err err = {{0}};
    if (!player_value(p, text, &x, &err))
        fail_msg("%s: %s", text, err.text);
    return x;
}

static void the_matrices_cut_as_the_tokeniser_does(void **state)
{
    (void)state;
    static const char *const MERGE[] = {"o w", "l ow", "e r"}, *const WHOLE[] = {"ow", "low", "er"},
                             *const WORD[] = {"slower", "lowest"};
    Tokenizer *t = table_of(MERGE, WHOLE, 3);
    LessonFile f;
    Lesson l;
    Player p;
    Err err = {{0}};
    assert_true(lesson_by_number(26, &f) && lesson_parse(&l, f.name, f.text, f.size, 0, &err) &&
                player_open(&p, &s, &l, &err) && player_enter(&p, 0, &err));
    for (int w = 0; w < 2; w++) {
        Tokens cut;
        char name[80];
        assert_true(tokenizer_encode(t, WORD[w], strlen(WORD[w]), false, true, &cut, &err));
        snprintf(name, sizeof name, "nonzero(cut:text3[x=%s])", WORD[w]);
        assert_int_equal((int)value_of(&p, name), (int)cut.n);
        for (size_t i = 0; i < cut.n; i++) {
            snprintf(name, sizeof name, "cut:text3[x=%s,p=%zu]", WORD[w], i);
            assert_int_equal((int)value_of(&p, name), cut.at[i].id);
        }
        for (size_t i = 0; i < cut.merges; i++) { /* the table of the lesson, row by row */
            snprintf(name, sizeof name, "learn:rule_new[r=%d]", cut.merge[i].rank);
            assert_int_equal((int)value_of(&p, name), cut.merge[i].whole);
        }
        tokens_free(&cut);
    }
    player_close(&p);
    tokenizer_free(t);
}

/* "Letters from 128 on are two bytes", and whole words know no other. */
static void what_the_text_says_of_letters_and_words_is_so(void **state)
{
    (void)state;
    Words w = {0};
    Err err = {{0}};
    assert_string_equal("\xC3\xA9", "é");
    assert_string_equal("\xC3\xBC", "ü");
    assert_int_equal(0xC3, 195);
    assert_int_equal(0xA9, 169);
    assert_int_equal(0xBC, 188);
    assert_false(words_parse(&w, lexicon_english(), "slower", false, &err));
    assert_non_null(strstr(err.text, "slower"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_matrices_cut_as_the_tokeniser_does, start, stop),
        cmocka_unit_test(what_the_text_says_of_letters_and_words_is_so),
    };
    unused();
    return cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
}
