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
 * alone: XLM-RoBERTa and CamemBERT are RoBERTa, mT5 is T5. */
static void recorded_and_told(void **state)
{
    (void)state;
    static const char *const SAME[] = {"xlm-roberta", "camembert", "mt5"};
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

static uint64_t trace_of(const Model *m)
{
    const int words[] = {3, 1, 4, 1, 5};
    const Text text = {.word = words, .count = 5};
    Graph g;
    uint64_t hash = 0;
    graph_init(&g);
    m->family->build(m, &g, &(ModelInput){.kind = INPUT_TEXT, .text = {[TEXT_SOURCE] = text, [TEXT_TARGET] = text}});
    Run *run = run_new(&g, NULL, NULL);
    assert_true(run_step_all(run, CLOCK_NEVER) && run_hash(run, &hash));
    run_free(run);
    graph_free(&g);
    return hash;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_and_told), cmocka_unit_test(forced_words),
                                       cmocka_unit_test(saved_and_opened), cmocka_unit_test(not_the_hub_s)};
    return cmocka_run_group_tests_name("hub rows", tests, NULL, NULL);
}
