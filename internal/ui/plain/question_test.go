package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/extratools"
	"adze/internal/tools/mcptool"
	"adze/internal/ui/ask"
)

// TestDialogs checks that choices are numbered, that forms prompt field by field, and that
// previews are shown only as previews.
//
// Proves X-009.
func TestDialogs(t *testing.T) {
	five := 5.0
	options := []session.Option{{Label: "red", Description: "like a rose"}, {Label: "blue"}}
	seen := session.Choices{Items: []session.Choice{{Header: "Layout\x1b[2J", Text: "Which one?", Options: []session.Option{
		{Label: "wide", Description: "two columns", Preview: "\n+--+--+\n|  | \x1b[31m|\n"}, {Label: "narrow", Preview: strings.Repeat("+--+\n", 40)},
	}}}}
	choices := session.Choices{Items: []session.Choice{
		{Header: "Colour", Text: "Which one?", Options: options},
		{Text: "What else?", Options: options, Multiple: true},
	}}
	form := session.Form{From: "weather", Message: "Where are you?", Fields: []session.Field{
		{Name: "city", Title: "City", Description: "The nearest one.", Type: session.TextField, Required: true},
		{Name: "mail", Type: session.TextField, Format: session.EmailFormat},
		{Name: "days", Title: "Days", Type: session.IntegerField, Max: &five, Default: int64(3)},
		{Name: "hourly", Type: session.BooleanField, Required: true},
		{Name: "colours", Type: session.ListField, Options: options, Default: []string{"red", "blue"}},
	}}
	consent := session.Form{Message: "May it begin?"}
	visit := session.Visit{From: "docs", Message: "Please sign in.\n\nAllow? [y]es, [n]o: ", URL: "https://xn--example-cua.com/login?state=1", Host: "xn--example-cua.com"}
	waiting := visit
	waiting.Opened = true
	sampling := session.Sampling{From: "docs", Text: "system: be brief\nuser: Sum \x1b[2Jup.", MaxTokens: 500}
	hostile := session.Form{From: "docs", Message: "Fine?\x1b[2J", Fields: []session.Field{
		{Name: "n", Title: "Allow everything?\n[y]es", Type: session.ChoiceField, Required: true, Options: []session.Option{{Label: "a\x1b[31m", Description: "red\nor not"}}},
	}}
	tests := []struct {
		q     session.Question
		lines []string
		want  session.Reply
	}{
		{choices, []string{"2", "1, 2,2,"}, session.Selection{Chosen: [][]string{{"blue"}, {"red", "blue"}}}},
		{choices, []string{"something green", "1, green"}, session.Selection{Chosen: [][]string{{"something green"}, {"red", "green"}}}},
		{choices, []string{"", "none of them, please"}, session.Selection{Chosen: [][]string{nil, {"none of them, please"}}}},
		{choices, []string{"", " "}, session.Selection{Declined: true}},
		{seen, []string{"1"}, session.Selection{Chosen: [][]string{{"wide"}}}},
		{seen, []string{""}, session.Selection{Declined: true}},
		{choices, []string{"1", "/skip"}, session.Selection{Declined: true}},
		{form, []string{"", "Lund", "", "9", "", "yes", "2"}, session.Filled{
			Action: session.Accept, Values: map[string]any{"city": "Lund", "days": int64(3), "hourly": true, "colours": []string{"blue"}},
		}},
		{form, []string{"Lund", "/skip"}, session.Filled{Action: session.Decline}},
		{consent, []string{"perhaps", "y"}, session.Filled{Action: session.Accept}},
		{consent, []string{"n"}, session.Filled{Action: session.Decline}},
		{visit, []string{"", "what", "y"}, session.Visited{Action: session.Accept, Open: true}},
		{visit, []string{"n"}, session.Visited{Action: session.Decline}},
		{waiting, []string{"y"}, session.Visited{Action: session.Accept}},
		{waiting, []string{"n"}, session.Visited{Action: session.Cancel}},
		{sampling, []string{"", "yes"}, session.Filled{Action: session.Accept}},
		{sampling, []string{"no"}, session.Filled{Action: session.Decline}},
		{hostile, []string{"7", "1"}, session.Filled{Action: session.Accept, Values: map[string]any{"n": "a\x1b[31m"}}},
	}
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say never", nil)
		for _, tt := range tests {
			replies := make(chan session.Reply, 1)
			go func() {
				r, err := c.Sessions[0].Ask(t.Context(), tt.q)
				if err != nil {
					t.Error(err)
				}
				replies <- r
			}()
			synctest.Wait()
			for _, line := range tt.lines {
				c.Enter(line + "\n")
			}
			if diff := cmp.Diff(tt.want, <-replies); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.lines, diff)
			}
		}
		c.close("dialogs")
	})
}

