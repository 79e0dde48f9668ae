package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/rank"
)

var layered = []Key{
	{Name: "model", Effect: Widens, Env: []string{"ADZE_MODEL"}, Kind: Text},
	{Name: "effort", Effect: Neutral, Aliases: []string{"effortLevel"}, Kind: Text, Choices: []string{"low", "high"}},
	{Name: "apiKeyHelper", Kind: Text, Personal: true},
	{Name: "hooks", Effect: Runs, Kind: Object},
	{Name: "env", Effect: Widens, Kind: Vars},
	{Name: "sandbox.enabled", Effect: Shifts, Kind: Bool, Default: "false", Tighten: []string{"true"}},
	{Name: "cleanupPeriodDays", Effect: Neutral, Kind: Int, Min: 1, Max: 365, OrZero: true},
	{Name: "permissions.allow", Effect: Widens, Kind: Rules},
	{Name: "permissions.ask", Effect: Tightens, Kind: Rules},
	{Name: "permissions.deny", Effect: Tightens, Kind: Rules},
	{Name: "permissions.additionalDirectories", Effect: Widens, Kind: Dirs},
	{Name: "permissions.defaultMode", Effect: Shifts, Kind: Text, Tighten: []string{"default", "plan", "dontAsk"}, NotLocal: []string{"bypassPermissions"}},
	{Name: "allowManagedPermissionRulesOnly", Kind: Bool, Default: "false", Managed: true},
}

// A world is a test machine with a home directory, a workspace and managed settings.
type world struct {
	t    testing.TB
	root string
	Layout
}

func newWorld(t testing.TB) *world {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root}
	w.Layout = Layout{
		Dirs: fsys.Dirs{Config: w.path("home/.adze")}, Other: w.path("home/.claude"), Roots: []string{w.path("work")}, Dir: w.path("work"), Managed: w.path("etc"),
		Grant: Workspace, LocalGrant: Workspace, Own: func(string, []byte) bool { return true },
	}
	for _, dir := range []string{"home/.adze", "home/.claude", "work/.adze", "work/.claude", "work/sub", "etc/managed-settings.d", "elsewhere"} {
		if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) path(rel string) string { return filepath.Join(w.root, filepath.FromSlash(rel)) }

func (w *world) write(rel, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(rel), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) sources() Sources {
	return Sources{Files: w.Files(), Home: w.path("home"), Root: w.Roots[0], Closest: rank.Closest, Approved: func(Claim) bool { return true }}
}

func (w *world) load() (*Settings, []string) {
	s, warnings := Load(w.sources(), layered)
	var texts []string
	for _, warning := range warnings {
		texts = append(texts, strings.ReplaceAll(warning.String(), w.root+"/", ""))
	}
	return s, texts
}

func (w *world) rules(s *Settings) []string {
	var list []string
	for _, r := range s.Rules() {
		list = append(list, fmt.Sprintf("%s %s %s %s", r.Behavior, r.Text, r.Scope, strings.ReplaceAll(r.Where(), w.root+"/", "")))
	}
	return list
}

// places lists the files of each source. The ecosystem's files have lower precedence than
// adze's.
var places = map[scope.Scope][]string{
	scope.User: {"home/.claude/settings.json", "home/.adze/settings.json"}, scope.Project: {"work/.claude/settings.json", "work/.adze/settings.json"},
	scope.Local: {"work/.claude/settings.local.json", "work/.adze/settings.local.json"}, scope.Managed: {"etc/managed-settings.json", "etc/managed-settings.d/50.json"},
}

