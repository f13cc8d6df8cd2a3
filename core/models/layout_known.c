/* What the name of an architecture says that neither shapes nor other keys do. timm's names are those of its modules
 * vision_transformer and deit; Hugging Face's are the model_type of its configurations, whose class gives a value to
 * every key that a config.json leaves out. A name that is not here may stand for anything, with the same tensors. */
#include <string.h>

#include "core/models/checkpoint.h"

#define SCALED .layer_scale = PROMISE_HAS
#define REGISTERED .registers = PROMISE_HAS
#define PLAIN .layer_scale = PROMISE_LACKS, .registers = PROMISE_LACKS
#define CLIP .clip = true, .pre_norm = PROMISE_HAS, PLAIN
#define DINOV3_ROPE                                                                                                    \
    .rope = VIT_ROPE_CENTRES, .rope_half = true, .rope_base = 100, .eps = 1e-5f, .resizes_positions = true, SCALED
#define DINOV3 DINOV3_ROPE, .mean = true, .embeds = true, REGISTERED

/* Rotations by the number of row and column, as if the grid were 16 wide. */
#define ROPE_16 .rope = VIT_ROPE_STEPS, .rope_base = 10000, .rope_ref = 16
#define DINOV2 .eps = 1e-6f, .heads = 12, .resizes_positions = true, .embeds = true, SCALED
#define AIMV2_NORMS .eps = 1e-5f, .gated = true, .rms_norm = true, .patch_norm = true
#define AIMV2 AIMV2_NORMS, .embeds = true, .bare_mean = true

