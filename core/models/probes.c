#include "core/models/probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/models/probe_parts.h"

NodeId probe_passing(Graph *g, NodeId n)
{
    graph_flag(g, n, NODE_DERIVED);
    return n;
}

NodeId probe_existing(const Graph *g, const char *path)
{
    NodeId n = graph_find(g, path);
    REQUIRE(n != NO_NODE);
    return n;
}

bool probes_is(const char *path)
{
    return strstr(path, ".probe.") || strstr(path, ".alike.") || probes_of_step(path);
}

bool probes_of_step(const char *path)
{
    return strstr(path, "lengths.") != NULL;
}

void probe_scope(Probes *b, int layer)
{
    graph_scope(b->g, "%s.probe", anatomy_part(b->g, b->block[layer].attention)->scope);
}

NodeId probe_patches(Graph *g, const char *name, NodeId x, int from, int to)
{
    int rest = g->axes[from].n - g->axes[to].n;
    if (rest == 0)
        return graph_view(g, name, x, dims_replace(graph_node(g, x)->dims, from, to));
    return probe_passing(g, graph_slice(g, name, x, from, rest, to));
}

NodeId probe_mean(Graph *g, const char *name, NodeId x, Dims out, NodeId count)
{
    char sum[48];
    snprintf(sum, sizeof sum, "%s_sum", name);
    return graph_zip(g, name, OP_DIV, graph_reduce(g, sum, OP_SUM, x, out), count);
}

int probe_axis(Graph *g, int of, const char *sym, const char *name, AxisRole role)
{
    Axis a = g->axes[of];
    a.role = role;
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    a.name = name;
    return graph_axis(g, a);
}

static void find_axes(Probes *b)
{
    const struct {
        int *to;
        const char *sym;
    } wanted[] = {{&b->axis.c, "c"}, {&b->axis.i, "i"}, {&b->axis.j, "j"}, {&b->axis.y, "y"},
                  {&b->axis.x, "x"}, {&b->axis.p, "p"}, {&b->axis.t, "t"}, {&b->axis.u, "u"},
                  {&b->axis.h, "h"}, {&b->axis.e, "e"}, {&b->axis.d, "d"}, {&b->axis.o, "o"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].to = graph_axis_find(b->g, wanted[i].sym);
        REQUIRE(*wanted[i].to != AXIS_NONE || strcmp(wanted[i].sym, "o") == 0);
    }
    b->axis.p0 = probe_axis(b->g, b->axis.p, "p0", "2nd patch", ROLE_OTHER_PLACE);
    b->axis.w = probe_axis(b->g, b->axis.t, "w", "third token", ROLE_THIRD);
}

static void find_blocks(Probes *b)
{
    const Graph *g = b->g;
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_BLOCK)) != NO_PART;) {
        int attention = anatomy_next_in(g, part, PART_ATTENTION, part), layer = anatomy_part(g, part)->block;
        REQUIRE(layer >= 0 && layer < b->c->layers && attention != NO_PART);
        b->block[layer] = (ProbeBlock){.part = part,
                                       .attention = attention,
                                       .pattern = site_node(g, attention, SITE_PATTERN),
                                       .scores = site_node(g, attention, site_scores(g, attention)),
                                       .z = site_node(g, attention, SITE_MERGED),
                                       .w_o = site_node(g, attention, SITE_W_O),
                                       .out = site_node(g, part, SITE_BLOCK_OUT)};
    }
}

static void add_numbers(Probes *b)
{
    Graph *g = b->g;
    int tokens = vit_tokens(b->c);
    graph_scope(g, "numbers.probe");
    b->zero = graph_const(g, "zero", DIMS_SCALAR, 0.0f);
    b->one = graph_const(g, "one", DIMS_SCALAR, 1.0f);
    b->two = graph_const(g, "two", DIMS_SCALAR, 2.0f);
    b->half = graph_const(g, "half", DIMS_SCALAR, 0.5f);
    b->tokens = graph_const(g, "tokens", DIMS_SCALAR, (float)tokens);
    b->patches = graph_const(g, "patches", DIMS_SCALAR, (float)vit_patches(b->c));
    b->log_tokens = tokens > 1 ? graph_const(g, "log_tokens", DIMS_SCALAR, (float)dm_log(tokens)) : NO_NODE;
}

/* --- which is which: noted in the anatomy, so that nobody else needs their names --- */

