"""Work on hostile documents in processes of their own: what hangs or crashes costs one answer.

`GuardedProcesses` (processes.py) is asked a question and gives the answer of a function that runs in a worker
process, or says why there is none. A worker (worker.py) is started when it is first needed, lives under a
limit of memory, and is killed at a limit of time; the next question starts another. `isolated_extractors`
(extractors.py) runs extractors so that say `isolated = True`. What must stay true: a document that cannot be
read is data, marked on its page; nothing a worker says is believed beyond its type and length; no worker
outlives its parent for longer than the limit of time.
"""
