/* The grammar: French that agrees, what is held out, minimal pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/models/lexicon.h"
#include "core/train/sentences.h"

static const Noun *noun_of(int french)
{
    for (int i = 0; i < NOUNS; i++)
        if (LEXICON_NOUNS[i].fr == french)
            return &LEXICON_NOUNS[i];
    return NULL;
}

static bool vowel_word(int french)
{
    const Noun *n = noun_of(french);
    if (n)
        return n->vowel;
    for (int i = 0; i < VERBS; i++)
        if (LEXICON_VERBS[i].present == french)
            return LEXICON_VERBS[i].vowel;
    return french == FR_A || french == FR_EST || french == FR_ETAIT || french == FR_IL || french == FR_ELLE;
}

static bool elided(int french)
{
    return strchr(lexicon_french()->word[french], '\'') != NULL;
}

/* Every word is in its vocabulary; what is elided stands before a vowel and what could be elided does not; articles
 * have their noun's gender. */
static void french_is_french(void **state)
{
    (void)state;
    for (int set = 0; set < SENTENCE_SETS; set++)
        for (uint64_t k = 0; k < 3000; k++) {
            ParallelSentence s;
            sentence_make((SentenceSet)set, 1, k, &s);
            assert_true(s.en_n >= 4 && s.en_n < SENTENCE_WORDS && s.fr_n >= 4 && s.fr_n < SENTENCE_WORDS);
            for (int i = 0; i < s.en_n; i++)
                assert_true(s.en[i] > EN_END && s.en[i] < EN_WORDS);
            for (int i = 0; i < s.fr_n; i++) {
                assert_true(s.fr[i] > FR_END && s.fr[i] < FR_WORDS);
                int next = i + 1 < s.fr_n ? s.fr[i + 1] : FR_PAS;
                if (elided(s.fr[i]))
                    assert_true(vowel_word(next));
                if (s.fr[i] == FR_LE || s.fr[i] == FR_LA || s.fr[i] == FR_DE || s.fr[i] == FR_NE || s.fr[i] == FR_QUE)
                    assert_false(vowel_word(next));
                const Noun *n = noun_of(next);
                if (n && (s.fr[i] == FR_LE || s.fr[i] == FR_UN))
                    assert_false(n->feminine);
                if (n && (s.fr[i] == FR_LA || s.fr[i] == FR_UNE))
                    assert_true(n->feminine);
            }
            if (s.about == ABOUT_NOTHING)
                continue;
            const Noun *n = NULL;
            for (int i = 0; i < NOUNS; i++)
                if (LEXICON_NOUNS[i].en == s.en[s.noun[s.about]])
                    n = &LEXICON_NOUNS[i];
            assert_non_null(n);
            int pronoun = n->kind != HUMAN ? EN_IT : n->feminine ? EN_SHE : EN_HE;
            assert_int_equal(s.en[s.pronoun], pronoun);
            assert_int_equal(s.fr[s.fr_pronoun], n->feminine ? FR_ELLE : FR_IL);
            int count;
            const Adjective *list = lexicon_predicates(n->kind, &count);
            bool said = false;
            for (int i = 0; i < count; i++)
                said = said || list[i].en == s.en[s.adjective];
            assert_true(said);
        }
}

/* Nothing of the pairs is learnt from: not the animal and the street with any reason. */
static void held_out_is_held_out(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 20000; k++) {
        ParallelSentence s;
        sentence_make(SENTENCES_TRAIN, 1, k, &s);
        bool animal = s.noun[0] && s.about != ABOUT_NOTHING && s.en[s.noun[0]] == EN_ANIMAL;
        assert_false(animal && s.en[s.noun[1]] == EN_STREET);
    }
    ParallelSentence one, same, other;
    sentence_make(SENTENCES_TRAIN, 1, 5, &one);
    sentence_make(SENTENCES_TRAIN, 1, 5, &same);
    sentence_make(SENTENCES_TRAIN, 2, 5, &other);
    assert_memory_equal(&one, &same, sizeof one);
    assert_memory_not_equal(one.en, other.en, sizeof one.en);
}

