/* Mistakes with places that are turned or fitted: rotary positions that are lost, paired or counted otherwise, and a
 * position table brought to another grid in another way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

/* --- rotary positions --- */

#define TURNS_NEIGHBOURS                                                                                               \
    "the reference turns neighbours together (interleaved), here it is number e with e + E/2 (rotate-half)"
#define TURNS_HALVES                                                                                                   \
    "the reference turns number e with e + E/2 (rotate-half), here neighbours are turned together (interleaved)"

/* cos and sin over [t,e] and the partner of every number, as vit_embed.c has them, for another configuration. */
static void make_tables(Trial *t, const VitConfig *c, bool prefix_too, bool backwards, const float **cosine,
                        const float **sine, const int **partner)
{
    int prefix = vit_prefix(c), tokens = vit_tokens(c), e = c->head_dim, patches = vit_patches(c);
    size_t cells = size_mul((size_t)tokens, (size_t)e);
    float *co = arena_alloc(&t->arena, size_mul(cells, sizeof *co)),
          *si = arena_alloc(&t->arena, size_mul(cells, sizeof *si));
    int *other = arena_alloc(&t->arena, size_mul((size_t)e, sizeof *other));
    for (int k = 0; k < tokens; k++)
        for (int pair = 0; pair < e / 2; pair++) {
            int first, second, patch = prefix_too ? k : k - prefix;
            double angle = patch < 0 || patch >= patches ? 0 : vit_rope_angle(c, patch, pair);
            float *at = co + (size_t)k * (size_t)e, *across = si + (size_t)k * (size_t)e;
            vit_rope_pair(c, pair, &first, &second);
            at[first] = at[second] = (float)dm_cos(angle);
            across[second] = (float)dm_sin(backwards ? -angle : angle);
            across[first] = -across[second];
            other[first] = second;
            other[second] = first;
        }
    *cosine = co;
    *sine = si;
    *partner = other;
}

/* Which of ours stands for the rotations otherwise: q_swapped is q with the two numbers of each pair exchanged. */
static void add_pairs(Trial *t, const char *name, const char *from, const int *partner)
{
    const Graph *g = t->s->graph;
    for (NodeId n = trial_find(t, name, 0); n != NO_NODE; n = trial_find(t, name, n + 1)) {
        const char *path = graph_node(g, n)->path;
        Dims d = graph_node(g, n)->dims;
        trial_add(t, EDIT_REDIRECT, path)->other = block_path(&t->arena, path, from);
        Edit *e = trial_add(t, EDIT_GATHER, path);
        e->axis = d.axis[d.n - 1];
        e->index = partner;
    }
}

static void attempt_turns(Trial *t, const VitConfig *c, bool prefix_too, bool backwards, const char *text)
{
    const VitConfig *own = t->s->config;
    const float *cosine, *sine;
    const int *partner;
    if (trial_find(t, "rope_cos", 0) == NO_NODE || trial_find(t, "rope_sin", 0) == NO_NODE)
        return;
    make_tables(t, c, prefix_too, backwards, &cosine, &sine, &partner);
    trial_begin(t);
    trial_add(t, EDIT_VALUES, "rope_cos")->data = cosine;
    trial_add(t, EDIT_VALUES, "rope_sin")->data = sine;
    if (c->rope_half != own->rope_half) {
        add_pairs(t, "attn.q_swapped", "attn.q", partner);
        add_pairs(t, "attn.k_swapped", "attn.k", partner);
    }
    trial_attempt(t, "%s", text);
}

static void attempt_lost(Trial *t, const char *names, const char *text)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (const char *w = names; *w; w++) {
        char turned[24], plain[12];
        snprintf(turned, sizeof turned, "attn.%c_turned", *w);
        snprintf(plain, sizeof plain, "attn.%c", *w);
        for (NodeId n = trial_find(t, turned, 0); n != NO_NODE; n = trial_find(t, turned, n + 1)) {
            const char *path = graph_node(g, n)->path;
            trial_add(t, EDIT_REDIRECT, path)->other = block_path(&t->arena, path, plain);
        }
    }
    trial_attempt(t, "%s", text);
}

/* --- …with learned frequencies --- */

/* rope_places[t,a] otherwise: the coordinates exchanged, shifted, negative, or of tokens of prefix too. */
static void attempt_places(Trial *t, bool exchanged, int more, bool prefix_too, int sign, const char *text)
{
    const VitConfig *c = t->s->config;
    int tokens = vit_tokens(c), prefix = prefix_too ? 0 : vit_prefix(c), at[2];
    float *places = arena_alloc(&t->arena, size_mul((size_t)tokens, 2 * sizeof *places));
    for (int k = 0; k < tokens; k++) {
        int patch = k - prefix;
        at[0] = at[1] = 0;
        if (patch >= 0 && patch < vit_patches(c))
            vit_rope_place(c, patch, at);
        for (int i = 0; i < 2; i++)
            places[2 * k + i] = patch < 0 ? 0 : (float)(sign * (at[exchanged ? !i : i] + more));
    }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, "rope_places")->data = places;
    trial_attempt(t, "%s", text);
}

