"""Why something is as it is: reasons as values, and the words for them.

Who decides gives a `Reason`: a code out of a closed list (`codes`, also `Rule` and `Fault`) with
its numbers and names. It is stored by code. Who shows it puts it into words (`Reason.said`), in English or
Chinese, out of one catalogue (`words/`). What older versions wrote as sentences is read in `earlier` alone.
What must stay true: nothing is decided from a sentence, and each code has words in each language.
"""
