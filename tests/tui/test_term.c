/* The terminal: the rules that need none, and the real thing behind a pseudo-terminal, byte for byte and signal by
 * signal. */
#define _GNU_SOURCE 1
#include "tui/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "tests/tui/pictures.h"
#include "tui/term_ask.h"
#include "tui/term_detect.h"
#include "tui/term_keys.h"
#include "tui/term_pairs.h"

/* --- rules -------------------------------------------------------------------------------------------------------- */

static void test_colour_mode(void **state)
{
    (void)state;
    static const struct {
        TermEnv env;
        int colours;
        ColourMode mode;
    } cases[] = {
        {{.term = "xterm-256color"}, 256, MODE_256},
        {{.term = "xterm-256color", .known = "COLORTERM", .known_mode = MODE_TRUE}, 256, MODE_TRUE},
        {{.term = "xterm-256color", .known = "COLORTERM", .known_mode = MODE_TRUE}, 256, MODE_TRUE},
        {{.term = "xterm", .known = "XTERM_VERSION", .known_mode = MODE_256}, 8, MODE_256},
        {{.term = "xterm-256color", .known = "COLORTERM", .known_mode = MODE_TRUE, .ssh = true}, 256, MODE_256},
        {{.term = "xterm-256color", .known = "COLORTERM", .known_mode = MODE_TRUE, .no_color = "1"}, 256, MODE_MONO},
        {{.term = "xterm-256color", .no_color = "1", .option = "256"}, 256, MODE_256},
        {{.term = "xterm-256color", .option = "auto", .no_color = "1"}, 256, MODE_MONO},
        {{.term = "vt100", .known = "COLORTERM", .known_mode = MODE_TRUE}, -1, MODE_MONO},
        {{.term = "xterm", .ssh = true, .option = "true"}, 8, MODE_TRUE},
        {{.term = "screen", .known = "COLORTERM", .known_mode = MODE_TRUE}, 8, MODE_8},
        {{.term = "screen-256color", .known = "COLORTERM", .known_mode = MODE_TRUE}, 256, MODE_256},
        {{.term = "screen-256color", .known = "COLORTERM", .known_mode = MODE_TRUE, .tmux = "/tmp/x"}, 256, MODE_TRUE},
        {{.term = "xterm-kitty"}, 256, MODE_TRUE},
        {{.term = "xterm-kitty", .ssh = true}, 256, MODE_256},
        {{.term = "xterm-direct", .ssh = true}, 1 << 24, MODE_TRUE},
        {{.term = "linux"}, 8, MODE_8},
        {{.term = "xterm"}, 8, MODE_8},
        {{.term = "xterm", .says_256 = true}, 8, MODE_256},
        {{.term = "xterm", .says_256 = true, .ssh = true}, 8, MODE_256},
        {{.term = "xterm", .says_256 = true, .no_color = "1"}, 8, MODE_MONO},
        {{.term = "xterm", .says_256 = true, .option = "8"}, 8, MODE_8},
        {{.term = "vt100", .says_256 = true}, -1, MODE_MONO},
        {{.term = "screen", .tmux = "/tmp/x"}, 8, MODE_256},
        {{.term = "xterm", .known = "VTE_VERSION", .known_mode = MODE_TRUE}, 8, MODE_TRUE},
        {{.term = "xterm", .known = "VTE_VERSION", .known_mode = MODE_TRUE, .ssh = true}, 8, MODE_256},
        /* of the terminal outside, which may not be the one that is looked at now */
        {{.term = "tmux-256color", .known = "VTE_VERSION", .known_mode = MODE_TRUE, .tmux = "x"}, 256, MODE_256},
        {{.term = "eterm-color", .known = "XTERM_VERSION", .known_mode = MODE_256}, 8, MODE_8},
        {{.term = NULL}, -1, MODE_MONO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        assert_int_equal(term_colour_mode(&cases[i].env, cases[i].colours, &why), cases[i].mode);
        assert_non_null(why);
    }
    assert_true(term_colour_known(NULL) && term_colour_known("auto") && term_colour_known("mono"));
    assert_false(term_colour_known("16m"));
    static const struct {
        const char *option, *term, *plots, *why;
    } plots[] = {
        {NULL, "xterm-256color", "braille", "most dots in a character"},
        {"auto", "linux", "ascii", "the console's font has no others"}, /* neither braille nor blocks */
        {"blocks", "linux", "blocks", "the option"},
        {"sextants", "xterm-256color", "sextants", "the option"},
        {"braille", "foot", "braille", "the option"},
        {NULL, "foot", "braille", "most dots in a character"}, /* they draw sextants themselves, and braille too */
        {"auto", "wezterm", "braille", "most dots in a character"},
    };
    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
        const char *why = NULL;
        assert_string_equal(term_plots(plots[i].option, plots[i].term, &why), plots[i].plots);
        assert_string_equal(why, plots[i].why);
    }
    assert_true(term_answers("xterm", "\033[c") && !term_answers("xterm", NULL) && !term_answers("linux", "\033[c") &&
                !term_answers("vt220", "\033[c"));
}

static void test_ground(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        Colour said;
        const char *colorfgbg;
        bool light;
    } cases[] = {
        {"light", 0x000000, NULL, true},
        {"dark", 0xffffff, "0;15", false},
        {"auto", COLOUR_DEFAULT, "0;15", true},
        {NULL, COLOUR_DEFAULT, "0;default;7", true},
        {NULL, COLOUR_DEFAULT, NULL, false},
        {NULL, COLOUR_DEFAULT, "15;0", false},
        {NULL, COLOUR_DEFAULT, "15", false},
        {NULL, 0xffffff, "15;0", true}, /* what it says now, not what a variable said when it began */
        {NULL, 0xfdf6e3, NULL, true},
        {NULL, 0x002b36, "0;15", false},
        {NULL, 0x707070, NULL, false},
        {NULL, 0x7f7f7f, NULL, true}, /* where black text has the higher contrast */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        assert_int_equal(term_light(cases[i].option, cases[i].said, cases[i].colorfgbg, &why), cases[i].light);
        assert_non_null(why);
    }
}

