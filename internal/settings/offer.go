package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/term"
	"adze/internal/platform/text/redact"
	"adze/internal/settings/config"
)

// An Offer describes the effects of trusting a workspace: everything its settings files set, as
// it will apply, and the files that the model will read.
type Offer struct {
	Broken  error     // why the offer is incomplete; may be nil
	Outside []Include // files outside the workspace that the model would read

	root    string
	own     []trust.Item  // local settings files, which become the user's own
	granted []trust.Item  // settings approved by content
	limits  []trust.Limit // settings that forbid something
	news    []string      // changes since the workspace was trusted
	gone    []string      // restrictions that would end
	lines   []offered     // display order
	texts   []string      // files that the model would read
	keys    keyIndex
}

// A keyIndex indexes the keys for the offer.
type keyIndex struct {
	byVariable map[string]string // variable to key ID
	guarded    map[string]bool   // names a project cannot set freely
}

func indexKeys() keyIndex {
	x := keyIndex{map[string]string{}, map[string]bool{}}
	for _, k := range Keys() {
		for _, name := range k.Env {
			x.byVariable[name] = k.ID()
		}
		x.guarded[k.Name] = k.Personal || len(k.Tighten) > 0
	}
	return x
}

// An Include is a file outside the project that a project file includes.
type Include struct{ Path, By string }

// An offered line is one effect of a workspace.
type offered struct {
	kind, name, text string
	item             trust.Item // item approved by content; may be zero
}

// items returns the items approved together with the workspace.
func (o Offer) items() []trust.Item {
	items := slices.Concat(o.own, o.granted)
	for _, l := range o.lines {
		if l.item != (trust.Item{}) {
			items = append(items, l.item)
		}
	}
	for _, in := range o.Outside {
		items = append(items, trust.Include(in.Path))
	}
	return items
}

// Offer returns the effects of trusting the workspace permanently, without trusting it. Local
// settings are shown as the user's own, which they become with exactly the content read for the
// offer.
func (t *Trust) Offer() Offer {
	var own []trust.Item
	o := t.offer(func(path string, data []byte) bool {
		if t.store == nil || !plainPath(path) {
			return false
		}
		if !t.owns(path, data) {
			own = append(own, trust.File(path, data))
		}
		return true
	})
	o.own = own
	return o
}

// ForRun returns the effects of trusting the workspace for one run only. Local settings that
// the user has not confirmed then rank no higher than the project's.
func (t *Trust) ForRun() Offer {
	return t.offer(t.owns)
}

func (t *Trust) offer(own func(path string, data []byte) bool) Offer {
	layout := config.Layout{
		Dirs: t.dirs, Other: t.other, Roots: t.roots(), Dir: t.Dir, Sources: []scope.Scope{scope.Project, scope.Local},
		Grant: config.Workspace, LocalGrant: config.Workspace, Own: own,
	}
	s, _ := config.Load(config.Sources{
		Files: layout.Files(), Home: t.Home, Root: t.Root, Approved: func(config.Claim) bool { return true },
	}, Keys()) // ok: reported when they are used
	o := Offer{root: t.Root, keys: indexKeys()}
	o.addClaims(t, s.Claims())
	for _, e := range s.Invalid() {
		o.Broken = cmp.Or[error](o.Broken, e)
	}
	if files := slices.DeleteFunc(layout.Files(), func(f config.File) bool { return f.Scope == scope.Local && t.ownFile(f.Path) }); !t.Lasting() && len(files) < len(layout.Files()) {
		// The user's own settings need no trust, so they are not shown.
		s, _ = config.Load(config.Sources{Files: files, Home: t.Home, Root: t.Root, Approved: func(config.Claim) bool { return true }}, Keys()) // ok: reported when they are used
	}
	o.addVariables(s)
	o.addPrograms(s)
	for _, file := range t.ServerFiles() {
		o.addItems(serverFile(file)...)
	}
	for _, d := range agentsIn(t) {
		o.addItems(AgentItems(d)...)
	}
	o.addSettings(s)
	for _, r := range s.Rules() {
		o.lines = append(o.lines, offered{kind: r.Behavior, text: r.Text})
	}
	for _, d := range s.Directories() {
		o.lines = append(o.lines, offered{kind: "directory", text: d.Path})
	}
	o.texts = t.texts()
	return o
}

// addClaims adds the items approved by content, and the restrictions.
func (o *Offer) addClaims(t *Trust, claims []config.Claim) {
	for _, c := range claims {
		if c.Effect != config.Tightens && !c.Own {
			o.granted = append(o.granted, t.item(c))
			if t.Lasting() && !t.Approved(t.item(c)) {
				o.news = append(o.news, c.String())
			}
		}
		if c.Effect != config.Widens {
			o.limits = append(o.limits, t.limit(c))
		}
	}
	for _, c := range t.limits() {
		if !slices.ContainsFunc(claims, c.Same) {
			o.gone = append(o.gone, c.String())
		}
	}
}

