/* What the programs of the families call what their modules give: the names of the weights say it, as a module is
 * called like its weight. */
#include <string.h>

#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"
#include "core/models/text_model.h"

#define BLOCK "decoder.blocks.*."
#define READS "encoder.blocks.*."

static const struct {
    Seq2seqRole role;
    const char *nodes;
} GIVEN[] = {
    {SEQ2SEQ_TARGET_EMBED, "decoder.embed"},
    {SEQ2SEQ_TARGET_PROJECT_W, "decoder.project"},
    {SEQ2SEQ_TARGET_NARROW_W, "decoder.narrow"},
    {SEQ2SEQ_TARGET_NORM_GAMMA, "decoder.ln_embed.out"},
    {SEQ2SEQ_DEC_LN1_GAMMA, BLOCK "rms1.out|" BLOCK "ln1.out"},
    {SEQ2SEQ_DEC_AFTER1_GAMMA, BLOCK "rms1_after.out|" BLOCK "ln1_after.out"},
    {SEQ2SEQ_DEC_LN2_GAMMA, BLOCK "rms2.out|" BLOCK "ln2.out"},
    {SEQ2SEQ_DEC_LN3_GAMMA, BLOCK "rms3.out|" BLOCK "ln3.out|" BLOCK "rms2.out|" BLOCK "ln2.out"},
    {SEQ2SEQ_DEC_AFTER2_GAMMA, BLOCK "rms2_after.out|" BLOCK "ln2_after.out"},
    {SEQ2SEQ_DEC_W_Q, BLOCK "self_attn.q"},
    {SEQ2SEQ_DEC_W_K, BLOCK "self_attn.k"},
    {SEQ2SEQ_DEC_W_V, BLOCK "self_attn.v"},
    {SEQ2SEQ_DEC_Q_EACH, BLOCK "self_attn.rms_q.out"},
    {SEQ2SEQ_DEC_K_EACH, BLOCK "self_attn.rms_k.out"},
    {SEQ2SEQ_DEC_Q_ALL, BLOCK "self_attn.rms_q.out"},
    {SEQ2SEQ_DEC_K_ALL, BLOCK "self_attn.rms_k.out"},
    {SEQ2SEQ_DEC_W_O, BLOCK "self_attn.out"},
    {SEQ2SEQ_CROSS_W_Q, BLOCK "cross_attn.q"},
    {SEQ2SEQ_CROSS_W_K, BLOCK "cross_attn.k"},
    {SEQ2SEQ_CROSS_W_V, BLOCK "cross_attn.v"},
    {SEQ2SEQ_CROSS_W_O, BLOCK "cross_attn.out"},
    {SEQ2SEQ_DEC_W_UP, BLOCK "mlp.pre"},
    {SEQ2SEQ_DEC_W_GATE, BLOCK "mlp.gate"},
    {SEQ2SEQ_DEC_W_DOWN, BLOCK "mlp.out"},
    {SEQ2SEQ_ROUTER_W, BLOCK "mlp.router"},
    {SEQ2SEQ_SHARED_W_UP, BLOCK "mlp.shared.pre"},
    {SEQ2SEQ_SHARED_W_GATE, BLOCK "mlp.shared.gate"},
    {SEQ2SEQ_SHARED_W_DOWN, BLOCK "mlp.shared.out"},
    {SEQ2SEQ_SHARED_W_OPEN, BLOCK "mlp.shared.score"},
    {SEQ2SEQ_TARGET_FINAL_GAMMA, "decoder.rms_final.out|decoder.ln_final.out"},
    {SEQ2SEQ_HEAD_W, "uncapped|logits"},
    {SEQ2SEQ_SOURCE_EMBED, "encoder.embed"},
    {SEQ2SEQ_SOURCE_SEGMENT, "encoder.segment_embed"},
    {SEQ2SEQ_SOURCE_POS, "encoder.pos_embed"},
    {SEQ2SEQ_SOURCE_NORM_GAMMA, "encoder.ln_embed.out"},
    {SEQ2SEQ_SOURCE_PROJECT_W, "encoder.project"},
    {SEQ2SEQ_SOURCE_DISTANCE, "encoder.distance[s,r,h]"},
    {SEQ2SEQ_ENC_W_Q, READS "self_attn.q"},
    {SEQ2SEQ_ENC_W_K, READS "self_attn.k"},
    {SEQ2SEQ_ENC_W_V, READS "self_attn.v"},
    {SEQ2SEQ_ENC_W_O, READS "self_attn.out"},
    {SEQ2SEQ_ENC_LN1_GAMMA, READS "rms1.out|" READS "ln1.out|" READS "resid_pre"},
    {SEQ2SEQ_ENC_W_UP, READS "mlp.pre"},
    {SEQ2SEQ_ENC_W_GATE, READS "mlp.gate"},
    {SEQ2SEQ_ENC_W_DOWN, READS "mlp.out"},
    {SEQ2SEQ_ENC_LN2_GAMMA, READS "rms2.out|" READS "ln2.out"},
    {SEQ2SEQ_SOURCE_FINAL_GAMMA, "encoder.rms_final.out|encoder.ln_final.out"},
    {SEQ2SEQ_TRANSFORM_W, "transform.pre"},
    {SEQ2SEQ_TRANSFORM_GAMMA, "ln_transform.out"},
    {SEQ2SEQ_POOLER_W, "pooler.pre"},
    {SEQ2SEQ_PAIR_W, "pair.scores"},
    {SEQ2SEQ_REPLACED_W, "replaced.pre"},
    {SEQ2SEQ_REPLACED_OUT_W, "replaced.score"},
};

