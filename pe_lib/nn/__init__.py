"""What needs torch: modules, toy tasks, a trainer. Imported by name."""
