"""Small experiments that decide: toy tasks, position schemes, and their training.

``tasks`` and ``schemes`` say what is asked and how positions get in, ``model`` is
one transformer of many members, ``training`` trains and tests it, ``kept`` reads and
writes the results. Imported by name, module by module. This loads torch.
"""
