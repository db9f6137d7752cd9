"""Once, once_func, once_value: Go's rules.  Rows of go-oracle.csv: src/sync/once_test.go,
oncefunc_test.go and the examples.  once_values is once_value of a tuple."""

import copy
import gc
import os
import pickle
import signal
import threading
import traceback
import weakref

import pytest
from conftest import outcome, wait_until

from gochan import Panic
from gochan.sync import Once, once_func, once_value


class Held:
    """A function that runs until it is let go."""

    def __init__(self, error=None):
        self.calls, self.error = 0, error
        self.running, self.release = threading.Event(), threading.Event()

    def __call__(self):
        self.calls += 1
        self.running.set()
        assert self.release.wait(30)
        if self.error is not None:
            raise self.error
        return self.calls


def test_once(world, switching):
    """TestOnce: each of ten callers sees that it has run, once."""
    once, calls = Once(), [0]

    def run():
        once.do(lambda: calls.__setitem__(0, calls[0] + 1))
        return calls[0]

    assert [t.join() for t in [world.go(run) for _ in range(10)]] == [1] * 10
    assert once.done


def test_once_panic():
    """TestOncePanic: what raises has run."""
    once = Once()
    assert outcome(once.do, lambda: 1 / 0)[0] is ZeroDivisionError
    assert once.do(lambda: pytest.fail("called twice")) is None
    assert once.done


def test_callers_wait(world):
    once, fn = Once(), Held()
    first = world.go(once.do, fn)
    fn.running.wait()
    others = [world.go(once.do, lambda: pytest.fail("called")) for _ in range(3)]
    wait_until(lambda: once.stats() == (False, 3))
    assert outcome(once.do, fn, 0) == (TimeoutError, "do timed out")
    assert outcome(once.do, fn, timeout=0.001)[0] is TimeoutError
    fn.release.set()
    for thread in [first, *others]:
        assert thread.join() is None
    assert once.stats() == (True, 0)
    assert fn.calls == 1


def test_it_cannot_wait_for_itself():
    once = Once()
    assert outcome(once.do, lambda: once.do(print))[0] is Panic
    assert once.done


def test_arguments():
    once = Once()
    assert outcome(once.do, None) == (TypeError, "do needs a function, not NoneType")
    assert outcome(once.do, print, -1)[0] is ValueError
    assert not once.done
    for action in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            action(once)


def test_ctrl_c_while_another_thread_runs_it(world):
    once, fn = Once(), Held()
    runner = world.go(once.do, fn)
    fn.running.wait()

    def interrupt():
        wait_until(lambda: once.stats().waiters == 1)
        os.kill(os.getpid(), signal.SIGINT)

    # Who was started in the background has Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        killer = world.go(interrupt)
        with pytest.raises(KeyboardInterrupt):
            once.do(fn)
    finally:
        signal.signal(signal.SIGINT, before)
    killer.join()
    assert once.stats() == (False, 0)
    fn.release.set()
    runner.join()
    once.do(fn)
    assert fn.calls == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_runs_what_another_thread_was_running(world):
    once, fn = Once(), Held()
    runner = world.go(once.do, fn)
    fn.running.wait()
    pid = os.fork()
    if pid == 0:
        ran = []
        once.do(lambda: ran.append(1), timeout=20)
        once.do(lambda: ran.append(2))
        os._exit(0 if ran == [1] else 1)
    assert os.waitpid(pid, 0)[1] == 0
    fn.release.set()
    runner.join()
    assert once.done


# -- once_func, once_value -------------------------------------------------------------


def test_once_func():
    """TestOnceFunc."""
    calls = []
    fn = once_func(lambda: calls.append(1) or "dropped")
    assert [fn(), fn()] == [None, None]
    assert calls == [1]


def test_once_value():
    """TestOnceValue, TestOnceValues."""
    calls = [0]

    @once_value
    def pair():
        """Docs."""
        calls[0] += 1
        return calls[0], calls[0] + 1

    assert [pair(), pair()] == [(1, 2), (1, 2)]
    assert pair() is pair()
    assert (pair.__name__, pair.__doc__) == ("pair", "Docs.")


@pytest.mark.parametrize("make", [once_func, once_value])
def test_panic(make):
    """TestOnceFuncPanic, TestOnceValuePanic, TestOnceValuesPanic."""
    error, calls = KeyError("x"), [0]

    def fail():
        calls[0] += 1
        raise error

    fn = make(fail)
    for _ in range(3):
        with pytest.raises(KeyError) as caught:
            fn()
        assert caught.value is error
        frames = [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
        assert frames.count("fail") == 1  # TestOnceFuncPanicTraceback: where it began
        assert len(frames) <= 4
    assert calls == [1]


@pytest.mark.parametrize("make", [once_func, once_value])
def test_the_function_is_let_go(make):
    def prepare():
        def fn():
            return 1

        return make(fn), weakref.ref(fn)

    once, ref = prepare()
    gc.collect()
    assert ref() is not None
    once()
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("error", [None, KeyError("x")])
def test_callers_of_a_value_wait(world, error):
    fn = Held(error)
    value = once_value(fn)
    threads = [world.go(outcome, value) for _ in range(4)]
    fn.running.wait()
    fn.release.set()
    results = {str(thread.join()) for thread in threads}
    assert results == ({"1"} if error is None else {str((KeyError, "'x'"))})
    assert fn.calls == 1


def test_values_that_need_themselves():
    value = once_value(lambda: value())
    assert outcome(value)[0] is Panic
    assert outcome(value)[0] is Panic
    assert outcome(once_func, 3) == (TypeError, "a function is needed, not int")


def test_a_cycle_is_collected():
    class Holder:
        pass

    def prepare():
        holder = Holder()
        holder.value = once_value(lambda: holder)
        holder.value()
        return weakref.ref(holder)

    ref = prepare()
    gc.collect()
    assert ref() is None


def test_example_once(world, capsys):
    """ExampleOnce."""
    once = Once()
    for thread in [world.go(once.do, lambda: print("Only once")) for _ in range(10)]:
        thread.join()
    assert capsys.readouterr().out == "Only once\n"


def test_example_once_value(world, capsys):
    """ExampleOnceValue."""

    @once_value
    def total():
        print("Computed once:", sum(range(1000)))
        return sum(range(1000))

    for thread in [world.go(lambda: print(f"Computed value: {total()}\n", end="")) for _ in "123"]:
        thread.join()
    out = capsys.readouterr().out
    assert out.count("Computed once: 499500\n") == 1
    assert out.count("Computed value: 499500") == 3


def test_example_once_values():
    """ExampleOnceValues: a file that is read once, or its error."""
    reads = []

    @once_value
    def read():
        reads.append(1)
        try:
            with open(os.devnull + "/none") as file:
                return file.read(), None
        except OSError as error:
            return None, error

    assert read()[1] is read()[1] is not None
    assert reads == [1]
