"""cereggii's AtomicRef, made for free-threaded builds, as a floor.

cereggii has no queue.  A reference that is set, and taken by an exchange for None,
is a channel of one slot without any waiting: what handing a value over takes at least.
"""

from functools import partial

from gochan.bench.contenders import Contender
from gochan.bench.measure import gil_enabled


class CereggiiRef(Contender):
    name = "cereggii"
    module = "cereggii"
    package = "cereggii"

    def missing(self):
        return "needs a free-threaded build" if gil_enabled() else super().missing()

    def pair(self, cap):
        from cereggii import AtomicRef

        slot = AtomicRef(None)
        return slot.set, partial(slot.get_and_set, None)


contender = CereggiiRef()
