/* Models whose files have 16-bit numbers: the weights stay so in memory, and give the bits that the same numbers give
 * as floats, in runs, word by word and by the second route. Every family of tests/data/families, rounded. */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core_models/oracle.h"
#include "tests/core_models/text_bench.h"
#include "tests/every.h"

#include "core/base/file.h"
#include "core/models/decode.h"
#include "core/models/direct.h"
#include "core/models/family.h"

enum { TEXT = 7, WRITTEN = 4 };

static char folder[2][32]; /* of 16 bits, of floats */

/* The tensors of a folder with numbers that 16 bits hold, as such and as floats. */
static void write_both(const char *from, bool bf16)
{
    char path[400];
    TensorFile f;
    Err err = {""};
    Buf header = {0}, data = {0}, config = {0};
    snprintf(path, sizeof path, "%s/model.safetensors", from);
    assert_true(tensors_open(&f, path, &err));
    TensorOut *out = xcalloc(f.count, sizeof *out);
    float **values = xcalloc(f.count, sizeof *values);
    for (size_t i = 0; i < f.count; i++) {
        const TensorInfo *t = &f.tensors[i];
        float *x = values[i] = xfloats(t->cells + 1);
        size_t begin = data.len;
        assert_true(tensors_read_f32(&f, t, x, &err));
        out[i] = (TensorOut){.name = t->name, .data = x, .rank = t->rank};
        buf_printf(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "{", t->name, bf16 ? "BF16" : "F16");
        for (int k = 0; k < t->rank; k++) {
            out[i].shape[k] = t->shape[k];
            buf_printf(&header, "%s%zu", k ? "," : "", t->shape[k]);
        }
        for (size_t c = 0; c < t->cells; c++) {
            const uint16_t half = bf16 ? f32_to_bf16(x[c]) : f32_to_f16(x[c]);
            const char bytes[] = {(char)(half & 0xff), (char)(half >> 8)};
            x[c] = bf16 ? bf16_to_f32(half) : f16_to_f32(half);
            buf_add(&data, bytes, sizeof bytes);
        }
        buf_printf(&header, "],\"data_offsets\":[%zu,%zu]}", begin, data.len);
    }
    buf_puts(&header, "}");
    Buf file = {0};
    for (size_t k = 0; k < 8; k++)
        buf_putc(&file, (char)(header.len >> 8 * k & 0xff));
    buf_add(&file, header.data, header.len);
    buf_add(&file, data.data, data.len);
    snprintf(path, sizeof path, "%s/model.safetensors", folder[0]);
    assert_true(file_write(path, file.data, file.len, &err));
    snprintf(path, sizeof path, "%s/model.safetensors", folder[1]);
    assert_true(tensors_write(path, TF_SAFETENSORS, out, f.count, NULL, &err));
    snprintf(path, sizeof path, "%s/config.json", from);
    assert_true(file_read(path, 1 << 20, &config, &err));
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/config.json", folder[k]);
        assert_true(file_write(path, config.data, config.len, &err));
    }
    for (size_t i = 0; i < f.count; i++)
        free(values[i]);
    free(values);
    free(out);
    buf_free(&header);
    buf_free(&data);
    buf_free(&file);
    buf_free(&config);
    tensors_close(&f);
}

/* How many weights are kept in 16 bits; of a file that has them so all matrices are. */
static size_t count_halves(const char *name, const Model *m, bool all)
{
    size_t n = 0;
    for (WeightPlace w = {0}; model_weight(m, &w);) {
        n += w.half != NULL;
        assert_true((w.half != NULL) != (w.data != NULL));
        if (all && !w.half && w.rank > 1 && strchr(w.axes, 'd') && w.start == START_FAN)
            fail_msg("%s: weight %d of layer %d became floats", name, w.role, w.layer);
    }
    return n;
}

/* What the answer's logits are by the second route, from the tokens' own text. */
static double direct_sum(const TextBench *b, const float *tokens, int n)
{
    const Seq2seqConfig *c = &b->model.text;
    const bool decoder = seq2seq_has_decoder(c);
    size_t d = (size_t)c->width, words = (size_t)(decoder ? c->target_words : c->source_words);
    double *x = direct_zeros((size_t)n, d), *logits = direct_zeros((size_t)n, words),
           *probs = direct_zeros((size_t)n, words), sum = 0;
    float *in = xfloats((size_t)n * d);
    seq2seq_direct_embed(c, &b->model.weights, decoder, tokens, NULL, n, x);
    for (size_t i = 0; i < (size_t)n * d; i++)
        in[i] = (float)x[i];
    if (c->form != SEQ2SEQ_BOTH)
        seq2seq_direct_block(c, &b->model.weights, decoder, 0, in, n, (Seq2seqDirectMemory){0}, NULL, x);
    if (!c->wordless)
        seq2seq_direct_answer(c, &b->model.weights, x, n, logits, probs);
    for (size_t i = 0; i < (size_t)n * words; i++)
        sum += fabs(logits[i]);
    for (size_t i = 0; i < (size_t)n * d; i++)
        sum += fabs(x[i]);
    free(x);
    free(logits);
    free(probs);
    free(in);
    return sum;
}

