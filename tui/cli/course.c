#include "tui/cli/course.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/utf8.h"

static void course_add(Course *c, const LessonFile *f)
{
    c->at = grow(c->at, &c->cap, (size_t)c->count, sizeof *c->at);
    c->at[c->count++] = *f;
}

void course_page(const LessonFile *f, char *out, size_t n)
{
    const char *slash = strrchr(f->name, '/'), *name = slash ? slash + 1 : f->name;
    utf8_print(out, n, "%.*s", (int)(strlen(name) - strlen(file_suffix(name)) - (*file_suffix(name) != 0)), name);
    for (char *p = out; *p; p++)
        *p = isalnum((unsigned char)*p) || *p == '_' ? *p : '-';
}

/* No page takes the place of another one. */
static bool course_apart(const Course *c, Err *err)
{
    char base[64], other[64];
    for (int i = 0; i < c->count; i++) {
        course_page(&c->at[i], base, sizeof base);
        bool taken = strcmp(base, "index") == 0 || strcmp(base, "glossary") == 0;
        for (int k = 0; k < i && !taken; k++) {
            course_page(&c->at[k], other, sizeof other);
            taken = strcmp(base, other) == 0;
        }
        if (taken)
            return err_set(err, "%.200s: there is a page %s.html already; give the file another name", c->at[i].name,
                           base);
    }
    return true;
}

bool course_known(const char *word, Err *err)
{
    LessonFile f;
    return lesson_named(word, &f) || file_exists(word) ||
           err_set(err, "there is no lesson '%.60s'; `vitrine lessons` lists them", word);
}

bool course_read(Course *c, const char *const *words, int count, Err *err)
{
    LessonFile f;
    c->whole = !count;
    for (int i = 0; c->whole && lesson_at(i, &f); i++)
        course_add(c, &f);
    for (int i = 0; i < count; i++) {
        Buf text = {0};
        bool own = !lesson_named(words[i], &f);
        if (own && !file_read(words[i], LESSON_BYTES, &text, err)) {
            buf_free(&text);
            return false;
        }
        if (own) {
            char *kept = arena_alloc(&c->arena, text.len + 1);
            memcpy(kept, buf_str(&text), text.len);
            f = (LessonFile){-1, words[i], kept, text.len};
        }
        buf_free(&text);
        course_add(c, &f);
    }
    return course_apart(c, err);
}

void course_free(Course *c)
{
    free(c->at);
    arena_free(&c->arena);
}

bool course_has(const Course *c, const LessonFile *f)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->at[i].name, f->name) == 0)
            return true;
    return false;
}
