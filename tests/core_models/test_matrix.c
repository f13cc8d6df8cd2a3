/* Model variant × container: each opens as the same model, or is refused by what it is; none runs otherwise. The rows
 * are the folders of tests/data/families and a plain ViT. */
#include "tests/core_models/containers.h"

#include <dirent.h>

#define FAMILIES "tests/data/families/"
enum { ROWS_MOST = 64 };

typedef enum Container {
    PLAIN,
    SHARDED,
    NPZ,
    FORTRAN,
    ZIP64,
    F16,
    BF16,
    LOST, /* from here on refused */
    MORE,
    TRUNCATED,
    TRUNCATED_NPZ,
    BIN,
    BIN_OLD,
    PTH,
    CONTAINERS
} Container;

static const struct {
    const char *called, *says; /* words of the refusal, either side of a | */
} CALLED[CONTAINERS] = {[PLAIN] = {"safetensors", NULL},
                        [SHARDED] = {"sharded", NULL},
                        [NPZ] = {"npz", NULL},
                        [FORTRAN] = {"npz, Fortran order", NULL},
                        [ZIP64] = {"npz, zip64", NULL},
                        [F16] = {"f16", NULL},
                        [BF16] = {"bf16", NULL},
                        [LOST] = {"a tensor lost", "missing|two models"},
                        [MORE] = {"a tensor more", "something"},
                        [TRUNCATED] = {"cut short", "model.safetensors"},
                        [TRUNCATED_NPZ] = {"npz cut short", "model.npz"},
                        [BIN] = {"pytorch_model.bin", "torch.load"},
                        [BIN_OLD] = {"pytorch_model.bin, older", "torch.load"},
                        [PTH] = {"model.pth", "torch.load"}};

/* The folders, in order. */
static int rows_of(char rows[ROWS_MOST][96])
{
    int count = 0;
    DIR *d = opendir(FAMILIES);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[400];
        snprintf(path, sizeof path, FAMILIES "%.80s/expected.safetensors", e->d_name);
        if (e->d_name[0] == '.' || access(path, R_OK) != 0)
            continue;
        assert_true(count < ROWS_MOST - 1);
        snprintf(rows[count++], 96, FAMILIES "%.70s", e->d_name);
    }
    closedir(d);
    snprintf(rows[count++], 96, "%s", ORACLE "tiny");
    return count;
}

static const char *in_folder(const char *folder, const char *file)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static void read_row(const char *row, Set *s)
{
    bool npz = access(in_folder(row, "model.npz"), R_OK) == 0;
    set_read(s, in_folder(row, npz ? "model.npz" : "model.safetensors"));
}

static void put_shards(const Set *s, const char *dir)
{
    Buf index = {0};
    Err err = {""};
    size_t half = (s->count + 1) / 2;
    buf_puts(&index, "{\"weight_map\": {");
    for (size_t i = 0; i < s->count; i++)
        buf_printf(&index, "%s\"%s\": \"part-%d.safetensors\"", i ? ", " : "", s->name[i], i >= half);
    buf_puts(&index, "}}");
    put_file(dir, "model.safetensors.index.json", index.data, index.len);
    buf_free(&index);
    assert_true(tensors_write(in_folder(dir, "part-0.safetensors"), TF_SAFETENSORS, s->t, half, NULL, &err));
    assert_true(
        tensors_write(in_folder(dir, "part-1.safetensors"), TF_SAFETENSORS, s->t + half, s->count - half, NULL, &err));
}

static void cut_short(const char *dir, const char *file)
{
    Buf b = {0};
    Err err = {""};
    if (!file_read(in_folder(dir, file), 64 << 20, &b, &err))
        fail_msg("%s", err.text);
    put_file(dir, file, b.data, b.len * 2 / 3);
    buf_free(&b);
}

/* The row's tensors in a folder of their own, in that container, with the row's JSON files beside them. The set holds
 * what must be read of it. */
