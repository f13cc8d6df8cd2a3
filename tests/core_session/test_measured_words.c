/* What is measured of a translator over many sentences, what its training left behind, and the ledger of its words: the
 * same numbers as counted here by another way. */
#define _GNU_SOURCE /* memmem */
#include "tests/core_session/asking.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/eval/evaluation.h"
#include "core/graph/anatomy.h"
#include "core/models/decode.h"
#include "core/session/ask/ledgers.h"
#include "core/session/learned/film.h"
#include "core/session/learned/measures.h"
#include "core/session/screens/heads.h"
#include "core/train/trainer.h"

enum { STEPS = 30, ATTENTIONS = 4, HEADS = 2, SOME = 40 };
static char folder[64];

/* Two blocks that read and one that writes: four attentions. */
static void make_model(void)
{
    Recipe r = SENTENCES_TASK.recipe(STEPS);
    Seq2seqConfig c = text_model_bundled_config();
    Err err = {""};
    snprintf(folder, sizeof folder, "/tmp/test_words.XXXXXX");
    assert_non_null(mkdtemp(folder));
    r.batch = 16;
    r.check = 8;
    r.log_every = 5;
    c.width = c.mlp = 16;
    c.heads = HEADS;
    c.head_dim = 8;
    c.encoder_layers = 2;
    c.decoder_layers = 1;
    c.embed_scale = 4;
    c.scale = 0.35355338f;
    Pool *pool = pool_new(2);
    Trainer *t = trainer_new(&r, &c, NULL, pool);
    while (!trainer_done(t))
        trainer_step(t);
    if (!trainer_write(t, folder, &err))
        fail_msg("%s", err.text);
    trainer_free(t);
    pool_free(pool);
}

static int start_words(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, folder, "the cat is tired", 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    commands = session_command_set();
    run("option pictures 500");
    return 0;
}

/* Is the sentence translated without a fault? By decoding it, word by word. */
static bool translated(const Model *m, const ParallelSentence *want)
{
    Decode d;
    Err err = {""};
    DecodeOptions o = decode_options_default();
    int source[SENTENCE_WORDS + 1];
    memcpy(source, want->en, (size_t)want->en_n * sizeof *source);
    source[want->en_n] = m->source.end;
    o.kind = DECODE_GREEDY;
    if (!decode_run(&d, m, source, want->en_n + 1, &o, NULL, NULL, NULL, &err))
        fail_msg("%s", err.text);
    bool right = d.length == want->fr_n + 1 && d.word[d.length - 1] == m->target.end;
    for (int i = 0; right && i < want->fr_n; i++)
        right = d.word[i] == want->fr[i];
    decode_free(&d);
    return right;
}

/* The bundled translator, where sentences do come out right: as decoding them one by one says. */
static void right_is_what_decoding_writes(void **state)
{
    (void)state;
    Model m;
    Err err = {""};
    if (!text_model_load(&m, "assets/trained/translator", NULL, NULL, &err))
        fail_msg("%s", err.text);
    Dataset *stock = dataset_sentences(3, SOME);
    const AccuracySetup setup = {.model = &m, .dataset = stock};
    Accuracy *e = accuracy_new(&setup, &err);
    assert_non_null(e);
    assert_false(accuracy_step(e, 0));
    assert_null(accuracy_result(e));
    assert_true(accuracy_step(e, CLOCK_NEVER));
    const AccuracyResult *r = accuracy_result(e);
    size_t right = 0;
    for (int i = 0; i < SOME; i++) {
        ParallelSentence one;
        sentence_make(SENTENCES_COMBINATIONS, 0, 3 + (uint64_t)i, &one);
        assert_int_equal(r->named[i], translated(&m, &one));
        right += (size_t)r->named[i];
    }
    assert_int_equal(r->right, right);
    assert_true(right > SOME * 9 / 10);
    accuracy_free(e);
    dataset_free(stock);
    model_free(&m);
}

