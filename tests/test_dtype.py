"""dtype channels: elements of a struct format, held by value, one at a time and
as buffers.  Mirrors core/element.pxi and the buffer half of core/chan_bulk.pxi.

What is claimed: an element comes out as struct would unpack what struct packed;
what struct would refuse is refused, as TypeError or ValueError, and nothing is
sent; and all of it on every path (ring, hand-over to a parked peer, select).
"""

import array
import ctypes
import math
import struct
import sys

import pytest
from conftest import HANG, outcome, parked
from test_chan import BAD_TIMEOUTS, park_receivers, park_senders

from gochan import Chan, EndOfChannel, Panic, Selector, select

INTEGERS = "bBhHiIlLqQnN"
SAMPLES = {  # format: values that it holds exactly
    "c": [b"x", b"\0"],
    "b": [-128, 0, 127],
    "B": [0, 255],
    "?": [True, False],
    "h": [-(2**15), 2**15 - 1],
    "H": [0, 2**16 - 1],
    "i": [-(2**31), 2**31 - 1],
    "I": [0, 2**32 - 1],
    "l": [-(2**31), 2**31 - 1],
    "L": [0, 2**32 - 1],
    "q": [-(2**63), 2**63 - 1],
    "Q": [0, 2**64 - 1],
    "n": [-1, sys.maxsize],
    "N": [0, 2 * sys.maxsize + 1],
    "e": [0.5, -math.inf],
    "f": [0.5, -1.25, math.inf],
    "d": [0.1, -1e300, -0.0],
    "s": [b"x"],
    "p": [b""],
    "P": [0, 2**32],
    "<q": [-2, 2**40],
    ">q": [-2, 2**40],
    "!H": [1, 513],
    "=i": [-5],
    "@d": [0.1],
    ">d": [0.1],
    "16s": [b"0123456789abcdef"],
    "5p": [b"abcd"],
    "100s": [b"a" * 100],
    "1000s": [bytes(range(250)) * 4],
    "2q": [(1, -2)],
    "<qd": [(7, 0.5)],
    "q?3s": [(1, True, b"abc")],
    "@b2xq": [(1, 2)],
    "3d": [(1.0, 2.0, 3.0)],
    "8s 8s 8s": [(b"a" * 8, b"b" * 8, b"c" * 8)],
}
samples = pytest.mark.parametrize(("dtype", "values"), SAMPLES.items(), ids=SAMPLES)
BIG = b"a" * 50 + b"z" * 50  # an element that does not fit a pointer
EMPTY = [bytearray(), array.array("q"), memoryview(bytearray())]


@pytest.fixture(scope="module")
def np():
    return pytest.importorskip("numpy", reason="numpy is not installed")


def bits(value):
    """Something that compares -0.0 and 0.0 apart."""
    return repr(value)


# -- making one --------------------------------------------------------------------


@samples
def test_dtype_is_told(dtype, values):
    assert Chan(1, dtype).dtype == Chan(dtype=dtype).dtype == dtype
    assert dtype in repr(Chan(1, dtype))


@pytest.mark.parametrize("dtype", ["", "x", "5x", "z", "q!", "<n", "qq z", "é", "q\0", "0s"])
def test_dtype_that_is_no_format_with_a_value_is_refused(dtype):
    """A ValueError; "0s" has a value, but no bytes to hold it in."""
    with pytest.raises(ValueError, match=r"dtype|ascii"):
        Chan(1, dtype)


@pytest.mark.parametrize("dtype", [b"q", 8, int, ["q"], struct.Struct("q")])
def test_dtype_that_is_no_str_is_refused(dtype):
    with pytest.raises(TypeError, match="dtype"):
        Chan(1, dtype)


# -- values, on every path ---------------------------------------------------------


@samples
def test_values_through_the_ring(dtype, values):
    ch = Chan(len(values), dtype)
    for _ in range(3):
        for value in values:
            ch.send(value)
        assert [bits(ch.recv()) for _ in values] == [bits(v) for v in values]


@samples
def test_values_to_a_parked_receiver(world, dtype, values):
    ch = Chan(0, dtype)
    [receiver] = park_receivers(world, ch, 1)
    ch.send(values[-1])
    assert bits(receiver.join()) == bits(values[-1])


