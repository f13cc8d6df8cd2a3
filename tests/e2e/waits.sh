#!/usr/bin/env bash
# Whatever the program waits for, a request to end reaches it within half a second; one that is ignored does not.
# VITRINE=build/release/vitrine tests/e2e/waits.sh
cd "$(dirname "$0")/../.." || exit 1
. tests/lib.sh
FAMILIES=$PWD/tests/data/families
V=$(realpath "${VITRINE:-build/release/vitrine}")
BLOCKED=$(dirname "$V")/tests/pty/blocked LATE=$(dirname "$V")/tests/pty/late
if [ ! -x "$BLOCKED" ] || [ ! -x "$LATE" ]; then
    fail "$BLOCKED or $LATE is not built"
    finish waits
    exit 1
fi
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
export HOME=$T/home XDG_STATE_HOME=$T/state TERM=xterm-256color LC_ALL=C.UTF-8
BOUND=500 # milliseconds: what the issue of waiting is held to

# ended SIGNAL DELAY COMMAND…: what tests/pty/late says: how it ended, milliseconds by the clock, of processor time
ended() { "$LATE" "$@" 3>&1 >out 2>err; }
# ends WHAT SIGNAL COMMAND…: what waits gets the signal and ends by it, within half a second. On a busy machine a single
# try may be late although nothing is wrong, so the best of six counts (a wait that is not interrupted, or looks up once
# a second, is late in all of them); none may hang, and all end by the signal.
ends() {
    local what=$1 signal=$2 how wall cpu best=999999 try
    shift 2
    for try in 1 2 3 4 5 6; do
        read -r how wall cpu < <(ended "$signal" 300 "$@")
        [ "$how" = "$signal" ] || break
        [ "$wall" -lt "$best" ] && best=$wall
        [ "$best" -le $BOUND ] && break
    done
    same "$what, SIG$signal: ended by" "$signal" "$how"
    check "$what, SIG$signal: $best ms" [ "$best" -le $BOUND ]
}
# stops WHAT COMMAND…: what computes, on one thread, spends no more than half a second of processor time after the
# signal, whenever that comes; by the clock a busy machine may take longer.
stops() {
    local what=$1 how wall cpu worst=0 ended=0 delay
    shift
    for delay in 30 60 120 200 300 450; do
        read -r how wall cpu < <(ended INT $delay "$@" --threads 1)
        [ "$how" = 0 ] && continue # it was done before
        same "$what, SIGINT after $delay ms: ended by" INT "$how"
        ended=$((ended + 1))
        [ "$cpu" -gt "$worst" ] && worst=$cpu
    done
    check "$what: it was always done before the signal" [ $ended -ge 1 ]
    check "$what: $worst ms of processor time after the signal" [ "$worst" -le $BOUND ]
}
mkfifo quiet
sleep 60 >quiet &
writer=$!
for s in INT TERM HUP; do
    ends 'a pipe that is not written' $s "$V" run -i - <quiet
    ends 'a recipe from such a pipe' $s "$V" train --config - -o new <quiet
done
mkfifo unread
sleep 60 <unread &
reader=$!
for s in INT TERM HUP; do
    ends 'a pipe that is not read' $s sh -c 'exec "$0" show "**" --json -o - "#17" >unread' "$V"
    ends 'a pipe that is not read, text' $s sh -c 'exec "$0" show blocks.0.attn.pattern --json "#17" >unread' "$V"
    ends 'messages into a pipe that is not read' $s sh -c 'exec "$0" check many 2>unread >/dev/null' "$V"
done

# what was written until Ctrl-C is printed; where nobody reads it, the next one ends that too (a shell's own background
# does not hear of SIGINT: here it is SIGTERM twice)
timeout 0.5 cat /dev/zero >unread
"$V" write -m "$FAMILIES/words_gpt2" -i ids:1,2,3 --steps 4 >unread 2>err &
pid=$!
sleep 0.5
kill -TERM $pid
sleep 0.5
check 'write: what there is waits for its reader' kill -0 $pid
kill -TERM $pid
sleep 0.5
check 'write: the second request ends it' eval '! kill -0 $pid 2>/dev/null'
kill -KILL $pid 2>/dev/null
wait $pid
same 'write: ended by' 143 $?
same 'write: nothing is complained about' '' "$(cat err)"
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

# what computes
"$V" data 0-149 -o kinds/ --by-class >/dev/null
stops 'measuring' "$V" evaluate --pictures kinds
stops 'deriving again' "$V" verify '#17'
stops 'training' "$V" train --steps 100000 -o trained --pictures kinds

# a terminal that nobody reads: ^C is the screen's own key, elsewhere the terminal makes a signal of it
for how in TERM INT HUP; do
    said=$("$BLOCKED" $how "$V" --fresh)
    same "a terminal that nobody reads, $how: $said" 0 $?
done
for how in TERM INT ^C; do
    said=$("$BLOCKED" $how "$V" show '**' --json '#17')
    same "an answer on such a terminal, $how: $said" 0 $?
done
finish waits