/* Every cell against an examination of its own; a head off is one of the attention that the row stands for. */
static void census(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_measure_all(&s, MEASURE_CENSUS, MEASURES_ROUND, &err))
        fail_msg("%s", err.text);
    const Measure *m = session_measure(&s, MEASURE_CENSUS, NULL);
    const Graph *g = session_base(&s);
    assert_true(m->whole && m->pictures == MEASURES_ROUND);
    assert_int_equal(m->rows, ATTENTIONS);
    assert_int_equal(m->cols, HEADS);
    for (int i = -1; i < ATTENTIONS * HEADS; i += 3) {
        NodeId z = i < 0 ? NO_NODE : site_node(g, anatomy_attention(g, i / HEADS), SITE_Z);
        Edit off = {.kind = EDIT_ZERO, .axis = AXIS_NONE, .origin = "head"};
        if (i >= 0) {
            off.path = graph_node(g, z)->path;
            off.cells.n = 1;
            off.cells.range[0].axis = node_role(g, z, ROLE_HEAD);
            off.cells.range[0].from = i % HEADS;
            off.cells.range[0].to = i % HEADS + 1;
        }
        Dataset *stock = dataset_sentences(0, MEASURES_ROUND);
        const AccuracySetup setup = {
            .model = s.now->model, .edits = &off, .edit_count = i >= 0, .graph = g, .dataset = stock, .pool = s.pool};
        Accuracy *e = accuracy_new(&setup, &err);
        assert_true(e && accuracy_step(e, CLOCK_NEVER));
        assert_int_equal(accuracy_result(e)->right, i < 0 ? m->base_right : m->right[i]);
        accuracy_free(e);
        dataset_free(stock);
    }
    assert_string_equal(anatomy_part(g, anatomy_attention(g, 3))->scope, "decoder.blocks.0.cross_attn");
}

/* Whose weights are a row's, they add up to 1, and what nobody chose is between nothing and all. */
static void looks(void **state)
{
    (void)state;
    Err err = {""};
    assert_null(session_head_places(&s));
    if (!session_measure_all(&s, MEASURE_LOOKS, 1, &err))
        fail_msg("%s", err.text);
    const HeadPlacesResult *r = session_head_places(&s);
    assert_non_null(r);
    assert_int_equal(r->places, WORD_PLACES);
    assert_int_equal(r->attentions, ATTENTIONS);
    for (int a = 0; a < ATTENTIONS; a++) {
        double even = 0;
        for (int k = 0; k < WORD_PLACES; k++)
            even += r->even[a][k];
        assert_true(fabs(even - 1) < 1e-6 && r->uniform[a] > 0);
        for (int h = 0; h < HEADS; h++) {
            double sum = 0;
            for (int k = 0; k < WORD_PLACES; k++)
                sum += r->share[a * HEADS + h][k].mean;
            assert_true(fabs(sum - 1) < 1e-5 && r->distance[a * HEADS + h].mean >= 0);
        }
    }
    assert_true(r->even[2][WORD_AFTER] == 0); /* the decoder's own: nothing behind the word that asks */
    assert_true(r->even[0][WORD_AFTER] > 0 && r->even[3][WORD_AFTER] > 0);
}

