package plugins

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/plugin"
	"adze/internal/domain/skill"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/statefile"
	"adze/internal/platform/proc/osproc"
	"adze/internal/settings"
)

// A bench is a state home, a workspace and a marketplace in a repository.
type bench struct {
	*testing.T
	home, work, market string
	said               []string
	source             settings.Source
}

func newBench(t *testing.T) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), market: filepath.Join(dir, "market")}
	b.write("work/.git/HEAD", "ref: refs/heads/main\n")
	b.write("market/.claude-plugin/marketplace.json", `{"name":"team","owner":{"name":"T"},"plugins":[{"name":"fmt","source":"./fmt"},{"name":"two","source":"./two"}]}`)
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"1","description":"Formats."}`)
	b.write("market/fmt/hooks/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true one"}]}]}}`)
	b.write("market/two/.claude-plugin/plugin.json", `{"name":"two","version":"1"}`)
	b.source = settings.Source{Dir: b.work, Getenv: func(name string) string {
		return map[string]string{"HOME": b.home, "ADZE_HOME": filepath.Join(b.home, ".adze"), "PATH": os.Getenv("PATH")}[name]
	}}
	return b
}

// write writes a file next to the home, creating directories as needed.
func (b *bench) write(name, text string) {
	b.Helper()
	path := filepath.Join(filepath.Dir(b.home), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// open returns the plugins as a new process would.
func (b *bench) open(dirs ...string) *Manager {
	b.Helper()
	project, _ := settings.Open(b.source)
	p := Open(Config{Project: project, Dirs: dirs, Say: func(text string) { b.said = append(b.said, text) }})
	runner := &osproc.Runner{}
	b.Cleanup(runner.Close)
	return p.Manage(Fetch{Runner: runner, Environ: os.Environ})
}

// install installs and enables a plugin, and returns the lines shown.
func (b *bench) install(name string) []string {
	b.Helper()
	p := b.open()
	if known, err := p.Markets(); err != nil || len(known) == 0 {
		if _, err := p.AddMarket(b.Context(), b.market, b.work); err != nil {
			b.Fatal(err)
		}
	}
	offer, err := p.Fetch(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	lines := offer.Lines()
	if _, err := p.Accept(b.Context(), offer, scope.User); err != nil {
		b.Fatal(err)
	}
	return lines
}

// states returns the plugins' states by ID.
func (b *bench) states(p *Manager) map[string]State {
	b.Helper()
	all, err := p.All()
	if err != nil {
		b.Fatal(err)
	}
	states := map[string]State{}
	for _, x := range all {
		states[x.ID.String()] = x.State
	}
	return states
}

// hooks returns the commands of the plugins' hooks.
func hooks(t *testing.T, p *Manager) (commands []string) {
	t.Helper()
	for _, src := range p.Set().Hooks() {
		var events map[string][]struct{ Hooks []struct{ Command string } }
		if err := json.Unmarshal(src.JSON, &events); err != nil {
			t.Fatal(err)
		}
		for _, groups := range events {
			for _, g := range groups {
				for _, h := range g.Hooks {
					commands = append(commands, h.Command)
				}
			}
		}
	}
	return commands
}

// Proves X-071, HOOK-03.
func TestInstall(t *testing.T) {
	b := newBench(t)
	if got := b.open().Set(); len(got.Plugins)+len(got.Problems) > 0 {
		t.Fatalf("plugins without any: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(b.home, ".adze")); err == nil {
		t.Error("looking for plugins made the state home")
	}
	lines := b.install("fmt")
	if diff := cmp.Diff([]string{"hook    Stop: runs true one"}, lines); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	p := b.open()
	if diff := cmp.Diff([]string{"true one"}, hooks(t, p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]State{"fmt@team": Used}, b.states(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := p.Disable(t.Context(), "fmt", scope.User); err != nil {
		t.Fatal(err)
	}
	if got := hooks(t, p); len(got) > 0 || len(hooks(t, b.open())) > 0 {
		t.Errorf("hooks of a plugin that is disabled: %q", got)
	}
}

// TestUpdateAsksAgain checks that an update with different effects is off until approved,
// showing the difference, and that other updates apply immediately.
//
// Proves X-071.
func TestUpdateAsksAgain(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"2"}`)
	b.write("market/fmt/hooks/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true one"},{"type":"command","command":"true two"}]}]}}`)
	p := b.open()
	offer, err := p.Update(t.Context(), "fmt")
	if err != nil {
		t.Fatal(err)
	}
	if offer.Settled() || offer.Current() {
		t.Error("an update with a new hook needs no consent")
	}
	if diff := cmp.Diff([]string{"+ hook    Stop: runs true two"}, offer.Lines()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	offer.Discard()
	if diff := cmp.Diff([]string{"true one"}, hooks(t, b.open())); diff != "" {
		t.Errorf("after no (-want +got):\n%s", diff)
	}
	// If the process is killed between installing and prompting, the plugin is off.
	if offer, err = p.Update(t.Context(), "fmt"); err != nil {
		t.Fatal(err)
	}
	if _, err := offer.candidate.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	p = b.open()
	if got := hooks(t, p); len(got) > 0 || b.states(p)["fmt@team"] != Unapproved {
		t.Errorf("%q, %v", got, b.states(p))
	}
	if offer, err = p.Consider(t.Context(), "fmt"); err != nil || offer.Settled() {
		t.Fatalf("settled, or %v", err)
	}
	if _, err := p.Accept(t.Context(), offer, scope.User); err != nil {
		t.Fatal(err)
	}
	if got := hooks(t, b.open()); len(got) != 2 {
		t.Errorf("%q", got)
	}
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"3"}`)
	if offer, err = p.Update(t.Context(), "fmt"); err != nil || !offer.Settled() || offer.Current() {
		t.Fatalf("an update that runs the same: %v", err)
	}
	offer.Discard()
}

// Proves X-071.
func TestPinnedContent(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	b.write("market/fmt/hooks/hooks.json", `{"hooks":{}}`) // same version
	p := b.open()
	if _, err := p.Update(t.Context(), "fmt"); err == nil || !strings.Contains(err.Error(), "version 1 was changed after you installed it") {
		t.Errorf("%v", err)
	}
	_, x, err := p.Look("fmt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.Dir, "hooks", "hooks.json"), []byte(`{"Stop":[{"hooks":[{"type":"command","command":"true evil"}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p = b.open()
	if got := hooks(t, p); len(got) > 0 || b.states(p)["fmt@team"] != Broken {
		t.Errorf("%q, %v", got, b.states(p))
	}
}

// TestEarly checks that many plugins are loaded from an index before their files are checked.
// If a plugin's files were changed, nothing in it runs: its hooks fail, its servers and styles
// are missing, and it is reported once all files are checked.
//
// Proves X-071.
func TestEarly(t *testing.T) {
	b := newBench(t)
	const many = 16
	list := ""
	for i := range many {
		name := fmt.Sprintf("p%02d", i)
		list += fmt.Sprintf(`,{"name":%q,"source":"./%s"}`, name, name)
		b.write("market/"+name+"/.claude-plugin/plugin.json", fmt.Sprintf(`{"name":%q,"version":"1"}`, name))
		b.write("market/"+name+"/hooks/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}`)
		b.write("market/"+name+"/.mcp.json", `{"mcpServers":{"db":{"command":"true"}}}`)
		b.write("market/"+name+"/output-styles/loud.md", "Shout.")
	}
	b.write("market/.claude-plugin/marketplace.json", `{"name":"team","owner":{"name":"T"},"plugins":[`+list[1:]+`]}`)
	for i := range many {
		b.install(fmt.Sprintf("p%02d", i))
	}
	time.Sleep(1100 * time.Millisecond) // until timestamps are usable as cache keys
	p := b.open()
	p.Set()
	p.Close()

	p = b.open()
	early := p.Early()
	if !early.Unsure() || len(early.used()) != many || len(early.Errors()) > 0 || p.Early() != early {
		t.Fatalf("%d plugins are used early: %q", len(early.used()), early.Errors())
	}
	if p.Set() != early {
		t.Error("plugins that are as they were are others")
	}

	p = b.open()
	early = p.Early()
	changed := early.used()[3]
	if err := os.WriteFile(filepath.Join(changed.Dir, "hooks", "hooks.json"), []byte(`{"Stop":[{"hooks":[{"type":"command","command":"true evil"}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, src := range early.Hooks() {
		if err := src.Plugin.Check(); (err != nil) != (i == 3) {
			t.Errorf("the hooks of %s: %v", src.Name, err)
		}
	}
	if servers, styles := p.Servers(os.Getenv), early.Styles(); len(servers) != many-1 || len(styles) != many-1 {
		t.Errorf("there are %d servers and %d styles", len(servers), len(styles))
	}
	set := p.Set()
	if errs := set.Errors(); set == early || set.Unsure() || len(set.used()) != many-1 || len(errs) != 1 || !strings.Contains(errs[0], "were changed after it was installed") {
		t.Errorf("%d plugins are used: %q", len(set.used()), errs)
	}
	if p.Early() != set {
		t.Error("the cached set differs from the loaded one")
	}
}

// Proves X-071, PERM-70.
func TestProjectsEnableWhatIsApproved(t *testing.T) {
	tests := []struct {
		name          string
		user, project string
		trusted       bool
		approved      bool
		want          State
	}{
		{"untrusted", `{}`, `{"fmt@team":true}`, false, true, Disabled},
		{"trusted and approved", `{}`, `{"fmt@team":true}`, true, true, Used},
		{"not approved", `{}`, `{"fmt@team":true}`, true, false, Unapproved},
		{"the user said no", `{"fmt@team":false}`, `{"fmt@team":true}`, true, true, Disabled},
		{"the project says no", `{"fmt@team":true}`, `{"fmt@team":false}`, true, true, Disabled},
		{"no from an untrusted project", `{"fmt@team":true}`, `{"fmt@team":false}`, false, true, Used},
		{"nonsense", `{"fmt@team":"yes"}`, `{"../x@y":true}`, true, true, Disabled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.install("fmt")
			b.write("home/.adze/settings.json", `{"enabledPlugins":`+tt.user+`}`)
			b.write("work/.adze/settings.json", `{"enabledPlugins":`+tt.project+`}`)
			b.source.Trust = tt.trusted
			p := b.open()
			if !tt.approved {
				if err := p.approved.set(t.Context(), plugin.ID{Name: "fmt", Market: "team"}, nil); err != nil {
					t.Fatal(err)
				}
				p.Reload()
			}
			if got := b.states(p)["fmt@team"]; got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if used := len(hooks(t, p)) > 0; used != (tt.want == Used) {
				t.Errorf("hooks: %v", used)
			}
		})
	}
}

// Proves X-071.
func TestApprovalsFailClosed(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	b.write("home/.adze/plugins/approved.json", `{"version":1,"approved":{"fmt@team":{"hash":`)
	p := b.open()
	if got := hooks(t, p); len(got) > 0 || b.states(p)["fmt@team"] != Unapproved {
		t.Errorf("%q, %v", got, b.states(p))
	}
	if errs := strings.Join(p.Set().Errors(), "\n"); !strings.Contains(errs, "approved.json cannot be read") {
		t.Errorf("%s", errs)
	}
}

// Proves X-071.
func TestOptions(t *testing.T) {
	b := newBench(t)
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"1","userConfig":{
		"level":{"type":"number","title":"Level","description":"how much","default":3},
		"where":{"type":"string","title":"Where","description":"a place","required":true},
		"token":{"type":"string","title":"Token","description":"a key","sensitive":true,"required":true}}}`)
	b.write("market/fmt/.mcp.json", `{"mcpServers":{"db":{"command":"${CLAUDE_PLUGIN_ROOT}/db","args":["${user_config.where}","${user_config.level}"],"env":{"T":"${user_config.token}"}}}}`)
	b.install("fmt")
	p := b.open()
	if got := b.states(p)["fmt@team"]; got != Incomplete {
		t.Fatalf("without values it is %s", got)
	}
	if got := p.Servers(os.Getenv); len(got)+len(hooks(t, p)) > 0 {
		t.Errorf("it is used without values: %v", got)
	}
	_, x, err := p.Look("fmt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"where", "token"}, p.Lacks(x), cmp.Transformer("sorted", func(s []string) []string { return slices.Sorted(slices.Values(s)) })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, value := range map[string]string{"where": "a ${HOME} b", "token": "s3cret${X}"} {
		o, err := Option(x, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.SetOption(t.Context(), x, o, value); err != nil {
			t.Fatal(err)
		}
	}
	p = b.open()
	entries := p.Servers(os.Getenv)
	if len(entries) != 1 {
		t.Fatalf("servers: %v, %v", entries, b.states(p))
	}
	e := entries[0]
	if e.Name != "plugin_fmt_db" || e.Command != x.Dir+"/db" || e.Env["T"] != "s3cret${X}" || e.Env["CLAUDE_PLUGIN_ROOT"] != x.Dir {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([]string{"a ${HOME} b", "3"}, e.Args); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"settings.json", "plugins/approved.json", "plugins/plugins.json"} {
		data, err := os.ReadFile(filepath.Join(b.home, ".adze", name))
		if err != nil || strings.Contains(string(data), "s3cret") {
			t.Errorf("%s: %v, %s", name, err, data)
		}
	}
	if shown := e.Written(); strings.Contains(strings.Join(shown.Args, " ")+shown.Env["T"], "s3cret") {
		t.Errorf("shown: %+v", shown)
	}
	vars := p.Set().Vars(skill.Origin{Kind: skill.Plugin, By: "fmt@team"})
	if diff := cmp.Diff(map[string]string{"level": "3", "where": "a ${HOME} b"}, vars.Options); diff != "" {
		t.Errorf("texts can refer to (-want +got):\n%s", diff)
	}
	values, err := p.Set().Hooks()[0].Plugin.Options(t.Context())
	if diff := cmp.Diff(map[string]string{"level": "3", "where": "a ${HOME} b", "token": "s3cret${X}"}, values); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestProjectsSetNoOptions checks that a project cannot set options, which would become part of
// commands the user approved.
//
// Proves X-071.
func TestProjectsSetNoOptions(t *testing.T) {
	b := newBench(t)
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"1","userConfig":{"where":{"type":"string","title":"W","description":"d","required":true}}}`)
	b.install("fmt")
	b.write("work/.adze/settings.json", `{"pluginConfigs":{"fmt@team":{"options":{"where":"/evil"}}}}`)
	b.source.Trust = true
	if got := b.states(b.open())["fmt@team"]; got != Incomplete {
		t.Errorf("with an option of the project it is %s", got)
	}
}

// TestHostileNames checks that names from files and the user are not treated as paths and
// trigger no fetch.
//
// Proves X-071.
func TestHostileNames(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	p := b.open()
	for _, name := range []string{"../fmt", "fmt@../team", "fmt@team@team", "", "-x", "fmt@", "@team", "a\nb@team", "fmt@team/..", "con"} {
		if _, err := p.Fetch(t.Context(), name); err == nil {
			t.Errorf("%q was fetched", name)
		}
		if name == "fmt" {
			continue
		}
		if _, err := p.Uninstall(t.Context(), name, true); err == nil {
			t.Errorf("%q was removed", name)
		}
		if _, err := p.Disable(t.Context(), name, scope.User); err == nil {
			t.Errorf("%q was disabled", name)
		}
	}
	if diff := cmp.Diff(map[string]State{"fmt@team": Used}, b.states(b.open())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConcurrentChanges checks that two processes changing settings and approvals concurrently
// lose nothing.
//
// Proves X-071.
func TestConcurrentChanges(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	b.install("two")
	var wg sync.WaitGroup
	for i := range 4 {
		p := b.open()
		wg.Go(func() {
			for range 5 {
				name := []string{"fmt", "two"}[i%2]
				offer, err := p.Consider(t.Context(), name)
				if err == nil {
					_, err = p.Accept(t.Context(), offer, scope.User)
				}
				if err != nil {
					t.Error(err)
				}
				p.Set().Hooks()
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[string]State{"fmt@team": Used, "two@team": Used}, b.states(b.open())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves X-071.
func TestUninstallLeavesNoTrace(t *testing.T) {
	b := newBench(t)
	b.write("home/.adze/settings.json", "{\n  \"effort\": \"high\"\n}\n")
	before, err := os.ReadFile(filepath.Join(b.home, ".adze/settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"1","userConfig":{
		"token":{"type":"string","title":"T","description":"d","sensitive":true},"where":{"type":"string","title":"W","description":"d"}}}`)
	b.install("fmt")
	p := b.open()
	_, x, err := p.Look("fmt")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range x.Options {
		if err := p.SetOption(t.Context(), x, o, "value-of-it"); err != nil {
			t.Fatal(err)
		}
	}
	p.Set().Hooks() // creates the data directory
	b.write("home/.adze/plugins/data/team/fmt/kept", "x")
	if _, err := p.Uninstall(t.Context(), "fmt", false); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(b.home, ".adze/settings.json"))
	if diff := cmp.Diff(string(before), string(after)); diff != "" || err != nil {
		t.Errorf("settings: %v (-before +after):\n%s", err, diff)
	}
	if _, err := os.Stat(filepath.Join(b.home, ".adze/plugins/data/team/fmt/kept")); err != nil {
		t.Error("the plugin's data is gone")
	}
	out, err := exec.CommandContext(t.Context(), "grep", "-rlE", "fmt@team|value-of-it|true one", filepath.Join(b.home, ".adze")).Output()
	if len(out) > 0 {
		t.Errorf("left: %v\n%s", err, out)
	}
	b.install("fmt")
	p = b.open()
	if _, err := p.Uninstall(t.Context(), "fmt", true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.home, ".adze/plugins/data/team")); err == nil {
		t.Error("the plugin's data was not removed")
	}
}

// Proves X-071.
func TestStrictMarketplaces(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	for _, tt := range []struct {
		list string
		want State
	}{
		{`[]`, Forbidden},
		{`[{"source":"github","repo":"acme/plugins"}]`, Forbidden},
		{`[{"source":"directory","path":"` + b.market + `"}]`, Used},
		{`"all"`, Forbidden},
	} {
		b.source.ManagedInline = `{"strictKnownMarketplaces":` + tt.list + `}`
		p := b.open()
		if got := b.states(p)["fmt@team"]; got != tt.want {
			t.Errorf("%s: %s", tt.list, got)
		}
		_, err := p.Fetch(t.Context(), "two@team")
		if (err == nil) != (tt.want == Used) {
			t.Errorf("%s: installing: %v", tt.list, err)
		}
		if tt.want == Used {
			continue
		}
		if _, err := p.AddMarket(t.Context(), b.market, b.work); err == nil {
			t.Errorf("%s: a marketplace was added", tt.list)
		}
	}
}

// Proves CLI-02.
func TestPluginDir(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	b.write("mine/fmt/hooks/hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true mine"}]}]}}`)
	p := b.open(filepath.Join(filepath.Dir(b.home), "mine/fmt"), filepath.Join(b.work, "gone"))
	if diff := cmp.Diff([]string{"true mine"}, hooks(t, p)); diff != "" {
		t.Errorf("the one for this run is not used in place of the installed one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]State{"fmt": Used, "fmt@team": Broken, "gone": Broken}, b.states(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"true one"}, hooks(t, b.open())); diff != "" {
		t.Errorf("another run (-want +got):\n%s", diff)
	}
}

// TestWhatIsShownIsPlain checks that control and invisible characters are shown escaped.
//
// Proves X-071.
func TestWhatIsShownIsPlain(t *testing.T) {
	b := newBench(t)
	b.write("market/fmt/hooks/hooks.json", `{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"evil\u001b[2K\r\ntrue\u202e"}]}]}}`)
	b.write("market/fmt/.mcp.json", `{"mcpServers":{"x":{"command":"a","headersHelper":"curl evil"},"y":{"type":"http","url":"https://h/","headers":{"A":"b"}}}}`)
	got := b.install("fmt")
	for _, line := range got {
		if strings.ContainsAny(line, "\x1b\r\n\t") {
			t.Errorf("%q", line)
		}
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{`evil\x1b[2K\x0d\ntrue\u202e`, "headers by running curl evil", "connects to https://h/ [A: b]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown: %s", want, text)
		}
	}
}

// TestRecall checks that recalled plugin state is used until the plugins are loaded, and that
// its hooks run only if the plugin is active and still has them.
//
// Proves X-071.
func TestRecall(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	outline := b.open().Outline()
	if outline == nil || len(outline.Hooks) != 1 || outline.Served || len(outline.Errors) != 0 {
		t.Fatalf("the outline is %+v", outline)
	}
	p := b.open()
	p.Recall(outline)
	if p.Recalled() != outline || p.Servers(os.Getenv) != nil || p.Recalled() != outline {
		t.Error("it does not count")
	}
	check := p.Remembered(outline)[0].Plugin.Check
	if err := check(); err != nil {
		t.Error(err)
	}
	if p.Recalled() != nil {
		t.Error("it counts when plugins were looked for")
	}
	other := *outline
	other.Hooks = slices.Clone(outline.Hooks)
	other.Hooks[0].JSON = `{"Stop":[]}`
	changed := p.Remembered(&other)[0].Plugin
	if _, err := changed.Options(t.Context()); err == nil || changed.Check() == nil {
		t.Error("hooks run that the plugin does not have")
	}
	if key := b.open().Key(); slices.Equal(key, b.open("dir").Key()) {
		t.Error("a folder for this run has the same key")
	}
	if b.open("dir").Outline() != nil {
		t.Error("there is an outline with a folder for this run")
	}
	b.write("home/.adze/settings.json", "{}")
	if gone := b.open(); gone.Remembered(outline)[0].Plugin.Check() == nil {
		t.Error("a hook runs of a plugin that is not in use")
	}
}

// TestAgentsAndStylesByName checks that contents are listed by the names used to invoke them,
// not by directory.
func TestAgentsAndStylesByName(t *testing.T) {
	b := newBench(t)
	b.write("market/two/agents/first.md", "---\nname: reviewer\ndescription: Reviews code\n---\nReview.\n")
	b.write("market/two/agents/broken.md", "---\ndescription: nobody\n---\nx\n")
	b.write("market/two/output-styles/one.md", "---\nname: Terse\ndescription: Few words\n---\nBe terse.\n")
	b.write("market/two/output-styles/two.md", "Answer in rhymes\x1b[2J.\n")
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"1","agents":["./a/one.md"],"outputStyles":"./s/x.md"}`)
	b.write("market/fmt/a/one.md", "---\nname: one\ndescription: First\n---\nOne.\n")
	b.write("market/fmt/s/x.md", "---\ndescription: Short\n---\nX.\n")
	for i := range maxListed + 2 {
		b.write(fmt.Sprintf("market/two/agents/z%d.md", i), fmt.Sprintf("---\nname: z%d\ndescription: Z\n---\nz\n", i))
	}
	lines := b.install("two")
	text := strings.Join(lines, "\n")
	for _, want := range []string{"agent   two:reviewer: Reviews code", "style   two:Terse: Few words", "style   two:two: Answer in rhymes", "        and 3 more agents"} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no line begins with %q:\n%s", want, text)
		}
	}
	if !strings.Contains(text, "broken.md: not an agent") || strings.Contains(text, "\x1b") || strings.Contains(text, "agents  agents") {
		t.Errorf("shown:\n%s", text)
	}
	if lines := b.install("fmt"); !slices.Contains(lines, "agent   fmt:one: First") || !slices.Contains(lines, "style   fmt:x: Short") {
		t.Errorf("shown of single files: %q", lines)
	}
}

