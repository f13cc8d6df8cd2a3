#include "tui/record.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/session/ask/ask.h"
#include "core/session/state.h"
#include "lessons/lesson.h"
#include "lessons/numbers.h"
#include "lessons/sentences.h"

enum { WORDS_MOST = 55 };

static bool recordable(const Session *s, Err *err)
{
    if (*s->model_path)
        return err_set(err, "a lesson speaks of the program's own model: open it first (model bundled)");
    return *session_input(s, SIDE_B)->path == '#' ||
           err_set(err, "a lesson opens no files: record with a drawn picture, such as #17");
}

bool record_open(Record *r, Session *s, const char *path, Err *err)
{
    if (!recordable(s, err))
        return false;
    if (!file_is(path, "md"))
        return err_set(err, "a lesson is a Markdown file: record talk.md");
    if (file_exists(path))
        return err_set(err, "%.200s is there already: choose another name", path);
    record_close(r);
    r->path = xstrdup(path);
    return record_step(r, s, err);
}

void record_close(Record *r)
{
    free(r->path);
    buf_free(&r->cards);
    *r = (Record){0};
}

/* Appends as many whole sentences of said[0 … n) as fit into so many words, else as many parts of the first one; of one
 * that is longer the words. */
static void put_sentences(const char *said, size_t n, int most, Buf *out)
{
    int words = 0;
    size_t whole = 0, part = 0, i = 0;
    for (; i < n && words < most; i++) {
        if (said[i] != ' ' && said[i] != '\n')
            continue;
        words++;
        if (i && strchr(".?!", said[i - 1]))
            whole = i;
        else if (i && said[i - 1] == ';')
            part = i - 1;
    }
    if (i == n)
        whole = n;
    buf_add(out, said, whole ? whole : part ? part : i);
    buf_puts(out, whole ? "" : part ? "." : "…");
}

/* What a card has words for: of A and of B half of them each. */
static void cut(Buf *said)
{
    Buf all = {0};
    const char *text = buf_str(said), *b = strstr(text, "\nB: ");
    put_sentences(text, b ? (size_t)(b - text) : said->len, b ? WORDS_MOST / 2 : WORDS_MOST, &all);
    if (b) {
        buf_putc(&all, '\n');
        put_sentences(b + 1, said->len - (size_t)(b + 1 - text), WORDS_MOST / 2, &all);
    }
    buf_free(said);
    *said = all;
}

/* Signs that mean something in Markdown are meant as they are. */
static void put_prose(const char *text, Buf *out)
{
    for (const char *p = text; *p; p++) {
        if (strchr("*_`#<>[]&\\{}|~", *p))
            buf_putc(out, '\\');
        buf_putc(out, *p == '\n' ? ' ' : *p);
    }
}

/* Numbers of the draft and words that compare, as a check of lessons finds them, are given: whoever edits it says by
 * `expect` what they are the values of. card: without its end. */
static void put_given(Buf *card)
{
    Lesson l = {0};
    Buf text = {0}, list = {0};
    Err err;
    buf_printf(&text, "# A talk\n\n```vitrine\nminutes 1\nable \"Say.\"\n```\n%s```\n", buf_str(card));
    if (lesson_parse(&l, "talk.md", buf_str(&text), text.len, 0, &err))
        numbers_of(&l, 0, &list);
    sentences_comparing(buf_str(card), &list);
    if (list.len)
        buf_printf(card, "given%s\n", buf_str(&list));
    lesson_free(&l);
    buf_free(&text);
    buf_free(&list);
}

static bool put_card(Record *r, Session *s, Err *err)
{
    Buf said = {0}, lines = {0}, card = {0};
    bool both = session_compares(s) && s->compare != COMPARE_OFF;
    if (!ask_say(s, both ? SIDE_DIFF : session_side(s), &said, err)) {
        buf_free(&said);
        return false;
    }
    cut(&said);
    buf_printf(&card, "\n## %s\n\n", s->stages.boxes[s->place.box].label);
    put_prose(buf_str(&said), &card);
    buf_printf(&card, "\n\n```vitrine\npicture %s\n", session_input(s, SIDE_B)->path);
    session_write(s, 0, &lines);
    for (const char *p = buf_str(&lines); *p; p += strcspn(p, "\n") + 1)
        buf_printf(&card, "do %.*s\n", (int)strcspn(p, "\n"), p);
    put_given(&card);
    buf_printf(&r->cards, "%s```\n", buf_str(&card));
    r->count++;
    buf_free(&card);
    buf_free(&said);
    buf_free(&lines);
    return true;
}

bool record_step(Record *r, Session *s, Err *err)
{
    Buf file = {0};
    r->due = false;
    if (!recordable(s, err) || !put_card(r, s, err))
        return false;
    buf_printf(&file, "# A talk\n\n```vitrine\nminutes %d\nable \"Say here what one can do afterwards.\"\n```\n%s",
               r->count < 60 ? r->count : 60, buf_str(&r->cards));
    bool ok = file_write(r->path, file.data, file.len, err);
    buf_free(&file);
    return ok;
}
