/* `gradient`: how one number of the run, or the loss, changes with every number before it. The gradients become nodes
 * of both sides' graphs (core/graph/grad.h), are looked at, explained, compared and exported as grad.NODE, and follow
 * every edit. */
#ifndef VITRINE_SESSION_LEARNED_GRADIENT_H
#define VITRINE_SESSION_LEARNED_GRADIENT_H
#include "core/session/command.h"

/* Another target takes the place of the one before. False, with the one before still in force, where nothing leads to
 * it. */
bool gradient_set(Session *s, const GradTarget *t, Err *err);
/* Those of the answer's logit, for screens that show some: unless others are in force, or the model names no classes.
 */
bool gradient_answer(Session *s, Err *err);
/* What the gradients are of: "logits[o=star]", "loss[o=star]"; "" where there are none. Appended to out. */
void gradient_text(const Session *s, Buf *out);
bool gradient_command(Session *s, const Args *a, Err *err);
void gradient_complete(const Session *s, int index, Buf *out);
#endif
