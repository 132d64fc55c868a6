"""Lets `python -m gossamer` do what the `gossamer` command does."""

from gossamer.cli import main

main()
