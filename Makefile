# granary's chores. On a fresh machine `make demo` and `make test` install what is missing first: Debian packages when root on
# Debian, otherwise packages from CRAN into the user's library.
#
#   make demo     build, estimate a graph from the data shipped with the package, write an HTML report
#   make test     build, check the style, run the R and the C++ tests; ends with `N passed, N failed`
#   make style    the rules of the house that a program can check
#   make hooks    run make style before every commit
#   make check    R CMD build, R CMD check (--as-cran where CRAN itself can be reached)
#   make bench    time granary against its peers and the core by itself
#   make bench METHOD=pc     one method against its peers: inst/bench/results/pc.md
#   make asan     the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make build-time   seconds per file and room; fails past the budget
#   make docs     regenerate RcppExports, NAMESPACE and man/
#   make site     the pkgdown site
#   make method NAME=ggm_new FAMILY=graph KEY=jmlr15-new     files for a new method

SHELL := /bin/sh
BUILD := build
LIBRARY := $(abspath $(BUILD)/library)
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
RSCRIPT = R_LIBS="$(LIBRARY):$$R_LIBS" Rscript
SOURCES := $(shell find src R inst data man tests/testthat DESCRIPTION NAMESPACE configure -type f -not -name '*.o' -not -name '*.so' -not -name Makevars 2>/dev/null)

.PHONY: all setup install build-time demo test test-r test-cpp style hooks check bench asan docs site method format clean

all: install

setup: $(BUILD)/setup.stamp
$(BUILD)/setup.stamp: DESCRIPTION tools/dev/setup.sh
	@mkdir -p $(LIBRARY)
	sh tools/dev/setup.sh
	@touch $@

install: $(BUILD)/install.stamp
$(BUILD)/install.stamp: $(BUILD)/setup.stamp $(SOURCES)
	@touch $(BUILD)/install.started
	@rm -rf $(BUILD)/source && mkdir -p $(BUILD)/source $(LIBRARY)
	@tar cf - --exclude='*.o' --exclude='*.so' --exclude='*.gch' --exclude=src/Makevars DESCRIPTION NAMESPACE R src inst man data configure configure.win cleanup NEWS.md | tar xf - -C $(BUILD)/source
	@echo "Building granary: this takes a few minutes (log in $(BUILD)/install.log)"
	@MAKEFLAGS=-j$(JOBS) R_MAKEVARS_USER=$(abspath tools/dev/Makevars.build) R CMD INSTALL --strip --no-lock --no-test-load --library=$(LIBRARY) $(BUILD)/source > $(BUILD)/install.log 2>&1 || { cat $(BUILD)/install.log; exit 1; }
	@mv $(BUILD)/install.started $@  # what was edited meanwhile is newer

build-time: $(BUILD)/setup.stamp
	@sh tools/dev/build-time.sh $(BUILD)

demo: install
	@$(RSCRIPT) tools/dev/vignettes.R $(LIBRARY) granary graphs
	@$(RSCRIPT) tools/dev/demo.R $(BUILD)/granary-report.html

test: install
	@rm -f $(BUILD)/counts-*
	@$(MAKE) --no-print-directory -k style test-r test-cpp; status=$$?; \
	  cat $(BUILD)/counts-* 2>/dev/null | awk '{p += $$1; f += $$2; s += $$3} END {printf "%d passed, %d failed", p, f; if (s) printf ", %d skipped", s; print ""}'; \
	  exit $$status

style: $(BUILD)/setup.stamp
	@Rscript tools/dev/style.R $(BUILD)/counts-style

hooks:
	@printf '#!/bin/sh\nexec make style\n' > "$$(git rev-parse --git-path hooks)/pre-commit" && chmod +x "$$(git rev-parse --git-path hooks)/pre-commit"

test-r: install
	@$(RSCRIPT) tools/dev/run-tests.R $(BUILD)/counts-r

test-cpp: install
	@sh tools/dev/cpp-tests.sh $(BUILD)/cpp-tests $(BUILD)/counts-cpp -DGRANARY_OBJECTS=$(abspath $(BUILD)/source/src)

# The system clock and the size with debugging symbols are no business of the package's.
check: $(BUILD)/setup.stamp
	@sh tools/dev/setup.sh check
	@rm -rf $(BUILD)/check && mkdir -p $(BUILD)/check
	cd $(BUILD)/check && MAKEFLAGS=-j$(JOBS) R CMD build ../.. && MAKEFLAGS=-j$(JOBS) _R_CHECK_FORCE_SUGGESTS_=false \
	  _R_CHECK_SYSTEM_CLOCK_=0 R_MAKEVARS_USER=$(abspath tools/dev/Makevars.check) R CMD check $$(Rscript ../../tools/dev/as-cran.R) --no-manual granary_*.tar.gz

bench: install
	$(RSCRIPT) tools/dev/$(if $(METHOD),bench-method.R $(BUILD) $(METHOD),bench.R $(BUILD))

asan: $(BUILD)/setup.stamp
	@sh tools/dev/cpp-tests.sh $(BUILD)/asan $(BUILD)/counts-asan -DGRANARY_SANITIZE=ON

docs: $(BUILD)/setup.stamp
	Rscript -e 'Rcpp::compileAttributes(".")'
	Rscript tools/dev/namespace.R
	$(MAKE) install
	$(RSCRIPT) -e 'roxygen2::roxygenise(".", load_code = roxygen2::load_installed)'
	Rscript tools/dev/generate.R
	$(MAKE) install  # with the NAMESPACE that the second look wrote

site: install
	$(RSCRIPT) -e 'pkgdown::build_site(new_process = FALSE, install = FALSE)'

method:
	Rscript tools/dev/new-method.R $(NAME) $(FAMILY) $(KEY)

format:
	clang-format -i $$(git ls-files 'src/*.h' 'src/*.cpp' 'tests/cpp/*' | grep -v RcppExports)

clean:
	rm -rf $(BUILD) src/*.o src/*/*.o src/*/*/*.o src/*.so src/Makevars
