/* Byte pairs learned from a text: which, in what order, and that the tokeniser that is written reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "core/io/tokenizer.h"

static Tokenizer *learn(const char *text, size_t n, int words, int *pieces)
{
    Err err = {""};
    Buf json = {0};
    *pieces = tokenizer_learn(text, n, words, &json, NULL, NULL, &err);
    assert_true(*pieces > 0);
    Tokenizer *t = tokenizer_parse("learned", buf_str(&json), json.len, &err);
    assert_non_null(t);
    assert_int_equal(tokenizer_count(t), *pieces);
    buf_free(&json);
    return t;
}

/* The words of Sennrich et al. 2016, section 3.2 (low 5, lower 2, newest 6, widest 3), each behind a blank. By hand:
 * e s and s t come nine times, of which e has the lower number; then es t. Blank l, l o and o w come seven times; when
 * blank l is one, what it makes with o has the higher number, so o w is next. Of those that come six times blank n is
 * the lowest. */
static void merges_by_hand(void **state)
{
    (void)state;
    Buf text = {0};
    static const struct {
        const char *word;
        int times;
    } words[] = {{" low", 5}, {" lower", 2}, {" newest", 6}, {" widest", 3}};
    for (size_t i = 0; i < 4; i++)
        for (int k = 0; k < words[i].times; k++)
            buf_puts(&text, words[i].word);
    static const char *const want[] = {"es", "est", "\xc4\xa0l", "ow", "\xc4\xa0low", "\xc4\xa0n"};
    int pieces;
    Tokenizer *t = learn(buf_str(&text), text.len, LEARN_BYTES + 6, &pieces);
    assert_int_equal(pieces, LEARN_BYTES + 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(tokenizer_piece(t, LEARN_BYTES + i), want[i]);
    tokenizer_free(t);
    buf_free(&text);
}

/* Any bytes come back, and no more pieces are learned than pairs come twice. */
static void any_text_comes_back(void **state)
{
    (void)state;
    static const char text[] = "Ein Café, zwei Cafés; 日本語 🙂\n\tif (x == 1) { return 1; }\r\n";
    int pieces;
    Err err = {""};
    for (int words = LEARN_BYTES; words <= LEARN_MOST; words += LEARN_MOST - LEARN_BYTES) {
        Tokenizer *t = learn(text, sizeof text - 1, words, &pieces);
        Tokens k;
        Buf back = {0};
        assert_true(words == LEARN_BYTES ? pieces == LEARN_BYTES : pieces > LEARN_BYTES && pieces < LEARN_BYTES + 40);
        assert_true(tokenizer_encode(t, text, sizeof text - 1, true, false, &k, &err));
        assert_true(words == LEARN_BYTES ? k.n == sizeof text - 1 : k.n < sizeof text - 1);
        int *id = calloc(k.n, sizeof *id);
        assert_non_null(id);
        for (size_t i = 0; i < k.n; i++)
            id[i] = k.at[i].id;
        tokenizer_decode(t, id, k.n, true, &back);
        assert_string_equal(buf_str(&back), text);
        free(id);
        buf_free(&back);
        tokens_free(&k);
        tokenizer_free(t);
    }
}

static bool stop(void *context, size_t done, size_t total)
{
    (void)done;
    (void)total;
    return ++*(int *)context < 3;
}

static void it_can_be_interrupted(void **state)
{
    (void)state;
    Err err = {""};
    Buf json = {0};
    int asked = 0;
    assert_int_equal(tokenizer_learn("aa aa aa ab ab abc abc", 22, LEARN_MOST, &json, stop, &asked, &err), 0);
    assert_int_equal(asked, 3);
    assert_true(*err.text && json.len == 0);
    buf_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merges_by_hand), cmocka_unit_test(any_text_comes_back),
                                       cmocka_unit_test(it_can_be_interrupted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
