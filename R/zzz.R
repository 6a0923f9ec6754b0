utils::globalVariables(".data")  # ggplot2's pronoun
