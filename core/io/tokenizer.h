/* Tokenisers: text as the numbers that a model reads, as the files beside its weights say. Read are tokenizer.json
 * (Hugging Face: BPE with bytes or with byte fallback, WordPiece, Unigram, whole words), else vocab.json with
 * merges.txt (GPT-2), else vocab.txt (BERT), else a SentencePiece model: source.spm with vocab.json (Marian),
 * spiece.model (T5) or tokenizer.model (Llama). A normaliser, pre-tokeniser or template that is not known is refused by
 * name: running another one would give other numbers without a word.
 *
 * A text goes through five steps: added tokens ("<s>", "[MASK]") are taken out; what lies between them is normalised
 * (Unicode forms, small letters, …), cut into pieces, each piece encoded by the model, and the numbers are put into
 * the template ("[CLS] … [SEP]"). */
#ifndef VITRINE_IO_TOKENIZER_H
#define VITRINE_IO_TOKENIZER_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/err.h"

typedef struct Tokenizer Tokenizer;

enum {
    TOKENIZER_FILE = 256 * 1024 * 1024, /* bytes of a file that is read */
    TOKENIZER_TEXT = 64 * 1024 * 1024   /* bytes of a text that is encoded */
};

/* Is there a file of a tokeniser in the folder, or beside a model of llama2.c? */
bool tokenizer_is(const char *folder);
/* NULL and err: there is none, it is damaged, or does what is not known here. */
Tokenizer *tokenizer_open(const char *folder, Err *err);
/* The text of a tokenizer.json; name is for messages. */
Tokenizer *tokenizer_parse(const char *name, const char *text, size_t n, Err *err);
/* The bytes of a SentencePiece model, with two <extra_id_N> behind it and its end behind a text. */
Tokenizer *tokenizer_parse_spm(const char *name, const char *bytes, size_t n, Err *err);
void tokenizer_free(Tokenizer *t); /* NULL allowed */

typedef struct Token {
    int id;
    size_t from, to; /* bytes [from, to) of the text that it stands for; none of what the template adds */
    size_t end;      /* of `cut` below, where the steps are asked for; it begins where the one before ends */
} Token;

/* A merge of byte-pair encoding: which pair of neighbours became one, in the order in which it was done. */
typedef struct TokenMerge {
    int left, right, whole; /* ids */
    int rank;               /* line of the table of merges, 0 the first to be done */
    size_t from, to;        /* bytes of the text that `whole` stands for */
    size_t between;         /* left and right met at this byte of `cut` below */
} TokenMerge;

/* A piece that the pre-tokeniser cut, or an added token that was taken out of the text as it is named. */
typedef struct TokenPart {
    bool added;
    size_t from, to;           /* bytes of `cut` */
    size_t token, tokens;      /* of at[]: the first, how many */
    size_t merge, merges;      /* of merge[] */
    double score, rival_score; /* Unigram: the sum of the log probabilities, of the way taken and of the best other one
                                  (−∞: there is none), … */
    size_t rival, rivals;      /* … whose pieces those of rival[] are; −1: what no piece is */
} TokenPart;

typedef struct Tokens {
    Token *at;
    size_t n, cap;
    size_t
        *lost; /* [losts] bytes of the text at which characters begin that no piece stands for, unknown or otherwise */
    size_t losts, lost_cap;
    /* only where the steps are asked for */
    TokenMerge *merge;
    size_t merges, merge_cap;
    TokenPart *part; /* in the order of the text */
    size_t parts, part_cap;
    Buf normal; /* the text as the normaliser leaves it, … */
    Buf cut;    /* … and as the model gets it, part behind part */
    int *rival;
    size_t rivals, rival_cap;
} Tokens;

/* `length` bytes of text, which need not be UTF-8: what is none becomes U+FFFD, one for each longest beginning of a
 * character, as Python reads a text for the tokenisers' own programs (errors="replace"); they take nothing else.
 * template: with what the file puts around a single text. steps: how it came about too. False and err where the text
 * is too long, or the pattern that cuts it takes more work than any text of its length may need. */
bool tokenizer_encode(const Tokenizer *t, const char *text, size_t length, bool with_template, bool with_steps,
                      Tokens *out, Err *err);
/* Two texts as one row of tokens, with what the file puts around and between them; from and to are bytes of the text
 * that a token is of. *segment[n] (to be freed): which segment the file counts each of them to. False too where the
 * file has no template for two texts. */
bool tokenizer_encode_pair(const Tokenizer *t, const char *const text[2], Tokens *out, int **segment, Err *err);
/* The turns of a talk (chat.h), as the folder's chat template writes them: all that stands around a text is the
 * template's. text: what it wrote; said: a byte for each, 1 where somebody said it; both may be NULL. False too where
 * the folder has no template, or it does what is not known here. */
bool tokenizer_chat(const Tokenizer *t, const char *typed, bool with_steps, Tokens *out, Buf *text, Buf *said,
                    Err *err);
void tokens_free(Tokens *t); /* zeroed allowed */
/* The text of numbers; special tokens stand as they are named, or are left out. Ids outside the table are left out. */
void tokenizer_decode(const Tokenizer *t, const int *id, size_t n, bool special, Buf *out);

int tokenizer_count(const Tokenizer *t); /* 1 more than the largest id */
/* As the file names it ("Ġthe", "##ing", "<0x0A>"); NULL where the id has no name. */
const char *tokenizer_piece(const Tokenizer *t, int id);
/* What a piece of byte-level BPE is called after the text that it stands for ("Ġoù", "日", "<0xE6>"; byte_text.h),
 * appended; false: any other, and one of ASCII alone, is called as the file names it. */
bool tokenizer_text(const Tokenizer *t, int id, Buf *out);
int tokenizer_find(const Tokenizer *t, const char *piece); /* −1: none */
bool tokenizer_is_special(const Tokenizer *t, int id);
int tokenizer_limit(const Tokenizer *t); /* tokens at which the file has a text cut, which nobody here does; 0: none */
const char *tokenizer_kind(const Tokenizer *t); /* "byte-level BPE", "WordPiece", … */
/* How a model cuts a piece of a text. */
typedef enum TokenizerWay { WAY_MERGES, WAY_LONGEST, WAY_LIKELIEST, WAY_WHOLE } TokenizerWay;
TokenizerWay tokenizer_way(const Tokenizer *t);
int tokenizer_unknown(const Tokenizer *t); /* id; −1: none */
/* Of WAY_LIKELIEST the log probability of a piece (−1: of what is none); else 0. */
double tokenizer_score(const Tokenizer *t, int id);

/* Byte-pair encoding, learned from a text (Sennrich et al. 2016, section 3.2), over bytes as GPT-2 has it. */

enum { LEARN_BYTES = 256, LEARN_MOST = 4096 }; /* pieces of a table: every byte, at the most */

/* The text of a tokenizer.json, appended to json: the bytes are pieces 0 to 255, behind them one piece for each merge,
 * in their order, until there are `words` (LEARN_BYTES … LEARN_MOST) or no two neighbours come twice. GPT-2's pattern
 * cuts the text first, and no merge goes across. Each merge joins the pair that comes most often, of equal ones that
 * with the lower numbers. Returns how many pieces there are; 0 and err where the text can't be cut, or where progress
 * (which may be NULL) returned false. */
int tokenizer_learn(const char *text, size_t n, int words, Buf *json,
                    bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
#endif
