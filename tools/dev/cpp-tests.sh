#!/bin/sh
# cpp-tests.sh <build folder> <file for the counts> [cmake options]: builds and runs the C++ tests.
set -eu
build=$1
counts=$2
shift 2
if ! command -v cmake >/dev/null 2>&1; then
  echo "C++ tests skipped: there is no cmake."
  echo "0 0 1" > "$counts"
  exit 0
fi
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
launcher=""
if command -v ccache >/dev/null 2>&1; then
  launcher="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
  # A cache and a precompiled header go together only where the cache was told so.
  if ccache --get-config sloppiness 2> /dev/null | grep pch_defines > /dev/null; then
    launcher="$launcher -DCMAKE_CXX_FLAGS=-fpch-preprocess"
  else
    launcher="$launcher -DGRANARY_PCH=OFF"
  fi
  export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$(pwd)}" CCACHE_NOHASHDIR=1  # what another copy of the sources compiled is found again
fi
cmake -S inst/bench -B "$build" $launcher "$@" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target granary_tests --parallel "$jobs" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
status=0
"$build/granary_tests" > "$build.out" 2>&1 || status=$?
cat "$build.out"
sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2 0/p' "$build.out" > "$counts"
[ -s "$counts" ] || echo "0 1 0" > "$counts"
exit $status
