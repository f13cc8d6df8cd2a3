/* Words that have a meaning where a model of the hub writes: padding, those that end a text, those that are forced. */
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"

enum { PATH = 4096, GENERATION_BYTES = 1 << 16 };

void hub_class_word(const HubReading *k, const char *key, int own, int *out)
{
    if (json_get(k->config, key) || !own || own > k->m->text.target_words)
        return;
    *out = own - 1;
    model_assume(k->m, "%s is %d, as Hugging Face's class %s has it", key, *out, k->family->type);
}

bool hub_word(Model *m, const Json *v, const char *path, const char *key, int words, int *out, Err *err)
{
    const Json *one = json_kind(v) == JK_ARRAY ? json_at(v, 0) : v;
    int64_t n;
    *out = -1;
    if (json_kind(one) == JK_NULL)
        return true;
    if (!json_int(one, &n))
        return err_set(err, "%s: \"%s\" must be the number of a word, 0 to %d", path, key, words - 1);
    if (n >= 0 && n < words)
        *out = (int)n;
    else
        model_assume(m, "%s %lld is none of the %d words: it is passed over", key, (long long)n, words);
    return true;
}

bool hub_ends(Model *m, const Json *v, const char *path, Vocabulary *out, Err *err)
{
    static const char KEY[] = "eos_token_id";
    const bool list = json_kind(v) == JK_ARRAY;
    const size_t count = list ? json_count(v) : 1;
    int64_t n;
    int also = 0, beyond = 0;
    if (json_kind(v) == JK_NULL)
        return true;
    out->end = -1;
    memset(out->also, 0, sizeof out->also);
    for (size_t i = 0; i < count; i++) {
        if (!json_int(list ? json_at(v, i) : v, &n))
            return err_set(err, "%s: \"%s\" must be the number of a word, 0 to %d, or a list of them", path, KEY,
                           out->n - 1);
        const bool word = n >= 0 && n < out->n;
        beyond += !word;
        if (!word || vocabulary_ends(out, (int)n))
            continue;
        if (out->end < 0)
            out->end = (int)n;
        else if (also < VOCABULARY_ALSO)
            out->also[also++] = (int)n + 1;
        else
            return err_set(err, "%s: \"%s\" has more than %d words that end a text: take the others out", path, KEY,
                           VOCABULARY_ALSO + 1);
    }
    if (beyond == 1 && count == 1)
        model_assume(m, "%s %lld is none of the %d words: it ends no text", KEY, (long long)n, out->n);
    else if (beyond)
        model_assume(m, "%d of the numbers of %s are none of the %d words: they end no text", beyond, KEY, out->n);
    return true;
}

/* A key of what is written: a word's number; where it is absent or null `out` stays. */
static bool generated(const Model *m, const Json *j, const char *path, const char *key, int *out, Err *err)
{
    const Json *v = json_get(j, key), *one = json_kind(v) == JK_ARRAY ? json_at(v, 0) : v;
    int64_t n;
    if (!one || json_kind(one) == JK_NULL)
        return true;
    if (!json_int(one, &n) || n < 0 || n >= m->target.n)
        return err_set(err, "%s: \"%s\" must be the number of a word, 0 to %d", path, key, m->target.n - 1);
    *out = (int)n;
    return true;
}

bool hub_forced(Model *m, const Json *j, const char *path, bool switched, Err *err)
{
    int first = -1, last = -1, bos = 0;
    if (switched && json_bool(json_get(j, "force_bos_token_to_be_generated"), false)) {
        if (!generated(m, j, path, "bos_token_id", &bos, err))
            return false;
        first = bos;
    }
    if (!generated(m, j, path, "forced_bos_token_id", &first, err) ||
        !generated(m, j, path, "forced_eos_token_id", &last, err))
        return false;
    m->target.first = first + 1;
    m->target.last = last + 1;
    return true;
}

bool hub_generation(Model *m, const char *folder, Err *err)
{
    char path[PATH];
    if (m->text.form == SEQ2SEQ_ENCODER_ONLY || !file_is_dir(folder))
        return true;
    utf8_print(path, sizeof path, "%s/generation_config.json", folder);
    if (!file_exists(path))
        return true;
    Json *j = json_read(path, GENERATION_BYTES, err);
    const bool both = m->text.form == SEQ2SEQ_BOTH,
               ok = j &&
                    (!both || (generated(m, j, path, "decoder_start_token_id", &m->target.start, err) &&
                               hub_forced(m, j, path, false, err))) &&
                    hub_ends(m, json_get(j, "eos_token_id"), path, &m->target, err);
    if (vocabulary_ends(&m->target, m->target.pad))
        m->target.pad = -1;
    json_free(j);
    return ok;
}
