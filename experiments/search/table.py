#!/usr/bin/env python3
"""Puts the table that a search has made into its section of README.md beside this file.

    … | python3 experiments/search/table.py NAME
"""
import sys
from pathlib import Path

page = Path(__file__).with_name("README.md")
text = page.read_text()
begins = f"<!-- made by experiments/search/{sys.argv[1]}.sh -->\n"
if begins not in text:
    sys.exit(f"{page} has no table that begins with {begins}")
before, after = text.split(begins)
page.write_text(f"{before}{begins}\n{sys.stdin.read().strip()}\n\n{after[after.index('<!-- end -->'):]}")