static void test_surroundings(void **state)
{
    (void)state;
    static const char *const all[] = {"COLORTERM",   "WT_SESSION",    "KONSOLE_VERSION",
                                      "VTE_VERSION", "XTERM_VERSION", "TERM_PROGRAM"};
    static const struct {
        const char *name, *value;
        bool known;
        ColourMode mode;
    } cases[] = {
        {"COLORTERM", "truecolor", true, MODE_TRUE},    {"COLORTERM", "24bit", true, MODE_TRUE},
        {"COLORTERM", "rxvt", false, MODE_MONO},        {"WT_SESSION", "9a1f", true, MODE_TRUE},
        {"KONSOLE_VERSION", "220401", true, MODE_TRUE}, {"VTE_VERSION", "7006", true, MODE_TRUE},
        {"VTE_VERSION", "3405", true, MODE_256},        {"XTERM_VERSION", "XTerm(379)", true, MODE_256},
        {"TERM_PROGRAM", "iTerm.app", true, MODE_TRUE}, {"TERM_PROGRAM", "Apple_Terminal", true, MODE_256},
        {"TERM_PROGRAM", "tmux", false, MODE_MONO},     {"WT_SESSION", "", false, MODE_MONO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            unsetenv(all[k]);
        setenv(cases[i].name, cases[i].value, 1);
        TermEnv env = term_env(NULL);
        assert_int_equal(env.known != NULL, cases[i].known);
        assert_true(!cases[i].known || env.known_mode == cases[i].mode);
        unsetenv(cases[i].name);
    }
}

/* Only what was asked for is an answer, to the last byte; nothing else changes anything. */
static void test_replies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        Colour ground; /* COLOUR_DEFAULT: none */
        bool has_256, frames, all;
        int column;
    } cases[] = {
        {"]11;rgb:ffff/ffff/ffff", 0xffffff, false, false, false, 0},
        {"]11;rgb:1/80/fff", 0x1180ff, false, false, false, 0},
        {"]11;rgba:0000/2b2b/3636/ffff", 0x002b36, false, false, false, 0},
        {"]4;255;rgb:eeee/eeee/eeee", COLOUR_DEFAULT, true, false, false, 0},
        {"[?2026;2$y", COLOUR_DEFAULT, false, true, false, 0},
        {"[?64;1;2;22c", COLOUR_DEFAULT, false, false, true, 0},
        {"[?6c", COLOUR_DEFAULT, false, false, true, 0},
        {"[24;2R", COLOUR_DEFAULT, false, false, false, 2},
        {"[6;20;10t", COLOUR_DEFAULT, false, false, false, 0},
        {"P>|kitty(0.35.2)", COLOUR_DEFAULT, false, false, false, 0},
        {"_Gi=31;OK", COLOUR_DEFAULT, false, false, false, 0},
        {"_Gi=31;ENOTSUPPORTED:", COLOUR_DEFAULT, false, false, false, 0},
    };
    static const char *const none[] = {"",
                                       "]11;rgb:ffff/ffff",
                                       "]11;rgb:ffff/ffff/ffff/ffff",
                                       "]11;rgb:fffff/ffff/ffff",
                                       "]11;rgb:ffff/ffff/ffff;",
                                       "]11;rgb:-1/ff/ff",
                                       "]11;rgb://",
                                       "]11;?",
                                       "]10;rgb:ffff/ffff/ffff",
                                       "]4;254;rgb:ee/ee/ee",
                                       "[?2026;2$y2",
                                       "[?2026$y",
                                       "[A",
                                       "[1;2D",
                                       "[c",
                                       "[?1;2",
                                       "[99999999999999999999;7R",
                                       "[6;20;10t2",
                                       "[6;0;10t",
                                       "[4;20;10t",
                                       "_Gi=32;OK",
                                       "P>q",
                                       "q",
                                       "P1$r0m"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TermReply r = {.ground = COLOUR_DEFAULT};
        assert_true(reply_take(&r, cases[i].text));
        assert_int_equal(r.ground, cases[i].ground);
        assert_true(r.has_256 == cases[i].has_256 && r.has_frames == cases[i].frames && r.all == cases[i].all &&
                    r.column == cases[i].column);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        TermReply r = {.ground = 0x123456, .column = 7}, before = r;
        assert_false(reply_take(&r, none[i]));
        assert_memory_equal(&r, &before, sizeof r);
    }
    TermReply pixels = {.ground = COLOUR_DEFAULT};
    assert_true(reply_take(&pixels, "[6;20;10t") && pixels.pixel_h == 20 && pixels.pixel_w == 10);
    assert_true(reply_take(&pixels, "P>|ghostty 1.1.3 and a name that is much longer than there is room for"));
    assert_int_equal(strncmp(pixels.who, "ghostty 1.1.3 ", 14), 0);
    assert_true(reply_take(&pixels, "_Gi=31;OK") && pixels.has_graphics);
    assert_true(reply_take(&pixels, "_Gi=31;EINVAL:no") && !pixels.has_graphics);
    TermReply r = {.has_frames = true};
    assert_true(reply_take(&r, "[?2026;0$y") && !r.has_frames); /* it does not know them */
}

static const char *reading;
static bool read_next(void *context, uint32_t *c)
{
    (void)context;
    *c = (unsigned char)*reading;
    return *c && reading++;
}

