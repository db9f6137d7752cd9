"""gochan bench compare and plot.  All runs here are made up, from seeds."""

import argparse
import json
import random
import subprocess
import sys
import warnings

import pytest
from gochan.bench import compare, plot, runfile
from gochan.bench.units import TIMES, amount, times

pytestmark = pytest.mark.bench

CONDITIONS = {"interpreter": "Made-up 1.0", "gil": True, "machine": "none", "cpus": 2}
COST = {"gochan": 50, "queue.SimpleQueue": 100, "queue.Queue": 3000}
SHAPES = {"pair": 1, "one-to-one-1": 2, "four-to-four-1": 8, "select-2": 1, "wake-up-p99": 2}


def made_up(seed, slower=None, noise=0.03, **conditions):
    """A run as a dict: `slower` has factors, by (shape, contender), contender or shape."""
    draw, slower = random.Random(seed), slower or {}

    def series(shape, contender, cost):
        factor = slower.get((shape, contender), 1) * slower.get(contender, 1)
        cost *= factor * slower.get(shape, 1)
        return {
            "ops": 1000,
            "wall": [cost * draw.lognormvariate(0, noise) for _ in range(15)],
            "cpu": [cost * draw.lognormvariate(0, noise) for _ in range(15)],
        }

    def shape(name, threads, unit="ns", better="lower", costs=COST):
        return {
            "what": f"made up: {name} <&>",
            "unit": unit,
            "better": better,
            "clock": "wall" if threads > 1 else "cpu",
            "threads": threads,
            "series": {who: series(name, who, cost) for who, cost in costs.items()},
        }

    shapes = {name: shape(name, threads) for name, threads in SHAPES.items()}
    shapes["fair-receivers"] = shape(
        "fair-receivers", 5, "index", "higher", {"gochan": 0.9, "queue.Queue": 0.5}
    )
    shapes["memory-channel"] = shape("memory-channel", 1, "bytes")
    shapes["memory-channel"]["series"] = {
        "gochan": {"ops": 1, "wall": [0], "cpu": []},
        "queue.Queue": {"ops": 1, "wall": [2000], "cpu": []},
    }
    return {
        "schema": 1,
        "conditions": CONDITIONS | conditions,
        "effort": {"rounds": 15, "seconds": 0.01},
        "contenders": dict.fromkeys(COST),
        "shapes": shapes,
    }


@pytest.fixture
def write(tmp_path):
    """write(name, run): the path of a file with the run, or with any text."""

    def write(name, run):
        path = tmp_path / name
        path.write_text(run if isinstance(run, str) else json.dumps(run), encoding="utf-8")
        return str(path)

    return write


def command(module, *words):
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return module.main(parser.parse_args(words))


@pytest.fixture
def compared(write, capsys):
    """compared(a, b): the exit code and the lines of a comparison."""

    def compared(a, b, *words):
        code = command(compare, write("a.json", a), write("b.json", b), *words)
        out, err = capsys.readouterr()
        assert err == ""
        return code, out.splitlines()

    return compared


# -- reading -----------------------------------------------------------------------


def test_a_shape_is_judged_by_its_clock(write):
    run = made_up(1)
    series = run["shapes"]["pair"]["series"]
    series["gochan"] |= {"wall": [9, 9], "cpu": [1, 2]}
    series["queue.Queue"] |= {"wall": [7, 7], "cpu": []}
    rounds = runfile.read(write("run.json", run)).shapes["pair"].rounds
    assert rounds["gochan"] == [1, 2]
    assert rounds["queue.Queue"] == [7, 7], "no CPU time: by the clock on the wall"


def test_every_shape_has_a_group(write):
    run = runfile.read(write("run.json", made_up(1)))
    found = {shape.name: group for group, shapes in runfile.groups(run) for shape in shapes}
    assert found == {
        "pair": "one-thread",
        "one-to-one-1": "two-threads",
        "four-to-four-1": "n-by-n",
        "select-2": "select",
        "wake-up-p99": "waiting",
        "fair-receivers": "fairness",
        "memory-channel": "memory",
    }


def without(*path):
    run = made_up(1)
    inner = run
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return run


BAD = {
    "no-json": ("{", "not a JSON file"),
    "empty": ("", "not a JSON file"),
    "a-list": ("[]", "no schema"),
    "a-table": ({"rows": []}, "no schema"),
    "newer": ({"schema": 2}, "schema 2"),
    "no-shapes": (without("shapes"), "'shapes' is missing"),
    "no-clock": (without("shapes", "pair", "clock"), "pair: 'clock' is missing"),
    "no-wall": (without("shapes", "select-2", "series", "gochan", "cpu"), "select-2: 'cpu'"),
    "shapes-a-list": ({**made_up(1), "shapes": [1]}, "the head"),
    "conditions-a-number": ({**made_up(1), "conditions": 1}, "the head"),
}


