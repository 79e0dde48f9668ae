// Package questions puts what the model asks to the user of a conversation: to the front ends, on the same way as what servers
// ask. The tool is in tools/askuser; how a question looks is left to the front ends.
package questions

import (
	"context"
	"encoding/json"
	"errors"

	"adze/internal/hook"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/askuser"
)

// A Config is what questions go through.
type Config struct {
	// Asks says that there is a user who can be asked.
	Asks bool
	// Ask puts a question to the user.
	Ask func(context.Context, session.Question) (session.Reply, error)
	// Fire tells the hooks of an event.
	Fire func(context.Context, hook.Event) hook.Outcome
}

// errNoUser tells the model what to do where no one can be asked.
var errNoUser = errors.New("there is no user here to answer questions: decide yourself, and say in your answer what you assumed")

// Tool returns the tool with which the model asks.
func Tool(c Config) tool.Tool {
	return askuser.New(askuser.Config{
		Ask: c.ask,
		Available: func() error {
			if !c.Asks {
				return errNoUser
			}
			return nil
		},
	})
}

func (c Config) ask(ctx context.Context, all []askuser.Question) (askuser.Answer, error) {
	input, err := json.Marshal(askuser.Input{Questions: all})
	if err != nil {
		return askuser.Answer{}, err
	}
	// Those who tell the user elsewhere take as long as they take; they end with the hooks.
	go c.Fire(context.WithoutCancel(ctx), hook.OnNotification("elicitation_dialog", "Question", all[0].Question))
	r, err := c.Ask(ctx, session.Choices{
		Items: choices(all),
		Call:  session.AskingCall{Tool: askuser.Name, Use: tool.UseOf(ctx), Input: input},
	})
	if err != nil {
		return askuser.Answer{}, err
	}
	s := r.(session.Selection)
	return askuser.Answer{Chosen: s.Chosen, Declined: s.Declined, Message: s.Message}, nil
}

// choices returns the questions as front ends show them.
func choices(all []askuser.Question) []session.Choice {
	var items []session.Choice
	for _, q := range all {
		item := session.Choice{Header: q.Header, Text: q.Question, Multiple: q.MultiSelect}
		for _, o := range q.Options {
			item.Options = append(item.Options, session.Option(o))
		}
		items = append(items, item)
	}
	return items
}
