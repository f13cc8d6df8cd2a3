/* The knobs of a text recipe by name: what a file may say. Internal to core/train. */
#ifndef VITRINE_TRAIN_TEXT_RECIPE_PARTS_H
#define VITRINE_TRAIN_TEXT_RECIPE_PARTS_H
#include <stddef.h>

#include "core/train/text_recipe.h"

typedef enum TextKnobKind { TEXT_WHOLE, TEXT_REAL, TEXT_SEED } TextKnobKind;
typedef struct TextKnob {
    const char *key;
    TextKnobKind kind;
    size_t offset; /* in TextRecipe */
    double least, most;
} TextKnob;
enum { TEXT_KNOBS = 14 };
extern const TextKnob TEXT_KNOB[TEXT_KNOBS];
double text_knob(const TextRecipe *r, int i);
void text_knob_set(TextRecipe *r, int i, double x);
#endif
