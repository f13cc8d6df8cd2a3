#include "core/io/llama2c.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/utf8.h"
#include "core/io/tensor_parts.h"
#include "core/io/tokenizer_parts.h"

/* ---- a model ---- */

enum { DIM, HIDDEN, LAYERS, HEADS, KEY_HEADS, WORDS, LENGTH, NUMBERS, V1 = 256 };
static const uint32_t MOST[NUMBERS] = {1 << 16, 1 << 18, 1024, 1 << 16, 1 << 16, 1 << 22, 1 << 20};

typedef struct Header {
    uint64_t of[NUMBERS], begin; /* begin: where the weights do */
    bool tied, first;            /* first: the norms stand in front of all else (version 1) */
} Header;

/* Two axes of a tensor; 'l' in front: one for each block. In the order of version 0; freq are tables of cosines and
 * sines, which say nothing of the model. */
static const struct {
    const char *name, *axes;
} TENSORS[] = {{"tok_embeddings.weight", "vd"},
               {"attention_norm.weight", "ld"},
               {"attention.wq.weight", "ldd"},
               {"attention.wk.weight", "lkd"},
               {"attention.wv.weight", "lkd"},
               {"attention.wo.weight", "ldd"},
               {"ffn_norm.weight", "ld"},
               {"feed_forward.w1.weight", "lmd"},
               {"feed_forward.w2.weight", "ldm"},
               {"feed_forward.w3.weight", "lmd"},
               {"norm.weight", "d"},
               {"freq", "te"},
               {"output.weight", "vd"}};
enum { TENSOR_COUNT = sizeof TENSORS / sizeof *TENSORS };
static const int ORDER_0[TENSOR_COUNT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                 ORDER_1[TENSOR_COUNT] = {1, 6, 10, 0, 2, 3, 4, 5, 7, 8, 9, 12, 11};

static uint64_t length_of(const Header *h, char axis)
{
    uint64_t head = h->of[DIM] / h->of[HEADS];
    return axis == 'd'   ? h->of[DIM]
           : axis == 'v' ? h->of[WORDS]
           : axis == 'm' ? h->of[HIDDEN]
           : axis == 'k' ? head * h->of[KEY_HEADS]
           : axis == 't' ? h->of[LENGTH]
           : axis == 'e' ? head
                         : h->of[LAYERS];
}

static bool is_there(const Header *h, int i)
{
    return !(h->tied && i == TENSOR_COUNT - 1) && !(h->first && i == TENSOR_COUNT - 2);
}

static uint64_t cells_of(const Header *h, int i)
{
    uint64_t n = 1; /* at most 2^10 · 2^18 · 2^16 */
    for (const char *a = TENSORS[i].axes; *a; a++)
        n *= length_of(h, *a);
    return n;
}

/* The bytes that a file of these numbers has; 0: they are not those of a model. */
static uint64_t read_numbers(Header *h, const uint8_t *head, size_t n)
{
    *h = (Header){.begin = 4 * NUMBERS};
    h->first = n >= V1 && memcmp(head, "24ka\1\0\0\0", 8) == 0;
    if (n < 4 * NUMBERS)
        return 0;
    if (h->first) {
        head += 8;
        h->begin = V1;
    }
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t v = le32(head + 4 * i);
        if (i == WORDS) {
            h->tied = h->first ? head[4 * NUMBERS] : v < 1u << 31;
            v = v < 1u << 31 ? v : 0 - v;
        }
        h->of[i] = v;
        if (!v || v > MOST[i])
            return 0;
    }
    if (h->of[DIM] % h->of[HEADS] || h->of[HEADS] % h->of[KEY_HEADS])
        return 0;
    uint64_t cells = 0;
    for (int i = 0; i < TENSOR_COUNT; i++)
        cells += is_there(h, i) ? cells_of(h, i) : 0;
    return h->begin + 4 * cells;
}

bool llama2c_is(const uint8_t *head, size_t n, uint64_t size)
{
    Header h;
    return size && read_numbers(&h, head, n) == size;
}

/* "\7\0\0\0", then pieces: a score, a length, so many bytes. */
static bool begins_pieces(const uint8_t *head, size_t n)
{
    enum { LOOKED_AT = 8, LONGEST = 512 };
    uint32_t most = n < 4 ? 0 : le32(head);
    size_t at = 4;
    for (int i = 0; i < LOOKED_AT && most && most <= LONGEST; i++, at += 8 + le32(head + at + 4)) {
        float score;
        if (at > n || n - at < 8 || !le32(head + at + 4) || le32(head + at + 4) > most)
            return false;
        memcpy(&score, &(uint32_t){le32(head + at)}, sizeof score);
        if (!isfinite(score))
            return false;
    }
    return most && most <= LONGEST;
}

