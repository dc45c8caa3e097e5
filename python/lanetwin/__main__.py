"""``python -m lanetwin`` is the ``lanetwin`` command."""

from lanetwin.cli import main

main()
