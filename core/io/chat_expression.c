/* The expressions of a chat template: read and worked out in one go. */
#include <limits.h>
#include <string.h>

#include "core/io/chat_parts.h"

enum { DEPTH = 64 };

/* ---- reading ---- */

typedef struct Reader {
    Script *s;
    size_t at, end;
    bool live; /* false: it is read over, and nothing is worked out */
    int depth;
} Reader;

static bool any(Reader *r, Value *out);

size_t script_skip(const Script *s, size_t at, size_t end)
{
    while (at < end && strchr(" \t\r\n", s->source[at]))
        at++;
    return at;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t script_name(const Script *s, size_t at, size_t end)
{
    size_t n = 0;
    while (at + n < end &&
           (is_letter(s->source[at + n]) || (n && s->source[at + n] >= '0' && s->source[at + n] <= '9')))
        n++;
    return n;
}

static const char *here(const Reader *r)
{
    return r->s->source + r->at;
}

static bool takes(Reader *r, const char *mark)
{
    size_t n = strlen(mark), at = script_skip(r->s, r->at, r->end);
    bool word = is_letter(*mark), is = at + n <= r->end && memcmp(r->s->source + at, mark, n) == 0;
    if (!is || (word && script_name(r->s, at, r->end) != n))
        return false;
    r->at = at + n;
    return true;
}

static bool wants(Reader *r, const char *mark)
{
    return takes(r, mark) || script_refuse(r->s, r->at, "'%s' is missing", mark);
}

static bool undefined(Reader *r, const Value *v, size_t at, const char *what)
{
    return !r->live || v->kind != VALUE_UNDEFINED || script_refuse(r->s, at, "%s of what is not defined", what);
}

static bool read_string(Reader *r, Value *out)
{
    const char quote = *here(r);
    size_t from = ++r->at, n = 0, to = from;
    bool plain = true;
    for (; to < r->end && r->s->source[to] != quote; to++)
        if (r->s->source[to] == '\\' && to + 1 < r->end) {
            plain = false;
            to++;
        }
    char *text = plain ? NULL : script_room(r->s, to - from, 1);
    if (!plain && !text)
        return false;
    for (; !plain && r->at < to; r->at++) {
        char c = *here(r);
        if (c == '\\' && r->at + 1 < r->end) {
            static const char FROM[] = "ntr\\'\"", TO[] = "\n\t\r\\'\"";
            const char *is = strchr(FROM, r->s->source[++r->at]);
            if (!is)
                return script_refuse(r->s, r->at, "'\\%c' in a text is not known here", r->s->source[r->at]);
            c = TO[is - FROM];
        }
        text[n++] = c;
    }
    n = plain ? to - from : n;
    r->at = to;
    if (r->at++ >= r->end)
        return script_refuse(r->s, from, "a text that does not end");
    *out = (Value){.kind = VALUE_TEXT, .text = plain ? r->s->source + from : text, .n = n};
    return script_work(r->s, n / 4 + 1);
}

static bool read_number(Reader *r, Value *out)
{
    long long x = 0;
    for (; r->at < r->end && *here(r) >= '0' && *here(r) <= '9'; r->at++)
        x = x < INT_MAX ? 10 * x + (*here(r) - '0') : x;
    *out = value_number(x);
    return !(r->at < r->end && *here(r) == '.') ||
           script_refuse(r->s, r->at, "a number with a point is not known here");
}

static bool read_arguments(Reader *r, ChatArguments *a)
{
    for (a->n = 0; !takes(r, ")");) {
        if (a->n && !wants(r, ","))
            return false;
        if (a->n == CHAT_ARGUMENTS)
            return script_refuse(r->s, r->at, "more than %d values in brackets", CHAT_ARGUMENTS);
        size_t at = script_skip(r->s, r->at, r->end), n = script_name(r->s, at, r->end),
               behind = script_skip(r->s, at + n, r->end);
        bool keyed = n && behind + 1 < r->end && r->s->source[behind] == '=' && r->s->source[behind + 1] != '=';
        a->key[a->n] = keyed ? r->s->source + at : NULL;
        a->key_length[a->n] = keyed ? n : 0;
        if (keyed)
            r->at = behind + 1;
        if (!any(r, &a->value[a->n]))
            return false;
        a->n++;
    }
    return true;
}

static bool read_list(Reader *r, Value *out)
{
    *out = (Value){.kind = VALUE_LIST};
    for (size_t cap = 0; !takes(r, "]");) {
        if (out->n && !wants(r, ","))
            return false;
        if (out->n && takes(r, "]"))
            break;
        if (out->n == cap) {
            Value *more = script_room(r->s, cap = 2 * cap + 4, sizeof *more);
            if (!more)
                return false;
            if (out->n)
                memcpy(more, out->item, out->n * sizeof *more);
            out->item = more;
        }
        if (!any(r, &out->item[out->n]))
            return false;
        out->n++;
    }
    return true;
}

/* {'a': 1, 'b': x} */
static bool read_table(Reader *r, Value *out)
{
    *out = (Value){.kind = VALUE_TABLE, .table = script_room(r->s, 1, sizeof(ChatTable))};
    if (!out->table)
        return false;
    for (bool first = true; !takes(r, "}"); first = false) {
        Value key, v;
        if (!first && !wants(r, ","))
            return false;
        if (!first && takes(r, "}"))
            break;
        if (!any(r, &key) || !wants(r, ":") || !any(r, &v))
            return false;
        if (r->live && key.kind != VALUE_TEXT)
            return script_refuse(r->s, r->at, "a table by other keys than texts is not known here");
        if (r->live && !script_set(r->s, out->table, 0, key.text, key.n, &v))
            return false;
    }
    return true;
}

/* A macro of the template, namespace(a=1, b=''), range(3), raise_exception('why'). */
static bool call_function(Reader *r, const char *name, size_t n, size_t at, Value *out)
{
    ChatArguments a;
    if (!read_arguments(r, &a))
        return false;
    if (chat_word(name, n, "raise_exception"))
        return !r->live || err_set(r->s->err, "%s: the chat template refuses these turns: %.*s", r->s->chat->name,
                                   a.n && a.value[0].kind == VALUE_TEXT && a.value[0].n < 200 ? (int)a.value[0].n : 0,
                                   a.n && a.value[0].text ? a.value[0].text : "");
    const Value *own = table_get(&r->s->names, name, n);
    if (r->live && own && own->kind == VALUE_MACRO) {
        const int deep = r->s->deep;
        r->s->deep = r->depth;
        bool ok = script_call(r->s, at, own, &a, out);
        r->s->deep = deep;
        return ok;
    }
    if (r->live && chat_word(name, n, "range"))
        return value_range(r->s, at, &a, out);
    if (!chat_word(name, n, "namespace"))
        return !r->live || script_refuse(r->s, at, "the function '%.*s' is not known here", n < 40 ? (int)n : 40, name);
    *out = (Value){.kind = VALUE_TABLE, .table = script_room(r->s, 1, sizeof(ChatTable))};
    bool ok = out->table != NULL;
    for (int i = 0; ok && i < a.n; i++)
        ok = a.key[i] ? script_set(r->s, out->table, 0, a.key[i], a.key_length[i], &a.value[i])
                      : script_refuse(r->s, at, "a namespace of values without names is not known here");
    return ok;
}

static bool read_name(Reader *r, Value *out)
{
    static const struct {
        const char *name;
        ValueKind kind;
        bool on;
    } FIXED[] = {{"true", VALUE_BOOL, true},   {"True", VALUE_BOOL, true},  {"false", VALUE_BOOL, false},
                 {"False", VALUE_BOOL, false}, {"none", VALUE_NONE, false}, {"None", VALUE_NONE, false}};
    size_t at = r->at, n = script_name(r->s, r->at, r->end);
    const char *name = here(r);
    if (!n)
        return script_refuse(r->s, at, r->at < r->end ? "'%c' is not expected here" : "a value is missing%c",
                             r->at < r->end ? *here(r) : '.');
    r->at += n;
    for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; i++)
        if (chat_word(name, n, FIXED[i].name)) {
            *out = (Value){.kind = FIXED[i].kind, .number = FIXED[i].on};
            return true;
        }
    if (takes(r, "("))
        return call_function(r, name, n, at, out);
    const Value *v = table_get(&r->s->names, name, n);
    const bool function = chat_word(name, n, "namespace") || chat_word(name, n, "range") ||
                          chat_word(name, n, "raise_exception");
    *out = v ? *v : (Value){.kind = function ? VALUE_MACRO : VALUE_UNDEFINED};
    return script_work(r->s, r->s->names.n / 4 + 1);
}

