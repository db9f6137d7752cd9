"""gochan.atomic: Go's sync/atomic, row by row, and what Python adds.

Claimed: each method is one step, so nothing is lost or seen half; values wrap at
the width; Go's panics have Go's sentences; a Ref and a Value own exactly one
reference, whoever loads while another drops the last one; and what is no atomic
operation raises instead of being a wrong one.  What the operations order is
tested in test_litmus.py.
"""

import copy
import math
import operator
import os
import pickle
import struct
import sys
import threading
import weakref

import pytest
from conftest import outcome, wait_until

from gochan import Panic, atomic
from gochan.atomic import Bool, Float64, Int32, Int64, Ref, Uint32, Uint64, Value

INTEGERS = {  # class: (bits, signed)
    Int32: (32, True),
    Uint32: (32, False),
    Int64: (64, True),
    Uint64: (64, False),
}
integers = pytest.mark.parametrize("cls", INTEGERS, ids=lambda cls: cls.__name__)
NUMBERS = [*INTEGERS, Float64, Bool]
ALL = [getattr(atomic, name) for name in atomic.__all__]
OPS = ("load", "store", "swap", "compare_and_swap", "add", "and_", "or_")


def wrapped(cls, value):
    """What an int is at the width of cls."""
    bits, signed = INTEGERS[cls]
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def bounds(cls):
    bits, signed = INTEGERS[cls]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def edges(cls):
    """Values where a width or a digit of Python's ints ends, in range and out of it."""
    some = [0, 1, 2, 7, *bounds(cls)]
    for bits in (15, 30, 31, 32, 60, 62, 63, 64, 65, 200):
        some += [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]
    return sorted({*some, *(-value for value in some)})


# -- sync/atomic/atomic_test.go -----------------------------------------------------
# Test{Load,Store,Swap,Add,And,Or,CompareAndSwap}{Int32,Uint32,Int64,Uint64}Method are
# here by operation.  Go's Uintptr is Uint64; its Pointer is Ref, below.


def powers(cls):
    """Go's deltas: each single bit, from small to large, and then past the width."""
    return [1 << i for i in range(INTEGERS[cls][0] + 1)]


@integers
def test_load_gives_what_was_stored(cls):
    x = cls()
    assert x.load() == 0
    for value in powers(cls):
        assert x.store(value) is None
        assert x.load() == x.load() == wrapped(cls, value)
    for value in edges(cls):
        assert cls(value).load() == wrapped(cls, value)


@integers
def test_swap_gives_the_old_value(cls):
    x, before = cls(), 0
    for delta in powers(cls):
        assert x.swap(delta) == before
        before = wrapped(cls, delta)
    for value in edges(cls):
        assert x.swap(value) == before
        before = x.load()
        assert before == wrapped(cls, value)


@integers
def test_add_gives_the_new_value(cls):
    x, expected = cls(), 0
    for delta in [*powers(cls), *edges(cls)]:
        expected = wrapped(cls, expected + delta)
        assert x.add(delta) == expected
        assert x.load() == expected


@integers
def test_and_gives_the_old_value(cls):
    x, expected = cls(-1), wrapped(cls, -1)
    for mask in [~bit for bit in powers(cls)]:
        assert x.and_(mask) == expected
        expected = wrapped(cls, expected & mask)
    assert x.load() == expected == 0
    for value in edges(cls):
        for mask in edges(cls):
            x.store(value)
            assert x.and_(mask) == wrapped(cls, value)
            assert x.load() == wrapped(cls, value & mask)


@integers
def test_or_gives_the_old_value(cls):
    x, expected = cls(), 0
    for bit in powers(cls):
        assert x.or_(bit) == expected
        expected = wrapped(cls, expected | bit)
    assert x.load() == expected == wrapped(cls, -1)
    for value in edges(cls):
        for mask in edges(cls):
            x.store(value)
            assert x.or_(mask) == wrapped(cls, value)
            assert x.load() == wrapped(cls, value | mask)


