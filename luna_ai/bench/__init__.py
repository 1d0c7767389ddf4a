"""How fast this machine plays and searches Luna: the library behind `luna bench`.

`measuring` says how everything is timed. For `luna bench engine`, `playouts`, `costs`, `slow`, `memory` and `peers`
each measure one kind of figure, `engine` puts them together, `report` prints them; for `luna bench search`,
`search_trees`, `search_shares`, `search_network`, `search_peers` and `search_gumbel`, then `search` and
`search_report`.
"""
