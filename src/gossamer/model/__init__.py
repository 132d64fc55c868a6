"""The vocabulary: frozen values that travel along the road, each made by one room and answered by the next.

**How a URL travels.** A `Link` in a page becomes a `Candidate` at the door. The frontier lends it as a
`Lease`. A visit answers with an `Outcome`: `Fetched(Exchange)`, `Refused` or `Failed`. Reading the body
makes a `Page`. Settlement decides the `Disposition`: `Done`, `Retry`, `Dropped` or `Parked`.

**What turns back.** Links and the lease, nothing else. `Event`s leave sideways.
"""
