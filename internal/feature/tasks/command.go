package tasks

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/commands"
	"adze/internal/tool"
)

// Sections returns the command that shows the list, in its /help section.
func (l *Lists) Sections() []commands.Section {
	return []commands.Section{{Name: "Conversation", Commands: []commands.Command{{
		Name: "todos", Doc: "show the task list that the model keeps",
		Run: func(ctx context.Context, _ *commands.Registry, _ string) (commands.Answer, error) { return l.page(ctx) },
	}}}}
}

// page shows the list.
func (l *Lists) page(ctx context.Context) (commands.Answer, error) {
	if l == nil {
		return nil, errors.New("no task list here")
	}
	list, err := l.Checklist(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return commands.Say("The task list is empty. The model adds to it when work has several steps."), nil
	}
	return commands.Page{Blocks: []commands.Block{commands.Output{Display: list}, commands.Text(fmt.Sprintf("%d of %d done.", list.Count(tool.Done), len(list)))}}, nil
}
