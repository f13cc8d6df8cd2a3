#include "core/eval/text_accuracy.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/models/lexicon.h"

struct TextAccuracy {
    TextReader *reader;
    Sentence *sentence; /* [count] */
    size_t done;
    AccuracyResult result;
};

bool text_accuracy_suits(const Model *m, const char **why)
{
    bool suits = m->text.form == SEQ2SEQ_BOTH && m->text.source_words == EN_WORDS && m->text.target_words == FR_WORDS;
    if (why)
        *why = suits ? NULL
                     : "only a translator with the words of the bundled one can be measured: no sentences with known "
                       "translations are there for others";
    return suits;
}

TextAccuracy *text_accuracy_new(const TextAccuracySetup *setup, Err *err)
{
    bool changes = setup->change.scope || setup->change.factor != 0;
    TextReader *r = text_reader_new(setup->model, changes ? &setup->change : NULL, NULL, 0, setup->pool, err);
    if (!r)
        return NULL;
    TextAccuracy *e = xcalloc(1, sizeof *e);
    size_t n = setup->count;
    *e = (TextAccuracy){.reader = r, .sentence = xcalloc(n + 1, sizeof *e->sentence)};
    e->result = (AccuracyResult){.pictures = n,
                                 .classes = 2,
                                 .label = xcalloc(n + 1, sizeof(int)),
                                 .named = xcalloc(n + 1, sizeof(int))};
    for (size_t i = 0; i < n; i++) {
        sentence_make(SENTENCES_COMBINATIONS, 0, setup->first + i, &e->sentence[i]);
        e->result.label[i] = 1;
    }
    return e;
}

void text_accuracy_free(TextAccuracy *e)
{
    if (!e)
        return;
    text_reader_free(e->reader);
    free(e->sentence);
    free(e->result.label);
    free(e->result.named);
    free(e);
}

static void see(void *exam, size_t i, const Sentence *s, const TextValues *v)
{
    TextAccuracy *e = exam;
    bool right = true;
    for (int t = 0; t <= s->fr_n; t++)
        right = right && text_first_word(e->reader, v, t) == text_batch_answer(s, t);
    e->result.named[i] = right;
}

bool text_accuracy_step(TextAccuracy *e, int64_t deadline_ns)
{
    size_t n = e->result.pictures, before = e->done;
    e->done = text_reader_go_on(e->reader, e->sentence, before, n, see, e, deadline_ns);
    for (size_t i = before; i < e->done; i++)
        e->result.right += (size_t)e->result.named[i];
    return e->done == n;
}

size_t text_accuracy_done(const TextAccuracy *e)
{
    return e->done;
}

const AccuracyResult *text_accuracy_result(const TextAccuracy *e)
{
    return e->done == e->result.pictures ? &e->result : NULL;
}
