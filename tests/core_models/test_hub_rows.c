/* The rows of the hub's families as a whole: each is recorded and told of in docs/models.md, and is the same model when
 * it is saved and opened again. What models are made to write first and last. The two layouts that are not the hub's
 * are rows of the same table. */
#include <dirent.h>
#include <math.h>
#include <unistd.h>

#include "tests/core_models/tensor_set.h"
#include "tests/core_models/text_bench.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/models/decode.h"
#include "core/models/family.h"
#include "core/models/text_hub.h"

static const char FOLDER[] = "tests/data/families";

/* The recorded models of words, in no order. */
typedef struct Recorded {
    DIR *dir;
    char name[256], folder[300], model[320]; /* "words_gpt2"; its folder; what is opened, a file where it is one */
} Recorded;

static void open_recorded(Recorded *r)
{
    r->dir = opendir(FOLDER);
    assert_non_null(r->dir);
}

static bool next_recorded(Recorded *r)
{
    for (const struct dirent *e; (e = readdir(r->dir)) != NULL;) {
        if (strncmp(e->d_name, "words_", 6) != 0 || strchr(e->d_name, '.'))
            continue;
        snprintf(r->name, sizeof r->name, "%.200s", e->d_name);
        snprintf(r->folder, sizeof r->folder, "%s/%.200s", FOLDER, e->d_name);
        snprintf(r->model, sizeof r->model, "%.290s/model.bin", r->folder);
        if (!file_exists(r->model))
            snprintf(r->model, sizeof r->model, "%s", r->folder);
        return true;
    }
    closedir(r->dir);
    return false;
}

/* A family without a recording is a claim, one without a row in the docs a secret. Named after another one's program
 * alone: XLM-RoBERTa and CamemBERT are RoBERTa (named_otherwise), the text of Gemma 3 with pictures is Gemma 3's
 * (a_text_inside in test_hub_keys.c). */
static void recorded_and_told(void **state)
{
    (void)state;
    static const char *const SAME[] = {"xlm-roberta", "camembert", "gemma3"};
    Buf docs = {0};
    Err err = {""};
    assert_true(file_read("docs/models.md", 1 << 20, &docs, &err));
    const HubFamily *f;
    for (int i = 0; (f = hub_family(i)) != NULL; i++) {
        char told[80];
        bool found = false;
        for (size_t k = 0; k < sizeof SAME / sizeof *SAME; k++)
            found = found || strcmp(SAME[k], f->type) == 0;
        Recorded r;
        for (open_recorded(&r); next_recorded(&r);) {
            Model m;
            if (!family_load(&m, r.model, NULL, NULL, &err))
                fail_msg("%s: %s", r.name, err.text);
            found = found || strcmp(m.layout, f->layout) == 0;
            model_free(&m);
        }
        if (!found)
            fail_msg("%s has no recording in %s", f->type, FOLDER);
        snprintf(told, sizeof told, "`%s`", f->type);
        const bool named = strstr(buf_str(&docs), told) ||
                           strstr(buf_str(&docs), f->layout); /* "nanoGPT" has no type */
        if (!named)
            fail_msg("%s has no row in docs/models.md", f->type);
    }
    buf_free(&docs);
}

/* generation_config.json says which word comes first and which ends a text that is cut; without it config.json does. A
 * forced word stands with the model's own probability and takes nothing off the text's. */