@integers
def test_compare_and_swap_swaps_what_is_equal_alone(cls):
    for value in powers(cls)[:-1]:
        x = cls(value)
        assert x.compare_and_swap(value, value + 1) is True
        assert x.compare_and_swap(value, value + 2) is False
        assert x.load() == wrapped(cls, value + 1)
    for value in edges(cls):  # also the expected value is taken at the width
        x = cls(value)
        assert x.compare_and_swap(value, 3)
        assert x.load() == 3
        assert not x.compare_and_swap(value, 4) or wrapped(cls, value) == 3


@integers
def test_values_wrap_at_the_width(cls):
    least, most = bounds(cls)
    x = cls(most)
    assert x.add(1) == least
    assert x.add(-1) == most
    x = cls(least)
    assert x.add(least) == wrapped(cls, 2 * least)
    assert x.swap(most + 1) == wrapped(cls, 2 * least)
    assert x.load() == least
    assert cls(10**40).load() == wrapped(cls, 10**40)
    assert cls(-(10**40)).load() == wrapped(cls, -(10**40))


def test_pointers_compare_by_identity():
    """The rows of Go's Pointer: a Ref."""
    first, second = [1], [1]
    x = Ref(first)
    assert x.load() is first
    assert not x.compare_and_swap(second, [2])  # equal, another object
    assert x.load() is first
    assert x.compare_and_swap(first, second)
    assert x.load() is second
    assert x.swap(None) is second
    assert x.load() is None
    assert x.compare_and_swap(None, first)
    assert x.store(second) is None
    assert x.load() is second
    assert Ref().load() is None


# -- sync/atomic/value_test.go


def panic(verb, what):
    return Panic, f"sync/atomic: {verb} of {what}"


def test_value():
    v = Value()
    assert v.load() is None
    v.store(42)
    assert v.load() == 42
    v.store(84)
    assert v.load() == 84
    assert Value().load() is None


def test_value_large():
    v = Value()
    v.store("foo" * 1000)
    assert v.load() == "foo" * 1000
    v.store("barbaz")
    assert v.load() == "barbaz"


def test_value_panic():
    v = Value()
    nil = panic("store", "nil value into Value")
    other = panic("store", "inconsistently typed value into Value")
    assert outcome(v.store, None) == nil
    v.store(42)
    assert outcome(v.store, "foo") == other
    assert outcome(v.store, True) == other  # a subclass is another type
    assert outcome(v.store, None) == nil
    assert v.load() == 42


@pytest.mark.parametrize(
    ("init", "new", "expected"),
    [
        (None, None, panic("swap", "nil value into Value")),
        (None, True, None),
        (True, "", panic("swap", "inconsistently typed value into Value")),
        (True, False, True),
    ],
)
def test_value_swap(init, new, expected):
    v = Value()
    if init is not None:
        v.store(init)
    assert outcome(v.swap, new) == expected
    assert v.load() is (init if isinstance(expected, tuple) else new)


class Point:
    """Compared by ==, with a hook at the comparison."""

    def __init__(self, x, hook=None):
        self.x, self.hook = x, hook

    def __eq__(self, other):
        if self.hook is not None:
            self.hook()
        return self.x == other.x

    __hash__ = None


@pytest.mark.parametrize(
    ("init", "new", "old", "expected"),
    [
        (None, None, None, panic("compare and swap", "nil value into Value")),
        (None, True, "", panic("compare and swap", "inconsistently typed values")),
        (None, True, True, False),
        (None, True, None, True),
        (True, "", "", panic("compare and swap", "inconsistently typed value into Value")),
        (True, True, False, False),
        (True, True, True, True),
        (b"ab" * 9, b"new", bytes(bytearray(b"ab" * 9)), True),  # equal, not the same object
        (True, False, None, False),
    ],
)
def test_value_compare_and_swap(init, new, old, expected):
    v = Value()
    if init is not None:
        v.store(init)
    assert outcome(v.compare_and_swap, old, new) == expected
    assert v.load() is (new if expected is True else init)


