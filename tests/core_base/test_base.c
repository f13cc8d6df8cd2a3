/* Errors, memory, strings, random numbers, UTF-8, the thread pool. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/byte_text.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/pool.h"
#include "core/base/rng.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"

static void err_is_cut_and_prefixed(void **state)
{
    (void)state;
    Err e;
    assert_false(err_set(&e, "%s: %d", "shape", 7));
    assert_string_equal(e.text, "shape: 7");
    assert_false(err_prefix(&e, "file %s", "a"));
    assert_string_equal(e.text, "file a: shape: 7");
    char *big = xmalloc(2000);
    memset(big, 'x', 1999);
    big[1999] = 0;
    err_set(&e, "%s", big);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "p");
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_memory_equal(e.text, "p: xxx", 6);
    err_prefix(&e, "%s", big);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_false(err_set(NULL, "nobody listens"));
    assert_false(err_prefix(NULL, "nobody listens"));
    free(big);
}

static void hook_writes(void)
{
    (void)!write(STDOUT_FILENO, "hook", 4);
}

static void child_dies(void)
{
    die("no %s", "luck");
}

static void child_breaks_a_rule(void)
{
    size_t volatile a = SIZE_MAX;
    size_mul(a, 2);
}

static void child_adds_too_much(void)
{
    size_t volatile a = SIZE_MAX;
    size_add(a, 1);
}

/* Runs fn in a child whose output and errors go to text; returns its wait status. */
static int in_child(void (*fn)(void), char *text, size_t n)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        fatal_set_hook(hook_writes);
        fn();
        _exit(99);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < n && (got = read(ends[0], text + used, n - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = 0;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void fatal_ends_through_the_hook(void **state)
{
    (void)state;
    char text[1000];
    int status = in_child(child_dies, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_string_equal(text, "hookvitrine: no luck\n");
    static void (*const bugs[])(void) = {child_breaks_a_rule, child_adds_too_much};
    for (size_t i = 0; i < 2; i++) {
        status = in_child(bugs[i], text, sizeof text);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
        assert_memory_equal(text, "hookvitrine: internal error at core/base/mem.c:", 47);
    }
}

static void sizes_are_checked(void **state)
{
    (void)state;
    size_t r = 5;
    assert_true(size_mul_ok(SIZE_MAX, 1, &r));
    assert_true(r == SIZE_MAX);
    assert_false(size_mul_ok(SIZE_MAX / 2 + 1, 2, &r));
    assert_true(size_mul_ok(0, SIZE_MAX, &r));
    assert_int_equal(r, 0);
    assert_false(size_add_ok(SIZE_MAX, 1, &r));
    assert_true(size_add_ok(SIZE_MAX - 1, 1, &r));
    assert_int_equal(size_mul(6, 7), 42);
    assert_int_equal(size_add(6, 7), 13);
}

static void memory_is_as_promised(void **state)
{
    (void)state;
    void *none = xmalloc(0);
    assert_non_null(none);
    free(none);
    int *zeros = xcalloc(1000, sizeof *zeros);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(zeros[i], 0);
    free(zeros);
    for (size_t n = 0; n < 70; n++) {
        float *f = xfloats(n);
        assert_int_equal((uintptr_t)f % 64, 0);
        for (size_t i = 0; i < n; i++)
            f[i] = 1;
        free(f);
    }
    size_t cap = 0;
    uint16_t *items = NULL;
    for (size_t n = 0; n < 1000; n++) {
        items = grow(items, &cap, n, sizeof *items);
        assert_true(cap > n);
        items[n] = (uint16_t)n;
    }
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(items[n], n);
    free(items);
}

static void arena_keeps_everything_until_the_end(void **state)
{
    (void)state;
    Arena a = {0};
    char *texts[500];
    for (int i = 0; i < 500; i++) {
        size_t n = (size_t)(i * i); /* up to 250 kB: larger than a block */
        char *p = arena_alloc(&a, n);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(p[k], 0);
        memset(p, 0x5a, n);
        texts[i] = arena_printf(&a, "text %d", i);
    }
    for (int i = 0; i < 500; i++) {
        char want[20];
        snprintf(want, sizeof want, "text %d", i);
        assert_string_equal(texts[i], want);
    }
    assert_string_equal(arena_strdup(&a, ""), "");
    arena_free(&a);
    assert_null(a.blocks);
    arena_free(&a);
}

static void buf_grows(void **state)
{
    (void)state;
    Buf b = {0};
    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 3000; i++)
        buf_printf(&b, "%d,", i);
    assert_int_equal(b.len, strlen(b.data));
    assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4 + 2000 * 5);
    buf_clear(&b);
    assert_string_equal(buf_str(&b), "");
    buf_add(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    buf_putc(&b, 'c');
    buf_puts(&b, "");
    assert_memory_equal(b.data, "a\0bc", 5);
    buf_free(&b);
    assert_null(b.data);
    buf_json(&b, "a\"\\\n\x01\x7f\xc3\xa9\xff");
    assert_string_equal(buf_str(&b), "\"a\\\"\\\\\\u000a\\u0001\\u007f\xc3\xa9\xef\xbf\xbd\"");
    buf_free(&b);
}

static void rng_is_pcg32(void **state)
{
    (void)state;
    static const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
    Rng r = rng_seed(42, 54);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(rng_u32(&r), published[i]);
    double sum = 0, squares = 0;
    for (int i = 0; i < 20000; i++) {
        float u = rng_unit(&r), z = rng_normal(&r), s = rng_range(&r, -2, 3);
        assert_true(u >= 0 && u < 1);
        assert_true(z >= -6 && z <= 6);
        assert_true(s >= -2 && s <= 3);
        assert_true(rng_below(&r, 7) < 7);
        sum += (double)z;
        squares += (double)z * (double)z;
    }
    assert_true(sum / 20000 > -0.03 && sum / 20000 < 0.03);
    assert_true(squares / 20000 > 0.95 && squares / 20000 < 1.05);
    Rng a = rng_seed(1, 1), b = rng_seed(1, 1), c = rng_seed(1, 2);
    uint32_t x = rng_u32(&a);
    assert_int_equal(x, rng_u32(&b));
    assert_int_not_equal(x, rng_u32(&c));
}

static void utf8_round_trips_everything(void **state)
{
    (void)state;
    for (uint32_t c = 1; c <= 0x10ffff; c++) {
        char s[5] = {0};
        size_t n = utf8_put(s, c);
        const char *at = s;
        uint32_t back = utf8_next(&at);
        bool surrogate = c >= 0xd800 && c < 0xe000;
        if (back != (surrogate ? 0xfffd : c) || (size_t)(at - s) != n || *at)
            fail_msg("U+%04X came back as U+%04X", (unsigned)c, (unsigned)back);
    }
    const char *end = "";
    assert_int_equal(utf8_next(&end), 0);
    assert_int_equal(utf8_next(&end), 0);
    char s[5] = {0};
    assert_int_equal(utf8_put(s, 0x110000), 3);
    assert_string_equal(s, "\xef\xbf\xbd");
}

/* Every byte of these is refused: U+FFFD, one byte at a time. */
static void utf8_refuses_what_is_not_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80",
        "\xbf\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xfe",
        "\xff\xff",
        "\xf0\x9f\x98",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];
        for (size_t k = 1; k <= strlen(bad[i]); k++) {
            assert_int_equal(utf8_next(&at), 0xfffd);
            assert_ptr_equal(at, bad[i] + k);
        }
        assert_int_equal(utf8_next(&at), 0);
    }
    const char *mixed = "\xe2\x82"
                        "A";
    assert_int_equal(utf8_next(&mixed), 0xfffd);
    assert_int_equal(utf8_next(&mixed), 0xfffd);
    assert_int_equal(utf8_next(&mixed), 'A');
}