/* One sentence by hand: distance and shares of its patterns in the session's own run. */
static void looks_of_one_sentence(void **state)
{
    (void)state;
    Err err = {""};
    ParallelSentence one;
    Buf line = {0};
    sentence_make(SENTENCES_COMBINATIONS, 0, 0, &one);
    const Model *m = s.now->model;
    words_text(&m->source, one.en, one.en_n, &line);
    buf_puts(&line, " > ");
    words_text(&m->target, one.fr, one.fr_n, &line);
    if (!session_open_input(&s, buf_str(&line), &err))
        fail_msg("%s: %s", buf_str(&line), err.text);
    Dataset *dataset = dataset_sentences(0, 1);
    HeadPlaces *w = head_places_new(m, session_base(&s), dataset, NULL, &err);
    assert_true(w && head_places_step(w, CLOCK_NEVER));
    const HeadPlacesResult *r = head_places_result(w);
    const Graph *g = session_base(&s);
    for (int a = 0; a < ATTENTIONS; a++) {
        const char *path = site_path(g, anatomy_attention(g, a), SITE_PATTERN);
        Dims d = graph_node(g, graph_find(g, path))->dims;
        int asks = g->axes[d.axis[1]].n, keys = g->axes[d.axis[2]].n;
        const float *x = session_need(&s, SIDE_A, path, &err);
        for (int h = 0; h < HEADS; h++) {
            double away = 0, itself = 0;
            for (int t = 0; t < asks; t++)
                for (int u = 0; u < keys; u++) {
                    double p = (double)x[(h * asks + t) * keys + u] / asks;
                    away += p * abs(t - u);
                    itself += t == u ? p : 0;
                }
            assert_true(fabs(away - r->distance[a * HEADS + h].mean) < 1e-5);
            assert_true(fabs(itself - r->share[a * HEADS + h][WORD_ITSELF].mean) < 1e-5);
        }
    }
    head_places_free(w);
    dataset_free(dataset);
    buf_free(&line);
}

/* The last snapshot is the model that is open: its own run of that sentence has the same patterns. */
static void film(void **state)
{
    (void)state;
    Err err = {""};
    WordFilm f;
    assert_false(session_word_film(&s, &f));
    run("training");
    assert_int_equal(s.place.screen, SCREEN_TRAINING);
    assert_true(session_word_film(&s, &f));
    assert_int_equal(f.history->snapshot[f.history->snapshot_count - 1].step, STEPS);
    assert_int_equal(f.history->snapshot[0].step, 0);
    Buf line = {0};
    for (int i = 0; i + 1 < f.history->text.source; i++)
        buf_printf(&line, "%s ", f.text->source[i]);
    buf_puts(&line, "> ");
    for (int i = 1; i < f.history->text.target; i++)
        buf_printf(&line, "%s ", f.text->target[i]);
    assert_non_null(strstr(buf_str(&line), "because it was too tired > l' animal"));
    if (!session_open_input(&s, buf_str(&line), &err))
        fail_msg("%s: %s", buf_str(&line), err.text);
    const Graph *g = session_base(&s);
    int last = f.history->snapshot_count - 1;
    for (int a = 0; a < ATTENTIONS; a++) {
        const char *path = site_path(g, anatomy_attention(g, a), SITE_PATTERN);
        const float *x = session_need(&s, SIDE_A, path, &err);
        for (int h = 0; h < HEADS; h++) {
            int asks, keys;
            const float *kept = history_pattern(f.history, last, a, h, &asks, &keys);
            assert_memory_equal(kept, x + h * asks * keys, (size_t)(asks * keys) * sizeof *kept);
            assert_memory_not_equal(kept, history_pattern(f.history, 0, a, h, &asks, &keys),
                                    (size_t)(asks * keys) * sizeof *kept);
        }
    }
    run("attention encoder.blocks.1.self_attn; head 1; training 2; query it");
    assert_true(session_word_film(&s, &f));
    assert_true(f.attention == 1 && f.head == 1 && f.row == 8);
    assert_string_equal(word_film_asks(&f, f.row), "it");
    Buf said = {0};
    assert_true(ask_say(&s, SIDE_B, &said, &err));
    has(buf_str(&said), "In enc 1 self head 1 the word it looks at step ");
    run("move down");
    assert_true(session_word_film(&s, &f));
    assert_string_equal(word_film_asks(&f, f.row), "was");
    refused("training 99", "they go from 0");
    buf_free(&said);
    buf_free(&line);
}

