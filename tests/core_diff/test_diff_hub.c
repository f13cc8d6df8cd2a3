/* Decoders from the hub against recordings of an independent implementation (tests/data/families/words.py, float64)
 * with a mistake in it: named from the logits alone; and the names that the families' own programs give their modules.
 */
#include "tests/core_models/text_bench.h"

#include "core/base/mem.h"
#include "core/diff/diff.h"
#include "core/models/family.h"
#include "tests/core_models/oracle.h"
#include "tests/every.h"

static const struct {
    const char *family, *mistake, *says; /* NULL: nobody's cause */
} PLANTED[] = {
    {"gpt2", "mask", "mask is transposed"},
    {"gpt2", "reshaped", "weights of all linear layers, q, k and v in one, are reshaped from [in,out] to [out,in]"},
    {"gpt2", "c_attn reshaped", "fused weight of q, k and v is reshaped from [in,out] to [out,in]"},
    {"gpt2", "c_fc reshaped", "MLP's first weight is reshaped from [in,out] to [out,in]"},
    {"gpt2", "one more", "off by one: tokens look at the next one too"},
    {"gpt2", "not itself", "off by one: tokens look at earlier ones alone, not at themselves (but for the first)"},
    {"gpt2", "from the norm", "residual connection around the MLP starts after the LayerNorm"},
    {"gpt2", "reversed", "counts positions backwards"},
    {"gpt2", "one place", "gives every token the first one's position"},
    {"gpt2", "window", "has a window of 3 tokens"},
    {"gpt2", "mask adds -4", "mask adds -4 to the scores of later tokens"},
    {"gpt2", "mask sets -3.3", "scores of later tokens to -3.3, not to −∞"},
    {"gpt2", "unbiased", "LayerNorm divides the squares by D − 1 instead of D."},
    {"gpt2", "rms of the blocks", "RMSNorm: the mean is not subtracted, in decoder.blocks alone"},
    {"gpt2", "plus of the blocks", "LayerNorm multiplies by 1 + γ, not by γ, in decoder.blocks alone"},
    {"gpt2", "no beta of the blocks", "adds no bias β, in decoder.blocks alone"},
    {"gpt_neo", "window", "window is one token longer"},
    {"gpt_neo", "scale", "multiplies the scores by 1/√d_k"},
    {"gptj", "pairs", "rotate-half"},
    {"gptj", "heads", "4 heads of 4"},
    {"gpt_neox", "fused", "splits the fused q, k, v whole"},
    {"gpt_neox", "parallel", "MLP reads what attention has added"},
    {"gpt_neox", "heads", "4 heads of 4, here there are 2 of 8; it cuts the fused q, k, v by them"},
    {"opt", "offset", "from row 0 on"},
    {"opt_350m", "in front", "norms stand before attention and MLP"},
    {"opt_350m", "a last norm", NULL},
    {"bloom", "slopes", "first ones of the next power of two"},
    {"bloom", "whole", "splits the fused q, k, v whole, (qkv h e) instead of head by head, (h qkv e)."},
    {"bloom", "heads", "6 heads of 3, here there are 3 of 6; it cuts the fused q, k, v by them"},
    {"mpt_clipped", "slopes of the paper", "slopes reach 2^(−8), whatever alibi_bias_max says"},
    {"mpt_clipped", "not cut off", NULL},
    {"mpt", "alibi", "no relative position bias"},
    {"mpt", "heads", "4 heads of 4"},
    {"llama", "pairs", "interleaved"},
    {"llama", "tiled", "tiles the shared keys"},
    {"llama", "base", "base 500000"},
    {"llama", "sign", "opposite direction"},
    {"llama", "rolled", "vocabulary is rolled"},
    {"llama", "embeddings scaled", "multiplies the embeddings by √d_model"},
    {"llama", "layer norm", "has LayerNorm"},
    {"llama", "parallel", "both read the block's input"},
    {"llama", "mask adds -10", "adds -10"},
    {"llama", "mask sets 0", "to 0, not to −∞"},
    {"llama", "tied", "embedding's weights (tied)"},
    {"llama", "final norm twice", "final RMSNorm twice"},
    {"llama", "one on", "one token further on"},
    {"llama", "one late", "one token late"},
    {"llama", "last block", "leaves out the last block"},
    {"llama", "values turned", "rotates v too"},
    {"llama", "heads", "8 heads of 4"},
    {"llama", "one more", "off by one: tokens look at the next one too"},
    {"llama", "not itself", "not at themselves (but for the first)"},
    {"llama", "not itself, the first all", "not at themselves (the first, which has none, looks at all)"},
    {"llama", "mask late", "attention weights of later tokens to 0 after the softmax"},
    {"llama", "values tiled", "tiles the shared values"},
    {"llama", "by the width", "rotary frequencies divide by the width of the model"},
    {"llama", "keys one on", "rotates k to one position further on than q"},
    {"llama", "one norm", "the second norm has the first's weights"},
    {"llama", "post norm", "norms stand after the additions (post-norm)"},
    {"llama", "norms on branches", "norms stand on the branches"},
    {"llama", "from the norm", "residual connection around attention starts after the RMSNorm"},
    {"llama", "rolled on", "each logit is that of the one before"},
    {"llama", "rolled back", "each logit is that of the next one here"},
    {"llama", "pairs and tiled", "two mistakes at once"},
    {"llama", "epsilon of the blocks", "adds ε = 0.01 to the mean square, not 1e-05, in decoder.blocks alone"},
    {"llama", "mask sets -4", "scores of later tokens to -4, not to −∞"},
    {"llama", "layer norm of the blocks", "LayerNorm: the mean is subtracted, in decoder.blocks alone"},
    {"llama", "plus of the blocks", "RMSNorm multiplies by 1 + γ, not by γ, in decoder.blocks alone"},
    {"llama3", "pairs", "interleaved"},
    {"llama3", "scaling", "rope_scaling is left out"},
    {"llama3", "heads", "8 heads of 4"},
    {"llama_linear", "scaling", "rope_scaling is left out"},
    {"llama_dynamic", "scaling", "rope_scaling is left out"},
    {"phi3_long", "scaling", "rope_scaling is left out"},
    {"phi3_long", "short", "short_factor in a long text too"},
    {"phi3_long", "stretch", "Likely cause: the recording does not stretch cos and sin"},
    {"mistral", "window", "window is one token longer"},
    {"mistral", "a window of 2", "window is 2 tokens, here it is 4"},
    {"mistral", "tiled", "tiles the shared keys"},
    {"mistral", "heads", "8 heads of 4"},
    {"qwen2", "window", "window is one token longer"},
    {"qwen2_yarn", "scaling", "rope_scaling is left out"},
    {"qwen2_yarn", "heads", "8 heads of 4"},
    {"qwen3", "head norm", "does not normalise queries and keys"},
    {"qwen3", "k not normed", "the recording does not normalise k."},
    {"qwen3", "q not normed", "the recording does not normalise q."},
    {"olmo2", "norms first", "norms stand before attention and MLP (pre-norm)"},
    {"olmo2", "each head", "normalises q and k head by head"},
    {"gemma", "plus", "by γ, not by 1 + γ"},
    {"gemma", "embed scale", "does not multiply the embeddings by √d_model"},
    {"gemma2", "caps", "caps neither scores nor logits"},
    {"gemma2", "window", "window is one token longer"},
    {"gemma2", "plus", "by γ, not by 1 + γ"},
    {"gemma3", "local base", "one base in all blocks"},
    {"gemma3", "window", "window is one token longer"},
    {"phi", "whole", "rotates all numbers of a head"},
    {"phi", "heads", "4 heads of 4"},
    {"phi3", "gate", "gate and the values that it multiplies are exchanged"},
    {"phi3", "k v q", "fused q, k, v in the order k v q, not q k v"},
    {"phi3", "q v k", "fused q, k, v in the order q v k, not q k v"},
    {"phi3", "v k q", "fused q, k, v in the order v k q, not q k v"},
    {"phi3", "k q v", "fused q, k, v in the order k q v, not q k v"},
    {"phi3", "v q k", "fused q, k, v in the order v q k, not q k v"},
    {"sinks", "no sinks", "leaves the heads' learned sinks out"},
    {"sinks", "added as they are", NULL},
    {"sinks", "of the next head", NULL},
    {"sinks", "scaled", NULL},
    {"mixtral", "norm", "does not divide the weights of the chosen experts"},
    {"mixtral", "experts rolled", "each is the one behind it"},
    {"mixtral", "one less", "gets one expert less"},
    {"olmoe", "norm", "add up to 1 in the recording"},
    {"olmoe", "softmax after", "a softmax of the chosen alone"},
    {"qwen2_moe", "norm", "add up to 1 in the recording"},
    {"qwen2_moe", "shared gate", "does not multiply the shared expert by its gate"},
    {"qwen2_moe", "no shared", "leaves out the shared expert"},
    {"qwen3_moe", "norm", "does not divide the weights of the chosen experts"},
    {"qwen3_moe", "experts as text", "order of their numbers as text"},
    {"t5", "scale", "multiplies the scores by 1/√d_k"},
    {"t5", "later", "in the first block alone"},
    {"t5", "sides", "ranges of distance for both sides"},
    {"t5", "read scale", "without the factor 1/√d_model"},
    {"t5", "cross", "keys and values from the decoder"},
    {"t5", "memory not normed", "before their final norm"},
    {"t5", "embed scale", "multiplies the embeddings by √d_model"},
    {"flan_t5", "scale", "multiplies the scores by 1/√d_k"},
    {"flan_t5", "later", "in the first block alone"},
    {"flan_t5", "cross", "keys and values from the decoder"},
    {"bart", "offset", "from row 0 on"},
    {"bart", "embed scale", "does not multiply the embeddings by √d_model"},
    {"bart", "cross", "keys and values from the decoder"},
    {"bart", "memory one block short", "one block too early"},
    {"bart", "bias", "adds no bias to the logits"},
    {"marian", "interleaved", "sine and cosine in turn"},
    {"marian", "embed scale", "does not multiply the embeddings by √d_model"},
    {"marian", "embed scale twice", "the embeddings by their factor twice"},
    {"marian", "cross", "keys and values from the decoder"},
    {"marian", "memory one block short", "one block too early"},
    {"marian", "bias", "adds no bias to the logits"},
    {"bert", "segments", "adds no segment embeddings"},
    {"bert", "gamma", "γ and β of LayerNorm are exchanged"},
    {"bert", "norm", "norm"},
    {"bert", "transform", "no norm in front of the answer"},
    {"bert", "head's gelu", "activation in front of the answer is GELU with the tanh"},
    {"bert", "last block", "leaves out the last block"},
    {"bert", "one late", "one token late"},
    {"minilm", "segments", "adds no segment embeddings"},
    {"minilm", "norm", "norm"},
    {"bge", "pool", "the mean of all tokens, here the first"},
    {"distilbert", "norm", "norm"},
    {"distilbert", "transform", "no norm in front of the answer"},
    {"roberta", "offset", "from row 0 on"},
    {"electra", "segments", "adds no segment embeddings"},
    {"electra_generator", "segments", "adds no segment embeddings"},
    {"electra_generator", "norm", "norm"},
    {"mpnet", "offset", "from row 0 on"},
    {"mpnet", "sides", NULL},
    {"modernbert", "one base", "one base in all blocks"},
    {"modernbert", "a first norm", NULL},
    {"modernbert", "the third sees all", "the window of the one behind it"},
    {"modernbert", "a whole window", "as far to either side as it is wide"},
    {"modernbert", "looks back", NULL},
    {"modernbert", "gate", "gate and the values that it multiplies are exchanged"},
};

