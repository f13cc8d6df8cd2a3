/* A pass that stops being numbers: the first place that does, and none where all are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/graph/run.h"
#include "core/session/ask/ask.h"
#include "core/session/session.h"

/* What verify says of a pass with NaN from a weight: where it begins, and not that the engine is wrong. */
static void verify_names_the_place(Session *s, const char *begins)
{
    Verdict v;
    Err err = {""};
    Buf out = {0};
    if (!ask_verify(s, SIDE_B, 0, &v, &err))
        fail_msg("%s", err.text);
    ask_verify_text(s, &v, &out, false);
    assert_true(v.model.undefined > 0 && v.model.undefined == v.model.beyond);
    assert_false(verdict_holds(&v));
    if (!strstr(buf_str(&out), begins) || strstr(buf_str(&out), "engine is wrong"))
        fail_msg("%s", buf_str(&out));
    buf_free(&out);
}

/* What is said when one weight of a seeded model has a cell set; NULL: nothing. */
static char *said_with(VitRole r, int layer, size_t cell, float value)
{
    VitConfig c;
    Model m = {0};
    Session s;
    Err err = {""};
    Buf out = {0};
    assert_true(model_size("tiny", &c));
    model_seeded(&m, &c, 7);
    if (r != VIT_ROLES) {
        float *w = m.block + (vit_weight(&m.weights, r, layer)->data - m.block);
        w[cell] = value;
    }
    if (!session_init_model(&s, &m, NULL, 1, &err))
        fail_msg("%s", err.text);
    assert_true(run_step_all(session_run(&s, SIDE_B), CLOCK_NEVER));
    bool found = ask_nan_begins(&s, SIDE_B, &out);
    char *text = found ? strdup(buf_str(&out)) : NULL;
    assert_int_equal(found, out.len > 0);
    if (found)
        verify_names_the_place(&s, text);
    buf_free(&out);
    session_free(&s);
    return text;
}

static void begins(void **state)
{
    (void)state;
    float zero = 0;
    static const struct {
        VitRole role;
        int layer;
        size_t cell;
        float value; /* 0: NaN */
        const char *text;
    } cases[] = {
        {VIT_B_UP, 1, 5, 0, "NaN begins at blocks.1.mlp.b_up[m=5]: 1 of its 64 values, as the file has them"},
        {VIT_W_O, 0, 33, 0, "NaN begins at blocks.0.attn.w_o[d=1,h=0,e=1]: 1 of its 1024 values, as the file has"},
        {VIT_B_Q, 1, 2, INFINITY, "∞ begins at blocks.1.attn.b_q[h=0,e=2]: 1 of its 32 values, as the file has them"},
        /* 3e38 is a number; its products with keys are infinite, and ∞ less the row's maximum is none */
        {VIT_B_Q, 1, 2, 3e38f, "NaN begins at blocks.1.attn.exp[h=0"},
    };
    assert_null(said_with(VIT_ROLES, 0, 0, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float value = cases[i].value > 0 ? cases[i].value : zero / zero;
        char *text = said_with(cases[i].role, cases[i].layer, cases[i].cell, value);
        assert_non_null(text);
        if (!strstr(text, cases[i].text))
            fail_msg("'%s' is not in: %s", cases[i].text, text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(begins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
