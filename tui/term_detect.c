#include "tui/term_detect.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"

static const char *env_or_null(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

TermEnv term_env(const char *option)
{
    return (TermEnv){
        .option = option,
        .no_color = env_or_null("NO_COLOR"),
        .term = env_or_null("TERM"),
        .tmux = env_or_null("TMUX"),
        .colorterm = env_or_null("COLORTERM"),
        .colorfgbg = env_or_null("COLORFGBG"),
        .ssh = env_or_null("SSH_CONNECTION") || env_or_null("SSH_CLIENT") || env_or_null("SSH_TTY"),
    };
}

static const struct {
    const char *name;
    ColourMode mode;
} options[] = {{"true", MODE_TRUE}, {"256", MODE_256}, {"8", MODE_8}, {"mono", MODE_MONO}};
enum { OPTIONS = sizeof options / sizeof *options };

static int option_index(const char *option)
{
    int i = 0;
    while (i < OPTIONS && strcmp(option, options[i].name))
        i++;
    return i;
}

bool term_colour_known(const char *option)
{
    return !option || !strcmp(option, "auto") || option_index(option) < OPTIONS;
}

bool term_plausible(const char *colour, Err *err)
{
    bool in = isatty(STDIN_FILENO), out = isatty(STDOUT_FILENO);
    if (!in || !out)
        return err_set(err, "standard %s is not a terminal; `vitrine screen` and `vitrine show` work without one",
                       in ? "output" : "input");
    if (!term_colour_known(colour))
        return err_set(err, "--color=%.40s: expected auto, true, 256, 8 or mono", colour);
    if (!env_or_null("TERM"))
        return err_set(err, "TERM is not set, so the kind of terminal is unknown; `vitrine --plain` goes line by line; "
                            "or try: TERM=xterm-256color vitrine");
    return true;
}

static bool starts(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

static bool ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && !strcmp(s + n - m, suffix);
}

static bool known_direct(const char *term)
{
    static const char *const names[] = {"xterm-kitty", "alacritty", "foot", "wezterm", "xterm-ghostty", "ghostty"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (starts(term, names[i]))
            return true;
    return false;
}

static ColourMode by_terminfo(int colours)
{
    return colours >= 1 << 24 ? MODE_TRUE : colours >= 256 ? MODE_256 : colours >= 8 ? MODE_8 : MODE_MONO;
}

ColourMode term_colour_mode(const TermEnv *env, int colours, const char **why)
{
    const char *term = env->term ? env->term : "";
    int option = env->option ? option_index(env->option) : OPTIONS;
    if (option < OPTIONS) {
        *why = "--color";
        return options[option].mode;
    }
    if (env->no_color) {
        *why = "NO_COLOR is set";
        return MODE_MONO;
    }
    if (ends(term, "-direct")) {
        *why = "TERM names direct colour";
        return MODE_TRUE;
    }
    if (colours >= 8 && starts(term, "screen") && !env->tmux) {
        *why = "GNU screen";
        return colours >= 256 ? MODE_256 : MODE_8;
    }
    bool colorterm = env->colorterm && (!strcmp(env->colorterm, "truecolor") || !strcmp(env->colorterm, "24bit"));
    if (colours >= 8 && (colorterm || known_direct(term))) {
        *why = env->ssh    ? "over ssh; --color=true sends five times as much"
               : colorterm ? "COLORTERM"
                           : "known terminal";
        return env->ssh ? MODE_256 : MODE_TRUE;
    }
    *why = "terminfo";
    return by_terminfo(colours);
}

bool term_light(const char *ground, const char *colorfgbg)
{
    if (ground && !strcmp(ground, "light"))
        return true;
    if (!colorfgbg || (ground && !strcmp(ground, "dark")))
        return false;
    const char *last = strrchr(colorfgbg, ';');
    return last && (!strcmp(last, ";7") || !strcmp(last, ";15"));
}

bool term_before_unicode(const char *term)
{
    return starts(term, "vt") && term[2] >= '0' && term[2] <= '9';
}

const char *term_plots(const char *option, const char *term)
{
    return option && strcmp(option, "auto") != 0 ? option : strcmp(term, "linux") == 0 ? "ascii" : "braille";
}

/* One byte, before `until`, whatever signals come meanwhile. */
static bool reads_one(int fd, char *byte, int64_t until)
{
    for (;;) {
        int64_t left = (until - clock_ns()) / 1000000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        ssize_t got = ready > 0 ? read(fd, byte, 1) : -1;
        if (got == 1)
            return true;
        if (ready == 0 || got == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
    }
}

static bool writes(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return false;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* Reads up to the end of a cursor report, ESC [ row ; column R; returns the column, 0 when none came in time. */
static int read_report(int fd)
{
    enum { PATIENCE_NS = 250000000 };
    char text[32];
    size_t n = 0;
    const int64_t until = clock_ns() + PATIENCE_NS;
    while (n + 1 < sizeof text) {
        if (!reads_one(fd, text + n, until))
            return 0;
        if (text[n++] == 'R')
            break;
    }
    text[n] = '\0';
    int row = 0, column = 0;
    const char *report = strchr(text, '\033');
    return report && sscanf(report, "\033[%d;%dR", &row, &column) == 2 ? column : 0;
}

/* A box line is three bytes: a terminal that knows UTF-8 moves its cursor by one column, another by three. */
static bool terminal_takes_utf8(int fd)
{
    static const char ask[] = "\r\xe2\x94\x80\033[6n", wipe[] = "\r\033[K";
    struct termios old;
    if (tcgetattr(fd, &old))
        return false;
    struct termios raw = old;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(fd, TCSANOW, &raw))
        return false;
    int column = writes(fd, ask, sizeof ask - 1) ? read_report(fd) : 0;
    bool wiped = writes(fd, wipe, sizeof wipe - 1);
    tcsetattr(fd, TCSANOW, &old);
    return wiped && column == 2;
}

bool term_locale(int fd, bool ask, char *note, size_t n)
{
    const char *all = env_or_null("LC_ALL"), *ctype = env_or_null("LC_CTYPE"), *lang = env_or_null("LANG");
    const char *asked = all ? all : ctype ? ctype : lang;
    const char *variable = all ? "LC_ALL" : ctype ? "LC_CTYPE" : "LANG";
    bool set = setlocale(LC_ALL, "") != NULL || setlocale(LC_CTYPE, "") != NULL;
    bool utf8 = false;
    note[0] = '\0';
    if (set && (asked || !strcmp(nl_langinfo(CODESET), "UTF-8"))) {
        utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
        if (!utf8)
            utf8_print(note, n, "%s=%.40s is not UTF-8, so this is drawn in ASCII; mend: export %s=C.UTF-8", variable,
                       asked, variable);
    } else {
        utf8 = setlocale(LC_CTYPE, "C.UTF-8") && ask && terminal_takes_utf8(fd);
        if (!utf8) {
            setlocale(LC_CTYPE, "C");
            utf8_print(note, n, "%s%.40s%s, so this is drawn in ASCII; mend: export %s=C.UTF-8",
                       asked ? "the locale " : "no locale is set", asked ? asked : "",
                       asked ? " does not exist here" : "", variable);
        } else if (asked) {
            utf8_print(note, n, "the locale %.40s does not exist here; C.UTF-8 is used; mend: export %s=C.UTF-8", asked,
                       variable);
        }
    }
    setlocale(LC_NUMERIC, "C"); /* numbers are printed and read with a point */
    return utf8;
}