/* The model of a family with what its recording of nine words was made from. */
static void open_family(TextBench *b, const char *family, TensorFile *f)
{
    static int kind[9];
    char folder[200], path[300];
    Err err = {""};
    double ids[9], target[9];
    *b = (TextBench){0};
    snprintf(folder, sizeof folder, "tests/data/families/words_%s", family);
    snprintf(path, sizeof path, "%s/expected_9.safetensors", folder);
    if (!family_load(&b->model, folder, NULL, NULL, &err) || !tensors_open(f, path, &err) ||
        !tensors_read_f64(f, tensors_find(f, "ids"), ids, &err))
        fail_msg("%s", err.text);
    const TensorInfo *written = tensors_find(f, "target");
    const bool both = b->model.text.form == SEQ2SEQ_BOTH, reads = seq2seq_has_encoder(&b->model.text);
    assert_true(both == (written != NULL) && (!both || tensors_read_f64(f, written, target, &err)));
    for (int i = 0; i < 9; i++)
        (reads ? b->source : b->target)[i] = (int)ids[i];
    if (reads && !both && !tensors_read_f64(f, tensors_find(f, "segments"), ids, &err))
        fail_msg("%s", err.text);
    for (int i = 0; reads && i < 9; i++)
        kind[i] = both ? 0 : (int)ids[i];
    b->input.source.segment = reads && !both ? kind : NULL;
    b->input.source.n = reads ? 9 : 0;
    b->input.target.n = both ? (int)written->cells : reads ? 0 : 9;
    for (int i = 0; both && i < b->input.target.n; i++)
        b->target[i] = (int)target[i];
    text_bench_start(b);
}

