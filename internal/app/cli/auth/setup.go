package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/app/models"
	"adze/internal/platform/term"
	"adze/internal/ui/console"
)

// FirstStart is what the first start offers.
type FirstStart struct {
	// Models lists the models of servers on this machine.
	Models []string
	// Demo plays the demo; nil if that is impossible.
	Demo func() error
	// Screen is the error that lists all options, for a user who chooses none.
	Screen error
}

// A Selection is the answer of a user without a configured model provider. The caller stores
// it. It is zero if a key was stored.
type Selection struct {
	Model    string // a model of a server on this machine
	Provider string // a cloud, whose own tools hold the credentials
}

// A way is a way to get a model.
type way struct {
	text, remark string
	// take returns errBack to ask again.
	take func() (Selection, error)
}

// errBack means that the user declined a question that followed from the list.
var errBack = errors.New("back to the list")

// SetUp asks a user without a configured model provider how to continue.
func SetUp(ctx context.Context, c Console, p models.Config, first FirstStart) (Selection, error) {
	if !c.Terminal {
		return Selection{}, first.Screen
	}
	ways := c.ways(ctx, p, first)
	for {
		i, err := c.choice(ctx, question(ways), "none")
		switch {
		case err != nil:
			return Selection{}, err
		case i < 0:
			return Selection{}, first.Screen
		}
		chosen, err := ways[i].take()
		if errors.Is(err, errBack) {
			continue
		}
		if err == nil {
			err = c.print(welcome)
		}
		return chosen, err
	}
}

// ways returns what the user can choose from.
func (c Console) ways(ctx context.Context, p models.Config, first FirstStart) []way {
	others := slices.DeleteFunc(models.Logins(), func(name string) bool { return name == models.Recommended })
	ways := []way{
		{"Anthropic", "paste an API key (recommended)", func() (Selection, error) { return Selection{}, c.storeKey(ctx, p, models.Recommended) }},
		{"OpenAI, Gemini, Grok, OpenRouter", "paste an API key", func() (Selection, error) {
			i, err := c.choice(ctx, console.Choice{Question: "Which provider is the key for?", Answers: others, Leaving: "back"}, "back")
			if err != nil || i < 0 {
				return Selection{}, cancelled(err)
			}
			return Selection{}, c.storeKey(ctx, p, others[i])
		}},
	}
	for _, name := range first.Models {
		model, server := models.LocalName(name)
		ways = append(ways, way{term.Sanitize(model), "found on this machine, with " + server + ", no key", func() (Selection, error) { return Selection{Model: name}, nil }})
	}
	ways = append(ways, way{"Bedrock, Vertex, Foundry, a gateway", "with your existing credentials", func() (Selection, error) { return c.cloud(ctx) }})
	if first.Demo != nil {
		ways = append(ways, way{"None yet", "watch the demo first", func() (Selection, error) {
			if err := first.Demo(); err != nil {
				return Selection{}, err
			}
			return Selection{}, errBack
		}})
	}
	return ways
}

// question returns the list as a question.
func question(ways []way) console.Choice {
	q := console.Choice{Question: "Welcome to adze. Which model should it use?", Leaving: "quit"}
	for _, w := range ways {
		q.Answers, q.Remarks = append(q.Answers, w.text), append(q.Remarks, w.remark)
	}
	return q
}

// clouds are the providers with credentials of their own.
var clouds = [...]struct{ provider, name, needs string }{
	{"bedrock", "Amazon Bedrock", "the credentials and the region of the AWS tools"},
	{"vertex", "Google Vertex", "the login of gcloud, ANTHROPIC_VERTEX_PROJECT_ID and CLOUD_ML_REGION"},
	{"foundry", "Microsoft Foundry", "the login of az, and ANTHROPIC_FOUNDRY_RESOURCE"},
}

// cloud asks for the cloud, or explains how to use a gateway.
func (c Console) cloud(ctx context.Context) (Selection, error) {
	q := console.Choice{Question: "Which one?", Leaving: "back"}
	for _, cloud := range clouds {
		q.Answers, q.Remarks = append(q.Answers, cloud.name), append(q.Remarks, cloud.needs)
	}
	q.Answers, q.Remarks = append(q.Answers, "A gateway"), append(q.Remarks, "an address that speaks the Messages or OpenAI's API")
	i, err := c.choice(ctx, q, "back")
	switch {
	case err != nil || i < 0:
		return Selection{}, cancelled(err)
	case i < len(clouds):
		return Selection{Provider: clouds[i].provider}, nil
	}
	if err := c.print(gateway); err != nil {
		return Selection{}, err
	}
	return Selection{}, ErrInterrupted
}

// gateway explains how to use a gateway.
const gateway = `
Set its address and a model, for example in your shell's startup file, and start again:

    export ANTHROPIC_BASE_URL=http://127.0.0.1:8080    # or OPENAI_BASE_URL
    export ANTHROPIC_AUTH_TOKEN=...                     # if it needs one
    export ADZE_MODEL=the-model-it-serves

`

func cancelled(err error) error {
	if err == nil {
		return errBack
	}
	return err
}

// choice asks a question with a dialog or, without keys, on a line. It returns a negative number
// if the user cancels.
func (c Console) choice(ctx context.Context, q console.Choice, none string) (int, error) {
	if c.Choose != nil {
		if i, err := c.Choose(q); err == nil || errors.Is(err, ErrInterrupted) {
			return i, err
		}
	}
	width := 0
	for _, answer := range q.Answers {
		width = max(width, len(answer))
	}
	var b strings.Builder
	b.WriteString(q.Question + "\n\n")
	for i, answer := range q.Answers {
		remark := ""
		if i < len(q.Remarks) {
			remark = q.Remarks[i]
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %d  %-*s  %s", i+1, width, answer, remark), " ") + "\n")
	}
	if err := c.print(b.String() + "\n"); err != nil {
		return -1, err
	}
	for range attempts {
		answer, err := c.ask(ctx, fmt.Sprintf("1-%d, or Enter: %s ", len(q.Answers), none))
		if errors.Is(err, ErrInterrupted) && ctx.Err() != nil {
			return -1, err
		}
		if err != nil || answer == "" || strings.HasPrefix(answer, "\x1b") { // Esc in line mode
			return -1, nil
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(q.Answers) {
			return n - 1, nil
		}
		if i := slices.IndexFunc(q.Answers, func(text string) bool { return strings.EqualFold(text, answer) }); i >= 0 {
			return i, nil
		}
		if err := c.print(fmt.Sprintf("Enter a number from 1 to %d.\n", len(q.Answers))); err != nil {
			return -1, err
		}
	}
	return -1, nil
}

// storeKey asks for a key, repeatedly if the provider rejects it.
func (c Console) storeKey(ctx context.Context, p models.Config, provider string) (err error) {
	for range attempts {
		fmt.Fprintln(c.Out)
		err = Store(ctx, c, p, provider, Options{})
		switch {
		case errors.Is(err, models.ErrNoKey):
			return errBack
		case !errors.Is(err, models.ErrRejected):
			return err
		}
		c.Say(err.Error())
	}
	return err
}

// welcome is shown on the first start.
const welcome = `
adze asks before it changes files or runs commands. Models make mistakes; check
what you approve. /theme changes the colours, /terminal-setup checks your terminal.

`
