"""Programs in the style of real users, judged against what real PyTorch did to them: see judge.py and record.py."""

import functools

import judge
import pytest
import record

TOPICS = sorted(path.parent.name for path in judge.PROGRAMS.glob("*/ok.py"))


@functools.lru_cache(None)
def judged():
    return judge.judge()


def complain(name, kinds):
    """Fails where the complaints of these kinds are not those of known_misses."""
    topic = judged()[name]
    now = {line: said for line, said in topic.complaints.items() if line.split()[0] in kinds}
    before = {line for line in judge.known() if line.split()[0] in kinds and judge.topic_of(line) == name}
    said = [f"{line}: {now[line]}" for line in sorted(set(now) - before)]
    said += [f"{line}: no longer so, take it out of known_misses" for line in sorted(before - set(now))]
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", TOPICS)
def test_shapes_are_right_or_silent(name):
    complain(name, {"wrong"})


@pytest.mark.parametrize("name", TOPICS)
def test_only_the_bug_is_reported(name):
    complain(name, {"alarm"})


@pytest.mark.parametrize("name", [name for name in TOPICS if (judge.PROGRAMS / name / "wrong.py").exists()])
def test_the_bug_is_found(name):
    complain(name, {"missed"})


@pytest.mark.parametrize("name", TOPICS)
def test_the_facts_are_of_these_programs(name):
    folder = judge.PROGRAMS / name
    assert judged()[name].facts["hash"] == record.text_hash(folder), "run tests/traces/record.py --record " + name
    assert (folder / "wrong.py").exists() == (judged()[name].bug is not None), "bugs.json names the bug of every wrong.py"


def test_known_misses_name_what_exists():
    assert {judge.topic_of(line) for line in judge.known()} <= set(TOPICS)
