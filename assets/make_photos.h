/* The parts of make_photos, which measures what is stated about the model of photographs. */
#ifndef VITRINE_ASSETS_MAKE_PHOTOS_H
#define VITRINE_ASSETS_MAKE_PHOTOS_H
#include "core/base/pool.h"
#include "core/models/model.h"
#include "core/train/pictures.h"

bool photos_show(void *context, const char *what, double share); /* progress, on standard error */
/* Over the first `held` photographs that were held out: rows GREYED and ALIKE, to standard output. */
bool photos_maps(const Model *m, const Pictures *pictures, size_t held, Pool *pool, Err *err);
#endif
