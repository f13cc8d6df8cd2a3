#!/usr/bin/env bash
# The real program in a real terminal: every script of tests/e2e/ that drives one. e2e.sh walk: only that one.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
export B=${B:-build/gcc}
[ $# -gt 0 ] || set -- walk tasks habits learned sizes terminals signals inputs large plain scripts present class
for t; do
    bash "tests/e2e/$t.sh" || failed=1
done
[ -z "${failed:-}" ]
