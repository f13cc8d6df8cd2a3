#include "tui/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/models/model_digest.h"
#include "core/session/state.h"

bool share_is_open(const Share *h)
{
    return h->hub && *h->path;
}

static Hub *hub_of(Share *h)
{
    if (!h->hub)
        h->hub = hub_new();
    return h->hub;
}

bool share_notes(Share *h, Err *err)
{
    if (*h->notes)
        return true;
    if (!place_notes(h->notes, err)) {
        h->notes[0] = 0;
        return false;
    }
    int fd = place_listen(h->notes, 0600, err);
    if (fd < 0) {
        h->notes[0] = 0;
        return false;
    }
    hub_listen(hub_of(h), fd, true);
    return true;
}

bool share_open(Share *h, const char *name, const char *group, Err *err)
{
    char own[48];
    if (*h->path)
        return err_set(err, "it is shared already: vitrine join %s", h->name);
    place_user(geteuid(), own, sizeof own);
    snprintf(h->name, sizeof h->name, "%s", *name ? name : own);
    if (!place_share(h->name, h->directory, h->path, err)) {
        h->path[0] = 0;
        return false;
    }
    int fd = place_listen_shared(h->directory, h->path, group, err);
    if (fd < 0) {
        h->path[0] = 0;
        return false;
    }
    hub_listen(hub_of(h), fd, false);
    return true;
}

static void forget_files(Share *h)
{
    for (int i = 0; i < h->file_count; i++) {
        free(h->files[i].word);
        buf_free(&h->files[i].bytes);
    }
    free(h->files);
    h->files = NULL;
    h->file_count = 0;
    h->file_cap = 0;
}

void share_close(Share *h)
{
    hub_free(h->hub);
    if (*h->notes)
        place_remove(NULL, h->notes);
    if (*h->path)
        place_remove(h->directory, h->path);
    forget_files(h);
    free(h->caption);
    free(h->noted);
    free(h->stood);
    free(h->lesson_sent);
    buf_free(&h->drive);
    buf_free(&h->entries);
    *h = (Share){.s = h->s, .presenter = h->presenter, .question = h->question};
}

int share_poll(const Share *h, struct pollfd *out, int most)
{
    return h->hub ? hub_poll(h->hub, out, most) : 0;
}

/* ---- what a state needs beside its commands ---- */

/* The word between the quotes of `open "…"` or `model "…"`. */
static bool quoted_word(const char *line, const char *verb, char word[1024])
{
    char one[COMMAND_LINE];
    const char *name;
    Args a;
    size_t n = strcspn(line, "\n");
    if (n >= sizeof one)
        return false;
    snprintf(one, sizeof one, "%.*s", (int)n, line);
    if (!args_parse(&a, one, &name, NULL) || strcmp(name, verb) != 0 || a.count != 1 || strlen(a.word[0]) >= 1024)
        return false;
    snprintf(word, 1024, "%s", a.word[0]);
    return *word;
}

bool share_names_file(const char *line, char word[1024])
{
    return quoted_word(line, "open", word) && *word != '#';
}

/* The picture of that name, read once; sent again to who comes late. */
static Shared *file_of(Share *h, const char *word)
{
    for (int i = 0; i < h->file_count; i++)
        if (strcmp(h->files[i].word, word) == 0)
            return &h->files[i];
    h->files = grow(h->files, &h->file_cap, (size_t)h->file_count, sizeof *h->files);
    Shared *f = &h->files[h->file_count++];
    *f = (Shared){.word = xstrdup(word)};
    buf_printf(&f->bytes, "%s\n", word);
    f->refused = !file_exists(word) || !file_read(word, MESSAGE_PICTURE, &f->bytes, NULL);
    return f;
}

enum { EVERYBODY = -1 };

static uint64_t digest_of(Share *h)
{
    if (h->digested != h->s->models) {
        h->digested = h->s->models;
        h->digest = model_digest(&h->s->model);
    }
    return h->digest;
}

static void post(Share *h, int id, MessageKind kind, const char *text, size_t size)
{
    if (size > message_most(kind))
        return;
    if (id == EVERYBODY)
        hub_send(h->hub, HUB_FOLLOWER, kind, text, size);
    else
        hub_send_to(h->hub, id, kind, text, size);
}

/* Files and models that these lines speak of go before them. */
static void send_needed(Share *h, int id, const char *lines)
{
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        char word[1024];
        if (share_names_file(p, word)) {
            Shared *f = file_of(h, word); /* one that is too large goes by its name alone */
            post(h, id, MESSAGE_FILE, buf_str(&f->bytes), f->refused ? strlen(f->word) + 1 : f->bytes.len);
        } else if (quoted_word(p, "model", word) && strcmp(word, "bundled") != 0) {
            char text[1100];
            snprintf(text, sizeof text, "%016llx %s", (unsigned long long)digest_of(h), word);
            post(h, id, MESSAGE_MODEL, text, strlen(text));
        }
    }
}

