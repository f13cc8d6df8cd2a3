/* Where the object of a drawn picture is, on the patches of what the model receives. */
#ifndef VITRINE_SESSION_LEARNED_OBJECT_H
#define VITRINE_SESSION_LEARNED_OBJECT_H
#include "core/session/session.h"

/* object[vit_patches]: 1 where the object covers more than OBJECT_PERCENT of a patch, else 0. False where its place is
 * not known, or where no patch has that much of it. */
enum { OBJECT_PERCENT = 8 };
bool object_patches(const Input *in, const Model *m, float *object);
#endif
