/* What `vitrine evaluate` found, for people and for programs. Internal to tui/cli. */
#ifndef VITRINE_TUI_CLI_EVALUATE_H
#define VITRINE_TUI_CLI_EVALUATE_H
#include "core/base/buf.h"
#include "core/eval/evaluation.h"
#include "core/eval/head_kinds.h"
#include "core/eval/surprise.h"
#include "core/models/model.h"

/* Whom and what it is about. */
typedef struct Evaluated {
    const Model *model;
    const char *name;               /* of the model, harmless to print */
    const char *pictures;           /* "held-out drawn shapes", or the folder; harmless to print */
    const char *note;               /* a line on which of them these are, and why; harmless to print; or NULL */
    const char *const *class_names; /* [classes] */
} Evaluated;

/* As JSON, or as a page of at most 80 columns. */
void evaluate_print(const Evaluation *e, const Evaluated *of, bool json, Buf *out);
void showcase_print(const ScaleSearch *s, const Evaluated *of, bool json, Buf *out);
void translation_print(const Translation *t, const char *name, size_t n, bool json, Buf *out);
/* How surprising texts are to a decoder, as lines and as the member of an object; measured to the end. over: which
 * texts; harmless to print. */
void surprise_page(const Surprise *e, const Model *m, const char *over, Buf *page);
void surprise_json(const Surprise *e, const Model *m, const char *over, Buf *out);
/* The same alone, where the heads can't be measured; why: the reason. */
void surprise_print(const Surprise *e, const Model *m, const char *over, const char *name, const char *why, bool json,
                    Buf *out);
/* Which heads of a text model are of a known kind; measured to the end. e: NULL where there were no texts. */
void kinds_print(const HeadKinds *k, const Surprise *e, const char *over, const Model *m, const char *name, bool json,
                 Buf *out);
/* "cls", "r3c4": a token of that model; returns out. */
const char *evaluate_token(const Evaluated *of, int token, char *out, size_t n);
#endif
