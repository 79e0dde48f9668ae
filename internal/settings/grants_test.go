package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/platform/fs/scope"
	"adze/internal/settings/config"
)

// TestEveryKeyHasAnEffect checks that every key a project can set declares its effect on the
// user's permissions. A new key without a declaration fails here, and needs approval as if it
// widened them.
//
// Proves PERM-72.
func TestEveryKeyHasAnEffect(t *testing.T) {
	for _, k := range Keys() {
		never := k.Personal || k.Managed || k.Name == ""
		switch {
		case never && k.Effect != 0:
			t.Errorf("%s: no project can set it, but it has an effect", k.ID())
		case !never && k.Effect == 0:
			t.Errorf("%s: the table lacks its effect on the user's permissions if a project sets it", k.ID())
		case len(k.Tighten) > 0 && k.Effect != config.Tightens && k.Effect != config.Shifts:
			t.Errorf("%s: a project can only tighten it, but its effect is another", k.ID())
		case k.Kind == config.Rules && k.Name != "permissions.allow" && k.Effect != config.Tightens:
			t.Errorf("%s: rules that deny or ask count at once", k.ID())
		}
	}
}

// A stance is the set of permissions a workspace's files grant and forbid.
type stance struct{ grants, limits map[string]bool }

// stanceOf returns the stance of the current settings.
func stanceOf(s *config.Settings) stance {
	st := stance{map[string]bool{}, map[string]bool{}}
	for _, r := range s.Rules() {
		if text := fmt.Sprintf("%s %s in %s", r.Behavior, r.Text, r.Dir); r.Behavior == "allow" {
			st.grants[text] = true
		} else {
			st.limits[text] = true
		}
	}
	for _, v := range s.Env() {
		st.grants["env "+v.Name+"="+v.Value] = true
	}
	for _, d := range s.Directories() {
		st.grants["directory "+d.Path] = true
	}
	for _, k := range Keys() {
		if k.Name == "" || k.Kind == config.Rules || k.Kind == config.Dirs || k.Kind == config.Vars || s.Origin(k.ID()) == "" {
			continue
		}
		into := []map[string]bool{}
		switch k.Effect {
		case config.Neutral, config.Runs:
		case config.Tightens:
			into = append(into, st.limits)
		case config.Shifts:
			into = append(into, st.grants, st.limits)
		default: // including keys no project can set
			into = append(into, st.grants)
		}
		for _, value := range elements(s.JSON(k.ID())) {
			for i, m := range into {
				if i == len(into)-1 && (k.Effect == config.Tightens || k.Effect == config.Shifts) && len(k.Tighten) > 0 && !slices.Contains(k.Tighten, strings.Trim(value, `"`)) {
					continue // forbids nothing
				}
				m[k.Name+" "+value] = true
			}
		}
	}
	return st
}

// elements returns a list's items, an object's members, or the value itself.
func elements(raw json.RawMessage) (all []string) {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &list) == nil:
		for _, x := range list {
			all = append(all, string(x))
		}
	case json.Unmarshal(raw, &object) == nil:
		for name, x := range object {
			all = append(all, name+": "+string(x))
		}
	default:
		all = append(all, string(raw))
	}
	return all
}