static void test_keys(void **state)
{
    (void)state;
    static const struct {
        const char *after_escape, *key; /* key NULL: swallowed */
    } cases[] = {{"", "Esc"},          {"x", "M-x"},
                 {"[12;40R", NULL},    {"[<0;3;4M", NULL},
                 {"]0;title\a", NULL}, {"P1$r0m\033\\", NULL},
                 {"\r", "Esc"},        {"]11;rgb:ffff/ffff/ffff and more than fits\a", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TermEvent e = {.kind = TERM_NONE};
        char text[16];
        reading = cases[i].after_escape;
        key_sequence(text, sizeof text, read_next, NULL);
        assert_true(strlen(text) < sizeof text);
        assert_int_equal(key_escape(&e, text), cases[i].key != NULL);
        if (cases[i].key)
            assert_string_equal(e.key, cases[i].key);
        assert_int_equal(*reading, '\0');
    }
    static const struct {
        uint32_t c;
        const char *key;
    } plain[] = {{' ', "Space"}, {'\r', "Enter"}, {'\t', "Tab"}, {8, "Backspace"}, {0x7f, "Backspace"},
                 {12, "^L"},     {0, "^@"},       {'q', "q"},    {0xe9, "é"}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        TermEvent e = {.kind = TERM_NONE};
        assert_true(key_character(&e, plain[i].c));
        assert_string_equal(e.key, plain[i].key);
    }
    TermEvent e = {.kind = TERM_NONE};
    assert_false(key_character(&e, 0x202e) || key_character(&e, 0x9b));
}

/* Nothing to read, something to read, nobody at the other end. */
static void test_waiting(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_false(keys_wait(ends[0], 0));
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_false(keys_wait(ends[0], 0)); /* a key, not the end */
    close(ends[1]);
    assert_true(keys_wait(ends[0], 0)); /* hung up, whatever is still in the pipe */
    close(ends[0]);
    assert_true(keys_wait(ends[0], 0)); /* no such file any more */
}

static void test_pairs(void **state)
{
    (void)state;
    Pairs p;
    pairs_init(&p, 64);
    bool fresh;
    assert_int_equal(pairs_find(&p, -1, -1, &fresh), 0);
    for (int i = 0; i < 63; i++) {
        assert_int_equal(pairs_find(&p, i, -1, &fresh), i + 1);
        assert_true(fresh);
    }
    assert_int_equal(pairs_find(&p, 7, -1, &fresh), 8);
    assert_false(fresh);
    assert_int_equal(pairs_find(&p, 99, 99, &fresh), 0); /* full: the plain pair, never somebody else's number */
    pairs_reset(&p);
    assert_int_equal(pairs_find(&p, 99, 99, &fresh), 1);
    assert_true(fresh);
    pairs_free(&p);
}

/* --- behind a pseudo-terminal ------------------------------------------------------------------------------------- */

typedef struct Desk {
    int master, report; /* the screen's side; lines that the program tells about its events */
    pid_t pid;
    Buf screen;         /* every byte that was sent */
    const char *answer; /* what it says once it is asked who it is; NULL: nothing */
    bool asked;
    struct termios modes;
} Desk;

static Colour chequer(int y, int x)
{
    return (y + x) % 3 ? 0x123456u + (unsigned)(y * 16 + x) : COLOUR_DEFAULT;
}

static void show(const char *colour_test)
{
    Canvas c;
    int h, w;
    term_size(&h, &w);
    canvas_init(&c, h, w);
    c.ascii = term_status()->ascii;
    canvas_text(&c, 0, 0, w, STYLE_TEXT, colour_test);
    canvas_pixel(&c, 1, 0, 0, 0x87d75f, 9, 0, (Ref){.run = 0});
    canvas_pixel(&c, 1, 0, 1, 0x00005f, 1, 0, (Ref){.run = 0});
    c.cursor_y = c.cursor_x = 0;
    int high, wide;
    term_pixels(&high, &wide);
    c.pixel_h = high;
    c.pixel_w = wide;
    Colour colour[64 * 64];
    int each[64];
    for (int i = 0; i < 64 * 64; i++)
        colour[i] = chequer(i / 64, i % 64);
    for (int i = 0; i < 64; i++)
        each[i] = i;
    canvas_pixels(&c, (Rect){1, 0, 1, 1}, &(CanvasGrid){colour, 64, each, each});
    term_draw(&c);
    canvas_free(&c);
}

/* The program on the desk: tells each event as a line; q ends it, x leaves by exit(), ! crashes it, # breaks a rule of
 * ours. */
static _Noreturn void program(int report, const TermOptions *o)
{
    Err err;
    if (!term_open(o, &err)) {
        dprintf(report, "refused %s\n", err.text);
        _exit(2);
    }
    const TermStatus *s = term_status();
    dprintf(report, "open mode=%d ascii=%d mouse=%d light=%d frames=%d note=%s\n", (int)s->mode, s->ascii, s->mouse,
            s->light, s->frames, s->note);
    static const char *const kinds[] = {"none", "key", "resize", "mouse", "paste", "hangup", "terminate"};
    for (;;) {
        show("MARK é");
        TermEvent e;
        int h, w;
        if (!term_event(20000, &e))
            _exit(7);
        term_size(&h, &w);
        dprintf(report, "%s [%s] %d,%d %dx%d %s%s\n", kinds[e.kind], e.key, e.y, e.x, h, w, s->light ? "light" : "",
                e.text ? e.text : "");
        if (!strcmp(e.key, "y"))
            dprintf(report, "copied %d\n", term_copy("il = 0.5 é"));
        if (!strcmp(e.key, "!"))
            raise(SIGSEGV);
        REQUIRE(strcmp(e.key, "#") != 0);
        if (!strcmp(e.key, "x"))
            exit(3); /* without term_close */
        if (!strcmp(e.key, "q") || e.kind == TERM_HANGUP || e.kind == TERM_TERMINATE)
            break;
    }
    term_close();
    term_reraise();
    _exit(0);
}

static void set_environment(const char *const *env)
{
    static const char *const cleared[] = {"TMUX",         "COLORTERM",       "NO_COLOR",
                                          "SSH_TTY",      "SSH_CLIENT",      "SSH_CONNECTION",
                                          "LC_ALL",       "LC_CTYPE",        "LANG",
                                          "COLORFGBG",    "ESCDELAY",        "LINES",
                                          "COLUMNS",      "TERMINFO",        "WT_SESSION",
                                          "VTE_VERSION",  "XTERM_VERSION",   "KONSOLE_VERSION",
                                          "TERM_PROGRAM", "KITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR"};
    for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++)
        unsetenv(cleared[i]);
    setenv("TERM", "xterm-256color", 1);
    setenv("LANG", "C.UTF-8", 1);
    for (; *env; env += 2)
        setenv(env[0], env[1], 1);
}

