/* `vitrine export lessons`: the course as static pages, with the real screens as SVG for a light and a dark ground. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/session/ask/ask.h"
#include "core/session/screens.h"
#include "lessons/play.h"
#include "tui/canvas/export.h"
#include "tui/cli/course.h"
#include "tui/cli/verbs.h"
#include "tui/frame.h"

enum { WIDTH = 92, HEIGHT = 26 };

static const char STYLE[] =
    ":root{color-scheme:light dark}body{font:1.05rem/1.6 Georgia,serif;max-width:52rem;margin:2rem auto;padding:0 "
    "1rem;background:#fdfcf9;color:#222}code,pre{font:0.9em/1.4 ui-monospace,monospace;background:#efece4;padding:0 "
    ".2em}pre{padding:.6em;overflow:auto}h2{margin-top:2.5rem;border-top:1px solid "
    "#ccc;padding-top:1rem}img{width:100%;height:auto;border:1px solid "
    "#ccc}a.term{color:inherit;text-decoration:none;border-bottom:1px dotted "
    "#888}dt{font-weight:bold;margin-top:1rem}table{border-collapse:collapse;margin:.6rem 0;font:0.9em/1.5 "
    "ui-monospace,monospace}caption{text-align:left;color:#666;caption-side:bottom}td{text-align:right;padding:0 "
    ".7em;font-variant-numeric:tabular-nums;white-space:pre}th{font-weight:normal;color:#666;text-align:right;padding:"
    "0 .7em}details{margin:.4rem 0}.q{border-left:3px solid #888;padding-left:1rem}nav{margin:1rem "
    "0}a{color:#06c}.small{font-size:.85em;color:#666}@media screen and "
    "(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}code,pre{background:#26292f}img,h2{border-color:#"
    "444}a{color:#7ab8ff}a.term{color:inherit}.small{color:#999}}"
    /* on paper: black on white, a card's heading with its card, pictures and questions whole, links as words */
    "@media "
    "print{body{max-width:none;margin:0;background:none;color:#000;font-size:10.5pt}a,a.term{color:inherit;text-"
    "decoration:none;border:0}nav{display:none}h2{margin-top:1.2rem;break-after:avoid}img,table,pre,.q{break-inside:"
    "avoid}img{max-height:16cm;object-fit:contain}p{orphans:3;widows:3}@page{margin:18mm}}";

void html_text(Buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            buf_puts(out, "&lt;");
        else if (*s == '>')
            buf_puts(out, "&gt;");
        else if (*s == '&')
            buf_puts(out, "&amp;");
        else if (*s == '"')
            buf_puts(out, "&quot;");
        else
            buf_putc(out, *s);
    }
}

/* The words that the pages link to, each once: glossary.html. */
typedef struct Term {
    char *slug, *entry;
} Term;
typedef struct Terms {
    Term *at;
    int count;
    size_t cap;
} Terms;

/* "layer normalisation" as a place on a page. */
static void put_slug(Buf *out, const char *term)
{
    for (; *term; term++)
        buf_putc(out, isalnum((unsigned char)*term) ? (char)tolower((unsigned char)*term) : '-');
}

static bool term_known(const Terms *t, const char *slug)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->at[i].slug, slug) == 0)
            return true;
    return false;
}

/* A link to its entry, which is written where it is not there yet. */
static bool put_term(Session *s, Terms *t, Buf *out, const char *term, Err *err)
{
    Buf slug = {0}, entry = {0};
    put_slug(&slug, term);
    bool ok = term_known(t, buf_str(&slug)) || ask_glossary(s, term, &entry, err);
    if (ok && entry.len) {
        t->at = grow(t->at, &t->cap, (size_t)t->count, sizeof *t->at);
        t->at[t->count] = (Term){xstrdup(buf_str(&slug)), xstrdup(buf_str(&entry))};
        t->at[t->count].entry[strcspn(t->at[t->count].entry, "\n")] = 0; /* behind it: nodes and axes of that name */
        t->count++;
    }
    if (ok) {
        buf_printf(out, "<a class=\"term\" href=\"glossary.html#%s\">", buf_str(&slug));
        html_text(out, term);
        buf_puts(out, "</a>");
    }
    buf_free(&slug);
    buf_free(&entry);
    return ok;
}

static void terms_free(Terms *t)
{
    for (int i = 0; i < t->count; i++) {
        free(t->at[i].slug);
        free(t->at[i].entry);
    }
    free(t->at);
}