static const char *trace_path(void)
{
    static char path[256];
    char dir[200];
    scratch_dir(dir, sizeof dir, "diffhub");
    snprintf(path, sizeof path, "%s/trace.safetensors", dir);
    return path;
}

static bool compare(TextBench *b, const DiffMap *map, Buf *verdict, int *compared)
{
    DiffReference r;
    DiffReport d;
    Err err = {""};
    const DiffOptions o = {.tolerance = DIFF_TOLERANCE};
    const DiffSubject s = {
        .graph = &b->graph, .run = b->run, .text = &b->model.text, .weights = &b->model.weights, .image = NO_NODE};
    if (!diff_reference_open(&r, trace_path(), map, s.graph, &err) || !diff_compare(&d, &s, &r, &o, &err))
        fail_msg("%s", err.text);
    const DiffNamed n = {"ours", &s, &r, &o, &d};
    diff_verdict(&n, verdict);
    if (r.count == 1 && r.tensor[0].skip)
        diff_table(&n, verdict);
    for (int i = 0; i < r.unknown_count; i++)
        buf_printf(verdict, " [%s]", r.unknown[i]);
    *compared = r.count;
    bool same = d.same;
    diff_report_free(&d);
    diff_reference_free(&r);
    return same;
}

/* Plants by what was recorded of them. */
typedef enum Recorded { FROM_LOGITS, FROM_MODULES_ALONE, FROM_EVERY_NODE, RECORDED_WAYS } Recorded;
static struct {
    int named, none, wrong;
} tally[RECORDED_WAYS];

/* Counts a plant: each cause that is named is the right one, or none is. One that is always named and now is not fails
 * here, a wrong name where the test ends. */
static void count_plant(Recorded how, const char *family, const char *mistake, const char *says, const char *verdict)
{
    const char *cause = strstr(verdict, "Likely cause: ");
    bool wrong = false;
    if (!cause && says)
        fail_msg("%s, %s: %s", family, mistake, verdict);
    for (const char *at = cause; at; at = strstr(at + 1, "Likely cause: ")) {
        const size_t line = strcspn(at, "\n");
        char one[1200];
        snprintf(one, sizeof one, "%.*s", (int)(line < sizeof one ? line : sizeof one - 1), at);
        wrong = wrong || !says || !strstr(one, says);
    }
    if (wrong)
        print_message("  named wrongly: %s, %s: %s\n", family, mistake, verdict);
    tally[how].wrong += wrong;
    tally[how].named += cause && !wrong;
    tally[how].none += !cause;
}

static int tell_tally(void **state)
{
    static const char *const CALLED[] = {"the logits alone", "modules", "every node"};
    int named = 0, none = 0, wrong = 0;
    (void)state;
    for (int i = 0; i < RECORDED_WAYS; i++) {
        print_message("  text models, %-18s %3d named, %3d not named, %d named wrong\n", CALLED[i], tally[i].named,
                      tally[i].none, tally[i].wrong);
        named += tally[i].named;
        none += tally[i].none;
        wrong += tally[i].wrong;
    }
    print_message("  %d plants in text models: %d named, %d not named, %d named wrong\n", named + none + wrong, named,
                  none, wrong);
    return wrong;
}

static void mistakes_are_named(void **state)
{
    (void)state;
    const size_t every = (size_t)cases_every(1);
    size_t all = 0;
    for (size_t i = 0; i < sizeof PLANTED / sizeof *PLANTED; i += every) {
        TextBench b;
        TensorFile f;
        Err err = {""};
        Buf verdict = {0};
        char name[80];
        int compared;
        open_family(&b, PLANTED[i].family, &f);
        for (size_t k = 0; (i == 0 || strcmp(PLANTED[i].family, PLANTED[i - 1].family) != 0) && k < f.count; k++)
            all += strncmp(f.tensors[k].name, "wrong.", 6) == 0;
        snprintf(name, sizeof name, "wrong.%s", PLANTED[i].mistake);
        const TensorInfo *t = tensors_find(&f, name);
        assert_non_null(t);
        float *logits = xfloats(t->cells);
        assert_true(tensors_read_f32(&f, t, logits, &err));
        TensorOut out = {.name = t->rank > 1 ? "logits" : "embedding_unit", .rank = t->rank, .data = logits};
        memcpy(out.shape, t->shape, sizeof t->shape);
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
        assert_false(compare(&b, NULL, &verdict, &compared));
        count_plant(FROM_LOGITS, PLANTED[i].family, PLANTED[i].mistake, PLANTED[i].says, buf_str(&verdict));
        free(logits);
        buf_free(&verdict);
        tensors_close(&f);
        text_bench_free(&b);
    }
    if (every == 1)
        assert_int_equal(all, sizeof PLANTED / sizeof *PLANTED); /* none of the recordings is passed over */
    assert_int_equal(tally[FROM_LOGITS].wrong, 0);
}