static bool primary(Reader *r, Value *out)
{
    r->at = script_skip(r->s, r->at, r->end);
    *out = (Value){.kind = VALUE_UNDEFINED};
    if (r->at < r->end && (*here(r) == '\'' || *here(r) == '"'))
        return read_string(r, out);
    if (r->at < r->end && *here(r) >= '0' && *here(r) <= '9')
        return read_number(r, out);
    if (takes(r, "("))
        return any(r, out) && wants(r, ")");
    if (takes(r, "["))
        return read_list(r, out);
    if (takes(r, "{"))
        return read_table(r, out);
    return read_name(r, out);
}

static long long place_in(long long n, const Value *i, long long otherwise)
{
    long long k = i->kind == VALUE_NUMBER ? i->number : otherwise;
    return k < 0 ? k + n : k;
}

/* v[i], v['name'], v[1:], v[:-1], v[::-1] */
static bool subscript(Reader *r, const Value *v, Value *out)
{
    const size_t at = r->at;
    Value i[3] = {{.kind = VALUE_NONE}, {.kind = VALUE_NONE}, {.kind = VALUE_NONE}};
    int part = 0;
    for (; !takes(r, "]");) {
        if (takes(r, ":")) {
            if (++part > 2)
                return script_refuse(r->s, r->at, "a third ':'");
        } else if (!any(r, &i[part]))
            return false;
    }
    *out = (Value){.kind = VALUE_UNDEFINED};
    if (!r->live || !undefined(r, v, at, "a part"))
        return !r->live;
    if (!part && v->kind == VALUE_TABLE && i[0].kind == VALUE_TEXT) {
        const Value *is = table_get(v->table, i[0].text, i[0].n);
        *out = is ? *is : *out;
        return true;
    }
    if (v->kind != VALUE_LIST && v->kind != VALUE_TEXT)
        return script_refuse(r->s, at, "a part of what has none");
    const long long n = value_length(v);
    if (!part) {
        long long k = place_in(n, &i[0], -1);
        if (i[0].kind != VALUE_NUMBER || k < 0 || k >= n)
            return i[0].kind == VALUE_NUMBER || i[0].kind == VALUE_TEXT || /* as Jinja: it is not defined */
                   script_refuse(r->s, at, "a place that is no number");
        *out = v->kind == VALUE_LIST ? v->item[k] : value_letters(v, k, k + 1);
        return script_work(r->s, v->n / 16 + 1);
    }
    long long from = place_in(n, &i[0], 0), to = place_in(n, &i[1], n);
    bool back = i[2].kind == VALUE_NUMBER && i[2].number == -1;
    if (i[2].kind == VALUE_NUMBER && i[2].number != 1 && (!back || i[0].kind != VALUE_NONE || i[1].kind != VALUE_NONE))
        return script_refuse(r->s, at, "steps other than 1 and [::-1] are not known here");
    to = to > n ? n : to < 0 ? 0 : to;
    from = from < 0 ? 0 : from > to ? to : from;
    if (v->kind == VALUE_TEXT) {
        if (back)
            return script_refuse(r->s, at, "a text backwards is not known here");
        *out = value_letters(v, from, to);
        return script_work(r->s, v->n / 16 + 1);
    }
    *out = (Value){.kind = VALUE_LIST, .n = (size_t)(to - from), .item = v->item ? v->item + from : NULL};
    if (back && !(out->item = script_room(r->s, v->n, sizeof(Value))))
        return false;
    for (size_t k = 0; back && k < v->n; k++)
        out->item[k] = v->item[v->n - 1 - k];
    return script_work(r->s, out->n + 1);
}

