/* CommonMark into cards, with md4c. What a lesson has no use for (raw HTML, pictures, deeper headings) is refused. */
#include <ctype.h>
#include <md4c.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "lessons/lesson_parts.h"

typedef struct Walker {
    Reader *r;
    const char *source;
    size_t size;
    int line;    /* of the text seen last */
    size_t upto; /* bytes of the source counted into line */
    int depth;   /* of lists */
    bool in_heading, in_fence, fence_placed, vitrine, failed, quote;
    int level, list_number;
    bool numbered;
    char info[128];
    int fence_line;
    SpanStyle style;
    const char *target;
    ItemKind kind;
    Buf text;
    Prose item;
    size_t span_cap, bytes; /* bytes: of the card's prose so far */
    bool seen_title;
} Walker;

bool reader_error(const Reader *r, int line, const char *fmt, ...)
{
    char text[400], clean[400];
    va_list args;
    va_start(args, fmt);
    utf8_vprint(text, sizeof text, fmt, args);
    va_end(args);
    char file[120];
    return err_set(r->err, "%s:%d: %s", utf8_clean(file, sizeof file, r->lesson->file), line,
                   utf8_clean(clean, sizeof clean, text));
}

void texts_add(Texts *t, const char *text, int line)
{
    t->at = grow(t->at, &t->cap, (size_t)t->count, sizeof *t->at);
    t->at[t->count++] = (Sentence){text, line};
}

static Card *card_now(const Walker *w)
{
    Lesson *l = w->r->lesson;
    return l->count ? &l->cards[l->count - 1] : NULL;
}

/* md4c gives no lines, but pointers into the source. */
static bool note_place(Walker *w, const char *at)
{
    if (at < w->source || at > w->source + w->size)
        return false;
    size_t offset = (size_t)(at - w->source);
    if (offset < w->upto) { /* a span's end seen again */
        w->upto = 0;
        w->line = 1;
    }
    for (; w->upto < offset; w->upto++)
        w->line += w->source[w->upto] == '\n';
    return true;
}

static int fail_at(Walker *w, int line, const char *what)
{
    w->failed = true;
    return !reader_error(w->r, line, "%s", what);
}

static int fail(Walker *w, const char *what)
{
    return fail_at(w, w->line, what);
}

static void close_span(Walker *w)
{
    if (!w->text.len)
        return;
    w->item.spans = grow(w->item.spans, &w->span_cap, (size_t)w->item.count, sizeof *w->item.spans);
    w->item.spans[w->item.count++] = (Span){w->style, arena_strdup(&w->r->lesson->arena, buf_str(&w->text)),
                                            w->style == SPAN_LINK ? w->target : NULL};
    buf_clear(&w->text);
}

static int close_item(Walker *w)
{
    close_span(w);
    if (!w->item.count)
        return 0;
    Card *c = card_now(w);
    if (!c) { /* what stands between title and first card: for pages and readers of the plain file */
        Buf all = {0};
        for (int i = 0; i < w->item.count; i++)
            buf_puts(&all, w->item.spans[i].text);
        texts_add(&w->r->lesson->intro, arena_strdup(&w->r->lesson->arena, buf_str(&all)), w->item.line);
        buf_free(&all);
        free(w->item.spans);
    } else {
        c->items = grow(c->items, &c->item_cap, (size_t)c->item_count, sizeof *c->items);
        w->item.kind = w->kind;
        w->item.number = w->list_number;
        c->items[c->item_count++] = w->item;
    }
    w->item = (Prose){0};
    w->span_cap = 0;
    return 0;
}

static int close_heading(Walker *w)
{
    Lesson *l = w->r->lesson;
    char *text = arena_strdup(&l->arena, buf_str(&w->text));
    buf_clear(&w->text);
    if (w->level == 1) {
        if (w->seen_title)
            return fail(w, "a second title; a card begins with ## and a blank");
        w->seen_title = true;
        char *end;
        long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
        bool numbered = number >= 0 && number < 1000 && *end == '.';
        l->number = numbered ? (int)number : -1;
        l->title = numbered ? end + 1 + (end[1] == ' ') : text;
        return 0;
    }
    if (w->level != 2)
        return fail(w, "headings are # for the title and ## for a card; take the deeper one away");
    if (!w->seen_title)
        return fail(w, "a card before the title; begin the file with # and the title");
    if (l->count == LESSON_CARDS)
        return fail(w, "more cards than a lesson can have (64); cut it in two");
    l->cards = grow(l->cards, &l->cap, (size_t)l->count, sizeof *l->cards);
    l->cards[l->count++] = (Card){.title = text, .line = w->line};
    w->bytes = 0;
    return 0;
}

static bool plain_name(const char *name)
{
    size_t n = strlen(name);
    bool ok = n > 0 && n < 24 && isalpha((unsigned char)*name);
    for (size_t i = 0; i < n; i++)
        ok = ok && (isalnum((unsigned char)name[i]) || name[i] == '_');
    return ok;
}

