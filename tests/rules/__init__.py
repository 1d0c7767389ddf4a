"""One test for each sentence of RULES.md that could be got wrong, worked out by hand from the text alone."""
