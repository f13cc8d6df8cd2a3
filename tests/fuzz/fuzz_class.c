/* libFuzzer: any bytes as the lines of a class: read as they come, followed by a session, a question, a receipt. What
 * is read and written again is the same. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/session/ask/quiz.h"
#include "tui/follow.h"
#include "tui/rollcall.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void question(const char *text)
{
    Rollcall r = {.mine = -1}, again = {.mine = -1};
    Buf b = {0};
    if (rollcall_read(&r, text)) {
        rollcall_put(&r, &b);
        if (!rollcall_read(&again, buf_str(&b)) || again.quiz.seed != r.quiz.seed || again.quiz.count != r.quiz.count ||
            strcmp(again.note, r.note) != 0 || again.closed != r.closed || again.quiz.right != r.quiz.right ||
            rollcall_total(&again) != rollcall_total(&r))
            abort();
    }
    buf_free(&b);
}

static void receipt(const char *text)
{
    Receipt r;
    char again[RECEIPT_TEXT];
    Err err = {{0}};
    if (receipt_read(&r, text, &err)) {
        receipt_put(&r, again);
        if (strlen(again) != strlen(text))
            abort();
    } else if (!*err.text)
        abort();
}

/* As `join` does, from a directory of one's own. */
static void followed(const uint8_t *bytes, size_t n)
{
    static Session s;
    static char base[] = "/tmp/vitrine-fuzz-XXXXXX", lines[80];
    Follow f;
    Buf said = {0};
    if (!*lines) {
        Err err;
        char folder[60];
        if (!mkdtemp(base) || !session_init(&s, NULL, "#17", 1, NULL, NULL, &err))
            abort();
        setenv("VITRINE_SHARE", base, 1);
        setenv("XDG_STATE_HOME", base, 1);
        snprintf(folder, sizeof folder, "%s/vitrine-class-f", base);
        snprintf(lines, sizeof lines, "%s/" CLASS_LINES, folder);
        mkdir(folder, 0755);
    }
    int fd = open(lines, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0 || !follow_open(&f, "f", NULL, NULL))
        abort();
    do
        follow_say(&f, &s, &said);
    while (follow_behind(&f));
    if (s.quit || f.asks)
        abort();
    follow_vote(&f, &s, 1, &(Err){{0}});
    follow_close(&f, &s);
    buf_free(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    ClassReader r;
    Err err;
    const char *line;
    reader_init(&r, "none", &err);
    buf_add(&r.in, bytes, n);
    while ((line = reader_line(&r, &err)) != NULL) {
        question(line);
        receipt(line);
        if (r.used > r.in.len)
            abort();
    }
    reader_close(&r);
    followed(bytes, n);
    char *text = malloc(n + 1);
    if (!text)
        return 0;
    memcpy(text, bytes, n);
    text[n] = 0;
    question(text);
    receipt(text);
    free(text);
    return 0;
}
