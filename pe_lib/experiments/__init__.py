"""Small experiments that decide: toy tasks, position schemes, and their training.

``tasks`` and ``schemes`` say what is asked and how positions get in, ``model`` is
one transformer of many members, ``training`` trains and tests it, ``kept`` reads and
writes the results. Imported by name, module by module. This loads torch.
"""

from pe_lib._extras import require_package

with require_package("torch", by="pe_lib.experiments"):
    import torch as _torch  # noqa: F401 - for its error, if it is missing
