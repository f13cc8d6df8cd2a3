#!/usr/bin/python3
"""Vitrine's traced ViT-B/16 forward pass against PyTorch's, plain and with every intermediate kept: interleaved in one run, for one and
two threads. Needs Debian's python3-torch. Usage: bench_torch.py SERVE_FORWARD [ROUNDS] [-o FILE.json]

Debian's OpenBLAS does not know newer processors and falls back to SSE3 kernels, so OPENBLAS_CORETYPE is set (SkylakeX where there is
AVX-512, else Haswell); PyTorch's own threads stay at one and its BLAS gets as many as we do, the best setting found on two cores."""
import json
import os
import statistics
import subprocess
import sys


def blas_of(maps, config):
    """Which BLAS a process has loaded, from its memory map and PyTorch's build configuration; None: the reference implementation, or
    none that is known to be fast."""
    for name, title in (('openblas', 'OpenBLAS'), ('mkl', 'MKL'), ('blis', 'BLIS'), ('atlas', 'ATLAS'), ('armpl', 'Arm PL')):
        for line in maps.splitlines():
            path = line.split()[-1] if line.strip() else ''
            if '/' in path and name in os.path.realpath(path).lower() and '.so' in path:
                return '%s (%s)' % (title, os.path.realpath(path))
    for name, title in (('BLAS_INFO=mkl', 'MKL'), ('BLAS_INFO=open', 'OpenBLAS')):
        if name in config and 'libblas' not in maps:
            return title + ' (inside PyTorch)'
    return None


