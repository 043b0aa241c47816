#!/bin/sh
# Trains on a RunPod pod, or on any Debian or Ubuntu machine without systemd where one is root and one folder persists.
# It may be run again at any time: what is installed stays, a run that goes on is left alone, one that was cut off goes on.
set -eu

usage() {
    cat <<'END'
Usage: scripts/train_runpod.sh [start [OPTION...] | status | stop]

  start    (default) install what is missing, begin the run or go on with it in the background, start TensorBoard,
           and say how to watch, stop and fetch. OPTIONs go to `mario-rl train`.
  status   how the run stands
  stop     save the run and end it, and TensorBoard with the last one

Environment:
  NAME, MODEL, LEVEL, PRESET, WORKERS, STEPS, SEED, DEVICE    the run, as docker/train_or_resume.sh explains
  WORKSPACE         what persists: holds the runs, the logs and the environment (default /workspace)
  VENV              the Python environment (default $WORKSPACE/mario-rl-venv); one that has mario-rl is used as it is
  VARIANT           torch for cpu or cuda (default: cuda if nvidia-smi finds a GPU)
  PYTHON            Python 3.11 or newer to make it with (default: one that is found, or installed)
  LAUNCHER          tmux, with the dashboard in it, or nohup (default: tmux if there is one)
  TENSORBOARD       local: for an ssh tunnel (default); public: for RunPod's proxy, everybody may look; off
  TENSORBOARD_PORT  default 6006; 0 takes a free one
END
}

mistake() {
    echo "train_runpod: $1" >&2
    exit 2
}

fail() {
    echo "train_runpod: $1" >&2
    exit 1
}

say() {
    echo "train_runpod: $1"
}

one_of() { # VARIABLE VALUE CHOICE...
    variable="$1" value="$2"
    shift 2
    for choice in "$@"; do
        [ "$value" != "$choice" ] || return 0
    done
    mistake "$variable is one of $*, not '$value'"
}

# --- what is wanted -------------------------------------------------------------------------------------------------

command="${1:-start}"
case "$command" in
-h | --help)
    usage
    exit 0
    ;;
start | status | stop) [ $# -eq 0 ] || shift ;;
*) mistake "start, status or stop, not '$command'; --help explains" ;;
esac
[ "$command" = start ] || [ $# -eq 0 ] || mistake "$command takes no options, not '$1'"

repository="$(cd "$(dirname "$0")/.." && pwd)"
workspace="${WORKSPACE:-/workspace}"
[ -d "$workspace" ] || mistake "there is no folder $workspace: set WORKSPACE to one that persists"
[ -w "$workspace" ] || mistake "$workspace cannot be written: set WORKSPACE to a folder of your own"
workspace="$(cd "$workspace" && pwd)"
port="${TENSORBOARD_PORT:-6006}"
case "$port" in *[!0-9]*) mistake "TENSORBOARD_PORT is a number, not '$port'" ;; esac
[ "$port" -le 65535 ] || mistake "TENSORBOARD_PORT is at most 65535, not $port"
tensorboard="${TENSORBOARD:-local}"
one_of TENSORBOARD "$tensorboard" local public off
[ -z "${VARIANT:-}" ] || one_of VARIANT "$VARIANT" cpu cuda
[ -z "${LAUNCHER:-}" ] || one_of LAUNCHER "$LAUNCHER" tmux nohup
[ -z "${PYTHON:-}" ] || command -v "$PYTHON" >/dev/null || mistake "PYTHON: there is no program $PYTHON"

export CHECKPOINTS="$workspace/checkpoints"
run="$("$repository/docker/train_or_resume.sh" --check "$@")" # refuses what cannot be
name="${run##*/}"
venv="${VENV:-$workspace/mario-rl-venv}"
logs="$workspace/mario-rl-logs"
log="$logs/$name.log"
pid_file="$logs/$name.pid"
tensorboard_log="$logs/tensorboard.log"
tensorboard_pid_file="$logs/tensorboard.pid"
session="mario-rl-$(echo "$name" | tr -c 'A-Za-z0-9_\n-' _)" # tmux wants no dots and colons

# --- what is there --------------------------------------------------------------------------------------------------

# The process that a file names, if it is still that one: ids are used again, after a restart of the pod for sure.
running() { # PID_FILE WORD
    [ -f "$1" ] || return 1
    pid="$(cat "$1")"
    [ -n "$pid" ] && [ -r "/proc/$pid/cmdline" ] && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- "$2" || return 1
    ! grep -q '^State:.Z' "/proc/$pid/status"
}

training() {
    running "$pid_file" 'mario-rl.*train\|train_or_resume'
}

