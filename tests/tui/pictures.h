/* A terminal's side of the pictures (term_graphics.h): reads what was sent, keeps the pictures as pixels. */
#ifndef VITRINE_TESTS_TUI_PICTURES_H
#define VITRINE_TESTS_TUI_PICTURES_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/buf.h"

enum { PICTURES = 256 };

typedef struct Picture {
    unsigned id;
    int w, h, columns, rows;
    uint8_t *rgba; /* NULL: none */
} Picture;

typedef struct Pictures {
    Picture picture[PICTURES];
    int sent, deleted; /* commands */
    Buf data;          /* base64 of the one that comes in pieces */
    Picture coming;
} Pictures;

static Picture *picture_find(Pictures *p, unsigned id)
{
    for (int i = 0; i < PICTURES; i++)
        if (p->picture[i].rgba && p->picture[i].id == id)
            return &p->picture[i];
    return NULL;
}

/* The number behind key=, or `none`. */
static long picture_key(const char *control, char key, long none)
{
    for (const char *at = control; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (at[0] == key && at[1] == '=')
            return strtol(at + 2, NULL, 10);
    return none;
}

static size_t picture_decode(const char *text, uint8_t *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    unsigned bits = 0, have = 0;
    for (; *text && *text != '='; text++) {
        bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
        have += 6;
        if (have >= 8)
            out[n++] = (uint8_t)(bits >> (have -= 8));
    }
    return n;
}

static void picture_drop(Pictures *p, unsigned id)
{
    Picture *old = picture_find(p, id);
    if (old) {
        free(old->rgba);
        *old = (Picture){.id = 0};
    }
}

/* All of it is there. False where it is not what was announced. */
static bool picture_keep(Pictures *p)
{
    Picture *to = NULL, made = p->coming;
    uint8_t *packed = malloc(p->data.len + 1);
    size_t n = picture_decode(buf_str(&p->data), packed);
    uLongf size = 4ul * (unsigned long)made.w * (unsigned long)made.h, got = size;
    made.rgba = malloc(size + 1);
    bool ok = uncompress(made.rgba, &got, packed, n) == Z_OK && got == size;
    free(packed);
    picture_drop(p, made.id);
    for (int i = 0; i < PICTURES && !to; i++)
        to = p->picture[i].rgba ? NULL : &p->picture[i];
    buf_clear(&p->data);
    if (!ok || !to) {
        free(made.rgba);
        return false;
    }
    *to = made;
    return true;
}

static bool picture_command(Pictures *p, char *text)
{
    char *data = strchr(text, ';');
    if (data)
        *data++ = 0;
    if (strstr(text, "a=q"))
        return true;
    if (strstr(text, "a=d")) {
        picture_drop(p, (unsigned)picture_key(text, 'i', 0));
        p->deleted++;
        return strstr(text, "d=I") != NULL;
    }
    if (strstr(text, "a=T")) {
        p->sent++;
        p->coming = (Picture){.id = (unsigned)picture_key(text, 'i', 0),
                              .w = (int)picture_key(text, 's', 0),
                              .h = (int)picture_key(text, 'v', 0),
                              .columns = (int)picture_key(text, 'c', 0),
                              .rows = (int)picture_key(text, 'r', 0)};
        if (!strstr(text, "U=1") || !strstr(text, "f=32") || !strstr(text, "o=z"))
            return false;
    }
    if (!data || strlen(data) > 4096 || picture_key(text, 'q', 0) != 2)
        return false; /* unasked-for answers would be keys */
    buf_puts(&p->data, data);
    return picture_key(text, 'm', 0) || picture_keep(p);
}

/* Every command in the bytes; those that tmux hands on when wrapped. False at one that is not well made. */
static bool pictures_read(Pictures *p, const char *bytes, size_t n, bool wrapped)
{
    const char *begin = wrapped ? "\033Ptmux;\033\033_G" : "\033_G", *end = wrapped ? "\033\033\\\033\\" : "\033\\";
    for (size_t i = 0; i < n; i++) {
        if (n - i < strlen(begin) || memcmp(bytes + i, begin, strlen(begin)) != 0)
            continue;
        i += strlen(begin);
        size_t to = i;
        while (to < n && bytes[to] != 27)
            to++;
        if (n - to < strlen(end) || memcmp(bytes + to, end, strlen(end)) != 0)
            return false;
        char *text = strndup(bytes + i, to - i);
        bool ok = picture_command(p, text);
        free(text);
        if (!ok)
            return false;
        i = to + strlen(end) - 1;
    }
    return p->data.len == 0;
}

static int pictures_count(const Pictures *p)
{
    int count = 0;
    for (int i = 0; i < PICTURES; i++)
        count += p->picture[i].rgba != NULL;
    return count;
}

static void pictures_free(Pictures *p)
{
    for (int i = 0; i < PICTURES; i++)
        free(p->picture[i].rgba);
    buf_free(&p->data);
    *p = (Pictures){.sent = 0};
}
#endif
