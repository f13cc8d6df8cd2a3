/* The ledger of a word's logit: post-norm and pre-norm, of both stacks and of one, its entries are nodes that explain
 * themselves and add up to the number. */
#include "tests/core_models/text_bench.h"

#include "core/graph/edit.h"
#include "core/graph/explain.h"
#include "core/models/ledger.h"
#include "core/models/lexicon.h"

static float scalar(TextBench *b, NodeId n)
{
    return run_need(b->run, n)[0];
}

static float largest_entry(TextBench *b, const Ledger *l)
{
    float most = 0;
    for (int i = 0; i < l->count; i++) {
        NodeId n = l->entry[i].tokens != NO_NODE ? l->entry[i].tokens : l->entry[i].total;
        const float *x = run_need(b->run, n);
        for (size_t k = 0; k < graph_cells(&b->graph, n); k++)
            most = fmaxf(most, fabsf(x[k]));
    }
    return most;
}

/* The remainder as a share of the largest entry, which it must be small beside. */
static double checked(TextBench *b, const Ledger *l, const char *what)
{
    float most = largest_entry(b, l), rest = scalar(b, l->remainder);
    if (!(fabsf(rest) <= 1e-5f * most) || most == 0)
        fail_msg("%s: remainder %g of %g, largest entry %g", what, (double)rest, (double)scalar(b, l->value),
                 (double)most);
    return (double)(fabsf(rest) / most);
}

static Ledger ledger_of(TextBench *b, size_t cell, size_t against)
{
    Ledger l;
    Err err = {""};
    if (!ledger_add(&b->graph, b->nodes.logits, cell, against, &l, &err))
        fail_msg("%s", err.text);
    run_extend(b->run);
    return l;
}

static void shrink(TextBench *b, NodeId first)
{
    run_shrink(b->run, first);
    graph_truncate(&b->graph, first);
}

static const float *values_of(const void *run, NodeId n)
{
    return run_need((Run *)(uintptr_t)run, n);
}

static void explains_itself(TextBench *b, NodeId first)
{
    size_t cells = 0;
    for (NodeId n = first; n < b->graph.count; n++) {
        const float *stored = run_need(b->run, n);
        if (graph_node(&b->graph, n)->op == OP_LEAF)
            continue;
        Explain e = explain_open(&b->graph, n, 0);
        for (size_t c = 0; c < graph_cells(&b->graph, n); c++, cells++) {
            explain_move(&e, c);
            float x = explain_fold(&e, values_of, b->run);
            if (memcmp(&x, &stored[c], sizeof x) != 0)
                fail_msg("%s[%zu]: %g, folded %g", graph_node(&b->graph, n)->path, c, (double)stored[c], (double)x);
        }
    }
    assert_true(cells > 100);
}

static int count_of(const Ledger *l, LedgerKind kind)
{
    int n = 0;
    for (int i = 0; i < l->count; i++)
        n += l->entry[i].kind == kind;
    return n;
}

/* Every form, at the first, a middle and the last token. */
static void every_form(void **state)
{
    (void)state;
    enum { SOURCE = 7, TARGET = 6 };
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        TextBench b;
        Seq2seqConfig c = text_variant(i);
        text_bench_seeded(&b, &c, 21 + i, SOURCE, TARGET);
        bool decoder = seq2seq_has_decoder(&c), both = decoder && seq2seq_has_encoder(&c);
        int words = decoder ? c.target_words : c.source_words, tokens = decoder ? TARGET : SOURCE;
        for (int t = 0; t < tokens; t += t ? tokens - 1 - t : 2) {
            NodeId first = b.graph.count;
            size_t row = (size_t)t * (size_t)words;
            Ledger l = ledger_of(&b, row + 3, row + 5);
            checked(&b, &l, TEXT_VARIANTS[i].what);
            assert_int_equal(l.token, t);
            assert_int_equal(count_of(&l, LEDGER_HEADS), both      ? 2 * c.decoder_layers
                                                         : decoder ? c.decoder_layers
                                                                   : c.encoder_layers);
            assert_int_equal(count_of(&l, LEDGER_MLP), decoder ? c.decoder_layers : c.encoder_layers);
            assert_int_equal(count_of(&l, LEDGER_WORDS), 1);
            assert_int_equal(count_of(&l, LEDGER_POSITIONS), 1);
            assert_int_equal(count_of(&l, LEDGER_PUT_IN), 0);
            assert_true((l.tokens_too != NO_NODE) == both);
            const float *logits = run_need(b.run, b.nodes.logits);
            assert_true(fabsf(scalar(&b, l.value) - (logits[row + 3] - logits[row + 5])) <=
                        1e-6f * fabsf(logits[row + 3]));
            if (t == 2)
                explains_itself(&b, first);
            shrink(&b, first);
            if (t == tokens - 1)
                break;
        }
        text_bench_free(&b);
    }
}

