package wire

import (
	"context"

	"adze/internal/prompt"
	"adze/internal/setup"
	"adze/internal/tool"
)

// preview opens a conversation as adze -p would, for inspection. Nothing is sent, started or
// stored.
func (w *Workspace) preview(ctx context.Context, spec Spec) (*Conversation, error) {
	spec.Entry, spec.Calls, spec.Preview, spec.Session = Print, FromModel, true, SessionSpec{}
	return w.Converse(ctx, spec)
}

// PromptPage renders the first request of a conversation, without server tools.
func (w *Workspace) PromptPage(ctx context.Context, spec Spec) (*prompt.Page, error) {
	c, err := w.preview(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	m, err := c.model.Resolve(c.model.Name)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	return prompt.NewPage(m.ID, c.prompt.prompt, c.prompt.announcer, c.prompt.describe(c.Session.ToolSpecs()))
}

// Tools lists the tools of a conversation with the given access, including server tools.
func (w *Workspace) Tools(ctx context.Context, a AccessSpec, served []tool.Tool) ([]tool.Listed, error) {
	c, err := w.preview(ctx, Spec{Access: a})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Session.Pool().List(c.Gate.Standing().Denier, served...), nil
}
