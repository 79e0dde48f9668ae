package change

// Written returns the number of files with a known last writer.
func Written(w *Writers) int { return len(w.last) }
