/* `vitrine evaluate`: how much a model gets right, and what each of its parts is worth. */
#include "tui/cli/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/session/session.h"
#include "core/train/trainer.h"
#include "tui/cli/verbs.h"

enum { COUNT = 5000, SENTENCES = 1000, SLICE_NS = 100000000, SHOWCASE_COUNT = 200, WINDOWS = 50, PATH = 1100 };

static bool progress(void *context, const char *what, double share)
{
    return work_progress(context, what, share);
}

static bool reading(void *context, size_t done, size_t total)
{
    return work_progress(context, "reading the pictures", total ? (double)done / (double)total : 0);
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (o->word_count > 1)
        return err_set(
            err,
            "evaluate takes no '%.100s': it looks at many pictures; --pictures FOLDER names others than the drawn ones",
            o->word[1]);
    if (o->input || o->commands.len || o->at)
        return err_set(
            err, "evaluate looks at many pictures with the model as it was trained: -i, -c and --at mean nothing here");
    if (o->text && o->pictures)
        return err_set(err, "--pictures is for models of pictures, --text for models that write: leave one away");
    if (o->showcase && o->pictures)
        return err_set(err, "--showcase looks among the drawn pictures: leave --pictures away");
    if (o->all && !o->pictures)
        return err_set(err, "--all is about a folder: --pictures FOLDER --all. Without it the pictures are drawn ones "
                            "that nothing was learned from");
    return true;
}

