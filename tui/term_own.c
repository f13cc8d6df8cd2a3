#include "tui/term_own.h"

#include <stddef.h>
#include <string.h>

#include "core/base/utf8.h"

int own_describes(const char *term)
{
    static const struct {
        const char *name;
        int colours;
    } known[] = {{"xterm-kitty", 256}, {"xterm", 8},  {"screen", 8},    {"tmux", 8},      {"linux", 8},
                 {"rxvt", 8},          {"putty", 8},  {"mintty", 256},  {"konsole", 256}, {"gnome", 256},
                 {"vte", 256},         {"st-", 256},  {"contour", 256}, {"rio", 256},     {"iterm", 256},
                 {"alacritty", 256},   {"foot", 256}, {"wezterm", 256}, {"ghostty", 256}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(term, known[i].name, strlen(known[i].name)))
            return strstr(term, "256color") ? 256 : known[i].colours;
    return 0;
}

int own_flag(const char *name)
{
    return utf8_listed("am km mir msgr xenl AX", name);
}

int own_number(const char *name)
{
    static const struct {
        const char *name;
        int value;
    } numbers[] = {{"cols", 80}, {"lines", 24}, {"it", 8}, {"colors", 8}, {"pairs", 64}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(numbers[i].name, name))
            return numbers[i].value;
    return -1;
}

/* ECMA-48, DEC's cursor and keypad modes, xterm's screens, mouse and keys, in the language of terminfo(5). */
const char *own_string(const char *name)
{
    static const struct {
        const char *name, *value;
    } strings[] = {{"bel", "\a"},
                   {"bold", "\033[1m"},
                   {"cbt", "\033[Z"},
                   {"civis", "\033[?25l"},
                   {"clear", "\033[H\033[2J"},
                   {"cnorm", "\033[?25h"},
                   {"cr", "\r"},
                   {"csr", "\033[%i%p1%d;%p2%dr"},
                   {"cub", "\033[%p1%dD"},
                   {"cub1", "\b"},
                   {"cud", "\033[%p1%dB"},
                   {"cud1", "\n"},
                   {"cuf", "\033[%p1%dC"},
                   {"cuf1", "\033[C"},
                   {"cuu", "\033[%p1%dA"},
                   {"cuu1", "\033[A"},
                   {"cup", "\033[%i%p1%d;%p2%dH"},
                   {"dim", "\033[2m"},
                   {"dl", "\033[%p1%dM"},
                   {"dl1", "\033[M"},
                   {"dch", "\033[%p1%dP"},
                   {"dch1", "\033[P"},
                   {"ich", "\033[%p1%d@"},
                   {"ech", "\033[%p1%dX"},
                   {"ed", "\033[J"},
                   {"el", "\033[K"},
                   {"el1", "\033[1K"},
                   {"home", "\033[H"},
                   {"hpa", "\033[%i%p1%dG"},
                   {"vpa", "\033[%i%p1%dd"},
                   {"ht", "\t"},
                   {"il", "\033[%p1%dL"},
                   {"il1", "\033[L"},
                   {"ind", "\n"},
                   {"ri", "\033M"},
                   {"rc", "\0338"},
                   {"sc", "\0337"},
                   {"rev", "\033[7m"},
                   {"smso", "\033[7m"},
                   {"rmso", "\033[27m"},
                   {"smul", "\033[4m"},
                   {"rmul", "\033[24m"},
                   {"sgr0", "\033[0m"},
                   {"op", "\033[39;49m"},
                   {"setaf", "\033[3%p1%dm"},
                   {"setab", "\033[4%p1%dm"},
                   {"smcup", "\033[?1049h"},
                   {"rmcup", "\033[?1049l"},
                   {"smkx", "\033[?1h\033="},
                   {"rmkx", "\033[?1l\033>"},
                   {"kcuu1", "\033OA"},
                   {"kcud1", "\033OB"},
                   {"kcuf1", "\033OC"},
                   {"kcub1", "\033OD"},
                   {"khome", "\033OH"},
                   {"kend", "\033OF"},
                   {"kpp", "\033[5~"},
                   {"knp", "\033[6~"},
                   {"kich1", "\033[2~"},
                   {"kdch1", "\033[3~"},
                   {"kbs", "\177"},
                   {"kcbt", "\033[Z"},
                   {"kf1", "\033OP"},
                   {"kf2", "\033OQ"},
                   {"kf3", "\033OR"},
                   {"kf4", "\033OS"},
                   {"kf5", "\033[15~"},
                   {"kf6", "\033[17~"},
                   {"kf7", "\033[18~"},
                   {"kf8", "\033[19~"},
                   {"kf9", "\033[20~"},
                   {"kf10", "\033[21~"},
                   {"kf11", "\033[23~"},
                   {"kf12", "\033[24~"},
                   {"kmous", "\033[<"},
                   {"u7", "\033[6n"},
                   {"u9", "\033[c"},
                   {"XM", "\033[?1006;1000%?%p1%{1}%=%th%el%;"}};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!strcmp(strings[i].name, name))
            return strings[i].value;
    return NULL;
}
