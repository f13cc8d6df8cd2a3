#!/usr/bin/env bash
# The real program in a real terminal: every script of tests/e2e/ that drives one. e2e.sh walk: only that one.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
export B=${B:-build/gcc}
# cli runs the others; tmux.sh is what these have in common
for script in tests/e2e/*.sh; do
    grep -qw "$(basename "$script" .sh)" tests/e2e.sh tests/all.sh || { fail "$script is run by no pass"; finish e2e; exit 1; }
done
[ $# -gt 0 ] || set -- walk tasks habits learned sizes terminals signals inputs large plain scripts lessons present class
for t; do
    bash "tests/e2e/$t.sh" || failed=1
done
[ -z "${failed:-}" ]
