#include "core/io/json.h"
#include "core/train/grammar.h"
#include "tui/cli/translate.h"

static void put_ids(const char *key, const int *id, int n, Buf *out)
{
    json_open(out, key, '[');
    for (int i = 0; i < n; i++)
        json_put(out, NULL, "%d", id[i]);
    buf_putc(out, ']');
}

void request_json(const Request *r, Buf *out)
{
    const DecodeCost *c = &r->d.cost;
    Buf text = {0};
    request_answer(r, &text);
    json_open(out, NULL, '{');
    json_open(out, "source", '[');
    for (int i = 0; i < r->source.n; i++)
        json_put_text(out, NULL, r->source.label[i]);
    buf_putc(out, ']');
    put_ids("source_ids", r->source.number, r->source.n, out);
    if (r->begin.n)
        put_ids("begin_ids", r->begin.number, r->begin.n, out);
    put_ids("ids", r->d.word, r->d.length, out);
    json_put_text(out, "left_out", r->source.left_out);
    json_put_text(out, "text", buf_str(&text));
    buf_clear(&text);
    if (r->model.trained)
        grammar_outside(&r->model, r->source.number, r->source.n, false, &text);
    json_put_text(out, "note", buf_str(&text));
    json_put_bool(out, "cut", decode_cut(&r->d));
    json_put_bool(out, "stopped", r->d.stopped);
    json_put_bool(out, "full", r->fills && decode_cut(&r->d));
    buf_free(&text);
    work_json_changes(r->w, out);
    json_open(out, "nodes", '[');
    for (int i = 0; i < r->d.count; i++) {
        const DecodeNode *n = &r->d.node[i];
        json_open(out, NULL, '{');
        json_put_text(out, "word", request_word(r, n->word, (char[16]){0}));
        json_put(out, "id", "%d", n->word);
        json_put(out, "parent", "%d", n->parent);
        json_put(out, "share", "%.9g", n->share);
        if (n->parent >= 0 && r->d.node[n->parent].draw) /* by the options; share is at temperature 1 */
            json_put(out, "drawn", "%.9g", r->d.node[n->parent].draw->taken);
        json_put(out, "log_share", "%.9g", n->log_share);
        json_put(out, "score", "%.9g", n->score);
        json_put_bool(out, "ended", n->ended && !n->cut);
        json_put_bool(out, "cut", n->cut);
        json_put_bool(out, "forced", n->forced);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    json_put(out, "best", "%d", r->d.best);
    json_put(out, "steps", "%d", c->steps);
    json_put(out, "multiply_adds", "%.0f", c->multiply_adds);
    json_put(out, "bytes", "%.0f", c->bytes);
    json_put(out, "cache_bytes", "%.0f", c->cache_bytes);
    json_put_bool(out, "trained", r->model.trained);
    buf_puts(out, "}\n");
}
