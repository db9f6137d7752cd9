"""Rounds that are done in a process of their own.

A child reads lines of JSON, does the round that a line asks for, and answers with a line,
[seconds of the clock, seconds of CPU time]; or with a string that says what failed.  Any
program can be one.  It ends when its input does.
"""

import json
import os
import signal
import subprocess
from contextlib import suppress

from gochan.bench.measure import Sample


class Child:
    """A process that does rounds when told to."""

    def __init__(self, words: list[str], env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=env,
            process_group=0,  # of its own: Ctrl-C is ours, and stop ends all of it
        )

    def ask(self, *request: object) -> Sample:
        """Have it do a round."""
        with suppress(BrokenPipeError):  # it has ended: then it does not answer, either
            print(json.dumps(request), file=self.process.stdin)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"its process ended with code {self.process.wait()}")
        result = json.loads(answer)
        if isinstance(result, str):
            raise RuntimeError(result)
        return Sample(*result)

    def stop(self) -> None:
        """End it and its own children, whatever they are doing."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with suppress(BrokenPipeError):  # of what it has not read
            self.process.stdin.close()
        self.process.stdout.close()
