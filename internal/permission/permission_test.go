package permission

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"adze/internal/msg"
	"adze/internal/tool"
)

// input is a command whose words say what it is.
type input struct {
	Command string `json:"command"`
}

func (in input) ReadOnly() bool { return strings.HasPrefix(in.Command, "look") }

func (in input) Match(content string) (bool, error) {
	if content == "broken" {
		return true, errors.New("broken")
	}
	return content == in.Command, nil
}

func newTool(name string, aliases ...string) tool.Tool {
	def := tool.Def{Name: name, Doc: "Does.", Schema: json.RawMessage(`{"type":"object"}`), Traits: tool.Traits{Aliases: aliases}}
	return tool.New(def, func(context.Context, input, func(tool.Progress)) (tool.Result, error) { return tool.Text("ok"), nil })
}

func use(t testing.TB, tl tool.Tool, command string) *tool.Use {
	t.Helper()
	raw, err := json.Marshal(input{command})
	if err != nil {
		t.Fatal(err)
	}
	call, err := tl.Bind(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Use{ToolUse: msg.ToolUse{ID: "1", Name: tl.Spec().Name, Input: raw}, Tool: tl, Call: call}
}

func judge(t testing.TB, c Config, tl tool.Tool, command string) tool.Verdict {
	t.Helper()
	u := use(t, tl, command)
	if err := New(c).Before(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	return u.Verdict
}

func TestGate(t *testing.T) {
	bash := newTool("Bash", "Shell")
	tests := []struct {
		name    string
		config  Config
		command string
		want    tool.Decision
		by      string
	}{
		{"nothing given", Config{}, "make", tool.Deny, "mode default"},
		{"reading", Config{}, "look", tool.Allow, "read-only"},
		{"reading in plan mode", Config{Mode: Plan}, "look", tool.Allow, "read-only"},
		{"plan mode", Config{Mode: Plan}, "make", tool.Deny, "mode plan"},
		{"plan mode beats allow rules", Config{Mode: Plan, Allow: []string{"Bash", "Bash(make)"}}, "make", tool.Deny, "mode plan"},
		{"bypass", Config{Mode: Bypass}, "make", tool.Allow, "mode bypassPermissions"},
		{"other modes", Config{Mode: AcceptEdits}, "make", tool.Deny, "mode acceptEdits"},
		{"mode nobody knows", Config{Mode: "lenient"}, "make", tool.Deny, "mode lenient"},
		{"nobody to ask", Config{Mode: DontAsk}, "make", tool.Deny, "mode dontAsk"},

		{"allowed tool", Config{Allow: []string{"Bash"}}, "make", tool.Allow, `rule "Bash" from --allowed-tools`},
		{"allowed by alias", Config{Allow: []string{"Shell"}}, "make", tool.Allow, `rule "Shell" from --allowed-tools`},
		{"allowed with a star", Config{Allow: []string{"Bash(*)"}}, "make", tool.Allow, `rule "Bash(*)" from --allowed-tools`},
		{"another tool allowed", Config{Allow: []string{"Edit"}}, "make", tool.Deny, "mode default"},
		{"names are exact", Config{Allow: []string{"bash", "Bas"}}, "make", tool.Deny, "mode default"},
		{"allowed command", Config{Allow: []string{"Bash(make)"}}, "make", tool.Allow, `rule "Bash(make)" from --allowed-tools`},
		{"another command allowed", Config{Allow: []string{"Bash(make)"}}, "make x", tool.Deny, "mode default"},
		{"prefixes allow nothing yet", Config{Allow: []string{"Bash(make *)", "Bash(make:*)"}}, "make x", tool.Deny, "mode default"},
		{"broken matcher allows nothing", Config{Allow: []string{"Bash(broken)"}}, "make", tool.Deny, "mode default"},
		{"broken rule allows nothing", Config{Allow: []string{"Bash(make", "Bash(make))", "*", ""}}, "make", tool.Deny, "mode default"},

		{"denied tool", Config{Mode: Bypass, Deny: []string{"Bash"}}, "make", tool.Deny, `rule "Bash" from --disallowed-tools`},
		{"denied by alias", Config{Mode: Bypass, Deny: []string{"Shell"}}, "make", tool.Deny, `rule "Shell" from --disallowed-tools`},
		{"denied beats allowed", Config{Allow: []string{"Bash(make)"}, Deny: []string{"Bash"}}, "make", tool.Deny, `rule "Bash" from --disallowed-tools`},
		{"denied beats reading", Config{Deny: []string{"Bash"}}, "look", tool.Deny, `rule "Bash" from --disallowed-tools`},
		{"denied content denies all", Config{Mode: Bypass, Deny: []string{"Bash(rm *)"}}, "make", tool.Deny, `rule "Bash(rm *)" from --disallowed-tools`},
		{"broken denial denies all", Config{Mode: Bypass, Deny: []string{"Bash(rm"}}, "make", tool.Deny, `rule "Bash(rm" from --disallowed-tools`},
		{"denial of nobody", Config{Mode: Bypass, Deny: []string{"(rm)"}}, "make", tool.Deny, `rule "(rm)" from --disallowed-tools`},
		{"denial of nobody spares reading", Config{Mode: Bypass, Deny: []string{"(rm)"}}, "look", tool.Allow, "read-only"},
		{"another tool denied", Config{Mode: Bypass, Deny: []string{"Edit", "Edit(x"}}, "make", tool.Allow, "mode bypassPermissions"},
		{"source", Config{Deny: []string{"Bash"}, DenySource: "~/.adze/settings.json"}, "make", tool.Deny, `rule "Bash" from ~/.adze/settings.json`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := judge(t, tt.config, newTool("Bash", bash.Traits().Aliases...), tt.command)
			if got.Decision != tt.want || got.By != tt.by {
				t.Errorf("decision %d by %q, want %d by %q", got.Decision, got.By, tt.want, tt.by)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"mode", Config{}, "Bash is not allowed: no rule allows it, and in permission mode default nobody is asked. The user can allow it with --allowed-tools Bash, or everything with --permission-mode bypassPermissions. " + noRepeat},
		{"plan", Config{Mode: Plan}, "In plan mode only calls that change nothing are allowed, and this call of Bash may change something. Finish the plan instead. " + noRepeat},
		{"rule", Config{Deny: []string{"Shell"}}, `The rule "Shell" from --disallowed-tools denies Bash. ` + noRepeat},
		{"content", Config{Deny: []string{"Bash(rm *)"}}, `The rule "Bash(rm *)" from --disallowed-tools denies some calls of Bash. Which ones cannot be told yet, so it denies all of them. ` + noRepeat},
		{"broken", Config{Deny: []string{"Bash(rm"}}, `The rule "Bash(rm" from --disallowed-tools cannot be read, so it denies every call of Bash until it is corrected. ` + noRepeat},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := judge(t, tt.config, newTool("Bash", "Shell"), "make")
			if diff := cmp.Diff(tt.want, got.Reason); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGateNeverLowersAVerdict(t *testing.T) {
	u := use(t, newTool("Bash"), "make")
	u.Verdict.Decide(tool.Deny, "hook", "no")
	if err := New(Config{Mode: Bypass}).Before(t.Context(), u); err != nil || u.Verdict.By != "hook" {
		t.Errorf("verdict %+v, %v", u.Verdict, err)
	}
	if err := New(Config{Mode: Bypass}).Before(t.Context(), &tool.Use{}); err == nil {
		t.Error("a use that was never bound passed")
	}
}

func TestOnDeny(t *testing.T) {
	var denied []string
	g := New(Config{Allow: []string{"Bash(make)"}, OnDeny: func(u *tool.Use) { denied = append(denied, string(u.Input)) }})
	for _, command := range []string{"make", "rm", "look", "mv"} {
		if err := g.Before(t.Context(), use(t, newTool("Bash"), command)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{`{"command":"rm"}`, `{"command":"mv"}`}, denied); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProblems(t *testing.T) {
	g := New(Config{Allow: []string{"Bash(x", "Read"}, Deny: []string{"a b", "(x)"}})
	var got []string
	for _, err := range g.Problems() {
		got = append(got, err.Error())
	}
	want := []string{
		`rule "Bash(x" from --allowed-tools: its parentheses are not balanced; write \( for one that is meant literally`,
		`rule "a b" from --disallowed-tools: tool name "a b" is not 1 to 64 letters, digits, '_' or '-'`,
		`rule "(x)" from --disallowed-tools: it does not name a tool`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves PERM-07.
func TestServerRules(t *testing.T) {
	tests := []struct {
		rule string
		want []string // of the tools below
	}{
		{"mcp__db", []string{"mcp__db__query", "mcp__db__drop__all"}},
		{"mcp__db__*", []string{"mcp__db__query", "mcp__db__drop__all"}},
		{"mcp__db__query", []string{"mcp__db__query"}},
		{"mcp__db__drop", nil},
		{"mcp__db__drop__*", []string{"mcp__db__drop__all"}},
		{"query", nil},
		{"mcp__", nil},
		{"Bash", []string{"Bash"}},
		{"Bash(query)", nil},
	}
	all := []string{"Bash", "mcp__db__query", "mcp__db__drop__all", "mcp__db2__query", "mcp__database__query"}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			denied := WholeTool([]string{tt.rule})
			var got []string
			for _, name := range all {
				if denied(name) {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			for _, name := range all {
				v := judge(t, Config{Allow: []string{tt.rule}}, newTool(name), "make")
				if (v.Decision == tool.Allow) != slices.Contains(tt.want, name) {
					t.Errorf("as an allow rule it decides %d on %s", v.Decision, name)
				}
			}
		})
	}
}

// Proves REG-02, TOOL-02.
func TestDeniedToolsLeaveThePool(t *testing.T) {
	builtin := []tool.Tool{newTool("Bash", "Shell"), newTool("SearchExtraTools", "ToolSearch"), newTool("Read")}
	dynamic := []tool.Tool{newTool("mcp__db__query"), newTool("mcp__db__drop"), newTool("mcp__db2__query")}
	pool, _ := tool.Assemble(builtin, dynamic, WholeTool([]string{"mcp__db", "Bash(rm *)", "ToolSearch", "Read(", "Nobody"}))
	var got []string
	for _, s := range pool.Specs() {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"Bash", "Read", "mcp__db2__query"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRule(t *testing.T) {
	tests := []struct {
		text string
		want Rule
		err  string
	}{
		{"Bash", Rule{Tool: "Bash"}, ""},
		{" Bash ", Rule{Tool: "Bash"}, ""},
		{"Bash()", Rule{Tool: "Bash"}, ""},
		{"Bash(*)", Rule{Tool: "Bash"}, ""},
		{"Bash(go test)", Rule{Tool: "Bash", Content: "go test"}, ""},
		{"Bash(a, b)", Rule{Tool: "Bash", Content: "a, b"}, ""},
		{`Bash(echo \) \\ \n)`, Rule{Tool: "Bash", Content: `echo ) \ \n`}, ""},
		{"Bash(f(x) y)", Rule{Tool: "Bash", Content: "f(x) y"}, ""},
		{"mcp__db__*", Rule{Tool: "mcp__db"}, ""},
		{"Bash(x", Rule{Tool: "Bash", broken: true}, "not balanced"},
		{"Bash(x)y", Rule{Tool: "Bash", broken: true}, "follows the closing"},
		{"Bash)", Rule{broken: true}, "tool name"},
		{"", Rule{broken: true}, "does not name a tool"},
		{"*", Rule{broken: true}, "tool name"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseRule(tt.text)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Rule{}), cmpopts.IgnoreFields(Rule{}, "text")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q in it", err, tt.err)
			}
		})
	}
}

func TestRulesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Rule{
			Tool:    rapid.StringMatching(`[A-Za-z][A-Za-z0-9_-]{0,20}`).Draw(t, "tool"),
			Content: strings.TrimSpace(rapid.StringOf(rapid.RuneFrom([]rune(`ab ()\*,:`))).Draw(t, "content")),
		}
		if want.Content == "*" {
			want.Content = ""
		}
		got, err := ParseRule(want.String())
		if err != nil || got.Tool != want.Tool || got.Content != want.Content {
			t.Fatalf("%q reads as %+v, %v", want.String(), got, err)
		}
		if list := SplitRules("A, " + want.String() + ",B"); len(list) != 3 || list[1] != want.String() {
			t.Fatalf("in a list %q becomes %q", want.String(), list)
		}
	})
}

func TestSplitRules(t *testing.T) {
	tests := map[string][]string{
		"A,B(x, y)":       {"A", "B(x, y)"},
		"A B(x y)\tC":     {"A", "B(x y)", "C"},
		" , A ,, ":        {"A"},
		"":                nil,
		`B(\), C) D`:      {`B(\), C)`, "D"},
		"B(f(x, y), z),C": {"B(f(x, y), z)", "C"},
		"B(x, C":          {"B(x, C"},
		`A\`:              {`A\`},
		"B(x)),C":         {"B(x))", "C"},
	}
	for list, want := range tests {
		if diff := cmp.Diff(want, SplitRules(list)); diff != "" {
			t.Errorf("SplitRules(%q) (-want +got):\n%s", list, diff)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range append(Modes(), "manual") {
		got, err := ParseMode(string(m))
		if err != nil || got != m && m != "manual" || m == "manual" && got != Default {
			t.Errorf("ParseMode(%q) = %q, %v", m, got, err)
		}
	}
	const list = "choose one of default, acceptEdits, plan, auto, dontAsk, bypassPermissions"
	for name, want := range map[string]string{
		"acceptedits": `unknown permission mode "acceptedits": ` + list + "; did you mean acceptEdits?",
		"bypass":      `unknown permission mode "bypass": ` + list + "; did you mean bypassPermissions?",
		"":            `unknown permission mode "": ` + list,
		"bubble":      `unknown permission mode "bubble": ` + list,
	} {
		if _, err := ParseMode(name); err == nil || err.Error() != want {
			t.Errorf("ParseMode(%q) = %v, want %s", name, err, want)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"Bash", "Bash(x)", `A(\)`, "(", "mcp__a__*", "mcp____*", "mcp__*", "a(b(c)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if (err != nil) != r.broken {
			t.Fatalf("ParseRule(%q) = %+v, %v", text, r, err)
		}
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.Tool != r.Tool || again.Content != r.Content {
			t.Fatalf("%q reads as %+v, and that as %+v, %v", text, r, again, err)
		}
		SplitRules(text)
	})
}
