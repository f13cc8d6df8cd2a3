/* Where a text model looked: rollout, attention and gradient × input of its tokens, and how alike positions are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/session/command.h"
#include "core/session/session.h"

static Session s;
static Commands all;

static void begin(const char *model, const char *text)
{
    Err err = {{0}};
    all = session_command_set();
    if (!session_init(&s, model, text, 1, NULL, NULL, &err))
        fail_msg("%s: %s", model, err.text);
}

static void end(void)
{
    session_free(&s);
    commands_free(&all);
}

static void leads_to(const char *line, const char *path)
{
    Err err = {{0}};
    if (!command_do(&s, &all, line, LINE_FOREIGN, &err))
        fail_msg("%s: %s", line, err.text);
    assert_string_equal(s.place.path, path);
}

static void refused(const char *line, const char *why)
{
    Err err = {{0}};
    assert_false(command_do(&s, &all, line, LINE_FOREIGN, &err));
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' does not say '%s'", line, err.text, why);
}

static const float *values(const char *path)
{
    Err err = {{0}};
    const float *x = session_need(&s, SIDE_B, path, &err);
    if (!x)
        fail_msg("%s: %s", path, err.text);
    return x;
}

static void a_decoder(void **state)
{
    (void)state;
    begin("tests/data/families/words_gpt2", "ids:3,5,7,9,4");
    leads_to("where", "decoder.blocks.1.self_attn.probe.rollout");
    leads_to("where depth 1", "decoder.blocks.0.self_attn.probe.rollout");
    leads_to("where depth all", "decoder.blocks.1.self_attn.probe.rollout");
    leads_to("where next", "decoder.blocks.1.self_attn.probe.mean_pattern");
    leads_to("where next", "decoder.where.gradient");
    assert_string_equal(s.target.path, "logits");
    refused("where occlusion", "`word OLD NEW`");
    leads_to("where rollout", "decoder.blocks.1.self_attn.probe.rollout");
    leads_to("where gradient", "decoder.where.gradient");
    leads_to("where next", "decoder.blocks.1.self_attn.probe.rollout"); /* occlusion is passed over */
    const float *x = values("decoder.embed"), *slope = values("grad.decoder.embed"),
                *map = values("decoder.where.gradient");
    double size = 0;
    for (int t = 0; t < 5; t++) {
        double sum = 0;
        for (int d = 0; d < 16; d++)
            sum += (double)x[t * 16 + d] * (double)slope[t * 16 + d];
        assert_true(fabs(sum - (double)map[t]) < 1e-4);
        size += fabs(sum);
    }
    assert_true(size > 0.1);
    leads_to("view positions", "decoder.pos.probe.cosine");
    leads_to("view centred", "decoder.pos.probe.cosine_centred");
    leads_to("view raw", "decoder.pos.probe.cosine");
    end();
}

static void other_forms(void **state)
{
    (void)state;
    begin("tests/data/families/words_bert", "ids:3,5,7");
    leads_to("where gradient", "encoder.where.gradient");
    leads_to("where rollout", "encoder.blocks.1.self_attn.probe.rollout");
    end();
    begin("tests/data/families/words_bge", "ids:3,5,7"); /* it ends in a vector */
    leads_to("where rollout", "encoder.blocks.1.self_attn.probe.rollout");
    refused("where gradient", "`gradient embedding[d=0]`");
    leads_to("gradient embedding[d=0]; where gradient", "encoder.where.gradient");
    end();
    begin("tests/data/families/words_t5", "ids:5,7,9 > ids:3,4");
    leads_to("where", "encoder.blocks.1.self_attn.probe.rollout");
    leads_to("goto decoder.blocks.0.cross_attn.pattern; where", "decoder.blocks.2.self_attn.probe.rollout");
    leads_to("where gradient", "decoder.where.gradient");
    refused("view positions", "bias of places");
    end();
    begin("tests/data/families/words_llama", "ids:3,5,7");
    leads_to("where", "decoder.blocks.1.self_attn.probe.rollout");
    refused("view positions", "turns queries and keys");
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_decoder), cmocka_unit_test(other_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