def test_value_compares_without_a_lock():
    """The comparison is users' code: it may use the Value, and may raise."""
    v = Value()
    first, second = Point(1), Point(1)
    v.store(first)
    first.hook = lambda: v.load() is first and v.store(second)
    new = Point(3)
    assert v.compare_and_swap(Point(1), new)  # first was replaced meanwhile, by an equal one
    assert v.load() is new
    new.hook = lambda: v.store(Point(4))
    assert not v.compare_and_swap(Point(3), Point(5))  # replaced by another one
    assert v.load().x == 4

    def fail():
        raise ZeroDivisionError

    v.load().hook = fail
    with pytest.raises(ZeroDivisionError):
        v.compare_and_swap(Point(4), Point(6))
    assert v.load().x == 4


def test_value_nan_is_not_equal():
    v = Value()
    v.store(math.nan)
    assert not v.compare_and_swap(math.nan, 1.0)


def test_value_swap_concurrent(world):
    """Go's TestValueSwapConcurrent: of what was put in each comes out once."""
    v, parts, each = Value(), 4, 2000
    out = [
        world.go(lambda n=n: [v.swap(i) for i in range(n * each, (n + 1) * each)])
        for n in range(parts)
    ]
    came = [value for part in out for value in part.join()]
    came.append(v.load())
    assert came.count(None) == 1
    assert sorted(value for value in came if value is not None) == [*range(parts * each)]


@pytest.mark.parametrize("cls", [Int32, Uint32, Int64, Uint64, Float64, Ref, Value])
def test_compare_and_swap_concurrent(world, cls):
    """Go's TestValueCompareAndSwapConcurrent: a counter made of it loses nothing."""
    x, parts, each = cls(), 4, 1000
    x.store(0)

    def count():
        for _ in range(each):
            while True:
                old = x.load()
                if x.compare_and_swap(old, old + 1):
                    break

    for activity in [world.go(count) for _ in range(parts)]:
        activity.join()
    assert x.load() == parts * each


@pytest.mark.parametrize("cls", [*INTEGERS, Float64])
def test_add_concurrent(world, cls, switching):
    x, parts, each = cls(), 8, 3000

    def count():
        return [x.add(1) for _ in range(each)]

    seen = [v for a in [world.go(count) for _ in range(parts)] for v in a.join()]
    assert x.load() == parts * each
    assert sorted(seen) == [*range(1, parts * each + 1)]  # each result once


@integers
def test_and_or_concurrent(world, cls, switching):
    """Each thread sets and clears its own bits, which nobody else touches."""
    x, each = cls(), 2000

    def toggle(bit):
        for _ in range(each):
            assert not x.or_(bit) & bit
            assert x.and_(~bit) & bit

    for activity in [world.go(toggle, 1 << n) for n in (0, 7, 15, 30)]:
        activity.join()
    assert x.load() == 0


def test_bool():
    b = Bool()
    assert (b.load(), b.swap(True), b.load(), Bool(True).load()) == (False, False, True, True)
    assert b.compare_and_swap(False, True) is False
    assert b.compare_and_swap(True, False) is True
    assert b.store(True) is None
    for value in (False, True):
        for mask in (False, True):
            b.store(value)
            assert (b.and_(mask), b.load()) == (value, value and mask)
            b.store(value)
            assert (b.or_(mask), b.load()) == (value, value or mask)


def test_float64():
    f = Float64(1)
    assert (f.load(), type(f.load())) == (1.0, float)
    assert f.add(0.5) == 1.5
    assert f.swap(-2) == 1.5
    assert f.compare_and_swap(-2.0, math.inf)
    assert f.add(-math.inf) != f.load()  # NaN
    assert f.compare_and_swap(f.load(), 0.0)
    assert not f.compare_and_swap(-0.0, 1.0)
    assert math.copysign(1, f.load()) == 1
    for bits in (1, 0x7FF8DEAD00000000, 0xFFF0000000000000):
        (value,) = struct.unpack("d", struct.pack("Q", bits))
        assert struct.pack("d", Float64(value).load()) == struct.pack("Q", bits)


# -- arguments -------------------------------------------------------------------


class Index:
    def __index__(self):
        return 2**64 + 7


class Number(int):
    pass


