"""The command line: one file a command group; each parses, calls a workflow, prints and exits."""
