/* npy, versions 1 and 2: magic, version, header length, a Python dict literal of three keys, data.
 * Format: NEP 1, https://numpy.org/neps/nep-0001-npy-format.html */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/io/tensor_parts.h"

/* The three values, and where the scanner stands in the header's text, which ends with NUL. */
typedef struct Header {
    const char *at;
    char descr[32];
    bool fortran, seen_descr, seen_order, seen_shape;
    TensorInfo *t;
} Header;

static void skip_space(Header *h)
{
    while (*h->at == ' ' || *h->at == '\t')
        h->at++;
}

static bool take(Header *h, char c)
{
    skip_space(h);
    if (*h->at != c)
        return false;
    h->at++;
    return true;
}

static bool take_word(Header *h, const char *word)
{
    skip_space(h);
    size_t n = strlen(word);
    if (strncmp(h->at, word, n) != 0)
        return false;
    h->at += n;
    return true;
}

/* 'text' or "text" without escapes, shorter than n. */
static bool take_string(Header *h, char *out, size_t n)
{
    skip_space(h);
    char quote = *h->at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *from = h->at + 1, *to = strchr(from, quote);
    if (!to || (size_t)(to - from) >= n || memchr(from, '\\', (size_t)(to - from)))
        return false;
    memcpy(out, from, (size_t)(to - from));
    out[to - from] = 0;
    h->at = to + 1;
    return true;
}

static bool take_length(Header *h, size_t *out)
{
    skip_space(h);
    if (*h->at < '0' || *h->at > '9')
        return false;
    for (*out = 0; *h->at >= '0' && *h->at <= '9'; h->at++)
        if (!size_mul_ok(*out, 10, out) || !size_add_ok(*out, (size_t)(*h->at - '0'), out))
            return false;
    take(h, 'L'); /* Python 2 wrote long integers so */
    return true;
}

/* (), (3,), (3, 4): a comma must follow every length but the last of two or more. */
static bool take_shape(Header *h)
{
    TensorInfo *t = h->t;
    if (!take(h, '('))
        return false;
    bool comma = true;
    while (!take(h, ')')) {
        if (!comma || t->rank == TENSOR_RANK_MAX || !take_length(h, &t->shape[t->rank]))
            return false;
        t->rank++;
        comma = take(h, ',');
    }
    return t->rank == 1 ? comma : true;
}

static bool take_member(Header *h)
{
    char key[32];
    if (!take_string(h, key, sizeof key) || !take(h, ':'))
        return false;
    bool *seen = strcmp(key, "descr") == 0           ? &h->seen_descr
                 : strcmp(key, "fortran_order") == 0 ? &h->seen_order
                 : strcmp(key, "shape") == 0         ? &h->seen_shape
                                                     : NULL;
    if (!seen || *seen)
        return false;
    *seen = true;
    if (seen == &h->seen_descr)
        return take_string(h, h->descr, sizeof h->descr);
    if (seen == &h->seen_shape)
        return take_shape(h);
    h->fortran = take_word(h, "True");
    return h->fortran || take_word(h, "False");
}

static bool parse_dict(Header *h)
{
    if (!take(h, '{'))
        return false;
    bool comma = true;
    while (!take(h, '}')) {
        if (!comma || !take_member(h))
            return false;
        comma = take(h, ',');
    }
    skip_space(h);
    return h->seen_descr && h->seen_order && h->seen_shape && (*h->at == '\n' ? h->at[1] == 0 : *h->at == 0);
}

/* false: big-endian. Types that are not read become DT_OTHER. */
static bool type_of(const char *descr, Dtype *d)
{
    static const struct {
        char code[3];
        Dtype d;
    } types[] = {
        {"f8", DT_F64}, {"f4", DT_F32}, {"f2", DT_F16}, {"i8", DT_I64}, {"i4", DT_I32}, {"i2", DT_I16},
        {"i1", DT_I8},  {"u8", DT_U64}, {"u4", DT_U32}, {"u2", DT_U16}, {"u1", DT_U8},  {"b1", DT_BOOL},
    };
    *d = DT_OTHER;
    if (strchr("<>|", descr[0]) == NULL || !descr[0])
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(descr + 1, types[i].code) == 0)
            *d = types[i].d;
    if (*d != DT_OTHER && descr[0] == '|' && dtype_size(*d) > 1)
        *d = DT_OTHER;
    return *d == DT_OTHER || dtype_size(*d) == 1 || descr[0] == '<';
}

static bool bad_array(const char *path, const char *name, const char *problem, Err *err)
{
    TensorShown s;
    return err_set(err, "%s: array '%s': %s", tensor_shown(&s, path, name)->path, s.name, problem);
}

static bool parse_values(const char *path, const char *name, char *text, TensorInfo *t, Err *err)
{
    Header h = {.at = text, .t = t};
    t->rank = 0;
    if (!parse_dict(&h))
        return bad_array(path, name,
                         strstr(text, "'descr': [")
                             ? "has records, which are not read. Save one plain array per quantity."
                             : "its header can't be understood. Save it again with numpy.save.",
                         err);
    if (!type_of(h.descr, &t->dtype))
        return bad_array(path, name,
                         "is big-endian. Save it again as little-endian: numpy.save(name, a.astype('<f4')).", err);
    t->columns = h.fortran && t->rank > 1;
    if (!tensor_count(t))
        return bad_array(path, name,
                         "has a shape whose product overflows. The file is damaged or hostile: fetch it again.", err);
    return true;
}

