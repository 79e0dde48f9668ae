// Package questions puts what the model and hooks ask to the user of a conversation: to the front ends, on the same way as what
// servers ask. The tool is in tools/askuser; how a question looks is left to the front ends.
package questions

import (
	"context"
	"encoding/json"
	"errors"

	"adze/internal/hook"
	"adze/internal/msg"
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
	s, err := c.put(ctx, session.Choices{
		Items: choices(all),
		Call:  session.AskingCall{Tool: askuser.Name, Use: tool.UseOf(ctx), Input: input},
	})
	return askuser.Answer{Chosen: s.Chosen, Declined: s.Declined, Message: s.Message}, err
}

// put puts a question to the user, and tells the hooks that the user is waited for.
func (c Config) put(ctx context.Context, q session.Choices) (session.Selection, error) {
	// Those who tell the user elsewhere take as long as they take; they end with the hooks.
	go c.Fire(context.WithoutCancel(ctx), hook.OnNotification("elicitation_dialog", "Question", q.Items[0].Text))
	r, err := c.Ask(ctx, q)
	if err != nil {
		return session.Selection{}, err
	}
	return r.(session.Selection), nil
}

// Why a hook has no answer, in words for the hook.
var (
	errNotAsked = errors.New("no user can be asked here")
	errDeclined = errors.New("the user did not choose")
)

// Choose puts the question of a hook to the user. It has the form of [hook.Judges].
func (c Config) Choose(ctx context.Context, q hook.Question) (key string, err error) {
	if !c.Asks {
		return "", errNotAsked
	}
	shown := askuser.Question{Question: q.Message, Header: "Hook"}
	item := session.Choice{Text: q.Message, Closed: true}
	for _, o := range q.Options {
		shown.Options = append(shown.Options, askuser.Option{Label: o.Label, Description: o.Description})
		item.Options = append(item.Options, session.Option{Label: o.Label, Description: o.Description})
	}
	input, err := json.Marshal(askuser.Input{Questions: []askuser.Question{shown}})
	if err != nil {
		return "", err
	}
	s, err := c.put(ctx, session.Choices{
		From: q.By, Items: []session.Choice{item},
		Call: session.AskingCall{Tool: askuser.Name, Use: "hook_" + msg.NewID(), Input: input},
	})
	switch {
	case err != nil:
		return "", err
	case s.Declined || len(s.Chosen[0]) == 0:
		return "", errDeclined
	}
	for _, o := range q.Options {
		if o.Label == s.Chosen[0][0] {
			return o.Key, nil
		}
	}
	return "", errDeclined
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