/* What the words that a head looks at add up to is what it wrote, in both texts. */
static void tokens_add_up(void **state)
{
    (void)state;
    TextBench b;
    Seq2seqConfig c = text_variant(0);
    text_bench_seeded(&b, &c, 4, 7, 6);
    Ledger l = ledger_of(&b, (size_t)5 * (size_t)c.target_words + 2, LEDGER_ALONE);
    double heads = 0, tokens = 0;
    for (int i = 0; i < l.count; i++)
        heads += l.entry[i].kind == LEDGER_HEADS ? (double)scalar(&b, l.entry[i].total) : 0;
    for (int k = 0; k < 2; k++) {
        NodeId n = k ? l.tokens_too : l.tokens;
        const float *x = run_need(b.run, n);
        for (size_t i = 0; i < graph_cells(&b.graph, n); i++)
            tokens += (double)x[i];
    }
    assert_true(fabs(heads - tokens) <= 1e-5 * fmax(1, fabs(heads)));
    text_bench_free(&b);
}

/* The translator in the binary: il against elle, where it writes the pronoun. */
static void the_translator(void **state)
{
    (void)state;
    TextBench b = {0};
    Err err = {""};
    Words source = {0}, target = {0};
    if (!text_model_load(&b.model, "assets/trained/translator", NULL, NULL, &err) ||
        !words_parse(&source, &b.model.source, "the animal did not cross the street because it was too tired", true,
                     &err) ||
        !words_parse(&target, &b.model.target, "l' animal n' a pas traversé la rue parce qu'", false, &err))
        fail_msg("%s", err.text);
    memcpy(b.source, source.number, (size_t)source.n * sizeof *b.source);
    b.target[0] = b.model.target.start;
    memcpy(b.target + 1, target.number, (size_t)target.n * sizeof *b.target);
    b.input.source.n = source.n;
    b.input.target.n = target.n + 1;
    text_bench_start(&b);
    size_t row = (size_t)target.n * (size_t)b.model.text.target_words;
    Ledger l = ledger_of(&b, row + FR_IL, row + FR_ELLE);
    double share = checked(&b, &l, "the translator");
    assert_true(scalar(&b, l.value) > 0); /* the animal: il */
    print_message("il − elle = %.3f, remainder %.2g of the largest entry\n", (double)scalar(&b, l.value), share);
    words_free(&source);
    words_free(&target);
    text_bench_free(&b);
}

/* Switched off, a head writes nothing, and the rest still adds up; the words too. */
static void edited(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"decoder.blocks.1.cross_attn.z", "decoder.embed"};
    for (size_t i = 0; i < 2; i++) {
        TextBench b;
        Graph g;
        Ledger l;
        Err err = {""};
        Seq2seqConfig c = text_variant(0);
        Edit e = {.kind = EDIT_ZERO, .path = PATHS[i], .axis = AXIS_NONE, .origin = "test"};
        text_bench_seeded(&b, &c, 8, 7, 6);
        assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
        if (!ledger_add(&g, graph_find(&g, "logits"), 5 * (size_t)c.target_words, LEDGER_ALONE, &l, &err))
            fail_msg("%s: %s", PATHS[i], err.text);
        Run *r = run_new(&g, b.run, NULL);
        float rest = run_need(r, l.remainder)[0], most = 0;
        for (int k = 0; k < l.count; k++) {
            float x = run_need(r, l.entry[k].total)[0];
            const char *path = graph_node(&g, l.entry[k].part)->path;
            most = fmaxf(most, fabsf(x));
            if (strncmp(path, PATHS[i], strlen(PATHS[i])) == 0 && strstr(path, ".unedited"))
                assert_true(x == 0);
        }
        assert_true(fabsf(rest) <= 1e-5f * most);
        run_free(r);
        graph_free(&g);
        text_bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test(tokens_add_up),
        cmocka_unit_test(the_translator),
        cmocka_unit_test(edited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
