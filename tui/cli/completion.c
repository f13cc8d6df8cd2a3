/* Completions for bash, zsh and fish, from the tables of verbs, options and commands: nothing in them can go out of
 * date. */
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/command.h"
#include "tui/cli/help.h"

/* What may follow an option: words of a list, a file, a command, or anything. */
typedef enum Follow { FOLLOW_NOTHING, FOLLOW_WORDS, FOLLOW_FILE, FOLLOW_COMMAND, FOLLOW_TEXT } Follow;

static Follow follow_of(const OptionSpec *o)
{
    if (!o->value)
        return FOLLOW_NOTHING;
    if (o->choices)
        return FOLLOW_WORDS;
    if (o->kind == OPTION_COMMANDS)
        return FOLLOW_COMMAND;
    return utf8_listed("INPUT MODEL FILE FOLDER", o->value) ? FOLLOW_FILE : FOLLOW_TEXT;
}

/* A folder, a file, or the name of the second model in the program. */
static bool names_model(const OptionSpec *o)
{
    return o->value && strcmp(o->value, "MODEL") == 0;
}

/* In single quotes; `also` are characters that get a backslash. */
static void put_quoted(Buf *out, const char *text, const char *also)
{
    for (; *text; text++) {
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else {
            if (strchr(also, *text))
                buf_putc(out, '\\');
            buf_putc(out, *text);
        }
    }
}

static void put_verb_names(Buf *out)
{
    for (int i = 0; verb_at(i); i++)
        buf_printf(out, "%s%s", i ? " " : "", verb_at(i)->name);
}

static void put_command_names(Buf *out)
{
    Commands all = session_command_set();
    for (int i = 0; command_at(&all, i); i++)
        buf_printf(out, "%s%s", i ? " " : "", command_at(&all, i)->name);
    commands_free(&all);
}

/* --- bash --- */

/* An input is what `open` takes, a model what `model` does: as the value of an option or behind a verb. */
static const char *kinds_of(const char *name, const char *value)
{
    const char *kinds = complete_kinds(name);
    bool input = strcmp(value, "INPUT") == 0 || strstr(value, "[INPUT");
    return kinds ? kinds : input ? complete_kinds("open") : NULL;
}

static void bash_case(const OptionSpec *o, Buf *out)
{
    const char *kinds = o->value ? kinds_of(o->name, o->value) : NULL;
    buf_puts(out, "    ");
    if (o->letter)
        buf_printf(out, "-%c | ", o->letter);
    buf_printf(out, "--%s) ", o->name);
    switch (follow_of(o)) {
    case FOLLOW_WORDS: buf_printf(out, "words='%s' ;;\n", o->choices); break;
    case FOLLOW_FILE:
        buf_printf(out, "%sfiles=1 kinds='%s' ;;\n", names_model(o) ? "words='photos translator' " : "",
                   kinds ? kinds : "");
        break;
    case FOLLOW_COMMAND: buf_puts(out, "words=$commands ;;\n"); break;
    default: buf_puts(out, "return ;;\n"); break;
    }
}

