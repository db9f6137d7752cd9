"""cereggii's AtomicInt64, made for free-threaded builds; and its AtomicRef, as a floor.

cereggii has no queue.  A reference that is set, and taken by an exchange for None,
is a channel of one slot without any waiting: what handing a value over takes at least.
"""

from functools import partial

from gochan.bench.contenders import Contender, calling


class CereggiiRef(Contender):
    name = "cereggii"
    module = "cereggii"
    package = "cereggii"

    def pair(self, cap):
        from cereggii import AtomicRef

        slot = AtomicRef(None)
        return slot.set, partial(slot.get_and_set, None)

    def number(self):
        from cereggii import AtomicInt64

        return calling(AtomicInt64(0).increment_and_get, 1)


contender = CereggiiRef()
