"""Kernels of the search with an evaluator: the trees of many games, searched in step.

`forest` is the data, `expansion`, `selection` and `proofs` work on a node, `steps` takes all trees one step further,
`verdict` reads what was found; `gumbel` and `softmax` are formulas. `luna_ai.search.network_search` drives them.
"""