@samples
def test_values_from_a_parked_sender(world, dtype, values):
    ch = Chan(0, dtype)
    [sender] = park_senders(world, ch, values[-1:])
    assert bits(ch.recv()) == bits(values[-1])
    sender.join()


@samples
def test_values_through_select(world, dtype, values):
    """Ready, parked to receive, parked to send; function and Selector."""
    ready, ch, idle = Chan(1, dtype), Chan(0, dtype), Chan(0, dtype)
    value = values[-1]
    assert select((ready, value), idle) == (0, None, True)
    assert bits(select(idle, ready).value) == bits(value)
    receiver = world.go(select, idle, ch)
    parked(ch, receivers=1)
    assert Selector((ch, value), idle).select() == (0, None, True)
    assert bits(receiver.join().value) == bits(value)
    sender = world.go(Selector(idle, (ch, value)).select)
    parked(ch, senders=1)
    assert bits(select(ch).value) == bits(value)
    assert sender.join() == (1, None, True)


@samples
def test_values_in_bulk(dtype, values):
    ch = Chan(50, dtype)
    assert ch.send_many(values * 5) == len(values) * 5
    got = [*ch.recv_many(2), *ch.drain()]
    assert [bits(v) for v in got] == [bits(v) for v in values * 5]


@samples
def test_closed_channel_gives_the_zero_of_its_kind(dtype, values):
    """recv_ok alone: select gives None, recv raises."""
    ch = Chan(0, dtype)
    ch.close()
    zero = struct.unpack(dtype, bytes(struct.calcsize(dtype)))
    assert ch.recv_ok() == ch.receiver.recv_ok() == (zero if len(zero) > 1 else zero[0], False)
    assert select(ch) == (0, None, False)
    assert outcome(ch.recv)[0] is EndOfChannel
    assert ch.try_recv("default") == "default"


@pytest.mark.parametrize("dtype", ["q", "100s"])
def test_waiters_are_served_in_order(world, dtype):
    values = [1, 2, 3] if dtype == "q" else [BIG, b"\0" * 100, b"x" * 100]
    ch = Chan(0, dtype)
    receivers = park_receivers(world, ch, 3)
    assert ch.send_many(values) == 3
    assert [r.join() for r in receivers] == values
    senders = park_senders(world, ch, values)
    assert ch.drain() == values
    assert [s.join() for s in senders] == [None] * 3


def test_string_elements_are_padded_and_cut_as_struct_does():
    ch = Chan(2, "4s")
    ch.send_many([b"ab", b"abcdef"])
    assert ch.drain() == [b"ab\0\0", b"abcd"]


def test_elements_are_copies():
    ch, value = Chan(1, "4s"), bytearray(b"abcd")
    ch.send(value)
    value[:] = b"zzzz"
    assert ch.recv() == b"abcd"


def test_numbers_of_other_types_are_converted():
    class Five:
        def __index__(self):
            return 5

    class Half:
        def __float__(self):
            return 0.5

    whole, real = Chan(3, "q"), Chan(3, "d")
    whole.send_many([Five(), True])
    real.send_many([Half(), 3, True])
    assert whole.drain() == [5, 1]
    assert real.drain() == [0.5, 3.0, 1.0]


@pytest.mark.parametrize("dtype", ["q", "Q", "d", ">q", ">d"])
def test_conversion_may_use_the_channel(dtype):
    """It runs Python code, so no lock is held."""
    ch = Chan(1, dtype)

    class Nosy:
        def __index__(self):
            return len(ch.drain())

        def __float__(self):
            return float(len(ch.drain()))

    ch.send(7)
    ch.send(Nosy())
    assert ch.drain() == [1]


# -- what does not fit -------------------------------------------------------------


def limits(dtype):
    """The range of an integer format, by its size."""
    bits = 8 * struct.calcsize(dtype)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype[-1].islower() else (0, 2**bits - 1)


@pytest.mark.parametrize("dtype", [*INTEGERS, *(">" + c for c in INTEGERS[:-2])])
def test_integers_hold_their_range_and_no_more(dtype):
    ch, (low, high) = Chan(10, dtype), limits(dtype)
    ch.send_many([low, high])
    for value in (low - 1, high + 1, 10**30, -(10**30)):
        with pytest.raises(ValueError, match="dtype"):
            ch.send(value)
    assert ch.drain() == [low, high]


