"""The errors that frictionless finds in a Data Package: `data_package_errors.py datapackage.json`."""

import json
import sys

from frictionless import validate

report = validate(sys.argv[1])
errors = [*report.errors, *(error for task in report.tasks for error in task.errors)]
sys.stdout.write(json.dumps([[error.type, error.message] for error in errors]) + "\n")
