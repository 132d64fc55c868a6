"""What follows from a visit: rest, retry, limits.

`politeness` sets how long a host rests, `retry` is the one table of status codes and faults, `budget` and
`star` tell when enough was fetched, `shared_turns` whose turn it is where several crawls visit one host.
"""