/* …and where every module is recorded: the same causes, seen in the step where they begin. */
static const struct {
    const char *family, *mistake, *says;
} FROM_MODULES[] = {
    {"llama", "embeddings scaled", "multiplies the embeddings by √d_model"},
    {"llama", "one norm", "the second norm has the first's weights"},
    {"llama", "from the norm", "residual connection around attention starts after the RMSNorm"},
    {"llama", "one more", "off by one: tokens look at the next one too"},
    {"llama", "pairs and tiled", "two mistakes at once"},
    {"llama", "parallel", "both read the block's input"}, /* what follows has the sum with attention's part */
    {"llama", "rounded", "weights were rounded to f16"},
    {"gpt2", "from the norm", "residual connection around the MLP starts after the LayerNorm"},
    {"gpt2", "not itself", "not at themselves (but for the first)"},
    {"bert", "norm", "norms stand before attention and MLP (pre-norm)"},
    {"bert", "bare", "does not normalise the embeddings"},
    {"bloom", "whole", "splits the fused q, k, v whole, (qkv h e) instead of head by head, (h qkv e)"},
    {"bloom", "whole, every node", "splits the fused q, k, v whole, (qkv h e) instead of head by head, (h qkv e)"},
    {"gpt_neox", "fused", "splits the fused q, k, v whole, (qkv h e) instead of head by head, (h qkv e)"},
    {"llama", "tiled", "tiles the shared keys and values over the heads"},
    {"llama", "tiled, every node", "tiles the shared"}, /* keys, and values */
    {"llama", "places from 1, every node", "counts rotary positions from 1, here they are counted from 0"},
    {"llama", "places from 5, every node", "counts rotary positions from 5, here they are counted from 0"},
    {"phi3", "places from 1, every node", "counts rotary positions from 1, here they are counted from 0"},
    {"phi3", "k v q", "fused q, k, v in the order k v q, not q k v"},
    {"phi3", "q v k", "k and v are exchanged"},
    {"phi3", "v k q", "fused q, k, v in the order v k q, not q k v"},
    {"phi3", "k q v", "fused q, k, v in the order k q v, not q k v"},
    {"phi3", "v q k", "fused q, k, v in the order v q k, not q k v"},
    {"phi3", "k v q, every node", "fused q, k, v in the order k v q, not q k v"},
    {"gpt2", "dropout", "dropout is on in the recording"},
    {"gpt2", "dropout in attention", "dropout is on in the recording"},
    {"gpt2", "dropout on the branches", "dropout is on in the recording"},
    {"gpt2", "dropout of the embeddings", "dropout is on in the recording"},
    {"gpt2", "dropout, every node", "dropout is on in the recording"},
    {"bert", "dropout", "dropout is on in the recording"},
    {"bert", "dropout in attention", "dropout is on in the recording"},
    {"bert", "dropout on the branches", "dropout is on in the recording"},
    {"bert", "dropout of the embeddings", "dropout is on in the recording"},
    {"bert", "dropout, every node", "dropout is on in the recording"},
    {"qwen3", "k not normed", "the recording does not normalise k."},
    {"qwen3", "q not normed", "the recording does not normalise q."},
    {"qwen3", "k not normed, every node", "the recording does not normalise k."},
};

static void mistakes_are_named_from_modules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FROM_MODULES / sizeof *FROM_MODULES; i++) {
        enum { MOST = 64 };
        TextBench b;
        TensorFile f;
        Err err = {""};
        Buf verdict = {0};
        TensorOut out[MOST];
        char prefix[80];
        int compared;
        size_t count = 0, n;
        open_family(&b, FROM_MODULES[i].family, &f);
        n = (size_t)snprintf(prefix, sizeof prefix, "modules.%s:", FROM_MODULES[i].mistake);
        for (size_t k = 0; k < f.count; k++) {
            const TensorInfo *t = &f.tensors[k];
            if (strncmp(t->name, prefix, n) != 0)
                continue;
            assert_true(count < MOST);
            float *values = xfloats(t->cells);
            assert_true(tensors_read_f32(&f, t, values, &err));
            out[count] = (TensorOut){.name = t->name + n, .rank = t->rank, .data = values};
            memcpy(out[count++].shape, t->shape, sizeof t->shape);
        }
        assert_true(count > 4 && tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err));
        assert_false(compare(&b, NULL, &verdict, &compared));
        if (strstr(buf_str(&verdict), "one of the mistakes"))
            fail_msg("%s, %s: %s", FROM_MODULES[i].family, FROM_MODULES[i].mistake, buf_str(&verdict));
        if (strstr(buf_str(&verdict), "leaves out the sub-layer"))
            fail_msg("%s, %s: %s", FROM_MODULES[i].family, FROM_MODULES[i].mistake, buf_str(&verdict));
        if (strcmp(FROM_MODULES[i].mistake, "rounded") == 0 && !strstr(buf_str(&verdict), "blocks.0.mlp.post too."))
            fail_msg("a name is cut: %s", buf_str(&verdict));
        count_plant(strstr(FROM_MODULES[i].mistake, "every node") ? FROM_EVERY_NODE : FROM_MODULES_ALONE,
                    FROM_MODULES[i].family, FROM_MODULES[i].mistake, FROM_MODULES[i].says, buf_str(&verdict));
        for (size_t k = 0; k < count; k++)
            free((void *)(uintptr_t)out[k].data);
        buf_free(&verdict);
        tensors_close(&f);
        text_bench_free(&b);
    }
    assert_int_equal(tally[FROM_MODULES_ALONE].wrong + tally[FROM_EVERY_NODE].wrong, 0);
}

/* --- mistakes that the test makes in the graph, from three recordings --- */

enum { EDITS_MOST = 64 };
typedef struct Made {
    const Graph *g;
    Run *run;
    Edit edit[EDITS_MOST];
    int count;
    Arena arena;
} Made;

static bool ends(const char *path, const char *word)
{
    const size_t n = strlen(path), length = strlen(word);
    return n >= length && strcmp(path + n - length, word) == 0;
}

static Edit *change(Made *m, EditKind kind, NodeId n)
{
    assert_true(m->count < EDITS_MOST);
    Edit *e = &m->edit[m->count++];
    *e = (Edit){.kind = kind, .path = graph_node(m->g, n)->path, .origin = "planted"};
    return e;
}

/* Norms of that name give what the block has at `stream`. */
static void skip_norms(Made *m, const char *norm, const char *stream)
{
    for (NodeId n = 0; n < m->g->count; n++) {
        const char *path = graph_node(m->g, n)->path;
        if (ends(path, norm) && strstr(path, "blocks."))
            change(m, EDIT_REDIRECT, n)->other = arena_printf(&m->arena, "%.*s%s", (int)(strlen(path) - strlen(norm)),
                                                              path, stream);
    }
}
static void no_first_norm(Made *m)
{
    skip_norms(m, "rms1.out", "resid_pre");
}
static void no_norms(Made *m)
{
    skip_norms(m, "rms1.out", "resid_pre");
    skip_norms(m, "rms2.out", "resid_mid");
}

