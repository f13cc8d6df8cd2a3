/* A word of a text changed by hand: what stands beside what, what is named when it can't be, and that nothing before a
 * changed word of the target knows of it; unless the mask is broken, and then the test says so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/io/tensors.h"
#include "core/session/ask/ledgers.h"
#include "core/session/command.h"
#include "core/session/difference.h"
#include "core/session/exhibit.h"
#include "core/session/learned/neurons.h"
#include "core/session/screens/patches.h"

static Session s;
static Commands all;

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    all = session_command_set();
    if (!session_init(&s, "translator", NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int start_numbers(void **state) /* a model that has no names for its words */
{
    (void)state;
    Err err = {{0}};
    all = session_command_set();
    if (!session_init(&s, "tests/data/oracle/encdec", "3 5 4", 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int start_experts(void **state) /* block 1 has one MLP, the others experts */
{
    (void)state;
    Err err = {{0}};
    all = session_command_set();
    if (!session_init(&s, "tests/data/families/words_qwen3_moe", "ids:3,1,4", 1, NULL, NULL, &err))
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
    if (!command_do(&s, &all, line, LINE_FOREIGN, &err)) /* no file is read for it */
        fail_msg("%s: %s", line, err.text);
}

static void own(const char *line) /* it may name a file */
{
    Err err = {{0}};
    if (!command_do(&s, &all, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
}

static void refused(const char *line, const char *why)
{
    Err err = {{0}};
    assert_false(command_do(&s, &all, line, LINE_FOREIGN, &err));
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' does not say '%s'", line, err.text, why);
}

static const char *word_at(Side side, int text, int place)
{
    const Text *t = &session_exhibit(&s, side)->input.text[text];
    return place < t->count ? t->label[place] : "";
}

static void a_word_of_the_source(void **state)
{
    (void)state;
    must("word tired wide");
    assert_true(session_pinned(&s));
    assert_string_equal(word_at(SIDE_A, TEXT_SOURCE, 11), "tired");
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 11), "wide");
    assert_string_equal(word_at(SIDE_A, TEXT_TARGET, 11), "il");
    assert_string_equal(word_at(SIDE_B, TEXT_TARGET, 11), "elle");
    assert_string_equal(session_input(&s, SIDE_B)->path, "the animal did not cross the street because it was too wide");
    must("word source the#2 a"); /* A stays what was pinned */
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 5), "a");
    assert_string_equal(word_at(SIDE_A, TEXT_SOURCE, 5), "the#2");
    Err err = {{0}};
    Leak leak;
    assert_false(leak_find(&s, &leak, &err)); /* other sources: every word may know of that */
}

/* Before the first word that A and B write otherwise they answer alike: the cursor leaves the first word for it, unless
 * the reader has moved it. */
static void the_cursor_goes_to_what_differs(void **state)
{
    (void)state;
    must("goto logits; word tired wide");
    const Graph *g = session_base(&s);
    const int target = graph_role(g, ROLE_QUERY, SEQUENCE_TARGET), source = graph_role(g, ROLE_QUERY, SEQUENCE_SOURCE);
    assert_int_equal(s.place.at[target], 10); /* qu': il, elle */
    assert_int_equal(s.place.at[source], 11); /* tired, wide */
    must("patching tokens");
    assert_int_equal(s.look.patches.col, 11);
    char read[64], written[64];
    patches_col_name(&s, 0, 10, false, read, sizeof read);
    patches_col_name(&s, 3, 10, false, written, sizeof written); /* the first row of the decoder */
    assert_string_equal(read, "too");
    assert_string_equal(written, "qu'");
    must("back; goto logits; query 3; word wide lazy");
    assert_int_equal(s.place.at[target], 3);
}

static void what_is_no_word(void **state)
{
    (void)state;
    refused("word tired wde", "'wide' is");
    refused("word tired xyzzyq", "--vocabulary");
    refused("open", "expected the text to read; the one on show is: the ");
    refused("word purple wide", "there is no 'purple' in either text");
    refused("word </s> wide", "stands for no word");
    refused("word target 99 wide", "there is no '99' in the target");
    refused("word", "tired wide");
    refused("leak", "nothing to compare");
    assert_false(session_pinned(&s));
}

/* Apostrophes around all of a text are a shell's; those inside it are the text's. */
static void apostrophes_around_a_text(void **state)
{
    static const struct {
        const char *line, *text;
    } CASES[] = {{"open 'the cat is tired'", "the cat is tired"},
                 {"open 'the cat is tired' ", "the cat is tired"},
                 {"open 'cat'", "cat"},
                 {"open 'cat' is 'tired'", "'cat' is 'tired'"}, /* no pair around all of it */
                 {"open \"the cat\"", "the cat"}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        own(CASES[i].line);
        assert_string_equal(session_input(&s, SIDE_B)->path, CASES[i].text);
    }
    own("open the cat is tired; word 'tired' 'wide'");
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 3), "wide");
}

