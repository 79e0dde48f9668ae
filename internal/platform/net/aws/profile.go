package aws

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Env is the environment in which credentials are looked up.
type Env struct {
	// Getenv returns an environment variable, or "".
	Getenv func(string) string
	// Home is the user's home directory.
	Home string
}

// A section holds the settings of a profile or session, keyed by lower-case name.
type section map[string]string

// profiles is the parsed shared configuration.
type profiles struct {
	profiles map[string]section
	sessions map[string]section
}

// profile returns the name of the active profile.
func (e Env) profile() string {
	for _, name := range [...]string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		if v := e.Getenv(name); v != "" {
			return v
		}
	}
	return "default"
}

// file returns the path of a shared configuration file. An environment variable can override
// it.
func (e Env) file(variable, name string) string {
	if v := e.Getenv(variable); v != "" {
		return v
	}
	return filepath.Join(e.Home, ".aws", name)
}

// load reads the shared configuration. Missing files count as empty.
func (e Env) load() (*profiles, error) {
	p := &profiles{map[string]section{}, map[string]section{}}
	for _, f := range [...]struct {
		path   string
		config bool
	}{{e.file("AWS_CONFIG_FILE", "config"), true}, {e.file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false}} {
		text, err := os.ReadFile(f.path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the AWS configuration: %w", err)
		}
		p.read(text, f.config)
	}
	return p, nil
}

// read adds the sections of a file. The config file, unlike the credentials file, prefixes
// profile names other than default with "profile".
func (p *profiles) read(text []byte, config bool) {
	var current section
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[':
			name, _, _ := strings.Cut(trimmed[1:], "]")
			current = p.open(strings.TrimSpace(name), config)
		case line[0] == ' ' || line[0] == '\t': // nested setting, for another service
		case current != nil:
			name, value, ok := strings.Cut(trimmed, "=")
			if ok {
				value, _, _ = strings.Cut(value, " #")
				current[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
			}
		}
	}
}

// open returns the section with the given heading, or nil if the heading is not a profile or
// session.
func (p *profiles) open(heading string, config bool) section {
	in, name := p.profiles, heading
	if fields := strings.Fields(heading); config && heading != "default" {
		if len(fields) < 2 {
			return nil
		}
		name = strings.Trim(strings.Join(fields[1:], " "), `"'`)
		switch fields[0] {
		case "profile":
		case "sso-session":
			in = p.sessions
		default:
			return nil
		}
	}
	if in[name] == nil {
		in[name] = section{}
	}
	return in[name]
}

// Region returns the region the user has configured, or "".
func (e Env) Region() string {
	for _, name := range [...]string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if v := e.Getenv(name); v != "" {
			return v
		}
	}
	p, err := e.load()
	if err != nil {
		return "" // ok: reading the credentials uses the same file and reports the error
	}
	return p.profiles[e.profile()]["region"]
}
