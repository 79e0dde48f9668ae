package window

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"adze/internal/agent/sidequery"
	"adze/internal/platform/text/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// maxAside is the maximum length of the answer to a side question, in tokens.
const maxAside = 4_000

// Question asks the model a question about the conversation and returns its answer. Neither
// becomes part of the conversation.
func (t *Turn) Question(ctx context.Context, text string) (string, error) {
	said := t.said(t.conv.History.Entries())
	q := said.Question(catalogue.Text(t.cfg.Language, "question", text), maxAside)
	q.Purpose, q.Interactive = "side questions", true
	answer, err := t.conv.Asker.Ask(ctx, q)
	if err != nil {
		return "", err
	}
	words, err := answer.Words()
	switch {
	case errors.Is(err, sidequery.ErrUnusable) && len(answer.Uses()) > 0:
		return "", fmt.Errorf("the model wanted to use %s to answer, which a side question cannot: ask it as a message", answer.Uses()[0].Name)
	case err != nil:
		return "", err
	}
	return words, nil
}
