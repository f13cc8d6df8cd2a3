/* Which of the analyses is which: noted in the anatomy, so that nobody else needs their names. */
#include "core/models/probe_parts.h"

#include <stdio.h>

#include "core/graph/anatomy.h"

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
    {PART_ATTENTION, SITE_DISTANCE, "probe.distance", false},
    {PART_ATTENTION, SITE_DISTANCE_ROW, "probe.distance_row", false},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH, "probe.gradient_through", true},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH_MEAN, "probe.gradient_through_mean", true},
    {PART_ATTENTION, SITE_GRADIENT_THROUGH_HEAD, "probe.gradient_through_head", true},
    {PART_BLOCK, SITE_LENS_LOGITS, "lens.logits", false},
    {PART_BLOCK, SITE_LENS_PROBS, "lens.probs", false},
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
};

void probe_notes(Graph *g)
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
