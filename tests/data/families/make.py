#!/usr/bin/python3
"""Writes the models and recordings beside it: every family of vision transformers once, tiny, with weights from a seed
under the names of its own program, and what that program computes, here in float64 and written from its published
source. Run in this folder; needs numpy. The recordings are named after Vitrine's nodes and kept as float32."""
import json, math, os, struct
import numpy as np

D, H, E, M, L, P, C = 16, 2, 8, 24, 2, 4, 3
SIDE = 12
GRID = SIDE // P
N = GRID * GRID
rng = np.random.default_rng(1)


# --- files ---

def safetensors(path, tensors):
    header, at, blobs = {}, 0, []
    for name, a in tensors.items():
        whole = np.asarray(a).dtype == np.int64
        a = np.ascontiguousarray(a, "<i8" if whole else "<f4")
        header[name] = {"dtype": "I64" if whole else "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
        blobs.append(a.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


class Weights(dict):
    """Weights by name, drawn where they are first named and rounded to float32 as the file has them."""

    def get_(self, name, *shape, mean=0.0, spread=None):
        if name not in self:
            if spread is None:
                spread = 1.0 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.1
            self[name] = (mean + spread * rng.standard_normal(shape)).astype(np.float32)
        return self[name].astype(np.float64)


# --- parts ---

def norm(x, gamma, beta, eps):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps) * gamma + beta


def rms_norm(x, gamma, eps):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps) * gamma


def erf(x):
    return np.vectorize(math.erf)(x)


