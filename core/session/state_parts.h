/* What writing the state, comparing two of them, and reading one share. */
#ifndef VITRINE_SESSION_STATE_PARTS_H
#define VITRINE_SESSION_STATE_PARTS_H
#include "core/session/edit/edits.h"
#include "core/session/state.h"

struct StateShot {
    Buf model, input, pinned, gradient, ledger,
        place; /* commands, each with its line end; pinned: that of A with its edits */
    Buf boxes; /* "box open PATH\n" or "box close PATH\n" of each */
    EditState edits;
    bool compares;
    Compare compare;
    LookAt look;
};

bool state_same(const Buf *a, const Buf *b);
/* The lines that lead from one list of edits to the other, appended; false when there is nothing to do. */
bool state_edits_between(const EditState *from, const EditState *to, Buf *out);

/* The address of where the session stands, and what `place` needs beside it (both appended; nothing for a node that is
 * not there). */
void state_put_place(const Session *s, Buf *address, Buf *rest);
/* The places that lead down to where the session stands, a line each, the last one its own; appended. */
void state_put_trail(const Session *s, Buf *lines);
/* `place ADDRESS …`: the cursor, the screen and the step, all of them whatever they were. */
bool state_place_command(Session *s, const Args *a, Err *err);
#endif
