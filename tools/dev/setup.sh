#!/bin/sh
# Installs what granary needs and the machine lacks: R itself, a compiler, the R packages of DESCRIPTION.
# `setup.sh check` adds the tools of R CMD check. Debian packages when root on Debian; otherwise (and for what Debian does not have) CRAN, into the first library that can be written.
set -eu

debian_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# The packages without which nothing runs, and those that make tests, vignettes and the report complete.
needed="Rcpp RcppEigen BH RSpectra Matrix checkmate cli generics"
helpful="testthat DBI RSQLite posterior coda tidygraph knitr rmarkdown markdown ggplot2 igraph future future.apply progressr tibble roxygen2 glasso huge"

missing_tools=""
command -v Rscript >/dev/null 2>&1 || missing_tools="$missing_tools r-base-core r-base-dev r-recommended"
command -v g++ >/dev/null 2>&1 || missing_tools="$missing_tools g++"
command -v gfortran >/dev/null 2>&1 || missing_tools="$missing_tools gfortran"
command -v cmake >/dev/null 2>&1 || missing_tools="$missing_tools cmake"
command -v pandoc >/dev/null 2>&1 || missing_tools="$missing_tools pandoc"

if [ "${1:-}" = check ]; then  # what R CMD check asks for beyond that
  command -v checkbashisms >/dev/null 2>&1 || missing_tools="$missing_tools devscripts"
  command -v qpdf >/dev/null 2>&1 || missing_tools="$missing_tools qpdf"
fi

lacking() {  # those of the packages named that R cannot find
  if command -v Rscript >/dev/null 2>&1; then
    Rscript -e 'p <- commandArgs(TRUE); cat(p[!vapply(p, function(q) length(find.package(q, quiet = TRUE)) > 0L, NA)])' $1
  else
    echo "$1"
  fi
}

if debian_root; then
  wanted="$missing_tools"
  for package in $(lacking "$needed $helpful"); do
    wanted="$wanted r-cran-$(echo "$package" | tr 'A-Z' 'a-z')"
  done
  if [ -n "$wanted" ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    available=""
    for name in $wanted; do
      if [ -n "$(apt-cache madison "$name" 2>/dev/null)" ]; then available="$available $name"; fi
    done
    # shellcheck disable=SC2086
    apt-get install -q -y --no-install-recommends $available
  fi
elif ! command -v Rscript >/dev/null 2>&1; then
  echo "granary needs R (>= 4.1): install it, then run make again." >&2
  exit 1
fi

from_cran=$(lacking "$needed $helpful")
if [ -n "$from_cran" ]; then
  Rscript tools/dev/install-from-cran.R "$needed" "$from_cran"
fi