static void forced_words(void **state)
{
    (void)state;
    static const struct {
        const char *generation;
        int first, last;
        const char *said;
    } CASE[] = {{"{\"forced_bos_token_id\": 7, \"forced_eos_token_id\": [3, 0], \"decoder_start_token_id\": 18}", 7, 3,
                 NULL},
                {"{\"forced_bos_token_id\": null}", -1, -1, NULL},
                {"{\"forced_bos_token_id\": 19}", 0, 0,
                 "\"forced_bos_token_id\" must be the number of a word, 0 to 18"},
                {"{\"forced_eos_token_id\": \"x\"}", 0, 0, "\"forced_eos_token_id\" must be"},
                {"[", 0, 0, "generation_config.json"}};
    static const int SOURCE[] = {3, 4, 5};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char dir[256];
        Model m;
        Err err = {""};
        Decode d;
        DecodeOptions o = decode_options_default();
        scratch_dir(dir, sizeof dir, "forced");
        copy_file("tests/data/families/words_marian/config.json", dir, "config.json");
        copy_file("tests/data/families/words_marian/model.safetensors", dir, "model.safetensors");
        put_file(dir, "generation_config.json", CASE[i].generation, strlen(CASE[i].generation));
        bool ok = text_model_load(&m, dir, NULL, NULL, &err);
        if (ok != !CASE[i].said || (!ok && !strstr(err.text, CASE[i].said)))
            fail_msg("%s: %s", CASE[i].generation, ok ? "was read" : err.text);
        if (!ok)
            continue;
        for (int beam = 0; beam < 2; beam++) {
            o.kind = beam ? DECODE_BEAM : DECODE_GREEDY;
            o.most = 3;
            assert_true(decode_run(&d, &m, SOURCE, 3, &o, NULL, NULL, NULL, &err));
            assert_true(d.length >= 1 && d.length <= 3);
            assert_true(CASE[i].first < 0 || d.word[0] == CASE[i].first);
            assert_true(CASE[i].last < 0 || d.length < 3 || d.word[2] == CASE[i].last);
            double sum = 0;
            for (int at = d.best; d.node[at].parent >= 0; at = d.node[at].parent) {
                const DecodeNode *n = &d.node[at];
                assert_int_equal(n->forced,
                                 (n->length == 1 && CASE[i].first >= 0) || (n->length == 3 && CASE[i].last >= 0));
                assert_true(n->share > 0 && n->share < 1);
                sum += n->forced ? 0 : log(n->share);
            }
            assert_true(fabs(sum - d.node[d.best].log_share) < 1e-9);
            decode_free(&d);
        }
        model_free(&m);
    }
}

/* A model that is saved in the program's own form and opened again is the same: every knob is in its config.json. */
static void saved_and_opened(void **state)
{
    (void)state;
    Recorded r;
    int count = 0;
    for (open_recorded(&r); next_recorded(&r); count++) {
        char dir[256];
        Model m, again;
        Err err = {""};
        scratch_dir(dir, sizeof dir, "saved");
        if (!family_load(&m, r.model, NULL, NULL, &err) || !text_model_save(&m, dir, &err) ||
            !family_load(&again, dir, NULL, NULL, &err))
            fail_msg("%s: %s", r.name, err.text);
        assert_string_equal(again.layout, "Vitrine");
        if (trace_of(&m) != trace_of(&again))
            fail_msg("%s: the saved model is another", r.name);
        const Seq2seqConfig *a = &m.text, *b = &again.text;
        const Vocabulary *v = seq2seq_has_decoder(a) ? &m.target : &m.source,
                         *w = seq2seq_has_decoder(a) ? &again.target : &again.source;
        assert_true(a->unit == b->unit && a->sentence == b->sentence && a->positions == b->positions);
        assert_memory_equal(&a->windowed, &b->windowed, sizeof a->windowed);
        assert_memory_equal(&a->experts, &b->experts, sizeof a->experts);
        assert_memory_equal(&a->rope, &b->rope, sizeof a->rope);
        assert_true(v->pad == w->pad && v->start == w->start && v->end == w->end && v->first == w->first &&
                    v->last == w->last);
        model_free(&m);
        model_free(&again);
    }
    assert_true(count > 30);
}

/* A model in two files with an index, its tensor `turned` (NULL: none) with its axes changed over. */
static void put_shards(const char *dir, Set *s, const char *turned)
{
    Buf index = {0};
    Err err = {""};
    if (turned) {
        TensorOut *t = &s->t[set_find(s, turned)];
        const size_t first = t->shape[0];
        t->shape[0] = t->shape[1];
        t->shape[1] = first;
    }
    buf_puts(&index, "{\"weight_map\": {");
    for (size_t i = 0; i < s->count; i++)
        buf_printf(&index, "%s\"%s\": \"part-%d.safetensors\"", i ? ", " : "", s->name[i], i >= s->count / 2);
    buf_puts(&index, "}}");
    put_file(dir, "model.safetensors.index.json", index.data, index.len);
    buf_free(&index);
    for (size_t part = 0, n = s->count / 2; part < 2; part++) {
        char path[300];
        snprintf(path, sizeof path, "%s/part-%zu.safetensors", dir, part);
        if (!tensors_write(path, TF_SAFETENSORS, s->t + part * n, part ? s->count - n : n, NULL, &err))
            fail_msg("%s", err.text);
    }
}

