/* `vitrine export lessons`: the course as static pages, with the real screens as SVG for a light and a dark ground. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "lessons/play.h"
#include "tui/canvas/export.h"
#include "tui/cli/verbs.h"
#include "tui/frame.h"

enum { WIDTH = 92, HEIGHT = 26 };

static const char STYLE[] =
    ":root{color-scheme:light dark}body{font:1.05rem/1.6 Georgia,serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "background:#fdfcf9;color:#222}code,pre{font:0.9em/1.4 ui-monospace,monospace;background:#efece4;padding:0 .2em}"
    "pre{padding:.6em;overflow:auto}h2{margin-top:2.5rem;border-top:1px solid #ccc;padding-top:1rem}"
    "img{width:100%;height:auto;border:1px solid #ccc}em{font-style:normal;border-bottom:1px dotted #888}"
    "details{margin:.4rem 0}.q{border-left:3px solid #888;padding-left:1rem}nav{margin:1rem 0}a{color:#06c}"
    ".small{font-size:.85em;color:#666}"
    "@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}code,pre{background:#26292f}img,h2{border-"
    "color:#444}"
    "a{color:#7ab8ff}.small{color:#999}}";

static void put_text(Buf *out, const char *s)
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
        put_text(out, part);
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

static bool put_item(const Player *p, Buf *out, const Prose *item, Err *err)
{
    static const char *const TAGS[][2] = {[ITEM_PARAGRAPH] = {"<p>", "</p>\n"},
                                          [ITEM_BULLET] = {"<ul><li>", "</li></ul>\n"},
                                          [ITEM_NUMBERED] = {"<p>", "</p>\n"},
                                          [ITEM_VERBATIM] = {"<pre>", "</pre>\n"},
                                          [ITEM_QUOTE] = {"<blockquote>", "</blockquote>\n"}};
    static const char *const SPANS[][2] = {[SPAN_PLAIN] = {"", ""},
                                           [SPAN_TERM] = {"<em>", "</em>"},
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
            put_text(out, s->text);
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
        put_text(out, q->solution);
        buf_puts(out, "</code></p></details>\n");
    }
    buf_puts(out, "</div>\n");
    return ok;
}

/* The screen of the card that the player is on, into NAME-light.svg and NAME-dark.svg. */
static bool write_screens(Work *w, const Player *p, const char *folder, const char *name, Err *err)
{
    bool ok = screen_compute(w, HEIGHT, WIDTH, err);
    for (int light = 0; ok && light < 2; light++) {
        Canvas c;
        Buf svg = {0};
        char path[1200];
        canvas_init(&c, HEIGHT, WIDTH);
        canvas_clear(&c);
        Paint paint = {.s = &w->session, .c = &c, .mode = MODE_TRUE, .light = light};
        Frame f = frame_layout(&w->session, HEIGHT, WIDTH, false);
        frame_draw(&paint, &f, &(FrameState){.message = ""});
        export_svg(&c, MODE_TRUE, light, player_card(p)->title, &svg);
        snprintf(path, sizeof path, "%s/%s-%s.svg", folder, name, light ? "light" : "dark");
        ok = file_write(path, buf_str(&svg), svg.len, err);
        buf_free(&svg);
        canvas_free(&c);
    }
    return ok;
}

static void head(Buf *out, const char *title)
{
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"><title>");
    put_text(out, title);
    buf_printf(out, "</title><style>%s</style></head><body>\n", STYLE);
}

static void page_name(const LessonFile *f, char *out, size_t n)
{
    snprintf(out, n, "%.*s", (int)strcspn(f->name, "."), f->name);
}

