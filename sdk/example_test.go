package sdk_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"adze/sdk"
)

// model writes a script that answers in place of a model; leave Model empty to use the
// configured one.
func model(script string) string {
	if err := os.WriteFile("model.txt", []byte(script), 0o600); err != nil {
		log.Fatal(err)
	}
	return "replay:model.txt"
}

func Example() {
	result, err := sdk.Run(context.Background(), "What is six times seven?", sdk.Options{
		Model: model(`say Six times seven is 42.`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: Six times seven is 42.
}

// Follow the agent.
func ExampleStream() {
	o := sdk.Options{Model: model(`
use Glob {"pattern":"*.go"}
---
say There are no Go files.`)}
	for message, err := range sdk.Stream(context.Background(), "Which Go files are here?", o) {
		if err != nil {
			log.Fatal(err)
		}
		switch m := message.(type) {
		case *sdk.ToolUse:
			fmt.Printf("%s %s\n", m.Name, m.Input)
		case *sdk.ToolResult:
			fmt.Println(">", m.Text)
		case *sdk.Text:
			fmt.Println(m.Text)
		}
	}
	// Output:
	// Glob {"pattern":"*.go"}
	// > No files found.
	// There are no Go files.
}

// A function of the program is a tool of the model.
func ExampleNewTool() {
	type city struct {
		Name string `json:"name" jsonschema:"the name of the city"`
	}
	weather := sdk.NewTool("weather", "The weather in a city.", func(_ context.Context, c city) (string, error) {
		return "It rains in " + c.Name + ".", nil
	})
	result, err := sdk.Run(context.Background(), "Do I need an umbrella in Bergen?", sdk.Options{
		Tools:        []sdk.Tool{weather},
		AllowedTools: []string{weather.Rule()},
		Model: model(`
use mcp__sdk__weather {"name":"Bergen"}
---
expect result toolu_1_1 "It rains in Bergen."
say Yes, take an umbrella.`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: Yes, take an umbrella.
}

// Decide about calls that no rule decides.
func ExampleOptions_permit() {
	result, err := sdk.Run(context.Background(), "Remove the build directory.", sdk.Options{
		Permit: func(_ context.Context, c sdk.Call) (sdk.Decision, error) {
			fmt.Printf("%s %s\n", c.Tool, c.Input)
			return sdk.Deny("ask the user to do that"), nil
		},
		Model: model(`
use Bash {"command":"rm -r build"}
---
expect result toolu_1_1 "ask the user to do that"
say Please remove it yourself.`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output:
	// Bash {"command":"rm -r build"}
	// Please remove it yourself.
}

// A hook sees calls before they run.
func ExampleHook() {
	result, err := sdk.Run(context.Background(), "Read the secret.", sdk.Options{
		Hooks: []sdk.Hook{{
			Event: "PreToolUse", Matcher: "Read",
			Run: func(_ context.Context, in sdk.HookInput) (sdk.HookOutput, error) {
				return sdk.HookOutput{Block: "this program reads no files"}, nil
			},
		}},
		Model: model(`
use Read {"file_path":"secret.txt"}
---
expect result toolu_1_1 "this program reads no files"
say I may not read it.`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: I may not read it.
}

// A session answers several prompts.
func ExampleSession() {
	ctx := context.Background()
	s, err := sdk.Open(ctx, sdk.Options{Model: model(`
say Hello.
---
say Bye.`)})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, prompt := range []string{"Good morning", "Good night"} {
		for message, err := range s.Prompt(ctx, prompt) {
			if err != nil {
				log.Fatal(err)
			}
			if text, ok := message.(*sdk.Text); ok {
				fmt.Println(text.Text)
			}
		}
	}
	// Output:
	// Hello.
	// Bye.
}
