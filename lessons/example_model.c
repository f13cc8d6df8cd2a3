/* `model …` in a worked example: the session's model once more, in another configuration. The weights are the same;
 * what is chosen here is what a config file chooses. */
#include <stdlib.h>
#include <string.h>

#include "core/models/drawn.h"
#include "core/models/probes.h"
#include "lessons/example_parts.h"

typedef struct Wanted {
    VitConfig c;
    long number; /* of the drawn picture */
    int right, down;
} Wanted;

static bool read_number(const char *text, double low, double high, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= low && *out <= high;
}

static bool set_word(Building *b, Wanted *w, const char *word)
{
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) : strlen(word);
    double x = 0, y = 0;
    value = value ? value + 1 : "";
    if (n == 9 && strncmp(word, "post_norm", n) == 0 && !*value) {
        w->c.post_norm = true;
        return true;
    }
    if (n == 9 && strncmp(word, "positions", n) == 0 && strcmp(value, "none") == 0) {
        w->c.pos = VIT_POS_NONE;
        return true;
    }
    if (n == 5 && strncmp(word, "scale", n) == 0 && read_number(value, -1e6, 1e6, &x)) {
        w->c.scale = (float)x;
        return true;
    }
    if (n == 5 && strncmp(word, "depth", n) == 0 && read_number(value, 1, b->model->vit.layers, &x)) {
        w->c.layers = (int)x;
        return true;
    }
    if (n == 5 && strncmp(word, "input", n) == 0 && *value == '#' && read_number(value + 1, 0, 1e9, &x)) {
        w->number = (long)x;
        return true;
    }
    const char *comma = strchr(value, ',');
    char first[16] = "";
    if (comma && comma - value < 15)
        memcpy(first, value, (size_t)(comma - value));
    if (n == 5 && strncmp(word, "shift", n) == 0 && comma && read_number(first, -DRAWN_SIDE, DRAWN_SIDE, &x) &&
        read_number(comma + 1, -DRAWN_SIDE, DRAWN_SIDE, &y)) {
        w->right = (int)x;
        w->down = (int)y;
        return true;
    }
    return building_error(
        b, "'%.40s' is none of: post_norm, positions=none, scale=X, depth=1 … %d, input=#N, shift=RIGHT,DOWN", word,
        b->model->vit.layers);
}

static int inside(int i)
{
    return i < 0 ? 0 : i >= DRAWN_SIDE ? DRAWN_SIDE - 1 : i;
}

/* The picture moved; what comes in at the edge repeats the edge. */
static float *shifted(const Wanted *w)
{
    uint8_t *rgb = xmalloc(DRAWN_SIDE * DRAWN_SIDE * 3);
    float *out = xfloats(DRAWN_SIDE * DRAWN_SIDE * 3);
    drawn_picture((uint64_t)w->number, rgb, NULL);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < DRAWN_SIDE; y++)
            for (int x = 0; x < DRAWN_SIDE; x++)
                out[(c * DRAWN_SIDE + y) * DRAWN_SIDE + x] = (float)
                    rgb[(inside(y - w->down) * DRAWN_SIDE + inside(x - w->right)) * 3 + c];
    free(rgb);
    return out;
}

bool example_model(Building *b, const char *words)
{
    const Model *m = b->model;
    if (!m)
        return building_error(b, "there is no model here to configure");
    if (m->vit.image_h != DRAWN_SIDE || m->vit.image_w != DRAWN_SIDE || m->vit.channels != 3 ||
        m->vit.input == VIT_INPUT_READY)
        return building_error(b, "`model` needs a model for drawn pictures of %d × %d, such as the bundled one",
                              DRAWN_SIDE, DRAWN_SIDE);
    Wanted w = {.c = m->vit, .number = 17};
    for (const char *p = words; *(p += strspn(p, " "));) {
        size_t n = strcspn(p, " ");
        if (!set_word(b, &w, arena_printf(&b->g->arena, "%.*s", (int)n, p)))
            return false;
        p += n;
    }
    Err why = {{0}};
    if (!vit_check(&w.c, &why))
        return building_error(b, "%s", why.text);
    VitNodes nodes;
    b->e->pixels = shifted(&w);
    vit_build(b->g, &w.c, &m->weights, m->class_names, b->e->pixels, &nodes);
    probes_add(b->g, &w.c, &nodes);
    return true;
}