@pytest.mark.parametrize("code", [*INTEGERS, ">b", ">H", ">q", "<Q"])
@pytest.mark.parametrize("value", ["1", None, b"1", [1], {}, object()])
def test_integers_refuse_what_is_no_number(code, value):
    ch = Chan(1, code)
    with pytest.raises((TypeError, ValueError), match="dtype"):
        ch.send(value)
    assert len(ch) == 0


@pytest.mark.parametrize("code", ["b", "I", "q", "Q", ">q"])
@pytest.mark.parametrize("value", [1.5, 1.0, math.nan])
def test_integers_refuse_floats(code, value):
    """As struct does: nothing is cut off in silence."""
    ch = Chan(1, code)
    with pytest.raises((TypeError, ValueError)):
        ch.send(value)
    assert len(ch) == 0


@pytest.mark.parametrize("dtype", ["e", "f", "d", ">f", ">d", "3d"])
@pytest.mark.parametrize("value", ["1", None, b"1", [1.0], object(), 1j])
def test_floats_refuse_what_is_no_number(dtype, value):
    with pytest.raises((TypeError, ValueError), match="dtype"):
        Chan(1, dtype).send(value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("f", 1e300), ("<f", -1e39), (">f", 1e300), ("e", 1e6), ("d", 10**400), ("f", 10**400)],
)
def test_floats_refuse_what_is_too_large(dtype, value):
    """As struct does: it does not become infinite."""
    ch = Chan(1, dtype)
    with pytest.raises(ValueError, match="dtype"):
        ch.send(value)
    assert len(ch) == 0


@pytest.mark.parametrize("value", [1, (1,), (1, 2.0, 3), (), ("x", 1.0), (1, "x"), None, "ab"])
def test_records_refuse_what_does_not_fit(value):
    ch = Chan(1, "<qd")
    with pytest.raises((TypeError, ValueError), match="dtype"):
        ch.send(value)
    assert len(ch) == 0


@pytest.mark.parametrize("dtype", ["16s", "c", "s", "5p"])
@pytest.mark.parametrize("value", ["text", 1, None, [b"x"]])
def test_strings_refuse_what_is_no_bytes(dtype, value):
    with pytest.raises((TypeError, ValueError), match="dtype"):
        Chan(1, dtype).send(value)


def test_a_value_that_does_not_fit_is_refused_by_every_operation():
    """And whatever it stands beside: it is looked at before the channel is."""
    ch, ready = Chan(1, "b"), Chan(1)
    ready.send("v")
    for op in (
        lambda: ch.send(300),
        lambda: ch.send(300, timeout=0),
        lambda: ch.try_send(300),
        lambda: ch.sender.send(300),
        lambda: select((ch, 300)),
        lambda: select(ready, (ch, 300), default=True),
        lambda: Selector(ready, (ch, 300)),
    ):
        with pytest.raises(ValueError, match="dtype"):
            op()
    assert len(ch) == 0
    assert ready.drain() == ["v"]


def test_send_many_tells_how_many_when_a_value_does_not_fit():
    ch = Chan(5, "b")
    with pytest.raises(ValueError, match="dtype") as caught:
        ch.send_many([1, 2, 300, 4])
    assert caught.value.sent == 2
    assert ch.drain() == [1, 2]


@pytest.mark.parametrize("dtype", [None, "q"])
def test_send_many_takes_a_list_as_it_is_at_the_call(world, dtype):
    """On a dtype channel as on others."""
    ch, values = Chan(0, dtype), [1, 2, 3]
    sender = world.go(ch.send_many, values)
    parked(ch, senders=1)
    values[1:] = [7] * 10
    got = ch.recv_many(3, min=3, timeout=HANG)
    ch.close()
    assert (got, outcome(sender.join)) == ([1, 2, 3], 3)


# -- send_buffer -------------------------------------------------------------------

BUFFERS = {
    "array": lambda values: array.array("q", values),
    "bytes": lambda values: array.array("q", values).tobytes(),
    "bytearray": lambda values: bytearray(array.array("q", values).tobytes()),
    "memoryview": lambda values: memoryview(array.array("q", values)),
    "cast": lambda values: memoryview(array.array("q", values)).cast("B"),
    "ctypes": lambda values: (ctypes.c_int64 * len(values))(*values),
}
buffers = pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)


