/* `ledger` and `why` from an answer: contrasted with the runner-up, down to a pixel. */
#include "tests/core_session/asking.h"

#include "core/base/utf8.h"
#include "core/graph/explain.h"
#include "core/session/ask/ledgers.h"
#include "core/session/exhibit.h"

enum { MOST = 400, PICTURES = 12 };

static float number_at(const char *path)
{
    Err err = {""};
    const float *x = session_need(&s, SIDE_B, path, &err);
    if (!x)
        fail_msg("%s: %s", path, err.text);
    return *x;
}

static void test_why_ends_at_the_picture(void **state)
{
    (void)state;
    static WhyStep step[MOST];
    for (int i = 0; i < PICTURES; i++) {
        char line[32];
        int count;
        Err err = {""};
        WhyAnswer a;
        snprintf(line, sizeof line, "open #%d", i);
        run(line);
        if (!ask_why_answer(&s, SIDE_B, -1, -1, &a, step, MOST, &count, &err))
            fail_msg("#%d: %s", i, err.text);
        const Graph *g = session_graph(&s, SIDE_B);
        const Node *last = graph_node(g, step[count - 1].ref.node);
        if (last->op != OP_LEAF || last->leaf.kind != LEAF_INPUT)
            fail_msg("#%d ends at %s", i, last->path);
        const float *logits = session_need(&s, SIDE_B, "logits", &err);
        assert_true(a.number > 0 && fabsf(a.number - (logits[a.of.cell] - logits[a.of.against])) < 1e-5f);
        for (int k = 0; k < 10; k++)
            assert_true((size_t)k == a.of.cell || logits[k] <= logits[a.of.against]);
        assert_true(a.line.value > 0 && !a.line.same);
    }
    run("open #17");
}

/* Nothing that is the same for every picture is followed, and where it was the largest it is named. */
static void test_why_passes_over_what_is_the_same(void **state)
{
    (void)state;
    static WhyStep step[MOST];
    int count, passed = 0;
    Err err = {""};
    NodeId n = session_node(&s, SIDE_B, "blocks.0.resid_post"); /* its first row is the class token's */
    for (size_t cell = 0; cell < 64; cell++) {
        assert_true(ask_why(&s, SIDE_B, n, cell, step, MOST, &count, &err));
        Vary vary;
        vary_init(&vary, session_graph(&s, SIDE_B));
        for (int i = 0; i < count; i++) {
            assert_true(vary_cell(&vary, step[i].ref.node, step[i].ref.cell));
            if (step[i].left.node != NO_NODE) {
                assert_false(vary_cell(&vary, step[i].left.node, step[i].left.cell));
                passed++;
            }
        }
        vary_free(&vary);
    }
    assert_true(passed > 0);
    Buf text = {0};
    assert_true(ask_why_text(&s, SIDE_B, "probs", 5, &text, false, &err));
    has(buf_str(&text), "logits[o=star] − logits[o=arrow]");
    has(buf_str(&text), "is the same for every picture");
    buf_free(&text);
}

/* Two pictures: what vary says is the same is the same, and each kind of cell is found where it must be. */
static void test_vary(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"full_embed", "blocks.0.ln1.out", "blocks.0.attn.scores_raw",
                                        "blocks.0.attn.v"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        Err err = {""};
        run("open #1");
        const Graph *g = session_graph(&s, SIDE_B);
        NodeId n = graph_find(g, PATHS[i]);
        size_t cells = graph_cells(g, n), same = 0;
        float *first = malloc(cells * sizeof *first);
        memcpy(first, session_need(&s, SIDE_B, PATHS[i], &err), cells * sizeof *first);
        run("open #2");
        const float *second = session_need(&s, SIDE_B, PATHS[i], &err);
        Vary vary;
        vary_init(&vary, session_graph(&s, SIDE_B));
        for (size_t c = 0; c < cells; c++)
            if (!vary_cell(&vary, n, c)) {
                assert_memory_equal(&first[c], &second[c], sizeof(float));
                same++;
            }
        assert_int_equal(same, strstr(PATHS[i], "scores") ? 4 : 64); /* the class token's row, or its pair in a head */
        vary_free(&vary);
        free(first);
    }
    run("open #17");
}

