package permission

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// TestSteps has cases whose result would change if their step were moved.
//
// Proves PERM-15.
func TestSteps(t *testing.T) {
	w := newWorld(t)
	out := filepath.Join(w.outside, "data.txt")
	tests := []struct {
		name  string
		mode  Mode
		saved Mode
		rules []string
		tool  string
		in    call
		hook  string // "allow" or "ask"
		want  Behavior
		by    ReasonType
		firm  bool
	}{
		// Step 1: a hook's allow is a whole-tool allow at step 6, no more.
		{"hook allow after a whole-tool deny", Default, "", []string{"deny Bash"}, "Bash", runs("make"), "allow", Deny, ByRule, false},
		{"hook allow after a content deny", Default, "", []string{"deny Bash(make:*)"}, "Bash", runs("make"), "allow", Deny, ByRule, false},
		{"hook allow after an ask rule", Default, "", []string{"ask Bash(make:*)"}, "Bash", runs("make"), "allow", Ask, ByRule, true},
		{"hook allow after a safety check", Default, "", nil, "Edit", writesTo(".git/config"), "allow", Ask, BySafety, true},
		{"hook allow after plan mode", Plan, "", nil, "Bash", runs("make"), "allow", Deny, ByMode, false},
		{"hook allow instead of the question", Default, "", nil, "Bash", runs("make"), "allow", Allow, ByHook, false},
		{"hook ask against allow rules", Default, "", []string{"allow Bash"}, "Bash", runs("make"), "ask", Ask, ByHook, true},
		{"hook ask against bypass", Bypass, "", nil, "Bash", runs("make"), "ask", Ask, ByHook, true},
		{"hook ask against a deny", Default, "", []string{"deny Bash(make)"}, "Bash", runs("make"), "ask", Deny, ByRule, false},
		// Step 2 before 3, 4 and 6.
		{"whole deny before whole ask", Default, "", []string{"deny Bash", "ask Bash"}, "Bash", runs("ls"), "", Deny, ByRule, false},
		{"whole deny before reading", Default, "", []string{"deny Read"}, "Read", reads("main.go"), "", Deny, ByRule, false},
		{"whole deny before whole allow", Bypass, "", []string{"deny Bash", "allow Bash"}, "Bash", runs("ls"), "", Deny, ByRule, false},
		// Step 3: at least ask, and step 4 may still deny.
		{"whole ask and content deny", Default, "", []string{"ask Bash", "deny Bash(rm:*)"}, "Bash", runs("rm x"), "", Deny, ByRule, false},
		{"whole ask before bypass", Bypass, "", []string{"ask Bash"}, "Bash", runs("ls"), "", Ask, ByRule, true},
		{"whole ask before content allow", Default, "", []string{"ask Bash", "allow Bash(make)"}, "Bash", runs("make"), "", Ask, ByRule, true},
		{"whole ask before whole allow", Default, "", []string{"ask Bash", "allow Bash"}, "Bash", runs("make"), "", Ask, ByRule, true},
		{"whole ask and a read", Default, "", []string{"ask Read"}, "Read", reads("main.go"), "", Ask, ByRule, true},
		// Step 4 before 5 and 6.
		{"content deny before bypass", Bypass, "", []string{"deny Bash(rm:*)"}, "Bash", runs("rm x"), "", Deny, ByRule, false},
		{"content deny before whole allow", Default, "", []string{"deny Bash(rm:*)", "allow Bash"}, "Bash", runs("rm x"), "", Deny, ByRule, false},
		{"content ask before bypass", Bypass, "", []string{"ask Bash(rm:*)"}, "Bash", runs("rm x"), "", Ask, ByRule, true},
		{"content ask before whole allow", Default, "", []string{"ask Bash(rm:*)", "allow Bash"}, "Bash", runs("rm x"), "", Ask, ByRule, true},
		{"safety check before bypass", Bypass, "", nil, "Edit", writesTo(".git/config"), "", Ask, BySafety, true},
		{"safety check before whole allow", Default, "", []string{"allow Edit"}, "Edit", writesTo(".git/config"), "", Ask, BySafety, true},
		{"a person before bypass", Bypass, "", nil, "AskUserQuestion", call{Person: true, Plans: true}, "", Ask, ByOther, true},
		{"a person before whole allow", Default, "", []string{"allow AskUserQuestion"}, "AskUserQuestion", call{Person: true, Plans: true}, "", Ask, ByOther, true},
		{"content deny before the person", Default, "", []string{"deny ExitPlanMode"}, "ExitPlanMode", call{Person: true, Plans: true}, "", Deny, ByRule, false},
		{"content allow in step 4", Default, "", []string{"allow Bash(make)"}, "Bash", runs("make"), "", Allow, ByRule, false},
		// Step 5 before 6.
		{"plan before whole allow", Plan, "", []string{"allow Bash"}, "Bash", runs("make"), "", Deny, ByMode, false},
		{"plan before content allow", Plan, "", []string{"allow Bash(make)"}, "Bash", runs("make"), "", Deny, ByMode, false},
		{"plan after bypass asks", Plan, Bypass, []string{"allow Bash"}, "Bash", runs("make"), "", Ask, ByMode, true},
		{"plan after a content deny", Plan, Bypass, []string{"deny Bash(make)"}, "Bash", runs("make"), "", Deny, ByRule, false},
		{"bypass", Bypass, "", nil, "Bash", runs("make"), "", Allow, ByMode, false},
		// Step 6 before 7 and 8.
		{"whole allow before the question", Default, "", []string{"allow Bash"}, "Bash", runs("make"), "", Allow, ByRule, false},
		{"whole allow of what step 4 asks about", Default, "", []string{"allow Read"}, "Read", reads(out), "", Allow, ByRule, false},
		{"whole allow before dontAsk", DontAsk, "", []string{"allow Bash"}, "Bash", runs("make"), "", Allow, ByRule, false},
		// Step 7.
		{"no opinion becomes an ask", Default, "", nil, "Mystery", call{}, "", Ask, ByOther, false},
		{"no opinion is denied by dontAsk", DontAsk, "", nil, "Mystery", call{}, "", Deny, ByMode, false},
		// Step 8.
		{"dontAsk denies what asks", DontAsk, "", nil, "Bash", runs("make"), "", Deny, ByMode, false},
		{"dontAsk denies what a rule asks about", DontAsk, "", []string{"ask Bash(make)"}, "Bash", runs("make"), "", Deny, ByMode, false},
		{"dontAsk denies what a safety check asks about", DontAsk, "", nil, "Edit", writesTo(".git/config"), "", Deny, ByMode, false},
		{"dontAsk lets reading pass", DontAsk, "", nil, "Read", reads("main.go"), "", Allow, ByWorkingDir, false},
		{"auto leaves asks to the classifier", Auto, "", nil, "Bash", runs("make"), "", Ask, ByOther, false},
		{"auto leaves ask rules to the person", Auto, "", []string{"ask Bash(make)"}, "Bash", runs("make"), "", Ask, ByRule, true},
		{"auto leaves safety checks to the person", Auto, "", nil, "Edit", writesTo(".git/config"), "", Ask, BySafety, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := w.config(tt.mode, tt.rules...)
			c.Saved = tt.saved
			p := Compile(c)
			u := newUse(t, fake{name: tt.tool}, tt.in)
			switch tt.hook {
			case "allow":
				u.Verdict.HookAllow = "check"
			case "ask":
				u.Verdict.Decide(tool.Ask, "hook check", "look")
			}
			d := Decide(p, factsOf(p, u))
			if d.Behavior != tt.want || d.Reason.Type() != tt.by || d.Firm != tt.firm {
				t.Errorf("%s by %s, firm %v, want %s by %s, %v (%s)", d.Behavior, d.Reason.Type(), d.Firm, tt.want, tt.by, tt.firm, d.Reason.String())
			}
		})
	}
}