@integers
@pytest.mark.parametrize("bad", [True, 1.0, "1", None, b"1", 1j, [1]], ids=repr)
def test_integers_hold_ints(cls, bad):
    x = cls(5)
    for attempt in [
        lambda: cls(bad),
        lambda: x.store(bad),
        lambda: x.swap(bad),
        lambda: x.add(bad),
        lambda: x.and_(bad),
        lambda: x.or_(bad),
        lambda: x.compare_and_swap(bad, 1),
        lambda: x.compare_and_swap(5, bad),
    ]:
        kind, text = outcome(attempt)
        assert kind is TypeError
        assert type(bad).__name__ in text
    assert x.load() == 5


@integers
def test_integers_take_what_is_an_index(cls):
    x = cls(Index())
    assert x.load() == 7
    assert x.add(Number(1)) == 8
    assert type(cls(Number(3)).load()) is int


def test_an_index_that_raises_raises():
    class Bad:
        def __index__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Int64().add(Bad())


def test_results_and_arguments_that_look_like_an_error():
    """C code tells an error by a value; that value must be usable too."""
    for value in (0x5EED, -1, 2**64 - 1):
        assert Uint64(value).load() == value % 2**64
        assert Uint64(Index.__index__(None) and value).add(0) == value % 2**64
    assert Float64(-1.0).add(-1.0) == -2.0
    assert Float64(-1).swap(-1) == -1.0


@pytest.mark.parametrize("bad", [True, "1", None, 1j, [1]], ids=repr)
def test_float64_holds_floats(bad):
    f = Float64(5)
    for attempt in [
        lambda: Float64(bad),
        lambda: f.store(bad),
        lambda: f.swap(bad),
        lambda: f.add(bad),
        lambda: f.compare_and_swap(bad, 1),
        lambda: f.compare_and_swap(5, bad),
    ]:
        with pytest.raises(TypeError):
            attempt()
    with pytest.raises(OverflowError):
        f.store(10**400)
    assert f.load() == 5


@pytest.mark.parametrize("bad", [1, 0, None, "", 1.0], ids=repr)
def test_bool_holds_bools(bad):
    b = Bool(True)
    for attempt in [
        lambda: Bool(bad),
        lambda: b.store(bad),
        lambda: b.swap(bad),
        lambda: b.and_(bad),
        lambda: b.or_(bad),
        lambda: b.compare_and_swap(bad, True),
        lambda: b.compare_and_swap(True, bad),
    ]:
        with pytest.raises(TypeError):
            attempt()
    assert b.load() is True


# -- what is not there -------------------------------------------------------------

IN_PLACE = [
    *(operator.iadd, operator.isub, operator.imul, operator.imatmul, operator.imod),
    *(operator.ipow, operator.ifloordiv, operator.itruediv, operator.ilshift, operator.irshift),
    *(operator.iand, operator.ior, operator.ixor),
]
PLAIN = [
    *(operator.add, operator.sub, operator.mul, operator.matmul, operator.mod, operator.pow),
    *(operator.floordiv, operator.truediv, operator.lshift, operator.rshift),
    *(operator.and_, operator.or_, operator.xor, divmod),
]
UNARY = [operator.neg, operator.pos, operator.invert, abs]
METHODS = {Bool: "and_, or_ or load", Float64: "add or load"}


@pytest.mark.parametrize("cls", NUMBERS, ids=lambda cls: cls.__name__)
def test_operators_raise_and_say_what_to_call(cls):
    x = cls()
    calls = [(op, x, 1) for op in IN_PLACE + PLAIN] + [(op, 1, x) for op in PLAIN]
    calls += [(op, x) for op in UNARY] + [(op, x, x) for op in IN_PLACE + PLAIN]
    calls += [(operator.iadd, [], x)]  # a list asks us, after itself
    for op, *operands in calls[:-1]:
        kind, text = outcome(op, *operands)
        assert kind is TypeError
        assert f"gochan.atomic.{cls.__name__}" in text
        assert METHODS.get(cls, "add, and_, or_ or load") in text
    assert x.load() == 0
    with pytest.raises(TypeError, match="load"):
        bool(x)
    for convert in (int, float, operator.index):
        with pytest.raises(TypeError):
            convert(x)


