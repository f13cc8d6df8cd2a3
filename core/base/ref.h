/* Where a number on the screen comes from: a cell of a node of a run. Every canvas cell that shows a value carries one.
 */
#ifndef VITRINE_BASE_REF_H
#define VITRINE_BASE_REF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Ref {
    uint16_t run; /* 0 = none, 1 = A (base), 2 = B (edited), 3 = A − B; the session says what each is */
    int32_t node;
    size_t cell; /* row-major index in the node's dims */
} Ref;

static inline bool ref_same(Ref a, Ref b)
{
    return a.run == b.run && a.node == b.node && a.cell == b.cell;
}
#endif