// Proves PERM-20, PERM-23.
func TestModeMatrix(t *testing.T) {
	w := newWorld(t)
	out := filepath.Join(w.outside, "x")
	calls := []struct {
		name, tool string
		in         call
	}{
		{"read", "Read", reads("main.go")},
		{"edit inside", "Edit", writesTo("main.go")},
		{"edit outside", "Edit", writesTo(out)},
		{"safe shell", "Bash", runs("ls -l src")},
		{"file shell", "Bash", runs("mkdir new && touch new/x && cp main.go new/y && mv new/y new/z")},
		{"file shell outside", "Bash", runs("cp main.go " + out)},
		{"removing shell", "Bash", runs("rm main.go")},
		{"unsafe shell", "Bash", runs("make install")},
		{"web", "WebFetch", connects("https://example.org/x")},
		{"denied", "Bash", runs("git push")},
		{"asked", "Bash", runs("git fetch")},
		{"protected", "Edit", writesTo(".git/config")},
		{"person", "AskUserQuestion", call{Person: true, Plans: true}},
	}
	want := map[Mode]string{ //   read  edit  out   safe  file  f.out rm    unsafe web  denied asked prot person
		Default:     "allow ask   ask   allow ask   ask   ask   ask   ask   deny  ask   ask  ask",
		AcceptEdits: "allow allow ask   allow allow ask   ask   ask   ask   deny  ask   ask  ask",
		Plan:        "allow deny  deny  allow deny  deny  deny  deny  ask   deny  deny  deny ask",
		Auto:        "allow allow ask   allow allow ask   ask   ask   ask   deny  ask   ask  ask",
		DontAsk:     "allow deny  deny  allow deny  deny  deny  deny  deny  deny  deny  deny deny",
		Bypass:      "allow allow allow allow allow allow allow allow allow deny  ask   ask  ask",
	}
	for mode, row := range want {
		var got []string
		for _, c := range calls {
			d := decide(t, w.config(mode, "deny Bash(git push:*)", "ask Bash(git fetch:*)"), c.tool, c.in)
			got = append(got, string(d.Behavior))
		}
		if diff := cmp.Diff(fields(row), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mode, diff)
		}
	}
}

