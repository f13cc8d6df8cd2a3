#include "tui/cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/io/chat.h"
#include "core/session/command.h"

#define MEMORY_LEAST 65536.0             /* bytes; the bundled model needs as much to compute anything */
#define MEMORY_MOST (1125899906842624.0) /* 1024 T */
#define AT(field) offsetof(Options, field)

/* Rows of the table; a letter of 0: it has none. */
#define FLAG(letter_, name_, field, text)                                                                              \
    {                                                                                                                  \
        .name = name_, .letter = letter_, .help = text, .kind = OPTION_FLAG, .offset = AT(field)                       \
    }
#define TEXT(letter_, name_, field, value_, text)                                                                      \
    {                                                                                                                  \
        .name = name_, .letter = letter_, .value = value_, .help = text, .kind = OPTION_TEXT, .offset = AT(field)      \
    }
#define CHOICE(name_, field, value_, words, text)                                                                      \
    {                                                                                                                  \
        .name = name_, .value = value_, .help = text, .kind = OPTION_TEXT, .offset = AT(field), .choices = words       \
    }
#define COUNT(name_, field, least, most, text)                                                                         \
    {                                                                                                                  \
        .name = name_, .value = "N", .help = text, .kind = OPTION_COUNT, .offset = AT(field), .low = least,            \
        .high = most                                                                                                   \
    }