/* Block i turns by the frequencies of block i + by, or of block `all` where that is one. */
static void attempt_frequencies(Trial *t, int all, int by, const char *text)
{
    const VitConfig *c = t->s->config;
    NodeId n = trial_find(t, "rope.freqs", 0);
    if (n == NO_NODE || c->layers < 2)
        return;
    const float *own = graph_node(t->s->graph, n)->leaf.data;
    size_t each = (size_t)c->heads * (size_t)(c->head_dim / 2), layers = (size_t)c->layers;
    float *f = arena_alloc(&t->arena, size_mul(graph_cells(t->s->graph, n), sizeof *f));
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < layers; i++) {
            size_t from = all >= 0 ? (size_t)all : (i + layers + (size_t)by) % layers;
            memcpy(f + (a * layers + i) * each, own + (a * layers + from) * each, each * sizeof *f);
        }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, "rope.freqs")->data = f;
    trial_attempt(t, "%s", text);
}

/* cos and sin of a pair stand where its two numbers do. */
static void add_moved(Trial *t, const char *name, const int *from)
{
    const Graph *g = t->s->graph;
    for (NodeId n = trial_find(t, name, 0); n != NO_NODE; n = trial_find(t, name, n + 1)) {
        Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, n)->path);
        e->axis = graph_node(g, n)->dims.axis[graph_node(g, n)->dims.n - 1];
        e->index = from;
    }
}

static void attempt_other_pairs(Trial *t, const char *text)
{
    VitConfig c = *t->s->config;
    size_t e = (size_t)c.head_dim;
    int *partner = arena_alloc(&t->arena, size_mul(e, sizeof *partner)),
        *from = arena_alloc(&t->arena, size_mul(e, sizeof *from));
    for (int pair = 0, first, second, own_first, own_second; pair < c.head_dim / 2; pair++) {
        vit_rope_pair(t->s->config, pair, &own_first, &own_second);
        c.rope_half = !t->s->config->rope_half;
        vit_rope_pair(&c, pair, &first, &second);
        partner[first] = second;
        partner[second] = first;
        from[first] = own_first;
        from[second] = own_second;
    }
    trial_begin(t);
    add_moved(t, "attn.cos_each", from);
    add_moved(t, "attn.sin_signed", from);
    add_pairs(t, "attn.q_swapped", "attn.q", partner);
    add_pairs(t, "attn.k_swapped", "attn.k", partner);
    trial_attempt(t, "%s", text);
}

static void trial_learned_turns(Trial *t)
{
    const VitConfig *own = t->s->config;
    attempt_other_pairs(t, own->rope_half ? TURNS_NEIGHBOURS : TURNS_HALVES);
    attempt_places(t, true, 0, false, 1,
                   "the reference's learned rotations take rows for columns: their first frequency is multiplied by "
                   "the other coordinate");
    attempt_places(t, false, 0, false, -1, "the reference turns q and k the other way round");
    attempt_places(t, false, 0, true, 1,
                   "the reference turns the tokens of prefix too, patches by places shifted behind them");
    attempt_places(t, false, 1, false, 1, "the reference counts rows and columns of its rotations one higher");
    attempt_frequencies(t, 0, 0, "the reference turns q and k of every block by the frequencies learned for block 0");
    attempt_frequencies(t, own->layers - 1, 0,
                        "the reference turns q and k of every block by the frequencies learned for the last block");
    attempt_frequencies(t, -1, 1, "the reference turns q and k of a block by the frequencies learned for the next one");
    attempt_frequencies(t, -1, -1,
                        "the reference turns q and k of a block by the frequencies learned for the one before");
}

