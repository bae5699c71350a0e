"""Kernels forked from one process that has imported what most notebooks import.

A kernel takes one to four seconds of processor for its imports, and a run starts more
than a hundred. Each forked one is as fresh: its modules are imported, and no more has
happened. One process serves the whole run: it starts when the first kernel is asked
for. Where nothing can be forked so, or where a test has set the environment anew,
kernels start as everywhere else.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

NAME = "forked-provisioner"
CAN_FORK = hasattr(os, "fork") and hasattr(os, "pidfd_open")
CHANGES = {"ACCEPT", "JPY_SESSION_NAME", "PYTEST_CURRENT_TEST"}
CHANGES |= {"TORCHINDUCTOR_CACHE_DIR"}  # which PyTorch sets where it compiles
"""Variables that no import looks at."""
usual: dict[str, str] = {}
"""The environment in which the tests began."""


def fork_kernels(place: str) -> None:
    """From now on, whoever starts kernels in this process: by the parent there."""
    if CAN_FORK:
        Forked.place = place
        usual.update(lasting(os.environ))
        factory = KernelProvisionerFactory.instance()
        entry = EntryPoint(NAME, f"{__name__}:Forked", factory.GROUP_NAME)
        factory.provisioners[NAME] = entry
        factory.default_provisioner_name = NAME


class Forked(LocalProvisioner):
    """Asks the process that has imported for a fork of itself."""

    place = ""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Launch a kernel with a command, of which its file is looked at."""
        env, cwd = kwargs["env"], kwargs.get("cwd") or Path.cwd()
        if lasting(env) != usual or "ipykernel_launcher" not in cmd:
            return await super().launch_kernel(cmd, **kwargs)
        told = {"argv": cmd[cmd.index("ipykernel_launcher") + 1 :], "cwd": str(cwd)}
        with socket.socket(socket.AF_UNIX) as parent, parent.makefile("rw") as line:
            parent.connect(self.place)
            print(json.dumps(told | {"env": env}), file=line, flush=True)
            self.process = Process(int(line.readline()))
        self.pid, self.cwd = self.process.pid, cwd
        return self.connection_info


class Process:
    """What a provisioner wants of a process, for one that is no child of this one."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid, self._file = pid, os.pidfd_open(pid)

    def __del__(self) -> None:
        os.close(self._file)

    def poll(self) -> int | None:
        """What it returned: its parent does not tell, so 0; None while it runs."""
        return 0 if select.select([self._file], [], [], 0)[0] else None

    def wait(self) -> int:
        """Until it has ended."""
        select.select([self._file], [], [])
        return 0

    def send_signal(self, number: int) -> None:
        """To it alone, if it is there."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._file, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class Parent:
    """The process that has imported; it ends with this one, and its kernels do."""

    def __init__(self) -> None:
        self._folder, self._server = TemporaryDirectory(), None
        self._asked = socket.socket(socket.AF_UNIX)
        self.place = f"{self._folder.name}/kernels"
        self._asked.bind(self.place)
        self._asked.listen()
        Thread(target=self._start, daemon=True).start()

    def _start(self) -> None:
        """As soon as somebody asks."""
        select.select([self._asked], [], [])
        file = self._asked.fileno()
        self._server = subprocess.Popen(
            [sys.executable, __file__, str(file)],
            pass_fds=[file],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        """No kernel is wanted any more."""
        if self._server:
            self._server.communicate()
        self._asked.close()
        self._folder.cleanup()


def lasting(env: Any) -> dict[str, str]:
    """The environment, without what changes from test to test."""
    return {name: env[name] for name in env if name not in CHANGES}


def bury(*_: Any) -> None:
    """Ask for those that have ended, so that their seconds are counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def serve(asked: socket.socket) -> None:
    """In the process that forks: for whoever asks a kernel, and its number."""
    del sys.path[0]  # where this file is; a kernel puts its own folder there
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends with its parent
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # half of a kernel's start
    import matplotlib.pyplot  # noqa: F401
    import numpy as np
    import numpy.random
    import psutil  # noqa: F401  # a kernel asks for it
    from ipykernel.kernelapp import IPKernelApp

    with suppress(ModuleNotFoundError):
        import torch._dynamo  # noqa: F401  # an optimiser does, for two seconds
    signal.signal(signal.SIGCHLD, bury)
    while sys.stdin not in select.select([asked, sys.stdin], [], [])[0]:
        caller, _ = asked.accept()
        with caller, caller.makefile("rw") as line:
            told = json.loads(line.readline())
            if pid := os.fork():
                print(pid, file=line)
                continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for file in range(3):
            os.dup2(nowhere, file)
        os.chdir(told["cwd"])
        os.environ.update(told["env"])
        asked.close()
        np.random.seed()  # noqa: NPY002  # or all had the same
        sys.argv[1:] = told["argv"]
        return IPKernelApp.launch_instance()
    return None


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv.pop())))