/* Names inside the scope of every part of that kind. An analysis that a model lacks is not noted. */
static const struct {
    PartKind kind;
    Site site;
    const char *name;
    bool comes; /* with gradients, which come and go: its name is noted before it is there */
} NOTES[] = {
    {PART_ATTENTION, SITE_ENTROPY, "probe.entropy", false},
    {PART_ATTENTION, SITE_ENTROPY_SHARE, "probe.entropy_share", false},
    {PART_ATTENTION, SITE_ENTROPY_SHARE_MEAN, "probe.entropy_share_mean", false},
    {PART_ATTENTION, SITE_LARGEST, "probe.largest", false},
    {PART_ATTENTION, SITE_LARGEST_MEAN, "probe.largest_mean", false},
    {PART_ATTENTION, SITE_ROW_SUM, "probe.row_sum", false},
    {PART_ATTENTION, SITE_SCORE_VARIANCE, "probe.score_variance", false},
    {PART_ATTENTION, SITE_SCORE_VARIANCE_MEAN, "probe.score_variance_mean", false},
    {PART_ATTENTION, SITE_JACOBIAN, "probe.jacobian", false},
    {PART_ATTENTION, SITE_JACOBIAN_MEAN, "probe.jacobian_mean", false},
    {PART_ATTENTION, SITE_MEAN_PATTERN, "probe.mean_pattern", false},
    {PART_ATTENTION, SITE_HEADS_SUM, "probe.heads_sum", false},
    {PART_ATTENTION, SITE_RESULT, "probe.result", false},
    {PART_ATTENTION, SITE_ROLLOUT, "probe.rollout", false},
    {PART_ATTENTION, SITE_ROLLOUT_SUM, "probe.rollout_sum", false},
    {PART_ATTENTION, SITE_ROLLOUT_SO_FAR, "probe.rollout_patches", false},
    {PART_ATTENTION, SITE_ROLLOUT_SO_FAR_SUM, "probe.rollout_patches_sum", false},
    {PART_ATTENTION, SITE_DISTANCE, "probe.distance", false},
    {PART_ATTENTION, SITE_DISTANCE_ROW, "probe.distance_row", false},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH, "probe.gradient_through", true},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH_MEAN, "probe.gradient_through_mean", true},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH_HEAD, "probe.gradient_through_head", true},
    {PART_BLOCK, SITE_LENS_LOGITS, "lens.logits", false},
    {PART_BLOCK, SITE_LENS_PROBS, "lens.probs", false},
    {PART_BLOCK, SITE_LENS_MID, "lens_mid.logits", false},
    {PART_EMBEDDING, SITE_LENS_LOGITS, "embed.lens.logits", false},
    {PART_EMBEDDING, SITE_LENS_PROBS, "embed.lens.probs", false},
    {PART_EMBEDDING, SITE_FILTERS, "patch_embed.probe.filters", false},
    {PART_EMBEDDING, SITE_COMPONENTS, "patch_embed.probe.components", false},
    {PART_EMBEDDING, SITE_COMPONENTS_EXPLAINED, "patch_embed.probe.explained", false},
    {PART_EMBEDDING, SITE_COMPONENTS_SINGULAR, "patch_embed.probe.singular", false},
    {PART_EMBEDDING, SITE_FIT_OLD, "pos_fit.grid", false},
    {PART_EMBEDDING, SITE_FIT_NEAREST, "pos_fit.probe.nearest", false},
    {PART_EMBEDDING, SITE_FIT_BILINEAR, "pos_fit.probe.bilinear", false},
    {PART_EMBEDDING, SITE_FIT_BICUBIC, "pos_fit.probe.bicubic", false},
    {PART_EMBEDDING, SITE_POSITION_PATCHES, "pos.probe.patches", false},
    {PART_EMBEDDING, SITE_POSITION_COSINE, "pos.probe.cosine", false},
    {PART_EMBEDDING, SITE_POSITION_COSINE_CENTRED, "pos.probe.cosine_centred", false},
    {PART_EMBEDDING, SITE_POSITION_RANKS, "pos.probe.rank_correlation", false},
    {PART_EMBEDDING, SITE_WAVE_LENGTH, "pos.probe.wavelength", false},
    {PART_EMBEDDING, SITE_WAVE_PAIRS, "pos.probe.pairs", false},
    {PART_EMBEDDING, SITE_WAVE_ROTATION, "pos.probe.rotation", false},
    {PART_EMBEDDING, SITE_WAVE_CARRIED, "pos.probe.carried", false},
    {PART_EMBEDDING, SITE_WAVE_ONWARD, "pos.probe.onward", false},
    {PART_EMBEDDING, SITE_WAVE_RESIDUAL, "pos.probe.residual", false},
    {PART_EMBEDDING, SITE_WAVE_RESIDUAL_LARGEST, "pos.probe.residual_largest", false},
    {PART_EMBEDDING, SITE_WAVE_ALIKE, "pos.probe.alike", false},
    {PART_EMBEDDING, SITE_WHERE_GRADIENT, "where.gradient", true},
    {PART_READOUT, SITE_OTHER_LOGITS, "readout_mean.logits", false},
    {PART_READOUT, SITE_OTHER_PROBS, "readout_mean.probs", false},
    {PART_READOUT, SITE_OTHER_LOGITS, "readout_cls.logits", false},
    {PART_READOUT, SITE_OTHER_PROBS, "readout_cls.probs", false},
    {PART_READOUT, SITE_GUESS_PIXELS, "guess.pixels", false},
    {PART_READOUT, SITE_GUESS_ERROR, "guess.error", false},
    {PART_READOUT, SITE_GUESS_FLAT, "guess.flat", false},
    {PART_READOUT, SITE_GUESS_HIDDEN, "guess.hidden", false},
    {PART_READOUT, SITE_GUESS_HIDDEN_COUNT, "guess.hidden_count", false},
    {PART_READOUT, SITE_GUESS_HIDDEN_ERROR_MEAN, "guess.hidden_error_mean", false},
    {PART_READOUT, SITE_GUESS_HIDDEN_FLAT_MEAN, "guess.hidden_flat_mean", false},
    {PART_MODEL, SITE_PATCH_DISTANCE, "grid.probe.distance", false},
    {PART_MODEL, SITE_DISTANCE_UNIFORM, "grid.probe.uniform", false},
    {PART_MODEL, SITE_DISTANCE_MAXIMAL, "grid.probe.maximal", false},
    {PART_MODEL, SITE_ROLLOUT_PATCHES, "rollout.patches", false},
    {PART_MODEL, SITE_ROLLOUT_PATCHES_SUM, "rollout.patches_sum", false},
    {PART_MODEL, SITE_WHERE_ATTENTION, "where.attention", false},
    {PART_MODEL, SITE_WHERE_ATTENTION_MEAN, "where.attention_mean", false},
    {PART_MODEL, SITE_WHERE_ANSWER, "where.answer", false},
    {PART_MODEL, SITE_WHERE_GRADIENT, "where.gradient", true},
    {PART_MODEL, SITE_WHERE_GRADIENT_PRODUCT, "where.gradient_product", true},
    {PART_MODEL, SITE_WHERE_GRADIENT_MASS, "where.gradient_mass", true},
    {PART_MODEL, SITE_WHERE_OBJECT, "where.object", false},
    {PART_MODEL, SITE_WHERE_OBJECT_SHARE, "where.object_share", false},
    {PART_MODEL, SITE_WHERE_ROLLOUT_MASS, "where.rollout_mass", false},
    {PART_MODEL, SITE_WHERE_MEAN_MASS, "where.mean_mass", false},
    {PART_MODEL, SITE_WHERE_HEAD_MASS, "where.head_mass", false},
    {PART_MODEL, SITE_SEEN_DISTANCE, "seen.probe.distance", false},
    {PART_MODEL, SITE_SEEN_LIMIT, "seen.probe.limit", false},
};

