/* JSON: what is kept, and what strict means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/io/json.h"

static Json *parsed(const char *text)
{
    Err e = {{0}};
    Json *v = json_parse("test", text, strlen(text), &e);
    if (!v)
        fail_msg("%s", e.text);
    return v;
}

static void values_come_back(void **state)
{
    (void)state;
    Json *v = parsed("{\"z\":1,\"a\":[true,false,null,\"t\\u00e9xt\",-2.5,2.0,9223372036854775807],\"m\":{},\"\":0}");
    assert_int_equal(json_kind(v), JK_OBJECT);
    assert_int_equal(json_count(v), 4);
    static const char *const order[] = {"z", "a", "m", ""};
    const char *key = NULL;
    for (size_t i = 0; i < 4; i++) {
        const Json *member = json_next(v, &key);
        assert_string_equal(key, order[i]);
        assert_ptr_equal(member, json_get(v, key));
    }
    assert_null(json_next(v, &key));
    assert_null(key);
    const Json *a = json_get(v, "a");
    static const JsonKind kinds[] = {JK_TRUE, JK_FALSE, JK_NULL, JK_STRING, JK_NUMBER, JK_NUMBER, JK_NUMBER};
    assert_int_equal(json_count(a), 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(json_kind(json_at(a, i)), kinds[i]);
    assert_null(json_at(a, 7));
    assert_string_equal(json_text(json_at(a, 3), "no"), "t\xc3\xa9xt");
    assert_string_equal(json_text(json_at(a, 4), "no"), "no");
    assert_true(json_bool(json_at(a, 0), false));
    assert_false(json_bool(json_at(a, 1), true));
    assert_true(json_bool(json_at(a, 2), true));
    double x = 0;
    int64_t i = 0;
    assert_true(json_number(json_at(a, 4), &x) && x > -2.6 && x < -2.4);
    assert_false(json_int(json_at(a, 4), &i));
    assert_true(json_int(json_at(a, 5), &i));
    assert_int_equal(i, 2);
    assert_true(json_int(json_at(a, 6), &i));
    assert_true(i == INT64_MAX);
    assert_true(json_number(json_get(v, "z"), &x) && x > 0.9 && x < 1.1);
    assert_false(json_number(json_at(a, 3), &x));
    assert_false(json_int(json_at(a, 0), &i));
    json_free(v);
}

static void nothing_is_asked_of_null(void **state)
{
    (void)state;
    int64_t i;
    double x;
    assert_int_equal(json_kind(NULL), JK_NULL);
    assert_null(json_get(NULL, "a"));
    assert_null(json_at(NULL, 0));
    const char *key = NULL;
    assert_null(json_next(NULL, &key));
    assert_int_equal(json_count(NULL), 0);
    assert_string_equal(json_text(NULL, "none"), "none");
    assert_false(json_int(NULL, &i));
    assert_false(json_number(NULL, &x));
    assert_true(json_bool(NULL, true));
    json_free(NULL);
    Json *v = parsed("[1]");
    assert_null(json_get(v, "a"));
    assert_null(json_next(v, &key));
    json_free(v);
    v = parsed("{\"a\":1}");
    assert_null(json_at(v, 0));
    json_free(v);
}

static void whole_numbers_are_checked(void **state)
{
    (void)state;
    int64_t i;
    Json *v = parsed("[1e3,-0.0,1e18,1e19,-9223372036854775808,9.223372036854775807e18,0.5,1e-300]");
    assert_true(json_int(json_at(v, 0), &i) && i == 1000);
    assert_true(json_int(json_at(v, 1), &i) && i == 0);
    assert_true(json_int(json_at(v, 2), &i) && i == 1000000000000000000);
    assert_false(json_int(json_at(v, 3), &i));
    assert_true(json_int(json_at(v, 4), &i) && i == INT64_MIN);
    assert_false(json_int(json_at(v, 5), &i)); /* 2^63 as double */
    assert_false(json_int(json_at(v, 6), &i));
    assert_false(json_int(json_at(v, 7), &i));
    json_free(v);
    double x; /* what transformers writes for a length without a limit: read, and the others stay what they are */
    v = parsed("[1000000000000000019884624838656,7,-9223372036854775809,true]");
    assert_true(!json_int(json_at(v, 0), &i) && json_number(json_at(v, 0), &x) && x > 0.999e30 && x < 1.001e30);
    assert_true(json_int(json_at(v, 1), &i) && i == 7);
    assert_true(json_int(json_at(v, 2), &i) && i == INT64_MIN); /* as the double next to it */
    json_free(v);
}

static void large_objects_find_their_keys(void **state)
{
    (void)state;
    Buf b = {0};
    enum { N = 3000 };
    for (int i = 0; i < N; i++)
        buf_printf(&b, "%c\"k%d\":%d", i ? ',' : '{', (i * 7919) % N, i);
    buf_putc(&b, '}');
    Json *v = parsed(buf_str(&b));
    assert_int_equal(json_count(v), N);
    const char *found = NULL;
    for (int i = 0; i < N; i++) {
        char key[20];
        int64_t value;
        snprintf(key, sizeof key, "k%d", (i * 7919) % N);
        assert_true(json_int(json_get(v, key), &value));
        assert_int_equal(value, i);
        assert_ptr_equal(json_next(v, &found), json_get(v, key));
        assert_string_equal(found, key);
    }
    assert_null(json_get(v, "k3000"));
    assert_null(json_get(v, ""));
    json_free(v);
    buf_free(&b);
}

