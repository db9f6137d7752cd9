"""Count the words of all files below some directories, as a pipeline of threads.

    python examples/wordcount.py -n 10 DIR...

    walk --paths--> read --chunks--> count, -j times --tallies--> merge

Each arrow is a channel with a bounded buffer, so a stage that is too fast waits
for the next one and memory stays bounded.  A stage closes its channel when its
own input has ended, and that is how the whole pipeline ends.

Ctrl-C closes the channel `stop`.  The stages look at `stop.closed`, and once it
is closed they drop their input instead of working on it.  So nobody blocks, the
pipeline ends in the usual order, and what was counted so far is printed.

The report says how long each stage waited in its channel operations.  That
includes the wait for a CPU, and for the GIL where there is one, once it was woken.

A word is a run of letters, digits and underscores, counted as it is written.
Files are read as UTF-8; bytes that are not UTF-8 separate words.  Only regular
files are read, and symbolic links below the given directories are not followed.
"""

import argparse
import heapq
import os
import re
import signal
import stat
import sys
from collections import Counter
from functools import partial
from threading import Thread
from time import perf_counter

from gochan import Chan, EndOfChannel, Selector

CHUNK = 1 << 16  # bytes of a file that are counted at a time
BATCH = 32  # most paths or chunks that change hands at a time
TALLY = 500_000  # words after which a worker reports
PROGRESS = 0.5  # seconds between two lines of --progress

WORD = re.compile(r"\w+")


# -- one stage -----------------------------------------------------------------


class Stage(Thread):
    """A thread that does work(stage) between a source and a sink.

    It always receives its source to the end and then closes its sink, also when
    the work fails or stops early: no stage can leave another one waiting.
    """

    def __init__(self, name, work, stop, source=(), sink=None):
        super().__init__(name=name)
        self.work, self.stop, self.source, self.sink = work, stop, source, sink
        self.receiving = self.sending = 0.0  # seconds in channel operations
        self.skipped = 0  # files and directories that could not be read
        self.error = None

    def run(self):
        try:
            self.work(self)
        except Exception as error:  # for whoever joins
            self.error = error
            close_once(self.stop)
        for _ in self.source:
            pass
        if self.sink is not None:
            self.sink.close()

    def received(self, values):
        """What an iterator over channels gives; the time for it is noted."""
        values = iter(values)
        while True:
            began = perf_counter()
            try:
                value = next(values)
            except StopIteration:
                return
            finally:
                self.receiving += perf_counter() - began
            yield value

    def batches(self):
        """The source as lists, until it ends or everything is to stop."""
        for batch in self.received(batches(self.source)):
            if self.stop.closed:
                return
            yield batch

    def send(self, values):
        began = perf_counter()
        self.sink.send_many(values)
        self.sending += perf_counter() - began


def batches(ch):
    """What is in a channel, a list at a time, until it is closed and drained."""
    try:
        while True:
            yield ch.recv_many(BATCH)
    except EndOfChannel:
        return


def close_once(ch):
    """Close a channel unless it is closed, which a `with` block does at its end."""
    with ch:
        pass


# -- walk: directories to paths ------------------------------------------------


def walk(roots, stage):
    for root in roots:
        for paths in files_below(root, stage):
            if stage.stop.closed:
                return
            stage.send(paths)


def files_below(root, stage):
    """The regular files below a directory, one list per directory; or a file."""
    if not os.path.isdir(root):
        yield [root]
        return
    directories = [root]
    while directories:
        try:
            files, below = scan(directories.pop())
        except OSError:
            stage.skipped += 1
            continue
        directories += below
        yield files


