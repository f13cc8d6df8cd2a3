#include "core/models/family.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "core/models/probes.h"

const char *input_kind_name(InputKind k)
{
    static const char *const NAMES[] = {
        [INPUT_NONE] = "nothing", [INPUT_PICTURE] = "picture", [INPUT_TEXT] = "text", [INPUT_MATRICES] = "matrices"};
    return NAMES[k];
}

/* --- the Vision Transformer --- */

static void build_vit(const Model *m, Graph *g, const ModelInput *in)
{
    VitConfig c = m->vit;
    VitNodes nodes;
    if (in->ready)
        c.input = VIT_INPUT_READY;
    vit_build(g, &c, &m->weights, m->class_names, in->values, &nodes);
    probes_add(g, &c, &nodes);
    if (in->object)
        probes_object_add(g, in->object);
    if (m->seen.mean)
        probes_seen_add(g, &m->seen);
}

static void build_vit_batch(const Model *m, Graph *g, const ModelInput *in, int pictures)
{
    VitConfig c = m->vit;
    VitNodes nodes;
    if (in->ready)
        c.input = VIT_INPUT_READY;
    vit_build_batch(g, &c, &m->weights, NULL, in->values, (VitBatch){.pictures = pictures}, &nodes);
}

static const char *pool_text(VitPool p)
{
    static const char *const TEXT[] = {[VIT_POOL_CLS] = "from the cls token",
                                       [VIT_POOL_MEAN] = "from the mean of the patches",
                                       [VIT_POOL_CLS_DIST] = "from cls and dist by two heads, their logits averaged",
                                       [VIT_POOL_NONE] = "not read out",
                                       [VIT_POOL_BOTH] = "from the cls token and the mean of the patches",
                                       [VIT_POOL_ATTENTION] = "by attention pooling"};
    return TEXT[p];
}

static const char *pos_text(VitPos p)
{
    static const char *const TEXT[] = {[VIT_POS_NONE] = "no positions",
                                       [VIT_POS_ALL] = "learned positions for every token",
                                       [VIT_POS_BEFORE_REGISTERS] = "learned positions, none for registers",
                                       [VIT_POS_PATCHES] = "learned positions for patches"};
    return TEXT[p];
}

void fact_put(const FactSink *f, const char *key, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    utf8_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    f->put(f->context, key, key, text);
}

static void put_rope(const FactSink *f, const VitConfig *c)
{
    if (c->rope == VIT_ROPE_LEARNED)
        fact_put(f, "rotations",
                 "q and k of patches are turned by %s, with frequencies learned for every block and head, %s",
                 c->rope_cols_first ? "column and row" : "row and column",
                 c->rope_half ? "number e with e + E/2" : "neighbours in pairs");
    else if (c->rope)
        fact_put(f, "rotations", "q and k of patches are turned by row and column, base %g, %s%s", (double)c->rope_base,
                 c->rope_half ? "number e with e + E/2" : "neighbours in pairs",
                 c->rope_cols_first ? ", columns first" : "");
    if (c->bias)
        fact_put(f, "relative", "to every score comes a learned bias for rows and columns of distance, %s",
                 c->bias == VIT_BIAS_SHARED ? "the same in all blocks" : "a table for every block");
    if (vit_resizes(c))
        fact_put(f, "fitted", "the position table from %d × %d places to %d × %d (%s%s%s)", c->table_w, c->table_h,
                 c->image_w / c->patch_w, c->image_h / c->patch_h,
                 c->fit == VIT_FIT_BICUBIC    ? "bicubic"
                 : c->fit == VIT_FIT_BILINEAR ? "bilinear"
                                              : "nearest",
                 c->fit_smooth ? ", antialias" : "", c->fit_corners ? ", corners on corners" : "");
}

static void put_answer(const FactSink *f, const VitConfig *c)
{
    if (c->classes)
        fact_put(f, "answer", "%d class%s, %s", c->classes, c->classes > 1 ? "es" : "", pool_text(c->pool));
    else if (c->project || c->embeds)
        fact_put(f, "answer", "an embedding of %d numbers, %s%s", c->project ? c->project : c->width,
                 pool_text(c->pool), c->project ? ", projected" : "");
    else
        fact_put(f, "answer", "%s", "none: the model has no classes");
}

