/* npz: a zip of .npy members, stored or deflated. The central directory at the end is the truth; each local header must
 * agree with it, members must not overlap. Of a member its beginning is read when the file is opened, the rest when its
 * numbers are wanted, in pieces; its checksum is tested when all of it was read. Format: PKWARE APPNOTE 6.3. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/io/tensor_parts.h"

enum {
    LOCAL = 30,
    CENTRAL = 46,
    END = 22,
    END64 = 56,
    LOCATOR64 = 20,
    EXTRA64 = 1, /* the extra field that holds what does not fit 32 bits */
    MEMBERS_MAX = 1000000,
    COMMENT_MAX = 65535,
    DIRECTORY_MAX = 64 << 20,
    CHUNK = 1 << 16,
    HEAD_AHEAD = 1 << 12,
    STORED = 0,
    DEFLATED = 8,
    DEFLATE_RATIO_MAX = 1032, /* what deflate can reach at all */
};

/* A member of the zip; those of arrays live in the file's arena. */
typedef struct NpzMember {
    char *name;    /* with .npy; in the arena */
    size_t length; /* bytes of the name */
    unsigned method, flags;
    uint32_t crc;
    uint64_t packed, size;
    uint64_t at, data; /* local header, first byte of the data */
    uint32_t header;   /* bytes of the .npy header, which come before the numbers */
} Member;

static bool bad_zip(const TensorFile *f, const char *problem, Err *err)
{
    TensorShown s;
    return err_set(err, "%s: as a zip file it %s. The file is damaged or hostile: fetch it again.",
                   tensor_shown(&s, f->path, NULL)->path, problem);
}

