/* The values of a chat template, and what is done with them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/io/chat_parts.h"
#include "core/io/tokenizer_parts.h"

enum { HELD = 16 * 1024 * 1024 };

/* ---- values ---- */

void *script_room(Script *s, size_t count, size_t size)
{
    size_t bytes;
    if (!size_mul_ok(count + 1, size, &bytes) || bytes > HELD || (s->held += bytes) > HELD) {
        err_set(s->err, "%s: the chat template makes more than %d MB of texts", s->chat->name, HELD / 1024 / 1024);
        return NULL;
    }
    return arena_alloc(&s->arena, bytes);
}

bool script_work(Script *s, size_t symbols)
{
    s->work += symbols < CHAT_WORK ? (long)symbols : CHAT_WORK;
    return s->work <= CHAT_WORK || err_set(s->err, "%s: the chat template does not come to an end: more than %d steps",
                                           s->chat->name, CHAT_WORK);
}

bool script_refuse(Script *s, size_t at, const char *fmt, ...)
{
    Buf what = {0};
    int line = 1;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&what, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < at && s->source[i]; i++)
        line += s->source[i] == '\n';
    err_set(s->err, "%s: line %d of the chat template: %s", s->chat->name, line, buf_str(&what));
    buf_free(&what);
    return false;
}

Value value_text(const char *text)
{
    return text ? (Value){.kind = VALUE_TEXT, .text = text, .n = strlen(text)} : (Value){.kind = VALUE_UNDEFINED};
}

Value value_number(long long x)
{
    return (Value){.kind = VALUE_NUMBER, .number = x};
}

Value value_bool(bool x)
{
    return (Value){.kind = VALUE_BOOL, .number = x};
}

bool value_true(const Value *v)
{
    switch (v->kind) {
    case VALUE_BOOL:
    case VALUE_NUMBER: return v->number != 0;
    case VALUE_TEXT:
    case VALUE_LIST: return v->n > 0;
    case VALUE_TABLE: return v->table->n > 0;
    default: return false;
    }
}

const Value *table_get(const ChatTable *t, const char *name, size_t length)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->field[i].length == length && memcmp(t->field[i].name, name, length) == 0)
            return &t->field[i].value;
    return NULL;
}

bool script_set(Script *s, ChatTable *t, size_t first, const char *name, size_t length, const Value *v)
{
    for (size_t i = first; i < t->n; i++)
        if (t->field[i].length == length && memcmp(t->field[i].name, name, length) == 0) {
            t->field[i].value = *v;
            return true;
        }
    if (t->n == t->cap) {
        ChatField *more = script_room(s, 2 * t->cap + 8, sizeof *more);
        if (!more)
            return false;
        if (t->n)
            memcpy(more, t->field, t->n * sizeof *more);
        t->field = more;
        t->cap = 2 * t->cap + 8;
    }
    t->field[t->n++] = (ChatField){name, length, *v};
    return true;
}

bool value_is(const Value *v, const char *name, size_t n, bool *is)
{
#define OF(kind) (1u << VALUE_##kind)
    static const struct {
        const char *name;
        unsigned kinds;
    } TESTS[] = {{"defined", ~OF(UNDEFINED)},
                 {"undefined", OF(UNDEFINED)},
                 {"none", OF(NONE)},
                 {"string", OF(TEXT)},
                 {"mapping", OF(TABLE)},
                 {"iterable", OF(TEXT) | OF(LIST) | OF(TABLE) | OF(UNDEFINED)},
                 {"sequence", OF(TEXT) | OF(LIST) | OF(TABLE) | OF(UNDEFINED)},
                 {"number", OF(NUMBER) | OF(BOOL)},
                 {"integer", OF(NUMBER)},
                 {"callable", OF(MACRO) | OF(UNDEFINED)},
                 {"true", OF(BOOL)},
                 {"false", OF(BOOL)},
                 {"boolean", OF(BOOL)}};
#undef OF
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++)
        if (chat_word(name, n, TESTS[i].name)) {
            *is = TESTS[i].kinds >> v->kind & 1 && (*name != 't' || v->number) && (*name != 'f' || !v->number);
            return true;
        }
    return false;
}