/* The loudest head and its token, counted here from the nodes. */
static void loudest(int *block, int *head, int *token)
{
    float most = -INFINITY, largest = -INFINITY;
    for (int b = 0; b < 4; b++) {
        char path[64];
        Err err = {""};
        snprintf(path, sizeof path, "ledger.blocks.%d.attn.z.heads", b);
        const float *x = session_need(&s, SIDE_B, path, &err);
        for (int h = 0; h < 4; h++)
            if (x[h] > most) {
                most = x[h];
                *block = b;
                *head = h;
            }
    }
    char path[64];
    Err err = {""};
    snprintf(path, sizeof path, "ledger.blocks.%d.attn.z.tokens", *block);
    const float *x = session_need(&s, SIDE_B, path, &err);
    for (int u = 0; u < 65; u++)
        if (x[*head * 65 + u] > largest) {
            largest = x[*head * 65 + u];
            *token = u;
        }
}

static void via_path(int step, const char *name, char out[96])
{
    static const char *const VIA[] = {"via.", "via.via.", "via.via.via.", "via.via.via.via."};
    snprintf(out, 96, "ledger.%s%s", VIA[step], name);
}

/* The sentence calls no number a part of a smaller one, and says whose it is where there are two. */
static void a_part_is_of_a_larger_whole(void **state)
{
    (void)state;
    int larger = 0;
    for (int picture = 5; picture < 10; picture++) {
        char line[64], sentence[256];
        snprintf(line, sizeof line, "open #%d; goto probs; why", picture);
        snprintf(sentence, sizeof sentence, "%s", run(line));
        const char *of = strstr(sentence, " of "), *others = strstr(sentence, "; all together "),
                   *part = strstr(sentence, ": ");
        assert_true(part && !of != !others);
        const float value = strtof(part + 2, NULL),
                    number = strtof(of ? of + 4 : others + strlen("; all together "), NULL);
        assert_int_equal(of != NULL, value * number >= 0 && fabsf(value) <= fabsf(number));
        larger += others != NULL;
    }
    has(run("set scale off; ledger; why"), "In B most by ");
    run("set scale on");
    assert_true(larger > 0);
}

/* The vote of a head for a token has a ledger of its own: what all parts before the head wrote into it adds up to it;
 * so has the largest part of that, as long as it is a tenth of it and more than the token itself. Of pictures and
 * words. */
static void a_vote_is_what_was_written_before(void **state)
{
    (void)state;
    static const char *const AT[] = {"open #17; goto probs; why", "open #66; goto probs[o=square]; why",
                                     "open #3; goto probs; why",
                                     "model photos; open #ship; goto probs; why", /* read from all patches */
                                     "model translator; goto logits[t=4]; why"};
    int longest = 0;
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        char sentence[256];
        snprintf(sentence, sizeof sentence, "%s", run(AT[i]));
        has(sentence, "Most by "); /* which head and which token, in one sentence on one line of 80 columns */
        assert_true(utf8_cells(sentence) <= 78 && !strstr(sentence, ". ") && sentence[strlen(sentence) - 1] == '.');
        const char *said = run("why"), /* where that came from */
            *patches = i + 1 < sizeof AT / sizeof *AT ? "patch_embed.out_nobias" : "encoder.embed";
        has(said, "Of that vote, ");
        const Graph *g = session_graph(&s, SIDE_B);
        const Ledger *of = session_ledger(&s, SIDE_B), *l;
        int steps = 0;
        Err err = {""};
        bool more = true;
        for (; (l = session_ledger_via(&s, SIDE_B, steps)); steps++) {
            const LedgerStep *step = &s.ledger.step[steps];
            const LedgerEntry *e = of->entry;
            char path[96], itself[64];
            LedgerVia via;
            assert_true(more); /* it was worth following */
            while (strcmp(graph_node(g, e->total)->path, step->via) != 0)
                e++;
            Dims d = graph_node(g, e->tokens)->dims;
            const float *votes = session_need(&s, SIDE_B, graph_node(g, e->tokens)->path, &err);
            const float vote = votes[step->head * g->axes[dims_role(g, d, ROLE_KEY)].n + step->token];
            via_path(steps, "value", path);
            assert_true(fabsf(number_at(path) - vote) < 1e-5f);
            float sum = 0;
            for (int k = 0; k < l->count; k++) {
                sum += number_at(graph_node(g, l->entry[k].total)->path);
                assert_true(l->entry[k].part < e->part); /* before it */
            }
            assert_true(l->count > 3 && fabsf(sum - vote) < 1e-4f);
            if (!ledger_via(&s, SIDE_B, steps, &via)) { /* no head before it */
                more = false;
                continue;
            }
            assert_true(via.vote == number_at(path));
            for (int k = 0; k < l->count; k++)
                for (int h = 0; l->entry[k].kind == LEDGER_HEADS && h < (int)graph_cells(g, l->entry[k].heads); h++) {
                    float x = session_need(&s, SIDE_B, graph_node(g, l->entry[k].heads)->path, &err)[h];
                    assert_true(vote < 0 ? x >= via.wrote : x <= via.wrote);
                }
            via_path(steps, patches, path);
            const float own = number_at(path);
            snprintf(itself, sizeof itself, " itself %.3g.", (double)own);
            has(said, itself); /* a patch's pixels, or a word */
            more = via.wrote / vote >= 0.1f && fabsf(via.wrote) > fabsf(own) && steps + 1 < LEDGER_STEPS;
            of = l;
        }
        assert_true(steps > 0 && !more);
        longest = steps > longest ? steps : longest;
        has(said, steps == 1 ? "Told one step back" : steps == 2 ? "Told two steps back" : "steps back");
    }
    assert_true(longest > 1);
    run("model bundled; open #17");
}

