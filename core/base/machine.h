/* What the machine has, and whose we are on it. */
#ifndef VITRINE_BASE_MACHINE_H
#define VITRINE_BASE_MACHINE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/err.h"

/* Bytes of memory that this process can hope for: the machine's, or less where a container or `ulimit -v` sets a limit.
 * 1 GB when the system does not say. */
size_t machine_memory(void);
/* Can so many bytes be held here at once? False with "WHAT needs 34.4 GB or more, and there are 16.0 GB: REMEDY". Asked
 * of every size that a file claims, before it is allocated. */
bool machine_holds(double bytes, const char *what, const char *remedy, Err *err);
/* From now on a freed block of a megabyte or more is the system's again at once. Else malloc keeps up to 32 MB, and
 * what lies between others: faster, but a bound on memory is passed by a third. */
void machine_spare_memory(void);
/* Name of a user with the number: "ada (1001)". */
const char *machine_user(uid_t uid, char out[80]);
/* The pseudo-terminal that this program sits at, its number and 1; 0: none that is its user's, as under su. */
int machine_terminal(void);
#endif