func fields(s string) []string {
	var all []string
	for word := ""; ; {
		var ok bool
		if word, s, ok = cutSpace(s); word != "" {
			all = append(all, word)
		}
		if !ok {
			return all
		}
	}
}

// Proves PERM-05.
func TestSources(t *testing.T) {
	w := newWorld(t)
	rank := map[Behavior]int{Allow: 0, Ask: 1, Deny: 2}
	scopes := []scope.Scope{scope.Managed, scope.Flag, scope.CLI, scope.Command, scope.Session, scope.Local, scope.Project, scope.User}
	for _, a := range scopes {
		for _, b := range scopes {
			for _, one := range []Behavior{Allow, Ask, Deny} {
				for _, other := range []Behavior{Allow, Ask, Deny} {
					c := w.config(Default)
					c.Rules = append(parseRules(a, string(one)+" Bash(make:*)"), parseRules(b, string(other)+" Bash(make)")...)
					want := one
					if rank[other] > rank[one] {
						want = other
					}
					d := decide(t, c, "Bash", runs("make"))
					if d.Behavior != want {
						t.Errorf("%s %s and %s %s: %s", a, one, b, other, d.Behavior)
					}
					c.ManagedOnly = true
					managed := Behavior(Ask) // a call that no rule allows
					switch {
					case a == scope.Managed && b == scope.Managed:
						managed = want
					case a == scope.Managed:
						managed = one
					case b == scope.Managed:
						managed = other
					}
					if d := decide(t, c, "Bash", runs("make")); d.Behavior != managed {
						t.Errorf("managed rules only, %s %s and %s %s: %s, want %s", a, one, b, other, d.Behavior, managed)
					}
				}
			}
		}
	}
}

// Proves PERM-01.
func TestEveryDecisionHasAReason(t *testing.T) {
	w := newWorld(t)
	for _, mode := range Modes() {
		for _, rule := range []string{"allow Bash", "ask Bash", "deny Bash", "deny Bash(x", "deny (", "allow Bash(ls:*)"} {
			for name, in := range map[string]call{"Bash": runs("ls | wc && make"), "Read": reads("/etc/x"), "X": {}, "WebFetch": connects("::")} {
				d := decide(t, w.config(mode, rule), name, in)
				if d.Reason.Type() == "" || d.Reason.String() == "" || d.Behavior == "" {
					t.Errorf("%s, %s, %s: %+v", mode, rule, name, d)
				}
				if d.Reason.Type() == ByRule && (d.Reason.Rule == nil || d.Reason.Rule.Scope != scope.User) {
					t.Errorf("%s, %s, %s: a rule without its source", mode, rule, name)
				}
			}
		}
	}
}