static void contain(const char *row, Container how, Set *s, char *dir, size_t n)
{
    static const char *const beside[] = {"config.json", "preprocessor_config.json"};
    Err err = {""};
    scratch_dir(dir, n, "contained");
    read_row(row, s);
    for (size_t i = 0; i < 2; i++)
        if (access(in_folder(row, beside[i]), R_OK) == 0)
            copy_file(in_folder(row, beside[i]), dir, beside[i]);
    size_t last = 0; /* a tensor of the last block */
    for (size_t i = 0; i < s->count; i++)
        if (strstr(s->name[i], ".1.") || strstr(s->name[i], "block_1/"))
            last = i;
    switch (how) {
    case LOST: set_drop(s, s->name[last]); break;
    case MORE: set_add(s, "blocks.0.attn.something", 1, (size_t[]){1}, calloc(1, sizeof(float))); break;
    default: break;
    }
    switch (how) {
    case SHARDED: put_shards(s, dir); break;
    case NPZ:
    case TRUNCATED_NPZ:
        assert_true(tensors_write(in_folder(dir, "model.npz"), TF_NPZ, s->t, s->count, NULL, &err));
        break;
    case FORTRAN: put_npz(s, dir, true, false); break;
    case ZIP64: put_npz(s, dir, false, true); break;
    case F16:
    case BF16: put_halves(s, dir, how == BF16); break;
    case BIN:
    case BIN_OLD: put_pickle(dir, "pytorch_model.bin", how == BIN); break;
    case PTH: put_pickle(dir, "model.pth", true); break;
    default: set_write(s, dir); break;
    }
    if (how == TRUNCATED || how == TRUNCATED_NPZ)
        cut_short(dir, how == TRUNCATED ? "model.safetensors" : "model.npz");
}

static void clear(const char *dir)
{
    static const char *const names[] = {"model.npz",          "model.safetensors.index.json",
                                        "part-0.safetensors", "part-1.safetensors",
                                        "pytorch_model.bin",  "model.pth"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(dir, names[i]));
    remove_dir(dir);
}

static bool one_of(const char *text, const char *words)
{
    const char *bar = strchr(words, '|');
    char first[64];
    snprintf(first, sizeof first, "%.*s", bar ? (int)(bar - words) : (int)strlen(words), words);
    return strstr(text, first) || (bar && strstr(text, bar + 1));
}

/* What it must give: the row's own hash, or that of the numbers that 16 bits leave. */
static uint64_t should_be(const char *row, Container how, const Set *s)
{
    char dir[256];
    Set own;
    if (how != F16 && how != BF16)
        return hash_of(row);
    contain(row, PLAIN, &own, dir, sizeof dir);
    set_free(&own);
    set_write(s, dir);
    uint64_t hash = hash_of(dir);
    clear(dir);
    return hash;
}

static void matrix(void **state)
{
    (void)state;
    char rows[ROWS_MOST][96];
    int count = rows_of(rows), opened = 0, refused_count = 0;
    assert_true(count >= 18);
    for (int i = 0; i < count; i++)
        for (Container how = PLAIN; how < CONTAINERS; how++) {
            char dir[256];
            Model m;
            Set s;
            Err err = {""};
            contain(rows[i], how, &s, dir, sizeof dir);
            bool opens = model_load(&m, how == PTH ? in_folder(dir, "model.pth") : dir, NULL, NULL, &err),
                 should = how < LOST;
            if (opens != should)
                fail_msg("%s, %s %s: %s", rows[i], CALLED[how].called, opens ? "opens" : "is refused", err.text);
            if (opens)
                model_free(&m);
            uint64_t hash = opens ? hash_of(dir) : 0;
            clear(dir);
            if (opens && hash != should_be(rows[i], how, &s))
                fail_msg("%s, %s: runs with other values", rows[i], CALLED[how].called);
            if (!opens && !one_of(err.text, CALLED[how].says))
                fail_msg("%s, %s: %s", rows[i], CALLED[how].called, err.text);
            opened += opens;
            refused_count += !opens;
            set_free(&s);
        }
    print_message(
        "  %d rows in %d containers: %d open as the same model, %d are refused by what they are, 0 run wrong\n", count,
        CONTAINERS, opened, refused_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrix)};
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
