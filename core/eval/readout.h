/* The read-out that a model does not use, beside the one it does: the mean of the patch tokens where it reads the class
 * token, the class token where it reads the mean. Same final norm, same head. */
#ifndef VITRINE_EVAL_READOUT_H
#define VITRINE_EVAL_READOUT_H
#include "core/models/vit.h"

typedef enum Readout { READOUT_CLASS_TOKEN, READOUT_MEAN } Readout;

Readout readout_used(const VitConfig *c);
bool readout_has_other(const VitConfig *c); /* is there another one, and a head to read it with? */
/* Appends it to a graph that vit_build_batch made; the path of its logits [b,o], or NULL where there is none. */
const char *readout_add(Graph *g, const VitConfig *c, const VitNodes *nodes);
#endif
