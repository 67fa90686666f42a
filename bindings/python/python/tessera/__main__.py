"""The `tessera` command."""

from __future__ import annotations

import signal
import sys

from ._tessera import main as run


def main() -> int:
    """Runs the command with the arguments of the process."""
    # ^C ends it at once, as it ends every command: Python would only be told when it is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["tessera", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
