"""Small experiments that decide: toy tasks, position schemes, and their training.

``tasks`` and ``schemes`` say what is asked and how positions get in, ``model`` is
one transformer of many members, ``attention`` where it is listened to or changed,
``loop`` the one training loop, ``kept`` reads and writes results. The others are what
a chapter trains or opens. Imported by name, module by module. This loads torch.
"""

from pe_lib._extras import require_package

with require_package("torch", by="pe_lib.experiments"):
    import torch as _torch  # noqa: F401 - for its error, if it is missing
