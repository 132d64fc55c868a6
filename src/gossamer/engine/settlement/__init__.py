"""The one door out: visits in arrival order, settled in groups, each one commit.

`judge` turns a visit into disposition, rest and account; `archivist` decides how it stands in the archive;
`twins` notices names that show one site;
`doors` leads to all other rooms. Archive record, state and links of a visit are committed together or not
at all.
"""
