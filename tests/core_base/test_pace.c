/* How long work will still take: nothing while that is a guess, then whole seconds; and what the machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/machine.h"

static const int64_t S = 1000000000;

static void steady_work(void **state)
{
    (void)state;
    Pace p = {0};
    assert_int_equal(pace_left(&p, 0.1, 5 * S), 0);
    assert_int_equal(pace_left(&p, 0.4, 5 * S + S / 4), 0); /* much done, but in too short a time to say */
    assert_int_equal(pace_left(&p, 0.4, 8 * S), 6);         /* 0.3 in 3 s */
    assert_int_equal(pace_left(&p, 0.7, 11 * S), 3);
    assert_int_equal(pace_left(&p, 0.999, 14 * S), 1); /* never "0 s left" before the end */
    assert_int_equal(pace_left(&p, 1, 15 * S), 1);
}

static void little_is_known(void **state)
{
    (void)state;
    Pace p = {0};
    for (int i = 0; i < 100; i++)
        assert_int_equal(pace_left(&p, 0.5 + i * 1e-4, S + i * S), 0); /* it hardly moves */
    assert_int_equal(pace_left(&p, 1e9, 200 * S), 1);                  /* a nonsense share does no harm */
    p = (Pace){0};
    pace_left(&p, 0, S);
    assert_int_equal(pace_left(&p, 0.02, INT64_MAX), 0); /* centuries are not told */
}

static void other_work_begins_anew(void **state)
{
    (void)state;
    Pace p = {0};
    pace_left(&p, 0, S);
    assert_int_equal(pace_left(&p, 0.5, 101 * S), 100);
    assert_int_equal(pace_left(&p, 0.1, 102 * S), 0);
    assert_int_equal(pace_left(&p, 0.6, 107 * S), 4);
}

static void memory_is_plausible(void **state)
{
    (void)state;
    size_t bytes = machine_memory();
    assert_true(bytes >= (size_t)16 << 20 && bytes < SIZE_MAX / 16);
    assert_int_equal(machine_memory(), bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steady_work), cmocka_unit_test(little_is_known),
                                       cmocka_unit_test(other_work_begins_anew), cmocka_unit_test(memory_is_plausible)};
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