static void refused(const char *text, size_t n)
{
    Err e = {{0}};
    Json *v = json_parse("a\x1b.json", text, n, &e);
    if (v)
        fail_msg("accepted: %.60s", text);
    if (strncmp(e.text, "a?.json: ", 9) != 0 || strchr(e.text, '\n') || strchr(e.text, '\x1b'))
        fail_msg("a bad message: %s", e.text);
}

static void strict_means_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "1",
        "null",
        "\"a\"",
        "{",
        "[",
        "[1",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "[01]",
        "[+1]",
        "[.5]",
        "[1.]",
        "[1e]",
        "[0x10]",
        "[NaN]",
        "[Infinity]",
        "[-Infinity]",
        "[nul]",
        "[True]",
        "[1] [2]",
        "{} x",
        "[1]\n]",
        "// c\n[1]",
        "[1 /* c */]",
        "{\"a\":1,\"a\":2}",
        "[{\"b\":{\"a\":1,\"a\":1}}]",
        "{\"a\\u0000b\":1}",
        "[\"a\\u0000b\"]",
        "[\"\\ud800\"]",
        "[\"\\udc00x\"]",
        "[\"\xff\"]",
        "[\"\xc0\x80\"]",
        "[\"\xed\xa0\x80\"]",
        "[\"a\nb\"]",
        "[\"\x01\"]",
        "[\"\\x41\"]",
        "[1e400]",
        "[9223372036854775808,1e400]",
        "\xef\xbb\xbf{}",
        "<html>",
        "version https://git-lfs.github.com/spec/v1\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], strlen(bad[i]));
    refused("[1]\0", 4);
    refused("[\"a\0b\"]", 7);
    Buf deep = {0};
    for (int i = 0; i < 100000; i++)
        buf_putc(&deep, '[');
    refused(deep.data, deep.len);
    buf_clear(&deep);
    buf_puts(&deep, "[0");
    for (int i = 0; i < 5000000; i++)
        buf_puts(&deep, ",0");
    buf_putc(&deep, ']');
    refused(deep.data, deep.len);
    buf_free(&deep);
}

static void messages_name_the_place(void **state)
{
    (void)state;
    Err e = {{0}};
    assert_null(json_parse("vit/config.json", "{\n  \"a\": 1,\n  \"b\": x\n}", 23, &e));
    assert_non_null(strstr(e.text, "vit/config.json: line 3, column "));
    assert_null(json_parse("c.json", "{\"a\": \"x\\u0000\"}", 15, &e)); /* in our words, not in those of the library */
    assert_non_null(strstr(e.text, "a text with the character \\u0000 in it"));
    assert_null(strstr(e.text, "ue000")); /* no piece of a vocabulary */
    assert_null(json_parse("m/tokenizer.json", "{\"x\\u0000\": 1}", 13, &e));
    assert_non_null(strstr(e.text, "a name with the character \\u0000 in it"));
    assert_non_null(strstr(e.text, "Write \\ue000 for it"));
    assert_null(strstr(e.text, "JSON_"));
    assert_null(json_read("tests/data/missing.json", 1000, &e));
    assert_non_null(strstr(e.text, "no such file"));
    Json *v = json_read("tests/data/oracle/tiny/config.json", 100000, &e);
    assert_non_null(v);
    int64_t i;
    assert_true(json_int(json_get(v, "num_hidden_layers"), &i));
    assert_int_equal(i, 2);
    json_free(v);
    assert_null(json_read("tests/data/oracle/tiny/config.json", 10, &e));
    assert_non_null(strstr(e.text, "larger than the 10 bytes"));
}

/* What is written is read again, numbers that are none included, whichever way they are put. */
static void what_is_written_is_json(void **state)
{
    (void)state;
    const double odd[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -0.5};
    const char *const as[] = {"NaN", "NaN", "Infinity", "-Infinity", NULL, NULL};
    const size_t n = sizeof odd / sizeof *odd;
    Buf out = {0};
    Err e = {{0}};
    json_open(&out, NULL, '[');
    for (size_t i = 0; i < n; i++) {
        json_put(&out, NULL, "%.9g", odd[i]);
        json_put(&out, NULL, "%.2f", odd[i]);
        json_put_float(&out, NULL, (float)odd[i]);
    }
    buf_putc(&out, ']');
    Json *v = json_parse("written", buf_str(&out), out.len, &e);
    if (!v)
        fail_msg("%s: %s", e.text, buf_str(&out));
    assert_int_equal(json_count(v), 3 * n);
    for (size_t i = 0; i < 3 * n; i++) {
        const char *text = json_text(json_at(v, i), NULL), *wanted = i == 3 * 4 + 2 ? "Infinity" : as[i / 3];
        assert_true(!text == !wanted && (!text || strcmp(text, wanted) == 0));
    }
    json_free(v);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),          cmocka_unit_test(nothing_is_asked_of_null),
        cmocka_unit_test(whole_numbers_are_checked), cmocka_unit_test(large_objects_find_their_keys),
        cmocka_unit_test(strict_means_strict),       cmocka_unit_test(messages_name_the_place),
        cmocka_unit_test(what_is_written_is_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
