"""The `tessera` command."""

from __future__ import annotations

import sys

from ._tessera import main as run


def main() -> int:
    """Runs the command with the arguments of the process."""
    return run(["tessera", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
