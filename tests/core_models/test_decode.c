/* Decoding: greedy is a beam of one, the cache changes no bit, every step is a row of one pass over the text. */
#include "tests/core_models/text_bench.h"

#include "core/graph/anatomy.h"
#include "core/graph/edit.h"
#include "core/models/decode.h"

static const int SOURCE_WORDS[] = {4, 9, 3, 12, 7, 2};
enum { SOURCE_N = 6 };

static void decode(Decode *d, const Model *m, const DecodeOptions *o)
{
    Err err = {""};
    int n = seq2seq_has_encoder(&m->text) ? SOURCE_N : 3;
    if (!decode_run(d, m, SOURCE_WORDS, n, o, NULL, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static void same_tree(const Decode *a, const Decode *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->best, b->best);
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->word, b->word, (size_t)a->length * sizeof *a->word);
    for (int i = 0; i < a->count; i++) {
        assert_int_equal(a->node[i].word, b->node[i].word);
        assert_int_equal(a->node[i].parent, b->node[i].parent);
        assert_memory_equal(&a->node[i].log_share, &b->node[i].log_share, sizeof(double));
        assert_memory_equal(&a->node[i].score, &b->node[i].score, sizeof(double));
    }
}

/* What a greedy choice passed over: the step's own shares, the largest first, none of them larger than the chosen. */
static void rivals_are_next(const Decode *d, const Model *m)
{
    const size_t words = (size_t)m->text.target_words;
    for (int i = 1; i < d->count; i++) {
        const DecodeNode *n = &d->node[i], *from = &d->node[n->parent];
        if (n->forced || !from->run)
            continue;
        const float *p = run_need(from->run, from->nodes.probs) + graph_cells(from->graph, from->nodes.probs) - words;
        double last = n->share;
        assert_int_equal(from->rivals, DECODE_RIVALS);
        for (int k = 0; k < from->rivals; k++) {
            assert_true(from->rival[k].word != n->word && from->rival[k].share <= last);
            assert_true((double)p[from->rival[k].word] >= from->rival[k].share);
            assert_true((double)p[from->rival[k].word] <= from->rival[k].share);
            last = from->rival[k].share;
        }
    }
}

static void greedy_is_a_beam_of_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Model m;
        Decode a, b;
        Seq2seqConfig c = text_variant(i);
        DecodeOptions o = decode_options_default();
        if (!seq2seq_has_decoder(&c))
            continue;
        text_model_seeded(&m, &c, 11);
        o.most = 9;
        decode(&a, &m, &o);
        rivals_are_next(&a, &m);
        o.kind = DECODE_BEAM;
        o.width = 1;
        decode(&b, &m, &o);
        assert_memory_equal(a.word, b.word, (size_t)a.length * sizeof *a.word);
        assert_int_equal(a.length, b.length);
        decode_free(&b);
        o.kind = DECODE_SAMPLE; /* of one word there is nothing to draw */
        o.top_k = 1;
        decode(&b, &m, &o);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.word, b.word, (size_t)a.length * sizeof *a.word);
        decode_free(&b);
        decode_free(&a);
        model_free(&m);
    }
}

/* An answer that is given its own first words goes on as it did, with and without the cache. */
static void a_given_beginning_is_carried_on(void **state)
{
    (void)state;
    int tried = 0;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Model m;
        Decode whole, rest;
        Seq2seqConfig c = text_variant(i);
        DecodeOptions o = decode_options_default();
        Err err;
        if (!seq2seq_has_decoder(&c) || !seq2seq_has_encoder(&c))
            continue;
        text_model_seeded(&m, &c, 11);
        o.most = 8;
        decode(&whole, &m, &o);
        for (int k = 0; k < 2 && whole.length > 3; k++) {
            o.begin = whole.word;
            o.begin_n = 2;
            o.most = 6;
            o.cache = !k;
            decode(&rest, &m, &o);
            assert_int_equal(rest.length, whole.length - 2);
            assert_memory_equal(rest.word, whole.word + 2, (size_t)rest.length * sizeof *rest.word);
            decode_free(&rest);
            tried++;
        }
        o.begin = (const int[]){m.target.n};
        o.begin_n = 1;
        assert_false(decode_run(&rest, &m, SOURCE_WORDS, SOURCE_N, &o, NULL, NULL, NULL, &err));
        decode_free(&whole);
        model_free(&m);
    }
    assert_true(tried > 1);
}

