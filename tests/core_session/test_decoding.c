/* The screen `decoding`: its tree is the search's own, both ways of computing give the same bits, and the way into a
 * beginning leads to the very cell whose number the tree shows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/session/command.h"
#include "core/session/exhibit.h"
#include "core/session/learned/decoding.h"
#include "core/session/session.h"
#include "tests/core_models/text_bench.h"

static const char SENTENCE[] = "the cat is tired";

static Session s;
static Commands all;

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    all = session_command_set();
    if (!session_init(&s, "translator", SENTENCE, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    return 0;
}

static void must(const char *line)
{
    Err err = {{0}};
    if (!command_do(&s, &all, line, LINE_FOREIGN, &err))
        fail_msg("%s: %s", line, err.text);
}

static void refused(const char *line, const char *why)
{
    Err err = {{0}};
    const LookAt was = s.look;
    assert_false(command_do(&s, &all, line, LINE_FOREIGN, &err));
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' does not say '%s'", line, err.text, why);
    assert_memory_equal(&was.decoding, &s.look.decoding, sizeof was.decoding);
}

static const Decoding *found(const char *line)
{
    Err err = {{0}};
    must(line);
    if (!decoding_all(&s, &err))
        fail_msg("%s: %s", line, err.text);
    const Decoding *d = session_decoding(&s, SIDE_B);
    assert_true(d && d->done && d->lines > 0);
    return d;
}

/* Every node once, under its parent, with the numbers of a search made elsewhere. */
static void the_tree_is_the_search(void **state)
{
    (void)state;
    Err err = {{0}};
    Decode own;
    Model m;
    Words w;
    const Decoding *d = found("decode beam 5 alpha=0.8");
    assert_true(text_open(&m, NULL, &err) && words_parse(&w, &m.source, SENTENCE, true, &err));
    assert_true(decode_run(&own, &m, w.number, w.n, &d->how, NULL, NULL, NULL, &err));
    assert_true(d->how.width == 5 && d->how.alpha == 0.8);
    assert_int_equal(d->lines, own.count - 1);
    int way[64], n = 0;
    for (int k = own.best; k > 0 && n < 64; k = own.node[k].parent)
        way[63 - n++] = own.node[k].word;
    Buf written = {0};
    words_text(&m.target, way + 64 - n, n, &written);
    assert_true(written.len > 0);
    assert_string_equal(buf_str(&d->written), buf_str(&written)); /* as one reads it, without </s> */
    buf_free(&written);
    bool seen[4096] = {false};
    int best = 0;
    for (int i = 0; i < d->lines; i++) {
        const DecodingLine *l = &d->line[i];
        const DecodeNode *a = &d->text->node[l->node], *b = &own.node[l->node];
        assert_false(seen[l->node]);
        seen[l->node] = true;
        assert_true(a->parent == 0 || seen[a->parent]);
        assert_true(a->word == b->word && a->share == b->share && a->score == b->score);
        assert_int_equal(l->fate == DECODING_BEST, l->node == own.best);
        best += l->best;
    }
    assert_int_equal(best, own.length); /* the words of the best text, its end with them */
    assert_true(d->same);
    assert_true(d->kept.multiply_adds < d->without.multiply_adds && d->kept.cache_bytes > 0);
    assert_true(d->kept.multiply_adds == own.cost.multiply_adds);
    decode_free(&own);
    words_free(&w);
    model_free(&m);
}

/* Into any line: the cell at the cursor has its share, bit for bit, whatever its words are. */
static void the_way_into_a_beginning(void **state)
{
    (void)state;
    Err err = {{0}};
    for (int i = 0;; i += 5) {
        char line[64];
        const Decoding *d = found("decode beam 4");
        if (i >= d->lines)
            break;
        snprintf(line, sizeof line, "option beginning %d", i + 1);
        must(line);
        double share = d->text->node[d->line[i].node].share;
        must("in");
        assert_string_equal(screen_name(s.place.screen), "writing");
        const float *p = session_need(&s, SIDE_B, "probs", &err);
        assert_non_null(p);
        assert_true((double)p[session_cell(&s, SIDE_B, session_node(&s, SIDE_B, "probs"))] == share);
        must("back");
        assert_string_equal(screen_name(s.place.screen), "decoding");
        assert_int_equal(decoding_line(&s, session_decoding(&s, SIDE_B)), i);
    }
}

/* Pieces as a tokeniser has them: "▁" is a blank, and a text is cut into the longest that stand in the list. */
static const char *const PIECES[] = {"<pad>", "<s>", "</s>", "▁",  "a",   "b",  "c",  "d", "ab",
                                     "▁a",    "▁b",  "▁ab",  "cd", "abc", "da", "ba", "▁c"};