def scan(directory):
    """The files and the directories in a directory."""
    with os.scandir(directory) as entries:
        entries = list(entries)
    files = [entry.path for entry in entries if entry.is_file(follow_symlinks=False)]
    return files, [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


# -- read: paths to chunks -----------------------------------------------------


def read(stage):
    for paths in stage.batches():
        for chunks in groups(chunks_of(paths, stage)):
            if stage.stop.closed:
                return
            stage.send(chunks)


def chunks_of(paths, stage):
    for path in paths:
        try:
            # Unbuffered: a chunk is one read anyway.  Also, free-threaded 3.13 is slow
            # to close a buffered file while other threads keep the CPUs busy.
            with open(path, "rb", buffering=0) as file:
                yield from split(file)
        except OSError:
            stage.skipped += 1


def split(file):
    """The bytes of a file in chunks, each with whether it is the last one.

    All but the last end after a space or a newline: that is never inside a word,
    nor inside a character of UTF-8.
    """
    rest, size = [], 0
    while piece := file.read(CHUNK):
        size += len(piece)
        end = max(piece.rfind(b"\n"), piece.rfind(b" ")) + 1
        if size >= CHUNK and end > 0:
            yield b"".join([*rest, piece[:end]]), False
            rest, piece = [], piece[end:]
            size = len(piece)
        rest.append(piece)
    yield b"".join(rest), True


def groups(chunks):
    """Chunks in lists that are worth a send: full, or of some size together."""
    group, size = [], 0
    for chunk in chunks:
        group.append(chunk)
        size += len(chunk[0])
        if len(group) == BATCH or size >= CHUNK:
            yield group
            group, size = [], 0
    if group:
        yield group


# -- count: chunks to tallies --------------------------------------------------


class Tally:
    """What was counted: how often each word, and how many files to their end."""

    def __init__(self):
        self.words = Counter()
        self.total = self.files = 0

    def add_chunk(self, data, last):
        words = WORD.findall(data.decode(errors="replace"))
        self.words.update(words)
        self.total += len(words)
        self.files += last

    def add(self, other):
        self.words.update(other.words)
        self.total += other.total
        self.files += other.files

    def top(self, n):
        """The n most frequent words; equally frequent ones by name."""
        return heapq.nsmallest(n, self.words.items(), key=lambda item: (-item[1], item[0]))


def count(stage):
    tally = Tally()
    for chunks in stage.batches():
        for chunk in chunks:
            if stage.stop.closed:
                break
            tally.add_chunk(*chunk)
        if tally.total >= TALLY:
            stage.send([tally])  # and from now on it is the receiver's
            tally = Tally()
    stage.send([tally])


# -- merge: tallies to one, on the main thread ---------------------------------


def merge(result, progress, stage):
    due = perf_counter() + PROGRESS
    for _, tally in stage.received(stage.source):
        result.add(tally)
        if progress and perf_counter() >= due:
            print(f"{result.files:,} files, {result.total:,} words", file=sys.stderr, flush=True)
            due = perf_counter() + PROGRESS


# -- the pipeline --------------------------------------------------------------


def run(args, stop):
    """Count everything.  Returns the result, and the stages with their waits."""
    result = Tally()
    paths, chunks = Chan(args.jobs * BATCH), Chan(args.jobs * BATCH)
    tallies = [Chan(1) for _ in range(args.jobs)]
    threads = [
        Stage("walk", partial(walk, args.roots), stop, sink=paths),
        Stage("read", read, stop, paths, chunks),
        *(Stage("count", count, stop, chunks, tally) for tally in tallies),
    ]
    here = Stage("merge", partial(merge, result, args.progress), stop, Selector(*tallies))
    start(threads, stop)
    here.run()
    for thread in threads:
        thread.join()
    for stage in [*threads, here]:
        if stage.error is not None:
            raise stage.error
    return result, [*threads, here]


def start(threads, stop):
    """Start all.  If the system refuses one, end those that run, then raise."""
    for i, thread in enumerate(threads):
        try:
            thread.start()
        except RuntimeError:
            close_once(stop)
            for stage in threads[i:]:
                stage.run()  # works on nothing now, but closes its channel
            raise


def close_on_ctrl_c(stop):
    """From now on Ctrl-C closes the channel; a second Ctrl-C kills the process."""

    def handle(signum, frame):
        close_once(stop)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    signal.signal(signal.SIGINT, handle)


# -- the report ----------------------------------------------------------------


def report(result, stages, wall, n):
    for word, times in result.top(n):
        yield f"{times:12,}  {word}"
    skipped = sum(stage.skipped for stage in stages)
    yield (
        f"files: {result.files:,}  words: {result.total:,}  unreadable: {skipped:,}  "
        f"seconds: {wall:.2f}"
    )
    yield "waited:        receive  of time       send  of time"
    for name in ("walk", "read", "count", "merge"):
        yield waits(name, [stage for stage in stages if stage.name == name], wall)


def waits(name, stages, wall):
    """How long the threads of a stage waited together, and the share of their time."""
    label = f"{name} x {len(stages)}" if len(stages) > 1 else name
    waited = (sum(stage.receiving for stage in stages), sum(stage.sending for stage in stages))
    columns = [f"{s:8.3f} s {s / (wall * len(stages)):8.0%}" for s in waited]
    return f"  {label:10}{columns[0]} {columns[1]}"


# -- the command line ----------------------------------------------------------


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="wordcount", description="Count the words of all files below some directories."
    )
    parser.add_argument("roots", nargs="+", metavar="DIR", help="a directory, or a file")
    parser.add_argument(
        "-j",
        dest="jobs",
        type=positive,
        default=cpus(),
        metavar="N",
        help="threads that count (default: the CPUs, %(default)s)",
    )
    parser.add_argument(
        "-n",
        dest="top",
        type=positive,
        default=20,
        metavar="N",
        help="how many of the most frequent words to print (default: %(default)s)",
    )
    parser.add_argument(
        "--progress", action="store_true", help="say on standard error how far it is"
    )
    args = parser.parse_args(argv)
    for root in args.roots:
        wrong = fault(root)
        if wrong:
            parser.exit(2, f"wordcount: {root}: {wrong}\n")
    return args


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def cpus():
    """The CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def fault(root):
    """What is wrong with an argument, or None."""
    try:
        mode = os.stat(root).st_mode
    except OSError as error:
        return error.strerror
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        return "neither a directory nor a file"
    return None


def main(argv=None):
    stop = Chan()
    close_on_ctrl_c(stop)
    args = parse(argv)
    began = perf_counter()
    result, stages = run(args, stop)
    wall = perf_counter() - began
    interrupted = stop.closed
    if interrupted:
        print("wordcount: interrupted; counted so far:", file=sys.stderr)
    sys.stdout.reconfigure(errors="backslashreplace")
    print("\n".join(report(result, stages, wall, args.top)))
    return 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
