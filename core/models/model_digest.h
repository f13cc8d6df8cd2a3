/* A number that tells models apart: by family, settings, what is done to a picture first, names of classes and every
 * weight; not by where the files lie. Equal ones show equal models as far as 64 bits can; it is no signature. Reads all
 * weights once. */
#ifndef VITRINE_MODELS_MODEL_DIGEST_H
#define VITRINE_MODELS_MODEL_DIGEST_H
#include "core/models/model.h"

uint64_t model_digest(const Model *m);
#endif
