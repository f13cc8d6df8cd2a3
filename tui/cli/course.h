/* Lessons that become pages: all of the program, or those that were named, files of one's own among them. */
#ifndef VITRINE_TUI_CLI_COURSE_H
#define VITRINE_TUI_CLI_COURSE_H
#include "core/base/mem.h"
#include "lessons/lesson.h"

typedef struct Course {
    LessonFile *at;
    int count;
    size_t cap;
    bool whole; /* all of the program */
    Arena arena;
} Course;

/* Is it a lesson's number or name, or a file? */
bool course_known(const char *word, Err *err);
/* words[count]: such ones; none: all of the program. course_free later, on failure too. */
bool course_read(Course *c, const char *const *words, int count, Err *err);
void course_free(Course *c);
bool course_has(const Course *c, const LessonFile *f);
/* "05-query-key-value"; of a file of one's own its name in letters that any page may have. */
void course_page(const LessonFile *f, char *out, size_t n);
#endif
