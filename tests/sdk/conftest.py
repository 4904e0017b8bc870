import pytest

from aegis_sdk.cli import main


@pytest.fixture
def aegis(capsys):
    """Runs the command; its exit code, stdout and stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exited:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return exited.value.code, printed.out, printed.err

    return run