def test_x_plus_equals_1_names_add():
    x = Int64(1)
    with pytest.raises(TypeError) as info:
        x += 1
    assert str(info.value) == (
        "+= is not atomic: gochan.atomic.Int64 has add, and_, or_ or load instead"
    )
    assert x.load() == 1


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_only_the_methods_of_the_contract_are_there(cls):
    public = {name for name in dir(cls) if not name.startswith("_")}
    missing = {Float64: {"and_", "or_"}, Bool: {"add"}}.get(cls, set())
    if cls in (Ref, Value):
        missing = {"add", "and_", "or_"}
    assert public == {*OPS} - missing
    assert not hasattr(cls, "__add__")
    assert not hasattr(cls, "__iadd__")


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_atomics_are_themselves(cls):
    """Identity, no copies, no subclasses, no truth value."""
    x, y = cls(), cls()
    assert x == x
    assert x != y
    assert len({x, y, x}) == 2
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            duplicate(x)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (cls,), {})
    with pytest.raises(TypeError, match="no truth value of its own: use load"):
        bool(x)
    with pytest.raises(TypeError):
        x < y  # noqa: B015
    with pytest.raises(AttributeError):
        x.other = 1


def test_reprs():
    assert [repr(x) for x in (Int64(-5), Uint32(-1), Float64(0.5), Bool(True))] == [
        "Int64(-5)",
        "Uint32(4294967295)",
        "Float64(0.5)",
        "Bool(True)",
    ]
    ref = Ref()
    ref.store(ref)  # no recursion
    assert repr(ref) == f"<gochan.atomic.Ref at {id(ref):#x}>"
    assert repr(Value()).startswith("<gochan.atomic.Value at 0x")
    assert repr(Ref[int]) == "gochan.atomic.Ref[int]"
    assert Value[int]().load() is None


# -- references --------------------------------------------------------------------


class Counted:
    """Counts how many are alive; a dead one has no mark."""

    def __init__(self, alive=None):
        self.mark, self.alive = 12345, Int64() if alive is None else alive
        self.alive.add(1)

    def __del__(self):
        self.mark = None
        self.alive.add(-1)


HOLDERS = [Ref, Value]
holders = pytest.mark.parametrize("cls", HOLDERS, ids=lambda cls: cls.__name__)


@holders
def test_references_are_exact(cls):
    obj, other = Counted(), Counted()
    x = cls()
    before = sys.getrefcount(obj), sys.getrefcount(other)
    for _ in range(100):
        x.store(obj)
        x.store(other)
        x.swap(obj)
        x.load()
        x.compare_and_swap(obj, other)
        x.compare_and_swap(obj, obj)  # fails
        x.compare_and_swap(other, other)
        outcome(x.compare_and_swap, obj, None) if cls is Value else None
        outcome(x.store, 5) if cls is Value else None
        outcome(x.swap, None) if cls is Value else None
    x.store(obj)
    assert (sys.getrefcount(obj), sys.getrefcount(other)) == (before[0] + 1, before[1])
    del x
    assert sys.getrefcount(obj) == before[0]


@holders
def test_what_is_replaced_dies_at_once(cls):
    x = cls()
    x.store(Counted())
    first = weakref.ref(x.load())
    x.store(Counted())
    assert first() is None
    second = weakref.ref(x.load())
    assert x.compare_and_swap(x.load(), Counted())
    assert second() is None
    third = weakref.ref(x.load())
    del x
    assert third() is None


@pytest.mark.parametrize("finish", ["store", "swap", "compare_and_swap"])
@holders
def test_loads_race_with_the_drop_of_the_last_reference(world, cls, finish, switching, collected):
    """Writers put fresh objects in, each of which only the holder refers to; readers
    use what they load.  At the end exactly one object is left, then none."""
    x, alive, writers, readers, each = cls(), Int64(), 2, 2, 3000
    x.store(Counted(alive))
    running = Int64(writers)

    def write(x):
        for _ in range(each):
            new = Counted(alive)
            if finish == "compare_and_swap":
                while not x.compare_and_swap(x.load(), new):
                    pass
            else:
                getattr(x, finish)(new)
        running.add(-1)

    def read(x):
        seen = 0
        while running.load():
            assert x.load().mark == 12345
            seen += 1
        return seen

    activities = [world.go(part, x) for part in (read,) * readers + (write,) * writers]
    for activity in activities:
        activity.join()
    world.started.clear()
    del activities, activity
    collected()
    assert alive.load() == 1
    last, control = x.load(), object()
    held = sys.getrefcount(last) - sys.getrefcount(control)
    assert held == 1
    del last, x
    collected()
    assert alive.load() == 0