/* Every mask of that name as sees says; near: where it lets no token further away be seen. */
static void set_masks(Made *m, const char *name, bool both, int near)
{
    for (NodeId n = 0; n < m->g->count; n++)
        if (ends(graph_node(m->g, n)->path, name)) {
            const int side = m->g->axes[graph_node(m->g, n)->dims.axis[0]].n;
            float *x = arena_alloc(&m->arena, (size_t)(side * side) * sizeof *x);
            for (int i = 0; i < side * side; i++) {
                const int ahead = i % side - i / side;
                x[i] = both ? abs(ahead) < near : ahead >= 0;
            }
            change(m, EDIT_VALUES, n)->data = x;
        }
}
static void looks_on(Made *m)
{
    set_masks(m, "causal_mask", false, 0);
    set_masks(m, "window_mask", false, 0);
}
static void looks_around(Made *m)
{
    set_masks(m, "window_mask", true, 4);
}

/* The numbers of a Conv1D's weight [in,out] in rows of the linear layer's [out,in]; parts: tensors that are one. */
static void read_in_other_shape(Made *m, const char *const *names, size_t parts)
{
    for (int l = 0;; l++) {
        NodeId part[3] = {NO_NODE};
        size_t cells = 0, in = 0;
        for (size_t k = 0; k < parts; k++) {
            part[k] = graph_find(m->g, arena_printf(&m->arena, "decoder.blocks.%d.%s", l, names[k]));
            if (part[k] == NO_NODE)
                return;
            cells = graph_cells(m->g, part[k]);
            const Dims d = graph_node(m->g, part[k])->dims;
            in = (size_t)m->g->axes[d.axis[d.n - 1]].n;
        }
        const size_t out = cells / in, all = parts * out;
        float *flat = arena_alloc(&m->arena, parts * cells * sizeof *flat);
        for (size_t k = 0; k < parts; k++)
            for (size_t o = 0; o < out; o++)
                for (size_t i = 0; i < in; i++)
                    flat[i * all + k * out + o] = ((const float *)run_need(m->run, part[k]))[o * in + i];
        for (size_t k = 0; k < parts; k++)
            change(m, EDIT_VALUES, part[k])->data = flat + k * cells;
    }
}
static void all_reshaped(Made *m)
{
    static const char *const QKV[] = {"self_attn.w_q", "self_attn.w_k", "self_attn.w_v"}, *const UP[] = {"mlp.w_up"},
                             *const DOWN[] = {"mlp.w_down"};
    read_in_other_shape(m, QKV, 3);
    read_in_other_shape(m, UP, 1);
    read_in_other_shape(m, DOWN, 1);
}

static void half_turned(Seq2seqConfig *c)
{
    c->rope.width = c->head_dim / 2;
}

static const struct {
    const char *family;
    void (*make)(Made *m);
    void (*set)(Seq2seqConfig *c); /* one of the two */
    const char *says, *apart;      /* apart: what is told tensor by tensor, where all modules are recorded */
} MADE[] = {
    {"llama", no_first_norm, NULL, "no RMSNorm in front of attention", NULL},
    {"llama", no_norms, NULL, "no RMSNorm in front of attention, and none in front of the MLP",
     "no RMSNorm in front of"},
    {"llama", NULL, half_turned, "rotates the first half of a head alone", NULL},
    {"mistral", looks_on, NULL, "mask is transposed and its window ends nothing", NULL},
    {"mistral", looks_around, NULL, "window reaches to both sides", NULL},
    {"gemma2", looks_on, NULL, "mask is transposed and its window ends nothing", NULL},
    {"gpt2", all_reshaped, NULL, NULL, " reshaped from [in,out] to [out,in]"},
};

static bool among_words(const char *path, const char *words)
{
    for (const char *w = words; *w; w += strcspn(w, " "), w += *w == ' ') {
        char word[40];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(w, " "), w);
        if (ends(path, word))
            return true;
    }
    return false;
}

static void write_nodes(Run *run, const char *words)
{
    const Graph *g = run_graph(run);
    TensorOut *out = calloc((size_t)g->count, sizeof *out);
    size_t count = 0;
    Err err = {""};
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!among_words(node->path, words) || strstr(node->path, ".unedited") || strstr(node->path, ".edit_"))
            continue;
        out[count] = (TensorOut){.name = node->path, .rank = node->dims.n, .data = run_need(run, n)};
        for (int i = 0; i < node->dims.n; i++)
            out[count].shape[i] = (size_t)g->axes[node->dims.axis[i]].n;
        count++;
    }
    assert_true(count && tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err));
    free(out);
}

static void made_mistakes_are_named(void **state)
{
    static const char ALL[] = "self_attn.q self_attn.k self_attn.v self_attn.out rms2.out ln2.out mlp.gate mlp.pre "
                              "mlp.out .resid_post logits",
                      *const LISTS[] = {"logits", ".resid_post logits", ALL};
    enum { MODULES = 2 };
    (void)state;
    for (size_t i = 0; i < 3 * sizeof MADE / sizeof *MADE; i++) {
        const size_t k = i / 3, how = i % 3;
        const char *says = how == MODULES && MADE[k].apart ? MADE[k].apart : MADE[k].says;
        TextBench theirs, ours;
        TensorFile f, again;
        Err err = {""};
        Buf verdict = {0};
        Graph edited = {.count = 0};
        int compared;
        if (!says)
            continue;
        open_family(&theirs, MADE[k].family, &f);
        open_family(&ours, MADE[k].family, &again);
        if (MADE[k].set) {
            run_free(theirs.run);
            graph_free(&theirs.graph);
            MADE[k].set(&theirs.model.text);
            text_bench_start(&theirs);
        }
        Made m = {.g = &theirs.graph, .run = theirs.run};
        if (MADE[k].make)
            MADE[k].make(&m);
        if (!graph_edit(&edited, &theirs.graph, m.edit, m.count, &err))
            fail_msg("%s", err.text);
        Run *run = run_new(&edited, theirs.run, NULL);
        write_nodes(run, LISTS[how]);
        assert_false(compare(&ours, NULL, &verdict, &compared));
        const char *cause = strstr(buf_str(&verdict), "Likely cause: ");
        bool right = cause && !strstr(buf_str(&verdict), "one of the mistakes");
        for (; cause && right; cause = strstr(cause + 1, "Likely cause: ")) /* each of them is that one */
            right = strstr(cause, says) != NULL;
        if (!right)
            fail_msg("%s, %s, from %s: %s", MADE[k].family, says, LISTS[how], buf_str(&verdict));
        run_free(run);
        graph_free(&edited);
        arena_free(&m.arena);
        buf_free(&verdict);
        tensors_close(&f);
        tensors_close(&again);
        text_bench_free(&theirs);
        text_bench_free(&ours);
    }
}