/* .name, .method(…), |filter */
static bool member(Reader *r, bool filter, Value *v)
{
    size_t at = r->at = script_skip(r->s, r->at, r->end), n = script_name(r->s, at, r->end);
    const char *name = here(r);
    ChatArguments a = {.n = 0};
    bool known = true;
    if (!n)
        return script_refuse(r->s, at, "a name is missing behind '%c'", filter ? '|' : '.');
    r->at += n;
    bool call = takes(r, "(");
    if (call && !read_arguments(r, &a))
        return false;
    if (!r->live)
        return script_work(r->s, 1);
    if (!chat_word(name, n, "default") && !undefined(r, v, at, filter ? "a filter" : "a part"))
        return false;
    if (!call && !filter) {
        const Value *is = v->kind == VALUE_TABLE ? table_get(v->table, name, n) : NULL;
        *v = is ? *is : (Value){.kind = VALUE_UNDEFINED};
        return script_work(r->s, 1);
    }
    Value out = {.kind = VALUE_UNDEFINED};
    if (!value_apply(r->s, at, name, n, v, &a, &known, &out) || !script_work(r->s, 1))
        return false;
    *v = out;
    return known || script_refuse(r->s, at, "the %s '%.*s' is not known here, or not of such a value",
                                  filter ? "filter" : "method", n < 40 ? (int)n : 40, name);
}

