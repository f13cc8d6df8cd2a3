/* Inside core/models only: text models in folders as the Hugging Face hub has them, config.json and model.safetensors.
 * A family is a row: its knobs, what its tensors are called, what its class has where config.json is silent.
 * text_hub.c, text_hub_experts.c and text_hub_encoders.c have the rows, text_hub_refused.c those that are not run;
 * text_hub_config.c reads config.json, text_hub_keys.c tells of its other keys which change nothing,
 * text_hub_rope.c reads its rotations, text_hub_written.c what ends a text, text_hub_weights.c tensors. */
#ifndef VITRINE_MODELS_TEXT_HUB_H
#define VITRINE_MODELS_TEXT_HUB_H
#include "core/base/buf.h"
#include "core/io/json.h"
#include "core/models/model.h"

typedef struct HubReading HubReading;

typedef struct HubFamily {
    const char *type;   /* model_type */
    const char *layout; /* "Hugging Face GPT-2" */
    Seq2seqConfig c;    /* its knobs, and the class' values of keys that config.json may leave out */
    const char *prefix; /* in front of all names but those that begin with /; a file may do without it */
    /* By role: the name, %d the block, a second one the expert, or several that programs had for it, separated by |;
     * behind each, after a #, how a part of a tensor lies there: q, k or v of the three behind each other, or 0/2, the
     * first of two equal ones (of all experts in one tensor, of each); then H: head by head, T: stored [inputs,
     * outputs]. */
    const char *names[SEQ2SEQ_ROLES];
    const char *copies;    /* names of what must be the shared embedding where it is there too, separated by blanks */
    const char *sinusoids; /* …of what must be the positions that are computed */
    const char *useless;   /* tensors that take no part, separated by blanks; * stands for anything */
    const char *beside;    /* …those of answers that are not built here: left out, and said */
    /* Keys that must have this value, the class' own where they are absent: "key=value key=value". Another value is
     * another computation. */
    const char *musts;
    const char *keys; /* what is read beside sizes: knobs that many have (text_hub_config.c), and what `finish` reads */
    /* Which of the names that other classes have for a size, a number or the activation it reads, separated by blanks.
     * ε has no name that all read; HUB_NO_ACT: it has none for an activation. */
#define HUB_NO_ACT "no_activation"
    const char *names_of_keys;
    /* What no table says. */
    bool (*finish)(const HubReading *k, Seq2seqConfig *c, Err *err);
    const struct HubFamily *other; /* the row for a file without this one's embedding of words; or NULL */
    bool told;                     /* config.json says all of the model: nothing is seen in its file */
    bool settled;    /* what its config.json has no key for, its program settles: nothing is taken for granted */
    bool unscaled;   /* no factor on the scores */
    int pad, end;    /* of both stacks: the class' own words for padding and the end, their numbers + 1 */
    bool root_scale; /* embeddings times √width */
    /* It is the text part of a model with a picture tower: its keys are in text_config, its tensors in language_model,
     * and the tower takes no part. */
    bool inside;
    bool part_turned; /* a share of a head may be rotated: `finish` reads which */
} HubFamily;

/* A config.json being read. */
struct HubReading {
    const HubFamily *family;
    const Json *config;
    const char *path;
    Model *m; /* for what is assumed */
};

extern const HubFamily HUB_EXPERTS[], HUB_ENCODERS[]; /* for hub_family */
extern const int HUB_EXPERTS_COUNT, HUB_ENCODER_COUNT;
const HubFamily *hub_family(int i); /* NULL behind the last */
/* What a config.json says it is: its model_type; of Karpathy's two programs, whose files have a "block_size" and
 * another meaning for model_type or none, the row for it. */
#define HUB_NANOGPT "nanogpt"
#define HUB_MINGPT "mingpt"
const char *hub_type(const Json *config);
/* Of a model_type that is no text model of these: why it is not run, or NULL where nothing is known of it. */
const char *hub_refused(const char *type);
/* Is it what a family calls the embedding of its words? */
bool hub_embeds(const char *name);
/* "gpt2, llama, …" */
void hub_list(Buf *out);

/* A whole number, a number, a switch: what config.json has, else what stands in *out already. False: something else. */
bool hub_whole(const HubReading *k, const char *key, int *out, Err *err);
bool hub_real(const HubReading *k, const char *key, float *out, Err *err);
bool hub_flag(const HubReading *k, const char *key, bool *out, Err *err);
/* The activation that `act`, the value of that key, names. */
bool hub_act(const HubReading *k, const char *key, const char *act, MapFn *out, Err *err);
/* The blocks that have a window, its width by sliding_window: those of which layer_types says "sliding_attention", else
 * all but every `every`-th (counted from 1), 0: all. */
bool hub_windows(const HubReading *k, Seq2seqConfig *c, int every, Err *err);

/* Does layer_types say what is computed? Of a class that does not read it too. */
bool hub_layer_types(const HubReading *k, const Seq2seqConfig *c, Err *err);
/* Keys that nobody reads (`known` says who does): noted where they can't change a number, else refused. */
bool hub_keys(const HubReading *k, const Seq2seqConfig *c, bool (*known)(const HubReading *, const char *), Err *err);

/* Rotary positions: bases, rope_scaling. */
bool hub_rope(const HubReading *k, Seq2seqConfig *c, Err *err);
/* The share of a head that is rotated, where transformers 5 wrote it among the rotations; else *share stays. */
bool hub_rope_share(const HubReading *k, float *share, Err *err);

/* Settings of the model in this config.json, whose model_type is a row's. */
bool hub_config(Model *m, const Json *whole, const char *path, const HubFamily *f, Err *err);
/* The number of a special word, or the first of a list; −1 where there is none, and where it is beyond the vocabulary,
 * as in small copies of large models, which is said. `words`: how many there are. */
bool hub_word(Model *m, const Json *v, const char *path, const char *key, int words, int *out, Err *err);
/* The words that end a text: the number of one, or a list of them; such numbers are passed over and said too. */
bool hub_ends(Model *m, const Json *v, const char *path, Vocabulary *out, Err *err);
/* The class' own word where config.json has no such key, which is said; own: its number + 1. */
void hub_class_word(const HubReading *k, const char *key, int own, int *out);
/* Which words are forced. An older BART says it by a switch (`switched`): then it begins with bos_token_id. */
bool hub_forced(Model *m, const Json *j, const char *path, bool switched, Err *err);
/* Which words end a text, and what a model of both stacks is made to write, by generation_config.json where the folder
 * has one, else by config.json. False: damaged. */
bool hub_generation(Model *m, const char *folder, Err *err);
/* Its weights from the file or the shards beside it. Which answers an encoder has is seen in the file. */
bool hub_weights(Model *m, const char *folder, const HubFamily *f, ModelProgress progress, void *context, Err *err);
#endif
