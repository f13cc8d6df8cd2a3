/* In a file of its own: a program that makes or trains models without core/io links nothing else of preprocess.h. */
#include "core/models/preprocess.h"

Preprocess preprocess_default(const VitConfig *c)
{
    return (Preprocess){.width = c->image_w,
                        .height = c->image_h,
                        .channels = c->channels,
                        .mode = RESIZE_SQUASH,
                        .resize_w = c->image_w,
                        .resize_h = c->image_h,
                        .filter = FILTER_BILINEAR};
}
