#include "core/session/learned/shipped.h"

#include <string.h>

#include "core/base/utf8.h"

bool session_shipped(const Session *s)
{
    return model_way(s->now->model) ? strcmp(s->now->model->layout, "bundled") == 0
                                    : !*s->model_path || session_photos(s);
}

bool session_figures_known(const Session *s)
{
    return !model_way(s->now->model) && session_shipped(s);
}

bool session_photos(const Session *s)
{
    return s->model.seen.mean != NULL;
}

Figure session_figure(const Session *s, FigureKind kind, int i)
{
    return session_photos(s) ? photos_figure(kind, i) : figures_get(kind, i);
}

bool session_lens_known(const Session *s, int blocks)
{
    if (!session_figures_known(s))
        return false;
    if (!session_photos(s))
        return blocks == FIGURES_BLOCKS;
    return photos_figure(FIGURE_LENS, blocks).pair.n && !photos_figure(FIGURE_LENS, blocks + 1).pair.n;
}

size_t session_figures_over(const Session *s)
{
    return session_photos(s) ? photos_pictures() : FIGURES_PICTURES;
}

bool session_sure_text(const Session *s, Side side, float probability, char out[SURE_TEXT])
{
    int bin = 0;
    char share[48];
    *out = '\0';
    if (!session_photos(s) || !session_as_trained(s, side) || !(probability >= 0))
        return false;
    while (probability < ACCURACY_SURE[bin])
        bin++;
    const AccuracySure a = photos_sure(bin);
    const double least = 100 * (double)ACCURACY_SURE[bin];
    if (!a.pictures)
        return false;
    measure_share_text(a.right, a.pictures, share, sizeof share);
    if (bin == 0)
        utf8_print(out, SURE_TEXT, "%s right of %zu named with at least %.0f %%", share, a.pictures, least);
    else if (bin == ACCURACY_SURES - 1)
        utf8_print(out, SURE_TEXT, "%s right of %zu named with less than %.0f %%", share, a.pictures,
                   100 * (double)ACCURACY_SURE[bin - 1]);
    else
        utf8_print(out, SURE_TEXT, "%s right of %zu named with %.0f to %.0f %%", share, a.pictures, least,
                   100 * (double)ACCURACY_SURE[bin - 1]);
    return true;
}
