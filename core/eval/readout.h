/* The read-out that a model does not use, beside the one it does: the mean of the patch tokens where it reads the class
 * token, the class token where it reads the mean. Same final norm, same head. */
#ifndef VITRINE_EVAL_READOUT_H
#define VITRINE_EVAL_READOUT_H
#include "core/models/family.h"

typedef enum Readout { READOUT_CLASS_TOKEN, READOUT_MEAN } Readout;

Readout readout_used(const Model *m);   /* the class token's, of models without patches too */
bool readout_has_other(const Model *m); /* is there another one, and a head to read it with? */
/* Appends it to a graph that vit_build_batch made; the path of its logits [b,o], or NULL where there is none. */
const char *readout_add(Graph *g, const Model *m, const VitNodes *nodes);
#endif