others_train() {
    for file in "$logs"/*.pid; do
        ! running "$file" 'mario-rl.*train\|train_or_resume' || return 0
    done
    return 1
}

of_status() { # KEY; mario-rl writes one a line
    sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$run/status.json" 2>/dev/null || true
}

status() {
    echo "$(of_status state), $(of_status steps) steps, $(of_status minutes_trained) minutes"
}

show_status() {
    if training; then
        say "$name is training, as process $(cat "$pid_file"): $(status)"
    elif [ -d "$run" ]; then
        say "$name is not training: $(status)"
    else
        say "there is no run $name in $CHECKPOINTS yet"
    fi
}

end() { # PID_FILE SECONDS WHAT
    pid="$(cat "$1")"
    kill -TERM "$pid"
    left="$2"
    while kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do
        [ "$left" -gt 0 ] || fail "$3 (process $pid) has not ended within $2 s; kill -9 $pid ends it at once"
        sleep 1
        left=$((left - 1))
    done
    rm -f "$1"
}

case "$command" in
status)
    show_status
    exit 0
    ;;
stop)
    ! training || end "$pid_file" 120 "the run"
    others_train || ! running "$tensorboard_pid_file" tensorboard || end "$tensorboard_pid_file" 20 TensorBoard
    show_status
    exit 0
    ;;
esac

# --- installing -----------------------------------------------------------------------------------------------------

install_packages() {
    [ "$(id -u)" -eq 0 ] || fail "missing packages: run  apt-get install $*  as root, then try again"
    command -v apt-get >/dev/null || fail "no apt-get here: install the equivalents of $*, then try again"
    say "installing $*"
    DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 || fail "apt-get update failed, see above"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 ||
        fail "apt-get could not install $*, see above"
}

is_recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for python in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
        ! command -v "$python" >/dev/null || ! is_recent "$python" || return 0
    done
    [ -z "${PYTHON:-}" ] || mistake "PYTHON: $PYTHON is older than 3.11"
    python=python3.11 # Ubuntu 22.04 has it beside its 3.10
    install_packages python3.11 python3.11-dev python3.11-venv
}

has_headers() {
    "$1" -c 'import ensurepip, os, sys, sysconfig, venv
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}

install_mario_rl() {
    variant="${VARIANT:-cpu}"
    [ -n "${VARIANT:-}" ] || ! nvidia-smi --list-gpus >/dev/null 2>&1 || variant=cuda
    commit="$(git -C "$repository" rev-parse HEAD 2>/dev/null || echo unknown)"
    wanted="$variant $commit $(cat "$repository/constraints.txt" "$repository/pyproject.toml" | cksum)"
    stamp="$venv/installed-by-train-runpod"
    if [ -x "$venv/bin/mario-rl" ]; then
        [ -f "$stamp" ] || return 0 # somebody else's: used as it is
        [ "$(cat "$stamp")" != "$wanted" ] || return 0
    fi
    find_python
    set --
    has_headers "$python" || set -- "$(basename "$python")-dev" "$(basename "$python")-venv"
    command -v g++ >/dev/null || set -- "$@" g++
    [ $# -eq 0 ] || install_packages "$@"
    say "installing mario-rl with torch for $variant into $venv (some minutes the first time)"
    "$venv/bin/python" -c '' 2>/dev/null || "$python" -m venv --clear "$venv" || fail "cannot make $venv, see above"
    set -- --quiet --disable-pip-version-check --constraint "$repository/constraints.txt"
    [ "$variant" = cuda ] || set -- "$@" --extra-index-url https://download.pytorch.org/whl/cpu
    pip="$venv/bin/pip"
    if ! "$pip" install "$@" torch ||
        ! "$pip" install "$@" cmake nanobind ninja scikit-build-core ||
        ! "$pip" install "$@" --no-build-isolation --config-settings=build-dir="$venv/build" \
            "${repository}[server,selfplay,distill,cluster,export]" || # not in the build/ of `make`, which is for its .venv
        ! "$pip" install --quiet --disable-pip-version-check --no-deps gym-super-mario-bros==7.4.0; then
        fail "pip failed, see above; run this again when that is put right"
    fi
    echo "$wanted" >"$stamp"
}

# --- starting -------------------------------------------------------------------------------------------------------

quoted() {
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

# What the background runs, as a file: tmux hands on neither our environment nor our words.
write_launcher() { # OPTION...
    {
        echo "#!/bin/sh"
        echo "echo \$\$ >$(quoted "$pid_file")"
        for variable in NAME MODEL LEVEL PRESET WORKERS STEPS SEED DEVICE CHECKPOINTS MARIO_RL_SMB_ROM MARIO_RL_DATA_DIR; do
            eval "value=\${$variable:-}"
            [ -z "$value" ] || echo "export $variable=$(quoted "$value")"
        done
        echo "export MARIO_RL=$(quoted "$venv/bin/mario-rl") UI=\"\${UI:-0}\" PYTHONUNBUFFERED=1"
        printf 'exec %s' "$(quoted "$repository/docker/train_or_resume.sh")"
        for option in "$@"; do
            printf ' %s' "$(quoted "$option")"
        done
        echo
    } >"$logs/$name.sh"
}

last_words() {
    if [ "$launcher" = tmux ]; then
        tmux capture-pane -p -t "=$session:" 2>/dev/null | grep . | tail -n 10
    else
        tail -n 10 "$log"
    fi
}

# Until the run says that it runs, or has ended. While it explores before it begins, that it lives is enough.
wait_for_the_run() {
    left=60
    while [ "$left" -gt 0 ]; do
        if [ -s "$pid_file" ] && ! training; then
            [ "$(of_status state)" != SUCCESS ] || return 0
            said="$(last_words)"
            refused="$(echo "$said" | sed -n 's/^mario-rl: //p' | tail -n 1)"
            [ -z "$refused" ] || mistake "$refused"
            echo "$said" >&2
            fail "the run has ended; its last words are above"
        fi
        [ "$(of_status state)" != RUNNING ] || [ "$(of_status pid)" != "$(cat "$pid_file" 2>/dev/null)" ] || return 0
        sleep 1
        left=$((left - 1))
    done
}

start_run() {
    launcher="${LAUNCHER:-tmux}"
    if [ "$launcher" = tmux ] && ! command -v tmux >/dev/null; then
        if [ -n "${LAUNCHER:-}" ] || { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; }; then
            install_packages tmux
        else
            launcher="nohup"
        fi
    fi
    if training; then
        say "$name is training already, as process $(cat "$pid_file"); this left it alone"
        tmux has-session -t "=$session" 2>/dev/null || launcher="nohup"
        return 0
    fi
    rm -f "$pid_file"
    write_launcher "$@"
    if [ "$launcher" = tmux ]; then
        tmux kill-session -t "=$session" 2>/dev/null || true # an ended run's last words
        tmux new-session -d -s "$session" -x 150 -y 45 "UI=1 exec sh $(quoted "$logs/$name.sh")" \; \
            set-option remain-on-exit on
    else
        # A session of its own: it outlives this shell and its terminal.
        setsid nohup sh "$logs/$name.sh" </dev/null >>"$log" 2>&1 &
    fi
    wait_for_the_run
    show_status
}

tensorboard_address() {
    sed -n 's|.*\(http://[^ ]*:[0-9][0-9]*\)/.*|\1|p' "$tensorboard_log" 2>/dev/null | tail -n 1
}

start_tensorboard() {
    [ "$tensorboard" != off ] || return 0
    if ! running "$tensorboard_pid_file" tensorboard; then
        host=127.0.0.1
        [ "$tensorboard" = local ] || host=0.0.0.0
        : >"$tensorboard_log"
        setsid nohup "$venv/bin/tensorboard" --logdir "$CHECKPOINTS" --host "$host" --port "$port" \
            </dev/null >>"$tensorboard_log" 2>&1 &
        echo $! >"$tensorboard_pid_file"
    fi
    left=300
    while [ -z "$(tensorboard_address)" ]; do
        if [ "$left" -eq 0 ] || ! running "$tensorboard_pid_file" 'nohup\|setsid\|tensorboard'; then
            say "TensorBoard did not start; $tensorboard_log says why (a port that is taken? set TENSORBOARD_PORT)"
            tensorboard=off
            return 0
        fi
        sleep 1
        left=$((left - 1))
    done
    port="$(tensorboard_address)"
    port="${port##*:}"
}

say_how() {
    address="${RUNPOD_PUBLIC_IP:-ADDRESS}"
    ssh_port="${RUNPOD_TCP_PORT_22:-PORT}"
    echo
    if [ "$launcher" = tmux ]; then
        echo "watch        tmux attach -t $session          (Ctrl-b d leaves it training)"
    else
        echo "watch        tail -f $log"
    fi
    echo "status       NAME=$name $0 status"
    [ "$tensorboard" = off ] ||
        echo "TensorBoard  at home: ssh -N -L $port:localhost:$port root@$address -p $ssh_port   then http://localhost:$port"
    [ "$tensorboard" != public ] || [ -z "${RUNPOD_POD_ID:-}" ] ||
        echo "             or https://$RUNPOD_POD_ID-$port.proxy.runpod.net, if the pod exposes HTTP port $port"
    echo "stop         NAME=$name $0 stop       (saves; start goes on)"
    echo "fetch        at home: rsync -a -e 'ssh -p $ssh_port' root@$address:$run ."
    echo "evaluate     $venv/bin/mario-rl evaluate $run"
}

mkdir -p "$logs" "$CHECKPOINTS"
install_mario_rl
start_run "$@"
start_tensorboard
say_how
