/* Hidden patches, and what the model guesses there. */
#include "core/session/ask/say.h"
#include "core/session/screens.h"

static bool fits_blanks(const Graph *g, NodeId n)
{
    return screen_is_site(g, n, SITE_GUESS);
}

static bool run_blanks(Session *s, const Args *a, Err *err)
{
    const char *guess = site_path_any(session_base(s), SITE_GUESS);
    if (!guess || session_node(s, SIDE_B, guess) == NO_NODE)
        return err_set(err, model_grid(s->now->model).rows
                                ? "this model never learned to guess hidden patches: it has no reconstruction head"
                                : "this model reads words, and there are no patches to hide; `word OLD NEW` "
                                  "puts another word into the sentence");
    return screen_go(s, SCREEN_BLANKS, guess, err) && screen_patch_word(s, a, 0, err);
}

static bool say_blanks(const Teller *t)
{
    float error, flat, hidden = 0, count = 0, mean;
    char label[64];
    if (!teller_there(t, teller_model(t, SITE_GUESS_ERROR), &error) ||
        !teller_there(t, teller_model(t, SITE_GUESS_FLAT), &flat)) {
        buf_puts(t->out, "This model has no reconstruction head: it never learned to guess a hidden patch.");
        return true;
    }
    teller_there(t, teller_model(t, SITE_GUESS_HIDDEN), &hidden);
    teller_there(t, teller_model(t, SITE_GUESS_HIDDEN_COUNT), &count);
    buf_printf(t->out, "Patch %s is %s; the guess of it is off by ",
               teller_label(t, ROLE_PLACE, teller_index(t, ROLE_PLACE), label), hidden != 0.0f ? "hidden" : "seen");
    ask_put_short(t->out, error);
    buf_puts(t->out, " (mean square of standardised values), the mean colour would be by ");
    ask_put_short(t->out, flat);
    buf_putc(t->out, '.');
    if (count > 1 && teller_there(t, teller_model(t, SITE_GUESS_HIDDEN_ERROR_MEAN), &mean) &&
        teller_there(t, teller_model(t, SITE_GUESS_HIDDEN_FLAT_MEAN), &flat)) {
        buf_printf(t->out, " Over the %d hidden patches that is ", (int)count);
        ask_put_short(t->out, mean);
        buf_puts(t->out, " against ");
        ask_put_short(t->out, flat);
        buf_putc(t->out, '.');
    }
    return true;
}

static const Command OWN = COMMAND("blanks", "learned", "blanks [PATCH]",
                                   "hidden patches and what the model guesses there",
                                   COMMAND_SESSION | COMMAND_PICTURES, run_blanks, NULL);

SCREEN_SPEC(BLANKS, .name = "blanks", .about = "hidden patches and what the model guesses there",
            .group = GROUP_LEARNED, .command = "blanks", .own = {&OWN, 1, NULL}, .fits = fits_blanks,
            .move = move_on_patches, .enter = enter_arithmetic, .next = enter_tensor, .off = OFF_HIDDEN,
            .say = say_blanks);
