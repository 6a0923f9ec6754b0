#!/bin/sh
# build-time.sh <build folder>: builds the package without a compiler cache and prints seconds per file and room.
# Fails when a file takes more than 10 s, the build more than its budget, or the compiler warns.
set -eu
build=$1
root=$(pwd)
times=$root/$build/build-time.txt
rm -rf "$build/timed" && mkdir -p "$build/timed/library" && : > "$times"
tar cf - --exclude='*.o' --exclude='*.so' --exclude='*.gch' --exclude=src/Makevars DESCRIPTION NAMESPACE R src inst man data configure configure.win cleanup \
  NEWS.md | (mkdir -p "$build/timed/source" && tar xf - -C "$build/timed/source")
compiler=$(R CMD config CXX17 | sed 's/^ccache //')
cat > "$build/timed/Makevars" <<RULES
CXX17 = $root/tools/dev/timed-compiler.sh $compiler
CXX17FLAGS := \$(filter-out -g,\$(CXX17FLAGS))
RULES
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
GRANARY_TIMES=$times CCACHE_DISABLE=1 MAKEFLAGS=-j$jobs R_MAKEVARS_USER=$root/$build/timed/Makevars \
  R CMD INSTALL --no-lock --no-test-load --no-docs --library="$build/timed/library" "$build/timed/source" > "$build/timed/log" 2>&1 ||
  { tail -n 50 "$build/timed/log"; exit 1; }
lines=$(find src -name '*.cpp' -o -name '*.h' | xargs cat | wc -l)
warnings=$(grep -c 'warning:' "$build/timed/log" || true)
sort -rn "$times" | awk -v lines="$lines" -v warnings="$warnings" '
  { total += $1; room = $2; if (sub(/\/[^\/]*$/, "", room) == 0) room = "glue"; rooms[room] += $1; files[room]++
    if ($1 > 10) slow = slow sprintf("  %6.1f s  %s\n", $1, $2); if (NR <= 15) top = top sprintf("  %6.1f s  %s\n", $1, $2) }
  END {
    printf "The 15 slowest files:\n%s\nRooms:\n", top
    for (r in rooms) printf "  %7.1f s  %3d files  %s\n", rooms[r], files[r], r
    budget = lines * 8 / 1000  # CPU seconds per thousand lines
    printf "\n%d files, %d lines, %.1f CPU minutes (budget %.1f), %d warnings\n", NR, lines, total / 60, budget / 60, warnings
    if (slow != "") printf "Files above 10 s:\n%s", slow
    exit slow != "" || total > budget || warnings > 0
  }'
