#include "core/models/stages.h"

#include <string.h>

static const StageRow ROWS[] = {
    {PART_MODEL, "image", "image", "x", "image", "pixels* pixel_* image* two one",
     "The picture at the model's size, standardised: what the network sees."},
    {PART_MODEL, "patches", "patches", "x_p E", "patch_hidden patch_embed",
     "mask_token hidden patch_one patch_shown patch_hidden patch_embed",
     "The picture cut into patches; each becomes one vector, a token."},
    {PART_MODEL, "ln_patch", "norm", "LN(x_p E)", "ln_patch.out", "ln_patch", NULL},
    {PART_MODEL, "rms_patch", "norm", "RMS(x_p E)", "rms_patch.out", "rms_patch", NULL},
    {PART_MODEL, "class_token", "+ class token", "[x_cls; x_p E]", "tokens full_embed",
     "cls dist registers prefix prefix_pair prefix_each front_each batch_zero tokens full_embed", NULL},
    {PART_MODEL, "position", "+ position", "z₀", "full_embed patches_placed",
     "cls dist registers prefix* tokens* pos_embed pos_fit patches_placed full_embed rope* rel_bias*",
     "Every token that has a place gets the vector of that place added."},
    {PART_MODEL, "tokens", "tokens", "z₀", "full_embed",
     "cls dist registers prefix* tokens* patches_placed full_embed rope* rel_bias*",
     "All tokens in a row. This model adds no positions to them."},
    {PART_MODEL, "read", "words", "E x", "encoder.embed", "encoder.tokens encoder.embed",
     "Each word becomes the vector of that word."},
    {PART_MODEL, "source", "source words", "√D E x", "encoder.embed_scaled",
     "encoder.tokens encoder.padding encoder.embed encoder.embed_scale encoder.embed_scaled",
     "Each word of the source becomes the vector of that word, times √D."},
    {PART_MODEL, "source_tokens", "tokens", "z₀", "encoder.full_embed", "encoder.full_embed",
     "All tokens in a row. This model adds no positions to them."},
    {PART_MODEL, "source_places", "+ position", "z₀", "encoder.full_embed", "encoder.pos_embed encoder.full_embed",
     "Every word of the source gets the vector of its position added."},
    {PART_MODEL, "segments", "+ segment", "E x+S", "encoder.with_segment",
     "encoder.segments encoder.segment_embed encoder.with_segment", "Every word gets the vector of its segment added."},
    {PART_MODEL, "embed_norm", "norm", "LN(z₀)", "encoder.ln_embed.out", "encoder.ln_embed", NULL},
    {PART_MODEL, "project", "projected", "x W+b", "encoder.project", "encoder.project encoder.project_nobias", NULL},
    {PART_MODEL, "distances", "distance bias", "B", "encoder.distance", "encoder.distance encoder.distance_pairs",
     "What every head adds to a score for the distance between the two tokens."},
    {PART_MODEL, "encoder_norm", "encoder norm", "LN(z_L)", "encoder.ln_final.out encoder.rms_final.out",
     "encoder.ln_final encoder.rms_final", NULL},
    {PART_MODEL, "causal", "causal mask", "", "decoder.causal_mask", "decoder.causal_mask decoder.window_mask", NULL},
    {PART_MODEL, "near", "window", "", "encoder.window_mask",
     "encoder.window_mask encoder.window_own encoder.window_seen",
     "Which tokens a token sees in blocks with a window: those near it, to either side."},
    {PART_MODEL, "rotations", "rotations", "cos θ, sin θ", "decoder.rope_cos encoder.rope_cos",
     "decoder.rope_cos decoder.rope_sin decoder.rope_cos_local decoder.rope_sin_local encoder.rope_cos "
     "encoder.rope_sin "
     "encoder.rope_cos_local encoder.rope_sin_local",
     "How far each pair of numbers of q and k is turned at each place of the text."},
    {PART_MODEL, "alibi", "distance bias", "−m(t−u)", "decoder.alibi", "decoder.alibi",
     "What every head takes off a score for the distance between the two words."},
    {PART_MODEL, "target_distances", "distance bias", "B", "decoder.distance",
     "decoder.distance decoder.distance_pairs",
     "What every head adds to a score for the distance between the two words."},
    {PART_MODEL, "words", "words", "E y", "decoder.embed", "decoder.tokens decoder.embed",
     "Each word so far becomes the vector of that word."},
    {PART_MODEL, "target", "target words", "√D E y", "decoder.embed_scaled",
     "decoder.tokens decoder.embed decoder.embed_scale decoder.embed_scaled",
     "Each word so far becomes the vector of that word, times √D."},
    {PART_MODEL, "target_project", "projected", "W E y", "decoder.project", "decoder.project", NULL},
    {PART_MODEL, "target_tokens", "tokens", "z₀", "decoder.full_embed", "decoder.full_embed decoder.ln_embed",
     "All tokens in a row. This model adds no positions to them."},
    {PART_MODEL, "target_places", "+ position", "z₀", "decoder.full_embed", "decoder.pos_embed decoder.full_embed",
     "Every word so far gets the vector of its position added."},
    {PART_MODEL, "target_norm", "norm", "LN(z₀)", "decoder.ln_embed.out", "decoder.ln_embed", NULL},
    {PART_MODEL, "decoder_norm", "decoder norm", "LN(z_L)", "decoder.ln_final.out decoder.rms_final.out",
     "decoder.ln_final decoder.rms_final", NULL},
    {PART_MODEL, "narrow", "narrowed", "W z", "decoder.narrow", "decoder.narrow", NULL},
    {PART_MODEL, "norm_pre", "norm", "LN(z₀)", "norm_pre.out", "norm_pre", NULL},
    {PART_MODEL, "rms_pre", "norm", "RMS(z₀)", "rms_pre.out", "rms_pre", NULL},
    {PART_NORM, NULL, NULL, "LN(z)", "out", "*", NULL},
    {PART_ATTENTION, "qkv", "q k v", "q, k, v", "q",
     "in w_q b_q q_nobias q w_k b_k k_nobias k w_v b_v v_nobias v k_normed k_new* v_new* k_kept v_kept "
     "q_unclipped q_clip q_low_clip q_over_clip q_is_above q_cut q_from_low_clip q_is_inside "
     "k_unclipped k_clip k_low_clip k_over_clip k_is_above k_cut k_from_low_clip k_is_inside "
     "v_unclipped v_clip v_low_clip v_over_clip v_is_above v_cut v_from_low_clip v_is_inside",
     "Three vectors of each token: a query asks, a key is found, a value is given."},
    {PART_ATTENTION, "turn", "turned", "R q, R k", "q_turned",
     "freqs angle cos sin cos_each sin_each sin_signed q_swapped q_cos q_sin q_turned cos_seen sin_seen k_swapped "
     "k_cos "
     "k_sin k_turned*",
     "Queries and keys are turned by angles that tell where their tokens are."},
    {PART_ATTENTION, "shared", "shared", "k, v", "k_shared", "k_shared v_shared",
     "Several heads read the same keys and values: each gets those of its group."},
    {PART_ATTENTION, "raw", "raw scores", "q kᵀ", "scores_raw", "scores_raw", NULL},
    {PART_ATTENTION, "scaled", "scaled", "q kᵀ/√d_k", "scores_scaled", "scale scores_scaled", NULL},
    {PART_ATTENTION, "capped", "capped", "c tanh(s/c)", "scores_capped",
     "scores_cap scores_over_cap scores_tanh scores_capped", "Scores are squeezed so that none goes beyond the cap."},
    {PART_ATTENTION, "biased", "biased", "q kᵀ/√d_k+b", "scores_biased", "bias_table bias_pairs bias scores_biased",
     "Every score gets a bias for the offset between its two tokens."},
    {PART_ATTENTION, "masked", "masked", "−∞", "scores_masked", "minus_infinity scores_masked", NULL},
    {PART_ATTENTION, "softmax", "softmax", "A", "pattern",
     "sinks row_max over_sink is_over_sink row_top shifted exp keys_sum sink_shifted sink_exp row_sum pattern",
     "Every row of scores becomes weights that add up to 1: who looks at whom."},
    {PART_ATTENTION, "weighted", "weighted v", "A v", "z", "z", NULL},
    {PART_ATTENTION, "w_o", "W_O", NULL, "scaled_out out", "w_o b_o out_nobias out layer_scale scaled_out", NULL},
    {PART_BLOCK, "add1", "+", "z′", "resid_mid", "resid_mid", NULL},
    {PART_BLOCK, "add_cross", "+", "z″", "resid_cross", "resid_cross", NULL},
    {PART_MLP, "router", "router", "p", "router_probs",
     "w_router router router_max router_shifted router_exp router_sum router_probs",
     "The router gives every expert a probability, token by token."},
    {PART_MLP, "choose", "chosen", "top k", "weights", "taken best* first* left* chosen* picked picked_sum weights",
     "Each token gets the experts with the largest probabilities; the others count 0."},
    {PART_MLP, "experts", "experts", "g E(z)", "experts.wrote", "experts routed",
     "Every expert is an MLP; what it says counts by its weight."},
    {PART_MLP, "shared", "shared expert", "σ E_s(z)", "shared.wrote", "shared",
     "One more expert that every token has, times a weight of its own."},
    {PART_MLP, "mixed", "together", "Σ", "mixed", "mixed", "What the experts wrote, added."},
    {PART_MLP, "up", "up", "z W₁+b", "pre", "w_up b_up pre_nobias pre", NULL},
    {PART_MLP, "gate", "gate", "σ(z W_g)", "gate_post", "w_gate b_gate gate_nobias gate gate_post", NULL},
    {PART_MLP, "activation", "activation", "σ(·)", "post", "post", NULL},
    {PART_MLP, "down", "down", "MLP", "scaled_out out", "w_down b_down out_nobias out layer_scale scaled_out", NULL},
    {PART_BLOCK, "add2", "+", "z", "resid_post", "resid_post", NULL},
    {PART_MODEL, "ln_final", "final norm", "LN(z_L)", "ln_final.out", "ln_final", NULL},
    {PART_MODEL, "rms_final", "final norm", "RMS(z_L)", "rms_final.out", "rms_final", NULL},
    {PART_MODEL, "prepared", "prepared", "LN(σ(x W))", "transformed", "transform ln_transform transformed",
     "Every token through one more layer before words are read from it."},
    {PART_MODEL, "pooled", "pooled", "tanh", "pooled", "pooler pooled", NULL},
    {PART_MODEL, "pair", "follows?", "p", "pair.probs", "pair", NULL},
    {PART_MODEL, "replaced", "replaced?", "p", "replaced", "replaced", NULL},
    {PART_MODEL, "readout", "read-out", "y", "readout",
     "readout readout_patches readout_sum patch_count readout_cls readout_mean pool* rms_pool*", NULL},
    {PART_MODEL, "fc_norm", "norm", "LN(y)", "fc_norm.out", "fc_norm", NULL},
    {PART_MODEL, "rms_fc", "norm", "RMS(y)", "rms_fc.out", "rms_fc", NULL},
    {PART_MODEL, "embedding", "embedding", "e/|e|", "embedding_unit embedding", "embedding*", NULL},
    {PART_MODEL, "logits", "logits", "y W+b", "logits", "head* logit* uncapped* read_scale* readout_dist", NULL},
    {PART_MODEL, "probs", "probs", "p", "probs", "probs*", NULL},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

/* The nodes that make a stage by what they are. The first one of a stage that is there may stand for it. */
static const struct {
    PartKind kind;
    Site site;
    const char *key; /* of the row */
} SITES[] = {
    {PART_ATTENTION, SITE_QUERY, "qkv"},
    {PART_ATTENTION, SITE_KEY, "qkv"},
    {PART_ATTENTION, SITE_VALUE, "qkv"},
    {PART_ATTENTION, SITE_QUERY_ROPE, "turn"},
    {PART_ATTENTION, SITE_KEY_ROPE, "turn"},
    {PART_ATTENTION, SITE_SCORES_RAW, "raw"},
    {PART_ATTENTION, SITE_SCORES_SCALED, "scaled"},
    {PART_ATTENTION, SITE_SCORES_BIASED, "biased"},
    {PART_ATTENTION, SITE_SCORES_MASKED, "masked"},
    {PART_ATTENTION, SITE_PATTERN, "softmax"},
    {PART_ATTENTION, SITE_Z, "weighted"},
    {PART_ATTENTION, SITE_OUT, "w_o"},
    {PART_MLP, SITE_ROUTER_PROBS, "router"},
    {PART_MLP, SITE_EXPERTS_WEIGHTS, "choose"},
    {PART_MLP, SITE_EXPERTS_WROTE, "experts"},
    {PART_MLP, SITE_EXPERTS_MIXED, "mixed"},
    {PART_MLP, SITE_MLP_PRE, "up"},
    {PART_MLP, SITE_MLP_GATE, "gate"},
    {PART_MLP, SITE_MLP_POST, "activation"},
    {PART_MLP, SITE_OUT, "down"},
};
enum { SITE_ROWS = sizeof SITES / sizeof *SITES };

const StageRow *stage_row(int row)
{
    return &ROWS[row];
}

StagePlace stage_place(const Graph *g, const char *path)
{
    StagePlace at = {.block = NO_PART, .part = NO_PART, .kind = PART_MODEL, .name = path};
    int part = anatomy_of(g, path), block = part;
    while (block != NO_PART && anatomy_part(g, block)->kind != PART_BLOCK)
        block = anatomy_part(g, block)->parent;
    if (block == NO_PART)
        return at;
    const Part *p = anatomy_part(g, part);
    at.block = block;
    at.part = part;
    at.kind = p->kind;
    size_t scope = strlen(p->scope);
    at.name = strncmp(path, p->scope, scope) == 0 && path[scope] == '.' ? path + scope + 1 : path;
    return at;
}

/* Is name, or a dotted beginning of it, in the list of words? */
static bool listed(const char *words, const char *name)
{
    for (const char *w = words; *w; w += *w == ' ') {
        const char *n = name;
        for (; *w == *n && *n; w++)
            n++;
        if (*w == '*' || ((!*w || *w == ' ') && (!*n || *n == '.')))
            return true;
        while (*w && *w != ' ')
            w++;
    }
    return false;
}

static bool has_positions(const Graph *g)
{
    return site_node_any(g, SITE_POSITIONS) != NO_NODE;
}

static int row_named(PartKind kind, const char *key)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].kind == kind && ROWS[i].key && strcmp(ROWS[i].key, key) == 0)
            return i;
    return NO_ROW;
}

