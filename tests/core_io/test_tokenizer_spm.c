/* SentencePiece models, made here byte by byte: Unigram and BPE, Marian's numbers from another file, and damaged ones.
 * Against the library itself (0.1.97, Unigram and BPE of 1,500 pieces trained on 190,000 characters, with and without
 * byte fallback) all lines but those that spell a control piece out have the same numbers. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/io/tokenizer.h"

static void put_number(Buf *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_putc(b, (char)(unsigned char)(n | 0x80));
    buf_putc(b, (char)(unsigned char)n);
}

static void put_field(Buf *b, int number, const char *bytes, size_t n)
{
    put_number(b, (uint64_t)number << 3 | 2);
    put_number(b, n);
    buf_add(b, bytes, n);
}

static void put_whole(Buf *b, int number, uint64_t n)
{
    put_number(b, (uint64_t)number << 3);
    put_number(b, n);
}

static void put_piece(Buf *b, const char *text, float score, int kind)
{
    Buf p = {0};
    put_field(&p, 1, text, strlen(text));
    put_number(&p, 2 << 3 | 5);
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    for (int i = 0; i < 4; i++)
        buf_putc(&p, (char)(unsigned char)(bits >> 8 * i));
    if (kind != 1)
        put_whole(&p, 3, (uint64_t)kind);
    put_field(b, 1, p.data, p.len);
    buf_free(&p);
}

enum { UNIGRAM = 1, BPE = 2 };

/* 0 <unk>, 1 <s>, 2 </s>, then pieces; with bytes <0x00> … behind them. */
static void put_model(Buf *b, int type, bool bytes, bool trims)
{
    static const struct {
        const char *text;
        float score;
    } PIECES[] = {{"▁", -2}, {"a", -3}, {"b", -3.5f}, {"▁a", -1}, {"ab", -2.5f}, {"▁ab", -4.4f}, {"▁▁", -3}};
    Buf trainer = {0}, normalizer = {0};
    put_piece(b, "<unk>", 0, 2);
    put_piece(b, "<s>", 0, 3);
    put_piece(b, "</s>", 0, 3);
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++)
        put_piece(b, PIECES[i].text, PIECES[i].score, 1);
    for (int i = 0; bytes && i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        put_piece(b, name, 0, 6);
    }
    put_whole(&trainer, 3, (uint64_t)type);
    put_whole(&trainer, 35, bytes);
    put_field(b, 2, trainer.data, trainer.len);
    put_field(&normalizer, 1, "identity", 8);
    put_whole(&normalizer, 4, trims);
    put_field(b, 3, normalizer.data, normalizer.len);
    buf_free(&trainer);
    buf_free(&normalizer);
}