@pytest.mark.parametrize("module", [compare, plot], ids=["compare", "plot"])
@pytest.mark.parametrize(("run", "why"), BAD.values(), ids=BAD)
def test_a_bad_file_gets_one_line(module, run, why, write, capsys):
    if module is plot:
        pytest.importorskip("matplotlib", reason="plot asks for matplotlib first")
    path = write("bad.json", run)
    words = [path, path] if module is compare else [path]
    assert command(module, *words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert path in err
    assert why in err


def test_a_file_that_is_not_there_gets_one_line(tmp_path, capsys):
    path = str(tmp_path / "none.json")
    assert command(compare, path, path) == 2
    assert capsys.readouterr().err == f"gochan bench compare: {path}: No such file or directory\n"


# -- compare -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_noise_is_no_change(compared, seed):
    code, lines = compared(made_up(seed), made_up(seed + 100))
    assert code == 0
    assert f"gochan: {len(SHAPES) + 2} within the noise" in lines


@pytest.mark.parametrize("seed", range(4))
def test_slower_is_found(compared, seed):
    planted = {("one-to-one-1", "gochan"): 1.3}
    code, lines = compared(made_up(seed), made_up(seed + 100, planted))
    assert code == 1
    (told,) = [line for line in lines if line.startswith("  slower: ")]
    assert told.startswith("  slower: one-to-one-1, gochan: 1.")


def test_faster_is_found_and_no_failure(compared):
    code, lines = compared(made_up(1), made_up(2, {("pair", "gochan"): 0.5}))
    assert code == 0
    assert any(line.startswith("  faster: pair, gochan: 0.") for line in lines)


def test_less_fair_is_worse(compared):
    code, lines = compared(made_up(1), made_up(2, {("fair-receivers", "gochan"): 0.5}))
    assert code == 1
    assert any(line.startswith("  less fair: fair-receivers") for line in lines)


def test_memory_from_nothing_is_larger(compared):
    after = made_up(2)
    after["shapes"]["memory-channel"]["series"]["gochan"]["wall"] = [48]
    code, lines = compared(made_up(1), after)
    assert code == 1
    assert any(line.startswith("  larger: memory-channel, gochan: inf") for line in lines)


def test_a_slower_machine_is_drift(compared):
    code, lines = compared(made_up(1), made_up(2, dict.fromkeys(COST, 1.5)))
    assert code == 0
    (told,) = [line for line in lines if line.startswith("  queue.Queue itself: ")]
    assert 1.4 < float(told.split()[2].rstrip(TIMES)) < 1.6
    assert any(f"{len(SHAPES)} drift" in line for line in lines if line.startswith("gochan: "))


def test_a_slower_contender_does_not_matter(compared):
    code, lines = compared(made_up(1), made_up(2, {("pair", "queue.Queue"): 3}))
    assert code == 0
    assert "slower" in next(line for line in lines if "queue.Queue" in line)


def test_a_contender_of_another_version_tells_no_drift(compared):
    before, after = made_up(1), made_up(2, dict.fromkeys(COST, 1.5))
    before["contenders"] = dict.fromkeys(COST, "1.0")
    after["contenders"] = dict.fromkeys(COST, "2.0")
    code, lines = compared(before, after)
    assert code == 1
    assert "warning: queue.Queue differs: 1.0 in A, 2.0 in B; it tells no drift" in lines


def test_the_margin_is_asked_for(compared):
    planted = {("pair", "gochan"): 1.3}
    assert compared(made_up(1), made_up(2, planted), "--margin", "50")[0] == 0
    assert compared(made_up(1), made_up(2, planted), "--margin", "1")[0] == 1
    with pytest.raises(SystemExit) as exit:
        compared(made_up(1), made_up(2), "--margin", "much")
    assert exit.value.code == 2


def test_what_is_only_in_one_is_named(compared):
    before, after = made_up(1), made_up(2)
    del before["shapes"]["select-2"]
    del after["shapes"]["pair"]["series"]["queue.Queue"]
    code, lines = compared(before, after)
    assert code == 0
    assert "only in A: pair (queue.Queue)" in lines
    assert "only in B: select-2" in lines


def test_other_conditions_are_warned_about(compared):
    after = made_up(2, interpreter="Made-up 2.0", gil=False, cpus=4, others=0.5)
    _, lines = compared(made_up(1), after)
    told = [line for line in lines if line.startswith("warning: ")]
    for word in ("Made-up 2.0", "the GIL", "4 in B", "50% of the CPUs during B"):
        assert any(word in line for line in told)
    assert compared(made_up(1), made_up(2))[1].count("warning") == 0


def test_a_comparison_is_the_same_each_time(compared):
    assert compared(made_up(1), made_up(2)) == compared(made_up(1), made_up(2))


# -- units -------------------------------------------------------------------------


def test_amounts():
    found = [amount(value, "ns") for value in (0, 0.0812, 4.812, 48.12, 481.2, 1204, 2.5e6)]
    expected = "0 ns|0.0812 ns|4.81 ns|48.1 ns|481 ns|1.20 µs|2.50 ms"
    assert found == expected.split("|")
    assert [amount(value, "bytes") for value in (-0.1, 72, 1250)] == ["0 B", "72 B", "1.25 kB"]
    assert [amount(value, "index") for value in (0.99, 0.9996)] == ["0.99", "1.00"]


def test_times():
    found = [times(value)[:-1] for value in (0.004, 0.21, 0.996, 7.21, 30.2, 3529, 1e9)]
    assert found == ["0.004", "0.21", "1.0", "7.2", "30", "3,529", "inf"]


# -- plot and report ---------------------------------------------------------------


@pytest.fixture
def matplotlib(tmp_path, monkeypatch):
    """What its import warns of (its own parts, on newer Pythons) is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed")


PICTURES = ["numbers", "one-thread", "two-threads", "n-by-n", "select", "waiting"]
PICTURES += ["fairness", "memory"]


@pytest.mark.usefixtures("matplotlib")
def test_plot_writes_every_picture(write, tmp_path, capsys):
    assert command(plot, write("run.json", made_up(1)), "-o", str(tmp_path / "out")) == 0
    names = {f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")} | {"report.html"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert len(capsys.readouterr().out.splitlines()) == len(names)
    for name in PICTURES:
        png = (tmp_path / "out" / f"{name}.png").read_bytes()
        svg = (tmp_path / "out" / f"{name}.svg").read_text(encoding="utf-8")
        assert png.startswith(b"\x89PNG")
        assert len(png) > 10_000
        assert ">gochan</text>" in svg
        assert "prefers-color-scheme: dark" in svg


@pytest.mark.usefixtures("matplotlib")
def test_plot_writes_beside_the_run(write, tmp_path):
    assert command(plot, write("run.json", made_up(1))) == 0
    assert (tmp_path / "run-plots" / "numbers.svg").is_file()


@pytest.mark.usefixtures("matplotlib")
def test_plot_of_a_part_of_a_run(write, tmp_path):
    """Shapes that nobody knows, no gochan, one round, all zero."""
    run = made_up(1)
    run["shapes"] = {
        "unheard-of": run["shapes"]["pair"],
        "memory-x": run["shapes"]["memory-channel"],
    }
    del run["shapes"]["unheard-of"]["series"]["gochan"]
    run["shapes"]["memory-x"]["series"]["queue.Queue"]["wall"] = [0]
    assert command(plot, write("run.json", run), "-o", str(tmp_path / "out")) == 0
    assert (tmp_path / "out" / "one-thread.svg").is_file()
    assert not (tmp_path / "out" / "numbers.svg").exists()


@pytest.mark.usefixtures("matplotlib")
def test_the_report_has_all_and_needs_nothing(write, tmp_path):
    command(plot, write("run.json", made_up(1)), "-o", str(tmp_path))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    run = made_up(1)
    for name in run["shapes"]:
        assert f"<h3>{name}</h3><p>made up: {name} &lt;&amp;&gt;</p>" in page
    assert (
        page.count("<svg") == page.count("</svg>") == page.count("<table>") == len(run["shapes"])
    )
    for word in ("http:", "https:", "//", "src=", "@import", "url(", "<script"):
        assert word not in page
    assert "Made-up 1.0 with the GIL" in page
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def test_without_matplotlib_it_says_what_to_install(write, capsys, monkeypatch):
    monkeypatch.setattr(plot, "find_spec", lambda name: None)
    assert command(plot, write("run.json", made_up(1))) == 3
    assert capsys.readouterr().err == (
        'gochan bench plot: needs matplotlib: pip install "pygochan[bench]"\n'
    )


def test_matplotlib_is_not_imported_before_it_is_needed(tmp_path):
    code = "import sys, gochan.bench.plot; sys.exit('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path)
    assert done.returncode == 0
