package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// errDisabled is the error of a definition that switches a server off.
var errDisabled = errors.New("disabled")

// IsDisabled reports whether a definition is valid and switches its server off.
func IsDisabled(err error) bool { return errors.Is(err, errDisabled) }

// Parse reads a server's definition in the format of plugins. Expand replaces variables in the
// command, its arguments and its environment; nil replaces none. A definition with the name of a
// built-in server changes that server, so that it may leave out everything.
func Parse(name string, raw json.RawMessage, expand func(string) (string, error)) (Server, error) {
	var d struct {
		Command   string            `json:"command"`
		Args      []string          `json:"args"`
		Env       map[string]string `json:"env"`
		Languages map[string]string `json:"extensionToLanguage"`
		Markers   []string          `json:"rootMarkers"`
		Options   json.RawMessage   `json:"initializationOptions"`
		Settings  json.RawMessage   `json:"settings"`
		Transport string            `json:"transport"`
		Disabled  bool              `json:"disabled"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return Server{}, fmt.Errorf("it is not a valid definition: %w", err)
	}
	var s Server
	if i := slices.IndexFunc(BuiltIn(), func(b Server) bool { return b.Name == name }); i >= 0 {
		s = BuiltIn()[i]
	}
	s.Name = name
	if d.Disabled {
		return s, errDisabled
	}
	if d.Transport != "" && d.Transport != "stdio" {
		return s, fmt.Errorf("the transport %.20q is not supported: use stdio", d.Transport)
	}
	if expand == nil {
		expand = func(text string) (string, error) { return text, nil }
	}
	var err error
	if d.Command != "" {
		if s.Command, err = expand(d.Command); err != nil {
			return s, err
		}
		s.Args, s.fits = nil, nil
	}
	if d.Args != nil {
		s.Args = nil
	}
	for _, arg := range d.Args {
		if arg, err = expand(arg); err != nil {
			return s, err
		}
		s.Args = append(s.Args, arg)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		value, err := expand(d.Env[name])
		if err != nil {
			return s, err
		}
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[name] = value
	}
	if d.Languages != nil {
		s.Languages = d.Languages
	}
	if d.Markers != nil {
		s.Markers = d.Markers
	}
	if d.Options != nil {
		s.Options = d.Options
	}
	if d.Settings != nil {
		s.Settings = d.Settings
	}
	return s, check(s)
}

// check returns the reason a definition cannot be used, or nil.
func check(s Server) error {
	switch {
	case s.Command == "":
		return errors.New("command is missing")
	case strings.ContainsAny(s.Command, `/\`) && !filepath.IsAbs(s.Command):
		return fmt.Errorf("the command %.60q is a relative path: give an absolute path, or a program in PATH", s.Command)
	case len(s.Languages) == 0:
		return errors.New("extensionToLanguage is missing: it maps extensions such as .go to languages")
	}
	for ext, language := range s.Languages {
		if language == "" || ext == "" || strings.ContainsAny(ext, `/\`) {
			return fmt.Errorf("extensionToLanguage: %.20q is not an extension such as .go", ext)
		}
	}
	for _, m := range s.Markers {
		if m == "" || strings.ContainsAny(m, `/\`) {
			return fmt.Errorf("rootMarkers: %.20q is not a file name", m)
		}
	}
	return nil
}
