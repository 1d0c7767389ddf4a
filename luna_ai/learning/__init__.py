"""Kernels of the learner: features of positions and the network's fast evaluation. No torch here."""
