//go:build !linux

package plugin

// quick is not available on other systems.
type quick struct{}

func openQuick(string) (*quick, error) { return nil, nil }

func (q *quick) close() {}

func (q *quick) isDir(string) (bool, error) { return false, errSlow }

func (q *quick) read(string, int64) (fileContent, error) { return fileContent{}, errSlow }
