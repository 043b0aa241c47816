#!/bin/sh
# Fails if a C or C++ file under native/ is not formatted as .clang-format says; `--fix` formats them instead.
# Usage: check_native_format.sh CLANG_FORMAT [--fix]
set -eu
cd "$(dirname "$0")/.."

clang_format="$1"
mode="--dry-run --Werror"
[ "${2:-}" = "--fix" ] && mode="-i"

[ -d native ] || exit 0
# shellcheck disable=SC2086 # mode is a list of words
find native \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' \) -print0 |
    xargs -0 -r "$clang_format" $mode
