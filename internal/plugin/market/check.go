package market

import "adze/internal/plugin"

// Check reads the list of the marketplace in a folder, for its author to correct it. Nothing is kept.
func Check(dir string) (*Listing, error) {
	return readListing(dir, plugin.Source{Kind: plugin.Directory, At: dir})
}