/* The chain is part of a state: the command that makes it makes the same. */
static void a_chain_is_kept(void **state)
{
    (void)state;
    run("open #3; goto probs; why");
    const LedgerTarget before = s.ledger;
    Buf line = {0};
    ledger_put_command(&s, &line);
    line.data[line.len - 1] = '\0';
    run("ledger off");
    assert_null(session_ledger_via(&s, SIDE_B, 0));
    run(buf_str(&line));
    assert_memory_equal(before.step, s.ledger.step, sizeof before.step);
    assert_non_null(session_ledger_via(&s, SIDE_B, 0));
    buf_free(&line);
    run("open #17");
}

/* `why` of an answer stands on the head that spoke most, its patch at the cursor, and says both; again: its chain. */
static void test_why_goes_to_the_river(void **state)
{
    (void)state;
    for (int i = 0; i < PICTURES; i++) {
        char line[96], label[16];
        int block = 0, head = 0, token = 0;
        snprintf(line, sizeof line, "open #%d; ledger off; ledger", i);
        run(line);
        float answer = number_at("ledger.value");
        snprintf(line, sizeof line, "goto logits[o=%zu]", s.ledger.cell);
        run(line);
        assert_true(s.place.screen != SCREEN_LEDGER);
        const char *text = run("why");
        assert_int_equal(s.place.screen, SCREEN_LEDGER);
        assert_true(number_at("ledger.value") == answer);
        loudest(&block, &head, &token);
        const Graph *g = session_graph(&s, SIDE_B);
        NodeId n = ledger_heads_here(&s, SIDE_B)->tokens;
        int axis = node_role(g, n, ROLE_KEY);
        assert_int_equal(session_block(&s), block);
        assert_int_equal(session_head(&s), head);
        assert_int_equal(s.place.at[axis], token);
        assert_true(utf8_cells(text) <= 76);
        WhyAnswer a;
        Buf said[2] = {{0}};
        assert_true(ask_why_ledger(&s, SIDE_B, &a, NULL));
        ask_why_sentence(&s, SIDE_B, &a, 0, &said[0]);
        const int cells = utf8_cells(buf_str(&said[0]));
        ask_why_sentence(&s, SIDE_B, &a, cells - 1, &said[1]); /* the number itself is left out */
        assert_true(utf8_cells(buf_str(&said[1])) < cells);
        buf_free(&said[0]);
        buf_free(&said[1]);
        snprintf(line, sizeof line, "block %d head %d", block, head);
        has(text, line);
        snprintf(line, sizeof line, " %s", axis_label(&g->axes[axis], token, label, sizeof label));
        has(text, line);
        snprintf(line, sizeof line, "ledger.blocks.%d.attn.z.heads[h=%d]", block, head);
        has(run("why"), line);
    }
    run("open #17; option one-head-votes off");
}

/* It opens on the head that wrote most (of what A and B differ in), which names a patch; where a block is in focus, on
 * the head in focus there; who is on it already stays. */
