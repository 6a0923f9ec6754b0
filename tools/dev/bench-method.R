# Rscript tools/dev/bench-method.R <build folder> <method>: runs inst/bench/peers/<method>.R and writes what it measured to
# inst/bench/results/<method>.md. GRANARY_PEERS is the library of the peers (default <build folder>/peers); peers that are not there are left out.
arguments <- commandArgs(TRUE)
build <- arguments[1L]
method <- arguments[2L]
script <- file.path("inst/bench/peers", paste0(method, ".R"))
if (!file.exists(script)) stop("There is no ", script, ".")
if (!nzchar(Sys.getenv("GRANARY_PEERS"))) Sys.setenv(GRANARY_PEERS = file.path(normalizePath(build), "peers"))
file <- file.path(build, paste0(method, ".rds"))
unlink(file)
status <- system2(file.path(R.home("bin"), "Rscript"), c(shQuote(script), shQuote(file), arguments[-(1:2)]))
if (status != 0L || !file.exists(file)) stop(script, " failed.")
measured <- readRDS(file)
tables <- Filter(is.data.frame, if (is.data.frame(measured)) list(results = measured) else measured)

cell <- function(x) if (is.numeric(x)) ifelse(is.na(x), "-", formatC(x, digits = 3L, format = "g")) else as.character(x)
markdown <- function(data) {
  cells <- do.call(cbind, lapply(data, cell))
  c(paste0("| ", paste(names(data), collapse = " | "), " |"), paste0("|", strrep(" --- |", ncol(data))),
    paste0("| ", apply(cells, 1L, paste, collapse = " | "), " |"))
}
# What the script says about itself: its opening comment, without the line on how to call it.
about <- readLines(script)
about <- about[seq_len(match(FALSE, grepl("^#", about)) - 1L)]
about <- trimws(sub("^#", "", about))
about <- about[!grepl("^Rscript ", about)]
load <- if (file.exists("/proc/loadavg")) sub(" .*", "", readLines("/proc/loadavg")) else "unknown"
lines <- c(
  paste0("# ", method, "()"), "", sprintf("Written by `make bench METHOD=%s`; do not edit.", method), "", about, "",
  paste0("- ", format(Sys.Date()), ", granary ", utils::packageVersion("granary"), ", ", R.version.string),
  paste0("- ", parallel::detectCores(), " cores; load average at the end ", load), "",
  unlist(lapply(names(tables), function(name) c(if (length(tables) > 1L) c(paste("##", name), ""), markdown(tables[[name]]), "")))
)
dir.create("inst/bench/results", showWarnings = FALSE)
writeLines(lines, file.path("inst/bench/results", paste0(method, ".md")))
cat(lines, sep = "\n")