/* Prose of the block language: `code` inside quoted sentences, and live values. */
static bool put_live(const Player *p, Buf *out, const char *s, Err *err)
{
    Buf live = {0};
    bool ok = player_text(p, s, &live, err), code = false;
    for (const char *at = buf_str(&live); ok && *at;) {
        size_t n = strcspn(at, "`");
        char *part = xmalloc(n + 1);
        memcpy(part, at, n);
        part[n] = 0;
        html_text(out, part);
        free(part);
        at += n;
        if (*at == '`') {
            buf_puts(out, code ? "</code>" : "<code>");
            code = !code;
            at++;
        }
    }
    if (code)
        buf_puts(out, "</code>");
    buf_free(&live);
    return ok;
}

static bool put_item(const Player *p, Terms *terms, Buf *out, const Prose *item, Err *err)
{
    static const char *const TAGS[][2] = {[ITEM_PARAGRAPH] = {"<p>", "</p>\n"},
                                          [ITEM_BULLET] = {"<ul><li>", "</li></ul>\n"},
                                          [ITEM_NUMBERED] = {"<p>", "</p>\n"},
                                          [ITEM_VERBATIM] = {"<pre>", "</pre>\n"},
                                          [ITEM_QUOTE] = {"<blockquote>", "</blockquote>\n"}};
    static const char *const SPANS[][2] = {[SPAN_PLAIN] = {"", ""},
                                           [SPAN_TERM] = {"", ""},
                                           [SPAN_STRONG] = {"<strong>", "</strong>"},
                                           [SPAN_CODE] = {"<code>", "</code>"},
                                           [SPAN_LINK] = {"", ""}};
    buf_puts(out, TAGS[item->kind][0]);
    if (item->kind == ITEM_NUMBERED)
        buf_printf(out, "%d. ", item->number);
    bool ok = true;
    for (int i = 0; ok && i < item->count; i++) {
        const Span *s = &item->spans[i];
        bool code = s->style == SPAN_CODE;
        buf_puts(out, item->kind == ITEM_VERBATIM ? "" : SPANS[s->style][0]);
        if (code)
            html_text(out, s->text);
        else if (s->style == SPAN_TERM)
            ok = put_term(p->s, terms, out, s->text, err);
        else
            ok = put_live(p, out, s->text, err);
        buf_puts(out, item->kind == ITEM_VERBATIM ? "" : SPANS[s->style][1]);
    }
    buf_puts(out, TAGS[item->kind][1]);
    return ok;
}

static bool put_question(const Player *p, Buf *out, const Question *q, Err *err)
{
    double x;
    buf_printf(out, "<div class=\"q\"><p><strong>%s</strong> ", q->predict ? "Predict." : "Question.");
    bool ok = put_live(p, out, q->text, err);
    buf_puts(out, "</p>\n");
    for (int i = 0; ok && i < q->count && q->kind == QUESTION_CHOICE; i++) {
        buf_puts(out, "<details><summary>");
        ok = put_live(p, out, q->choices[i].text, err);
        buf_printf(out, "</summary><p>%s ", q->choices[i].right ? "Right." : "No.");
        ok = ok && put_live(p, out, q->choices[i].why, err);
        buf_puts(out, "</p></details>\n");
    }
    if (ok && q->kind == QUESTION_NUMBER && (ok = player_value(p, q->answer, &x, err)) != false) {
        buf_puts(out, "<details><summary>Answer</summary><p>");
        number_put(x, -1, out);
        buf_puts(out, ". ");
        ok = !q->why || put_live(p, out, q->why, err);
        buf_puts(out, "</p></details>\n");
    }
    if (ok && (q->kind == QUESTION_PLACE || q->kind == QUESTION_CHANGE)) {
        buf_puts(out, "<details><summary>One way</summary><p><code>");
        html_text(out, q->solution);
        buf_puts(out, "</code></p></details>\n");
    }
    buf_puts(out, "</div>\n");
    return ok;
}

/* The screens of a lesson, each once: what it looks like, and the file's name. */
typedef struct Shot {
    uint64_t look;
    char name[112], *table; /* table: its numbers, of a worked example; owned */
    int card;
} Shot;
typedef struct Shots {
    Shot *at;
    int count;
    size_t cap;
} Shots;

static uint64_t look_of(const Buf *svg)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < svg->len; i++)
        h = (h ^ (unsigned char)svg->data[i]) * 1099511628211u;
    return h;
}

/* The screen of the card that the player is on, into NAME-light.svg and NAME-dark.svg; *shown gets its number among the
 * shots: an earlier one where it looks the same. */
