package commands

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// Shell runs a shell command typed by the user until it ends or ctx is done, calling report
// with partial output. The model sees the command and its output with the next prompt.
func (r *Registry) Shell(ctx context.Context, command string, report func(tool.Display)) (Answer, error) {
	switch {
	case r.Execute == nil:
		return nil, errors.New("this session cannot run commands")
	case command == "":
		return nil, errors.New("type a command after !")
	}
	ran, err := r.Execute(ctx, command, report)
	if err != nil {
		ran.Output += err.Error()
	}
	shown := cmp.Or(ran.Shown, ran.Output)
	return Operation{
		Op:   session.Note{Parts: []msg.Part{&msg.Text{Text: msg.CommandMessage(command, ran.Output)}}},
		Page: Page{Blocks: []Block{Output{tool.Output{Text: shown, Lines: strings.Count(shown, "\n") + 1}}}}, Entries: true,
	}, nil
}

// ShellResult is the outcome of a shell command typed by the user.
type ShellResult struct {
	Output string // output for the model
	Shown  string // output for the user; "" means Output
}
