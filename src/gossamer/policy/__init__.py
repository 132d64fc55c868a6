"""Pure decisions: nothing here waits, reads a clock, opens a file or remembers more than a bounded cache.

**May this URL enter?** `urls.canonical` spells it, `scope` judges it by `scope.rules` and
`scope.url_traps`.
**May we ask for it?** `robots` reads the host's rules, `robots.access` tells what a failed reading means,
`visits.budget` what is still to spend. **When?** `visits.politeness` sets the rest, `ordering` the place in
the queue. **What became of it?** `visits.retry` turns an outcome into a disposition, `robots.directives`
reads the page's wishes.

Time comes in as an argument. What the web got wrong is a value; only the operator's input raises.
"""
