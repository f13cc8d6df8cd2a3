#include "core/session/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/edit/slider.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/where.h"

typedef enum Kind { OPTION_SWITCH, OPTION_WORD, OPTION_NUMBER, OPTION_MAP, OPTION_RANGE } Kind;

struct LookOption {
    const char *name;
    Kind kind;
    size_t at;                                      /* of the field in LookAt; unused by OPTION_RANGE */
    const char *(*word)(int i);                     /* OPTION_WORD: names of its values, NULL past the end */
    bool (*there)(Session *s, int value, Err *err); /* NULL: every value is */
};

static const char *pool_word(int i)
{
    static const char *const WORDS[] = {"max", "mean", "absmax"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == POOL_KINDS, "a word for each way of pooling");
    return i < POOL_KINDS ? WORDS[i] : NULL;
}

static const char *view_word(int i)
{
    return i < VIEW_COUNT ? view_name((View)i) : NULL;
}

static const char *method_word(int i)
{
    return i < WHERE_METHODS ? where_word((WhereMethod)i) : NULL;
}

static const char *reach_word(int i)
{
    static const char *const WORDS[] = {"all", "block", "head"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == REACH_COUNT, "a word for each reach");
    return i < REACH_COUNT ? WORDS[i] : NULL;
}

/* As colour maps are named where they are drawn; a name that is not known there is automatic. */
const char *look_option_map(int i)
{
    static const char *const MAPS[] = {"auto", "magma",      "viridis",     "cividis",
                                       "grey", "grey-light", "blue-orange", "vik"};
    return i >= 0 && i < (int)(sizeof MAPS / sizeof *MAPS) ? MAPS[i] : NULL;
}

static bool pool_there(Session *s, int value, Err *err)
{
    (void)s;
    return (value >= 0 && value <= 32) || err_set(err, "a drawn cell stands for 1 to 32 numbers; 0 is automatic");
}

static bool snapshot_there(Session *s, int value, Err *err)
{
    if (value == 0)
        return true;
    measures_read_history(s);
    const History *h = session_history_shown(s);
    int last = h ? h->snapshot_count - 1 : 0;
    return (value > 0 && value <= last) || err_set(err, "there is no snapshot %d: they go from 0 to %d", value, last);
}

static bool twin_there(Session *s, int value, Err *err)
{
    if (!value)
        return true;
    measures_read_history(s);
    return session_history_twin(s) || err_set(err, "no twin, trained without the scale, is known for this model");
}

#define FIELD(name) offsetof(LookAt, name)
static const LookOption OPTIONS[] = {
    {"view", OPTION_WORD, FIELD(view), view_word, NULL},
    {"pool", OPTION_NUMBER, FIELD(pool), NULL, pool_there},
    {"pool-by", OPTION_WORD, FIELD(pool_kind), pool_word, NULL},
    {"colours", OPTION_MAP, FIELD(map), NULL, NULL},
    {"range", OPTION_RANGE, 0, NULL, NULL},
    {"average", OPTION_SWITCH, FIELD(average), NULL, NULL},
    {"grid", OPTION_SWITCH, FIELD(grid), NULL, NULL},
    {"grids", OPTION_SWITCH, FIELD(grid_of_grids), NULL, NULL},
    {"centred", OPTION_SWITCH, FIELD(centred), NULL, NULL},
    {"twin", OPTION_SWITCH, FIELD(twin), NULL, twin_there},
    {"snapshot", OPTION_NUMBER, FIELD(snapshot), NULL, snapshot_there},
    {"components", OPTION_SWITCH, FIELD(components), NULL, NULL},
    {"method", OPTION_WORD, FIELD(method), method_word, NULL},
    {"one-head", OPTION_SWITCH, FIELD(one_head), NULL, NULL},
    {"reach", OPTION_WORD, FIELD(reach), reach_word, NULL},
    {"map", OPTION_SWITCH, FIELD(steps_focused), NULL, NULL},
    {"zoom", OPTION_SWITCH, FIELD(zoomed), NULL, NULL},
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };
_Static_assert(sizeof(View) == sizeof(int) && sizeof(PoolKind) == sizeof(int), "words are kept as int");

const LookOption *look_option_at(int i)
{
    return i >= 0 && i < OPTION_COUNT ? &OPTIONS[i] : NULL;
}

const char *look_option_name(const LookOption *o)
{
    return o->name;
}

LookAt look_start(void)
{
    return (LookAt){.grid = true};
}

static int number_in(const LookOption *o, const LookAt *l)
{
    const char *field = (const char *)l + o->at;
    int value;
    if (o->kind == OPTION_SWITCH)
        return *(const bool *)field;
    memcpy(&value, field, sizeof value);
    return value;
}

