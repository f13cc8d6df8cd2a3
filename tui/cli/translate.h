/* What `translate` and `write` were asked, and what came of it; and its JSON. */
#ifndef VITRINE_TUI_CLI_TRANSLATE_H
#define VITRINE_TUI_CLI_TRANSLATE_H
#include "core/models/decode.h"
#include "core/session/learned/decoding.h"
#include "tui/cli/verbs.h"

typedef struct Request {
    Work *w;
    Model model;
    Words source;
    Words begin; /* of a model of both stacks: how its answer begins, behind a > */
    DecodeOptions how;
    Decode d;
    bool fills;  /* the model's length, not --steps, is where a text is cut */
    bool lent;   /* the model is the session's */
    bool flows;  /* every word is printed as it comes */
    Err unsaid;  /* why that failed, or empty */
    Buf said;    /* of what is written, so far */
    bool closed; /* nobody reads it: there is nothing to complain about */
    int told;    /* nodes that said is made of; 0: not even the beginning is printed */
} Request;

/* How words are chosen, by the options. */
bool request_how(const Options *o, DecodeOptions *how, Err *err);
/* The model, and what it reads as `read` takes it from what was typed; then with the changes of -c. */
bool request_open(Request *r, const char *model, bool (*read)(Request *r, Err *err), Err *err);
bool request_sentence(Request *r, Err *err);  /* to be translated */
bool request_beginning(Request *r, Err *err); /* that is carried on, or read and answered */
/* Its name, or its number in `digits`. */
const char *request_word(const Request *r, int number, char digits[16]);
/* The text that was written. */
void request_answer(const Request *r, Buf *out);
/* All of it as one object, every node of the search with its parent. */
void request_json(const Request *r, Buf *out);
#endif
