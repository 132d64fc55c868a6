"""The console's pages of one job, and of all of them.

`views` and `lists` show, `acts` does what a button asks, `new_job` and `settings` are the forms. A page
shows what the REST interface would say, in the reader's language.
"""
