"""Puts a crawl together, and knows what lies in its folder.

`folder` says what lies where and who may use it; `storage` opens what is kept there, for as long as a block
lasts. `build` chooses concrete classes: upon the storage, from a configuration and what
was handed in (`extensions`, `plugins`), it makes the rooms of the road and connects them, each when it is
made. `seeds`, `hold`, `report` and `release` read and write the few files and records that outlive a process.
Nothing here waits for the network or asks whether a crawl runs. What code from outside raises is caught at
one border (`borders`), counted and told. Whatever is written here is readable by its owner alone (`private`).
"""
