/* The keys of a config.json: those that are read, those that say nothing of the arithmetic, and the mistyped, which
 * would leave what they mean at its default without a word. What the file promises, by its keys and by its
 * architecture's name, must be in the tensors, and what it denies must not: else config and weights are of two models,
 * and the answer would be neither's. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/models/checkpoint.h"

/* What some part of core/models looks for. A name that is nearly one of these is taken for a slip. */
static const char READ[] =
    "model_type architectures architecture model_args pretrained_cfg vision_config id2label num_labels label_names "
    "num_classes num_features global_pool hidden_size num_hidden_layers num_attention_heads head_dim "
    "intermediate_size mlp_ratio hidden_act layer_norm_eps rms_norm_eps rms_norm post_norm final_norm image_size "
    "patch_size num_channels qkv_bias query_bias key_bias value_bias proj_bias mlp_bias attention_scale positions "
    "input_norm rope_theta layer_scale_init_value num_register_tokens use_swiglu_ffn use_gated_mlp use_mean_pooling "
    "use_mask_token use_head vision_use_head use_absolute_position_embeddings use_relative_position_bias "
    "use_shared_relative_position_bias is_native projection_dim trained drawn_shapes vitrine_reconstruct";

/* What Hugging Face's and timm's programs write beside it: of training, of text, of outputs, of versions. Names that
 * end in * stand for all that begin so. */
static const char IDLE[] =
    "_* transformers_version torch_dtype dtype torchscript tf_* use_bfloat16 use_cache auto_map return_dict* "
    "output_* pruned_heads tie_* chunk_size_feed_forward is_encoder_decoder is_decoder cross_attention_hidden_size "
    "add_cross_attention max_length min_length do_sample early_stopping num_beam* diversity_penalty temperature "
    "top_* typical_p repetition_penalty length_penalty encoder_no_repeat_ngram_size no_repeat_ngram_size "
    "bad_words_ids num_return_sequences forced_* remove_invalid_values exponential_decay_length_penalty "
    "suppress_tokens begin_suppress_tokens finetuning_task label2id label_descriptions tokenizer_class prefix "
    "bos_token_id pad_token_id eos_token_id sep_token_id decoder_start_token_id task_specific_params problem_type "
    "hidden_dropout_prob attention_probs_dropout_prob attention_dropout dropout drop_path_rate projection_dropout "
    "layerdrop gradient_checkpointing initializer_range initializer_factor encoder_stride pooler_* decoder_* "
    "mask_ratio norm_pix_loss apply_layernorm reshape_hidden_states out_features out_indices stage_names vocab_size "
    "pool_scales use_auxiliary_head auxiliary_* semantic_loss_ignore_index add_fpn text_* vision_config_dict "
    "logit_scale_init_value pos_embed_shift pos_embed_jitter pos_embed_rescale use_bias mean std input_size crop_* "
    "interpolation fixed_input_size pool_size classifier first_conv license tag url hf_hub_* source custom_load "
    "test_* paper_* origin_url";

/* The same for models of words. Dropout, under whatever name a class has for it, changes nothing in a model that does
 * not learn. */
static const char WORDS[] =
    "architectures *dropout* *pdrop* summary_* reorder_and_upcast_attn pretraining_tp slow_but_exact offset_alibi "
    "seq_length skip_bias_add* masked_softmax_fusion unk_token_id cls_token_id sep_token_id n_special "
    "predict_special_tokens init_* verbose embedding_fraction learned_pos_emb cache_implementation "
    "final_w_init_std base_model_tp_plan num_labels id2label router_aux_loss_coef router_jitter_noise";

bool hub_key_idle(const char *key)
{
    return list_has(IDLE, key) || list_has(WORDS, key);
}

/* The keys of one object of the file. */
static bool keep_keys(const Infer *n, const Json *part, Err *err)
{
    const char *key = NULL;
    for (const Json *v; (v = json_next(part, &key));) {
        if (list_has(READ, key) || list_has(IDLE, key) || (n->timm_config && list_has(LAYOUT_TIMM_ARGUMENTS, key)))
            continue;
        const char *meant = list_meant(READ, key, &n->m->arena);
        if (meant)
            return err_set(err, "%s: \"%.60s\" is not known; did you mean \"%s\"? Correct it or take it out",
                           n->k->config_path, key, meant);
        model_assume(n->m, "\"%.60s\" of config.json is not read", key);
    }
    return true;
}

