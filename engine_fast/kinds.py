"""Isle kinds and tile numbers (RULES.md section 1): the names that everything else is indexed by."""

from __future__ import annotations

KINDS = ("book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide")
"""Isle kinds, in the order of RULES.md; an isle and the favor token that it gives share the name."""
NUM_KINDS = len(KINDS)
NUM_TILES = 28
"""Temple tiles are numbered from 1 to this."""
FIGURES = ("priestess", "builder", "apostate")
"""Moon Priestess, Master Builder, Apostate, as positions and sheets call them."""
