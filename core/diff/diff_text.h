/* A comparison in words: the table, the verdict, JSON. Texts are appended. */
#ifndef VITRINE_DIFF_DIFF_TEXT_H
#define VITRINE_DIFF_DIFF_TEXT_H
#include "core/base/buf.h"
#include "core/diff/diff.h"

/* ours: our model and input, in a line. */
typedef struct DiffNamed {
    const char *ours;
    const DiffSubject *s;
    const DiffReference *r;
    const DiffOptions *o;
    const DiffReport *d;
} DiffNamed;

/* What was compared, one line for each tensor in node order, and an empty line. */
void diff_table(const DiffNamed *n, Buf *out);
/* The verdict alone, one sentence or two without a line break, then what was tried. */
void diff_verdict(const DiffNamed *n, Buf *out);
void diff_json(const DiffNamed *n, Buf *out);
/* "blocks.0.attn.q[t=cls,h=0,e=3]" */
void diff_cell(const Graph *g, NodeId n, size_t cell, Buf *out);
/* The cell to look at: where the first row that begins first differs. False where everything agrees. */
bool diff_first_cell(const DiffReport *d, NodeId *n, size_t *cell);
#endif
