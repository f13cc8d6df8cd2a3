/* Tokenisers: numbers known by hand or by another route, and files that want harm. */
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

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "core/io/tokenizer.h"

static Tokenizer *parsed(const char *json)
{
    Err err = {""};
    Tokenizer *t = tokenizer_parse("test", json, strlen(json), &err);
    if (!t)
        fail_msg("%s", err.text);
    return t;
}

static void refused(const char *json, const char *because)
{
    Err err = {""};
    Tokenizer *t = tokenizer_parse("test", json, strlen(json), &err);
    if (t || !strstr(err.text, because))
        fail_msg("%s: %s, not \"%s\"", json, t ? "opened" : err.text, because);
}

static void expect(const Tokenizer *t, const char *text, bool with_template, const char *ids)
{
    Tokens k;
    Err err = {""};
    Buf got = {0};
    if (!tokenizer_encode(t, text, strlen(text), with_template, false, &k, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < k.n; i++)
        buf_printf(&got, "%s%d", i ? " " : "", k.at[i].id);
    if (strcmp(buf_str(&got), ids) != 0)
        fail_msg("\"%s\": %s, not %s", text, buf_str(&got), ids);
    buf_free(&got);
    tokens_free(&k);
}

static void expect_back(const Tokenizer *t, const char *text)
{
    Tokens k;
    Err err = {""};
    Buf back = {0};
    assert_true(tokenizer_encode(t, text, strlen(text), true, false, &k, &err));
    int *id = xmalloc((k.n + 1) * sizeof *id);
    for (size_t i = 0; i < k.n; i++)
        id[i] = k.at[i].id;
    tokenizer_decode(t, id, k.n, false, &back);
    assert_string_equal(buf_str(&back), text);
    free(id);
    buf_free(&back);
    tokens_free(&k);
}

static const char *new_folder(char path[64])
{
    strcpy(path, "/tmp/vitrine-tokens-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[128];
    Err err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(file_write(path, text, strlen(text), &err));
}

static void take_away(const char *folder)
{
    static const char *const names[] = {"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt"};
    char path[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* All 256 bytes as GPT-2 writes them, byte b number b: printable ones are themselves, the others from U+0100 on. */
static void put_bytes(Buf *out)
{
    char c[5] = "";
    unsigned other = 0;
    for (unsigned b = 0; b < 256; b++) {
        bool plain = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        c[utf8_put(c, plain ? b : 256 + other++)] = '\0';
        buf_puts(out, b ? "," : "");
        buf_json(out, c);
        buf_printf(out, ":%u", b);
    }
}

/* The example of Gage 1994, as minbpe has it: three merges of aaabdaaabac. */
static void gpt2_files_and_the_order_of_merges(void **state)
{
    (void)state;
    char folder[64];
    Buf vocabulary = {0};
    Err err = {""};
    Tokens k;
    buf_puts(&vocabulary, "{");
    put_bytes(&vocabulary);
    buf_puts(&vocabulary, ",\"aa\":256,\"aaa\":257,\"aaab\":258}");
    put(new_folder(folder), "vocab.json", buf_str(&vocabulary));
    put(folder, "merges.txt", "#version: 0.2\na a\naa a\naaa b\n");
    assert_true(tokenizer_is(folder));
    Tokenizer *t = tokenizer_open(folder, &err);
    if (!t)
        fail_msg("%s", err.text);
    assert_string_equal(tokenizer_kind(t), "byte-level BPE");
    expect(t, "aaabdaaabac", true, "258 100 258 97 99");
    expect(t, "", true, "");
    expect_back(t, "aaabdaaabac");
    expect_back(t, "a \xc3\xa9\n\t \xf0\x9f\x98\x80 don't  x");
    assert_true(tokenizer_encode(t, "xaaab", 5, true, true, &k, &err));
    static const TokenMerge want[] = {{97, 97, 256, 0, 1, 3, 2},
                                      {256, 97, 257, 1, 1, 4, 3},
                                      {257, 98, 258, 2, 1, 5, 4}};
    assert_int_equal(k.merges, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(k.merge[i].left == want[i].left && k.merge[i].right == want[i].right &&
                    k.merge[i].whole == want[i].whole && k.merge[i].rank == want[i].rank &&
                    k.merge[i].from == want[i].from && k.merge[i].to == want[i].to &&
                    k.merge[i].between == want[i].between);
    /* one part, as it stands, of two tokens: their ends in it */
    assert_true(k.parts == 1 && k.part[0].tokens == 2 && k.part[0].merges == 3 && !k.part[0].added);
    assert_string_equal(buf_str(&k.normal), "xaaab");
    assert_string_equal(buf_str(&k.cut), "xaaab");
    assert_true(k.at[0].end == 1 && k.at[1].end == 5);
    tokens_free(&k);
    tokenizer_free(t);
    put(folder, "merges.txt", "a a\nzz q\n");
    assert_null(tokenizer_open(folder, &err));
    assert_non_null(strstr(err.text, "merge 1"));
    take_away(folder);
    buf_free(&vocabulary);
    assert_null(tokenizer_open("/nowhere", &err));
    assert_non_null(strstr(err.text, "/nowhere: there is no such file"));
    assert_null(tokenizer_open(new_folder(folder), &err));
    assert_non_null(strstr(err.text, "there is no tokenizer.json"));
    take_away(folder);
}

#define VOCAB_LLAMA                                                                                                    \
    "{\"<unk>\":0,\"<s>\":1,\"</"                                                                                      \
    "s>\":2,\"<0xC3>\":3,\"<0xA9>\":4,\"▁\":5,\"a\":6,\"b\":7,\"▁a\":8,\"ab\":9,\"▁ab\":10,"                     \
    "\"<0xE2>\":11}"

static void bytes_where_a_character_is_unknown(void **state)
{
    (void)state;
    Tokenizer *t = parsed(
        "{\"added_tokens\":[{\"id\":0,\"content\":\"<unk>\",\"special\":true},{\"id\":1,\"content\":\"<s>\","
        "\"special\":"
        "true},{\"id\":2,\"content\":\"</"
        "s>\",\"special\":true}],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{"
        "\"type\":\"Prepend\",\"prepend\":\"▁\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" "
        "\"},\"content\":\"▁\"}]},"
        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},{"
        "\"Sequence\":"
        "{\"id\":\"A\"}}]},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\"},{\"type\":"
        "\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\"}]},\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>"
        "\","
        "\"fuse_unk\":true,\"byte_fallback\":true,\"vocab\":" VOCAB_LLAMA
        ",\"merges\":[\"▁ a\",[\"a\",\"b\"],\"▁a b\"]}}");
    expect(t, "ab", true, "1 10");
    expect(t, "ab b", false, "10 5 7");
    expect(t, "a\xc3\xa9", false, "8 3 4");       /* é by its two bytes */
    expect(t, "a\xe2\x82\xac!b", false, "8 0 7"); /* of € one byte is missing: unknown, and together with ! */
    expect(t, "a</s>b", true, "1 8 2 5 7");
    expect_back(t, "ab b\xc3\xa9");
    assert_true(tokenizer_is_special(t, 1) && !tokenizer_is_special(t, 8) && !tokenizer_is_special(t, 999));
    assert_int_equal(tokenizer_find(t, "▁ab"), 10);
    assert_null(tokenizer_piece(t, 12));
    tokenizer_free(t);
}

#define VOCAB_BERT                                                                                                     \
    "\"vocab\":{\"[UNK]\":0,\"[CLS]\":1,\"[SEP]\":2,\"un\":3,\"##aff\":4,\"##able\":5,\"aff\":6,\"!\":7,\"世\":8,"    \
    "\"cafe\":9,\"##s\":10}"

static void longest_pieces_first(void **state)
{
    (void)state;
    Tokenizer *t = parsed(
        "{\"added_tokens\":[{\"id\":1,\"content\":\"[CLS]\",\"special\":true},{\"id\":2,\"content\":"
        "\"[SEP]\",\"special\":true}],\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{"
        "\"type\":\"BertPreTokenizer\"},\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":["
        "\"[CLS]\",1],\"sep\":[\"[SEP]\",2]},\"decoder\":{\"type\":\"WordPiece\"},\"model\":{\"type\":"
        "\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
        "\"max_input_chars_per_word\":12," VOCAB_BERT "}}");
    expect(t, "UnaffABLE!", true, "1 3 4 5 7 2");
    expect(t, "unaffabled", false, "0");            /* a part is unknown: so is the word */
    expect(t, "unaffaffaffable aff", false, "0 6"); /* longer than 12 characters */
    expect(t, "Caf\xc3\xa9s aff\xe4\xb8\x96\tun", false, "9 10 6 8 3");
    expect(t, "aff[SEP]un", false, "6 2 3");
    tokenizer_free(t);
    char folder[64];
    Err err = {""};
    put(new_folder(folder), "vocab.txt", "[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\naff\n!\n");
    t = tokenizer_open(folder, &err);
    if (!t)
        fail_msg("%s", err.text);
    expect(t, "UnaffABLE!", true, "1 3 4 5 7 2");
    tokenizer_free(t);
    put(folder, "vocab.txt", "[UNK]\n[CLS]\n[SEP]\nun\n##aff\nun\naff\n!\n");
    assert_null(tokenizer_open(folder, &err));
    if (!strstr(err.text, "vocab.txt: line 6, column ")) /* the second "un" */
        fail_msg("%s", err.text);
    take_away(folder);
}

/* ---- unigram: the best of all ways to cut, found by trying all ---- */

enum { LETTERS = 3, LONG = 9 };
static const char *const PIECES[] = {"<unk>", "a", "b", "c", "ab", "bc", "abc", "aa", "cab", "bb"};
static const double SCORES[] = {0, -3.1, -3.7, -2.9, -4.3, -4.05, -6.3, -5.2, -5.9, -8.13};
enum { PIECE_COUNT = sizeof SCORES / sizeof *SCORES };

static double best_of(const char *s)
{
    double best = *s ? -HUGE_VAL : 0;
    for (int i = 1; i < PIECE_COUNT; i++) {
        size_t n = strlen(PIECES[i]);
        if (strncmp(s, PIECES[i], n) == 0)
            best = fmax(best, SCORES[i] + best_of(s + n));
    }
    return best;
}

/* The sums of all ways, the best two of them in best[]. */
static void best_two(const char *s, double sum, double best[2])
{
    if (!*s) {
        best[1] = sum > best[0] ? best[0] : fmax(best[1], sum);
        best[0] = fmax(best[0], sum);
    }
    for (int i = 1; *s && i < PIECE_COUNT; i++)
        if (strncmp(s, PIECES[i], strlen(PIECES[i])) == 0)
            best_two(s + strlen(PIECES[i]), sum + SCORES[i], best);
}

static void the_most_probable_of_all_ways(void **state)
{
    (void)state;
    Buf json = {0};
    Rng r = rng_seed(4, 1);
    buf_puts(&json, "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[");
    for (int i = 0; i < PIECE_COUNT; i++)
        buf_printf(&json, "%s[\"%s\",%.17g]", i ? "," : "", PIECES[i], SCORES[i]);
    buf_puts(&json, "]}}");
    Tokenizer *t = parsed(buf_str(&json));
    for (int trial = 0; trial < 300; trial++) {
        char text[LONG + 1] = "";
        Tokens k;
        Err err;
        Buf whole = {0};
        double sum = 0;
        for (int i = 0, n = 1 + (int)(rng_unit(&r) * LONG); i < n; i++)
            text[i] = (char)('a' + (int)(rng_unit(&r) * LETTERS));
        assert_true(tokenizer_encode(t, text, strlen(text), false, true, &k, &err));
        for (size_t i = 0; i < k.n; i++) {
            sum += SCORES[k.at[i].id];
            buf_puts(&whole, PIECES[k.at[i].id]);
        }
        assert_string_equal(buf_str(&whole), text);
        assert_true(fabs(sum - best_of(text)) < 1e-9);
        double best[2] = {-HUGE_VAL, -HUGE_VAL}, rival = 0; /* and the next one, of those pieces */
        best_two(text, 0, best);
        assert_int_equal(k.parts, 1);
        assert_true(fabs(k.part[0].score - best[0]) < 1e-9);
        buf_clear(&whole);
        for (size_t i = 0; i < k.part[0].rivals; i++) {
            rival += SCORES[k.rival[i]];
            buf_puts(&whole, PIECES[k.rival[i]]);
        }
        assert_true(isfinite(best[1]) == (k.part[0].rivals > 0));
        if (k.part[0].rivals) {
            assert_string_equal(buf_str(&whole), text);
            assert_true(fabs(rival - best[1]) < 1e-9 && fabs(k.part[0].rival_score - best[1]) < 1e-9);
        } else
            assert_true(k.part[0].rival_score < -1e300);
        buf_free(&whole);
        tokens_free(&k);
    }
    expect(t, "axyb", false, "1 0 2"); /* neighbours that are unknown are one */
    tokenizer_free(t);
    buf_free(&json);
}

/* ---- normalisers and pre-tokenisers, each against what it must do ---- */

static void steps_do_what_they_are_called(void **state)
{
    (void)state;
    static const struct {
        const char *normalizer, *split, *text, *pieces; /* pieces with | between them */
    } cases[] = {
        {"{\"type\":\"NFC\"}", "null", "e\xcc\x81", "\xc3\xa9"},
        {"{\"type\":\"NFD\"}", "null", "\xc3\xa9", "e\xcc\x81"},
        {"{\"type\":\"NFKC\"}", "null", "\xef\xac\x81\xe2\x91\xa0", "fi1"},
        {"{\"type\":\"Lowercase\"}", "null", "\xce\x91\xc4\xb0", "\xce\xb1i\xcc\x87"},
        {"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", "null", " \xc2\xa0 a b\n", "a b"},
        {"{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},{\"type\":\"StripAccents\"}]}", "null",
         "\xc3\xa9t\xc3\xa9", "ete"},
        {"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\"_\"}", "null", "a   b c", "a_b c"},
        {"null", "{\"type\":\"WhitespaceSplit\"}", " a  b\tc ", "a|b|c"},
        {"null", "{\"type\":\"Whitespace\"}", "it's 3.5!?", "it|'|s|3|.|5|!?"},
        {"null", "{\"type\":\"Digits\",\"individual_digits\":true}", "a12b", "a|1|2|b"},
        {"null", "{\"type\":\"Digits\",\"individual_digits\":false}", "a12b", "a|12|b"},
        {"null", "{\"type\":\"Punctuation\"}", "a,.b", "a|,|.|b"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"String\":\",\"},\"behavior\":\"Removed\"}", "a,b,,c", "a|b|c"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"String\":\",\"},\"behavior\":\"Isolated\"}", "a,b,,c",
         "a|,|b|,|,|c"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"String\":\",\"},\"behavior\":\"MergedWithPrevious\"}", "a,b,,c",
         "a,|b,|,|c"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"String\":\",\"},\"behavior\":\"MergedWithNext\"}", "a,b,,c",
         "a|,b|,|,c"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"String\":\",\"},\"behavior\":\"Contiguous\"}", "a,b,,c",
         "a|,|b|,,|c"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a-z]+\"},\"behavior\":\"Removed\",\"invert\":true}",
         "ab 12 cd", "ab|cd"},
        /* what Oniguruma means: U+180E is no blank, a class in a class is one with it, a mark belongs to a word */
        {"null", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"behavior\":\"Removed\"}",
         "a\xe1\xa0\x8e"
         "b\xc2\x85"
         "c",
         "a\xe1\xa0\x8e"
         "b|c"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\" ?[^(\\\\s|[.,]x)]+\"},\"behavior\":\"Isolated\"}",
         "ab cd,e(f", "ab| cd|,|e|(|f"},
        {"null", "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w+|[]\\\\W]\"},\"behavior\":\"Isolated\"}",
         "e\xcc\x81t]", "e\xcc\x81t|]"},
        {"null", "{\"type\":\"Metaspace\",\"prepend_scheme\":\"always\"}", "a b", "▁a|▁b"},
        {"null", "{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\",\"split\":false}", "a b", "a▁b"},
        {"null", "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", "we'll 12 go", "Ġwe|'ll|Ġ12|Ġgo"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf json = {0};
        char copy[80];
        int n = 1;
        snprintf(copy, sizeof copy, "%s", cases[i].pieces);
        buf_printf(&json,
                   "{\"normalizer\":%s,\"pre_tokenizer\":%s,\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\","
                   "\"vocab\":{\"?\":0",
                   cases[i].normalizer, cases[i].split);
        Buf want = {0}, seen = {0};
        char *rest = copy;
        for (char *piece; (piece = strsep(&rest, "|")) != NULL;) {
            char key[40];
            snprintf(key, sizeof key, "|%s|", piece);
            if (!strstr(buf_str(&seen), key)) {
                buf_printf(&seen, "%s%d|", key, n);
                buf_puts(&json, ",");
                buf_json(&json, piece);
                buf_printf(&json, ":%d", n++);
            }
            int id = atoi(strstr(buf_str(&seen), key) + strlen(key));
            buf_printf(&want, "%s%d", want.len ? " " : "", id);
        }
        buf_puts(&json, "}}}");
        Tokenizer *t = parsed(buf_str(&json));
        expect(t, cases[i].text, false, buf_str(&want));
        tokenizer_free(t);
        buf_free(&json);
        buf_free(&want);
        buf_free(&seen);
    }
}

/* ---- what is refused, and that it does not take long ---- */

#define WORDS_MODEL "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1}}"

static void what_is_not_known_is_refused_by_name(void **state)
{
    (void)state;
    refused("{", "test");
    refused("{\"model\":{}}", "model is \"\"");
    refused("{\"model\":{\"type\":\"Morphemes\"}}", "Morphemes");
    refused("{\"normalizer\":{\"type\":\"Braille\"}," WORDS_MODEL "}", "Braille");
    refused("{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"}," WORDS_MODEL "}", "UnicodeScripts");
    refused("{\"post_processor\":{\"type\":\"Other\"}," WORDS_MODEL "}", "Other");
    refused("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a\"}}," WORDS_MODEL "}", "can't be read");
    refused("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a[^b]]\"}}," WORDS_MODEL "}",
            "is not known");
    refused("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a&&b]\"}}," WORDS_MODEL "}",
            "is not known");
    refused("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"Odd\"}," WORDS_MODEL
            "}",
            "Odd");
    refused("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a*\"}}," WORDS_MODEL "}",
            "where nothing stands");
    refused("{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"A\"}},"
            "{\"Sequence\":{\"id\":\"A\"}}],\"pair\":[]}," WORDS_MODEL "}",
            "twice");
    refused("{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"/////w==\"}," WORDS_MODEL "}",
            "damaged");
    refused("{\"added_tokens\":[{\"id\":1,\"content\":\"b\"}]," WORDS_MODEL "}", "another piece's");
    refused("{\"added_tokens\":[{\"id\":2000000000,\"content\":\"b\"}]," WORDS_MODEL "}", "2000000000");
    refused("{\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"no\",\"vocab\":{\"a\":0}}}", "unk_token");
    refused("{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0,\"b\":0}}}", "two pieces");
    refused("{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":-1}}}", "is none");
    refused("{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":2147483646}}}", "no vocabulary");
    refused("{\"model\":{\"type\":\"BPE\",\"dropout\":0.1,\"vocab\":{\"a\":0},\"merges\":[]}}", "dropout");
    refused("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"aa aa\"]}}", "merge 0");
    refused("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"aa\"]}}",
            "test: merge 0 is no pair");
    refused("{\"model\":{\"type\":\"Unigram\",\"unk_id\":7,\"vocab\":[[\"a\",-1]]}}", "unk_id");
    refused("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",\"b\"]]}}", "line 0");
    refused("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\C\"}}," WORDS_MODEL "}",
            "can't be read");
    Buf long_piece = {0};
    buf_puts(&long_piece, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1],[\"");
    for (int i = 0; i < 513; i++)
        buf_putc(&long_piece, 'a');
    buf_puts(&long_piece, "\",-1]]}}");
    refused(buf_str(&long_piece), "piece 1 has 513 bytes");
    buf_free(&long_piece);
    refused("{\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"[CLS]\",2],\"sep\":[\"a\",1]}," WORDS_MODEL
            "}",
            "[CLS]");
}

/* A template's special token is the numbers that the file has for it, not the one of its name (Hugging Face's
 * tokenizers). */
static void marks_by_their_numbers(void **state)
{
    (void)state;
#define MARKED(post)                                                                                                   \
    "{\"post_processor\":{" post "},\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{\"type\":"                  \
    "\"WordLevel\",\"vocab\":{\"[C]\":0,\"[S]\":1,\"a\":2,\"b\":3},\"unk_token\":\"a\"}}"
#define TEMPLATE(name, table)                                                                                          \
    MARKED("\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"" name "\"}},{\"Sequence\":{"      \
           "\"id\":\"A\"}}],\"pair\":[],\"special_tokens\":{" table "}")
    static const struct {
        const char *json, *ids;
    } CASES[] = {
        {TEMPLATE("[C]", "\"[C]\":{\"ids\":[3,3]}"), "3 3 2"},
        {TEMPLATE("START", "\"START\":{\"ids\":[1]}"), "1 2"},
        {MARKED("\"type\":\"BertProcessing\",\"cls\":[\"[C]\",3],\"sep\":[\"[S]\",0]"), "3 2 0"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Tokenizer *t = parsed(CASES[i].json);
        expect(t, "a", true, CASES[i].ids);
        tokenizer_free(t);
    }
    refused(TEMPLATE("[C]", "\"[C]\":{\"ids\":[4]}"), "\"[C]\" is not in the vocabulary");
    refused(TEMPLATE("[C]", "\"[C]\":{\"ids\":[-1]}"), "\"[C]\" is not in the vocabulary");
    refused(TEMPLATE("[C]", "\"[C]\":{\"ids\":[\"0\"]}"), "are none");
    refused(TEMPLATE("[C]", ""), "no \"ids\" in \"special_tokens\"");
    refused(MARKED("\"type\":\"BertProcessing\",\"cls\":[\"[C]\",8],\"sep\":[\"[S]\",0]"), "\"[C]\" is not in");
}

/* Two texts as one row, and the segments that the file counts the tokens to. */
static void two_texts_by_the_files_template(void **state)
{
    (void)state;
    static const char MODEL[] =
        "\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{\"type\":\"WordLevel\",\"vocab\":{"
        "\"[C]\":0,\"[S]\":1,\"a\":2,\"b\":3},\"unk_token\":\"a\"}}";
    static const struct {
        const char *post;
        int n, id[8], segment[8];
    } CASES[] = {
        {"\"BertProcessing\",\"cls\":[\"[C]\",0],\"sep\":[\"[S]\",1]", 6, {0, 2, 1, 3, 3, 1}, {0, 0, 0, 1, 1, 1}},
        {"\"RobertaProcessing\",\"cls\":[\"[C]\",0],\"sep\":[\"[S]\",1]", 7, {0, 2, 1, 1, 3, 3, 1}, {0}},
        {"\"TemplateProcessing\",\"single\":[],\"pair\":[{\"Sequence\":{\"id\":\"B\",\"type_id\":1}},{\"SpecialToken\":"
         "{"
         "\"id\":\"[S]\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]",
         4,
         {3, 3, 1, 2},
         {1, 1, 0, 0}},
    };
    const char *const text[2] = {"a", "b b"};
    Err err = {""};
    Tokens k;
    int *segment;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char json[700];
        snprintf(json, sizeof json, "{\"post_processor\":{\"type\":%s},%s", CASES[i].post, MODEL);
        Tokenizer *t = parsed(json);
        assert_true(tokenizer_encode_pair(t, text, &k, &segment, &err));
        assert_int_equal(k.n, CASES[i].n);
        for (size_t j = 0; j < k.n; j++) {
            assert_int_equal(k.at[j].id, CASES[i].id[j]);
            assert_int_equal(segment[j], CASES[i].segment[j]);
        }
        free(segment);
        tokens_free(&k);
        tokenizer_free(t);
    }
    char bare[400];
    snprintf(bare, sizeof bare, "{%s", MODEL);
    Tokenizer *t = parsed(bare);
    assert_false(tokenizer_encode_pair(t, text, &k, &segment, &err));
    assert_non_null(strstr(err.text, "no template for two texts"));
    tokenizer_free(t);
}

/* llama2.c's tokeniser, found beside a model of so many words: the pair whose whole has the highest score is merged
 * first, and bytes stand for what is no piece. */
static void scores_of_llama2c(void **state)
{
    (void)state;
    static const char MODEL[] = "tests/data/families/words_llama2c/model.bin";
    static const struct {
        const char *piece;
        float score;
    } SCORED[19] = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}, {"<0xC3>", 0}, {"<0xA9>", 0}, {" ", -9},  {"a", -10},
                    {"b", -11},   {"c", -12},     {"ab", -2},      {"bc", -1},    {"abc", -3},   {" a", -4}, {"d", -13},
                    {"e", -14},   {"f", -15},     {"g", -16},      {"h", -17},    {"i", -18}};
    char folder[64], path[200];
    Err err = {""};
    Tokens k;
    Buf file = {0}, text = {0};
    snprintf(folder, sizeof folder, "/tmp/vitrine-scores-XXXXXX");
    assert_non_null(mkdtemp(folder));
    buf_add(&file, "\7\0\0\0", 4);
    for (int i = 0; i < 19; i++) {
        int32_t n = (int32_t)strlen(SCORED[i].piece);
        buf_add(&file, &SCORED[i].score, 4);
        buf_add(&file, &n, 4);
        buf_add(&file, SCORED[i].piece, (size_t)n);
    }
    char real[4096];
    assert_non_null(realpath(MODEL, real));
    snprintf(path, sizeof path, "%s/m.bin", folder);
    assert_int_equal(symlink(real, path), 0);
    assert_false(tokenizer_is(path));
    assert_null(tokenizer_open(path, &err));
    assert_non_null(strstr(err.text, "m.bin: there is no tok19.bin or tokenizer.bin beside it"));
    err = (Err){""};
    char words[200];
    snprintf(words, sizeof words, "%s/tok19.bin", folder);
    assert_true(file_write(words, file.data, file.len, &err));
    Tokenizer *t = tokenizer_open(path, &err);
    if (!t)
        fail_msg("%s", err.text);
    expect(t, "abc é", true, "1 5 11 5 3 4");
    expect(t, "a ab", true, "1 12 5 9");
    expect(t, "babc", true, "1 5 7 11");
    assert_true(tokenizer_encode(t, "a ab", 4, true, false, &k, &err));
    int id[8];
    for (size_t i = 0; i < k.n; i++)
        id[i] = k.at[i].id;
    tokenizer_decode(t, id, k.n, false, &text);
    assert_string_equal(buf_str(&text), "a ab");
    tokens_free(&k);
    tokenizer_free(t);
    assert_true(file_write(words, file.data, file.len - 1, &err));
    assert_null(tokenizer_open(path, &err));
    unlink(words);
    unlink(path);
    rmdir(folder);
    buf_free(&file);
    buf_free(&text);
}

