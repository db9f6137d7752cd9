"""gochan with all its threads on one CPU.

Hardly any wake-up crosses CPUs, so this is the least that sleeping can cost.
"""

from gochan.bench.contenders.sleeping import Sleeping


class OneCPU(Sleeping):
    name = "one CPU"


contender = OneCPU()