static bool value_same(const Value *a, const Value *b)
{
    bool numbers = (a->kind == VALUE_NUMBER || a->kind == VALUE_BOOL) &&
                   (b->kind == VALUE_NUMBER || b->kind == VALUE_BOOL);
    if (numbers)
        return a->number == b->number;
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_TEXT)
        return a->n == b->n && (!a->n || memcmp(a->text, b->text, a->n) == 0);
    if (a->kind == VALUE_LIST)
        return (!a->n && !b->n) || (a->n == b->n && a->item == b->item);
    return a->kind != VALUE_TABLE || a->table == b->table || (!a->table->n && !b->table->n);
}

bool value_equal(Script *s, size_t at, const Value *a, const Value *b, bool *is)
{
    const bool list = a->kind == VALUE_LIST && a->n && a->n == b->n, table = a->kind == VALUE_TABLE && a->table->n;
    *is = value_same(a, b);
    return *is || a->kind != b->kind || !(list || table) ||
           script_refuse(s, at, "a comparison of what is in two lists or tables is not known here");
}

static Value value_part(const Value *v, size_t from, size_t to)
{
    Value out = *v;
    out.text = v->text ? v->text + from : NULL;
    out.said = v->said ? v->said + from : NULL;
    out.n = to - from;
    return out;
}

long long value_length(const Value *v)
{
    long long n = (long long)v->n;
    for (size_t i = 0; v->kind == VALUE_TEXT && i < v->n; i++)
        n -= ((unsigned char)v->text[i] & 0xc0) == 0x80;
    return n;
}

Value value_letters(const Value *v, long long from, long long to)
{
    size_t place[2] = {v->n, v->n};
    long long n = 0;
    for (size_t i = 0; i < v->n; i++)
        if (((unsigned char)v->text[i] & 0xc0) != 0x80) {
            place[0] = n == from ? i : place[0];
            place[1] = n == to ? i : place[1];
            n++;
        }
    return value_part(v, place[0], place[1] < place[0] ? place[0] : place[1]);
}

bool value_written(Script *s, ChatText *from, Value *out)
{
    const size_t n = from->text.len;
    char *text = script_room(s, n, 1), *said = text ? script_room(s, n, 1) : NULL;
    if (said && n) {
        memcpy(text, from->text.data, n);
        memcpy(said, from->said.data, n);
    }
    *out = (Value){.kind = VALUE_TEXT, .text = text, .said = said, .n = n};
    chat_text_free(from);
    return said && script_work(s, n / 16 + 1);
}

bool value_range(Script *s, size_t at, const ChatArguments *a, Value *out)
{
    long long of[3] = {0, 0, 1};
    for (int i = 0; i < a->n; i++)
        if (a->n > 3 || a->key[i] || a->value[i].kind != VALUE_NUMBER || a->value[i].number > INT32_MAX ||
            a->value[i].number < -INT32_MAX)
            return script_refuse(s, at, "a range of what are no numbers");
        else
            of[a->n == 1 ? 1 : i] = a->value[i].number;
    const long long way = of[2] > 0 ? of[1] - of[0] : of[0] - of[1], step = of[2] > 0 ? of[2] : -of[2];
    if (!a->n || !step)
        return script_refuse(s, at, "a range without an end, or of steps of 0");
    *out = (Value){.kind = VALUE_LIST, .n = way > 0 ? (size_t)((way + step - 1) / step) : 0};
    if (!script_work(s, out->n) || !(out->item = script_room(s, out->n, sizeof(Value))))
        return false;
    for (size_t i = 0; i < out->n; i++)
        out->item[i] = value_number(of[0] + (long long)i * of[2]);
    return true;
}

/* As Jinja prints it. */
bool value_print(Script *s, size_t at, const Value *v, Value *out)
{
    char *digits;
    switch (v->kind) {
    case VALUE_TEXT: *out = *v; return true;
    case VALUE_UNDEFINED: *out = value_text(""); return true;
    case VALUE_NONE: *out = value_text("None"); return true;
    case VALUE_BOOL: *out = value_text(v->number ? "True" : "False"); return true;
    case VALUE_NUMBER:
        if (!(digits = script_room(s, 24, 1)))
            return false;
        snprintf(digits, 24, "%lld", v->number);
        *out = value_text(digits);
        return true;
    default: return script_refuse(s, at, "a list or table as a text is not known here");
    }
}