static void utf8_knows_widths(void **state)
{
    (void)state;
    static const struct {
        uint32_t c;
        int width;
    } table[] = {
        {'a', 1},     {0xe9, 1},    {0x300, 0},    {0x36f, 0},   {0x370, 1},   {0x483, 0},   {0x5d0, 1},   {0x5b0, 0},
        {0x1100, 2},  {0x115f, 2},  {0x1160, 0},   {0x11ff, 0},  {0x1200, 1},  {0x200d, 0},  {0x20d7, 0},  {0x2190, 1},
        {0x221a, 1},  {0x2500, 1},  {0x2580, 1},   {0x2588, 1},  {0x25cf, 1},  {0x231a, 2},  {0x2318, 1},  {0x26a1, 2},
        {0x2713, 1},  {0x2800, 1},  {0x3000, 2},   {0x303f, 1},  {0x3042, 2},  {0x4e00, 2},  {0x9fff, 2},  {0xa4d0, 1},
        {0xac00, 2},  {0xd7a3, 2},  {0xd7b0, 0},   {0xe000, 1},  {0xfe0f, 0},  {0xfe20, 0},  {0xff01, 2},  {0xff61, 1},
        {0xfffd, 1},  {0x1d400, 1}, {0x1f320, 2},  {0x1f321, 1}, {0x1f600, 2}, {0x1f9e0, 2}, {0x20000, 2}, {0x3fffd, 2},
        {0xe0100, 0}, {0xf0000, 1}, {0x10ffff, 1}, {0x1f1e6, 1}, {0x302a, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (utf8_width(table[i].c) != table[i].width)
            fail_msg("U+%04X: %d instead of %d", (unsigned)table[i].c, utf8_width(table[i].c), table[i].width);
    assert_int_equal(utf8_cells(""), 0);
    assert_int_equal(utf8_cells("e\xcc\x81\xe4\xb8\x80\xf0\x9f\x98\x80z"), 1 + 0 + 2 + 2 + 1);
}

/* The same as the C library where nothing is cut; where a precision or the buffer's end cuts, whole characters. */
static void printed_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char TEXT[] = "a\xc3\xa9\xe4\xb8\x80\xf0\x9f\x98\x80z";
    static const int WHOLE[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    char out[256], want[256];
    for (int most = 0; most <= 12; most++) {
        snprintf(want, sizeof want, "<%.*s> 7", WHOLE[most], TEXT);
        char fmt[16];
        snprintf(fmt, sizeof fmt, "<%%.%ds> %%d", most);
        assert_int_equal(utf8_print(out, sizeof out, fmt, TEXT, 7), strlen(want));
        assert_string_equal(out, want);
        utf8_print(out, sizeof out, "<%.*s> %d", most, TEXT, 7);
        assert_string_equal(out, want);
        Err err;
        err_set(&err, "<%.*s> %d", most, TEXT, 7);
        assert_string_equal(err.text, want);
        err_prefix(&err, "%.*s", most, TEXT);
        assert_memory_equal(err.text + WHOLE[most], ": <", 3);
        Buf b = {0};
        buf_printf(&b, "<%.*s> %d", most, TEXT, 7);
        assert_string_equal(buf_str(&b), want);
        buf_free(&b);
        Arena a = {0};
        assert_string_equal(arena_printf(&a, "<%.*s> %d", most, TEXT, 7), want);
        arena_free(&a);
        if (most > 0) {
            assert_int_equal(utf8_print(out, (size_t)most, "%s", TEXT), 11);
            assert_int_equal(strlen(out), WHOLE[most - 1]);
            assert_int_equal(utf8_print(out, (size_t)most, "%.11s", TEXT), 11);
            assert_int_equal(strlen(out), WHOLE[most - 1]);
        }
    }
    static const struct {
        double x;
        const char *want;
    } ZEROS[] = {{-0.0, "0.00|+0.0| 0"},
                 {-0.004, "0.00|+0.0| 0"},
                 {-0.04, "-0.04|+0.0| 0"},
                 {-0.5, "-0.50|-0.5| 0"},
                 {-0.51, "-0.51|-0.5|-1"},
                 {0.0, "0.00|+0.0| 0"},
                 {-999999999.0, "-999999999.00|-999999999.0|-999999999"},
                 {-1e9, "-1.00e+09|-1.00e+09|-1000000000"},
                 {1e37, "1.00e+37|+1.00e+37| 9999999999999999538762658202121142272"}};
    for (size_t i = 0; i < sizeof ZEROS / sizeof *ZEROS; i++) { /* no number is shown as -0.00 */
        utf8_print(out, sizeof out, "%.2f|%+.*f|% .0f", ZEROS[i].x, 1, ZEROS[i].x, ZEROS[i].x);
        assert_string_equal(out, ZEROS[i].want);
    }
    char *slice = xmalloc(3); /* not ended: nothing behind it is read */
    memcpy(slice, "a\xc3\xa9", 3);
    const double huge = 2.987635e36; /* in its column as others are */
    assert_int_equal(utf8_print(out, sizeof out, "[%11.5f][%-10.4f][%*.3f]", huge, -huge, 12, huge), 39);
    assert_string_equal(out, "[   2.99e+36][-2.99e+36 ][    2.99e+36]");
    utf8_print(out, sizeof out, "%.2f %.2f", (double)INFINITY, 1e-40);
    assert_string_equal(out, "inf 0.00");
    assert_int_equal(utf8_print(out, sizeof out, "%.*s", 3, slice), 3);
    assert_int_equal(utf8_print(out, sizeof out, "%.*s", 2, slice), 1);
    free(slice);
    size_t big = SIZE_MAX;
    long long least = LLONG_MIN;
    static const char *const EVERY =
        "%% %5d|%-5d|%05d|%+d|%u|%x|%#X|%c|%ld|%lu|%lld|%llx|%zu|%8.3f|%-9.2e|%g|%.*f|%*d|%s|%-6s|%6s|%p|%.4s%%";
    snprintf(want, sizeof want, EVERY, 1, 2, 3, 4, 5u, 6u, 7u, 'c', 8L, 9UL, least, 10ULL, big, 1.5, 2.5, 3.5, 2, 4.5,
             6, 7, "s", "t", "u", (void *)want, "cut here");
    utf8_print(out, sizeof out, EVERY, 1, 2, 3, 4, 5u, 6u, 7u, 'c', 8L, 9UL, least, 10ULL, big, 1.5, 2.5, 3.5, 2, 4.5,
               6, 7, "s", "t", "u", (void *)want, "cut here");
    assert_string_equal(out, want);
}

static void utf8_takes_whole_characters(void **state)
{
    (void)state;
    char out[6];
    assert_string_equal(utf8_take(out, sizeof out, "a\xc3\xa9z", 2), "a");
    assert_string_equal(utf8_take(out, sizeof out, "a\xc3\xa9z", 3), "a\xc3\xa9");
    assert_string_equal(utf8_take(out, sizeof out, "\xe4\xb8\x80\xe4\xb8\x80", 6),
                        "\xe4\xb8\x80"); /* 5 bytes have no room for two */
    assert_string_equal(utf8_take(out, sizeof out, "", 0), "");
}

/* Every byte has its character; a piece is called after its bytes, and no two pieces get one name. */
static void pieces_of_bytes_are_read(void **state)
{
    static const struct {
        const char *bytes, *name; /* NULL: as it is stored */
    } CASES[] = {
        {"caf\xc3\xa9", "café"},
        {" \xe6\x97\xa5\xe6\x9c\xac\n", "Ġ日本Ċ"},
        {"\xf0\x9f\x99\x82", "🙂"},
        {"\xf0\x9f", "<0xF0><0x9F>"},                               /* a part of it … */
        {"\x99\x82", "<0x99><0x82>"},                               /* … and the other */
        {"\xe6\x97\xa5\xe6", "日<0xE6>"},                           /* whole and part */
        {"\xc0\xaf\xed\xa0\x80", "<0xC0><0xAF><0xED><0xA0><0x80>"}, /* too long; a surrogate */
        {"\xe2\x80\xae", "<0xE2><0x80><0xAE>"},                     /* turns the line around */
        {"\xc2\x85", "<0xC2><0x85>"},                               /* a control */
        {"\xe3\x80\x80", "<0xE3><0x80><0x80>"},                     /* a blank */
        {"\xcc\x81", "<0xCC><0x81>"},                               /* an accent with nothing below it … */
        {"e\xcc\x81", "e\xcc\x81"},                                 /* … and on a letter */
        {"\x1b\xc3\xa9", "<0x1B>é"},
        {"\xc4\xa0", "<0xC4><0xA0>"}, /* the letter Ġ is no blank */
        {" the", NULL},
        {"\xc4\x8d", "č"}, /* the letter, whose name CR has where it is stored … */
        {"\xc4\x9f", "ğ"},
        {"\r", "<0x0D>"}, /* … and CR itself */
        {"\x1f", "<0x1F>"},
        {"\r\n", "<0x0D>Ċ"},
        {" \t\tx", "Ġ<0x09><0x09>x"},
        {"\x7f", "<0x7F>"},
        {"\n\n", NULL},
        {"<0xE6>\xe6", NULL}, /* it would be called as two bytes are */
    };
    (void)state;
    bool seen[0x144] = {false};
    for (int b = 0; b < 256; b++) {
        const uint32_t c = byte_char((unsigned char)b);
        assert_true(c < 0x144 && utf8_printable(c) && !seen[c]);
        assert_int_equal(char_byte(c), b);
        seen[c] = true;
    }
    for (uint32_t c = 0; c < 0x400; c++)
        assert_int_equal(char_byte(c) >= 0, c < 0x144 && seen[c]);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Buf piece = {0}, name = {0};
        for (const char *s = CASES[i].bytes; *s; s++) {
            char c[4];
            buf_add(&piece, c, utf8_put(c, byte_char((unsigned char)*s)));
        }
        assert_int_equal(byte_text(buf_str(&piece), &name), CASES[i].name != NULL);
        assert_string_equal(buf_str(&name), CASES[i].name ? CASES[i].name : "");
        buf_free(&piece);
        buf_free(&name);
    }
    Buf none = {0};
    assert_false(byte_text("日本", &none)); /* not of that alphabet */
    assert_int_equal(none.len, 0);
    assert_string_equal(byte_text_signs("it Ġrained", false), "Ġ is a blank before the word, Ċ a line's end");
    assert_string_equal(byte_text_signs("Ċ", true), "Ġ: a blank, Ċ: a line's end");
    assert_string_equal(byte_text_signs("▁it ##s", false), ""); /* other vocabularies have no such signs */
    Buf line = {0};
    byte_text_shown("na\xc3\xafve?\n\xe6\x97\xf0\x9f\r\xef\xbf\xbd \xc3", true,
                    &line); /* U+FFFD is itself a character */
    assert_string_equal(buf_str(&line), "na\xc3\xafve?↵<0xE6><0x97><0xF0><0x9F><0x0D>\xef\xbf\xbd <0xC3>");
    buf_free(&line);
}

/* A number that is not zero never reads as zero. */
static void fixed_is_never_zero(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } CASES[] = {{0, "  0.00000"},      {-0.0, "  0.00000"},   {0.5, "  0.50000"},   {0.000005001, "  0.00001"},
                 {4.8e-7, "  4.8e-07"}, {-2e-30, " -2.0e-30"}, {-0.25, " -0.25000"}, {123, "123.00000"}};
    Buf b = {0};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        buf_clear(&b);
        buf_fixed(&b, 9, CASES[i].x, 5);
        assert_string_equal(buf_str(&b), CASES[i].text);
    }
    buf_clear(&b);
    buf_fixed(&b, 0, (double)NAN, 5);
    assert_null(strpbrk(buf_str(&b), "0"));
    buf_free(&b);
}