bool llama2c_refuse(const char *path, const uint8_t *head, size_t n, uint64_t size, Err *err)
{
    Header h;
    uint64_t wanted = read_numbers(&h, head, n);
    if (begins_pieces(head, n))
        err_set(
            err,
            "%s: looks like a tokeniser of llama2.c, which is no model. Take the model's .bin: the tokeniser is found "
            "beside it as tokN.bin, for N words, or tokenizer.bin.",
            path);
    else if (wanted)
        err_set(err, "%s: begins like a model of llama2.c of %" PRIu64 " bytes, and has %" PRIu64 ". Fetch it again.",
                path, wanted, size);
    else
        return false;
    return true;
}

static bool add_tensor(TensorFile *f, size_t *cap, const Header *h, int i, int layer, uint64_t *at, Err *err)
{
    const char *axes = TENSORS[i].axes + (layer >= 0);
    TensorInfo t = {.dtype = DT_F32, .type = "F32", .rank = (int)strlen(axes), .offset = *at};
    for (int k = 0; k < t.rank; k++)
        t.shape[k] = (size_t)length_of(h, axes[k]);
    if (!tensor_count(&t))
        return err_set(err, "%s: a tensor is too large", f->path);
    t.bytes = 4 * (uint64_t)t.cells;
    t.name = layer < 0 ? TENSORS[i].name : arena_printf(&f->arena, "layers.%d.%s", layer, TENSORS[i].name);
    *at += t.bytes;
    return *t.name == 'f' || tensor_add(f, cap, &t, err);
}

bool llama2c_read_header(TensorFile *f, Err *err)
{
    uint8_t head[V1];
    size_t n = f->size < V1 ? (size_t)f->size : V1, cap = 0;
    Header h;
    if (!tensor_read_at(f, head, n, 0, err))
        return false;
    if (read_numbers(&h, head, n) != f->size)
        return err_set(err, "%s: is no model of llama2.c", f->path);
    uint64_t at = h.begin;
    for (int k = 0; k < TENSOR_COUNT; k++) {
        int i = (h.first ? ORDER_1 : ORDER_0)[k];
        bool blocks = *TENSORS[i].axes == 'l';
        for (int l = 0; is_there(&h, i) && l < (blocks ? (int)h.of[LAYERS] : 1); l++)
            if (!add_tensor(f, &cap, &h, i, blocks ? l : -1, &at, err))
                return false;
    }
    Buf config = {0};
    buf_printf(&config,
               "{\"model_type\": \"llama2.c\", \"dim\": %" PRIu64 ", \"hidden_dim\": %" PRIu64
               ", \"n_layers\": %" PRIu64 ", \"n_heads\": %" PRIu64 ", \"n_kv_heads\": %" PRIu64
               ", \"vocab_size\": %" PRIu64 ", \"max_seq_len\": %" PRIu64
               ", \"tie_word_embeddings\": %s, \"eos_token_id\": 1}",
               h.of[DIM], h.of[HIDDEN], h.of[LAYERS], h.of[HEADS], h.of[KEY_HEADS], h.of[WORDS], h.of[LENGTH],
               h.tied ? "true" : "false");
    f->metadata = xstrdup(buf_str(&config));
    buf_free(&config);
    return true;
}

/* ---- a tokeniser ---- */

bool llama2c_beside(const char *model, char path[4096], int *words)
{
    uint8_t head[V1];
    uint64_t size;
    Header h;
    *words = 0;
    const char *slash = strrchr(model, '/');
    int fd = file_is_dir(model) || !file_exists(model) ? -1 : file_open(model, &size, NULL),
        n = slash ? (int)(slash - model) + 1 : 0;
    if (fd < 0)
        return false;
    size_t have = size < V1 ? (size_t)size : V1;
    bool is = file_read_at(fd, model, head, have, 0, NULL) && size && read_numbers(&h, head, have) == size;
    close(fd);
    if (!is)
        return false;
    *words = (int)h.of[WORDS];
    utf8_print(path, 4096, "%.*stok%d.bin", n, model, *words);
    if (file_exists(path))
        return true;
    utf8_print(path, 4096, "%.*stokenizer.bin", n, model);
    return file_exists(path);
}

typedef struct Scored {
    char *name; /* ▁ for a blank, as sentencepiece has it */
    int id;
    float score;
} Scored;

