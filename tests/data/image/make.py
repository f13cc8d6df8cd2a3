#!/usr/bin/python3
"""Writes small pictures of every kind that is read, each with the pixels Pillow sees in it (NAME.EXT and NAME.EXT.pnm). Run in this
folder. What Pillow can't write (low bit depths, interlacing, rare BMP headers) is packed by hand; Pillow still reads it."""
import io
import struct
import zlib

from PIL import Image, ImageOps

W, H = 13, 11
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def noise(n, seed=1):
    out = bytearray()
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(seed >> 16 & 255)
    return bytes(out)


def smooth(w, h):
    im = Image.new("RGB", (w, h))
    im.putdata([(255 * x // w, 255 * y // h, 255 - 160 * (x + y) // (w + h)) for y in range(h) for x in range(w)])
    return im


def flat(im):
    """What the reader promises: grey stays grey, all else is RGB, alpha lies on white."""
    if "A" in im.mode or "transparency" in im.info:
        grey = im.mode in ("L", "LA", "1")
        im = im.convert("RGBA")
        im = Image.alpha_composite(Image.new("RGBA", im.size, "white"), im).convert("RGB")
        return im.getchannel(0) if grey else im
    return im.convert("L" if im.mode in ("1", "L") else "RGB")


def keep(name, data, expected=None):
    open(name, "wb").write(data)
    if expected is None:
        expected = flat(Image.open(io.BytesIO(data)))
    expected.save(name + ".pnm", "PPM")


def saved(im, form, **options):
    b = io.BytesIO()
    im.save(b, form, **options)
    return b.getvalue()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(colour, depth, samples, interlaced=False, before=b""):
    """samples: rows of lists of tuples"""
    def rows(x0, y0, dx, dy):
        out = b""
        for y in range(y0, H, dy):
            row = [samples[y][x] for x in range(x0, W, dx)]
            if row:
                bits = "".join(format(v, "0%db" % depth) for pixel in row for v in pixel)
                bits += "0" * (-len(bits) % 8)
                out += b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        return out
    raw = b"".join(rows(*p) for p in ADAM7) if interlaced else rows(0, 0, 1, 1)
    header = struct.pack(">IIBBBBB", W, H, depth, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def samples(depth, channels):
    data = iter(noise(W * H * channels * 2, depth))
    return [[tuple((next(data) << 8 | next(data)) >> (16 - depth) for _ in range(channels)) for _ in range(W)] for _ in range(H)]


def high_bytes(s, mode):
    im = Image.new(mode, (W, H))
    im.putdata([v[0] >> 8 if mode == "L" else tuple(c >> 8 for c in v) for row in s for v in row])
    return im


rgb = Image.frombytes("RGB", (W, H), noise(W * H * 3))
rgba = Image.frombytes("RGBA", (W, H), noise(W * H * 4))
grey = Image.frombytes("L", (W, H), noise(W * H))
keep("rgb8.png", saved(rgb, "PNG"))
keep("rgba8.png", saved(rgba, "PNG"))
keep("grey8.png", saved(grey, "PNG"))
keep("greya8.png", saved(Image.frombytes("LA", (W, H), noise(W * H * 2)), "PNG"))
for depth in (1, 2, 4):
    keep("grey%d.png" % depth, png(0, depth, samples(depth, 1)))
for colour, channels, name in ((0, 1, "grey16"), (2, 3, "rgb16"), (6, 4, "rgba16")):
    s = samples(16, channels)
    keep(name + ".png", png(colour, 16, s), flat(high_bytes(s, {1: "L", 3: "RGB", 4: "RGBA"}[channels])))
for depth in (1, 2, 4, 8):
    palette = chunk(b"PLTE", noise(3 << depth, 9))
    keep("palette%d.png" % depth, png(3, depth, samples(depth, 1), False, palette))
    keep("palette%d_clear.png" % depth, png(3, depth, samples(depth, 1), False, palette + chunk(b"tRNS", noise(1 << depth, 4))))
s = samples(8, 3)
keep("rgb8_clear.png", png(2, 8, s, False, chunk(b"tRNS", struct.pack(">HHH", *s[3][4]))))
keep("rgb8_interlaced.png", png(2, 8, samples(8, 3), True))
keep("rgba8_interlaced.png", png(6, 8, samples(8, 4), True))
keep("grey1_interlaced.png", png(0, 1, samples(1, 1), True))
keep("palette4_interlaced.png", png(3, 4, samples(4, 1), True, chunk(b"PLTE", noise(48, 9))))


def bmp(bits, rows, header=40, height=H, packing=0, masks=b"", palette=b"", gap=0):
    offset = 14 + header + (len(masks) if header == 40 else 0) + len(palette) + gap
    if header == 12:
        info = struct.pack("<IHHHH", 12, W, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", header, W, height, 1, bits, packing, 0, 2835, 2835, 0, 0) + masks
        info = info.ljust(header, b"\0") if header > 40 else info
    return b"BM" + struct.pack("<IHHI", offset + len(rows), 0, 0, offset) + info + palette + bytes(gap) + rows


def stride(bits):
    return (W * bits + 31) // 32 * 4


keep("rgb24.bmp", saved(rgb, "BMP"))
keep("grey8.bmp", saved(grey, "BMP"), grey.convert("RGB"))
keep("palette8.bmp", saved(rgb.quantize(200), "BMP"))
one = saved(grey.convert("1"), "BMP")
keep("grey1.bmp", one, Image.open(io.BytesIO(one)).convert("RGB"))
keep("rgb32.bmp", saved(rgba, "BMP"))
keep("rgb24_top_down.bmp", bmp(24, noise(stride(24) * H), height=-H))
keep("rgb24_gap.bmp", bmp(24, noise(stride(24) * H), gap=10))
keep("palette4.bmp", bmp(4, noise(stride(4) * H), palette=noise(64, 3)))
keep("palette8_os2.bmp", bmp(8, noise(stride(8) * H), header=12, palette=noise(768, 3)))
keep("rgb24_os2.bmp", bmp(24, noise(stride(24) * H), header=12))
keep("rgb565.bmp", bmp(16, noise(stride(16) * H), packing=3, masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F)))
keep("rgb555.bmp", bmp(16, noise(stride(16) * H)))
keep("rgba32_v4.bmp", bmp(32, noise(stride(32) * H), header=108, packing=3,
                          masks=struct.pack("<IIII", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)))

picture = smooth(45, 35)
for sampling, name in ((0, "444"), (1, "422"), (2, "420")):
    keep("rgb%s.jpg" % name, saved(picture, "JPEG", quality=92, subsampling=sampling))
    keep("rgb%s_progressive.jpg" % name, saved(picture, "JPEG", quality=92, subsampling=sampling, progressive=True))
keep("grey.jpg", saved(picture.convert("L"), "JPEG", quality=92))
keep("noise.jpg", saved(Image.frombytes("RGB", (32, 24), noise(32 * 24 * 3)), "JPEG", quality=90, subsampling=0))
open("cmyk.jpg", "wb").write(saved(picture.convert("CMYK"), "JPEG", quality=50))

small = smooth(21, 14)
exif = Image.Exif()
exif[0x0112] = 6
open("orientation.jpg", "wb").write(saved(small, "JPEG", quality=95, subsampling=0, exif=exif))
open("orientation.png", "wb").write(saved(small, "PNG", exif=exif))
for n in range(1, 9):
    exif[0x0112] = n
    for form in ("JPEG", "PNG"):
        options = {"quality": 95, "subsampling": 0} if form == "JPEG" else {}
        im = Image.open(io.BytesIO(saved(small, form, exif=exif, **options)))
        ImageOps.exif_transpose(im).save("orientation%d.%s.pnm" % (n, form.lower()), "PPM")