bool value_join(Script *s, size_t at, const Value *a, const Value *b, Value *out)
{
    Value x = {.n = 0}, y = {.n = 0};
    if (!value_print(s, at, a, &x) || !value_print(s, at, b, &y))
        return false;
    char *text = script_room(s, x.n + y.n, 1), *said = text && (x.said || y.said) ? script_room(s, x.n + y.n, 1) : NULL;
    if (!text || ((x.said || y.said) && !said) || !script_work(s, (x.n + y.n) / 16))
        return false;
    if (x.n)
        memcpy(text, x.text, x.n);
    if (y.n)
        memcpy(text + x.n, y.text, y.n);
    if (x.said)
        memcpy(said, x.said, x.n);
    if (y.said)
        memcpy(said + x.n, y.said, y.n);
    *out = (Value){.kind = VALUE_TEXT, .text = text, .said = said, .n = x.n + y.n};
    return true;
}

bool chat_word(const char *name, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(name, word, n) == 0;
}

/* ---- methods and filters ---- */

/* Is it one of those characters; NULL: white space, as Python counts it? */
static bool is_blank(uint32_t c, const Value *marks)
{
    for (const char *s = marks ? marks->text : NULL, *end = s ? s + marks->n : NULL; s < end;)
        if (char_next(&s, end) == c)
            return true;
    return !marks && (char_is_space(c) || (c >= 0x1c && c <= 0x1f));
}

static size_t blank_front(const Value *v, const Value *marks)
{
    const char *s = v->text, *end = s + v->n, *next = s;
    while (s < end && is_blank(char_next(&next, end), marks))
        s = next;
    return (size_t)(s - v->text);
}

static size_t blank_back(const Value *v, const Value *marks, size_t from)
{
    const char *begin = v->text + from, *end = v->text + v->n, *last = end;
    while (last > begin) {
        while (--last > begin && ((unsigned char)*last & 0xc0) == 0x80)
            ;
        const char *next = last;
        if (!is_blank(char_next(&next, end), marks) || next != end)
            break;
        end = last;
    }
    return (size_t)(end - v->text);
}

static const char *find(const Value *v, const Value *part, size_t from)
{
    for (size_t i = from; i + part->n <= v->n; i++)
        if (!part->n || memcmp(v->text + i, part->text, part->n) == 0)
            return v->text + i;
    return NULL;
}

/* how: 'u' upper, 'l' lower, 'c' the first letter upper, 't' every word's first, where the method and the filter agree
 * what a word is. */
