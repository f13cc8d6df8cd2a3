#include "core/models/decode.h"

DecodeOptions decode_options_default(void)
{
    return (DecodeOptions){
        .kind = DECODE_GREEDY, .most = 64, .cache = true, .width = 4, .alpha = 0.6, .temperature = 1, .top_p = 1};
}

bool decode_options_check(const DecodeOptions *o, Err *err)
{
    if (o->most < 1 || o->most > DECODE_WORDS_MAX)
        return err_set(err, "a text may have 1 to %d words, not %d", DECODE_WORDS_MAX, o->most);
    if (o->kind == DECODE_BEAM && (o->width < 1 || o->width > DECODE_WIDTH_MAX))
        return err_set(err, "a beam is 1 to %d wide, not %d", DECODE_WIDTH_MAX, o->width);
    if (o->kind == DECODE_BEAM && !(o->alpha >= 0 && o->alpha <= 10))
        return err_set(err, "the length penalty's alpha is 0 to 10, not %g", o->alpha);
    if (o->kind != DECODE_SAMPLE)
        return true;
    if (!(o->temperature >= 0 && o->temperature <= 1000))
        return err_set(err, "a temperature is 0 to 1000, not %g", o->temperature);
    if (o->top_k < 0)
        return err_set(err, "top-k is 0 (all) or a number of words, not %d", o->top_k);
    if (!(o->top_p > 0 && o->top_p <= 1))
        return err_set(err, "top-p is a probability above 0 and up to 1, not %g", o->top_p);
    return true;
}

int decode_room(const Model *m, int n)
{
    int given = seq2seq_has_encoder(&m->text) ? 1 : n + model_starts(m);
    return seq2seq_longest(&m->text) - given + 1;
}
