/* The grammar read backwards: it takes what the generator makes, refuses what it can't make at the word where it can't,
 * and what it offers instead is of the grammar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/models/text_model.h"
#include "core/train/grammar.h"
#include "core/train/sentences.h"

static Model model;

static int start(void **state)
{
    (void)state;
    model = (Model){.source = *lexicon_english()};
    return 0;
}

static GrammarFit fit_of(const char *text, Words *w)
{
    Err err = {""};
    if (!words_parse(w, &model.source, text, true, &err))
        fail_msg("%s: %s", text, err.text);
    return grammar_fit(w->number, w->n - 1);
}

/* Every sentence of every set, and every beginning of one: the word that follows is one that may. */
static void what_is_made_is_read(void **state)
{
    (void)state;
    for (int set = 0; set < SENTENCE_SETS; set++)
        for (uint64_t i = 0; i < 4000; i++) {
            ParallelSentence s;
            sentence_make((SentenceSet)set, 10, i, &s);
            assert_true(grammar_fit(s.en, s.en_n).whole);
            for (int k = 0; k < s.en_n && i < 500; k++) {
                GrammarFit begins = grammar_fit(s.en, k);
                assert_int_equal(begins.begins, k);
                assert_true(begins.next[s.en[k]]);
            }
        }
    ParallelSentence pair[2];
    for (int i = 0; i < sentence_pairs(); i += 17) {
        sentence_pair(i, pair);
        assert_true(grammar_fit(pair[0].en, pair[0].en_n).whole && grammar_fit(pair[1].en, pair[1].en_n).whole);
    }
}

static void what_is_not_made(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int begins;
    } cases[] = {
        {"it is tired", 0},
        {"cat", 0},
        {"the cat", 2},            /* no end */
        {"the cat tired", 2},      /* no verb */
        {"the chair is tired", 3}, /* a chair never is */
        {"the cat is wide", 3},
        {"an cat is tired", 1},
        {"a animal is tired", 1},
        {"a old animal is tired", 1},
        {"the young chair is heavy", 2}, /* nothing but the living is young, */
        {"the red woman is tired", 2},   /* people have no colours */
        {"the red old cat is sad", 2},   /* and old stands before red */
        {"the cat crossed the apple", 4},
        {"the cat likes an apple", 3},   /* likes has the */
        {"the cat bought the apple", 2}, /* only people buy */
        {"the chair crossed the street", 2},
        {"the cat saw the cat", 4},
        {"the cat did cross the street", 3},
        {"the cat did not crossed the street", 4},
        {"the cat in the street saw the street", 7},
        {"the cat saw the car in the river", 7},             /* one is on a river */
        {"in the park the cat saw the car in the field", 8}, /* one place a sentence */
        {"the cat saw the dog because it was tired", 5},     /* which of the two? */
        {"the cat crossed the street in the park because it was wide", 8},
        {"the cat crossed the street because it is wide", 7}, /* both of the same tense */
        {"the cat saw the key because he was tired", 6},
        {"the girl saw the key because he was tired", 6},
        {"the girl saw the key because it was tired", 8},
        {"the girl saw the key because the cat was tired", 7},
        {"the girl saw the key because it was not heavy", 8},
        {"the cat is tired because it is sad", 4},
        {"the cat is very very tired", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Words w;
        GrammarFit fit = fit_of(cases[i].text, &w);
        Buf brief = {0}, said = {0};
        if (fit.whole || fit.begins != cases[i].begins)
            fail_msg("%s: %d words begin a sentence%s", cases[i].text, fit.begins,
                     fit.whole ? ", and all are one" : "");
        assert_true(grammar_outside(&model, w.number, w.n, true, &brief));
        assert_true(grammar_outside(&model, w.number, w.n, false, &said));
        if (fit.begins < w.n - 1) { /* the word is named */
            assert_non_null(strstr(buf_str(&brief), model.source.word[w.number[fit.begins]]));
            assert_non_null(strstr(buf_str(&said), model.source.word[w.number[fit.begins]]));
        }
        buf_free(&brief);
        buf_free(&said);
        words_free(&w);
    }
}

/* Sentences are put together of what may follow, word by word: none is a dead end. */
static void no_beginning_is_a_dead_end(void **state)
{
    (void)state;
    Rng r = rng_seed(3, 4);
    for (int i = 0; i < 3000; i++) {
        int en[SENTENCE_WORDS + 1], n = 0;
        for (;; n++) {
            GrammarFit fit = grammar_fit(en, n);
            int may[EN_WORDS];
            uint32_t count = 0;
            for (int w = 0; w < EN_WORDS; w++)
                if (fit.next[w])
                    may[count++] = w;
            assert_int_equal(fit.begins, n);
            assert_true(count > 0 || fit.whole);
            if (!count)
                break;
            assert_true(n < SENTENCE_WORDS);
            en[n] = may[rng_below(&r, count)];
        }
    }
}

static void what_is_near(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *near;
    } cases[] = {
        {"the cat sat on the mat", "the cat saw the hat"},
        {"the cat", "the cat is tired"},
        {"the girl is reading a book in the garden", "the girl finds a book in the garden"},
        {"The dog crosses the stret!", "the dog crosses the street"},
        {"dog crossed street", "the dog crossed the street"},
        {"the chat is tired > le chat", "the cat is tired"},
        {"the animal did not cross the street because it was tired",
         "the animal did not cross the street because it was tired"},
    };
    static const char *const any[] = {"i love you", "what is the meaning of life", "\xc3\xa9t\xc3\xa9 x", "qqqq zzzz",
                                      "hello world this is a test of a very long sentence that nobody would ever type"};
    Buf near = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_clear(&near);
        assert_true(grammar_nearest(cases[i].typed, &near));
        assert_string_equal(buf_str(&near), cases[i].near);
    }
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        Words w;
        buf_clear(&near);
        assert_true(grammar_nearest(any[i], &near));
        assert_true(fit_of(buf_str(&near), &w).whole);
        words_free(&w);
    }
    buf_clear(&near);
    assert_false(grammar_nearest("", &near));
    assert_false(grammar_nearest(" ,. 12 ", &near));
    for (int i = 0; i < 100; i++)
        buf_puts(&near, "the ");
    char *many = strdup(buf_str(&near));
    assert_false(grammar_nearest(many, &near));
    free(many);
    buf_free(&near);
}

/* Another model's sentences are nobody's business here. */
static void only_of_its_own_words(void **state)
{
    (void)state;
    static const char *const own[] = {"<pad>", "the", "cat"};
    Model other = {.source = {.word = own, .n = 3, .start = -1, .end = -1}};
    Buf out = {0};
    Err err = {"no"};
    assert_true(grammar_is_of(&model));
    assert_false(grammar_is_of(&other));
    assert_false(grammar_outside(&other, (int[]){2}, 1, true, &out));
    assert_false(grammar_suggest(&other, "the elephant", "open", &err));
    assert_string_equal(err.text, "no");
    assert_false(grammar_suggest(&model, "the elephant is tired", "open", &err));
    assert_non_null(strstr(err.text, "no; near it: `open \"the "));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_is_read),       cmocka_unit_test(what_is_not_made),
        cmocka_unit_test(no_beginning_is_a_dead_end), cmocka_unit_test(what_is_near),
        cmocka_unit_test(only_of_its_own_words),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