static struct winsize window = {.ws_row = 24, .ws_col = 80}; /* that it opens in */

static Desk desk_open(const char *const *env, const TermOptions *o)
{
    Desk d = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
    assert_true(d.master >= 0 && !grantpt(d.master) && !unlockpt(d.master));
    char name[128];
    assert_int_equal(ptsname_r(d.master, name, sizeof name), 0);
    int slave = open(name, O_RDWR | O_NOCTTY), pipes[2];
    assert_true(slave >= 0 && !pipe(pipes));
    assert_int_equal(ioctl(d.master, TIOCSWINSZ, &window), 0);
    assert_int_equal(tcgetattr(slave, &d.modes), 0);
    d.pid = fork();
    assert_true(d.pid >= 0);
    if (d.pid == 0) {
        setsid();
        int fd = open(name, O_RDWR); /* becomes the controlling terminal */
        for (int i = 0; i < 3; i++)
            dup2(fd, i);
        close(d.master);
        close(slave);
        close(fd);
        set_environment(env);
        program(pipes[1], o);
    }
    close(slave);
    close(pipes[1]);
    d.report = pipes[0];
    return d;
}

static void desk_type(Desk *d, const char *keys)
{
    assert_int_equal(write(d->master, keys, strlen(keys)), strlen(keys));
}

static void desk_answer(Desk *d)
{
    if (d->asked || !d->answer || !strstr(buf_str(&d->screen), "\033[c"))
        return;
    d->asked = true;
    desk_type(d, d->answer);
}

/* Reads the screen and the report until the report has `line` in it (or has ended, when line is NULL). */
static bool desk_wait(Desk *d, Buf *told, const char *line)
{
    int64_t end = clock_ns() + 30000000000;
    while (clock_ns() < end) {
        if (line && strstr(buf_str(told), line))
            return true;
        struct pollfd p[2] = {{.fd = d->report, .events = POLLIN}, {.fd = d->master, .events = POLLIN}};
        poll(p, 2, 100);
        char bytes[4096];
        if (p[1].revents & POLLIN) {
            ssize_t n = read(d->master, bytes, sizeof bytes);
            buf_add(&d->screen, bytes, n > 0 ? (size_t)n : 0);
            desk_answer(d);
        }
        if (p[0].revents) {
            ssize_t n = read(d->report, bytes, sizeof bytes);
            if (n <= 0)
                return !line;
            buf_add(told, bytes, (size_t)n);
        }
    }
    return false;
}

/* Waits for the end; returns wait's status. What the program still sent is in d->screen. */
static int desk_end(Desk *d, Buf *told)
{
    int status = -1;
    assert_true(desk_wait(d, told, NULL));
    if (waitpid(d->pid, &status, 0) != d->pid)
        status = -1;
    char bytes[4096];
    struct pollfd p = {.fd = d->master, .events = POLLIN};
    while (poll(&p, 1, 50) > 0 && p.revents & POLLIN) {
        ssize_t n = read(d->master, bytes, sizeof bytes);
        if (n <= 0)
            break;
        buf_add(&d->screen, bytes, (size_t)n);
    }
    return status;
}

static void desk_close(Desk *d, Buf *told)
{
    if (d->master >= 0)
        close(d->master);
    close(d->report);
    buf_free(&d->screen);
    buf_free(told);
}

static const char *const PLAIN_ENV[] = {NULL};