/* Notes in the anatomy which analyses are there. */
static void notes(Graph *g)
{
    char path[160];
    for (size_t i = 0; i < sizeof NOTES / sizeof *NOTES; i++)
        for (int p = NO_PART; (p = anatomy_next(g, p, NOTES[i].kind)) != NO_PART;) {
            const char *scope = anatomy_part(g, p)->scope;
            snprintf(path, sizeof path, "%s%s%s", scope, *scope ? "." : "", NOTES[i].name);
            if (NOTES[i].comes && !site_path(g, p, NOTES[i].site))
                anatomy_note_name(g, p, NOTES[i].site, NOTES[i].name);
            anatomy_note(g, p, NOTES[i].site, graph_find(g, path));
        }
}

void probe_end(Graph *g, NodeId first, unsigned flags)
{
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, flags);
    graph_scope(g, "%s", "");
    notes(g);
}

/* Where one norm at most stands between the blocks and the answer, and one token or a mean is read. */
static void units_of_blocks(const Probes *b)
{
    const VitConfig *c = b->c;
    if (!c->classes || (c->final_norm && c->fc_norm) || c->branch_norm || c->post_norm ||
        c->pool == VIT_POOL_ATTENTION || c->pool == VIT_POOL_BOTH || c->pool == VIT_POOL_CLS_DIST)
        return;
    for (int p = NO_PART; (p = anatomy_next(b->g, p, PART_MLP)) != NO_PART;)
        probe_neurons(b->g, p, b->head.weight, c->final_norm ? &b->final : c->fc_norm ? &b->fc : NULL);
}

void probes_add(Graph *g, const VitConfig *c, const VitNodes *nodes)
{
    NodeId first = g->count;
    Probes b = {.g = g, .c = c, .nodes = nodes};
    b.block = arena_alloc(&g->arena, size_mul((size_t)c->layers, sizeof *b.block));
    find_axes(&b);
    find_blocks(&b);
    probe_find_answer(&b);
    add_numbers(&b);
    probe_grid(&b);
    probe_lens(&b, -1);
    for (int layer = 0; layer < c->layers; layer++) {
        probe_attention(&b, layer);
        probe_distance(&b, layer);
        probe_lens(&b, layer);
    }
    probe_rollout(&b);
    probe_other_readout(&b);
    probe_places(&b);
    probe_fit(&b);
    probe_filters(&b);
    units_of_blocks(&b);
    probe_alike(g);
    probe_alike_pixels(&b);
    probe_lengths(g);
    probe_guess(&b);
    probe_where(&b);
    probe_end(g, first, NODE_PROBE);
}
