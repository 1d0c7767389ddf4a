"""Search: Monte Carlo trees for two to four players, all tree work in compiled kernels.

In dependency order: `compiling`, `tree` (nodes and edges as arrays), `scores` (the formulas that choose an edge),
`estimate` (who will win, from an unfinished game), `rollout` (playing a leaf on), `proofs` (what is certain),
`transpositions` (one node for a position), `descent` (select, expand, back up), `reuse` (carrying a tree over), `mcts`
(a search with a budget). Apart from these: `exact` (small endings solved).
"""