@buffers
def test_send_buffer_sends_all_elements(make):
    ch = Chan(10, "q")
    assert ch.send_buffer(make([1, -2, 3])) == 3
    assert ch.send_buffer(make([4])) == 1
    assert ch.drain() == [1, -2, 3, 4]


@buffers
@pytest.mark.parametrize("cap", [0, 3])
def test_send_buffer_waits_for_receivers(world, make, cap):
    ch = Chan(cap, "q")
    sender = world.go(ch.send_buffer, make(range(20)))
    assert [ch.recv(HANG) for _ in range(20)] == list(range(20))
    assert sender.join() == 20


@pytest.mark.parametrize("cap", [0, 2])
def test_send_buffer_serves_parked_receivers_first(world, cap):
    ch = Chan(cap, "q")
    receivers = park_receivers(world, ch, 2)
    assert ch.send_buffer(array.array("q", range(2 + cap))) == 2 + cap
    assert ch.drain() == [2, 3][:cap]
    assert [r.join() for r in receivers] == [0, 1]


@pytest.mark.parametrize("buf", [b"", *EMPTY])
def test_send_buffer_of_nothing(buf):
    assert Chan(0, "q").send_buffer(buf) == 0


def test_send_buffer_tells_how_many_when_the_time_is_up():
    ch = Chan(3, "q")
    with pytest.raises(TimeoutError) as caught:
        ch.send_buffer(array.array("q", range(5)), timeout=0.01)
    assert caught.value.sent == 3
    assert ch.drain() == [0, 1, 2]
    assert ch.stats().senders == 0


def test_send_buffer_tells_how_many_when_closed_meanwhile(world):
    ch = Chan(2, "q")

    def send():
        with pytest.raises(Panic, match="send on closed channel") as caught:
            ch.send_buffer(array.array("q", range(9)))
        return caught.value.sent

    sender = world.go(send)
    parked(ch, senders=1)
    assert ch.recv() == 0
    parked(ch, senders=1)
    ch.close()
    assert sender.join() == 3
    assert list(ch) == [1, 2]


def test_send_buffer_on_a_closed_channel_panics():
    ch = Chan(2, "q")
    ch.close()
    assert outcome(ch.send_buffer, bytes(8)) == (Panic, "send on closed channel")


def test_send_buffer_keeps_the_buffer_while_it_waits(world):
    """A bytearray cannot be resized under it, and can be afterwards."""
    ch, buf = Chan(0, "q"), bytearray(8)
    sender = world.go(ch.send_buffer, buf)
    parked(ch, senders=1)
    with pytest.raises(BufferError):
        buf.append(1)
    assert ch.recv() == 0
    sender.join()
    buf.append(1)


# -- recv_into ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [BUFFERS[k] for k in ("array", "bytearray", "cast", "ctypes")])
def test_recv_into_takes_what_is_there(make):
    ch, buf = Chan(10, "q"), make([0] * 4)
    ch.send_many([1, 2, 3])
    assert ch.recv_into(buf) == 3
    assert bytes(buf) == array.array("q", [1, 2, 3, 0]).tobytes()


def test_recv_into_takes_no_more_than_the_buffer_holds():
    ch, buf = Chan(10, "q"), array.array("q", [0, 0])
    ch.send_many(range(1, 6))
    assert [ch.recv_into(buf) for _ in range(3)] == [2, 2, 1]
    assert list(buf) == [5, 4]


@pytest.mark.parametrize("cap", [0, 4])
def test_recv_into_waits_for_the_first_element_only(world, cap):
    ch, buf = Chan(cap, "q"), array.array("q", [0] * 9)
    receiver = world.go(ch.recv_into, buf)
    parked(ch, receivers=1)
    ch.send(5)
    assert receiver.join() == 1
    assert list(buf) == [5] + [0] * 8


@pytest.mark.parametrize("cap", [0, 2])
def test_recv_into_takes_the_values_of_parked_senders(world, cap):
    ch, buf = Chan(cap, "q"), array.array("q", [-1] * 9)
    ch.send_many(range(cap))
    senders = park_senders(world, ch, [7, 8])
    assert ch.recv_into(buf) == cap + 2
    assert list(buf)[: cap + 3] == [*range(cap), 7, 8, -1]
    for sender in senders:
        sender.join()


