package tool

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixed is a call with a fixed input.
type fixed struct{ in any }

func (f fixed) Input() any { return f.in }
func (f fixed) Run(context.Context, func(Progress)) (Result, error) {
	return Text("ok"), nil
}

type line string

func (s line) ReadOnly() bool         { return s == "ls" }
func (s line) Concurrent() bool       { return s == "ls" }
func (s line) Destructive() bool      { return s != "ls" }
func (s line) OpenWorld() bool        { return s != "ls" }
func (s line) Title() string          { return "Run\n" + string(s) }
func (s line) Activity() string       { return "Running\x1b[31m " + string(s) }
func (s line) Past() (string, string) { return "Ran", string(s) + "\n" }
func (s line) DisplayName() string    { return "Shell" }
func (s line) Fold() Fold             { return FoldList }
func (s line) Path() string           { return string(s) }
func (s line) Observe() any           { return "seen " + string(s) }
func (s line) Match(content string) (bool, error) {
	if content == "(" {
		return false, errors.New("unbalanced")
	}
	return content == string(s), nil
}

type broken struct{}

func (broken) ReadOnly() bool             { panic("boom") }
func (broken) Concurrent() bool           { panic("boom") }
func (broken) Destructive() bool          { panic("boom") }
func (broken) OpenWorld() bool            { panic("boom") }
func (broken) Title() string              { panic("boom") }
func (broken) Activity() string           { panic("boom") }
func (broken) Past() (string, string)     { panic("boom") }
func (broken) DisplayName() string        { panic("boom") }
func (broken) Fold() Fold                 { panic("boom") }
func (broken) Path() string               { panic("boom") }
func (broken) Observe() any               { panic("boom") }
func (broken) Match(string) (bool, error) { panic("boom") }

func TestFactsDependOnTheInput(t *testing.T) {
	tests := []struct {
		name string
		in   any
		want Facts
	}{
		{"harmless", line("ls"), Facts{ReadOnly: true, Concurrent: true}},
		{"harmful", line("rm x"), Facts{Destructive: true, OpenWorld: true}},
		{"silent", struct{}{}, Facts{OpenWorld: true}},
		{"panicking", broken{}, Facts{Destructive: true, OpenWorld: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, FactsOf(fixed{tt.in})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type words struct {
	Title, Activity, Verb, Object, Name, Path string
	Fold                                      Fold
	Observed                                  any
}

func wordsOf(in any) words {
	c := fixed{in}
	path, _ := PathOf(c)
	verb, object := PastOf("Bash", c)
	return words{TitleOf("Bash", c), ActivityOf("Bash", c), verb, object, DisplayNameOf("Bash", c), path, FoldOf(c), ObservedInput(c)}
}

func TestWordsFallBackToTheName(t *testing.T) {
	want := words{"Run ls", "Running[31m ls", "Ran", "ls", "Shell", "ls", FoldList, "seen ls"}
	if diff := cmp.Diff(want, wordsOf(line("ls"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, in := range []any{struct{}{}, broken{}} {
		if diff := cmp.Diff(words{Title: "Bash", Activity: "Bash", Object: "Bash", Name: "Bash", Observed: in}, wordsOf(in)); diff != "" {
			t.Errorf("%T (-want +got):\n%s", in, diff)
		}
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\r\nb\tc", "a b c"},
		{"  \n ", ""},
		{"x\x1b[2Jy\u202ez\u200b", "x[2Jyz"},
		{strings.Repeat("ä", 80), strings.Repeat("ä", 80)},
		{strings.Repeat("ä", 81), strings.Repeat("ä", 79) + "…"},
		{strings.Repeat("a", 78) + " bcd", strings.Repeat("a", 78) + "…"},
	}
	for _, tt := range tests {
		if got := OneLine(tt.in, 80); got != tt.want {
			t.Errorf("OneLine(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		name, content string
		in            any
		want, broken  bool
	}{
		{"empty matches all", "", struct{}{}, true, false},
		{"no matcher", "ls", struct{}{}, false, false},
		{"match", "ls", line("ls"), true, false},
		{"no match", "rm", line("ls"), false, false},
		{"matcher fails", "(", line("ls"), true, true},
		{"matcher panics", "x", broken{}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Matches(fixed{tt.in}, tt.content)
			if got != tt.want || (err != nil) != tt.broken {
				t.Errorf("Matches = %v, %v", got, err)
			}
		})
	}
}
