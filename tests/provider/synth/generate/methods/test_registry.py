import subprocess
import sys

import pytest

from aegis_provider.errors import PlanError
from aegis_provider.synth.generate.methods.registry import METHODS, method_of
from tests.for_each import for_each


@for_each("name", ["cart", "mbi"])
def test_each_method_has_a_name(name):
    assert name in METHODS
    assert callable(method_of(name).train)


def test_an_unknown_name_is_refused_in_one_line_with_the_nearest():
    with pytest.raises(PlanError) as raised:
        method_of("crat")
    assert str(raised.value) == "unknown method 'crat'; did you mean 'cart'?"


@pytest.mark.long
@for_each(("name", "library"), [("cart", "sklearn"), ("mbi", "jax")])
def test_without_a_library_one_line_says_what_to_install(name, library):
    hidden = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from aegis_provider.synth.generate.methods.registry import method_of\n"
        "from aegis_sdk import AegisError\n"
        f"try: method_of({name!r})\n"
        "except AegisError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"{library}")
    assert ran.stdout.endswith(" is not installed: install 'aegis-masking-provider[synth]' from where you got Aegis\n")
    assert ran.stdout.count("\n") == 1
