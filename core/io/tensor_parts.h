/* What the files behind tensors.h share. Nobody else includes it. */
#ifndef VITRINE_IO_TENSOR_PARTS_H
#define VITRINE_IO_TENSOR_PARTS_H
#include "core/base/file.h"
#include "core/io/tensors.h"

enum { TENSORS_MAX = 100000, TENSOR_NAME_MAX = 1024, PATH_SHOWN = 160, TENSOR_SHOWN = 120 };

/* Room for a file's and a tensor's name in a message, cleaned and cut. */
typedef struct TensorShown {
    char path[PATH_SHOWN], name[TENSOR_SHOWN];
} TensorShown;
const TensorShown *tensor_shown(TensorShown *s, const char *path, const char *name);

/* Little-endian numbers in bytes. */
uint16_t le16(const uint8_t *p);
uint32_t le32(const uint8_t *p);
uint64_t le64(const uint8_t *p);
void put_le(Buf *out, uint64_t v, int bytes);
void put_floats(uint8_t *out, const float *in, size_t n); /* 4·n bytes */

/* n cells of type d (not DT_OTHER) from bytes. */
void dtype_to_f32(Dtype d, const uint8_t *bytes, size_t n, float *out);
void dtype_to_f64(Dtype d, const uint8_t *bytes, size_t n, double *out);
/* By the name that safetensors gives it: DT_OTHER with its width in bits for types that are known but not read; *type:
 * the name, for good. */
bool dtype_named(const char *name, Dtype *d, const char **type, unsigned *bits);

/* Appends a tensor: the struct is copied, the name too. Refuses empty and long names and too many tensors. */
bool tensor_add(TensorFile *f, size_t *cap, const TensorInfo *t, Err *err);
/* Bytes of the file, wherever it is. */
bool tensor_read_at(const TensorFile *f, void *out, size_t n, uint64_t offset, Err *err);
/* Product of the shape into t->cells; false when it overflows. */
bool tensor_count(TensorInfo *t);
/* Sorts the finished list by name for tensors_find; false when two tensors have the same name. */
bool tensors_index(TensorFile *f, Err *err);

/* The file that a tensor lies in: f itself unless that is several. */
const TensorFile *tensor_shard(const TensorFile *f, const TensorInfo *t);

/* The readers: path, fd and size are set; they fill tensors, count and metadata. */
bool safetensors_read_header(TensorFile *f, Err *err);
bool npz_read_headers(TensorFile *f, Err *err);
/* The numbers of a tensor in a zip, from the first on: NULL and err when they can't be had. */
typedef struct NpzStream NpzStream;
NpzStream *npz_begin(const TensorFile *f, const TensorInfo *t, Err *err);
/* The next n bytes of them, at most as many as there are; with the last the checksum is tested. */
bool npz_next(NpzStream *s, void *out, size_t n, Err *err);
void npz_end(NpzStream *s); /* NULL is allowed */
bool npy_read_header(TensorFile *f, Err *err);
bool npy_folder(TensorFile *f, Err *err);
/* Opens the file of one tensor of a folder; -1 and err when it is gone or has changed. */
int npy_in_folder(const TensorFile *f, const TensorInfo *t, Err *err);
/* The message for PyTorch files, with the command that converts them; returns false. */
bool pickle_refused(const char *path, Err *err);
/* The same for a TorchScript archive, as OpenAI ships CLIP. */
bool script_refused(const char *path, Err *err);

enum { NPY_HEADER_MAX = 10000 + 12 }; /* numpy's own limit */
/* The header at bytes[n] of an array of `total` bytes in all. Sets all but the name; offset is counted from the
 * header's first byte. */
bool npy_parse(const char *path, const char *name, const uint8_t *bytes, size_t n, uint64_t total, TensorInfo *t,
               Err *err);
void npy_header(Buf *out, const TensorOut *t);

/* Where a writer's bytes go: exactly one of the first two is set; and where values come from that the tensors don't
 * have. */
typedef struct Sink {
    Buf *memory;
    FileOut *file;
    const TensorOut *tensors; /* the first of all */
    TensorValues *values;
    void *context;
} Sink;
/* A tensor's values, to be asked for once; NULL with err. */
const float *sink_values(Sink *s, const TensorOut *t, Err *err);
bool sink_bytes(Sink *s, const void *data, size_t n, Err *err);
bool sink_floats(Sink *s, const float *data, size_t n, Err *err);
bool safetensors_write(Sink *s, const TensorOut *tensors, size_t count, const char *const *metadata, Err *err);
size_t tensor_cells(const TensorOut *t);
#endif