/* Every cell of the newest token that both ways compute is the same bits, and the cache computes less. */
static void the_cache_changes_no_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Model m;
        Seq2seqConfig c = text_variant(i);
        if (!seq2seq_has_decoder(&c))
            continue;
        text_model_seeded(&m, &c, 11);
        for (int kind = DECODE_GREEDY; kind <= DECODE_SAMPLE; kind++) {
            Decode with, without;
            DecodeOptions o = decode_options_default();
            size_t cells = 0;
            o.kind = (DecodeKind)kind;
            o.most = 8;
            o.seed = 3;
            decode(&with, &m, &o);
            o.cache = false;
            decode(&without, &m, &o);
            same_tree(&with, &without);
            for (int k = 0; k < with.count; k++) {
                const Graph *g = with.node[k].graph, *h = without.node[k].graph;
                for (NodeId n = 0; with.node[k].run && n < g->count; n++) {
                    NodeId other = graph_find(h, graph_node(g, n)->path);
                    if (other == NO_NODE || graph_node(g, n)->op == OP_LEAF)
                        continue;
                    const float *a = run_need(with.node[k].run, n), *b = run_need(without.node[k].run, other);
                    size_t few = graph_cells(g, n), many = graph_cells(h, other);
                    Dims d = graph_node(g, n)->dims;
                    bool token_first = d.n && g->axes[d.axis[0]].role == ROLE_QUERY;
                    if (few == many || token_first) { /* the newest token's row is the last */
                        assert_memory_equal(a, b + (many - few), few * sizeof *a);
                        cells += few;
                    }
                }
            }
            assert_true(cells > 1000);
            assert_true(with.cost.multiply_adds < without.cost.multiply_adds);
            assert_true(with.cost.bytes < without.cost.bytes);
            assert_true(with.cost.cache_bytes > 0 && without.cost.cache_bytes < 1);
            assert_int_equal(with.cost.steps, without.cost.steps);
            /* nothing is kept but the newest step, and of that as little as can be: the words, shares are the same */
            Decode forgets;
            o.cache = o.forget = true;
            o.memory = 1;
            decode(&forgets, &m, &o);
            same_tree(&with, &forgets);
            if (kind == DECODE_BEAM || seq2seq_has_encoder(&c))
                assert_true(with.cost.multiply_adds <= forgets.cost.multiply_adds &&
                            with.cost.multiply_adds >= forgets.cost.multiply_adds);
            else /* what may follow words that are given is not asked */
                assert_true(forgets.cost.multiply_adds < with.cost.multiply_adds);
            decode_free(&forgets);
            decode_free(&with);
            decode_free(&without);
        }
        model_free(&m);
    }
}

/* Changes in force: with and without what is kept the same words, shares and bits; another text than as trained; and
 * the last step's logits are those of one pass over the whole text under the same changes. What reaches other rows than
 * its own is computed anew. */