/* A program that answers keeps the last token's logits alone: they are compared with that token's, and tell as much. */
static void the_last_token_tells(void **state)
{
    static const char *const OF[][2] = {{"logits", NULL},
                                        {"wrong.one more", "tokens look at the next one too"},
                                        {"wrong.pairs", "interleaved"},
                                        {"wrong.rolled on", "each logit is that of the one before"}};
    (void)state;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        TextBench b;
        TensorFile f;
        Buf verdict = {0};
        Err err = {""};
        int compared;
        open_family(&b, "llama", &f);
        const TensorInfo *t = tensors_find(&f, OF[i][0]);
        assert_true(t && t->rank == 2);
        float *values = xfloats(t->cells);
        assert_true(tensors_read_f32(&f, t, values, &err));
        const size_t row = t->shape[1];
        TensorOut out = {.name = "logits", .rank = 3, .shape = {1, 1, row}, .data = values + t->cells - row};
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
        assert_int_equal(compare(&b, NULL, &verdict, &compared), !OF[i][1]);
        assert_int_equal(compared, 1);
        if (!strstr(buf_str(&verdict), "the last token's alone") ||
            (OF[i][1] && (!strstr(buf_str(&verdict), "Likely cause") || !strstr(buf_str(&verdict), OF[i][1]))))
            fail_msg("%s: %s", OF[i][0], buf_str(&verdict));
        values[t->cells - 1] += 0.5f; /* and no other cell */
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
        assert_false(compare(&b, NULL, &verdict, &compared));
        free(values);
        buf_free(&verdict);
        tensors_close(&f);
        text_bench_free(&b);
    }
}

/* Where no mistake explains a step, what lies in front of it is not asked for under another name. */
static void what_is_recorded_is_not_asked_for(void **state)
{
    (void)state;
    TextBench b;
    TensorFile f;
    Buf verdict = {0};
    Err err = {""};
    int compared;
    static const char *const NAMES[] = {"decoder.embed", "decoder.blocks.0.rms1.out"};
    TensorOut out[2];
    float *values[2];
    open_family(&b, "llama", &f);
    for (int k = 0; k < 2; k++) {
        const TensorInfo *t = tensors_find(&f, NAMES[k]);
        values[k] = xfloats(t->cells);
        assert_true(tensors_read_f32(&f, t, values[k], &err));
        for (size_t i = 0; k && i < t->cells; i++) /* no mistake */
            values[k][i] += (float)(i * 7 % 11) * 0.05f;
        out[k] = (TensorOut){.name = NAMES[k], .rank = t->rank, .data = values[k]};
        memcpy(out[k].shape, t->shape, sizeof t->shape);
    }
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, 2, NULL, &err));
    assert_false(compare(&b, NULL, &verdict, &compared));
    assert_non_null(strstr(buf_str(&verdict), "none of the mistakes"));
    if (strstr(buf_str(&verdict), "record decoder."))
        fail_msg("%s", buf_str(&verdict));
    for (int k = 0; k < 2; k++)
        free(values[k]);
    buf_free(&verdict);
    tensors_close(&f);
    text_bench_free(&b);
}

/* A config.json with another number of heads: every shape agrees, and all that follows differs. Recorded by the engine
 * itself with that number. */
static void the_number_of_heads_is_named(void **state)
{
    static const char *const FAMILIES[] = {"gpt2", "gpt_neo", "opt", "opt_350m", "distilbert", "marian"};
    (void)state;
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++) {
        TextBench theirs, ours;
        TensorFile f, again;
        Err err = {""};
        Buf verdict = {0};
        char says[96];
        int compared;
        open_family(&theirs, FAMILIES[i], &f);
        open_family(&ours, FAMILIES[i], &again);
        Seq2seqConfig *c = &theirs.model.text;
        const int heads = c->heads, width = c->head_dim;
        const bool by_width = fabs((double)c->scale * sqrt(width) - 1) < 1e-5;
        c->heads = heads * 2;
        c->key_heads *= 2;
        c->head_dim = width / 2;
        if (by_width)
            c->scale = (float)(1 / sqrt(c->head_dim));
        run_free(theirs.run);
        graph_free(&theirs.graph);
        text_bench_start(&theirs);
        NodeId logits = graph_find(&theirs.graph, "logits");
        TensorOut out = {.name = "logits", .rank = 2, .data = run_need(theirs.run, logits)};
        Dims d = graph_node(&theirs.graph, logits)->dims;
        for (int k = 0; k < d.n; k++)
            out.shape[k] = (size_t)theirs.graph.axes[d.axis[k]].n;
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, &out, 1, NULL, &err));
        assert_false(compare(&ours, NULL, &verdict, &compared));
        snprintf(says, sizeof says, "Likely cause: the recording has %d heads of %d, here there are %d of %d",
                 heads * 2, width / 2, heads, width);
        if (!strstr(buf_str(&verdict), says))
            fail_msg("%s: %s", FAMILIES[i], buf_str(&verdict));
        buf_free(&verdict);
        tensors_close(&f);
        tensors_close(&again);
        text_bench_free(&theirs);
        text_bench_free(&ours);
    }
}

/* A base so near that hardly more than a few cells are beyond what is allowed: it is named, or nothing is.
 * Whatever else is tried leaves as much. */