static void compare(const char *name)
{
    TextBench b[2];
    Decode d[2] = {{0}};
    Err err = {""};
    for (int k = 0; k < 2; k++) {
        b[k] = (TextBench){0};
        if (!family_load(&b[k].model, folder[k], NULL, NULL, &err))
            fail_msg("%s: %s", name, err.text);
        const Seq2seqConfig *c = &b[k].model.text;
        text_bench_words(&b[k], seq2seq_has_encoder(c) ? TEXT : 0, seq2seq_has_decoder(c) ? TEXT : 0);
        text_bench_start(&b[k]);
    }
    assert_true(count_halves(name, &b[0].model, true) > 0);
    assert_int_equal(count_halves(name, &b[1].model, false), 0);
    assert_true(b[0].model.block_cells < b[1].model.block_cells * 3 / 4);
    if (text_bench_hash(&b[0]) != text_bench_hash(&b[1]))
        fail_msg("%s: 16 bits give another trace than the same numbers as floats", name);
    assert_true(model_digest(&b[0].model) == model_digest(&b[1].model));
    const float tokens[] = {3, 1, 4, 2, 5};
    const double sum = direct_sum(&b[0], tokens, 5), same = direct_sum(&b[1], tokens, 5);
    assert_memory_equal(&sum, &same, sizeof sum);
    DecodeOptions o = decode_options_default();
    o.most = WRITTEN;
    for (int k = 0; k < 2 && seq2seq_has_decoder(&b[k].model.text); k++)
        if (!decode_run(&d[k], &b[k].model, (const int[]){3, 4, 2}, 3, &o, NULL, NULL, NULL, &err))
            fail_msg("%s: %s", name, err.text);
    assert_int_equal(d[0].length, d[1].length);
    for (int i = 0; i < d[0].count; i++)
        assert_memory_equal(&d[0].node[i].share, &d[1].node[i].share, sizeof(double));
    for (int k = 0; k < 2; k++) {
        decode_free(&d[k]);
        text_bench_free(&b[k]);
    }
}

static void the_same_numbers_in_16_bits(void **state)
{
    (void)state;
    DIR *all = opendir("tests/data/families");
    int seen = 0;
    assert_non_null(all);
    for (const struct dirent *e; (e = readdir(all));) {
        char from[300], path[400];
        snprintf(from, sizeof from, "tests/data/families/%.200s", e->d_name);
        snprintf(path, sizeof path, "%s/model.safetensors", from);
        if (strncmp(e->d_name, "words_", 6) != 0 || !file_exists(path))
            continue;
        write_both(from, seen++ % 2);
        compare(e->d_name);
    }
    closedir(all);
    assert_true(seen > 20);
}

/* Of pictures' models the matrices of the blocks: those that lie in the file as the model reads them. */
static void pictures_in_16_bits(void **state)
{
    (void)state;
    DIR *all = opendir("tests/data/families");
    int seen = 0, kept = 0;
    assert_non_null(all);
    for (const struct dirent *e; (e = readdir(all));) {
        char from[300], path[400];
        Bench b[2];
        uint64_t hash[2];
        Err err = {""};
        snprintf(from, sizeof from, "tests/data/families/%.200s", e->d_name);
        snprintf(path, sizeof path, "%s/config.json", from);
        if (strncmp(e->d_name, "words_", 6) == 0 || !file_exists(path))
            continue;
        write_both(from, seen++ % 2);
        for (int k = 0; k < 2; k++) {
            b[k] = (Bench){0};
            if (!family_load(&b[k].model, folder[k], NULL, NULL, &err))
                fail_msg("%s: %s", e->d_name, err.text);
            bench_noise(&b[k]);
            bench_start(&b[k]);
            hash[k] = bench_hash(&b[k]);
        }
        const size_t halves = count_halves(e->d_name, &b[0].model, false);
        kept += halves > 0;
        assert_int_equal(count_halves(e->d_name, &b[1].model, false), 0);
        assert_true(!halves || b[0].model.block_cells < b[1].model.block_cells);
        if (hash[0] != hash[1])
            fail_msg("%s: 16 bits give another trace than the same numbers as floats", e->d_name);
        assert_true(model_digest(&b[0].model) == model_digest(&b[1].model));
        for (int k = 0; k < 2; k++)
            bench_free(&b[k]);
    }
    closedir(all);
    assert_true(seen > 20 && kept > seen / 2);
}

/* What 16 bits leave room for is not refused for what floats would take: in a process that may have three bytes a
 * weight. */
static void memory_is_asked_for_what_is_stored(void **state)
{
    (void)state;
    const Seq2seqConfig c = {.form = SEQ2SEQ_DECODER_ONLY,
                             .width = 2048,
                             .heads = 16,
                             .head_dim = 128,
                             .mlp = 8192,
                             .decoder_layers = 8,
                             .target_words = 32000,
                             .positions = 64,
                             .eps = 1e-5f,
                             .scale = 1,
                             .embed_scale = 1,
                             .act = MAP_GELU};
    if (cases_every(1) > 1) { /* as under sanitizers, which can't live with such a limit */
        printf("  not tried: a limit on memory, where few cases are tried (sanitizers)\n");
        return;
    }
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rlimit most = {3 * seq2seq_params(&c), 3 * seq2seq_params(&c)};
        Err err = {""};
        if (setrlimit(RLIMIT_AS, &most) != 0)
            _exit(2);
        _exit(seq2seq_possible(&c, &err) && !seq2seq_check(&c, &err) && strstr(err.text, "the model needs") ? 0 : 1);
    }
    int status;
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_asked_for_what_is_stored),
                                       cmocka_unit_test(the_same_numbers_in_16_bits),
                                       cmocka_unit_test(pictures_in_16_bits)};
    for (int k = 0; k < 2; k++) {
        snprintf(folder[k], sizeof folder[k], "/tmp/vitrine-halves-XXXXXX");
        if (!mkdtemp(folder[k]))
            return 1;
    }
    int failed = cmocka_run_group_tests_name("hub, 16 bits", tests, NULL, NULL);
    for (int k = 0; k < 2; k++) {
        char path[160];
        snprintf(path, sizeof path, "%s/model.safetensors", folder[k]);
        unlink(path);
        snprintf(path, sizeof path, "%s/config.json", folder[k]);
        unlink(path);
        rmdir(folder[k]);
    }
    return failed;
}
