package command

import (
	_ "embed"
	"strings"
)

//go:embed input.json
var inputSchema string

//go:embed output.json
var outputSchema string

// InputSchema returns the JSON Schema of what the model gives to a tool that takes commands.
func InputSchema() string { return strings.TrimSpace(inputSchema) }

// OutputSchema returns the JSON Schema of [Output].
func OutputSchema() string { return strings.TrimSpace(outputSchema) }

// BackgroundDoc is the line that tells the model of commands that go on in the background.
const BackgroundDoc = "- With `run_in_background` the command goes on by itself: you get a task id at once, and word when it ends. Use it for servers and for what takes long; do not poll with `sleep`. TaskOutput shows what it has printed, TaskStop ends it."
