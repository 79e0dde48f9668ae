package permission

import (
	"context"
	"testing"

	"adze/internal/platform/shell"
	"adze/internal/tool"
)

// TestQuestionsCarryAWarning checks that questions about irreversible commands carry a warning,
// in the shell and in other languages.
//
// Proves SHC-02.
func TestQuestionsCarryAWarning(t *testing.T) {
	for command, want := range map[string]string{
		"rm -rf build":            "This deletes files.",
		"git push --force":        "This rewrites history that others may have.",
		"git reset --hard HEAD~1": "This discards changes that are not committed.",
		"touch x":                 "",
	} {
		var asked Question
		g := asking(GateConfig{Config: Config{Dir: "/work"}}, func(_ context.Context, q Question) (Answer, error) {
			asked = q
			return Answer{Behavior: Deny}, nil
		})
		u := newUse(t, fake{name: "Bash"}, call{Access_: []tool.Access{{Verb: tool.Execute, Target: command}}})
		if err := g.Before(t.Context(), u); err != nil || asked.Tool != "Bash" || asked.Warning != want {
			t.Errorf("%q: %q, %v", command, asked.Warning, err)
		}
	}
}

// once is a call that has parsed its command.
type once struct {
	*call
	command *tool.Command
}

func (o once) Command() *tool.Command { return o.command }

// TestTheLineIsParsedOnce checks that the judged line is the one the call parsed.
func TestTheLineIsParsedOnce(t *testing.T) {
	p := Compile(Config{Dir: "/work", Home: "/home/u"})
	var told []string
	files := []string{"/home/u/a"}
	own := &tool.Command{
		Line: "sed -i p $HOME/a", Script: shell.Parse("sed -i p $HOME/a", shell.Vars{}),
		Edits: func() []string { return files },
		Judged: func(paths []tool.JudgedPath) {
			for _, p := range paths {
				told = append(told, p.Path)
			}
		},
	}
	f := FactsOf(p, fake{name: "Bash"}, once{&call{}, own})
	if f.Command.Script.Source != own.Line || !f.Command.Script.Simple {
		t.Errorf("the line was read again: %+v", f.Command.Script)
	}
	if len(told) != 1 || told[0] != "/home/u/a" || !f.Command.Edits {
		t.Errorf("told %q, edits %v", told, f.Command.Edits)
	}
	for _, files = range [][]string{nil, {"/home/u/a", "/home/u/b"}} {
		if FactsOf(p, fake{name: "Bash"}, once{&call{}, own}).Command.Edits {
			t.Errorf("%q: what is not judged is edited", files)
		}
	}
}
