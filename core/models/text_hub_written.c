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

void hub_ends(Model *m, const Json *v, Vocabulary *out)
{
    const size_t count = json_kind(v) == JK_ARRAY ? json_count(v) : 1;
    int64_t n;
    int also = 0, more = 0;
    if (!v || json_kind(v) == JK_NULL)
        return;
    out->end = -1;
    memset(out->also, 0, sizeof out->also);
    for (size_t i = 0; i < count; i++) {
        if (!json_int(json_kind(v) == JK_ARRAY ? json_at(v, i) : v, &n) || n < 0 || n >= out->n ||
            vocabulary_ends(out, (int)n))
            continue;
        if (out->end < 0)
            out->end = (int)n;
        else if (also < VOCABULARY_ALSO)
            out->also[also++] = (int)n + 1;
        else
            more++;
    }
    if (more)
        model_assume(m, "%d words end no text: of those that eos_token_id names %d are read", more,
                     VOCABULARY_ALSO + 1);
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
               ok = j && (!both || (generated(m, j, path, "decoder_start_token_id", &m->target.start, err) &&
                                    hub_forced(m, j, path, false, err)));
    hub_ends(m, json_get(j, "eos_token_id"), &m->target);
    if (vocabulary_ends(&m->target, m->target.pad))
        m->target.pad = -1;
    json_free(j);
    return ok;
}
