/* The lessons as they lie in this folder; the assembler copies the bytes in. */
#include <stdlib.h>
#include <string.h>

#include "core/session/address.h"
#include "lessons/lesson.h"

#define LESSON(number, symbol, file)                                                                                   \
    extern const char lesson_##symbol[], lesson_##symbol##_end[];                                                      \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global lesson_" #symbol "\n"                                                                             \
            "lesson_" #symbol ":\n"                                                                                    \
            ".incbin \"lessons/" file "\"\n"                                                                           \
            ".global lesson_" #symbol "_end\n"                                                                         \
            "lesson_" #symbol "_end:\n"                                                                                \
            ".byte 0\n"                                                                                                \
            ".popsection\n");
#include "lessons/lessons.def"
#undef LESSON

static const struct {
    int number;
    const char *name, *begin, *end;
} FILES[] = {
#define LESSON(number, symbol, file) {number, file, lesson_##symbol, lesson_##symbol##_end},
#include "lessons/lessons.def"
#undef LESSON
};
enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

bool lesson_at(int i, LessonFile *out)
{
    if (i < 0 || i >= FILE_COUNT)
        return false;
    *out = (LessonFile){FILES[i].number, FILES[i].name, FILES[i].begin, (size_t)(FILES[i].end - FILES[i].begin)};
    return true;
}

bool lesson_by_number(int number, LessonFile *out)
{
    for (int i = 0; i < FILE_COUNT; i++)
        if (FILES[i].number == number)
            return lesson_at(i, out);
    return false;
}

bool lesson_named(const char *which, LessonFile *out)
{
    char *end;
    long number = strtol(which, &end, 10);
    if (end != which && !*end)
        return number >= 0 && number < 1000 && lesson_by_number((int)number, out);
    size_t n = strlen(which);
    for (int i = 0; n && lesson_at(i, out); i++) {
        const char *bare = out->name + strspn(out->name, "0123456789"), *names[] = {out->name, bare + (*bare == '-')};
        for (int k = 0; k < 2; k++)
            if (strncmp(names[k], which, n) == 0 && (names[k][n] == '.' || !names[k][n]))
                return true;
    }
    return false;
}

bool lesson_explains(const Lesson *l, const char *screen, const char *path)
{
    static const char SCREEN[] = "screen:";
    for (int i = 0; i < l->explains.count; i++) {
        const char *what = l->explains.at[i].text;
        bool named = strncmp(what, SCREEN, strlen(SCREEN)) == 0;
        if (named ? strcmp(what + strlen(SCREEN), screen) == 0 : address_match(what, path) || strcmp(what, path) == 0)
            return true;
    }
    return false;
}
