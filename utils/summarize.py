#!/usr/bin/env python3
"""Sum the results of several test runners: summarize.py FOLDER NAME...

Each NAME is a JUnit file FOLDER/NAME.xml. A runner that left none has died,
which counts as one failure. The last line is "N passed, N failed".
"""
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(path):
    """Passed, failed and skipped tests of one JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(folder, names):
    total = [0, 0, 0]
    for name in names:
        try:
            counts = count(Path(folder) / f"{name}.xml")
        except (OSError, ElementTree.ParseError) as error:
            print(f"{name}: no result ({error})")
            counts = (0, 1, 0)
        print(f"{name}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped or unsupported here")
        total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} passed, {total[1]} failed")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
