package desk

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// Shell runs a command that the user typed. The model sees it and its output with the next prompt.
func (d *Desk) Shell(ctx context.Context, command string) (Answer, error) {
	switch {
	case d.Execute == nil:
		return nil, errors.New("this session cannot run commands")
	case command == "":
		return nil, errors.New("type a command after !")
	}
	output, err := d.Execute(ctx, command)
	if err != nil {
		output += err.Error()
	}
	note := fmt.Sprintf("I ran this command:\n\n$ %s\n%s", command, output)
	return Operation{
		Op:   session.Note{Parts: []msg.Part{&msg.Text{Text: note}}},
		Page: Page{Blocks: []Block{Output{tool.Plain{Text: output}}}}, Entries: true,
	}, nil
}
