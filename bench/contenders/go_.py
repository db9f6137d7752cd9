"""Go's own channels and primitives: the same shapes in Go, in a process of its own.

The program is bench/go; it is compiled when it is needed first.  Its values are nil in
an interface, as ours are None; its goroutines may use all CPUs.
"""

import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from gochan.bench.child import Child
from gochan.bench.contenders import Contender

SOURCE = Path(__file__).parents[1] / "go"
KINDS = {
    *("pair", "nonblocking", "fill_drain", "iteration", "select", "select_default"),
    *("ping_pong", "many_to_many", "select_parks"),
    *("step", "step_shared", "hand_over"),
    *("wake_up", "close", "fair_receivers", "fair_senders"),
}
WIDTHS = (2, 4, 16)  # of selects: the program has them written down
ALONE = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOWORK": "off"}


def go(*words: str) -> str:
    """Run the go tool, which must not ask the network for anything."""
    done = subprocess.run(
        ["go", *words],
        cwd=SOURCE,
        env=os.environ | ALONE | {"CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"go {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


class Go(Contender):
    name = "Go"
    child: Child | None = None

    def missing(self):
        return "" if shutil.which("go") else "no go tool on the PATH"

    def version(self):
        return None if self.missing() else go("env", "GOVERSION").strip().removeprefix("go")

    def runner(self, shape):
        if shape.kind not in KINDS:
            return None
        if shape.kind.startswith("select") and shape.args[0] not in WIDTHS:
            return None
        if shape.port == "semaphore":  # Go's standard library has none
            return None
        return partial(self.ask, shape.kind, shape.args)

    def ask(self, kind, args, n):
        if self.child is None:
            self.child = self.start()
        try:
            return self.child.ask(kind, args, n)
        except BaseException:
            self.stop()  # it has ended, or has not answered
            raise

    def start(self) -> Child:
        """A running program can lose its file: nothing is left to clean up later."""
        with tempfile.TemporaryDirectory() as folder:
            program = str(Path(folder) / "shapes")
            go("build", "-buildvcs=false", "-o", program, ".")
            return Child([program])

    def stop(self):
        child, self.child = self.child, None
        if child is not None:
            child.stop()


contender = Go()
