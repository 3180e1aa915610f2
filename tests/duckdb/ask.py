"""Runs the queries of the files that are named, in the folder of the events, and prints their rows as JSON."""

import json
import sys

import duckdb

answers = {}
for name in sys.argv[1:]:
    # A folder on disk is not searched for extensions, and none is fetched.
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "TimeZone": "UTC"})
    with open(name, encoding="utf-8") as file:
        answers[name] = [list(row) for row in connection.sql(file.read()).fetchall()]
json.dump(answers, sys.stdout, default=str)