// TestUninstallInterrupted checks that a plugin whose removal is interrupted is off and can be
// removed, leaving nothing unreachable behind.
func TestUninstallInterrupted(t *testing.T) {
	b := newBench(t)
	b.write("market/fmt/.claude-plugin/plugin.json", `{"name":"fmt","version":"1","userConfig":{"token":{"type":"string","title":"T","description":"d","sensitive":true}}}`)
	b.install("fmt")
	p := b.open()
	_, x, err := p.Look("fmt")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetOption(t.Context(), x, x.Options[0], "value-of-it"); err != nil {
		t.Fatal(err)
	}
	file := statefile.File{Path: p.store.File(), Max: 1 << 20, Locks: replace.New(filepath.Join(b.home, ".adze/locks")), Doing: "testing"}
	err = file.Hold(t.Context(), func(*replace.File) error {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // interrupts once the plugin is off
			for b.states(b.open())["fmt@team"] != Disabled {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
		if _, err := p.Uninstall(ctx, "fmt", false); err == nil {
			t.Error("uninstalled a plugin of a store that another process holds")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p = b.open()
	if diff := cmp.Diff(map[string]State{"fmt@team": Disabled}, b.states(p)); diff != "" {
		t.Errorf("interrupted (-want +got):\n%s", diff)
	}
	if _, err := p.Uninstall(t.Context(), "fmt", false); err != nil {
		t.Error(err)
	}
	out, _ := exec.CommandContext(t.Context(), "grep", "-rlE", "fmt@team|value-of-it", filepath.Join(b.home, ".adze")).Output()
	if states := b.states(b.open()); len(out) > 0 || len(states) > 0 {
		t.Errorf("left: %s %v", out, states)
	}
}

// TestUninstallRemovesEmptyData checks that an empty data directory is removed.
func TestUninstallRemovesEmptyData(t *testing.T) {
	b := newBench(t)
	b.install("fmt")
	p := b.open()
	if err := os.MkdirAll(filepath.Join(b.home, ".adze/plugins/data/team/fmt"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Uninstall(t.Context(), "fmt", false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.home, ".adze/plugins/data")); err == nil {
		t.Error("an empty folder is left")
	}
}

// TestMarketplaceOfAnotherName checks that settings with a wrong marketplace name do not remove
// the user's own marketplace.
func TestMarketplaceOfAnotherName(t *testing.T) {
	b := newBench(t)
	b.write("home/.adze/settings.json", fmt.Sprintf(`{"extraKnownMarketplaces":{"other":{"source":{"source":"directory","path":%q}}}}`, b.market))
	p := b.open()
	if _, err := p.AddMarket(t.Context(), b.market, b.work); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fetch(t.Context(), "fmt@other"); err == nil || !strings.Contains(err.Error(), "the marketplace other calls itself team; it is not used") {
		t.Errorf("a marketplace of another name: %v", err)
	}
	if known, err := p.Markets(); len(known) != 1 || err != nil {
		t.Errorf("known: %v, %v", known, err)
	}
}

// TestDowngradeAsks checks that a downgrade prompts, even if its effects are unchanged.
func TestDowngradeAsks(t *testing.T) {
	b := newBench(t)
	release := func(version string) {
		b.write("market/fmt/.claude-plugin/plugin.json", fmt.Sprintf(`{"name":"fmt","version":%q}`, version))
		b.write("market/fmt/file", version)
	}
	release("1.10.0")
	b.install("fmt")
	for _, tt := range []struct {
		version string
		older   bool
	}{{"1.9.9", true}, {"1.11", false}, {"2", false}, {"0.9-rc1", true}, {"next", false}} {
		release(tt.version)
		offer, err := b.open().Update(t.Context(), "fmt")
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(strings.Join(offer.Lines(), "\n"), "it is older than 1.10.0, which is installed")
		if offer.Settled() || told != tt.older { // the effects may have changed in any case
			t.Errorf("%s: settled %t, %q", tt.version, offer.Settled(), offer.Lines())
		}
		offer.Discard()
	}
}

// TestCheckComparesFiles checks that Check finds any file changed after installation.
func TestCheckComparesFiles(t *testing.T) {
	b := newBench(t)
	b.write("market/fmt/run.sh", "true")
	b.install("fmt")
	p := b.open()
	if got := p.Check(t.Context()); len(got.Problems) > 0 {
		t.Errorf("unexpected problems after installing: %q", got.Problems)
	}
	_, x, err := p.Look("fmt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.Dir, "run.sh"), []byte("evil"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := b.open().Check(t.Context()); len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "its file run.sh was changed after it was installed") {
		t.Errorf("problems after a change: %q", got.Problems)
	}
}

// TestProblemsOfAnOffer checks that an offer's problems don't mention the temporary directory.
func TestProblemsOfAnOffer(t *testing.T) {
	b := newBench(t)
	b.write("market/two/agents/broken.md", "no head")
	b.write("market/two/SKILL.md", "---\nname: two\ndescription: d\n---\nx\n")
	lines := b.install("two")
	for _, want := range []string{
		"problem: " + filepath.FromSlash("two/SKILL.md") + ": it is not used: put it into skills/two/",
		"problem: " + filepath.FromSlash("two/agents/broken.md") + ": not an agent: it has no front matter with name and description",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in %q", want, lines)
		}
	}
}

// TestLinksAreRefusedFirst checks that a plugin that cannot be installed is rejected before the
// user is prompted.
func TestLinksAreRefusedFirst(t *testing.T) {
	b := newBench(t)
	if err := os.Symlink(filepath.Join("..", "..", "home"), filepath.Join(b.market, "two", "out")); err != nil {
		t.Skip(err)
	}
	p := b.open()
	if _, err := p.AddMarket(t.Context(), b.market, b.work); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fetch(t.Context(), "two"); err == nil || !strings.Contains(err.Error(), "two@team: out is a link that leads out of the plugin, or nowhere: it is not installed") {
		t.Errorf("a link out of the plugin: %v", err)
	}
}
