#!/usr/bin/env python3
"""One command for each job of a developer, on a machine with Python and a C compiler.

    python3 dev.py demo     set up; count the words of this Python's library; a small benchmark
    python3 dev.py test     set up; run the tests against the installed wheel
    python3 dev.py bench    set up; `gochan bench run --targets`, the speed table
    python3 dev.py python   set up; start the Python that has gochan

Arguments after the job go to what it runs: `dev.py test -k select`.

Setting up makes a virtual environment for the Python that runs this (in .venv/), builds
the wheel and installs it there, and does nothing where that is done and no source changed.

    --debug                 the debug build: invariant checks, path counters, chaos points
    --sanitize NAME         address or thread: build and run under that sanitiser
    --sdist FILE            build the wheel from this source distribution, not from the tree
    --with PACKAGE          install this too (may be repeated)
"""

import argparse
import contextlib
import hashlib
import os
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: start one dev.py at a time
    fcntl = None

HERE = Path(__file__).resolve().parent
FIRST_SHAPES = ["pair", "iteration", "batch", "ping-pong-1", "one-to-one-1", "one-to-one-128"]
SOURCES = ["setup.py", "pyproject.toml", "gochan/**/*.p*", "gochan/c/*.h"]
SOURCES += ["bench/*.py", "bench/contenders/*.py", "bench/go/*"]


def run(*command, env=None, cwd=None):
    """Run a command; end with its exit code, and its name, if it fails."""
    command = [str(part) for part in command]
    done = subprocess.run(command, env={**os.environ, **(env or {})}, cwd=cwd)
    if done.returncode:
        print(f"dev.py: this failed: {shlex.join(command)}", file=sys.stderr)
        sys.exit(done.returncode)


def build_env(options):
    """What setup.py reads."""
    env = {"GOCHAN_DEBUG": "1"} if options.debug else {}
    if options.sanitize:
        env["GOCHAN_SANITIZE"] = options.sanitize
    return env


def run_env(options):
    """What a sanitised extension needs in a Python that is not sanitised."""
    if not options.sanitize:
        return {}
    name = {"address": "libasan.so", "thread": "libtsan.so"}[options.sanitize]
    library = subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip()
    suppressions = HERE / ".ci" / "tsan.supp"
    env = {
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0",
        # to a file: pytest would keep what a passing test writes to itself
        "TSAN_OPTIONS": f"suppressions={suppressions} log_path={HERE / '.venv' / 'tsan'}",
    }
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):  # which has mimalloc alone
        env["PYTHONMALLOC"] = "malloc"
    return env


def fingerprint(options):
    """Changes when an installed wheel is out of date."""
    text = hashlib.sha256(repr((build_env(options), sys.version)).encode())
    files = {path for pattern in SOURCES for path in HERE.glob(pattern)}
    for path in [options.sdist] if options.sdist else sorted(files):
        text.update(path.read_bytes())
    return text.hexdigest()


def check_sanitizer(venv, wanted):
    """End unless the installed extension was compiled under that sanitiser, or none."""
    core = next(venv.glob("lib/*/site-packages/gochan/_core*.so")).read_bytes()
    for name, symbol in {"address": b"__asan_init", "thread": b"__tsan_init"}.items():
        if (symbol in core) != (name == wanted):
            sys.exit(f"dev.py: the extension that was built for {wanted or 'no sanitiser'} is not")


def set_up(options):
    """The Python of an environment in which the wheel is installed."""
    variant = ["debug"] * options.debug + [options.sanitize] * bool(options.sanitize)
    tag = "-".join([sysconfig.get_config_var("SOABI"), *variant])
    venv = HERE / ".venv" / tag
    python, stamp = venv / "bin" / "python", venv / "fingerprint"
    current = fingerprint(options)
    # The tree holds what one build leaves for the next: one at a time. An sdist is
    # built elsewhere.
    with locked(HERE / ".venv" / ("sdist.lock" if options.sdist else "tree.lock")):
        if not stamp.exists() or stamp.read_text() != current:
            install(options, venv, python)
            stamp.write_text(current)
        if options.extra:
            run(*pip(python), "install", *options.extra)
    return python


def pip(python):
    return [python, "-m", "pip", "-q", "--disable-pip-version-check"]


@contextlib.contextmanager
def locked(path):
    """One process at a time; another waits."""
    path.parent.mkdir(exist_ok=True)
    with open(path, "w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install(options, venv, python):
    """Build the wheel and install it, and what it is tested with, into the environment."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())
    if not python.exists():
        run(sys.executable, "-m", "venv", venv)
    run(
        *pip(python),
        "install",
        "--upgrade",
        *project["build-system"]["requires"],
        *project["project"]["optional-dependencies"]["test"],
    )
    wheels = venv / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    run(
        *pip(python),
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        wheels,
        options.sdist or HERE,
        env=build_env(options),
    )
    run(*pip(python), "install", "--force-reinstall", "--no-deps", *wheels.glob("*.whl"))
    check_sanitizer(venv, options.sanitize)


def library():
    """This Python's own library, some thousand files, without what was installed into it."""
    skipped = {"site-packages", "dist-packages", "test"}
    stdlib = Path(sysconfig.get_path("stdlib"))
    return sorted(path for path in stdlib.iterdir() if path.name not in skipped)


def demo(python, options):
    run(python, HERE / "examples" / "wordcount.py", "-n", "5", *(options.rest or library()))
    print("\ngochan against the standard queues, a few shapes (the whole table: dev.py bench)\n")
    shapes = [word for shape in FIRST_SHAPES for word in ("--shape", shape)]
    queues = ["--contender", "queue.*"]
    run(python, "-P", "-m", "gochan", "bench", "run", "--quick", *shapes, *queues)


def test(python, options):
    # -P: the installed package is tested, not the folder of that name here.
    run(python, "-P", "-m", "pytest", *options.rest, env=run_env(options), cwd=HERE)


def bench(python, options):
    run(python, "-P", "-m", "gochan", "bench", "run", "--targets", *options.rest)


def interactive(python, options):
    run(python, "-P", *options.rest, env=run_env(options))


JOBS = {"demo": demo, "test": test, "bench": bench, "python": interactive}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s "
        "[--debug] [--sanitize NAME] [--sdist FILE] [--with PACKAGE] JOB [ARGUMENT ...]",
    )
    parser.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--sanitize", choices=["address", "thread"], help=argparse.SUPPRESS)
    parser.add_argument("--sdist", type=lambda p: Path(p).resolve(), help=argparse.SUPPRESS)
    parser.add_argument(
        "--with", dest="extra", action="append", default=[], help=argparse.SUPPRESS
    )
    parser.add_argument("job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    JOBS[options.job](set_up(options), options)


if __name__ == "__main__":
    main()