/* Everything that may begin a character and does not end it, and what Python 3.11 makes of it (errors="replace"): all
 * texts of one to four of these bytes. `made` is the digest of what it writes, each followed by a newline. */
static void what_is_no_utf8(void **state)
{
    (void)state;
    static const unsigned char BYTES[] = {'a',  0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0,
                                          0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum {
        KINDS = sizeof BYTES,
        TEXTS = KINDS + KINDS * KINDS + KINDS * KINDS * KINDS + KINDS * KINDS * KINDS * KINDS
    };
    Err err = {""};
    Tokens k;
    Tokenizer *t = parsed("{" WORDS_MODEL "}");
    uint64_t made = DIGEST_START;
    int texts = 0;
    /* a table that writes 0xff for a: what is matched behind it is UTF-8 all the same */
    Tokenizer *other = parsed("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Precompiled\","
                              "\"precompiled_charsmap\":\"DAAAAACAAQBhDQAAAAAAgP9iAA==\"},{\"type\":\"Replace\","
                              "\"pattern\":{\"Regex\":\"b\"},\"content\":\"c\"}]}," WORDS_MODEL "}");
    assert_true(tokenizer_encode(other, "ab", 2, false, true, &k, &err));
    assert_string_equal(buf_str(&k.normal), "\xef\xbf\xbd"
                                            "cc");
    tokens_free(&k);
    tokenizer_free(other);
    for (int length = 1, all = KINDS; length <= 4; length++, all *= KINDS)
        for (int i = 0; i < all; i++, texts++) {
            char text[4];
            for (int j = 0, x = i; j < length; j++, x /= KINDS)
                text[j] = (char)BYTES[x % KINDS];
            assert_true(tokenizer_encode(t, text, (size_t)length, false, true, &k, &err));
            made = digest_bytes(made, k.cut.data, k.cut.len);
            made = digest_bytes(made, "\n", 1);
            tokens_free(&k);
        }
    assert_int_equal(texts, TEXTS);
    assert_true(made == UINT64_C(0xc440ba780f7c3ab3));
    tokenizer_free(t);
}

/* Every token of a text says which bytes of it it stands for: a character that BERT's normaliser sets apart by blanks,
 * and each part of one that NFKC writes as two. A mark for a blank that is not in the text stands for none. */
static void tokens_stand_for_their_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
        Token at[4];
        size_t n;
    } cases[] = {
        {"{\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{"
         "\"type\":\"WordPiece\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"\xe6\x97\xa5\":2,\"\xe6\x9c\xac\":3}}"
         "}",
         "a\xe6\x97\xa5\xe6\x9c\xac a",
         {{1, 0, 1, 0}, {2, 1, 4, 0}, {3, 4, 7, 0}, {1, 8, 9, 0}},
         4},
        {"{\"normalizer\":{\"type\":\"NFKC\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"k\":0,\"g\":1},\"merges\":[]}}",
         "g\xe3\x8e\x8f",
         {{1, 0, 1, 0}, {0, 1, 4, 0}, {1, 1, 4, 0}},
         3},
        {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"always\"},"
         "\"model\":{\"type\":\"BPE\",\"vocab\":{\"\xe2\x96\x81\":0,\"k\":1},\"merges\":[]}}",
         "k",
         {{0, 0, 0, 0}, {1, 0, 1, 0}},
         2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Tokenizer *t = parsed(cases[i].json);
        Tokens k;
        Err err;
        assert_true(tokenizer_encode(t, cases[i].text, strlen(cases[i].text), true, false, &k, &err));
        assert_int_equal(k.n, cases[i].n);
        for (size_t j = 0; j < k.n; j++)
            if (k.at[j].id != cases[i].at[j].id || k.at[j].from != cases[i].at[j].from ||
                k.at[j].to != cases[i].at[j].to)
                fail_msg("case %zu, token %zu: %d of bytes %zu to %zu", i, j, k.at[j].id, k.at[j].from, k.at[j].to);
        tokens_free(&k);
        tokenizer_free(t);
    }
}

