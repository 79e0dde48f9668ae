package change

// Written returns of how many files it is known who changed them last.
func Written(w *Writers) int { return len(w.last) }