static int close_fence(Walker *w)
{
    Reader *r = w->r;
    Lesson *l = r->lesson;
    char *text = arena_strdup(&l->arena, buf_str(&w->text));
    buf_clear(&w->text);
    const char *rest = w->info + strlen("vitrine");
    while (*rest == ' ')
        rest++;
    if (!*rest)
        return !statements_read(r, card_now(w), text, w->fence_line) && (w->failed = true);
    if (strncmp(rest, "example ", 8) != 0)
        return fail_at(w, w->fence_line, "a fence is `vitrine` or `vitrine example NAME`");
    const char *name = arena_strdup(&l->arena, rest + 8);
    if (!plain_name(name))
        return fail_at(w, w->fence_line,
                       "an example's name is a letter with letters, digits and _ behind it, at most 23");
    if (l->example_count == LESSON_EXAMPLES)
        return fail_at(w, w->fence_line, "more examples than a lesson can have (32); cut it in two");
    for (int i = 0; i < l->example_count; i++)
        if (strcmp(l->examples[i].name, name) == 0)
            return fail_at(w, w->fence_line, "there are two examples of that name");
    if (strcmp(name, "a") == 0 || strcmp(name, "b") == 0)
        return fail_at(w, w->fence_line,
                       "a: and b: are the model as trained and as edited; give the example another name");
    l->examples = grow(l->examples, &l->example_cap, (size_t)l->example_count, sizeof *l->examples);
    l->examples[l->example_count++] = (Worked){name, text, w->fence_line, l->count - 1};
    return 0;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    Walker *w = context;
    switch (type) {
    case MD_BLOCK_H:
        close_item(w);
        w->in_heading = true;
        w->level = (int)((MD_BLOCK_H_DETAIL *)detail)->level;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        close_item(w);
        if (w->depth++)
            return fail(w, "a list in a list; a card is too small for that");
        w->numbered = type == MD_BLOCK_OL;
        w->list_number = w->numbered ? (int)((MD_BLOCK_OL_DETAIL *)detail)->start - 1 : 0;
        break;
    case MD_BLOCK_LI:
        w->kind = w->numbered ? ITEM_NUMBERED : ITEM_BULLET;
        w->list_number += w->numbered;
        break;
    case MD_BLOCK_QUOTE: w->quote = true; break;
    case MD_BLOCK_P:
        if (!w->depth)
            w->kind = w->quote ? ITEM_QUOTE : ITEM_PARAGRAPH;
        break;
    case MD_BLOCK_CODE: {
        const MD_ATTRIBUTE *info = &((MD_BLOCK_CODE_DETAIL *)detail)->info;
        size_t n = info->size < sizeof w->info - 1 ? info->size : sizeof w->info - 1;
        close_item(w);
        if (n)
            memcpy(w->info, info->text, n);
        w->info[n] = 0;
        if (n)
            note_place(w, info->text);
        w->vitrine = strncmp(w->info, "vitrine", 7) == 0 && (!w->info[7] || w->info[7] == ' ');
        w->in_fence = true;
        w->fence_placed = false;
        w->fence_line = w->line;
        w->kind = ITEM_VERBATIM;
        break;
    }
    case MD_BLOCK_HTML: return fail(w, "raw HTML; a lesson is text, lists and code");
    default: break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    Walker *w = context;
    (void)detail;
    switch (type) {
    case MD_BLOCK_H: w->in_heading = false; return close_heading(w);
    case MD_BLOCK_CODE: {
        w->in_fence = false;
        if (w->vitrine)
            return close_fence(w);
        w->style = SPAN_CODE;
        close_item(w);
        w->style = SPAN_PLAIN;
        return 0;
    }
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        close_item(w);
        w->depth--;
        w->kind = ITEM_PARAGRAPH;
        break;
    case MD_BLOCK_QUOTE: w->quote = false; break;
    case MD_BLOCK_P:
    case MD_BLOCK_LI: return close_item(w);
    default: break;
    }
    return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    Walker *w = context;
    if (type == MD_SPAN_IMG)
        return fail(w, "a picture; what a card shows is a screen, by `do goto ADDRESS` or `show EXAMPLE:NODE`");
    if (w->in_heading)
        return 0;
    close_span(w);
    if (type == MD_SPAN_EM)
        w->style = SPAN_TERM;
    else if (type == MD_SPAN_STRONG)
        w->style = SPAN_STRONG;
    else if (type == MD_SPAN_CODE)
        w->style = SPAN_CODE;
    else if (type == MD_SPAN_A) {
        const MD_ATTRIBUTE *href = &((MD_SPAN_A_DETAIL *)detail)->href;
        w->style = SPAN_LINK;
        w->target = arena_printf(&w->r->lesson->arena, "%.*s", (int)href->size, href->text);
        if (strchr(w->target, '/') || strchr(w->target, ':'))
            return fail(w, "a link leads out of the lessons; name the work in words instead, or another lesson's file");
    }
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    Walker *w = context;
    (void)detail;
    (void)type;
    if (w->in_heading)
        return 0;
    close_span(w);
    w->style = SPAN_PLAIN;
    return 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *context)
{
    Walker *w = context;
    bool placed = note_place(w, s);
    if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR) {
        buf_putc(&w->text, ' ');
        return 0;
    }
    if (type == MD_TEXT_NULLCHAR)
        return fail(w, "a NUL in the text");
    if (type == MD_TEXT_HTML || type == MD_TEXT_ENTITY)
        return fail(w, "HTML and its entities have no place here: write the character itself");
    if (w->in_fence && placed && !w->fence_placed) { /* the fence stands above it and the empty lines before it */
        w->fence_line = w->line - 1;
        for (size_t i = 0; i < w->text.len; i++)
            w->fence_line -= w->text.data[i] == '\n';
        w->fence_placed = true;
    }
    if (!w->item.count && !w->text.len)
        w->item.line = w->line;
    w->bytes += w->in_fence && w->vitrine ? 0 : n;
    if (w->bytes > LESSON_PROSE)
        return fail(w, "more text than a card can have (8 kB); cut it in two");
    buf_add(&w->text, s, n);
    return 0;
}

