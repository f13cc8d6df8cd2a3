/* Which text model is meant: the bundled translator, or a folder. */
#ifndef VITRINE_SESSION_TEXT_H
#define VITRINE_SESSION_TEXT_H
#include "core/models/text_model.h"

/* Does `model`, as -m has it, name a text model: "translator", the bundled one, or the folder of another? NULL does
 * not: without -m it is the picture model. */
bool text_asked(const char *model);
/* Opens it; NULL is the bundled translator. */
bool text_open(Model *m, const char *model, Err *err);
#endif