/* They are typed as numbers, or as they are shown. */
static void words_without_names(void **state)
{
    (void)state;
    must("word w5 7");
    assert_string_equal(word_at(SIDE_A, TEXT_SOURCE, 1), "w5");
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 1), "w7");
    must("word w7 w12");
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 0), "w3");
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 1), "w12");
    assert_string_equal(word_at(SIDE_B, TEXT_SOURCE, 2), "w4");
    refused("word w3 w13", "words are 0 to 12");
    refused("word w3 wide", "give numbers from 0 to 12");
    refused("word w3 w", "give numbers from 0 to 12");
    refused("word w3 ww3", "give numbers from 0 to 12");
}

static bool same_numbers(const Text *a, const Text *b, int except)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = i == except || a->word[i] == b->word[i];
    return same;
}

/* What opening puts in front of a target is not handed to it once more, whatever that word is called; and a source's
 * segments stay two. */
static void one_start(void **state)
{
    (void)state;
    static const char *const MODELS[] = {"bart", "marian", "t5", "flan_t5"};
    Err err = {{0}};
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        char line[80];
        Leak leak;
        snprintf(line, sizeof line, "model tests/data/families/words_%s", MODELS[i]);
        must("pin off");
        own(line);
        must("open ids:5,7,9 > ids:3,4,6");
        must("word target w4 w8");
        const Text *a = session_exhibit(&s, SIDE_A)->input.text, *b = s.now->input.text;
        assert_true(same_numbers(&a[TEXT_SOURCE], &b[TEXT_SOURCE], -1));
        assert_true(same_numbers(&a[TEXT_TARGET], &b[TEXT_TARGET], 2));
        assert_int_equal(b[TEXT_TARGET].word[2], 8);
        if (!leak_find(&s, &leak, &err))
            fail_msg("%s: %s", MODELS[i], err.text);
        assert_int_equal(leak.first, 2);
        assert_int_equal(leak.differ, 0);
        refused("word target 0 w8", "stands for no word");
        must("word source w7 w8 keep");
        a = session_exhibit(&s, SIDE_A)->input.text;
        b = s.now->input.text;
        assert_true(same_numbers(&a[TEXT_SOURCE], &b[TEXT_SOURCE], 1));
        assert_int_equal(b[TEXT_TARGET].count, 4);
    }
    must("pin off");
    own("model tests/data/families/words_bert");
    must("open ids:3,7,1 | ids:5,6");
    must("word w7 w9");
    const Text *a = session_exhibit(&s, SIDE_A)->input.text, *b = s.now->input.text;
    assert_true(same_numbers(a, b, 1) && b->word[1] == 9);
    assert_memory_equal(a->segment, b->segment, 5 * sizeof *a->segment);
    refused("word w7 w9999", "there is no");
    refused("word w9 w9999", "have no names");
}

/* Nothing of a text is cut off in silence: a text to write that is too long is refused, seventy numbers are read. */
static void long_texts(void **state)
{
    (void)state;
    char text[8 + 3 * 100];
    Err err = {{0}};
    strcpy(text, "3 5 4 >");
    for (int i = 0; i < 100; i++)
        strcat(text, " 2");
    assert_false(session_open_input(&s, text, &err));
    assert_non_null(strstr(err.text, "a text to write may have at most 64 words"));
    *text = '\0';
    for (int i = 0; i < 70; i++)
        strcat(text, " 2");
    strcat(text, " >");
    if (!session_open_input(&s, text, &err))
        fail_msg("%s", err.text);
    assert_int_equal(s.now->input.text[TEXT_SOURCE].count, 70);
    char *longer = calloc(2 * 700 + 3, 1);
    assert_non_null(longer);
    for (int i = 0; i < 700; i++)
        strcat(longer, "2 ");
    if (!session_open_input(&s, strcat(longer, ">"), &err))
        fail_msg("%s", err.text);
    assert_int_equal(s.now->input.text[TEXT_SOURCE].count, 700);
    free(longer);
    must("open 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2"); /* as many words as a text has, without quotes */
    assert_int_equal(s.now->input.text[TEXT_SOURCE].count, 20);
    refused("goto 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2", "more words than any command takes");
}