static const OptionSpec OPTIONS[] = {
    TEXT('i', "input", input, "INPUT",
         "picture file, #N for a drawn picture, #ship for a rendered scene, FILE:tensor for the pixel values of a "
         "tensor, - for standard input"),
    TEXT('m', "model", model, "MODEL",
         "folder with model.safetensors and config.json, or a .safetensors file; photos and translator are in the "
         "program"),
    FLAG(0, "assume", assume, "take a model whose architecture is not known by name for a plain ViT, and say so"),
    TEXT(0, "resolution", resolution, "WxH", "run the model on pictures of this size, with its positions fitted to it"),
    {.name = "commands",
     .letter = 'c',
     .value = "COMMANDS",
     .help = "commands to run first, separated by ;",
     .kind = OPTION_COMMANDS},
    TEXT(0, "at", at, "ADDRESS", "where to start"),
    TEXT(0, "gradient", gradient, "TARGET",
         "gradients of a cell such as logits[o=0], or of loss[o=CLASS]; they become the nodes grad.NODE"),
    TEXT('o', "output", output, "FILE", "where the result goes; the suffix decides the format; - is standard output"),
    FLAG(0, "json", json, "the answer as JSON"),
    TEXT(0, "axes", axes, "h,t,e", "show, screen: the axes of a tensor in this order"),
    COUNT("sample", sample, 1, 1000000000, "verify: N cells of every tensor instead of all"),
    TEXT(0, "difficulty", difficulty, "D", "data: from 0 (plain and upright) to 1"),
    TEXT(0, "series", series, "N", "data: pictures of another series than the program's own"),
    FLAG(0, "mask", mask, "data: the object's mask instead of the picture"),
    FLAG(0, "by-class", by_class, "data: a folder for each class"),
    {.name = "size",
     .value = "WxH",
     .help = "columns and rows of what is drawn, 120x40 if not given",
     .kind = OPTION_SIZE},
    TEXT(0, "script", script, "FILE",
         "present, screen, export: command lines, captions and pauses; each pause ends a step. Without a verb it is "
         "played on the screen: Space goes on at once, any other key stops it. screen and export draw every step"),
    TEXT(0, "cast", cast, "FILE", "screen --script, demo: all steps as an asciicast (v2), the same bytes each time"),
    TEXT(0, "name", name, "NAME", "share: what others join; your user name if not given"),
    TEXT(0, "group", group, "GROUP", "share: only members of this group of users may follow"),
    FLAG(0, "rehearse", rehearse, "present: at the end print how long each step took"),
    COUNT("threads", threads, 0, 1024, "threads to compute with; one for each core if not given, or 0"),
    TEXT(0, "config", config, "FILE", "train: the recipe as JSON; the bundled model's if not given"),
    TEXT(0, "pictures", pictures, "FOLDER",
         "train, evaluate: labelled pictures, a folder for each class, instead of the drawn shapes"),
    TEXT(0, "text", text, "FILE",
         "a text that a decoder is measured on (evaluate, :census, :laboratory, :neuron), its held.txt if not given; "
         "train: a "
         "text to learn from, the model then continues texts"),
    COUNT("steps", steps, 1, 10000000,
          "train: N steps instead of the recipe's; write: at most N words, 64 if not given"),
    COUNT("count", count, 1, 10000000,
          "evaluate: over N held-out pictures; if not given 5000, of a folder all that are held out; of text models "
          "over N "
          "windows of the text and N random texts, 50 if not given"),
    FLAG(0, "all", all, "evaluate: measure on the whole folder of --pictures; show, info: list analyses too"),
    FLAG(0, "chat", chat,
         "the text as turns of a talk, written as the model's chat template has it: \"user: … | assistant: … | user: "
         "…\", a turn a line, JSON ([{\"role\": …, \"content\": …}]), or one turn of the user"),
    COUNT("beam", beam, 1, 64,
          "translate, write: keep the N best beginnings instead of taking the best word every time"),
    TEXT(0, "alpha", alpha, "A", "translate, write --beam: the length penalty, 0.6 if not given"),
    TEXT(0, "temperature", temperature, "T",
         "translate, write: draw words by their probabilities; above 1 more evenly, below 1 less"),
    COUNT("top-k", top_k, 1, 1000000, "translate, write: draw among the N most probable words"),
    TEXT(0, "top-p", top_p, "P", "translate, write: draw among the fewest words that together have probability P"),
    COUNT("seed", seed, 0, 2147483647,
          "translate, write: with --temperature, --top-k or --top-p the seed for drawing words, 1 if not given"),
    COUNT("words", words, 1, 1000, "translate: at most N words, 64 if not given"),
    FLAG(0, "no-cache", no_cache,
         "translate, write: compute all tokens at every step instead of keeping keys and values"),
    FLAG(0, "tree", tree, "translate: every beginning with its scores"),
    FLAG(0, "vocabulary", vocabulary, "translate: the words that the model knows"),
    FLAG(0, "showcase", showcase, "evaluate: find the drawn pictures where the scale matters most and least"),
    {.name = "memory",
     .value = "SIZE",
     .help = "keep at most so much of the runs' values, such as 512M or 2G, weights not counted; the rest is computed "
             "again when looked at; a quarter of the memory if not given",
     .kind = OPTION_BYTES,
     .offset = AT(memory)},
    TEXT(0, "map", map, "FILE", "diff: what the recording's names mean, in lines NAME = NODE[axes]"),
    TEXT(0, "tolerance", tolerance, "X",
         "diff: errors up to this share of a tensor's largest value are allowed; 2e-5 if not given"),
    TEXT(0, "precision", precision, "P",
         "diff: round every tensor that Vitrine stores to f32, bf16 or f16; as the recording is stored if not given"),
    TEXT(0, "require", require, "NODES",
         "diff: refuse a recording that lacks one of these nodes, such as logits; commas between them"),
    TEXT(0, "item", item, "N", "diff: which picture of a recorded batch, from 0; the first if not given"),
    FLAG(0, "nodes", nodes, "info: every node of the model with its shape"),
    FLAG(0, "open", open, "diff: open the screen at the cell where the difference begins"),
    TEXT(0, "isa", isa, "NAME", "kernels to compute with: auto, scalar, avx2, avx512, neon; the bits are the same"),
    CHOICE("colour", colour, "MODE", "auto true 256 8 mono", "auto, true, 256, 8 or mono"),
    FLAG(0, "paper", paper, "lesson: its worked example on one page, for a pencil"),
    CHOICE("plots", plots, "HOW", "auto braille sextants blocks ascii",
           "lines of plots: auto, braille; for fonts without it sextants, blocks or ascii"),
    CHOICE("graphics", graphics, "WHEN", "auto always never",
           "pictures in true pixels: auto (where the terminal is known to have them), always or never"),
    FLAG(0, "ascii", ascii, "draw with ASCII characters only"),
    FLAG(0, "light", light, "colours for a light ground"),
    FLAG(0, "dark", dark, "colours for a dark ground, whatever the terminal says"),
    FLAG(0, "no-mouse", no_mouse, "leave the mouse to the terminal"),
    FLAG(0, "plain", plain, "line by line: for screen readers, braille, TERM=dumb and pipes"),
    FLAG(0, "fresh", fresh, "start at the beginning, not where you left off"),
    FLAG('h', "help", help, "this text; after a verb, that verb's"),
    FLAG('V', "version", version, "version, compiler, kernels, libraries"),
    CHOICE("completion", completion, "SHELL", "bash zsh fish", "completions for bash, zsh or fish"),
    FLAG(0, "man", man, "the manual page in roff"),
};