// beyond returns the permissions a stance grants that another does not.
func (st stance) beyond(approved stance) (wider []string) {
	for _, text := range slices.Sorted(maps.Keys(st.grants)) {
		if !approved.grants[text] {
			wider = append(wider, "grants "+text)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(approved.limits)) {
		if !st.limits[text] {
			wider = append(wider, "no longer has "+text)
		}
	}
	return wider
}

const (
	projectFile = "work/.adze/settings.json"
	otherFile   = "work/.claude/settings.json"
	// agreed is the content the user approved before an attack.
	agreed = `{"permissions":{"allow":["Bash(make:*)"],"deny":["Read(./.env)"],"ask":["Bash(git push:*)"]},"env":{"MODE":"test"},"sandbox":{"filesystem":{"denyRead":["keys"]}}}`
)

// An attack modifies a trusted workspace.
type attack struct {
	name string
	do   func(p *place)
}

// write returns an attack that writes a file.
func write(name, file, text string) attack {
	return attack{name, func(p *place) { p.Write(file, text) }}
}

// changed returns the approved file with a replacement.
func changed(old, new string) string {
	text := strings.Replace(agreed, old, new, 1)
	if text == agreed {
		panic("nothing is replaced: " + old)
	}
	return text
}

// attacks returns everything a pull, checkout or build can do to a workspace's settings.
func attacks() []attack {
	list := []attack{
		write("a rule more", projectFile, changed(`"Bash(make:*)"`, `"Bash(make:*)","Bash"`)),
		write("a rule in place of another", projectFile, changed(`Bash(make:*)`, `Bash`)),
		write("a longer rule", projectFile, changed(`make:*`, `make:*)","Bash(rm:*`)),
		write("another case", projectFile, changed(`Bash(make:*)`, `bash(make:*)`)),
		write("a blank", projectFile, changed(`Bash(make:*)`, `Bash (make:*)`)),
		write("escapes", projectFile, changed(`"Bash(make:*)"`, `"\u0042ash"`)),
		write("the name of the key in escapes", projectFile, `{"permi\u0073sions":{"allow":["Bash"]}}`),
		write("the name with a dot", projectFile, `{"permissions.allow":["Bash"]}`),
		write("the list twice", projectFile, `{"permissions":{"allow":["Bash(make:*)"],"allow":["Bash"]}}`),
		write("the object twice", projectFile, `{"permissions":{"allow":["Bash(make:*)"]},"permissions":{"allow":["Bash"]}}`),
		write("the object twice, the other way round", projectFile, `{"permissions":{"allow":["Bash"]},"permissions":{"allow":["Bash(make:*)"]}}`),
		write("upper case", projectFile, `{"PERMISSIONS":{"ALLOW":["Bash"]}}`),
		write("title case", projectFile, `{"Permissions":{"Allow":["Bash"]}}`),
		write("both cases", projectFile, `{"permissions":{"allow":["Bash(make:*)"],"Allow":["Bash"]}}`),
		write("a text for a list", projectFile, `{"permissions":{"allow":"Bash"}}`),
		write("an object for a list", projectFile, `{"permissions":{"allow":{"0":"Bash"}}}`),
		write("a list in a list", projectFile, `{"permissions":{"allow":[["Bash"]]}}`),
		write("null", projectFile, `{"permissions":null}`),
		write("null for a list", projectFile, `{"permissions":{"allow":null,"deny":null,"ask":null}}`),
		write("a byte order mark", projectFile, "\ufeff"+changed(`Bash(make:*)`, `Bash`)),
		write("two byte order marks", projectFile, "\ufeff\ufeff"+changed(`Bash(make:*)`, `Bash`)),
		write("comments", projectFile, "// x\n"+changed(`"Bash(make:*)"`, `/* "Bash(make:*)" */ "Bash"`)),
		write("a trailing comma", projectFile, changed(`"Bash(make:*)"`, `"Bash(make:*)","Bash",`)),
		write("not JSON", projectFile, `{"permissions":{"allow":["Bash"]}`),
		write("two documents", projectFile, agreed+`{"permissions":{"allow":["Bash"]}}`),
		write("a list of documents", projectFile, `[`+agreed+`]`),
		write("a null byte", projectFile, agreed+"\x00"),
		write("UTF-16", projectFile, "\xff\xfe{\x00}\x00"),
		write("invalid UTF-8", projectFile, changed(`make:*`, "make:*)\",\"Bash(\xff")),
		write("empty", projectFile, ``),
		write("an empty object", projectFile, `{}`),
		write("huge", projectFile, `{"permissions":{"allow":["Bash"]}}`+strings.Repeat(" ", 5<<20)),
		write("deep", projectFile, strings.Repeat(`{"a":`, 300)+`1`+strings.Repeat(`}`, 300)),
		write("no limits", projectFile, `{"permissions":{"allow":["Bash(make:*)"]},"env":{"MODE":"test"}}`),
		write("no deny rules", projectFile, changed(`"deny":["Read(./.env)"],`, ``)),
		write("another deny rule", projectFile, changed(`Read(./.env)`, `Read(./.envx)`)),
		write("a weaker deny rule", projectFile, changed(`Read(./.env)`, `Read(./.env/x)`)),
		write("deny becomes ask", projectFile, changed(`"deny":["Read(./.env)"],"ask":[`, `"ask":["Read(./.env)",`)),
		write("deny becomes allow", projectFile, changed(`"deny"`, `"allow"`)),
		write("no ask rules", projectFile, changed(`,"ask":["Bash(git push:*)"]`, ``)),
		write("a hidden place fewer", projectFile, changed(`"keys"`, ``)),
		write("another value of a variable", projectFile, changed(`"MODE":"test"`, `"MODE":"prod"`)),
		write("a variable more", projectFile, changed(`"MODE":"test"`, `"MODE":"test","X":"1"`)),
		write("a variable twice", projectFile, changed(`"MODE":"test"`, `"MODE":"test","MODE":"evil"`)),
		write("a variable as a number", projectFile, changed(`"MODE":"test"`, `"MODE":1`)),
		write("a variable in another case", projectFile, changed(`"MODE":"test"`, `"mode":"test"`)),
		write("a variable that loads code", projectFile, changed(`"MODE":"test"`, `"GCONV_PATH":"."`)),
		write("a directory", projectFile, `{"permissions":{"additionalDirectories":["sub"]}}`),
		write("a directory outside", projectFile, `{"permissions":{"additionalDirectories":["/","~",".."]}}`),
		write("edits anywhere", projectFile, changed(`Bash(make:*)`, `Edit(//**)`)),
		write("the sandbox, which allows commands", projectFile, `{"sandbox":{"enabled":true}}`),
		write("no sandbox", projectFile, `{"sandbox":{"enabled":false}}`),
		write("excluded commands", projectFile, `{"sandbox":{"excludedCommands":["*"]}}`),
		write("allowed hosts", projectFile, `{"sandbox":{"network":{"allowedDomains":["*"]}}}`),
		write("a mode", projectFile, `{"permissions":{"defaultMode":"acceptEdits"}}`),
		write("the mode of the table", projectFile, `{"permissions":{"defaultMode":"default"}}`),
		write("the mode bypassPermissions", projectFile, `{"permissions":{"defaultMode":"bypassPermissions"}}`),
		write("a model that replays a file", projectFile, `{"model":"replay:evil.txt"}`),
		write("all servers", projectFile, `{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["x"]}`),
		write("a plugin", projectFile, `{"enabledPlugins":{"a@b":true}}`),
		write("no plugin", projectFile, `{"enabledPlugins":{"guard@b":false}}`),
		write("a marketplace", projectFile, `{"extraKnownMarketplaces":{"b":{"source":{"source":"github","repo":"a/b"}}}}`),
		write("plans elsewhere", projectFile, `{"plansDirectory":"/etc"}`),
		write("the search program of PATH", projectFile, `{"search":{"engine":"system"}}`),
		write("managed rules only", projectFile, `{"allowManagedPermissionRulesOnly":true}`),
		write("no hooks", projectFile, `{"disableAllHooks":true}`),
		write("a helper", projectFile, `{"apiKeyHelper":"evil","awsAuthRefresh":"evil","statusLine":{"command":"evil"}}`),
		write("an include", projectFile, `{"include":["evil.json"],"extends":"evil.json","$ref":"evil.json","$schema":"evil.json"}`),
		write("managed settings in the project", "work/managed-settings.json", `{"permissions":{"allow":["Bash"]}}`),
		write("user settings in the project", "work/.adze/user/settings.json", `{"permissions":{"allow":["Bash"]}}`),
		write("a drop-in folder", "work/.adze/settings.d/1.json", `{"permissions":{"allow":["Bash"]}}`),
		write("settings of a folder below", "work/sub/.adze/settings.json", `{"permissions":{"allow":["Bash"]}}`),
		write("a trust store in the project", "work/.adze/trust.json", `{"version":1,"workspaces":[],"approved":{}}`),
		write("settings above", ".adze/settings.json", `{"permissions":{"allow":["Bash"]}}`),
		write("the other folder appears", otherFile, `{"permissions":{"allow":["Bash"]}}`),
		write("the other folder, other spelling", "work/.CLAUDE/settings.json", `{"permissions":{"allow":["Bash"]}}`),
		write("own folder, other spelling", "work/.Adze/settings.json", `{"permissions":{"allow":["Bash"]}}`),
		write("local settings appear", localFile, `{"permissions":{"allow":["Bash"]},"env":{"X":"1"}}`),
		write("other local settings appear", otherLocal, `{"permissions":{"allow":["Bash"]},"env":{"X":"1"}}`),
		write("local settings with the same rule and more", localFile, changed(`"Bash(make:*)"`, `"Bash(make:*)","Bash"`)),
		write("local settings with a local mode", localFile, `{"permissions":{"defaultMode":"acceptEdits"}}`),
		{"the file is gone", func(p *place) { p.remove(projectFile) }},
		{"the folder is gone", func(p *place) { p.remove("work/.adze") }},
		{"moved to the other folder", func(p *place) { p.rename("work/.adze", "work/.claude") }},
		{"moved to the other folder, with more", func(p *place) {
			p.rename("work/.adze", "work/.claude")
			p.Write(otherFile, changed(`Bash(make:*)`, `Bash`))
		}},
		{"the file is a link to more", func(p *place) {
			p.Write("work/x.json", `{"permissions":{"allow":["Bash"]}}`)
			p.remove(projectFile)
			p.link("../x.json", projectFile)
		}},
		{"the file is a link out of the workspace", func(p *place) {
			p.Write("out/x.json", `{"permissions":{"allow":["Bash"]}}`)
			p.remove(projectFile)
			p.link("../../out/x.json", projectFile)
		}},
		{"the folder is a link", func(p *place) {
			p.Write("work/x/settings.json", `{"permissions":{"allow":["Bash"]}}`)
			p.remove("work/.adze")
			p.link("x", "work/.adze")
		}},
		{"the folder is a link to the user's own", func(p *place) {
			p.Write("home/x/settings.json", `{"permissions":{"allow":["Bash"]}}`)
			p.remove("work/.adze")
			p.link("../home/x", "work/.adze")
		}},
		{"a link that leads nowhere", func(p *place) { p.remove(projectFile); p.link("nowhere", projectFile) }},
		{"a link to itself", func(p *place) { p.remove(projectFile); p.link("settings.json", projectFile) }},
		{"a folder for a file", func(p *place) { p.remove(projectFile); p.Write(projectFile+"/x", "") }},
		{"a file for a folder", func(p *place) { p.remove("work/.adze"); p.Write("work/.adze", agreed) }},
		{"a pipe for a file", func(p *place) { p.remove(projectFile); p.pipe(projectFile) }},
		{"a pipe for another file", func(p *place) { p.pipe(otherFile) }},
		{"a device for a file", func(p *place) { p.remove(projectFile); p.link("/dev/zero", projectFile) }},
		{"the file cannot be read", func(p *place) { p.Write(projectFile, changed(`Bash(make:*)`, `Bash`)); p.mode(projectFile, 0) }},
		{"a nested repository", func(p *place) {
			p.Write("work/sub/.git/HEAD", "x")
			p.Write("work/sub/.adze/settings.json", `{"permissions":{"allow":["Bash"]}}`)
		}},
		{"it becomes a repository", func(p *place) { p.Write("work/.git/HEAD", "x"); p.Write(projectFile, changed(`Bash(make:*)`, `Bash`)) }},
		{"the times are unchanged", func(p *place) {
			info, err := os.Stat(p.Path(projectFile))
			if err != nil {
				p.T.Fatal(err)
			}
			p.Write(projectFile, changed(`Bash(make:*)`, `Bash(take:*)`)) // same size
			if err := os.Chtimes(p.Path(projectFile), info.ModTime(), info.ModTime()); err != nil {
				p.T.Fatal(err)
			}
		}},
	}
	for _, k := range Keys() {
		if k.Name == "" || k.Effect == config.Neutral || k.Effect == config.Runs || k.Effect == config.Tightens {
			continue
		}
		files, values := []string{projectFile, otherFile, localFile}, samples(k)
		if k.Personal || k.Managed {
			files, values = files[:1], values[:1]
		}
		for _, file := range files {
			for _, value := range values {
				list = append(list, write(fmt.Sprintf("%s = %s in %s", k.Name, value, filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)), file, nested(k.Name, value)))
			}
		}
	}
	return list
}