@pytest.mark.parametrize("buf", EMPTY)
def test_recv_into_nothing_never_waits(buf):
    assert Chan(0, "q").recv_into(buf) == 0


@pytest.mark.parametrize("timeout", [0, 1e-9, 0.01])
def test_recv_into_times_out(timeout):
    ch = Chan(2, "q")
    with pytest.raises(TimeoutError):
        ch.recv_into(bytearray(8), timeout=timeout)
    assert ch.stats().receivers == 0


def test_recv_into_of_a_closed_channel_gives_the_rest_then_ends(world):
    ch, buf = Chan(3, "q"), array.array("q", [0] * 9)
    ch.send_many([1, 2])
    ch.close()
    assert ch.recv_into(buf) == 2
    assert outcome(ch.recv_into, buf)[0] is EndOfChannel


def test_recv_into_closed_meanwhile_ends(world):
    ch, buf = Chan(0, "q"), bytearray(b"x" * 8)
    receiver = world.go(outcome, ch.recv_into, buf)
    parked(ch, receivers=1)
    ch.close()
    assert receiver.join()[0] is EndOfChannel
    assert buf == b"x" * 8


def test_large_elements_move_as_buffers(world):
    ch, buf = Chan(1, "100s"), bytearray(300)
    sender = world.go(ch.send_buffer, BIG * 3)
    got = 0
    while got < 3:
        got += ch.recv_into(memoryview(buf)[100 * got :], timeout=HANG)
    assert (sender.join(), bytes(buf)) == (3, BIG * 3)


def test_buffers_conserve_the_elements(world, switching):
    ch, n = Chan(8, "q"), 3000
    sender = world.go(ch.send_buffer, array.array("q", range(n)))
    buf, got = array.array("q", [0] * 5), []
    while len(got) < n:
        got += buf[: ch.recv_into(buf, timeout=HANG)]
    assert sender.join() == n
    assert got == list(range(n))


# -- buffers that are refused --------------------------------------------------------

both_ways = pytest.mark.parametrize("op", ["send_buffer", "recv_into"])


def refuse(op, dtype, buf, error, **kwargs):
    """op on a channel that is ready for it; it must move nothing."""
    ch = Chan(4, dtype)
    if op == "recv_into":
        zero = struct.unpack(dtype, bytes(struct.calcsize(dtype)))
        ch.send_many([zero if len(zero) > 1 else zero[0]] * 2)
    before = len(ch), bytes(buf) if hasattr(buf, "__len__") else None
    with pytest.raises(error):
        getattr(ch, op)(buf, **kwargs)
    assert (len(ch), bytes(buf) if hasattr(buf, "__len__") else None) == before


@both_ways
def test_buffers_are_refused_by_channels_of_objects(op):
    with pytest.raises(TypeError, match="dtype"):
        getattr(Chan(3), op)(bytearray(8))


@both_ways
@pytest.mark.parametrize("size", [1, 7, 9, 15])
def test_buffers_of_broken_elements_are_refused(op, size):
    refuse(op, "q", bytearray(size), ValueError)


@both_ways
@pytest.mark.parametrize(
    ("code", "dtype"),
    [("Q", "q"), ("d", "q"), ("i", "q"), ("q", "d"), ("f", "i"), ("I", "i"), ("h", "H")],
)
def test_buffers_of_another_format_are_refused(op, code, dtype):
    """Plain bytes alone are what the user says they are."""
    refuse(op, dtype, array.array(code, [1, 2, 3, 4]), TypeError)


class Swapped(ctypes.Structure):
    _fields_ = [("b", ctypes.c_double), ("a", ctypes.c_int64)]


FOREIGN = {  # what it is, and the dtype of its size that it must not be taken for
    "big-endian": ("<q", ctypes.c_int64.__ctype_be__),
    "little-endian": (">q", ctypes.c_int64.__ctype_le__),
    "record": ("<qd", Swapped),
    "text": ("i" if ctypes.sizeof(ctypes.c_wchar) == 4 else "h", ctypes.c_wchar),
    "references-q": ("q", ctypes.py_object),
    "references-Q": ("Q", ctypes.py_object),
    "references-d": ("d", ctypes.py_object),
    "references-P": ("P", ctypes.py_object),
    "references-8s": ("8s", ctypes.py_object),
}