static void utf8_cleans(void **state)
{
    (void)state;
    static const uint32_t refused[] = {1,      '\n',   0x1b,   0x1f,   0x7f,   0x80,   0x9b,   0x9f,
                                       0x61c,  0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e,
                                       0x2060, 0x2064, 0x2066, 0x2069, 0xfeff, 0xd800, 0xdfff, 0x110000};
    static const uint32_t allowed[] = {' ',    '~',    0xa0,   0x301,   0x2010,  0x2030,
                                       0x2065, 0x206a, 0xfffd, 0x1f600, 0x10ffff};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(utf8_printable(refused[i]));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        assert_true(utf8_printable(allowed[i]));
    char out[64];
    assert_string_equal(utf8_clean(out, sizeof out, "a\x1b[31m\xc2\x9b\xe2\x80\xae\xff\xc3\xa9\xef\xbf\xbd\n"),
                        "a?[31m???\xc3\xa9\xef\xbf\xbd?");
    assert_string_equal(utf8_clean(out, 3, "a\xc3\xa9z"), "a"); /* never half a code point */
    assert_string_equal(utf8_clean(out, 4, "a\xc3\xa9z"), "a\xc3\xa9");
    assert_string_equal(utf8_clean(out, 1, "abc"), "");
    out[0] = 'x';
    utf8_clean(out, 0, "abc");
    assert_int_equal(out[0], 'x');
}

