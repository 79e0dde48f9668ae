package tasklists

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/desk"
	"adze/internal/tool"
)

// Sections returns the command that shows the list, in its /help section.
func (l *Lists) Sections() []desk.Section {
	return []desk.Section{{Name: "Conversation", Commands: []desk.Command{{
		Name: "todos", Doc: "show the task list that the model keeps",
		Run: func(ctx context.Context, _ *desk.Desk, _ string) (desk.Answer, error) { return l.page(ctx) },
	}}}}
}

// page shows the list.
func (l *Lists) page(ctx context.Context) (desk.Answer, error) {
	if l == nil {
		return nil, errors.New("there is no task list here")
	}
	list, err := l.Checklist(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return desk.Say("The task list is empty. The model adds to it when work has several steps."), nil
	}
	return desk.Page{Blocks: []desk.Block{desk.Output{Display: list}, desk.Text(fmt.Sprintf("%d of %d done.", list.Count(tool.Done), len(list)))}}, nil
}