#define LAST "encoder.blocks.!.ln2.out"
#define BERTS "bert roberta xlm-roberta camembert electra"
#define ROBERTAS "roberta xlm-roberta camembert mpnet"
/* Of encoders also what no weight is called: modules that hold others, dropout and activations; of BART and Marian what
 * has their shared weights. In front of a name that has not the family's prefix stands /. */
static const struct {
    const char *types, *name, *nodes;
} HOLDS[] = {
    {BERTS " distilbert mpnet", "embeddings", "encoder.ln_embed.out"},
    {BERTS " distilbert mpnet", "embeddings.dropout", "encoder.ln_embed.out"},
    {BERTS " mpnet", "encoder", LAST},
    {BERTS " mpnet", "encoder.layer.%d", READS "ln2.out"},
    {BERTS, "encoder.layer.%d.attention.self", READS "self_attn.z"},
    {BERTS, "encoder.layer.%d.attention.self.dropout", READS "self_attn.pattern"},
    {BERTS, "encoder.layer.%d.attention.output", READS "ln1.out"},
    {BERTS, "encoder.layer.%d.attention.output.dropout", READS "self_attn.out"},
    {"mpnet", "encoder.layer.%d.attention.attn", READS "self_attn.out"},
    {"mpnet", "encoder.layer.%d.attention.attn.dropout", READS "self_attn.pattern"},
    {"mpnet", "encoder.layer.%d.attention.dropout", READS "self_attn.out"},
    {BERTS " mpnet", "encoder.layer.%d.attention", READS "ln1.out"},
    {BERTS " mpnet", "encoder.layer.%d.intermediate", READS "mlp.post"},
    {BERTS " mpnet", "encoder.layer.%d.intermediate.intermediate_act_fn", READS "mlp.post"},
    {BERTS " mpnet", "encoder.layer.%d.output", READS "ln2.out"},
    {BERTS " mpnet", "encoder.layer.%d.output.dropout", READS "mlp.out"},
    {BERTS " mpnet", "pooler", "pooled"},
    {BERTS " mpnet", "pooler.activation", "pooled"},
    {"distilbert", "transformer", LAST},
    {"distilbert", "transformer.layer.%d", READS "ln2.out"},
    {"distilbert", "transformer.layer.%d.attention", READS "self_attn.out"},
    {"distilbert", "transformer.layer.%d.attention.dropout", READS "self_attn.pattern"},
    {"distilbert", "transformer.layer.%d.ffn", READS "mlp.out"},
    {"distilbert", "transformer.layer.%d.ffn.activation", READS "mlp.post"},
    {"distilbert", "transformer.layer.%d.ffn.dropout", READS "mlp.out"},
    {"distilbert", "/activation", "transform.post"},
    {"bart marian", "/lm_head", "logits_nobias"},
    {"bert", "/cls", "logits"},
    {"bert", "/cls.predictions", "logits"},
    {"bert", "/cls.predictions.transform", "ln_transform.out"},
    {"bert", "/cls.predictions.transform.transform_act_fn", "transform.post"},
    {ROBERTAS, "/lm_head", "logits"},
    {"modernbert", "embeddings", "encoder.ln_embed.out"},
    {"modernbert", "embeddings.drop", "encoder.ln_embed.out"},
    {"modernbert", "layers.%d", READS "resid_post"},
    {"modernbert", "layers.%d.attn", READS "self_attn.out"},
    {"modernbert", "layers.%d.attn.out_drop", READS "self_attn.out"},
    {"modernbert", "layers.%d.mlp", READS "mlp.out"},
    {"modernbert", "layers.%d.mlp.act", READS "mlp.gate_post"},
    {"modernbert", "layers.%d.mlp.drop", READS "mlp.post"},
    {"modernbert", "/head", "ln_transform.out"},
    {"modernbert", "/head.act", "transform.post"},
    {"gpt2 gpt_neo gptj " HUB_NANOGPT " " HUB_MINGPT, "drop", "decoder.full_embed"},
    {"gpt_neox", "emb_dropout", "decoder.full_embed"},
    {"electra", "/generator_predictions", "ln_transform.out"},
    {"electra", "/generator_predictions.activation", "transform.post"},
    {"electra", "/discriminator_predictions", "replaced.score"},
    {"electra", "/discriminator_predictions.activation", "replaced.post"},
};