func TestBrokenRules(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		rule, tool string
		in         call
		want       Behavior
	}{
		{"deny Bash(rm", "Bash", runs("ls"), Deny},
		{"deny Bash(rm", "Read", reads("main.go"), Allow},
		{"ask Bash(rm", "Bash", runs("ls"), Ask},
		{"allow Bash(make", "Bash", runs("make"), Ask},
		{"deny (rm)", "Bash", runs("make"), Ask},
		{"deny (rm)", "Bash", runs("ls"), Allow},
		{"deny (rm)", "Read", reads("main.go"), Allow},
		{"ask (rm)", "Edit", writesTo("main.go"), Ask},
		{"deny Todo(x)", "Todo", call{Reads: true}, Deny}, // Todo has no matcher
		{"ask Todo(x)", "Todo", call{Reads: true}, Ask},
		{"allow Todo(x)", "Todo", call{}, Ask},
		{"deny WebFetch(example.org)", "WebFetch", connects("https://other.org"), Deny},
		{"deny WebFetch(https://example.org/x)", "WebFetch", connects("https://example.org/y"), Deny},
		{"allow WebFetch(https://example.org/x)", "WebFetch", connects("https://example.org/y"), Allow},
	}
	for _, tt := range tests {
		t.Run(tt.rule+" "+tt.tool, func(t *testing.T) {
			c := w.config(Bypass, tt.rule)
			if tt.want == Ask && tt.rule[:5] == "allow" {
				c.Mode = Default
			}
			if d := decide(t, c, tt.tool, tt.in); d.Behavior != tt.want {
				t.Errorf("%s, want %s (%s)", d.Behavior, tt.want, d.Reason.String())
			}
		})
	}
}

func TestContentOfOtherTools(t *testing.T) {
	w := newWorld(t)
	in := call{Contents: []string{"explore", "review:*"}}
	for rule, want := range map[string]Behavior{
		"deny Agent(explore)": Deny, "ask Agent(explore)": Ask, "allow Agent(explore)": Allow,
		"deny Agent(other)": Ask, "allow Agent(other)": Ask, "allow Agent(review:*)": Allow,
	} {
		if d := decide(t, w.config(Default, rule), "Agent", in); d.Behavior != want {
			t.Errorf("%s: %s, want %s", rule, d.Behavior, want)
		}
	}
	alias := fake{name: "Agent", traits: tool.Traits{Aliases: []string{"Task"}}}
	p := Compile(w.config(Default, "deny Task(explore)"))
	u := newUse(t, alias, in)
	if d := Decide(p, FactsOf(p, u.Tool, u.Call)); d.Behavior != Deny {
		t.Errorf("by an old name: %s", d.Behavior)
	}
}

