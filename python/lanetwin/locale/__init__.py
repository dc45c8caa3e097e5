"""Catalogues of messages: one file for each language."""