// TestSourcesAndBehaviours checks that every source provides rules of every behavior with
// source, file and line, and that untrusted sources can only tighten.
//
// Proves PERM-05.
func TestSourcesAndBehaviours(t *testing.T) {
	grants := map[string]struct {
		grant Grant
		own   bool
		local scope.Scope
		allow map[scope.Scope]bool
	}{
		"trusted":            {Workspace, true, scope.Local, map[scope.Scope]bool{scope.User: true, scope.Project: true, scope.Local: true, scope.Managed: true, scope.Flag: true}},
		"trusted, but local": {Workspace, false, scope.Project, map[scope.Scope]bool{scope.User: true, scope.Project: true, scope.Managed: true, scope.Flag: true}},
		"hosted":             {Hosted, false, scope.Project, map[scope.Scope]bool{scope.User: true, scope.Managed: true, scope.Flag: true}},
		"untrusted":          {Untrusted, false, scope.Project, map[scope.Scope]bool{scope.User: true, scope.Managed: true, scope.Flag: true}},
	}
	for name, g := range grants {
		for from, files := range places {
			for _, file := range files {
				for _, behavior := range []string{"allow", "ask", "deny"} {
					t.Run(fmt.Sprintf("%s/%s/%s", name, file, behavior), func(t *testing.T) {
						w := newWorld(t)
						w.Grant, w.LocalGrant, w.Own = g.grant, g.grant, func(string, []byte) bool { return g.own }
						w.write(file, fmt.Sprintf("{\n  \"permissions\": {%q: [\n    \"Bash(x)\"]}}", behavior))
						s, warnings := w.load()
						want := []Rule{{Behavior: behavior, Text: "Bash(x)", Scope: from, File: w.path(file), Line: 3, Column: 5, Dir: filepath.Dir(w.path(file))}}
						switch from {
						case scope.Local:
							want[0].Scope, want[0].Dir = g.local, w.path("work")
						case scope.Project:
							want[0].Dir = w.path("work")
						case scope.Managed:
							want[0].Dir = w.path("etc")
						}
						if behavior == "allow" && !g.allow[from] {
							want = nil
						}
						if diff := cmp.Diff(want, s.Rules(), cmp.AllowUnexported(Rule{})); diff != "" || len(warnings) > 0 {
							t.Errorf("%s %s", diff, warnings)
						}
					})
				}
			}
		}
	}
}

// Proves PERM-05.
func TestRulesOfFlags(t *testing.T) {
	for _, behavior := range []string{"allow", "ask", "deny"} {
		w := newWorld(t)
		w.Grant = Untrusted
		w.Settings = fmt.Sprintf(`{"permissions":{%q:["Bash(x)"]}}`, behavior)
		w.write("more.json", w.Settings)
		for _, file := range []string{"--settings", w.path("more.json")} {
			if file != "--settings" {
				w.Settings = "../more.json"
			}
			s, _ := w.load()
			got := s.Rules()
			if len(got) != 1 || got[0].Behavior != behavior || got[0].Scope != scope.Flag || got[0].File != file || got[0].Line != 1 {
				t.Errorf("%s: %+v", file, got)
			}
		}
	}
}

