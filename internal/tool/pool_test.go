package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
)

const anySchema = `{"type":"object"}`

// plain returns a tool that does nothing.
func plain(name string, tr Traits) Tool {
	def := Def{Name: name, Doc: "Does " + name + ".", Schema: json.RawMessage(anySchema), Traits: tr}
	return New(def, func(context.Context, struct{}, func(Progress)) (Result, error) { return Text("done"), nil })
}

// raw is a tool that tool.New would refuse.
type raw struct {
	Tool
	name string
}

func (r raw) Spec() msg.ToolSpec { return msg.ToolSpec{Name: r.name} }

func specNames(p *Pool) []string {
	var names []string
	for _, s := range p.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// Proves REG-04, LOOP-09.
func TestPoolOrder(t *testing.T) {
	builtin := []Tool{plain("Write", Traits{}), plain("Bash", Traits{}), plain("_x", Traits{}), plain("read", Traits{})}
	r := NewRegistry(builtin...)
	without, _ := r.Assemble(nil, nil)
	with, _ := r.Assemble([]Tool{
		plain("mcp__z__a", Traits{Origin: "mcp:z"}), plain("Aardvark", Traits{Origin: "mcp:a"}), plain("mcp__db__q", Traits{Origin: "mcp:db"}),
	}, nil)
	want := []string{"Bash", "Write", "_x", "read"}
	if diff := cmp.Diff(want, specNames(without)); diff != "" {
		t.Errorf("built-ins (-want +got):\n%s", diff)
	}
	want = append(want, "Aardvark", "mcp__db__q", "mcp__z__a")
	if diff := cmp.Diff(want, specNames(with)); diff != "" {
		t.Errorf("with dynamic tools (-want +got):\n%s", diff)
	}
	alone, both := serialise(t, without.Specs()), serialise(t, with.Specs())
	if !strings.HasPrefix(both, strings.TrimSuffix(alone, "]")) {
		t.Error("the built-in tools serialise differently when a server is connected")
	}
}

func serialise(t *testing.T, specs []msg.ToolSpec) string {
	t.Helper()
	data, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Proves TOOL-01.
func TestRegistryRefuses(t *testing.T) {
	one, other := plain("X", Traits{Origin: "package one"}), plain("X", Traits{Origin: "package other"})
	tests := []struct {
		name  string
		tools []Tool
		want  []string
	}{
		{"taken", []Tool{one, plain("Y", Traits{}), other}, []string{`"X"`, "package one", "package other"}},
		{"taken, without origin", []Tool{plain("X", Traits{}), raw{plain("Y", Traits{}), "X"}}, []string{`"X"`, "*tool.typedTool[", "tool.raw"}},
		{"illegal", []Tool{raw{plain("Y", Traits{Origin: "here"}), "no good"}}, []string{`"no good"`, "here"}},
		{"empty", []Tool{raw{plain("Y", Traits{}), ""}}, []string{`""`}},
		{"long", []Tool{raw{plain("Y", Traits{}), strings.Repeat("a", 65)}}, []string{"1 to 64"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				got := fmt.Sprint(recover())
				for _, part := range tt.want {
					if !strings.Contains(got, part) {
						t.Errorf("panic %q does not name %s", got, part)
					}
				}
			}()
			NewRegistry(tt.tools...)
			t.Error("no panic")
		})
	}
}

// Proves REG-05, TOOL-01.
func TestPoolDuplicates(t *testing.T) {
	builtin := plain("Read", Traits{})
	first := plain("mcp__db__q", Traits{Origin: "mcp:db"})
	r := NewRegistry(builtin)
	dynamic := []Tool{
		plain("Read", Traits{Origin: "mcp:evil"}), first, plain("mcp__db__q", Traits{Origin: "mcp:copy"}),
		raw{plain("Y", Traits{Origin: "mcp:odd"}), "a b"},
	}
	p, problems := r.Assemble(dynamic, nil)
	want := []Problem{
		{"Read", "mcp:evil", "the name is taken by " + origin(builtin)},
		{"mcp__db__q", "mcp:copy", "the name is taken by mcp:db"},
		{"a b", "mcp:odd", `tool name "a b" is not 1 to 64 letters, digits, '_' or '-'`},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got, _, _ := p.Lookup("Read"); got != builtin {
		t.Error("a server's tool replaced a built-in one")
	}
	if got, _, _ := p.Lookup("mcp__db__q"); got != first {
		t.Error("the second of two servers' tools won")
	}
	p, problems = r.Assemble(dynamic, nil)
	if len(problems) != 0 {
		t.Errorf("reported twice: %v", problems)
	}
	if diff := cmp.Diff(want, p.Problems()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got, want := want[1].String(), "mcp__db__q from mcp:copy: the name is taken by mcp:db"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// Proves TOOL-02.
func TestPoolAliases(t *testing.T) {
	search := plain("SearchExtraTools", Traits{Aliases: []string{"ToolSearch", "Read", "SearchExtraTools"}})
	read := plain("Read", Traits{})
	late := plain("Zed", Traits{Aliases: []string{"ToolSearch"}})
	p, problems := assembled([]Tool{late, search, read}, nil, nil)
	if got, canonical, ok := p.Lookup("ToolSearch"); !ok || got != search || canonical != "SearchExtraTools" {
		t.Errorf("Lookup(ToolSearch) = %v, %q, %v", got, canonical, ok)
	}
	if got, _, _ := p.Lookup("Read"); got != read {
		t.Error("an alias won over a real name")
	}
	if diff := cmp.Diff([]string{"Read", "SearchExtraTools", "Zed"}, specNames(p)); diff != "" {
		t.Errorf("specs carry more than canonical names (-want +got):\n%s", diff)
	}
	want := []Problem{
		{"Read", origin(search), "alias of SearchExtraTools is the name of a tool from " + origin(read)},
		{"ToolSearch", origin(late), "alias of Zed is already an alias of SearchExtraTools"},
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}

	denied, _ := assembled([]Tool{search, read}, nil, func(name string) bool { return name == "ToolSearch" })
	if diff := cmp.Diff([]string{"Read"}, specNames(denied)); diff != "" {
		t.Errorf("denied by alias (-want +got):\n%s", diff)
	}
}

// Proves LOOP-09.
func TestPoolLeavesOutDeniedTools(t *testing.T) {
	p, _ := assembled([]Tool{plain("Bash", Traits{Aliases: []string{"Shell"}}), plain("Read", Traits{})},
		[]Tool{plain("mcp__db__q", Traits{Origin: "mcp:db"})},
		func(name string) bool { return name == "Bash" || strings.HasPrefix(name, "mcp__db__") })
	if diff := cmp.Diff([]string{"Read"}, specNames(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, name := range []string{"Bash", "Shell", "mcp__db__q"} {
		if _, _, ok := p.Lookup(name); ok {
			t.Errorf("%s can be called", name)
		}
		if err := p.Disabled(name); err == nil || !strings.Contains(err.Error(), "permission rule") {
			t.Errorf("Disabled(%s) = %v", name, err)
		}
	}
	if got := p.Closest("Bsh"); len(got) != 0 {
		t.Errorf("a denied tool is suggested: %v", got)
	}
}

// Proves TOOL-07.
func TestPoolDisabled(t *testing.T) {
	var off error
	tools := []Tool{
		plain("LSP", Traits{Aliases: []string{"Lsp"}, Enabled: func() error { return off }}),
		plain("Broken", Traits{Enabled: func() error { panic("boom") }}),
		plain("Read", Traits{}),
	}
	r := NewRegistry(tools...)
	p, _ := r.Assemble(nil, nil)
	if diff := cmp.Diff([]string{"LSP", "Read"}, specNames(p)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if err := p.Disabled("Broken"); err == nil || err.Error() != "tool Broken is not available: its availability check panicked: boom" {
		t.Errorf("Disabled(Broken) = %v", err)
	}

	off = errors.New("no language server is configured")
	want := "tool LSP is not available: no language server is configured"
	for _, name := range []string{"LSP", "Lsp"} {
		if err := p.Disabled(name); err == nil || err.Error() != want {
			t.Errorf("disabled after assembly: Disabled(%s) = %v, want %s", name, err, want)
		}
	}
	p, _ = r.Assemble(nil, nil)
	if diff := cmp.Diff([]string{"Read"}, specNames(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := p.Disabled("LSP"); err == nil || err.Error() != want {
		t.Errorf("Disabled(LSP) = %v, want %s", err, want)
	}
	for _, name := range []string{"Read", "Nobody", ""} {
		if err := p.Disabled(name); err != nil {
			t.Errorf("Disabled(%q) = %v", name, err)
		}
	}
}

// Proves REG-08.
func TestPoolLookup(t *testing.T) {
	p, _ := assembled([]Tool{
		plain("Read", Traits{}), plain("Bash", Traits{Aliases: []string{"Shell"}}), plain("Write", Traits{}), plain("Edit", Traits{}),
	}, nil, nil)
	tests := []struct {
		name            string
		canonical, fold string
		closest         []string
	}{
		{name: "Read", canonical: "Read", fold: "Read", closest: []string{"Read"}},
		{name: "Shell", canonical: "Bash", fold: "Bash", closest: []string{"Bash"}},
		{name: "read", fold: "Read", closest: []string{"Read"}},
		{name: "SHELL", fold: "Bash", closest: []string{"Bash"}},
		{name: "Reed", closest: []string{"Read"}},
		{name: "Shel", closest: []string{"Bash"}},
		{name: ""},
		{name: "Kubernetes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, canonical, ok := p.Lookup(tt.name); canonical != tt.canonical || ok != (tt.canonical != "") {
				t.Errorf("Lookup = %q, %v, want %q", canonical, ok, tt.canonical)
			}
			if _, canonical, ok := p.Fold(tt.name); canonical != tt.fold || ok != (tt.fold != "") {
				t.Errorf("Fold = %q, %v, want %q", canonical, ok, tt.fold)
			}
			if diff := cmp.Diff(tt.closest, p.Closest(tt.name)); diff != "" {
				t.Errorf("Closest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPoolClosestIsAtMostThree(t *testing.T) {
	var tools []Tool
	for i := range 9 {
		tools = append(tools, plain(fmt.Sprintf("Task%d", i), Traits{}))
	}
	p, _ := assembled(tools, nil, nil)
	if diff := cmp.Diff([]string{"Task0", "Task1", "Task2"}, p.Closest("Task")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves REG-06.
func TestPoolSpecsAreStable(t *testing.T) {
	builtin, dynamic := manyTools(300)
	r := NewRegistry(builtin...)
	first, _ := r.Assemble(dynamic, nil)
	want := sha256.Sum256([]byte(serialise(t, first.Specs())))
	for range 1000 {
		slices.Reverse(dynamic)
		p, _ := r.Assemble(dynamic, nil)
		if &p.Specs()[0] != &first.Specs()[0] || len(p.Specs()) != len(first.Specs()) {
			t.Fatal("an unchanged pool has another slice of specs")
		}
	}
	for range 3 {
		p, _ := assembled(builtin, dynamic, nil)
		if sha256.Sum256([]byte(serialise(t, p.Specs()))) != want {
			t.Fatal("a registry of the same tools serialises differently")
		}
	}
	fewer, _ := r.Assemble(dynamic[1:], nil)
	if len(fewer.Specs()) != len(first.Specs())-1 {
		t.Fatal("a tool that left is still there")
	}
}

func TestCheckName(t *testing.T) {
	for name, want := range map[string]bool{
		"Read": true, "mcp__a-b__C9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "ä": false, "a.b": false, "a\n": false, "a/b": false, "*": false,
	} {
		if err := CheckName(name); (err == nil) != want {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

// Proves REG-03.
func TestPoolFollowsChanges(t *testing.T) {
	r := NewRegistry(plain("Read", Traits{}))
	p, _ := r.Assemble(nil, nil)
	if _, _, ok := p.Lookup("mcp__db__q"); ok {
		t.Fatal("a tool before its server")
	}
	old := plain("mcp__db__q", Traits{Origin: "mcp:db"})
	p, _ = r.Assemble([]Tool{old}, nil)
	if got, _, _ := p.Lookup("mcp__db__q"); got != old {
		t.Fatal("a connected server's tool is missing")
	}
	again := plain("mcp__db__q", Traits{Origin: "mcp:db"})
	if p, _ = r.Assemble([]Tool{again}, nil); p.tools["mcp__db__q"] != again {
		t.Error("after a reconnection the pool calls the old server's tool")
	}

}

func manyTools(n int) (builtin, dynamic []Tool) {
	for i := range n {
		tr := Traits{Aliases: []string{fmt.Sprintf("old%d", i)}, Enabled: func() error { return nil }}
		if i < 40 {
			builtin = append(builtin, plain(fmt.Sprintf("Tool%d", n-i), tr))
			continue
		}
		tr.Origin = fmt.Sprintf("mcp:s%d", i%7)
		dynamic = append(dynamic, plain(fmt.Sprintf("mcp__s%d__t%d", i%7, n-i), tr))
	}
	return builtin, dynamic
}

func BenchmarkAssemble(b *testing.B) {
	for _, n := range []int{300, 2000} {
		builtin, dynamic := manyTools(n)
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) {
			r := NewRegistry(builtin...)
			b.ReportAllocs()
			for b.Loop() {
				r.Assemble(dynamic, func(string) bool { return false })
			}
		})
		b.Run(fmt.Sprintf("changed/%d", n), func(b *testing.B) {
			r := NewRegistry(builtin...)
			for i := 0; b.Loop(); i++ {
				r.Assemble(dynamic[i%2:], func(string) bool { return false })
			}
		})
	}
}

// TestPoolIsAssembledOnce checks that a pool is assembled again only if something changed,
// however many dynamic tools there are.
func TestPoolIsAssembledOnce(t *testing.T) {
	builtin, dynamic := manyTools(2040)
	var off error
	var hidden string
	dynamic = append(dynamic, plain("mcp__s__last", Traits{Origin: "mcp:s", Enabled: func() error { return off }}))
	denied := func(name string) bool { return name == hidden }
	r := NewRegistry(builtin...)
	first, _ := r.Assemble(dynamic, denied)
	if allocs := testing.AllocsPerRun(20, func() {
		if p, _ := r.Assemble(dynamic, denied); p != first {
			t.Fatal("an unchanged pool was assembled again")
		}
	}); allocs != 0 {
		t.Errorf("an unchanged pool costs %v allocations", allocs)
	}
	for name, change := range map[string]func(){
		"a tool is disabled":      func() { off = errors.New("off") },
		"a tool is denied":        func() { off, hidden = nil, "Tool2040" },
		"an alias is denied":      func() { hidden = "old7" },
		"a tool leaves":           func() { dynamic = dynamic[1:] },
		"a server connects again": func() { dynamic = append([]Tool{plain(dynamic[0].Spec().Name, Traits{})}, dynamic[1:]...) },
		"two tools are indistinguishable": func() {
			dynamic = append(dynamic[:len(dynamic):len(dynamic)], odd{plain("mcp__odd", Traits{}), nil})
		},
	} {
		before, _ := r.Assemble(dynamic, denied)
		change()
		if after, _ := r.Assemble(dynamic, denied); after == before {
			t.Errorf("%s: the pool is the old one", name)
		}
		off, hidden = nil, ""
	}
}

// odd is a tool whose type is not comparable.
type odd struct {
	Tool
	_ []int
}

// assembled returns the pool for builtin and dynamic.
func assembled(builtin, dynamic []Tool, denied func(name string) bool) (*Pool, []Problem) {
	return NewRegistry(builtin...).Assemble(dynamic, denied)
}

// TestPoolDefers checks that a deferred tool can be called without being sent.
func TestPoolDefers(t *testing.T) {
	r := NewRegistry(plain("Read", Traits{}), plain("Brief", Traits{Aliases: []string{"Short"}}))
	core := map[string]bool{"Read": true}
	r.Deferred = func(name string, t *Traits) bool { return !t.Core && !core[name] }
	dynamic := []Tool{plain("mcp__db__q", Traits{Origin: "mcp:db"}), plain("mcp__db__x", Traits{Origin: "mcp:db", Core: true})}
	p, _ := r.Assemble(dynamic, nil)
	if diff := cmp.Diff([]string{"Read", "mcp__db__x"}, specNames(p)); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	for _, name := range []string{"Read", "Brief", "Short", "mcp__db__q", "mcp__db__x"} {
		if _, _, ok := p.Lookup(name); !ok {
			t.Errorf("%s cannot be called", name)
		}
	}
	if _, canonical, ok := p.Fold("brief"); !ok || canonical != "Brief" {
		t.Errorf("Fold finds %q", canonical)
	}
	if diff := cmp.Diff([]string{"Brief"}, p.Closest("Brie")); diff != "" {
		t.Errorf("closest (-want +got):\n%s", diff)
	}
	core["Brief"] = true
	if p, _ = r.Assemble(dynamic, nil); len(p.Specs()) != 3 {
		t.Errorf("after it was made core: %v", specNames(p))
	}
}

// TestPoolDoors checks that a tool with Door is present exactly while tools are deferred, and
// that forwarded uses are resolved either way.
func TestPoolDoors(t *testing.T) {
	run := NewForwarder(Def{Name: "Run", Schema: []byte(`{"type":"object"}`), Traits: Traits{Dispatcher: true, Aliases: []string{"Invoke"}}})
	r := NewRegistry(plain("Read", Traits{}), run, plain("Find", Traits{Dispatcher: true}), plain("Cron", Traits{Aliases: []string{"Timer"}}))
	r.Deferred = func(name string, _ *Traits) bool { return name != "Read" }
	on, asked := true, [][]Tool{}
	r.Defers = func(deferred []Tool) bool { asked = append(asked, deferred); return on }
	dynamic := []Tool{plain("mcp__b__x", Traits{Origin: "mcp:b"}), plain("mcp__a__x", Traits{Origin: "mcp:a"})}

	p, _ := r.Assemble(dynamic, nil)
	if diff := cmp.Diff([]string{"Find", "Read", "Run"}, specNames(p)); diff != "" {
		t.Errorf("sent while tools are deferred (-want +got):\n%s", diff)
	}
	var names []string
	for _, t := range p.Deferred() {
		names = append(names, t.Spec().Name)
	}
	if diff := cmp.Diff([]string{"Cron", "mcp__a__x", "mcp__b__x"}, names); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	if again, _ := r.Assemble(dynamic, nil); again != p {
		t.Error("another pool, though nothing changed")
	}
	for _, deferred := range asked {
		if &deferred[0] != &p.Deferred()[0] {
			t.Error("Defers was called with another slice, though nothing changed")
		}
	}
	if !p.IsDeferred("Cron") || p.IsDeferred("Read") || p.IsDeferred("Run") {
		t.Error("IsDeferred is wrong about Cron, Read or Run")
	}

	use := msg.NewToolUse("1", "Invoke", `{"tool_name":"Timer","params":{"a":1}}`)
	see := func(when string, p *Pool) {
		got := p.Forwarded(use)
		if diff := cmp.Diff(&msg.ToolUse{ID: "1", Name: "Cron", Input: []byte(`{"a":1}`)}, got); diff != "" {
			t.Errorf("%s, seen through the door (-want +got):\n%s", when, diff)
		}
		if direct := msg.NewToolUse("2", "Cron", `{}`); p.Forwarded(direct) != direct {
			t.Errorf("%s, a direct use is another one", when)
		}
	}
	see("while tools are deferred", p)
	on = false
	p, _ = r.Assemble(dynamic, nil)
	if diff := cmp.Diff([]string{"Cron", "Read", "mcp__a__x", "mcp__b__x"}, specNames(p)); diff != "" {
		t.Errorf("sent while none is deferred (-want +got):\n%s", diff)
	}
	if _, _, ok := p.Lookup("Run"); ok || p.Disabled("Invoke") == nil || len(p.Deferred()) > 0 {
		t.Error("the door is open though nothing is behind it")
	}
	see("while none is deferred", p)
}

// TestForward checks the variants that models write for a forwarder's two fields.
func TestForward(t *testing.T) {
	f := NewForwarder(Def{Name: "Run"})
	for _, test := range []struct{ in, name, params, err string }{
		{`{"tool_name":"A","params":{"x":[1, 2]}}`, "A", `{"x":[1, 2]}`, ""},
		{`{"tool_name":"A","params":"{\"x\": 1}"}`, "A", `{"x": 1}`, ""},
		{`{"tool_name":"A","params":"x"}`, "A", `"x"`, ""},
		{`{"tool_name":"A","params":"[1]"}`, "A", `"[1]"`, ""},
		{`{"tool_name":"A","params":"null"}`, "A", `"null"`, ""},
		{`{"tool_name":"A","params":[1]}`, "A", `[1]`, ""},
		{`{"tool_name":"A"}`, "A", `{}`, ""},
		{`{"tool_name":"A","params":null}`, "A", `{}`, ""},
		{`{"name":"A"}`, "A", `{}`, ""},
		{`{"name":"A","arguments":{"x":1}}`, "A", `{"x":1}`, ""},
		{`{"toolName":"A","input":{"x":1}}`, "A", `{"x":1}`, ""},
		{`{"params":{}}`, "", "", "tool_name: required, but missing"},
		{`{"tool_name":"","params":{}}`, "", "", "tool_name"},
		{`{"tool_name":["A"],"params":{}}`, "", "", "tool_name"},
		{`{"tool_name":"A","x":1}`, "", "", "x"},
		{`{"tool_name":"A","tool_name":"B","params":{}}`, "", "", "given twice"},
		{`{"tool_name":"A","params":{"x":1,"x":2}}`, "", "", "given twice"},
		{`[]`, "", "", "expected"},
	} {
		name, params, err := f.Forward([]byte(test.in))
		if name != test.name || string(params) != test.params || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %q %s %v", test.in, name, params, err)
		}
	}
}
