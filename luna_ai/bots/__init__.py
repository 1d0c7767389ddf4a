"""The bots as compiled kernels: they choose decisions inside numba, from any position of a game.

In dependency order: `columns` (what the evaluation weighs), `workspace` (scratch arrays), `tiles` and `outlook`
(what tiles and novices are worth, with `packing`), `offers` and the actions (`single`, `books`, `voyages`,
`preliminary`), `greedy`, `choosing`, `games`.
"""
