package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"adze/internal/feature/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/text/amount"
	"adze/internal/setup"
)

// An entry is a server in a configuration file.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	OAuth   *oauth            `json:"oauth,omitempty"`
}

type oauth struct {
	ClientID     string `json:"clientId,omitempty"`
	CallbackPort int    `json:"callbackPort,omitempty"`
}

// add adds the server described by the command line.
func add(ctx context.Context, t *Task) error {
	if len(t.Args) == 0 {
		return setup.Errorf("usage: adze mcp add NAME URL, or adze mcp add NAME -- COMMAND [ARG...]")
	}
	e, err := t.entry(slices.Concat(t.Args[1:], t.Command))
	if err != nil {
		return err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing the entry: %w", err)
	}
	return t.put(ctx, t.Args[0], raw)
}

// entry returns the entry for a command or a URL, with the values from flags.
func (t *Task) entry(words []string) (*entry, error) {
	if len(words) == 0 {
		return nil, setup.Errorf("name the server's URL, or its command after --")
	}
	remote := strings.Contains(words[0], "://")
	e := &entry{Type: t.Transport}
	switch {
	case remote && (t.Transport == "" || t.Transport == "stdio"):
		e.Type = "http"
		if strings.HasPrefix(words[0], "ws") {
			e.Type = "ws"
		}
	case !remote && t.Transport != "" && t.Transport != "stdio":
		return nil, setup.Errorf("--transport %s needs a URL; %s is not a URL", t.Transport, roster.Shown(words[0]))
	}
	if !remote {
		e.Type, e.Command, e.Args = "", words[0], words[1:]
		return e, t.describe(e, remote)
	}
	if len(words) > 1 {
		return nil, setup.Errorf("a URL is followed by nothing; remove %s", roster.Shown(strings.Join(words[1:], " ")))
	}
	e.URL = words[0]
	return e, t.describe(e, remote)
}

// describe adds variables, headers and sign-in options.
func (t *Task) describe(e *entry, remote bool) error {
	switch {
	case remote && len(t.Env) > 0:
		return setup.Errorf("--env is for servers with a command; use --header")
	case !remote && (len(t.Headers) > 0 || t.ClientID != "" || t.CallbackPort != 0):
		return setup.Errorf("--header, --client-id and --callback-port are for servers with a URL; use --env")
	}
	for _, pair := range t.Env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return setup.Errorf("--env %s is not NAME=VALUE", roster.Shown(name))
		}
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env[name] = value
	}
	for _, line := range t.Headers {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return setup.Errorf("--header is not of the form 'Name: value'")
		}
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[name] = strings.TrimSpace(value)
	}
	if t.ClientID != "" || t.CallbackPort != 0 {
		e.OAuth = &oauth{t.ClientID, t.CallbackPort}
	}
	return nil
}

// addJSON adds a server from its entry.
func addJSON(ctx context.Context, t *Task) error {
	raw := json.RawMessage(strings.TrimSpace(t.Args[1]))
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil || !bytes.HasPrefix(compact.Bytes(), []byte("{")) {
		return setup.Errorf(`the entry is not a JSON object, such as {"command":"npx","args":["-y","some-server"]}`)
	}
	return t.put(ctx, t.Args[0], compact.Bytes())
}

// put adds an entry to the selected scope's file.
func (t *Task) put(ctx context.Context, name string, raw json.RawMessage) error {
	to, err := t.scope(roster.Local)
	if err != nil {
		return err
	}
	e := describeEntry(to, name, raw)
	if e.Problem != nil {
		return fmt.Errorf("%s cannot be added: %s", roster.Shown(name), strings.Join(append([]string{e.Problem.Error()}, e.Warnings...), "; "))
	}
	file, err := mcp.Put(ctx, t.Project, to, name, raw)
	switch {
	case errors.Is(err, mcp.ErrExists):
		return fmt.Errorf("%s is in %s already; adze mcp remove %s --scope %s removes it", e.Name, file, e.Name, to)
	case err != nil:
		return fmt.Errorf("adding %s to %s: %w", e.Name, file, err)
	}
	if e.Name != name {
		t.Say(fmt.Sprintf("in tools and rules the server is called %s", e.Name))
	}
	for _, w := range e.Warnings {
		t.Say(w)
	}
	t.warn(to, e)
	if err := t.Show(fmt.Sprintf("added %s (%s) to %s\n", e.Name, e.Summary(), file)); err != nil {
		return err
	}
	if r, err := mcp.Load(t.Project, t.Flags); err == nil {
		if now := r.Find(name); now != nil && now.Scope != to && now.Usable() {
			t.Say(fmt.Sprintf("another server %s is used instead, of the scope %s (%s)", now.Name, now.Scope, now.File))
		}
	}
	return nil
}