void look_option_get(const LookOption *o, const LookAt *l, Buf *out)
{
    switch (o->kind) {
    case OPTION_SWITCH: buf_puts(out, number_in(o, l) ? "on" : "off"); break;
    case OPTION_NUMBER: buf_printf(out, "%d", number_in(o, l)); break;
    case OPTION_WORD: buf_puts(out, o->word(number_in(o, l))); break;
    case OPTION_MAP: buf_puts(out, *l->map ? l->map : look_option_map(0)); break;
    case OPTION_RANGE:
        if (l->locked)
            buf_printf(out, "%.9g:%.9g", (double)l->low, (double)l->high);
        else
            buf_puts(out, "free");
        break;
    }
}

static bool set_range(LookAt *l, const char *word, Err *err)
{
    char *end, *last;
    if (strcmp(word, "free") == 0) {
        l->locked = false;
        return true;
    }
    float low = strtof(word, &end), high = *end == ':' ? strtof(end + 1, &last) : 0;
    if (end == word || *end != ':' || last == end + 1 || *last || !isfinite(low) || !isfinite(high) || low > high)
        return err_set(err, "expected free or LOW:HIGH, found '%.40s'", word);
    l->locked = true;
    l->low = low;
    l->high = high;
    return true;
}

static bool set_map(LookAt *l, const char *word, Err *err)
{
    for (int i = 0; look_option_map(i); i++)
        if (strcmp(look_option_map(i), word) == 0) {
            snprintf(l->map, sizeof l->map, "%s", i ? word : "");
            return true;
        }
    return err_set(err, "there is no colour map '%.40s'", word);
}

/* The number that the word stands for. */
static bool number_of(const LookOption *o, const char *word, int *value, Err *err)
{
    char *end;
    if (o->kind == OPTION_WORD) {
        for (*value = 0; o->word(*value); ++*value)
            if (strcmp(o->word(*value), word) == 0)
                return true;
        return err_set(err, "'%.40s' is no %s", word, o->name);
    }
    if (o->kind == OPTION_SWITCH) {
        *value = strcmp(word, "on") == 0;
        return *value || strcmp(word, "off") == 0 || err_set(err, "expected on or off, found '%.40s'", word);
    }
    long n = strtol(word, &end, 10);
    *value = (int)n;
    return (end != word && !*end && n >= 0 && n <= 1000000) || err_set(err, "expected a number, found '%.40s'", word);
}

bool look_option_set(const LookOption *o, Session *s, const char *word, Err *err)
{
    int value;
    char *field = (char *)&s->look + o->at;
    if (o->kind == OPTION_RANGE)
        return set_range(&s->look, word, err);
    if (o->kind == OPTION_MAP)
        return set_map(&s->look, word, err);
    if (!number_of(o, word, &value, err) || (o->there && !o->there(s, value, err)))
        return false;
    if (o->kind == OPTION_SWITCH)
        *(bool *)field = value != 0;
    else
        memcpy(field, &value, sizeof value);
    return true;
}

void look_write(const LookAt *from, const LookAt *to, Buf *out)
{
    Buf old = {0}, new = {0};
    for (int i = 0; i < OPTION_COUNT; i++) {
        buf_clear(&old);
        buf_clear(&new);
        if (from)
            look_option_get(&OPTIONS[i], from, &old);
        look_option_get(&OPTIONS[i], to, &new);
        if (!from || strcmp(buf_str(&old), buf_str(&new)) != 0)
            buf_printf(out, "option %s %s\n", OPTIONS[i].name, buf_str(&new));
    }
    buf_free(&old);
    buf_free(&new);
}

static const char *name_at(const void *context, int i)
{
    (void)context;
    return i < OPTION_COUNT ? OPTIONS[i].name : NULL;
}

bool look_option_command(Session *s, const Args *a, Err *err)
{
    if (a->count != 2)
        return err_set(err, "expected the name of an option and its value");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(OPTIONS[i].name, a->word[0]) == 0)
            return look_option_set(&OPTIONS[i], s, a->word[1], err) || err_prefix(err, "column %d", a->column[1]);
    const char *near = nearest_name(a->word[0], name_at, NULL);
    return err_set(err, "column %d: there is no option '%.40s'%s%s%s", a->column[0], a->word[0],
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

void look_option_complete(const Session *s, int index, Buf *out)
{
    (void)s;
    for (int i = 0; index == 0 && i < OPTION_COUNT; i++)
        buf_printf(out, "%s\n", OPTIONS[i].name);
}
