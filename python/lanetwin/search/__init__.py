"""Searching the values of a sweep for the best, by Optuna: objectives, constraints, what parts cost."""

from lanetwin.search.goal import Limit, Objective, Quantity, limit, objective
from lanetwin.search.prices import Prices
from lanetwin.search.running import Search, Searched, Trial, search

__all__ = [
    "Limit",
    "Objective",
    "Prices",
    "Quantity",
    "Search",
    "Searched",
    "Trial",
    "limit",
    "objective",
    "search",
]