static void not_the_hub_s(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *layout, *turned, *stored;
    } CASE[] = {{"tests/data/oracle/encdec", "PyTorch nn.Transformer", "transformer.decoder.layers.1.linear2.weight",
                 "that PyTorch nn.Transformer stores nowhere"},
                {"assets/trained/translator", "Vitrine", "decoder.blocks.2.mlp.w_down",
                 "'decoder.blocks.0.mlp.w_gate' is missing"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char dir[256], path[300];
        Model whole, parts;
        Set s;
        Err err = {""};
        Buf config = {0};
        scratch_dir(dir, sizeof dir, "rows");
        snprintf(path, sizeof path, "%s/vocabulary.json", CASE[i].folder);
        if (file_exists(path))
            copy_file(path, dir, "vocabulary.json");
        snprintf(path, sizeof path, "%s/config.json", CASE[i].folder);
        copy_file(path, dir, "config.json");
        assert_true(file_read(path, 1 << 16, &config, &err));
        snprintf(path, sizeof path, "%s/model.safetensors", CASE[i].folder);
        set_read(&s, path);
        put_shards(dir, &s, NULL);
        if (!text_model_load(&whole, CASE[i].folder, NULL, NULL, &err) ||
            !text_model_load(&parts, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_string_equal(parts.layout, CASE[i].layout);
        assert_true(model_digest(&whole) == model_digest(&parts));
        model_free(&whole);
        model_free(&parts);
        Buf gated = {0};
        buf_printf(&gated, "{\"gated\": true,%s", buf_str(&config) + 1);
        put_file(dir, "config.json", gated.data, gated.len);
        assert_false(text_model_load(&parts, dir, NULL, NULL, &err));
        assert_non_null(strstr(err.text, CASE[i].stored));
        put_file(dir, "config.json", config.data, config.len);
        put_shards(dir, &s, CASE[i].turned);
        assert_false(text_model_load(&parts, dir, NULL, NULL, &err));
        assert_non_null(strstr(err.text, CASE[i].turned));
        assert_non_null(strstr(err.text, "config.json asks for"));
        buf_free(&gated);
        buf_free(&config);
        set_free(&s);
        remove_dir(dir);
    }
}

/* The model of words_NAME with its config.json changed, `old` for `new` in pairs, up to a NULL. */
static bool changed(Model *m, const char *name, const char *const pairs[][2], const char *generation, Err *err)
{
    char dir[256], path[300];
    Buf config = {0};
    snprintf(path, sizeof path, "%s/words_%s/config.json", FOLDER, name);
    assert_true(file_read(path, 1 << 16, &config, err));
    for (size_t i = 0; pairs[i][0]; i++) {
        const char *at = strstr(buf_str(&config), pairs[i][0]);
        if (!at)
            fail_msg("%s: no %s in its config.json", name, pairs[i][0]);
        Buf out = {0};
        buf_printf(&out, "%.*s%s%s", (int)(at - buf_str(&config)), buf_str(&config), pairs[i][1],
                   at + strlen(pairs[i][0]));
        buf_free(&config);
        config = out;
    }
    scratch_dir(dir, sizeof dir, "changed");
    put_file(dir, "config.json", config.data, config.len);
    if (generation)
        put_file(dir, "generation_config.json", generation, strlen(generation));
    snprintf(path, sizeof path, "%s/words_%s/model.safetensors", FOLDER, name);
    copy_file(path, dir, "model.safetensors");
    const bool ok = text_model_load(m, dir, NULL, NULL, err);
    buf_free(&config);
    remove_dir(dir);
    return ok;
}

#define ROPE(more) "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 10000.0" more "},"
/* What transformers 5 writes, dropout under names of its own, names that say what is computed anyway: the same model,
 * bit for bit. */
static void written_otherwise(void **state)
{
    (void)state;
    static const struct {
        const char *name, *pairs[4][2];
    } CASE[] = {
        {"gpt_neox",
         {{"\"rotary_pct\": 0.5,", ROPE(", \"partial_rotary_factor\": 0.5")}, {"\"rotary_emb_base\": 10000,", ""}}},
        {"phi",
         {{"\"partial_rotary_factor\": 0.5,", ROPE(", \"partial_rotary_factor\": 0.5")},
          {"\"rope_theta\": 10000.0,", ""}}},
        {"stablelm",
         {{"\"partial_rotary_factor\": 0.5,", ROPE(", \"partial_rotary_factor\": 0.5")},
          {"\"rope_theta\": 10000,", ""}}},
        {"phi3",
         {{"\"rope_scaling\": null,", ROPE(", \"partial_rotary_factor\": 1.0")}, {"\"rope_theta\": 10000.0,", ""}}},
        {"phi3_long", /* as Phi-4-mini has them */
         {{"\"vocab_size\"", "\"full_attn_mod\": 1, \"interpolate_factor\": 1, \"lm_head_bias\": false, "
                             "\"mlp_bias\": false, \"vocab_size\""}}},
        {"phi3_long", {{"\"rope_type\": \"longrope\",", "\"type\": \"su\","}}}, /* as older files have it */
        {"phi3_long", {{"\"rope_type\": \"longrope\",", "\"type\": \"yarn\","}}},
        {"phi3_long", /* as transformers 5 has it */
         {{"\"original_max_position_embeddings\": 6,", ""},
          {"\"rope_type\"", "\"original_max_position_embeddings\": 6, \"rope_type\""}}},
        {"llama_dynamic", /* no length but the model's own counts */
         {{"\"rope_type\"", "\"original_max_position_embeddings\": 3, \"rope_type\""}}},
        {"gpt_neo", {{"\"vocab_size\"", "\"embed_dropout\": 0.1, \"resid_dropout\": 0.1, \"vocab_size\""}}},
        {"starcoder2", {{"\"vocab_size\"", "\"residual_dropout\": 0.1, \"vocab_size\""}}},
        {"starcoder2", {{"\"num_key_value_heads\": 2,", ""}}}, /* its class has two */
        {"nanogpt",
         {{"\"vocab_size\"", "\"activation_function\": \"gelu\", \"tie_word_embeddings\": true, \"vocab_size\""}}},
        {"mingpt", {{"\"vocab_size\"", "\"n_inner\": 64, \"layer_norm_epsilon\": 1e-5, \"vocab_size\""}}},
        {"gemma", /* as Gemma 2B stands on the hub */
         {{"\"hidden_act\": \"gelu_pytorch_tanh\"",
           "\"hidden_act\": \"gelu\", \"hidden_activation\": \"gelu_pytorch_tanh\""}}},
        {"gpt2", {{"\"vocab_size\"", "\"hidden_act\": \"gelu_new\", \"vocab_size\""}}},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        static const char *const NOTHING[][2] = {{NULL}};
        Model own, other;
        Err err = {""};
        if (!changed(&own, CASE[i].name, NOTHING, NULL, &err) ||
            !changed(&other, CASE[i].name, CASE[i].pairs, NULL, &err))
            fail_msg("%s, %s: %s", CASE[i].name, CASE[i].pairs[0][1], err.text);
        if (trace_of(&own) != trace_of(&other))
            fail_msg("%s with %s is another model", CASE[i].name, CASE[i].pairs[0][1]);
        model_free(&own);
        model_free(&other);
    }
}

static Model opened(const char *name, const char *old, const char *new, const char *generation)
{
    const char *const pairs[2][2] = {{old, new}, {NULL}};
    Model m;
    Err err = {""};
    if (!changed(&m, name, pairs, generation, &err))
        fail_msg("%s with %s: %s", name, new, err.text);
    return m;
}

/* Both programs are RoBERTa's, copied, and name its tensors alike: a recording of their own would be RoBERTa's with
 * another word in config.json. */
static void named_otherwise(void **state)
{
    (void)state;
    static const char *const TYPES[] = {"\"roberta\"", "\"xlm-roberta\"", "\"camembert\""};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        Model m = opened("roberta", "\"roberta\"", TYPES[i], NULL);
        first = i ? first : trace_of(&m);
        if (trace_of(&m) != first)
            fail_msg("%s is another model than RoBERTa", TYPES[i]);
        model_free(&m);
    }
}

/* Beside two kinds of blocks the old key of rope_scaling says nothing, elsewhere it does (llama_linear). */
static void an_old_key_of_scaling(void **state)
{
    (void)state;
    static const char *const PAIRS[][2][2] = {{{NULL}},
                                              {{"\"rope_type\": \"linear\"", "\"type\": \"linear\""}},
                                              {{"\"linear\"", "\"default\""}}};
    uint64_t trace[3];
    for (int i = 0; i < 3; i++) {
        Model m;
        Err err = {""};
        if (!changed(&m, "gemma3", PAIRS[i], NULL, &err))
            fail_msg("%s", err.text);
        trace[i] = trace_of(&m);
        int said = 0;
        for (int k = 0; k < m.assumption_count; k++)
            said += strstr(m.assumptions[k], "by its old key \"type\"") != NULL;
        assert_int_equal(said, i == 1);
        model_free(&m);
    }
    assert_true(trace[1] == trace[2] && trace[1] != trace[0]);
}

/* Null is no soft cap, not the class' own; a share of a head is the one that is written; mscale counts only beside
 * mscale_all_dim; layer_types need no rhythm; mT5's answer has no factor. */
static void knobs_of_keys(void **state)
{
    (void)state;
    Model m = opened("gemma2", "\"attn_logit_softcapping\": 1.5", "\"attn_logit_softcapping\": null", NULL);
    assert_true(m.text.score_cap <= 0 && m.text.logit_cap > 0);
    model_free(&m);
    m = opened("gemma2", "\"final_logit_softcapping\": 2.5", "\"final_logit_softcapping\": null", NULL);
    assert_true(m.text.score_cap > 0 && m.text.logit_cap <= 0);
    model_free(&m);
    m = opened("gpt_neox", "\"rotary_pct\": 0.5,", ROPE(", \"partial_rotary_factor\": 0.25"), NULL);
    assert_int_equal(m.text.rope.width * 4, m.text.head_dim);
    model_free(&m);
    static const struct {
        const char *more;
        double one, all;
    } SCALE[] = {{"", 1, 0}, {"\"mscale\": 0.7,", 1, 0}, {"\"mscale\": 1.0, \"mscale_all_dim\": 0.5,", 1, 0.5}};
    for (size_t i = 0; i < sizeof SCALE / sizeof *SCALE; i++) {
        char yarn[200];
        snprintf(yarn, sizeof yarn, "\"rope_scaling\": {%s", SCALE[i].more);
        m = opened("qwen2_yarn", "\"rope_scaling\": {", yarn, NULL);
        const double grown = 0.1 * log((double)m.text.rope.factor);
        assert_true(fabs((double)m.text.rope.stretch - (1 + SCALE[i].one * grown) / (1 + SCALE[i].all * grown)) < 1e-6);
        model_free(&m);
    }
    m = opened(
        "modernbert", "\"global_attn_every_n_layers\": 3",
        "\"layer_types\": [\"full_attention\", \"full_attention\", \"sliding_attention\", \"sliding_attention\"]",
        NULL);
    assert_int_equal(m.text.windowed[0], 0xc);
    model_free(&m);
    m = opened("t5", "\"t5\"", "\"mt5\"", NULL);
    assert_true(m.text.tied && m.text.read_scale <= 0);
    model_free(&m);
    m = opened("t5", "\"t5\"", "\"t5\"", NULL);
    assert_true(m.text.tied && m.text.read_scale > 0);
    model_free(&m);
}

static bool assumes(const Model *m, const char *what)
{
    bool any = false;
    for (int i = 0; i < m->assumption_count; i++)
        any = any || strstr(m->assumptions[i], what);
    return any;
}

/* A special word is a number; one beyond the vocabulary, as small copies of large models have it, is said. */
static void words_are_numbers(void **state)
{
    (void)state;
    static const char *const NONE[] = {"\"x\"", "1.5", "{}", "true", "[\"x\"]", "[3, \"x\"]", "[null]", "[[3]]"},
                             *const KEYS[] = {"eos_token_id", "pad_token_id", "decoder_start_token_id"},
                             *const CLEAN[] = {"\"decoder_start_token_id\": 0,", "\"pad_token_id\": 0,",
                                               "\"eos_token_id\": 1,"};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
        for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++) {
            char text[96], said[96];
            Model m;
            Err err = {""};
            const bool second = strcmp(NONE[i], "[3, \"x\"]") == 0, none = strcmp(NONE[i], "[null]") == 0;
            snprintf(text, sizeof text, "\"%s\": %s, \"vocab_size\"", KEYS[k], NONE[i]);
            snprintf(said, sizeof said, "config.json: \"%s\" must be the number of a word, 0 to 18", KEYS[k]);
            const char *const pairs[5][2] = {{CLEAN[0], ""}, {CLEAN[1], ""}, {CLEAN[2], ""}, {"\"vocab_size\"", text}};
            const bool ok = changed(&m, "t5", pairs, NULL, &err);
            if (ok != (k > 0 && (second || none)) || (!ok && !strstr(err.text, said)))
                fail_msg("%s %s: %s", KEYS[k], NONE[i], ok ? "was read" : err.text);
            if (ok)
                model_free(&m);
            if (k > 0)
                continue;
            snprintf(text, sizeof text, "{\"%s\": %s}", KEYS[k], NONE[i]);
            assert_false(changed(&m, "llama", (const char *const[4][2]){{NULL}}, text, &err));
            if (!strstr(err.text,
                        "generation_config.json: \"eos_token_id\" must be the number of a word, 0 to 18, or a"))
                fail_msg("%s", err.text);
        }
    Model m = opened("llama", "\"vocab_size\"", "\"pad_token_id\": -1, \"eos_token_id\": 50256, \"vocab_size\"", NULL);
    assert_true(assumes(&m, "eos_token_id 50256 is none of the 19 words: it ends no text"));
    assert_true(assumes(&m, "pad_token_id -1 is none of the 19 words: it is passed over"));
    assert_true(m.target.end < 0 && m.target.pad < 0);
    model_free(&m);
}

