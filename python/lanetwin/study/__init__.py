"""Studies: scenarios, channels, stability cycles and text, joined to documents with numbered tables."""