static void hostile_texts_and_patterns_end_in_time(void **state)
{
    (void)state;
    enum { N = 200000 };
    Err err = {""};
    Tokens k;
    char *text = xmalloc(N);
    memset(text, 'a', N);
    int64_t began = clock_ns();
    Tokenizer *t = parsed(
        "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a+)+$|(?=(a+)+b)x\"},\"behavior\":"
        "\"Isolated\"}," WORDS_MODEL "}");
    text[N - 1] = '!';
    assert_false(tokenizer_encode(t, text, N, false, false, &k, &err));
    assert_non_null(strstr(err.text, "too much work"));
    tokenizer_free(t);
    /* no place takes too much, but every one takes much */
    t = parsed("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":"
               "\".{0,6}.{0,6}.{0,6}.{0,6}.{0,6}.{0,6}[!?]\"},\"behavior\":\"Isolated\"}," WORDS_MODEL "}");
    text[N - 1] = 'a';
    assert_false(tokenizer_encode(t, text, N, false, false, &k, &err));
    assert_non_null(strstr(err.text, "too much work"));
    tokenizer_free(t);
    /* one piece of 200,000 characters, every neighbouring pair of which merges, and merges again */
    t = parsed(
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1,\"aaaa\":2,\"aaaaaaaa\":3},\"merges\":[\"a a\",\"aa "
        "aa\",\"aaaa aaaa\"]}}");
    assert_true(tokenizer_encode(t, text, N, false, false, &k, &err));
    assert_int_equal(k.n, N / 8);
    assert_true(k.at[1].id == 3 && k.at[1].from == 8 && k.at[1].to == 16);
    tokens_free(&k);
    tokenizer_free(t);
    assert_true(clock_ns() - began < INT64_C(60000000000)); /* not the minutes that trying all of it takes */
    /* what is no UTF-8 is U+FFFD, and NUL is a character */
    t = parsed(
        "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",0],[\"a\",-1],[\"\xef\xbf\xbd\",-1]]}}");
    assert_true(tokenizer_encode(t,
                                 "a\xff\xc3"
                                 "a\0a",
                                 6, false, false, &k, &err));
    static const int want[] = {1, 2, 2, 1, 0, 1};
    assert_int_equal(k.n, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(k.at[i].id, want[i]);
    tokens_free(&k);
    tokenizer_free(t);
    /* and no normaliser stops at a NUL, nor reads on behind a text that ends within a character */
    t = parsed(
        "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":\"StripAccents\"},"
        "{\"type\":\"BertNormalizer\"},{\"type\":\"Strip\"}]},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"}"
        "," WORDS_MODEL "}");
    char *cut = xmalloc(6);
    memcpy(cut, "a\0\0b \xe2", 6);
    assert_true(tokenizer_encode(t, cut, 6, false, false, &k, &err));
    assert_true(k.n >= 1);
    tokens_free(&k);
    tokenizer_free(t);
    free(cut);
    /* every letter in place of which two come, twenty times over: a million letters from one */
    Buf doubled = {0};
    buf_puts(&doubled, "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    for (int i = 0; i < 20; i++)
        buf_printf(&doubled, "%s{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}",
                   i ? "," : "");
    buf_puts(&doubled, "]}," WORDS_MODEL "}");
    t = parsed(doubled.data);
    assert_false(tokenizer_encode(t, text, 100, false, false, &k, &err));
    assert_non_null(strstr(err.text, "32 times as long"));
    tokenizer_free(t);
    buf_free(&doubled);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_files_and_the_order_of_merges),
        cmocka_unit_test(bytes_where_a_character_is_unknown),
        cmocka_unit_test(longest_pieces_first),
        cmocka_unit_test(the_most_probable_of_all_ways),
        cmocka_unit_test(steps_do_what_they_are_called),
        cmocka_unit_test(what_is_not_known_is_refused_by_name),
        cmocka_unit_test(marks_by_their_numbers),
        cmocka_unit_test(two_texts_by_the_files_template),
        cmocka_unit_test(scores_of_llama2c),
        cmocka_unit_test(what_is_no_utf8),
        cmocka_unit_test(tokens_stand_for_their_bytes),
        cmocka_unit_test(hostile_texts_and_patterns_end_in_time),
    };
    return cmocka_run_group_tests_name("tokenizer", tests, NULL, NULL);
}