enum { PIECE_COUNT = sizeof PIECES / sizeof *PIECES };

static bool cut_longest(const struct Tokenizer *own, const char *text, int most, int *number, int *n, char *left,
                        size_t size, Err *err)
{
    Buf marked = {0};
    if (size > 0)
        *left = '\0';
    (void)own;
    for (const char *p = text; *p; p++) {
        buf_puts(&marked, p == text || *p == ' ' ? "▁" : "");
        if (*p != ' ')
            buf_putc(&marked, *p);
    }
    *n = 0;
    for (const char *p = buf_str(&marked); *p && *n < most; (*n)++) {
        int best = -1;
        for (int i = 3; i < PIECE_COUNT; i++)
            if (strncmp(p, PIECES[i], strlen(PIECES[i])) == 0 && (best < 0 || strlen(PIECES[i]) > strlen(PIECES[best])))
                best = i;
        if (best < 0) {
            buf_free(&marked);
            return err_set(err, "no piece");
        }
        number[*n] = best;
        p += strlen(PIECES[best]);
    }
    buf_free(&marked);
    return true;
}

static void join_pieces(const struct Tokenizer *own, const int *number, int n, Buf *out)
{
    (void)own;
    for (int i = 0; i < n; i++) {
        const bool blank = strncmp(PIECES[number[i]], "▁", strlen("▁")) == 0;
        if (number[i] >= 3)
            buf_printf(out, "%s%s", blank && i ? " " : "", PIECES[number[i]] + (blank ? strlen("▁") : 0));
    }
}

static const Cutter CUTTER = {.cut = cut_longest, .join = join_pieces};

static int start_pieces(void **state)
{
    (void)state;
    Err err = {{0}};
    Model m;
    Seq2seqConfig config = text_variant(4);
    config.positions = 100; /* its 64 words fit */
    assert_int_equal(config.target_words, PIECE_COUNT);
    text_model_seeded(&m, &config, 5);
    m.target.word = PIECES;
    m.target.cutter = &CUTTER;
    m.target.start = 1;
    m.target.end = 2;
    all = session_command_set();
    if (!session_init_model(&s, &m, "ab cd", 1, &err))
        fail_msg("%s", err.text);
    return 0;
}

/* Where a tokeniser cuts texts, what is opened is what the search read: the same numbers, whether its text would be cut
 * like that or not. */
static void the_tokens_of_a_beginning(void **state)
{
    (void)state;
    int typed = 0, numbered = 0;
    for (int i = 0; i < 36; i++) { /* twelve seeds; after one word, after four and after all */
        char line[64];
        int read[256], n = 0, from;
        snprintf(line, sizeof line, "decode draw %d temperature=5", 1 + i / 3);
        const Decoding *d = found(line);
        const int at_line = i % 3 == 0 ? 0 : i % 3 == 1 && d->lines > 3 ? 3 : d->lines - 1;
        const Text *text = &session_input(&s, SIDE_B)->text[TEXT_TARGET];
        const DecodeNode *node = &d->text->node[d->line[at_line].node];
        from = text->count;
        assert_true(from + node->length < 100);
        memcpy(read, text->word, (size_t)from * sizeof *read);
        n = from + node->length;
        for (int at = d->line[at_line].node, k = n; k > from; at = d->text->node[at].parent)
            read[--k] = d->text->node[at].word;
        n -= read[n - 1] == 2;
        snprintf(line, sizeof line, "option beginning %d; in", at_line + 1);
        must(line);
        const Input *in = session_input(&s, SIDE_B);
        assert_int_equal(in->text[TEXT_TARGET].count, n);
        assert_memory_equal(in->text[TEXT_TARGET].word, read, (size_t)n * sizeof *read);
        *(strncmp(in->path, "ids:", 4) == 0 ? &numbered : &typed) += 1;
        must("open \"ab cd\"");
    }
    if (!typed || !numbered)
        fail_msg("%d as text, %d by number", typed, numbered);
}

/* Who names no way gets the one of `write` and `translate`: greedy. */
static void it_is_greedy_at_first(void **state)
{
    (void)state;
    const Decoding *d = found("decode");
    assert_int_equal(d->how.kind, DECODE_GREEDY);
    assert_int_equal(d->lines, d->text->length);
    refused("decode +1", "`decode beam` has a width");
    must("decode beam; decode +1");
    assert_int_equal(s.look.decoding.width, 5);
}

