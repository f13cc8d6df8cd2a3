/* Keys, mouse, pastes and signals as events. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "tui/term_keys.h"
#include "tui/term_parts.h"
#include "tui/term_signals.h"

static const struct {
    int code;
    const char *name;
} names[] = {
    {KEY_UP, "Up"},       {KEY_DOWN, "Down"},  {KEY_LEFT, "Left"},    {KEY_RIGHT, "Right"},
    {KEY_HOME, "Home"},   {KEY_END, "End"},    {KEY_LL, "End"},       {KEY_PPAGE, "PgUp"},
    {KEY_NPAGE, "PgDn"},  {KEY_DC, "Delete"},  {KEY_IC, "Insert"},    {KEY_BACKSPACE, "Backspace"},
    {KEY_ENTER, "Enter"}, {KEY_BTAB, "S-Tab"}, {KEY_SLEFT, "S-Left"}, {KEY_SRIGHT, "S-Right"},
    {KEY_SR, "S-Up"},     {KEY_SF, "S-Down"},  {KEY_SHOME, "S-Home"}, {KEY_SEND, "S-End"},
    {KEY_A1, "Home"},     {KEY_A3, "PgUp"},    {KEY_C1, "End"},       {KEY_C3, "PgDn"},
};

enum { SLOW_MS = 50 };

/* As get_wch, which waits for a broken character to end and drops the keys behind it with it: here one that does not
 * end is U+FFFD, and what stands behind is the next key. */
static int take_key(wint_t *out)
{
    mbstate_t begun = {0};
    for (int n = 0;; n++) {
        wchar_t wide = 0;
        int code = getch();
        if (code == ERR && n && !keys_wait(STDIN_FILENO, SLOW_MS))
            code = getch();
        const char byte = (char)code;
        const bool is_byte = code >= 0 && code <= UCHAR_MAX;
        const size_t took = is_byte ? mbrtowc(&wide, &byte, 1, &begun) : (size_t)-1;
        if (took == (size_t)-2)
            continue;
        if (is_byte && took != (size_t)-1)
            *out = (wint_t)wide;
        else if (n || is_byte) {
            if (n && code != ERR)
                ungetch(code);
            *out = 0xfffd;
        } else {
            *out = (wint_t)code;
            return code == ERR ? ERR : KEY_CODE_YES;
        }
        return OK;
    }
}

/* The rest of a reply under way is waited for: its letters are no keys. */
static bool next_character(void *context, uint32_t *c)
{
    (void)context;
    wint_t got;
    int how = take_key(&got);
    if (how == ERR && !term.reply.all && clock_ns() < term.patience && !keys_wait(STDIN_FILENO, SLOW_MS))
        how = take_key(&got);
    *c = how == OK ? (uint32_t)got : 0;
    return how == OK;
}

/* A key, or a reply that came late: that is taken for what it says. */
static bool escape_event(TermEvent *e)
{
    char text[64];
    key_sequence(text, sizeof text, next_character, NULL);
    if (text[0] == 27)
        ungetch(27); /* Esc, and another sequence behind it */
    if (!reply_take(&term.reply, text))
        return key_escape(e, text);
    term.resumed = take_reply() || term.resumed;
    return false;
}

void give_back(const Buf *typed)
{
    enum { LONGEST = 8 };
    int codes[ASK_TYPED], n = 0;
    REQUIRE(typed->len <= ASK_TYPED);
    for (size_t i = 0, length; i < typed->len; i += length) {
        char sequence[LONGEST + 1] = "";
        int code = 0;
        for (length = 0; code <= 0 && length < LONGEST && typed->data[i] == 27 && i + length < typed->len; length++) {
            sequence[length] = typed->data[i + length];
            code = key_defined(sequence);
        }
        if (code <= 0) {
            code = (unsigned char)typed->data[i];
            length = 1;
        }
        if (code == 27 && (i + 1 == typed->len || typed->data[i + 1] == 27)) /* not the first half of Meta */
            code = K_ESC;
        codes[n++] = code;
    }
    while (n)
        ungetch(codes[--n]);
}