bool infer_keys(const Infer *n, Err *err)
{
    if (n->open_clip) /* whose keys layout_known has looked at */
        return true;
    return keep_keys(n, n->k->config, err) && (n->timm_config || n->args == n->k->config || keep_keys(n, n->args, err));
}

/* --- promises --- */

/* Keys that decide whether a model has a part, by their names in Hugging Face's files and in timm's, and a weight of
 * that part. */
static const struct {
    const char *hf, *timm;
    VitRole role;
    bool number; /* a number other than 0, not true; of tokens: as many */
} KEYS[] = {
    {"layer_scale_init_value", "init_values", VIT_ATTN_LS, .number = true},
    {"num_register_tokens", "reg_tokens", VIT_REGISTERS, .number = true},
    {NULL, "pre_norm", VIT_PRE_GAMMA, false},
    {NULL, "class_token", VIT_CLS, false},
    {NULL, "fc_norm", VIT_FC_GAMMA, false},
    {"use_swiglu_ffn", NULL, VIT_W_GATE, false},
    {"use_gated_mlp", NULL, VIT_W_GATE, false},
    {"use_mean_pooling", NULL, VIT_FC_GAMMA, false},
    {"use_head", NULL, VIT_PROBE, false},
    {"vision_use_head", NULL, VIT_PROBE, false},
    {"use_absolute_position_embeddings", NULL, VIT_POS, false},
    {"query_bias", NULL, VIT_B_Q, false},
    {"key_bias", NULL, VIT_B_K, false},
    {"value_bias", NULL, VIT_B_V, false},
    {"proj_bias", NULL, VIT_B_O, false},
    {"mlp_bias", NULL, VIT_B_UP, false},
};

/* A part that the name promises or denies, unless a key has said it. */
static const struct {
    size_t said; /* a Promise of Known */
    VitRole role;
    const char *what;
} NAMED[] = {
    {offsetof(Known, layer_scale), VIT_ATTN_LS, "LayerScale"},
    {offsetof(Known, registers), VIT_REGISTERS, "register tokens"},
    {offsetof(Known, pre_norm), VIT_PRE_GAMMA, "a norm before the blocks"},
};

static bool two_models(const Infer *n, const char *key, const char *value, const char *there, VitRole r, Err *err)
{
    return err_set(err, "%s: \"%s\" is %s, but there is %s tensor '%s'; config and weights are of two models",
                   n->k->config_path, key, value, there,
                   infer_has(n, r) ? infer_tensor(n, r)->name : checkpoint_name(n->k, r, 0));
}

/* A part that is promised and yet not made: timm's norm behind the pooling without a final norm, Hugging Face's where
 * nothing is pooled for a classifier, attention pooling where a classifier has its place. */
static bool not_made(const Infer *n, VitRole r)
{
    const VitConfig *c = n->c;
    return (r == VIT_FC_GAMMA && (n->timm_config ? !c->final_norm : !c->classes)) ||
           (r == VIT_PROBE && c->classes && n->k->layout->classifier != CLASSIFIER_READOUT);
}

/* One row of KEYS; *said: the file has the key. */
static bool keep_key(const Infer *n, size_t i, bool *said, Err *err)
{
    const char *key = infer_key(n, KEYS[i].hf, KEYS[i].timm);
    const Json *v = infer_look(n, KEYS[i].hf, KEYS[i].timm);
    VitRole r = KEYS[i].role;
    bool there = infer_has(n, r), promised;
    double x = 0;
    char value[32] = "false";
    *said = v != NULL;
    if (!v || !n->k->layout->names[r]) /* a layout that never stores such a part has another way to say it */
        return true;
    if (KEYS[i].number && json_kind(v) != JK_FALSE) {
        if (!json_number(v, &x))
            return err_set(err, "%s: \"%s\" must be a number", n->k->config_path, key);
        promised = x > 0 || x < 0;
        snprintf(value, sizeof value, "%g", x);
    } else if (json_kind(v) == JK_TRUE || json_kind(v) == JK_FALSE) {
        promised = json_kind(v) == JK_TRUE;
        snprintf(value, sizeof value, "%s", promised ? "true" : "false");
    } else
        return err_set(err, "%s: \"%s\" must be true or false", n->k->config_path, key);
    if (promised != there && !(promised && not_made(n, r)))
        return two_models(n, key, value, there ? "a" : "no", r, err);
    if (r == VIT_REGISTERS && there && (x < n->c->registers || x > n->c->registers))
        return err_set(err, "%s: \"%s\" is %g, but tensor '%s' has %d; config and weights are of two models",
                       n->k->config_path, key, x, checkpoint_find(n->k, r, 0)->name, n->c->registers);
    return true;
}