static void minimal_pairs(void **state)
{
    (void)state;
    int n = sentence_pairs();
    assert_true(n >= 400);
    ParallelSentence p[2];
    Buf text = {0};
    sentence_pair(0, p);
    words_text(lexicon_english(), p[0].en, p[0].en_n, &text);
    assert_string_equal(buf_str(&text), "the animal did not cross the street because it was too tired");
    buf_free(&text);
    words_text(lexicon_french(), p[1].fr, p[1].fr_n, &text);
    assert_string_equal(buf_str(&text), "l'animal n'a pas traversé la rue parce qu'elle était trop large");
    buf_free(&text);
    for (int i = 0; i < 100; i++) {
        sentence_pair(i * 4, p);
        assert_int_equal(p[0].en_n, p[1].en_n);
        int differ = 0;
        for (int k = 0; k < p[0].en_n; k++)
            differ += p[0].en[k] != p[1].en[k];
        assert_int_equal(differ, 1);
        assert_true(p[0].fr[p[0].fr_pronoun] != p[1].fr[p[1].fr_pronoun]);
    }
}

/* Texts from outside: every word known, or named with the nearest that is. */
static void texts_are_read(void **state)
{
    (void)state;
    Words w;
    Err err = {""};
    assert_true(words_parse(&w, lexicon_english(), "The animal, the street.", true, &err));
    assert_int_equal(w.n, 5);
    assert_int_equal(w.number[4], EN_END);
    assert_string_equal(w.label[2], "the#2");
    assert_string_equal(w.left_out, ",."); /* nothing is dropped in silence */
    words_free(&w);
    assert_true(words_parse(&w, lexicon_english(), "the animal .. ! .", true, &err));
    assert_string_equal(w.left_out, ".!");
    words_free(&w);
    assert_true(words_parse(&w, lexicon_french(),
                            "l\xe2\x80\x99"
                            "animal",
                            false, &err));
    assert_int_equal(w.n, 2);
    words_free(&w);
    assert_false(words_parse(&w, lexicon_english(), "the aminal", true, &err));
    assert_non_null(strstr(err.text, "'aminal'"));
    assert_non_null(strstr(err.text, "'animal'"));
    assert_false(words_parse(&w, lexicon_english(), "the dog's", true, &err));
    assert_non_null(strstr(err.text, "'dog' is"));
    static const char *const hostile[] = {"", "  ,. ", "<pad>", "</s> <s>", "\xff\xfe", "the \x01"};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        assert_false(words_parse(&w, lexicon_english(), hostile[i], true, &err));
    char *many = malloc(4 * 300 + 1);
    for (int i = 0; i < 300; i++)
        memcpy(many + i * 4, "the ", 5);
    assert_false(words_parse(&w, lexicon_english(), many, true, &err));
    memset(many, 'x', 1000);
    many[1000] = '\0';
    assert_false(words_parse(&w, lexicon_english(), many, true, &err));
    free(many);
}

/* A vocabulary that has stops, apostrophes and capitals as words: they are words of a text then. */
static void a_vocabulary_decides(void **state)
{
    (void)state;
    static const char *const own[] = {"<pad>",  ".",    "\xe2\x80\x99", "Ann", "ann", "l",
                                      "animal", "U.S.", "o'clock",      "?!",  "it's"};
    const Vocabulary v = {.word = own, .n = sizeof own / sizeof *own, .start = -1, .end = -1};
    static const struct {
        const char *text;
        int n, number[8];
    } cases[] = {
        {"Ann. ann", 3, {3, 1, 4}},
        {"ANN.", 2, {4, 1}},
        {"l\xe2\x80\x99"
         "animal.",
         4,
         {5, 2, 6, 1}},
        {"U.S. o'clock it\xe2\x80\x99s", 3, {7, 8, 10}},
        {"animal, ?! animal!", 3, {6, 9, 6}},
        {"...", 3, {1, 1, 1}},
    };
    Words w;
    Err err = {""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!words_parse(&w, &v, cases[i].text, false, &err))
            fail_msg("%s", err.text);
        assert_int_equal(w.n, cases[i].n);
        assert_string_equal(w.left_out, i == 4 ? ",!" : "");
        assert_memory_equal(w.number, cases[i].number, (size_t)w.n * sizeof(int));
        words_free(&w);
    }
    assert_false(words_parse(&w, &v, "<pad>", false, &err));
    assert_false(words_parse(&w, &v, "nobody.", false, &err));
    assert_non_null(strstr(err.text, "'nobody'"));
}

