#include "core/io/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

enum { VALUES_MAX = 4 << 20, NAME_SHOWN = 200 };

/* A Json is jansson's value under another name, which asks for a value that may change; nothing here changes one. */
static json_t *value_of(const Json *v)
{
    return (json_t *)(uintptr_t)v;
}

static const Json *json_of(json_t *v)
{
    return (const Json *)(const void *)v;
}

/* A value needs a comma or a bracket of its own, so this bounds jansson's memory before it starts. */
static bool few_values(const char *text, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += text[i] == ',' || text[i] == '[' || text[i] == '{';
    return count <= VALUES_MAX;
}

/* What people have in place of a JSON file after a download went wrong. */
static bool is_no_json(const char *shown, const char *text, size_t n, Err *err)
{
    static const char pointer[] = "version https://git-lfs";
    size_t i = 0;
    while (i < n && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r')))
        i++;
    if (i < n && text[i] == '<')
        err_set(err,
                "%s: is a web page, not JSON. The download went wrong: fetch the file itself (its 'raw' or 'resolve' "
                "link).",
                shown);
    else if (n >= sizeof pointer - 1 && memcmp(text, pointer, sizeof pointer - 1) == 0)
        err_set(err, "%s: is a git-LFS pointer, not the file. Fetch it with 'git lfs pull'.", shown);
    else
        return false;
    return true;
}

Json *json_parse(const char *name, const char *text, size_t n, Err *err)
{
    char shown[NAME_SHOWN], why[NAME_SHOWN];
    utf8_clean(shown, sizeof shown, name);
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        err_set(err, "%s: begins with a byte-order mark, which JSON does not allow. Save it as UTF-8 without one.",
                shown);
        return NULL;
    }
    if (!few_values(text, n)) {
        err_set(err, "%s: has more than %d values. Check that it is the file you meant.", shown, VALUES_MAX);
        return NULL;
    }
    if (is_no_json(shown, text, n, err))
        return NULL;
    json_set_alloc_funcs(xmalloc, free); /* out of memory ends in the one place, instead of as a syntax error */
    json_error_t at;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &at);
    if (!root && json_error_code(&at) == json_error_numeric_overflow) /* transformers writes int(1e30) for "no limit" */
        root = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &at);
    if (!root) {
        utf8_clean(why, sizeof why, at.text);
        const bool key = json_error_code(&at) == json_error_null_byte_in_key;
        if (key || json_error_code(&at) == json_error_null_character) /* the file may be whole, and as it is meant */
            err_set(err,
                    "%s: line %d, column %d: a %s with the character \\u0000 in it, which ends every text here. %s",
                    shown, at.line, at.column, key ? "name" : "text",
                    strstr(shown, "tokenizer.json") || strstr(shown, "vocab.json") /* a piece may be that character */
                        ? "Write \\ue000 for it, at every place in the file: all the rest is then read as it stands."
                        : "Take it out.");
        else
            err_set(err, "%s: line %d, column %d: %s. Correct it there, or fetch the file again.", shown, at.line,
                    at.column, why);
        return NULL;
    }
    return (Json *)(void *)root;
}

Json *json_read(const char *path, size_t limit, Err *err)
{
    Buf text = {0};
    Json *v = NULL;
    if (file_read(path, limit, &text, err))
        v = json_parse(path, text.data, text.len, err);
    buf_free(&text);
    return v;
}

void json_free(Json *document)
{
    json_decref(value_of(document));
}

JsonKind json_kind(const Json *v)
{
    static const JsonKind kinds[] = {
        [JSON_OBJECT] = JK_OBJECT, [JSON_ARRAY] = JK_ARRAY, [JSON_STRING] = JK_STRING, [JSON_INTEGER] = JK_NUMBER,
        [JSON_REAL] = JK_NUMBER,   [JSON_TRUE] = JK_TRUE,   [JSON_FALSE] = JK_FALSE,   [JSON_NULL] = JK_NULL};
    return v ? kinds[json_typeof(value_of(v))] : JK_NULL;
}

/* What jansson is asked for of a value of another kind, or of none, is NULL or 0. */
const Json *json_get(const Json *object, const char *key)
{
    return json_of(json_object_get(value_of(object), key));
}

size_t json_count(const Json *v)
{
    return json_kind(v) == JK_ARRAY ? json_array_size(value_of(v)) : json_object_size(value_of(v));
}

const Json *json_at(const Json *array, size_t i)
{
    return json_of(json_array_get(value_of(array), i));
}

const Json *json_next(const Json *object, const char **key)
{
    json_t *o = value_of(object);
    void *at = *key ? json_object_iter_next(o, json_object_key_to_iter(*key)) : json_object_iter(o);
    *key = at ? json_object_iter_key(at) : NULL;
    return at ? json_of(json_object_iter_value(at)) : NULL;
}

const char *json_text(const Json *v, const char *otherwise)
{
    return json_kind(v) == JK_STRING ? json_string_value(value_of(v)) : otherwise;
}

bool json_number(const Json *v, double *out)
{
    if (json_kind(v) != JK_NUMBER)
        return false;
    *out = json_number_value(value_of(v));
    return true;
}

bool json_int(const Json *v, int64_t *out)
{
    if (json_kind(v) != JK_NUMBER)
        return false;
    if (json_is_integer(value_of(v))) {
        *out = json_integer_value(value_of(v));
        return true;
    }
    double real = json_real_value(value_of(v));
    if (!(real >= -0x1p63 && real < 0x1p63))
        return false;
    int64_t whole = (int64_t)real;
    if ((double)whole < real || (double)whole > real)
        return false;
    *out = whole;
    return true;
}

bool json_bool(const Json *v, bool otherwise)
{
    JsonKind k = json_kind(v);
    return k == JK_TRUE ? true : k == JK_FALSE ? false : otherwise;
}

static void put_key(Buf *out, const char *key)
{
    if (out->len && !strchr("{[:\n", out->data[out->len - 1]))
        buf_putc(out, ',');
    if (key) {
        buf_json(out, key);
        buf_putc(out, ':');
    }
}

void json_open(Buf *out, const char *key, char bracket)
{
    put_key(out, key);
    buf_putc(out, bracket);
}

void json_line(Buf *out)
{
    put_key(out, NULL);
    buf_putc(out, '\n');
}

void json_put_text(Buf *out, const char *key, const char *text)
{
    put_key(out, key);
    if (text)
        buf_json(out, text);
    else
        buf_puts(out, "null");
}

void json_put_float(Buf *out, const char *key, float x)
{
    json_put(out, key, "%.9g", (double)x);
}

void json_put_bool(Buf *out, const char *key, bool on)
{
    json_put(out, key, "%s", on ? "true" : "false");
}

void json_put(Buf *out, const char *key, const char *fmt, ...)
{
    va_list ap;
    put_key(out, key);
    const size_t at = out->len;
    va_start(ap, fmt);
    buf_vprintf(out, fmt, ap);
    va_end(ap);
    /* printf's words for what is no number are no JSON */
    const char *put = buf_str(out) + at, *word = put + (*put == '-');
    const bool nan = strncmp(word, "nan", 3) == 0, inf = strncmp(word, "inf", 3) == 0, less = word > put;
    if (!nan && !inf)
        return;
    out->len = at;
    buf_json(out, nan ? "NaN" : less ? "-Infinity" : "Infinity");
}
