#define _GNU_SOURCE
/* Every kernel table that this CPU can run against the portable one, bit for bit; no test framework, so that it runs
 * wherever a C compiler is. Exit status 1 and the first case that differs, if one does. */
#include "tests/core_kernels/compare.h"

int main(void)
{
    bool ok = true;
    for (int i = 0; kernels_variant(i); i++) {
        const Kernels *k = kernels_variant(i);
        const char *differs = compare_tables(kernels_reference(), k);
        printf("%-8s %s\n", k->isa, differs ? differs : "equal");
        ok = ok && !differs;
    }
    return ok ? 0 : 1;
}
