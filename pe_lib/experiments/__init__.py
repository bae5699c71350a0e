"""Small experiments that decide: toy tasks, position schemes, and their training.

Imported by name, module by module. This loads torch.
"""
