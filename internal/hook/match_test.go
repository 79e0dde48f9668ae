package hook

import (
	"testing"
)

// Proves HOOK-25.
func TestMatcher(t *testing.T) {
	tests := []struct {
		pattern string
		names   []string
		want    bool
	}{
		{"", []string{"Bash"}, true},
		{"*", []string{"Bash"}, true},
		{" * ", []string{"Bash"}, true},
		{"Write", []string{"Write"}, true},
		{"Write", []string{"NotebookWrite"}, false},
		{"Write", []string{"write"}, false},
		{"Write|Edit", []string{"Edit"}, true},
		{"Write, Edit", []string{"Edit"}, true},
		{"Write|Edit", []string{"Edi"}, false},
		{"|,", []string{"Edit"}, false},
		{"mcp__a-b__c", []string{"mcp__a-b__c"}, true},
		{"^Bash", []string{"BashOutput"}, true},
		{"^Bash$", []string{"BashOutput"}, false},
		{"Bas.", []string{"xBash"}, true}, // unanchored
		{"mcp__.*", []string{"mcp__db__q"}, true},
		{"(", []string{"Bash"}, false},
		{"(", []string{"("}, false},
		{"Shell", []string{"Bash", "Shell"}, true}, // a former name
		{"^Sh", []string{"Bash", "Shell"}, true},
		{"startup", []string{""}, false},
	}
	for _, tt := range tests {
		m, err := newMatcher(tt.pattern)
		if (err != nil) != (tt.pattern == "(") {
			t.Errorf("newMatcher(%q): %v", tt.pattern, err)
		}
		if got := m.matches(tt.names); got != tt.want {
			t.Errorf("%q matches %q: %v, want %v", tt.pattern, tt.names, got, tt.want)
		}
	}
}

// Proves HOOK-26, TOOL-11.
func TestCondition(t *testing.T) {
	bash := func(command string) Event { return OnPreToolUse(shell(t, command)) }
	edit := newTool[fileInput]("Edit", fileSchema, nil)
	file := func(path string) Event { return OnPreToolUse(bind(t, edit, `{"file_path":"`+path+`"}`)) }
	plain := newTool[struct{}]("mcp__db__q", `{"type":"object"}`, nil)
	tests := []struct {
		condition string
		event     Event
		want      bool
	}{
		{"", bash("ls"), true},
		{"Bash", bash("ls"), true},
		{"Bash(*)", bash("ls"), true},
		{"Bash()", bash("ls"), true},
		{"Shell(git push*)", bash("git push"), true}, // a former name
		{"Edit", bash("ls"), false},
		{"Bash(git push*)", bash("git push origin"), true},
		{"Bash(git push*)", bash("ls && git push"), true},
		{"Bash(git push*)", bash("ls && git pull"), false},
		{"Bash(git push*)", bash("echo $(("), true}, // unparsable: the hook runs
		{`Bash(echo \(a\))`, bash("echo (a)"), true},
		{"Bash(echo (a))", bash("echo (a)"), true},
		{"Bash(git push", bash("ls"), true}, // invalid rule: the hook runs
		{"Bash(a))", bash("ls"), true},
		{"(x)", bash("ls"), true},

		{"Edit(*.go)", file("/w/sub/a.go"), true},
		{"Edit(*.go)", file("/elsewhere/a.go"), true},
		{"Edit(*.go)", file("/w/a.md"), false},
		{"Edit(src/**)", file("src/x/a.go"), true},
		{"Edit(./src/**)", file("/w/src/a.go"), true},
		{"Edit(/src/**)", file("/w/src/a.go"), true},
		{"Edit(src/**)", file("/w/lib/a.go"), false},
		{"Edit(src/**)", file("/elsewhere/src/a.go"), false},
		{"Edit(//etc/**)", file("/etc/hosts"), true},
		{"Edit(//etc/**)", file("/w/etc/hosts"), false},
		{"Edit(~/x)", file("/w/x"), true}, // cannot be determined
		{"Edit([)", file("/w/x"), true},

		{"mcp__db", OnPreToolUse(bind(t, plain, `{}`)), true},
		{"mcp__db__*", OnPreToolUse(bind(t, plain, `{}`)), true},
		{"mcp__db__q", OnPreToolUse(bind(t, plain, `{}`)), true},
		{"mcp__d", OnPreToolUse(bind(t, plain, `{}`)), false},
		{"mcp__db__q(x)", OnPreToolUse(bind(t, plain, `{}`)), true}, // no matcher available
	}
	for _, tt := range tests {
		c := condition{}
		if tt.condition != "" {
			c, _ = parseCondition(tt.condition) // ok: broken ones are part of the table
		}
		if got := c.met(tt.event.use, tt.event.names(), "/w"); got != tt.want {
			t.Errorf("%q for %s: %v, want %v", tt.condition, tt.event.use.Input, got, tt.want)
		}
	}
}
