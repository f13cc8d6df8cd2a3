/* libFuzzer: any text as the config.json of a text model, and behind NULs as its generation_config.json, modules.json,
 * 1_Pooling/config.json, sentence_bert_config.json and vocabulary.json, beside the weights of every recorded model of
 * the family that it names. What opens can be built, run and written with. */
#define _GNU_SOURCE
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/graph/run.h"
#include "core/io/json.h"
#include "core/models/decode.h"
#include "core/models/family.h"
#include "core/models/text_hub.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { RECORDED = 64, WRITTEN = 3, WEIGHTS = 6 }; /* WEIGHTS: their name among NAMES */
#define POOLING "1_Pooling"
static const char *const NAMES[] = {"config.json",          "generation_config.json",    "modules.json",
                                    POOLING "/config.json", "sentence_bert_config.json", "vocabulary.json",
                                    "model.safetensors"};
static char folder[64];
static struct {
    char type[64], weights[PATH_MAX];
} recorded[RECORDED];
static size_t recorded_count;

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void tidy(void)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        unlink(in_folder(NAMES[i]));
    rmdir(in_folder(POOLING));
    rmdir(folder);
}

static void put(const char *name, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(in_folder(name), "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static void start(void)
{
    glob_t all;
    Err err;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/vitrine-fuzz-XXXXXX" : "/tmp/vitrine-fuzz-XXXXXX");
    if (!mkdtemp(folder) || mkdir(in_folder(POOLING), 0700) != 0 ||
        glob("tests/data/families/words_*", 0, NULL, &all) != 0)
        abort();
    atexit(tidy);
    for (size_t i = 0; i < all.gl_pathc && recorded_count < RECORDED; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/config.json", all.gl_pathv[i]);
        Json *j = file_exists(path) ? json_read(path, 1 << 20, &err) : NULL;
        snprintf(recorded[recorded_count].type, sizeof recorded->type, "%s", hub_type(j));
        snprintf(path, sizeof path, "%s/model.safetensors", all.gl_pathv[i]);
        if (j && realpath(path, recorded[recorded_count].weights))
            recorded_count++;
        json_free(j);
    }
    globfree(&all);
    if (recorded_count < 20)
        abort();
}

/* Its first text, and some words more where it writes. */
static void use(Model *m)
{
    Arena arena = {0};
    Graph g;
    Err err = {""};
    ModelInput in = {.kind = INPUT_TEXT};
    DecodeOptions o = decode_options_default();
    o.most = WRITTEN;
    o.forget = true;
    o.memory = 1;
    if (m->family->read_text(m, NULL, &arena, in.text, &err)) {
        graph_init(&g);
        m->family->build(m, &g, &in);
        Run *run = run_new(&g, NULL, NULL);
        while (!run_step_all(run, CLOCK_NEVER))
            continue;
        run_free(run);
        graph_free(&g);
        Decode d = {.count = 0};
        const Text *given = &in.text[model_given(m)];
        if ((model_way(m) & MODEL_WRITES) && decode_run(&d, m, given->word, given->count, &o, NULL, NULL, NULL, &err))
            decode_free(&d);
    } else if (!*err.text)
        abort();
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (!*folder)
        start();
    const uint8_t *from = bytes, *end = bytes + n;
    size_t length = n;
    Err err = {""};
    for (size_t i = 0; i < WEIGHTS; i++) { /* the last has what is left */
        const uint8_t *cut = from && i + 1 < WEIGHTS ? memchr(from, 0, (size_t)(end - from)) : NULL;
        unlink(in_folder(NAMES[i]));
        if (from)
            put(NAMES[i], from, (size_t)((cut ? cut : end) - from));
        length = i == 0 && cut ? (size_t)(cut - bytes) : length;
        from = cut ? cut + 1 : NULL;
    }
    Json *j = json_parse("fuzz", (const char *)bytes, length, &err);
    const char *type = hub_type(j);
    for (size_t i = 0; j && i < recorded_count; i++) {
        Model m = {0};
        if (strcmp(type, recorded[i].type) != 0)
            continue;
        unlink(in_folder(NAMES[WEIGHTS]));
        if (symlink(recorded[i].weights, in_folder(NAMES[WEIGHTS])) != 0)
            abort();
        if (family_load(&m, folder, NULL, NULL, &err)) {
            use(&m);
            model_free(&m);
        } else if (!*err.text || strchr(err.text, '\n') || strchr(err.text, '\x1b'))
            abort();
    }
    json_free(j);
    return 0;
}