static bool put_card(Work *w, Player *p, int i, const char *folder, const char *base, Buf *out, Err *err)
{
    char name[96];
    const Card *c = &p->lesson.cards[i];
    if (!player_through(p, i, err))
        return false;
    buf_printf(out, "<h2 id=\"card-%d\">%d. ", i + 1, i + 1);
    put_text(out, c->title);
    buf_puts(out, "</h2>\n");
    for (int k = 0; k < c->item_count; k++)
        if (!put_item(p, out, &c->items[k], err))
            return false;
    snprintf(name, sizeof name, "%s-%02d", base, i + 1);
    if (c->question && !put_question(p, out, c->question, err))
        return false;
    if (!c->commands.count && !c->show.count && !c->picture.count)
        return true;
    buf_printf(
        out,
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"%s-dark.svg\"><img src=\"%s-light.svg\" "
        "alt=\"The screen of this card: ",
        name, name);
    put_text(out, c->show.count ? c->show.at[0].text : p->s->place.path);
    buf_puts(out, "\"></picture>\n");
    for (int k = 0; k < c->quoted.count; k += 2)
        if (strcmp(c->quoted.at[k + 1].text, "given") != 0 && *c->quoted.at[k + 1].text) {
            buf_puts(out, "<p class=\"small\">Quoted: ");
            put_text(out, c->quoted.at[k + 1].text);
            buf_puts(out, ".</p>\n");
        }
    return write_screens(w, p, folder, name, err);
}

static void put_lines(Buf *out, const char *before, const Texts *t)
{
    for (int i = 0; i < t->count; i++) {
        buf_printf(out, "<p class=\"small\">%s ", before);
        put_text(out, t->at[i].text);
        buf_puts(out, "</p>\n");
    }
}

static bool write_lesson(Work *w, const LessonFile *f, const char *folder, Buf *index, Err *err)
{
    Lesson lesson;
    Player p = {0};
    Buf out = {0};
    char base[64], path[1200];
    page_name(f, base, sizeof base);
    bool ok = lesson_parse(&lesson, f->name, f->text, f->size, 0, err) && player_open(&p, &w->session, &lesson, err);
    if (ok) {
        head(&out, p.lesson.title);
        buf_puts(&out, "<nav><a href=\"index.html\">All lessons</a></nav><h1>");
        if (p.lesson.number >= 0)
            buf_printf(&out, "%d. ", p.lesson.number);
        put_text(&out, p.lesson.title);
        buf_printf(&out, "</h1><p class=\"small\">%d minutes, %d cards.</p>\n", p.lesson.minutes, p.lesson.count);
        put_lines(&out, "Afterwards you can:", &p.lesson.able);
        put_lines(&out, "Often believed:", &p.lesson.misconception);
    }
    for (int i = 0; ok && i < p.lesson.count; i++)
        ok = put_card(w, &p, i, folder, base, &out, err);
    if (ok) {
        put_lines(&out, "In one sentence:", &p.lesson.summary);
        put_lines(&out, "Read on:", &p.lesson.reads);
        buf_puts(&out, "</body></html>\n");
        snprintf(path, sizeof path, "%s/%s.html", folder, base);
        ok = file_write(path, buf_str(&out), out.len, err);
        buf_printf(index, "<li><a href=\"%s.html\">", base);
        if (p.lesson.number >= 0)
            buf_printf(index, "%d. ", p.lesson.number);
        put_text(index, p.lesson.title);
        buf_printf(index, "</a> <span class=\"small\">%d minutes</span></li>\n", p.lesson.minutes);
    }
    buf_free(&out);
    lesson_free(&lesson);
    player_close(&p);
    return ok;
}

int lessons_export(Work *w, Err *err)
{
    const char *folder = w->options->output;
    Buf index = {0};
    LessonFile f;
    int count = 0;
    while (lesson_at(count, &f))
        count++;
    if (!work_open(w, COMMAND_EDIT, err))
        return STATUS_BAD;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        err_set(err, "%.300s: %s; name a folder in one that is there", folder, strerror(errno));
        return STATUS_BAD;
    }
    head(&index, "Vitrine: the lessons");
    buf_puts(&index,
             "<h1>How a Vision Transformer works</h1><p>Every number on these pages was computed by Vitrine when they "
             "were written, from one model and a few worked examples; every screen is the one that the program "
             "shows there.</p><ul>\n");
    bool ok = true;
    for (int i = 0; ok && lesson_at(i, &f); i++)
        ok = (work_progress(w, "writing the lessons", (double)i / count) || err_set(err, "cancelled")) &&
             write_lesson(w, &f, folder, &index, err);
    if (ok) {
        char path[1200];
        buf_puts(&index, "</ul></body></html>\n");
        snprintf(path, sizeof path, "%s/index.html", folder);
        ok = file_write(path, buf_str(&index), index.len, err);
        w->written = true;
        buf_printf(&w->out, "%d lessons in %s: begin with index.html\n", count, folder);
    }
    buf_free(&index);
    return ok ? STATUS_DONE : STATUS_BAD;
}