static void attentions(void **state)
{
    (void)state;
    run("attention 3; census");
    assert_int_equal(head_words_row(&s), 3);
    run("move up");
    assert_int_equal(head_words_row(&s), 2);
    run("move up; move up; move up; move up");
    assert_int_equal(head_words_row(&s), 0);
    assert_int_equal(s.place.screen, SCREEN_CENSUS);
    run("attention +1");
    assert_int_equal(head_words_row(&s), 1);
    refused("attention 9", "0 to 3");
    refused("attention", "encoder.blocks.0.self_attn");
}

/* A word against its rival, from the row under the cursor, its head table and why. */
static void ledgers(void **state)
{
    (void)state;
    Err err = {""};
    Buf text = {0};
    assert_true(session_open_input(&s, "the cat is tired > le chat est", &err));
    run("goto probs[t=2]; ledger");
    assert_int_equal(s.place.screen, SCREEN_LEDGER);
    const Ledger *l = session_ledger(&s, SIDE_B);
    assert_true(l && l->token == 2);
    assert_true(ledger_table(&s, SIDE_B, true, &text, false, &err));
    has(buf_str(&text), "dec 0 cross head 1");
    has(buf_str(&text), "dec 0 self head 0");
    has(buf_str(&text), "dec 0 MLP");
    has(buf_str(&text), "the word");
    has(buf_str(&text), "the same for every text");
    const char *head = strstr(buf_str(&text), "dec 0 cross head 1");
    assert_null(memmem(head, strcspn(head, "\n"), "same for all", 12)); /* it looks at what was typed */
    const char *bias = strstr(buf_str(&text), "dec 0 cross_attn.b_o");
    assert_non_null(bias);
    assert_non_null(memmem(bias, strcspn(bias, "\n"), "same for all", 12));
    run("view next; move up; say"); /* in the table */
    assert_int_equal(anatomy_attention_number(session_base(&s), ledger_attention(&s, SIDE_B)), 2);
    run("move up"); /* the encoder wrote nothing itself */
    assert_int_equal(anatomy_attention_number(session_base(&s), ledger_attention(&s, SIDE_B)), 2);
    run("in");
    assert_int_equal(s.place.screen, SCREEN_EXPLAIN);
    buf_clear(&text);
    assert_true(
        ask_why_text(&s, SIDE_B, "logits",
                     2 * (size_t)session_base(&s)->axes[graph_role(session_base(&s), ROLE_ANSWER, SEQUENCE_ANY)].n + 5,
                     &text, false, &err));
    has(buf_str(&text), "the same for every text");
    run("ledger le against=la");
    refused("ledger le against=le", "same class");
    refused("ledger probs[t=0,v=le]", "not a sum of what the blocks wrote");
    buf_free(&text);
}

static void remove_model(void)
{
    static const char *const FILES[] = {"model.safetensors", "config.json", "vocabulary.json", "history.safetensors",
                                        "recipe.json"};
    char path[160];
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* A word that stands twice has two numbers, and nobody could say which was meant. */
static void a_word_stands_once(void **state)
{
    (void)state;
    Err err = {""};
    Model m;
    Buf words = {0};
    char path[96];
    snprintf(path, sizeof path, "%s/vocabulary.json", folder);
    assert_true(file_read(path, 1 << 20, &words, &err));
    char *cat = strstr(words.data, "\"cat\"");
    assert_non_null(cat);
    memcpy(cat, "\"dog\"", 5);
    assert_true(file_write(path, words.data, words.len, &err));
    assert_false(text_model_load(&m, folder, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "'dog' stands twice"));
    memcpy(cat, "\"cat\"", 5);
    assert_true(file_write(path, words.data, words.len, &err));
    buf_free(&words);
    assert_true(text_model_load(&m, folder, NULL, NULL, &err));
    model_free(&m);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, start_words, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_is_what_decoding_writes),
        cmocka_unit_test(a_word_stands_once),
        WITH(census),
        WITH(looks),
        WITH(looks_of_one_sentence),
        WITH(film),
        WITH(attentions),
        WITH(ledgers),
    };
    make_model();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_model();
    return failed;
}
