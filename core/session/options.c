#include "core/session/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/session/learned/measures.h"
#include "core/session/screens.h"

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

/* As colour maps are named where they are drawn; a name that is not known there is automatic. */
const char *look_option_map(int i)
{
    static const char *const MAPS[] = {"auto",       "magma",      "viridis",     "cividis", "grey",
                                       "grey-light", "blue-light", "blue-orange", "vik"};
    return i >= 0 && i < (int)(sizeof MAPS / sizeof *MAPS) ? MAPS[i] : NULL;
}

static const char *range_word(int i)
{
    static const char *const WORDS[] = {"shared", "own", "log", "heads"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == RANGES, "a word for each range");
    return i < RANGES ? WORDS[i] : NULL;
}

static bool pool_there(Session *s, int value, Err *err)
{
    (void)s;
    return (value >= 0 && value <= 32) || err_set(err, "a drawn cell stands for 1 to 32 numbers; 0 is automatic");
}

static bool pictures_there(Session *s, int value, Err *err)
{
    (void)s;
    return (value >= MEASURES_ROUND && value <= MEASURES_PICTURES) ||
           err_set(err, "a model's accuracy is measured over %d to %d pictures", MEASURES_ROUND, MEASURES_PICTURES);
}

#define FIELD(name) offsetof(LookAt, name)
static const LookOption OPTIONS[] = {
    {.name = "view", .kind = OPTION_WORD, .at = FIELD(view), .word = view_word},
    {.name = "pool", .kind = OPTION_NUMBER, .at = FIELD(pool), .there = pool_there},
    {.name = "pool-by", .kind = OPTION_WORD, .at = FIELD(pool_kind), .word = pool_word},
    {.name = "colours", .kind = OPTION_MAP, .at = FIELD(map)},
    {.name = "scale-of", .kind = OPTION_WORD, .at = FIELD(range), .word = range_word},
    {.name = "range", .kind = OPTION_RANGE},
    {.name = "average", .kind = OPTION_SWITCH, .at = FIELD(average)},
    {.name = "map", .kind = OPTION_SWITCH, .at = FIELD(steps_focused)},
    {.name = "pictures", .kind = OPTION_NUMBER, .at = FIELD(pictures), .there = pictures_there},
    {.name = "zoom", .kind = OPTION_SWITCH, .at = FIELD(zoomed)},
};
#undef FIELD
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };
_Static_assert(sizeof(View) == sizeof(int) && sizeof(PoolKind) == sizeof(int), "words are kept as int");

const LookOption *look_option_at(int i)
{
    if (i < OPTION_COUNT)
        return i < 0 ? NULL : &OPTIONS[i];
    i -= OPTION_COUNT;
    for (int screen = 0; screen < SCREEN_COUNT; screen++)
        for (const LookOption *o = screen_spec((Screen)screen)->options; o && o->name; o++)
            if (i-- == 0)
                return o;
    return NULL;
}

static const char *value_word(const LookOption *o, int i)
{
    return o->kind == OPTION_MAP ? look_option_map(i) : o->word(i);
}

int look_option_value(const char *option, const char *word)
{
    const LookOption *o = look_option_at(0);
    for (int i = 0; o && strcmp(o->name, option) != 0; i++)
        o = look_option_at(i);
    REQUIRE(o);
    for (int i = 0; value_word(o, i); i++)
        if (strcmp(value_word(o, i), word) == 0)
            return i;
    return -1;
}

LookAt look_start(void)
{
    LookAt look = {.view = VIEW_HEAT, .pictures = MEASURES_PICTURES};
    const LookOption *o;
    for (int i = OPTION_COUNT; (o = look_option_at(i)) != NULL; i++)
        look_option_put(o, &look, o->start);
    return look;
}

int look_option_number(const LookOption *o, const LookAt *l)
{
    const char *field = (const char *)l + o->at;
    int value;
    if (o->kind == OPTION_SWITCH)
        return *(const bool *)field;
    memcpy(&value, field, sizeof value);
    return value;
}

void look_option_put(const LookOption *o, LookAt *l, int value)
{
    char *field = (char *)l + o->at;
    if (o->kind == OPTION_SWITCH)
        *(bool *)field = value != 0;
    else
        memcpy(field, &value, sizeof value);
}

/* Its value in l as a word, appended. */
static void look_option_get(const LookOption *o, const LookAt *l, Buf *out)
{
    switch (o->kind) {
    case OPTION_SWITCH: buf_puts(out, look_option_number(o, l) ? "on" : "off"); break;
    case OPTION_NUMBER: buf_printf(out, "%d", look_option_number(o, l)); break;
    case OPTION_HUNDREDTHS:
        buf_printf(out, "%d.%02d", look_option_number(o, l) / 100, look_option_number(o, l) % 100);
        break;
    case OPTION_WORD: buf_puts(out, o->word(look_option_number(o, l))); break;
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
    if (o->kind == OPTION_HUNDREDTHS) {
        double x = strtod(word, &end);
        *value = end != word && !*end && x >= 0 && x <= 10000 ? (int)(x * 100 + 0.5) : -1;
        return *value >= 0 || err_set(err, "expected a number such as 0.6, found '%.40s'", word);
    }
    long n = strtol(word, &end, 10);
    *value = (int)n;
    return (end != word && !*end && n >= 0 && n <= 1000000) || err_set(err, "expected a number, found '%.40s'", word);
}

bool look_option_set(const LookOption *o, Session *s, const char *word, Err *err)
{
    int value;
    if (o->kind == OPTION_RANGE)
        return set_range(&s->look, word, err);
    if (o->kind == OPTION_MAP)
        return set_map(&s->look, word, err);
    if (!number_of(o, word, &value, err) || (o->there && !o->there(s, value, err)))
        return false;
    look_option_put(o, &s->look, value);
    return true;
}

void look_write(const LookAt *from, const LookAt *to, Buf *out)
{
    Buf old = {0}, new = {0};
    const LookOption *o;
    for (int i = 0; (o = look_option_at(i)) != NULL; i++) {
        buf_clear(&old);
        buf_clear(&new);
        if (from)
            look_option_get(o, from, &old);
        look_option_get(o, to, &new);
        if (!from || strcmp(buf_str(&old), buf_str(&new)) != 0)
            buf_printf(out, "option %s %s\n", o->name, buf_str(&new));
    }
    buf_free(&old);
    buf_free(&new);
}

static const char *name_at(const void *context, int i)
{
    (void)context;
    const LookOption *o = look_option_at(i);
    return o ? o->name : NULL;
}

bool look_option_command(Session *s, const Args *a, Err *err)
{
    const LookOption *o;
    if (a->count != 2)
        return err_set(err, "expected the name of an option and its value");
    for (int i = 0; (o = look_option_at(i)) != NULL; i++)
        if (strcmp(o->name, a->word[0]) == 0)
            return look_option_set(o, s, a->word[1], err) || err_prefix(err, "column %d", a->column[1]);
    const char *near = nearest_name(a->word[0], name_at, NULL);
    return err_set(err, "column %d: there is no option '%.40s'%s%s%s", a->column[0], a->word[0],
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

void look_option_complete(const Session *s, int index, Buf *out)
{
    const LookOption *o;
    (void)s;
    for (int i = 0; index == 0 && (o = look_option_at(i)) != NULL; i++)
        buf_printf(out, "%s\n", o->name);
}
