"""culsans: a queue with a side for threads and one for tasks; here its threads' side.

Its interface is janus's.
"""

from gochan.bench.contenders.janus_ import JanusQueue


class CulsansQueue(JanusQueue):
    name = "culsans"
    module = "culsans"
    package = "culsans"


contender = CulsansQueue()
