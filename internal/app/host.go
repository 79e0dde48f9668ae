package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/fit"
	"adze/internal/platform/fileindex"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/ui/headless"
)

// hosting is what a program that drives the session may ask for and change.
type hosting struct {
	b     *builder
	s     *session.Session
	index *fileindex.Index
	began time.Time
}

// host returns what is offered to a program that drives the session.
func (b *builder) host(s *session.Session) headless.Host {
	d := &hosting{b: b, s: s, index: fileindex.New(fileindex.Config{Dir: b.env.Dir, All: !b.settings.Bool("respectGitignore")}), began: b.env.Now()}
	b.closers = append(b.closers, d.index.Close)
	if b.o.asker == askHost {
		b.gate.SetAsk(s.AskPermission)
	}
	h := headless.Host{
		DefaultModel: b.model,
		Asks:         b.o.asker == askHost,
		Initialize:   d.initialize,
		Actions: map[string]headless.Request{
			"set_max_thinking_tokens": asked(d.setThinking),
			"rename_session":          asked(d.rename),
			"rewind_files":            asked(d.rewind),
			"seed_read_state":         asked(d.seedRead),
			"background_tasks":        asked(d.detach),
			"stop_task":               asked(d.stopTask),
		},
		Queries: map[string]headless.Request{
			"get_binary_version":    asked(d.version),
			"get_context_usage":     asked(d.contextUsage),
			"get_hooks_listing":     asked(d.hooks),
			"get_session_cost":      asked(d.costText),
			"get_settings":          asked(d.settings),
			"get_usage":             asked(d.usage),
			"list_models":           asked(d.models),
			"list_permission_rules": asked(d.rules),
			"list_tasks":            asked(d.listTasks),
			"get_task_output":       asked(d.taskOutput),
			"mcp_status":            asked(d.servers),
			"file_suggestions":      asked(d.suggestions),
			"read_file":             asked(d.readFile),
		},
	}
	for _, name := range catalog.Aliases() {
		if m, ok := b.table.Lookup(name); ok {
			h.Models = append(h.Models, headless.HostModel{Value: name, Name: m.Name, Description: m.ID})
		}
	}
	return h
}

// asked returns a request whose fields are those of In.
func asked[In any](answer func(context.Context, In) (any, error)) headless.Request {
	return func(ctx context.Context, body json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, &headless.Refusal{Code: "invalid_request", Text: fmt.Sprintf("the request cannot be read: %v", err)}
		}
		return answer(ctx, in)
	}
}

// none is a request without fields, or an answer without any.
type none struct{}

// initialize applies what the host wants. Callbacks that guard calls are refused rather than left out;
// what else is missing is told.
func (d *hosting) initialize(_ context.Context, start headless.Start) error {
	b := d.b
	if err := b.hostHooks(start); err != nil {
		return err
	}
	switch {
	case len(start.Servers) > 0:
		b.env.say("MCP servers of the host are not available in this version: " + strings.Join(start.Servers, ", "))
	case len(start.Agents) > 0:
		b.env.say("sub-agents of the host are not available in this version")
	}
	if err := b.expect(start.JSONSchema); err != nil {
		return &headless.Refusal{Code: "invalid_schema", Text: err.Error()}
	}
	if start.Title != "" {
		if err := d.title(start.Title); err != nil {
			return err
		}
	}
	if start.SystemPrompt == nil && start.AppendSystemPrompt == "" {
		return nil
	}
	if start.SystemPrompt != nil {
		b.o.system, b.o.systemFile = strings.Join(start.SystemPrompt, "\n\n"), ""
		b.o.given["system-prompt"] = true
	}
	if start.AppendSystemPrompt != "" {
		b.o.appended, b.o.appendedFile = start.AppendSystemPrompt, ""
	}
	choice, err := b.promptChoice()
	if err == nil {
		b.prompts.SetChoice(choice)
	}
	return err
}

func (d *hosting) setThinking(ctx context.Context, in struct {
	Tokens *int `json:"max_thinking_tokens"`
}) (any, error) {
	t := d.b.thinking()
	switch {
	case in.Tokens == nil:
	case *in.Tokens < 0:
		return nil, &headless.Refusal{Code: "invalid_request", Text: "max_thinking_tokens is negative"}
	case *in.Tokens == 0:
		t = model.Thinking{}
	default:
		t = model.Thinking{Mode: model.ThinkingBudget, Budget: max(*in.Tokens, fit.LeastBudget)}
	}
	return none{}, d.s.Submit(ctx, session.SetThinking{Thinking: t})
}

func (d *hosting) rename(_ context.Context, in struct {
	Title   string `json:"title"`
	Session string `json:"session_id"`
}) (any, error) {
	if in.Session != "" && in.Session != d.s.ID() {
		return nil, fmt.Errorf("session %s is not the one that is open; use adze sessions rename", in.Session)
	}
	return none{}, d.title(in.Title)
}

func (d *hosting) title(text string) error {
	title, err := store.CheckTitle(text)
	if err != nil {
		return err
	}
	if d.b.log == nil {
		return errors.New("the session is not kept, so it has no title")
	}
	return d.b.log.Note(store.Title(title))
}

// resolvePath returns a path of the host as it is on disk.
func (d *hosting) resolvePath(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.b.env.Dir, path)
	}
	return filepath.Clean(path)
}
