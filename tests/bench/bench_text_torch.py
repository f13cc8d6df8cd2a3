#!/usr/bin/python3
"""Text models against PyTorch, interleaved in one run: a traced pass over 128 tokens against PyTorch's plain one and one that keeps every
intermediate, and 64 tokens written one by one with the cache. GPT-2's size in float32, and Llama 3.2 1B's: here in bfloat16, there in
float32, since PyTorch 1.13 is slower in bfloat16 on most processors. Weights are made up. Needs Debian's python3-torch.
Usage: bench_text_torch.py SERVE_TEXT [ROUNDS [SIZE…]]   (5 rounds; gpt2 llama1b)"""
import importlib.util
import os
import statistics
import sys

spec = importlib.util.spec_from_file_location('bench_torch', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'bench_torch.py'))
bench_torch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench_torch)


def worker(size):
    """Per line of standard input, 'plain', 'trace' or 'decode': milliseconds of wall clock and processor, and the most memory in KiB."""
    import resource
    import time
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)  # as in bench_torch.py: the threads are the BLAS'
    torch.manual_seed(1)
    llama = size == 'llama1b'
    words, width, layers, heads, kv, mlp = (128256, 2048, 16, 32, 8, 8192) if llama else (50257, 768, 12, 12, 12, 3072)
    e = 64
    make = lambda *shape: torch.empty(*shape).uniform_(-0.03, 0.03)
    embed, places = make(words, width), make(1024, width)
    ones = lambda: torch.ones(width)
    blocks = [dict(g1=ones(), b1=make(width), g2=ones(), b2=make(width), q=make(heads * e, width), k=make(kv * e, width),
                   v=make(kv * e, width), o=make(width, heads * e), up=make(mlp, width), down=make(width, mlp),
                   gate=make(mlp, width) if llama else None,
                   bias=None if llama else [make(n) for n in (width, width, width, width, mlp, width)]) for _ in range(layers)]
    rates = 500000 ** (-torch.arange(0, e, 2) / e)
    angles = torch.outer(torch.arange(1024), torch.cat([rates, rates]))
    cosine, sine = angles.cos(), angles.sin()

    def forward(tokens, kept, cache):
        first = cache[0][0].shape[1] if cache and cache[0] else 0
        n = tokens.shape[0]

        def seen(t):
            if kept is not None:
                t = t.contiguous()
                kept.append(t)
            return t

        def norm(x, b, i):
            if llama:
                return seen(seen(x * torch.rsqrt(seen(x.pow(2).mean(-1, keepdim=True) + 1e-5))) * b['g%d' % i])
            return seen(F.layer_norm(x, (width,), b['g%d' % i], b['b%d' % i], 1e-5))

        def turn(x):
            half = torch.cat([-x[..., e // 2:], x[..., :e // 2]], -1)
            return seen(x * cosine[first:first + n] + half * sine[first:first + n])

        linear = lambda x, b, name, i: seen(F.linear(x, b[name], b['bias'][i] if b['bias'] else None))
        x = seen(embed[tokens])
        if not llama:
            x = seen(x + places[first:first + n])
        for l, b in enumerate(blocks):
            y = norm(x, b, 1)
            q, k, v = (linear(y, b, name, i).view(n, h, e).transpose(0, 1) for i, (name, h) in enumerate(zip('qkv', (heads, kv, kv))))
            if llama:
                q, k = turn(q), turn(k)
            if cache is not None:
                if cache[l]:
                    k, v = torch.cat([cache[l][0], k], 1), torch.cat([cache[l][1], v], 1)
                cache[l] = (k, v)
            k, v = (t.repeat_interleave(heads // kv, 0) for t in (k, v)) if kv != heads else (k, v)
            scores = seen(seen(q @ k.transpose(-1, -2)) / e ** 0.5)
            if n > 1:
                scores = seen(scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float('-inf')))
            z = seen(seen(torch.softmax(scores, -1)) @ v)
            x = seen(x + linear(seen(z.transpose(0, 1).reshape(n, heads * e)), b, 'o', 3))
            y = norm(x, b, 2)
            up = linear(y, b, 'up', 4)
            post = seen(up * seen(F.silu(seen(F.linear(y, b['gate']))))) if llama else seen(F.gelu(up))
            x = seen(x + linear(post, b, 'down', 5))
        x = norm(x, blocks[0], 1)
        return seen(torch.softmax(seen(F.linear(x, embed)), -1))

    torch.ones(64, 64) @ torch.ones(64, 64)
    with open('/proc/self/maps') as maps:
        print('ready', bench_torch.blas_of(maps.read(), torch.__config__.show()) or '', flush=True)
    with torch.no_grad():
        for line in sys.stdin:
            cpu, wall = time.process_time(), time.perf_counter()
            if line.strip() == 'decode':
                cache, token = [None] * layers, torch.tensor([0])
                for _ in range(64):
                    token = forward(token, None, cache)[-1:].argmax(-1)
            else:
                forward(torch.arange(128) * 7919 % words, [] if line.strip() == 'trace' else None, None)
            print('%.3f %.3f %d' % ((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3,
                                    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), flush=True)


def main():
    args = sys.argv[1:]
    if not args:
        sys.exit(__doc__)
    try:
        import torch
        print('PyTorch', torch.__version__)
    except ImportError:
        print('bench-text-torch: left out, PyTorch is not here (Debian: apt-get install python3-torch libopenblas0-pthread)')
        return
    rounds = int(args[1]) if len(args) > 1 else 5
    for size in args[2:] or ['gpt2', 'llama1b']:
        for threads in (1, 2):
            ours, ready = bench_torch.start([args[0], size, str(threads), 'bf16' if size == 'llama1b' else 'f32'], threads)
            theirs, blas = bench_torch.start([sys.executable, os.path.abspath(__file__), '--worker', size], threads)
            if not blas:
                sys.exit('bench-text-torch: PyTorch multiplies with the reference BLAS here: that is no comparison')
            best = {}
            for _ in range(rounds):
                for name, p, line in (('prefill', ours, 'prefill'), ('prefill, PyTorch', theirs, 'plain'),
                                      ('prefill, PyTorch, all kept', theirs, 'trace'), ('decode', ours, 'decode'),
                                      ('decode, PyTorch', theirs, 'decode'), ('weights read once', ours, 'read')):
                    got = bench_torch.ask(p, line)
                    best[name] = [min(a, b) for a, b in zip(best.get(name, got), got)][:2] + [got[2]]
            for p in (ours, theirs):
                p.stdin.close()
                p.wait()
            print('%s, %d thread%s, 128 tokens and 64 written, the best of %d rounds, ms of processor (of wall clock)'
                  % (size, threads, 's' if threads > 1 else '', rounds))
            for name, (wall, cpu, memory) in best.items():
                own = best['prefill' if name.startswith('prefill') else 'decode'][1]
                print('  %-28s %9.1f (%9.1f) %7.0f MiB%s' % (name, cpu, wall, memory / 1024,
                                                          '   ratio of ours %.2f' % (own / cpu) if 'PyTorch' in name else ''))
            gb = float(ready) / 1e9
            print('  decode reads %.1f GB/s, %.0f %% of %.1f GB/s' % (64e3 * gb / best['decode'][1],
                                                                   6400 * best['weights read once'][1] / best['decode'][1],
                                                                   1e3 * gb / best['weights read once'][1]))


if __name__ == '__main__':
    if sys.argv[1:2] == ['--worker']:
        worker(sys.argv[2])
    else:
        main()
