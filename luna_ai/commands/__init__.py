"""The verbs of the command `luna`, one module each; `luna_ai.cli` holds the table of them."""
