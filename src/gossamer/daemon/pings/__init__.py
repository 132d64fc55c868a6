"""What servers tell the daemon of pages that have changed, by WebSub and IndexNow; and who is asked to do so.

Nothing that is told is believed to be the page: it makes pages due, and the crawl visits them as ever. `config` says
who is heard; `indexnow` reads submissions and hands them on; `subscriptions` keeps what hubs have promised,
`subscriber` asks them and hears them; `pings` runs both.
"""
