"""Log from many threads through a queue: nobody waits for the file.

    python examples/logqueue.py --threads 16 --records 100000 FILE

The only line that differs from a program on the standard library is the import of
`queue`.  Each thread logs its share of the records through a `QueueHandler`; one
thread, the `QueueListener`, writes them.  At the end the file is read again: every
record must be there once, and each thread's in its order.

    --standard    the same on the standard library's queue, to compare
    --maxsize N   a bounded queue: then the threads wait for the file after all
"""

import argparse
import importlib
import logging
import logging.handlers
import sys
from threading import Thread
from time import perf_counter


class Patient(logging.handlers.QueueHandler):
    """A QueueHandler that waits while a bounded queue is full; the library's own
    drops the record and reports an error."""

    def enqueue(self, record):
        self.queue.put(record)


def write(q, path, threads, records):
    """Log so many records from so many threads; returns the seconds that the
    threads took, and the seconds until everything was written."""
    file = logging.FileHandler(path, mode="w", encoding="utf-8")
    logger = logging.Logger("example")
    logger.addHandler(Patient(q))
    listener = logging.handlers.QueueListener(q, file)

    def work(number):
        for i in range(number, records, threads):
            logger.info("%d %d", number, i)

    workers = [Thread(target=work, args=(number,)) for number in range(threads)]
    listener.start()
    began = perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    logged = perf_counter() - began
    q.join()  # stop() puts without waiting, too, and a full queue would refuse it
    listener.stop()
    file.close()
    return logged, perf_counter() - began


def check(path, threads, records):
    """What is wrong with the file, or nothing."""
    due = [iter(range(number, records, threads)) for number in range(threads)]
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            number, i = map(int, line.split())
            if next(due[number], None) != i:
                return f"thread {number}: record {i} is out of order, or there twice"
    missing = [number for number in range(threads) if next(due[number], None) is not None]
    return f"records of the threads {missing} are missing" if missing else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", metavar="FILE", help="where the records go")
    parser.add_argument("--threads", type=int, default=16, metavar="N")
    parser.add_argument("--records", type=int, default=100_000, metavar="N")
    parser.add_argument("--maxsize", type=int, default=0, metavar="N")
    parser.add_argument("--standard", action="store_true", help="use the standard queue")
    options = parser.parse_args()
    if options.threads < 1 or options.records < 0:
        parser.error("--threads must be 1 or more, --records 0 or more")
    queue = importlib.import_module("queue" if options.standard else "gochan.queue")
    logged, written = write(
        queue.Queue(options.maxsize), options.file, options.threads, options.records
    )
    print(f"{options.records:,} records from {options.threads} threads on {queue.__name__}")
    print(f"logged in {logged:.2f} s, written in {written:.2f} s")
    wrong = check(options.file, options.threads, options.records)
    print(wrong or "every record is there once, each thread's in its order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