enum { OPTION_COUNT_OF = sizeof OPTIONS / sizeof *OPTIONS };
_Static_assert(OPTION_COUNT_OF <= 64, "a bit of Options.given each");

const OptionSpec *option_at(int i)
{
    return i >= 0 && i < (int)OPTION_COUNT_OF ? &OPTIONS[i] : NULL;
}

static const char *option_name(const void *context, int i)
{
    (void)context;
    return i < (int)OPTION_COUNT_OF ? OPTIONS[i].name : NULL;
}

static bool find_long(const char *name, size_t n, const OptionSpec **out, Err *err)
{
    char typed[48];
    utf8_take(typed, 41, name, n);
    if (strcmp(typed, "color") == 0) /* the other spelling */
        snprintf(typed, sizeof typed, "colour");
    for (size_t i = 0; i < OPTION_COUNT_OF; i++)
        if (strcmp(OPTIONS[i].name, typed) == 0) {
            *out = &OPTIONS[i];
            return true;
        }
    const char *near = nearest_name(typed, option_name, NULL);
    return err_set(err, "there is no option --%s; %s%s%s", typed,
                   near ? "did you mean --" : "`vitrine --help` lists them", near ? near : "", near ? "?" : "");
}

static bool find_letter(char letter, const OptionSpec **out, Err *err)
{
    for (size_t i = 0; i < OPTION_COUNT_OF; i++)
        if (OPTIONS[i].letter == letter) {
            *out = &OPTIONS[i];
            return true;
        }
    return err_set(err, "there is no option -%c; `vitrine --help` lists them", letter);
}

static bool parse_count(const OptionSpec *spec, const char *text, long *out, Err *err)
{
    char *end;
    long v = strtol(text, &end, 10); /* what is too large for a long becomes LONG_MAX, which is too large here too */
    if (*text < '0' || *text > '9' || *end || v < spec->low || v > spec->high)
        return err_set(err, "--%s %.40s: expected a number from %ld to %ld", spec->name, text, spec->low, spec->high);
    *out = v;
    return true;
}

/* "2G", "1.5G", "512M", "300K": of 1024. */
static bool parse_bytes(const OptionSpec *spec, const char *text, size_t *out, Err *err)
{
    static const char UNITS[] = "KkMmGgTt";
    size_t digits = strspn(text, "0123456789."), length = strlen(text);
    char *end = NULL;
    const char *unit = digits && length == digits + 1 && *text != '.' ? strchr(UNITS, text[digits]) : NULL;
    double v = unit ? strtod(text, &end) : 0; /* the program never leaves the C locale's numbers */
    if (end != text + digits)
        v = 0;
    for (const char *u = UNITS; unit && u <= unit; u += 2)
        v *= 1024;
    if (!(v >= MEMORY_LEAST) || v > MEMORY_MOST)
        return err_set(err,
                       "--%s %.40s: expected a number with its unit K, M, G or T such as 512M or 2G, from 64K to 1024T",
                       spec->name, text);
    *out = (size_t)v;
    return true;
}

