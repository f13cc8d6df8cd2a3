/* libFuzzer: any bytes as a tokeniser's files, and what follows as a text. Whatever opens must encode any text, and
 * every token's bytes lie in it. "m…": vocab.json, merges.txt; "v…": vocab.txt; "s…", up to the end: a SentencePiece
 * model; "n…": vocab.json and, up to the end, source.spm; "c…": tokenizer_config.json and tokenizer.model alike, and a
 * talk by its chat template; "b" and a number of words, up to the end: llama2.c's tokenizer.bin; all else:
 * tokenizer.json. NUL ends each. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/io/llama2c.h"
#include "core/io/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
    "vocab.json", "merges.txt", "vocab.txt", "source.spm", "tokenizer_config.json", "tokenizer.model", "tokenizer.bin"};
static char folder[64];

static void tidy(void)
{
    char path[96];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Takes what stands before the next NUL; the rest is left. */
static const uint8_t *take(const uint8_t **data, size_t *size, size_t *n)
{
    const uint8_t *from = *data, *cut = *size ? memchr(from, 0, *size) : NULL;
    *n = cut ? (size_t)(cut - from) : *size;
    *data += cut ? *n + 1 : *n;
    *size -= cut ? *n + 1 : *n;
    return from;
}

static void put(const char *name, const uint8_t **data, size_t *size, bool whole)
{
    char path[96];
    size_t n = *size;
    const uint8_t *bytes = *data;
    if (whole)
        *size = 0;
    else
        bytes = take(data, size, &n);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static void make_folder(void)
{
    if (!*folder) {
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/vitrine-fuzz-XXXXXX" : "/tmp/vitrine-fuzz-XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(tidy);
    }
    tidy();
    if (mkdir(folder, 0700) != 0)
        abort();
}

/* The JSON that it is read as opens too, but where words are beyond what a tokeniser here takes. */
static Tokenizer *open_scored(const uint8_t **data, size_t *size, Err *err)
{
    char path[96];
    Buf json = {0};
    make_folder();
    const int words = (*data)[1];
    *data += 2;
    *size -= 2;
    put("tokenizer.bin", data, size, true);
    snprintf(path, sizeof path, "%s/tokenizer.bin", folder);
    Tokenizer *t = llama2c_tokenizer(&json, path, words, err) ? tokenizer_parse(path, buf_str(&json), json.len, err)
                                                              : NULL;
    buf_free(&json);
    return t;
}

static Tokenizer *open_files(const uint8_t **data, size_t *size, Err *err)
{
    make_folder();
    const char kind = (char)**data;
    ++*data;
    --*size;
    put(kind == 'v' ? "vocab.txt" : kind == 'c' ? "tokenizer_config.json" : "vocab.json", data, size, false);
    if (kind != 'v')
        put(kind == 'm' ? "merges.txt" : kind == 'n' ? "source.spm" : "tokenizer.model", data, size, kind != 'm');
    Tokenizer *t = tokenizer_open(folder, err);
    Tokens k;
    if (t && kind == 'c' && tokenizer_chat(t, "system: a | user: b", true, &k, NULL, NULL, err))
        tokens_free(&k);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char TEXT[] = "The cat\xc3\xa9 doesn't  <s>sleep\n\xf0\x9f\x98\x80 12,345 \xff";
    Err err;
    Tokens k;
    Tokenizer *t;
    if (size && strchr("mvnc", *data) && *data)
        t = open_files(&data, &size, &err);
    else if (size > 1 && *data == 'b')
        t = open_scored(&data, &size, &err);
    else if (size && *data == 's') {
        t = tokenizer_parse_spm("fuzz", (const char *)data + 1, size - 1, &err);
        size = 0;
    } else {
        size_t n;
        const uint8_t *json = take(&data, &size, &n);
        t = tokenizer_parse("fuzz", (const char *)json, n, &err);
    }
    const char *text = size ? (const char *)data : TEXT;
    size_t length = size ? size : sizeof TEXT - 1;
    if (t && tokenizer_encode(t, text, length, true, true, &k, &err)) {
        Buf out = {0};
        int *id = xmalloc((k.n + 1) * sizeof *id);
        for (size_t i = 0; i < k.n; i++) {
            id[i] = k.at[i].id;
            if (!tokenizer_piece(t, id[i]) || k.at[i].from > k.at[i].to || k.at[i].to > length)
                abort();
        }
        for (size_t i = 0; i < k.parts; i++) { /* what the steps say lies in what they say it of */
            const TokenPart *p = &k.part[i];
            if (p->from > p->to || p->to > k.cut.len || p->token + p->tokens > k.n || p->merge + p->merges > k.merges ||
                p->rival + p->rivals > k.rivals)
                abort();
            for (size_t j = 0; j < p->merges; j++)
                if (k.merge[p->merge + j].between <= p->from || k.merge[p->merge + j].between >= p->to)
                    abort();
            for (size_t j = 0; j < p->tokens; j++)
                if (k.at[p->token + j].end < p->from || k.at[p->token + j].end > p->to)
                    abort();
        }
        tokenizer_decode(t, id, k.n, true, &out);
        free(id);
        buf_free(&out);
        tokens_free(&k);
    }
    tokenizer_free(t);
    return 0;
}