static void changes_in_force(void **state)
{
    (void)state;
    enum { GIVEN = 3, MOST = 8, CHANGES = 9 };
    static const char *const PATHS[CHANGES] = {"self_attn.z",          "self_attn.scale", "mlp.post",
                                               "resid_post",           "self_attn.k",     "self_attn.pattern",
                                               "self_attn.scores_raw", "mlp.out",         "mlp.out"};
    static const EditKind KINDS[CHANGES] = {EDIT_ZERO, EDIT_SCALE, EDIT_MAP,  EDIT_SET,     EDIT_VALUES,
                                            EDIT_ZERO, EDIT_MASK,  EDIT_MEAN, EDIT_REDIRECT};
    int anew = 0, other = 0;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Seq2seqConfig c = text_variant(i);
        if (!seq2seq_has_decoder(&c))
            continue;
        const bool reads = seq2seq_has_encoder(&c);
        TextBench b;
        Decode plain;
        DecodeOptions o = decode_options_default();
        o.most = MOST;
        text_bench_seeded(&b, &c, 11, reads ? SOURCE_N : 0, GIVEN + !reads);
        decode(&plain, &b.model, &o);
        for (int k = 0; k < CHANGES; k++) {
            char path[80], before[80];
            snprintf(path, sizeof path, "decoder.blocks.0.%s", PATHS[k]);
            snprintf(before, sizeof before, "decoder.blocks.0.self_attn.out");
            NodeId n = graph_find(&b.graph, path);
            assert_true(n != NO_NODE);
            const Dims d = graph_node(&b.graph, n)->dims;
            const size_t cells = graph_cells(&b.graph, n);
            float *values = xfloats(cells);
            for (size_t j = 0; j < cells; j++)
                values[j] = 0.25f * (float)(j % 7) - 0.5f;
            Edit e = {.kind = KINDS[k],
                      .path = path,
                      .factor = 3,
                      .value = 4,
                      .axis = d.axis[0],
                      .data = KINDS[k] == EDIT_VALUES ? values : NULL,
                      .other = KINDS[k] == EDIT_REDIRECT ? before : NULL,
                      .map = MAP_RELU,
                      .origin = "a test"};
            const int chosen = k == 0 || k == 5   ? dims_role(&b.graph, d, ROLE_HEAD)
                               : k == 3 || k == 6 ? d.axis[k == 6]
                                                  : -1;
            if (chosen >= 0)
                e.cells = (Selection){.n = 1, .range = {{chosen, 1, 2}}};
            Decode with, without, forgets;
            o.edits = (DecodeEdits){&e, 1, &b.graph};
            decode(&with, &b.model, &o);
            o.cache = false;
            decode(&without, &b.model, &o);
            o.cache = o.forget = true;
            decode(&forgets, &b.model, &o);
            o.forget = false;
            same_tree(&with, &without);
            same_tree(&with, &forgets);
            assert_false(without.anew);
            assert_int_equal(with.anew, KINDS[k] == EDIT_MEAN || KINDS[k] == EDIT_MASK);
            assert_true((with.cost.cache_bytes > 0) == !with.anew);
            anew += with.anew;
            other += plain.length != with.length ||
                     memcmp(&plain.node[plain.best].log_share, &with.node[with.best].log_share, sizeof(double)) != 0;
            /* one pass over all that was written but the last word */
            Graph g, edited = {0};
            int word[GIVEN + MOST + 2], count = 0;
            Err err = {""};
            if (model_starts(&b.model))
                word[count++] = model_start(&b.model);
            for (int j = 0; j < GIVEN && !reads; j++)
                word[count++] = SOURCE_WORDS[j];
            for (int j = 0; j + 1 < with.length; j++)
                word[count++] = with.word[j];
            graph_init(&g);
            Seq2seqNodes nodes;
            seq2seq_build(&g, &c, &b.model.weights,
                          &(Seq2seqInput){.source = {.word = SOURCE_WORDS, .n = reads ? SOURCE_N : 0},
                                          .target = {.word = word, .n = count}},
                          &nodes);
            if (KINDS[k] != EDIT_VALUES) { /* whose values are of so many tokens */
                assert_true(graph_edit(&edited, &g, &e, 1, &err));
                Run *under = run_new(&g, NULL, NULL), *run = run_new(&edited, under, NULL);
                int last = with.node[with.best].parent;
                const size_t words = (size_t)c.target_words;
                const float *step = run_need(with.node[last].run, with.node[last].nodes.logits),
                            *whole = run_need(run, graph_find(&edited, "logits"));
                assert_memory_equal(step + graph_cells(with.node[last].graph, with.node[last].nodes.logits) - words,
                                    whole + (size_t)(count - 1) * words, words * sizeof *step);
                run_free(run);
                run_free(under);
                graph_free(&edited);
            }
            graph_free(&g);
            free(values);
            decode_free(&with);
            decode_free(&without);
            decode_free(&forgets);
        }
        decode_free(&plain);
        text_bench_free(&b);
    }
    assert_true(anew > 0);
    print_message("texts that a change made others: %d\n", other);
    assert_true(other > anew);
}