static void facts_of_vit(const Model *m, FactFn put, void *context)
{
    const VitConfig *c = &m->vit;
    const FactSink to = {put, context}, *f = &to;
    const Preprocess *p = &m->preprocess;
    fact_put(f, "takes", "%d × %d pixels, %d channel%s, in %d × %d patches of %d × %d", c->image_w + p->beyond_w,
             c->image_h + p->beyond_h, c->channels, c->channels > 1 ? "s" : "", c->image_w / c->patch_w,
             c->image_h / c->patch_h, c->patch_w, c->patch_h);
    char registers[32] = "";
    if (c->registers)
        snprintf(registers, sizeof registers, " %d register%s,", c->registers, c->registers > 1 ? "s" : "");
    fact_put(f, "tokens", "%d:%s%s%s %d patch%s; %s", vit_tokens(c), c->cls ? " cls," : "", c->dist ? " dist," : "",
             registers, vit_patches(c), vit_patches(c) > 1 ? "es" : "", pos_text(c->pos));
    fact_put(f, "blocks", "%d block%s, %d head%s of %d, width %d, MLP %d", c->layers, c->layers == 1 ? "" : "s",
             c->heads, c->heads == 1 ? "" : "s", c->head_dim, c->width, c->mlp);
    fact_put(f, "knobs", "%s, %s, %s epsilon %g, scores times %.6g%s%s%s%s%s%s%s%s",
             c->post_norm     ? "post-norm"
             : c->branch_norm ? "norms on the branches"
                              : "pre-norm",
             map_name(c->act), vit_norm_word(c), (double)c->eps, (double)c->scale,
             !c->qkv_bias ? ", no qkv bias"
             : c->bare_k  ? ", no bias of k"
                          : "",
             c->gated ? ", gated MLP" : "", c->hidden_norm ? ", norm in the MLP" : "",
             c->merged_norm ? ", norm inside attention" : "", c->patch_norm ? ", norm behind the patches" : "",
             c->layer_scale ? ", layer scale" : "", c->norm_pre ? ", norm before the blocks" : "",
             c->final_norm ? "" : ", no final norm");
    put_rope(f, c);
    put_answer(f, c);
}

static size_t params_of_vit(const Model *m)
{
    return vit_params(&m->vit);
}

static size_t places_vit(const Model *m)
{
    return vit_weights_count(&m->vit);
}

static bool place_vit(const Model *m, size_t i, WeightPlace *p)
{
    return vit_weight_place(&m->vit, i, p);
}

static void path_vit(const Model *m, const WeightPlace *p, char *out, size_t n)
{
    char block[32] = "";
    if (p->layer >= 0)
        snprintf(block, sizeof block, "blocks.%d.", p->layer);
    snprintf(out, n, "%s%s", block, vit_role_path(&m->vit, (VitRole)p->role));
}

static PictureGrid grid_of_vit(const Model *m)
{
    const VitConfig *c = &m->vit;
    return (PictureGrid){.channels = c->channels,
                         .height = c->image_h,
                         .width = c->image_w,
                         .patch_h = c->patch_h,
                         .patch_w = c->patch_w,
                         .rows = c->image_h / c->patch_h,
                         .columns = c->image_w / c->patch_w,
                         .classes = c->classes,
                         .ready = c->input == VIT_INPUT_READY,
                         .prefix = vit_prefix(c),
                         .class_token = c->cls,
                         .class_read = vit_reads_class(c),
                         .fitted = vit_resizes(c),
                         .fit = c->fit};
}

const Family FAMILY_VIT = {.name = "Vision Transformer",
                           .input = INPUT_PICTURE,
                           .build = build_vit,
                           .build_batch = build_vit_batch,
                           .facts = facts_of_vit,
                           .params = params_of_vit,
                           .places = places_vit,
                           .place = place_vit,
                           .weight_path = path_vit,
                           .load = model_load,
                           .save = model_save,
                           .grid = grid_of_vit,
                           .equations = true};

/* --- all of them --- */

/* The last one takes what no other claims. */
static const Family *const FAMILIES[] = {&FAMILY_TEXT, &FAMILY_VIT};

static const Family *family_of(const char *path)
{
    size_t i = 0;
    while (FAMILIES[i]->claims && !FAMILIES[i]->claims(path))
        i++;
    return FAMILIES[i];
}

bool family_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    return family_of(path)->load(m, path, progress, context, err);
}

bool family_load_assuming(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    const Family *f = family_of(path);
    return f == &FAMILY_VIT ? model_load_assuming(m, path, progress, context, err)
                            : f->load(m, path, progress, context, err);
}

unsigned model_way(const Model *m)
{
    return m && m->family && m->family->way ? m->family->way(m) : 0;
}

bool model_equations(const Model *m)
{
    return m && m->family && m->family->equations;
}

PictureGrid model_grid(const Model *m)
{
    return m && m->family && m->family->grid ? m->family->grid(m) : (PictureGrid){.rows = 0};
}

bool model_grid_needed(const Model *m, PictureGrid *g, Err *err)
{
    *g = model_grid(m);
    return g->rows || err_set(err, "this is for picture models, and %s is not one",
                              !m || !m->family ? "what is on show"
                              : m->name        ? m->name
                                               : m->family->name);
}

bool model_wiring(const Model *m, Buf *out, Err *err)
{
    if (!m || !m->family || !m->family->wiring)
        return err_set(err, "this is for models of words: vitrine \"the animal did not cross the street\" opens one");
    m->family->wiring(m, out);
    return true;
}

int grid_patches(const PictureGrid *g)
{
    return g->rows * g->columns;
}

size_t grid_values(const PictureGrid *g)
{
    return (size_t)g->channels * (size_t)g->height * (size_t)g->width;
}

int model_given(const Model *m)
{
    return model_way(m) == MODEL_WRITES ? TEXT_TARGET : TEXT_SOURCE;
}

const Vocabulary *model_vocabulary(const Model *m)
{
    return model_given(m) == TEXT_TARGET ? &m->target : &m->source;
}

const VitConfig *model_vit(const Model *m)
{
    return m && m->family == &FAMILY_VIT ? &m->vit : NULL;
}

const Seq2seqConfig *model_text(const Model *m)
{
    return m && m->family == &FAMILY_TEXT ? &m->text : NULL;
}
