/* What the machine has. */
#ifndef VITRINE_BASE_MACHINE_H
#define VITRINE_BASE_MACHINE_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

/* Bytes of memory that this process can hope for: the machine's, or less where a container or `ulimit -v` sets a limit.
 * 1 GB when the system does not say. */
size_t machine_memory(void);
/* Can so many bytes be held here at once? False with "WHAT needs 34.4 GB or more, and there are 16.0 GB: REMEDY". Asked
 * of every size that a file claims, before it is allocated. */
bool machine_holds(double bytes, const char *what, const char *remedy, Err *err);
#endif
