/* Chat templates: what each construct writes, what is refused and where, and templates that want harm. Their forms
 * are those of chat models. Against Jinja itself (3.1.6, as Hugging Face's programs set it) what is written for six
 * talks by 48 published templates and by the templates below is the same wherever both write, and 40 of the 48 write
 * whatever Jinja writes; so are the 5,550 texts that both write of 20,000 templates drawn from these constructs. */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/io/chat.h"
#include "core/io/tokenizer.h"

static bool written(const char *source, const char *typed, ChatText *out, Err *err)
{
    char begin[] = "<s>", end[] = "</s>", *copy = xstrdup(source);
    const Chat c = {.name = "test", .source = copy, .begin = begin, .end = end};
    *err = (Err){""};
    bool ok = chat_write(&c, typed, out, err);
    free(copy);
    return ok;
}

static void expect(const char *source, const char *typed, const char *want)
{
    ChatText out;
    Err err;
    if (!written(source, typed, &out, &err))
        fail_msg("%s: %s", source, err.text);
    assert_string_equal(buf_str(&out.text), want);
    assert_int_equal(out.said.len, out.text.len);
    chat_text_free(&out);
}

static void refused(const char *source, const char *typed, const char *why)
{
    ChatText out;
    Err err;
    if (written(source, typed, &out, &err))
        fail_msg("%s: not refused", source);
    if (!strstr(err.text, why))
        fail_msg("%s: \"%s\" does not say %s", source, err.text, why);
    assert_null(out.text.data);
}

static const char TALK[] = "system: Be brief. | user:  Hi \n there | assistant: Yes? | user: Why";

/* The ways of chat models: a mark per turn; the system's words inside the user's first turn; a role by another name. */
static void the_forms_of_chat_models(void **state)
{
    (void)state;
    expect("{% for m in messages %}{{'<|' + m['role'] + '|>\\n' + m['content'] + '<|end|>\\n'}}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}",
           TALK,
           "<|system|>\nBe brief.<|end|>\n<|user|>\nHi \n "
           "there<|end|>\n<|assistant|>\nYes?<|end|>\n<|user|>\nWhy<|end|>\n"
           "<|assistant|>\n");
    expect("{{ bos_token }}{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}"
           "{% set first = '<<' + messages[0]['content'] + '>> ' %}{% else %}{% set rest = messages %}"
           "{% set first = '' %}{% endif %}{% for m in rest %}"
           "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns alternate') }}{% endif %}"
           "{% if m.role == 'user' %}[I] {{ (first if loop.first else '') + m.content.strip() }} [/I]"
           "{% else %}{{ ' ' ~ m.content | trim ~ eos_token }}{% endif %}{% endfor %}",
           "system: S | user:  a  | assistant: b | user: c", "<s>[I] <<S>> a [/I] b</s>[I] c [/I]");
    expect("{% for m in messages -%}\n  {% set role = 'model' if m.role == 'assistant' else m.role %}\n"
           "  {{- '<t>' + role }}:{{ m.content }}\n{% endfor %}\n",
           "user: a | assistant: b", "<t>user:a\n<t>model:b\n");
    refused("{% if messages[0].role == 'system' %}{{ raise_exception('no system here') }}{% endif %}x", "system: a",
            "no system here");
}

