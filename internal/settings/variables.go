package settings

import (
	"adze/internal/commands/about"
)

// Variables returns the environment variables that the settings read, with their values if set.
func Variables(getenv func(string) string) []about.Variable {
	var all []about.Variable
	keys := Keys()
	for i := range keys {
		for _, name := range keys[i].Env {
			value := getenv(name)
			all = append(all, about.Variable{Name: name, Value: value, Set: value != "", Doc: keys[i].Doc})
		}
	}
	return all
}
