/* A chat template's segments, run one after the other. */
#include <string.h>

#include "core/io/chat_parts.h"

static bool run(Script *s, const Segments *l, size_t from, size_t to);

static bool write_out(Script *s, const Value *v, size_t at)
{
    Value text;
    if (!value_print(s, at, v, &text))
        return false;
    if (s->out->text.len + text.n > CHAT_TEXT)
        return err_set(s->err, "%s: the chat template writes more than %d bytes", s->chat->name, CHAT_TEXT);
    for (size_t i = 0; i < text.n; i++)
        buf_putc(&s->out->said, text.said ? text.said[i] : 0);
    buf_add(&s->out->text, text.text, text.n);
    return script_work(s, text.n / 16 + 1);
}

static bool whole(Script *s, size_t at, size_t end)
{
    at = script_skip(s, at, end);
    return at >= end ||
           script_refuse(s, at, "'%.*s' is not expected here", end - at < 20 ? (int)(end - at) : 20, s->source + at);
}

static bool condition(Script *s, const Segment *g, bool *yes)
{
    size_t at = g->from;
    Value v;
    if (!script_value(s, &at, g->to, &v) || !whole(s, at, g->to))
        return false;
    *yes = value_true(&v);
    return true;
}

/* set a = …, set ns.a = … */
static bool run_set(Script *s, const Segment *g)
{
    size_t at = script_skip(s, g->from, g->to), n = script_name(s, at, g->to), name = at;
    ChatTable *into = &s->names;
    size_t first = s->frame;
    Value v;
    at = script_skip(s, at + n, g->to);
    if (n && at < g->to && s->source[at] == '.') {
        const Value *space = table_get(&s->names, s->source + name, n);
        if (!space || space->kind != VALUE_TABLE)
            return script_refuse(s, name, "'%.*s' is no namespace", n < 40 ? (int)n : 40, s->source + name);
        into = space->table;
        first = 0;
        name = script_skip(s, at + 1, g->to);
        n = script_name(s, name, g->to);
        at = script_skip(s, name + n, g->to);
    }
    if (!n || at >= g->to || s->source[at] != '=')
        return script_refuse(s, name, "a 'set' of another form than NAME = VALUE is not known here");
    at++;
    return script_value(s, &at, g->to, &v) && whole(s, at, g->to) &&
           script_set(s, into, first, s->source + name, n, &v);
}

static bool set_loop(Script *s, ChatTable *loop, const Value *list, size_t i)
{
    const Value none = {.kind = VALUE_UNDEFINED};
    const struct {
        const char *name;
        Value v;
    } of[] = {{"index", value_number((long long)i + 1)},
              {"index0", value_number((long long)i)},
              {"revindex", value_number((long long)(list->n - i))},
              {"revindex0", value_number((long long)(list->n - i) - 1)},
              {"first", value_bool(i == 0)},
              {"last", value_bool(i + 1 == list->n)},
              {"length", value_number((long long)list->n)},
              {"previtem", i ? list->item[i - 1] : none},
              {"nextitem", i + 1 < list->n ? list->item[i + 1] : none}};
    bool ok = true;
    for (size_t k = 0; ok && k < sizeof of / sizeof *of; k++)
        ok = script_set(s, loop, 0, of[k].name, strlen(of[k].name), &of[k].v);
    return ok;
}

/* "NAME in VALUE [if CONDITION]": the name's bytes, the list, without those that the condition leaves out. */
static bool loop_over(Script *s, const Segment *g, size_t *name, size_t *length, Value *list)
{
    size_t at = script_skip(s, g->from, g->to), n = script_name(s, at, g->to), in = script_skip(s, at + n, g->to);
    if (!n || script_name(s, in, g->to) != 2 || memcmp(s->source + in, "in", 2) != 0)
        return script_refuse(s, at, "a 'for' of another form than NAME in VALUE is not known here");
    *name = at;
    *length = n;
    size_t from = in + 2, to = g->to, test = 0;
    int depth = 0;
    for (size_t i = from; i + 2 < to && !test; i++) { /* a condition behind the list is no choice between two lists */
        char c = s->source[i];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (!depth && strchr(" \n", c) && script_name(s, i + 1, to) == 2 && memcmp(s->source + i + 1, "if", 2) == 0)
            test = i + 1;
    }
    at = from;
    if (!script_value(s, &at, test ? test : to, list) || !whole(s, at, test ? test : to))
        return false;
    if (list->kind != VALUE_LIST)
        return script_refuse(s, from, "a 'for' over what is no list");
    if (!test)
        return true;
    Value *kept = script_room(s, list->n, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; kept && i < list->n; i++) {
        bool yes;
        const Segment when = {.from = test + 2, .to = to};
        if (!script_set(s, &s->names, s->frame, s->source + *name, n, &list->item[i]) || !condition(s, &when, &yes))
            return false;
        kept[count] = list->item[i];
        count += yes;
    }
    *list = (Value){.kind = VALUE_LIST, .item = kept, .n = count};
    return kept != NULL;
}