/* A line NAME[0..n) = nodes, the block's number as *; once as the program calls it and once without its prefix. */
static void put_line(const HubFamily *f, const char *name, size_t n, const char *behind, const char *nodes, Buf *out)
{
    const char *prefix = *name == '/' ? "" : f->prefix, *block = strstr(name, "%d");
    size_t front = block && (size_t)(block - name) < n ? (size_t)(block - name) : n;
    bool plain = *name == '/';
    prefix = prefix ? prefix : "";
    for (int k = 0; k < (*prefix ? 2 : 1); k++)
        buf_printf(out, "%s%.*s%s%.*s%s = %s\n", k ? "" : prefix, (int)(front - plain), name + plain,
                   front < n ? "*" : "", front < n ? (int)(n - front - 2) : 0, name + front + 2, behind, nodes);
}

/* Length of the name of the module that a module of n letters is in. */
static size_t parent(const char *name, size_t n)
{
    while (n && name[n - 1] != '.')
        n--;
    return n ? n - 1 : 0;
}

/* The module that a last linear layer is in, where it gives what that does (of experts the router's line says it), and
 * its activation; either may be NULL. */
static void put_parent(const HubFamily *f, const char *name, size_t n, const char *given, const char *acts, Buf *out)
{
    size_t in = parent(name, n);
    bool adds = strcmp(f->type, "bloom") == 0 || strcmp(f->type, "mpt") == 0; /* the residual stream, inside of it */
    if (!in || adds || name[in - 1] == 'd')
        return;
    if (given)
        put_line(f, name, in, "", given, out);
    for (int k = 0; acts && k < 2; k++)
        put_line(f, name, in, k ? ".act_fn" : ".act", acts, out);
}

