"""The commands of the command line with their options; each imports what it needs only when it runs."""
