package command

import (
	_ "embed"
	"errors"
	"strings"

	"adze/internal/platform/task"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

//go:embed input.json
var inputSchema string

//go:embed output.json
var outputSchema string

// InputSchema returns the JSON Schema of [Input].
func InputSchema() string { return strings.TrimSpace(inputSchema) }

// OutputSchema returns the JSON Schema of [Output].
func OutputSchema() string { return strings.TrimSpace(outputSchema) }

var (
	//go:embed command.md
	english string
	//go:embed command.zh.md
	chinese string
	//go:embed input.zh.md
	chineseInput string

	catalogue = texts.New(english, chinese)
)

// InputTexts returns how the parameters of [InputSchema] are described in a language; see [tool.Traits].
func InputTexts(l texts.Language) map[string]string { return tool.InChinese(chineseInput)(l) }

// An Input is what the model gives to a tool that takes commands.
type Input struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"run_in_background,omitempty"`
}

// Validate refuses commands that nothing could run.
func (in Input) Validate() error { return check(in.Command) }

// Title returns the command, whole: the description is the model's word, not what will run.
func (in Input) Title() string { return "Run " + in.Command }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Running " + in.Command }

// Past returns the command: it says what was done.
func (in Input) Past() (verb, object string) { return "", in.Command }

// Access says that the command is executed.
func (in Input) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Execute, Target: in.Command}}
}

// NoTasks reports why there are no background tasks to deal with, or nil.
func NoTasks(table *task.Table) error {
	if table == nil {
		return errors.New("background tasks are disabled")
	}
	return nil
}

// A TaskRef is the part of an input that names a background task. A call with it touches nothing but the
// task: what was started with consent may be looked at and ended without.
type TaskRef struct {
	TaskID string `json:"task_id"`
}

// OpenWorld says that the task is on this machine.
func (TaskRef) OpenWorld() bool { return false }

// ReadOnly says that no file is changed.
func (TaskRef) ReadOnly() bool { return true }

// Access says that nothing but the task is touched.
func (TaskRef) Access() []tool.Access { return nil }