/* What a loop sets is gone behind it. */
static bool run_for(Script *s, const Segments *l, size_t i)
{
    const Segment *g = &l->at[i];
    const size_t names = s->names.n, frame = s->frame;
    size_t name = 0, n = 0, otherwise = (size_t)g->next;
    Value list, loop = {.kind = VALUE_TABLE, .table = script_room(s, 1, sizeof(ChatTable))};
    s->globals = frame ? s->globals : names;
    s->frame = names;
    s->loops++;
    bool ok = loop.table && loop_over(s, g, &name, &n, &list);
    for (size_t k = 0; ok && k < list.n; k++) {
        s->names.n = names;
        ok = script_work(s, 4) && set_loop(s, loop.table, &list, k) &&
             script_set(s, &s->names, names, s->source + name, n, &list.item[k]) &&
             script_set(s, &s->names, names, "loop", 4, &loop) && run(s, l, i + 1, otherwise);
        const bool ends = s->leaving == WORD_BREAK;
        s->leaving = 0;
        if (ends)
            break;
    }
    s->loops--;
    s->names.n = names;
    s->frame = frame;
    if (ok && !list.n && l->at[otherwise].word == WORD_ELSE)
        ok = run(s, l, otherwise + 1, (size_t)l->at[otherwise].next);
    return ok;
}

/* The last segment of an if or a for. */
static size_t end_of(const Segments *l, size_t i)
{
    while (l->at[i].next >= 0)
        i = (size_t)l->at[i].next;
    return i;
}

static bool run_if(Script *s, const Segments *l, size_t i)
{
    for (; l->at[i].next >= 0; i = (size_t)l->at[i].next) {
        bool yes = l->at[i].word == WORD_ELSE;
        if (!yes && !condition(s, &l->at[i], &yes))
            return false;
        if (yes)
            return run(s, l, i + 1, (size_t)l->at[i].next);
    }
    return true;
}

/* What segments [from, to) write, as a value. */
static bool run_aside(Script *s, const Segments *l, size_t from, size_t to, Value *out)
{
    ChatText own = {.text = {0}}, *was = s->out;
    s->out = &own;
    bool ok = run(s, l, from, to);
    s->out = was;
    if (ok)
        return value_written(s, &own, out);
    chat_text_free(&own);
    return false;
}

/* set NAME … endset */
static bool run_capture(Script *s, const Segments *l, size_t i)
{
    const Segment *g = &l->at[i];
    size_t at = script_skip(s, g->from, g->to), n = script_name(s, at, g->to);
    Value v;
    if (!n || script_skip(s, at + n, g->to) < g->to)
        return script_refuse(s, at, "a 'set' of another form than NAME or NAME = VALUE is not known here");
    return run_aside(s, l, i + 1, (size_t)g->next, &v) && script_set(s, &s->names, s->frame, s->source + at, n, &v);
}

/* macro NAME(…): it is run where it is called. One inside a loop would see that loop's names. */
static bool run_macro(Script *s, size_t i)
{
    const Segment *g = &s->segments->at[i];
    size_t at = script_skip(s, g->from, g->to), n = script_name(s, at, g->to);
    const Value v = {.kind = VALUE_MACRO, .number = (long long)i};
    if (!n || script_skip(s, at + n, g->to) >= g->to || s->source[script_skip(s, at + n, g->to)] != '(')
        return script_refuse(s, at, "a 'macro' of another form than NAME(…) is not known here");
    if (s->frame)
        return script_refuse(s, at, "a macro inside a loop or another macro is not known here");
    return script_set(s, &s->names, 0, s->source + at, n, &v);
}