static void test_ledger_opens_on_the_largest_head(void **state)
{
    (void)state;
    Err err;
    run("open #17; ledger off; goto image; ledger");
    has(s.place.path, "blocks.3.attn.z");
    assert_int_equal(session_head(&s), 2);
    run("move left; ledger ring");
    assert_int_equal(session_head(&s), 1);
    run("goto blocks.1.attn.z[h=3]; ledger");
    has(s.place.path, "blocks.1.attn.z");
    assert_int_equal(session_head(&s), 3);
    run("ledger off; open #66; set scale off; goto image; ledger");
    const int block = session_block(&s), head = session_head(&s);
    float most = 0, here = 0;
    for (int b = 0; b < 4; b++) {
        char path[96];
        snprintf(path, sizeof path, "ledger.blocks.%d.attn.z.heads", b);
        const float *x = session_need(&s, SIDE_A, path, &err), *y = session_need(&s, SIDE_B, path, &err);
        assert_true(x && y);
        for (int h = 0; h < 4; h++) {
            most = fmaxf(most, fabsf(x[h] - y[h]));
            here = b == block && h == head ? fabsf(x[h] - y[h]) : here;
        }
    }
    assert_true(here == most && most > 0);
    run("undo; ledger off; open #17");
}

/* Left and right walk along the model, MLPs too; up and down from size to size. */
static void test_river_is_walked(void **state)
{
    (void)state;
    run("open #17; ledger off; ledger; block 0; head 0");
    assert_int_equal(ledger_here(&s, SIDE_B), 0);
    run("move right 4");
    const LedgerEntry *mlp = ledger_mlp_here(&s, SIDE_B);
    Buf table = {0};
    assert_true(ledger_table(&s, SIDE_B, false, &table, false, NULL)); /* computes them all */
    buf_free(&table);
    assert_true(mlp && mlp->kind == LEDGER_MLP && mlp->layer == 0);
    has(run("say"), "The block 0 MLP wrote 0.0806");
    run("move right");
    assert_null(ledger_mlp_here(&s, SIDE_B));
    assert_int_equal(session_block(&s), 1);
    assert_int_equal(session_head(&s), 0);
    run("move up 40");
    mlp = ledger_mlp_here(&s, SIDE_B);
    assert_true(mlp && mlp->layer == 3); /* the largest of all */
    run("move down");
    assert_int_equal(session_block(&s), 3);
    assert_int_equal(session_head(&s), 2);
    float last = INFINITY;
    run("move up 40");
    for (int i = 0; i < 20; i++) { /* each once, from the largest to the smallest */
        const Graph *g = session_graph(&s, SIDE_B);
        const LedgerEntry *e;
        int head;
        assert_true(ledger_tributary(g, session_ledger(&s, SIDE_B), ledger_here(&s, SIDE_B), &e, &head));
        float x = fabsf(
            session_peek(&s, SIDE_B, graph_node(g, head < 0 ? e->total : e->heads)->path)[head < 0 ? 0 : head]);
        assert_true(x < last);
        last = x;
        run("move down");
    }
    run("move up 40; in");
    assert_string_equal(s.place.path, "ledger.blocks.3.mlp.out_nobias");
    run("back; ablate");
    has(buf_str(&s.said), "Block 3 adds nothing from its MLP");
    run("undo; ledger off");
}

/* Every line of the table is printed: they add up to the sum that stands below them. */
static void adds_up(const char *table)
{
    double sum = 0, said = (double)NAN;
    int lines = 0;
    for (const char *at = table; at; at = strchr(at, '\n')) {
        char name[21];
        double value;
        at += *at == '\n';
        if (sscanf(at, "  %20[^\n]%lf", name, &value) != 2 || strncmp(at, "  ", 2) != 0)
            continue;
        if (strncmp(name, "sum ", 4) == 0) {
            said = value;
            break;
        }
        sum += value;
        lines++;
    }
    if (lines < 20 || !(fabs(sum - said) < 5e-6 * lines))
        fail_msg("%d lines add up to %g, not %g", lines, sum, said);
}

