"""What the package exports, and that help() and tools can see it."""

import importlib.metadata
import importlib.resources
import inspect
import subprocess
import sys

import pytest

import gochan
from gochan import atomic, queue, sync

CLASSES = [
    *(gochan.Chan, gochan.SendChan, gochan.RecvChan, gochan.Selector),
    *(queue.Queue, queue.LifoQueue, queue.PriorityQueue, queue.SimpleQueue),
    *(getattr(atomic, name) for name in atomic.__all__),
    *(sync.Mutex, sync.RWMutex, sync.ReadLocker, sync.WriteLocker),
    *(sync.Cond, sync.Once, sync.WaitGroup, sync.Semaphore, sync.Pool, sync.Map),
]
MODULES = [gochan, queue, atomic, sync]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_names_exist_and_nothing_else_is_public(module):
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert set(module.__all__) == public


def test_version_is_the_distributions():
    assert importlib.metadata.version("pygochan") == gochan.__version__


@pytest.mark.parametrize("name", ["py.typed", "_core.pyi"])
def test_types_are_shipped(name):
    assert importlib.resources.files(gochan).joinpath(name).is_file()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_classes_say_where_users_find_them(cls):
    homes = [home for home in MODULES[1:] if hasattr(home, cls.__name__)]
    module = homes[0].__name__ if homes else "gochan"
    assert cls.__module__ == module
    assert str(cls) == f"<class '{module}.{cls.__name__}'>"


def public_methods():
    for cls in CLASSES:
        for name, member in vars(cls).items():
            if not name.startswith("_"):
                yield pytest.param(cls, name, member, id=f"{cls.__name__}.{name}")


@pytest.mark.parametrize(("cls", "name", "member"), list(public_methods()))
def test_every_public_member_is_documented(cls, name, member):
    assert inspect.getdoc(member)
    if callable(member):
        assert str(inspect.signature(member)).startswith("(self")


def test_select_and_constructors_show_their_signatures():
    assert str(inspect.signature(gochan.select)) == "(*cases, default=False, timeout=None)"
    assert str(inspect.signature(gochan.Chan)) == "(cap=0, dtype=None)"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_constructors_refuse_what_they_do_not_take(cls):
    with pytest.raises(TypeError):
        cls(*range(9))
    with pytest.raises(TypeError):
        cls(unheard_of=1)


def test_the_tour_in_the_package_docstring_runs():
    code = inspect.getdoc(gochan)
    assert "from gochan import Chan" in code
    script = "\n".join(line[4:] for line in gochan.__doc__.splitlines() if line.startswith("    "))
    script += "\nThread(target=work).start(); jobs.send(7); print(results.recv()); jobs.close()"
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("49\n", "")
