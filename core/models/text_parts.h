/* Inside core/models only: a text model's weights in a file. */
#ifndef VITRINE_MODELS_TEXT_PARTS_H
#define VITRINE_MODELS_TEXT_PARTS_H
#include "core/models/text_model.h"

/* Fills the weights of m, whose block is allocated, from folder/model.safetensors; sets layout and origins. */
bool text_weights_read(Model *m, const char *folder, Err *err);
bool text_weights_write(const Model *m, const char *folder, Err *err);
#endif