static bool write_screens(Work *w, const Player *p, const char *folder, const char *name, Shots *shots, int *shown,
                          Err *err)
{
    bool ok = screen_compute(w, HEIGHT, WIDTH, err);
    *shown = -1;
    for (int light = 0; ok && light < 2 && *shown < 0; light++) {
        Canvas c;
        Buf svg = {0};
        char path[1200];
        canvas_init(&c, HEIGHT, WIDTH);
        canvas_clear(&c);
        Paint paint = {.s = &w->session, .c = &c, .mode = MODE_TRUE, .light = light};
        Frame f = frame_layout(&w->session, HEIGHT, WIDTH, false);
        frame_draw(&paint, &f, &(FrameState){.message = ""});
        export_svg(&c, MODE_TRUE, light, "A screen of Vitrine", &svg);
        uint64_t look = light ? 0 : look_of(&svg);
        for (int i = 0; !light && i < shots->count; i++)
            if (shots->at[i].look == look)
                *shown = i;
        if (*shown < 0) {
            snprintf(path, sizeof path, "%s/%s-%s.svg", folder, name, light ? "light" : "dark");
            ok = file_write(path, buf_str(&svg), svg.len, err);
        }
        if (!light && *shown < 0) {
            shots->at = grow(shots->at, &shots->cap, (size_t)shots->count, sizeof *shots->at);
            Shot *new = &shots->at[shots->count++];
            Buf table = {0};
            Address at;
            if (player_shows(p, &at))
                html_table(&w->session, &table);
            *new = (Shot){.look = look, .card = p->card, .table = xstrdup(buf_str(&table))};
            buf_free(&table);
            snprintf(new->name, sizeof new->name, "%s", name);
        }
        buf_free(&svg);
        canvas_free(&c);
    }
    if (ok && *shown < 0)
        *shown = shots->count - 1;
    return ok;
}

static void head(Buf *out, const char *title)
{
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"><title>");
    html_text(out, title);
    buf_printf(out, "</title><style>%s</style></head><body>\n", STYLE);
}

static void put_sources(Buf *out, const Card *c)
{
    for (int k = 0; k < c->quoted.count; k += 2)
        if (strcmp(c->quoted.at[k + 1].text, "given") != 0 && *c->quoted.at[k + 1].text) {
            buf_puts(out, "<p class=\"small\">Quoted: ");
            html_text(out, c->quoted.at[k + 1].text);
            buf_puts(out, ".</p>\n");
        }
}

static bool has_screen(const Card *c)
{
    return c->commands.count || c->show.count || c->picture.count;
}

/* "05-query-key-value-02", behind a pause "05-query-key-value-02-2". */
static void screen_file(char out[112], const char *base, int card, int stage)
{
    snprintf(out, 112, stage ? "%s-%02d-%d" : "%s-%02d", base, card + 1, stage + 1);
}

/* All screens of a card, one before each of its pauses and the last; shown[*stages] are their shots. The player is
 * through them afterwards. */
enum { STAGES = 16 };
static bool write_stages(Work *w, Player *p, int card, const char *folder, const char *base, Shots *shots,
                         int shown[STAGES], int *stages, Err *err)
{
    char name[112];
    bool ok = player_enter(p, card, err), more = has_screen(&p->lesson.cards[card]);
    for (*stages = 0; ok && more; ++*stages) {
        playing_end(p->s);
        screen_file(name, base, card, *stages);
        ok = write_screens(w, p, folder, name, shots, &shown[*stages], err);
        more = ok && player_waits(p) && *stages + 1 < STAGES;
        ok = ok && (!more || player_on(p, err));
    }
    return ok;
}

/* "And then `set scale off`:" the commands behind that pause. */
static void put_then(Buf *out, const Card *c, int stage)
{
    int pauses = 0, count = 0;
    for (int i = 0; i < c->commands.count; i++) {
        const char *command = c->commands.at[i].text;
        pauses += !*command;
        if (!*command || pauses != stage)
            continue;
        buf_puts(out, count++ ? "; " : "And then <code>");
        html_text(out, command);
    }
    buf_puts(out, count ? "</code>" : "And then");
}

/* What comes behind a pause is folded away where the card asks: it may be the answer. A screen stands once: who looks
 * the same again is pointed at. before: shots that there were when the card began. */