/* is defined, is not none, is string … */
static bool test(Reader *r, Value *v)
{
    const bool not = takes(r, "not");
    const size_t at = r->at = script_skip(r->s, r->at, r->end), n = script_name(r->s, at, r->end);
    const char *name = here(r);
    bool is = false;
    r->at += n;
    const bool known = value_is(v, name, n, &is) || !r->live;
    *v = value_bool(is != not );
    return known || script_refuse(r->s, at, "the test 'is %.*s' is not known here", n < 40 ? (int)n : 40, name);
}

/* A value with what stands behind it; a - takes in the places behind it, and no filter and no test. */
static bool unary(Reader *r, bool filters, Value *out)
{
    const bool minus = takes(r, "-");
    if (++r->depth > DEPTH)
        return script_refuse(r->s, r->at, "signs in front of signs, more than %d", DEPTH);
    if (!(minus ? unary(r, false, out) : primary(r, out)))
        return false;
    r->depth--;
    if (minus && r->live && out->kind != VALUE_NUMBER)
        return script_refuse(r->s, r->at, "- of what is no number");
    out->number = minus ? -out->number : out->number;
    for (;;) {
        if (!script_work(r->s, 1))
            return false;
        if (takes(r, "[")) {
            Value of = *out;
            if (!subscript(r, &of, out))
                return false;
        } else if (takes(r, ".") || (filters && takes(r, "|"))) {
            if (!member(r, r->s->source[r->at - 1] == '|', out))
                return false;
        } else if (filters && takes(r, "is")) {
            if (!test(r, out))
                return false;
        } else
            return true;
    }
}

/* ---- between values ---- */

static bool product(Reader *r, Value *out)
{
    if (!unary(r, true, out))
        return false;
    for (;;) {
        size_t at = script_skip(r->s, r->at, r->end);
        Value by;
        char mark = at < r->end ? r->s->source[at] : '\0';
        if ((mark != '*' && mark != '/' && mark != '%') ||
            (mark == '%' && at + 1 < r->end && r->s->source[at + 1] == '}'))
            return true;
        if (mark != '%' && r->live)
            return script_refuse(r->s, at, "'%c' is not known here", mark);
        r->at = at + 1 + (mark != '%' && r->s->source[at + 1] == mark); /* // and ** */
        if (!unary(r, true, &by))
            return false;
        if (!r->live)
            continue;
        if (out->kind != VALUE_NUMBER || by.kind != VALUE_NUMBER || by.number == 0)
            return script_refuse(r->s, at, "%% of what are no numbers");
        long long rest = out->number % by.number;
        *out = value_number(rest && (rest < 0) != (by.number < 0) ? rest + by.number : rest); /* as Python has it */
    }
}

static bool sum(Reader *r, Value *out)
{
    if (!product(r, out))
        return false;
    for (;;) {
        size_t at = script_skip(r->s, r->at, r->end);
        Value by, of = *out;
        if (!takes(r, "+") && !takes(r, "-") && !takes(r, "~"))
            return true;
        if (!product(r, &by))
            return false;
        const char mark = r->s->source[at];
        if (!r->live)
            continue;
        if (mark == '~' || (mark == '+' && of.kind == VALUE_TEXT && by.kind == VALUE_TEXT)) {
            if (!value_join(r->s, at, &of, &by, out))
                return false;
        } else if (of.kind != VALUE_NUMBER || by.kind != VALUE_NUMBER)
            return script_refuse(r->s, at, "'%c' of a text and of what is none", mark);
        else if (of.number > INT_MAX || of.number < -INT_MAX || by.number > INT_MAX || by.number < -INT_MAX)
            return script_refuse(r->s, at, "a number that is too large");
        else
            *out = value_number(mark == '+' ? of.number + by.number : of.number - by.number);
    }
}

static int order(const Value *a, const Value *b)
{
    return (a->number > b->number) - (a->number < b->number);
}

