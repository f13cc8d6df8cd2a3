/* Inside core/io: the parts of a tokeniser (tokenizer.h). */
#ifndef VITRINE_IO_TOKENIZER_PARTS_H
#define VITRINE_IO_TOKENIZER_PARTS_H
#include <stdint.h>

#include "core/base/byte_text.h"
#include "core/base/mem.h"
#include "core/io/json.h"
#include "core/io/tokenizer.h"

/* A text on its way: byte i comes from the character of the original at from[i]; from[len] is where it ends. */
typedef struct Working {
    Buf text;
    size_t *from;
    size_t room;
} Working;
void working_add(Working *w, const char *bytes, size_t n, size_t from); /* all n of them from there */
void working_end(Working *w, size_t from);
void working_free(Working *w);
size_t working_origin(const Working *w, size_t i); /* from[i]; 0 for an empty text */
/* Where the part of the text ends that bytes [from, to) stand for: of a character that a normaliser wrote as several
 * (㎏ as kg), behind all of it. Of a blank that was put there nothing is stood for: origin of from. */
size_t working_behind(const Working *w, size_t from, size_t to);

/* A pattern: a regular expression (PCRE2) or a plain text. */
typedef struct Pattern {
    void *code; /* pcre2_code, or NULL: */
    char *plain;
} Pattern;
/* From {"Regex": "…"} or {"String": "…"}. */
bool pattern_read(Pattern *p, const Json *j, const char *path, Err *err);
/* An expression; path: for messages. */
bool pattern_regex(Pattern *p, const char *written, const char *path, Err *err);
void pattern_free(Pattern *p);
/* The next match in text[at …): 1 and its bytes, 0: none, −1: it takes too much work. */
int pattern_next(const Pattern *p, const char *text, size_t length, size_t at, int *dear, size_t *from, size_t *to);
/* Steps that a match may take at a place, and at the few places that may be dear. */
enum { PATTERN_CHEAP = 20000, PATTERN_MOST = 2000000 };
/* How many places of a part of a text may be dear: what a pattern takes of the whole text stays bounded. */
int pattern_dear(size_t part, size_t whole);

/* The character at *s, which lies before `end`; NUL is one like any other. What is no UTF-8 is U+FFFD, one for each
 * longest beginning of a character (Unicode 15, section 3.9, as Python's errors="replace" has it). */
uint32_t char_next(const char **s, const char *end);
bool char_is_space(uint32_t c); /* White_Space of Unicode */
bool char_is_word(uint32_t c);  /* \w of Rust's regular expressions */

/* ---- characters as the reference's tables have them ----
 * Hugging Face's tokenizers (0.23) takes each step's tables from another library, and each library is of another
 * version of Unicode; ours (utf8proc, PCRE2) are of whatever version is installed, 14 or later. What a table's version
 * does not know yet is no letter, mark or digit there, and the ids depend on it. */
typedef enum Tables {
    TABLES_BERT = 8,     /* unicode_categories: punctuation, BERT's control characters and accents */
    TABLES_FORM = 9,     /* unicode-normalization-alignments: normal forms, the marks of StripAccents */
    TABLES_PATTERN = 16, /* Oniguruma 6.9.10 and regex-syntax: patterns, \w */
    TABLES_RUST = 17     /* Rust's own and unicode-segmentation: digits, small letters, what is one character to see */
} Tables;
bool char_is_known(uint32_t c, Tables tables); /* it has a meaning there, or had none in any version up to 17 */
int char_kind(uint32_t c, Tables tables);      /* general category, as utf8proc numbers them; 0: none yet */
/* c, or where the libraries may not know it an older character of its category there and of its length in UTF-8. */
uint32_t char_stand_in(uint32_t c, Tables tables);
/* The text with such characters in place of those that a pattern may not know: byte i stays byte i. Returns text where
 * there are none, else what it appended to copy. */
const char *text_stand_in(const char *text, size_t n, Buf *copy);

/* ---- normalisers ---- */
typedef enum NormalKind {
    NORMAL_FORM, /* `form`: NFC, NFD, NFKC, NFKD */
    NORMAL_LOWER,
    NORMAL_STRIP_ACCENTS,
    NORMAL_BERT,
    NORMAL_PREPEND,
    NORMAL_REPLACE,
    NORMAL_STRIP,
    NORMAL_NMT,
    NORMAL_CHARSMAP
} NormalKind;
typedef struct Normal {
    NormalKind kind;
    int form; /* options of utf8proc */
    bool clean, chinese, accents, lower, left, right;
    char *content; /* what is put in front, or in place of a match */
    Pattern pattern;
    uint32_t *trie; /* sentencepiece's table of what becomes what: a double array, and the texts behind it */
    size_t trie_units;
    char *texts;
    size_t text_bytes;
} Normal;
bool normal_read(const Json *j, const char *path, Normal **list, size_t *n, Err *err);
void normal_free(Normal *list, size_t n);
bool normal_run(const Normal *list, size_t n, Working *w, Err *err);

