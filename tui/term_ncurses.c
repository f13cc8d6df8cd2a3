/* The terminal through ncurses: opened, drawn on, left. The state is static, for there is one terminal. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/term_parts.h"

#include <term.h> /* its macros take words that anybody uses */

#include "tui/term_detect.h"
#include "tui/term_entry.h"
#include "tui/term_keys.h"
#include "tui/term_signals.h"

Term term;

#define OWN_NAME "vitrine-own"

static bool starts(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

static int flag_of(const char *name)
{
    return tigetflag((NCURSES_CONST char *)name);
}

static int number_of(const char *name)
{
    return tigetnum((NCURSES_CONST char *)name);
}

static const char *capability(const char *name)
{
    const char *s = tigetstr((NCURSES_CONST char *)name);
    return s == (char *)-1 ? NULL : s;
}

/* TERMINFO while curses reads an entry of ours; put back at once, so that programs started from here do not see it. */
static char *lend_entry(const char *entry)
{
    const char *before = getenv("TERMINFO");
    char *saved = before ? xstrdup(before) : NULL;
    setenv("TERMINFO", entry, 1);
    return saved;
}

static void take_entry_back(char *saved)
{
    if (saved)
        setenv("TERMINFO", saved, 1);
    else
        unsetenv("TERMINFO");
    free(saved);
}

static SCREEN *newterm_with(const char *name, const char *entry)
{
    char *saved = lend_entry(entry);
    SCREEN *s = newterm((NCURSES_CONST char *)name, stdout, stdin);
    take_entry_back(saved);
    return s;
}

/* Where this machine has no description of the terminal: by ours, which newterm takes too. */
static bool describe_ourselves(const char *name)
{
    const EntrySource source = {.flag_names = (const char *const *)boolnames,
                                .number_names = (const char *const *)numnames,
                                .string_names = (const char *const *)strnames,
                                .flag = own_flag,
                                .number = own_number,
                                .string = own_string};
    const int colours = own_describes(name);
    const EntryWish wish = {.name = OWN_NAME, .colours = colours == 256 ? ENTRY_256 : 0};
    int found = 0;
    buf_clear(&term.own);
    if (!colours || !entry_private(&source, &wish, &term.own))
        return false;
    char *saved = lend_entry(term.own.data);
    bool ok = setupterm(OWN_NAME, STDOUT_FILENO, &found) == OK;
    take_entry_back(saved);
    if (!ok)
        buf_clear(&term.own);
    return ok;
}

/* The size that the terminal claims, cut to what is drawn; false where it claims none. */
static bool size_claimed(int *h, int *w)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
        return false;
    *h = size.ws_row < TERM_ROWS ? size.ws_row : TERM_ROWS;
    *w = size.ws_col < TERM_COLUMNS ? size.ws_col : TERM_COLUMNS;
    return true;
}

static SCREEN *open_curses(int colours)
{
    TermStatus *st = &term.status;
    bool tmux = (starts(st->term, "tmux") || starts(st->term, "screen")) && getenv("TMUX") && capability("kmous");
    bool recolour = st->mode == MODE_TRUE ? flag_of("RGB") <= 0 || number_of("CO") > 0
                                          : st->mode == MODE_256 && colours != 256;
    SCREEN *s = NULL;
    if (recolour || tmux || term.options.no_altscreen) {
        const EntrySource source = {.flag_names = (const char *const *)boolnames,
                                    .number_names = (const char *const *)numnames,
                                    .string_names = (const char *const *)strnames,
                                    .flag = flag_of,
                                    .number = number_of,
                                    .string = capability};
        const EntryWish wish = {.name = "vitrine-private",
                                .colours = !recolour               ? 0
                                           : st->mode == MODE_TRUE ? ENTRY_TRUE
                                                                   : ENTRY_256,
                                .sgr_mouse = tmux,
                                .no_altscreen = term.options.no_altscreen};
        Buf entry = {.data = NULL};
        if (entry_private(&source, &wish, &entry))
            s = newterm_with(wish.name, entry.data);
        buf_free(&entry);
        if (!s && recolour && colours < 1 << 24) {
            st->mode = colours >= 256 ? MODE_256 : colours >= 8 ? MODE_8 : MODE_MONO;
            size_t n = strlen(st->note);
            snprintf(st->note + n, sizeof st->note - n,
                     "%sthis ncurses takes no description of ours, so the colours are those of TERM", n ? "; " : "");
        }
    }
    if (s)
        return s;
    return term.own.len ? newterm_with(OWN_NAME, term.own.data) : newterm(st->term, stdout, stdin);
}

