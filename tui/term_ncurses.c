/* The terminal through ncurses: the only file that includes curses. The state is static, for there is one terminal. */
#define _GNU_SOURCE 1
#define NCURSES_WIDECHAR 1
#include "tui/term.h"

#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"
#include "tui/term_detect.h"
#include "tui/term_entry.h"
#include "tui/term_keys.h"
#include "tui/term_pairs.h"
#include "tui/term_signals.h"

static struct {
    SCREEN *screen;
    TermStatus status;
    struct termios modes; /* before anything was changed */
    Pairs pairs;
    cchar_t *row;
    int row_cells;
    bool default_colours, paste_mode, no_altscreen;
    bool told;    /* the signal that ends us has been an event, once */
    bool resumed; /* stopped and continued: an event has to tell so */
    Buf paste;
} term;

/* Codes of our own, above those of ncurses. */
enum { K_PASTE = KEY_MAX + 1, K_PASTE_END, K_NAMED };

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

/* newterm with the private entry; TERMINFO is put back at once, so that programs started from here do not see it. */
static SCREEN *newterm_with(const char *name, const char *entry)
{
    const char *before = getenv("TERMINFO");
    char *saved = before ? xstrdup(before) : NULL;
    setenv("TERMINFO", entry, 1);
    SCREEN *s = newterm((NCURSES_CONST char *)name, stdout, stdin);
    if (saved)
        setenv("TERMINFO", saved, 1);
    else
        unsetenv("TERMINFO");
    free(saved);
    return s;
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
    if (recolour || tmux || term.no_altscreen) {
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
                                .no_altscreen = term.no_altscreen};
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
    return s ? s : newterm(st->term, stdout, stdin);
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

static void build_undo(char undo[UNDO_BYTES])
{
    undo[0] = '\0';
    if (term.status.has_mouse || term.paste_mode)
        entry_unpadded(undo, UNDO_BYTES, "\033[?1003l\033[?1002l\033[?1006l\033[?1000l\033[?2004l");
    entry_unpadded(undo, UNDO_BYTES, capability("sgr0"));
    entry_unpadded(undo, UNDO_BYTES, capability("op"));
    entry_unpadded(undo, UNDO_BYTES, capability("rmkx"));
    entry_unpadded(undo, UNDO_BYTES, capability("cnorm"));
    if (term.no_altscreen) { /* the last frame stays: the prompt comes below it */
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
    if (setupterm(name, STDOUT_FILENO, &found) == ERR && found != 1)
        return err_set(err, "TERM=%s is not known on this machine; try: TERM=xterm-256color vitrine", shown);
    if (!capability("cup") || flag_of("hc") > 0)
        return err_set(
            err,
            "TERM=%s cannot move its cursor; `vitrine --plain` goes line by line, or TERM=xterm-256color if it can",
            shown);
    return true;
}

bool term_open(const TermOptions *o, Err *err)
{
    if (!check_terminal(o, err))
        return false;
    TermStatus *st = &term.status;
    *st = (TermStatus){.why = ""};
    term.no_altscreen = o->no_altscreen;
    utf8_clean(st->term, sizeof st->term, getenv("TERM"));
    TermEnv env = term_env(o->colour);
    int colours = number_of("colors");
    st->mode = term_colour_mode(&env, colours, &st->why);
    st->light = term_light(o->ground, env.colorfgbg);
    const char *report = capability("u7");
    st->ascii = !term_locale(STDIN_FILENO, report && !strcmp(report, "\033[6n"), st->note, sizeof st->note);
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
    st->plots = term_plots(o->plots, st->term);
    const char *mouse = capability("kmous");
    st->has_mouse = mouse && (starts(mouse, "\033[<") || starts(mouse, "\033[M"));
    term.paste_mode = st->has_mouse || capability("BE");
    tcgetattr(STDIN_FILENO, &term.modes);
    char undo[UNDO_BYTES];
    build_undo(undo);
    signals_arm(STDOUT_FILENO, &term.modes, undo); /* before newterm, which keeps handlers that are there */
    fatal_set_hook(signals_restore);
    TERMINAL *probe = cur_term;
    term.screen = open_screen(colours);
    if (probe != cur_term)
        del_curterm(probe);
    if (!term.screen) {
        signals_disarm();
        fatal_set_hook(NULL);
        return err_set(err, "TERM=%s: curses cannot start on this terminal; try: TERM=xterm-256color vitrine",
                       st->term);
    }
    open_keys(o);
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

static int pair_number(Colour fg, Colour bg)
{
    bool fresh;
    int f = pairs_colour(term.status.mode, fg), b = pairs_colour(term.status.mode, bg);
    if (!term.default_colours) { /* a terminal without "default": what text has is white on black */
        f = f < 0 && b >= 0 ? COLOR_WHITE : f;
        b = b < 0 && f >= 0 ? COLOR_BLACK : b;
    }
    int pair = pairs_find(&term.pairs, f, b, &fresh);
    if (fresh)
        init_extended_pair(pair, f, b);
    return pair;
}

static void set_cell(cchar_t *out, CellLook s)
{
    static const struct {
        uint8_t attr;
        attr_t curses;
    } attrs[] = {{ATTR_BOLD, A_BOLD}, {ATTR_DIM, A_DIM}, {ATTR_REVERSE, A_REVERSE}, {ATTR_UNDERLINE, A_UNDERLINE}};
    attr_t a = A_NORMAL;
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
        a |= s.attrs & attrs[i].attr ? attrs[i].curses : 0;
    int pair = term.status.mode == MODE_MONO ? 0 : pair_number(s.fg, s.bg);
    wchar_t text[2] = {(wchar_t)s.ch, 0};
    if (wcwidth(text[0]) != utf8_width(s.ch)) /* the C library would shift the row */
        text[0] = L'?';
    setcchar(out, text, a, 0, &pair);
}

static void draw_row(const Canvas *c, int y, int cells)
{
    int n = 0;
    for (int x = 0; x < cells; x++) {
        CellLook s = cell_look(&c->cells[(size_t)y * (size_t)c->w + (size_t)x], term.status.mode, term.status.ascii,
                               term.status.light);
        if (!s.ch)
            continue;
        if (utf8_width(s.ch) == 2 &&
            (x + 1 >= cells || wcwidth((wchar_t)s.ch) != 2)) { /* no room, or the C library disagrees: blanks */
            s.ch = ' ';
            if (x + 1 < cells)
                set_cell(&term.row[n++], s);
        }
        set_cell(&term.row[n++], s);
    }
    mvadd_wchnstr(y, 0, term.row, n);
}

/* A window of another size becomes a KEY_RESIZE. The handler of SIGWINCH is ours: that of ncurses would take any size
 * that the terminal claims. */
static void take_size(void)
{
    int h, w;
    if (size_claimed(&h, &w) && (h != LINES || w != COLS))
        resizeterm(h, w);
}

/* After a stop: the modes and the screen are somebody else's by now. */
static void take_again(void)
{
    if (!signals_resumed())
        return;
    reset_prog_mode();
    if (!term.no_altscreen && capability("smcup"))
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
    take_size();
    clearok(curscr, TRUE);
    term.resumed = true;
}

void term_draw(const Canvas *c)
{
    if (!term.screen)
        return;
    take_again();
    int h, w;
    term_size(&h, &w);
    if (term.row_cells < w) {
        term.row = xrealloc(term.row, size_mul((size_t)w + 1, sizeof *term.row));
        term.row_cells = w;
    }
    int rows = c->h < h ? c->h : h, cells = c->w < w ? c->w : w;
    if (term.status.mode != MODE_MONO && term.pairs.limit > 4096 &&
        term.pairs.used + rows * cells >= term.pairs.limit) {
        reset_color_pairs(); /* between frames: no cell on the screen may change its colours */
        pairs_reset(&term.pairs);
    }
    if (rows < h || cells < w)
        erase();
    for (int y = 0; y < rows; y++)
        draw_row(c, y, cells);
    bool shown = rect_has((Rect){.h = rows, .w = cells}, c->cursor_y, c->cursor_x);
    curs_set(shown);
    move(shown ? c->cursor_y : h - 1, shown ? c->cursor_x : w - 1);
    refresh();
}

void term_redraw(void)
{
    if (term.screen)
        clearok(curscr, TRUE);
}

bool term_mouse(bool on)
{
    if (!term.screen || !term.status.has_mouse)
        return term.status.mouse = false;
    mousemask(on ? BUTTON1_PRESSED | BUTTON3_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    term.status.mouse = on;
    return on;
}

void term_suspend(void)
{
    if (term.screen)
        raise(SIGTSTP); /* its handler leaves the terminal; the next draw or event takes it again */
}

static bool next_character(uint32_t *c)
{
    wint_t got;
    bool ok = get_wch(&got) == OK;
    *c = ok ? (uint32_t)got : 0;
    return ok;
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
        int got = get_wch(&c);
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
        int got = get_wch(&c);
        if (got == KEY_CODE_YES
                ? function_key(e, (int)c)
                : got == OK && (c == 27 ? key_escape(e, next_character) : key_character(e, (uint32_t)c)))
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

void term_reraise(void)
{
    signals_reraise();
}
