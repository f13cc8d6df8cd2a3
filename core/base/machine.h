/* What the machine has. */
#ifndef VITRINE_BASE_MACHINE_H
#define VITRINE_BASE_MACHINE_H
#include <stddef.h>

/* Bytes of memory that this process can hope for: the machine's, or less where a container or `ulimit -v` sets a limit.
 * 1 GB when the system does not say. */
size_t machine_memory(void);
#endif