/* Is that the node of a site, or what an edit made of it ("z.unedited")? */
static bool is_site(const char *site, const char *path)
{
    size_t n = site ? strlen(site) : 0;
    return n && strncmp(site, path, n) == 0 && (!path[n] || path[n] == '.');
}

/* A sum in a block, by the sub-layer whose result it adds: the first attention, another one, the MLP. */
static int row_of_sum(const Graph *g, StagePlace at, const char *path)
{
    bool first = true;
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_ATTENTION, at.block)) != NO_PART; first = false)
        if (is_site(site_path(g, p, SITE_SUM), path))
            return row_named(PART_BLOCK, first ? "add1" : "add_cross");
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_MLP, at.block)) != NO_PART;)
        if (is_site(site_path(g, p, SITE_SUM), path))
            return row_named(PART_BLOCK, "add2");
    return NO_ROW;
}

static int row_of_site(const Graph *g, StagePlace at, const char *path)
{
    if (at.kind == PART_BLOCK)
        return row_of_sum(g, at, path);
    for (int i = 0; i < SITE_ROWS; i++)
        if (SITES[i].kind == at.kind && is_site(site_path(g, at.part, SITES[i].site), path))
            return row_named(at.kind, SITES[i].key);
    return NO_ROW;
}

NodeId stage_joined(const Graph *g)
{
    static const char *const NAMES[] = {"tokens", "full_embed"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        for (NodeId n = 0; n < g->count; n++)
            if (g->nodes[n].op == OP_CONCAT && is_site(NAMES[i], g->nodes[n].path))
                return n;
    return NO_NODE;
}

/* Is it on the way to the joined tokens, or made of them by an edit? */
static bool leads_to_joined(const Graph *g, NodeId joined, NodeId n)
{
    if (joined == NO_NODE)
        return false;
    const char *path = g->nodes[joined].path, *unedited = strchr(path, '.');
    size_t name = unedited ? (size_t)(unedited - path) : strlen(path);
    return n <= joined ||
           (strncmp(path, g->nodes[n].path, name) == 0 && (!g->nodes[n].path[name] || g->nodes[n].path[name] == '.'));
}

bool stage_row_is(int row, const char *key)
{
    return ROWS[row].key && strcmp(ROWS[row].key, key) == 0;
}

/* Rows that only some models have. */
static bool row_there(const Graph *g, NodeId joined, int row, NodeId n)
{
    if (stage_row_is(row, "class_token"))
        return leads_to_joined(g, joined, n);
    if (stage_row_is(row, "words"))
        return graph_find(g, "decoder.embed_scaled") == NO_NODE;
    if (stage_row_is(row, "read"))
        return graph_find(g, "encoder.embed_scaled") == NO_NODE;
    if (stage_row_is(row, "target_tokens") || stage_row_is(row, "source_tokens"))
        return !has_positions(g);
    return !stage_row_is(row, "position") || has_positions(g);
}

int stage_row_of(const Graph *g, NodeId joined, StagePlace at, NodeId n)
{
    const char *path = g->nodes[n].path;
    int noted = at.part == NO_PART ? NO_ROW : row_of_site(g, at, path);
    if (noted != NO_ROW)
        return noted;
    for (int i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].kind == at.kind && listed(ROWS[i].members, at.name) && row_there(g, joined, i, n))
            return i;
    return NO_ROW;
}

const char *stage_site_shown(const Graph *g, int part, int row, int i)
{
    const StageRow *r = &ROWS[row];
    for (int k = 0; k < SITE_ROWS && r->key && part != NO_PART; k++)
        if (SITES[k].kind == r->kind && strcmp(SITES[k].key, r->key) == 0 && site_path(g, part, SITES[k].site) &&
            i-- == 0)
            return site_path(g, part, SITES[k].site);
    return NULL;
}
