/* What the model looks at: a picture file, a drawn shape by number, ready values from a tensor file, or words. */
#ifndef VITRINE_SESSION_INPUT_H
#define VITRINE_SESSION_INPUT_H
#include "core/session/session.h"

/* spec, for a picture model: NULL (the first drawn picture; a scene, where photographs were learned from), "#17",
 * "#ship", "cat.png", "-", or "FILE:tensor"; for a model of another family what that family reads (family.h). out is
 * filled only on success; input_free later. */
bool input_open(Input *out, const Model *m, const char *spec, Err *err);
/* The same input once more: no file is read again (it may be a pipe, or gone). Ready values stay as they are; a picture
 * is made ready for m, words are read again for it, and false is returned when m does not take inputs of its kind. */
bool input_copy(Input *out, const Input *from, const Model *m, Err *err);
/* What it is called where a record is written: a text whole. */
const char *input_whole(const Input *in);
/* The number of the rendered scene "#ship" (assets/scenes.h), or -1; and "ship", NULL past the last one. */
int input_scene(const char *spec);
const char *input_scene_name(int scene);
/* Appends the i-th of the sentences that come with the translator m, none of which it learned from: first the two that
 * differ in *tired* and *wide*, then some of those that it is measured on. False past the last one. */
bool input_sentence(const Model *m, int i, Buf *out);
Text text_copy(Arena *arena, Text t);
void input_free(Input *in); /* accepts a zeroed Input */
enum { INPUT_FIRST = 17 };  /* the drawn picture shown first */
#define INPUT_SCENE "#ship" /* …and the scene, by a model that has seen photographs */

/* Said of a text that is read as it stands, where a file of that name lies. */
#define INPUT_OF_FILE "this text is the name of a file: what stands in it is -i \"$(cat '%.60s')\""

/* Said of a text that is called as a file would be, where there is none. */
#define INPUT_NO_FILE "read as a text: there is no file '%.60s' here"
bool input_lacks_file(const char *spec);

/* Where the object of a drawn picture is. object[vit_patches]: 1 where the object covers more than OBJECT_PERCENT of
 * a patch, else 0. False where its place is not known, or where no patch has that much of it. */
enum { OBJECT_PERCENT = 8 };
bool object_patches(const Input *in, const Model *m, float *object);
#endif