ACT = {
    "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
    "tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "quick": lambda x: x / (1 + np.exp(-1.702 * x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def heads(x):
    return x.reshape(len(x), H, E)


def conv(image, w, bias=None):
    """A convolution whose stride is its size: [c,y,x] to [patch, width]."""
    y, x = image.shape[1] // P, image.shape[2] // P
    cut = image.reshape(C, y, P, x, P).transpose(1, 3, 0, 2, 4).reshape(y * x, -1)
    out = cut @ w.reshape(len(w), -1).T
    return out if bias is None else out + bias


def resize(table, new, antialias):
    """torch.nn.functional.interpolate(mode="bicubic", align_corners=False) of [old, old, d]."""
    old = table.shape[0]
    a = -0.5 if antialias else -0.75

    def key(t):
        t = abs(t)
        if t <= 1:
            return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
        return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0

    scale = old / new
    matrix = np.zeros((new, old))
    for i in range(new):
        if antialias:
            stretch = max(scale, 1.0)
            centre = scale * (i + 0.5)
            lo, hi = max(int(centre - 2 * stretch + 0.5), 0), min(int(centre + 2 * stretch + 0.5), old)
            taps = [key((j - centre + 0.5) / stretch) for j in range(lo, hi)]
            for j, tap in zip(range(lo, hi), taps):
                matrix[i, j] += tap / sum(taps)
        else:
            source = scale * (i + 0.5) - 0.5
            base = math.floor(source)
            for j in range(base - 1, base + 3):
                matrix[i, min(max(j, 0), old - 1)] += key(source - j)
    return np.einsum("ai,bj,ijd->abd", matrix, matrix, table)


def rotate_half(x):
    return np.concatenate([-x[..., E // 2:], x[..., :E // 2]], -1)


def rotate_pairs(x):
    out = np.empty_like(x)
    out[..., ::2], out[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return out


def rope_dinov3(theta=100.0):
    inv = 1 / theta ** np.arange(0, 1, 4 / E)
    centre = 2 * (np.arange(0.5, GRID) / GRID) - 1
    coords = np.stack(np.meshgrid(centre, centre, indexing="ij"), -1).reshape(-1, 2)
    angles = np.tile((2 * math.pi * coords[:, :, None] * inv).reshape(N, -1), 2)
    return np.cos(angles), np.sin(angles), rotate_half


def rope_cat(temperature, reference=None, indexing="ij"):
    bands = 1 / temperature ** (np.arange(E // 4) / (E // 4))
    t = np.arange(GRID, dtype=float)
    if reference:
        t = t / GRID * reference
    grid = np.stack(np.meshgrid(t, t, indexing=indexing), -1)
    angles = np.repeat((grid[..., None] * bands).reshape(N, -1), 2, -1)
    return np.cos(angles), np.sin(angles), rotate_pairs


def rope_mixed(t, at, freqs, wide, prefix):
    """One block of RotaryEmbeddingMixed, freqs [2,h,k]: the first for x, which counts columns, the second for y."""
    y, x = np.meshgrid(np.arange(GRID), np.arange(wide), indexing="ij")
    angles = x.reshape(-1, 1, 1) * freqs[0] + y.reshape(-1, 1, 1) * freqs[1]
    t[at + "angle"] = np.concatenate([np.zeros((prefix,) + angles.shape[1:]), angles])
    t[at + "cos"], t[at + "sin"] = np.cos(t[at + "angle"]), np.sin(t[at + "angle"])
    each = np.repeat(angles, 2, -1)
    return np.cos(each), np.sin(each), rotate_pairs


def turned(x, prefix, rope, wrong=None):
    cos, sin, rot = rope
    if wrong == "class token turned":  # and registers, as the first patch is
        cos, sin = (np.concatenate([np.repeat(a[:1], prefix, 0), a]) for a in (cos, sin))
        prefix = 0
    if wrong == "registers turned":  # as the first patch is, and the class token is not
        cos, sin = (np.concatenate([np.repeat(a[:1], prefix - 1, 0), a]) for a in (cos, sin))
        prefix = 1
    if cos.ndim == 2:
        cos, sin = cos[:, None], sin[:, None]
    end = prefix + len(cos)  # tokens behind the patches are left as they are
    patches = x[prefix:end]
    return np.concatenate([x[:prefix], patches * cos + rot(patches) * sin, x[end:]])


def attend(t, at, q, k, v, prefix=0, rope=None, bias=None, wrong=None):
    """q, k, v: [token, D]. Records as it goes; what all heads gathered, side by side."""
    q, k, v = heads(q), heads(k), heads(v)
    t[at + "q"], t[at + "k"], t[at + "v"] = q, k, v
    if rope:
        q, k = turned(q, prefix, rope, wrong), turned(k, prefix, rope, wrong)
        v = turned(v, prefix, rope) if wrong == "values turned" else v
        t[at + "q_turned"], t[at + "k_turned"] = q, k
    raw = np.einsum("the,uhe->htu", q, k)
    t[at + "scores_raw"] = raw
    scores = raw * E ** -0.5
    if bias is not None:
        scores = t[at + "scores_biased"] = scores + bias
    half = lambda x: x.astype(np.float16).astype(float)
    pattern = softmax(half(scores) if wrong == "half softmax" else scores)
    pattern = t[at + "pattern"] = half(pattern) if wrong in ("half softmax", "half weights") else pattern
    z = t[at + "z"] = np.einsum("htu,uhe->the", pattern, v)
    return z.reshape(len(z), D)


def pixels_of(mean, std, wide=SIDE):
    pixels = rng.integers(0, 256, (C, SIDE, wide)).astype(float)
    return pixels, (pixels / 255 - np.array(mean)[:, None, None]) / np.array(std)[:, None, None]


def finish(name, weights, config, t, pixels, processor=None, npz=False):
    os.makedirs(name, exist_ok=True)
    if npz:
        np.savez(name + "/model.npz", **weights)
    else:
        safetensors(name + "/model.safetensors", weights)
    for file, value in (("config.json", config), ("preprocessor_config.json", processor)):
        if value is not None:
            with open(f"{name}/{file}", "w") as f:
                json.dump(value, f, indent=1)
                f.write("\n")
    t["pixels"] = pixels
    safetensors(name + "/expected.safetensors", t)


def write_wrong(name, forward, mistakes):
    """The ends of blocks and of the model with each mistake: a test must be able to tell them apart."""
    safetensors(f"{name}/wrong.safetensors", {
        f"{mistake}:{node}": value for mistake in mistakes for node, value in forward(mistake).items()
        if node in ("full_embed", "readout") or node.endswith("resid_post") or mistake.startswith(node)})


HALF, IMAGENET = [[0.5] * 3] * 2, [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]]
CLIP = [[0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]]


def processor(stats, side=SIDE, **more):
    return {"size": {"height": side, "width": side}, "do_normalize": True, "image_mean": stats[0],
            "image_std": stats[1], "resample": 3, **more}


def answer(t, logits):
    t["logits"], t["probs"] = logits, softmax(logits)


def embed(t, e):
    t["embedding"], t["embedding_norm"] = e, np.array(np.linalg.norm(e))
    t["embedding_unit"] = e / np.linalg.norm(e)


def unit_embedding(t, wrong):
    if wrong == "embedding normalised":
        t["embedding"] = t["embedding_unit"]
    elif wrong == "embedding_unit as it is":
        t["embedding_unit"] = t["embedding"]
    return t


# --- Hugging Face: DINOv2, with registers, with SwiGLU ---

def dinov2(name, kind, registers=0, swiglu=False, table=5, classes=3, mistakes=()):
    w = Weights()
    pixels, image = pixels_of(*IMAGENET)
    p, eps, g = kind + ".", 1e-6, w.get_

    def forward(wrong=None):
        t = {}
        x = t["patch_embed"] = conv(image, g(p + "embeddings.patch_embeddings.projection.weight", D, C, P, P),
                                    g(p + "embeddings.patch_embeddings.projection.bias", D))
        pos = g(p + "embeddings.position_embeddings", 1, table * table + 1, D, spread=0.5)[0]
        fitted = resize(pos[1:].reshape(table, table, D), GRID, registers > 0).reshape(-1, D)
        t["pos_fit.all"] = np.concatenate([pos[:1], fitted])
        x = np.concatenate([g(p + "embeddings.cls_token", 1, 1, D)[0], x]) + t["pos_fit.all"]
        g(p + "embeddings.mask_token", 1, D)
        if registers:
            x = np.concatenate([x[:1], g(p + "embeddings.register_tokens", 1, registers, D, spread=0.5)[0], x[1:]])
        t["full_embed"] = x
        for i in range(L):
            b, at = f"{p}encoder.layer.{i}.", f"blocks.{i}."
            y = t[at + "ln1.out"] = norm(x, g(b + "norm1.weight", D, mean=1), g(b + "norm1.bias", D), eps)
            q, k, v = (y @ g(b + f"attention.attention.{n}.weight", D, D, spread=0.5).T +
                       g(b + f"attention.attention.{n}.bias", D) for n in ("query", "key", "value"))
            o = attend(t, at + "attn.", q, k, v) @ g(b + "attention.output.dense.weight", D, D).T
            o = t[at + "attn.out"] = o + g(b + "attention.output.dense.bias", D)
            x = t[at + "resid_mid"] = x + o * g(b + "layer_scale1.lambda1", D, mean=1)
            y = t[at + "ln2.out"] = norm(x, g(b + "norm2.weight", D, mean=1), g(b + "norm2.bias", D), eps)
            if swiglu:
                both = y @ g(b + "mlp.weights_in.weight", 2 * M, D).T + g(b + "mlp.weights_in.bias", 2 * M)
                t[at + "mlp.gate"], t[at + "mlp.pre"] = both[:, :M], both[:, M:]
                y = t[at + "mlp.post"] = ACT["silu"](both[:, :M]) * both[:, M:]
                y = y @ g(b + "mlp.weights_out.weight", D, M).T + g(b + "mlp.weights_out.bias", D)
            else:
                y = t[at + "mlp.pre"] = y @ g(b + "mlp.fc1.weight", M, D).T + g(b + "mlp.fc1.bias", M)
                y = t[at + "mlp.post"] = ACT["gelu"](y)
                y = y @ g(b + "mlp.fc2.weight", D, M).T + g(b + "mlp.fc2.bias", D)
            t[at + "mlp.out"] = y
            x = t[at + "resid_post"] = x + y * g(b + "layer_scale2.lambda1", D, mean=1)
        x = t["ln_final.out"] = norm(x, g(p + "layernorm.weight", D, mean=1), g(p + "layernorm.bias", D), eps)
        if classes:
            t["readout"] = np.concatenate([x[0], x[1 if wrong == "registers counted" else 1 + registers:].mean(0)])
            answer(t, t["readout"] @ g("classifier.weight", classes, 2 * D).T + g("classifier.bias", classes))
        return t

    t = forward()
    config = {"architectures": ["Dinov2ForImageClassification"], "model_type": kind, "hidden_size": D,
              "num_attention_heads": H, "num_hidden_layers": L, "image_size": table * P, "patch_size": P,
              "hidden_act": "gelu", "layer_norm_eps": eps, "use_swiglu_ffn": swiglu, "mlp_ratio": 2 if swiglu else 1.5}
    finish(name, w, config, t, pixels, {**processor(IMAGENET), "do_center_crop": True,
                                        "crop_size": {"height": SIDE, "width": SIDE},
                                        "size": {"shortest_edge": SIDE + 2}})
    if mistakes:
        write_wrong(name, forward, mistakes)


# --- CLIP: Hugging Face's names and OpenAI's, SigLIP ---

def clip(name, openai, classes=0):
    w, t = Weights(), {}
    pixels, image = pixels_of(*CLIP)
    eps, g, v = 1e-5, w.get_, "visual." if openai else "vision_model."
    n = {"conv": "conv1.weight", "cls": "class_embedding", "pos": "positional_embedding", "pre": "ln_pre",
         "layer": "transformer.resblocks.%d.", "n1": "ln_1", "n2": "ln_2", "o": "attn.out_proj", "up": "mlp.c_fc",
         "down": "mlp.c_proj", "post": "ln_post"} if openai else {
        "conv": "embeddings.patch_embedding.weight", "cls": "embeddings.class_embedding",
        "pos": "embeddings.position_embedding.weight", "pre": "pre_layrnorm", "layer": "encoder.layers.%d.",
        "n1": "layer_norm1", "n2": "layer_norm2", "o": "self_attn.out_proj", "up": "mlp.fc1", "down": "mlp.fc2",
        "post": "post_layernorm"}
    ln = lambda x, at: norm(x, g(v + at + ".weight", D, mean=1), g(v + at + ".bias", D), eps)
    linear = lambda x, at, o, i: x @ g(v + at + ".weight", o, i).T + g(v + at + ".bias", o)
    x = t["patch_embed"] = conv(image, g(v + n["conv"], D, C, P, P))
    x = np.concatenate([g(v + n["cls"], D)[None], x]) + g(v + n["pos"], N + 1, D, spread=0.5)
    x = t["norm_pre.out"] = ln(x, n["pre"])
    for i in range(L):
        b, at = n["layer"] % i, f"blocks.{i}."
        y = t[at + "ln1.out"] = ln(x, b + n["n1"])
        if openai:
            qkv = y @ g(v + b + "attn.in_proj_weight", 3 * D, D, spread=0.5).T + g(v + b + "attn.in_proj_bias", 3 * D)
            q, k, val = qkv[:, :D], qkv[:, D:2 * D], qkv[:, 2 * D:]
        else:
            q, k, val = (linear(y, b + f"self_attn.{a}_proj", D, D) for a in "qkv")
        o = t[at + "attn.out"] = linear(attend(t, at + "attn.", q, k, val), b + n["o"], D, D)
        x = t[at + "resid_mid"] = x + o
        y = t[at + "mlp.pre"] = linear(ln(x, b + n["n2"]), b + n["up"], M, D)
        y = t[at + "mlp.post"] = ACT["quick"](y)
        x = t[at + "resid_post"] = x + linear(y, b + n["down"], D, M)
    if classes:  # CLIPForImageClassification: the mean of the patches, without the last norm
        ln(x, n["post"])
        t["readout"] = x[1:].mean(0)
        answer(t, t["readout"] @ g("classifier.weight", classes, D).T + g("classifier.bias", classes))
    else:
        t["readout"] = ln(x[0], n["post"])
    if openai:
        embed(t, t["readout"] @ g("visual.proj", D, 12))
        for name_, shape in (("positional_embedding", (5, D)), ("text_projection", (D, 12)), ("logit_scale", ()),
                             ("token_embedding.weight", (9, D)), ("ln_final.weight", (D,)),
                             ("transformer.resblocks.0.attn.in_proj_weight", (3 * D, D))):
            g(name_, *shape, spread=1)
        config = {"num_attention_heads": H}
    else:
        if not classes:
            embed(t, t["readout"] @ g("visual_projection.weight", 12, D).T)
        for name_, shape in (("logit_scale", ()), ("text_projection.weight", (12, D)),
                             ("text_model.embeddings.token_embedding.weight", (9, D)),
                             ("text_model.encoder.layers.0.self_attn.q_proj.weight", (D, D))) * (not classes):
            g(name_, *shape, spread=1)
        config = {"architectures": ["CLIPModel"], "model_type": "clip", "projection_dim": 12,
                  "text_config": {"hidden_size": 8}, "vision_config": {
                      "hidden_size": D, "intermediate_size": M, "num_attention_heads": H, "num_hidden_layers": L,
                      "image_size": SIDE, "patch_size": P}}
    finish(name, w, config, t, pixels, None if openai else {
        "do_center_crop": True, "crop_size": SIDE, "size": SIDE, "resample": 3, "feature_extractor_type":
        "CLIPFeatureExtractor", "image_mean": CLIP[0], "image_std": CLIP[1], "do_normalize": True})


def attention_pool(t, x, probe, q, k, v, o, ln, mlp, wrong=None):
    """A learned query looks at all tokens; an MLP behind a norm is added to what it gathered."""
    qh, kh, vh = heads(q(probe[None])), heads(k(x)), heads(v(x))
    raw = np.einsum("he,the->ht", qh[0], kh)
    pattern = t["pool.pattern"] = softmax(raw * {"pooling unscaled": 1, "pooling by the width": D ** -0.5}.get(wrong, E ** -0.5))
    z = np.einsum("ht,the->he", pattern, vh)
    y = t["pool.out"] = o(z.reshape(D))
    t["readout"] = (0 if wrong == "pooling without residual" else y) + mlp(y if wrong == "pooling without norm" else ln(y))


def siglip(name, classes=0, mistakes=()):
    w = Weights()
    pixels, image = pixels_of(*HALF)
    eps, g, v = 1e-6, w.get_, "vision_model."
    ln = lambda x, at: norm(x, g(v + at + ".weight", D, mean=1), g(v + at + ".bias", D), eps)
    linear = lambda x, at, o, i: x @ g(v + at + ".weight", o, i).T + g(v + at + ".bias", o)
    def forward(wrong=None):
        t = {}
        x = t["patch_embed"] = conv(image, g(v + "embeddings.patch_embedding.weight", D, C, P, P),
                                    g(v + "embeddings.patch_embedding.bias", D))
        x = t["full_embed"] = x + g(v + "embeddings.position_embedding.weight", N, D, spread=0.5)
        for i in range(L):
            b, at = f"encoder.layers.{i}.", f"blocks.{i}."
            y = ln(x, b + "layer_norm1")
            q, k, val = (linear(y, b + f"self_attn.{a}_proj", D, D) for a in "qkv")
            x = t[at + "resid_mid"] = x + linear(attend(t, at + "attn.", q, k, val), b + "self_attn.out_proj", D, D)
            y = t[at + "mlp.post"] = ACT["tanh"](linear(ln(x, b + "layer_norm2"), b + "mlp.fc1", M, D))
            x = t[at + "resid_post"] = x + linear(y, b + "mlp.fc2", D, M)
        x = t["ln_final.out"] = ln(x, "post_layernorm")
        iw, ib = g(v + "head.attention.in_proj_weight", 3 * D, D, spread=0.5), g(v + "head.attention.in_proj_bias", 3 * D)
        q, k, val = ((lambda y, j=j: y @ iw[j * D:(j + 1) * D].T + ib[j * D:(j + 1) * D]) for j in range(3))
        attention_pool(t, x, g(v + "head.probe", 1, 1, D)[0, 0], q, k, val,
                       lambda z: linear(z, "head.attention.out_proj", D, D), lambda y: ln(y, "head.layernorm"),
                       lambda y: linear(ACT["tanh"](linear(y, "head.mlp.fc1", M, D)), "head.mlp.fc2", D, M), wrong)
        if classes:  # SiglipForImageClassification: the mean of all tokens; the head above is in the file and not used
            t["readout"] = x.mean(0)
            answer(t, t["readout"] @ g("classifier.weight", classes, D).T + g("classifier.bias", classes))
            del t["pool.pattern"], t["pool.out"]
        else:
            embed(t, t["readout"])
        return unit_embedding(t, wrong)

    t = forward()
    for name_, shape in (("logit_scale", (1,)), ("logit_bias", (1,)), ("text_model.head.weight", (D, D))):
        g(name_, *shape, spread=1)
    finish(name, w, {"architectures": ["SiglipModel"], "model_type": "siglip", "vision_config": {
        "model_type": "siglip_vision_model", "hidden_size": D, "intermediate_size": M, "num_attention_heads": H,
        "num_hidden_layers": L, "image_size": SIDE, "patch_size": P}}, t, pixels, processor(HALF))
    if mistakes:
        write_wrong(name, forward, mistakes)


# --- DINOv3, Hugging Face's names ---

def dinov3(name, gated, registers=2, mistakes=()):
    w = Weights()
    pixels, image = pixels_of(*IMAGENET)
    eps, g, rope, prefix = 1e-5, w.get_, rope_dinov3(), 1 + registers
    act = ACT["silu" if gated else "gelu"]
    ln = lambda x, at: norm(x, g(at + ".weight", D, mean=1), g(at + ".bias", D), eps)
    linear = lambda x, at, o, i: x @ g(at + ".weight", o, i).T + g(at + ".bias", o)

    def forward(wrong=None):
        t, front = {}, prefix

        def scaled(x, y, i, which):
            scale = g(f"layer.{i}.layer_scale{3 - which if wrong == 'layer scales exchanged' else which}.lambda1", D, mean=1)
            if wrong == "no layer scale" or (wrong == "no layer scale in block 1" and i == 1):
                scale = 1
            return (x + y) * scale if wrong == "layer scale on the sum" else x + y * scale ** (2 if wrong == "layer scale twice" else 1)

        x = t["patch_embed"] = conv(image, g("embeddings.patch_embeddings.weight", D, C, P, P),
                                    g("embeddings.patch_embeddings.bias", D))
        g("embeddings.mask_token", 1, 1, D)
        cls, reg = g("embeddings.cls_token", 1, 1, D)[0], g("embeddings.register_tokens", 1, registers, D)[0]
        if wrong in ("registers last", "turned from the registers on"):
            front = 1
        x = t["full_embed"] = np.concatenate([cls, x, reg] if wrong == "registers last" else
                                             [reg, cls, x] if wrong == "registers first" else [cls, reg, x])
        for i in range(L - (wrong == "last block")):
            b, at = f"layer.{i}.", f"blocks.{i}."
            y = t[at + "ln1.out"] = ln(x, b + "norm1")
            q, val = linear(y, b + "attention.q_proj", D, D), linear(y, b + "attention.v_proj", D, D)
            k = y @ g(b + "attention.k_proj.weight", D, D, spread=0.5).T
            o = linear(attend(t, at + "attn.", q, k, val, front, rope, wrong=wrong), b + "attention.o_proj", D, D)
            x = t[at + "resid_mid"] = scaled(x, o, i, 1)
            y = ln(x, b + "norm2")
            up = t[at + "mlp.pre"] = linear(y, b + "mlp.up_proj", M, D)
            if gated:
                y = t[at + "mlp.post"] = act(linear(y, b + "mlp.gate_proj", M, D)) * up
            else:
                y = t[at + "mlp.post"] = act(up)
            y = linear(y, b + "mlp.down_proj", D, M)
            x = t[at + "resid_post"] = scaled(x, y * (1.25 if wrong == "drop path left on" else 1), i, 2)
        x = t["ln_final.out"] = ln(x, "norm")
        x = ln(x, "norm") if wrong == "final norm twice" else x
        t["readout"] = x[registers if wrong == "registers first" else 0]
        embed(t, t["readout"])
        return unit_embedding(t, wrong)

    t = forward()
    finish(name, w, {"architectures": ["DINOv3ViTModel"], "model_type": "dinov3_vit", "hidden_size": D,
                     "intermediate_size": M, "num_attention_heads": H, "num_hidden_layers": L, "image_size": 2 * SIDE,
                     "patch_size": P, "num_register_tokens": registers, "rope_theta": 100.0, "layer_norm_eps": eps,
                     "hidden_act": "silu" if gated else "gelu", "use_gated_mlp": gated, "query_bias": True,
                     "key_bias": False, "value_bias": True}, t, pixels, processor(IMAGENET, resample=2))
    if mistakes:
        write_wrong(name, forward, mistakes)


# --- timm: the modules vision_transformer and eva ---

def timm(name, architecture, qkv="fused", bias="qkv", mlp="plain", hidden_norm=False, rope=None, cls=True, registers=0,
         table="all", pool="token", scale=None, eps=1e-6, classes=3, act="gelu", fc_norm=False, wide=SIDE,
         inner_norm=False, branch=False, project=0):
    w, t = Weights(), {}
    pixels, image = pixels_of(*HALF, wide)
    g, prefix, N = w.get_, int(cls) + registers, GRID * (wide // P)
    turn = rope
    ln = lambda x, at, n=D: norm(x, g(at + ".weight", n, mean=1), g(at + ".bias", n), eps)
    linear = lambda x, at, o, i: x @ g(at + ".weight", o, i).T + g(at + ".bias", o)
    x = t["patch_embed"] = conv(image, g("patch_embed.proj.weight", D, C, P, P), g("patch_embed.proj.bias", D))
    front = ([g("cls_token", 1, 1, D)[0]] if cls else []) + (
        [g("reg_token", 1, registers, D)[0]] if registers else [])
    if table == "patches":
        x = x + g("pos_embed", 1, N, D, spread=0.5)[0]
    x = np.concatenate(front + [x])
    if table == "all":
        x = x + g("pos_embed", 1, N + prefix, D, spread=0.5)[0]
    t["full_embed"] = x
    for i in range(L):
        b, at = f"blocks.{i}.", f"blocks.{i}."
        y = x
        if not branch:
            y = t[at + "ln1.out"] = ln(x, b + "norm1")
        if qkv == "fused":
            three = y @ g(b + "attn.qkv.weight", 3 * D, D, spread=0.15 if branch else 0.5).T
            if bias == "qkv":
                three = three + g(b + "attn.qkv.bias", 3 * D)
            if bias == "qv":
                three = three + np.concatenate([g(b + "attn.q_bias", D), np.zeros(D), g(b + "attn.v_bias", D)])
            q, k, v = three[:, :D], three[:, D:2 * D], three[:, 2 * D:]
        else:
            q, v = linear(y, b + "attn.q_proj", D, D), linear(y, b + "attn.v_proj", D, D)
            k = y @ g(b + "attn.k_proj.weight", D, D, spread=0.5).T
        if rope == "mixed":
            turn = rope_mixed(t, at + "attn.", g("rope.freqs", 2, L, H, E // 2, spread=1)[:, i], wide // P, prefix)
        z = attend(t, at + "attn.", q, k, v, prefix, turn)
        if inner_norm:
            z = ln(z, b + "attn.norm")
            t[at + "attn.ln_merged.out"] = heads(z)
        o = linear(z, b + "attn.proj", D, D)
        if branch:
            o = t[at + "ln1.out"] = ln(o, b + "norm1")
        x = t[at + "resid_mid"] = x + (o * g(b + (scale % 1), D, mean=1) if scale else o)
        y = x if branch else ln(x, b + "norm2")
        if mlp == "plain":
            y = ACT[act](linear(y, b + "mlp.fc1", M, D))
        else:
            if mlp == "packed":
                both = linear(y, b + "mlp.fc1", 2 * M, D)
                gate, up = both[:, :M], both[:, M:]
            else:
                gate, up = linear(y, b + "mlp.fc1_g", M, D), linear(y, b + "mlp.fc1_x", M, D)
            t[at + "mlp.gate"] = gate
            y = ACT["silu"](gate) * up
        t[at + "mlp.post"] = y
        if hidden_norm:
            y = t[at + "mlp.ln_hidden.out"] = ln(y, b + "mlp.norm", M)
        y = linear(y, b + "mlp.fc2", D, M)
        if branch:
            y = t[at + "ln2.out"] = ln(y, b + "norm2")
        x = t[at + "resid_post"] = x + (y * g(b + (scale % 2), D, mean=1) if scale else y)
    if not fc_norm:
        x = t["ln_final.out"] = ln(x, "norm")
    if pool == "map":
        kv, kb = g("attn_pool.kv.weight", 2 * D, D, spread=0.5), g("attn_pool.kv.bias", 2 * D)
        attention_pool(t, x, g("attn_pool.latent", 1, 1, D)[0, 0], lambda y: linear(y, "attn_pool.q", D, D),
                       lambda y: y @ kv[:D].T + kb[:D], lambda y: y @ kv[D:].T + kb[D:],
                       lambda z: linear(z, "attn_pool.proj", D, D), lambda y: ln(y, "attn_pool.norm"),
                       lambda y: linear(ACT[act](linear(y, "attn_pool.mlp.fc1", M, D)), "attn_pool.mlp.fc2", D, M))
    else:
        t["readout"] = x[0] if pool == "token" else x[prefix:].mean(0)
    y = t["readout"]
    if fc_norm:
        y = t["fc_norm.out"] = ln(y, "fc_norm")
    if project:  # CLIP's projection in the classifier's place, with a bias of zeros
        embed(t, y @ g("head.weight", project, D).T + g("head.bias", project, spread=0.0))
    elif classes:
        answer(t, linear(y, "head", classes, D))
    elif "siglip" in architecture or "dinov3" in architecture:
        embed(t, y)
    finish(name, w, {"architecture": architecture, "num_classes": project or classes, "global_pool":
                     {"token": "token", "mean": "avg", "map": "map"}[pool], "model_args": {"num_heads": H},
                     "pretrained_cfg": {"input_size": [3, SIDE, wide], "mean": HALF[0], "std": HALF[1],
                                        "crop_pct": 1.0, "interpolation": "bicubic"}}, t, pixels)


# --- Google's vision_transformer, in JAX ---

def jax(name):
    w, t = Weights(), {}
    pixels, image = pixels_of(*HALF)
    eps, g, T = 1e-6, w.get_, "Transformer/"
    ln = lambda x, at: norm(x, g(at + "/scale", D, mean=1), g(at + "/bias", D), eps)
    dense = lambda x, at, i, o: x @ g(at + "/kernel", i, o, spread=i ** -0.5) + g(at + "/bias", o)
    kernel = g("embedding/kernel", P, P, C, D, spread=0.15)
    cut = image.reshape(C, GRID, P, GRID, P).transpose(1, 3, 2, 4, 0).reshape(N, -1)
    x = t["patch_embed"] = cut @ kernel.reshape(-1, D) + g("embedding/bias", D)
    x = np.concatenate([g("cls", 1, 1, D)[0], x])
    x = t["full_embed"] = x + g(T + "posembed_input/pos_embedding", 1, N + 1, D, spread=0.5)[0]
    for i in range(L):
        b, at = f"{T}encoderblock_{i}/", f"blocks.{i}."
        a = b + "MultiHeadDotProductAttention_1/"
        y = t[at + "ln1.out"] = ln(x, b + "LayerNorm_0")
        q, k, v = ((np.einsum("td,dhe->the", y, g(a + n + "/kernel", D, H, E, spread=0.5)) + g(a + n + "/bias", H, E)
                    ).reshape(-1, D) for n in ("query", "key", "value"))
        z = attend(t, at + "attn.", q, k, v).reshape(-1, H, E)
        o = np.einsum("the,hed->td", z, g(a + "out/kernel", H, E, D, spread=0.25)) + g(a + "out/bias", D)
        x = t[at + "resid_mid"] = x + o
        y = ACT["tanh"](dense(ln(x, b + "LayerNorm_2"), b + "MlpBlock_3/Dense_0", D, M))
        t[at + "mlp.post"] = y
        x = t[at + "resid_post"] = x + dense(y, b + "MlpBlock_3/Dense_1", M, D)
    x = ln(x, T + "encoder_norm")
    t["readout"] = x[0]
    answer(t, dense(x[0], "head", D, 3))
    finish(name, w, None, t, pixels, npz=True)


# --- AIMv2: Hugging Face's names, Apple's and timm's ---

AIMV2_NAMES = {
    "hf": {"conv": "embeddings.patch_embed", "patch": "embeddings.rms_norm",
           "pos": "embeddings.position_embedding.weight",
           "layer": "encoder.layers.%d.", "n1": "rms_norm1", "n2": "rms_norm2", "proj": "attention.out_proj",
           "gate": "ffn.gate_proj", "up": "ffn.up_proj", "down": "ffn.down_proj", "last": "rms_norm",
           "pool": ("head.cls_token", "head.k_proj", "head.v_proj", "head.output_proj")},
    "apple": {"conv": "preprocessor.patchifier.proj", "patch": "preprocessor.patchifier.norm",
              "pos": "preprocessor.pos_embed", "layer": "trunk.blocks.%d.", "n1": "norm_1", "n2": "norm_2",
              "proj": "attn.proj", "gate": "mlp.fc1", "up": "mlp.fc3", "down": "mlp.fc2",
              "last": "trunk.post_trunk_norm",
              "pool": ("head.cls_token", "head.k", "head.v", "head.linear")},
    "timm": {"conv": "patch_embed.proj", "patch": "patch_embed.norm", "pos": "pos_embed", "layer": "blocks.%d.",
             "n1": "norm1", "n2": "norm2", "proj": "attn.proj", "gate": "mlp.fc1_g", "up": "mlp.fc1_x",
             "down": "mlp.fc2", "last": "norm"}}


def aimv2(name, naming):
    """RMSNorm everywhere, one behind the patches; no biases but the patches' and the pooling's; no class token. The
    filters of the patches are small, so that epsilon counts in the norm behind them."""
    w, t = Weights(), {}
    pixels, image = pixels_of(*CLIP)
    tower = {"hf": "", "apple": "image_encoder.", "timm": ""}[naming]
    n, eps, g = AIMV2_NAMES[naming], 1e-5, lambda at, *shape, **more: w.get_(tower + at, *shape, **more)
    rms = lambda x, at: rms_norm(x, g(at + ".weight", D, mean=1, spread=0.2), eps)
    linear = lambda x, at, o, i: x @ g(at + ".weight", o, i).T
    x = t["patch_embed"] = conv(image, g(n["conv"] + ".weight", D, C, P, P, spread=0.003),
                                g(n["conv"] + ".bias", D, spread=0.01))
    x = t["rms_patch.out"] = rms(x, n["patch"])
    table = (N, D) if naming == "hf" else (1, N, D)
    x = t["full_embed"] = x + g(n["pos"], *table, spread=0.5).reshape(N, D)
    for i in range(L):
        b, at = n["layer"] % i, f"blocks.{i}."
        y = t[at + "rms1.out"] = rms(x, b + n["n1"])
        if naming == "hf":
            q, k, v = (y @ g(b + f"attention.{a}_proj.weight", D, D, spread=0.5).T for a in "qkv")
        else:
            three = y @ g(b + "attn.qkv.weight", 3 * D, D, spread=0.5).T
            q, k, v = three[:, :D], three[:, D:2 * D], three[:, 2 * D:]
        o = t[at + "attn.out"] = linear(attend(t, at + "attn.", q, k, v), b + n["proj"], D, D)
        x = t[at + "resid_mid"] = x + o
        y = t[at + "rms2.out"] = rms(x, b + n["n2"])
        t[at + "mlp.gate"], t[at + "mlp.pre"] = linear(y, b + n["gate"], M, D), linear(y, b + n["up"], M, D)
        y = t[at + "mlp.post"] = ACT["silu"](t[at + "mlp.gate"]) * t[at + "mlp.pre"]
        y = t[at + "mlp.out"] = linear(y, b + n["down"], D, M)
        x = t[at + "resid_post"] = x + y
    x = t["rms_final.out"] = rms(x, n["last"])
    if naming == "timm":
        t["readout"] = x.mean(0)
        embed(t, t["readout"])
    else:
        probe, k, v, o = n["pool"]
        query = heads(g(probe, 1, 1, D)[0])[0]
        keys, values = heads(linear(x, k, D, D)), heads(linear(x, v, D, D))
        pattern = t["pool.pattern"] = softmax(np.einsum("he,the->ht", query, keys) * E ** -0.5)
        z = t["pool.z"] = np.einsum("ht,the->he", pattern, values)
        t["readout"] = linear(z.reshape(D), o, D, D) + g(o + ".bias", D)
        embed(t, t["readout"] if naming == "hf" else t["readout"] @ w.get_("image_projector.weight", 12, D).T)
    if naming == "apple":
        for name_, shape in (("log_logit_scale", ()), ("text_projector.weight", (12, D)),
                             ("text_encoder.trunk.blocks.0.norm_1.weight", (8,)),
                             ("text_encoder.preprocessor.text_embedding.weight", (9, 8))):
            w.get_(name_, *shape, spread=1)
    if naming == "timm":
        config = {"architecture": "aimv2_large_patch14_224.apple_pt", "num_classes": 0, "global_pool": "avg",
                  "model_args": {"num_heads": H}, "pretrained_cfg": {
                      "input_size": [3, SIDE, SIDE], "mean": CLIP[0], "std": CLIP[1], "crop_pct": 1.0,
                      "interpolation": "bicubic"}}
        return finish(name, w, config, t, pixels)
    tower = {"hidden_size": D, "intermediate_size": M, "num_attention_heads": H, "num_hidden_layers": L,
             "image_size": SIDE, "patch_size": P, "rms_norm_eps": eps, "hidden_act": "silu", "qkv_bias": False}
    config = {"architectures": ["Aimv2VisionModel"], "model_type": "aimv2_vision_model", "use_head": True,
              "is_native": False, "mlp_bias": False, **tower}
    if naming == "apple":
        config = {"architectures": ["AIMv2Model"], "model_type": "aimv2", "projection_dim": 12,
                  "text_config": {"hidden_size": 8}, "vision_config": {"use_bias": False, **tower}}
    finish(name, w, config, t, pixels, {
        "do_center_crop": True, "crop_size": {"height": SIDE, "width": SIDE}, "size": {"shortest_edge": SIDE},
        "resample": 3, "image_mean": CLIP[0], "image_std": CLIP[1], "do_normalize": True})


dinov2("dinov2", "dinov2")
dinov2("dinov2_registers", "dinov2_with_registers", registers=2, swiglu=True, mistakes=("registers counted",))
clip("clip", False)
clip("clip_openai", True)
siglip("siglip", mistakes=("pooling unscaled", "pooling by the width", "pooling without residual", "pooling without norm",
                           "embedding normalised", "embedding_unit as it is"))
dinov3("dinov3", False, mistakes=("values turned", "class token turned", "registers last", "registers first", "last block",
                                   "no layer scale", "no layer scale in block 1", "layer scale twice", "layer scales exchanged",
                                   "layer scale on the sum", "drop path left on", "final norm twice", "half softmax", "half weights",
                                   "embedding normalised", "embedding_unit as it is", "registers turned",
                                   "turned from the registers on"))
dinov3("dinov3_gated", True)
timm("timm_eva02", "eva02_base_patch14_448.mim_in22k_ft_in1k", qkv="separate", mlp="split", hidden_norm=True,
     rope=rope_cat(10000, 16), pool="mean", fc_norm=True)
timm("timm_eva02_tiny", "eva02_tiny_patch14_336.mim_in22k_ft_in1k", bias="qv", mlp="packed", rope=rope_cat(10000, 16),
     pool="mean", fc_norm=True)
timm("timm_rope_gap", "vit_base_patch16_rope_reg1_gap_256.sbb_in1k", bias="qv", rope=rope_cat(10000, 16), cls=False,
     registers=1, table=None, pool="mean", fc_norm=True, scale="gamma_%d")
timm("timm_rope_ape", "vit_base_patch16_rope_ape_224.naver_in1k", rope=rope_cat(100, None, "xy"), table="patches",
     scale="gamma_%d")
timm("timm_siglip", "vit_base_patch32_siglip_256.v2_webli", cls=False, pool="map", act="tanh", classes=0)
timm("timm_dinov2_giant", "vit_giant_patch14_dinov2.lvd142m", mlp="packed", scale="ls%d.gamma", classes=0)
timm("timm_dinov3", "vit_small_plus_patch16_dinov3.lvd1689m", bias=None, mlp="split", rope=rope_dinov3(), registers=2,
     table=None, pool="mean", scale="gamma_%d", eps=1e-5, classes=0)
jax("jax")
clip("clip_classifier", False, 3)
siglip("siglip_classifier", 3)


# --- from here on every family draws from a generator of its own, by its number ---

def own(number):
    global rng
    rng = np.random.default_rng([1, number])


own(21)
timm("timm_rope_mixed", "vit_base_patch16_rope_mixed_224.naver_in1k", rope="mixed", table=None, scale="gamma_%d")
own(22)
timm("timm_rope_mixed_ape", "vit_base_patch16_rope_mixed_ape_224.naver_in1k", rope="mixed", table="patches",
     scale="gamma_%d", wide=20)
own(101)
aimv2("aimv2", "hf")
own(102)
aimv2("aimv2_apple", "apple")
own(103)
aimv2("timm_aimv2", "timm")
own(104)
timm("timm_eva02_clip", "eva02_base_patch16_clip_224.merged2b", qkv="separate", mlp="split", hidden_norm=True,
     inner_norm=True, rope=rope_cat(10000, 16), project=12)
own(105)
timm("timm_beit3", "beit3_base_patch16_224.in22k_ft_in1k", hidden_norm=True, inner_norm=True, pool="mean",
     fc_norm=True, eps=1e-5)
own(106)
timm("timm_rpn", "vit_base_patch16_rpn_224.sw_in1k", bias=None, cls=False, pool="mean", fc_norm=True, branch=True)
own(107)
timm("timm_eva02_enormous", "eva02_enormous_patch14_clip_224.laion2b", bias="qv", branch=True, project=12)


# --- BEiT: relative positions ---

def relative_index(rows, cols):
    """Row of the table where t asks (first axis) and u is looked at, the class token first."""
    y, x = (a.ravel() for a in np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij"))
    index, last = np.empty((rows * cols + 1,) * 2, np.int64), (2 * rows - 1) * (2 * cols - 1) + 2
    index[1:, 1:] = (y[:, None] - y + rows - 1) * (2 * cols - 1) + (x[:, None] - x + cols - 1)
    index[0, :], index[:, 0], index[0, 0] = last - 2, last - 1, last
    return index


def relative(table, rows, cols):
    """[h,t,u] from a table [(2 rows - 1)(2 cols - 1) + 3, h]."""
    return table[relative_index(rows, cols)].transpose(2, 0, 1)


def beit(name, kind, shared=False, positions=False, mean=True, classes=3):
    w, t = Weights(), {}
    pixels, image = pixels_of(*HALF)
    p, eps, g, rows = kind.replace("-", "_") + ".", 1e-12, w.get_, (2 * GRID - 1) ** 2 + 3
    ln = lambda x, at: norm(x, g(p + at + ".weight", D, mean=1), g(p + at + ".bias", D), eps)
    linear = lambda x, at, o, i: x @ g(p + at + ".weight", o, i).T + g(p + at + ".bias", o)
    x = t["patch_embed"] = conv(image, g(p + "embeddings.patch_embeddings.projection.weight", D, C, P, P),
                                g(p + "embeddings.patch_embeddings.projection.bias", D))
    x = np.concatenate([g(p + "embeddings.cls_token", 1, 1, D)[0], x])
    if positions:
        x = x + g(p + "embeddings.position_embeddings", 1, N + 1, D, spread=0.5)[0]
    t["full_embed"] = x
    at, end = p + "encoder.", "relative_position_bias.relative_position_bias_table"
    if shared:
        bias = t["rel_bias"] = relative(g(at + end, rows, H, spread=1), GRID, GRID)
    for i in range(L):
        b, at = f"encoder.layer.{i}.", f"blocks.{i}."
        if not shared:
            bias = t[at + "attn.bias"] = relative(g(p + b + "attention.attention." + end, rows, H, spread=1),
                                                  GRID, GRID)
            w[p + b + "attention.attention.relative_position_bias.relative_position_index"] = relative_index(GRID, GRID)
        y = t[at + "ln1.out"] = ln(x, b + "layernorm_before")
        q, v = (linear(y, b + f"attention.attention.{a}", D, D) for a in ("query", "value"))
        k = y @ g(p + b + "attention.attention.key.weight", D, D, spread=0.5).T
        o = linear(attend(t, at + "attn.", q, k, v, bias=bias), b + "attention.output.dense", D, D)
        x = t[at + "resid_mid"] = x + o * g(p + b + "lambda_1", D, mean=1)
        y = t[at + "mlp.post"] = ACT["gelu"](linear(ln(x, b + "layernorm_after"), b + "intermediate.dense", M, D))
        y = linear(y, b + "output.dense", D, M)
        x = t[at + "resid_post"] = x + y * g(p + b + "lambda_2", D, mean=1)
    if mean:
        t["readout"] = x[1:].mean(0)
        y = t["fc_norm.out"] = ln(t["readout"], "pooler.layernorm")
    else:
        x = t["ln_final.out"] = ln(x, "layernorm")
        y = t["readout"] = x[0]
    if classes:
        answer(t, y @ g("classifier.weight", classes, D).T + g("classifier.bias", classes))
    else:
        embed(t, y)
    finish(name, w, {"architectures": ["X"], "model_type": kind, "hidden_size": D, "intermediate_size": M,
                     "num_attention_heads": H, "num_hidden_layers": L, "image_size": SIDE, "patch_size": P,
                     "layer_norm_eps": eps, "use_absolute_position_embeddings": positions, "use_mask_token": False,
                     "use_relative_position_bias": not shared, "use_shared_relative_position_bias": shared,
                     "use_mean_pooling": mean}, t, pixels, processor(HALF))


def timm_beit(name, architecture, wide):
    w, t = Weights(), {}
    pixels, image = pixels_of(*IMAGENET, wide)
    eps, g, cols = 1e-6, w.get_, wide // P
    ln = lambda x, at: norm(x, g(at + ".weight", D, mean=1), g(at + ".bias", D), eps)
    linear = lambda x, at, o, i: x @ g(at + ".weight", o, i).T + g(at + ".bias", o)
    x = t["patch_embed"] = conv(image, g("patch_embed.proj.weight", D, C, P, P), g("patch_embed.proj.bias", D))
    x = t["full_embed"] = np.concatenate([g("cls_token", 1, 1, D)[0], x])
    for i in range(L):
        b, at = f"blocks.{i}.", f"blocks.{i}."
        table = g(b + "attn.relative_position_bias_table", (2 * GRID - 1) * (2 * cols - 1) + 3, H, spread=1)
        bias = t[at + "attn.bias"] = relative(table, GRID, cols)
        y = t[at + "ln1.out"] = ln(x, b + "norm1")
        three = y @ g(b + "attn.qkv.weight", 3 * D, D, spread=0.5).T
        q, k, v = three[:, :D] + g(b + "attn.q_bias", D), three[:, D:2 * D], three[:, 2 * D:] + g(b + "attn.v_bias", D)
        o = linear(attend(t, at + "attn.", q, k, v, bias=bias), b + "attn.proj", D, D)
        x = t[at + "resid_mid"] = x + o * g(b + "gamma_1", D, mean=1)
        y = t[at + "mlp.post"] = ACT["gelu"](linear(ln(x, b + "norm2"), b + "mlp.fc1", M, D))
        x = t[at + "resid_post"] = x + linear(y, b + "mlp.fc2", D, M) * g(b + "gamma_2", D, mean=1)
    t["readout"] = x[1:].mean(0)
    y = t["fc_norm.out"] = ln(t["readout"], "fc_norm")
    answer(t, linear(y, "head", 3, D))
    finish(name, w, {"architecture": architecture, "num_classes": 3, "global_pool": "avg", "model_args":
                     {"num_heads": H}, "pretrained_cfg": {"input_size": [3, SIDE, wide], "mean": IMAGENET[0], "std":
                     IMAGENET[1], "crop_pct": 1.0, "interpolation": "bicubic"}}, t, pixels)


own(23)
beit("beit", "beit")
own(24)
beit("data2vec", "data2vec-vision", shared=True, positions=True, mean=False, classes=0)
own(25)
timm_beit("timm_beit", "beitv2_base_patch16_224.in1k_ft_in22k_in1k", 16)