bool infer_named(const Infer *n, bool there, bool named, const char *what, Err *err)
{
    return there == named ||
           err_set(err,
                   "%s: by its \"%s\" (%s) this model %s %s, but the tensors say otherwise; config and weights are of "
                   "two models",
                   n->k->config_path, n->timm_config ? "architecture" : "model_type", n->k->known.pattern,
                   named ? "has" : "lacks", what);
}

/* The MLP's width as the ratio gives it, in the ways that programs round it where there is a gate. */
static bool keep_ratio(const Infer *n, Err *err)
{
    double ratio;
    const VitConfig *c = n->c;
    const Json *v = infer_look(n, "mlp_ratio", "mlp_ratio");
    if (json_kind(v) == JK_NULL || infer_look(n, "intermediate_size", NULL))
        return true;
    if (!json_number(v, &ratio))
        return err_set(err, "%s: \"mlp_ratio\" must be a number", n->k->config_path);
    double wide = (double)c->width * ratio;
    int all = wide > 0 && wide < 1 << 24 ? (int)wide : 0, mlp = c->mlp;
    if (mlp == all || (c->gated && (mlp == all / 2 || mlp == (all * 2 / 3 + 7) / 8 * 8 || mlp == (all + 7) / 8 * 8)))
        return true;
    if (!all)
        return err_set(err, "%s: \"mlp_ratio\" is %g, but the tensors have an MLP of %d and a width of %d",
                       n->k->config_path, ratio, mlp, c->width);
    return err_set(err,
                   "%s: \"mlp_ratio\" is %g, which makes an MLP of %d, but the tensors have %d; config and "
                   "weights are of two models",
                   n->k->config_path, ratio, all, mlp);
}

/* timm's mean pooling has its norm behind the pooling unless it is told otherwise, and the others theirs before it. */
static bool keep_pool(const Infer *n, Err *err)
{
    const char *pool = json_text(infer_look(n, NULL, "global_pool"), NULL);
    bool mean = pool && strcmp(pool, "avg") == 0, known = n->k->known.pattern && !n->k->known.mean;
    bool free = infer_look(n, NULL, "fc_norm") || infer_look(n, NULL, "final_norm") || n->k->known.bare_mean;
    if (!n->timm_config || !pool || !known || free || n->c->pool == VIT_POOL_BOTH)
        return true;
    bool there = infer_has(n, VIT_FC_GAMMA);
    return mean == there || (!there && !infer_has(n, VIT_FINAL_GAMMA)) ||
           err_set(err,
                   "%s: \"global_pool\" is \"%.20s\", but there is %s tensor '%s'; config and weights are of two "
                   "models",
                   n->k->config_path, pool, there ? "a" : "no", checkpoint_name(n->k, VIT_FC_GAMMA, 0));
}

/* What a shape says, compared with what the file says. */
static bool agree(const Infer *n, const Json *v, const char *key, int have, Err *err)
{
    int said = have;
    if (json_kind(v) != JK_NULL && !infer_read_int(n, v, key, &said, err))
        return false;
    return said == have ||
           err_set(err,
                   "%s: \"%s\" is %d, but the tensors have %d; config and weights are of two models, or a download is "
                   "not complete",
                   n->k->config_path, key, said, have);
}

