package market

import "adze/internal/domain/plugin"

// Check reads the marketplace listing in a directory, for its author to correct. It stores
// nothing.
func Check(dir string) (*Listing, error) {
	return readListing(dir, plugin.Source{Kind: plugin.Directory, At: dir})
}
