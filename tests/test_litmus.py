"""The litmus tests of tests/litmus.py, a few rounds each.

Claimed: no row shows an outcome that is forbidden, and the harness can see one: plain
words lose additions, and show store buffering where there are two CPUs.
`python tests/litmus.py` runs enough rounds to mean something.
"""

import os
import sys

import litmus
import pytest

ROUNDS = int(200 * float(os.environ.get("GOCHAN_STRESS", "1"))) or 20
ROWS = {row.id: row for row in litmus.rows()}


def forbidden():
    return [row for row in ROWS.values() if row.forbidden]


def need_compiler():
    if not litmus.words():
        pytest.skip("no C compiler, or no headers of this Python")


@pytest.mark.parametrize("row", forbidden(), ids=lambda row: row.id)
def test_no_forbidden_outcome(row, switching):
    if row.compiled:
        need_compiler()
    assert row.run(ROUNDS, None).odd == 0


@pytest.mark.parametrize("name", ["adds", "SB"])
def test_plain_words_show_what_is_forbidden_to_atomics(name):
    """The harness can see a weak outcome, also with the GIL: the words are compiled."""
    need_compiler()
    if len(litmus.CPUS) < 2:
        pytest.skip("one CPU is sequentially consistent")
    row = ROWS[f"{name}, plain words"]
    for _ in range(200):
        if row.run(1000, "apart").odd:
            return
    pytest.fail("200,000 rounds without one")


def test_a_send_to_a_buffer_does_not_wait_for_its_receive():
    """The guarantee that a buffered channel does not give, and could be believed to."""
    row = ROWS["message, Chan(1) reverse: recv, end of send"]
    assert not row.forbidden
    for _ in range(200):
        if row.run(200, None).odd:
            return
    pytest.fail("40,000 rounds without one")


def test_the_command_prints_the_table(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["litmus.py", "--rounds", "20", "Int64"])
    interval = sys.getswitchinterval()
    try:
        with pytest.raises(SystemExit) as info:
            litmus.main()
    finally:
        sys.setswitchinterval(interval)
    out = capsys.readouterr().out
    assert info.value.code == 0
    assert "SB           Int64" in out
    assert "rows kept what is promised, 0 broke it" in out
