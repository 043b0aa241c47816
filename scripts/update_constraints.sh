#!/bin/sh
# Rewrites constraints.txt from the newest versions pyproject.toml allows, resolved in a throw-away environment.
set -eu
cd "$(dirname "$0")/.."

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet '.[dev]'
{
    sed -n '/^#/p' constraints.txt
    # The local version (torch's "+cpu") names a build, not a version; other machines need another build.
    "$scratch/venv/bin/pip" freeze --exclude mario-rl | sed 's/+[a-z0-9.]*$//'
} >"$scratch/constraints.txt"
mv "$scratch/constraints.txt" constraints.txt