/* One pass over source and result has every step in its rows, bit for bit. */
static void steps_are_rows_of_one_pass(void **state)
{
    (void)state;
    TextBench b = {0};
    Decode d;
    Seq2seqConfig c = text_variant(0);
    DecodeOptions o = decode_options_default();
    text_model_seeded(&b.model, &c, 11);
    o.most = 8;
    decode(&d, &b.model, &o);
    memcpy(b.source, SOURCE_WORDS, sizeof SOURCE_WORDS);
    b.input.source.n = SOURCE_N;
    b.input.target.n = d.length;
    b.target[0] = 1;
    for (int i = 1; i < d.length; i++)
        b.target[i] = d.word[i - 1];
    text_bench_start(&b);
    const float *all = run_need(b.run, b.nodes.logits);
    size_t words = (size_t)c.target_words;
    for (int at = d.node[d.best].parent; at >= 0; at = d.node[at].parent) {
        const float *last = run_need(d.node[at].run, d.node[at].nodes.logits);
        size_t cells = graph_cells(d.node[at].graph, d.node[at].nodes.logits);
        assert_memory_equal(last + cells - words, all + (size_t)d.node[at].length * words, words * sizeof *all);
    }
    decode_free(&d);
    text_bench_free(&b);
}

/* By hand: with two beginnings and the penalty off, no text scores better than the beam's; shares multiply. */
static void scores_add_up(void **state)
{
    (void)state;
    Model m;
    Decode d;
    Seq2seqConfig c = text_variant(1);
    DecodeOptions o = decode_options_default();
    text_model_seeded(&m, &c, 5);
    o.kind = DECODE_BEAM;
    o.most = 6;
    decode(&d, &m, &o);
    for (int i = 1; i < d.count; i++) {
        const DecodeNode *n = &d.node[i], *p = &d.node[n->parent];
        assert_true(n->parent < i && n->length == p->length + 1);
        assert_true(fabs(n->log_share - (p->log_share + log(n->share))) < 1e-9);
        assert_true(fabs(n->score - n->log_share / pow((5.0 + n->length) / 6.0, 0.6)) < 1e-9);
        if (n->ended)
            assert_true(d.node[d.best].score >= n->score);
        assert_true(n->ended == (n->word == m.target.end || n->length == 6));
        assert_true(n->cut == (n->word != m.target.end && n->length == 6));
    }
    decode_free(&d);
    model_free(&m);
}

static void sampling_has_a_seed(void **state)
{
    (void)state;
    Model m;
    Seq2seqConfig c = text_variant(0);
    text_model_seeded(&m, &c, 11);
    DecodeOptions o = decode_options_default();
    Decode a, b;
    int different = 0;
    o.kind = DECODE_SAMPLE;
    o.most = 8;
    o.temperature = 2;
    for (uint64_t seed = 0; seed < 6; seed++) {
        o.seed = seed;
        decode(&a, &m, &o);
        decode(&b, &m, &o);
        same_tree(&a, &b);
        decode_free(&b);
        o.seed = seed + 100;
        decode(&b, &m, &o);
        different += a.length != b.length || memcmp(a.word, b.word, (size_t)a.length * sizeof *a.word) != 0;
        decode_free(&a);
        decode_free(&b);
        o.seed = seed; /* the fewest words that together have almost nothing: one */
        o.top_p = 1e-9;
        decode(&a, &m, &o);
        o.kind = DECODE_GREEDY;
        decode(&b, &m, &o);
        assert_memory_equal(a.word, b.word, (size_t)a.length * sizeof *a.word);
        decode_free(&a);
        decode_free(&b);
        o.kind = DECODE_SAMPLE;
        o.top_p = 1;
    }
    assert_true(different >= 4);
    model_free(&m);
}

