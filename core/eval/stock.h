/* Labelled pictures to be examined on, over and over: drawn ones are drawn once and kept as bytes. */
#ifndef VITRINE_EVAL_STOCK_H
#define VITRINE_EVAL_STOCK_H
#include "core/models/model.h"
#include "core/train/pictures.h"

typedef struct Stock Stock;

/* Pictures first … first+count-1 of a set, fewer where the set has fewer; drawn ones at full difficulty. They suit m
 * (stock_suits) and were made with its preprocessing. pictures must outlive it. */
Stock *stock_new(const Pictures *pictures, const Model *m, PictureSet set, uint64_t first, size_t count);
void stock_free(Stock *s); /* NULL is allowed */
size_t stock_count(const Stock *s);
bool stock_have_masks(const Stock *s);
uint64_t stock_number(const Stock *s, size_t i); /* the picture's number in its set */
/* Picture i: pixels[c,y,x] 0 … 255; mask[y,x] (may be NULL) 0 … 255, zeros where none is known. Returns its class, as
 * the model numbers them. Any thread, as long as no two ask for the same picture at once. */
int stock_get(Stock *s, size_t i, float *pixels, uint8_t *mask);

/* Can m be examined on drawn shapes, on these pictures? False with one line that says what is needed. Classes go by
 * their names; a model without names must have as many as the pictures. */
bool stock_suits_drawn(const Model *m, Err *err);
bool stock_suits(const Model *m, const Pictures *pictures, Err *err);
#endif