/* Sets what a macro's names in brackets stand for: those given in order, by name, or the macro's own. */
static bool set_parameters(Script *s, size_t at, size_t end, const ChatArguments *a)
{
    int used = 0, place = 0;
    for (at = script_skip(s, at, end); at < end && s->source[at] != ')'; place++) {
        const size_t name = at, n = script_name(s, at, end);
        Value v = {.kind = VALUE_UNDEFINED};
        bool given = false, positional = place < a->n && !a->key[place];
        at = script_skip(s, at + n, end);
        if (!n)
            return script_refuse(s, name, "a name is missing in a macro's brackets");
        if (at < end && s->source[at] == '=') {
            at++;
            if (!script_value(s, &at, end, &v))
                return false;
            at = script_skip(s, at, end);
        }
        for (int i = 0; i < a->n; i++)
            if (positional ? i == place
                           : a->key[i] && a->key_length[i] == n && !memcmp(a->key[i], s->source + name, n)) {
                v = a->value[i];
                given = true;
            }
        used += given;
        if (!script_set(s, &s->names, s->frame, s->source + name, n, &v))
            return false;
        if (at < end && s->source[at] == ',')
            at = script_skip(s, at + 1, end);
        else if (at < end && s->source[at] != ')')
            return script_refuse(s, at, "',' is missing");
    }
    return used == a->n || script_refuse(s, at, "a macro gets a value that it has no name for");
}

/* It sees the template's names and its own, and what it sets is gone behind it. */
bool script_call(Script *s, size_t at, const Value *macro, const ChatArguments *a, Value *out)
{
    enum { CALLS = 24 };
    const Segment *g = &s->segments->at[macro->number];
    const ChatTable names = s->names;
    const int loops = s->loops;
    const size_t frame = s->frame, globals = s->globals, own = frame ? globals : names.n;
    size_t from = g->from;
    while (from < g->to && s->source[from] != '(')
        from++;
    if (s->depth == CALLS)
        return script_refuse(s, at, "more than %d macros inside each other", CALLS);
    s->names = (ChatTable){.field = script_room(s, own, sizeof *names.field), .n = own, .cap = own};
    bool ok = s->names.field && script_work(s, own / 4 + 4);
    if (ok && own)
        memcpy(s->names.field, names.field, own * sizeof *names.field);
    s->frame = s->globals = own;
    s->loops = 0;
    s->depth++;
    ok = ok && set_parameters(s, from + 1, g->to, a) &&
         run_aside(s, s->segments, (size_t)macro->number + 1, (size_t)g->next, out);
    s->depth--;
    s->names = names;
    s->frame = frame;
    s->globals = globals;
    s->loops = loops;
    return ok;
}

static bool run(Script *s, const Segments *l, size_t from, size_t to)
{
    for (size_t i = from; i < to && !s->leaving; i++) {
        const Segment *g = &l->at[i];
        size_t at = g->from;
        Value v = {.kind = VALUE_TEXT, .text = s->source + g->from, .n = g->to - g->from};
        if (!script_work(s, 1))
            return false;
        if (g->kind == SEGMENT_VALUE && !(script_value(s, &at, g->to, &v) && whole(s, at, g->to)))
            return false;
        if (g->kind != SEGMENT_STATEMENT) {
            if (!write_out(s, &v, g->from))
                return false;
        } else if (g->word == WORD_SET) {
            if (!run_set(s, g))
                return false;
        } else if (g->word < WORD_ELIF) {
            if (!(g->word == WORD_FOR       ? run_for(s, l, i)
                  : g->word == WORD_IF      ? run_if(s, l, i)
                  : g->word == WORD_CAPTURE ? run_capture(s, l, i)
                                            : run_macro(s, i)))
                return false;
            i = end_of(l, i);
        } else if (g->word == WORD_BREAK || g->word == WORD_CONTINUE) {
            if (!s->loops)
                return script_refuse(s, at, "there is no loop to leave");
            s->leaving = g->word;
        } else if (g->word == WORD_OTHER)
            return script_refuse(s, at, "the statement '%.*s' is not known here", (int)script_name(s, at, g->to),
                                 s->source + at);
    }
    return true;
}

bool script_write(Script *s)
{
    return run(s, s->segments, 0, s->segments->n);
}
