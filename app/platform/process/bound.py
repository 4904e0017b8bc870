"""Run a command that does not outlive the process that started it.

This file is also a script that runs between the starting process and the command. It sets the account and the death
signal, and then becomes the command (with the same process id). It replaces `preexec_fn`, which is not safe with
threads. It imports only the standard library and costs about 20 ms.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1
_CANNOT_RUN = 127


def bound_command(
    argv: Sequence[str], *, on_parent_death: signal.Signals, account: tuple[int, int] | None = None
) -> list[str]:
    """The command line that runs a command as a child bound to this process.

    Start it from the main thread: Linux sends the signal when the *thread* that forked ends. macOS has no such signal,
    so there the child is an ordinary one.

    Args:
        argv: the command; its first item is an absolute path.
        on_parent_death: the signal that the child receives when its parent ends.
        account: the user id and group id to run as; only root may change them.
    """
    uid, gid = account or (os.geteuid(), os.getegid())
    return [
        *(sys.executable, "-I", "-S", __file__),
        *(str(os.getpid()), str(int(on_parent_death)), str(uid), str(gid)),
        *argv,
    ]


def die_with_parent(death_signal: signal.Signals) -> None:
    """Ask Linux to send this process `death_signal` when its parent ends; elsewhere do nothing."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        if prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(death_signal)) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")


def main(parent: str, death_signal: str, uid: str, gid: str, *argv: str) -> None:
    """Become `argv`, unless the parent ended before the death signal was set."""
    account = int(uid), int(gid)
    if account != (os.geteuid(), os.getegid()):  # for good
        os.setgroups([])
        os.setgid(account[1])
        os.setuid(account[0])
    # This comes after the change of account, because Linux clears the death signal when the account changes.
    die_with_parent(signal.Signals(int(death_signal)))
    if os.getppid() != int(parent):
        sys.exit(_CANNOT_RUN)
    try:
        os.execv(argv[0], argv)  # noqa: S606 - runs without a shell on purpose
    except OSError as error:
        sys.stderr.write(f"cannot run {argv[0]}: {error.strerror}\n")
        sys.exit(_CANNOT_RUN)


if __name__ == "__main__":
    main(*sys.argv[1:])