/* A text that names no role is the user's; turns stand behind bars, on lines, or in JSON. */
static void what_is_typed_as_turns(void **state)
{
    (void)state;
    static const char ALL[] = "{% for m in messages %}({{ m.role }}={{ m.content }}){% endfor %}"
                              "{{ '+' if add_generation_prompt else '.' }}";
    expect(ALL, "Why is it so?", "(user=Why is it so?)+");
    expect(ALL, "user: a | assistant: b", "(user=a)(assistant=b).");
    expect(ALL, "user: a\nassistant: b | c\nuser: d", "(user=a)(assistant=b | c)(user=d)+");
    expect(ALL, "users: a | user: b", "(user=users: a | user: b)+");
    expect(ALL, "user: | assistant:", "(user=)(assistant=).");
    expect(ALL, "[{\"role\": \"user\", \"content\": \"a | user: b\"}]", "(user=a | user: b)+");
    refused(ALL, "[{\"role\": \"user\"}]", "turn 0");
    refused(ALL, "[{\"role\": ", "the turns");
    Buf many = {0};
    for (int i = 0; i <= CHAT_TURNS; i++)
        buf_puts(&many, i ? " | user: a" : "user: a");
    refused(ALL, buf_str(&many), "turns");
    buf_free(&many);
}

/* Every byte is either what somebody said or the template's. */
static void what_was_said_is_known_from_what_was_added(void **state)
{
    (void)state;
    ChatText out;
    Err err;
    assert_true(written("{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ (' ' + m.content + 'user')|trim }}"
                        "{{ m.content[1:3] | upper }}{% endfor %}",
                        "user: user", &out, &err));
    assert_string_equal(buf_str(&out.text), "<s><user>useruserSE");
    static const char WANT[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1};
    assert_int_equal(out.said.len, sizeof WANT);
    assert_memory_equal(out.said.data, WANT, sizeof WANT);
    chat_text_free(&out);
}