static bool in_capitals(Script *s, size_t at, const Value *v, char how, Value *out)
{
    for (size_t i = 0; i < v->n; i++) {
        const char c = v->text[i], low = (char)(c | 32);
        if ((unsigned char)c >= 0x80 || (how == 't' && (low < 'a' || low > 'z') && c != ' ' && c != '-'))
            return script_refuse(s, at, "capitals of other letters than a to z are not known here");
    }
    char *text = script_room(s, v->n, 1);
    bool inside = false;
    if (!text)
        return false;
    for (size_t i = 0; i < v->n; i++) {
        char c = v->text[i];
        const bool upper = how == 'u' || (how == 't' && !inside) || (how == 'c' && !i);
        inside = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        text[i] = upper && c >= 'a' && c <= 'z' ? (char)(c - 32) : !upper && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    *out = *v;
    out->text = text;
    return true;
}

static bool split_text(Script *s, const Value *v, const Value *by, Value *out)
{
    size_t count = 1, from = 0;
    for (const char *at; (at = find(v, by, from)); count++)
        from = (size_t)(at - v->text) + by->n;
    *out = (Value){.kind = VALUE_LIST, .n = count, .item = script_room(s, count, sizeof(Value))};
    from = 0;
    for (size_t i = 0; out->item && i < count; i++) {
        const char *at = find(v, by, from);
        size_t to = at ? (size_t)(at - v->text) : v->n;
        out->item[i] = value_part(v, from, to);
        from = to + by->n;
    }
    return out->item && script_work(s, v->n / 4 + 1);
}

/* selectattr("role", "equalto", "user"): those tables of the list. */
static bool select_equal(Script *s, size_t at, const Value *v, const ChatArguments *a, Value *out)
{
    const Value *key = &a->value[0], *test = &a->value[1];
    *out = (Value){.kind = VALUE_LIST, .item = script_room(s, v->n, sizeof(Value))};
    bool known = key->kind == VALUE_TEXT && test->kind == VALUE_TEXT &&
                 (chat_word(test->text, test->n, "equalto") || chat_word(test->text, test->n, "=="));
    for (size_t i = 0; out->item && known && i < v->n; i++) {
        const Value *is = v->item[i].kind == VALUE_TABLE ? table_get(v->item[i].table, key->text, key->n) : NULL;
        bool same = false;
        if (is && !value_equal(s, at, is, &a->value[2], &same))
            return false;
        if (same)
            out->item[out->n++] = v->item[i];
    }
    return out->item && script_work(s, v->n + 1) &&
           (known ||
            err_set(s->err, "%s: the chat template's selectattr by another test than equalto is not known here",
                    s->chat->name));
}

static void put_marked(ChatText *out, const char *text, size_t n, char said)
{
    buf_add(&out->text, text, n);
    while (out->said.len < out->text.len)
        buf_putc(&out->said, said);
}

static void put_string(const Value *v, ChatText *out)
{
    put_marked(out, "\"", 1, 0);
    for (size_t i = 0; i < v->n; i++) {
        static const char FROM[] = "\"\\\n\r\t\b\f", TO[] = "\"\\nrtbf";
        const char c = v->text[i], *is = c ? strchr(FROM, c) : NULL;
        char code[8];
        if (is)
            snprintf(code, sizeof code, "\\%c", TO[is - FROM]);
        else if ((unsigned char)c < ' ')
            snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)c);
        else
            snprintf(code, sizeof code, "%c", c);
        put_marked(out, code, strlen(code), v->said ? v->said[i] : 0);
    }
    put_marked(out, "\"", 1, 0);
}

/* As Python's json.dumps without ensure_ascii, which Hugging Face's programs put in place of Jinja's own tojson. */
static bool put_json(Script *s, size_t at, const Value *v, int depth, ChatText *out)
{
    enum { INSIDE = 32 };
    char number[24];
    bool ok = true;
    if (depth > INSIDE || out->text.len > CHAT_TEXT || !script_work(s, v->n / 4 + 1))
        return script_refuse(s, at, "tojson of more than %d lists in each other or %d bytes", INSIDE, CHAT_TEXT);
    switch (v->kind) {
    case VALUE_NONE: put_marked(out, "null", 4, 0); return true;
    case VALUE_BOOL: put_marked(out, v->number ? "true" : "false", v->number ? 4 : 5, 0); return true;
    case VALUE_NUMBER:
        snprintf(number, sizeof number, "%lld", v->number);
        put_marked(out, number, strlen(number), 0);
        return true;
    case VALUE_TEXT: put_string(v, out); return true;
    case VALUE_LIST:
        for (size_t i = 0; ok && i < v->n; i++) {
            put_marked(out, i ? ", " : "[", i ? 2 : 1, 0);
            ok = put_json(s, at, &v->item[i], depth + 1, out);
        }
        put_marked(out, v->n ? "]" : "[]", v->n ? 1 : 2, 0);
        return ok;
    case VALUE_TABLE:
        for (size_t i = 0; ok && i < v->table->n; i++) {
            const ChatField *f = &v->table->field[i];
            const Value name = {.kind = VALUE_TEXT, .text = f->name, .n = f->length};
            put_marked(out, i ? ", " : "{", i ? 2 : 1, 0);
            put_string(&name, out);
            put_marked(out, ": ", 2, 0);
            ok = put_json(s, at, &f->value, depth + 1, out);
        }
        put_marked(out, v->table->n ? "}" : "{}", v->table->n ? 1 : 2, 0);
        return ok;
    default: return script_refuse(s, at, "tojson of what is no text, number, list or table");
    }
}