static void drawn_from_a_seed(void **state)
{
    (void)state;
    int word[3][64], n[3];
    static const char *const LINES[] = {"decode draw 7 temperature=4", "decode draw 8", "decode draw 7"};
    for (int k = 0; k < 3; k++) {
        const Decoding *d = found(LINES[k]);
        n[k] = d->text->length < 64 ? d->text->length : 64;
        memcpy(word[k], d->text->word, (size_t)n[k] * sizeof(int));
        assert_int_equal(d->lines, d->text->length); /* one way, nothing aside */
    }
    assert_true(n[0] == n[2] && memcmp(word[0], word[2], (size_t)n[0] * sizeof(int)) == 0);
    assert_false(n[0] == n[1] && memcmp(word[0], word[1], (size_t)n[0] * sizeof(int)) == 0);
}

/* The candidates of a word are those of its draw, and one that was not drawn can be taken: A keeps what was written. */
static void another_word_is_taken(void **state)
{
    (void)state;
    const Decoding *d = found("decode draw 3 temperature=0.5 top-k=5 top-p=0.9");
    int words[64], n = 0;
    for (int line = 0; line < d->lines; line++) {
        s.look.decoding.line = line + 1;
        const DecodeDraw *draw = decoding_draw(&s, d);
        const DecodeNode *node = &d->text->node[d->line[line].node];
        double sum = 0, share = -1;
        assert_true(draw && draw->top_k == 5 && draw->left <= 5 && draw->count > 5);
        for (int i = 0; i < draw->count; i++) {
            sum += draw->choice[i].drawn;
            share = draw->choice[i].word == node->word ? (double)draw->choice[i].share : share;
            assert_int_equal(draw->choice[i].out, i >= 5            ? DECODE_TOP_K
                                                  : i >= draw->left ? DECODE_TOP_P
                                                                    : DECODE_DRAWABLE);
        }
        assert_true(fabs(sum - 1) < 1e-12 && share == node->share);
    }
    s.look.decoding.line = 2;
    must("move right; move right; move right; move left");
    assert_int_equal(decoding_other(&s, d), 1);
    const int other = decoding_draw(&s, d)->choice[1].word != d->text->node[d->line[1].node].word;
    must(other ? "move left; move right" : "move left");
    const int taken = decoding_draw(&s, d)->choice[decoding_other(&s, d)].word;
    assert_int_not_equal(taken, d->text->node[d->line[1].node].word);
    for (; n < d->text->length && n < 64; n++)
        words[n] = d->text->word[n];
    must("in");
    assert_true(session_pinned(&s) && s.compare == COMPARE_SIDES);
    const Text *a = &session_exhibit(&s, SIDE_A)->input.text[TEXT_TARGET],
               *b = &session_exhibit(&s, SIDE_B)->input.text[TEXT_TARGET];
    assert_true(a->count == n && b->count == 3); /* the start instead of the end, and the start in front */
    assert_memory_equal(a->word + 1, words, (size_t)(n - 1) * sizeof *words);
    assert_int_equal(b->word[1], words[0]);
    assert_int_equal(b->word[2], taken);
    must("move up");
    must("pin off; decode greedy");
}

/* To a word that could have been drawn instead of this one. */
static void to_another(const Decoding *d, int drawn)
{
    do
        must("move right");
    while (decoding_draw(&s, d)->choice[decoding_other(&s, d)].word == drawn);
}

/* Of a decoder alone both are texts to go on from, of one length and the same up to their last word: A ends in the word
 * that was drawn, and goes on as it was written. */
static void a_branch_of_a_decoder(void **state)
{
    (void)state;
    Err err = {{0}};
    Model m;
    Seq2seqConfig config = text_variant(4);
    int words[64];
    text_model_seeded(&m, &config, 5);
    all = session_command_set();
    if (!session_init_model(&s, &m, "ids:3,1,4", 1, &err))
        fail_msg("%s", err.text);
    const Decoding *d = found("decode draw 3");
    const int n = d->text->length, given = s.now->input.text[TEXT_TARGET].count;
    assert_true(n > 4 && n < 64);
    memcpy(words, d->text->word, (size_t)n * sizeof *words);
    s.look.decoding.line = 3;
    to_another(d, words[2]);
    const int taken = decoding_draw(&s, d)->choice[decoding_other(&s, d)].word;
    must("in");
    const Text *a = &session_exhibit(&s, SIDE_A)->input.text[TEXT_TARGET],
               *b = &session_exhibit(&s, SIDE_B)->input.text[TEXT_TARGET];
    assert_true(a->count == given + 3 && b->count == given + 3 && s.compare == COMPARE_SIDES);
    assert_memory_equal(a->word, b->word, ((size_t)given + 2) * sizeof *words);
    assert_memory_equal(a->word + given, words, 3 * sizeof *words);
    assert_true(b->word[given + 2] == taken && taken != words[2]);
    assert_true(decoding_all(&s, &err));
    d = session_decoding(&s, SIDE_A);
    assert_int_equal(d->text->length, n - 3);
    assert_memory_equal(d->text->word, words + 3, (size_t)(n - 3) * sizeof *words);
    must("back");
    assert_true(!session_pinned(&s) && s.now->input.text[TEXT_TARGET].count == given);
    session_free(&s);
    commands_free(&all);
}

