/* Letters of a font of this machine (deps-all installs DejaVu), and what is no font. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/io/font.h"

enum { W = 16, H = 32 };

static int ink(const Font *f, uint32_t ch, int cells, int *bottom)
{
    uint8_t alpha[2 * W * H];
    int sum = 0;
    *bottom = -1;
    assert_true(font_glyph(f, ch, cells, alpha));
    for (int i = 0; i < W * cells * H; i++) {
        sum += alpha[i];
        *bottom = alpha[i] > 127 ? i / (W * cells) : *bottom;
    }
    return sum;
}

static void test_letters(void **state)
{
    (void)state;
    Err err = {{0}};
    int base, below, high;
    unsetenv("VITRINE_FONT");
    Font *f = font_open(W, H, &err);
    if (!f && strstr(err.text, "none of those known is on this machine")) {
        print_message("  skipped: no monospaced font is on this machine (make deps-all installs one)\n");
        skip();
    }
    if (!f)
        fail_msg("%s", err.text);
    assert_int_equal(ink(f, ' ', 1, &base), 0);
    assert_true(ink(f, 'H', 1, &base) > 255 * 20);
    assert_true(ink(f, 'g', 1, &below) > 255 * 20);
    assert_true(ink(f, '\'', 1, &high) > 255);
    assert_true(high < base && base < below && below < H); /* a baseline, and what hangs below it */
    assert_true(ink(f, 'M', 1, &base) > ink(f, 'i', 1, &base));
    assert_true(ink(f, 0x221a, 1, &base) > 0); /* √ and Σ stand in formulas */
    assert_true(ink(f, 0x3a3, 1, &base) > 0);
    font_close(f);
}

static void test_no_font(void **state)
{
    (void)state;
    static const char *const FILES[] = {"README.md", "/nonexistent.ttf", "/dev/null", "/"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        Err err = {{0}};
        setenv("VITRINE_FONT", FILES[i], 1);
        assert_null(font_open(W, H, &err));
        assert_non_null(strstr(err.text, FILES[i]));
    }
    unsetenv("VITRINE_FONT");
    font_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_letters), cmocka_unit_test(test_no_font)};
    return cmocka_run_group_tests_name("font", tests, NULL, NULL);
}
