"""Small experiments that decide: toy tasks, position schemes, and their training.

Imported by name, module by module. This loads torch.
"""

from pe_lib._extras import needs

with needs("torch", by="pe_lib.experiments"):
    import torch as _torch  # noqa: F401 - for its error, if it is missing