/* A text that another model can't read gives way to one of its own, and that is said; one that it can stays. */
static void another_model_of_words(void **state)
{
    (void)state;
    must("open the cat is tired");
    own("model tests/data/families/words_llama");
    assert_non_null(strstr(buf_str(&s.said), "The text before is none of its"));
    assert_true(s.now->input.invented);
    own("model tests/data/families/words_mistral"); /* what nobody asked for does not stay */
    assert_true(s.now->input.invented);
    must("model translator");
    assert_string_equal(s.model_path, "translator");
    assert_false(s.now->input.invented);
    must("open the cat is tired");
    must("model translator");
    assert_null(strstr(buf_str(&s.said), "The text before"));
    assert_string_equal(s.now->input.path, "the cat is tired");
}

/* Each word of the target in turn: whatever stands before it is the same bits, and something behind it is not. */
static void nothing_before_a_word_knows_of_it(void **state)
{
    (void)state;
    int words = s.now->input.text[TEXT_TARGET].count;
    assert_int_equal(words, 15);
    for (int i = 1; i < words; i++) {
        char line[64];
        Err err = {{0}};
        Leak leak;
        snprintf(line, sizeof line, "word target %d chat", i);
        must(line);
        if (!leak_find(&s, &leak, &err))
            fail_msg("%s", err.text);
        assert_int_equal(leak.first, i);
        assert_int_equal(leak.changed, 1);
        assert_int_equal(leak.differ, 0);
        assert_true(leak.nodes > 100 && leak.cells > (size_t)i * 64 * 10 && leak.after > 0);
        must("pin off");
        must("open \"the animal did not cross the street because it was too tired\"");
    }
}

static void a_broken_mask_leaks(void **state)
{
    (void)state;
    Err err = {{0}};
    Leak leak;
    refused("ablate decoder.causal_mask", "`set decoder.causal_mask 1`"); /* NaN everywhere */
    refused("ablate decoder.causal_mask[t=2]", "`set decoder.causal_mask 1`");
    static const char *const NOWHERE[] = {"set decoder.causal_mask 0", "set decoder.causal_mask[t=0,u=0] 0",
                                          "set decoder.causal_mask[u=0] 0", "set decoder.causal_mask[t=3,u=0:4] -0",
                                          "ablate decoder.causal_mask[t=0,u=0]"};
    for (size_t i = 0; i < sizeof NOWHERE / sizeof *NOWHERE; i++)
        refused(NOWHERE[i], "is a mask");
    char file[256], line[320];
    const char *folder = getenv("TMPDIR");
    snprintf(file, sizeof file, "%s/vitrine-mask.npy", folder ? folder : "/tmp");
    static const float ZEROS[15 * 15];
    TensorOut zeros = {.name = "mask", .rank = 2, .shape = {15, 15}, .data = ZEROS};
    assert_true(tensors_write(file, TF_NPY, &zeros, 1, NULL, &err));
    snprintf(line, sizeof line, "patch decoder.causal_mask from=%s", file);
    assert_false(command_do(&s, &all, line, LINE_OWN, &err));
    assert_non_null(strstr(err.text, "is a mask"));
    remove(file);
    assert_int_equal(s.edits.count, 0);
    must("set decoder.causal_mask[t=2,u=0] 0"); /* two are left to it … */
    must("set decoder.causal_mask[t=2,u=1] 0");
    refused("set decoder.causal_mask[t=2,u=2] 0", "is a mask"); /* … and now none */
    must("reset edits");
    must("ablate decoder.causal_mask[t=2,u=1]; reset edits"); /* a token may be hidden */
    must("set decoder.causal_mask[t=2,u=14] 1; word target 14 chat");
    if (!leak_find(&s, &leak, &err))
        fail_msg("%s", err.text);
    assert_int_equal(leak.first, 14);
    assert_true(leak.differ > 0);
    assert_non_null(strstr(leak.path, "decoder.blocks.0."));
    must("leak");
    assert_non_null(strstr(buf_str(&s.said), "something leaks"));
}

