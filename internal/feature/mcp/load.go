// Package mcp manages a workspace's MCP servers: configuration, connections and sign-in.
package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"adze/internal/mcp/editor"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/text/jsonscan"
	"adze/internal/session/store"
	"adze/internal/settings"
	"adze/internal/setup"
)

// Flags holds the command-line options for servers.
type Flags struct {
	Configs []string // --mcp-config: files or JSON
	Strict  bool     // --strict-mcp-config: ignore other sources
	// Plugins returns the plugins' servers, expanded with getenv; it may be nil.
	Plugins func(getenv func(string) string) []*roster.Entry
	// Editor requests the editor that has the directory open. Terminal is true if the user is
	// at a terminal, where the settings may request it too.
	Editor, Terminal bool
	// Guests are the host's servers.
	Guests []*roster.Entry
	// Loaded, if non-nil, is returned by [Load].
	Loaded *roster.Roster
}

// Server files next to the settings, and the administrator's.
const (
	fileName    = "mcp.json"
	managedName = "managed-mcp.json"
	otherName   = ".claude.json"
)

// maxOther is the size limit, in bytes, of another program's configuration file, most of which
// is unrelated to servers.
const maxOther = 64 << 20

// Load returns the configured servers without starting any. An error means the program must not
// start: invalid flags, or an unreadable managed file.
func Load(p *settings.Project, flags Flags) (*roster.Roster, error) {
	if flags.Loaded != nil {
		return flags.Loaded, nil
	}
	l := &loader{p: p, getenv: variables(p)}
	policy, err := l.policy()
	if err != nil {
		return nil, err
	}
	exclusive, err := l.managed()
	if err != nil {
		return nil, err
	}
	switch {
	case exclusive:
		if len(flags.Configs) > 0 {
			l.problem("--mcp-config", "ignored: an administrator manages the MCP servers")
		}
		if len(flags.Guests) > 0 {
			l.problem("the host", "its servers are ignored: an administrator manages the MCP servers")
		}
	case flags.Strict:
		err = l.flags(flags.Configs)
		l.guests(flags)
	default:
		if flags.Plugins != nil {
			l.entries = append(l.entries, flags.Plugins(l.getenv)...)
		}
		l.user()
		l.project()
		l.local()
		l.settings()
		err = l.flags(flags.Configs)
		l.guests(flags)
	}
	if err != nil {
		return nil, err
	}
	l.decide()
	r := roster.Merge(l.entries, policy)
	r.Problems = append(l.problems, r.Problems...)
	return r, nil
}

// A loader collects entries.
type loader struct {
	p        *settings.Project
	getenv   func(string) string
	entries  []*roster.Entry
	problems []roster.Problem
	disabled []string               // disabled by the user in this project
	theirs   func() ([]byte, error) // the other program's file, read once
}

// guests adds the servers of the host and the editor.
func (l *loader) guests(flags Flags) {
	// Some hosts also name their own servers in --mcp-config. Those become reachable only when
	// the host announces them.
	l.entries = slices.DeleteFunc(l.entries, func(e *roster.Entry) bool { return e.Type == roster.Host })
	for _, e := range flags.Guests {
		again := *e // copied because its state is updated
		l.entries = append(l.entries, &again)
	}
	if !flags.Editor && !(flags.Terminal && l.p.Values().MCP.Editor) {
		return
	}
	port, _ := strconv.Atoi(l.getenv("CLAUDE_CODE_SSE_PORT")) // ok: 0 means unset
	c := editorsOf(l.p)
	c.Port = port
	e, err := editor.Find(c)
	switch {
	case err == nil:
		l.entries = append(l.entries, e)
	case flags.Editor:
		l.problem("--ide", err.Error())
	}
}

// editorsOf returns the location of the editors' lock files.
func editorsOf(p *settings.Project) editor.Config {
	return editor.Config{Home: filepath.Join(p.Other, "ide"), Dir: p.Source().Dir}
}

// Editors returns the user's editors that have lock files.
func Editors(p *settings.Project) []editor.Editor { return editor.All(editorsOf(p)) }

func (l *loader) problem(where, text string) {
	l.problems = append(l.problems, roster.Problem{Where: where, Text: text})
}