func (p *place) remove(rel string) {
	p.T.Helper()
	if err := os.RemoveAll(p.Path(rel)); err != nil {
		p.T.Fatal(err)
	}
}

func (p *place) mode(rel string, mode os.FileMode) {
	p.T.Helper()
	if err := os.Chmod(p.Path(rel), mode); err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(func() { os.Chmod(p.Path(rel), 0o600) }) // ok: allows removal
}

// TestNoChangeWidensATrustedWorkspace checks that no change to a trusted workspace's files
// widens permissions, neither in a running session nor at the next start, whether trust is
// lasting or for one run. Finding S2.
//
// Proves PERM-70, PERM-72.
func TestNoChangeWidensATrustedWorkspace(t *testing.T) {
	list := attacks()
	if len(list) < 120 {
		t.Errorf("%d attacks", len(list))
	}
	for _, a := range list {
		t.Run(a.name, func(t *testing.T) {
			for name, src := range map[string]Source{"lasting": {}, "for one run": {Trust: true}, "scopes named": {Scopes: []scope.Scope{scope.User, scope.Project, scope.Local}}} {
				p := newPlace(t)
				p.Write("work/sub/file", "")
				p.Write(projectFile, agreed)
				if name != "for one run" {
					p.trust()
				}
				running := p.open(src)
				approved := stanceOf(running.Settings())
				if !approved.grants["allow Bash(make:*) in "+p.Path("work")] || len(approved.limits) != 3 {
					t.Fatalf("%s: nothing is approved: %v", name, approved)
				}
				a.do(p)
				running.Poll()
				if wider := stanceOf(running.Settings()).beyond(approved); len(wider) > 0 {
					t.Errorf("%s, running: %q", name, wider)
				}
				running.Poll()
				if wider := stanceOf(running.Settings()).beyond(approved); len(wider) > 0 {
					t.Errorf("%s, running on: %q", name, wider)
				}
				if name == "for one run" {
					continue // trust for one run covers everything present at its start
				}
				next := p.open(src)
				if len(next.Settings().Invalid()) > 0 {
					continue // the program does not start
				}
				if wider := stanceOf(next.Settings()).beyond(approved); len(wider) > 0 {
					t.Errorf("%s, next start: %q", name, wider)
				}
			}
		})
	}
}

