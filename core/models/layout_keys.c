/* The keys of a config.json: those that are read, those that say nothing of the arithmetic, and the mistyped, which
 * would leave what they mean at its default without a word. */
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/layout_infer.h"

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

/* The same for models of words. */
static const char WORDS[] =
    "architectures classifier_dropout* summary_* embd_pdrop attn_pdrop resid_pdrop activation_dropout "
    "attention_dropout embedding_dropout embed_pdrop resid_dropout emb_pdrop hidden_dropout reorder_and_upcast_attn "
    "pretraining_tp slow_but_exact offset_alibi seq_length skip_bias_add* masked_softmax_fusion bias_dropout_fusion "
    "unk_token_id cls_token_id sep_token_id mlp_dropout n_special predict_special_tokens init_* verbose "
    "embedding_fraction learned_pos_emb cache_implementation final_w_init_std base_model_tp_plan num_labels id2label "
    "router_aux_loss_coef router_jitter_noise";

bool list_next(const char **list, const char **word, size_t *n)
{
    const char *at = *list ? *list + strspn(*list, " ,") : "";
    *word = at;
    *n = strcspn(at, " ,");
    *list = at + *n;
    return *n > 0;
}

/* Does text fit a pattern in which * stands for anything? */
static bool fits(const char *pattern, size_t n, const char *text)
{
    if (n == 0)
        return !*text;
    if (*pattern != '*')
        return *text == *pattern && fits(pattern + 1, n - 1, text + 1);
    do
        if (fits(pattern + 1, n - 1, text))
            return true;
    while (*text++);
    return false;
}

bool list_has(const char *list, const char *name)
{
    const char *word;
    for (size_t n; list_next(&list, &word, &n);)
        if (fits(word, n, name))
            return true;
    return false;
}

const char *list_meant(const char *list, const char *typed, Arena *arena)
{
    const char *best = NULL, *word;
    size_t n = strlen(typed);
    int least = n < 8 ? 2 : 3; /* fewer edits than that */
    for (size_t length; list_next(&list, &word, &length);) {
        char name[64];
        int edits = utf8_edits(typed, n, utf8_take(name, sizeof name, word, length), least);
        if (edits < least) {
            best = arena_strdup(arena, name);
            least = edits;
        }
    }
    return best;
}

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