bool npy_parse(const char *path, const char *name, const uint8_t *bytes, size_t n, uint64_t total, TensorInfo *t,
               Err *err)
{
    if (n < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return bad_array(path, name, "does not begin like a .npy file. Save it again with numpy.save.", err);
    if (bytes[6] < 1 || bytes[6] > 2)
        return bad_array(path, name,
                         "is of a .npy version other than 1 and 2. Save it again as a plain array of float32.", err);
    size_t start = bytes[6] == 1 ? 10 : 12, length = bytes[6] == 1 ? le16(bytes + 8) : le32(bytes + 8);
    if (length > NPY_HEADER_MAX - 12)
        return bad_array(path, name,
                         "its header is longer than numpy itself reads. The file is damaged: fetch it again.", err);
    if (start + length > n)
        return bad_array(path, name, "is cut short in its header. Fetch it again.", err);
    char *text = xmalloc(length + 1);
    memcpy(text, bytes + start, length);
    text[length] = 0;
    bool ok = strlen(text) == length
                  ? parse_values(path, name, text, t, err)
                  : bad_array(path, name, "its header contains a NUL. The file is damaged: fetch it again.", err);
    free(text);
    if (!ok)
        return false;
    size_t wanted = 0;
    t->offset = start + length;
    t->bytes = total - t->offset;
    if (t->dtype == DT_OTHER)
        return true;
    if (!size_mul_ok(t->cells, dtype_size(t->dtype), &wanted) || wanted > t->bytes)
        return bad_array(path, name, "has less data than its shape needs. The file is cut short: fetch it again.", err);
    if (wanted < t->bytes)
        return bad_array(path, name, "has data after its last number. Save one array per file.", err);
    return true;
}

static bool parse_file(int fd, const char *path, const char *name, uint64_t size, TensorInfo *t, Err *err)
{
    uint8_t head[NPY_HEADER_MAX];
    size_t n = size < sizeof head ? (size_t)size : sizeof head;
    return file_read_at(fd, path, head, n, 0, err) && npy_parse(path, name, head, n, size, t, err);
}

bool npy_read_header(TensorFile *f, Err *err)
{
    size_t cap = 0;
    TensorInfo t = {.name = "array"};
    return parse_file(f->fd, f->path, t.name, f->size, &t, err) && tensor_add(f, &cap, &t, err);
}

void npy_header(Buf *out, const TensorOut *t)
{
    enum { FIXED = 10, ALIGN = 64 };
    Buf dict = {0};
    buf_puts(&dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < t->rank; i++)
        buf_printf(&dict, "%s%zu", i ? ", " : "", t->shape[i]);
    buf_puts(&dict, t->rank == 1 ? ",), }" : "), }");
    while ((FIXED + dict.len + 1) % ALIGN)
        buf_putc(&dict, ' ');
    buf_putc(&dict, '\n');
    buf_add(out, "\x93NUMPY\1\0", 8);
    put_le(out, dict.len, 2);
    buf_add(out, dict.data, dict.len);
    buf_free(&dict);
}

static char *path_in(const char *folder, const char *name, const char *suffix)
{
    Buf b = {0};
    size_t n = strlen(folder);
    buf_printf(&b, "%s%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name, suffix);
    return b.data;
}

int npy_in_folder(const TensorFile *f, const TensorInfo *t, Err *err)
{
    char *path = path_in(f->path, t->name, ".npy");
    uint64_t size;
    int fd = file_open(path, &size, err);
    if (fd >= 0 && size != t->offset + t->bytes) {
        close(fd);
        fd = -1;
        bad_array(path, t->name, "has changed since the folder was opened. Open it again.", err);
    }
    free(path);
    return fd;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const TensorInfo *)a)->name, ((const TensorInfo *)b)->name);
}

static bool add_file(TensorFile *f, size_t *cap, const char *entry, Err *err)
{
    char *path = path_in(f->path, entry, ""), *name = xstrdup(entry);
    name[strlen(name) - strlen(".npy")] = 0;
    TensorInfo t = {.name = name};
    uint64_t size;
    int fd = file_open(path, &size, err);
    bool ok = fd >= 0 && parse_file(fd, path, name, size, &t, err) && tensor_add(f, cap, &t, err);
    if (fd >= 0)
        close(fd);
    free(path);
    free(name);
    return ok;
}

bool npy_folder(TensorFile *f, Err *err)
{
    TensorShown s;
    DIR *d = file_folder(f->path);
    if (!d)
        return err_set(err, "%s: this folder can't be read (%s). Change its rights with chmod u+rx.",
                       tensor_shown(&s, f->path, NULL)->path, strerror(errno));
    size_t cap = 0;
    bool ok = true;
    errno = 0;
    for (struct dirent *e; ok && (e = readdir(d)) != NULL; errno = 0) {
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".npy") == 0 && e->d_name[0] != '.')
            ok = add_file(f, &cap, e->d_name, err);
    }
    int code = ok ? errno : 0;
    closedir(d);
    if (code)
        return err_set(err, "%s: can't be listed (%s). Check the disk it lies on.",
                       tensor_shown(&s, f->path, NULL)->path, strerror(code));
    if (ok && !f->count)
        ok = err_set(err,
                     "%s: this folder holds no .npy files. Name a .safetensors or .npz file in it, or another folder.",
                     tensor_shown(&s, f->path, NULL)->path);
    if (ok)
        qsort(f->tensors, f->count, sizeof *f->tensors, by_name);
    return ok;
}
