"""Pure decisions: nothing here waits, reads a clock, opens a file or remembers more than a bounded cache.

**May this URL enter?** `canonical` spells it, `scope` judges it by the rules of `scope_rules` and `traps`.
**May we ask for it?** `robots` reads the host's rules, `robots_access` tells what a failed reading means,
`budget` what is still to spend. **When?** `politeness` sets the rest, `ordering` the place in the queue.
**What became of it?** `retry` turns an outcome into a disposition, `directives` reads the page's wishes.

Time comes in as an argument. What the web got wrong is a value; only the operator's input raises.
"""
