/* `vitrine exercise`: a forward pass for the reader to write, in Python or C: the program with gaps, a model small
 * enough for pencil and paper, the bundled one, and a picture for each. The program saves what it computed; `diff` says
 * where it first differs, and why. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/tensors.h"
#include "core/models/model.h"
#include "tui/cli/verbs.h"

#define PROGRAM(symbol)                                                                                                \
    extern const char exercise_##symbol[];                                                                             \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global exercise_" #symbol "\n"                                                                           \
            "exercise_" #symbol ":\n"                                                                                  \
            ".incbin \"lessons/exercise." #symbol ".in\"\n"                                                            \
            ".byte 0\n"                                                                                                \
            ".popsection\n");
PROGRAM(py)
PROGRAM(c)

/* Solutions stand between a line of the mark and [, whose rest stands in their place while they are gaps, and one of
 * the mark and ]. */
static const struct Language {
    const char *suffix, *text, *open, *close, *run;
} LANGUAGES[] = {{"py", exercise_py, "#[", "#]", "python3 %s"},
                 {"c", exercise_c, "//[", "//]", "cc -O2 -o vit %s -lm && ./vit"}};

static const struct Language *language(const char *file)
{
    for (size_t i = 0; file && i < sizeof LANGUAGES / sizeof *LANGUAGES; i++)
        if (strcmp(file_suffix(file), LANGUAGES[i].suffix) == 0)
            return &LANGUAGES[i];
    return NULL;
}

static void put_program(const struct Language *in, bool solved, Buf *out)
{
    bool gap = false;
    for (const char *p = in->text; *p;) {
        size_t n = strcspn(p, "\n"), blanks = strspn(p, " ");
        bool open = strncmp(p + blanks, in->open, strlen(in->open)) == 0,
             close = strncmp(p + blanks, in->close, strlen(in->close)) == 0;
        if (open && !solved) {
            const char *text = p + blanks + strlen(in->open) + 1;
            buf_printf(out, "%*s%.*s\n", (int)blanks, "", (int)(p + n - text), text);
        }
        gap = (gap || open) && !close;
        if (!open && !close && (!gap || solved))
            buf_add(out, p, n + 1);
        p += n + 1;
    }
}

/* A picture of 4 × 4 in patches of 2, one head, one block, tokens of four numbers: all of it fits on paper. */
static Model small_model(float picture[3 * 4 * 4])
{
    Model m;
    VitConfig c;
    REQUIRE(model_size("tiny", &c));
    c.image_h = c.image_w = 4;
    c.patch_h = c.patch_w = 2;
    c.width = c.head_dim = 4;
    c.layers = c.heads = 1;
    c.scale = vit_scale(c.head_dim);
    c.mlp = 8;
    c.classes = 2;
    c.act = MAP_GELU_TANH;
    model_seeded(&m, &c, 1);
    for (int i = 0; i < 3 * 4 * 4; i++)
        picture[i] = (float)((7 * (i / 16) + 3 * (i / 4 % 4) + 5 * (i % 4)) % 9) / 4.0f - 1.0f;
    return m;
}

/* FOLDER/NAME with the model's files, and picture.safetensors: pixel_values, as the model gets them. */
static bool put_model(const Model *m, const char *folder, const char *name, const float *picture, Err *err)
{
    const VitConfig *c = &m->vit;
    Buf at = {0};
    buf_printf(&at, "%s%s", folder, name);
    char *there = xstrdup(buf_str(&at));
    buf_puts(&at, "/picture.safetensors");
    bool ok = mkdir(there, 0777) == 0 ||
              (errno == EEXIST
                   ? file_exists(buf_str(&at)) || err_set(err,
                                                          "%.300s is there, and no folder of an exercise: name a "
                                                          "program in another folder, or move it away",
                                                          there)
                   : err_set(err, "%.300s: %s; name a program in a folder that is there and can be written", there,
                             strerror(errno)));
    ok = ok && model_save(m, there, err);
    TensorOut t = {"pixel_values", 4,       {1, (size_t)c->channels, (size_t)c->image_h, (size_t)c->image_w},
                   NULL,           picture, NULL};
    ok = ok && tensors_write(buf_str(&at), TF_SAFETENSORS, &t, 1, NULL, err);
    free(there);
    buf_free(&at);
    return ok;
}

static bool solved(const Options *o)
{
    return o->word_count == 2 && strcmp(o->word[1], "solution") == 0;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (o->word_count > 1 && !solved(o))
        return err_set(err,
                       "exercise takes no '%.100s'; `vitrine exercise -o vit.py` writes the program with its gaps, "
                       "`vitrine exercise solution -o vit.py` without",
                       o->word[1]);
    if (!language(o->output))
        return err_set(err, "name the program to write: vitrine exercise -o vit.py (numpy), or vit.c");
    return !file_exists(o->output) ||
           err_set(err, "%.300s is there, and may be your work: name another file, or move it away", o->output);
}

static int exercise(Work *w, Err *err)
{
    const char *file = w->options->output, *slash = strrchr(file, '/');
    const struct Language *in = language(file);
    Buf program = {0}, folder = {0};
    float pixels[3 * 4 * 4];
    buf_add(&folder, file, slash ? (size_t)(slash + 1 - file) : 0);
    Model small = small_model(pixels);
    bool ok = work_open(w, LINE_OWN, err);
    if (ok && model_way(w->session.now->model))
        ok = err_set(err, "%.200s reads texts, and the exercise is a Vision Transformer: leave -m out, or name one",
                     w->session.model.name);
    const float *picture = ok ? session_need(&w->session, SIDE_B, "image", err) : NULL;
    put_program(in, solved(w->options), &program);
    ok = picture && put_model(&small, buf_str(&folder), "vit-small", pixels, err) &&
         put_model(&w->session.model, buf_str(&folder), "vit-shapes", picture, err) &&
         file_write(file, program.data, program.len, err);
    if (ok) {
        w->written = true;
        buf_printf(&w->out, "%s, and beside it vit-small and vit-shapes: each a model and a picture\nrun it:  ", file);
        buf_printf(&w->out, in->run, slash ? slash + 1 : file);
        buf_printf(&w->out, "\nlesson:  vitrine lesson write-it\n");
    }
    model_free(&small);
    buf_free(&folder);
    buf_free(&program);
    return ok ? STATUS_DONE : STATUS_BAD;
}

const Verb VERB_EXERCISE = {
    .name = "exercise",
    .usage = "exercise [solution] -o FILE.py or FILE.c",
    .summary = "a Vision Transformer for you to write: a program with gaps, its weights, and what is compared with it",
    .details = "Writes a program that lacks its arithmetic (numpy only, or C and its library), and beside it two "
               "folders: vit-small, a model of one block and one head that looks at 4 × 4 pixels, and vit-shapes, the "
               "bundled model; in each the picture that it looks at. The program runs as far as its first gap, says "
               "what to do there and on which screen that step stands, and saves what it has computed; `vitrine diff "
               "vit-small.npz -m vit-small` says what is right, where it first differs and which mistake makes that "
               "difference. `solution` writes it without gaps. A program that is there is never replaced.",
    .example = "vitrine exercise -o vit.py",
    .flags = VERB_ALONE,
    .check = check,
    .run = exercise};