def worker():
    """One forward pass per line of standard input: 'plain' or 'trace'."""
    import math
    import time
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)  # its own pool; the BLAS' threads are what helps, set by start() (both at 2 share two cores badly)
    torch.manual_seed(1)
    width, heads, hidden, layers, classes, patch, side = 768, 12, 3072, 12, 1000, 16, 224
    tokens, head = (side // patch) ** 2 + 1, width // heads
    rand = lambda *shape: torch.randn(*shape) * 0.02
    patch_w, patch_b, cls, pos = rand(width, 3, patch, patch), rand(width), rand(1, 1, width), rand(1, tokens, width)
    blocks = [dict(g1=torch.ones(width), b1=rand(width), g2=torch.ones(width), b2=rand(width), wq=rand(width, width), wk=rand(width, width),
                   wv=rand(width, width), wo=rand(width, width), bq=rand(width), bk=rand(width), bv=rand(width), bo=rand(width),
                   w1=rand(hidden, width), c1=rand(hidden), w2=rand(width, hidden), c2=rand(width)) for _ in range(layers)]
    gf, bf, head_w, head_b = torch.ones(width), rand(width), rand(classes, width), rand(classes)
    picture = torch.rand(1, 3, side, side) * 2 - 1

    def forward(kept):
        keep = kept.append if kept is not None else lambda t: None

        def seen(t):
            if kept is not None:
                t = t.contiguous()
                keep(t)
            return t

        x = seen(F.conv2d(picture, patch_w, patch_b, stride=patch).flatten(2).transpose(1, 2))
        x = seen(seen(torch.cat([cls, x], 1)) + pos)
        for b in blocks:
            y = seen(F.layer_norm(x, (width,), b['g1'], b['b1'], 1e-12))
            q, k, v = (seen(seen(F.linear(y, b['w' + n], b['b' + n])).view(1, tokens, heads, head).transpose(1, 2)) for n in 'qkv')
            scores = seen(seen(q @ k.transpose(-1, -2)) / math.sqrt(head))
            z = seen(seen(torch.softmax(scores, -1)) @ v)
            x = seen(x + seen(F.linear(seen(z.transpose(1, 2).reshape(1, tokens, width)), b['wo'], b['bo'])))
            y = seen(F.layer_norm(x, (width,), b['g2'], b['b2'], 1e-12))
            x = seen(x + seen(F.linear(seen(F.gelu(seen(F.linear(y, b['w1'], b['c1'])))), b['w2'], b['c2'])))
        x = seen(F.layer_norm(x, (width,), gf, bf, 1e-12))
        return seen(torch.softmax(seen(F.linear(x[:, 0], head_w, head_b)), -1))

    torch.ones(64, 64) @ torch.ones(64, 64)  # loads what it multiplies with
    with open('/proc/self/maps') as maps:
        print('ready', blas_of(maps.read(), torch.__config__.show()) or '', flush=True)
    with torch.no_grad():
        for line in sys.stdin:
            kept = [] if line.strip() == 'trace' else None
            cpu, wall = time.process_time(), time.perf_counter()
            forward(kept)
            print('%.3f %.3f' % ((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3), flush=True)


def start(command, threads):
    flags = open('/proc/cpuinfo').read() if os.path.exists('/proc/cpuinfo') else ''
    env = dict(os.environ, OPENBLAS_NUM_THREADS=str(threads), OMP_NUM_THREADS='1', MKL_NUM_THREADS=str(threads),
               OPENBLAS_CORETYPE='SkylakeX' if 'avx512f' in flags else 'Haswell')
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    said = p.stdout.readline().strip()
    if not said.startswith('ready'):
        sys.exit('bench_torch: %s did not start' % command[0])
    return p, said[len('ready'):].strip()


def ask(p, line):
    p.stdin.write(line + '\n')
    p.stdin.flush()
    return [float(x) for x in p.stdout.readline().split()]


def main():
    args = sys.argv[1:]
    out = args.pop(args.index('-o') + 1) if '-o' in args else None
    args = [a for a in args if a != '-o']
    if not args:
        sys.exit(__doc__)
    rounds = int(args[1]) if len(args) > 1 else 15
    result = []
    print('ViT-B/16 at 224, float32, batch 1; medians of %d interleaved rounds, ms wall (ms CPU)' % rounds)
    for threads in (1, 2):
        ours, _ = start([args[0], 'b16', str(threads)], threads)
        torch, blas = start([sys.executable, os.path.abspath(__file__), '--worker'], threads)
        if not blas:
            for p in (ours, torch):
                p.stdin.close()
                p.wait()
            sys.exit('bench_torch: PyTorch multiplies with the reference BLAS here, some 25 times slower than a tuned one: that is no '
                     'comparison.\nInstall one (Debian: apt-get install libopenblas0-pthread) and run this again.')
        if threads == 1:
            print('PyTorch multiplies with ' + blas)
        times = {'vitrine, every tensor kept': [], 'PyTorch, every tensor kept': [], 'PyTorch, plain': []}
        for i in range(rounds + 2):
            one = [ask(ours, 'trace'), ask(torch, 'trace'), ask(torch, 'plain')]
            if i >= 2:  # the first rounds warm caches and pages
                for name, t in zip(times, one):
                    times[name].append(t)
        for p in (ours, torch):
            p.stdin.close()
            p.wait()
        wall = {name: statistics.median(t[0] for t in v) for name, v in times.items()}
        cpu = {name: statistics.median(t[1] for t in v) for name, v in times.items()}
        names = list(times)
        print('%d thread%s' % (threads, 's' if threads > 1 else ''))
        for name in names:
            print('  %-28s %7.1f (%7.1f)   ratio of ours %.2f' % (name, wall[name], cpu[name], wall[names[0]] / wall[name]))
        result.append(dict(threads=threads, blas=blas, wall_ms=wall, cpu_ms=cpu))
    if out:
        with open(out, 'w') as f:
            json.dump(result, f, indent=1)


if __name__ == '__main__':
    if sys.argv[1:] == ['--worker']:
        worker()
    elif sys.argv[1:] == ['--which-blas']:  # of a memory map on standard input
        print(blas_of(sys.stdin.read(), '') or 'reference')
    else:
        main()
