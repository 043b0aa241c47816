#!/bin/sh
# Begins a training run, or goes on with it if there is one of that name that is not finished. For machines that start
# it again and again: containers, systemd, pods. It becomes `mario-rl train`, so signals and exit codes are that one's.
# Usage: train_or_resume.sh [--check] [OPTION...]; the options go to `mario-rl train`.
# --check says only where the run is or will be. The environment (what is empty counts as not set):
#   NAME         the run, default MODEL-LEVEL           WORKERS  default: the preset's
#   CHECKPOINTS  where runs are, default checkpoints    STEPS    default: the preset's; more than it had: it goes on
#   MODEL        ppo (default), ddqn, dreamer           SEED     default 0
#   LEVEL        1-1 (default) to 8-4, random           DEVICE   cpu (default), cuda
#   PRESET       laptop (default), robust, none         UI       1: the dashboard, on a terminal
#   WHEN_DONE    exit (default) or wait: what to do if the run is finished already
#   MARIO_RL     the program, default mario-rl
# A run that exists keeps its preset and seed.
set -eu

mistake() {
    echo "train_or_resume: $1" >&2
    exit 2
}

is_number() {
    case "$2" in
    *[!0-9]*) mistake "$1 is a whole number, not '$2'" ;;
    esac
}

check_only=false
if [ "${1:-}" = --check ]; then
    check_only=true
    shift
fi
for option in "$@"; do
    case "$option" in
    --name | --name=*) mistake "the environment variable NAME names the run, not --name" ;;
    --resume | --resume=*) mistake "a run that exists is resumed anyway: name it by NAME, not --resume" ;;
    --checkpoints | --checkpoints=*) mistake "the environment variable CHECKPOINTS says where runs are, not --checkpoints" ;;
    esac
done
is_number WORKERS "${WORKERS:-}"
is_number STEPS "${STEPS:-}"
is_number SEED "${SEED:-}"
case "${STEPS:-1}" in *[1-9]*) ;; *) mistake "STEPS is at least 1" ;; esac
case "${WHEN_DONE:-exit}" in exit | wait) ;; *) mistake "WHEN_DONE is exit or wait, not '$WHEN_DONE'" ;; esac
case "${UI:-0}" in 0 | 1) ;; *) mistake "UI is 0 or 1, not '$UI'" ;; esac

checkpoints="${CHECKPOINTS:-checkpoints}"
name="${NAME:-${MODEL:-ppo}-${LEVEL:-1-1}}"
case "$name" in
.* | -* | */*) mistake "NAME is a plain directory name that starts with neither . nor -, not '$name'" ;;
esac
run="$checkpoints/$name"
if "$check_only"; then
    echo "$run"
    exit 0
fi

[ -z "${WORKERS:-}" ] || set -- --workers "$WORKERS" "$@"
[ -z "${STEPS:-}" ] || set -- --steps "$STEPS" "$@"
[ -z "${DEVICE:-}" ] || set -- --device "$DEVICE" "$@"
[ "${UI:-0}" = 1 ] || set -- --no-ui "$@"
set -- --checkpoints "$checkpoints" "$@"
program="${MARIO_RL:-mario-rl}"

if [ ! -e "$run" ]; then
    [ "${PRESET:-laptop}" = none ] || set -- --preset "${PRESET:-laptop}" "$@"
    echo "train_or_resume: beginning $run"
    exec "$program" train --model "${MODEL:-ppo}" --level "${LEVEL:-1-1}" --seed "${SEED:-0}" --name "$name" "$@"
fi

# mario-rl writes one value a line into both files. A file that is damaged is mario-rl's to judge.
state="$(sed -n 's/^ *"state": "\([A-Z]*\)".*/\1/p' "$run/status.json" 2>/dev/null || true)"
steps="$(sed -n 's/^steps: \([0-9]*\)$/\1/p' "$run/config.yaml" 2>/dev/null || true)"
if [ "$state" = SUCCESS ] && [ "${STEPS:-0}" -le "${steps:-0}" ]; then
    echo "train_or_resume: $run is finished; another NAME begins a run, STEPS above $steps goes on with this one"
    [ "${WHEN_DONE:-exit}" = exit ] || exec sleep infinity
    exit 0
fi
[ -z "${MODEL:-}" ] || set -- --model "$MODEL" "$@"
[ -z "${LEVEL:-}" ] || set -- --level "$LEVEL" "$@"
echo "train_or_resume: going on with $run"
exec "$program" train --resume "$run" "$@"
