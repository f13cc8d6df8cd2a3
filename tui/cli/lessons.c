/* `vitrine check FILE …`: is a lesson true, and can it be played? */
#include <stdio.h>
#include <string.h>

#include "lessons/check.h"
#include "lessons/layout.h"
#include "tui/cli/verbs.h"

static bool check_names(const Options *o, const Link *l, Err *err)
{
    (void)l;
    return o->word_count > 1 || err_set(err, "check which lesson? name a Markdown file, or several");
}

/* The card's own lines, for whoever writes it. */
static void put_report(Work *w, const Player *p, const CheckCount *n, const char *file)
{
    int narrow = n->lines_most + 5; /* header, title and the rule above it, message, footer */
    buf_printf(&w->out, "%s: %s\n", file, p->lesson.title);
    buf_printf(&w->out, "  %d cards, %d minutes, %d questions with %d answers, %d numbers evaluated\n", n->cards,
               p->lesson.minutes, n->questions, n->answers, n->numbers);
    buf_printf(&w->out, "  the longest card has %d words and fits 80 columns from %d rows on\n", n->words_most, narrow);
    for (int i = 0; i < p->lesson.count; i++)
        buf_printf(&w->out, "  %2d %s%s\n", i + 1, p->lesson.cards[i].title,
                   !p->lesson.cards[i].question           ? ""
                   : p->lesson.cards[i].question->predict ? "  (prediction)"
                                                          : "  (question)");
}

/* Every seed chooses other numbers for what varies: a lesson is played with several. */
static bool check_file(Work *w, const char *file, Err *err)
{
    enum { SEEDS = 3 };
    bool sound = true;
    for (uint64_t seed = 0; sound && seed < SEEDS; seed++) {
        Lesson lesson;
        Player p = {0};
        CheckCount n;
        Buf faults = {0};
        if (!lesson_read(&lesson, file, seed, err)) {
            lesson_free(&lesson);
            return false;
        }
        sound = player_open(&p, &w->session, &lesson, err);
        if (sound) {
            sound = lesson_check(&p, &n, &faults);
            if (!sound)
                err_set(err, "%s: %d fault%s", file, n.faults, n.faults == 1 ? "" : "s");
            else if (seed == 0)
                put_report(w, &p, &n, file);
        }
        buf_puts(&w->out, buf_str(&faults));
        buf_free(&faults);
        player_close(&p);
        if (sound && !work_progress(w, "checking", 0.5))
            return err_set(err, "cancelled");
    }
    return sound;
}

static int check(Work *w, Err *err)
{
    if (!work_open(w, COMMAND_EDIT, err))
        return STATUS_BAD;
    int status = STATUS_DONE;
    for (int i = 1; i < w->options->word_count; i++) {
        Err one = {{0}};
        if (!check_file(w, w->options->word[i], &one)) {
            status = STATUS_NO;
            *err = one;
        }
    }
    return status;
}

const Verb VERB_CHECK = {
    .name = "check",
    .usage = "check FILE.md …",
    .summary = "is a lesson true, and can it be played?",
    .details =
        "Plays the lesson from its first card to its last: runs its commands, evaluates every number of its prose, "
        "answers every question by its own solution and by each wrong answer, looks its terms up in the glossary "
        "and lays every card out for 80 × 24. Prints its cards, minutes and the smallest size it fits; a fault is "
        "named with file, line and remedy, and ends with status 3.",
    .example = "vitrine check lessons/05-query-key-value.md",
    .flags = VERB_ALONE,
    .check = check_names,
    .run = check};
