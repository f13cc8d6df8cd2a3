/* What the processor could do at most: fused multiply-adds on registers alone. */
#ifndef VITRINE_TESTS_BENCH_PEAK_H
#define VITRINE_TESTS_BENCH_PEAK_H
/* GFLOP/s of one thread, measured now over some milliseconds with the widest vectors that `isa` (a kernel table's name)
 * has. */
double peak_gflops(const char *isa);
#endif