// Proves WFT-13.
func TestDomains(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		rule, url string
		want      Behavior
	}{
		{"allow WebFetch(domain:example.org)", "https://example.org/a", Allow},
		{"allow WebFetch(domain:example.org)", "https://EXAMPLE.org./a", Allow},
		{"allow WebFetch(domain:example.org)", "example.org:443", Allow},
		{"allow WebFetch(domain:example.org)", "https://www.example.org", Ask},
		{"allow WebFetch(domain:example.org)", "https://example.org.evil.net", Ask},
		{"allow WebFetch(domain:example.org)", "https://notexample.org", Ask},
		{"allow WebFetch(domain:example.org)", "https://example.org@evil.net/", Ask},
		{"allow WebFetch(domain:*.example.org)", "https://a.b.example.org", Allow},
		{"allow WebFetch(domain:*.example.org)", "https://example.org", Ask},
		{"allow WebFetch(domain:*.example.org)", "https://xexample.org", Ask},
		{"deny WebFetch(domain:example.org)", "https://example.org", Deny},
		{"deny WebFetch(domain:example.org)", "::not a url", Deny},
		{"ask WebFetch(domain:example.org)", "https://example.org", Ask},
		{"allow WebFetch(domain:bücher.example)", "https://xn--bcher-kva.example/", Allow},
		{"allow WebFetch(domain:xn--bcher-kva.example.)", "https://BÜCHER.example/", Allow},
		{"deny WebFetch(domain:*.bücher.example)", "https://a.xn--bcher-kva.example/", Deny},
		{"deny WebFetch(domain:example.org)", "https://ｅｘａｍｐｌｅ。org/", Deny},
		{"deny WebFetch(https://example.org/page)", "https://example.org/other", Deny},
		{"allow WebFetch(domain:localhost)", "http://localhost:3000/", Ask},
		{"allow WebFetch(domain:localhost)", "http://localhost/", Allow},
		{"allow WebFetch(domain:localhost:3000)", "http://localhost:3000/", Allow},
		{"allow WebFetch(domain:localhost:3000)", "http://localhost/", Ask},
		{"allow WebFetch(domain:localhost:3000)", "http://localhost:30000/", Ask},
		{"allow WebFetch(domain:example.org)", "http://example.org/", Allow},
		{"allow WebFetch(domain:example.org)", "http://example.org:80/", Allow},
		{"allow WebFetch(domain:example.org)", "https://example.org:80/", Allow},
		{"allow WebFetch(domain:example.org)", "http://example.org:443/", Allow},
		{"allow WebFetch(domain:example.org)", "https://example.org:8443/", Ask},
		{"allow WebFetch(domain:example.org)", "http://example.org:22/", Ask},
		{"allow WebFetch(domain:example.org:443)", "http://example.org/", Ask},
		{"allow WebFetch(domain:example.org:443)", "https://example.org/", Allow},
		{"allow WebFetch(domain:*.example.org)", "https://a.example.org:8443/", Ask},
		{"allow WebFetch(domain:*.example.org:8443)", "https://a.b.example.org:8443/", Allow},
		{"allow WebFetch(domain:*.example.org:8443)", "https://a.b.example.org/", Ask},
		{"deny WebFetch(domain:example.org)", "https://example.org:8443/", Deny},
		{"deny WebFetch(domain:*.example.org)", "https://a.example.org:8443/", Deny},
		{"deny WebFetch(domain:example.org:8443)", "https://example.org:8443/", Deny},
		{"deny WebFetch(domain:example.org:8443)", "https://example.org/", Ask},
		{"deny WebFetch(http://example.org/page)", "https://example.org/other", Deny},
		{"deny WebFetch(domain:example.org:x)", "https://other.example/", Deny},
		{"ask WebFetch(domain:example.org)", "https://example.org:8443", Ask},
		{"deny WebFetch(https://[::1]/)", "https://[::1]/", Deny},
		{"deny WebFetch(domain:[::1])", "http://[::1]:8080/", Deny},
		{"deny WebFetch(domain:::1)", "https://[0:0:0:0:0:0:0:1]/", Deny},
		{"deny WebFetch(domain:::1)", "https://[::2]/", Ask},
		{"deny WebFetch(domain:192.0.2.1)", "https://[::ffff:192.0.2.1]/", Deny},
		{"allow WebFetch(domain:[::1]:8080)", "http://[::1]:8080/", Allow},
		{"allow WebFetch(domain:[::1]:8080)", "http://[::1]/", Ask},
		{"allow WebFetch(domain:[::1])", "http://[::1]/", Allow},
		{"allow WebFetch(domain:[::1])", "http://[::1]:8080/", Ask},
		{"allow WebFetch(domain:192.0.2.1)", "http://192.0.2.1:8080/", Ask},
		{"deny WebFetch(domain:192.0.2.1)", "http://192.0.2.1:8080/", Deny},
		{"deny WebFetch(domain:::1:3000)", "http://[::1]:3000/", Deny},
		{"deny WebFetch(domain:fe80::1)", "http://[fe80::1%25eth0]/", Deny},
		{"deny WebFetch", "https://example.org", Deny},
		{"allow WebFetch", "https://example.org", Allow},
	}
	for _, tt := range tests {
		t.Run(tt.rule+" "+tt.url, func(t *testing.T) {
			if d := decide(t, w.config(Default, tt.rule), "WebFetch", connects(tt.url)); d.Behavior != tt.want {
				t.Errorf("%s, want %s (%s)", d.Behavior, tt.want, d.Reason.String())
			}
		})
	}
	both := []string{"allow WebFetch(domain:example.org)", "deny WebFetch(domain:*.example.org)"}
	if d := decide(t, w.config(Bypass, both...), "WebFetch", connects("https://a.example.org")); d.Behavior != Deny {
		t.Errorf("deny beside allow: %s", d.Behavior)
	}
}