// shown adds a file's claims to the approved ones.
func (p *place) shown(file string, grants map[string]bool) {
	data, err := os.ReadFile(p.Path(file))
	if err != nil {
		return
	}
	for _, c := range config.ClaimsIn(p.Path(file), p.Path("work"), data, Keys()) {
		text := string(c.Value)
		if unquoted := ""; json.Unmarshal(c.Value, &unquoted) == nil {
			text = unquoted
		}
		switch name, isVar := strings.CutPrefix(c.Key, "env."); {
		case isVar:
			grants["env "+name+"="+text] = true
		case c.Key == "permissions.allow":
			grants["allow "+text+" in "+p.Path("work")] = true
		case c.Key == "permissions.additionalDirectories":
			grants["directory "+filepath.Join(p.Path("work"), text)] = true
			grants["directory "+text] = true
		default:
			grants[c.Key+" "+string(c.Value)] = true
			if i := strings.LastIndexByte(c.Key, '.'); i > 0 { // a nested member
				grants[c.Key[:i]+" "+c.Key[i+1:]+": "+string(c.Value)] = true
			}
		}
	}
}

// TestRandomChangesNeverWiden checks that random settings files and changes to them never widen
// the approved permissions, and that after approval all of the content applies.
//
// Proves PERM-72.
func TestRandomChangesNeverWiden(t *testing.T) {
	values := map[string][]string{}
	for _, k := range Keys() {
		if k.Name != "" {
			values[k.Name] = samples(k)
		}
	}
	values["permissions.allow"] = []string{`["Bash"]`, `["Bash(make:*)","Edit"]`, `["Read(//etc/**)"]`, `["Bash(make:*)"]`}
	values["permissions.deny"] = []string{`["Bash(rm:*)"]`, `["Read(./.env)","Bash(rm:*)"]`, `["Write"]`}
	values["permissions.ask"] = []string{`["Bash(git push:*)"]`, `["Edit"]`}
	values["env"] = []string{`{"A":"1"}`, `{"A":"2","B":"1"}`, `{"PATH":"x"}`}
	names := slices.Sorted(maps.Keys(values))
	files := []string{projectFile, otherFile, localFile, otherLocal, "work/sub/.adze/settings.json"}
	document := func(r *rapid.T) string {
		var members []string
		for range rapid.IntRange(0, 6).Draw(r, "members") {
			name := rapid.SampledFrom(names).Draw(r, "key")
			members = append(members, fmt.Sprintf("%q:%s", name, rapid.SampledFrom(values[name]).Draw(r, "value")))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	rapid.Check(t, func(r *rapid.T) {
		p := newPlace(t)
		p.Write("work/sub/file", "")
		draw := func(label string) {
			for _, file := range files {
				switch rapid.IntRange(0, 3).Draw(r, label+" "+file) {
				case 0:
					p.remove(file)
				case 1, 2:
					p.Write(file, document(r))
				}
			}
		}
		draw("before")
		p.trust()
		running := p.open(Source{})
		approved := stanceOf(running.Settings())
		for _, file := range files[:4] { // overridden values need approval too
			p.shown(file, approved.grants)
		}
		draw("after")
		running.Poll()
		if wider := stanceOf(running.Settings()).beyond(approved); len(wider) > 0 {
			r.Fatalf("running: %q", wider)
		}
		if wider := stanceOf(p.open(Source{}).Settings()).beyond(approved); len(wider) > 0 {
			r.Fatalf("next start: %q", wider)
		}
		p.trust()
		running.Poll()
		for name, s := range map[string]*config.Settings{"running": running.Settings(), "next start": p.open(Source{}).Settings()} {
			if len(s.Waiting())+len(s.Retained()) > 0 {
				r.Fatalf("%s: it was approved, but %v waits and %v stays", name, s.Waiting(), s.Retained())
			}
		}
	})
}

// TestOwnChangesOfProjectSettings checks that values adze writes to project settings for the
// user are approved thereby, and nothing else in the file. Values it removes stop applying
// immediately.
//
// Proves PERM-72.
func TestOwnChangesOfProjectSettings(t *testing.T) {
	p := newPlace(t)
	p.Write(projectFile, agreed)
	p.trust()
	p.Write(projectFile, changed(`"Bash(make:*)"`, `"Bash(make:*)","Bash(evil:*)"`))
	running, other := p.open(Source{}), p.open(Source{})
	save := func(u config.Update) {
		t.Helper()
		if err := running.Save(t.Context(), func(string) {}, scope.Project, u); err != nil {
			t.Fatal(err)
		}
	}
	save(config.Update{Type: "addRules", Behavior: "allow", Rules: []string{"Bash(go test:*)"}})
	save(config.Update{Type: "removeRules", Behavior: "deny", Rules: []string{"Read(./.env)"}})
	other.Poll()
	for name, project := range map[string]*Project{"this session": running, "another one": other, "the next one": p.open(Source{})} {
		st := stanceOf(project.Settings())
		dir := " in " + p.Path("work")
		if !st.grants["allow Bash(go test:*)"+dir] || st.grants["allow Bash(evil:*)"+dir] || st.limits["deny Read(./.env)"+dir] || !st.limits["ask Bash(git push:*)"+dir] {
			t.Errorf("%s: %v", name, st)
		}
	}
}

// TestOverwrittenLocalSettings checks that restrictions in the user's local settings survive a
// checkout that overwrites the ignored file.
//
// Proves PERM-72.
func TestOverwrittenLocalSettings(t *testing.T) {
	for name, own := range map[string]func(p *place){
		"confirmed": func(p *place) { p.Write(localFile, `{"permissions":{"deny":["Read(./.env)"]}}`); p.trust() },
		"written by adze": func(p *place) {
			p.trust()
			if err := p.open(Source{}).Save(t.Context(), func(string) {}, scope.Local, config.Update{Type: "addRules", Behavior: "deny", Rules: []string{"Read(./.env)"}}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, text := range []string{"", "{}", `{"permissions":{"allow":["Read"]}}`} {
			p := newPlace(t)
			own(p)
			running := p.open(Source{})
			if text == "" {
				p.remove(localFile)
			} else {
				p.Write(localFile, text)
			}
			running.Poll()
			for when, project := range map[string]*Project{"running": running, "next start": p.open(Source{})} {
				if st := stanceOf(project.Settings()); !st.limits["deny Read(./.env) in "+p.Path("work")] || len(st.grants) > 0 {
					t.Errorf("%s, %q, %s: %v", name, text, when, st)
				}
			}
		}
	}
}

// TestOlderStoreGrantsNoSettings checks that a store from before content approval grants no
// settings and prompts once.
//
// Proves PERM-72.
func TestOlderStoreGrantsNoSettings(t *testing.T) {
	p := newPlace(t)
	p.Write(projectFile, agreed)
	p.trust()
	path := filepath.Join(p.open(Source{}).Home, "trust.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var store map[string]json.RawMessage
	if err := json.Unmarshal(data, &store); err != nil {
		t.Fatal(err)
	}
	delete(store, "approved")
	delete(store, "limits")
	if data, err = json.Marshal(store); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	project, warnings := Open(Source{Dir: p.Path("work"), Getenv: p.Getenv})
	if st := stanceOf(project.Settings()); !project.Trust.Lasting() || len(st.grants) > 0 || len(st.limits) != 3 {
		t.Errorf("%v", st)
	}
	if got := fmt.Sprint(warnings); !strings.Contains(got, "not used until you approve it: env.MODE, permissions.allow Bash(make:*); review it with adze trust") {
		t.Error(got)
	}
	p.trust()
	if st := stanceOf(p.open(Source{}).Settings()); len(st.grants) != 2 {
		t.Errorf("approved: %v", st)
	}
}

// TestTrustIsTakenBack checks that revoking trust affects running sessions.
//
// Proves PERM-72.
func TestTrustIsTakenBack(t *testing.T) {
	p := newPlace(t)
	p.Write(projectFile, agreed)
	p.trust()
	running := p.open(Source{})
	if err := p.open(Source{}).Trust.Remove(t.Context(), running.Trust.Root); err != nil {
		t.Fatal(err)
	}
	running.Poll()
	if st := stanceOf(running.Settings()); len(st.grants) > 0 || !st.limits["deny Read(./.env) in "+p.Path("work")] {
		t.Errorf("%v", st)
	}
}
