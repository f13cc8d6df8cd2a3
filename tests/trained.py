#!/usr/bin/python3
"""Weights that somebody trained, beside outputs that are recorded: `make trained DIR=folder`. The files are others'; none is
in this repository, and none is fetched: what the folder lacks is named, with the place where it is published.
A text written greedily must be the recorded one, byte for byte; a number must agree in the digits that were printed. Of MiniLM
they are what its documentation prints."""
import hashlib, json, os, struct, subprocess, sys, tempfile

HUB = "https://huggingface.co/"
# name, SHA-256, and where it is published
STORIES = [("stories260K.bin", "b0a507e7ad0f626624f17112325e66691f9076d622e1d3274d103d00299f2696", HUB + "karpathy/tinyllamas, folder stories260K"),
           ("tok512.bin", "037cb335abb25d1fa9e8ecae30ed2a3a8ace9302862ebcdc05d51a6bbb10c312", HUB + "karpathy/tinyllamas, folder stories260K")]
BABY = [("model5000.bin", "98b63851593002f0ab706ff1db61fd9f5fd73d89df34970dd66eced9ee954464", "https://github.com/EN10/BabyLlama, folder tok105"),
        ("tok105.vocab", "e55a336fb620a372a3627c8a1bfeff9de95b3970d2b2eef8b8240da885cbe82c", "https://github.com/EN10/BabyLlama, folder tok105")]
CAPP = [("capp-gpt/" + name, sha, "https://github.com/HelgeS/capp-gpt-serve, folder model of commit d53c507") for name, sha in (
    ("config.json", "350f3b6c3f97f7d27587279b7586b70948e92474566cbd14e81db06f4603c711"),
    ("generation_config.json", "be545aad831acfbb1b3bb9e96c8ad1cbbe0d447ea7f12f36e2c1e3ff0a260eb9"),
    ("model.safetensors", "e683d99fe9ec7b798a95eeafb80895f17292a2ee75fd2a2f939e71e2d16c7ab3"))]
MINILM = [("all-MiniLM-L6-v2/" + name, sha, HUB + "sentence-transformers/all-MiniLM-L6-v2") for name, sha in (
    ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ("modules.json", None), ("1_Pooling/config.json", None))]

# What llama2.c's own test (test_all.py) expects of `run stories260K.bin -z tok512.bin -t 0.0 -n 200`.
STORY = """Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. \
She wanted to play with it, but it was too high.
Lily's mom said, "Lily, let's go to the park." Lily was sad and didn't know what to do. She said, "I want to play with your ball, but I \
can't find it."
Lily was sad and didn't know what to do. She said, "I'm sorry, Lily. I didn't know what to do."
Lily didn't want to help her mom, so she"""
# What stands behind its 5,000 steps in tok105/iters-vs-val-loss.md of BabyLlama, drawn at a temperature of 0.8, up to the first <unk>.
DRAWN = ('Once upon a time there was a little girl named Lily. She loved to play outside in the sunshine. One day, she went to the park to '
         'play with her toys. Lily was so happy and said, "I want to draw a nail, Tim!"')
# Of the same weights by llama2.c's equations (model.py) in float64, in numpy: what they write, and −log p of DRAWN. No two of the best
# logits on the way come nearer than 0.04 (of STORY: 0.004).
BABY_STORY = """Once upon a time, there was a little girl named Lily. She loved to play outside in the sunshine. One day, she \
went to the park with her mommy and daddy. She saw a big box on the ground. She wanted to"""
NATS = {"stories260K.bin": "56.3126", "model5000.bin": "56.2297"}
# A GPT-2 as Hugging Face's class saves it, which plans how a part is made. What its repository expects of five kinds of part
# (validation_results.json of commit 5d9b43d: every chain of processes, in order; 50 ends a chain, 51 the text), and −log p of
# the first, by GPT-2's equations in float64 in numpy.
PARTS = {"0,7,14,16,20,24,49": "29,50,32,36,50,33,36,50,51", "0,7,14,16,20,25,49": "29,50,32,36,50,33,36,50,51",
         "0,7,14,16,20,26,49": "29,50,33,36,50,51", "0,7,14,16,20,27,49": "33,36,50,34,36,50,51", "0,7,14,16,20,28,49": "34,36,50,51"}
PART_NATS = "43.1142"
# The first lines of sentence-transformers' documentation: three sentences, and how like each other two of them are.
SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
LIKE = {(0, 1): "0.6660", (0, 2): "0.1046", (1, 2): "0.1411"}

program, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
counts = {"passed": 0, "failed": 0, "skipped": 0}


def same(what, expected, got):
    counts["passed" if expected == got else "failed"] += 1
    print(f"  {'same   ' if expected == got else 'FAILED '} {what}" + ("" if expected == got else f": expected {expected!r}, got {got!r}"))


def said(*words):
    run = subprocess.run([program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return run.stdout if run.returncode == 0 else run.stderr


def told(*words):
    """The JSON of it; what it said instead, as text."""
    answer = said(*words, "--json")
    try:
        return json.loads(answer)
    except ValueError:
        return {"text": answer, "texts": [{"nats": float("nan")}], "cosine": float("nan")}


def there(name, files):
    """All files of a model, as they were when its outputs were recorded."""
    lacking = [(f, where) for f, _, where in files if not os.path.exists(os.path.join(folder, f))]
    for file, where in lacking:
        print(f"  lacking {file}: {where}")
    if lacking:
        counts["skipped"] += 1
        print(f"  skipped {name}")
        return False
    for file, sha, _ in files:
        with open(os.path.join(folder, file), "rb") as f:
            if sha:
                same(f"{file}: its SHA-256", sha, hashlib.sha256(f.read()).hexdigest())
    return True


def writes(file, text, steps, where=folder):
    model = os.path.join(where, file)
    for how in ([], ["--no-cache"]):
        got = told("write", "-m", model, "-i", "ids:1", "--steps", str(steps), *how)["text"]
        same(f"{file}: {steps} words, greedily{', without a cache' if how else ''}", text, got)
    same(f"{file}: −log p of a text, nats", NATS[file], "%.4f" % told("score", "-m", model, DRAWN)["texts"][0]["nats"])
    answer = said("verify", "-m", model, "-i", DRAWN)
    same(f"{file}: verify, by its equations in double", True, "Model: " in answer and "BEYOND" not in answer)


def pieces(vocab, path):
    """sentencepiece's list of pieces as llama2.c's tokenizer.py writes it."""
    with open(vocab, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    with open(path, "wb") as f:
        f.write(struct.pack("<i", max(len(piece.encode()) for piece, _ in rows)))
        for piece, score in rows:
            name = piece.replace("▁", " ").encode()
            f.write(struct.pack("<fi", float(score), len(name)) + name)


if not os.path.isdir(folder):
    sys.exit("make trained DIR=FOLDER: a folder with files of trained models. Those that it lacks are named then.")
if there("stories260K", STORIES):
    writes("stories260K.bin", STORY, 200)
if there("BabyLlama", BABY):
    with tempfile.TemporaryDirectory() as beside:  # its list of words is read beside a model
        os.symlink(os.path.abspath(os.path.join(folder, "model5000.bin")), beside + "/model5000.bin")
        pieces(os.path.join(folder, "tok105.vocab"), beside + "/tok105.bin")
        writes("model5000.bin", BABY_STORY, 200, beside)
if there("capp-gpt", CAPP):
    part = os.path.join(folder, "capp-gpt")
    for start, chains in PARTS.items():
        for how in ([], ["--no-cache"]):
            got = told("write", "-m", part, "-i", "ids:" + start, "--steps", "20", *how).get("ids")
            same(f"capp-gpt: how part {start} is made{', without a cache' if how else ''}", chains, ",".join(map(str, got or [])))
    text = "ids:" + ",".join(next(iter(PARTS.items())))
    same("capp-gpt: −log p of a part and its chains, nats", PART_NATS, "%.4f" % told("score", "-m", part, "-i", text)["texts"][0]["nats"])
    answer = said("verify", "-m", part, "-i", text)
    same("capp-gpt: verify, by its equations in double", True, "Model: " in answer and "BEYOND" not in answer)
if there("all-MiniLM-L6-v2", MINILM):
    for (a, b), like in LIKE.items():
        got = told("embed", "-m", os.path.join(folder, "all-MiniLM-L6-v2"), "-i", SENTENCES[a], SENTENCES[b])
        same(f"all-MiniLM-L6-v2: cosine of sentences {a + 1} and {b + 1}", like, "%.4f" % got["cosine"])
print("trained: " + ", ".join(f"{n} {how}" for how, n in counts.items()))
sys.exit(counts["failed"] > 0 or not counts["passed"])
