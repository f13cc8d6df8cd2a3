/* The verbs of lessons: the list, one of them on the screen or on paper, a check for who writes one, pages for a
 * browser. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "lessons/check.h"
#include "tui/app.h"
#include "tui/cli/course.h"
#include "tui/cli/help.h"
#include "tui/cli/play.h"
#include "tui/cli/verbs.h"
#include "tui/desk.h"

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
    if (!work_open(w, LINE_FOREIGN, err))
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
    .summary = "whether a lesson is true and can be played",
    .details = "Plays the lesson from its first card to its last: runs its commands, evaluates every number of its "
               "text, gives every question its solution and each wrong answer, looks its terms up in the glossary and "
               "lays out every card for 80 × 24. Prints its cards, minutes and the smallest size it fits. A fault is "
               "named with file, line and remedy; the exit status is then 3.",
    .example = "vitrine check lessons/05-query-key-value.md",
    .flags = VERB_ALONE,
    .check = check_names,
    .run = check};

static bool check_alone(const Options *o, const Link *l, Err *err)
{
    (void)l;
    return o->word_count == 1 || err_set(err, "lessons takes no '%.100s'; `vitrine lesson N` opens one", o->word[1]);
}

static int list(Work *w, Err *err)
{
    (void)err;
    lessons_text(&w->out);
    return STATUS_DONE;
}

const Verb VERB_LESSONS = {.name = "lessons",
                           .usage = "lessons",
                           .summary = "the lessons, with minutes and how far you are",
                           .details = "A lesson is a row of cards beside the real screens: read, press a key, look. "
                                      "`vitrine lesson 0` begins; on the screen t lists them.",
                           .example = "vitrine lessons",
                           .flags = VERB_ALONE,
                           .check = check_alone,
                           .run = list};

static bool is_new(const Options *o)
{
    return o->word_count == 3 && strcmp(o->word[1], "new") == 0;
}

static bool check_one(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (is_new(o))
        return !file_exists(o->word[2]) ||
               err_set(err, "%.300s is there, and may be your work: name another file, or move it away", o->word[2]);
    if (o->word_count != 2)
        return err_set(err, "which lesson? `vitrine lessons` lists them, `vitrine lesson new FILE.md` writes one");
    return course_known(o->word[1], err);
}

/* A lesson brings its own model and pictures. */
static bool screen(const Options *o, AppOptions *a)
{
    a->model = a->input = a->resolution = NULL;
    a->lesson = o->word[1];
    return !o->paper && !is_new(o);
}

/* A small one, to change. */
static int write_new(Work *w, Err *err)
{
    const char *file = w->options->word[2];
    Buf text = {0};
    page_lesson(&text);
    bool ok = file_write(file, text.data, text.len, err);
    buf_free(&text);
    if (!ok)
        return STATUS_BAD;
    w->written = true;
    buf_printf(&w->out,
               "%s: two cards, for you to change\ncheck it: vitrine check %s\ntake it:  vitrine lesson %s\ngrammar:  "
               "vitrine help lessons\n",
               file, file, file);
    return STATUS_DONE;
}

static int paper(Work *w, Err *err)
{
    LessonFile f;
    Lesson lesson;
    Player p = {0};
    const char *which = w->options->word[1];
    if (is_new(w->options))
        return write_new(w, err);
    if (!work_open(w, LINE_FOREIGN, err))
        return STATUS_BAD;
    bool ok = lesson_named(which, &f) ? lesson_parse(&lesson, f.name, f.text, f.size, 0, err)
                                      : lesson_read(&lesson, which, 0, err);
    ok = ok && player_open(&p, &w->session, &lesson, err) && paper_put(&p, &w->out, err);
    lesson_free(&lesson);
    player_close(&p);
    return ok ? STATUS_DONE : STATUS_BAD;
}