static void put_bash(Buf *out)
{
    buf_puts(out, "# bash completion for vitrine\n_vitrine() {\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words='' files='' kinds='' "
                  "all=() kept=() f\n"
                  "    local commands='");
    put_command_names(out);
    buf_puts(out, "'\n    COMPREPLY=()\n    case $prev in\n");
    for (int i = 0; option_at(i); i++)
        if (option_at(i)->value)
            bash_case(option_at(i), out);
    buf_puts(out, "    *)\n        if [[ $cur == -* ]]; then\n            words='");
    for (int i = 0; option_at(i); i++)
        buf_printf(out, "%s--%s", i ? " " : "", option_at(i)->name);
    buf_printf(out, "'\n        elif [ \"$COMP_CWORD\" -eq 1 ]; then\n            files=1 kinds='%s' words='",
               complete_kinds("open"));
    put_verb_names(out);
    buf_puts(out, "'\n        else\n            files=1\n            case ${COMP_WORDS[1]} in\n");
    for (int i = 0; verb_at(i); i++) {
        const char *kinds = kinds_of(verb_at(i)->name, verb_at(i)->usage);
        if (kinds)
            buf_printf(out, "            %s) kinds='%s' ;;\n", verb_at(i)->name, kinds);
    }
    buf_puts(out, "            esac\n        fi ;;\n    esac\n"
                  "    [ -n \"$words\" ] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                  "    [ -n \"$files\" ] && mapfile -t all < <(compgen -f -- \"$cur\")\n"
                  "    for f in \"${all[@]}\"; do # of its own kinds, and folders; all where there are none\n"
                  "        { [ -d \"$f\" ] || [[ \" $kinds \" == *\" ${f##*.} \"* ]]; } && kept+=(\"$f\")\n"
                  "    done\n"
                  "    [ -n \"$kinds\" ] && [ ${#kept[@]} -gt 0 ] || kept=(\"${all[@]}\")\n"
                  "    COMPREPLY+=(\"${kept[@]}\")\n"
                  "}\ncomplete -o filenames -F _vitrine vitrine\n");
}

/* --- zsh --- */

static void zsh_value(const OptionSpec *o, Buf *out)
{
    if (!o->value)
        return;
    buf_puts(out, ":");
    put_quoted(out, o->value, ":[]");
    switch (follow_of(o)) {
    case FOLLOW_WORDS: buf_printf(out, ":(%s)", o->choices); break;
    case FOLLOW_FILE: buf_puts(out, names_model(o) ? ":{_files; compadd photos translator}" : ":_files"); break;
    case FOLLOW_COMMAND: buf_puts(out, ":($commands)"); break;
    default: buf_puts(out, ":"); break;
    }
}

static void put_zsh(Buf *out)
{
    buf_puts(out, "#compdef vitrine\n_vitrine() {\n    local -a verbs commands\n    commands=(");
    put_command_names(out);
    buf_puts(out, ")\n    verbs=(\n");
    for (int i = 0; verb_at(i); i++) {
        buf_printf(out, "        '%s:", verb_at(i)->name);
        put_quoted(out, verb_at(i)->summary, ":");
        buf_puts(out, "'\n");
    }
    buf_puts(out, "    )\n    _arguments -s");
    for (int i = 0; option_at(i); i++) {
        const OptionSpec *o = option_at(i);
        buf_puts(out, " \\\n        ");
        if (o->letter)
            buf_printf(out, "'(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
        else
            buf_printf(out, "'--%s[", o->name);
        put_quoted(out, o->help, ":[]");
        buf_puts(out, "]");
        zsh_value(o, out);
        buf_puts(out, "'");
    }
    buf_puts(out,
             " \\\n        '1: :{ _describe verb verbs; _files }' \\\n        '*:file:_files'\n}\n_vitrine \"$@\"\n");
}

/* --- fish --- */

static void put_fish(Buf *out)
{
    buf_puts(out, "# fish completion for vitrine\n");
    for (int i = 0; verb_at(i); i++) {
        buf_printf(out, "complete -c vitrine -n __fish_use_subcommand -a %s -d '", verb_at(i)->name);
        put_quoted(out, verb_at(i)->summary, "");
        buf_puts(out, "'\n");
    }
    for (int i = 0; option_at(i); i++) {
        const OptionSpec *o = option_at(i);
        Follow f = follow_of(o);
        buf_printf(out, "complete -c vitrine -l %s", o->name);
        if (o->letter)
            buf_printf(out, " -s %c", o->letter);
        if (f == FOLLOW_FILE)
            buf_puts(out, " -r -F");
        else if (f != FOLLOW_NOTHING)
            buf_puts(out, " -x");
        if (f == FOLLOW_WORDS)
            buf_printf(out, " -a '%s'", o->choices);
        if (f == FOLLOW_COMMAND) {
            buf_puts(out, " -a '");
            put_command_names(out);
            buf_puts(out, "'");
        }
        buf_puts(out, " -d '");
        put_quoted(out, o->help, "");
        buf_puts(out, "'\n");
    }
}

void completion_text(const char *shell, Buf *out)
{
    if (strcmp(shell, "zsh") == 0)
        put_zsh(out);
    else if (strcmp(shell, "fish") == 0)
        put_fish(out);
    else
        put_bash(out);
}
