"""The browser of the tests: tests without one, and tests that are killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate import ROOT
from tests.app.worker.test_recovery import descendants, runs
from tests.browser.summary import MISSING
from tests.waiting import until

A_TEST = "tests/browser/test_sign_in.py::test_the_page_to_sign_in_can_be_used_everywhere_and_says_what_is_wrong"

pytestmark = [pytest.mark.long, pytest.mark.processes]


def run_a_test(processes, **environment):
    """Run a browser test as a person or CI does, with other environment variables."""
    inherited = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", A_TEST, "-p", "no:cacheprovider", "-n", processes]
    return subprocess.run(
        command, cwd=ROOT, env=inherited | environment, capture_output=True, text=True, check=False, timeout=600
    )


def test_without_a_browser_its_tests_are_skipped_and_the_summary_says_how_to_get_it():
    ran = run_a_test("1", AEGIS_CHROMIUM="/nowhere")
    assert ran.returncode == 0, ran.stdout
    assert f"1 browser tests were skipped, because {MISSING}" in ran.stdout.splitlines()


def test_in_ci_a_missing_browser_is_a_failure():
    ran = run_a_test("0", AEGIS_CHROMIUM="/nowhere", CI="true")
    assert ran.returncode == 1, ran.stdout
    assert MISSING in ran.stdout


HANGING = """
import asyncio
from tests.browser.chromium import chromium_path, running_browser

async def hang():
    async with running_browser(chromium_path()) as browser:
        await browser.new_page()
        print("runs", flush=True)
        await asyncio.Event().wait()

asyncio.run(hang())
"""


@pytest.mark.usefixtures("_chromium")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are counted in /proc")
async def test_the_browser_ends_with_tests_that_are_killed():
    command = [sys.executable, "-c", HANGING]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as killed:  # noqa: ASYNC220
        assert killed.stdout.readline() == "runs\n"
        children = descendants(killed.pid)
        assert len(children) > 2
        killed.kill()
        await until(lambda: not any(map(runs, children)))
