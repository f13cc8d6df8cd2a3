/* What every head, MLP or token of A changes when it stands in B's run: measured one after the other
 * (core/eval/patching.h), of B as it is without its changes. */
#ifndef VITRINE_SESSION_SCREENS_PATCHES_H
#define VITRINE_SESSION_SCREENS_PATCHES_H
#include "core/eval/patching.h"
#include "core/session/command.h"

/* What is measured so far, NULL where nothing is yet; err (may be NULL): why it cannot be, else empty. */
const PatchingResult *session_patching(const Session *s, Err *err);
/* The row of logits and the two answers whose difference it is, as numbers of the answers' axis; false while they are
 * not known. */
bool patches_answers(const Session *s, int *row, int *of, int *against);
/* While its screen is on show the token of that sequence after which it is asked; −1: of none. */
int patches_asked(const Session *s, Sequence sequence);
const Axis *patches_axis(const Session *s); /* of those answers; NULL: there is none */
/* "dec 2", "block 2", "dec 2 self"; "MLP", "head 3" or a token. */
void patches_row_name(const Session *s, int row, char *out, size_t n);
void patches_col_name(const Session *s, int row, int col, bool brief, char *out, size_t n);
/* "dec 2 self head 3", "the stream into dec 2 at cat"; appended. */
void patches_put_place(const Session *s, const PatchPlace *p, Buf *out);
/* "The 5 tokens before ▁b are left out …", nothing where the sheet begins with the first; appended. */
void patches_put_same(const Session *s, const PatchingResult *r, Buf *out);
/* What it is, what A and B are and which commands make them of the input on show, a line each that begins with ":";
 * nothing where A is pinned, of the same model. Appended. */
void patches_put_how(const Session *s, Buf *out);
/* Those commands in a line, of the sheet that was asked for; false where one has a text to be put in. */
bool patches_example(const Session *s, Buf *out);
bool patches_begin_example(Session *s, Err *err); /* does them */
/* Of texts, where no answers were named: says, if A and B answer the same after the token that is asked, after which
 * they first don't. */
void patches_hint(Session *s);
/* " after er", the token after which it is asked; nothing where the model answers once. Appended. */
void patches_put_after(const Session *s, int row, Buf *out);
/* The column of the first token that A and B do not have in common. */
int patches_first_token(const Session *s);
/* Rows and columns of the sheet that will come. */
void patches_shape(const Session *s, int *rows, int *cols);
/* The cell in focus, −1 where nothing can be patched there. */
int patches_here(const Session *s, const PatchingResult *r);
bool patches_on_show(const Session *s);
bool patches_open(Session *s, Err *err);                                   /* to its screen, where another is on */
bool patches_measure(Session *s, Err *err);                                /* to the end, with progress */
void patches_put_address(const Session *s, const PatchPlace *p, Buf *out); /* "blocks.1.attn.z[h=2]"; appended */
/* The line that puts a place into force: "patch blocks.1.attn.z[h=2] from=a". */
void patches_line(const Session *s, const PatchPlace *p, Buf *out);
bool patches_command(Session *s, const Args *a, Err *err); /* `patching`, and `patch all` */
#endif