/* Under a budget, and with the runs of read beginnings gone, the same tree; less is held at once. */
static void kept_to_the_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        Seq2seqConfig c = text_variant(i);
        if (!seq2seq_has_decoder(&c))
            continue;
        Model m;
        text_model_seeded(&m, &c, 11);
        for (int k = 0; k < 4; k++) {
            Decode all, little;
            DecodeOptions o = decode_options_default();
            o.kind = k / 2 ? DECODE_BEAM : DECODE_GREEDY;
            o.cache = k % 2;
            o.width = 3;
            o.most = 6;
            decode(&all, &m, &o);
            o.forget = true;
            o.memory = 1;
            decode(&little, &m, &o);
            same_tree(&all, &little);
            size_t held[2] = {0, 0}, most[2] = {0, 0};
            const Decode *d[] = {&all, &little};
            for (int j = 0; j < 2; j++)
                for (int n = 0; n < d[j]->count; n++)
                    if (d[j]->node[n].run) {
                        const size_t peak = run_peak_bytes(d[j]->node[n].run);
                        held[j] += run_bytes(d[j]->node[n].run);
                        most[j] = peak > most[j] ? peak : most[j];
                    }
            assert_true(held[1] > 0 && held[1] < held[0] / 2);
            assert_true(most[1] < most[0]);
            decode_free(&all);
            decode_free(&little);
        }
        model_free(&m);
    }
}

static bool stop_at_three(void *context, int words)
{
    (void)context;
    return words < 3;
}