/* The mask and the wiring are all that differs: the sentences are counted from graphs of the three forms. */
static void forms_differ_by_mask_and_wiring(void **state)
{
    (void)state;
    must("wiring");
    const char *said = buf_str(&s.said);
    assert_non_null(strstr(said, "the target asks the source, mask: none"));
    assert_non_null(strstr(said, "66 nodes are the same operation in both; 4 only in the first, 2 only in the second"));
    assert_non_null(strstr(said, "self_attn.minus_infinity, self_attn.scores_masked"));
    assert_non_null(strstr(said, "68 nodes are the same operation in both; 0 only in the first, 0 only in the second"));
}

/* The first word to be written can look at itself alone: an entropy of 0, which is not −0. */
static void no_entropy_is_below_zero(void **state)
{
    (void)state;
    NodeId n = session_node(&s, SIDE_B, "decoder.blocks.0.self_attn.probe.entropy");
    const float *x = run_need(session_run(&s, SIDE_B), n);
    for (size_t i = 0; i < graph_cells(session_graph(&s, SIDE_B), n); i++)
        assert_true(x[i] > 0 || (x[i] == 0 && !signbit(x[i])));
    assert_true(x[0] == 0);
}

/* What of a text no word of the vocabulary is, is said. */
static void what_is_left_out_is_said(void **state)
{
    (void)state;
    must("open \"the animal, did. > l'animal!\"");
    assert_string_equal(session_model_note(&s, (char[SESSION_NOTE]){0}),
                        "its training sentences never end so: never measured; "
                        "left out: \",\" \".\" \"!\" (not among its words)");
    must("open \"the animal\"");
    assert_string_equal(session_model_note(&s, (char[SESSION_NOTE]){0}),
                        "its training sentences never end so: never measured");
    must("open the cat, is tired.");
    assert_string_equal(session_model_note(&s, (char[SESSION_NOTE]){0}), "left out: \",\" \".\" (not among its words)");
    must("open the cat is tired");
    assert_string_equal(session_model_note(&s, (char[SESSION_NOTE]){0}), "");
}

/* Who gets which expert is said; the key that switches off takes the one at the cursor, and again puts it back. */
static void experts(void **state)
{
    (void)state;
    must("goto decoder.blocks.0.mlp.weights[t=1,x=5]; say");
    assert_string_equal(buf_str(&s.said),
                        "The token w1 gets 4 of 12 experts: 5 with 0.563, 4 with 0.239, 1 with 0.141, 3 "
                        "with 0.0557. Expert 5 is chosen for 3 of 3 tokens; were all chosen alike, "
                        "for 1.0.");
    must("goto decoder.blocks.0.mlp.router[t=2,x=0]; say");
    assert_non_null(strstr(buf_str(&s.said), "Expert 0 is chosen for 1 of 3 tokens"));
    must("goto decoder.blocks.0.mlp.weights[t=1,x=5]; ablate");
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.edits.line[0], "ablate decoder.blocks.0.mlp.experts.wrote[x=5]");
    const char *wrote = "decoder.blocks.0.mlp.experts.wrote";
    const float *b = run_need(session_run(&s, SIDE_B), session_node(&s, SIDE_B, wrote)),
                *a = run_need(session_run(&s, SIDE_A), session_node(&s, SIDE_A, wrote));
    for (size_t i = 0; i < 3 * 12 * 16; i++)
        assert_true(i / 16 % 12 == 5 ? b[i] == 0 && a[i] != 0 : b[i] == a[i]);
    must("ablate");
    assert_int_equal(s.edits.count, 0);
    must("goto decoder.blocks.0.mlp.mixed; ablate"); /* nothing here is one expert's */
    assert_string_equal(s.edits.line[0], "skip mlp block=0 stack=decoder");
    must("reset edits");
    Buf table = {0};
    Err err = {{0}};
    must("ledger");
    assert_true(ledger_table(&s, SIDE_B, false, &table, false, &err)); /* four of them beside each of two MLPs */
    int lines = 0;
    for (const char *at = buf_str(&table); (at = strstr(at, "\n    expert ")) != NULL; at++)
        lines++;
    assert_int_equal(lines, 8);
    buf_free(&table);
    must("goto decoder.blocks.1.mlp.post; neuron");
}

