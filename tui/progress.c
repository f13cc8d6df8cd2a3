#include "tui/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app.h"

static bool read_line(const char *line, LessonProgress *p)
{
    LessonProgress q = {.card = 0};
    unsigned long long seed;
    if (sscanf(line, "%63s %d %d %llu %64s", q.name, &q.card, &q.cards, &seed, q.answers) != 5 || q.cards < 1 ||
        q.cards > LESSON_CARDS || q.card < 0 || q.card >= q.cards || strlen(q.answers) != (size_t)q.cards)
        return false;
    q.seed = seed;
    *p = q;
    return true;
}

/* The next line of *text that is one of them; false: there is none left. */
static bool next_line(char **text, LessonProgress *p)
{
    while (*text && **text) {
        char *line = *text, *end = line + strcspn(line, "\n");
        *text = end + (*end == '\n');
        *end = 0;
        if (read_line(line, p))
            return true;
    }
    return false;
}

LessonProgress progress_load(const char *name)
{
    LessonProgress found = {.card = 0}, p;
    char *text = state_load_file("lessons");
    for (char *at = text; next_line(&at, &p);)
        if (strcmp(p.name, name) == 0)
            found = p;
    free(text);
    return found;
}

static void put_line(const LessonProgress *p, Buf *out)
{
    buf_printf(out, "%s %d %d %llu %s\n", p->name, p->card, p->cards, (unsigned long long)p->seed, p->answers);
}

void progress_save(const LessonProgress *p)
{
    Buf out = {0};
    LessonProgress other;
    char *text = state_load_file("lessons");
    for (char *at = text; next_line(&at, &other);)
        if (strcmp(other.name, p->name) != 0)
            put_line(&other, &out);
    free(text);
    put_line(p, &out);
    state_save_file("lessons", buf_str(&out));
    buf_free(&out);
}

void progress_of(const Player *p, const char *name, uint64_t seed, LessonProgress *out)
{
    *out = (LessonProgress){.card = p->card < 0 ? 0 : p->card, .cards = p->lesson.count, .seed = seed};
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 0; i < p->lesson.count; i++) {
        const Answer *a = &p->answers[i];
        const Question *q = p->lesson.cards[i].question;
        bool choice = q && q->kind == QUESTION_CHOICE;
        out->answers[i] = (char)(!a->given && a->skipped           ? 's'
                                 : !q || (!a->given && !a->missed) ? '-'
                                 : choice                          ? (a->missed ? 'a' : '1') + a->choice
                                 : !a->right                       ? 'w'
                                 : a->missed                       ? 'R'
                                                                   : 'r');
    }
}

void progress_put(const LessonProgress *from, Player *p)
{
    for (int i = 0; i < p->lesson.count && i < from->cards; i++) {
        const Question *q = p->lesson.cards[i].question;
        char what = from->answers[i];
        bool missed = what >= 'a' && what <= 'h';
        int choice = what - (missed ? 'a' : '1');
        if (!q)
            continue;
        if (q->kind == QUESTION_CHOICE && choice >= 0 && choice < q->count)
            p->answers[i] = (Answer){.given = true,
                                     .right = q->choices[choice].right,
                                     .choice = choice,
                                     .missed = missed};
        else if (q->kind != QUESTION_CHOICE && !q->predict && (what == 'r' || what == 'R'))
            p->answers[i] = (Answer){.given = true, .right = true, .missed = what == 'R'};
        else if (q->kind != QUESTION_CHOICE && (what == 'w' || what == 'R'))
            p->answers[i].missed = true;
        else if (what == 's')
            p->answers[i] = (Answer){.skipped = true, .told = !q->predict};
    }
}

bool progress_take_missed(LessonProgress *p, int card)
{
    char *what = &p->answers[card], before = *what;
    if (before >= 'a' && before <= 'h')
        *what = (char)('1' + before - 'a');
    else if (before == 'R' || before == 'w')
        *what = before == 'R' ? 'r' : '-';
    return *what != before;
}