static bool mouse_event(TermEvent *e)
{
    MEVENT m;
    if (getmouse(&m) != OK)
        return false;
    static const struct {
        mmask_t state;
        const char *name;
    } clicks[] = {{BUTTON1_PRESSED, "Click"},
                  {BUTTON3_PRESSED, "RightClick"},
                  {BUTTON4_PRESSED, "WheelUp"},
                  {BUTTON5_PRESSED, "WheelDown"}};
    for (size_t i = 0; i < sizeof clicks / sizeof *clicks; i++)
        if (m.bstate & clicks[i].state) {
            key_named(e, clicks[i].name);
            e->kind = TERM_MOUSE;
            e->y = m.y;
            e->x = m.x;
            return true;
        }
    return false;
}

/* Up to the end mark; a paste that stops in the middle ends after two seconds of silence. */
static bool paste_event(TermEvent *e)
{
    enum { SILENCE_MS = 2000 };
    buf_clear(&term.paste);
    int64_t heard = clock_ns();
    timeout(SILENCE_MS);
    for (;;) {
        wint_t c;
        int got = take_key(&c);
        int64_t now = clock_ns();
        if (signals_resized())
            take_size();
        if (got == KEY_CODE_YES && c == K_PASTE_END)
            break;
        if (got == ERR &&
            (signals_ending() || now - heard >= (int64_t)SILENCE_MS * 1000000 || keys_wait(STDIN_FILENO, 0)))
            break; /* any other ERR is a signal */
        heard = got == ERR ? heard : now;
        if (got == KEY_CODE_YES && c == KEY_RESIZE)
            term.resumed = true; /* the next event says so */
        if (got == OK)
            key_paste(&term.paste, (uint32_t)c);
    }
    timeout(0);
    e->kind = TERM_PASTE;
    e->text = buf_str(&term.paste);
    return true;
}

static bool function_key(TermEvent *e, int code)
{
    if (code == KEY_RESIZE) {
        e->kind = TERM_RESIZE;
        return true;
    }
    if (code == KEY_MOUSE)
        return mouse_event(e);
    if (code == K_ESC)
        return key_named(e, "Esc");
    if (code == K_PASTE)
        return paste_event(e);
    if (code >= K_NAMED && code < K_NAMED + KEY_SEQUENCES)
        return key_named(e, key_sequences[code - K_NAMED].name);
    if (code >= KEY_F(1) && code <= KEY_F(12)) {
        char name[8];
        snprintf(name, sizeof name, "F%d", code - KEY_F(0));
        return key_named(e, name);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return key_named(e, names[i].name);
    return false;
}

/* What signals have to say. */
static bool signal_event(TermEvent *e)
{
    int sig = signals_ending();
    if (sig && !term.told) {
        term.told = true;
        e->kind = sig == SIGHUP ? TERM_HANGUP : TERM_TERMINATE;
        return true;
    }
    take_again();
    if (signals_resized())
        take_size();
    if (!term.resumed)
        return false;
    term.resumed = false;
    e->kind = TERM_RESIZE;
    return true;
}

static struct {
    int (*ready)(void *context, struct pollfd *out, int most);
    void *context;
} also;

void term_also(int (*ready)(void *context, struct pollfd *out, int most), void *context)
{
    also.ready = ready;
    also.context = context;
}

bool term_event(int timeout_ms, TermEvent *e)
{
    /* a signal between the look at its flag and poll is seen after SLICE milliseconds at the latest */
    enum { SLICE = 500, OTHERS = 300 };
    const int64_t until = clock_ns() + (int64_t)timeout_ms * 1000000;
    for (;;) {
        *e = (TermEvent){.kind = TERM_NONE};
        if (signal_event(e))
            return true;
        wint_t c;
        int got = take_key(&c);
        if (got == KEY_CODE_YES ? function_key(e, (int)c)
                                : got == OK && (c == 27 ? escape_event(e) : key_character(e, (uint32_t)c)))
            return true;
        if (got != ERR)
            continue;
        int64_t left = timeout_ms < 0 ? SLICE : (until - clock_ns() + 999999) / 1000000; /* signals cut waits short */
        if (timeout_ms == 0 || left <= 0)
            return false;
        int ms = left > SLICE ? SLICE : (int)left;
        struct pollfd others[OTHERS];
        int count = also.ready ? also.ready(also.context, others, OTHERS) : 0;
        bool other = false;
        if (keys_wait_also(STDIN_FILENO, ms, others, count, &other) && !signals_ending()) {
            e->kind = TERM_HANGUP;
            return true;
        }
        if (other)
            return false;
    }
}
