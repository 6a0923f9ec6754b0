# Runs every script of inst/reproduce on the installed package and writes inst/reproduce/RESULTS.md:
#   R_LIBS=build/library Rscript tools/dev/reproduce-all.R [extended] [minutes] [resume]
# What a script gave is kept in build/reproduce, and `resume` goes on after the last of them instead of beginning again.
# Each script runs in an R process of its own, one after the other, on one thread, for at most `minutes` (10; with the long runs 240); one that
# stops or takes longer is a row that says so. The data packages mlbench, MASS and pscl are used where they are installed; a claim that needs
# one that is not says so.

words <- commandArgs(TRUE)
extended <- "extended" %in% words
minutes <- suppressWarnings(as.numeric(words))
minutes <- if (any(!is.na(minutes))) minutes[!is.na(minutes)][1L] else if (extended) 240 else 10
suppressMessages(library(granary))

kept <- file.path("build", if (extended) "reproduce-extended" else "reproduce")
if (!"resume" %in% words) unlink(kept, recursive = TRUE)
dir.create(kept, showWarnings = FALSE, recursive = TRUE)

run <- function(key) {
  file <- file.path(kept, paste0(key, ".rds"))
  if (file.exists(file)) return(readRDS(file))
  code <- sprintf("options(granary.threads = 1); saveRDS(suppressWarnings(granary::reproduce('%s', extended = %s)), '%s')", key, extended, file)
  output <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE, stderr = TRUE, timeout = 60 * minutes))
  if (file.exists(file)) return(readRDS(file))
  said <- if (identical(attr(output, "status"), 124L)) paste("not done after", minutes, "minutes") else paste(utils::tail(output, 3L), collapse = " ")
  saveRDS(said, file)
  said
}
keys <- reproduce()$key
runs <- lapply(stats::setNames(keys, keys), function(key) {
  one <- run(key)
  message(key, ": ", if (is.character(one)) one else paste(round(attr(one, "seconds")), "s"))
  one
})
table <- granary:::reproduction_table(runs, extended)
claims <- attr(table, "claims")

number <- function(x) ifelse(is.na(x), "", formatC(x, digits = 4, format = "g"))
row <- function(...) paste0("| ", paste(..., sep = " | "), " |")
cell <- function(text) gsub("|", "\\|", gsub("\n", " ", text), fixed = TRUE)
plain <- claims$agrees %in% FALSE & claims$source == "paper"
own <- claims$agrees %in% FALSE & claims$source == "reference"
total <- function(column) sum(table[[column]], na.rm = TRUE)
have <- Filter(function(package) requireNamespace(package, quietly = TRUE), c("MASS", "mlbench", "pscl"))

list_of <- function(which) {
  if (!any(which)) return("None.")
  c("| key | claim | paper | ours | tolerance | why |", "| --- | --- | --- | --- | --- | --- |",
    row(claims$key[which], cell(claims$claim[which]), number(claims$paper[which]), number(claims$ours[which]), number(claims$tolerance[which]),
        cell(claims$note[which])))
}
lines <- c(
  "# The papers' numbers, re-made", "",
  paste0("Made in one run of `tools/dev/reproduce-all.R` on ", format(Sys.Date(), "%Y-%m-%d"), " with granary ", utils::packageVersion("granary"), ", R ", getRversion(),
         if (extended) ", long runs included" else ", without the long runs", "; data packages at hand: ", paste(have, collapse = ", "), "."), "",
  paste0(total("agree"), " numbers of the papers agree, ", total("disagree"), " do not, ", total("open"), " cannot be compared; of ", total("references"),
         " references of our own making ", total("differ"), " differ."), "",
  "| key | agree | disagree | cannot be compared | references | of them differ |", "| --- | --- | --- | --- | --- | --- |",
  row(table$key, table$agree, table$disagree, table$open, table$references, table$differ), "",
  if (any(nzchar(table$error))) c("Scripts that stopped:", "", paste0("- ", table$key, ": ", cell(table$error))[nzchar(table$error)], ""),
  "## Numbers of the papers that ours do not agree with", "", list_of(plain), "",
  "## References of our own making that differ", "", list_of(own)
)
writeLines(lines, "inst/reproduce/RESULTS.md")
print(table)