/* In a pattern # stands for digits and * for letters and digits, at least one. The first row that fits counts. */
static const Known TIMM[] = {
    {.pattern = "vit_*_patch#_rpn_#", .branch_norm = true},
    {.pattern = "vit_*_patch#_xp_#", .refused = "attention and MLP stand side by side"},
    {.pattern = "vit_small_patch16_36x1_#", SCALED},
    {.pattern = "vit_*_patch#_18x2_#", .refused = "two attentions and two MLPs stand side by side"},
    {.pattern = "vit_giant_patch14_dinov2", .gated = true, SCALED},
    {.pattern = "vit_giant_patch14_reg#_dinov2", .gated = true, SCALED, REGISTERED},
    {.pattern = "vit_giant_patch14_reg#_tipsv2", .refused = "what its gated MLP does is not known here"},
    {.pattern = "vit_pwee_patch#_reg#_gap_#", .refused = "attention and MLP stand side by side"},
    {.pattern = "vit_dpwee_patch#_reg#_gap_#", .refused = "attention and MLP stand side by side"},
    {.pattern = "vit_dwee_patch#_reg#_gap_#", .refused = "its attention is a difference of two"},
    {.pattern = "vit_dlittle_patch#_reg#_gap_#", .refused = "its attention is a difference of two"},
    {.pattern = "vit_base_patch32_siglip_256", .act = MAP_GELU_TANH, .embeds = true, .probed = true},
    {.pattern = "vit_large_patch16_siglip_512", .act = MAP_GELU_TANH, .embeds = true, .probed = true},
    {.pattern = "vit_so400m_patch16_siglip_#", .act = MAP_GELU_TANH, .heads = 16, .embeds = true, .probed = true},
    {.pattern = "vit_giantopt_patch16_siglip_#", .act = MAP_GELU_TANH, .heads = 16, .embeds = true, .probed = true},
    {.pattern = "vit_so400m_patch14_siglip_#", .heads = 16, .embeds = true, .probed = true},
    {.pattern = "vit_base_patch16_siglip_#", .embeds = true, .probed = true},
    {.pattern = "vit_large_patch16_siglip_#", .embeds = true, .probed = true},
    {.pattern = "vit_*_patch#_rope_mixed_#", .rope = VIT_ROPE_LEARNED, .rope_cols_first = true, SCALED},
    {.pattern = "vit_*_patch#_rope_mixed_ape_#", .rope = VIT_ROPE_LEARNED, .rope_cols_first = true, SCALED},
    {.pattern = "vit_*_patch16_rope_#", .rope = VIT_ROPE_STEPS, .rope_cols_first = true, .rope_base = 100, SCALED},
    {.pattern = "vit_*_patch16_rope_ape_#", .rope = VIT_ROPE_STEPS, .rope_cols_first = true, .rope_base = 100, SCALED},
    {.pattern = "vit_*_patch16_rope_reg#_gap_#", ROPE_16, SCALED, REGISTERED},
    {.pattern = "eva02_enormous_patch14_clip_#", .heads = 16, .branch_norm = true, .clip = true},
    {.pattern = "eva02_*_patch#_clip_#", ROPE_16, .gated = true, .merged_norm = true, .clip = true},
    {.pattern = "eva02_*_patch14_#", ROPE_16, .mean = true, .gated = true},
    {.pattern = "eva_giant_patch14_clip_#", .heads = 16, .clip = true},
    {.pattern = "eva_giant_patch14_#", .heads = 16, .mean = true},
    {.pattern = "vit_7b_patch16_dinov3", .gated = true, .heads = 32, DINOV3},
    {.pattern = "vit_*_patch16_dinov3", DINOV3},
    {.pattern = "vit_*_patch16_dinov3_qkvb", DINOV3},
    {.pattern = "vit_small_plus_patch16_dinov3", .gated = true, DINOV3},
    {.pattern = "vit_small_plus_patch16_dinov3_qkvb", .gated = true, DINOV3},
    {.pattern = "vit_huge_plus_patch16_dinov3", .gated = true, DINOV3},
    {.pattern = "vit_huge_plus_patch16_dinov3_qkvb", .gated = true, DINOV3},
    {.pattern = "aimv2_large_patch14_#", .heads = 8, AIMV2},
    {.pattern = "aimv2_huge_patch14_#", .heads = 12, AIMV2},
    {.pattern = "aimv2_1b_patch14_#", .heads = 16, AIMV2},
    {.pattern = "aimv2_3b_patch14_#", .heads = 24, AIMV2},
    {.pattern = "beit3_giant_patch14_#", .heads = 16, .eps = 1e-5f, .merged_norm = true},
    {.pattern = "beit3_*_patch16_#", .eps = 1e-5f, .merged_norm = true},
    {.pattern = "beit_*_patch#_#", .biased = true, .mean = true, SCALED},
    {.pattern = "beitv2_*_patch#_#", .biased = true, .mean = true, SCALED},
    {.pattern = "vit_base_patch16_gap_#", .heads = 16, .bare_mean = true},
    {.pattern = "vit_huge_patch#_gap_#", .heads = 16, .bare_mean = true},
    {.pattern = "vit_giant_patch#_gap_#", .heads = 16, .bare_mean = true},
    {.pattern = "vit_*_patch#_gap_#", .bare_mean = true},
    {.pattern = "vit_base_patch32_siglip_gap_256", .act = MAP_GELU_TANH, .bare_mean = true},
    {.pattern = "vit_large_patch16_siglip_gap_512", .act = MAP_GELU_TANH, .bare_mean = true},
    {.pattern = "vit_so400m_patch16_siglip_gap_#", .act = MAP_GELU_TANH, .heads = 16, .bare_mean = true},
    {.pattern = "vit_giantopt_patch16_siglip_gap_#", .act = MAP_GELU_TANH, .heads = 16, .bare_mean = true},
    {.pattern = "vit_so400m_patch14_siglip_gap_#", .heads = 16, .bare_mean = true},
    {.pattern = "vit_base_patch16_siglip_gap_#", .bare_mean = true},
    {.pattern = "vit_large_patch16_siglip_gap_#", .bare_mean = true},
    {.pattern = "vit_huge_patch#_clip_quickgelu_#", .act = MAP_QUICK_GELU, .eps = 1e-5f, .heads = 16, CLIP},
    {.pattern = "vit_gigantic_patch#_clip_quickgelu_#", .act = MAP_QUICK_GELU, .eps = 1e-5f, .heads = 16, CLIP},
    {.pattern = "vit_*_patch#_clip_quickgelu_#", .act = MAP_QUICK_GELU, .eps = 1e-5f, CLIP},
    {.pattern = "vit_huge_patch#_clip_#", .eps = 1e-5f, .heads = 16, CLIP},
    {.pattern = "vit_giant_patch#_clip_#", .eps = 1e-5f, .heads = 16, CLIP},
    {.pattern = "vit_gigantic_patch#_clip_#", .eps = 1e-5f, .heads = 16, CLIP},
    {.pattern = "vit_*_patch#_clip_#", .eps = 1e-5f, CLIP},
    {.pattern = "vit_base_patch16_plus_clip_240", .eps = 1e-5f, CLIP},
    {.pattern = "vit_base_patch#_plus_#", SCALED},
    {.pattern = "vit_so400m_patch14_reg1_tipsv2", .heads = 16, SCALED, REGISTERED},
    {.pattern = "vit_*_patch#_reg#_tipsv2", SCALED, REGISTERED},
    {.pattern = "vit_*_patch14_dinov2", SCALED},
    {.pattern = "vit_*_patch14_reg4_dinov2", SCALED, REGISTERED},
    {.pattern = "vit_so150m_patch16_reg4_gap_#", .bare_mean = true, REGISTERED},
    {.pattern = "vit_*_patch#_reg#_gap_#", REGISTERED},
    {.pattern = "vit_intern300m_patch14_448", .no_final_norm = true, SCALED},
    {.pattern = "vit_base_patch16_224_miil", PLAIN},
    {.pattern = "vit_huge_patch#_#", .heads = 16, PLAIN},
    {.pattern = "vit_giant_patch#_#", .heads = 16, PLAIN},
    {.pattern = "vit_gigantic_patch#_#", .heads = 16, PLAIN},
    {.pattern = "vit_*_patch#_#", PLAIN},
    {.pattern = "eva_large_patch14_#", PLAIN},
    {.pattern = "flexivit_*", PLAIN},
    {.pattern = "deit3_huge_patch14_#", .heads = 16, SCALED},
    {.pattern = "deit3_*_patch#_#", SCALED},
    {.pattern = "deit_*_patch#_#", PLAIN},
    {.pattern = "deit_*_distilled_patch#_#", PLAIN},
    {.pattern = "test_vit", .heads = 2},
    {.pattern = "test_vit2", .heads = 2},
};

