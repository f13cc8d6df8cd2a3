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

static const OptionSpec OPTIONS[] = {
    {.name = "input",
     .letter = 'i',
     .value = "INPUT",
     .help = "picture file, #N for a drawn picture, #ship for a rendered scene, FILE:tensor for the pixel values of a "
             "tensor, - for "
             "standard input",
     .kind = OPTION_TEXT,
     .offset = AT(input)},
    {.name = "model",
     .letter = 'm',
     .value = "MODEL",
     .help = "folder with model.safetensors and config.json, or a .safetensors file; photos and translator are in the "
             "program",
     .kind = OPTION_TEXT,
     .offset = AT(model)},
    {.name = "assume",
     .help = "take a model whose architecture is not known by name for a plain ViT, and say so",
     .kind = OPTION_FLAG,
     .offset = AT(assume)},
    {.name = "resolution",
     .value = "WxH",
     .help = "run the model on pictures of this size, with its positions fitted to it",
     .kind = OPTION_TEXT,
     .offset = AT(resolution)},
    {.name = "commands",
     .letter = 'c',
     .value = "COMMANDS",
     .help = "commands to run first, separated by ;",
     .kind = OPTION_COMMANDS},
    {.name = "at", .value = "ADDRESS", .help = "where to start", .kind = OPTION_TEXT, .offset = AT(at)},
    {.name = "gradient",
     .value = "TARGET",
     .help = "gradients of a cell such as logits[o=0], or of loss[o=CLASS]; they become the nodes grad.NODE",
     .kind = OPTION_TEXT,
     .offset = AT(gradient)},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "where the result goes; the suffix decides the format; - is standard output",
     .kind = OPTION_TEXT,
     .offset = AT(output)},
    {.name = "json", .help = "the answer as JSON", .kind = OPTION_FLAG, .offset = AT(json)},
    {.name = "axes",
     .value = "h,t,e",
     .help = "the axes of a tensor in this order",
     .kind = OPTION_TEXT,
     .offset = AT(axes)},
    {.name = "sample",
     .value = "N",
     .help = "verify: N cells of every tensor instead of all",
     .kind = OPTION_COUNT,
     .offset = AT(sample),
     .low = 1,
     .high = 1000000000},
    {.name = "difficulty",
     .value = "D",
     .help = "data: from 0 (plain and upright) to 1",
     .kind = OPTION_TEXT,
     .offset = AT(difficulty)},
    {.name = "series",
     .value = "N",
     .help = "data: pictures of another series than the program's own",
     .kind = OPTION_TEXT,
     .offset = AT(series)},
    {.name = "mask", .help = "data: the object's mask instead of the picture", .kind = OPTION_FLAG, .offset = AT(mask)},
    {.name = "by-class", .help = "data: a folder for each class", .kind = OPTION_FLAG, .offset = AT(by_class)},
    {.name = "size", .value = "WxH", .help = "screen: columns and rows, 120x40 if not given", .kind = OPTION_SIZE},
    {.name = "script",
     .value = "FILE",
     .help = "command lines, captions and pauses; each pause ends a step. Played on the screen: Space goes on at once, "
             "any other key stops it. screen: draws every step",
     .kind = OPTION_TEXT,
     .offset = AT(script)},
    {.name = "cast",
     .value = "FILE",
     .help = "screen --script, demo: all steps as an asciicast (v2), the same bytes each time",
     .kind = OPTION_TEXT,
     .offset = AT(cast)},
    {.name = "name",
     .value = "NAME",
     .help = "share: what others join; your user name if not given",
     .kind = OPTION_TEXT,
     .offset = AT(name)},
    {.name = "group",
     .value = "GROUP",
     .help = "share: only members of this group of users may follow",
     .kind = OPTION_TEXT,
     .offset = AT(group)},
    {.name = "rehearse",
     .help = "present: at the end print how long each step took",
     .kind = OPTION_FLAG,
     .offset = AT(rehearse)},
    {.name = "threads",
     .value = "N",
     .help = "threads to compute with; one for each core if not given, or 0",
     .kind = OPTION_COUNT,
     .offset = AT(threads),
     .low = 0,
     .high = 1024},
    {.name = "config",
     .value = "FILE",
     .help = "train: the recipe as JSON; the bundled model's if not given",
     .kind = OPTION_TEXT,
     .offset = AT(config)},
    {.name = "pictures",
     .value = "FOLDER",
     .help = "train, evaluate: labelled pictures, a folder for each class, instead of the drawn shapes",
     .kind = OPTION_TEXT,
     .offset = AT(pictures)},
    {.name = "text",
     .value = "FILE",
     .help = "train: a text to learn from; the model then continues texts",
     .kind = OPTION_TEXT,
     .offset = AT(text)},
    {.name = "steps",
     .value = "N",
     .help = "train: N steps instead of the recipe's; write: at most N words, 64 if not given",
     .kind = OPTION_COUNT,
     .offset = AT(steps),
     .low = 1,
     .high = 10000000},
    {.name = "count",
     .value = "N",
     .help = "evaluate: over N held-out pictures; if not given 5000, of a folder all that are held out",
     .kind = OPTION_COUNT,
     .offset = AT(count),
     .low = 1,
     .high = 10000000},
    {.name = "all",
     .help = "evaluate: measure on the whole folder of --pictures; show, info: list analyses too",
     .kind = OPTION_FLAG,
     .offset = AT(all)},
    {.name = "chat",
     .help =
         "the text as turns of a talk, written as the model's chat template has it: \"user: … | assistant: … | user: "
         "…\", a turn a line, JSON ([{\"role\": …, \"content\": …}]), or one turn of the user",
     .kind = OPTION_FLAG,
     .offset = AT(chat)},
    {.name = "beam",
     .value = "N",
     .help = "translate, write: keep the N best beginnings instead of taking the best word every time",
     .kind = OPTION_COUNT,
     .offset = AT(beam),
     .low = 1,
     .high = 64},
    {.name = "alpha",
     .value = "A",
     .help = "translate --beam: the length penalty, 0.6 if not given",
     .kind = OPTION_TEXT,
     .offset = AT(alpha)},
    {.name = "temperature",
     .value = "T",
     .help = "translate, write: draw words by their probabilities; above 1 more evenly, below 1 less",
     .kind = OPTION_TEXT,
     .offset = AT(temperature)},
    {.name = "top-k",
     .value = "N",
     .help = "translate, write: draw among the N most probable words",
     .kind = OPTION_COUNT,
     .offset = AT(top_k),
     .low = 1,
     .high = 1000000},
    {.name = "top-p",
     .value = "P",
     .help = "translate, write: draw among the fewest words that together have probability P",
     .kind = OPTION_TEXT,
     .offset = AT(top_p)},
    {.name = "seed",
     .value = "N",
     .help = "translate, write: seed for drawing words, 1 if not given",
     .kind = OPTION_COUNT,
     .offset = AT(seed),
     .low = 0,
     .high = 2147483647},
    {.name = "words",
     .value = "N",
     .help = "translate: at most N words, 64 if not given",
     .kind = OPTION_COUNT,
     .offset = AT(words),
     .low = 1,
     .high = 1000},
    {.name = "no-cache",
     .help = "translate, write: compute all tokens at every step instead of keeping keys and values",
     .kind = OPTION_FLAG,
     .offset = AT(no_cache)},
    {.name = "tree", .help = "translate: every beginning with its scores", .kind = OPTION_FLAG, .offset = AT(tree)},
    {.name = "vocabulary",
     .help = "translate: the words that the model knows",
     .kind = OPTION_FLAG,
     .offset = AT(vocabulary)},
    {.name = "showcase",
     .help = "evaluate: find the drawn pictures where the scale matters most and least",
     .kind = OPTION_FLAG,
     .offset = AT(showcase)},
    {.name = "memory",
     .value = "SIZE",
     .help = "keep at most so much of the runs' values, such as 512M or 2G, weights not counted; the rest is computed "
             "again when looked at; a quarter of the memory if not given",
     .kind = OPTION_BYTES,
     .offset = AT(memory)},
    {.name = "map",
     .value = "FILE",
     .help = "diff: what the recording's names mean, in lines NAME = NODE[axes]",
     .kind = OPTION_TEXT,
     .offset = AT(map)},
    {.name = "tolerance",
     .value = "X",
     .help = "diff: errors up to this share of a tensor's largest value are allowed; 2e-5 if not given",
     .kind = OPTION_TEXT,
     .offset = AT(tolerance)},
    {.name = "precision",
     .value = "P",
     .help =
         "diff: round every tensor that Vitrine stores to f32, bf16 or f16; as the recording is stored if not given",
     .kind = OPTION_TEXT,
     .offset = AT(precision)},
    {.name = "require",
     .value = "NODES",
     .help = "diff: refuse a recording that lacks one of these nodes, such as logits; commas between them",
     .kind = OPTION_TEXT,
     .offset = AT(require)},
    {.name = "item",
     .value = "N",
     .help = "diff: which picture of a recorded batch, from 0; the first if not given",
     .kind = OPTION_TEXT,
     .offset = AT(item)},
    {.name = "nodes", .help = "info: every node of the model with its shape", .kind = OPTION_FLAG, .offset = AT(nodes)},
    {.name = "open",
     .help = "diff: open the screen at the cell where the difference begins",
     .kind = OPTION_FLAG,
     .offset = AT(open)},
    {.name = "isa",
     .value = "NAME",
     .help = "kernels to compute with: auto, scalar, avx2, avx512, neon; the bits are the same",
     .kind = OPTION_TEXT,
     .offset = AT(isa)},
    {.name = "colour",
     .value = "MODE",
     .help = "auto, true, 256, 8 or mono",
     .kind = OPTION_TEXT,
     .offset = AT(colour),
     .choices = "auto true 256 8 mono"},
    {.name = "paper",
     .help = "lesson: its worked example on one page, for a pencil",
     .kind = OPTION_FLAG,
     .offset = AT(paper)},
    {.name = "plots",
     .value = "HOW",
     .help = "lines of plots: auto, braille; for fonts without it sextants, blocks or ascii",
     .kind = OPTION_TEXT,
     .offset = AT(plots),
     .choices = "auto braille sextants blocks ascii"},
    {.name = "graphics",
     .value = "WHEN",
     .help = "pictures in true pixels: auto (where the terminal is known to have them), always or never",
     .kind = OPTION_TEXT,
     .offset = AT(graphics),
     .choices = "auto always never"},
    {.name = "ascii", .help = "draw with ASCII characters only", .kind = OPTION_FLAG, .offset = AT(ascii)},
    {.name = "light", .help = "colours for a light ground", .kind = OPTION_FLAG, .offset = AT(light)},
    {.name = "dark",
     .help = "colours for a dark ground, whatever the terminal says",
     .kind = OPTION_FLAG,
     .offset = AT(dark)},
    {.name = "no-mouse", .help = "leave the mouse to the terminal", .kind = OPTION_FLAG, .offset = AT(no_mouse)},
    {.name = "plain",
     .help = "line by line: for screen readers, braille, TERM=dumb and pipes",
     .kind = OPTION_FLAG,
     .offset = AT(plain)},
    {.name = "fresh",
     .help = "start at the beginning, not where you left off",
     .kind = OPTION_FLAG,
     .offset = AT(fresh)},
    {.name = "help",
     .letter = 'h',
     .help = "this text; after a verb, that verb's",
     .kind = OPTION_FLAG,
     .offset = AT(help)},
    {.name = "version",
     .letter = 'V',
     .help = "version, compiler, kernels, libraries",
     .kind = OPTION_FLAG,
     .offset = AT(version)},
    {.name = "completion",
     .value = "SHELL",
     .help = "completions for bash, zsh or fish",
     .kind = OPTION_TEXT,
     .offset = AT(completion),
     .choices = "bash zsh fish"},
    {.name = "man", .help = "the manual page in roff", .kind = OPTION_FLAG, .offset = AT(man)},
};

enum { OPTION_COUNT_OF = sizeof OPTIONS / sizeof *OPTIONS };

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

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *p = choices; *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (length == n && strncmp(p, text, n) == 0)
            return true;
        p += length;
    }
    return false;
}

static bool set_option(Options *o, const OptionSpec *spec, const char *value, Err *err)
{
    void *field = (char *)o + spec->offset;
    switch (spec->kind) {
    case OPTION_FLAG: *(bool *)field = true; return true;
    case OPTION_TEXT:
        if (spec->choices && !is_choice(spec->choices, value))
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
    *o = (Options){.word_count = 0, .seed = 1};
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