/* Jinja reads a < b < c as Python does; here one comparison stands alone. */
static bool compared(Reader *r, Value *out)
{
    static const char *const MARKS[] = {"==", "!=", "<=", ">=", "<", ">"};
    if (!sum(r, out))
        return false;
    for (bool once = false;; once = true) {
        size_t at = script_skip(r->s, r->at, r->end), k = 0;
        const size_t was = r->at;
        Value by;
        bool is = false, not = takes(r, "not"), in = takes(r, "in");
        if (!in)
            r->at = was;
        while (!in && k < 6 && !takes(r, MARKS[k]))
            k++;
        if (!in && k == 6)
            return true;
        if (once)
            return script_refuse(r->s, at, "a comparison of a comparison without brackets is not known here");
        if (!sum(r, &by))
            return false;
        if (in) {
            if (r->live && !value_in(r->s, at, &by, out, &is))
                return false;
            *out = value_bool(is != not );
            continue;
        }
        if (r->live && k > 1 && (out->kind != VALUE_NUMBER || by.kind != VALUE_NUMBER))
            return script_refuse(r->s, at, "'%s' of what are no numbers", MARKS[k]);
        if (r->live && k < 2 && !value_equal(r->s, at, out, &by, &is))
            return false;
        int o = k > 1 ? order(out, &by) : 0;
        *out = value_bool(k < 2 ? is == (k == 0) : k == 2 ? o <= 0 : k == 3 ? o >= 0 : k == 4 ? o < 0 : o > 0);
    }
}

static bool negated(Reader *r, Value *out)
{
    int nots = 0;
    while (takes(r, "not"))
        nots++;
    if (!compared(r, out))
        return false;
    if (nots) /* two of them make a bool all the same */
        *out = value_bool(value_true(out) == (nots % 2 == 0));
    return true;
}

/* As in Python: what decides is the value. */
static bool chained(Reader *r, bool either, Value *out)
{
    const bool live = r->live;
    Value by;
    if (!(either ? chained(r, false, out) : negated(r, out)))
        return false;
    while (takes(r, either ? "or" : "and")) {
        bool decided = value_true(out) == either;
        r->live = live && !decided;
        if (!(either ? chained(r, false, &by) : negated(r, &by)))
            return false;
        r->live = live;
        *out = decided ? *out : by;
    }
    return true;
}

/* Is there an `if` behind the value that begins at r->at, at its own depth of brackets? Its place. */
static bool conditional(Reader *r, size_t *at)
{
    int depth = 0;
    char quote = '\0';
    for (size_t i = r->at; i < r->end; i++) {
        char c = r->s->source[i];
        if (quote) {
            i += c == '\\';
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '(' || c == '[' || c == '{')
            depth++;
        else if (c == ')' || c == ']' || c == '}') {
            if (depth-- == 0)
                break;
        } else if (depth == 0 && c == ',')
            break;
        size_t n = quote ? 0 : script_name(r->s, i, r->end);
        if (n == 2 && depth == 0 && c == 'i' && r->s->source[i + 1] == 'f') {
            *at = i;
            return true;
        }
        i += n > 1 ? n - 1 : 0;
    }
    return false;
}

static bool ternary(Reader *r, Value *out)
{
    const size_t from = r->at;
    const bool live = r->live;
    size_t at;
    Value condition, other = {.kind = VALUE_UNDEFINED};
    if (!script_work(r->s, (r->end - r->at) / 8 + 1))
        return false;
    if (!conditional(r, &at))
        return chained(r, true, out);
    r->at = at + 2;
    if (!chained(r, true, &condition))
        return false;
    bool yes = value_true(&condition);
    size_t behind = r->at;
    if (takes(r, "else")) {
        r->live = live && !yes;
        if (!any(r, &other))
            return false;
        behind = r->at;
    }
    r->at = from;
    r->live = live && yes;
    if (!chained(r, true, out))
        return false;
    if (script_skip(r->s, r->at, r->end) != at)
        return script_refuse(r->s, r->at, "'if' is not expected here");
    r->live = live;
    r->at = behind;
    *out = yes ? *out : other;
    return true;
}

static bool any(Reader *r, Value *out)
{
    if (++r->depth > DEPTH)
        return script_refuse(r->s, r->at, "brackets in brackets, more than %d", DEPTH);
    bool ok = ternary(r, out);
    r->depth--;
    return ok;
}

bool script_value(Script *s, size_t *at, size_t end, Value *out)
{
    Reader r = {s, *at, end, true, s->deep};
    bool ok = any(&r, out);
    *at = r.at;
    return ok;
}