/* Several words may end a text: those of generation_config.json, else of config.json; what is no word's number ends
 * none. */
static void several_ends(void **state)
{
    (void)state;
    Model many = opened("llama", "\"vocab_size\"", "\"eos_token_id\": [0, 1, 2, 3, 4, 5, 6, 7], \"vocab_size\"", NULL);
    assert_true(vocabulary_ends(&many.target, 7) && !vocabulary_ends(&many.target, 8));
    model_free(&many);
    static const char LIST[] = "\"eos_token_id\": [2, 16, 900, -1, 16, 5], \"vocab_size\"";
    static const int SOURCE[] = {3, 1, 4, 1};
    static const struct {
        const char *generation;
        int ends[4];
    } CASE[] = {{NULL, {2, 16, 5, -1}},
                {"{\"eos_token_id\": [7, 16]}", {7, 16, -1, -1}},
                {"{\"eos_token_id\": null}", {2, 16, 5, -1}},
                {"{\"eos_token_id\": 3}", {3, -1, -1, -1}}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model m = opened("llama", "\"vocab_size\"", LIST, CASE[i].generation);
        Decode d;
        Err err = {""};
        DecodeOptions o = decode_options_default();
        assert_true(assumes(&m, "2 of the numbers of eos_token_id are none of the 19 words"));
        o.kind = DECODE_GREEDY;
        o.most = 5;
        for (int w = -1; w < 900; w++) {
            bool ends = false;
            for (int k = 0; k < 4; k++)
                ends = ends || (w >= 0 && CASE[i].ends[k] == w);
            assert_int_equal(vocabulary_ends(&m.target, w), ends);
        }
        assert_true(decode_run(&d, &m, SOURCE, 4, &o, NULL, NULL, NULL, &err));
        /* 11, 11, 0, 16, 0 if nothing ends it */
        assert_int_equal(d.length, vocabulary_ends(&m.target, 16) ? 4 : 5);
        assert_int_equal(d.word[3], 16);
        decode_free(&d);
        model_free(&m);
    }
}