// describeEntry parses an entry without resolving variables, which may be set later.
func describeEntry(to roster.Scope, name string, raw json.RawMessage) *roster.Entry {
	return roster.Source{Scope: to, Getenv: func(name string) string { return "${" + name + "}" }}.Entry(name, raw)
}

// warn warns about risky project entries.
func (t *Task) warn(to roster.Scope, e *roster.Entry) {
	if to != roster.Project {
		return
	}
	secret := false
	for name, value := range e.Env {
		secret = secret || osproc.SecretName(name) && !strings.Contains(value, "${")
	}
	for _, value := range e.Headers {
		secret = secret || !strings.Contains(value, "${")
	}
	if secret {
		t.Say("the file is shared with everyone who has the project: write ${NAME} in place of a secret, and set the variable yourself")
	}
	if !t.Project.Trust.Trusted() {
		t.Say("the server is not started before you trust the workspace; see adze trust")
	}
}

func remove(ctx context.Context, t *Task) error {
	from, err := t.scope("")
	if err != nil {
		return err
	}
	r, err := t.load()
	if err != nil {
		return err
	}
	name := t.Args[0]
	var found []*roster.Entry
	for _, s := range mcp.Writable() {
		if from != "" && s != from {
			continue
		}
		if e := t.written(s, name); e != nil {
			found = append(found, e)
		}
	}
	switch {
	case len(found) > 1:
		var scopes []string
		for _, e := range found {
			scopes = append(scopes, string(e.Scope))
		}
		return fmt.Errorf("%s is in several scopes: %s; choose one with --scope", found[0].Name, strings.Join(scopes, ", "))
	case len(found) == 0:
		e, err := find(r, name)
		if err != nil {
			return err
		}
		if from != "" && e.Scope != from {
			return fmt.Errorf("%s is not in the scope %s, but in %s", e.Name, from, e.Scope)
		}
		found = append(found, e)
	}
	e := found[0]
	if err := mcp.Delete(ctx, t.Project, e); err != nil {
		return err
	}
	text := fmt.Sprintf("removed %s from %s\n", e.Name, e.File)
	if t.tokenStored(e.Name) {
		text += fmt.Sprintf("The token for %s is still stored; adze mcp logout %[1]s forgets it.\n", e.Name)
	}
	return t.Show(text)
}

// written returns the entry in a scope's file, even if it is not in use; may be nil.
func (t *Task) written(s roster.Scope, name string) *roster.Entry {
	files := t.Project.Trust.ServerFiles()
	if s != roster.Project {
		file, err := mcp.FileOf(t.Project, s)
		if err != nil {
			return nil
		}
		files = []string{file}
	}
	for _, file := range slices.Backward(files) {
		data, err := fsys.ReadSmall(file, roster.MaxFile)
		if err != nil {
			continue
		}
		entries, err := roster.ParseFile(roster.Source{Scope: s, File: file, Getenv: func(string) string { return "" }}, data)
		if err != nil {
			continue // reported when all are read
		}
		for _, e := range entries {
			if e.Given == name || e.Name == name {
				return e
			}
		}
	}
	return nil
}