// Proves WFT-12, WFT-13.
func TestPreapprovedHosts(t *testing.T) {
	w := newWorld(t)
	known := connects("https://docs.example.org/x")
	known.Reads, known.Known = true, true
	tests := []struct {
		name   string
		mode   Mode
		origin string
		rules  []string
		want   Behavior
	}{
		{"no rule", Default, "", nil, Allow},
		{"while planning", Plan, "", nil, Allow},
		{"nobody is asked", DontAsk, "", nil, Allow},
		{"deny", Default, "", []string{"deny WebFetch(domain:docs.example.org)"}, Deny},
		{"deny those below", Bypass, "", []string{"deny WebFetch(domain:*.example.org)"}, Deny},
		{"deny the tool", Default, "", []string{"deny WebFetch"}, Deny},
		{"ask", Default, "", []string{"ask WebFetch(domain:docs.example.org)", "allow WebFetch(domain:docs.example.org)"}, Ask},
		{"ask about the tool", Default, "", []string{"ask WebFetch"}, Ask},
		{"another host is allowed", Default, "", []string{"allow WebFetch(domain:other.example.org)"}, Allow},
		{"a server's tool says so", Default, "mcp:x", nil, Ask},
	}
	for _, tt := range tests {
		p := Compile(w.config(tt.mode, tt.rules...))
		u := newUse(t, fake{name: "WebFetch", traits: tool.Traits{Origin: tt.origin}}, known)
		if d := Decide(p, FactsOf(p, u.Tool, u.Call)); d.Behavior != tt.want {
			t.Errorf("%s: %s (%s)", tt.name, d.Behavior, d.Reason.String())
		}
	}
	if p := Compile(w.config(Default)); p.Host("docs.example.org") != Ask {
		t.Error("commands in the sandbox may reach it")
	}
}

// Proves WSR-12.
func TestSearchesOfTheWeb(t *testing.T) {
	w := newWorld(t)
	search := call{Reads: true, Reaches: true}
	for _, tt := range []struct {
		mode  Mode
		rules []string
		want  Behavior
	}{
		{Default, nil, Ask}, {Plan, nil, Ask}, {DontAsk, nil, Deny}, {Bypass, nil, Allow},
		{Default, []string{"allow WebSearch"}, Allow}, {Plan, []string{"allow WebSearch"}, Allow}, {DontAsk, []string{"allow WebSearch"}, Allow},
		{Default, []string{"deny WebSearch", "allow WebSearch"}, Deny}, {Bypass, []string{"ask WebSearch"}, Ask},
		{Default, []string{"allow WebSearch(query:*)"}, Ask}, {Default, []string{"deny WebFetch(domain:example.org)", "allow WebSearch"}, Allow},
	} {
		d := decide(t, w.config(tt.mode, tt.rules...), "WebSearch", search)
		if d.Behavior != tt.want {
			t.Errorf("%s, %q: %s (%s), want %s", tt.mode, tt.rules, d.Behavior, d.Reason.String(), tt.want)
		}
		if tt.mode == Default && tt.rules == nil && (len(d.Suggestions) != 1 || d.Suggestions[0].Rules[0] != (RuleValue{Tool: "WebSearch"})) {
			t.Errorf("suggests %+v", d.Suggestions)
		}
	}
	if d := decide(t, w.config(Default), "Glob", call{Reads: true}); d.Behavior != Allow {
		t.Errorf("a search of files: %s", d.Behavior)
	}
}

