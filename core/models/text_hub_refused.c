/* Text models from the hub that are known and not run, each with what would have to be computed. */
#include <string.h>

#include "core/models/text_hub.h"

#define NO_ATTENTION                                                                                                   \
    "it has no attention: a state is carried from token to token, and its recurrence would have to be built"
#define STATE(blocks, what)                                                                                            \
    "in " blocks " of its blocks " what " carries a state from token to token in the place of attention: its "         \
    "recurrence would have to be built, and its state kept beside keys and values"
#define BOTH_OTHER "it is an encoder and a decoder as BART is, with "
#define DISENTANGLED                                                                                                   \
    "its scores have relative positions as vectors: a query meets the key's position, and a key the query's, with "    \
    "weights and a factor of their own, and positions of their own come in again before the answer"
#define TURNS_NEIGHBOURS "its rotations turn neighbours of a head, not its halves"
#define LATENT "its keys and values go through a latent that all heads share"
#define TOWER "it is a picture tower and a decoder in one"
static const struct {
    const char *type, *why;
} REFUSED[] = {
    {"albert",
     "its blocks share one set of weights: which block has which group of them would have to be read, and one "
     "table of weights to serve several blocks"},
    {"bigbird_pegasus", BOTH_OTHER "sparse attention"},
    {"blenderbot", BOTH_OTHER "norms in front"},
    {"blenderbot-small", BOTH_OTHER "norms of the embedding in another order"},
    {"chatglm", "its rotations turn neighbours in half of a head, and its fused weights have an order of their own"},
    {"codegen", "its q, k and v lie interleaved in the order of the machine it was trained on"},
    {"cohere", "its norms take the mean off without a bias, and its logits have a factor"},
    {"cohere2", "its norms take the mean off without a bias, and its logits have a factor"},
    {"data2vec-text", "it is RoBERTa under names of its own"},
    {"dbrx", "its experts lie in one tensor, and its q, k and v are clipped"},
    {"deberta", DISENTANGLED},
    {"deberta-v2", DISENTANGLED},
    {"deepseek_v2", LATENT},
    {"deepseek_v3", LATENT},
    {"ernie", "it is BERT with an embedding of the task added to its words"},
    {"ernie4_5_moe", "its router adds a learned correction before it chooses"},
    {"falcon", "which of its attentions and norms a file has depends on settings that are not read here"},
    {"falcon_h1",
     "beside the attention of a block a state is carried from token to token: its recurrence would have to be "
     "built, and its state kept beside keys and values"},
    {"gemma3n", "its blocks pass several streams and embeddings of their own"},
    {"glm4_moe", "its router is a sigmoid with a learned correction, and chooses among groups of experts"},
    {"gpt_bigcode", "all its heads share one key and one value in a fused tensor of its own order"},
    {"gpt_oss",
     "its router chooses before its softmax, and its experts have biases and a clipped activation of their own"},
    {"granite", "its embeddings, scores, sums and logits have factors of their own"},
    {"granitemoe", "its experts lie in one tensor, and its embeddings, scores and sums have factors of their own"},
    {"jamba", STATE("most", "Mamba")},
    {"llama4", "its router is a sigmoid that scales what an expert reads, and some of its blocks rotate nothing"},
    {"llama4_text", "its router is a sigmoid that scales what an expert reads, and some of its blocks rotate nothing"},
    {"longformer",
     "tokens that all see have weights of their own for queries, keys and values beside its windows: which "
     "tokens they are would have to be said"},
    {"fsmt", BOTH_OTHER "two vocabularies and positions of its own"},
    {"led", BOTH_OTHER "windows, and tokens that all see"},
    {"longt5", "its encoder sees in windows, or through tokens made of several"},
    {"m2m_100", BOTH_OTHER "norms in front, and sinusoids counted from padding on"},
    {"mamba", NO_ATTENTION},
    {"mamba2", NO_ATTENTION},
    {"mbart", BOTH_OTHER "norms in front and one behind each stack, and a language that is put first"},
    {"minicpm", "its embeddings, sums and logits have factors of their own"},
    {"mllama", "some of its blocks look at a picture, through attention of their own with gates"},
    {"nemotron", "its norms stretch by 1 + gamma and take the mean off, and its activation is a square"},
    {"nomic_bert", "it is BERT with rotations and a gated MLP, under names of its own"},
    {"nystromformer", "its attention goes through means of neighbouring tokens"},
    {"olmo", "its norms have no weights at all"},
    {"olmo3", "its windows and rotations by block are not read here"},
    {"openai-gpt", "its norms stand behind the sums, and its positions and words share names with GPT-2"},
    {"pegasus", BOTH_OTHER "norms in front and one behind each stack"},
    {"pegasus_x", BOTH_OTHER "attention in blocks, and tokens that all see"},
    {"phi4mm", TOWER ", which hears too, and has matrices of low rank beside its own for either"},
    {"phimoe", "its router chooses one expert after the other, each by a threshold of its own"},
    {"qwen3_vl_moe", TOWER},
    {"qwen3_next",
     STATE("three of four", "a gated delta rule behind a convolution") ", and the other attentions have a "
                                                                       "gate on what they read"},
    {"recurrent_gemma", STATE("two of three", "a gated linear recurrence")},
    {"rwkv", NO_ATTENTION},
    {"smollm3", "some of its blocks rotate nothing"},
    {"switch_transformers", "its router leaves out tokens where an expert is full"},
    {"umt5", "every block has a table of distances of its own"},
    {"whisper", "it listens to sound"},
    {"xglm", "its positions are sinusoids in an order of their own"},
    {"xlm-roberta-xl",
     "its norms stand in front of its sub-layers, with one behind the stack and none of its embedding"},
    {"xlnet", "its scores have relative positions as vectors"},
    {"apertus", "its MLP has an activation of its own, with learned numbers"},
    {"big_bird", "its attention sees in blocks, at random and through tokens that all see"},
    {"bitnet", "its weights have three values, and a norm of its own stands in front of every projection"},
    {"convbert", "part of its heads are convolutions"},
    {"ernie4_5", TURNS_NEIGHBOURS},
    {"exaone4", "its norms stand behind the sub-layers, and some of its blocks rotate nothing"},
    {"funnel", "it pools tokens between its blocks"},
    {"glm", TURNS_NEIGHBOURS},
    {"glm4", TURNS_NEIGHBOURS ", and norms stand in front of its sub-layers and behind them"},
    {"helium", TURNS_NEIGHBOURS},
    {"hunyuan_v1_dense", "the norms of its queries and keys stand behind their rotation"},
    {"internlm2", "its q, k and v lie in one tensor, group by group of its key heads"},
    {"lfm2", "most of its blocks are convolutions"},
    {"mobilebert", "its blocks are narrow inside, with several MLPs one behind the other"},
    {"nllb-moe", BOTH_OTHER "norms in front, and experts in some blocks"},
    {"reformer", "its attention is among tokens that one hash brings together"},
    {"roformer", "it is an encoder whose queries and keys are rotated by neighbours"},
    {"arcee", "its MLP has no gate, and its activation is a square"},
    {"baichuan", "its q, k and v lie in one tensor, and its larger form has a bias for distance"},
    {"bert-generation", "its embedding has no segments, and it may be half of an encoder and a decoder"},
    {"encoder-decoder", "it is two models of other families in one folder, each with a config of its own"},
    {"esm", "it reads proteins: its embedding is scaled by how much of a text is masked, and its norms stand in front"},
    {"exaone", "it is of Llama's form, with keys and tensors under names of its own"},
    {"gemma3n_text", "its blocks pass several streams and embeddings of their own"},
    {"gemma4", TOWER},
    {"gemma4_text", "its values have a norm, and some of its blocks take the keys and values of another"},
    {"gpt_neox_japanese",
     "its blocks have no biases but one behind the last attention, and its MLP has a size of its own"},
    {"ibert", "its numbers are whole: every step has a scale"},
    {"internlm3", "it is of Llama's form, with biases under keys of its own (qkv_bias, bias)"},
    {"kimi", LATENT},
    {"kimi_k2", LATENT},
    {"kimi_linear", STATE("most", "a gated delta rule")},
    {"kimi_vl", TOWER},
    {"minimax", STATE("most", "linear attention") ", and its sums have factors"},
    {"minimax_m2", "its router is a sigmoid with a learned correction"},
    {"minimax_text_01", STATE("most", "linear attention")},
    {"ministral", "it is of Mistral's form, but which of its blocks have a window is not read here"},
    {"ministral3", "its queries have a factor that grows with the place"},
    {"mistral3", TOWER},
    {"mistral4", LATENT},
    {"qwen", "its q, k and v lie in one tensor, and its scores have a factor by the length of a text"},
    {"qwen2_5_vl", TOWER ", with positions in time, height and width"},
    {"qwen2_vl", TOWER ", with positions in time, height and width"},
    {"qwen3_5", STATE("three of four", "a gated delta rule behind a convolution")},
    {"qwen3_5_moe", STATE("three of four", "a gated delta rule behind a convolution")},
    {"qwen3_5_text", STATE("three of four", "a gated delta rule behind a convolution")},
    {"qwen3_vl", TOWER ", with positions in time, height and width"},
    {"persimmon", "its activation is a square, and every head has a LayerNorm with beta of its queries and keys: both "
                  "would have to be built"},
    {"roc_bert", "its embedding has the sound and the shape of each character too"},
    {"seed_oss", "its q, k and v have biases and what follows them has none, by keys of its own"},
    {"xlm", "every language has an embedding that is added"},
};

const char *hub_refused(const char *type)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
        if (strcmp(REFUSED[i].type, type) == 0)
            return REFUSED[i].why;
    return NULL;
}