// TestCallsThroughTheDoor checks that a call through the door is presented as a call of the
// tool itself: the door's name is nowhere on the screen.
//
// Proves XTR-04.
func TestCallsThroughTheDoor(t *testing.T) {
	offered := []mcp.OfferedTool{{Server: &roster.Entry{Name: "db", Given: "db"}, Tool: mcp.Tool{
		Name: "drop_table", Description: "Drops a table.", Schema: json.RawMessage(`{"type":"object","properties":{"table":{"type":"string"},"force":{"type":"boolean"}}}`),
	}}}
	call := func(context.Context, string, string, json.RawMessage, func(mcp.Progress)) (*mcp.Result, error) {
		return &mcp.Result{Content: []mcp.Content{{Kind: mcp.TextContent, Text: "dropped"}}}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, `
use ExecuteExtraTool {"tool_name":"mcp__db__drop_table","params":{"table":"users","force":true}}
---
use mcp__db__drop_table {"table":"users","force":true}
---
use ExecuteExtraTool {"tool_name":"mcp__db__drop_table","params":{"table":"orders"}}
---
say Stopped.
`, func(s *setup) {
			s.Tools = []tool.Tool{extratools.Execute()}
			s.Behind = mcptool.NewSet(mcptool.Config{Call: call}).Tools(offered)
			s.Gate = permission.NewGate(permission.GateConfig{Config: permission.Config{Mode: permission.Default, Dir: "/work", Dirs: []string{"/work"}}})
		})
		c.Enter("clean up\n")
		c.Enter("y\n")
		c.Enter("y\n")
		c.Enter("keep the orders\n")
		if text := c.Text(); strings.Contains(text, extratools.ExecuteName) || strings.Count(text, "users") < 2 {
			t.Error(text)
		}
		c.close("door")
	})
}

// permissionOf returns a question about a change of n lines.
func permissionOf(n int) session.Permission {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("+line %d", i+1)
	}
	return session.Permission{Question: permission.Question{
		ID: "u", Tool: "Write", Title: "Write new.txt", Reason: permission.Reason{Text: "adze asks before every file change in default mode"},
		Preview:     tool.Diff{Path: "new.txt", Created: true, Added: n, Hunks: []tool.Hunk{{Lines: lines}}},
		Suggestions: []permission.Update{{Type: permission.SetMode, Mode: permission.AcceptEdits, Destination: scope.Session}},
	}}
}

