/* The versions of Unicode that Hugging Face's tokenizers have in their libraries, each step its own: characters on
 * which the steps differ by version, with what tokenizers 0.23.2 makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/utf8.h"
#include "core/io/tokenizer_parts.h"

/* What a normaliser makes of a text, or the pieces that a pre-tokeniser cuts of it, with | between them. */
static void run(const char *step, const char *text, Buf *got)
{
    Err err = {""};
    Json *j = json_parse("step", step, strlen(step), &err);
    Normal *normal = NULL;
    Split *split = NULL;
    size_t normals = 0, splits = 0;
    Working w = {.from = NULL};
    Pieces pieces = {0};
    for (size_t i = 0; i < strlen(text); i++)
        working_add(&w, text + i, 1, i);
    working_end(&w, strlen(text));
    if (normal_read(j, "step", &normal, &normals, &err)) {
        assert_true(normal_run(normal, normals, &w, &err));
        buf_add(got, w.text.data, w.text.len);
    } else if (split_read(j, "step", &split, &splits, &err)) {
        assert_true(split_run(split, splits, true, &w, &pieces, &err));
        for (size_t i = 0; i < pieces.n; i++)
            buf_printf(got, "%s%.*s", i ? "|" : "", (int)(pieces.at[i].to - pieces.at[i].from),
                       w.text.data + pieces.at[i].from);
    } else
        fail_msg("%s", err.text);
    free(pieces.at);
    working_free(&w);
    normal_free(normal, normals);
    split_free(split, splits);
    json_free(j);
}

