#!/bin/sh
# Installs the Debian/Ubuntu packages the project is built and tested with, if any of them is missing:
# as root or with password-less sudo; otherwise it says in one line what to install, and fails.
set -eu

python="${PYTHON:-python3}"
missing=""

command -v g++ >/dev/null 2>&1 || missing="$missing g++"
command -v ca65 >/dev/null 2>&1 || missing="$missing cc65" # assembles Antidote and the test ROMs
command -v Xvfb >/dev/null 2>&1 || missing="$missing xvfb" # a screen for the tests of the window
# The emulator ours is compared with. Debian puts it where the PATH often does not lead; MARIO_RL_MEDNAFEN names another.
[ -x "${MARIO_RL_MEDNAFEN:-}" ] || [ -x /usr/games/mednafen ] || command -v mednafen >/dev/null 2>&1 ||
    missing="$missing mednafen"
command -v setpriv >/dev/null 2>&1 || missing="$missing util-linux"
if ! command -v "$python" >/dev/null 2>&1; then
    missing="$missing python3 python3-venv python3-dev"
else
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "$python is $("$python" --version); Python 3.11 or newer is needed: run  make PYTHON=/path/to/python3.11 ..." >&2
        exit 1
    fi
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || missing="$missing python3-dev"
fi

[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "missing packages: run  apt-get install$missing  as root, then try again" >&2
    exit 1
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing packages and no apt-get here: install the equivalents of$missing, then try again" >&2
    exit 1
fi

echo "installing$missing" >&2
# shellcheck disable=SC2086 # both are lists of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
