/* Figures of the picture models in the program, as they were measured over many pictures (core/eval/figures.h).
 */
#ifndef VITRINE_SESSION_LEARNED_SHIPPED_H
#define VITRINE_SESSION_LEARNED_SHIPPED_H
#include "core/eval/figures.h"
#include "core/session/learned/measures.h"

/* Are they of the model that is open? */
bool session_figures_known(const Session *s);
/* Of the one that is open, and over how many pictures its figures are. */
Figure session_figure(const Session *s, FigureKind kind, int i);
size_t session_figures_over(const Session *s);
/* Are those of the lens of that model, which has so many blocks? */
bool session_lens_known(const Session *s, int blocks);
/* "of 21 named with 90 to 99 %, 100.0 % (84.5–100.0) are right": what an answer of that probability was worth among
 * the held-out photographs; false, out "", where that is not known of the model that a side shows. */
enum { SURE_TEXT = 120 };
bool session_sure_text(const Session *s, Side side, float probability, char out[SURE_TEXT]);
#endif