static bool reads(Side side, const char *text)
{
    return strcmp(session_input(&s, side)->path, text) == 0;
}

/* `back` from behind an Enter is the tree that it was in, with its text and the line at the cursor, and `forward` the
 * text that Enter opened. */
static void back_to_the_tree(void **state)
{
    (void)state;
    Err err = {{0}};
    char *typed = xstrdup(session_input(&s, SIDE_B)->path);
    found("decode greedy");
    must("move down 1; in");
    char *ran = xstrdup(session_input(&s, SIDE_B)->path);
    assert_string_not_equal(typed, ran);
    must("goto logits; back; back");
    assert_true(reads(SIDE_B, typed) && strcmp(screen_name(s.place.screen), "decoding") == 0);
    assert_true(decoding_all(&s, &err));
    assert_int_equal(decoding_line(&s, session_decoding(&s, SIDE_B)), 1);
    must("forward");
    assert_true(reads(SIDE_B, ran) && strcmp(screen_name(s.place.screen), "writing") == 0);
    must("decode typed; back");
    assert_true(reads(SIDE_B, ran));
    must("back");
    /* a word that was not drawn: nothing is pinned any more, and forward pins it again */
    const Decoding *d = found("decode draw 3");
    must("move right");
    to_another(d, d->text->node[d->line[decoding_line(&s, d)].node].word);
    const int other = s.look.decoding.other;
    must("in");
    free(ran);
    ran = xstrdup(session_input(&s, SIDE_A)->path);
    char *taken = xstrdup(session_input(&s, SIDE_B)->path);
    assert_string_not_equal(ran, taken);
    must("back");
    assert_true(reads(SIDE_B, typed) && !session_pinned(&s) && s.compare == COMPARE_OFF);
    assert_int_equal(s.look.decoding.other, other);
    must("forward");
    assert_true(reads(SIDE_A, ran) && reads(SIDE_B, taken) && s.compare == COMPARE_SIDES);
    char line[128]; /* what is opened by hand stays where no Enter lies between */
    snprintf(line, sizeof line, "open \"%.80s\"; goto logits; back", typed);
    must(line);
    assert_true(reads(SIDE_B, typed) && session_pinned(&s));
    free(typed);
    free(ran);
    free(taken);
}

static void a_beam_of_one_is_greedy(void **state)
{
    (void)state;
    const Decoding *d = found("decode greedy");
    int n = d->text->length, word[64];
    assert_true(n < 64);
    memcpy(word, d->text->word, (size_t)n * sizeof *word);
    d = found("decode beam 1");
    assert_int_equal(d->text->length, n);
    assert_memory_equal(d->text->word, word, (size_t)n * sizeof *word);
}

/* The searches and what is on show have one bound, half of it each, and the words are the same. */
static void one_bound_for_both(void **state)
{
    (void)state;
    enum { TOKENS = 150, BOUND = 3 << 20 };
    Err err = {{0}};
    Model m;
    Buf ids = {0}, tight = {0};
    Seq2seqConfig config = text_variant(4);
    size_t most;
    config.positions = 300;
    text_model_seeded(&m, &config, 5);
    for (int i = 0; i < TOKENS; i++)
        buf_printf(&ids, "%s%d", i ? "," : "ids:", (3 + i * 5) % config.target_words);
    all = session_command_set();
    if (!session_init_model(&s, &m, buf_str(&ids), 1, &err))
        fail_msg("%s", err.text);
    session_budget(&s, BOUND);
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    buf_puts(&tight, buf_str(&found("decode beam 2")->written));
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    session_trim(&s);
    const size_t searched = decoding_held(&s, &most), held = session_held(&s, &(size_t){0});
    if (!searched || held - searched > BOUND / 2 || most > BOUND / 2)
        fail_msg("%zu bytes are held, %zu of them by the searches, %zu of those at most", held, searched, most);
    must("decode greedy");
    session_budget(&s, 100 * (size_t)BOUND);
    assert_string_equal(buf_str(&found("decode beam 2")->written), buf_str(&tight));
    buf_free(&tight);
    buf_free(&ids);
    session_free(&s);
    commands_free(&all);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    found("decode beam 4");
    refused("decode beam 65", "64");
    refused("decode beam 9999999999", "a beam is 1 to 64 wide");
    refused("decode 0", "beam");
    refused("decode sideways", "sideways");
    refused("decode beam 3 alpha=x", "alpha");
    refused("decode beam 3 alpha=11", "alpha");
    refused("decode draw top-p=0", "top-p");
    refused("decode greedy +1", "has neither");
    refused("decode beam 3 cache=perhaps", "cache");
    must("decode beam 64; decode 1; decode +1");
    assert_int_equal(s.look.decoding.width, 2);
}