/* r: a tensor whose shape says how many they are, named where the file says otherwise. */
static bool keep_number(const Infer *n, const char *hf, const char *timm, int have, VitRole r, Err *err)
{
    Err problem = {""};
    char shape[96] = "";
    const TensorInfo *t = infer_tensor(n, r);
    if (agree(n, infer_look(n, hf, timm), infer_key(n, hf, timm), have, &problem))
        return true;
    for (int i = 0; t && i < t->rank; i++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%zu", i ? ", " : "", t->shape[i]);
    return err_set(err, "%s (tensor '%.100s' has shape [%s])", problem.text, t ? t->name : "?", shape);
}

/* Is one of Hugging Face's classes that the model is of called so? */
static bool of_class(const Infer *n, const char *part)
{
    const Json *classes = json_get(n->k->config, "architectures");
    for (size_t i = 0; i < json_count(classes); i++)
        if (strstr(json_text(json_at(classes, i), ""), part))
            return true;
    return false;
}

/* How many classes the files name must be how many the head has. Hugging Face's keep the names of a head that was taken
 * off: there the class of the model says whether it has one, if it is written down. */
static bool keep_classes(const Infer *n, Err *err)
{
    const Json *config = n->k->config, *names = json_get(config, "id2label"),
               *count = n->timm_config ? infer_look(n, NULL, "num_classes") : json_get(config, "num_labels");
    const char *key = n->timm_config ? "num_classes" : "num_labels";
    int have = n->k->projects ? n->c->project : n->c->classes, said = 0, named = (int)json_count(names);
    if (n->timm_config && !count)
        count = json_get(n->trained, key);
    if (json_kind(count) == JK_NULL && json_kind(names) == JK_OBJECT) {
        key = "id2label";
        said = named;
    } else if (json_kind(count) != JK_NULL && !infer_read_int(n, count, key, &said, err))
        return false;
    bool bare = !n->timm_config && json_get(config, "architectures") && !of_class(n, "ForImageClassification");
    if (!have)
        return !said || bare ||
               err_set(err,
                       "%s: \"%s\" names %d classes, but there is no tensor '%s'; save the file again, or fetch it "
                       "again. If the classifier was left out on purpose, set \"%s\" to %s",
                       n->k->config_path, key, said, checkpoint_name(n->k, VIT_HEAD_W, 0),
                       n->timm_config ? key : "architectures", n->timm_config ? "0" : "[]");
    if (json_kind(names) == JK_OBJECT && named != have)
        return err_set(
            err, "%s: \"id2label\" has %d classes, but the classifier has %d; config and weights are of two models",
            n->k->config_path, named, have);
    return agree(n, count, key, have, err);
}

/* The width of the embedding that a picture ends in. Hugging Face's towers alone have the key without having the
 * projection. */
static bool keep_projection(const Infer *n, Err *err)
{
    const char *key = n->open_clip ? "embed_dim" : "projection_dim";
    const Json *config = n->k->config, *v = json_get(n->open_clip ? n->open_clip : config, key);
    bool both = json_kind(json_get(config, "vision_config")) == JK_OBJECT,
         promised = n->open_clip || both || of_class(n, "WithProjection");
    if (json_kind(v) == JK_NULL || n->timm_config || n->c->classes || !n->k->layout->names[VIT_PROJECT])
        return true;
    return (!n->c->project && !promised) || agree(n, v, key, n->c->project, err);
}

bool infer_promises(const Infer *n, Err *err)
{
    const VitConfig *c = n->c;
    const Known *known = &n->k->known;
    bool said, told[VIT_ROLES] = {false};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (!keep_key(n, i, &said, err))
            return false;
        told[KEYS[i].role] = told[KEYS[i].role] || said;
    }
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++) {
        Promise p = *(const Promise *)(const void *)((const char *)known + NAMED[i].said);
        if (known->pattern && p != PROMISE_NONE && !told[NAMED[i].role] &&
            !infer_named(n, infer_has(n, NAMED[i].role), p == PROMISE_HAS, NAMED[i].what, err))
            return false;
    }
    return keep_ratio(n, err) && keep_pool(n, err) && keep_classes(n, err) && keep_projection(n, err) &&
           keep_number(n, "hidden_size", "embed_dim", c->width, VIT_LN1_GAMMA, err) &&
           keep_number(n, NULL, "num_features", c->width, VIT_LN1_GAMMA, err) &&
           agree(n, infer_look(n, "num_hidden_layers", "depth"), infer_key(n, "num_hidden_layers", "depth"), c->layers,
                 err) &&
           keep_number(n, "intermediate_size", NULL, c->mlp, VIT_W_UP, err) &&
           keep_number(n, "num_channels", "in_chans", c->channels, VIT_PATCH_W, err) &&
           agree(n, json_at(json_get(n->trained, "input_size"), 0), "input_size", c->channels, err);
}

bool infer_embeds_class(const Infer *n, Err *err)
{
    const Json *v = infer_look(n, NULL, "no_embed_class");
    const VitConfig *c = n->c;
    bool bare = c->pos == VIT_POS_PATCHES;
    if (!v || !n->positions || vit_prefix(c) == 0 || json_bool(v, bare) == bare)
        return true;
    return err_set(err,
                   "%s: \"no_embed_class\" is %s, but the position table has %d rows for %d patches; config and "
                   "weights are of two models",
                   n->k->config_path, bare ? "false" : "true", n->positions, vit_patches(c));
}