static void a_near_base_is_no_other_mistake(void **state)
{
    static const float BASES[] = {10010, 10020, 10040, 9960, 9980};
    static const char *const FAMILIES[] = {"llama", "qwen3", "mistral", "olmo2"}, *const RECORDED[] = {"logits",
                                                                                                       "resid_post",
                                                                                                       "_turned"};
    enum { NODES_MOST = 16 };
    int named = 0, all = 0;
    (void)state;
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
        for (size_t k = 0; k < sizeof BASES / sizeof *BASES * 3; k++) {
            TextBench theirs, ours;
            TensorFile f, again;
            Err err = {""};
            Buf verdict = {0};
            TensorOut out[NODES_MOST];
            int compared;
            size_t count = 0;
            open_family(&theirs, FAMILIES[i], &f);
            open_family(&ours, FAMILIES[i], &again);
            theirs.model.text.rope.base = BASES[k / 3];
            run_free(theirs.run);
            graph_free(&theirs.graph);
            text_bench_start(&theirs);
            for (NodeId n = 0; n < theirs.graph.count; n++) {
                const Node *node = graph_node(&theirs.graph, n);
                const size_t length = strlen(node->path), end = strlen(RECORDED[k % 3]);
                if (length < end || strcmp(node->path + length - end, RECORDED[k % 3]) != 0 || count == NODES_MOST)
                    continue;
                out[count] = (TensorOut){.name = node->path, .rank = node->dims.n, .data = run_need(theirs.run, n)};
                for (int a = 0; a < node->dims.n; a++)
                    out[count].shape[a] = (size_t)theirs.graph.axes[node->dims.axis[a]].n;
                count++;
            }
            assert_true(count && tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err));
            all += !compare(&ours, NULL, &verdict, &compared);
            named += strstr(buf_str(&verdict), "rotations have base about") != NULL;
            const char *cause = strstr(buf_str(&verdict), "Likely cause: ");
            for (; cause; cause = strstr(cause + 1, "Likely cause: "))
                if (strncmp(cause + 14, "the recording's rotations have base about", 41) != 0)
                    fail_msg("%s, %g: %s", FAMILIES[i], (double)BASES[k / 3], cause);
            if (strstr(buf_str(&verdict), "or its bias, is different") || strstr(buf_str(&verdict), "only the cell"))
                fail_msg("%s, %g: %s", FAMILIES[i], (double)BASES[k / 3], buf_str(&verdict));
            buf_free(&verdict);
            tensors_close(&f);
            tensors_close(&again);
            text_bench_free(&theirs);
            text_bench_free(&ours);
        }
    assert_true(all > 20 && named > all / 2);
    print_message("  bases near the model's own: %d differ, %d named, 0 named wrong\n", all, named);
}

/* Every line of text_modules as a recorded tensor: the axes after the first in one, as modules give them. */
static void modules_of_every_family(void **state)
{
    (void)state;
    static const char *const FAMILIES[] = {"gpt2",        "gpt_neo", "gptj",    "gpt_neox",  "opt",       "bloom",
                                           "mpt",         "llama",   "mistral", "qwen2",     "qwen3",     "olmo2",
                                           "gemma",       "gemma2",  "gemma3",  "phi",       "phi3",      "stablelm",
                                           "starcoder2",  "mixtral", "olmoe",   "qwen2_moe", "qwen3_moe", "t5",
                                           "flan_t5",     "bart",    "marian",  "nanogpt",   "mingpt",    "opt_350m",
                                           "mpt_clipped", "mt5"};
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++) {
        TextBench b;
        TensorFile f;
        Buf lines = {0}, verdict = {0};
        DiffMap map = {.count = 0};
        Err err = {""};
        enum { MOST = 128, BLOCKS_MOST = 3 };
        TensorOut out[MOST];
        Arena arena = {0};
        int count = 0, compared;
        open_family(&b, FAMILIES[i], &f);
        text_modules(&b.model, &lines);
        diff_map_modules(&map, buf_str(&lines), &b.graph);
        assert_true(map.count > 12);
        for (size_t k = 0; k < map.count; k++)
            for (int block = 0; block < (strchr(map.line[k].name, '*') ? BLOCKS_MOST : 1); block++) {
                const char *star = strchr(map.line[k].name, '*');
                const char *name = star ? arena_printf(&arena, "%.*s%d%s", (int)(star - map.line[k].name),
                                                       map.line[k].name, block, star + 1)
                                        : map.line[k].name;
                DiffTarget to[DIFF_PARTS];
                if (diff_name_targets(&map, &b.graph, name, to) != 1) /* several in one: by the parts' own tests */
                    continue;
                size_t cells = graph_cells(&b.graph, to[0].node),
                       rows = (size_t)b.graph.axes[graph_node(&b.graph, to[0].node)->dims.axis[0]].n;
                assert_true(count < MOST && cells % rows == 0);
                out[count++] = (TensorOut){.name = name,
                                           .rank = 3,
                                           .shape = {1, rows, cells / rows},
                                           .data = run_need(b.run, to[0].node)};
            }
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, (size_t)count, NULL, &err));
        if (!compare(&b, &map, &verdict, &compared) || compared < count)
            fail_msg("%s, %d of %d: %s", FAMILIES[i], compared, count, buf_str(&verdict));
        diff_map_free(&map);
        arena_free(&arena);
        buf_free(&lines);
        buf_free(&verdict);
        tensors_close(&f);
        text_bench_free(&b);
    }
}

/* What the modules of an encoder's own program give, as its hooks see them, and what the independent recording calls
 * that. A line of a block counts for each. */
