/* The look that a history takes into a text model while it learns: every attention of one text. */
#ifndef VITRINE_TRAIN_TEXT_LOOK_H
#define VITRINE_TRAIN_TEXT_LOOK_H
#include "core/graph/plan.h"
#include "core/models/model.h"
#include "core/train/history.h"

typedef struct TextLook {
    Graph graph; /* of the text; over the model's weights, which must outlive it */
    Plan *plan;
    NodeId *pattern; /* [attentions] */
} TextLook;

/* h: of that model. in: the text, whose words are copied. */
void text_look_open(TextLook *l, const Model *m, const History *h, const Seq2seqInput *in);
void text_look_close(TextLook *l);
/* Computes it with the weights as they are: TaskKind's look. */
void text_look(TextLook *l, const History *h, float *lines, Snapshot *s);
#endif
