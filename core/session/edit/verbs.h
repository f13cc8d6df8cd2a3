/* Inside core/session only: an edit verb is one row. What is typed becomes a line of the list of edits, absolute, in
 * one spelling; the line becomes edits of the graph; alone in force it is reported in words; and the row says whether
 * it is what `x` switches off where the reader stands. A hostile script may hold any line: parse checks everything. */
#ifndef VITRINE_SESSION_EDIT_VERBS_H
#define VITRINE_SESSION_EDIT_VERBS_H
#include "core/graph/anatomy.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"

enum { EDIT_LINE = 640 };

/* Lines on their way to edits of the graph. */
typedef struct EditParse {
    const Session *s;
    const Graph *g; /* the base graph: edits name its nodes */
    Arena *arena;
    Edit *edits;
    size_t cap;
    int count;
    float *picture; /* the input's values as changed so far */
    int *hidden;    /* of every patch, 1 where it is hidden: that of edit number `hiding` */
    int hiding;
    const char *origin;  /* the line */
    EditValues **values; /* of the line: where patch keeps what it read */
} EditParse;

typedef enum EditTwice {
    TWICE_AGAIN,  /* typed again it stands last */
    TWICE_TOGGLES /* typed again it is taken away */
} EditTwice;

typedef struct EditVerb {
    const char *words; /* what a line begins with: "ablate", "set scale" */
    EditTwice twice;
    bool alone; /* only the last such line is in force */
    /* line → edits */
    bool (*parse)(EditParse *p, const Args *line, Err *err);
    /* as typed → line; NULL: as it is typed */
    bool (*print)(const Session *s, const Args *typed, char line[EDIT_LINE], Err *err);
    /* The one line in force, in words; false: there are none for it. NULL: never. */
    bool (*report)(Session *s, const Args *line);
    /* The line that switches off what is in focus; false: that is no matter of this verb. NULL: never. */
    bool (*focus)(const Session *s, char line[EDIT_LINE]);
    /* Which typed form takes all lines of this verb away ("none"), or NULL. */
    const char *none;
} EditVerb;

/* i-th row, NULL past the end. */
const EditVerb *edit_verb_at(int i);
/* The row of a line's or command's name and first word ("" where there is none). NULL: it is no edit. */
const EditVerb *edit_verb(const char *name, const char *first);
/* The line that switches off what is in focus. */
bool edit_focus(const Session *s, char line[EDIT_LINE], Err *err);

extern const EditVerb VERB_SET_SCALE, VERB_SET_PRECISION, VERB_SET, VERB_ABLATE, VERB_SKIP, VERB_MASK, VERB_SHUFFLE,
    VERB_GREY, VERB_HIDE, VERB_SWAP, VERB_PATCH;

/* --- what rows share --- */
/* "VERB ADDRESS MORE" with the node's whole path: a short name or the focus must not mean another node later. */
bool edit_print_address(const Session *s, const char *verb, const Args *a, const char *more, char line[EDIT_LINE],
                        Err *err);
bool edit_line(char line[EDIT_LINE], Err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "block 1", where the model has one stack, else "decoder block 1". */
const char *edit_block_name(const Graph *g, int block, char *out, size_t n);
/* What the part alone is called in its block: "ln1". */
const char *edit_part_own(const Part *p);
/* The kind of a part as a command calls it: "mlp", "attention", "layernorm" or "rmsnorm"; NULL where none does. */
const char *edit_part_kind(const Part *p);
/* Does the command's word name that part or its kind? "mlp", "attention", "cross-attention", "layernorm", "ln1". */
bool edit_part_is(const Part *p, const char *word);
/* The axis of places on the picture, or AXIS_NONE, and the label of the one under the cursor. */
int edit_place_axis(const Session *s);
bool edit_place_label(const Session *s, char *out, size_t n);
/* An address that this model has, for usage and errors: "blocks.1.attn.z[h=2]"; "" where there is none. */
const char *edit_example(const Graph *g, Site site, AxisRole role, char *out, size_t n);

/* --- from a line to edits: one may hold anything, so everything is checked --- */
Edit *parse_add(EditParse *p, EditKind kind, const char *path); /* valid until the next one is added */
/* A number, as kernels would store it. */
bool parse_number(const char *text, float *out);
/* The node an address names; the scope of a part stands for what the part gives, if `parts`. */
bool parse_target(EditParse *p, const char *text, bool parts, Address *a, Err *err);
int parse_token_axis(const Graph *g, Dims d); /* the axis of tokens or patches, or AXIS_NONE */

/* The picture as changed so far, to be changed further. */
float *parse_picture(EditParse *p);
bool parse_on_picture(const EditParse *p, const char *path);
void parse_fill_picture(EditParse *p, const Selection *cells, float value);
#endif
