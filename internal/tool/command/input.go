package command

import (
	_ "embed"
	"errors"
	"strings"

	"adze/internal/platform/proc/task"
	"adze/internal/platform/text/texts"
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

// InputTexts returns descriptions of the parameters of [InputSchema] in a language; see
// [tool.Traits].
func InputTexts(l texts.Language) map[string]string { return tool.InChinese(chineseInput)(l) }

// An Input is the model's input to a command tool.
type Input struct {
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"run_in_background,omitempty"`
}

// Validate refuses commands that cannot run.
func (in Input) Validate() error { return check(in.Command) }

// Title returns the full command: the description is the model's claim, not the command.
func (in Input) Title() string { return "Run " + in.Command }

// Activity returns the spinner text.
func (in Input) Activity() string { return "Running " + in.Command }

// Past returns the command, which describes itself.
func (in Input) Past() (verb, object string) { return "", in.Command }

// Access returns the execution of the command.
func (in Input) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Execute, Target: in.Command}}
}

// NoTasks returns the reason background tasks are unavailable, or nil.
func NoTasks(table *task.Table) error {
	if table == nil {
		return errors.New("background tasks are disabled")
	}
	return nil
}

// A TaskRef is the part of an input that names a background task. Such a call touches nothing
// but the task, which was started with consent, so inspecting and ending it needs none.
type TaskRef struct {
	TaskID string `json:"task_id"`
}

// OpenWorld returns false: the task is on this machine.
func (TaskRef) OpenWorld() bool { return false }

// ReadOnly returns true: no file is changed.
func (TaskRef) ReadOnly() bool { return true }

// Access returns nil: only the task is touched.
func (TaskRef) Access() []tool.Access { return nil }
