/* `vitrine evaluate`: how much a model gets right, and what each of its parts is worth. */
#include "tui/cli/evaluate.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "tui/cli/verbs.h"

enum { COUNT = 1000, SHOWCASE_COUNT = 200 };

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
    if (o->showcase && o->pictures)
        return err_set(err, "--showcase looks among the drawn pictures: leave --pictures away");
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
    if (ok && w->options->json)
        showcase_json(&found, of, &w->out);
    else if (ok)
        showcase_table(&found, of, &w->out);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int examine(Work *w, const Pictures *pictures, const Evaluated *of, Err *err)
{
    Session *s = &w->session;
    Dataset *stock = dataset_new(pictures, &s->model, PICTURES_HELD_OUT, 0,
                                 w->options->count ? (size_t)w->options->count : COUNT);
    Evaluation e;
    bool ok = evaluation_run(&e, &s->model, stock, s->pool, progress, w, err);
    if (ok && w->options->json)
        evaluate_json(&e, of, &w->out);
    else if (ok)
        evaluate_table(&e, of, &w->out);
    if (ok)
        evaluation_free(&e);
    dataset_free(stock);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int run(Work *w, Err *err)
{
    const Options *o = w->options;
    const Model *m = &w->session.model;
    char name[200], folder[200];
    utf8_clean(name, sizeof name, o->model ? o->model : m->name);
    Evaluated of = {.model = m, .name = name, .pictures = "held-out drawn shapes", .class_names = SHAPES_NAMES};
    if (!o->pictures && !dataset_suits_drawn(m, err)) {
        if (m->vit.classes)
            err_set(err,
                    "%.200s: no labelled pictures are known for this model. Give it some: --pictures FOLDER, with a "
                    "folder of pictures for each of its %d classes.",
                    name, m->vit.classes);
        return STATUS_BAD;
    }
    if (o->showcase)
        return find_showcase(w, &of, err);
    Pictures *pictures = o->pictures ? pictures_folder(o->pictures, &m->preprocess, reading, w, err)
                                     : pictures_drawn(&m->preprocess, 0);
    if (!pictures)
        return STATUS_BAD;
    if (o->pictures) {
        char clean[160];
        snprintf(folder, sizeof folder, "held-out pictures of %s", utf8_clean(clean, sizeof clean, o->pictures));
        of.pictures = folder;
        if (m->class_names)
            of.class_names = m->class_names;
        else
            of.class_names = pictures_names(pictures);
    }
    int status = dataset_suits(m, pictures, err) ? examine(w, pictures, &of, err) : STATUS_BAD;
    pictures_free(pictures);
    return status;
}

const Verb VERB_EVALUATE = {
    .name = "evaluate",
    .usage = "evaluate [--pictures FOLDER] [--count N]",
    .summary = "how much a model gets right, and what each part of it is worth",
    .details =
        "Over pictures that it never learned from: accuracy as trained, without the scale 1/√d_k, without "
        "positions, without each head and each sub-layer, and from the "
        "other read-out; how well the positions know the grid; how far and how evenly every head looks, and "
        "whether at the object. --pictures FOLDER has a folder of "
        "pictures for each class, as for train: every tenth is held out. --showcase looks among the first N "
        "drawn pictures (200 if not given) for the one where taking "
        "the scale away most visibly collapses a row of attention and changes the answer, and for the one where "
        "it changes least. Of a translator (-m translator is the bundled one): sentences of unseen combinations "
        "translated without a fault, the head whose largest weight is on the noun that \"it\" stands for, over all "
        "pairs of sentences that differ in that only, and what is translated with that head switched off.",
    .example = "vitrine evaluate -m my-model --json",
    .flags = VERB_JSON,
    .check = check,
    .run = run,
    .run_text = evaluate_text};