static const Known HUGGING_FACE[] = {
    {.pattern = "vit", .eps = 1e-12f, .heads = 12, PLAIN},
    {.pattern = "deit", .eps = 1e-12f, .heads = 12, PLAIN},
    {.pattern = "vit_mae", .eps = 1e-12f, .heads = 12, .decoder = true, PLAIN},
    {.pattern = "vit_msn", .eps = 1e-6f, .heads = 12, PLAIN},
    {.pattern = "dinov2", DINOV2, .registers = PROMISE_LACKS},
    {.pattern = "dinov2_with_registers", DINOV2, .smooth = true, REGISTERED},
    {.pattern = "dinov3_vit", .heads = 6, DINOV3_ROPE},
    {.pattern = "clip", .eps = 1e-5f, .heads = 12, .act = MAP_QUICK_GELU},
    {.pattern = "clip_vision_model", .eps = 1e-5f, .heads = 12, .act = MAP_QUICK_GELU},
    {.pattern = "siglip", .eps = 1e-6f, .heads = 12, .act = MAP_GELU_TANH, .probed = true},
    {.pattern = "siglip_vision_model", .eps = 1e-6f, .heads = 12, .act = MAP_GELU_TANH, .probed = true},
    {.pattern = "timm_wrapper"}, /* the architecture says the rest */
    {.pattern = "ijepa", .refused = "it has no class token and reads nothing out, and its positions are fixed"},
    {.pattern = "beit", .eps = 1e-12f, .heads = 12, .embeds = true},
    {.pattern = "data2vec-vision", .eps = 1e-12f, .heads = 12, .embeds = true},
    {.pattern = "yolos", .refused = "it finds objects by tokens of their own"},
    {.pattern = "dpt", .refused = "it ends in a network for depth"},
    /* Nearly the name of one that is read: nobody meant that one. */
    {.pattern = "bert", .refused = "it reads words, not pictures"},
    {.pattern = "vits", .refused = "it speaks"},
    {.pattern = "clap", .refused = "it listens to sound"},
    {.pattern = "bit", .refused = "it is a network of convolutions"},
    {.pattern = "vilt", .refused = "it reads words and pictures in one sequence"},
    {.pattern = "git", .refused = "it reads words and pictures in one sequence"},
    {.pattern = "blip", .refused = "its text tower looks at its picture tower"},
    {.pattern = "siglip2", .refused = "its pictures have any shape (NaFlex), padded to a number of patches"},
    {.pattern = "siglip2_vision_model",
     .refused = "its pictures have any shape (NaFlex), padded to a number of patches"},
    {.pattern = "aimv2", .heads = 8, .head_width = 128, .act = MAP_SILU, AIMV2_NORMS},
    {.pattern = "aimv2_vision_model", .heads = 8, .head_width = 128, .act = MAP_SILU, AIMV2_NORMS},
    {.pattern = "aimv2_text_model", .refused = "it reads text"},
    {.pattern = "videomae", .refused = "it looks at several pictures at once"},
    {.pattern = "vivit", .refused = "it looks at several pictures at once"},
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool fits(const char *pattern, const char *name)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#' && *pattern != '*') {
            if (*name++ != *pattern)
                return false;
            continue;
        }
        const char *first = name;
        while (digit(*name) || (*pattern == '*' && *name >= 'a' && *name <= 'z'))
            name++;
        if (name == first)
            return false;
    }
    return !*name || *name == '.'; /* what follows a dot says what it was trained on */
}