/* Another sentence, another search; A and B have one each. */
static void it_follows_the_text(void **state)
{
    (void)state;
    const Decoding *d = found("decode greedy");
    must("word cat chair");
    assert_null(session_decoding(&s, SIDE_B)); /* nothing old is shown */
    d = found("decode");
    assert_string_equal(d->line[0].word, "la");
    d = session_decoding(&s, SIDE_A);
    assert_true(d && d->done);
    assert_string_equal(d->line[0].word, "le");
}

/* With a change in force A writes as trained and B under it, each a search of its own, cached or not with the same
 * bits; taken back, B is A again, and another change is another search. */
static void a_change_is_in_force(void **state)
{
    (void)state;
    const Decoding *d = found("decode greedy");
    double trained = d->text->node[d->text->best].log_share, first = 0;
    static const char *const LINES[] = {
        "ablate decoder.blocks.0.cross_attn.z[h=2]",
        "set scale off",
        "ablate encoder.blocks.1.mlp.out",
        "set decoder.blocks.0.resid_post[t=0,d=3] 2",
        "mask decoder.blocks.0.self_attn.scores_scaled[t=2,u=0]",
    };
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        must(LINES[i]);
        assert_null(session_decoding(&s, SIDE_B)); /* nothing old is shown */
        d = found("decode");
        if (!d->done || *d->why || !d->same)
            fail_msg("%s: %s", LINES[i], *d->why ? d->why : "not the same bits");
        const double changed = d->text->node[d->text->best].log_share;
        assert_int_equal(d->how.edits.count > 0, 1);
        assert_int_equal(d->text->anew, strncmp(LINES[i], "mask", 4) == 0);
        if (memcmp(&changed, &trained, sizeof changed) == 0 || memcmp(&changed, &first, sizeof changed) == 0)
            fail_msg("%s changes nothing that is written", LINES[i]);
        first = changed;
        const Decoding *a = session_decoding(&s, SIDE_A);
        assert_true(a && a->done && !a->how.edits.count);
        assert_memory_equal(&a->text->node[a->text->best].log_share, &trained, sizeof trained);
        must("undo");
    }
    d = found("decode");
    assert_memory_equal(&d->text->node[d->text->best].log_share, &trained, sizeof trained);
}

static void pictures_write_nothing(void **state)
{
    (void)state;
    Err err = {{0}};
    assert_true(session_open_model(&s, NULL, &err));
    refused("decode", "writes no words");
    assert_null(session_decoding(&s, SIDE_B));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_tree_is_the_search, start, stop),
        cmocka_unit_test_setup_teardown(the_way_into_a_beginning, start, stop),
        cmocka_unit_test_setup_teardown(the_tokens_of_a_beginning, start_pieces, stop),
        cmocka_unit_test_setup_teardown(it_is_greedy_at_first, start, stop),
        cmocka_unit_test_setup_teardown(drawn_from_a_seed, start, stop),
        cmocka_unit_test_setup_teardown(another_word_is_taken, start, stop),
        cmocka_unit_test(a_branch_of_a_decoder),
        cmocka_unit_test_setup_teardown(back_to_the_tree, start, stop),
        cmocka_unit_test_setup_teardown(back_to_the_tree, start_pieces, stop),
        cmocka_unit_test_setup_teardown(a_beam_of_one_is_greedy, start, stop),
        cmocka_unit_test(one_bound_for_both),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(it_follows_the_text, start, stop),
        cmocka_unit_test_setup_teardown(a_change_is_in_force, start, stop),
        cmocka_unit_test_setup_teardown(pictures_write_nothing, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
