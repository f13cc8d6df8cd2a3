/* How a text became tokens, as the screen `tokens` reads it: every token of the pass beside what the tokeniser
 * recorded, the merges one by one, and what a chat template put there. */
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
#include "core/models/text_model.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/screens/tokens.h"

static const char *const FILES[] = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"};
static char folder[] = "/tmp/vitrine-encoding-XXXXXX";
static Commands commands;
static Session s;

static void put(const char *name, const char *text, size_t n)
{
    char path[128];
    Err err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!file_write(path, text, n, &err))
        fail_msg("%s", err.text);
}

static void copy(const char *name)
{
    char path[128];
    Buf bytes = {0};
    Err err;
    snprintf(path, sizeof path, "tests/data/families/words_gpt2/%s", name);
    if (!file_read(path, 1 << 24, &bytes, &err))
        fail_msg("%s", err.text);
    put(name, bytes.data, bytes.len);
    buf_free(&bytes);
}

static int start(void **state)
{
    static const char TOKENIZER[] =
        "{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"special\":true}],\"normalizer\":{\"type\":\"Lowercase\"},"
        "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"always\"},\"decoder\":{\"type\":\"Metaspace\"},"
        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},"
        "{\"Sequence\":{\"id\":\"A\"}}],\"pair\":[]},\"model\":{\"type\":\"BPE\",\"vocab\":{\"<s>\":1,\"▁\":2,\"t\":3,"
        "\"h\":4,\"e\":5,\"c\":6,\"a\":7,\"th\":8,\"the\":9,\"▁the\":10,\"▁c\":11,\"at\":12,\"▁cat\":13,\"<0x0D>\":14},"
        "\"merges\":["
        "\"t h\",\"th e\",\"▁ the\",\"▁ c\",\"a t\",\"▁c at\"]}}",
                      CONFIG[] = "{\"bos_token\": \"<s>\", \"chat_template\": \"{{ bos_token }}{% for m in messages %}"
                                 "the {{ m.content }}{% endfor %}\"}";
    Err err;
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    copy(FILES[0]);
    copy(FILES[1]);
    put(FILES[2], TOKENIZER, sizeof TOKENIZER - 1);
    put(FILES[3], CONFIG, sizeof CONFIG - 1);
    if (!session_init(&s, folder, "The cat hat", 1, NULL, NULL, &err)) {
        print_error("%s\n", err.text);
        return -1;
    }
    commands = session_command_set();
    return 0;
}

static int stop(void **state)
{
    char path[128];
    (void)state;
    session_free(&s);
    commands_free(&commands);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}

