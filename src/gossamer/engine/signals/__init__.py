"""What others say has changed, on its way to the frontier (0026, point 6).

`sources` numbers who speaks; `dated_lists` hears sitemaps and feeds that were read; `announcements` hears pings, of
which some must prove themselves by a file on the host (`key_files`); `hubs` remembers who would tell of more. None
of them visits anything: what is told makes pages due, as far as its source is trusted, by the host's rest as ever.
"""
