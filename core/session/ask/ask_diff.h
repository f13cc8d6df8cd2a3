/* The run beside another program's: what `vitrine diff` and the command `diff` do. */
#ifndef VITRINE_SESSION_ASK_ASK_DIFF_H
#define VITRINE_SESSION_ASK_ASK_DIFF_H
#include "core/diff/diff_reference.h"
#include "core/session/command.h"

typedef struct DiffAsk {
    const char *
        reference; /* a trace (safetensors, npz, a folder of npy files), or a model: then its run of the same picture */
    const char *map;       /* file of names, or NULL */
    double tolerance;      /* 0: as diff.h has it */
    const char *precision; /* f32, bf16, f16; NULL: as most tensors of the reference are stored */
    const char *require;   /* node paths with commas between them that must be compared, or NULL */
    const char *item;      /* which picture of recorded batches, from 0; NULL: the first */
    bool own_input;        /* a trace's own input, where it has one, takes the place of the session's */
    bool bundled;          /* nobody chose a model: it is the one in the program */
    bool json;
} DiffAsk;

typedef struct DiffAnswer {
    bool same, stopped;      /* stopped: somebody stopped the search for causes */
    char path[SESSION_PATH]; /* where it begins: node and cell of B; "" when it is the same */
    size_t cell;
} DiffAnswer;

/* Compares B with the reference. report (may be NULL) gets the whole table or JSON, verdict (may be NULL) the verdict
 * alone; appended. False on a bad file, or when cancelled. With own_input a trace without an input is an error: what it
 * looked at must be said. */
bool ask_diff(Session *s, const DiffAsk *a, Buf *report, Buf *verdict, DiffAnswer *answer, Err *err);

/* A tolerance as typed: a number greater than 0 and at most 1. */
bool diff_tolerance(const char *text, double *out, Err *err);

/* The command: goes to the cell and says the verdict. */
bool diff_command(Session *s, const Args *a, Err *err);
/* Is it a model rather than a trace: a folder or file of one, or "translator"? */
bool ask_diff_is_model(const char *reference);

/* --- of a model of words (ask_diff_words.c), inside core/session/ask only --- */
/* Opens the texts that the trace was made from. */
bool ask_diff_take_words(Session *s, const DiffAsk *a, const DiffMap *map, Err *err);
/* Notes in the map which tokens of the text the template did not put there: a recording may have read those alone. */
void ask_diff_find_bare(Session *s, DiffMap *map);
/* Says where the numbers that were read lack what the folder's tokeniser puts around a text, or have it twice. */
void ask_diff_look_at_ids(Session *s, char *out, size_t size);
#endif