/* Of both stacks padding, start and end are the class' own where config.json has none. */
static void words_of_the_class(void **state)
{
    (void)state;
    static const struct {
        const char *name, *pairs[4][2];
        int pad, start, end;
    } CASE[] = {{"t5",
                 {{"\"decoder_start_token_id\": 0,", ""}, {"\"pad_token_id\": 0,", ""}, {"\"eos_token_id\": 1,", ""}},
                 0,
                 0,
                 1},
                {"bart",
                 {{"\"decoder_start_token_id\": 2,", ""}, {"\"pad_token_id\": 1,", ""}, {"\"eos_token_id\": 2,", ""}},
                 1,
                 2,
                 2},
                {"marian", {{"\"eos_token_id\": 0,", ""}}, 18, 18, 0}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model m;
        Err err = {""};
        if (!changed(&m, CASE[i].name, CASE[i].pairs, NULL, &err))
            fail_msg("%s: %s", CASE[i].name, err.text);
        assert_int_equal(m.target.pad, CASE[i].pad);
        assert_int_equal(m.target.start, CASE[i].start);
        assert_int_equal(m.target.end, CASE[i].end);
        model_free(&m);
    }
}

/* A head of its own has its own bias, though the file also has the one that tied heads share. */
static void bias_of_the_head(void **state)
{
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        Set s;
        char dir[256];
        Model m;
        Err err = {""};
        Buf config = {0}, out = {0};
        set_read(&s, "tests/data/families/words_bert/model.safetensors");
        const size_t *shape = s.t[set_find(&s, "bert.embeddings.word_embeddings.weight")].shape, words = shape[0],
                     width = shape[1];
        float *w = xfloats(words * width), *b = xfloats(words);
        for (size_t i = 0; i < words * width; i++)
            w[i] = (float)(i % 7) - 3;
        for (size_t i = 0; i < words; i++)
            b[i] = (float)i;
        set_add(&s, "cls.predictions.decoder.weight", 2, (const size_t[]){words, width}, w);
        set_add(&s, "cls.predictions.decoder.bias", 1, (const size_t[]){words}, b);
        scratch_dir(dir, sizeof dir, "head");
        set_write(&s, dir);
        assert_true(file_read("tests/data/families/words_bert/config.json", 1 << 16, &config, &err));
        buf_printf(&out, "{\"tie_word_embeddings\": %s,%s", tied ? "true" : "false", strchr(buf_str(&config), '{') + 1);
        put_file(dir, "config.json", out.data, out.len);
        if (!text_model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_string_equal(seq2seq_weight(&m.text, &m.weights, SEQ2SEQ_HEAD_B, 0)->origin,
                            tied ? "cls.predictions.bias" : "cls.predictions.decoder.bias");
        model_free(&m);
        buf_free(&config);
        buf_free(&out);
        set_free(&s);
        remove_dir(dir);
    }
}

