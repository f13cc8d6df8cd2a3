/* libFuzzer: any words as a command line: options, the parts of a link, addresses. A word a line. */
#include <stdlib.h>
#include <string.h>

#include "core/session/address.h"
#include "tui/cli/link.h"
#include "tui/cli/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { WORDS = 24, BYTES_MAX = 2000 };

static void clean_line(const Err *err)
{
    if (!*err->text)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static Session s;
    static Commands commands;
    Err err = {{0}};
    if (!s.now) {
        if (!session_init(&s, "tests/data/oracle/tiny", "tests/data/oracle/tiny/image.ppm", 1, NULL, NULL, &err))
            abort();
        commands = session_command_set();
    }
    if (n > BYTES_MAX || memchr(bytes, 0, n))
        return 0;
    char text[BYTES_MAX + 1], *argv[WORDS + 2] = {(char[]){"vitrine"}};
    int argc = 1;
    memcpy(text, bytes, n);
    text[n] = 0;
    for (char *at = text; *at && argc <= WORDS;) {
        argv[argc++] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = 0;
    }
    Options o;
    if (options_parse(&o, argc, argv, &err)) {
        Link l;
        for (int first = 0; first < 2; first++) {
            if (!link_parse(&l, o.word, o.word_count, first ? LINK_ADDRESS : LINK_INPUT, &commands, &err))
                clean_line(&err);
            if (l.hash)
                link_hash_agrees(l.hash, 0x123456789abcdefu);
            link_free(&l);
        }
    } else
        clean_line(&err);
    options_free(&o);
    for (int i = 1; i < argc; i++) {
        Address a;
        Buf out = {0};
        const Graph *g = session_graph(&s, SIDE_B);
        if (!address_parse(&s, g, argv[i], &a, &err))
            clean_line(&err);
        else if (a.is_node) { /* what it means can be written and read again */
            NodeId node = graph_find(g, a.path);
            size_t cell = address_cell(&s, g, node, &a.cells);
            Address again;
            address_put(g, node, cell, &out);
            if (!address_parse(&s, g, buf_str(&out), &again, &err) || strcmp(again.path, a.path) != 0 ||
                address_cell(&s, g, node, &again.cells) != cell)
                abort();
        }
        buf_clear(&out);
        address_complete(&s, argv[i], &out);
        buf_free(&out);
    }
    return 0;
}