@both_ways
@pytest.mark.parametrize(("dtype", "kind"), FOREIGN.values(), ids=FOREIGN)
def test_buffers_of_foreign_elements_are_refused(op, dtype, kind):
    """They would be garbled in silence; a number written over a reference is a wild
    pointer."""
    refuse(op, dtype, (kind * 2)(), TypeError)


@both_ways
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("<q", ">i8"),
        (">q", "<i8"),
        ("<qd", [("a", "<f8"), ("b", "<i8")]),
        ("q", "c8"),
        ("d", "c8"),
        ("h", "f2"),
        ("i", "U1"),
        ("q", object),
        ("8s", object),
    ],
)
def test_numpy_arrays_of_foreign_elements_are_refused(np, op, dtype, kind):
    """The other byte order, other fields, complex, half, text, references."""
    refuse(op, dtype, np.zeros(2, kind), TypeError)


@both_ways
def test_buffers_that_are_not_contiguous_are_refused(op):
    refuse(op, "q", memoryview(array.array("q", range(6)))[::2], (BufferError, ValueError))


@both_ways
def test_numpy_arrays_that_are_not_contiguous_are_refused(np, op):
    for buf in (np.arange(6)[::2], np.asfortranarray(np.arange(6).reshape(2, 3))):
        refuse(op, "q", buf, (BufferError, ValueError))


@pytest.mark.parametrize("buf", [bytes(8), memoryview(bytes(8)), memoryview(b"")])
def test_recv_into_refuses_what_is_read_only(buf):
    refuse("recv_into", "q", buf, (BufferError, TypeError))


def test_recv_into_refuses_numpy_arrays_that_are_read_only(np):
    buf = np.zeros(2, "q")
    buf.flags.writeable = False
    refuse("recv_into", "q", buf, (BufferError, ValueError))


@both_ways
@pytest.mark.parametrize("value", ["text", 5, None, [1, 2], object()])
def test_what_is_no_buffer_is_refused(op, value):
    with pytest.raises(TypeError):
        getattr(Chan(3, "q"), op)(value)


@both_ways
@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_buffers_refuse_bad_timeouts(op, timeout, error):
    refuse(op, "q", bytearray(8), error, timeout=timeout)


# -- numpy -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("q", "i8"),
        ("<q", "<i8"),
        (">q", ">i8"),
        (">d", ">f8"),
        ("Q", "u8"),
        ("i", "i4"),
        ("h", "i2"),
        ("B", "u1"),
        ("d", "f8"),
        ("f", "f4"),
    ],
)
def test_numpy_arrays_go_through(np, dtype, kind):
    ch, sent = Chan(10, dtype), np.arange(8, dtype=kind)
    received = np.zeros(10, kind)
    assert ch.send_buffer(sent) == 8
    assert ch.recv_into(received) == 8
    assert received.tolist() == [*range(8), 0, 0]


def test_numpy_arrays_of_several_dimensions_are_flat(np):
    ch, buf = Chan(10, "q"), np.zeros((2, 3), "i8")
    assert ch.send_buffer(np.arange(6).reshape(3, 2)) == 6
    assert ch.recv_into(buf) == 6
    assert buf.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_numpy_records_go_through(np):
    ch, buf = Chan(3, "<qd"), np.zeros(3, [("a", "<i8"), ("b", "<f8")])
    buf["a"], buf["b"] = [1, 2, 3], 0.5
    assert ch.send_buffer(buf) == 3
    buf[:] = 0
    assert ch.recv() == (1, 0.5)
    assert ch.recv_into(buf) == 2
    assert buf.tolist() == [(2, 0.5), (3, 0.5), (0, 0.0)]


def test_numpy_scalars_are_values(np):
    ch = Chan(3, "q")
    ch.send_many([np.int64(-5), np.uint8(200), np.array([1, 2])[1]])
    assert ch.drain() == [-5, 200, 2]
    with pytest.raises(ValueError, match="dtype"):
        Chan(1, "b").send(np.int64(200))
