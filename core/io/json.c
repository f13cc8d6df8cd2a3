#include "core/io/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

enum { VALUES_MAX = 4 << 20, NAME_SHOWN = 200, LINEAR_MAX = 8 };

/* Our own tree: jansson's objects have no cheap i-th member, and its values can't live in an arena. */
struct Json {
    JsonKind kind;
    bool integer;
    size_t count;
    union {
        int64_t whole;
        double real;
        const char *text;
        const Json *items;
        const struct Member
            *members; /* in the order of the text, then count pointers to them sorted by key if count > LINEAR_MAX */
    } as;
};

typedef struct Member {
    const char *key;
    Json value;
} Member;

typedef struct Document {
    Json root; /* first: the document is handed out as its root */
    Arena arena;
} Document;

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const Member *const *)a)->key, (*(const Member *const *)b)->key);
}

static size_t sorted_at(size_t count)
{
    return size_mul(count, sizeof(Member));
}

static const Member *const *sorted(const Json *object)
{
    return (const Member *const *)(const void *)((const char *)object->as.members + sorted_at(object->count));
}

static void convert(Arena *arena, Json *out, json_t *in);

static void convert_object(Arena *arena, Json *out, json_t *in)
{
    size_t n = json_object_size(in), i = 0;
    size_t bytes = sorted_at(n) + (n > LINEAR_MAX ? size_mul(n, sizeof(Member *)) : 0);
    Member *m = arena_alloc(arena, bytes);
    for (void *at = json_object_iter(in); at; at = json_object_iter_next(in, at), i++) {
        m[i].key = arena_strdup(arena, json_object_iter_key(at));
        convert(arena, &m[i].value, json_object_iter_value(at));
    }
    if (n > LINEAR_MAX) {
        const Member **order = (const Member **)(void *)((char *)m + sorted_at(n));
        for (i = 0; i < n; i++)
            order[i] = &m[i];
        qsort(order, n, sizeof *order, by_key);
    }
    *out = (Json){.kind = JK_OBJECT, .count = n, .as.members = m};
}

static void convert_array(Arena *arena, Json *out, json_t *in)
{
    size_t n = json_array_size(in);
    Json *items = arena_alloc(arena, size_mul(n, sizeof *items));
    for (size_t i = 0; i < n; i++)
        convert(arena, &items[i], json_array_get(in, i));
    *out = (Json){.kind = JK_ARRAY, .count = n, .as.items = items};
}

static void convert(Arena *arena, Json *out, json_t *in)
{
    switch (json_typeof(in)) {
    case JSON_OBJECT: convert_object(arena, out, in); return;
    case JSON_ARRAY: convert_array(arena, out, in); return;
    case JSON_STRING: *out = (Json){.kind = JK_STRING, .as.text = arena_strdup(arena, json_string_value(in))}; return;
    case JSON_INTEGER: *out = (Json){.kind = JK_NUMBER, .integer = true, .as.whole = json_integer_value(in)}; return;
    case JSON_REAL: *out = (Json){.kind = JK_NUMBER, .as.real = json_real_value(in)}; return;
    case JSON_TRUE: *out = (Json){.kind = JK_TRUE}; return;
    case JSON_FALSE: *out = (Json){.kind = JK_FALSE}; return;
    case JSON_NULL: *out = (Json){.kind = JK_NULL}; return;
    }
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
        err_set(err, "%s: begins with a byte-order mark, which JSON has not. Save it as UTF-8 without one.", shown);
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
    if (!root) {
        utf8_clean(why, sizeof why, at.text);
        if (json_error_code(&at) == json_error_null_character) /* jansson says by which of its flags one may */
            snprintf(why, sizeof why, "a text with the character \\u0000 in it");
        err_set(err, "%s: line %d, column %d: %s. Correct it there, or fetch the file again.", shown, at.line,
                at.column, why);
        return NULL;
    }
    Document *d = xcalloc(1, sizeof *d);
    convert(&d->arena, &d->root, root);
    json_decref(root);
    return &d->root;
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
    if (!document)
        return;
    Document *d = (Document *)(void *)document;
    arena_free(&d->arena);
    free(d);
}

JsonKind json_kind(const Json *v)
{
    return v ? v->kind : JK_NULL;
}

static int key_is(const void *key, const void *member)
{
    return strcmp(key, (*(const Member *const *)member)->key);
}

const Json *json_get(const Json *object, const char *key)
{
    if (json_kind(object) != JK_OBJECT)
        return NULL;
    if (object->count > LINEAR_MAX) {
        const Member *const *found = bsearch(key, sorted(object), object->count, sizeof *found, key_is);
        return found ? &(*found)->value : NULL;
    }
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->as.members[i].key, key) == 0)
            return &object->as.members[i].value;
    return NULL;
}

size_t json_count(const Json *v)
{
    return v ? v->count : 0;
}

const Json *json_at(const Json *array, size_t i)
{
    return json_kind(array) == JK_ARRAY && i < array->count ? &array->as.items[i] : NULL;
}

const Json *json_member(const Json *object, size_t i, const char **key)
{
    if (json_kind(object) != JK_OBJECT || i >= object->count)
        return NULL;
    if (key)
        *key = object->as.members[i].key;
    return &object->as.members[i].value;
}

const char *json_text(const Json *v, const char *otherwise)
{
    return json_kind(v) == JK_STRING ? v->as.text : otherwise;
}

bool json_number(const Json *v, double *out)
{
    if (json_kind(v) != JK_NUMBER)
        return false;
    *out = v->integer ? (double)v->as.whole : v->as.real;
    return true;
}

bool json_int(const Json *v, int64_t *out)
{
    if (json_kind(v) != JK_NUMBER)
        return false;
    if (v->integer) {
        *out = v->as.whole;
        return true;
    }
    if (!(v->as.real >= -0x1p63 && v->as.real < 0x1p63))
        return false;
    int64_t whole = (int64_t)v->as.real;
    if ((double)whole < v->as.real || (double)whole > v->as.real)
        return false;
    *out = whole;
    return true;
}

bool json_bool(const Json *v, bool otherwise)
{
    JsonKind k = json_kind(v);
    return k == JK_TRUE ? true : k == JK_FALSE ? false : otherwise;
}