enum { ITEMS = 500 };

static void count_item(void *context, size_t item, int worker)
{
    atomic_int *counts = context;
    atomic_fetch_add(&counts[item], worker >= 0 && worker < 4 ? 1 : 100); /* asserting belongs to the main thread */
}

static void pool_runs_each_item_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        static atomic_int counts[ITEMS];
        memset(counts, 0, sizeof counts);
        Pool *p = pool_new(threads);
        assert_true(pool_threads(p) >= 1 && pool_threads(p) <= threads);
        size_t at = 0;
        while (at < ITEMS) { /* a deadline in the past still makes progress */
            size_t next = pool_run(p, at, ITEMS, count_item, counts, clock_ns() - 1);
            assert_true(next > at && next <= ITEMS);
            for (size_t i = at; i < next; i++)
                assert_int_equal(counts[i], 1);
            at = next;
        }
        assert_int_equal(pool_run(p, 0, ITEMS, count_item, counts, CLOCK_NEVER), ITEMS);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(counts[i], 2);
        pool_free(p);
    }
}

static void labels_end_in_an_ellipsis(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t bytes;
        int cells;
        const char *want;
    } cases[] = {
        {"star", 64, -1, "star"},   {"star", 5, 4, "star"},     {"star", 64, 3, "st…"},
        {"star", 4, -1, "…"},       {"größer", 64, 5, "größ…"}, {"größer", 8, -1, "grö…"},
        {"日本語", 64, 5, "日本…"}, {"日本語", 64, 4, "日…"},   {"great white shark", 12, -1, "great wh…"},
        {"star", 64, 0, ""},        {"star", 3, -1, "st"},      {"star", 1, -1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        assert_string_equal(utf8_fit(out, cases[i].bytes, cases[i].s, cases[i].cells), cases[i].want);
    }
    char cut[] = "gr\xc3\xb6\xc3", three[] = "a\xe2\x80", whole[] = "gr\xc3\xb6";
    utf8_mend(cut);
    assert_string_equal(cut, "gr\xc3\xb6");
    utf8_mend(three);
    assert_string_equal(three, "a");
    utf8_mend(whole);
    assert_string_equal(whole, "gr\xc3\xb6");
    Err err;
    err_set(&err, "%.3s", "gr\xc3\xb6ss"); /* a cut by printf */
    assert_string_equal(err.text, "gr");
}

