"""The figures of a report: one module each, a function from the results to a drawing."""