void trial_turns(Trial *t)
{
    static const float BASES[] = {10, 50, 100, 500, 1000, 10000, 100000};
    const VitConfig *own = t->s->config;
    char text[DIFF_WORDS];
    if (!own || own->rope == VIT_ROPE_NONE)
        return;
    attempt_lost(t, "qk", "the reference does not turn q and k: its rotary positions are lost");
    attempt_lost(t, "q", "the reference turns k by its place and not q");
    attempt_lost(t, "k", "the reference turns q by its place and not k");
    if (t->only)
        return;
    if (own->rope == VIT_ROPE_LEARNED) {
        trial_learned_turns(t);
        return;
    }
    VitConfig c = *own;
    c.rope_half = !own->rope_half;
    attempt_turns(t, &c, false, false, own->rope_half ? TURNS_NEIGHBOURS : TURNS_HALVES);
    c = *own;
    c.rope_cols_first = !own->rope_cols_first;
    attempt_turns(t, &c, false, false,
                  own->rope_cols_first
                      ? "the reference turns the first half of a head by the row, here it is the column"
                      : "the reference turns the first half of a head by the column, here it is the row");
    attempt_turns(t, own, false, true, "the reference turns q and k the other way round");
    attempt_turns(t, own, true, false,
                  "the reference turns the tokens of prefix too, patches by places shifted behind them");
    for (size_t i = 0; i < sizeof BASES / sizeof *BASES; i++) {
        c = *own;
        c.rope_base = BASES[i];
        snprintf(text, sizeof text, "the reference's rotations have the base %g, here it is %g", (double)BASES[i],
                 (double)own->rope_base);
        if (BASES[i] < own->rope_base || BASES[i] > own->rope_base)
            attempt_turns(t, &c, false, false, text);
    }
    c = *own;
    c.rope = own->rope == VIT_ROPE_CENTRES ? VIT_ROPE_STEPS : VIT_ROPE_CENTRES;
    attempt_turns(t, &c, false, false,
                  own->rope == VIT_ROPE_CENTRES
                      ? "the reference's rotations count patches, here they go by the centres from −1 to 1"
                      : "the reference's rotations go by the patches' centres from −1 to 1, here they count patches");
    for (int k = 0; k < 2 && own->rope == VIT_ROPE_STEPS; k++) {
        c = *own;
        c.rope_ref_h = k ? 16 : 0;
        c.rope_ref_w = k ? 16 : 0;
        if (c.rope_ref_h != own->rope_ref_h || c.rope_ref_w != own->rope_ref_w)
            attempt_turns(t, &c, false, false,
                          k ? "the reference's rotations are scaled to a grid of 16 × 16"
                            : "the reference's rotations are not scaled to the grid that they were made for");
        c = *own;
        c.rope_offset = own->rope_offset + (k ? 1.0f : -1.0f);
        attempt_turns(t, &c, false, false,
                      k ? "the reference counts rows and columns of its rotations one higher"
                        : "the reference counts rows and columns of its rotations one lower");
    }
}

/* --- a table that was made for another grid --- */

static void attempt_fit(Trial *t, const VitConfig *c, const char *text)
{
    static const char *const NAMES[] = {"pos_fit.row_weights", "pos_fit.col_weights"};
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (size_t k = 0; k < 2; k++) {
        NodeId n = trial_find(t, NAMES[k], 0);
        if (n == NO_NODE)
            return;
        Dims d = graph_node(g, n)->dims;
        size_t cells = graph_cells(g, n);
        double *exact = xcalloc(cells, sizeof *exact);
        float *weights = arena_alloc(&t->arena, size_mul(cells, sizeof *weights));
        vit_fit_weights(c, g->axes[d.axis[1]].n, g->axes[d.axis[0]].n, exact);
        for (size_t i = 0; i < cells; i++)
            weights[i] = (float)exact[i];
        free(exact);
        trial_add(t, EDIT_VALUES, NAMES[k])->data = weights;
    }
    trial_attempt(t, "%s", text);
}

void trial_fitted(Trial *t)
{
    static const struct {
        VitFit fit;
        bool smooth, corners;
        const char *text;
    } WAYS[] = {{VIT_FIT_BICUBIC, false, false, "bicubic, without antialias"},
                {VIT_FIT_BICUBIC, true, false, "bicubic, with antialias"},
                {VIT_FIT_BICUBIC, false, true, "bicubic, corners on corners"},
                {VIT_FIT_BILINEAR, false, false, "bilinear, without antialias"},
                {VIT_FIT_BILINEAR, true, false, "bilinear, with antialias"},
                {VIT_FIT_BILINEAR, false, true, "bilinear, corners on corners"},
                {VIT_FIT_NEAREST, false, false, "with the nearest place"}};
    const VitConfig *own = t->s->config;
    char text[DIFF_WORDS];
    if (!own || !vit_resizes(own))
        return;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        VitConfig c = *own;
        c.fit = WAYS[i].fit;
        c.fit_smooth = WAYS[i].smooth;
        c.fit_corners = WAYS[i].corners;
        snprintf(text, sizeof text, "the reference fits the position table to this grid %s", WAYS[i].text);
        if (c.fit != own->fit || c.fit_smooth != own->fit_smooth || c.fit_corners != own->fit_corners)
            attempt_fit(t, &c, text);
    }
}