static void each_step_has_its_version(void **state)
{
    (void)state;
    static const struct {
        const char *step, *text, *want;
    } cases[] = {
        {"{\"type\":\"Punctuation\"}",
         "a\xe2\xb9\x8f"
         "b\xe1\x99\xad"
         "c\xf0\x91\x87\x89"
         "d",
         "a\xe2\xb9\x8f"
         "b|\xe1\x99\xad|c|\xf0\x91\x87\x89|d"},
        {"{\"type\":\"Punctuation\",\"behavior\":\"Removed\"}", "a,.b", "a|b"},
        {"{\"type\":\"Punctuation\",\"behavior\":\"MergedWithPrevious\"}", "a,.b", "a,|.|b"},
        {"{\"type\":\"Punctuation\",\"behavior\":\"MergedWithNext\"}", "a,.b", "a|,|.b"},
        {"{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}", "a,.b", "a|,.|b"},
        {"{\"type\":\"BertNormalizer\",\"lowercase\":false,\"strip_accents\":false,\"clean_text\":true,\"handle_"
         "chinese_chars\":false}",
         "a\xe0\xa3\xa2\xf0\x91\x83\x8d\xd8\x9c\xee\x80\x80"
         "b",
         "a\xe0\xa3\xa2\xf0\x91\x83\x8d"
         "b"},
        {"{\"type\":\"BertNormalizer\",\"lowercase\":false,\"strip_accents\":true,\"clean_text\":false,\"handle_"
         "chinese_chars\":false}",
         "a\xcc\x81\xe0\xa3\x94\xe1\xa2\x85\xea\xa6\xbd\xe1\x9c\xb4\xf0\x91\x9c\x9e"
         "b",
         "a\xe0\xa3\x94\xe1\xa2\x85\xea\xa6\xbd"
         "b"},
        {"{\"type\":\"StripAccents\"}",
         "a\xe0\xa3\x94\xe0\xa3\x93\xe1\xb3\xb2\xf0\x91\x87\x89\xe0\xa2\x97"
         "b",
         "a\xe0\xa3\x93\xf0\x91\x87\x89\xe0\xa2\x97"
         "b"},
        {"{\"type\":\"NFC\"}", "\xf0\x91\xa4\xb5\xf0\x91\xa4\xb0", "\xf0\x91\xa4\xb5\xf0\x91\xa4\xb0"},
        {"{\"type\":\"NFD\"}", "\xf0\x91\xa4\xb8", "\xf0\x91\xa4\xb8"},
        {"{\"type\":\"NFKC\"}", "\xe3\x8b\xbe\xe3\x8b\xbf\xf0\x9f\xaf\xb0\xea\x9f\xb2",
         "\xe3\x83\xb2\xe3\x8b\xbf\xf0\x9f\xaf\xb0\xea\x9f\xb2"},
        {"{\"type\":\"NFD\"}", "e\xcc\x81\xe0\xa3\x93\xcc\xa3", "e\xcc\x81\xe0\xa3\x93\xcc\xa3"},
        {"{\"type\":\"Lowercase\"}",
         "\xea\x9f\x8b\xea\x9f\x8c\xea\x9f\x9c\xe1\xb2\x89\xf0\x90\xb5\x90\xf0\x90\xb5\xa5\xf0\x96\xba\xa0\xf0\x96\xba"
         "\xb8\xea\x9f\x8d",
         "\xc9\xa4\xea\x9f\x8d\xc6\x9b\xe1\xb2\x8a\xf0\x90\xb5\xb0\xf0\x90\xb6\x85\xf0\x96\xba\xbb\xf0\x96\xbb\x93\xea"
         "\x9f\x8d"},
        {"{\"type\":\"Nmt\"}",
         "a\x01\x09"
         "b\xe2\x80\x8b"
         "c\xc2\x9f",
         "a b c"},
        {"{\"type\":\"Digits\",\"individual_digits\":true}",
         "a\xf0\x90\xb5\x80\xf0\x91\xb7\xa0"
         "b",
         "a|\xf0\x90\xb5\x80|\xf0\x91\xb7\xa0|b"},
        {"{\"type\":\"Whitespace\"}",
         "a\xe1\xb2\x89\xea\x9f\x8e"
         "b\xf0\x9f\x84\xb0\xe2\x80\x94\xe2\x80\x8d",
         "a\xe1\xb2\x89|\xea\x9f\x8e|b\xf0\x9f\x84\xb0|\xe2\x80\x94|\xe2\x80\x8d"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{L}+\"},\"behavior\":\"Isolated\"}",
         "ab\xe1\xb2\x89\xf0\xae\xaf\xb0\xea\x9f\x8e\xf0\x96\xba\xa0"
         "c",
         "ab\xe1\xb2\x89\xf0\xae\xaf\xb0|\xea\x9f\x8e\xf0\x96\xba\xa0|c"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{Han}+\"},\"behavior\":\"Isolated\"}",
         "\xe4\xb8\x80\xf0\xae\xaf\xb0\xe3\x80\x81"
         "a",
         "\xe4\xb8\x80\xf0\xae\xaf\xb0|\xe3\x80\x81"
         "a"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[^\\\\s\\\\p{L}\\\\p{N}]+\"},\"behavior\":\"Isolated\"}",
         "a\xf0\x9f\xab\xa9\xf0\x9f\xab\xa8\xf0\x9c\xb0\x80\xf0\x96\x84\x9e"
         "b",
         "a|\xf0\x9f\xab\xa9\xf0\x9f\xab\xa8\xf0\x9c\xb0\x80\xf0\x96\x84\x9e|b"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{Mn}+\"},\"behavior\":\"Isolated\"}",
         "a\xe0\xa2\x97\xf0\x91\x9c\x9e\xe1\xab\x8f"
         "b",
         "a|\xe0\xa2\x97|\xf0\x91\x9c\x9e\xe1\xab\x8f"
         "b"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\W+\"},\"behavior\":\"Isolated\"}",
         "a\xc2\xb2\xc2\xbd\xc2\xb7"
         "b",
         "a\xc2\xb2\xc2\xbd|\xc2\xb7|b"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[^\\\\w]+\"},\"behavior\":\"Isolated\"}",
         "a\xc2\xb2"
         "b\xc2\xb7"
         "c",
         "a|\xc2\xb2|b|\xc2\xb7|c"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\h+\"},\"behavior\":\"Isolated\"}", "xfFz", "x|fF|z"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[[:punct:]]+\"},\"behavior\":\"Isolated\"}", "a\xe2\x98\x85$b",
         "a|\xe2\x98\x85$|b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf got = {0};
        run(cases[i].step, cases[i].text, &got);
        if (strcmp(buf_str(&got), cases[i].want) != 0)
            fail_msg("%s of \"%s\": \"%s\", not \"%s\"", cases[i].step, cases[i].text, buf_str(&got), cases[i].want);
        buf_free(&got);
    }
}

/* A text with stand-ins is as long, byte by byte, and every character of them has its category. */
static void stand_ins_keep_length_and_category(void **state)
{
    (void)state;
    unsigned stood = 0;
    for (uint32_t c = 0x80; c < 0x110000; c++)
        for (int t = TABLES_PATTERN; t <= TABLES_RUST && !(c >= 0xd800 && c < 0xe000); t++) {
            char bytes[4];
            const uint32_t old = char_stand_in(c, (Tables)t);
            if (old == c)
                continue;
            stood++;
            if (char_kind(old, TABLES_BERT) != char_kind(c, (Tables)t) &&
                char_kind(old, TABLES_RUST) != char_kind(c, (Tables)t))
                fail_msg("U+%04X stands for U+%04X, of another category", old, c);
            assert_int_equal(utf8_put(bytes, old), utf8_put(bytes, c));
        }
    assert_int_equal(stood, 2 * 15105); /* of Unicode 15 to 17, and U+1171E */
    Buf copy = {0};
    const char *plain = "a\xe4\xb8\x80";
    assert_ptr_equal(text_stand_in(plain, strlen(plain), &copy), plain);
    assert_string_equal(text_stand_in("a\xe1\xb2\x89z", 5, &copy), "a\xe1\x82\xa0z");
    buf_free(&copy);
}

static void added_tokens_among_words(void **state)
{
    (void)state;
    static const char file[] =
        "{\"added_tokens\":[{\"id\":2,\"content\":\"new\",\"single_word\":true,\"special\":true,\"normalized\":false},{"
        "\"id\":3,\"content\":\"<m>\",\"lstrip\":true,\"rstrip\":true,\"special\":true,\"normalized\":false},{\"id\":4,"
        "\"content\":\"ab\",\"special\":true,\"normalized\":false},{\"id\":5,\"content\":\"abab\",\"single_word\":true,"
        "\"special\":true,\"normalized\":false},{\"id\":6,\"content\":\" "
        "x\",\"special\":true,\"normalized\":false}],\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":{"
        "\"type\":\"WordLevel\",\"vocab\":{\"?\":0,\"a\":1,\"new\":2,\"<m>\":3,\"ab\":4,\"abab\":5,\" "
        "x\":6},\"unk_token\":\"?\"}}";
    static const struct {
        const char *text, *ids;
    } cases[] = {
        {"new", "2"},
        {"\xc3\xa9new", "0"},
        {"\xe2\x80\x94new\xe2\x80\x94", "0 2 0"},
        {"new\xcc\x81", "0"},
        {"\xe1\xb2\x89new", "0"},
        {"\xea\x9f\x8enew", "0 2"},
        {"new_", "0"},
        {"ababa", "0"},
        {"abab", "5"},
        {"abab a", "5 1"},
        {"a \xc2\xa0<m>\xe2\x80\x83 a", "1 3 1"},
        {"a <m> x a", "1 3 6 1"},
        {"<m>  <m>", "3 3"},
        {"newnew new", "0 2"},
        {"\xf0\x9f\x84\xb0new", "0"},
    };
    Err err = {""};
    Tokenizer *t = tokenizer_parse("added", file, strlen(file), &err);
    if (!t)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Tokens k;
        Buf got = {0};
        assert_true(tokenizer_encode(t, cases[i].text, strlen(cases[i].text), false, false, &k, &err));
        for (size_t j = 0; j < k.n; j++)
            buf_printf(&got, "%s%d", j ? " " : "", k.at[j].id);
        if (strcmp(buf_str(&got), cases[i].ids) != 0)
            fail_msg("\"%s\": %s, not %s", cases[i].text, buf_str(&got), cases[i].ids);
        buf_free(&got);
        tokens_free(&k);
    }
    tokenizer_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_step_has_its_version),
                                       cmocka_unit_test(stand_ins_keep_length_and_category),
                                       cmocka_unit_test(added_tokens_among_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