/* What goes to a terminal: nothing of foreign text is a control. */
static void what_is_told_controls_nothing(void **state)
{
    (void)state;
    Buf b = {0};
    buf_add(&b, "a\x1b]0;t\a\xc2\x9b\xff\xe2\x80\xae\0b\tc\n", 18);
    tell_clean(&b);
    assert_string_equal(buf_str(&b), "a?]0;t?????b\tc\n");
    buf_clear(&b);
    buf_json(&b, "a\x1b\xc2\x9b\xe2\x80\xae\x7f\"\xc3\xb6");
    assert_string_equal(buf_str(&b), "\"a\\u001b\\u009b\\u202e\\u007f\\\"\xc3\xb6\"");
    buf_free(&b);
}

/* Releasing to a mark frees what came after it and gives zeroed memory again. */
static void arenas_go_back(void **state)
{
    (void)state;
    Arena a = {0};
    char *kept = arena_strdup(&a, "kept");
    ArenaMark mark = arena_mark(&a);
    for (int i = 0; i < 100; i++) {
        char *p = arena_alloc(&a, 1 + (size_t)i * 997);
        assert_int_equal(p[i], 0);
        memset(p, 'x', 1 + (size_t)i * 997);
        if (i % 10 == 9)
            arena_rewind(&a, mark);
    }
    assert_string_equal(kept, "kept");
    arena_free(&a);
    mark = arena_mark(&a);
    arena_alloc(&a, 100);
    arena_rewind(&a, mark);
    assert_null(a.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_is_cut_and_prefixed),
        cmocka_unit_test(labels_end_in_an_ellipsis),
        cmocka_unit_test(what_is_told_controls_nothing),
        cmocka_unit_test(arenas_go_back),
        cmocka_unit_test(fatal_ends_through_the_hook),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(memory_is_as_promised),
        cmocka_unit_test(arena_keeps_everything_until_the_end),
        cmocka_unit_test(buf_grows),
        cmocka_unit_test(rng_is_pcg32),
        cmocka_unit_test(utf8_round_trips_everything),
        cmocka_unit_test(utf8_refuses_what_is_not_utf8),
        cmocka_unit_test(utf8_knows_widths),
        cmocka_unit_test(printed_text_is_cut_between_characters),
        cmocka_unit_test(utf8_takes_whole_characters),
        cmocka_unit_test(fixed_is_never_zero),
        cmocka_unit_test(utf8_cleans),
        cmocka_unit_test(pieces_of_bytes_are_read),
        cmocka_unit_test(pool_runs_each_item_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