/* ---- pre-tokenisers ---- */
typedef enum SplitKind {
    SPLIT_BYTES, /* every byte becomes a printable character */
    SPLIT_PATTERN,
    SPLIT_SPACES, /* at white space, which goes */
    SPLIT_WORDS,  /* letters and digits, or marks; white space goes */
    SPLIT_BERT,   /* white space goes, every mark is alone */
    SPLIT_DIGITS,
    SPLIT_MARKS,
    SPLIT_META /* ▁ for a blank, in front of every word */
} SplitKind;
typedef enum SplitHow { HOW_REMOVED, HOW_ISOLATED, HOW_PREVIOUS, HOW_NEXT, HOW_CONTIGUOUS } SplitHow;
typedef struct Split {
    SplitKind kind;
    SplitHow how;
    Pattern pattern;
    bool invert, each, prefix, first_only, cut;
    char meta[8];
} Split;
/* A piece: bytes [from, to) of the working text. */
typedef struct Piece {
    size_t from, to;
} Piece;
typedef struct Pieces {
    Piece *at;
    size_t n, cap;
} Pieces;
bool split_read(const Json *j, const char *path, Split **list, size_t *n, Err *err);
void split_free(Split *list, size_t n);
/* Cuts w into pieces, changing it where a step writes other characters. first: it begins the whole text. */
bool split_run(const Split *list, size_t n, bool first, Working *w, Pieces *out, Err *err);

/* ---- the model ---- */
typedef enum ModelKind { MODEL_BPE, MODEL_WORDPIECE, MODEL_UNIGRAM, MODEL_WORDS } ModelKind; /* as TokenizerWay */

/* Strings by number, numbers by string. */
typedef struct PieceTable {
    const char **name; /* [n]; NULL: a hole */
    uint32_t *length;
    int n;
    int *slot;
    size_t slots;
    size_t longest; /* bytes */
    Arena arena;
} PieceTable;
bool table_add(PieceTable *t, const char *name, size_t length, int id); /* false: the name or the number is taken */
bool table_room(PieceTable *t, size_t count, int largest); /* once, before the first; false: too many for `count` */
int table_find(const PieceTable *t, const char *name, size_t length);
void table_free(PieceTable *t);

typedef struct Merge {
    uint64_t pair; /* left << 32 | right, or UINT64_MAX: empty */
    int rank, whole;
} Merge;
typedef struct TokenModel {
    ModelKind kind;
    PieceTable table;
    Merge *merge; /* open addressing */
    size_t merges, slots;
    double *score; /* [n] of a unigram model; −∞: a piece that is written and never cut */
    double least;  /* of the others */
    int written;   /* numbers from here on are written as what is unknown; 0: none */
    int unknown;   /* id; −1: none */
    bool byte_fallback, ignore_merges, fuse_unknown;
    int byte[256]; /* ids of <0x00> … */
    char *prefix, *suffix;
    size_t word_most; /* characters of a word that WordPiece takes on */
} TokenModel;
bool model_read(TokenModel *m, const Json *j, const char *path, Err *err);
bool model_merges(TokenModel *m, size_t count,
                  bool (*next)(void *from, const char *pair[2], size_t length[2], Err *err), void *from,
                  const char *path, Err *err);
void token_model_free(TokenModel *m);
/* A piece of w as tokens, appended. */
void model_encode(const TokenModel *m, const Working *w, Piece p, bool with_steps, Tokens *out);
double model_unknown_score(const TokenModel *m); /* of a unigram model: of what no piece is */

/* ---- SentencePiece ---- */
typedef struct SpmFile {
    const char *path;  /* for messages */
    const Json *ids;   /* {"piece": number}: the numbers, where another file has them; else NULL */
    int extra;         /* so many <extra_id_N> behind the pieces */
    bool begins, ends; /* its beginning stands in front of a text, its end behind */
} SpmFile;
/* The bytes of a model as the tokenizer.json that cuts alike. False: damaged, or of a kind that is not known. */
bool spm_json(const SpmFile *f, const char *bytes, size_t n, Buf *out, Err *err);

/* ---- all of it ---- */
/* A token that no model makes: it stands in the text as it is named. */
typedef struct Added {
    const char *text;
    size_t length;
    int id;
    bool special, normalized, strip_left, strip_right, whole_word;
} Added;

typedef enum DecodeKind { DECODE_PLAIN, DECODE_BYTES, DECODE_META, DECODE_WORDPIECE, DECODE_SUFFIX } DecodeKind;

struct Tokenizer {
    char path[1200];
    TokenModel model;
    Normal *normal;
    size_t normals;
    Split *split;
    size_t splits;
    Added *added;
    size_t addeds;
    size_t *first_byte[256]; /* indices of added tokens that begin so, the longest first, ended by SIZE_MAX */
    bool *special;           /* [model.table.n] */
    int before[16], after[16];
    int befores, afters;
    struct {
        int id;   /* of a token that is put there; −1: a text */
        int text; /* which */
        int type; /* segment */
    } pair[32];
    int pairs; /* 0: the file has no template for two texts */
    DecodeKind decode;
    bool fallback; /* <0x0A> is that byte */
    bool strip;    /* the blank in front of a decoded text goes */
    int limit;     /* tokens of a text at which its own program cuts it; 0: nowhere. Nothing is cut here. */
    Arena arena;
};

void tokens_add(Tokens *out, int id, size_t from, size_t to);
#endif