/* A hidden unit of an expert: which one it is, what it holds, and what it writes into a logit per 1 of it. */
static void a_unit_of_an_expert(void **state)
{
    (void)state;
    enum { EXPERT = 7, UNIT = 5, WIDTH = 16 };
    must("open ids:3,4,5; neuron 2.7.5");
    assert_int_equal(s.place.screen, SCREEN_NEURON);
    assert_string_equal(s.place.path, "decoder.blocks.2.mlp.experts.post");
    const Graph *g = session_graph(&s, SIDE_B);
    const NodeId post = graph_find(g, s.place.path);
    NeuronAxes a;
    int part, unit = 0;
    assert_true(neuron_axes(g, post, &a) && neuron_here(&s, &part, &unit));
    const int units = g->axes[a.units].n;
    assert_int_equal(a.count, 12 * units);
    assert_int_equal(unit, EXPERT * units + UNIT);
    const float *x = run_need(session_run(&s, SIDE_B), post);
    int best = 0;
    for (int t = 1; t < 3; t++)
        best = x[(t * 12 + EXPERT) * units + UNIT] > x[(best * 12 + EXPERT) * units + UNIT] ? t : best;
    char label[64], most[96];
    snprintf(most, sizeof most, "Unit 5 of expert 7 in block 2 is excited here most at %s (",
             axis_label(&g->axes[a.tokens], best, label, sizeof label));
    must("say");
    if (!strstr(buf_str(&s.said), most) || !strstr(buf_str(&s.said), "times the weight that a token gives the expert"))
        fail_msg("%s: %s", most, buf_str(&s.said));
    const NodeId writes = session_node(&s, SIDE_B, neuron_path(&s, SIDE_B, SITE_UNIT_WRITES));
    const float *w = run_need(session_run(&s, SIDE_B), writes),
                *down = run_need(session_run(&s, SIDE_B), graph_find(g, "decoder.blocks.2.mlp.experts.w_down")),
                *gamma = run_need(session_run(&s, SIDE_B), graph_find(g, "decoder.ln_final.gamma")),
                *head = run_need(session_run(&s, SIDE_B), graph_find(g, "head.weight"));
    const int words = g->axes[graph_node(g, writes)->dims.axis[2]].n;
    for (int o = 0; o < words; o++) {
        double sum = 0;
        for (int d = 0; d < WIDTH; d++)
            sum += (double)down[(EXPERT * WIDTH + d) * units + UNIT] * (double)gamma[d] * (double)head[o * WIDTH + d];
        assert_true(fabs(sum - (double)w[(EXPERT * units + UNIT) * words + o]) < 1e-5);
    }
    must("neuron +1");
    assert_true(neuron_here(&s, &part, &unit) && unit == EXPERT * units + UNIT + 1);
    must("neuron 2"); /* of this expert */
    assert_true(neuron_here(&s, &part, &unit) && unit == EXPERT * units + 2);
    must("neuron 1.3"); /* a block with one MLP */
    assert_string_equal(s.place.path, "decoder.blocks.1.mlp.post");
    refused("neuron 1.0.3", "block 1 has one MLP: name a unit of it, 1.3");
    refused("neuron 2.3", "block 2 has experts: name one and its unit, 2.0.3");
    refused("neuron 2.12.0", "there is no expert 12: they go from 0 to 11");
    refused("neuron 2.7.99", "there is no unit 99");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_word_of_the_source, start, stop),
        cmocka_unit_test_setup_teardown(the_cursor_goes_to_what_differs, start, stop),
        cmocka_unit_test_setup_teardown(what_is_no_word, start, stop),
        cmocka_unit_test_setup_teardown(apostrophes_around_a_text, start, stop),
        cmocka_unit_test_setup_teardown(words_without_names, start_numbers, stop),
        cmocka_unit_test_setup_teardown(one_start, start_numbers, stop),
        cmocka_unit_test_setup_teardown(long_texts, start_numbers, stop),
        cmocka_unit_test_setup_teardown(another_model_of_words, start, stop),
        cmocka_unit_test_setup_teardown(nothing_before_a_word_knows_of_it, start, stop),
        cmocka_unit_test_setup_teardown(a_broken_mask_leaks, start, stop),
        cmocka_unit_test_setup_teardown(no_entropy_is_below_zero, start, stop),
        cmocka_unit_test_setup_teardown(what_is_left_out_is_said, start, stop),
        cmocka_unit_test_setup_teardown(experts, start_experts, stop),
        cmocka_unit_test_setup_teardown(a_unit_of_an_expert, start_experts, stop),
        cmocka_unit_test_setup_teardown(forms_differ_by_mask_and_wiring, start, stop),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
