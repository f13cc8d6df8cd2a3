#!/usr/bin/env bash
# Whatever the program waits for, a request to end reaches it within half a second; one that is ignored does not.
# VITRINE=build/gcc/vitrine tests/e2e/waits.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
V=$(realpath "${VITRINE:-build/gcc/vitrine}")
BLOCKED=$(dirname "$V")/tests/pty/blocked
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state TERM=xterm-256color LC_ALL=C.UTF-8
ms() { date +%s%3N; }
AFTER=0.5 LATE=1500 # half a second after the signal, and a second for a busy machine

# ends WHAT SIGNAL COMMAND…: gets the signal after half a second; ends by it
ends() {
    local what=$1 signal=$2 began took
    shift 2
    began=$(ms)
    timeout -k 5 -s "$signal" "$AFTER" "$@" 2>err
    same "$what, SIG$signal: status" 124 $? # timeout's word for: ended by my signal
    took=$(($(ms) - began))
    check "$what, SIG$signal: $took ms" [ "$took" -le $((500 + LATE)) ]
}
mkfifo quiet
sleep 60 >quiet &
writer=$!
for s in INT TERM HUP; do
    ends 'a pipe that is not written' $s "$V" run -i - <quiet >out
    ends 'a recipe from such a pipe' $s "$V" train --config - -o new <quiet >out
done
mkfifo unread
sleep 60 <unread &
reader=$!
for s in INT TERM HUP; do
    ends 'a pipe that is not read' $s "$V" show '**' --json -o - '#17' >unread
    ends 'a pipe that is not read, text' $s "$V" show blocks.0.attn.pattern --json '#17' >unread
done
kill $reader

# ignored signals stay so: by trap, by nohup
(
    trap '' INT HUP
    exec "$V" run -i - <quiet >out 2>err
) &
pid=$!
sleep 0.3
kill -INT $pid
kill -HUP $pid
sleep 0.3
check 'ignored signals are ignored' kill -0 $pid
kill -TERM $pid
wait $pid
same 'one that is not ignored ends it' 143 $?
nohup "$V" train --steps 100000 -o nohup </dev/null >out 2>err &
pid=$!
for _ in $(seq 100); do [ -s nohup/training.safetensors ] && break; sleep 0.05; done
kill -HUP $pid
sleep 0.3
check 'nohup' kill -0 $pid
kill -TERM $pid
wait $pid
same 'nohup, then SIGTERM' 143 $?
kill $writer

# a terminal that nobody reads
if [ -x "$BLOCKED" ]; then
    said=$("$BLOCKED" "$V" --fresh)
    same "a terminal that nobody reads: $said" 0 $?
else
    fail "$BLOCKED is not built"
fi
finish waits
