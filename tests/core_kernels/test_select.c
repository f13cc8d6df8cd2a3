/* Choosing a table: by name, by environment, and what is said when this processor has no such thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/kernels/kernels.h"

/* Exit status of a fresh process with this environment: 0 if it starts with table `isa`, 42 if with another, 1 if it
 * gives up. Runs before anything here has asked for the table. */
static int start_with(const char *environment, const char *isa)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(99);
        setenv("VITRINE_ISA", environment, 1);
        _exit(strcmp(kernels()->isa, isa) == 0 ? 0 : 42);
    }
    assert_true(child > 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const char *widest(void)
{
    const char *isa = NULL;
    for (int i = 0; kernels_variant(i); i++)
        isa = kernels_variant(i)->isa;
    return isa;
}

static void by_environment(void **state)
{
    (void)state;
    for (int i = 0; kernels_variant(i); i++)
        assert_int_equal(start_with(kernels_variant(i)->isa, kernels_variant(i)->isa), 0);
    assert_int_equal(start_with("auto", widest()), 0);
    assert_int_equal(start_with("", widest()), 0);
    assert_int_equal(start_with("abacus", ""), 1);
}

static void by_name(void **state)
{
    (void)state;
    unsetenv("VITRINE_ISA");
    assert_string_equal(kernels()->isa, widest());
    for (int i = 0; kernels_variant(i); i++) {
        assert_true(kernels_select(kernels_variant(i)->isa, NULL));
        assert_ptr_equal(kernels(), kernels_variant(i));
    }
    assert_true(kernels_select("auto", NULL));
    assert_string_equal(kernels()->isa, widest());
    assert_true(kernels_select("scalar", NULL));
    assert_ptr_equal(kernels(), kernels_reference());
    Err err = {""};
    assert_false(kernels_select("abacus", &err));
    assert_ptr_equal(kernels(), kernels_reference());
    assert_non_null(strstr(err.text, "'abacus'"));
    for (int i = 0; kernels_variant(i); i++)
        assert_non_null(strstr(err.text, kernels_variant(i)->isa));
    assert_null(strchr(err.text, '\n'));
    assert_false(kernels_select("", &err));
    assert_false(kernels_select("AVX2", &err));
}

static void tables_are_complete(void **state)
{
    (void)state;
    for (int i = 0; kernels_variant(i); i++) {
        const Kernels *k = kernels_variant(i);
        assert_true(k->isa && k->contract && k->pack && k->sum && k->max);
        for (int f = 0; f < MAP_COUNT; f++)
            assert_true(k->map[f] != NULL);
        for (int f = 0; f < ZIP_COUNT; f++)
            assert_true(k->zip[f] != NULL);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(k->isa, kernels_variant(j)->isa);
    }
    assert_ptr_equal(kernels_variant(0), kernels_reference());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_environment), /* first: see start_with */
        cmocka_unit_test(by_name),
        cmocka_unit_test(tables_are_complete),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
