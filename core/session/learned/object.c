#include "core/session/learned/object.h"

#include "core/models/drawn.h"

/* Share of the rectangle's mask pixels that the object covers; a mask pixel counts where its centre lies inside. */
static double covered(const uint8_t *mask, const SourceRect *r)
{
    double sum = 0, count = 0;
    for (int y = 0; y < DRAWN_SIDE; y++)
        for (int x = 0; x < DRAWN_SIDE; x++) {
            double cy = y + 0.5, cx = x + 0.5;
            if (cy < r->y0 || cy >= r->y1 || cx < r->x0 || cx >= r->x1)
                continue;
            sum += mask[y * DRAWN_SIDE + x] / 255.0;
            count++;
        }
    return count > 0 ? sum / count : 0;
}

bool object_patches(const Input *in, const Model *m, float *object)
{
    const VitConfig *c = model_vit(m);
    bool any = false;
    if (!in->mask || !c)
        return false;
    for (int row = 0; row < c->image_h / c->patch_h; row++)
        for (int col = 0; col < c->image_w / c->patch_w; col++) {
            int y = row * c->patch_h, x = col * c->patch_w;
            SourceRect r = preprocess_source(&m->preprocess, DRAWN_SIDE, DRAWN_SIDE, x, y);
            SourceRect last = preprocess_source(&m->preprocess, DRAWN_SIDE, DRAWN_SIDE, x + c->patch_w - 1,
                                                y + c->patch_h - 1);
            r.x1 = last.x1;
            r.y1 = last.y1;
            bool on = covered(in->mask, &r) > OBJECT_PERCENT / 100.0;
            object[row * (c->image_w / c->patch_w) + col] = on ? 1.0f : 0.0f;
            any |= on;
        }
    return any;
}