// Proves PLAN-02.
func TestPlanMode(t *testing.T) {
	w := newWorld(t)
	plan := filepath.Join(w.state, "plans", "a.md")
	hinted := fake{name: "mcp__db__query", traits: tool.Traits{Origin: "mcp:db"}}
	tests := []struct {
		name  string
		saved Mode
		tool  fake
		in    call
		rules []string
		want  Behavior
	}{
		{"reading", Default, fake{name: "Read"}, reads("main.go"), nil, Allow},
		{"reading outside", Default, fake{name: "Read"}, reads("/etc/hosts"), nil, Ask},
		{"read-only shell", Default, fake{name: "Bash"}, runs("grep -n x main.go | head -5"), nil, Allow},
		{"shell", Default, fake{name: "Bash"}, runs("go test ./..."), []string{"allow Bash(go test:*)"}, Deny},
		{"redirection", Default, fake{name: "Bash"}, runs("ls > list"), []string{"allow Bash(ls:*)"}, Deny},
		{"editing", Default, fake{name: "Edit"}, writesTo("main.go"), []string{"allow Edit"}, Deny},
		{"the plan file", Default, fake{name: "Write"}, writesTo(plan), nil, Allow},
		{"beside the plan file", Default, fake{name: "Write"}, writesTo(filepath.Join(w.state, "plans", "b.md")), nil, Deny},
		{"web", Default, fake{name: "WebFetch"}, connects("https://example.org"), []string{"allow WebFetch(domain:example.org)"}, Allow},
		{"question", Default, fake{name: "AskUserQuestion"}, call{Person: true, Plans: true}, nil, Ask},
		{"task list", Default, fake{name: "TaskCreate"}, call{Plans: true}, nil, Allow},
		{"server tool", Default, fake{name: "mcp__db__drop", traits: hinted.traits}, call{}, []string{"allow mcp__db"}, Deny},
		{"server tool that hints", Default, hinted, call{Reads: true}, nil, Ask},
		{"server tool that hints, by rule", Default, hinted, call{Reads: true}, []string{"allow mcp__db"}, Ask},
		{"server tool that hints, by its own rule", Default, hinted, call{Reads: true}, []string{"allow mcp__db__query"}, Ask},
		{"server tool that hints, after bypass", Bypass, hinted, call{Reads: true}, nil, Ask},
		{"server tool that hints, denied", Default, hinted, call{Reads: true}, []string{"deny mcp__db"}, Deny},
		{"deny rules hold", Default, fake{name: "Read"}, reads("main.go"), []string{"deny Read(main.go)"}, Deny},
		{"saved bypass asks", Bypass, fake{name: "Edit"}, writesTo("main.go"), nil, Ask},
		{"saved bypass does not skip the question", Bypass, fake{name: "Read"}, reads("/etc/hosts"), nil, Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := w.config(Plan, tt.rules...)
			c.Saved, c.PlanFile, c.Editable = tt.saved, plan, []string{plan, w.outside}
			p := Compile(c)
			u := newUse(t, tt.tool, tt.in)
			d := Decide(p, FactsOf(p, u.Tool, u.Call))
			if d.Behavior != tt.want {
				t.Errorf("%s, want %s (%s)", d.Behavior, tt.want, d.Reason.String())
			}
		})
	}
}

func TestServerHintsAllowNothing(t *testing.T) {
	w := newWorld(t)
	p := Compile(w.config(Default))
	u := newUse(t, fake{name: "mcp__db__query", traits: tool.Traits{Origin: "mcp:db"}}, call{Reads: true})
	if d := Decide(p, FactsOf(p, u.Tool, u.Call)); d.Behavior != Ask {
		t.Errorf("%s", d.Behavior)
	}
}

func TestUpdateShapes(t *testing.T) {
	got, err := json.Marshal([]Update{
		{Type: AddRules, Rules: []RuleValue{{Tool: "Bash", Content: "go test:*"}, {Tool: "Read"}}, Behavior: Allow, Destination: scope.Local},
		{Type: SetMode, Mode: AcceptEdits, Destination: scope.Session},
		{Type: AddDirectories, Directories: []string{"/x"}, Destination: scope.Session},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"go test:*"},{"toolName":"Read"}],"behavior":"allow","destination":"localSettings"},` +
		`{"type":"setMode","mode":"acceptEdits","destination":"session"},` +
		`{"type":"addDirectories","directories":["/x"],"destination":"session"}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