// Proves PERM-05.
func TestPrecedence(t *testing.T) {
	w := newWorld(t)
	w.Settings = `{"model":"flag"}`
	order := []string{
		"home/.claude/settings.json", "home/.adze/settings.json", "work/.claude/settings.json", "work/.adze/settings.json",
		"work/.claude/settings.local.json", "work/.adze/settings.local.json", "--settings",
		"etc/managed-settings.json", "etc/managed-settings.d/10.json", "etc/managed-settings.d/20.json",
	}
	for _, file := range order {
		if file != "--settings" {
			w.write(file, fmt.Sprintf(`{"model":%q, "permissions":{"allow":[%q]}}`, file, file))
		}
	}
	for _, file := range slices.Backward(order) {
		s, _ := w.load()
		want := file
		if file == "--settings" {
			want = "flag"
		}
		if got := s.Text("model"); got != want {
			t.Errorf("the model is %s, want %s", got, want)
		}
		if file == "--settings" {
			w.Settings = ""
			continue
		}
		if err := os.Remove(w.path(file)); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves PERM-05.
func TestSettingSources(t *testing.T) {
	for text, want := range map[string][]string{
		"nil": {"deny l", "deny p", "deny u"}, "user": {"deny u"}, "project": {"deny p"}, "local,user": {"deny l", "deny u"}, "": nil,
	} {
		w := newWorld(t)
		w.write("home/.adze/settings.json", `{"permissions":{"deny":["u"]}}`)
		w.write("work/.adze/settings.json", `{"permissions":{"deny":["p"]}}`)
		w.write("work/.adze/settings.local.json", `{"permissions":{"deny":["l"]}}`)
		if text != "nil" {
			w.Sources = []scope.Scope{}
			for name := range strings.SplitSeq(text, ",") {
				if from, err := scope.Parse(name); err == nil {
					w.Sources = append(w.Sources, from)
				}
			}
		}
		s, _ := w.load()
		var got []string
		for _, r := range s.Rules() {
			got = append(got, r.Behavior+" "+r.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// Proves PERM-47.
func TestManaged(t *testing.T) {
	w := newWorld(t)
	w.ManagedSettings = `{"model":"host","permissions":{"deny":["H"],"allow":["HA"]}}`
	w.write("home/.adze/settings.json", `{"model":"user","permissions":{"allow":["U"],"deny":["UD"]},"allowManagedPermissionRulesOnly":true}`)
	w.write("etc/managed-settings.json", `{"model":"base","effort":"low","permissions":{"deny":["M"]}}`)
	w.write("etc/managed-settings.d/20.json", `{"model":"twenty"}`)
	w.write("etc/managed-settings.d/10.json", `{"model":"ten","effort":"high"}`)
	w.write("etc/managed-settings.d/README", `not settings`)
	src := w.sources()
	src.Getenv = func(name string) string { return map[string]string{"ADZE_MODEL": "env"}[name] }
	s, warnings := Load(src, layered)
	if s.Text("model") != "twenty" || s.Text("effort") != "high" {
		t.Errorf("model %s, effort %s", s.Text("model"), s.Text("effort"))
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "allowManagedPermissionRulesOnly counts only in managed settings") {
		t.Errorf("%v", warnings)
	}
	if got := len(s.Rules()); got != 5 {
		t.Errorf("%d rules", got)
	}
	w.write("etc/managed-settings.d/30.json", `{"allowManagedPermissionRulesOnly":true}`)
	s, _ = w.load()
	if diff := cmp.Diff([]string{"deny H policySettings --managed-settings:1:40", "deny M policySettings etc/managed-settings.json:1:55"}, w.rules(s)); diff != "" {
		t.Error(diff)
	}
	w.write("etc/managed-settings.d/40.json", `{`)
	if s, _ = w.load(); len(s.Invalid()) != 1 || s.Invalid()[0].Scope != scope.Managed {
		t.Errorf("%v", s.Invalid())
	}
	w.Managed = w.path("etc/managed-settings.json")
	w.write("etc/managed-settings.json", `{}`)
	if s, _ = w.load(); len(s.Invalid()) == 0 {
		t.Error("a directory of managed settings that cannot be listed was ignored")
	}
}

// Proves PERM-70.
func TestWhatAProjectCannotSet(t *testing.T) {
	w := newWorld(t)
	const text = `{"model":"m","effortLevel":"high","apiKeyHelper":"evil","sandbox":{"enabled":%s},"cleanupPeriodDays":3,
"permissions":{"defaultMode":%q,"additionalDirectories":["sub","../elsewhere","link","missing"]}}`
	if err := os.Symlink(w.path("elsewhere"), w.path("work/link")); err != nil {
		t.Fatal(err)
	}
	w.write("work/.adze/settings.json", fmt.Sprintf(text, "false", "bypassPermissions"))
	s, warnings := w.load()
	want := []string{
		"work/.adze/settings.json:1:50: apiKeyHelper cannot be set by a project: set it in your own settings; the value is ignored",
		"work/.adze/settings.json:1:78: sandbox.enabled is set to false by the project, which may only set it to true; the value is ignored",
		"work/.adze/settings.json:2:30: permissions.defaultMode is set to bypassPermissions by the project, which may only set it to default, plan, dontAsk; the value is ignored",
		`work/.adze/settings.json:2:81: permissions.additionalDirectories: "../elsewhere" is not inside the workspace, and a project cannot add others; it is ignored`,
		`work/.adze/settings.json:2:96: permissions.additionalDirectories: "link" is not inside the workspace, and a project cannot add others; it is ignored`,
		`work/.adze/settings.json:2:103: permissions.additionalDirectories: "missing" is not inside the workspace, and a project cannot add others; it is ignored`,
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
	if s.Text("model") != "m" || s.Text("effort") != "high" || s.Text("apiKeyHelper") != "" || s.Text("permissions.defaultMode") != "" {
		t.Errorf("%+v", s.values)
	}
	if diff := cmp.Diff([]Directory{{w.path("work/sub"), scope.Project, w.path("work/.adze/settings.json"), 2, 75}}, s.Directories()); diff != "" {
		t.Error(diff)
	}
	for _, mode := range []string{"default", "plan", "dontAsk"} {
		w.write("work/.adze/settings.json", fmt.Sprintf(text, "true", mode))
		if s, _ := w.load(); s.Text("permissions.defaultMode") != mode || !s.Bool("sandbox.enabled") {
			t.Errorf("%s was not taken over", mode)
		}
	}
	w.Grant = Hosted
	if s, _ := w.load(); len(s.Directories()) > 0 || s.Withheld() != 4 || s.Text("model") != "m" {
		t.Errorf("a host's word: %v, %d", s.Directories(), s.Withheld())
	}
	w.Grant = Untrusted
	if s, warnings := w.load(); s.Text("model") != "" || len(warnings) > 0 || len(s.Parts("model")) > 0 {
		t.Errorf("untrusted: %q, %v", s.Text("model"), warnings)
	}
}

// Proves PERM-22.
func TestLocalSettings(t *testing.T) {
	w := newWorld(t)
	w.write("work/.adze/settings.local.json", `{"apiKeyHelper":"mine","permissions":{"defaultMode":"acceptEdits","additionalDirectories":["../elsewhere"]}}`)
	s, warnings := w.load()
	if s.Text("apiKeyHelper") != "mine" || s.Text("permissions.defaultMode") != "acceptEdits" || len(s.Directories()) != 1 || len(warnings) > 0 {
		t.Errorf("%v %v", s.values, warnings)
	}
	w.write("work/.adze/settings.local.json", `{"permissions":{"defaultMode":"bypassPermissions"}}`)
	if s, warnings := w.load(); s.Text("permissions.defaultMode") != "" || len(warnings) != 1 {
		t.Errorf("%v", warnings)
	}
	w.write("home/.adze/settings.json", `{"permissions":{"defaultMode":"bypassPermissions"}}`)
	if s, _ := w.load(); s.Text("permissions.defaultMode") != "bypassPermissions" {
		t.Error("the person's own mode was lost")
	}
	w.Own = func(string, []byte) bool { return false } // ownership unknown
	w.write("work/.adze/settings.local.json", `{"apiKeyHelper":"theirs"}`)
	w.write("work/.claude/settings.local.json", `{"env":{"PATH":"x","A":"b"},"allowManagedHooksOnly":true,"permissions":{"additionalDirectories":["../elsewhere","sub"]}}`)
	s, warnings = w.load()
	want := []Demoted{
		{w.path("work/.claude/settings.local.json"), []string{"env.PATH", "permissions.additionalDirectories"}},
		{w.path("work/.adze/settings.local.json"), []string{"apiKeyHelper"}},
	}
	if diff := cmp.Diff(want, s.Demoted()); diff != "" || s.Text("apiKeyHelper") != "" || len(s.Env()) != 1 || len(s.Directories()) != 1 {
		t.Errorf("%s %v", diff, warnings)
	}
}

// TestScopeOfVariables checks that a value set through env has the scope of the file.
func TestScopeOfVariables(t *testing.T) {
	w := newWorld(t)
	w.write("work/.adze/settings.local.json", `{"env":{"ADZE_MODEL":"local"}}`)
	s, _ := w.load()
	if from, file := s.ScopeOf("model"); s.Text("model") != "local" || !file || from != scope.Local {
		t.Errorf("%s %v %v", s.Text("model"), from, file)
	}
}

func TestBrokenRules(t *testing.T) {
	w := newWorld(t)
	w.Grant = Untrusted
	w.write("work/.adze/settings.json", `{"permissions":{"deny":"Bash(rm:*)","ask":[5,"Edit"],"allow":[6]}}`)
	s, warnings := w.load()
	want := []Rule{
		{Behavior: "deny", Text: "Bash(rm:*)", Scope: scope.Project, File: w.path("work/.adze/settings.json"), Line: 1, Column: 24, Dir: w.path("work")},
		{Behavior: "ask", Text: "5", Broken: true, Scope: scope.Project, File: w.path("work/.adze/settings.json"), Line: 1, Column: 44, Dir: w.path("work")},
		{Behavior: "ask", Text: "Edit", Scope: scope.Project, File: w.path("work/.adze/settings.json"), Line: 1, Column: 46, Dir: w.path("work")},
	}
	if diff := cmp.Diff(want, s.Rules(), cmp.AllowUnexported(Rule{})); diff != "" {
		t.Error(diff)
	}
	if len(warnings) != 2 {
		t.Errorf("%v", warnings)
	}
}

func TestUnknownKeysOfOthers(t *testing.T) {
	w := newWorld(t)
	w.write("work/.claude/settings.json", `{"spinnerVerbs":["x"],"effortLevel":"huge"}`)
	_, warnings := w.load()
	want := []string{"work/.claude/settings.json:1:37: effortLevel is set to \"huge\", which is not one of the choices (accepted: `low`, `high`); the value is ignored"}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestHomeIsNoProject(t *testing.T) {
	w := newWorld(t)
	w.Roots, w.Grant = []string{w.path("home")}, Untrusted
	w.write("home/.adze/settings.json", `{"permissions":{"allow":["A"]}}`)
	s, _ := w.load()
	if diff := cmp.Diff([]string{"allow A userSettings home/.adze/settings.json:1:26"}, w.rules(s)); diff != "" {
		t.Error(diff)
	}
}

// Proves PERM-71.
func TestEnv(t *testing.T) {
	w := newWorld(t)
	w.write("work/.adze/settings.json", `{"env":{"NODE_ENV":"test","PORT":3000,"DEBUG":true,"PATH":"/evil","LIST":[1],"A-B":"x","ADZE_MODEL":"evil"}}`)
	w.write("home/.adze/settings.json", `{"env":{"PATH":"/mine","ADZE_MODEL":"mine","PORT":"1"}}`)
	s, warnings := w.load()
	var got []string
	for _, v := range s.Env() {
		got = append(got, fmt.Sprintf("%s=%s %s", v.Name, v.Value, v.Scope))
	}
	if diff := cmp.Diff([]string{"ADZE_MODEL=mine userSettings", "DEBUG=true projectSettings", "NODE_ENV=test projectSettings", "PATH=/mine userSettings", "PORT=3000 projectSettings"}, got); diff != "" {
		t.Error(diff)
	}
	if s.Text("model") != "mine" || len(warnings) != 4 {
		t.Errorf("%s %v", s.Text("model"), warnings)
	}
	w.Grant = Untrusted
	if s, _ := w.load(); len(s.Env()) != 3 {
		t.Errorf("untrusted: %v", s.Env())
	}
	for _, name := range strings.Fields("LD_PRELOAD DYLD_INSERT_LIBRARIES PATH path BASH_ENV NODE_OPTIONS PYTHONPATH PYTHONSTARTUP GIT_SSH_COMMAND GIT_DIR HTTP_PROXY https_proxy ALL_PROXY " +
		"SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE OPENAI_BASE_URL ANTHROPIC_API_KEY ADZE_HOME CLAUDE_CONFIG_DIR HOME SHELL EDITOR PAGER PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS OTEL_EXPORTER_OTLP_ENDPOINT GOFLAGS BASH_FUNC_ls " +
		"GCONV_PATH gconv_path TAR_OPTIONS MAKEFILES GOAUTH GOCACHEPROG PYTEST_ADDOPTS PYTEST_PLUGINS OPENSSL_CONF LESS PSQLRC VIMINIT RSYNC_RSH PKG_CONFIG ANSIBLE_CONFIG BUNDLE_GEMFILE R_PROFILE_USER TF_CLI_CONFIG_FILE YARN_RC_FILENAME CLOUDSDK_PYTHON " +
		"LOCPATH BASH_LOADABLES_PATH CMAKE_TOOLCHAIN_FILE RUSTFLAGS CFLAGS SVN_SSH GH_PAGER MANPAGER GTK_MODULES FZF_DEFAULT_COMMAND NODE_V8_COVERAGE COMPOSER_HOME HELM_PLUGINS") {
		if !Redirects(name) {
			t.Errorf("a project can set %s", name)
		}
	}
	for _, name := range strings.Fields("NODE_ENV PORT DEBUG RAILS_ENV DATABASE_URL CI LANG TZ FOO RUST_LOG RUST_BACKTRACE MIX_ENV TF_VAR_region FEATURE_FLAGS LDAP_URL PGHOST PGDATABASE LOG_LEVEL APP_ENV TEXT_SIZE") {
		if Redirects(name) {
			t.Errorf("a project cannot set %s", name)
		}
	}
}

// TestRefusedTogether checks that settings a project cannot set are reported in one line per
// file that other programs also read, and in one line per setting elsewhere.
//
// Proves PERM-71.
func TestRefusedTogether(t *testing.T) {
	w := newWorld(t)
	const text = `{"env":{"PATH":"/evil","PAGER":"evil"},"permissions":{"additionalDirectories":["/etc","/usr"]}}`
	for path, want := range map[string][]string{
		"work/.claude/settings.json": {"a project cannot set env.PATH, env.PAGER, permissions.additionalDirectories; ignored. Set them in your user settings if you want them"},
		"work/.adze/settings.json": {
			"env.PATH cannot be set by a project, since it can redirect programs or make them run code; it is not set",
			"env.PAGER cannot be set by a project, since it can redirect programs or make them run code; it is not set",
			`permissions.additionalDirectories: "/etc" is not inside the workspace, and a project cannot add others; it is ignored`,
			`permissions.additionalDirectories: "/usr" is not inside the workspace, and a project cannot add others; it is ignored`,
		},
	} {
		w.write(path, text)
		_, warnings := w.load()
		var got []string
		for _, x := range warnings {
			_, text, _ := strings.Cut(x, ": ")
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		w.write(path, `{"env":{"PATH":"/evil"}}`)
		if _, warnings := w.load(); len(warnings) != 1 || !strings.Contains(warnings[0], "settings.json:1:16: env.PATH cannot be set by a project") {
			t.Errorf("%s: one is %v", path, warnings)
		}
		w.write(path, `{}`)
	}
}

// Proves X-140.
func TestSchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(Schema("https://adze.example/settings.schema.json", "settings", layered), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		`{}`: true, `{"model":"x","zzz":1,"$schema":"y","env":{"A":1},"permissions":{"deny":["x"],"zzz":1}}`: true,
		`{"model":5}`: false, `{"effort":"huge"}`: false, `{"effortLevel":"low"}`: true, `{"permissions":{"deny":"x"}}`: false,
		`{"cleanupPeriodDays":0}`: true, `{"cleanupPeriodDays":500}`: false, `{"cleanupPeriodDays":1.5}`: false, `{"sandbox":{"enabled":1}}`: false, `{"env":{"A":[]}}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