static bool parse_size(Options *o, const char *text, Err *err)
{
    int w, h, used = 0;
    if (strlen(text) > 9 || sscanf(text, "%4dx%4d%n", &w, &h, &used) != 2 || text[used] || w < 1 || h < 1 || w > 1000 ||
        h > 1000)
        return err_set(err, "--size %.40s: expected columns x rows such as 120x40, 1x1 to 1000x1000", text);
    o->width = w;
    o->height = h;
    return true;
}

static bool set_option(Options *o, const OptionSpec *spec, const char *value, Err *err)
{
    void *field = (char *)o + spec->offset;
    o->given |= (uint64_t)1 << (spec - OPTIONS);
    switch (spec->kind) {
    case OPTION_FLAG: *(bool *)field = true; return true;
    case OPTION_TEXT:
        if (spec->choices && !utf8_listed(spec->choices, value))
            return err_set(err, "--%s %.40s: expected one of %s", spec->name, value, spec->choices);
        if (!*value)
            return err_set(err, "--%s: expected %s, found nothing%s", spec->name, spec->value,
                           spec->letter == 'i' ? ": give a text, a picture file or #17" : "");
        *(const char **)field = value;
        return true;
    case OPTION_COMMANDS: buf_printf(&o->commands, "%s%s", o->commands.len ? "; " : "", value); return true;
    case OPTION_COUNT: return parse_count(spec, value, field, err);
    case OPTION_BYTES: return parse_bytes(spec, value, field, err);
    case OPTION_SIZE: return parse_size(o, value, err);
    }
    UNREACHABLE("an option of no kind");
}

/* One argument that begins with -; *used says how many arguments it took. */
static bool parse_option(Options *o, char *const *argv, int left, int *used, Err *err)
{
    const char *text = argv[0], *value = NULL;
    const OptionSpec *spec = NULL;
    *used = 1;
    if (text[1] == '-') {
        const char *equals = strchr(text, '=');
        size_t n = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
        if (!find_long(text + 2, n, &spec, err))
            return false;
        value = equals ? equals + 1 : NULL;
    } else {
        if (!find_letter(text[1], &spec, err))
            return false;
        value = text[2] ? text + 2 : NULL;
    }
    if (spec->kind == OPTION_FLAG)
        return value ? err_set(err, "--%s takes no value, found '%.40s'", spec->name, value)
                     : set_option(o, spec, NULL, err);
    if (!value) {
        if (left < 2)
            return err_set(err, "--%s: expected %s after it", spec->name, spec->value);
        value = argv[1];
        *used = 2;
    }
    return set_option(o, spec, value, err);
}

bool options_parse(Options *o, int argc, char *const *argv, Err *err)
{
    *o = (Options){.word_count = 0, .seed = -1};
    bool options = true;
    for (int i = 1; i < argc;) {
        int used = 1;
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(o, argv + i, argc - i, &used, err))
                return false;
        } else if (o->word_count == OPTION_WORDS)
            return err_set(err, "more than %d words on the command line", (int)OPTION_WORDS);
        else
            o->word[o->word_count++] = argv[i];
        i += used;
    }
    size_t n = o->model ? strlen(o->model) : 0; /* of "folder/", so that no message has "folder//config.json" */
    while (n > 1 && o->model[n - 1] == '/')
        n--;
    if (o->model && o->model[n])
        o->model = arena_printf(&o->arena, "%.*s", (int)n, o->model);
    if (o->chat && !o->input && (o->word_count < 2 || strcmp(o->word[0], "score") != 0))
        return err_set(err, "--chat is of a text: -i \"user: … | assistant: … | user: …\"");
    if (o->chat && o->input && strcmp(o->input, "-") != 0)
        o->input = arena_printf(&o->arena, "%s%s", CHAT_PREFIX, o->input);
    return true;
}

void options_free(Options *o)
{
    buf_free(&o->commands);
    arena_free(&o->arena);
}
