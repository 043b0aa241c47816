#!/bin/sh
# Fuzzes the native code under AddressSanitizer and UndefinedBehaviorSanitizer: ROM loader, state loader, random programs,
# the rules of Dr. Mario.
# Usage: test_native.sh [SECONDS_PER_DRIVER]; needs only g++ (CXX). Under two minutes with the default of 12 seconds.
set -eu
cd "$(dirname "$0")/.."

seconds="${1:-12}"
compiler="${CXX:-g++}"
build=build/fuzz
flags="-std=gnu++20 -O1 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
mkdir -p "$build"

# One object per source, newer than every header it could depend on.
newest_header=$(ls -t native/*.hpp native/*/*.hpp | head -n 1)
sources=$(ls native/*.cpp native/*/*.cpp | grep -v /bindings)
for source in $sources; do
    object="$build/$(echo "${source%.cpp}" | tr / _).o"
    if [ ! "$object" -nt "$source" ] || [ ! "$object" -nt "$newest_header" ]; then
        printf '%s %s\n' "$source" "$object"
    fi
done | xargs -r -L 1 -P "$(getconf _NPROCESSORS_ONLN)" sh -c "$compiler $flags -c \"\$0\" -o \"\$1\""

core=$(ls "$build"/native_*.o | grep -v native_fuzz_)
for driver in rom_loader state_loader random_programs drmario_rules; do
    # shellcheck disable=SC2086 # lists of words
    "$compiler" $flags "$build/native_fuzz_$driver.o" $core -pthread -o "$build/$driver"
    "$build/$driver" "$seconds" || {
        echo "$driver: repeat the failing case with: $build/$driver 1 SEED" >&2
        exit 1
    }
done
