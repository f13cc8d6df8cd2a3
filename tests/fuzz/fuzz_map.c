/* libFuzzer: any text as a --map: what a tensor's name then means are nodes that exist. The first line is the name. */
#include <stdlib.h>
#include <string.h>

#include "core/diff/diff_reference.h"
#include "core/session/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static Session s;
    Err err = {{0}};
    if (!s.now && !session_init(&s, NULL, "#17", 1, NULL, NULL, &err))
        abort();
    Buf text = {0};
    buf_add(&text, bytes, n);
    const char *name = buf_str(&text);
    char *end = n ? strchr(text.data, '\n') : NULL;
    const char *lines = end ? end + 1 : "";
    if (end)
        *end = 0;
    DiffMap map = {.count = 0};
    DiffTarget to[DIFF_PARTS];
    const Graph *g = session_graph(&s, SIDE_B);
    bool ok = diff_map_parse(&map, "fuzz", lines, g, &err);
    if (!ok && (!*err.text || map.count))
        abort();
    int parts = diff_name_targets(ok ? &map : NULL, g, name, to);
    if (parts > DIFF_PARTS)
        abort();
    for (int i = 0; i < parts; i++)
        if (to[i].node < 0 || to[i].node >= g->count || to[i].part < 0 || to[i].part >= to[i].parts)
            abort();
    diff_map_free(&map);
    buf_free(&text);
    return 0;
}
