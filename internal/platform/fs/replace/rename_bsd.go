//go:build unix && !linux

package replace

// renameNew links the file to its new name first, because linking, unlike renaming, fails if
// the name is taken.
func (d directory) renameNew(from, to string) error { return d.link(from, to) }
