"""Looks into the folder of a cluster, whether its agents run or not, without Ray.

`whole` is the one door: it gives the same questions for a folder of one process and of many. `cluster_view`
holds what a coordinator tells; `cluster_folder` what lies on disk when nobody answers.
"""