static int by_score(const void *a, const void *b)
{
    const Scored *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : x->id - y->id;
}

/* The pieces of a file in memory; false: it is none, or of another count. */
static bool read_pieces(const Buf *file, int words, Scored *piece)
{
    const uint8_t *at = (const uint8_t *)file->data + 4, *end = (const uint8_t *)file->data + file->len;
    for (int i = 0; i < words; i++) {
        if (end - at < 8)
            return false;
        uint32_t bits = le32(at), n = le32(at + 4);
        at += 8;
        if ((size_t)(end - at) < n)
            return false;
        Buf name = {0};
        for (uint32_t k = 0; k < n; k++)
            if (at[k] == ' ')
                buf_puts(&name, "▁");
            else if (at[k])
                buf_putc(&name, (char)at[k]);
        at += n;
        piece[i] = (Scored){.id = i,
                            .name = xstrdup(i == 0   ? "<unk>"
                                            : i == 1 ? "<s>"
                                            : i == 2 ? "</s>"
                                                     : buf_str(&name))};
        memcpy(&piece[i].score, &bits, 4);
        buf_free(&name);
        if (!isfinite(piece[i].score))
            return false;
    }
    return at == end;
}

static void put_merges(Buf *json, const PieceTable *table, Scored *sorted, int words)
{
    bool any = false;
    qsort(sorted, (size_t)words, sizeof *sorted, by_score);
    for (int i = 0; i < words; i++) {
        const char *name = sorted[i].name;
        size_t n = strlen(name);
        if (sorted[i].id <= 2 || (n == 6 && strncmp(name, "<0x", 3) == 0))
            continue;
        for (size_t k = 1; k < n; k++) {
            if (((unsigned char)name[k] & 0xc0) == 0x80 || table_find(table, name, k) < 0 ||
                table_find(table, name + k, n - k) < 0)
                continue;
            char left[256];
            if (strlen(utf8_take(left, sizeof left, name, k)) < k)
                continue;
            buf_puts(json, any ? ", [" : "[");
            buf_json(json, left);
            buf_puts(json, ", ");
            buf_json(json, name + k);
            buf_puts(json, "]");
            any = true;
        }
    }
}

bool llama2c_tokenizer(Buf *json, const char *path, int words, Err *err)
{
    Buf file = {0};
    PieceTable table = {0};
    if (!file_read(path, TOKENIZER_FILE, &file, err))
        return false;
    Scored *piece = xcalloc((size_t)words + 1, sizeof *piece);
    bool ok = file.len > 4 && words > 2 && read_pieces(&file, words, piece);
    if (!ok)
        err_set(err, "%s: is no tokeniser of llama2.c for %d words", path, words);
    ok = ok && table_room(&table, (size_t)words, words - 1);
    buf_puts(json, "{\"added_tokens\": [");
    for (int i = 0; ok && i < 3; i++) {
        buf_printf(json, "%s{\"id\": %d, \"special\": true, \"content\": ", i ? ", " : "", i);
        buf_json(json, piece[i].name);
        buf_puts(json, "}");
    }
    buf_puts(
        json,
        "], \"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": \"▁\"}, "
        "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"▁\"}]}, \"post_processor\": "
        "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\", \"type_id\": 0}}, "
        "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"special_tokens\": {\"<s>\": {\"id\": \"<s>\", \"ids\": "
        "[1], \"tokens\": [\"<s>\"]}}}, \"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", "
        "\"pattern\": {\"String\": \"▁\"}, \"content\": \" \"}, {\"type\": \"ByteFallback\"}, {\"type\": \"Fuse\"}, "
        "{\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}]}, \"model\": {\"type\": \"BPE\", "
        "\"unk_token\": \"<unk>\", \"fuse_unk\": true, \"byte_fallback\": true, \"vocab\": {");
    bool any = false;
    for (int i = 0; ok && i < words; i++) {
        if (!table_add(&table, piece[i].name, strlen(piece[i].name), i))
            continue; /* of two with one name the first counts */
        buf_puts(json, any ? ", " : "");
        buf_json(json, piece[i].name);
        buf_printf(json, ": %d", i);
        any = true;
    }
    buf_puts(json, "}, \"merges\": [");
    if (ok)
        put_merges(json, &table, piece, words);
    buf_puts(json, "]}}");
    for (int i = 0; i < words; i++)
        free(piece[i].name);
    free(piece);
    table_free(&table);
    buf_free(&file);
    return ok;
}