static void test_events(void **state)
{
    (void)state;
    Buf told = {.data = NULL};
    Desk d = desk_open(PLAIN_ENV, &(TermOptions){.colour = NULL});
    assert_true(desk_wait(&d, &told, "open mode=2 ascii=0 mouse=1 light=0 frames=0 note=\n"));
    static const struct {
        const char *keys, *line;
    } cases[] = {
        {"a", "key [a]"},
        {" ", "key [Space]"},
        {"\033OA", "key [Up]"},
        {"\033[A", "key [Up]"},
        {"\033[1;2D", "key [S-Left]"},
        {"\033[1;5C", "key [C-Right]"},
        {"\033[6~", "key [PgDn]"},
        {"\033[Z", "key [S-Tab]"},
        {"\r", "key [Enter]"},
        {"\x7f", "key [Backspace]"},
        {"\x0c", "key [^L]"},
        {"\x03", "key [^C]"},
        {"é", "key [é]"},
        {"\033[<0;231;5M", "mouse [Click] 4,230"},
        {"\033[<64;3;3M", "mouse [WheelUp] 2,2"},
        {"\033[200~one\rtwo\033[A\033[201~", "paste [] 0,0 24x80 one two"},
        {"\033[5;7R\033[Ib", "key [b]"},
        {"\x1a", "resize []"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_clear(&told);
        desk_type(&d, cases[i].keys);
        assert_true(desk_wait(&d, &told, cases[i].line));
        assert_ptr_equal(strchr(told.data, '\n'), strrchr(told.data, '\n')); /* one event, no more */
    }
    /* a character that does not end takes no key behind it along: in Latin-1, cut short, before a key with a name, and
     * one that comes slowly is whole */
    static const struct {
        const char *typed, *keys[4];
    } broken[] = {{"\xe9\"u", {"\xef\xbf\xbd", "\"", "u"}},
                  {"\xc3\xc3\xa9v", {"\xef\xbf\xbd", "é", "v"}},
                  {"\xf0\x9f\033[Az", {"\xef\xbf\xbd", "Up", "z"}},
                  {"\xff\x80w", {"\xef\xbf\xbd", "\xef\xbf\xbd", "w"}},
                  {"\xe2", {NULL}},
                  {"\x82\xac", {"€"}}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        buf_clear(&told);
        desk_type(&d, broken[i].typed);
        const char *const *keys = broken[i].keys;
        Buf want = {0};
        for (; *keys; keys++) { /* the last of them differs from all before: then all are there */
            char line[40];
            snprintf(line, sizeof line, "key [%s]", *keys);
            buf_printf(&want, "%s 0,0 24x80 \n", line);
            if (!keys[1] && !desk_wait(&d, &told, line))
                fail_msg("%zu, %s: %s", i, line, buf_str(&told));
        }
        assert_string_equal(buf_str(&told), buf_str(&want));
        buf_free(&want);
    }
    const struct winsize big = {.ws_row = 50, .ws_col = 200}, tiny = {.ws_row = 1, .ws_col = 1},
                         vast = {.ws_row = 32767, .ws_col = 5000};
    assert_int_equal(ioctl(d.master, TIOCSWINSZ, &big), 0);
    assert_true(desk_wait(&d, &told, "50x200"));
    assert_int_equal(ioctl(d.master, TIOCSWINSZ, &tiny), 0);
    assert_true(desk_wait(&d, &told, "1x1"));
    assert_int_equal(ioctl(d.master, TIOCSWINSZ, &vast),
                     0); /* nobody draws so much, and its cells would fill a machine */
    assert_true(desk_wait(&d, &told, "300x1000"));
    desk_type(&d, "\033");
    assert_true(desk_wait(&d, &told, "key [Esc]"));
    desk_type(&d, "q");
    assert_int_equal(desk_end(&d, &told), 0);
    desk_close(&d, &told);
}

#define WHITE "\033]11;rgb:ffff/ffff/ffff\033\\"
#define BLACK "\033]11;rgb:0/0/0\a"
#define WHO "\033[?64;1;22c"

typedef struct Answered {
    const char *env[5];
    TermOptions options;
    const char *answer, *open, *events;
} Answered;

static bool answered(const Answered *a)
{
    Buf told = {.data = NULL};
    Desk d = desk_open(a->env, &a->options);
    d.answer = a->answer;
    assert_true(desk_wait(&d, &told, "note="));
    desk_type(&d, "q");
    assert_int_equal(desk_end(&d, &told), 0);
    const char *events = strchr(buf_str(&told), '\n') + 1, *q = strstr(buf_str(&told), "key [q]"),
               *begin = strstr(buf_str(&d.screen), "\033[?2026h");
    assert_non_null(q);
    bool whole = begin && strstr(begin, "MARK") && strstr(begin, "MARK") < strstr(begin, "\033[?2026l");
    bool ok = strstr(buf_str(&told), a->open) && (size_t)(q - events) == strlen(a->events) &&
              strncmp(events, a->events, strlen(a->events)) == 0 && whole == (strstr(a->open, "frames=1") != NULL);
    desk_close(&d, &told);
    return ok;
}

/* It is asked, and what is typed meanwhile are keys, whatever else it says. */
static void test_answers(void **state)
{
    (void)state;
    static const Answered cases[] = {
        {{NULL}, {0}, WHITE WHO, "mode=2 ascii=0 mouse=1 light=1 frames=0", ""},
        {{NULL}, {0}, BLACK "\033[?2026;2$y" WHO, "mode=2 ascii=0 mouse=1 light=0 frames=1", ""},
        {{"COLORFGBG", "0;15", NULL}, {0}, BLACK WHO, "light=0", ""},
        {{NULL}, {.ground = "dark"}, WHITE WHO, "light=0", ""},
        {{"TERM", "xterm", NULL}, {0}, WHO, "mode=1", ""},
        {{"TERM", "xterm", NULL}, {0}, "\033]4;255;rgb:ee/ee/ee\033\\" WHO, "mode=2", ""},
        {{"TERM", "xterm", "NO_COLOR", "1", NULL}, {0}, "\033]4;255;rgb:ee/ee/ee\a" WHO, "mode=0", ""},
        {{"TERM", "xterm", NULL}, {.colour = "8"}, "\033]4;255;rgb:ee/ee/ee\a" WHO, "mode=1", ""},
        {{"LC_CTYPE", "UTF-8", NULL}, {0}, "\033[5;2R" WHO, "ascii=0", ""},
        {{"LC_CTYPE", "UTF-8", NULL}, {0}, "\033[5;4R" WHO, "ascii=1", ""},
        {{NULL},
         {0},
         "a" WHITE "\033[A\033OB\xc3\xa9" WHO "\033[1;5C",
         "light=1",
         "key [a] 0,0 24x80 light\nkey [Up] 0,0 24x80 light\nkey [Down] 0,0 24x80 light\nkey [\xc3\xa9] 0,0 24x80 "
         "light\n"
         "key [C-Right] 0,0 24x80 light\n"},
        {{NULL}, {0}, "\033" WHITE WHO, "light=1", "key [Esc] 0,0 24x80 light\n"},
        {{NULL}, {0}, "\033x" WHO, "light=0", "key [M-x] 0,0 24x80 \n"},
        {{NULL}, {0}, "\033]11;rgb:zz\a\033]52;c;cm0gLXJm\a" WHO "b", "light=0", "key [b] 0,0 24x80 \n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int tries = 20; /* on a busy machine even this desk answers too late */
        while (tries-- && !answered(&cases[i]))
            ;
        if (tries < 0)
            fail_msg("case %d", (int)i);
    }
}

/* A copy goes to the terminal's clipboard; not to one that would show what it does not know. */
static void test_copies(void **state)
{
    (void)state;
    static const char *const LINUX_ENV[] = {"TERM", "linux", NULL};
    for (int i = 0; i < 2; i++) {
        Buf told = {.data = NULL};
        Desk d = desk_open(i ? LINUX_ENV : PLAIN_ENV, &(TermOptions){.colour = NULL});
        assert_true(desk_wait(&d, &told, "note="));
        desk_type(&d, "y");
        assert_true(desk_wait(&d, &told, i ? "copied 0" : "copied 1"));
        desk_type(&d, "q");
        assert_int_equal(desk_end(&d, &told), 0);
        assert_int_equal(strstr(buf_str(&d.screen), "\033]52;c;aWwgPSAwLjUgw6k=\a") != NULL, !i);
        assert_int_equal(strstr(buf_str(&d.screen), "]52;") != NULL, !i);
        desk_close(&d, &told);
    }
}

#define KITTY "\033P>|kitty(0.35.2)\033\\\033[6;20;10t\033_Gi=31;OK\033\\" WHO

/* Of the cell that has pixels in show(): what came, and the text that shows it. */
static void check_picture(Desk *d, Pictures *p, bool wrapped)
{
    static const char PLACEHOLDER[] = "\xf4\x8e\xbb\xae\xcc\x85\xcc\x85"; /* U+10EEEE, row 0, column 0 */
    assert_true(pictures_read(p, buf_str(&d->screen), d->screen.len, wrapped));
    assert_int_equal(p->sent, 1);
    const char *at = strstr(buf_str(&d->screen), PLACEHOLDER);
    assert_non_null(at);
    assert_true(at > strstr(buf_str(&d->screen), "a=T"));
    assert_null(strstr(at + 1, PLACEHOLDER));
}

static void check_pixels(const Pictures *p, int high, int wide)
{
    const Picture *only = &p->picture[0];
    assert_int_equal(pictures_count(p), 1);
    assert_true(only->rows == 1 && only->columns == 1 && only->h == high && only->w == wide);
    assert_int_equal(only->id & 0xffffff, 16);
    for (int i = 0; i < only->h * only->w; i++) {
        Colour is = chequer(i / only->w, i % only->w);
        const uint8_t *at = only->rgba + 4 * i;
        assert_int_equal(at[3], is == COLOUR_DEFAULT ? 0 : 255);
        assert_true(!at[3] || (Colour)(at[0] << 16 | at[1] << 8 | at[2]) == is);
    }
}

/* Where it is known to have them it gets the pixels, and whatever ends the program takes them away. */
static void test_graphics(void **state)
{
    (void)state;
    static const struct {
        const char *option, *keys, *answer;
        int signal, columns; /* columns: pixels of the window say what a cell has; 0: it says so itself */
        bool pictures;
    } cases[] = {{NULL, "q", KITTY, 0, 0, true},
                 {NULL, "x", KITTY, 0, 0, true},
                 {NULL, "!", KITTY, 0, 0, true},
                 {NULL, "#", KITTY, 0, 0, true},
                 {NULL, "", KITTY, SIGTERM, 0, true},
                 {NULL, "", KITTY, SIGINT, 0, true},
                 {NULL, "", KITTY, SIGBUS, 0, true},
                 {NULL, "q", KITTY, 0, 7, true},
                 {"never", "q", KITTY, 0, 0, false},
                 {"always", "q", WHO, 0, 0, true},
                 {NULL, "q", "\033_Gi=31;OK\033\\" WHO, 0, 7, false},
                 {NULL, "q", WHO, 0, 7, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int tries = 20; tries; tries--) { /* on a busy machine even this desk answers too late */
            Buf told = {.data = NULL};
            Pictures p = {.sent = 0};
            const struct winsize before = window;
            window.ws_xpixel = (unsigned short)(80 * cases[i].columns);
            window.ws_ypixel = (unsigned short)(24 * 2 * cases[i].columns);
            Desk d = desk_open(PLAIN_ENV, &(TermOptions){.graphics = cases[i].option});
            window = before;
            d.answer = cases[i].answer;
            assert_true(desk_wait(&d, &told, "open"));
            desk_type(&d, "a");
            assert_true(desk_wait(&d, &told, "key [a]"));
            desk_type(&d, "b"); /* nothing more is sent */
            assert_true(desk_wait(&d, &told, "key [b]"));
            if (cases[i].signal && d.pid > 1)
                kill(d.pid, cases[i].signal);
            desk_type(&d, cases[i].keys);
            desk_end(&d, &told);
            bool sent = strstr(buf_str(&d.screen), "a=T") != NULL, again = sent != cases[i].pictures && tries > 1;
            if (!again) {
                assert_int_equal(sent, cases[i].pictures);
                assert_int_equal(strstr(buf_str(&told), "_G") != NULL, false); /* no answer is a key */
            }
            if (!again && sent) {
                const char *gone = strstr(buf_str(&d.screen), "a=d");
                size_t all = d.screen.len;
                assert_non_null(gone);
                assert_true(gone < strstr(buf_str(&d.screen), "\033[?1049l")); /* on the screen that has them */
                d.screen.len = (size_t)(gone - d.screen.data) - 3;
                d.screen.data[d.screen.len] = 0;
                check_picture(&d, &p, false);
                check_pixels(&p, cases[i].columns ? 2 * cases[i].columns : 20,
                             cases[i].columns ? cases[i].columns : 10);
                d.screen.data[d.screen.len] = 27;
                d.screen.len = all;
                assert_true(pictures_read(&p, buf_str(&d.screen), all, false));
                assert_int_equal(pictures_count(&p), 0);
            }
            pictures_free(&p);
            desk_close(&d, &told);
            if (!again)
                break;
        }
}

/* tmux answers for itself at once; what the terminal behind it says comes later, as keys do. */
static void test_graphics_through_tmux(void **state)
{
    (void)state;
    static const char *const ENV[] = {"TERM", "tmux-256color", "TMUX", "/tmp/x", "KITTY_WINDOW_ID", "1", NULL};
    Buf told = {.data = NULL};
    Pictures p = {.sent = 0};
    const struct winsize before = window;
    window.ws_xpixel = 80 * 4;
    window.ws_ypixel = 24 * 8;
    Desk d = desk_open(ENV, &(TermOptions){0});
    window = before;
    d.answer = "\033P>|tmux 3.3a\033\\" WHO;
    assert_true(desk_wait(&d, &told, "open"));
    assert_non_null(strstr(buf_str(&d.screen), "\033Ptmux;\033\033_Gi=31,"));
    desk_type(&d, "a");
    assert_true(desk_wait(&d, &told, "key [a]"));
    assert_null(strstr(buf_str(&d.screen), "a=T"));
    desk_type(&d, "\033_Gi=31;OK\033\\");
    assert_true(desk_wait(&d, &told, "resize []")); /* it is drawn anew */
    desk_type(&d, "b");
    assert_true(desk_wait(&d, &told, "key [b]"));
    check_picture(&d, &p, true);
    check_pixels(&p, 8, 4);
    desk_type(&d, "q");
    assert_int_equal(desk_end(&d, &told), 0);
    assert_true(pictures_read(&p, buf_str(&d.screen), d.screen.len, true));
    assert_int_equal(pictures_count(&p), 0);
    pictures_free(&p);
    desk_close(&d, &told);
}

/* It takes its time: nobody waits for it, what it says is no key, however it comes in pieces, and is still heard. */
static void test_answers_late(void **state)
{
    (void)state;
    static const struct {
        const char *pieces[4], *said;
        bool light;
    } cases[] = {{{WHITE WHO}, "resize [] 0,0 24x80 light\n", true},
                 {{"\033", "]11;rgb:ffff/ff", "ff/ffff\033\\", WHO}, "resize [] 0,0 24x80 light\n", true},
                 {{"\033]11;rgb:ffff/ffff/ffff/q!", "\a\033[?6", "4c"}, "", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf told = {.data = NULL};
        int64_t began = clock_ns();
        Desk d = desk_open(PLAIN_ENV, &(TermOptions){.colour = NULL});
        assert_true(desk_wait(&d, &told, "note="));
        assert_true(clock_ns() - began > ASK_MS * 500000ll);
        for (int k = 0; k < 4 && cases[i].pieces[k]; k++) {
            desk_type(&d, cases[i].pieces[k]);
            poll(NULL, 0, 15);
        }
        assert_true(!*cases[i].said || desk_wait(&d, &told, cases[i].said));
        buf_clear(&told);
        desk_type(&d, "b");
        assert_true(desk_wait(&d, &told, cases[i].light ? "key [b] 0,0 24x80 light\n" : "key [b] 0,0 24x80 \n"));
        assert_ptr_equal(strchr(told.data, '\n'), strrchr(told.data, '\n'));
        desk_type(&d, "q");
        assert_int_equal(desk_end(&d, &told), 0);
        desk_close(&d, &told);
    }
}

/* A machine that has no description of a terminal that everybody knows: ours does. */
static void test_unknown_here(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *line;
    } cases[] = {{"\033OA", "key [Up] 0,0 24x80"},
                 {"\033[5~", "key [PgUp]"},
                 {"\033[15~", "key [F5]"},
                 {"\033[<0;131;5M", "mouse [Click] 4,130"},
                 {"q", "key [q]"}};
    const char *const direct[] = {"TERM", "xterm-nowhere", "COLORTERM", "truecolor", NULL};
    const char *const plain[] = {"TERM", "rxvt-nowhere-256color", NULL};
    for (int colours = 0; colours < 2; colours++) {
        Buf told = {.data = NULL};
        Desk d = desk_open(colours ? direct : plain, &(TermOptions){0});
        assert_true(desk_wait(&d, &told, colours ? "open mode=3 ascii=0 mouse=1" : "open mode=2 ascii=0 mouse=1"));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            desk_type(&d, cases[i].keys);
            assert_true(desk_wait(&d, &told, cases[i].line));
        }
        assert_int_equal(desk_end(&d, &told), 0);
        static const char *const sent[] = {"\033[?1049h", "MARK", "\033[?1049l"};
        const char *at = buf_str(&d.screen);
        for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
            at = strstr(at, sent[i]);
            assert_non_null(at);
        }
        assert_int_equal(strstr(buf_str(&d.screen), "38;2;135;215;95m") != NULL, colours);
        desk_close(&d, &told);
    }
}

static void test_opens_in_a_vast_window(void **state)
{
    (void)state;
    Buf told = {.data = NULL};
    const struct winsize before = window;
    window = (struct winsize){.ws_row = 32767, .ws_col = 32767};
    Desk d = desk_open(PLAIN_ENV, &(TermOptions){.colour = NULL});
    window = before;
    desk_type(&d, "a");
    assert_true(desk_wait(&d, &told, "key [a] 0,0 300x1000"));
    desk_type(&d, "q");
    assert_int_equal(desk_end(&d, &told), 0);
    desk_close(&d, &told);
}

static void test_colours_on_the_wire(void **state)
{
    (void)state;
    static const struct {
        const char *env[5];
        const char *open, *sent, *not_sent;
    } cases[] = {
        {{NULL}, "mode=2", "38;5;113m", "38;2;"},
        {{"COLORTERM", "truecolor", NULL}, "mode=3", "38;2;135;215;95m", "38;5;"},
        {{"COLORTERM", "truecolor", "SSH_TTY", "x", NULL}, "mode=2", "38;5;113m", "38;2;"},
        {{"NO_COLOR", "1", NULL}, "mode=0 ascii=0", "MARK", "38;5;"},
        {{"TERM", "vt100", NULL}, "mode=0 ascii=1 mouse=0", "MARK e", "?1049h"},
        {{"LANG", "C", NULL}, "ascii=1", "MARK e", "\xc3\xa9"},
        {{"LC_CTYPE", "UTF-8", NULL},
         "ascii=1",
         "MARK e",
         "\xc3\xa9"}, /* no such locale, and this terminal does not answer */
        {{"LINES", "9999", "COLUMNS", "3", NULL}, "mode=2", "MARK", "\a"},
        {{"TERM", "linux", NULL}, "mode=1", "MARK", "38;5;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf told = {.data = NULL};
        Desk d = desk_open(cases[i].env, &(TermOptions){.colour = NULL});
        assert_true(desk_wait(&d, &told, cases[i].open));
        desk_type(&d, "q");
        assert_int_equal(desk_end(&d, &told), 0);
        buf_putc(&d.screen, '\0');
        assert_non_null(strstr(d.screen.data, cases[i].sent));
        assert_null(strstr(d.screen.data, cases[i].not_sent));
        assert_non_null(strstr(told.data, "24x80"));
        desk_close(&d, &told);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *env[3];
        const char *message;
    } cases[] = {
        {{"TERM", "", NULL}, "refused TERM is not set"},
        {{"TERM", "no-such-terminal", NULL}, "refused TERM=no-such-terminal is not known"},
        {{"TERM", "dumb", NULL}, "refused TERM=dumb cannot move its cursor"},
        {{"TERM", "x\033]0;y\a", NULL}, "refused TERM=x?]0;y? is not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf told = {.data = NULL};
        Desk d = desk_open(cases[i].env, &(TermOptions){.colour = NULL});
        assert_int_equal(WEXITSTATUS(desk_end(&d, &told)), 2);
        assert_non_null(strstr(buf_str(&told), cases[i].message));
        assert_int_equal(d.screen.len, 0); /* not one byte to a terminal it does not know */
        desk_close(&d, &told);
    }
    Buf told = {.data = NULL};
    Desk d = desk_open(PLAIN_ENV, &(TermOptions){.colour = "loud"});
    assert_int_equal(WEXITSTATUS(desk_end(&d, &told)), 2);
    assert_non_null(strstr(buf_str(&told), "--color=loud: expected"));
    desk_close(&d, &told);
}

/* Whatever ends it, the screen is left, the mouse and paste are off, and the modes are those from before. */
static void test_restored_on_every_exit(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        int sent, by; /* a signal from outside; the signal that ended it */
    } cases[] = {
        {"q", 0, 0},          {"x", 0, 0},          {"!", 0, SIGSEGV},   {"#", 0, SIGABRT}, {"", SIGTERM, SIGTERM},
        {"", SIGHUP, SIGHUP}, {"", SIGINT, SIGINT}, {"", SIGBUS, SIGBUS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf told = {.data = NULL};
        Desk d = desk_open(PLAIN_ENV, &(TermOptions){.colour = NULL});
        assert_true(desk_wait(&d, &told, "open"));
        desk_type(&d, "a");
        assert_true(desk_wait(&d, &told, "key [a]"));
        struct termios now;
        assert_int_equal(tcgetattr(d.master, &now), 0);
        assert_false(now.c_lflag & ICANON);
        if (cases[i].sent) {
            assert_true(d.pid > 1);
            assert_int_equal(kill(d.pid, cases[i].sent), 0);
        }
        desk_type(&d, cases[i].keys);
        int status = desk_end(&d, &told);
        assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, cases[i].by);
        buf_putc(&d.screen, '\0');
        static const char *const undone[] = {"\033[?1000l", "\033[?1006l", "\033[?2004l", "\033[?1049l", "\033[?2026l"};
        for (size_t k = 0; k < sizeof undone / sizeof *undone; k++)
            assert_non_null(strstr(d.screen.data, undone[k]));
        assert_int_equal(tcgetattr(d.master, &now), 0);
        assert_true(now.c_lflag == d.modes.c_lflag && now.c_iflag == d.modes.c_iflag && now.c_oflag == d.modes.c_oflag);
        desk_close(&d, &told);
    }
}

static void test_hangup(void **state)
{
    (void)state;
    Buf told = {.data = NULL};
    Desk d = desk_open(PLAIN_ENV, &(TermOptions){.colour = NULL});
    assert_true(desk_wait(&d, &told, "open"));
    close(d.master); /* the line is cut */
    d.master = -1;
    int64_t start = clock_ns();
    int status = -1;
    while (waitpid(d.pid, &status, WNOHANG) == 0 && clock_ns() - start < 5000000000)
        poll(NULL, 0, 20);
    assert_true(clock_ns() - start < 2000000000);
    assert_true(WIFEXITED(status) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP));
    desk_close(&d, &told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colour_mode),
        cmocka_unit_test(test_ground),
        cmocka_unit_test(test_surroundings),
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_answers_late),
        cmocka_unit_test(test_graphics),
        cmocka_unit_test(test_graphics_through_tmux),
        cmocka_unit_test(test_unknown_here),
        cmocka_unit_test(test_opens_in_a_vast_window),
        cmocka_unit_test(test_colours_on_the_wire),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_restored_on_every_exit),
        cmocka_unit_test(test_hangup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