// reset forgets the user's decisions about the project's servers.
func reset(ctx context.Context, t *Task) error {
	r, err := t.load()
	if err != nil {
		return err
	}
	var items []trust.Item
	n := 0
	for _, e := range slices.Concat(r.Entries, r.Unapproved) {
		if e.Scope == roster.Project {
			yes, no := trust.Server(e.Given, e.Raw), trust.NoServer(e.Given, e.Raw)
			if t.Project.Trust.Kept(yes) || t.Project.Trust.Kept(no) {
				n++
			}
			items = append(items, yes, no)
		}
	}
	if err := t.Project.Trust.Withdraw(ctx, items...); err != nil {
		return err
	}
	return t.Show(fmt.Sprintf("forgot %s about the servers of this project; adze asks again when it starts\n", amount.Of(n, "choice", "choices")))
}

// addFromDesktop adds the desktop app's servers.
func addFromDesktop(ctx context.Context, t *Task) error {
	file, data, err := t.desktop()
	if err != nil {
		return err
	}
	entries, err := roster.ParseFile(roster.Source{Scope: roster.Local, File: file, Getenv: func(name string) string { return "${" + name + "}" }}, data)
	if err != nil {
		return fmt.Errorf("%s %w", file, err)
	}
	if len(entries) == 0 {
		return t.Show(file + " has no servers\n")
	}
	names := slices.Concat(t.Args, t.Command)
	var b strings.Builder
	fmt.Fprintf(&b, "servers in %s:\n", file)
	for _, e := range entries {
		fmt.Fprintf(&b, "  %s  %s\n", e.Name, e.Summary())
	}
	if err := t.Show(b.String()); err != nil {
		return err
	}
	each := false
	switch {
	case len(names) > 0 || t.Yes:
	case !t.StdinTerminal:
		return setup.Errorf("name the servers to add, or add all of them with --yes")
	default:
		answer, err := t.Ask("Add all of them? [y]es, [n]o or [c]hoose: ")
		if err != nil {
			return err
		}
		each = strings.HasPrefix(strings.ToLower(answer), "c")
		if !each && !strings.HasPrefix(strings.ToLower(answer), "y") {
			return nil
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(entries, func(e *roster.Entry) bool { return e.Given == name || e.Name == name }) {
			return fmt.Errorf("no server %s in the file", roster.Shown(name))
		}
	}
	failed := false
	for _, e := range entries {
		if len(names) > 0 && !slices.Contains(names, e.Given) && !slices.Contains(names, e.Name) {
			continue
		}
		if each {
			yes, err := t.Confirm("Add " + e.Name + "?")
			if err != nil {
				return err
			}
			if !yes {
				continue
			}
		}
		if err := t.put(ctx, e.Given, e.Raw); err != nil {
			t.Say(err.Error())
			failed = true
		}
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// desktop reads the desktop app's server file.
func (t *Task) desktop() (file string, data []byte, err error) {
	places := desktopFiles(runtime.GOOS, t.Project.User, t.Project.Source().Getenv)
	for _, file := range places {
		data, err := fsys.ReadSmall(file, roster.MaxFile)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return file, nil, fmt.Errorf("%s: %w", file, err)
		default:
			return file, data, nil
		}
	}
	return "", nil, fmt.Errorf("the desktop app has no configuration here (looked at %s)", strings.Join(places, ", "))
}

// desktopFiles returns the desktop app's possible configuration files on a system.
func desktopFiles(system, home string, getenv func(string) string) []string {
	const folder, name = "Claude", "claude_desktop_config.json"
	switch system {
	case "darwin":
		return []string{filepath.Join(home, "Library", "Application Support", folder, name)}
	case "windows":
		return []string{filepath.Join(getenv("APPDATA"), folder, name)}
	}
	files := []string{filepath.Join(home, ".config", folder, name)}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		files = []string{filepath.Join(dir, folder, name)}
	}
	if getenv("WSL_DISTRO_NAME") != "" {
		found, _ := filepath.Glob(filepath.Join("/mnt/c/Users/*/AppData/Roaming", folder, name)) // ok: the pattern is valid
		files = append(files, found...)
	}
	return files
}