bool value_apply(Script *s, size_t at, const char *name, size_t n, const Value *v, const ChatArguments *a, bool *known,
                 Value *out)
{
    const Value *one = a->n ? &a->value[0] : NULL;
    const bool text = v->kind == VALUE_TEXT, by = one && one->kind == VALUE_TEXT && one->n > 0;
    const Value *strip = by ? one : NULL;
    bool both = chat_word(name, n, "strip") || chat_word(name, n, "trim"), left = chat_word(name, n, "lstrip"),
         right = chat_word(name, n, "rstrip");
    if (text && (both || left || right)) {
        size_t from = right ? 0 : blank_front(v, strip);
        *out = value_part(v, from, left ? v->n : blank_back(v, strip, from));
        return script_work(s, v->n / 16 + 1);
    }
    if (text && (chat_word(name, n, "upper") || chat_word(name, n, "lower") || chat_word(name, n, "title") ||
                 chat_word(name, n, "capitalize")))
        return in_capitals(s, at, v, *name, out) && script_work(s, v->n / 16 + 1);
    if (text && by && chat_word(name, n, "split") && a->n == 1)
        return split_text(s, v, one, out);
    if (text && one && one->kind == VALUE_TEXT &&
        (chat_word(name, n, "startswith") || chat_word(name, n, "endswith"))) {
        bool fits = one->n <= v->n;
        *out = value_bool(fits && memcmp(v->text + (*name == 's' ? 0 : v->n - one->n), one->text, one->n) == 0);
        return true;
    }
    if ((text || v->kind == VALUE_LIST) && (chat_word(name, n, "length") || chat_word(name, n, "count"))) {
        *out = value_number(value_length(v));
        return script_work(s, v->n / 16 + 1);
    }
    if (v->kind == VALUE_LIST && (chat_word(name, n, "first") || chat_word(name, n, "last"))) {
        *out = v->n ? v->item[*name == 'f' ? 0 : v->n - 1] : (Value){.kind = VALUE_UNDEFINED};
        return true;
    }
    if (v->kind == VALUE_LIST && chat_word(name, n, "selectattr") && a->n == 3)
        return select_equal(s, at, v, a, out);
    if (v->kind == VALUE_LIST && chat_word(name, n, "list")) {
        *out = *v;
        return true;
    }
    if (v->kind == VALUE_TABLE && one && one->kind == VALUE_TEXT && chat_word(name, n, "get")) {
        const Value *is = table_get(v->table, one->text, one->n);
        *out = is ? *is : a->n > 1 ? a->value[1] : (Value){.kind = VALUE_NONE};
        return true;
    }
    if (one && chat_word(name, n, "default")) {
        *out = v->kind == VALUE_UNDEFINED ? *one : *v;
        return true;
    }
    if (chat_word(name, n, "string"))
        return value_print(s, at, v, out);
    if (chat_word(name, n, "tojson") && !a->n) {
        ChatText json = {.text = {0}};
        if (put_json(s, at, v, 0, &json))
            return value_written(s, &json, out);
        chat_text_free(&json);
        return false;
    }
    *known = false;
    return true;
}

bool value_in(Script *s, size_t at, const Value *list, const Value *v, bool *is)
{
    *is = false;
    if (list->kind == VALUE_TEXT && v->kind == VALUE_TEXT)
        *is = find(list, v, 0) != NULL;
    else if (list->kind == VALUE_TABLE && v->kind == VALUE_TEXT)
        *is = table_get(list->table, v->text, v->n) != NULL;
    else if (list->kind != VALUE_LIST)
        return script_refuse(s, at, "'in' of what has no parts");
    for (size_t i = 0; list->kind == VALUE_LIST && i < list->n && !*is; i++)
        if (!value_equal(s, at, &list->item[i], v, is))
            return false;
    return script_work(s, list->n / 16 + 1);
}