/* newterm believes LINES and COLUMNS (use_env), which are set to what is drawn of what the terminal claims. */
static SCREEN *open_screen(int colours)
{
    int h = 0, w = 0; /* 0: terminfo knows better */
    char down[16], across[16];
    size_claimed(&h, &w);
    snprintf(down, sizeof down, "%d", h);
    snprintf(across, sizeof across, "%d", w);
    setenv("LINES", down, 1);
    setenv("COLUMNS", across, 1);
    SCREEN *s = open_curses(colours);
    unsetenv("LINES");
    unsetenv("COLUMNS");
    return s;
}

/* Until it was left once and begun again ncurses writes at every jump of its cursor: a frame of fifty pieces, each a
 * packet over ssh. It is done where nothing of it gets to the terminal. */
static void begin_whole_frames(void)
{
    int out = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    doupdate(); /* what it has kept of its beginning, the other screen among it, does get there */
    fflush(stdout);
    if (out >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0) {
        endwin();
        doupdate();
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
        clearok(curscr, TRUE);
    }
    if (out >= 0)
        close(out);
    if (nowhere >= 0)
        close(nowhere);
}

void build_undo(char undo[UNDO_BYTES])
{
    undo[0] = '\0';
    if (term.asks)
        entry_unpadded(undo, UNDO_BYTES, FRAME_END);
    if (term.status.graphics) {
        Buf b = {0};
        graphics_delete(&term.graphics, true, &b);
        entry_unpadded(undo, UNDO_BYTES, buf_str(&b));
        buf_free(&b);
    }
    if (term.status.has_mouse || term.paste_mode)
        entry_unpadded(undo, UNDO_BYTES, "\033[?1003l\033[?1002l\033[?1006l\033[?1000l\033[?2004l");
    entry_unpadded(undo, UNDO_BYTES, capability("sgr0"));
    entry_unpadded(undo, UNDO_BYTES, capability("op"));
    entry_unpadded(undo, UNDO_BYTES, capability("rmkx"));
    entry_unpadded(undo, UNDO_BYTES, capability("cnorm"));
    if (term.options.no_altscreen) { /* the last frame stays: the prompt comes below it */
        entry_unpadded(undo, UNDO_BYTES, tparm(capability("cup"), 998, 0, 0, 0, 0, 0, 0, 0, 0));
        entry_unpadded(undo, UNDO_BYTES, "\r\n");
    } else {
        entry_unpadded(undo, UNDO_BYTES, capability(capability("rmcup") ? "rmcup" : "clear"));
    }
}

/* Modes that curses does not know of. */
static void take_modes(void)
{
    struct termios raw; /* raw() takes Ctrl-Z too; the terminal driver does it better, for it stops the whole job */
    if (!tcgetattr(STDIN_FILENO, &raw)) {
        raw.c_lflag |= ISIG;
        raw.c_cc[VINTR] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        def_prog_mode();
    }
    if (term.paste_mode)
        putp("\033[?2004h");
    fflush(stdout);
}

static void open_colours(void)
{
    TermStatus *st = &term.status;
    if (st->mode != MODE_MONO && start_color() == ERR)
        st->mode = MODE_MONO;
    if (st->mode != MODE_MONO)
        term.default_colours = use_default_colors() == OK;
    pairs_init(&term.pairs, st->mode == MODE_MONO ? 1 : COLOR_PAIRS);
}

static void open_keys(const TermOptions *o)
{
    raw();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    if (o->escdelay > 0 || !getenv("ESCDELAY"))
        set_escdelay(o->escdelay > 0 ? o->escdelay : 25);
    for (int i = 0; i < KEY_SEQUENCES; i++)
        define_key(key_sequences[i].bytes, K_NAMED + i);
    if (term.paste_mode) {
        define_key("\033[200~", K_PASTE);
        define_key("\033[201~", K_PASTE_END);
    }
    mouseinterval(0);
}

static bool check_terminal(const TermOptions *o, Err *err)
{
    if (!term_plausible(o->colour, err))
        return false;
    const char *name = getenv("TERM");
    char shown[64];
    utf8_clean(shown, sizeof shown, name);
    use_env(TRUE); /* open_screen puts the size there */
    use_tioctl(FALSE);
    int found = 0;
    buf_clear(&term.own);
    if (setupterm(name, STDOUT_FILENO, &found) == ERR && found != 1 && !describe_ourselves(name))
        return err_set(err, "TERM=%s is not known on this machine; try: TERM=xterm-256color vitrine", shown);
    if (!capability("cup") || flag_of("hc") > 0)
        return err_set(
            err,
            "TERM=%s cannot move its cursor; `vitrine --plain` goes line by line, or TERM=xterm-256color if it can",
            shown);
    return true;
}

bool take_reply(void)
{
    TermStatus *st = &term.status;
    bool was = st->light;
    st->ground = term.reply.ground;
    st->frames = term.reply.has_frames;
    st->light = term_light(term.options.ground, st->ground, getenv("COLORFGBG"), &st->ground_why);
    return take_graphics() || st->light != was;
}