const Verb VERB_LESSON = {
    .name = "lesson",
    .usage = "lesson N or FILE.md [--paper], lesson new FILE.md",
    .summary = "opens a lesson where you left it",
    .details = "N is a number of `vitrine lessons`, or a lesson's name; FILE.md is a lesson of your own; `new` writes "
               "a first one to change, and `vitrine help lessons` is its grammar. --paper writes the worked example to "
               "standard output: one page with what is given, room to compute the rest, and the answers at the bottom.",
    .example = "vitrine lesson 5 --paper",
    .flags = VERB_ALONE,
    .check = check_one,
    .screen = screen,
    .run = paper};

static bool exports_lessons(const Options *o)
{
    return o->word_count > 1 && (strcmp(o->word[1], "lessons") == 0 || strcmp(o->word[1], "lesson") == 0);
}

/* Each a number, a name or a file of one's own, and a folder to put them in. */
static bool check_pages(const Options *o, Err *err)
{
    if (!o->output || strcmp(o->output, "-") == 0 || screen_suffix(o->output))
        return err_set(err, "pages go into a folder: vitrine export lessons%s%.200s -o FOLDER",
                       o->word_count > 2 ? " " : "", o->word_count > 2 ? o->word[2] : "");
    for (int i = 2; i < o->word_count; i++)
        if (!course_known(o->word[i], err))
            return false;
    return o->word_count > 2 || strcmp(o->word[1], "lessons") == 0 ||
           err_set(err, "which lesson? vitrine export lesson 6 -o FOLDER");
}

static bool check_export(const Options *o, const Link *l, Err *err)
{
    (void)l;
    bool file = o->output && strcmp(o->output, "-") != 0;
    if (exports_lessons(o))
        return check_pages(o, err);
    if (o->word_count > 1 && file_is(o->word[1], "md"))
        return err_set(err, "a lesson becomes pages in a folder: vitrine export lessons %.200s -o FOLDER", o->word[1]);
    return (file && (screen_suffix(o->output) || file_is(o->output, "cast"))) ||
           err_set(err, "export where to? -o FILE.svg, .png, .html, .txt or .ans is the screen with its command below; "
                        "values have `vitrine show`, and `export lessons -o FOLDER` makes pages of the lessons");
}

/* One screen, or every step of a script, each with the command that draws it again. */
static int export_screen(Work *w, Err *err)
{
    const Options *o = w->options;
    Commands commands = session_command_set();
    Script s = {.title = ""};
    Buf below = {0}, picture = {0};
    bool ok = link_parse(&w->link, o->word + 1, o->word_count - 1, LINK_ADDRESS, &commands, err);
    w->address = w->link.address ? w->link.address : o->at ? o->at : "";
    ok = ok && work_open(w, LINE_OWN | COMMAND_UI, err);
    if (ok && o->script)
        ok = script_read(&s, o->script, err) && play_export(w, &s, LINE_REPLAY | COMMAND_UI, err);
    else if (ok) {
        play_given(w, &below);
        ok = screen_draw_below(w, o->output, buf_str(&below), &picture, err) &&
             file_write(o->output, picture.data, picture.len, err);
        w->written = ok;
    }
    script_free(&s);
    buf_free(&below);
    buf_free(&picture);
    commands_free(&commands);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int run_export(Work *w, Err *err)
{
    return exports_lessons(w->options) ? lessons_export(w, err) : export_screen(w, err);
}

const Verb VERB_EXPORT = {
    .name = "export",
    .usage = "export [ADDRESS] [--script FILE] -o FILE, export lessons [N or FILE.md …] -o FOLDER",
    .summary = "a screen or a script for slides and papers, with its command below; or the lessons as pages",
    .details = "FILE.svg .png .html .txt .ans: the screen as `vitrine screen` draws it, and below it the command line "
               "that draws it; with --script every step, with its caption too. export lessons: static pages without "
               "scripts, of all lessons or of those named, your own among them: every card with its numbers, its "
               "screen as SVG for light and dark ground, the table of its worked example, its question with all "
               "answers explained. FOLDER is made if it does not exist.",
    .example = "vitrine export 10 -c 'view matrix' -o shot.svg",
    .flags = VERB_ALONE | VERB_UI,
    .check = check_export,
    .run = run_export};

/* --- lessons that become pages --- */

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