static void test_ledger_command(void **state)
{
    (void)state;
    run("ledger");
    assert_int_equal(s.place.screen, SCREEN_LEDGER);
    Buf table = {0};
    Err err = {""};
    assert_true(ledger_table(&s, SIDE_B, false, &table, false, &err));
    adds_up(buf_str(&table));
    has(buf_str(&table), "logits[o=star] − logits[o=arrow] = 7.54");
    has(buf_str(&table), "block 3 head 2");
    has(buf_str(&table), "remainder");
    run("block 2; head 0; say");
    has(buf_str(&s.said), "Head 0 of block 2 wrote 0.767");
    run("in");
    assert_int_equal(s.place.screen, SCREEN_EXPLAIN);
    has(s.place.path, "ledger.blocks.2.attn.z.heads");
    float alone = number_at("ledger.value");
    run("ledger star against=ring");
    buf_clear(&table);
    ledger_text(&s, &table);
    assert_string_equal(buf_str(&table), "logits[o=star] − logits[o=ring]");
    assert_true(number_at("ledger.value") > alone);
    run("ledger star against=none");
    assert_true(number_at("ledger.value") == number_at("where.answer"));
    run("ledger blocks.1.resid_post[t=r3c4,d=5]");
    assert_true(graph_find(session_graph(&s, SIDE_B), "ledger.blocks.2.attn.z") == NO_NODE);
    run("set precision bf16"); /* what is written is rounded: none is made, and it is said why */
    assert_false(ledger_table(&s, SIDE_B, false, &table, false, &err));
    has(err.text, "blocks.1.resid_post is rounded: `set precision f32` first");
    run("set precision f32");
    assert_true(ledger_table(&s, SIDE_B, false, &table, false, &err));
    buf_free(&table);
    refused("ledger probs[o=star]", "not a sum of what the blocks wrote");
    assert_string_equal(s.ledger.path, "blocks.1.resid_post"); /* the one before is in force */
    refused("ledger star against=star", "same class");
    refused("ledger star against=moon", "no class 'moon'");
    refused("ledger star moon", "no class 'moon'");
    refused("ledger star ring heart", "column 18");
    run("ledger off");
    assert_true(graph_find(session_graph(&s, SIDE_B), "ledger.value") == NO_NODE);
}

/* It stays with edits, gradients and both sides, and is gone and back with them. */
static void test_ledger_follows_edits(void **state)
{
    (void)state;
    Err err = {""};
    run("ledger star against=arrow");
    float before = number_at("ledger.value");
    run("gradient logits[o=star]");
    assert_true(number_at("ledger.value") == before);
    run("ablate blocks.1.attn.z[h=2]");
    float after = number_at("ledger.value");
    const float *a = session_need(&s, SIDE_A, "ledger.value", &err);
    assert_true(a && *a == before && after != before);
    assert_true(fabsf(number_at("ledger.remainder")) <= 1e-4f);
    const float *heads = session_need(&s, SIDE_B, "ledger.blocks.1.attn.z.heads", &err);
    assert_true(heads && heads[2] == 0 && heads[1] != 0);
    run("undo; gradient off");
    assert_true(number_at("ledger.value") == before);
    run("set precision bf16");
    assert_null(session_ledger(&s, SIDE_B));
    assert_non_null(session_ledger(&s, SIDE_A));
    has(exhibit_ledger(s.now)->why.text, "precision f32");
    run("set precision f32");
    assert_non_null(session_ledger(&s, SIDE_B));
    run("ledger off");
}

/* Between two that answer differently it opens with A's answer less B's; what is named stays what it is. */
static void test_ledger_of_two_answers(void **state)
{
    (void)state;
    Err err = {""};
    const float *a, *b;
    size_t own = 0, other = 0;
    run("open #66; set scale off; ledger");
    const Graph *g = session_graph(&s, SIDE_B);
    const size_t answers = graph_cells(g, graph_find(g, "logits"));
    a = session_need(&s, SIDE_A, "logits", &err);
    b = session_need(&s, SIDE_B, "logits", &err);
    assert_true(a && b);
    for (size_t i = 1; i < answers; i++) {
        own = a[i] > a[own] ? i : own;
        other = b[i] > b[other] ? i : other;
    }
    assert_int_not_equal(own, other);
    assert_int_equal(s.ledger.cell, own);
    assert_int_equal(s.ledger.against, other);
    assert_true(number_at("ledger.value") == b[own] - b[other]);
    a = session_need(&s, SIDE_A, "ledger.value", &err);
    assert_true(a && *a > 0 && number_at("ledger.value") < 0);
    run("ledger heart");
    assert_int_not_equal(s.ledger.cell, own);
    run("ledger off; undo; ledger"); /* one side: its answer less the next one */
    assert_int_equal(s.ledger.cell, own);
    assert_int_not_equal(s.ledger.against, other);
    run("ledger off; open #17");
}

