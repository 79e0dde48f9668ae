package app

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/commands"
	program "adze/internal/commands/about"
	"adze/internal/commands/display"
	"adze/internal/commands/extensions"
	"adze/internal/commands/memory"
	"adze/internal/commands/rules"
	"adze/internal/commands/schedule"
	"adze/internal/feature/tasks"
	"adze/internal/feature/worktrees"
)

// TestEveryCommandAnswersEverywhere checks that every command answers at a terminal, in print
// mode and to a host, without calling a model. Commands that make no sense there explain why.
// Commands that expand to a prompt are skipped, since calling a model is their purpose.
//
// Proves CMD-02.
func TestEveryCommandAnswersEverywhere(t *testing.T) {
	for _, c := range commands.New(commands.Config{Terminal: true, Env: commands.Env{Sections: slices.Concat(program.Sections(program.Config{}), extensions.Sections(), display.Sections(display.Config{}), rules.Sections(), memory.Sections(), schedule.Sections(), worktrees.Sections(nil, nil), (*tasks.Lists)(nil).Sections())}}).Commands() {
		if c.Kind == commands.Ask {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			text := "/" + c.Name
			refused := "is available at a terminal only"
			run := func(stdin string, terminal bool, args ...string) (int, string, string) {
				t.Helper()
				p := newPlace(t)
				p.env.Now = time.Now
				p.env.Stdin, p.env.StdinTerminal, p.env.StdoutTerminal = strings.NewReader(stdin), terminal, terminal
				args = append(args, "--plain", "--trust", "--model", "replay:"+p.Path("model.replay"), "--record-requests", p.Path("sent"))
				code, out, said := p.run(args...)
				if sent, err := os.ReadDir(p.Path("sent")); err == nil && len(sent) > 1 { // only the script itself
					t.Errorf("%v: unexpected request: %v", args, sent)
				}
				return code, out, said
			}

			_, screen, _ := run(text+"\n", true)
			_, after, prompted := strings.Cut(screen, "\n> ")
			if !prompted || strings.Contains(screen, refused) {
				t.Errorf("at a terminal: %s", screen)
			}
			if leaves := c.Name == "exit"; !leaves && strings.TrimSpace(strings.Trim(after, "> ")) == "" {
				t.Errorf("at a terminal it says nothing: %q", screen)
			}

			code, out, said := run("", false, "-p", text)
			if out+said == "" || (code == 0) != (said == "") || c.Terminal != strings.Contains(said, refused) {
				t.Errorf("print mode: %d\n%s\n%s", code, out, said)
			}

			line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
			if err != nil {
				t.Fatal(err)
			}
			_, out, _ = run(string(line)+"\n", false, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
			if strings.Count(out, `"type":"result"`) != 1 {
				t.Errorf("to a host: %s", out)
			}
			if c.Terminal != strings.Contains(out, refused) {
				t.Errorf("to a host: refused: %t\n%s", !c.Terminal, out)
			}
		})
	}
}