static bool bad_member(const TensorFile *f, const Member *m, const char *problem, Err *err)
{
    TensorShown s;
    return err_set(err, "%s: member '%s' %s", tensor_shown(&s, f->path, m->name)->path, s.name, problem);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

/* The end record: the last place whose comment reaches exactly to the end of the file. */
static bool find_end(const TensorFile *f, uint8_t record[END], uint64_t *at, Err *err)
{
    size_t n = f->size < END + COMMENT_MAX ? (size_t)f->size : END + COMMENT_MAX;
    uint8_t *tail = xmalloc(n);
    bool found = false, ok = file_read_at(f->fd, f->path, tail, n, f->size - n, err);
    for (size_t i = n < END ? 0 : n - END + 1; ok && !found && i-- > 0;)
        if (le32(tail + i) == 0x06054b50 && le16(tail + i + 20) == n - END - i) {
            memcpy(record, tail + i, END);
            *at = f->size - n + i;
            found = true;
        }
    free(tail);
    return found || (ok && bad_zip(f, "has no directory at its end, so the download probably stopped early", err));
}

/* Where the directory is, and how much of it there is. */
typedef struct Directory {
    uint64_t entries, bytes, begin, end;
} Directory;

/* The same from the end record of 64 bits, which stands in front of its locator, which stands in front of the end
 * record at `at` (APPNOTE 4.3.14, 4.3.15). */
static bool find_end64(const TensorFile *f, uint64_t at, Directory *d, Err *err)
{
    uint8_t locator[LOCATOR64], record[END64];
    if (at < LOCATOR64 + END64)
        return bad_zip(f, "is too short for the zip64 file that it claims to be", err);
    if (!file_read_at(f->fd, f->path, locator, sizeof locator, at - LOCATOR64, err))
        return false;
    uint64_t place = le64(locator + 8);
    if (le32(locator) != 0x07064b50 || le32(locator + 4) || place > at - LOCATOR64 - END64)
        return bad_zip(f, "has no zip64 record where it claims one", err);
    if (!file_read_at(f->fd, f->path, record, sizeof record, place, err))
        return false;
    uint64_t length = le64(record + 4);
    if (le32(record) != 0x06064b50 || le32(record + 16) || le32(record + 20) || length < END64 - 12 ||
        length != at - LOCATOR64 - place - 12 || le64(record + 24) != le64(record + 32))
        return bad_zip(f, "has a zip64 record that contradicts itself", err);
    *d = (Directory){le64(record + 32), le64(record + 40), le64(record + 48), place};
    return true;
}

static bool has_locator(const TensorFile *f, uint64_t at)
{
    uint8_t word[4];
    Err err;
    return at >= LOCATOR64 + END64 && file_read_at(f->fd, f->path, word, sizeof word, at - LOCATOR64, &err) &&
           le32(word) == 0x07064b50;
}

/* The directory's bytes, which the caller frees; NULL and err when the end record is wrong. */
static uint8_t *read_directory(TensorFile *f, size_t *bytes, size_t *entries, uint64_t *begin, Err *err)
{
    uint8_t record[END];
    uint64_t at = 0;
    if (f->size < END) {
        bad_zip(f, "is too short", err);
        return NULL;
    }
    if (!find_end(f, record, &at, err))
        return NULL;
    const Directory small = {le16(record + 10), le32(record + 12), le32(record + 16), at};
    Directory d = small;
    bool large = d.entries == 0xffff || d.begin == 0xffffffff || d.bytes == 0xffffffff;
    if ((large || has_locator(f, at)) && !find_end64(f, at, &d, err)) /* PyTorch writes it whatever the size */
        return NULL;
    if (!large && (d.entries != small.entries || d.bytes != small.bytes || d.begin != small.begin)) {
        bad_zip(f, "has two directories", err);
        return NULL;
    }
    if (le16(record + 4) || le16(record + 6) || le16(record + 8) != le16(record + 10) || d.bytes > d.end ||
        d.begin != d.end - d.bytes || d.bytes > DIRECTORY_MAX || d.entries > MEMBERS_MAX) {
        bad_zip(f, "has a directory that contradicts itself", err);
        return NULL;
    }
    *entries = (size_t)d.entries;
    *bytes = (size_t)d.bytes;
    *begin = d.begin;
    uint8_t *directory = xmalloc(*bytes);
    if (file_read_at(f->fd, f->path, directory, *bytes, *begin, err))
        return directory;
    free(directory);
    return NULL;
}

/* What does not fit 32 bits stands in an extra field, in this order and only where the short field is all ones
 * (APPNOTE 4.5.3). */
static bool parse_extra64(const TensorFile *f, const uint8_t *p, size_t n, Member *m, Err *err)
{
    uint64_t *const wanted[] = {&m->size, &m->packed, &m->at};
    bool any = false;
    for (size_t i = 0; i < 3; i++)
        any |= *wanted[i] == 0xffffffff;
    if (!any)
        return true;
    for (size_t at = 0, length; any && n - at >= 4; at += 4 + length) {
        length = le16(p + at + 2);
        if (length > n - at - 4)
            break;
        if (le16(p + at) != EXTRA64)
            continue;
        const uint8_t *from = p + at + 4, *end = from + length;
        for (size_t i = 0; i < 3; i++)
            if (*wanted[i] == 0xffffffff) {
                if (end - from < 8)
                    return bad_member(f, m, "lacks its size in 64 bits (zip64). The file is damaged: fetch it again.",
                                      err);
                *wanted[i] = le64(from);
                from += 8;
            }
        any = false;
    }
    if (any)
        return bad_member(f, m, "lacks its size in 64 bits (zip64). The file is damaged: fetch it again.", err);
    return (m->at <= f->size && m->packed <= f->size && m->size <= (uint64_t)1 << 50) ||
           bad_member(f, m, "claims to be larger than the file. The file is damaged or hostile: fetch it again.", err);
}

/* One entry of the directory at p[left]; its length, or 0 and err. */
static size_t parse_entry(TensorFile *f, const uint8_t *p, size_t left, Member *m, Err *err)
{
    if (left < CENTRAL || le32(p) != 0x02014b50)
        return bad_zip(f, "has a damaged directory", err);
    size_t name = le16(p + 28), length = CENTRAL + name + le16(p + 30) + le16(p + 32);
    if (length > left)
        return bad_zip(f, "has a directory that is cut short", err);
    if (name > TENSOR_NAME_MAX + 4 || memchr(p + CENTRAL, 0, name))
        return bad_zip(f, "has a member whose name is too long or contains a NUL", err);
    *m = (Member){.name = arena_alloc(&f->arena, name + 1),
                  .length = name,
                  .flags = le16(p + 8),
                  .method = le16(p + 10)};
    memcpy(m->name, p + CENTRAL, name);
    m->crc = le32(p + 16);
    m->packed = le32(p + 20);
    m->size = le32(p + 24);
    m->at = le32(p + 42);
    if (le16(p + 34)) {
        bad_member(f, m, "is on another disk. Save the tensors as one file.", err);
        return 0;
    }
    return parse_extra64(f, p + CENTRAL + name, le16(p + 30), m, err) ? length : 0;
}

static int by_place(const void *a, const void *b)
{
    const Member *m = a, *o = b;
    return m->at < o->at ? -1 : m->at > o->at;
}

/* Finds where the data begin; `end` is where the next member or the directory begins. */
static bool check_local(const TensorFile *f, Member *m, uint64_t end, Err *err)
{
    uint8_t head[LOCAL + TENSOR_NAME_MAX + 4];
    if (m->at + LOCAL + m->length > end)
        return bad_member(f, m, "overlaps what follows it. The file is damaged or hostile: fetch it again.", err);
    if (!file_read_at(f->fd, f->path, head, LOCAL + m->length, m->at, err))
        return false;
    if (le32(head) != 0x04034b50 || le16(head + 8) != m->method || le16(head + 26) != m->length ||
        memcmp(head + LOCAL, m->name, m->length) != 0)
        return bad_member(f, m,
                          "is described differently in the directory and in its place. The file is damaged or hostile: "
                          "fetch it again.",
                          err);
    m->data = m->at + LOCAL + m->length + le16(head + 28);
    if (m->data + m->packed > end)
        return bad_member(f, m, "overlaps what follows it. The file is damaged or hostile: fetch it again.", err);
    return true;
}

static bool check_kind(const TensorFile *f, const Member *m, Err *err)
{
    if (m->flags & 1)
        return bad_member(f, m, "is encrypted. Save it without a password.", err);
    if (m->method == STORED)
        return m->packed == m->size
                   ? true
                   : bad_member(f, m, "is stored but its two sizes differ. The file is damaged: fetch it again.", err);
    if (m->method != DEFLATED)
        return bad_member(
            f, m, "is packed by a method other than deflate. Save it with numpy.savez or numpy.savez_compressed.", err);
    if (m->packed < m->size / DEFLATE_RATIO_MAX)
        return bad_member(f, m,
                          "claims a size that deflate can't reach. The file is damaged or hostile: fetch it again.",
                          err);
    return true;
}

/* A member as it is read from its beginning on. */
struct NpzStream {
    const TensorFile *f;
    const Member *m;
    z_stream z;
    uint64_t taken, made; /* bytes of the file, of the member */
    uLong crc;
    size_t ahead; /* how much of the file to take at once */
    uint8_t in[CHUNK];
};

static NpzStream *stream_begin(const TensorFile *f, const Member *m, size_t ahead)
{
    NpzStream *s = xcalloc(1, sizeof *s);
    s->f = f;
    s->m = m;
    s->ahead = ahead;
    s->crc = crc32(0, NULL, 0);
    if (m->method == DEFLATED && inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
        die("out of memory while inflating. Close other programs.");
    return s;
}

static bool not_what_it_should_be(const NpzStream *s, Err *err)
{
    return bad_member(s->f, s->m, "can't be inflated to what it should be. The file is damaged: fetch it again.", err);
}

/* Inflates up to n bytes to out; fewer where the packed data end. *got says how many. */
static bool inflate_some(NpzStream *s, uint8_t *out, size_t n, size_t *got, Err *err)
{
    int state = Z_OK;
    s->z.next_out = out;
    s->z.avail_out = (uInt)n;
    while (state == Z_OK && s->z.avail_out) {
        if (stop_asked())
            return stop_refuse(err);
        if (!s->z.avail_in && s->taken < s->m->packed) {
            uint64_t left = s->m->packed - s->taken;
            size_t take = left < s->ahead ? (size_t)left : s->ahead;
            if (!file_read_at(s->f->fd, s->f->path, s->in, take, s->m->data + s->taken, err))
                return false;
            s->z.next_in = s->in;
            s->z.avail_in = (uInt)take;
            s->taken += take;
        }
        state = inflate(&s->z, Z_NO_FLUSH);
    }
    if (state == Z_MEM_ERROR)
        die("out of memory while inflating. Close other programs.");
    *got = n - s->z.avail_out;
    return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR || not_what_it_should_be(s, err);
}

/* The next n bytes of the member. */
static bool stream_read(NpzStream *s, uint8_t *out, size_t n, Err *err)
{
    const Member *m = s->m;
    size_t got = n;
    REQUIRE(n <= m->size - s->made);
    if (m->method == DEFLATED) {
        if (!inflate_some(s, out, n, &got, err))
            return false;
    } else if (stop_asked()) {
        return stop_refuse(err);
    } else if (!file_read_at(s->f->fd, s->f->path, out, n, m->data + s->made, err)) {
        return false;
    }
    if (got < n)
        return not_what_it_should_be(s, err);
    s->crc = crc32(s->crc, out, (uInt)n);
    s->made += n;
    return true;
}

/* After the last byte: nothing may follow, and the checksum must be right. */
static bool stream_check(NpzStream *s, Err *err)
{
    uint8_t more;
    size_t got = 0;
    if (s->m->method == DEFLATED) {
        if (!inflate_some(s, &more, 1, &got, err))
            return false;
        if (got || s->taken != s->m->packed || s->z.avail_in || s->crc != s->m->crc)
            return not_what_it_should_be(s, err);
    }
    return s->crc == s->m->crc ||
           bad_member(s->f, s->m, "does not match its checksum. The file is damaged: fetch it again.", err);
}

void npz_end(NpzStream *s)
{
    if (s && s->m->method == DEFLATED)
        inflateEnd(&s->z);
    free(s);
}

NpzStream *npz_begin(const TensorFile *f, const TensorInfo *t, Err *err)
{
    uint8_t header[NPY_HEADER_MAX];
    NpzStream *s = stream_begin(f, t->member, CHUNK);
    if (stream_read(s, header, t->member->header, err))
        return s;
    npz_end(s);
    return NULL;
}

bool npz_next(NpzStream *s, void *out, size_t n, Err *err)
{
    return stream_read(s, out, n, err) && (s->made < s->m->size || stream_check(s, err));
}

/* The member's beginning; all of it, with its checksum, where that is no more. */
static bool read_head(const TensorFile *f, const Member *m, uint8_t *head, size_t n, Err *err)
{
    NpzStream *s = stream_begin(f, m, HEAD_AHEAD);
    bool ok = stream_read(s, head, n, err) && (n < m->size || stream_check(s, err));
    npz_end(s);
    return ok;
}

static bool add_member(TensorFile *f, size_t *cap, Member *m, Err *err)
{
    uint8_t head[NPY_HEADER_MAX];
    size_t n = m->size < sizeof head ? (size_t)m->size : sizeof head;
    if (!read_head(f, m, head, n, err))
        return false;
    m->name[m->length - 4] = 0;
    TensorInfo t = {.name = m->name};
    if (!npy_parse(f->path, m->name, head, n, m->size, &t, err))
        return false;
    m->header = (uint32_t)t.offset;
    Member *kept = arena_alloc(&f->arena, sizeof *kept);
    *kept = *m;
    t.member = kept;
    t.offset += m->data;
    return tensor_add(f, cap, &t, err);
}

static bool add_members(TensorFile *f, Member *m, size_t n, uint64_t begin, Err *err)
{
    size_t cap = 0;
    f->nameless = true;
    if (n)
        qsort(m, n, sizeof *m, by_place);
    for (size_t i = 0; i < n; i++)
        if (ends_with(m[i].name, "/constants.pkl"))
            return script_refused(f->path, err);
    for (size_t i = 0; i < n; i++)
        if (ends_with(m[i].name, "data.pkl"))
            return pickle_refused(f->path, err);
    for (size_t i = 0; i < n; i++)
        if (!check_local(f, &m[i], i + 1 < n ? m[i + 1].at : begin, err))
            return false;
    for (size_t i = 0; i < n; i++)
        if (ends_with(m[i].name, ".npy") && (!check_kind(f, &m[i], err) || !add_member(f, &cap, &m[i], err)))
            return false;
    TensorShown s;
    return f->count ? true
                    : err_set(err, "%s: is a zip file without .npy members. Take a .safetensors, .npz or .npy file.",
                              tensor_shown(&s, f->path, NULL)->path);
}

bool npz_read_headers(TensorFile *f, Err *err)
{
    size_t bytes, entries;
    uint64_t begin;
    uint8_t *directory = read_directory(f, &bytes, &entries, &begin, err);
    if (!directory)
        return false;
    Member *m = xcalloc(entries, sizeof *m);
    size_t at = 0, n = 0;
    for (size_t step = 1; n < entries && step; at += step, n += step != 0)
        step = parse_entry(f, directory + at, bytes - at, &m[n], err);
    bool ok = n == entries;
    if (ok && at != bytes)
        ok = bad_zip(f, "has bytes in its directory that belong to no member", err);
    ok = ok && add_members(f, m, n, begin, err);
    free(m);
    free(directory);
    return ok;
}
