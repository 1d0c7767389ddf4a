"""The command `luna`: one verb a module of `luna_ai.commands`."""


def main() -> None:
    """Runs the command line."""
