"""Searching the values of a sweep for the best, by Optuna: objectives, constraints, costs of parts."""

from lanetwin.search.goal import Limit, Objective, Quantity
from lanetwin.search.prices import Prices
from lanetwin.search.running import Goals, Search, Searched, Trial, search

__all__ = [
    "Goals",
    "Limit",
    "Objective",
    "Prices",
    "Quantity",
    "Search",
    "Searched",
    "Trial",
    "search",
]
