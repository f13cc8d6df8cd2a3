/* Options that a verb would not look at: named, with who does, for what was typed is meant. */
#include <string.h>

#include "core/base/utf8.h"
#include "tui/cli/help.h"

/* What these verbs read of the options that say which run is meant; the others that open one read all of them. */
static const struct {
    const Verb *verb;
    const char *takes, *why;
} RUNS[] = {
    {&VERB_TRAIN, "", "it begins with weights from the recipe's seed, and --config FILE says what the model is"},
    {&VERB_DATA, "", "it draws pictures by their numbers, with no model"},
    {&VERB_LESSONS, "", "it lists the lessons"},
    {&VERB_LESSON, "", "a lesson brings its own model and pictures"},
    {&VERB_CHECK, "", "a lesson brings its own model and pictures"},
    {&VERB_NOTES, "", "it shows what is presented"},
    {&VERB_EXERCISE, "input model assume resolution", "it takes a model and a picture as they are"},
    {&VERB_PRESENT, "input model assume resolution chat", "what is presented has the commands"},
    {&VERB_SHARE, "input model assume resolution chat", "what is presented has the commands"},
    {&VERB_JOIN, "input model assume resolution chat", "the commands are theirs who share"},
    {&VERB_EVALUATE, "input model assume resolution commands at", "it takes the model as it was trained"},
    {&VERB_TOKENS, "input model commands at chat", "it reads the tokeniser alone"},
    {&VERB_TRANSLATE, "input model commands at chat", "it prints what is written"},
    {&VERB_WRITE, "input model commands at chat", "it prints what is written"},
};
static const char OF_RUNS[] = "input model assume resolution commands at gradient chat";

/* "train, evaluate" */
static void put_owners(const OptionSpec *o, Buf *out)
{
    for (int i = 0, n = 0; verb_at(i); i++)
        if (option_is_of(o, verb_at(i)))
            buf_printf(out, "%s%s", n++ ? ", " : "", verb_at(i)->name);
}

static bool refuse_foreign(const OptionSpec *o, const Verb *v, Err *err)
{
    Buf owners = {0};
    put_owners(o, &owners);
    err_set(err, v ? "%s takes no --%s: it belongs to %s" : "%s there is no --%s: it belongs to %s",
            v ? v->name : "without a verb", o->name, buf_str(&owners));
    buf_free(&owners);
    return false;
}

/* Why the verb takes no such option, though many verbs do; NULL: it takes it. */
static const char *refuses(const Verb *v, const OptionSpec *o)
{
    for (size_t i = 0; i < sizeof RUNS / sizeof *RUNS; i++)
        if (RUNS[i].verb == v && utf8_listed(OF_RUNS, o->name) && !utf8_listed(RUNS[i].takes, o->name))
            return RUNS[i].why;
    return NULL;
}

bool option_is_refused(const OptionSpec *o, const Verb *v)
{
    return refuses(v, o) != NULL || (strcmp(o->name, "json") == 0 && !(v->flags & VERB_JSON));
}

bool options_used(const Options *o, const Verb *v, Err *err)
{
    for (int i = 0; option_at(i); i++) {
        const OptionSpec *spec = option_at(i);
        if (!(o->given >> i & 1))
            continue;
        if (!option_is_common(spec) && !(v && option_is_of(spec, v)))
            return refuse_foreign(spec, v, err);
        const char *why = refuses(v, spec);
        if (why)
            return err_set(err, "%s takes no --%s: %s", v->name, spec->name, why);
    }
    return true;
}
