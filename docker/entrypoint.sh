#!/bin/sh
# What a container runs:
#   train [OPTION...]      begins the run that the environment describes, or goes on with it (train_or_resume.sh)
#   tensorboard, ray ...   these programs
#   anything else          mario-rl with these arguments
set -eu
here="$(dirname "$0")"

# The user's own ROMs, unless the environment names others.
if [ -z "${MARIO_RL_SMB_ROM:-}" ] && [ -f "${ROMS:-/roms}/smb.nes" ]; then
    export MARIO_RL_SMB_ROM="${ROMS:-/roms}/smb.nes"
fi
if [ -z "${MARIO_RL_DRMARIO_ROM:-}" ] && [ -f "${ROMS:-/roms}/drmario.nes" ]; then
    export MARIO_RL_DRMARIO_ROM="${ROMS:-/roms}/drmario.nes"
fi

# For healthcheck.py: what this container is there for, one word a line. A run is named by its directory.
role() {
    printf '%s\n' "$@" >"${ROLE_FILE:-/tmp/mario-rl.role}"
}

case "${1:-}" in
train)
    shift
    run="$("$here/train_or_resume.sh" --check "$@")"
    role train "$run"
    exec "$here/train_or_resume.sh" "$@"
    ;;
tensorboard | ray)
    role "$@"
    exec "$@"
    ;;
*)
    role "$@"
    exec mario-rl "$@"
    ;;
esac
