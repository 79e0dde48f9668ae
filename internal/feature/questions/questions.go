// Package questions routes model and hook questions to the front ends.
package questions

import (
	"context"
	"encoding/json"
	"errors"

	"adze/internal/feature"
	"adze/internal/hook"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/askuser"
)

// Config configures how to ask questions.
type Config struct {
	// Asks is true if there is a user who can answer.
	Asks bool
	// Ask asks the user a question.
	Ask func(context.Context, session.Question) (session.Reply, error)
	// Fire runs the hooks of an event.
	Fire func(context.Context, hook.Event) hook.Outcome
}

// errNoUser tells the model how to proceed without a user.
var errNoUser = errors.New("no user is present to answer questions: decide yourself and state your assumptions in your answer")

// Tool returns the tool with which the model asks questions.
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

// Part returns the part with which the model asks the user.
func Part(c Config) feature.Part {
	return feature.Part{Name: "questions", Tools: []tool.Tool{Tool(c)}}
}

func (c Config) ask(ctx context.Context, all []askuser.Question) (askuser.Answer, error) {
	input, err := json.Marshal(askuser.Input{Questions: all})
	if err != nil {
		return askuser.Answer{}, err
	}
	s, err := c.put(ctx, session.Choices{
		Items: choices(all),
		Call:  session.QuestionCall{Tool: askuser.Name, Use: tool.UseOf(ctx), Input: input},
	})
	return askuser.Answer{Chosen: s.Chosen, Declined: s.Declined, Message: s.Message}, err
}

// put asks the user a question, and notifies the hooks that input is needed.
func (c Config) put(ctx context.Context, q session.Choices) (session.Selection, error) {
	// Notification hooks may take any time; they end with the hooks.
	go c.Fire(context.WithoutCancel(ctx), hook.OnNotification("elicitation_dialog", "Question", q.Items[0].Text))
	r, err := c.Ask(ctx, q)
	if err != nil {
		return session.Selection{}, err
	}
	return r.(session.Selection), nil
}

// Reasons why a hook gets no answer, worded for the hook.
var (
	errNotAsked = errors.New("no user to answer questions here")
	errDeclined = errors.New("the user did not choose")
)

// Choose asks the user a hook's question. It has the signature required by [hook.Judges].
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
		Call: session.QuestionCall{Tool: askuser.Name, Use: "hook_" + msg.NewID(), Input: input},
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

// choices converts the questions for front ends.
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