static void what_cannot_be(void **state)
{
    (void)state;
    Model m;
    Decode d;
    Err err = {""};
    Seq2seqConfig c = text_variant(0);
    text_model_seeded(&m, &c, 11);
    const int bad[] = {4, 99}, negative[] = {-1};
    DecodeOptions o = decode_options_default();
    assert_false(decode_run(&d, &m, bad, 2, &o, NULL, NULL, NULL, &err));
    assert_false(decode_run(&d, &m, negative, 1, &o, NULL, NULL, NULL, &err));
    assert_false(decode_run(&d, &m, bad, 0, &o, NULL, NULL, NULL, &err));
    Decode all;
    o.kind = DECODE_BEAM; /* what was written by then is kept: a beginning of three words, not ended by itself */
    for (o.width = 1; o.width <= 3; o.width += 2) {
        assert_false(decode_run(&d, &m, SOURCE_WORDS, SOURCE_N, &o, NULL, stop_at_three, NULL, &err));
        assert_non_null(strstr(err.text, "interrupted after 3 words"));
        assert_true(d.stopped && !decode_cut(&d) && d.length >= 1 && d.length <= 3);
        if (o.width == 1) {
            assert_true(decode_run(&all, &m, SOURCE_WORDS, SOURCE_N, &o, NULL, NULL, NULL, &err));
            assert_true(!all.stopped && d.length == 3 && all.length > 3);
            assert_memory_equal(d.word, all.word, 3 * sizeof *d.word);
            decode_free(&all);
        }
        decode_free(&d);
    }
    o = decode_options_default();
    static const DecodeOptions wrong[] = {
        {.kind = DECODE_GREEDY, .most = 0},
        {.kind = DECODE_BEAM, .most = 5, .width = 0},
        {.kind = DECODE_BEAM, .most = 5, .width = 4, .alpha = -1},
        {.kind = DECODE_SAMPLE, .most = 5, .temperature = -1, .top_p = 1},
        {.kind = DECODE_SAMPLE, .most = 5, .temperature = 1, .top_p = 0},
        {.kind = DECODE_SAMPLE, .most = 5, .temperature = 1, .top_p = 1, .top_k = -2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(decode_run(&d, &m, SOURCE_WORDS, SOURCE_N, &wrong[i], NULL, NULL, NULL, &err));
    for (size_t i = 0; i < m.block_cells; i++)
        m.block[i] = NAN; /* damaged weights are said, not crashed on */
    for (DecodeKind kind = DECODE_GREEDY; kind <= DECODE_SAMPLE; kind++) {
        o.kind = kind;
        assert_false(decode_run(&d, &m, SOURCE_WORDS, SOURCE_N, &o, NULL, NULL, NULL, &err));
        assert_non_null(strstr(err.text, "no next word has a probability that is a number"));
        assert_int_equal(d.length, 0);
    }
    o = decode_options_default();
    model_free(&m);
    c = text_variant(5);
    text_model_seeded(&m, &c, 11);
    assert_false(decode_run(&d, &m, SOURCE_WORDS, SOURCE_N, &o, NULL, NULL, NULL, &err));
    model_free(&m);
}

/* Logits log 8, 4, 2, 1, 1 and one that is never written: at temperature ½ they count as 64, 16, 4, 1, 1. */
static void what_a_word_is_drawn_from(void **state)
{
    (void)state;
    const float logit[] = {0.6931472f, 9, 2.0794415f, 0, 1.3862944f, 0};
    const float p[] = {2, 90, 8, 1, 4, 1}; /* passed on, whatever they are */
    const bool may[] = {true, false, true, true, true, true};
    const int order[] = {2, 4, 0, 3, 5};
    DecodeOptions o = decode_options_default();
    o.kind = DECODE_SAMPLE;
    o.temperature = 0.5;
    o.top_k = 3;
    o.top_p = 0.9; /* 64 of 84 are less, 80 are more */
    Rng rng = rng_seed(1, 1);
    DecodeDraw d;
    int drawn[6] = {0};
    for (int i = 0; i < 1000; i++) {
        const int word = decode_draw(&d, logit, p, may, 6, &o, &rng);
        drawn[word]++;
        assert_true(d.taken == d.choice[word == 2 ? 0 : 1].drawn);
    }
    assert_true(d.words == 5 && d.top_k == 3 && d.left == 2 && d.count == 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(d.choice[i].word, order[i]);
        assert_true(d.choice[i].share == p[order[i]]);
        assert_int_equal(d.choice[i].out, i < 2 ? DECODE_DRAWABLE : i < 3 ? DECODE_TOP_P : DECODE_TOP_K);
    }
    assert_true(fabs(d.choice[0].drawn - 0.8) < 1e-6 && fabs(d.choice[1].drawn - 0.2) < 1e-6);
    assert_true(d.choice[2].drawn == 0 && d.choice[3].drawn == 0);
    assert_int_equal(drawn[2] + drawn[4], 1000);
    assert_true(drawn[2] > 750 && drawn[2] < 850);
    o = (DecodeOptions){.kind = DECODE_SAMPLE, .most = 1, .temperature = 1, .top_p = 1};
    decode_draw(&d, logit, p, may, 6, &o, &rng);
    double sum = 0;
    for (int i = 0; i < d.count; i++)
        sum += d.choice[i].drawn;
    assert_true(d.left == 5 && d.top_k == 5 && fabs(sum - 1) < 1e-12 && fabs(d.choice[0].drawn - 0.5) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_is_a_beam_of_one),
        cmocka_unit_test(a_given_beginning_is_carried_on),
        cmocka_unit_test(the_cache_changes_no_bit),
        cmocka_unit_test(changes_in_force),
        cmocka_unit_test(steps_are_rows_of_one_pass),
        cmocka_unit_test(scores_add_up),
        cmocka_unit_test(sampling_has_a_seed),
        cmocka_unit_test(kept_to_the_memory),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(what_a_word_is_drawn_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
