#!/bin/sh
# A compiler that writes down how long it took: GRANARY_TIMES gets a line "seconds file" for every file compiled.
# Used by `make build-time`.
for file in "$@"; do
  case "$file" in *.cpp) source=$file ;; esac
done
compiling=no
for word in "$@"; do [ "$word" = -c ] && compiling=yes; done
if [ "$compiling" = no ] || [ -z "${source:-}" ]; then exec "$@"; fi
stamp=$(mktemp)
if command -v bash > /dev/null 2>&1; then
  bash -c 'TIMEFORMAT="%U %S"; time "$@"' timed "$@" 2> "$stamp"
  status=$?
else
  "$@"
  exit $?
fi
sed '$d' "$stamp" >&2
echo "$(tail -n 1 "$stamp" | awk '{print $1 + $2}') $source" >> "$GRANARY_TIMES"
rm -f "$stamp"
exit $status
