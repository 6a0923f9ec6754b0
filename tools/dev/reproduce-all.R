# Runs every script of inst/reproduce on the installed package and writes inst/reproduce/RESULTS.md:
#   R_LIBS=build/library Rscript tools/dev/reproduce-all.R [extended]
# The data packages mlbench, MASS and pscl are used where they are installed; a claim that needs one that is not says so.

extended <- "extended" %in% commandArgs(TRUE)
suppressMessages(library(granary))
table <- reproduce_all(extended)
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
  paste0("Made by `tools/dev/reproduce-all.R` on ", format(Sys.Date(), "%Y-%m-%d"), " with granary ", utils::packageVersion("granary"), ", R ", getRversion(),
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
