"""Keys from passwords."""