static const struct {
    const char *families, *module, *recorded;
} MODULES[] = {
    {"bert roberta electra minilm distilbert mpnet", "embeddings", "encoder.ln_embed.out"},
    {"bert roberta electra minilm distilbert mpnet", "embeddings.word_embeddings", "encoder.embed"},
    {"bert roberta electra minilm", "embeddings.token_type_embeddings", "encoder.segment_embed"},
    {"bert roberta electra minilm mpnet", "encoder.layer.*.attention", "encoder.blocks.*.ln1.out"},
    {"bert roberta electra minilm", "encoder.layer.*.attention.self.query", "encoder.blocks.*.self_attn.q"},
    {"bert roberta electra minilm", "encoder.layer.*.attention.self", "encoder.blocks.*.self_attn.z"},
    {"bert roberta electra minilm", "encoder.layer.*.attention.self.dropout", "encoder.blocks.*.self_attn.pattern"},
    {"bert roberta electra minilm", "encoder.layer.*.attention.output.dense", "encoder.blocks.*.self_attn.out"},
    {"bert roberta electra minilm", "encoder.layer.*.attention.output", "encoder.blocks.*.ln1.out"},
    {"mpnet", "encoder.layer.*.attention.attn", "encoder.blocks.*.self_attn.out"},
    {"bert roberta electra minilm mpnet", "encoder.layer.*.intermediate", "encoder.blocks.*.mlp.post"},
    {"bert roberta electra minilm mpnet", "encoder.layer.*.output.dense", "encoder.blocks.*.mlp.out"},
    {"bert roberta electra minilm mpnet", "encoder.layer.*.output", "encoder.blocks.*.ln2.out"},
    {"bert roberta electra minilm mpnet", "encoder.layer.*", "encoder.blocks.*.ln2.out"},
    {"bert roberta electra minilm mpnet", "encoder", "encoder.blocks.1.ln2.out"},
    {"distilbert", "transformer.layer.*.attention", "encoder.blocks.*.self_attn.out"},
    {"distilbert", "transformer.layer.*.attention.out_lin", "encoder.blocks.*.self_attn.out"},
    {"distilbert", "transformer.layer.*.attention.dropout", "encoder.blocks.*.self_attn.pattern"},
    {"distilbert", "transformer.layer.*.sa_layer_norm", "encoder.blocks.*.ln1.out"},
    {"distilbert", "transformer.layer.*.ffn", "encoder.blocks.*.mlp.out"},
    {"distilbert", "transformer.layer.*.ffn.activation", "encoder.blocks.*.mlp.post"},
    {"distilbert", "transformer.layer.*", "encoder.blocks.*.ln2.out"},
    {"distilbert", "/activation", "transform.post"},
    {"distilbert", "/vocab_projector", "logits"},
    {"bert minilm", "pooler", "pooled"},
    {"bert", "/cls.predictions", "logits"},
    {"bert", "/cls", "logits"},
    {"bert", "/cls.predictions.transform", "ln_transform.out"},
    {"bert", "/cls.seq_relationship", "pair.scores"},
    {"roberta mpnet", "/lm_head", "logits"},
    {"roberta mpnet", "/lm_head.layer_norm", "ln_transform.out"},
    {"electra", "/discriminator_predictions", "replaced.score"},
    {"modernbert", "embeddings", "encoder.ln_embed.out"},
    {"modernbert", "layers.*.mlp_norm", "encoder.blocks.*.ln2.out"},
    {"modernbert", "layers.*.attn", "encoder.blocks.*.self_attn.out"},
    {"modernbert", "layers.*.mlp.act", "encoder.blocks.*.mlp.gate_post"},
    {"modernbert", "layers.*.mlp.drop", "encoder.blocks.*.mlp.post"},
    {"modernbert", "layers.*.mlp", "encoder.blocks.*.mlp.out"},
    {"modernbert", "layers.*", "encoder.blocks.*.resid_post"},
    {"modernbert", "final_norm", "encoder.ln_final.out"},
    {"modernbert", "/head.dense", "transform.pre"},
    {"modernbert", "/head", "ln_transform.out"},
    {"modernbert", "/decoder", "logits"},
    {"bert roberta electra minilm distilbert mpnet", "/hidden_states.1", "encoder.blocks.0.ln2.out"},
    {"bert roberta electra minilm distilbert mpnet", "/hidden_states.2", "encoder.blocks.1.ln2.out"},
    {"bert roberta electra minilm distilbert mpnet", "/attentions.*", "encoder.blocks.*.self_attn.pattern"},
    {"bert roberta electra minilm distilbert mpnet", "/last_hidden_state", "encoder.blocks.1.ln2.out"},
};

static bool is_of(const char *families, const char *family)
{
    size_t n = strlen(family);
    for (const char *at = families; (at = strstr(at, family)) != NULL; at += n)
        if ((at == families || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

/* The name with the block's number in it. */
static const char *numbered(Arena *a, const char *front, const char *name, int block)
{
    const char *star = strchr(name, '*');
    return star ? arena_printf(a, "%s%.*s%d%s", front, (int)(star - name), name, block, star + 1)
                : arena_printf(a, "%s%s", front, name);
}

static void encoders_by_their_own_names(void **state)
{
    (void)state;
    static const char *const FAMILIES[][2] = {{"bert", "bert."},       {"roberta", "roberta."},
                                              {"minilm", ""},          {"distilbert", "distilbert."},
                                              {"electra", "electra."}, {"mpnet", "mpnet."},
                                              {"modernbert", "model."}};
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++) {
        TextBench b;
        TensorFile f;
        Buf lines = {0}, verdict = {0};
        DiffMap map = {.count = 0};
        Err err = {""};
        Arena arena = {0};
        enum { MOST = 96 };
        TensorOut out[MOST];
        int count = 0, compared;
        open_family(&b, FAMILIES[i][0], &f);
        text_modules(&b.model, &lines);
        diff_map_modules(&map, buf_str(&lines), &b.graph);
        for (size_t k = 0; k < sizeof MODULES / sizeof *MODULES; k++)
            for (int block = 0; is_of(MODULES[k].families, FAMILIES[i][0]) && block < 2; block++) {
                bool plain = *MODULES[k].module == '/';
                const TensorInfo *t = tensors_find(&f, numbered(&arena, "", MODULES[k].recorded, block));
                if (!t || (block && !strchr(MODULES[k].module, '*')))
                    fail_msg("%s", !t ? MODULES[k].recorded : "");
                float *values = arena_alloc(&arena, t->cells * sizeof *values);
                assert_true(tensors_read_f32(&f, t, values, &err));
                out[count] = (TensorOut){.name = numbered(&arena, plain ? "" : FAMILIES[i][1],
                                                          MODULES[k].module + plain, block),
                                         .rank = t->rank,
                                         .data = values};
                memcpy(out[count++].shape, t->shape, sizeof t->shape);
                if (!strchr(MODULES[k].module, '*'))
                    break;
            }
        float kinds[9];
        for (int k = 0; k < 9; k++)
            kinds[k] = (float)b.input.source.segment[k];
        out[count] = (TensorOut){.name = "token_type_ids", .rank = 2, .shape = {1, 9}, .data = kinds};
        bool kept = graph_find(&b.graph, "encoder.segments") != NO_NODE;
        assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, (size_t)(count + 1), NULL, &err));
        if (!compare(&b, &map, &verdict, &compared) || compared != count + kept)
            fail_msg("%s, %d of %d: %s", FAMILIES[i][0], compared, count + kept, buf_str(&verdict));
        diff_map_free(&map);
        arena_free(&arena);
        buf_free(&lines);
        buf_free(&verdict);
        tensors_close(&f);
        text_bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes_are_named),
                                       cmocka_unit_test(the_number_of_heads_is_named),
                                       cmocka_unit_test(a_near_base_is_no_other_mistake),
                                       cmocka_unit_test(modules_of_every_family),
                                       cmocka_unit_test(mistakes_are_named_from_modules),
                                       cmocka_unit_test(made_mistakes_are_named),
                                       cmocka_unit_test(what_is_recorded_is_not_asked_for),
                                       cmocka_unit_test(the_last_token_tells),
                                       cmocka_unit_test(encoders_by_their_own_names)};
    return cmocka_run_group_tests_name("diff hub", tests, NULL, tell_tally);
}
