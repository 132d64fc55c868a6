"""Looks into a crawl's folder, also while it is being crawled, and changes nothing.

`inspection` opens the state as it was committed last; the rest are questions put to it: the life of one URL
(`why`), what hosts do (`hosts`), what waits where (`queue`), how long it will take (`forecast`), which
branches were set aside (`traps`), what visits did (`crawl_log`), what was archived and what refers to what
(`archive`), and whether all of it agrees (`checks`). A cluster's folder is read through its agents'
(`clusters`). Terminal, report, REST and console show these same values; words are put to them where they
are shown (`words`). What runs is never stopped by a look.
"""