static void put_screen(Buf *out, const char *base, const Card *c, const Shots *shots, int shown, int before, int stage)
{
    const Shot *shot = &shots->at[shown];
    bool folded = stage && c->question, old = shown < before;
    if (folded)
        buf_puts(out, "<details><summary>");
    if (stage) {
        buf_puts(out, folded ? "" : "<p class=\"small\">");
        put_then(out, c, stage);
        buf_puts(out, folded ? "</summary>" : ":</p>\n");
    }
    if (old)
        buf_printf(out, "<p class=\"small\">The screen is that of <a href=\"%s.html#card-%d\">card %d</a>.</p>\n", base,
                   shot->card + 1, shot->card + 1);
    else {
        buf_printf(out,
                   "<picture><source media=\"screen and (prefers-color-scheme: dark)\" srcset=\"%s-dark.svg\"><img "
                   "src=\"%s-light.svg\" alt=\"The screen of this card: ",
                   shot->name, shot->name);
        html_text(out, c->show.count ? c->show.at[0].text : c->title);
        buf_printf(out, "\"></picture>\n%s", shot->table);
    }
    buf_puts(out, folded ? "</details>" : "");
}

/* A prediction's explanations speak of what the next card shows: their values are computed there. */
static bool put_card(Work *w, Player *p, int i, const char *folder, const char *base, Shots *shots, Terms *terms,
                     Buf *out, Err *err)
{
    int stages, shown[STAGES], before = shots->count;
    const Card *c = &p->lesson.cards[i];
    if (!write_stages(w, p, i, folder, base, shots, shown, &stages, err))
        return false;
    buf_printf(out, "<h2 id=\"card-%d\">%d. ", i + 1, i + 1);
    html_text(out, c->title);
    buf_puts(out, "</h2>\n");
    for (int k = 0; k < c->item_count; k++)
        if (!put_item(p, terms, out, &c->items[k], err))
            return false;
    if (c->question && c->question->predict && i + 1 < p->lesson.count && !player_through(p, i + 1, err))
        return false;
    if (c->question && !put_question(p, out, c->question, err))
        return false;
    put_sources(out, c);
    for (int k = 0; k < stages; k++)
        if (k == 0 || shown[k] != shown[k - 1])
            put_screen(out, base, c, shots, shown[k], before, k);
    return true;
}

static void put_lines(Buf *out, const char *before, const Texts *t)
{
    for (int i = 0; i < t->count; i++) {
        buf_printf(out, "<p class=\"small\">%s ", before);
        html_text(out, t->at[i].text);
        buf_puts(out, "</p>\n");
    }
}

/* Its title; a link where it has a page. */
static void put_link(const Course *course, Buf *out, const LessonFile *f, const char *before, const char *after)
{
    char base[64];
    Lesson l;
    bool page = course_has(course, f);
    course_page(f, base, sizeof base);
    if (lesson_parse(&l, f->name, f->text, f->size, 0, NULL)) {
        if (page)
            buf_printf(out, "<a href=\"%s.html\">", base);
        buf_puts(out, before);
        if (l.number >= 0)
            buf_printf(out, "%d. ", l.number);
        html_text(out, l.title);
        buf_printf(out, "%s%s", after, page ? "</a>" : "");
    }
    lesson_free(&l);
}

/* All lessons, the one before and the one behind. */
static void put_ways(const Course *c, Buf *out, int i)
{
    buf_puts(out, "<nav><a href=\"index.html\">All lessons</a>");
    if (i > 0) {
        buf_puts(out, " · ");
        put_link(c, out, &c->at[i - 1], "← ", "");
    }
    if (i + 1 < c->count) {
        buf_puts(out, " · ");
        put_link(c, out, &c->at[i + 1], "", " →");
    }
    buf_puts(out, "</nav>\n");
}

static void put_needed(const Course *c, Buf *out, const Texts *needs)
{
    LessonFile f;
    for (int i = 0; i < needs->count; i++)
        if (lesson_named(needs->at[i].text, &f)) {
            buf_puts(out, i ? ", " : "<p class=\"small\">Builds on: ");
            put_link(c, out, &f, "", "");
        }
    if (needs->count)
        buf_puts(out, ".</p>\n");
}

static bool write_page(const char *folder, const char *base, const Buf *page, Err *err)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s.html", folder, base);
    return file_write(path, buf_str(page), page->len, err);
}