/* The line that switches off what an entry of the table is; false for one that no single `ablate` takes out. */
static bool line_of(const char *part, char *line, size_t n)
{
    int block, head, end = 0;
    if (sscanf(part, "block %d head %d%n", &block, &head, &end) == 2 && !part[end])
        snprintf(line, n, "ablate blocks.%d.attn.z[h=%d,t=cls]", block, head);
    else if (end = 0, sscanf(part, "block %d MLP%n", &block, &end) == 1 && end && !part[end])
        snprintf(line, n, "ablate blocks.%d.mlp.out_nobias[t=cls]", block);
    else if (strcmp(part, "positions") == 0)
        snprintf(line, n, "ablate pos_embed");
    else
        return false;
    return true;
}

/* How many entries of the table were switched off one after the other; each moved the number by what stands there. */
static int taken_out(void)
{
    int count = 0;
    Err err = {""};
    Buf text = {0};
    assert_true(ledger_table(&s, SIDE_B, true, &text, true, &err));
    Json *j = parse(&text);
    const Json *entries = json_get(j, "entries");
    float before = number_at("ledger.value");
    for (int i = 0; i < (int)json_count(entries); i++) {
        const Json *e = json_at(entries, (size_t)i);
        const char *part = json_text(json_get(e, "part"), "");
        char line[128];
        double got;
        if (!line_of(part, line, sizeof line))
            continue;
        assert_true(json_number(json_get(e, "taken_out"), &got));
        run(line);
        const float *y = session_need(&s, SIDE_B, "logits", &err);
        float want = before - (y[s.ledger.cell] - y[s.ledger.against]);
        run("undo");
        if (!((float)got == want))
            fail_msg("%s: %.9g, ablated %.9g", part, got, (double)want);
        count++;
    }
    json_free(j);
    buf_free(&text);
    return count;
}

/* The column "taken out" is what `ablate` does with the same cells: every head and MLP of the model in the binary, its
 * positions too; as it is, and in runs that are edited already. */
static void test_effects_are_ablations(void **state)
{
    (void)state;
    static const char *const EDITS[] = {"", "set scale off", "skip mlp block=1", "ablate blocks.0.attn.z[h=3]"};
    run("ledger star against=arrow");
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        float before = number_at("ledger.value");
        if (*EDITS[i])
            run(EDITS[i]);
        assert_true((number_at("ledger.value") != before) == (i > 0));
        int count = taken_out();
        printf("after '%s': %d entries taken out\n", EDITS[i], count);
        assert_true(count >= 4 * 4 + 4 + 1 - 2); /* an edit may have taken one of them */
        if (*EDITS[i])
            run("undo");
    }
    run("ledger off");
}

/* Words that the screens say are in the glossary. */
static void test_glossary_has_the_words(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"absmax", "rank",      "H",     "nats",      "MSA",    "raw",
                                        "twin",   "occlusion", "FLOP",  "loss",      "GELU",   "held out",
                                        "lens",   "ledger",    "votes", "remainder", "frozen", "census"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        char line[64];
        snprintf(line, sizeof line, "glossary %s", WORDS[i]);
        assert_true(strlen(run(line)) > strlen(WORDS[i]) + 20);
    }
    Buf out = {0};
    command_complete(&s, &commands, "glossary occ", &out);
    assert_string_equal(buf_str(&out), "glossary occlusion\n");
    buf_free(&out);
    run("12");
    int total;
    assert_int_equal(session_step_number(&s, &total), 12);
    refused("q", "'quit'");
    refused("999", "there is no step");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_why_ends_at_the_picture),
        cmocka_unit_test(test_why_passes_over_what_is_the_same),
        cmocka_unit_test(test_vary),
        cmocka_unit_test(test_why_goes_to_the_river),
        cmocka_unit_test(a_vote_is_what_was_written_before),
        cmocka_unit_test(a_part_is_of_a_larger_whole),
        cmocka_unit_test(a_chain_is_kept),
        cmocka_unit_test(test_ledger_opens_on_the_largest_head),
        cmocka_unit_test(test_river_is_walked),
        cmocka_unit_test(test_ledger_command),
        cmocka_unit_test(test_ledger_follows_edits),
        cmocka_unit_test(test_ledger_of_two_answers),
        cmocka_unit_test(test_effects_are_ablations),
        cmocka_unit_test(test_glossary_has_the_words),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
