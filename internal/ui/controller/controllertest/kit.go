package controllertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// RunTool returns a tool that prints one line per second and ends with an exit code.
func RunTool() tool.Tool {
	def := tool.Def{Name: "Run", Doc: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}
	type input struct {
		Lines int  `json:"lines"`
		Exit  int  `json:"exit"`
		Slow  bool `json:"slow"`
	}
	return tool.New(def, func(ctx context.Context, in input, report func(tool.Progress)) (tool.Result, error) {
		var lines []string
		for i := range in.Lines {
			if lines = append(lines, fmt.Sprintf("line %d\tof it", i+1)); in.Slow {
				report(tool.Progress{Display: tool.Output{Text: strings.Join(lines[max(0, len(lines)-5):], "\n"), Lines: len(lines)}})
				time.Sleep(time.Second)
			}
		}
		text := strings.Join(lines, "\n")
		return tool.Result{
			Parts: []msg.Part{&msg.Text{Text: text}}, IsError: in.Exit != 0,
			Display: tool.Output{Text: text, Lines: len(lines), Exit: &in.Exit, Note: strings.Repeat("Exit code", min(1, in.Exit))},
		}, nil
	})
}

// KeepSession creates an earlier session in the directory, an hour and as many minutes old as
// its title has characters.
func KeepSession(t *testing.T, cfg *commands.Config, id, title string) {
	t.Helper()
	log, err := store.Open(store.Options{Home: cfg.Home, Dir: cfg.Dir, Session: id, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(msg.Entry{ID: msg.NewID(), Message: msg.UserText("hi"), Time: time.Now()}), log.Note(store.Title(title)), log.Close()); err != nil {
		t.Fatal(err)
	}
	when := time.Now().Add(-time.Hour - time.Duration(len(title))*time.Minute)
	if err := os.Chtimes(log.Path(), when, when); err != nil {
		t.Fatal(err)
	}
}

// Commands returns a command that takes 5 seconds and a prompt command.
func Commands() []commands.Command {
	return []commands.Command{
		{Name: "slow", Origin: "a test", Run: func(ctx context.Context, _ *commands.Registry, _ string) (commands.Answer, error) {
			select {
			case <-time.After(5 * time.Second):
				return commands.Say("It was slow."), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
		{Name: "ask", Kind: commands.Ask, Origin: "a test", Run: func(_ context.Context, _ *commands.Registry, arg string) (commands.Answer, error) {
			return commands.Prompt{Text: "asked for " + arg}, nil
		}},
	}
}