// variables returns a lookup function for variables in entries: the environment and the user's
// own settings. Project settings are excluded, so that a project cannot change an approved
// entry.
func variables(p *settings.Project) func(string) string {
	own := map[string]any{}
	for _, part := range p.Settings().Parts("env") {
		if part.Scope != scope.Project {
			json.Unmarshal(part.JSON, &own) // ok: the settings report the error
		}
	}
	getenv := p.Source().Getenv
	return func(name string) string {
		if value := getenv(name); value != "" {
			return value
		}
		value, _ := own[name].(string) // ok: non-strings are ignored
		return value
	}
}

// file adds a file's entries. A missing file is ignored, an invalid one reported.
func (l *loader) file(from roster.Scope, path string) {
	data, err := fsys.ReadSmall(path, roster.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var entries []*roster.Entry
	if err == nil {
		entries, err = roster.ParseFile(l.source(from, path), data)
	}
	if err != nil {
		l.problem(path, plain(err)+"; the file is ignored")
		return
	}
	l.entries = append(l.entries, entries...)
}

func (l *loader) source(from roster.Scope, path string) roster.Source {
	return roster.Source{Scope: from, File: path, Getenv: l.getenv}
}

// plain returns an error's text without the file name, which is already in the message.
func plain(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}

// object adds the entries of a JSON object of servers.
func (l *loader) object(from roster.Scope, path string, raw json.RawMessage) {
	entries, err := roster.Parse(l.source(from, path), raw)
	if err != nil {
		l.problem(path, err.Error()+"; it is ignored")
		return
	}
	l.entries = append(l.entries, entries...)
}

// user adds the user's servers.
func (l *loader) user() {
	if !l.p.Reads(scope.User) {
		return
	}
	l.other(nil)
	if l.p.Home != "" {
		l.file(roster.User, UserFile(l.p))
	}
}

// UserFile returns the path of the user's server file.
func UserFile(p *settings.Project) string { return filepath.Join(p.Config, fileName) }

// LocalFile returns the path of the file with the user's servers for this project only.
func LocalFile(p *settings.Project) string {
	return filepath.Join(store.ProjectDir(p.Home, p.Main()), fileName)
}

// project adds the servers from the project's files.
func (l *loader) project() {
	if !l.p.Reads(scope.Project) {
		return
	}
	for _, path := range l.p.Trust.ServerFiles() {
		l.file(roster.Project, path)
	}
}

// local adds the user's servers for this project only.
func (l *loader) local() {
	if !l.p.Reads(scope.Local) {
		return
	}
	t := l.p.Trust
	l.other([]string{t.Root, t.Dir, l.p.Source().Dir})
	if l.p.Home == "" {
		return
	}
	path := LocalFile(l.p)
	l.file(roster.Local, path)
	disabled, err := readDisabled(path)
	if err != nil {
		l.problem(path, plain(err))
	}
	l.disabled = append(l.disabled, disabled...)
}

// readDisabled returns the names of the servers the user disabled in a project.
func readDisabled(path string) (names []string, err error) {
	data, err := fsys.ReadSmall(path, roster.MaxFile)
	if err != nil {
		return nil, nil // ok: reported when the servers are read
	}
	var file struct {
		Disabled []string `json:"disabledMcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, errors.New("disabledMcpServers is not a list of names; it is ignored")
	}
	return file.Disabled, nil
}

// other adds servers configured for another program: the user's if dirs is nil, otherwise the
// per-directory ones, where later directories take precedence. The file is never modified.
func (l *loader) other(dirs []string) {
	path := l.otherFile()
	if path == "" {
		return
	}
	if l.theirs == nil {
		l.theirs = sync.OnceValues(func() ([]byte, error) { return fsys.ReadSmall(path, maxOther) })
	}
	data, err := l.theirs()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	servers := map[string]json.RawMessage{}
	if err == nil {
		err = jsonscan.Object(data, func(name, value []byte) error {
			switch {
			case dirs == nil && string(name) == "mcpServers":
				servers[""] = value
			case dirs != nil && string(name) == "projects":
				return projectServers(value, servers)
			}
			return nil
		})
	}
	if err != nil {
		if dirs == nil { // once
			l.problem(path, plain(err)+"; the file is ignored")
		}
		return
	}
	if dirs == nil {
		l.object(roster.User, path, servers[""])
		return
	}
	for i, dir := range dirs {
		if raw := servers[filepath.ToSlash(dir)]; raw != nil && !slices.Contains(dirs[:i], dir) {
			l.object(roster.Local, path, raw)
		}
	}
}

// otherFile returns the path of the other program's configuration.
func (l *loader) otherFile() string {
	if dir := l.p.Source().Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, otherName)
	}
	if !filepath.IsAbs(l.p.User) {
		return ""
	}
	return filepath.Join(l.p.User, otherName)
}

// projectServers extracts each project's servers, by directory.
func projectServers(projects []byte, servers map[string]json.RawMessage) error {
	if jsonscan.IsNull(projects) {
		return nil
	}
	return jsonscan.Object(projects, func(dir, project []byte) error {
		key := string(dir)
		return jsonscan.Object(project, func(name, value []byte) error {
			if string(name) == "mcpServers" {
				servers[key] = value
			}
			return nil
		})
	})
}

// settings adds the servers from settings files. Parts from an untrusted workspace have already
// been removed.
func (l *loader) settings() {
	for _, part := range l.p.Settings().Parts("mcpServers") {
		if from, ok := scopes(part.Scope); ok {
			l.object(from, part.File, part.JSON)
		}
	}
}

func scopes(s scope.Scope) (roster.Scope, bool) {
	switch s {
	case scope.User:
		return roster.User, true
	case scope.Project:
		return roster.Project, true
	case scope.Local:
		return roster.Local, true
	case scope.Flag, scope.CLI:
		return roster.Flag, true
	case scope.Managed:
		return roster.Managed, true
	}
	return "", false
}

// flags adds the servers from --mcp-config.
func (l *loader) flags(configs []string) error {
	for _, config := range configs {
		path, data := "", []byte(config)
		if !strings.HasPrefix(strings.TrimSpace(config), "{") {
			path = config
			if !filepath.IsAbs(path) {
				path = filepath.Join(l.p.Source().Dir, path)
			}
			var err error
			if data, err = fsys.ReadSmall(path, roster.MaxFile); err != nil {
				return setup.Errorf("--mcp-config: %s: %s", roster.Shown(config), plain(err))
			}
		}
		entries, err := roster.ParseFile(l.source(roster.Flag, ""), data)
		if err != nil {
			if path == "" {
				return setup.Errorf("--mcp-config: the JSON %v", err)
			}
			return setup.Errorf("--mcp-config: %s %v", roster.Shown(config), err)
		}
		for _, e := range entries {
			e.File = path
		}
		l.entries = append(l.entries, entries...)
	}
	return nil
}

// managed adds the servers from the administrator's file. If the file exists, no other servers
// are used.
func (l *loader) managed() (exclusive bool, err error) {
	if l.p.Source().Managed == "" {
		return false, nil
	}
	path := filepath.Join(l.p.Source().Managed, managedName)
	data, err := fsys.ReadSmall(path, roster.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var entries []*roster.Entry
	if err == nil {
		entries, err = roster.ParseFile(l.source(roster.Managed, path), data)
	}
	if err != nil {
		return false, setup.Errorf("%s: %s; adze does not start without the administrator's list of servers", path, plain(err))
	}
	l.entries = append(l.entries, entries...)
	return true, nil
}

// policy returns the administrator's server policy.
func (l *loader) policy() (*roster.Policy, error) {
	policy := &roster.Policy{}
	for _, part := range l.p.Settings().Parts("allowedMcpServers") {
		if err := policy.Allow(part.JSON); err != nil {
			l.problem(part.File, fmt.Sprintf("allowedMcpServers: %v; the invalid entry allows nothing", err))
		}
	}
	for _, part := range l.p.Settings().Parts("deniedMcpServers") {
		if err := policy.Deny(part.JSON); err != nil {
			return nil, setup.Errorf("%s: deniedMcpServers: %v; adze does not start because it is unknown which servers are denied", part.File, err)
		}
	}
	return policy, nil
}

// decide sets whether each entry is approved or disabled.
func (l *loader) decide() {
	set := l.p.Values().MCP
	named := func(names []string, e *roster.Entry) bool {
		return slices.Contains(names, e.Given) || slices.Contains(names, e.Name)
	}
	for _, e := range l.entries {
		if named(l.disabled, e) {
			e.Disabled = true
		}
		if e.Scope != roster.Project {
			continue
		}
		t := l.p.Trust
		switch {
		case named(set.Rejected, e), t.Kept(trust.NoServer(e.Given, e.Raw)):
			e.Disabled, e.Unapproved = true, true
		case t.Approved(trust.Server(e.Given, e.Raw)), t.Trusted() && (set.AllApproved || named(set.Approved, e)):
		default:
			e.Unapproved = true
		}
	}
}