static void is_cut(const Tokenizer *t, const char *text, size_t n, const int *want)
{
    Tokens k;
    Err err = {""};
    if (!tokenizer_encode(t, text, strlen(text), true, false, &k, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < k.n && i < n; i++)
        if (k.at[i].id != want[i])
            fail_msg("'%s': token %zu is %d, not %d", text, i, k.at[i].id, want[i]);
    assert_int_equal(k.n, n);
    tokens_free(&k);
}
#define IS_CUT(t, text, ...) is_cut(t, text, sizeof(int[]){__VA_ARGS__} / sizeof(int), (const int[]){__VA_ARGS__})

static Tokenizer *opened(int type, bool bytes, bool trims)
{
    Buf b = {0};
    Err err = {""};
    put_model(&b, type, bytes, trims);
    Tokenizer *t = tokenizer_parse_spm("model", b.data, b.len, &err);
    if (!t)
        fail_msg("%s", err.text);
    buf_free(&b);
    return t;
}

static void unigram(void **state)
{
    (void)state;
    Tokenizer *t = opened(UNIGRAM, false, true);
    Buf out = {0};
    assert_int_equal(tokenizer_count(t), 12); /* with the two <extra_id_N> */
    assert_string_equal(tokenizer_piece(t, 11), "<extra_id_0>");
    assert_true(fabs(tokenizer_score(t, 8) - (double)-4.4f) < 1e-15); /* all of it: sums decide between two ways */
    IS_CUT(t, "a", 6, 2);
    IS_CUT(t, "ab", 8, 2); /* −4.4; in two it would be −4.5 */
    IS_CUT(t, "  a   aab ", 6, 6, 7, 2);
    IS_CUT(t, "b", 3, 5, 2);
    IS_CUT(t, "azzb", 6, 0, 5, 2); /* neighbours that are unknown are one */
    IS_CUT(t, "a<extra_id_1>", 6, 10, 2);
    IS_CUT(t, "", 2);
    tokenizer_decode(t, (const int[]){6, 6, 7}, 3, false, &out);
    assert_string_equal(buf_str(&out), "a aab");
    buf_free(&out);
    tokenizer_free(t);
    t = opened(UNIGRAM, true, false);
    IS_CUT(t, " a", 3, 6, 2); /* nothing is taken off, and a blank stands in front: ▁ ▁a is −3, ▁▁ a is −6 */
    IS_CUT(t, "é", 3, 10 + 0xc3, 10 + 0xa9, 2);
    tokenizer_free(t);
}

static void bpe(void **state)
{
    (void)state;
    Tokenizer *t = opened(BPE, true, true);
    IS_CUT(t, "ab", 8, 2); /* ▁a is made first, then ▁a b */
    IS_CUT(t, "aab", 6, 7, 2);
    IS_CUT(t, "aé", 6, 10 + 0xc3, 10 + 0xa9, 2);
    tokenizer_free(t);
}

/* The numbers are vocab.json's; a piece that it has not is unknown, one that the model has not is never cut. */
static void numbers_of_another_file(void **state)
{
    (void)state;
    static const char WORDS[] = "{\"</s>\":0,\"<unk>\":1,\"▁a\":2,\"b\":3,\"other\":4,\">>fr<<\":5,\"<pad>\":6}";
    char dir[] = "/tmp/vitrine-spm-XXXXXX", path[64];
    Buf b = {0};
    Err err = {""};
    assert_non_null(mkdtemp(dir));
    put_model(&b, UNIGRAM, false, true);
    snprintf(path, sizeof path, "%s/source.spm", dir);
    assert_true(file_write(path, b.data, b.len, &err));
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    assert_true(file_write(path, WORDS, strlen(WORDS), &err));
    assert_true(tokenizer_is(dir));
    Tokenizer *t = tokenizer_open(dir, &err);
    if (!t)
        fail_msg("%s", err.text);
    IS_CUT(t, "a", 2, 0);
    IS_CUT(t, "ab", 1, 0);
    IS_CUT(t, "a b", 2, 1, 3, 0);
    IS_CUT(t, ">>fr<< a", 5, 2, 0);
    IS_CUT(t, "other", 1, 1, 0);
    assert_string_equal(tokenizer_piece(t, 4), "other");
    tokenizer_free(t);
    assert_true(file_write(path, "{\"</s>\":0,\"a\":0}", 16, &err));
    assert_null(tokenizer_open(dir, &err));
    assert_non_null(strstr(err.text, "not those of one model"));
    unlink(path);
    snprintf(path, sizeof path, "%s/source.spm", dir);
    unlink(path);
    rmdir(dir);
    buf_free(&b);
}

static bool tried(const char *bytes, size_t n)
{
    Err err = {""};
    Tokens k;
    Tokenizer *t = tokenizer_parse_spm("model", bytes, n, &err);
    if (!t)
        assert_true(*err.text != '\0');
    else if (tokenizer_encode(t, "a <s>ab\xff é", 11, true, true, &k, &err))
        tokens_free(&k);
    tokenizer_free(t);
    return t != NULL;
}

/* Cut anywhere, and with any byte changed: an error, or a tokeniser that works. */
static void damaged(void **state)
{
    (void)state;
    static const unsigned char CHANGES[] = {1, 0x80, 0xff};
    Buf b = {0};
    int opens = 0;
    for (int type = UNIGRAM; type <= BPE; type++) {
        buf_clear(&b);
        put_model(&b, type, false, true);
        for (size_t n = 0; n < b.len; n++)
            opens += tried(b.data, n);
        for (size_t i = 0; i < b.len; i++)
            for (size_t k = 0; k < sizeof CHANGES; k++) {
                b.data[i] = (char)(unsigned char)((unsigned char)b.data[i] ^ CHANGES[k]);
                opens += tried(b.data, b.len);
                b.data[i] = (char)(unsigned char)((unsigned char)b.data[i] ^ CHANGES[k]);
            }
    }
    assert_true(opens > 0); /* a score may be another */
    static const char HUGE_LENGTH[] = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert_false(tried(HUGE_LENGTH, sizeof HUGE_LENGTH - 1));
    assert_false(tried("", 0));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unigram), cmocka_unit_test(bpe),
                                       cmocka_unit_test(numbers_of_another_file), cmocka_unit_test(damaged)};
    return cmocka_run_group_tests_name("tokenizer spm", tests, NULL, NULL);
}
