"""Luna AI: players that learn the board game Luna, and studies of what each seat is worth.

Stands on `engine_fast` (the game). Importing this package imports nothing else: a part is imported where it is used.
"""

__version__ = "0.1.0"