static const Known *look_up(const Known *known, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (fits(known[i].pattern, name))
            return &known[i];
    return NULL;
}

const char LAYOUT_TIMM_ARGUMENTS[] =
    "img_size patch_size in_chans num_classes global_pool embed_dim depth num_heads mlp_ratio qkv_bias init_values "
    "class_token no_embed_class reg_tokens pre_norm final_norm fc_norm drop_rate pos_drop_rate proj_drop_rate "
    "attn_drop_rate drop_path_rate patch_drop_rate weight_init act_layer fix_init dynamic_img_size strict_img_size "
    "dynamic_img_pad norm_eps dist head_dim attention_scale vitrine_reconstruct use_mask_token";

static const char *strange_argument(const Json *args)
{
    const char *key = NULL;
    for (const Json *v; (v = json_next(args, &key));)
        if (json_kind(v) != JK_NULL && !list_has(LAYOUT_TIMM_ARGUMENTS, key))
            return key;
    return NULL;
}

#define TO_KNOW                                                                                                        \
    "what would have to be known: where its LayerNorms stand and their epsilon, the activation, the number of heads, " \
    "whether q and k are rotated or normalised, what the answer is read from"

/* meant: a known name that is nearly the same, or NULL. */
static bool ask(Model *m, bool assume, const char *file, const char *key, const char *name, const char *meant, Err *err)
{
    if (!assume && meant)
        return err_set(err,
                       "%s: \"%s\" is \"%.60s\", which is not known here; did you mean \"%s\"? If not, --assume takes "
                       "it for a plain ViT",
                       file, key, name, meant);
    if (!assume)
        return err_set(err,
                       "%s: \"%s\" is \"%.60s\", which is not known here; " TO_KNOW "; --assume takes it for a plain "
                       "ViT",
                       file, key, name);
    model_guess(m, "%s \"%.60s\" is taken for a plain ViT (--assume)", key, name);
    return true;
}

