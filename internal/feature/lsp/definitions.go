package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"adze/internal/lsp"
)

// Definitions returns the servers in order of preference: from the settings, from plugins, and
// built in. Problems describes invalid definitions in the settings.
func Definitions(settings json.RawMessage, plugins []lsp.Server) (servers []lsp.Server, problems []string) {
	var raws map[string]json.RawMessage
	json.Unmarshal(settings, &raws) // ok: the settings report the error
	off := map[string]bool{}        // names that are taken
	for _, name := range slices.Sorted(maps.Keys(raws)) {
		s, err := lsp.Parse(name, raws[name], nil)
		off[name] = true // even if it is invalid
		switch {
		case lsp.IsDisabled(err):
		case err != nil:
			problems = append(problems, fmt.Sprintf("languageServers.servers.%s: %v", name, err))
		default:
			s.Origin = "settings"
			servers = append(servers, s)
		}
	}
	for _, s := range append(slices.Clone(plugins), lsp.BuiltIn()...) {
		if !off[s.Name] {
			off[s.Name] = true
			servers = append(servers, s)
		}
	}
	return servers, problems
}
