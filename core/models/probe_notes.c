/* Which of the analyses is which: noted in the anatomy, so that nobody else needs their names. */
#include "core/models/probe_parts.h"

#include <stdio.h>

#include "core/graph/anatomy.h"

/* Names inside the scope of every part of that kind. An analysis that a model lacks is not noted. */
static const struct {
    PartKind kind;
    Site site;
    const char *name;
} NOTES[] = {
    {PART_ATTENTION, SITE_ENTROPY, "probe.entropy"},
    {PART_ATTENTION, SITE_ENTROPY_SHARE, "probe.entropy_share"},
    {PART_ATTENTION, SITE_ENTROPY_SHARE_MEAN, "probe.entropy_share_mean"},
    {PART_ATTENTION, SITE_LARGEST, "probe.largest"},
    {PART_ATTENTION, SITE_LARGEST_MEAN, "probe.largest_mean"},
    {PART_ATTENTION, SITE_ROW_SUM, "probe.row_sum"},
    {PART_ATTENTION, SITE_SCORE_VARIANCE, "probe.score_variance"},
    {PART_ATTENTION, SITE_SCORE_VARIANCE_MEAN, "probe.score_variance_mean"},
    {PART_ATTENTION, SITE_JACOBIAN, "probe.jacobian"},
    {PART_ATTENTION, SITE_JACOBIAN_MEAN, "probe.jacobian_mean"},
    {PART_ATTENTION, SITE_MEAN_PATTERN, "probe.mean_pattern"},
    {PART_ATTENTION, SITE_RESULT, "probe.result"},
    {PART_ATTENTION, SITE_ROLLOUT, "probe.rollout"},
    {PART_ATTENTION, SITE_ROLLOUT_SUM, "probe.rollout_sum"},
    {PART_ATTENTION, SITE_DISTANCE, "probe.distance"},
    {PART_ATTENTION, SITE_DISTANCE_ROW, "probe.distance_row"},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH, "probe.gradient_through"},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH_MEAN, "probe.gradient_through_mean"},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH_HEAD, "probe.gradient_through_head"},
    {PART_BLOCK, SITE_LENS_LOGITS, "lens.logits"},
    {PART_BLOCK, SITE_LENS_PROBS, "lens.probs"},
    {PART_EMBEDDING, SITE_LENS_LOGITS, "embed.lens.logits"},
    {PART_EMBEDDING, SITE_LENS_PROBS, "embed.lens.probs"},
    {PART_EMBEDDING, SITE_FILTERS, "patch_embed.probe.filters"},
    {PART_EMBEDDING, SITE_COMPONENTS, "patch_embed.probe.components"},
    {PART_EMBEDDING, SITE_COMPONENTS_EXPLAINED, "patch_embed.probe.explained"},
    {PART_EMBEDDING, SITE_COMPONENTS_SINGULAR, "patch_embed.probe.singular"},
    {PART_EMBEDDING, SITE_POSITION_PATCHES, "pos.probe.patches"},
    {PART_EMBEDDING, SITE_POSITION_COSINE, "pos.probe.cosine"},
    {PART_EMBEDDING, SITE_POSITION_COSINE_CENTRED, "pos.probe.cosine_centred"},
    {PART_EMBEDDING, SITE_POSITION_RANKS, "pos.probe.rank_correlation"},
    {PART_READOUT, SITE_OTHER_LOGITS, "readout_mean.logits"},
    {PART_READOUT, SITE_OTHER_PROBS, "readout_mean.probs"},
    {PART_READOUT, SITE_OTHER_LOGITS, "readout_cls.logits"},
    {PART_READOUT, SITE_OTHER_PROBS, "readout_cls.probs"},
    {PART_READOUT, SITE_GUESS_PIXELS, "guess.pixels"},
    {PART_READOUT, SITE_GUESS_ERROR, "guess.error"},
    {PART_READOUT, SITE_GUESS_FLAT, "guess.flat"},
    {PART_READOUT, SITE_GUESS_HIDDEN, "guess.hidden"},
    {PART_READOUT, SITE_GUESS_HIDDEN_COUNT, "guess.hidden_count"},
    {PART_READOUT, SITE_GUESS_HIDDEN_ERROR_MEAN, "guess.hidden_error_mean"},
    {PART_READOUT, SITE_GUESS_HIDDEN_FLAT_MEAN, "guess.hidden_flat_mean"},
    {PART_MODEL, SITE_PATCH_DISTANCE, "grid.probe.distance"},
    {PART_MODEL, SITE_DISTANCE_UNIFORM, "grid.probe.uniform"},
    {PART_MODEL, SITE_DISTANCE_MAXIMAL, "grid.probe.maximal"},
    {PART_MODEL, SITE_ROLLOUT_PATCHES, "rollout.patches"},
    {PART_MODEL, SITE_ROLLOUT_PATCHES_SUM, "rollout.patches_sum"},
    {PART_MODEL, SITE_WHERE_ATTENTION, "where.attention"},
    {PART_MODEL, SITE_WHERE_ATTENTION_MEAN, "where.attention_mean"},
    {PART_MODEL, SITE_WHERE_ANSWER, "where.answer"},
    {PART_MODEL, SITE_WHERE_GRADIENT, "where.gradient"},
    {PART_MODEL, SITE_WHERE_GRADIENT_PRODUCT, "where.gradient_product"},
    {PART_MODEL, SITE_WHERE_GRADIENT_MASS, "where.gradient_mass"},
    {PART_MODEL, SITE_WHERE_OBJECT, "where.object"},
    {PART_MODEL, SITE_WHERE_OBJECT_SHARE, "where.object_share"},
    {PART_MODEL, SITE_WHERE_ROLLOUT_MASS, "where.rollout_mass"},
    {PART_MODEL, SITE_WHERE_MEAN_MASS, "where.mean_mass"},
    {PART_MODEL, SITE_WHERE_HEAD_MASS, "where.head_mass"},
};

void probe_notes(Graph *g)
{
    char path[160];
    for (size_t i = 0; i < sizeof NOTES / sizeof *NOTES; i++)
        for (int p = NO_PART; (p = anatomy_next(g, p, NOTES[i].kind)) != NO_PART;) {
            const char *scope = anatomy_part(g, p)->scope;
            snprintf(path, sizeof path, "%s%s%s", scope, *scope ? "." : "", NOTES[i].name);
            anatomy_note(g, p, NOTES[i].site, graph_find(g, path));
        }
}