@holders
def test_cycles_are_collected(cls, collected):
    x, obj = cls(), Counted()
    gone = weakref.ref(obj)
    obj.holder = x
    x.store([obj])
    del x, obj
    collected()
    assert gone() is None


def test_a_ref_of_itself_is_collected(collected):
    alive = Int64()
    for _ in range(10):
        ref = Ref()
        ref.store((ref, Counted(alive)))
    del ref
    collected()
    assert alive.load() == 0


def test_a_long_chain_of_refs_dies_without_recursion():
    ref = Ref()
    for _ in range(200_000):
        ref = Ref(ref)
    del ref
    value = Value()
    for _ in range(200_000):
        outer = Value()
        outer.store(value)
        value = outer
    del value, outer


@holders
def test_finalizers_may_use_the_holder(cls):
    """A finalizer that runs in store's drop of the old object uses the same holder."""
    seen = []

    class Late:
        def __del__(self):
            seen.append(x.load())
            if len(seen) < 3:
                x.store(Late())

    x = cls()
    for _ in range(3):
        x.store(Late())
    assert len(seen) >= 2
    assert all(type(obj) is Late for obj in seen)
    del seen[:]


def test_many_types_race_for_the_first_store_of_a_value(world):
    """One of them decides; each of the others panics, and nothing else is stored."""
    for _ in range(200):
        v, kinds = Value(), [1, "a", b"b", 1.5]
        ready = Int64()

        def first(obj, v=v, ready=ready):
            ready.add(1)
            wait_until(lambda: ready.load() == 4)
            return outcome(v.store, obj)

        results = [a.join() for a in [world.go(first, obj) for obj in kinds]]
        world.started.clear()
        assert results.count(None) == 1
        assert v.load() == kinds[results.index(None)]


# -- the rest of the house's rules ---------------------------------------------------


def test_references_come_back_after_errors():
    """tests/test_leaks.py's check for what takes objects here."""
    big, ref, value, obj = 10**30, Ref(), Value(), object()
    value.store(obj)

    def attempts():
        x = Int64(big)
        for attempt in [
            lambda: x.add(big),
            lambda: x.compare_and_swap(big, obj),
            lambda: x.store(obj),
            lambda: x + big,
            lambda: Int64(obj),
            lambda: Ref(obj).swap(obj),
            lambda: ref.compare_and_swap(obj, big),
            lambda: value.compare_and_swap(obj, obj),
            lambda: value.compare_and_swap(big, obj),
            lambda: value.compare_and_swap(big, big),
            lambda: value.store(big),
            lambda: Value(obj),
            lambda: Float64(obj),
            lambda: Bool(obj),
        ]:
            outcome(attempt)

    attempts()
    before = sys.getrefcount(big), sys.getrefcount(obj)
    for _ in range(200):
        attempts()
    assert (sys.getrefcount(big), sys.getrefcount(obj)) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_uses_atomics_that_other_threads_were_using(world):
    ref, stop = Ref(0), Bool()

    # Arguments, not the variables of this function: a variable that a closure shares has
    # a lock in free-threaded CPython 3.13, and a child that forks while others are waiting
    # for that lock can find it taken for ever.
    def use(ref, stop):
        while not stop.load():
            ref.store(ref.load())

    for _ in range(2):
        world.go(use, ref, stop)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            ref.store(5)
            os._exit(0 if ref.load() == 5 and ref.compare_and_swap(5, 6) else 1)
        assert os.waitpid(child, 0)[1] == 0
    stop.store(True)


def test_atomics_are_made_and_used_while_threads_end():
    for _ in range(50):
        x = Int64()
        threads = [threading.Thread(target=x.add, args=(1,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert x.load() == 4
