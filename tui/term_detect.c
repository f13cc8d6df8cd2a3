#include "tui/term_detect.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/utf8.h"

static const char *env_or_null(const char *name)
{
    const char *v = getenv(name);
    return v && *v ? v : NULL;
}

static bool starts(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

/* The variable by which a terminal says which it is, and what that one can show. xterm draws the nearest of 256 for any
 * other colour; VTE has all of them since 0.36. */
static const char *known_terminal(ColourMode *mode)
{
    static const struct {
        const char *variable, *value; /* value NULL: any */
        long least;
        ColourMode mode;
    } known[] = {{"COLORTERM", "truecolor", 0, MODE_TRUE},    {"COLORTERM", "24bit", 0, MODE_TRUE},
                 {"WT_SESSION", NULL, 0, MODE_TRUE},          {"KONSOLE_VERSION", NULL, 0, MODE_TRUE},
                 {"VTE_VERSION", NULL, 3600, MODE_TRUE},      {"VTE_VERSION", NULL, 0, MODE_256},
                 {"TERM_PROGRAM", "iTerm.app", 0, MODE_TRUE}, {"TERM_PROGRAM", "WezTerm", 0, MODE_TRUE},
                 {"TERM_PROGRAM", "ghostty", 0, MODE_TRUE},   {"TERM_PROGRAM", "vscode", 0, MODE_TRUE},
                 {"TERM_PROGRAM", "mintty", 0, MODE_TRUE},    {"TERM_PROGRAM", "Apple_Terminal", 0, MODE_256},
                 {"XTERM_VERSION", NULL, 0, MODE_256}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *value = env_or_null(known[i].variable);
        if (!value || (known[i].value && strcmp(value, known[i].value) != 0) || atol(value) < known[i].least)
            continue;
        *mode = known[i].mode;
        return known[i].variable;
    }
    return NULL;
}

TermEnv term_env(const char *option)
{
    ColourMode known = MODE_MONO;
    return (TermEnv){
        .option = option,
        .no_color = env_or_null("NO_COLOR"),
        .term = env_or_null("TERM"),
        .tmux = env_or_null("TMUX"),
        .known = known_terminal(&known),
        .known_mode = known,
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

static bool ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && !strcmp(s + n - m, suffix);
}

static bool one_of(const char *term, const char *const *names)
{
    while (*names && !starts(term, *names))
        names++;
    return *names;
}

static bool known_direct(const char *term)
{
    static const char *const names[] = {"xterm-kitty", "alacritty",     "foot", "wezterm",
                                        "ghostty",     "xterm-ghostty", NULL};
    return one_of(term, names);
}

/* A terminal within another, or one that is no window: what was told of the one outside is not its own. */
static bool is_within(const char *term)
{
    static const char *const names[] = {"screen", "tmux", "eterm", "linux", NULL};
    return one_of(term, names);
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
        *why = "--colour";
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
    ColourMode best = by_terminfo(colours);
    *why = "terminfo";
    const struct {
        bool known;
        ColourMode mode;
        const char *why;
    } more[] = {{env->says_256, MODE_256, "the terminal's answer"},
                {env->tmux && (starts(term, "tmux") || starts(term, "screen")), MODE_256, "tmux"},
                {env->known && (!is_within(term) || !strcmp(env->known, "COLORTERM")), env->known_mode, env->known},
                {known_direct(term), MODE_TRUE, "TERM"}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (colours >= 8 && more[i].known && more[i].mode > best) {
            best = more[i].mode;
            *why = more[i].why;
        }
    if (best < MODE_TRUE || colours >= 1 << 24 || !env->ssh)
        return best;
    *why = "over ssh; --colour true sends five times as much";
    return MODE_256;
}

/* Does black text stand out from it more than white text does? */
static bool is_light(Colour ground)
{
    return !colour_readable_on(ground);
}

bool term_light(const char *ground, Colour said, const char *colorfgbg, const char **why)
{
    const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
    bool option = ground && (!strcmp(ground, "light") || !strcmp(ground, "dark"));
    *why = option                   ? "the option"
           : said != COLOUR_DEFAULT ? "the terminal's answer"
           : last                   ? "COLORFGBG"
                                    : "nothing says that it is light";
    if (option)
        return !strcmp(ground, "light");
    return said != COLOUR_DEFAULT ? is_light(said) : last && (!strcmp(last, ";7") || !strcmp(last, ";15"));
}

bool term_before_unicode(const char *term)
{
    return starts(term, "vt") && term[2] >= '0' && term[2] <= '9';
}

bool term_answers(const char *term, const char *who)
{
    return who && !strcmp(who, "\033[c") && strcmp(term, "linux") != 0 && !term_before_unicode(term);
}

const char *term_plots(const char *option, const char *term, const char **why)
{
    bool given = option && strcmp(option, "auto") != 0, console = strcmp(term, "linux") == 0;
    *why = given ? "the option" : console ? "the console's font has no others" : "most dots in a character";
    return given ? option : console ? "ascii" : "braille";
}

static const char *locale_asked(const char **variable)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *asked = NULL;
    for (int i = 0; i < 3 && !asked; i++)
        asked = env_or_null(*variable = variables[i]);
    return asked;
}

bool term_locale_unsure(void)
{
    const char *variable, *asked = locale_asked(&variable);
    bool set = setlocale(LC_ALL, "") != NULL || setlocale(LC_CTYPE, "") != NULL;
    return !set || (!asked && strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
}

bool term_locale(bool shown, char *note, size_t n)
{
    const char *variable, *asked = locale_asked(&variable);
    bool utf8 = false;
    note[0] = '\0';
    if (!term_locale_unsure()) {
        utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
        if (!utf8)
            utf8_print(note, n, "%s=%.40s is not UTF-8, so this is drawn in ASCII; mend: export %s=C.UTF-8", variable,
                       asked ? asked : "", variable);
    } else {
        utf8 = setlocale(LC_CTYPE, "C.UTF-8") && shown;
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