/* …and the block that W_O is in. An encoder alone has other layers in these. */
static void put_around(const HubFamily *f, const Seq2seqConfig *c, Seq2seqRole r, const char *name, size_t n, Buf *out)
{
    const bool both = c->form == SEQ2SEQ_BOTH, behind = !c->pre_norm && !c->after_norm;
    const char *block = NULL;
    if (r == SEQ2SEQ_DEC_W_O || r == SEQ2SEQ_CROSS_W_O)
        put_parent(f, name, n, r == SEQ2SEQ_DEC_W_O ? BLOCK "self_attn.out" : BLOCK "cross_attn.out", NULL, out);
    if (r == SEQ2SEQ_DEC_W_DOWN)
        put_parent(f, name, n, c->experts.count ? NULL : BLOCK "mlp.out", BLOCK "mlp.gate_post|" BLOCK "mlp.post", out);
    if (r == SEQ2SEQ_ROUTER_W)
        put_line(f, name, parent(name, n), "", BLOCK "mlp.mixed|" BLOCK "mlp.out", out);
    if (both && r == SEQ2SEQ_ENC_W_O)
        put_parent(f, name, n, READS "self_attn.out", NULL, out);
    if (both && r == SEQ2SEQ_ENC_W_DOWN)
        put_parent(f, name, n, READS "mlp.out", READS "mlp.gate_post|" READS "mlp.post", out);
    if (r == SEQ2SEQ_DEC_W_O)
        block = behind ? BLOCK "ln3.out|" BLOCK "ln2.out" : BLOCK "resid_post";
    if (both && r == SEQ2SEQ_ENC_W_O)
        block = behind ? READS "ln2.out" : READS "resid_post";
    if (block)
        put_line(f, name, (size_t)(strstr(name, "%d") + 2 - name), "", block, out);
}

/* One of the names of a role. */
static void put_name(const HubFamily *f, const Seq2seqConfig *c, size_t i, const char *name, Buf *out)
{
    Seq2seqRole r = GIVEN[i].role;
    const char *how = strchr(name, '#'), *nodes = GIVEN[i].nodes;
    size_t n = strcspn(name, "|#"), weight = strlen(".weight");
    if (n <= weight || strncmp(name + n - weight, ".weight", weight) != 0)
        return;
    n -= weight;
    const bool reads = strncmp(nodes, READS, strlen(READS)) == 0, words = r == SEQ2SEQ_TARGET_EMBED;
    if (words && (*name == '/' || (f->root_scale && strncmp(f->type, "gemma3", 6) != 0)))
        return; /* the head with the same weights; what gives words with their factor in some versions of its program */
    if (words && f->root_scale)
        nodes = "decoder.embed_scaled";
    if (strncmp(f->type, "gemma3", 6) == 0 && (r == SEQ2SEQ_DEC_Q_EACH || r == SEQ2SEQ_DEC_K_EACH)) /* head by head */
        nodes = r == SEQ2SEQ_DEC_Q_EACH            ? BLOCK "self_attn.rms_q.out[h,t,e]"
                : seq2seq_key_heads(c) == c->heads ? BLOCK "self_attn.rms_k.out[h,u,e]"
                                                   : BLOCK "self_attn.rms_k.out[g,u,e]";
    if (how && how[1] && strchr("qkv", how[1])) { /* the three in one */
        if (how[1] != 'q' || strchr(how, 'H') || seq2seq_key_heads(c) != c->heads)
            return;
        nodes = reads         ? READS "self_attn.q + " READS "self_attn.k + " READS "self_attn.v"
                : c->clip > 0 ? BLOCK "self_attn.q_unclipped + " BLOCK "self_attn.k_unclipped + " BLOCK
                                      "self_attn.v_unclipped"
                              : BLOCK "self_attn.q + " BLOCK "self_attn.k + " BLOCK "self_attn.v";
    } else if (how && strncmp(how, "#0/2", 4) == 0)
        nodes = reads ? READS "mlp.gate + " READS "mlp.pre" : BLOCK "mlp.gate + " BLOCK "mlp.pre";
    else if (how && strncmp(how, "#1/2", 4) == 0)
        return;
    put_line(f, name, n, "", nodes, out);
    put_around(f, c, r, name, n, out);
}

void text_modules(const Model *m, Buf *out)
{
    const HubFamily *f;
    for (int k = 0; (f = hub_family(k)) != NULL; k++) {
        if (strcmp(f->layout, m->layout) != 0)
            continue;
        for (size_t i = 0; i < sizeof GIVEN / sizeof *GIVEN; i++)
            for (const char *name = f->names[GIVEN[i].role]; name && *name; name += *name == '|') {
                put_name(f, &m->text, i, name, out);
                name += strcspn(name, "|");
            }
        for (size_t i = 0; i < sizeof HOLDS / sizeof *HOLDS; i++)
            if (list_has(HOLDS[i].types, f->type))
                put_line(f, HOLDS[i].name, strlen(HOLDS[i].name), "", HOLDS[i].nodes, out);
    }
}