static void values_and_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *source, *want;
    } CASES[] = {
        {"{{ 1 + 2 - 4 }} {{ -3 % 2 }} {{ 'a' ~ 1 ~ none ~ true }}", "-1 1 a1NoneTrue"},
        {"{{ nothing }}|{{ nothing is defined }}|{{ messages[9] is defined }}", "|False|False"},
        {"{{ 'a' in 'cat' }} {{ 'role' in messages[0] }} {{ 2 not in [1, 2] }} {{ not [] }}", "True True False True"},
        {"{{ not not 'a' }}{{ not 0 }}", "TrueTrue"},
        {"{{ 'x' or nope.nope }}{{ '' and nope.nope }}", "x"},
        {"{{ ' a,b '.strip().split(',')[-1] }}{{ 'ab'|length }}{{ 'Ab c'|title }}{{ nope|default('d') }}", "b2Ab Cd"},
        {"{{ (messages|selectattr('role', 'equalto', 'user')|list)|length }}{{ messages[::-1][0].role }}", "1user"},
        {"{% set ns = namespace(n=0) %}{% set k = 1 %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set k = 2 %}"
         "{% endfor %}{{ ns.n }}{{ k }}",
         "11"},
        {"{% for m in messages if m.role == 'nobody' %}a{% else %}none{% endfor %}", "none"},
        {"a  {%- if true -%}  b  {%- endif %}  c", "ab  c"},
        {"  {% if true %}\n  x\n  {% endif %}\n y\n", "  x\n y"},
        {"a {# {{ }} #} b {{ '}}' }}{{ \"{%\" }}{{ 'q\\'\\n\\\\' }}", "a  b }}{%q'\n\\"},
        {"{% if nope %}1{% elif messages|length == 1 %}2{% else %}3{% endif %}", "2"},
        {"{{ strftime_now is defined }}{{ tools is none }}{{ tools }}", "FalseTrueNone"},
        {"{% generation %}{{ messages[0].content }}{% endgeneration %}", "w"},
        {"{% for i in range(3) %}{{ i }}{% endfor %}|{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}|"
         "{{ range(2, 2)|length }}{{ range(4)[-1] }}",
         "012|531|03"},
        {"{{ [1, true, none, 'a\"\\n\\\\', [], {},]|tojson }}{{ messages|tojson }}",
         "[1, true, null, \"a\\\"\\n\\\\\", [], {}][{\"role\": \"user\", \"content\": \"w\"}]"},
        {"{{ {'a': [2], 'b': 'c',}['a'][0] }}{{ {'x': 'y'}.x }}{{ {} == {} }}{{ 'b'['type'] is defined }}",
         "2yTrueFalse"},
        {"{% macro f(a, b='x') %}[{{ a }}{{ b }}]{% endmacro %}{{ f(1) }}{{ f(1, b=2) }}{{ f() }}{{ f(b=3, a=4) }}",
         "[1x][12][x][43]"},
        {"{% set k=1 %}{% macro g() %}{{ k }}{{ i }}{% set k = 2 %}{{ k }}{% endmacro %}{% set k=3 %}"
         "{% for i in [7] %}{{ g() }}{% endfor %}{{ k }}",
         "323"},
        {"{% macro r(n) %}{{ n }}{% if n > 0 %}{{ r(n - 1) }}{% endif %}{% endmacro %}{{ r(4) }}", "43210"},
        {"{% set x %}q{{ messages[0].role }}{% endset %}{{ x }}{{ x|length }}", "quser5"},
        {"{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}"
         "{% endfor %}",
         "02"},
        {"{% if tools %}{% do a %}{% call f() %}{{ 1 / 2 }}{% endcall %}{% endif %}{{ 'x' if not tools else 2 * tools "
         "}}"
         "{{ tools is odd if tools else 'y' }}",
         "xy"},
        {"{{ 'äöü'[1:] }}{{ 'äöü'[-1] }}{{ 'äö'|length }}{{ '\xe3\x80\x80 a\xc2\xa0'|trim }}{{ 'éaé'.strip('é') }}",
         "öüü2aa"},
        {"{{ nope is sequence }}{{ 1 is number }}{{ true is integer }}{{ range is defined }}", "TrueTrueFalseTrue"},
        {"{{ 'ab-cd ef'|title }}{{ 'aB'|capitalize }}", "Ab-Cd EfAb"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        expect(CASES[i].source, "user: w", CASES[i].want);
}

static void the_rest_is_refused_by_name_at_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *source, *why;
    } CASES[] = {
        {"a\n\n{% do x %}", "line 3 of the chat template: the statement 'do'"},
        {"{% raw %}{% endraw %}", "the statement 'raw'"},
        {"{% macro f(x) %}{% endmacro %}{{ f(1, 2) }}", "no name for"},
        {"{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "macros inside each other"},
        {"{% for i in [1] %}{% macro f(x) %}{% endmacro %}{% endfor %}", "a macro inside a loop"},
        {"{% macro f %}{% endmacro %}", "'macro' of another form"},
        {"{% macro f() %}", "does not end"},
        {"{% macro f() %}{% endset %}", "an end or a branch of nothing"},
        {"{% break %}", "no loop to leave"},
        {"{{ messages | tojson(indent=2) }}", "the filter 'tojson'"},
        {"{{ namespace|tojson }}", "tojson of what"},
        {"{% set n = namespace(a=1) %}{% set n.a = n %}{{ n|tojson }}", "lists in each other"},
        {"{{ [1] == [2] }}", "comparison of what is in"},
        {"{{ 'é'|upper }}", "capitals of other letters"},
        {"{{ 'a_b'|title }}", "capitals of other letters"},
        {"{{ range(1, 2, 0) }}", "steps of 0"},
        {"{{ range(9999999) }}", "more than"},
        {"{{ 'a'.center(3) }}", "the method 'center'"},
        {"{{ range(3) }}", "a list or table as a text"},
        {"{{ {1: 2} }}", "other keys than texts"},
        {"{{ 1 < 2 < 3 }}", "comparison of a comparison"},
        {"{{ nope.a }}", "not defined"},
        {"{{ nope() }}", "the function 'nope'"},
        {"{{ 1 / 2 }}", "'/'"},
        {"{{ 1.5 }}", "a number with a point"},
        {"{{ messages }}", "a list or table as a text"},
        {"{% for a, b in messages %}{% endfor %}", "another form than NAME in VALUE"},
        {"{% for a in 'text' %}{% endfor %}", "what is no list"},
        {"{% if true %}", "does not end"},
        {"{% endif %}", "an end or a branch of nothing"},
        {"{% if true %}{% endfor %}", "an end or a branch of nothing"},
        {"{{ 'a' ", "'}}' is missing"},
        {"{{ 'a }}", "'}}' is missing"},
        {"{{ }}", "a value is missing"},
        {"{{ 'a' 'b' }}", "not expected"},
        {"{{ ('a' }}", "')' is missing"},
        {"{{ 1 is odd }}", "the test 'is odd'"},
        {"{% set a.b = 1 %}", "no namespace"},
        {"{% set a b %}x{% endset %}", "'set' of another form"},
        {"{{ 'a' + 1 }}", "of a text and of what is none"},
        {"", "writes nothing"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        refused(CASES[i].source, "user: w", CASES[i].why);
}

/* Whatever a template says: an end, soon, in little memory. */
static void hostile_templates_end_in_time(void **state)
{
    (void)state;
    static const char *const LOOPS = "{% for a in messages %}{% for b in messages %}{% for c in messages %}"
                                     "{% for d in messages %}{{ '' }}{% endfor %}{% endfor %}{% endfor %}{% endfor %}";
    Buf many = {0}, deep = {0};
    int64_t begun = clock_ns();
    for (int i = 0; i < CHAT_TURNS; i++)
        buf_puts(&many, i ? " | user: a" : "user: a");
    refused(LOOPS, buf_str(&many), "more than");
    refused(
        "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for a in messages %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        buf_str(&many), "more than");
    refused("{% for a in messages %}{% for b in messages %}{{ 'a text that is written again and again and again' }}"
            "{% endfor %}{% endfor %}",
            buf_str(&many), "writes more than");
    static const char *const OPEN[] = {"(", "[", "-", "x if 1 else ", "a.b(", "x["};
    for (size_t k = 0; k < sizeof OPEN / sizeof *OPEN; k++) {
        buf_clear(&deep);
        buf_puts(&deep, "{{ ");
        for (int i = 0; i < 20000; i++)
            buf_puts(&deep, OPEN[k]);
        buf_puts(&deep, "1 }}");
        refused(buf_str(&deep), "user: a", "");
    }
    buf_clear(&deep);
    for (int i = 0; i < 1000; i++)
        buf_puts(&deep, "{% if true %}");
    refused(buf_str(&deep), "user: a", "inside each other");
    assert_true((double)(clock_ns() - begun) * 1e-9 < 20); /* a second and a half with nothing else running */
    buf_free(&many);
    buf_free(&deep);
}

/* Parts of templates in any order, cut anywhere: refused, or written, and what is written has its marks. */
static void templates_out_of_parts(void **state)
{
    (void)state;
    static const char *const PARTS[] = {"{% for m in messages %}",
                                        "{% endfor %}",
                                        "{% if ",
                                        "{% endif %}",
                                        "{% else %}",
                                        "{% elif ",
                                        "{{ ",
                                        " }}",
                                        " %}",
                                        "-%}",
                                        "{%- ",
                                        "{{- ",
                                        "m.content",
                                        "messages[0]",
                                        "['role']",
                                        " == ",
                                        "'user'",
                                        " + ",
                                        " ~ ",
                                        "|trim",
                                        "(",
                                        ")",
                                        "[1:]",
                                        "loop.index0",
                                        " if ",
                                        " else ",
                                        "{% set a = ",
                                        "a",
                                        "{# ",
                                        " #}",
                                        "\n",
                                        "  ",
                                        "not ",
                                        "is defined",
                                        "'",
                                        "\"",
                                        "\\",
                                        "namespace(a=1)",
                                        "{% macro f(a, b=1) %}",
                                        "{% endmacro %}",
                                        "f(a)",
                                        "{% set a %}",
                                        "{% endset %}",
                                        "{% break %}",
                                        "range(3)",
                                        "|tojson",
                                        "{'a': ",
                                        ".split('a')[0]",
                                        "-",
                                        "%",
                                        "\xc3",
                                        "{",
                                        "}",
                                        " in ",
                                        "1"};
    Rng r = rng_seed(28, 1);
    int wrote = 0;
    for (int trial = 0; trial < 20000; trial++) {
        Buf source = {0};
        ChatText out;
        Err err;
        for (int i = 0, n = 1 + (int)(rng_unit(&r) * 14); i < n; i++)
            buf_puts(&source, PARTS[(int)(rng_unit(&r) * (float)(sizeof PARTS / sizeof *PARTS))]);
        if (written(buf_str(&source), TALK, &out, &err)) {
            assert_true(out.text.len == out.said.len && out.text.len > 0);
            wrote++;
            chat_text_free(&out);
        } else
            assert_true(*err.text);
        buf_free(&source);
    }
    assert_true(wrote > 1000);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[128];
    Err err;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

/* The folder's template, and nothing around its text but what it writes; every token of the template has no byte that
 * was said. */
static void a_folder_with_a_template(void **state)
{
    (void)state;
    char folder[] = "/tmp/vitrine-chat-XXXXXX", path[64];
    static const char *const FILES[] = {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"};
    Tokens k;
    Err err;
    Buf text = {0}, said = {0};
    assert_non_null(mkdtemp(folder));
    put(folder, FILES[0],
        "{\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"<s>\":3,\":\":4}},"
        "\"added_tokens\":[{\"id\":3,\"content\":\"<s>\",\"special\":true}],\"pre_tokenizer\":{\"type\":\"Whitespace\"}"
        ","
        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},"
        "{\"Sequence\":{\"id\":\"A\"}}],\"pair\":[]}}");
    Tokenizer *t = tokenizer_open(folder, &err);
    assert_non_null(t);
    assert_false(tokenizer_chat(t, "a", false, &k, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "no chat template"));
    put(folder, FILES[1],
        "{\"model_max_length\": 1000000000000000019884624838656, \"bos_token\": {\"content\": \"<s>\"}, "
        "\"chat_template\": [{\"name\": \"tool_use\", "
        "\"template\": \"no\"}, {\"name\": \"default\", \"template\": \"{{ bos_token }}{% for m in "
        "messages %}b : {{ m.content }}{% endfor %}\"}]}");
    assert_true(tokenizer_chat(t, "a b", true, &k, &text, &said, &err));
    assert_string_equal(buf_str(&text), "<s>b : a b");
    static const int WANT[] = {3, 2, 4, 1, 2};
    assert_int_equal(k.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(k.at[i].id, WANT[i]);
        assert_true(!memchr(said.data + k.at[i].from, 1, k.at[i].to - k.at[i].from) == (i < 3));
    }
    assert_true(k.parts == 5 && k.part[0].added && !k.part[1].added);
    tokens_free(&k);
    put(folder, FILES[2], "{{ messages[0].content }}b"); /* a file of its own comes first */
    buf_clear(&text);
    assert_true(tokenizer_chat(t, "a ", false, &k, &text, NULL, &err));
    assert_string_equal(buf_str(&text), "a b");
    tokens_free(&k);
    put(folder, FILES[1], "{");
    assert_false(tokenizer_chat(t, "a", false, &k, NULL, NULL, &err));
    tokenizer_free(t);
    buf_free(&text);
    buf_free(&said);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_forms_of_chat_models),
        cmocka_unit_test(what_is_typed_as_turns),
        cmocka_unit_test(what_was_said_is_known_from_what_was_added),
        cmocka_unit_test(values_and_blanks),
        cmocka_unit_test(the_rest_is_refused_by_name_at_its_line),
        cmocka_unit_test(hostile_templates_end_in_time),
        cmocka_unit_test(templates_out_of_parts),
        cmocka_unit_test(a_folder_with_a_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