static void run(const char *line)
{
    Err err = {""};
    if (!command_do(&s, &commands, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
}

/* The piece at the cursor as it stands: its symbols with | between them. */
static void expect_state(const char *want)
{
    const Encoding *e = session_encoding(&s, SIDE_B, TEXT_TARGET);
    Buf is = {0};
    size_t end[64];
    int part, j = encoding_here(&s, SIDE_B, e, &part);
    assert_true(j >= 0 && part >= 0);
    int n = encoding_ends(e, part, encoding_done(&s, e, part), e->k.at[j].end, end, 64);
    size_t from = e->k.part[part].from;
    for (int i = 0; i < n; from = end[i++]) {
        buf_puts(&is, i ? "|" : "");
        buf_add(&is, e->k.cut.data + from, end[i] - from);
    }
    assert_int_equal(end[n - 1], e->k.part[part].to);
    assert_string_equal(buf_str(&is), want);
    buf_free(&is);
}

static void merges_one_by_one(void **state)
{
    (void)state;
    run("tokens");
    assert_int_equal(s.place.screen, SCREEN_TOKENS);
    encoding_step(&s, 0);
    const Encoding *e = session_encoding(&s, SIDE_B, TEXT_TARGET);
    assert_true(e && e->there && !e->said.len);
    assert_string_equal(buf_str(&e->text), "The cat hat");
    assert_string_equal(buf_str(&e->k.normal), "the cat hat");
    assert_string_equal(buf_str(&e->k.cut), "▁the▁cat▁hat");
    static const int WANT[] = {1, 10, 13, 2, 4, 12};
    assert_int_equal(s.now->input.text[TEXT_TARGET].count, 6);
    for (int i = 0; i < 6; i++) { /* the same numbers as the pass reads; <s> was put there */
        assert_int_equal(s.now->input.text[TEXT_TARGET].word[i], WANT[i]);
        assert_int_equal(e->k.at[e->of[i]].id, WANT[i]);
    }
    assert_int_equal(e->part[e->of[0]], -1);
    assert_int_equal(e->part[e->of[3]], e->part[e->of[5]]);
    run("query ▁cat");
    expect_state("▁cat");
    run("play next"); /* from the whole it begins anew */
    expect_state("▁|c|a|t");
    static const char *const STATES[] = {"▁c|a|t", "▁c|at", "▁cat"};
    for (int i = 0; i < 3; i++) {
        run("play next");
        expect_state(STATES[i]);
    }
    run("move left; move left");
    expect_state("▁c|a|t");
    run("move right");
    expect_state("▁c|at");
    run("move down"); /* another token is whole */
    expect_state("▁|h|at");
    run("move left 9");
    expect_state("▁|h|a|t");
    run("say");
    assert_non_null(strstr(buf_str(&s.said), "1 merge, the lowest rank first: a and t (rank 4)"));
    run("move up 9; say");
    assert_non_null(strstr(buf_str(&s.said), "it was put there"));
}

static void turns_and_numbers(void **state)
{
    (void)state;
    run("open \"chat:user: cat\"; tokens");
    encoding_step(&s, 0);
    const Encoding *e = session_encoding(&s, SIDE_B, TEXT_TARGET);
    assert_true(e && e->there);
    assert_string_equal(buf_str(&e->text), "<s>the cat");
    assert_memory_equal(e->said.data, "\0\0\0\0\0\0\0\1\1\1", 10);
    assert_int_equal(s.now->input.text[TEXT_TARGET].count, 3); /* no other <s> in front of the template's */
    run("open ids:1,10,13; tokens");
    encoding_step(&s, 0);
    e = session_encoding(&s, SIDE_B, TEXT_TARGET);
    assert_true(e && !e->there);
    run("say");
    assert_non_null(strstr(buf_str(&s.said), "given by number"));
}

/* Where bytes are no letters of an alphabet, č is no other name of the byte 13. */
static void a_letter_is_no_byte(void **state)
{
    Err err = {""};
    (void)state;
    run("open ids:1,10,14,5");
    assert_false(command_do(&s, &commands, "word č a", LINE_OWN, &err));
    assert_non_null(strstr(err.text, "there is no 'č' in the text"));
    run("word <0x0D> a");
    assert_int_equal(s.now->input.text[TEXT_TARGET].word[2], 7);
}

/* Words of byte-level BPE are called after their text, in what is read and in what is answered; addresses take them as
 * they are stored too. č is stored as Äį, and what is stored as č, the byte 13, is called by its number. Last: the
 * folder gets another tokeniser. */
static void bytes_are_read_as_text(void **state)
{
    static const char TOKENIZER[] =
        "{\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
        "\"decoder\":{\"type\":\"ByteLevel\"},"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"Ġ\":1,\"Ã\":2,\"¹\":3,\"æ\":4,\"Ĺ\":5,\"¥\":6,\"ð\":7,\"Ł\":8,\"Ļ\":"
        "9,"
        "\"Ĥ\":10,\"Ã¹\":11,\"ĠÃ¹\":12,\"æĹ\":13,\"æĹ¥\":14,\"ðŁ\":15,\"ĻĤ\":16,\"č\":17,\"Äį\":18},\"merges\":["
        "\"Ã ¹\",\"Ġ Ã¹\",\"æ Ĺ\",\"æĹ ¥\",\"ð Ł\",\"Ļ Ĥ\"]}}";
    static const char *const LABELS[] = {"日", "Ġù", "<0xF0><0x9F>", "<0x99><0x82>", "日#2"}, *const STORED[] = {
                                                                                                  "æĹ¥", "ĠÃ¹", "ðŁ",
                                                                                                  "ĻĤ", "æĹ¥#2"};
    Session t;
    Err err = {""};
    (void)state;
    put(FILES[2], TOKENIZER, sizeof TOKENIZER - 1);
    put(FILES[3], "{}", 2);
    if (!session_init(&t, folder, "日 ù🙂日", 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    const Text *text = &t.now->input.text[TEXT_TARGET];
    assert_int_equal(text->count, 5);
    for (int i = 0; i < 5; i++) {
        Address to;
        char as[64];
        assert_string_equal(text->label[i], LABELS[i]);
        for (int k = 0; k < 2; k++) {
            snprintf(as, sizeof as, "decoder.embed[t=%s]", k ? STORED[i] : LABELS[i]);
            if (!address_parse(&t, session_base(&t), as, &to, &err))
                fail_msg("%s: %s", as, err.text);
            assert_int_equal(to.cells.range[0].from, i);
        }
    }
    static const struct {
        const char *name;
        int word;
    } ANSWERS[] = {{"č", 18}, {"Äį", 18}, {"<0x0D>", 17}, {"æĹ¥", 14}};
    for (size_t i = 0; i < sizeof ANSWERS / sizeof *ANSWERS; i++) {
        Address to;
        char as[64];
        snprintf(as, sizeof as, "logits[t=0,v=%s]", ANSWERS[i].name);
        if (!address_parse(&t, session_base(&t), as, &to, &err))
            fail_msg("%s: %s", as, err.text);
        assert_int_equal(to.cells.range[1].from, ANSWERS[i].word);
    }
    if (!command_do(&t, &commands, "tokens", LINE_OWN, &err))
        fail_msg("%s", err.text);
    encoding_step(&t, 0);
    const Encoding *e = session_encoding(&t, SIDE_B, TEXT_TARGET); /* the normaliser left both halves where they were */
    assert_true(e && e->k.at[2].from == 6 && e->k.at[2].to == 8 && e->k.at[3].from == 8 && e->k.at[3].to == 10);
    Model m = *t.now->model;
    const Vocabulary *v = &m.target;
    assert_string_equal(v->word[17], "<0x0D>");
    assert_string_equal(v->word[18], "č");
    assert_int_equal(vocabulary_find(v, "<0x0D>", 6), 17);
    assert_int_equal(vocabulary_find(v, "č", strlen("č")), 18); /* a name before what is stored so */
    assert_int_equal(vocabulary_find(v, "Äį", strlen("Äį")), 18);
    assert_int_equal(vocabulary_find(v, "日", 3), 14);
    assert_int_equal(vocabulary_find(v, "æĹ¥", strlen("æĹ¥")), 14);
    Buf line = {0};
    for (int i = 0; i < 5; i++) /* as a text runs, a part of a character by its bytes */
        words_piece_line(v, i ? text->word[i - 1] : -1, text->word[i], &line);
    assert_string_equal(buf_str(&line), "日 ù<0xF0><0x9F><0x99><0x82>日");
    buf_clear(&line);
    assert_int_equal(words_bytes(v, text->word, 5, 1), strlen(" ù🙂日"));
    assert_int_equal(words_bytes(v, text->word, 3, 2), 2); /* a part of a character */
    words_put_rate(5.545177444, (double)NAN, 4, &line);    /* a choice among 256, for 4 bytes */
    assert_non_null(strstr(buf_str(&line), "perplexity 256"));
    assert_non_null(strstr(buf_str(&line), " 2 bits a byte"));
    buf_clear(&line);
    words_put_rate(5.545177444, (double)NAN, 0, &line); /* whole words without a tokeniser */
    assert_null(strstr(buf_str(&line), "byte"));
    buf_free(&line);
    const uint64_t digest = model_digest(&m); /* of what the file stores */
    m.target.word = m.target.piece;
    m.target.piece = NULL;
    assert_true(model_digest(&m) == digest);
    session_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(merges_one_by_one), cmocka_unit_test(turns_and_numbers),
                                       cmocka_unit_test(a_letter_is_no_byte), cmocka_unit_test(bytes_are_read_as_text)};
    return cmocka_run_group_tests_name("encoding", tests, start, stop);
}
