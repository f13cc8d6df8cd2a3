#!/usr/bin/env bash
# What the README tells a newcomer, on a bare Debian 12: a clone of HEAD, then `make deps run` (left with q) on a terminal of 80×24 as root;
# then as a user without root, who finds the packages there, the same and `make deps test`. The machine is a folder of its own (debootstrap,
# minbase and git and make, nothing else), whose mounts and processes end with this script. MIRROR=URL: instead of the one that apt uses here.
# Everything that was said is in build/fresh/*.log.
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
cannot() { echo "make fresh can't run here: $*"; finish fresh; exit 1; }
FAILED=1 # until it has run
[ "$(id -u)" = 0 ] || cannot "it needs root: sudo make fresh"
command -v debootstrap >/dev/null || cannot "debootstrap is missing: make deps-all installs it"
git rev-parse -q --verify HEAD >/dev/null || cannot "this is no git repository, and a clone of HEAD is what is tried"
unshare -m -p --fork true 2>/dev/null || cannot "no namespaces of its own are permitted: run it on a machine, or in a container with CAP_SYS_ADMIN"
TYPE=$PWD/${B:-build/release}/tests/pty/type
[ -x "$TYPE" ] || make --no-print-directory "${B:-build/release}/tests/pty/type" || cannot "tests/pty/type.c does not build"
MIRROR=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null | awk '$2 == "bookworm" && $3 == "main" {print $1; exit}')}
[ -n "$MIRROR" ] || cannot "apt here has no mirror of Debian 12: MIRROR=http://… make fresh"
git diff --quiet HEAD || echo "  what is not committed is not tried"

TOP=$(mktemp -d "${TMPDIR:-/var/tmp}/vitrine-fresh.XXXXXX") # nobody else's to read
ROOT=$TOP/root LOGS=$PWD/build/fresh
trap 'rm -rf --one-file-system "$TOP"' EXIT
trap 'exit 130' INT TERM
rm -rf "$LOGS" && mkdir -p "$LOGS" "$ROOT" && chmod 755 "$ROOT"
began=$SECONDS
step() { printf '  %4d s  %s\n' $((SECONDS - began)) "$*"; }
step "debootstrap: Debian 12 with git and make"
debootstrap --variant=minbase --include=git,make bookworm "$ROOT" "$MIRROR" >"$LOGS/debootstrap.log" 2>&1 ||
    { tail -n 5 "$LOGS/debootstrap.log"; cannot "debootstrap failed (a network? MIRROR=… names another mirror); see build/fresh/debootstrap.log"; }
# how apt gets out of here, without what has a password in it
apt-config dump | grep -iE '^Acquire::(https?|Check|Retries)' | grep -v '@' >"$ROOT/etc/apt/apt.conf.d/90here"
[ -e /etc/ssl/certs/ca-certificates.crt ] && [[ $MIRROR == https:* ]] && mkdir -p "$ROOT/etc/ssl/certs" && cp /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/"
PROXIES=()
for p in http_proxy https_proxy no_proxy; do [ -z "${!p:-}" ] || [[ ${!p} == *@* ]] || PROXIES+=("$p=${!p}"); done
git bundle create -q "$ROOT/var/lib/vitrine.bundle" HEAD && chmod 644 "$ROOT/var/lib/vitrine.bundle" || cannot "HEAD can't be packed"
useradd -R "$ROOT" -m -s /bin/bash newcomer || cannot "no user can be made"

# inside WHO COMMAND…: on the new machine, in who's home, with nothing of this one's environment. The shell stays, as process 1: make as
# process 1 can't be ended by a signal.
inside() {
    local who=$1 home=/home/newcomer
    shift
    [ "$who" = root ] && home=/root
    unshare -m -p --fork --kill-child bash -c '
        root=$1; shift
        mount -t proc proc "$root/proc" && mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" && mount -t tmpfs tmpfs "$root/dev/shm" &&
            ln -sf pts/ptmx "$root/dev/ptmx" && exec "$@"' _ "$ROOT" \
        chroot --userspec="$who:$who" "$ROOT" env -i "HOME=$home" "USER=$who" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        TERM=xterm LANG=C.UTF-8 "${PROXIES[@]}" bash -c 'cd && '"$*"'; exit $?'
}
export -f inside
export ROOT
# typed NAME SECONDS [-k KEY] WHO COMMAND: on a terminal
typed() {
    local name=$1 limit=$2 keys=() status
    shift 2
    [ "$1" = -k ] && { keys=(-k "$2"); shift 2; }
    step "$1: $2"
    "$TYPE" "$limit" "${keys[@]}" bash -c "PROXIES=(${PROXIES[*]@Q}); inside \"\$@\"" _ "$@" >"$LOGS/$name.log" 2>&1 </dev/null
    status=$?
    same "$1: $2: exit status (see build/fresh/$name.log)" 0 $status
    [ $status = 0 ] || tail -c 3000 "$LOGS/$name.log" | tr -d '\r' | tail -n 30 | cat -v | sed 's/^/    |/'
}
FAILED=0
for who in root newcomer; do
    inside $who 'git clone -q /var/lib/vitrine.bundle vitrine' >"$LOGS/$who-clone.log" 2>&1 || fail "$who: no clone: $(cat "$LOGS/$who-clone.log")"
    typed $who-run 3600 -k qq $who 'cd vitrine && make deps run'
    check "$who: make deps run drew no screen" grep -q $'\e\\[?1049h' "$LOGS/$who-run.log"
    if [ $who = newcomer ]; then # as root they are run by whoever runs this
        typed $who-test 5400 $who 'cd vitrine && make deps test'
        tr -d '\r' <"$LOGS/$who-test.log" | grep -E '^  (FAILED|skipped)|^broken|^left out' | cut -c 1-200 | sort | uniq -c
        last=$(tr -d '\r' <"$LOGS/$who-test.log" | grep -E '^all in [0-9]+ s: ' | tail -n 1)
        step "$who: $last"
        check "$who: the tests did not end well" grep -q ', 0 failed' <<<"$last"
    fi
    same "$who: left in /tmp" "" "$(find "$ROOT/tmp" -mindepth 1 -maxdepth 1 -printf '%f ')"
    step "$who: the clone and what was built take $(du -sh "$ROOT"/{root,home/newcomer}/vitrine 2>/dev/null | tail -n 1 | cut -f 1)"
done
step "done"
finish fresh
