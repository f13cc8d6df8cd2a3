#include "tui/cli/verbs.h"
#include "core/session/session.h"

#include <string.h>

#include "core/base/tell.h"
#include "tui/app.h"

static const Verb *const VERBS[] = {&VERB_RUN,      &VERB_EMBED,     &VERB_SCORE,    &VERB_SHOW,   &VERB_EXPLAIN,
                                    &VERB_WHY,      &VERB_LEDGER,    &VERB_PATCHING, &VERB_TRACE,  &VERB_SCREEN,
                                    &VERB_INFO,     &VERB_VERIFY,    &VERB_DIFF,     &VERB_DATA,   &VERB_TRAIN,
                                    &VERB_EVALUATE, &VERB_TRANSLATE, &VERB_WRITE,    &VERB_TOKENS, &VERB_LESSONS,
                                    &VERB_LESSON,   &VERB_CHECK,     &VERB_EXERCISE, &VERB_EXPORT, &VERB_PLAIN,
                                    &VERB_DEMO,     &VERB_PRESENT,   &VERB_SHARE,    &VERB_JOIN,   &VERB_NOTES,
                                    &VERB_RECEIPT};

enum { VERB_COUNT = sizeof VERBS / sizeof *VERBS };

const Verb *verb_at(int i)
{
    return i >= 0 && i < (int)VERB_COUNT ? VERBS[i] : NULL;
}

const Verb *verb_find(const char *name)
{
    for (int i = 0; i < (int)VERB_COUNT; i++)
        if (strcmp(VERBS[i]->name, name) == 0)
            return VERBS[i];
    return NULL;
}

static const char *verb_name(const void *context, int i)
{
    (void)context;
    return i < (int)VERB_COUNT ? VERBS[i]->name : NULL;
}

const char *verb_nearest(const char *typed)
{
    return nearest_name(typed, verb_name, NULL);
}

static bool check_words(const Verb *v, Work *w, Err *err)
{
    const Options *o = w->options;
    if (o->json && !(v->flags & VERB_JSON))
        return err_set(err, "%s draws, it has no --json; `vitrine show ADDRESS --json` gives the numbers", v->name);
    if (v->words && o->word_count > v->words)
        return err_set(err, "%s takes no '%.100s': see `vitrine %s --help`", v->name, o->word[v->words], v->name);
    if (v->flags & VERB_ALONE)
        return !v->check || v->check(o, &w->link, err);
    Commands commands = session_command_set();
    bool ok = link_parse(&w->link, o->word + 1, o->word_count - 1, v->flags & VERB_ADDRESS ? LINK_ADDRESS : LINK_INPUT,
                         &commands, err);
    commands_free(&commands);
    if (!ok)
        return false;
    if (!(v->flags & VERB_ADDRESS) && w->link.address && !w->link.input &&
        !(v == &VERB_PLAIN && o->input)) { /* a file that is not there: opening it says so */
        w->link.input = w->link.address;
        w->link.address = NULL;
    }
    if (!(v->flags & VERB_ADDRESS) && v != &VERB_PLAIN && w->link.address) /* a link opens there too */
        return err_set(err,
                       "%s takes no '%.100s' beside '%.100s': one input is all it asks for; see `vitrine %s --help`",
                       v->name, w->link.address, w->link.input, v->name);
    if (w->link.input && o->input)
        return err_set(err, "two inputs, '%.100s' and '%.100s': name one", w->link.input, o->input);
    w->address = w->link.address ? w->link.address : o->at ? o->at : "";
    return !v->check || v->check(o, &w->link, err);
}

/* The hash that a link promises: a run that is another one is said, and is no success. */
static int check_hash(Work *w, int status, Err *err)
{
    uint64_t hash;
    if (status != STATUS_DONE)
        return status;
    if ((w->link.model || w->link.picture || w->link.pinned) && !link_agrees(&w->link, &w->session, err))
        return STATUS_NO;
    if (!w->link.hash)
        return status;
    if (!work_complete(w, err) || !session_hash(&w->session, SIDE_B, &hash))
        return STATUS_BAD;
    if (link_hash_agrees(w->link.hash, hash))
        return STATUS_DONE;
    err_set(err, "the link says trace hash @%s, this run has %016llx: another model, picture or edit", w->link.hash,
            (unsigned long long)hash);
    return STATUS_NO;
}

AppOptions verb_screen(const Options *o)
{
    return (AppOptions){.model = o->model,
                        .input = o->input,
                        .threads = (int)o->threads,
                        .memory = o->memory,
                        .assume = o->assume,
                        .resolution = o->resolution,
                        .texts = o->text,
                        .terminal = {.colour = o->colour,
                                     .plots = o->plots,
                                     .graphics = o->graphics,
                                     .ascii = o->ascii,
                                     .no_mouse = o->no_mouse,
                                     .ground = o->light  ? "light"
                                               : o->dark ? "dark"
                                                         : NULL},
                        .fresh = true};
}

int verb_main(const Verb *v, const Options *o)
{
    Work w = {.options = o, .address = ""};
    Err err = {{0}};
    unsigned allowed = LINE_OWN | (v->flags & VERB_UI ? COMMAND_UI : 0u);
    int status = STATUS_USAGE;
    bool sound = check_words(v, &w, &err) && options_used(o, v, &err);
    AppOptions a = verb_screen(o);
    if (sound && v->screen && v->screen(o, &a))
        return app_main(&a);
    if (sound) {
        bool ready = true;
        if (v->flags & VERB_ALONE)
            work_begin(&w);
        else
            ready = work_open(&w, allowed, &err);
        status = !ready ? STATUS_BAD : v->run(&w, &err);
        status = check_hash(&w, status, &err);
        if (status != STATUS_BAD && status != STATUS_USAGE) {
            Err other = {{0}};
            if (!work_deliver(&w, &other)) {
                status = STATUS_BAD;
                err = other;
            }
        }
    }
    work_close(&w, status == STATUS_DONE || status == STATUS_NO);
    if (*err.text)
        tell(err.text);
    return status;
}