void share_entry(Share *h, const char *resolved)
{
    if (!h->hub || !*resolved || !hub_count(h->hub, HUB_FOLLOWER))
        return;
    buf_puts(&h->entries, resolved);
    if (resolved[strlen(resolved) - 1] != '\n')
        buf_putc(&h->entries, '\n');
}

/* ---- a lesson's cards ---- */

static void put_lesson_key(const ShareLesson *l, Buf *out)
{
    buf_printf(out, "%s %llu\n", l->player->lesson.file, (unsigned long long)l->seed);
}

/* The program's own have no text: everybody has them. */
static bool lesson_own(const char *file)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++)
        if (strcmp(f.name, file) == 0)
            return true;
    return false;
}

static void send_lesson(Share *h, int id)
{
    Buf text = {0};
    put_lesson_key(&h->lesson, &text);
    bool have = h->lesson_sent && strcmp(h->lesson_sent, buf_str(&text)) == 0;
    if (id == EVERYBODY && !have) {
        free(h->lesson_sent);
        h->lesson_sent = xstrdup(buf_str(&text));
    }
    if (id != EVERYBODY || !have) {
        const char *file = h->lesson.player->lesson.file;
        if (!lesson_own(file))
            file_read(file, LESSON_BYTES, &text, NULL); /* gone meanwhile: followers say so */
        post(h, id, MESSAGE_LESSON, buf_str(&text), text.len);
    }
    buf_free(&text);
}

static void send_card(Share *h, int id)
{
    char text[32];
    send_lesson(h, id);
    snprintf(text, sizeof text, "%d %d", h->lesson.card, h->lesson.player->pause);
    post(h, id, MESSAGE_CARD, text, strlen(text));
}

static bool shows_card(const Share *h)
{
    return h->lesson.player && h->lesson.card >= 0;
}

/* The whole state, as commands; of a worked example: its card, and what was changed there. */
static void send_state(Share *h, int id)
{
    Buf text = {0};
    bool worked = shows_card(h) && !h->s->now->model;
    if (worked)
        send_card(h, id);
    else if (shows_card(h))
        send_lesson(h, id);
    session_write(h->s, STATE_WHOLE | (worked ? 0u : STATE_MODEL | STATE_INPUT), &text);
    send_needed(h, id, buf_str(&text));
    post(h, id, worked ? MESSAGE_STEP : MESSAGE_STATE, buf_str(&text), text.len);
    buf_free(&text);
}

/* What happened since the last round: a card by its number, whatever else as commands. */
static void send_moves(Share *h)
{
    int moves = shows_card(h) ? h->lesson.player->moves : 0;
    Buf *e = &h->entries;
    if (moves && moves != h->moves_sent)
        send_card(h, EVERYBODY);
    else if (!moves && h->moves_sent)
        send_state(h, EVERYBODY);
    else if (e->len) {
        send_needed(h, EVERYBODY, buf_str(e));
        post(h, EVERYBODY, MESSAGE_STEP, buf_str(e), e->len - 1);
    }
    h->moves_sent = moves;
    buf_clear(e);
}

/* ---- what is said below the screen, and to the notes terminal ---- */

static void put_caption(const Share *h, Buf *out)
{
    const Deck *d = &h->presenter->deck;
    if (!d->open || !h->presenter->view.on)
        return;
    if (deck_is_title(d, d->at))
        buf_puts(out, d->title);
    else
        buf_puts(out, buf_str(&d->caption));
}

/* "at of all, seconds since it began, seconds since the step, planned; what is on; what comes". */
static void put_stand(const Share *h, Buf *out)
{
    const Present *v = &h->presenter->view;
    const Deck *d = &h->presenter->deck;
    int total, step = session_step_number(h->s, &total);
    bool deck = d->open && d->at >= 0;
    int64_t now = clock_ns();
    buf_printf(out, "%d %d %lld %lld %g %d\n", deck ? d->at + 1 : step, deck ? d->count : total,
               (long long)(v->began ? (now - v->began) / 1000000000 : 0),
               (long long)(v->entered ? (now - v->entered) / 1000000000 : 0), deck ? deck_seconds(d, d->at) : 0,
               v->blank);
    if (deck)
        deck_label(d, d->at, out);
    else
        buf_puts(out, h->s->stages.boxes[h->s->place.box].label);
    buf_putc(out, '\n');
    if (deck && d->at + 1 < d->count)
        deck_label(d, d->at + 1, out);
    if (h->question->open)
        buf_printf(out, "\n%d answers to: %s", rollcall_total(h->question), h->question->text);
}

/* Sends what is another text than the last one. */
static void send_if_new(Share *h, HubRole role, MessageKind kind, const Buf *text, char **last)
{
    const char *now = buf_str(text);
    if (*last && strcmp(*last, now) == 0)
        return;
    free(*last);
    *last = xstrdup(now);
    size_t n = text->len > message_most(kind) ? message_most(kind) : text->len;
    hub_send(h->hub, role, kind, now, n);
}

