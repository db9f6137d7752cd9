"""The command `gochan bench`: that it works, what it writes and how it ends.

Nothing here asserts how long anything takes.
"""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import HANG

pytestmark = pytest.mark.bench

PYTHON = [sys.executable, "-P"]
TINY = [
    "run",
    "--quick",
    "--shape",
    "pair",
    "--shape",
    "one-to-one-1",
    "--contender",
    "queue.Queue",
]
WITHOUT_RICH = "import sys; sys.modules['rich'] = None\n"
MAIN = "import sys; from gochan.__main__ import main; sys.exit(main(['bench', *sys.argv[1:]]))"


def test_nobody_reads_to_the_end():
    """`gochan bench list | head -1`."""
    with subprocess.Popen(
        command("list"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def command(*words, first=""):
    """The command line, after some statements."""
    return [*PYTHON, "-c", f"{first}\n{MAIN}", *map(str, words)]


def bench(*words, code=0, first=""):
    """Run the command to its end; (stdout, stderr)."""
    done = subprocess.run(command(*words, first=first), capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def test_import_gochan_leaves_it_alone():
    code = "import gochan, sys; print([name for name in sys.modules if 'bench' in name])"
    assert subprocess.check_output([*PYTHON, "-c", code], text=True) == "[]\n"


def test_python_m_gochan():
    words = [*PYTHON, "-m", "gochan", "bench", "list"]
    assert "one-to-one-128" in subprocess.check_output(words, text=True)


def test_console_script():
    script = Path(sys.executable).parent / "gochan"
    if not script.exists():
        pytest.skip("installed without scripts")
    assert "Contenders" in subprocess.check_output([script, "bench", "list"], text=True)


# -- list ------------------------------------------------------------------------


def test_list_names_shapes_and_contenders():
    out, _ = bench("list")
    lines = {line.split("  ")[1].strip(): line for line in out.splitlines() if "  " in line}
    assert {"pair", "select-16", "wake-up-p99.9", "memory-channel", "gochan"} <= set(lines)
    assert lines["queue.Queue"].split()[1] == "Python"
    if not find_spec("trio"):
        assert "pip install trio" in lines["trio"]


# -- bad arguments ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--shape", "piar"], 2, "no shape 'piar'; did you mean pair?"),
        (["--shape", "select-*", "--shape", "zzz"], 2, "no shape 'zzz' ("),
        (["--contender", "queue.queue"], 2, "did you mean queue.Queue or queue.SimpleQueue?"),
        (["--threads", "0"], 2, "argument --threads: '0' is no whole number from 1 on"),
        (["--capacity", "-1"], 2, "argument --capacity: '-1' is no whole number from 0 on"),
        (["--capacity", "many"], 2, "argument --capacity"),
        (
            ["--json", "/no/such/folder/run.json"],
            2,
            "no folder to write /no/such/folder/run.json in",
        ),
        (["--nonsense"], 2, "unrecognized arguments: --nonsense"),
    ],
)
def test_bad_arguments_get_one_line(words, code, text):
    out, err = bench("run", *words, code=code)
    assert out == ""
    assert err.count("\n") == 1
    assert text in err


def test_unknown_command():
    _, err = bench("walk", code=2)
    assert "invalid choice: 'walk'" in err
    assert err.count("\n") == 1


def test_a_contender_that_is_not_installed():
    first = "from gochan.bench.contenders import lock; lock.contender.module = 'no_such_module'"
    _, err = bench("run", "--contender", "Lock pair", code=3, first=first)
    assert err.startswith("gochan bench run: Lock pair: not installed: pip install")


# -- run -------------------------------------------------------------------------


def test_run_writes_the_schema(tmp_path):
    path = tmp_path / "run.json"
    out, _ = bench(*TINY, "--json", path)
    assert "queue.Queue" in out
    run = json.loads(path.read_text())
    assert run["schema"] == 1
    assert {"interpreter", "gil", "cpus", "load", "clock_ns", "others"} <= set(run["conditions"])
    assert set(run["effort"]) == {"rounds", "seconds"}
    assert set(run["contenders"]) == {"gochan", "queue.Queue"}
    assert set(run["shapes"]) == {"pair", "one-to-one-1"}
    assert run["shapes"]["pair"]["clock"] == "cpu"
    assert run["shapes"]["one-to-one-1"]["threads"] == 2
    for shape in run["shapes"].values():
        assert shape["unit"] == "ns"
        assert shape["better"] == "lower"
        for series in shape["series"].values():
            assert series["ops"] > 0
            assert len(series["wall"]) == len(series["cpu"]) > 0


def test_figures_have_no_cpu_time(tmp_path):
    path = tmp_path / "run.json"
    words = ["--shape", "fair-senders", "--shape", "memory-channel", "--contender", "queue.Queue"]
    bench("run", "--quick", *words, "--json", path)
    shapes = json.loads(path.read_text())["shapes"]
    assert {shape["unit"] for shape in shapes.values()} == {"index", "bytes"}
    assert shapes["fair-senders"]["better"] == "higher"
    assert all(0 < value <= 1 for value in shapes["fair-senders"]["series"]["gochan"]["wall"])
    assert shapes["memory-channel"]["series"]["gochan"]["cpu"] == []


def test_threads_and_capacity_are_in_the_names():
    words = ["--threads", "2", "--capacity", "3", "--contender", "queue.Queue"]
    out, _ = bench("run", "--quick", *words, "--shape", "*-to-*")
    assert "one-to-one-3 " in out
    assert "two-to-two-3 " in out
    assert "-128 " not in out


def test_targets_are_judged():
    words = ["--shape", "batch", "--contender", "queue.SimpleQueue"]
    out, _ = bench("run", "--quick", "--targets", *words)
    assert "2 targets: " in out


def test_a_contender_that_fails_is_left_out():
    first = (
        "from gochan.bench.contenders import lock\n"
        "lock.contender.round_pair = lambda cap, n: 1 / 0"
    )
    words = ["--shape", "pair", "--contender", "Lock pair", "--contender", "queue.Queue"]
    out, _ = bench("run", "--quick", *words, code=4, first=first)
    assert "Lock pair failed in pair: ZeroDivisionError: division by zero" in out
    assert "pair               queue.Queue" in out


def test_ctrl_c_keeps_what_was_measured(tmp_path):
    path = tmp_path / "run.json"
    # who was started in the background has Ctrl-C ignored, and so have its children
    first = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    words = command("run", "--shape", "pair", "--shape", "select-*", "--json", path, first=first)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        guard = threading.Timer(HANG, process.kill)
        guard.start()
        for line in process.stdout:
            if line.startswith(("pair ", "select-")):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait() == 130
        guard.cancel()
    assert "interrupted after" in rest
    assert "gochan" in next(iter(json.loads(path.read_text())["shapes"].values()))["series"]


# -- with a terminal -------------------------------------------------------------


def in_terminal(words):
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm", "COLUMNS": "140", "LINES": "40"}
    with subprocess.Popen(words, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        out = b""
        try:
            while data := os.read(ours, 4096):
                out += data
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        assert process.wait() == 0, out.decode()
    return out.decode()


def test_without_rich_there_are_lines_and_how_to_get_more():
    out = in_terminal(command(*TINY, first=WITHOUT_RICH))
    assert 'pip install "pygochan[bench]"' in out
    assert "pair               queue.Queue" in out
    assert "\x1b" not in out


def test_with_rich_there_is_a_live_table():
    pytest.importorskip("rich")
    out = in_terminal(command(*TINY))
    assert "pip install" not in out.partition("shape")[0].replace("bench list", "")
    assert "queue.Queue" in out
    assert "\x1b" in out