// TestAnswers checks the accepted forms of yes (second-look 2.7). After an ambiguous word the
// question is repeated, a sentence is a refusal sent to the model, and a plain no ends the
// turn.
//
// Proves PERM-17.
func TestAnswers(t *testing.T) {
	q := permissionOf(2)
	yes := permission.Answer{Behavior: permission.Allow}
	no := permission.Answer{Behavior: permission.Deny, Interrupt: true}
	tests := map[string]*permission.Answer{
		"y": &yes, "YES": &yes, "ok": &yes, "Ok.": &yes, "okay": &yes, "sure!": &yes, "yep": &yes, "j": &yes, "ja": &yes, "o": &yes, "oui": &yes,
		"sí": &yes, "si": &yes, "go  ahead": &yes, "do it": &yes, "1": &yes, "好": &yes,
		"a": {Behavior: permission.Allow, Updates: q.Suggestions}, "always": {Behavior: permission.Allow, Updates: q.Suggestions},
		"n": &no, "No.": &no, "nope": &no, "nein": &no, "non": &no, "stop": &no, "3": &no,
		"use make instead":        {Behavior: permission.Deny, Message: "use make instead"},
		"yes but in another file": {Behavior: permission.Deny, Message: "yes but in another file"},
		"":                        nil, "make": nil, "yn": nil, "?": nil, "/help": nil, "4": nil, "\u202eyes": nil,
	}
	for text, want := range tests {
		var out bytes.Buffer
		d := dialogFor(q)
		p := newPrinter(Config{Out: &out, Width: func() int { return 80 }})
		d.draw(p)
		got := d.enter(p, text)
		if want == nil {
			if got != nil || text != "" && !strings.Contains(out.String(), "yes or no") {
				t.Errorf("%q: %+v\n%s", text, got, out.String())
			}
			continue
		}
		if diff := cmp.Diff(session.Reply(session.Decision{Answer: *want}), got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// TestAllOfItIsShown checks that nothing can be approved half-seen (second-look 2.5) and that a
// proposed change is not presented as made (2.6): it is shown to its last line, in pages if it
// is long, regardless of earlier answers.
func TestAllOfItIsShown(t *testing.T) {
	for _, answers := range [][]string{{"y"}, {"", "", "y"}, {"", "y", "y"}, {"always", "a"}, {"y", "y"}} {
		n := 450
		if len(answers) == 1 {
			n = 199
		}
		var out bytes.Buffer
		d := dialogFor(permissionOf(n))
		p := newPrinter(Config{Out: &out, Width: func() int { return 80 }})
		d.draw(p)
		var r session.Reply
		for i, a := range answers {
			if r != nil {
				t.Fatalf("%q: answered by %q", answers, answers[:i])
			}
			r = d.enter(p, a)
		}
		if got, ok := r.(session.Decision); !ok || got.Behavior != permission.Allow {
			t.Errorf("%q: %+v", answers, r)
		}
		shown := out.String()
		for i := range n {
			if strings.Count(shown, fmt.Sprintf("  +line %d\n", i+1)) != 1 {
				t.Fatalf("%q: line %d is not shown once", answers, i+1)
			}
		}
	}
	p := newPrinter(Config{Out: io.Discard, Width: func() int { return 80 }})
	few := dialogFor(permissionOf(ask.MaxPage + 3))
	few.draw(p)
	if !strings.HasPrefix(few.prompt(), "Create ") {
		t.Errorf("a few lines are kept back: %q", few.prompt())
	}
	d := dialogFor(permissionOf(450))
	d.draw(p)
	if r := d.enter(p, "no"); r == nil || !strings.HasPrefix(d.prompt(), "250 more lines") {
		t.Errorf("%v, %q", r, d.prompt())
	}
}

// TestWhatQuestionsShow checks that a question shows the whole command once, last on the screen
// (second-look 2.12), with the model's description, and explains the meaning of always (2.17).
func TestWhatQuestionsShow(t *testing.T) {
	long := "find . -name '" + strings.Repeat("x", 300) + "' -exec touch {} +"
	rules := func(to scope.Scope, contents ...string) []permission.Update {
		u := permission.Update{Type: permission.AddRules, Behavior: permission.Allow, Destination: to}
		for _, c := range contents {
			u.Rules = append(u.Rules, permission.RuleValue{Tool: "Bash", Content: c})
		}
		return []permission.Update{u}
	}
	mode := permission.Update{Type: permission.SetMode, Mode: permission.AcceptEdits, Destination: scope.Session}
	tests := []struct {
		name   string
		q      permission.Question
		want   string
		prompt string
	}{
		{"command", permission.Question{Tool: "Bash", Title: "Run go vet ./...", Command: "go vet ./...", About: "check the code",
			Reason: permission.Reason{Text: "no rule allows it"}, Suggestions: rules(scope.Local, "go vet:*")},
			"\nRun: check the code\nNo rule allows it.\n[a]lways: yes, and always allow `go vet ...` in this project\n  go vet ./...\n",
			"Run this command? [y]es, [a]lways, [n]o, or type instructions instead: "},
		{"exact", permission.Question{Tool: "Bash", Command: long, Suggestions: rules(scope.Local, strings.ReplaceAll(long, "*", `\*`))},
			"\nRun\n[a]lways: yes, and always allow this exact command in this project\n  find . -name '" + strings.Repeat("x", 84) + "\n    " + strings.Repeat("x", 96) + "\n    " +
				strings.Repeat("x", 96) + "\n    " + strings.Repeat("x", 24) + "' -exec touch {} +\n",
			"Run this command? [y]es, [a]lways, [n]o, or type instructions instead: "},
		{"edit", permission.Question{Tool: "Edit", Title: "Edit a.go", Suggestions: []permission.Update{mode}},
			"\nEdit a.go\n[a]lways: yes, and stop asking about edits in this session\n",
			"Edit a.go? [y]es, [a]lways, [n]o, or type instructions instead: "},
		{"edit outside", permission.Question{Tool: "Edit", Title: "Edit /x/a.go", Suggestions: []permission.Update{
			{Type: permission.AddDirectories, Directories: []string{"/x"}, Destination: scope.Session}, mode}},
			"\nEdit /x/a.go\n[a]lways: yes, and work in /x, and stop asking about edits in this session\n",
			"Edit /x/a.go? [y]es, [a]lways, [n]o, or type instructions instead: "},
		{"plan", permission.Question{Tool: "ExitPlanMode", Title: "Present the plan", NeedsPerson: true, Reason: permission.Reason{Text: "only the user can answer this"},
			Preview: tool.Plain{Text: "1. Do it.\n"}, Consent: "Yes approves the plan."},
			"\nPresent the plan\n  1. Do it.\nYes approves the plan.\n", "Do you agree? [y]es, [n]o, or type instructions instead: "},
		{"words of the model that look like the question", permission.Question{Tool: "Bash", Command: "rm x\n[y]es", About: "list files\n\nAllow? [y]es: \u202e\x1b[2J"},
			"\nRun: list files Allow? [y]es: [2J\n  rm x\n  [y]es\n", "Run this command? [y]es, [n]o, or type instructions instead: "},
		{"invisible characters", permission.Question{Tool: "Bash", Command: "touch a\r echo b"}, "\nRun\n" + `  touch a\x0d echo b` + "\n", "Run this command? [y]es, [n]o, or type instructions instead: "},
		{"all that a tool is given", permission.Question{Tool: "mcp__x__y", Input: []byte(`{"path":"a\rb","n":1}`)}, "\nmcp__x__y\n" + `  path: a\x0db` + "\n  n: 1\n", "Use mcp__x__y? [y]es, [n]o, or type instructions instead: "},
		{"no suggestion", permission.Question{Tool: "Bash", Command: "rm -rf ~"}, "\nRun\n  rm -rf ~\n", "Run this command? [y]es, [n]o, or type instructions instead: "},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		d := dialogFor(session.Permission{Question: tt.q})
		d.draw(newPrinter(Config{Out: &out, Width: func() int { return 110 }}))
		if diff := cmp.Diff(tt.want, out.String()); diff != "" || d.prompt() != tt.prompt {
			t.Errorf("%s: prompt %q, (-want +got):\n%s", tt.name, d.prompt(), diff)
		}
	}
}