/* open_clip's towers are plain but for what their vision_cfg says, of which these keys are read or change nothing. */
static bool known_open_clip(const Checkpoint *k, Known *out, Err *err)
{
    static const char KEYS[] =
        "image_size patch_size width layers head_width mlp_ratio ls_init_value patch_dropout pos_embed_type "
        "pool_type act_kwargs norm_kwargs output_tokens";
    const Json *model = json_get(k->config, "model_cfg"), *tower = json_get(model, "vision_cfg"),
               *act = json_get(tower, "act_kwargs"), *eps = json_get(json_get(tower, "norm_kwargs"), "eps");
    const char *pool = json_text(json_get(tower, "pool_type"), "tok"),
               *form = json_text(json_get(act, "approximate"), "none");
    double x = 1e-5;
    if (json_kind(tower) != JK_OBJECT)
        return err_set(err, "%s: there is no \"vision_cfg\" in its \"model_cfg\"", k->config_path);
    const char *key = NULL;
    for (const Json *v; (v = json_next(tower, &key));) {
        JsonKind kind = json_kind(v);
        if (kind != JK_NULL && kind != JK_FALSE && !list_has(KEYS, key))
            return err_set(err, "%s: open_clip's \"%.60s\" is not read here: a tower without it is", k->config_path,
                           key);
    }
    if (strcmp(pool, "tok") != 0)
        return err_set(err, "%s: \"pool_type\" is \"%.20s\"; only tok, the class token, is read", k->config_path, pool);
    if (strcmp(form, "none") != 0 && strcmp(form, "tanh") != 0)
        return err_set(err, "%s: \"approximate\" is \"%.20s\"; it may be none or tanh", k->config_path, form);
    json_number(eps, &x);
    *out = (Known){.pattern = "open_clip", .eps = (float)x, .pre_norm = PROMISE_HAS};
    out->layer_scale = json_get(tower, "ls_init_value") && json_kind(json_get(tower, "ls_init_value")) != JK_NULL
                           ? PROMISE_HAS
                           : PROMISE_LACKS;
    out->act = json_bool(json_get(model, "quick_gelu"), false) ? MAP_QUICK_GELU
               : strcmp(form, "tanh") == 0                     ? MAP_GELU_TANH
                                                               : 0;
    return true;
}

static const char *meant_type(const char *typed, Arena *arena)
{
    Buf types = {0};
    for (size_t i = 0; i < sizeof HUGGING_FACE / sizeof *HUGGING_FACE; i++)
        buf_printf(&types, "%s ", HUGGING_FACE[i].pattern);
    const char *meant = list_meant(buf_str(&types), typed, arena);
    buf_free(&types);
    return meant;
}

bool layout_known(const Checkpoint *k, Model *m, Known *out, Err *err)
{
    const Json *c = k->config, *args = json_get(c, "model_args");
    const char *timm = json_text(json_get(c, "architecture"), NULL), *hf = json_text(json_get(c, "model_type"), NULL);
    const char *key = timm ? "architecture" : "model_type", *name = timm ? timm : hf, *strange;
    *out = (Known){.pattern = NULL};
    if (k->dialect == PREPROCESS_OPEN_CLIP)
        return known_open_clip(k, out, err);
    if (!name)
        return true;
    const Known *known = timm ? look_up(TIMM, sizeof TIMM / sizeof *TIMM, timm)
                              : look_up(HUGGING_FACE, sizeof HUGGING_FACE / sizeof *HUGGING_FACE, hf);
    if (known && known->refused)
        return err_set(err, "%s: \"%s\" is \"%.60s\", which Vitrine does not read: %s", k->config_path, key, name,
                       known->refused);
    if (!known)
        return ask(m, k->assume, k->config_path, key, name, timm ? NULL : meant_type(hf, &m->arena), err);
    *out = *known;
    strange = strange_argument(args);
    return !strange || ask(m, k->assume, k->config_path, "model_args", strange,
                           list_meant(LAYOUT_TIMM_ARGUMENTS, strange, &m->arena), err);
}