static bool write_lesson(Work *w, const Course *course, int which, const char *folder, Terms *terms, Buf *index,
                         Err *err)
{
    Lesson lesson;
    LessonFile f = course->at[which];
    Player p = {0};
    Buf out = {0};
    Shots shots = {.count = 0};
    char base[64];
    course_page(&f, base, sizeof base);
    bool ok = lesson_parse(&lesson, f.name, f.text, f.size, 0, err) && player_open(&p, &w->session, &lesson, err);
    if (ok) {
        head(&out, p.lesson.title);
        put_ways(course, &out, which);
        buf_puts(&out, "<h1>");
        if (p.lesson.number >= 0)
            buf_printf(&out, "%d. ", p.lesson.number);
        html_text(&out, p.lesson.title);
        buf_printf(&out, "</h1><p class=\"small\">%d minutes, %d cards.</p>\n", p.lesson.minutes, p.lesson.count);
        for (int i = 0; i < p.lesson.intro.count; i++) {
            buf_puts(&out, "<p>");
            html_text(&out, p.lesson.intro.at[i].text);
            buf_puts(&out, "</p>\n");
        }
        put_needed(course, &out, &p.lesson.needs);
        put_lines(&out, "Afterwards you can:", &p.lesson.able);
        put_lines(&out, "Often believed:", &p.lesson.misconception);
    }
    for (int i = 0; ok && i < p.lesson.count; i++)
        ok = put_card(w, &p, i, folder, base, &shots, terms, &out, err);
    if (ok) {
        put_lines(&out, "In one sentence:", &p.lesson.summary);
        put_lines(&out, "Read on:", &p.lesson.reads);
        put_ways(course, &out, which);
        buf_puts(&out, "</body></html>\n");
        ok = write_page(folder, base, &out, err);
        if (course->whole && f.number < 0 && which > 0 && course->at[which - 1].number >= 0)
            buf_puts(index, "</ul><h2>Short cards that the lessons build on</h2><ul>\n");
        buf_puts(index, "<li>");
        put_link(course, index, &f, "", "");
        buf_printf(index, " <span class=\"small\">%d minutes</span></li>\n", p.lesson.minutes);
    }
    for (int i = 0; i < shots.count; i++)
        free(shots.at[i].table);
    free(shots.at);
    buf_free(&out);
    lesson_free(&lesson);
    player_close(&p);
    return ok;
}

static int by_slug(const void *a, const void *b)
{
    return strcmp(((const Term *)a)->slug, ((const Term *)b)->slug);
}

static bool write_glossary(const char *folder, Terms *t, Err *err)
{
    Buf out = {0};
    head(&out, "Words");
    buf_puts(&out, "<nav><a href=\"index.html\">All lessons</a></nav><h1>Words</h1><dl>\n");
    if (t->count)
        qsort(t->at, (size_t)t->count, sizeof *t->at, by_slug);
    for (int i = 0; i < t->count; i++) {
        const char *entry = t->at[i].entry, *colon = strstr(entry, ": ");
        size_t n = colon ? (size_t)(colon - entry) : strlen(entry);
        char *name = xmalloc(n + 1);
        memcpy(name, entry, n);
        name[n] = 0;
        buf_printf(&out, "<dt id=\"%s\">", t->at[i].slug);
        html_text(&out, name);
        buf_puts(&out, "</dt><dd>");
        html_text(&out, colon ? colon + 2 : "");
        buf_puts(&out, "</dd>\n");
        free(name);
    }
    buf_puts(&out, "</dl></body></html>\n");
    bool ok = write_page(folder, "glossary", &out, err);
    buf_free(&out);
    return ok;
}

int lessons_export(Work *w, Err *err)
{
    const char *folder = w->options->output;
    Buf index = {0};
    Course course = {.count = 0};
    if (!work_open(w, LINE_FOREIGN, err))
        return STATUS_BAD;
    if (!course_read(&course, w->options->word + 2, w->options->word_count - 2, err)) {
        course_free(&course);
        return STATUS_BAD;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        err_set(err, "%.300s: %s; name a folder in one that is there", folder, strerror(errno));
        course_free(&course);
        return STATUS_BAD;
    }
    head(&index, "Vitrine: the lessons");
    buf_puts(&index, "<h1>How a Vision Transformer works</h1><p>Every number on these pages was computed by Vitrine "
                     "when they were written, from one model and a few worked examples; every screen is the one that "
                     "the program shows there.</p><ul>\n");
    bool ok = true;
    Terms terms = {.count = 0};
    for (int i = 0; ok && i < course.count; i++)
        ok = (work_progress(w, "writing the lessons", (double)i / course.count) || err_set(err, "cancelled")) &&
             write_lesson(w, &course, i, folder, &terms, &index, err);
    if (ok) {
        buf_puts(&index, "</ul><p><a href=\"glossary.html\">The words of the lessons</a></p></body></html>\n");
        ok = write_glossary(folder, &terms, err) && write_page(folder, "index", &index, err);
        w->written = true;
        buf_printf(&w->out, "%d lesson%s in %s: begin with index.html\n", course.count, course.count == 1 ? "" : "s",
                   folder);
    }
    course_free(&course);
    terms_free(&terms);
    buf_free(&index);
    return ok ? STATUS_DONE : STATUS_BAD;
}
