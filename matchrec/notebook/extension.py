"""What `%load_ext matchrec` and `%unload_ext matchrec` do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.api.sql import install, uninstall
from matchrec.notebook.magic import MatchrecMagics, running_session, show_failures

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load(shell: InteractiveShell) -> None:
    """Makes the magic known, errors short, and installs into the session if there is one."""
    shell.register_magics(MatchrecMagics)
    show_failures(shell)
    spark = running_session(shell.user_ns)
    if spark is not None:
        install(spark)


def unload(shell: InteractiveShell) -> None:
    """Takes all of that away again."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("matchrec", None)
    shell.set_custom_exc((), None)
    spark = running_session(shell.user_ns)
    if spark is not None:
        uninstall(spark)