static int find_showcase(Work *w, const Evaluated *of, Err *err)
{
    Session *s = &w->session;
    size_t count = w->options->count ? (size_t)w->options->count : SHOWCASE_COUNT;
    uint64_t *numbers = xcalloc(count, sizeof *numbers);
    ScaleSearch found;
    for (size_t i = 0; i < count; i++)
        numbers[i] = i;
    bool ok = scale_search_find(&found, &s->model, numbers, count, s->pool, progress, w, err);
    free(numbers);
    if (ok)
        showcase_print(&found, of, w->options->json, &w->out);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int examine(Work *w, const Pictures *pictures, const Evaluated *of, Err *err)
{
    Session *s = &w->session;
    const size_t held = pictures_count(pictures, PICTURES_HELD_OUT), asked = (size_t)w->options->count;
    Dataset *dataset = dataset_new(pictures, &s->model, PICTURES_HELD_OUT, 0, asked ? asked : held ? held : COUNT);
    Evaluation e;
    bool ok = evaluation_run(&e, &s->model, dataset, s->pool, progress, w, err);
    if (ok) {
        evaluate_print(&e, of, w->options->json, &w->out);
        evaluation_free(&e);
    }
    dataset_free(dataset);
    return ok ? STATUS_DONE : STATUS_BAD;
}

/* Which pictures of a folder may count as held out: those that the model's own list does not have, where there is one.
 */
static bool rule_of(const Options *o, FolderRule *rule, uint64_t **list, Err *err)
{
    char path[PATH];
    *list = NULL;
    *rule = (FolderRule){.split = o->all ? FOLDER_ALL : FOLDER_BY_CONTENT};
    utf8_print(path, sizeof path, "%.1000s/" TRAINER_LEARNT, o->model ? o->model : "");
    if (o->all || !o->model || !file_exists(path))
        return true;
    rule->split = FOLDER_UNLEARNT;
    if (!folder_read_learnt(path, list, &rule->learnt_count, err))
        return false;
    rule->learnt = *list;
    return true;
}

/* What was done, in a line: nobody should have to guess what a figure is over. */
static void put_note(const Options *o, const Pictures *p, FolderSplit split, char *out, size_t n)
{
    size_t held = pictures_count(p, PICTURES_HELD_OUT), learnt = pictures_learnt(p);
    int used = split == FOLDER_ALL ? snprintf(out, n, "All %zu pictures of the folder, as --all says.", held)
               : split == FOLDER_UNLEARNT
                   ? snprintf(out, n,
                              "The model's " TRAINER_LEARNT
                              " has %zu of the folder's pictures; these are the other %zu.",
                              learnt, held)
                   : snprintf(out, n,
                              "The tenth that train would hold out, by their pixels: %zu of %zu. --all takes all.",
                              held, held + learnt);
    if ((size_t)o->count > held && used > 0 && (size_t)used < n)
        snprintf(out + used, n - (size_t)used, " There are no %ld.", o->count);
}

static int examine_folder(Work *w, Evaluated *of, Err *err)
{
    const Options *o = w->options;
    const Model *m = of->model;
    char clean[160], folder[200], note[200];
    FolderRule rule;
    uint64_t *list;
    if (!rule_of(o, &rule, &list, err))
        return STATUS_BAD;
    Pictures *pictures = pictures_folder_by(o->pictures, &m->preprocess, &rule, reading, w, err);
    free(list);
    if (!pictures)
        return STATUS_BAD;
    snprintf(folder, sizeof folder, "%spictures of %s", o->all ? "" : "held-out ",
             utf8_clean(clean, sizeof clean, o->pictures));
    put_note(o, pictures, rule.split, note, sizeof note);
    of->pictures = folder;
    of->note = note;
    of->class_names = m->class_names ? m->class_names : pictures_names(pictures);
    int status = dataset_suits(m, pictures, err) ? examine(w, pictures, of, err) : STATUS_BAD;
    pictures_free(pictures);
    return status;
}

/* Of a decoder with texts, those of --text or of its folder: how surprising they are to it. *out stays NULL where there
 * are none. */
static bool examine_surprise(Work *w, const Model *m, Pool *pool, Dataset **texts, Surprise **out, char over[PATH],
                             Err *err)
{
    const Options *o = w->options;
    int blocks, heads;
    const bool decoder = model_way(m) == MODEL_WRITES;
    if (o->text && !decoder)
        return err_set(err, "--text is for models that write, decoders alone: this one is %s",
                       model_way(m) == MODEL_READS ? "an encoder" : "an encoder and a decoder");
    if (o->text)
        snprintf(over, PATH, "%s", o->text);
    if (!decoder || (!o->text && !dataset_held_path(o->model, over, PATH)))
        return true;
    *texts = dataset_texts(m, over, o->count ? (size_t)o->count : WINDOWS, err);
    if (!*texts)
        return false;
    const int n = surprise_parts(m, &blocks, &heads, NULL);
    Ablation *without = xcalloc((size_t)n, sizeof *without);
    surprise_parts(m, &blocks, &heads, without);
    *out = surprise_new(m, *texts, without, n, pool);
    free(without);
    while (!surprise_step(*out, clock_ns() + SLICE_NS))
        if (!progress(w, "reading texts", (double)surprise_done(*out) / (double)surprise_total(*out)))
            return err_set(err, "interrupted");
    return !isnan(surprise_trained(*out).mean) ||
           err_set(err, "%.200s: its logits are no numbers: there is no surprise", m->name);
}

/* What the heads of a text model are, on texts of random tokens; false where that can't be measured, and where it is
 * interrupted. */
static bool measure_heads(Work *w, HeadKinds *k, size_t count, const char *name, Err *err)
{
    if (!k)
        return false;
    while (!head_kinds_step(k, clock_ns() + SLICE_NS))
        if (!progress(w, "reading texts of random tokens", (double)head_kinds_done(k) / (double)count))
            return err_set(err, "interrupted");
    const HeadKindsResult *r = head_kinds_result(k);
    if (!r || r->nan < 0)
        return true;
    return r->nan < r->attentions
               ? err_set(err, "%s: the weights of attention %d of 0 to %d are NaN: where heads look can't be measured",
                         name, r->nan, r->attentions - 1)
               : err_set(err, "%s: its logits are NaN: what heads copy can't be measured", name);
}

/* Of a text model whose texts have no known answers: what its heads are; and where there are texts how surprising they
 * are, which is told though the heads can't be measured. */
static bool examine_heads(Work *w, const Model *m, Pool *pool, const char *name, Err *err)
{
    Surprise *e = NULL;
    Dataset *texts = NULL;
    char path[PATH], over[PATH];
    if (!examine_surprise(w, m, pool, &texts, &e, path, err)) {
        surprise_free(e);
        dataset_free(texts);
        return false;
    }
    const size_t count = w->options->count ? (size_t)w->options->count : HEAD_KINDS_TEXTS;
    HeadKinds *k = head_kinds_new(m, count, pool, err);
    bool ok = measure_heads(w, k, count, name, err);
    if (e)
        utf8_clean(over, sizeof over, path);
    if (ok)
        kinds_print(k, e, e ? over : NULL, m, name, w->options->json, &w->out);
    else if (e && !stop_asked()) {
        surprise_print(e, m, over, name, err->text, w->options->json, &w->out);
        ok = true;
    }
    head_kinds_free(k);
    surprise_free(e);
    dataset_free(texts);
    return ok;
}

/* Of a text model, for which no session is opened. */
static int examine_text(Work *w, Err *err)
{
    const Options *o = w->options;
    Model m = {0};
    Translation t;
    char name[200];
    size_t n = o->count ? (size_t)o->count : SENTENCES;
    if (o->pictures || o->showcase)
        return err_set(err, "a translator is examined on sentences: --pictures and --showcase mean nothing here"),
               STATUS_BAD;
    Pool *pool = pool_new((int)o->threads);
    bool ok = text_open(&m, o->model, err);
    if (ok && dataset_unsuited_sentences(&m))
        ok = examine_heads(w, &m, pool, utf8_clean(name, sizeof name, m.name), err);
    else if (ok && o->text)
        ok = err_set(err, "--text is for models that write, decoders alone: the translator has sentences of its own");
    else if (ok && (ok = translation_run(&t, &m, n, pool, progress, w, err)))
        translation_print(&t, utf8_clean(name, sizeof name, m.name), n, o->json, &w->out);
    model_free(&m);
    pool_free(pool);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int run(Work *w, Err *err)
{
    const Options *o = w->options;
    const Model *m = &w->session.model;
    char name[200];
    if (text_asked(o->model))
        return examine_text(w, err);
    if (o->text)
        return err_set(err, "--text is for models that write; this one looks at pictures: --pictures FOLDER"),
               STATUS_BAD;
    if (!work_open(w, LINE_OWN, err))
        return STATUS_BAD;
    utf8_clean(name, sizeof name, o->model ? o->model : m->name);
    Evaluated of = {.model = m, .name = name, .pictures = "held-out drawn shapes", .class_names = SHAPES_NAMES};
    if (o->pictures)
        return examine_folder(w, &of, err);
    if (!dataset_suits_drawn(m, err)) {
        if (model_grid(m).classes)
            err_set(err,
                    "%.200s: no labelled pictures are known for this model. Give it some: --pictures FOLDER, with a "
                    "folder of pictures for each of its %d classes.",
                    name, model_grid(m).classes);
        return STATUS_BAD;
    }
    if (o->showcase)
        return find_showcase(w, &of, err);
    Pictures *pictures = pictures_drawn(&m->preprocess, 0);
    int status = dataset_suits(m, pictures, err) ? examine(w, pictures, &of, err) : STATUS_BAD;
    pictures_free(pictures);
    return status;
}

const Verb VERB_EVALUATE = {
    .name = "evaluate",
    .usage = "evaluate [--pictures FOLDER [--all] | --text FILE] [--count N]",
    .summary = "how much a model gets right, and what each part of it is worth",
    .details =
        "Over pictures that it never learned from: accuracy as trained, without the scale 1/√d_k, without positions, "
        "without each head and each sub-layer, and from the other read-out, each with its 95 % interval (Wilson's of a "
        "share; of a difference the one of paired pictures), and the heads in order only as far as the intervals part "
        "them; what the logit lens names right after each block; how well the positions know the grid; how far and how "
        "evenly every head looks, and whether at the object, beside what maps that know nothing of the model give. "
        "--pictures FOLDER has a folder of pictures for each class, as for train. Of these, those count as held out "
        "that the model's learnt.txt does not list; without such a list the tenth that train would hold out, which "
        "goes by the pictures' pixels; with --all every one. The answer says which. --showcase looks among the first N "
        "drawn pictures (200 if not given) for the one where taking the scale away most visibly collapses a row of "
        "attention and changes the answer, for the one where it changes least, and for the one in the middle. Of a "
        "translator (-m translator): what it translates without a fault, and the head that knows what \"it\" stands "
        "for. Of any other text model: which of its heads are induction heads, look at the token before or behind, or "
        "sink their weight into the first token, over N texts of random tokens (50 if not given), each share with its "
        "95 % interval, what uniform attention gives, and a control; --json has the texts too. Of a decoder alone with "
        "--text FILE, or with the held.txt that train leaves in its folder, first: how much that text surprises it "
        "(−log p of the next token, in nats) as trained, without the scale, without each head and each sub-layer, over "
        "the first N windows of at most 64 tokens (50 if not given), each difference with its interval over the same "
        "windows. A text that it learned from surprises it less.",
    .example = "vitrine evaluate -m my-model --json",
    .flags = VERB_ALONE | VERB_JSON,
    .check = check,
    .run = run};
