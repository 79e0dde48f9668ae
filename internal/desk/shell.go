package desk

import (
	"context"
	"errors"

	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// Shell runs a command that the user typed, until it ends or ctx is done, and reports what it prints meanwhile. The model
// sees the command and its output with the next prompt.
func (d *Desk) Shell(ctx context.Context, command string, report func(tool.Display)) (Answer, error) {
	switch {
	case d.Execute == nil:
		return nil, errors.New("this session cannot run commands")
	case command == "":
		return nil, errors.New("type a command after !")
	}
	output, err := d.Execute(ctx, command, report)
	if err != nil {
		output += err.Error()
	}
	return Operation{
		Op:   session.Note{Parts: []msg.Part{&msg.Text{Text: msg.Ran(command, output)}}},
		Page: Page{Blocks: []Block{Output{tool.Plain{Text: output}}}}, Entries: true,
	}, nil
}
