"""The jobs of a daemon: made, cared for, scheduled, copied, removed.

`job` is what is remembered; `registry` makes and removes; for each job a `reconciler` brings what is nearer to
what is wanted (`run_control`), by a process of its own (`process`), and `restart` decides what becomes of one
that has died. What a job may name on disk is confined to the folders that the daemon was given
(`confinement`).
"""
