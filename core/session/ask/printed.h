/* Numbers as people print them: 150,528, 0.50, −3.2, 1e-21, 10⁻⁷. */
#ifndef VITRINE_SESSION_ASK_PRINTED_H
#define VITRINE_SESSION_ASK_PRINTED_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"

/* Digits with , between thousands, one point, an exponent; a minus of either kind; a power of ten, 10⁻⁷. Returns the
 * characters it takes, 0 when text begins with none; *half is half a unit of its last place. */
size_t number_printed(const char *text, double *out, double *half);
/* Bytes of the minus, of either kind, that text begins with; 0 for none. */
size_t printed_minus(const char *text);
/* A number for people: whole ones with , between thousands, others with that many decimals (-1: four digits). */
void number_put(double x, int decimals, Buf *out);
#endif