/* Foreign bytes reach a screen only as what may stand there. */
static bool clean_source(Reader *r, const char *s, size_t n)
{
    int line = 1;
    if (memchr(s, 0, n))
        return reader_error(r, 1, "a NUL in the file: it is no text");
    for (const char *p = s; *p;) {
        const char *at = p;
        uint32_t c = utf8_next(&p);
        bool invalid = c == 0xFFFD && p - at == 1;
        if (c == '\n') {
            if (++line > LESSON_LINES)
                return reader_error(r, line, "more than %d lines", LESSON_LINES);
        } else if (invalid || (c != '\t' && !utf8_printable(c)))
            return reader_error(r, line,
                                invalid ? "bytes that are no UTF-8; save the file as UTF-8"
                                        : "a control character (U+%04X); take it away",
                                (unsigned)c);
    }
    return true;
}

bool lesson_parse(Lesson *l, const char *file, const char *source, size_t size, uint64_t seed, Err *err)
{
    *l = (Lesson){.number = -1, .title = ""};
    l->file = arena_strdup(&l->arena, file);
    Reader r = {l, seed, err};
    if (size > LESSON_BYTES)
        return reader_error(&r, 1, "the file is longer than a lesson may be (%d kB)", LESSON_BYTES / 1024);
    char *copy = arena_alloc(&l->arena, size + 1);
    memcpy(copy, source, size);
    if (!clean_source(&r, copy, size))
        return false;
    Walker w = {.r = &r, .source = copy, .size = size, .line = 1};
    MD_PARSER parser = {.flags = MD_FLAG_NOINDENTEDCODEBLOCKS,
                        .enter_block = enter_block,
                        .leave_block = leave_block,
                        .enter_span = enter_span,
                        .leave_span = leave_span,
                        .text = text};
    int status = md_parse(copy, (MD_SIZE)size, &parser, &w);
    free(w.item.spans);
    buf_free(&w.text);
    if (w.failed)
        return false;
    if (status == -2)
        return reader_error(&r, 1,
                            "this build plays the program's own lessons only: it has no reader of CommonMark (md4c); "
                            "use the ordinary build");
    if (status != 0)
        return reader_error(&r, w.line, "md4c cannot read this");
    if (!w.seen_title)
        return reader_error(&r, 1, "no title: begin the file with # and a title");
    return l->count > 0 || reader_error(&r, 1, "no cards: a card begins with ## and its title");
}

bool lesson_read(Lesson *l, const char *file, uint64_t seed, Err *err)
{
    Buf text_of = {0};
    *l = (Lesson){.number = -1, .title = "", .file = file};
    bool ok = file_read(file, LESSON_BYTES, &text_of, err) &&
              lesson_parse(l, file, buf_str(&text_of), text_of.len, seed, err);
    buf_free(&text_of);
    return ok;
}

static void card_free(Card *c)
{
    Texts *texts[] = {&c->commands, &c->show,       &c->picture, &c->text, &c->quoted,
                      &c->claims,   &c->mechanisms, &c->hints,   &c->notes};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]->at);
    for (int i = 0; i < c->item_count; i++)
        free(c->items[i].spans);
    free(c->items);
    free(c->expect);
    if (c->question)
        free(c->question->choices);
}

void lesson_free(Lesson *l)
{
    for (int i = 0; i < l->count; i++)
        card_free(&l->cards[i]);
    Texts *texts[] = {&l->intro,    &l->able,    &l->misconception, &l->needs, &l->reads,
                      &l->explains, &l->summary, &l->translator,    &l->photos};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]->at);
    free(l->cards);
    free(l->examples);
    arena_free(&l->arena);
    *l = (Lesson){0};
}

static int words_in(const char *s)
{
    int n = 0;
    for (bool inside = false; *s; s++) {
        bool blank = *s == ' ' || *s == '\n';
        n += inside == false && !blank;
        inside = !blank;
    }
    return n;
}

int card_words(const Card *c)
{
    int n = 0;
    for (int i = 0; i < c->item_count; i++) {
        Buf all = {0};
        for (int k = 0; k < c->items[i].count; k++)
            buf_puts(&all, c->items[i].spans[k].text);
        n += words_in(buf_str(&all));
        buf_free(&all);
    }
    return n + (c->question ? words_in(c->question->text) : 0);
}
