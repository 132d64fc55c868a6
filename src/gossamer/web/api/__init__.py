"""The daemon over HTTP: everything that can be done with jobs and crawls, described by OpenAPI.

Views and operations on one crawl come from the tables in `control.views` and `control.changes`: what a
crawl answers on its socket, the daemon answers here, with the same names, parameters and shapes. Errors are
`application/problem+json`; whatever can be long comes in pages by cursor; live figures come as server-sent
events.
"""
