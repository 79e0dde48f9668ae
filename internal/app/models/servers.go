package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model/local"
)

// Servers is a list of local servers that answered.
type Servers []local.Server

// maxOffered is the maximum number of models offered per server.
const maxOffered = 5

// offered returns models of each server, by the names that select them.
func (list Servers) offered() (names []string) {
	for _, s := range list {
		for _, m := range s.Models[:min(len(s.Models), maxOffered)] {
			names = append(names, string(s.Kind)+"/"+m.Name)
		}
	}
	return names
}

// String lists the servers and their models for the user. It is empty for an empty list.
func (list Servers) String() string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "\n%s at %s\n", s.Kind.Name(), strings.TrimSuffix(s.Address, "/v1"))
		switch {
		case s.Loading:
			b.WriteString("  is still loading its model\n")
		case len(s.Models) == 0:
			b.WriteString("  has no models\n")
		}
		for _, m := range s.Models {
			window := "-"
			if m.Window > 0 {
				window = strconv.Itoa(m.Window)
			}
			row := fmt.Sprintf("%-26s %9s   %s", string(s.Kind)+"/"+m.Name, window, strings.Join(traits(m), ", "))
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		if i := slices.IndexFunc(s.Models, func(m local.Model) bool { return 0 < m.Window && m.Window < m.MaxWindow }); i >= 0 {
			fmt.Fprintf(&b, "  A window can be up to %d tokens. %s.\n", s.Models[i].MaxWindow, s.Models[i].Advice())
		}
	}
	return b.String()
}

// traits returns remarks about a model.
func traits(m local.Model) (all []string) {
	for _, t := range []struct {
		has  bool
		text string
	}{{m.Loaded, "loaded"}, {m.NoTools, "cannot use tools"}, {m.Images, "images"}, {!m.Sure && m.Window > 0, "the window is the usual one"}} {
		if t.has {
			all = append(all, t.text)
		}
	}
	return all
}

// A ListedServer is a server in JSON output.
type ListedServer struct {
	Name    string        `json:"name"`
	Address string        `json:"address"`
	Loading bool          `json:"loading"`
	Models  []ListedModel `json:"models"`
}

// A ListedModel is a server's model in JSON output.
type ListedModel struct {
	ID            string `json:"id"`
	ContextWindow int    `json:"contextWindow,omitempty"`
	MaxWindow     int    `json:"maxContextWindow,omitempty"`
	Tools         bool   `json:"tools"`
	Images        bool   `json:"images"`
	Loaded        bool   `json:"loaded"`
}

// List returns the servers for JSON output.
func (list Servers) List() []ListedServer {
	all := []ListedServer{}
	for _, s := range list {
		one := ListedServer{Name: string(s.Kind), Address: s.Address, Loading: s.Loading, Models: []ListedModel{}}
		for _, m := range s.Models {
			one.Models = append(one.Models, ListedModel{string(s.Kind) + "/" + m.Name, m.Window, m.MaxWindow, !m.NoTools, m.Images, m.Loaded})
		}
		all = append(all, one)
	}
	return all
}

// LocalName splits the name of a local server's model into the model and the server.
func LocalName(name string) (model, server string) {
	kind, model, _ := strings.Cut(name, "/")
	return model, local.Kind(kind).Name()
}