static void send_said(Share *h)
{
    Buf caption = {0}, notes = {0}, stand = {0};
    put_caption(h, &caption);
    send_if_new(h, HUB_FOLLOWER, MESSAGE_CAPTION, &caption, &h->caption);
    if (hub_count(h->hub, HUB_NOTES)) {
        buf_puts(&notes, buf_str(&h->presenter->deck.notes));
        put_stand(h, &stand);
        send_if_new(h, HUB_NOTES, MESSAGE_NOTES, &notes, &h->noted);
        send_if_new(h, HUB_NOTES, MESSAGE_NEXT, &stand, &h->stood);
    }
    buf_free(&caption);
    buf_free(&notes);
    buf_free(&stand);
}

void share_question(Share *h)
{
    Buf text = {0}, counts = {0};
    if (!h->hub)
        return;
    if (h->question->open) {
        rollcall_put(h->question, &text);
        rollcall_put_counts(h->question, &counts);
        post(h, EVERYBODY, MESSAGE_ASK, buf_str(&text), text.len);
        post(h, EVERYBODY, MESSAGE_COUNTS, buf_str(&counts), counts.len);
    } else
        post(h, EVERYBODY, MESSAGE_ASK, "", 0);
    if (!h->question->closed && !rollcall_total(h->question))
        h->votes = 0;
    buf_free(&text);
    buf_free(&counts);
}

/* ---- what comes ---- */

static void welcome(void *context, int id, HubRole role)
{
    Share *h = context;
    char hello[64];
    snprintf(hello, sizeof hello, "%d %s", MESSAGE_VERSION, *h->name ? h->name : "notes");
    hub_send_to(h->hub, id, MESSAGE_HELLO, hello, strlen(hello));
    h->changed = true;
    if (role == HUB_NOTES) {
        free(h->noted);
        free(h->stood);
        h->noted = h->stood = NULL;
        return;
    }
    if (shows_card(h) && !h->lesson_sent) /* who comes first: everybody is one */
        h->moves_sent = h->lesson.player->moves;
    send_state(h, id);
    if (h->caption && *h->caption)
        post(h, id, MESSAGE_CAPTION, h->caption, strlen(h->caption));
    if (h->question->open) {
        Buf text = {0}, counts = {0};
        rollcall_put(h->question, &text);
        rollcall_put_counts(h->question, &counts);
        post(h, id, MESSAGE_ASK, buf_str(&text), text.len);
        post(h, id, MESSAGE_COUNTS, buf_str(&counts), counts.len);
        buf_free(&text);
        buf_free(&counts);
    }
}

/* "seed number": one answer from each person, the last one counts. */
static void answered(Share *h, int id, const char *text)
{
    Rollcall *q = h->question;
    char *end;
    unsigned long seed = strtoul(text, &end, 16);
    long choice = *end == ' ' ? strtol(end + 1, &end, 10) : 0;
    if (!q->open || q->closed || seed != q->seed || *end || choice < 1 || choice > q->count)
        return;
    int at = 0;
    uint64_t person = hub_person(h->hub, id);
    while (at < h->votes && h->voted[at].person != person)
        at++;
    if (at == SHARE_VOTERS)
        return;
    if (at < h->votes)
        q->votes[h->voted[at].choice]--;
    else
        h->votes++;
    h->voted[at].person = person;
    h->voted[at].choice = (int)choice - 1;
    q->votes[choice - 1]++;
    h->changed = true;
}

static void drive(Share *h, const char *text)
{
    static const char *const WORDS[] = {"next", "prev", "go last", "blank", "leave"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(text, WORDS[i]) == 0 && i < 4) {
            buf_printf(&h->drive, "%s%s\n", strcmp(text, "blank") == 0 ? "" : "present ", text);
            return;
        }
    char *end;
    if (strncmp(text, "go ", 3) == 0) {
        long step = strtol(text + 3, &end, 10);
        if (end != text + 3 && !*end && step > 0 && step < 10000)
            buf_printf(&h->drive, "present go %ld\n", step);
    }
}

static void message(void *context, int id, HubRole role, const Message *m)
{
    if (m->kind == MESSAGE_ANSWER && role == HUB_FOLLOWER)
        answered(context, id, m->text);
    else if (m->kind == MESSAGE_DRIVE && role == HUB_NOTES)
        drive(context, m->text);
}

static void left(void *context, int id)
{
    Share *h = context;
    (void)id;
    h->changed = true;
}

void share_step(Share *h, int64_t now)
{
    const HubEvents events = {.context = h, .welcome = welcome, .message = message, .left = left};
    if (!h->hub)
        return;
    send_moves(h);
    send_said(h);
    hub_step(h->hub, &events, now);
    if (hub_strangers(h->hub) > h->strangers) {
        h->strangers = hub_strangers(h->hub);
        snprintf(h->news, sizeof h->news,
                 "Somebody with another version of Vitrine wanted to follow and was told so; all need the same one.");
        h->changed = true;
    }
}