/* Colours, ground and characters, from the surroundings and from the terminal itself. */
static void find_out(int colours, Buf *typed)
{
    enum { PATIENCE_NS = 2000000000 };
    TermStatus *st = &term.status;
    TermEnv env = term_env(term.options.colour);
    const char *report = capability("u7");
    bool unsure = term_locale_unsure(), places = report && !strcmp(report, "\033[6n");
    term.reply = (TermReply){.ground = COLOUR_DEFAULT, .all = true};
    Buf more = {0};
    ask_graphics(&more);
    if (term.asks)
        term_ask(STDIN_FILENO, unsure && places, buf_str(&more), &term.reply, typed);
    buf_free(&more);
    term.patience = clock_ns() + PATIENCE_NS;
    env.says_256 = term.reply.has_256;
    st->mode = term_colour_mode(&env, colours, &st->why);
    st->ascii = !term_locale(term.reply.column == 2, st->note, sizeof st->note);
    take_reply();
}

bool term_open(const TermOptions *o, Err *err)
{
    if (!check_terminal(o, err))
        return false;
    TermStatus *st = &term.status;
    *st = (TermStatus){.why = ""};
    term.options = *o;
    utf8_clean(st->term, sizeof st->term, getenv("TERM"));
    term.asks = term_answers(st->term, capability("u9"));
    const char *mouse = capability("kmous");
    st->has_mouse = mouse && (starts(mouse, "\033[<") || starts(mouse, "\033[M"));
    term.paste_mode = st->has_mouse || capability("BE");
    tcgetattr(STDIN_FILENO, &term.modes);
    char undo[UNDO_BYTES];
    build_undo(undo);
    signals_arm(STDOUT_FILENO, &term.modes, undo); /* before newterm, which keeps handlers that are there */
    fatal_set_hook(signals_restore);
    Buf typed = {0};
    int colours = number_of("colors");
    find_out(colours, &typed);
    if (!st->ascii && term_before_unicode(st->term)) {
        st->ascii = true;
        utf8_print(st->note, sizeof st->note,
                   "TERM=%.40s knows no UTF-8, so this is drawn in ASCII; a newer terminal: export TERM=xterm-256color",
                   st->term);
    }
    if (o->ascii) {
        st->ascii = true;
        st->note[0] = '\0';
    }
    st->plots = term_plots(o->plots, st->term, &st->plots_why);
    take_graphics(); /* as it is drawn in the end */
    TERMINAL *probe = cur_term;
    term.screen = open_screen(colours);
    if (probe != cur_term)
        del_curterm(probe);
    if (!term.screen) {
        tcsetattr(STDIN_FILENO, TCSANOW, &term.modes);
        signals_disarm();
        fatal_set_hook(NULL);
        buf_free(&typed);
        return err_set(err, "TERM=%s: curses cannot start on this terminal; try: TERM=xterm-256color vitrine",
                       st->term);
    }
    begin_whole_frames();
    open_keys(o);
    give_back(&typed);
    buf_free(&typed);
    open_colours();
    take_modes();
    term_mouse(!o->no_mouse);
    return true;
}

void term_leave(void)
{
    if (!term.screen)
        return;
    if (term.status.has_mouse)
        mousemask(0, NULL);
    signals_restore(); /* instead of endwin: one way out for every exit */
}

void term_close(void)
{
    if (!term.screen)
        return;
    term_leave();
    signals_disarm();
    fatal_set_hook(NULL);
    delscreen(term.screen);
    pairs_free(&term.pairs);
    free(term.row);
    buf_free(&term.paste);
    buf_free(&term.own);
    term.screen = NULL;
    term.row = NULL;
    term.row_cells = 0;
}

const TermStatus *term_status(void)
{
    return &term.status;
}

void term_size(int *h, int *w)
{
    *h = LINES > 0 ? LINES : 1;
    *w = COLS > 0 ? COLS : 1;
}

void take_size(void)
{
    int h, w;
    if (size_claimed(&h, &w) && (h != LINES || w != COLS))
        resizeterm(h, w);
}

void take_again(void)
{
    if (!signals_resumed())
        return;
    reset_prog_mode();
    if (!term.options.no_altscreen && capability("smcup"))
        putp(capability("smcup"));
    if (capability("smkx"))
        putp(capability("smkx"));
    bool mouse = term.status.mouse;
    if (term.status.has_mouse) {
        mousemask(0, NULL);
        term_mouse(mouse);
    }
    take_modes();
    signals_taken();
    graphics_forget(&term.graphics); /* the way out took them away */
    take_size();
    clearok(curscr, TRUE);
    term.resumed = true;
}

bool term_mouse(bool on)
{
    if (!term.screen || !term.status.has_mouse)
        return term.status.mouse = false;
    mousemask(on ? BUTTON1_PRESSED | BUTTON3_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    term.status.mouse = on;
    return on;
}

void term_reraise(void)
{
    signals_reraise();
}
