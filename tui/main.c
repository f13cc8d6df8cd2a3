/* The program: the command line is cut up here; a verb answers on standard output, no verb opens the screen. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/io/chat.h"
#include "core/kernels/kernels.h"
#include "core/session/ask/ask_diff.h"
#include "core/session/input.h"
#include "tui/app.h"
#include "tui/cli/help.h"
#include "tui/notes.h"

/* Descriptors 0, 1 and 2 that were closed would be given to the next files opened. They are opened the wrong way round,
 * so that reading or writing them is an error as before. */
static void guard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int print(Buf *text)
{
    Err err = {{0}};
    tell_clean(text);
    bool ok = file_write("-", buf_str(text), text->len, &err);
    if (!ok)
        tell(err.text);
    buf_free(text);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int usage(const Err *err)
{
    tell(err->text);
    return STATUS_USAGE;
}

/* The first word is no verb and nothing that could be opened. */
static int unknown_word(const char *word)
{
    Err err;
    const char *near = verb_nearest(word);
    if (*word && !word[strspn(word, "0123456789")]) {
        err_set(&err,
                "'%.40s' is neither a verb nor a file here; the drawn picture of that number is '#%.40s', with the "
                "quotes",
                word, word);
        return usage(&err);
    }
    bool path = strchr(word, '/') || strchr(word, '.'), letters = true;
    for (const char *p = word; *p; p++)
        letters = letters && (isalpha((unsigned char)*p) || (unsigned char)*p >= 0x80);
    if (path && !near)
        err_set(&err, "there is no file '%.300s' here", word);
    else
        err_set(&err, "'%.300s' is neither a verb nor a file here%s%s%s", word,
                near ? "; did you mean '"
                : letters
                    ? "; a sentence goes in quotes: vitrine \"the cat is tired\"; `vitrine --help` lists the verbs"
                    : "; `vitrine --help` lists the verbs",
                near ? near : "", near ? "'?" : "");
    return usage(&err);
}

static int open_screen(const Options *o)
{
    Err err = {{0}};
    Link link;
    Commands commands = session_command_set();
    int status = STATUS_USAGE;
    bool ok = link_parse(&link, o->word, o->word_count, LINK_INPUT, &commands, &err);
    if (ok && link.input && o->input)
        ok = err_set(&err, "two inputs, '%.100s' and '%.100s': name one", link.input, o->input);
    if (ok && link.address && o->at)
        ok = err_set(&err, "two addresses, '%.100s' and '%.100s': name one", link.address, o->at);
    if (ok && o->script)
        ok = err_set(&err, "--script goes alone, with -i and -m, or with `vitrine screen`");
    if (ok && (o->json || o->output))
        ok = err_set(&err, "%s goes with a verb: `vitrine screen -o FILE`, `vitrine run --json`",
                     o->json ? "--json" : "-o");
    ok = ok && options_used(o, NULL, &err) && link_files(&link, link.input ? link.input : o->input, o->model, &err);
    if (ok) {
        AppOptions a = verb_screen(o);
        a.input = link.input ? link.input : o->input;
        a.commands = o->commands.len ? buf_str(&o->commands) : NULL;
        a.link = link.address || link.edits.len || link.hash || link.model || link.picture ? &link : NULL;
        a.at = o->at;
        a.fresh = o->fresh;
        status = app_main(&a);
    } else
        tell(err.text);
    link_free(&link);
    commands_free(&commands);
    return status;
}

/* Is the first word the beginning of a link, or of something to open? */
static bool opens(const char *word)
{
    char first[256];
    if (link_is_input(word) || *word == '#')
        return true;
    size_t n = strcspn(word, " ");
    if (!word[n] || n >= sizeof first)
        return false;
    memcpy(first, word, n);
    first[n] = 0;
    return link_is_input(first);
}

/* Several words quoted as one, with the marks of a sentence, known or not: the model names those it does not know. A
 * link has #, = or a [ right behind a name, a file a full stop or slash within a word. */
static bool is_sentence(const char *word)
{
    const char *bracket = strchr(word, '[');
    while (bracket && (bracket == word || bracket[-1] == ' '))
        bracket = strchr(bracket + 1, '[');
    const char *stop = strpbrk(word, ".:");
    while (stop && (!stop[1] || strchr(" .!?\"')", stop[1])))
        stop = strpbrk(stop + 1, ".:");
    return word[strcspn(word, " ")] && !strpbrk(word, "#=/\\_@*{}") && !bracket && !stop &&
           !strchr("0123456789", *word);
}

/* "3 5 4", "3 5 > 1 2": words of a model that has no names for them, quoted as one; "ids:3,5 > ids:1". */
static bool is_numbers(const char *word)
{
    if (strncmp(word, "ids:", 4) == 0 && word[4] >= '0' && word[4] <= '9')
        return true;
    return *word >= '0' && *word <= '9' && strchr(word, ' ') && !word[strspn(word, "0123456789 >")];
}

/* Does a word behind `diff` say which model is meant? */
static bool names_a_model(const Options *o)
{
    bool model = false;
    for (int i = 1; i < o->word_count && strcmp(o->word[0], "diff") == 0; i++)
        model = model || ask_diff_is_model(o->word[i]);
    return model;
}

/* The first word that is a sentence is the input, behind a verb and its address too. */
static void take_sentence(Options *o)
{
    int at = o->word_count && verb_find(o->word[0]) ? 1 : 0;
    if (o->input && !o->model && !names_a_model(o) && is_sentence(o->input) && !file_exists(o->input))
        o->model = "translator";
    if (o->input || (at == 1 && (verb_find(o->word[0])->flags & VERB_ALONE)))
        return;
    while (at < o->word_count &&
           (file_exists(o->word[at]) || !(is_sentence(o->word[at]) || (o->model && is_numbers(o->word[at])))))
        at++;
    if (at >= o->word_count)
        return;
    o->input = o->word[at];
    o->model = o->model ? o->model : "translator";
    memmove(o->word + at, o->word + at + 1, (size_t)(--o->word_count - at) * sizeof *o->word);
}

/* A model where an input is expected. `diff` takes one there. */
static bool misplaced_model(const Options *o, const Verb *verb, Err *err)
{
    for (int i = verb ? 1 : 0; i <= o->word_count && !o->model && verb != &VERB_DIFF; i++) {
        const char *word = i < o->word_count ? o->word[i] : o->input;
        if (word && file_exists(word) && ask_diff_is_model(word))
            return err_set(err, "'%.200s' is a model: name it with -m: vitrine%s%s -m '%.200s'", word, verb ? " " : "",
                           verb ? verb->name : "", word);
    }
    return true;
}

/* -i - for a model of words: the text comes through a pipe. Without the ends of its last lines, as $(cat) has it. */
static bool read_text(Options *o, Err *err)
{
    enum { MOST = 1 << 20 };
    Buf text = {0};
    if (isatty(STDIN_FILENO))
        return err_set(err, "standard input is a terminal: send a text through a pipe (vitrine run -m gpt2 -i - < "
                            "story.txt), or write it behind -i in quotes");
    bool ok = file_read("-", MOST, &text, err);
    while (text.len && text.data[text.len - 1] == '\n')
        text.len--;
    if (ok && !text.len)
        ok = err_set(err, "standard input holds no text: send a word at least");
    if (ok && memchr(text.data, 0, text.len))
        ok = err_set(err, "standard input is no text: it holds a byte 0");
    if (ok)
        o->input = arena_printf(&o->arena, "%s%.*s", o->chat ? CHAT_PREFIX : "", (int)text.len, text.data);
    buf_free(&text);
    return ok;
}

/* What is behind -i, for a model of words. */
static bool check_text(Options *o, const Verb *verb, Err *err)
{
    if (!o->input || !o->model || verb == &VERB_TOKENS || !text_asked(o->model))
        return true;
    if (strcmp(o->input, "-") == 0)
        return read_text(o, err);
    const bool there = strpbrk(o->input, "./") && file_exists(o->input);
    if (verb && (verb->flags & VERB_ALONE) && (there || input_lacks_file(o->input))) {
        char said[160], name[64];
        utf8_clean(name, sizeof name, o->input);
        utf8_print(said, sizeof said, there ? INPUT_OF_FILE : INPUT_NO_FILE, name);
        tell(said);
    }
    return true;
}

static int dispatch(Options *o)
{
    Buf text = {0};
    Err err;
    const char *first = o->word_count ? o->word[0] : "";
    bool asked = strcmp(first, "help") == 0 && !file_exists(first);
    if (asked) { /* `vitrine help show` is `vitrine show --help`, unless a page is called like that */
        o->help = true;
        o->word_count--;
        memmove(o->word, o->word + 1, (size_t)o->word_count * sizeof *o->word);
        first = o->word_count ? o->word[0] : "";
    }
    take_sentence(o);
    first = o->word_count ? o->word[0] : "";
    const Verb *verb = verb_find(first);
    if (o->isa && !kernels_select(o->isa, &err)) /* before --version, which names the kernels in use */
        return usage(&err);
    bool page = o->help && *first && (asked || !verb) && page_text(first, NULL, HELP_COLUMNS, &text);
    if (o->help && *first && !verb && !page) {
        Buf names = {0};
        pages_list(&names);
        err_set(&err, "there is no page and no verb '%.60s'; the pages are %s; `vitrine --help` lists the verbs", first,
                buf_str(&names));
        buf_free(&names);
        return usage(&err);
    }
    if (o->help && !text.len)
        help_text(verb, &text);
    else if (o->version)
        version_text(&text, REVISION);
    else if (o->man)
        man_text(&text);
    else if (o->completion)
        completion_text(o->completion, &text);
    if (text.len)
        return print(&text);
    if (o->plain && !verb && o->word_count < OPTION_WORDS) { /* `vitrine --plain cat.png` is `vitrine plain cat.png` */
        memmove(o->word + 1, o->word, (size_t)o->word_count++ * sizeof *o->word);
        o->word[0] = VERB_PLAIN.name;
        verb = &VERB_PLAIN;
    }
    if (o->script && !o->word_count) { /* a script alone is played, with its pauses */
        o->word[o->word_count++] = VERB_PRESENT.name;
        o->word[o->word_count++] = o->script;
        verb = &VERB_PRESENT;
    }
    if (verb == &VERB_NOTES && o->word_count == 1)
        return options_used(o, verb, &err) ? notes_main(o) : usage(&err);
    if (!misplaced_model(o, verb, &err) || !check_text(o, verb, &err)) {
        tell(err.text);
        return STATUS_BAD;
    }
    if (verb)
        return verb == &VERB_DIFF && o->open ? diff_open(o) : verb_main(verb, o);
    if (*first && !o->input && !opens(first)) /* behind -i a link's words follow */
        return unknown_word(first);
    return open_screen(o);
}

int main(int argc, char **argv)
{
    Options o;
    Err err;
    guard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    const bool parsed = options_parse(&o, argc, argv, &err);
    if (parsed && o.memory)
        machine_spare_memory();
    int status = parsed ? dispatch(&o) : usage(&err);
    options_free(&o);
    return status;
}