/* What the modules of programs give, where a name of a weight alone would say it wrongly. */
static void modules_that_give_more(void **state)
{
    (void)state;
    static const struct {
        const char *name, *old, *new, *line, *not ;
    } CASE[] = {
        {"gemma2", "{", "{", "\nmodel.norm = ", "model.embed_tokens"},
        {"gemma3", "{", "{", "model.embed_tokens = decoder.embed_scaled\n", "= decoder.embed\n"},
        {"gemma3", "{", "{", "self_attn.q_norm = decoder.blocks.*.self_attn.rms_q.out[h,t,e]\n", "rms_q.out\n"},
        {"marian", "{", "{", "lm_head = logits_nobias\n", "lm_head = decoder.embed"},
        {"opt", "{", "{", "\nmodel.decoder.layers.* = decoder.blocks.*.ln3.out|decoder.blocks.*.ln2.out\n",
         "resid_post"},
        {"opt_350m", "{", "{", "\nmodel.decoder.project_in = decoder.project\n", "resid_post"},
        {"opt_350m", "{", "{", "\ndecoder.project_out = decoder.narrow\n", "resid_post"},
        {"olmo2", "{", "{", "\nmodel.layers.* = decoder.blocks.*.resid_post\n", "= decoder.blocks.*.ln3.out|"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model m = opened(CASE[i].name, CASE[i].old, CASE[i].new, NULL);
        Buf lines = {0};
        m.text.pre_norm = m.text.pre_norm && strcmp(CASE[i].name, "opt") != 0; /* as OPT 350M has its norms */
        text_modules(&m, &lines);
        if (!strstr(buf_str(&lines), CASE[i].line) || strstr(buf_str(&lines), CASE[i].not ))
            fail_msg("%s: %s", CASE[i].name, buf_str(&lines));
        buf_free(&lines);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_and_told),      cmocka_unit_test(forced_words),
        cmocka_unit_test(saved_and_opened),       cmocka_unit_test(not_the_hub_s),
        cmocka_unit_test(written_otherwise),      cmocka_unit_test(an_old_key_of_scaling),
        cmocka_unit_test(named_otherwise),        cmocka_unit_test(knobs_of_keys),
        cmocka_unit_test(words_are_numbers),      cmocka_unit_test(several_ends),
        cmocka_unit_test(bias_of_the_head),       cmocka_unit_test(words_of_the_class),
        cmocka_unit_test(modules_that_give_more),
    };
    return cmocka_run_group_tests_name("hub rows", tests, NULL, NULL);
}
