"""utils/summarize.py: what test.sh's last line is made from."""
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "utils" / "summarize.py"
spec = importlib.util.spec_from_file_location("summarize", SCRIPT)
summarize = importlib.util.module_from_spec(spec)
spec.loader.exec_module(summarize)


def suite(*cases):
    return "<testsuites><testsuite>" + "".join(f"<testcase name='t{i}'>{c}</testcase>" for i, c in enumerate(cases)) + "</testsuite></testsuites>"


def test_sums_all_runners(tmp_path, capsys):
    (tmp_path / "a.xml").write_text(suite("", "", "<skipped/>"))
    (tmp_path / "b.xml").write_text(suite(""))
    assert summarize.main(tmp_path, ["a", "b"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed"


@pytest.mark.parametrize("case", ["<failure/>", "<error/>"])
def test_a_failure_is_a_failure(tmp_path, capsys, case):
    (tmp_path / "a.xml").write_text(suite("", case))
    assert summarize.main(tmp_path, ["a"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed"


def test_a_dead_runner_is_a_failure(tmp_path, capsys):
    (tmp_path / "a.xml").write_text(suite(""))
    (tmp_path / "b.xml").write_text("<testsuites><testsu")
    assert summarize.main(tmp_path, ["a", "b", "c"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 2 failed"


def test_no_tests_is_no_success(tmp_path):
    (tmp_path / "a.xml").write_text(suite("<skipped/>"))
    assert summarize.main(tmp_path, ["a"]) == 1