/* Written as a person writes: marks around words are passed over and noted, words joined by ' or - are several where
 * each is known, and what is unknown is named whole, all of it at once. */
static void text_as_people_write(void **state)
{
    (void)state;
    static const char *const own[] = {"<pad>", "the", "dog", "cat", "red", "blue", "l'", "'s", "is"};
    const Vocabulary v = {.word = own, .n = sizeof own / sizeof *own, .start = -1, .end = -1};
    static const struct {
        const char *text;
        int n, number[8];
        const char *left, *refused; /* refused: what the message names */
    } cases[] = {
        {"\"The dog\"", 2, {1, 2}, "\"", NULL},
        {"(the dog) [is] red", 4, {1, 2, 8, 4}, "()[]", NULL},
        {"“the dog” — ‘the cat’ – …", 4, {1, 2, 1, 3}, "“”—‘’–…", NULL},
        {"'the dog'", 2, {1, 2}, "'", NULL},
        {"the dog's cat", 4, {1, 2, 7, 3}, "", NULL},
        {"the dogs' cat", 0, {0}, "", "'dogs' is not a word"},
        {"red-blue dog", 3, {4, 5, 2}, "-", NULL},
        {"red- blue -dog", 3, {4, 5, 2}, "-", NULL},
        {"the dog--cat -- red", 4, {1, 2, 3, 4}, "-", NULL},
        {"l'cat, l’dog: the", 5, {6, 3, 6, 2, 1}, ",:", NULL},
        {"the red-eyed dog", 0, {0}, "", "'red-eyed' is none"},
        {"one «two» three's one", 0, {0}, "", "'one', 'two' and 'three's' are none"},
        {"a1 a2 a3 a4 a5 a6 a7", 0, {0}, "", "'a5', 'a6' and more are none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Words w;
        Err err = {""};
        bool ok = words_parse(&w, &v, cases[i].text, false, &err);
        if (ok != !cases[i].refused || (!ok && !strstr(err.text, cases[i].refused)))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (!ok)
            continue;
        assert_int_equal(w.n, cases[i].n);
        assert_memory_equal(w.number, cases[i].number, (size_t)w.n * sizeof(int));
        assert_string_equal(w.left_out, cases[i].left);
        words_free(&w);
    }
}

/* Words without names: seventy numbers are seventy words; too many are said to be. */
static void numbered_words(void **state)
{
    (void)state;
    const Vocabulary v = {.n = 9, .start = 1, .end = 2};
    char text[4 * 4200 + 1];
    Words w;
    Err err = {""};
    for (int n = 70; n <= 4200; n += 4130) {
        for (int i = 0; i < n; i++)
            memcpy(text + i * 3, i % 2 ? " w3" : "  4", 4);
        bool ok = words_parse(&w, &v, text, true, &err);
        assert_int_equal(ok, n == 70);
        if (ok)
            assert_int_equal(w.n, 70);
        else
            assert_non_null(strstr(err.text, "at most 4096 words"));
        if (ok)
            words_free(&w);
    }
    assert_false(words_parse(&w, &v, "3 9", true, &err));
    assert_non_null(strstr(err.text, "there is no word 9"));
    assert_false(words_parse(&w, &v, "3 w99999999999999999999 4", true, &err));
    assert_non_null(strstr(err.text, "there is no word 99999999999999999999:"));
    assert_false(words_parse(&w, &v, "-3", true, &err));
    assert_non_null(strstr(err.text, "there is no word -3:"));
    assert_false(words_parse(&w, &v, "3 four", true, &err));
    assert_non_null(strstr(err.text, "give numbers from 0 to 8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(french_is_french),     cmocka_unit_test(held_out_is_held_out),
        cmocka_unit_test(minimal_pairs),        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(a_vocabulary_decides), cmocka_unit_test(text_as_people_write),
        cmocka_unit_test(numbered_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