func (o *Offer) addItems(items ...trust.Item) {
	for _, it := range items {
		o.lines = append(o.lines, offered{it.Kind, it.Name, it.Text, it})
	}
}

// addVariables adds the environment variables, masking secrets.
func (o *Offer) addVariables(s *config.Settings) {
	for _, v := range s.Env() {
		id := o.keys.byVariable[v.Name]
		text := v.Name + "=" + masked(v.Name, v.Value)
		if id == "ADZE_CUSTOM_HEADERS" {
			text = v.Name + "=" + redact.String(v.Value)
		}
		if slices.Contains(Addresses(), id) {
			text += "  (adze refuses to send anything there: it must be in your own settings or the environment)"
		}
		o.lines = append(o.lines, offered{kind: "variable", name: v.Name, text: text})
	}
}

// masked returns a variable's value for display. Secrets are masked, but anything that could be
// a command or a path is shown regardless of the variable's name.
func masked(name, value string) string {
	if osproc.SecretName(name) && value != "" && !strings.ContainsAny(value, " \t\n;|&$`<>(){}") && !strings.ContainsRune("/~.", rune(value[0])) {
		return "***"
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	return value
}

// programs returns the settings that are commands, other than hooks and servers. Some may not
// be in the table of keys yet.
func programs() []string {
	return []string{"apiKeyHelper", "statusLine", "subagentStatusLine", "fileSuggestion", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper"}
}

// addPrograms adds the programs run: helpers, hooks and servers.
func (o *Offer) addPrograms(s *config.Settings) {
	for _, key := range programs() {
		for _, part := range s.Parts(key) {
			o.addItems(trust.Helper(key, part.JSON))
		}
	}
	for _, part := range s.Parts("hooks") {
		o.addItems(hookItems(part.JSON)...)
	}
	for _, part := range s.Parts("mcpServers") {
		o.addItems(serverItems(part.JSON)...)
	}
}

// addSettings adds all other effective settings. It skips only those shown elsewhere, so that a
// new key is always shown.
func (o *Offer) addSettings(s *config.Settings) {
	for _, k := range Keys() {
		if k.Name == "" || k.Name == "hooks" || k.Name == "mcpServers" || k.Kind == config.Rules || k.Kind == config.Dirs || k.Kind == config.Vars || slices.Contains(programs(), k.Name) {
			continue
		}
		for _, part := range s.Parts(k.Name) {
			o.lines = append(o.lines, offered{kind: "setting", name: k.Name, text: k.Name + " = " + string(part.JSON)})
		}
	}
}

// texts returns the workspace's files that the model would read automatically, or that define
// commands, skills, agents, output styles and workflows.
func (t *Trust) texts() []string {
	var names []string
	for _, root := range t.roots() {
		for _, pattern := range []string{
			"ADZE.md", "AGENTS.md", "CLAUDE.md", "ADZE.local.md", "CLAUDE.local.md", "GEMINI.md", ".claude/CLAUDE.md", ".adze/*.md", ".claude/rules/*", ".adze/rules/*",
			".adze/skills/*", ".claude/skills/*", ".adze/commands/*", ".claude/commands/*", ".adze/agents/*", ".claude/agents/*",
			".adze/output-styles/*", ".claude/output-styles/*", ".adze/workflows/*",
		} {
			found, err := filepath.Glob(filepath.Join(escapeGlob(root), pattern))
			if err != nil {
				continue
			}
			for _, path := range found {
				if rel, err := filepath.Rel(t.Root, path); err == nil && !slices.Contains(names, rel) {
					names = append(names, rel)
				}
			}
		}
	}
	return names
}

// escapeGlob returns a pattern that matches only path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// empty reports whether nothing needs trust.
func (o Offer) empty() bool {
	return len(o.lines)+len(o.own)+len(o.texts)+len(o.Outside)+len(o.gone) == 0
}

// String describes the offer to the user. Grants are shown in full; restrictions are summarized
// if there are many. The last line repeats in short form anything that may have scrolled off
// the screen.
func (o Offer) String() string {
	if o.empty() {
		return fmt.Sprintf("%s contains nothing that needs trust.\n", shown(o.root))
	}
	var b strings.Builder
	n := 0
	seen := map[string]bool{} // files may contain duplicates
	line := func(kind, text string) {
		row := fmt.Sprintf("  %-12s %s\n", kind, shown(text))
		if seen[row] {
			return
		}
		seen[row] = true
		b.WriteString(row)
		n++
	}
	fmt.Fprintf(&b, "%s contains:\n", shown(o.root))
	for _, it := range o.own {
		line("yours", o.relative(it.Name)+": settings that would count as your own, changed by something other than adze")
	}
	tightening := o.count("deny") + o.count("ask")
	for _, l := range o.lines {
		switch {
		case (l.kind == "deny" || l.kind == "ask") && tightening > maxTightening:
			continue
		case l.item != (trust.Item{}):
			line(l.kind, l.name+": "+l.text)
		default:
			line(l.kind, l.text)
		}
	}
	if tightening > maxTightening {
		line("rules", fmt.Sprintf("%d that deny or ask", tightening))
	}
	for _, name := range o.texts {
		line("instructions", name)
	}
	for _, in := range o.Outside {
		line("include", in.Path+", outside the workspace, included by "+in.By)
	}
	if n > maxScreen {
		fmt.Fprintf(&b, "In all: %s.\n", o.Short())
	}
	if len(o.news) > 0 {
		fmt.Fprintf(&b, "Not approved yet: %s.\n", shown(strings.Join(o.news, ", ")))
	}
	if len(o.gone) > 0 {
		fmt.Fprintf(&b, "No longer in its files, and dropped if you agree: %s.\n", shown(strings.Join(o.gone, ", ")))
	}
	return b.String()
}

const (
	maxTightening = 10 // rules shown if none of them allows anything
	maxScreen     = 15 // lines sure to fit on the screen
	maxNames      = 10 // names in the short form
)

// Short describes the offer in one line, or returns "" if nothing needs trust.
func (o Offer) Short() string {
	var parts []string
	for _, it := range o.own {
		parts = append(parts, "your own settings in "+o.relative(it.Name))
	}
	for _, kind := range []string{"helper", "hook", "server", "variable", "setting"} {
		var names []string
		seen := map[string]bool{}
		for _, l := range o.lines {
			if l.kind == kind && !seen[l.name] {
				names, seen[l.name] = append(names, l.name), true
			}
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s (%s)", len(names), kind, plural(len(names)), o.listed(names)))
		}
	}
	for _, kind := range []string{"allow", "ask", "deny"} {
		if n := o.count(kind); n > 0 {
			parts = append(parts, fmt.Sprintf("%d rule%s to %s", n, plural(n), kind))
		}
	}
	if n := o.count("directory"); n == 1 {
		parts = append(parts, "1 directory")
	} else if n > 1 {
		parts = append(parts, fmt.Sprintf("%d directories", n))
	}
	if n := len(o.texts) + len(o.Outside); n > 0 {
		parts = append(parts, fmt.Sprintf("%d file%s for the model", n, plural(n)))
	}
	if n := len(o.gone); n > 0 {
		parts = append(parts, fmt.Sprintf("%d restriction%s dropped", n, plural(n)))
	}
	return shown(strings.Join(parts, "; "))
}

// listed abbreviates a list of names. Names that a project cannot set come first: they are in a
// local file.
func (o Offer) listed(names []string) string {
	rank := func(name string) int {
		if o.keys.guarded[name] || config.Redirects(name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	if n := len(names) - maxNames; n > 0 {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

func (o Offer) count(kind string) (n int) {
	for _, l := range o.lines {
		if l.kind == kind {
			n++
		}
	}
	return n
}

func (o Offer) relative(path string) string {
	if rel, err := filepath.Rel(o.root, path); err == nil {
		return rel
	}
	return path
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// shown escapes workspace text for one line: it can neither control the terminal nor look like
// further lines.
func shown(text string) string { return term.SpellLine(text) }

// hookItems returns a settings file's hooks. Hooks that cannot be decoded are skipped, and do
// not run.
func hookItems(raw json.RawMessage) (items []trust.Item) {
	var events map[string]json.RawMessage
	json.Unmarshal(raw, &events) // ok: see above
	for _, event := range slices.Sorted(maps.Keys(events)) {
		var groups []json.RawMessage
		json.Unmarshal(events[event], &groups) // ok: see above
		for _, text := range groups {
			var group struct {
				Matcher string            `json:"matcher"`
				Hooks   []json.RawMessage `json:"hooks"`
			}
			if json.Unmarshal(text, &group) != nil {
				continue
			}
			for _, handler := range group.Hooks {
				items = append(items, trust.Hook(event, group.Matcher, handler))
			}
		}
	}
	return items
}

func serverItems(raw json.RawMessage) (items []trust.Item) {
	var servers map[string]json.RawMessage
	if json.Unmarshal(raw, &servers) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		items = append(items, trust.Server(name, servers[name]))
	}
	return items
}

// serverFile returns the servers in a separate server file.
func serverFile(path string) (items []trust.Item) {
	data, err := fsys.ReadSmall(path, roster.MaxFile)
	if err != nil {
		return nil
	}
	entries, err := roster.ParseFile(roster.Source{File: path, Getenv: func(string) string { return "" }}, data)
	if err != nil {
		return nil // reported where servers are listed
	}
	for _, e := range entries {
		items = append(items, trust.Server(e.Given, e.Raw))
	}
	return items
}
