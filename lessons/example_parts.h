/* Inside lessons only: a worked example being built. */
#ifndef VITRINE_LESSONS_EXAMPLE_PARTS_H
#define VITRINE_LESSONS_EXAMPLE_PARTS_H
#include "lessons/example.h"

typedef struct Building {
    Example *e;
    Graph *g;
    const char *file;
    const Model *model;
    int line;
    size_t cells;
    double work; /* multiplications and additions so far */
    Err *err;
} Building;

bool building_error(const Building *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for another node of those dims? */
bool building_room(Building *b, Dims d, double work);
/* name[dims] = text: a formula. */
bool formula_add(Building *b, const char *name, Dims d, const char *text);
/* The words behind `model`. */
bool example_model(Building *b, const char *words);
/* Those behind `decoder`. */
bool example_decoder(Building *b, const char *words);
#endif
