"""How fast this machine plays Luna: the library behind `luna bench`.

`measuring` says how everything is timed; `playouts`, `costs`, `slow`, `memory` and `peers` each measure one kind of
figure; `engine` puts them together, `report` prints them.
"""
