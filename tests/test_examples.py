"""The examples, each in a process of its own, and the code in the docs.

Claimed: they print what they say.  wordcount counts exactly, whatever the files
look like; Ctrl-C in its middle gives a part of the count, exit code 130, no
traceback, and a process that ends at once, so that no thread was left.
"""

import doctest
import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest
from conftest import HANG

import gochan

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
FILES = 1200  # small ones in the tree

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and files")


def command(name, *args):
    return [sys.executable, str(EXAMPLES / name), *map(str, args)]


def environment():
    """The child's: the gochan that is tested here, and UTF-8."""
    paths = [str(Path(gochan.__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


def run(name, *args):
    """(exit code, standard output, standard error) of an example."""
    child = subprocess.run(
        command(name, *args),
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=2 * HANG,
    )
    return child.returncode, child.stdout, child.stderr


# -- the queue -------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--maxsize", 10), ("--standard",)])
def test_logqueue_writes_every_record(tmp_path, options):
    file = tmp_path / "log"
    code, out, err = run("logqueue.py", "--threads", 16, "--records", 5000, *options, file)
    assert (code, err) == (0, "")
    assert "every record is there once" in out
    assert len(file.read_text().splitlines()) == 5000


def test_logqueue_notices_what_is_wrong(tmp_path):
    spec = importlib.util.spec_from_file_location("logqueue", EXAMPLES / "logqueue.py")
    logqueue = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(logqueue)
    file = tmp_path / "log"
    for text, wrong in [
        ("0 0\n1 1\n0 2\n", ""),
        ("0 0\n1 1\n", "missing"),
        ("0 2\n1 1\n0 0\n", "out of order"),
        ("0 0\n0 0\n1 1\n0 2\n", "twice"),
    ]:
        file.write_text(text)
        assert wrong in logqueue.check(file, 2, 3)
        assert bool(wrong) == bool(logqueue.check(file, 2, 3))


# -- the short ones --------------------------------------------------------------


def test_q1_loses_or_not_what_is_not_synchronised_and_nothing_else():
    code, out, err = run("q1_memory_model.py")
    racy, *rest = out.splitlines()
    assert (code, err) == (0, "")
    counted = re.fullmatch(r"Racy: (\d+) of 200000", racy)
    assert 0 < int(counted[1]) <= 200_000
    assert rest == [
        "Atomic: 200000 of 200000",
        "Locked: 200000 of 200000",
        "Passed: 200000 of 200000",
        "written before the flag",
        "replaced what was seen: False",
        "replaced what is there: True",
        "still there after its last use: False",
    ]


def test_q5_adds_up_and_wakes_all():
    expected = "1\n5050\n5050\nwoken by the send: 1, by the close: 2\n"
    assert run("q5_synchronisation.py") == (0, expected, "")


def test_q3_prints_both_in_order():
    assert run("q3_select.py") == (0, "Received from ch1\nReceived from ch2\n", "")


def test_q4_prints_what_is_specified():
    code, out, err = run("q4_channels.py")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[:3] == ["10", "1", "2"]
    assert lines[-1] == "['sent', 'and changed']"
    check_interleaving(lines[3:-1])


def check_interleaving(lines):
    """Each side in order, and neither more than one value ahead."""
    sides = {"Produced": [], "Consumed": []}
    for line in lines:
        side, value = line.split(": ")
        sides[side].append(int(value))
        assert abs(len(sides["Produced"]) - len(sides["Consumed"])) <= 1
    assert sides == {"Produced": [*range(5)], "Consumed": [*range(5)]}


def test_q7_prints_what_is_left_and_then_the_panic():
    closed = "len 2 cap 3\n1 True\n2 True\n0 False\npanic: send on closed channel\nNone False\n"
    assert run("q7_goroutine_channels.py") == (0, closed + "working...\ndone\n", "")


def test_the_readme_names_every_example():
    readme = (EXAMPLES / "README.md").read_text()
    assert [p.name for p in EXAMPLES.glob("*.py") if f"[{p.name}]({p.name})" not in readme] == []


@posix
@pytest.mark.parametrize("page", ["semantics.md", "memory-model.md"])
def test_the_code_in_the_docs_runs(page, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])  # it starts children, too
    text = (ROOT / "docs" / page).read_text()
    code = re.sub("^```.*$", "", text, flags=re.M)
    test = doctest.DocTestParser().get_doctest(code, {}, page, f"docs/{page}", 0)
    handler = signal.getsignal(signal.SIGUSR1)
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    signal.signal(signal.SIGUSR1, handler)
    assert (failed, tried > 0) == (0, True)


# -- wordcount: the trees ----------------------------------------------------------


def words_of(data):
    return Counter(re.findall(r"\w+", data.decode(errors="replace")))


def small_file(rng):
    """Up to a few hundred words, some with bytes that are not UTF-8."""
    words = rng.choices(
        ["go", "chan", "select", "Ünï", "日本", "snake_case", "x1"], k=rng.randrange(300)
    )
    data = "".join(word + rng.choice([" ", "\n", ", ", "(", "\t", "-"]) for word in words).encode()
    return data if rng.random() < 0.9 else data + rng.randbytes(100) + data[:-1]


def odd_files():
    """Files that are hard to cut into chunks."""
    many = " ".join(f"wörd{i}" for i in range(60_000)).encode()
    yield b""
    yield many  # many chunks
    yield b"one-" + b"long" * 50_000 + b" word"  # a word longer than a chunk
    yield many.replace(b" ", b"\r") + b"\n"  # nowhere to cut
    yield b"\xff\xfe" * 100_000 + "tail é".encode()[:-1]  # not UTF-8, broken off


def write(directory, contents):
    for i, data in enumerate(contents):
        below = directory / f"{i % 7}" / f"{i % 3}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"file{i}.txt").write_bytes(data)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A directory of small and odd files with its word counts."""
    directory = tmp_path_factory.mktemp("tree")
    rng = random.Random(20240)
    contents = [small_file(rng) for _ in range(FILES)] + list(odd_files())
    write(directory, contents)
    return directory, len(contents), sum(map(words_of, contents), Counter())


def parse(out):
    """The words with their counts, and the totals by name."""
    lines = out.splitlines()
    totals = next(i for i, line in enumerate(lines) if line.startswith("files:"))
    counts = Counter()
    for line in lines[:totals]:
        times, word = line.split()
        counts[word] = int(times.replace(",", ""))
    numbers = re.findall(r"(\w+): ([\d,]+)", lines[totals])
    return counts, {name: int(number.replace(",", "")) for name, number in numbers}


EVERYTHING = ("-n", 1_000_000)


# -- wordcount: counting -----------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_wordcount_counts_as_counter_does(tree, jobs):
    directory, files, expected = tree
    code, out, err = run("wordcount.py", directory, "-j", jobs, *EVERYTHING)
    counts, totals = parse(out)
    assert (code, err) == (0, "")
    assert counts == expected
    assert totals["files"] == files
    assert totals["words"] == expected.total()
    assert totals["unreadable"] == 0


def test_wordcount_prints_the_top_words_and_the_waits(tree):
    directory, _, expected = tree
    _, out, _ = run("wordcount.py", directory, "-j", 2, "-n", 4)
    counts, _ = parse(out)
    top = sorted(expected.items(), key=lambda item: (-item[1], item[0]))[:4]
    assert list(counts.items()) == top
    waited = r"\s+\d+\.\d\d\d s\s+\d+%\s+\d+\.\d\d\d s\s+\d+%"
    for stage in ("walk", "read", "count x 2", "merge"):
        assert re.search(f"^  {stage}{waited}$", out, re.M), out


def test_wordcount_takes_files_and_directories(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a").write_text("a b\n")
    (tmp_path / "b").write_text("b c")
    code, out, _ = run("wordcount.py", tmp_path / "below", tmp_path / "b")
    assert code == 0
    assert parse(out)[0] == {"a": 1, "b": 2, "c": 1}


@posix
def test_wordcount_passes_by_links_and_special_files(tmp_path):
    (tmp_path / "a").write_text("a b")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "itself").symlink_to(tmp_path / "itself")
    (tmp_path / "again").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "fifo")
    code, out, _ = run("wordcount.py", tmp_path)
    counts, totals = parse(out)
    assert (code, counts) == (0, {"a": 1, "b": 1})
    assert totals == {"files": 1, "words": 2, "unreadable": 0, "seconds": totals["seconds"]}


def unreadable(directory):
    """A file that opens or reads with an error, for this user too."""
    if os.geteuid() != 0:
        path = directory / "secret"
        path.write_text("secret")
        path.chmod(0)
        return path
    path = Path("/proc/self/mem")  # no user can read what is at address 0
    if not path.exists():
        pytest.skip("root can read every file here")
    return path


@posix
def test_wordcount_counts_unreadable_files(tmp_path):
    (tmp_path / "a").write_text("a b")
    code, out, err = run("wordcount.py", tmp_path / "a", unreadable(tmp_path))
    counts, totals = parse(out)
    assert (code, err, counts) == (0, "", {"a": 1, "b": 1})
    assert (totals["files"], totals["unreadable"]) == (1, 1)


# -- wordcount: ends of other kinds ------------------------------------------------


def test_wordcount_refuses_what_does_not_exist(tmp_path):
    missing = tmp_path / "missing"
    code, out, err = run("wordcount.py", tmp_path, missing)
    assert (code, out) == (2, "")
    assert err == f"wordcount: {missing}: No such file or directory\n"


@posix
def test_wordcount_refuses_a_device():
    refusal = f"wordcount: {os.devnull}: neither a directory nor a file\n"
    assert run("wordcount.py", os.devnull) == (2, "", refusal)


@pytest.mark.parametrize("args", [("-j", 0), ("-j", "two"), ("-n", -1), ()])
def test_wordcount_refuses_bad_options(tmp_path, args):
    code, out, err = run("wordcount.py", *([tmp_path, *args] if args else []))
    assert (code, out) == (2, "")
    assert "wordcount: error: " in err.splitlines()[-1]


@pytest.fixture
def endless(tree, tmp_path):
    """The small files, and a big one under 400 names: minutes of work."""
    directory, _, expected = tree
    text = b"".join(b"again %d\n" % (i % 997) for i in range(400_000))
    (tmp_path / "big0").write_bytes(text)
    for i in range(1, 400):
        os.link(tmp_path / "big0", tmp_path / f"big{i}")
    big = words_of(text)
    return [directory, tmp_path], expected + Counter({word: 400 * n for word, n in big.items()})


@posix
def test_wordcount_interrupted_in_its_middle(endless):
    roots, everything = endless
    child = subprocess.Popen(
        command("wordcount.py", *roots, "--progress", *EVERYTHING),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # who was started in the background has Ctrl-C ignored, and hands that on
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        encoding="utf-8",
    )
    guard = threading.Timer(4 * HANG, child.kill)
    guard.start()
    progress = child.stderr.readline()  # so it is in its middle
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = child.communicate()
    took = time.monotonic() - began
    guard.cancel()

    assert re.fullmatch(r"[\d,]+ files, [\d,]+ words\n", progress)
    assert child.returncode == 130
    assert "Traceback" not in err
    assert err.endswith("wordcount: interrupted; counted so far:\n")
    counts, totals = parse(out)
    assert counts <= everything
    assert int(progress.split()[2].replace(",", "")) <= totals["words"] < everything.total()
    assert counts.total() == totals["words"]
    assert took < HANG / 2


class Refusing(threading.Thread):
    """Threads of which the system starts only so many."""

    left = 0

    def start(self):
        if Refusing.left == 0:
            raise RuntimeError("can't start new thread")
        Refusing.left -= 1
        super().start()


@pytest.mark.parametrize("started", range(5))
def test_wordcount_ends_when_a_thread_is_refused(monkeypatch, tree, started):
    monkeypatch.setattr(threading, "Thread", Refusing)
    monkeypatch.setattr(Refusing, "left", started)
    spec = importlib.util.spec_from_file_location("wordcount", EXAMPLES / "wordcount.py")
    wordcount = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wordcount)
    before = threading.active_count()
    args = Namespace(roots=[tree[0]], jobs=3, progress=False)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        wordcount.run(args, gochan.Chan())
    end = time.monotonic() + HANG
    while threading.active_count() > before:
        assert time.monotonic() < end
        time.sleep(0.001)
