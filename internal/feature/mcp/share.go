package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"adze/internal/agent/exec"
	"adze/internal/commands"
	"adze/internal/domain/agentdef"
	"adze/internal/domain/skill"
	"adze/internal/feature"
	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/session/elicit"
	"adze/internal/tool"
	"adze/internal/tools/mcpresource"
	"adze/internal/tools/mcptool"
)

// ClientConfig configures a conversation's use of servers.
type ClientConfig struct {
	// Asker forwards server questions to the conversation's user; Roots returns the
	// conversation's directories.
	Asker *elicit.Asker
	Roots func() []string
	// Content configures the processing of results.
	Content content.Config
	Gate    *permission.Gate
	// Hooks returns the gate for resources the user mentions, which need no permission.
	Hooks func() tool.Gate
	// Session returns the session.
	Session func() *session.Session
	// Patience is how long the first request waits for servers: 0 at a terminal.
	Patience time.Duration
	// ShortLived is true if the conversation is too short for the user to sign in to a server.
	ShortLived bool
	// Ignored are servers whose always-load requests are ignored.
	Ignored []string
	// Agent is the definition of the conversation's agent, or nil. Holds is true if it is the
	// main agent.
	Agent *agentdef.Definition
	Holds bool
	// Below are the servers of the agent's parent conversation; nil means the workspace's.
	Below *mcp.Servers
	// Say shows the user a one-line message.
	Say func(string)
}

// A Client is one conversation's view of the workspace's and its agent's MCP servers. Nil means
// none.
type Client struct {
	*mcp.Session
	*mcp.Servers // servers visible to the conversation
	*Manager
	agentServers agentServers
	cfg          ClientConfig
	tools        *mcptool.Set
	updates      mcpresource.Updates
	unhear       func()
	await        sync.Once

	mu    sync.Mutex
	rules *permission.Policy // policy for which roots was computed
	roots []string           // the conversation's directories as sent to servers
	// skills holds the skills offered by servers, by name.
	skills map[string]*skill.Skill

	signInTools signInTools
	channels    channels
}

// Client returns a conversation's view of the servers.
func (f *Manager) Share(c ClientConfig) *Client {
	client := c.Asker.Client()
	client.Roots = c.Roots
	s := &Client{Manager: f, cfg: c}
	client.Pushed = s.pushed
	s.Servers = cmp.Or(c.Below, f.Servers)
	s.agentServers = agentServers{agent: c.Agent, own: Own(f.cfg.Project, f.cfg.Flags, c.Agent)}
	if len(s.agentServers.own) > 0 {
		s.Servers = s.Servers.Layer()
	}
	s.Session = s.Join(client)
	s.tools = mcptool.NewSet(mcptool.Config{Call: s.Session.Call, Content: c.Content, Say: c.Say, IgnoreAlwaysLoad: c.Ignored})
	if !c.ShortLived {
		s.signInTools.begin = func(ctx context.Context, server string) (string, error) { return f.BeginSignIn(ctx, server, false) }
	}
	s.updates.Subscribe = s.Subscribe
	s.unhear = s.OnUpdated(s.updates.Updated)
	return s
}

// Listed waits for the servers and returns their tools for display.
func (f *Manager) Listed(ctx context.Context) []tool.Tool {
	f.Start()
	f.Wait(ctx)
	return mcptool.NewSet(mcptool.Config{IgnoreAlwaysLoad: f.cfg.Project.Values().MCP.Extra.Ignored}).Tools(f.Tools())
}

// Begin registers the session and starts connecting to servers.
func (s *Client) Begin() {
	if s == nil {
		return
	}
	s.Manager.mu.Lock()
	s.begun = append(s.begun, s)
	s.Manager.mu.Unlock()
	pause := time.Duration(0)
	if s.cfg.Patience == 0 {
		pause = headStart
	}
	s.startAfter(pause)
	if len(s.agentServers.own) > 0 {
		s.Servers.Start(s.agentServers.own)
	}
}

// Leave unregisters the conversation.
func (s *Client) Leave() {
	s.Manager.mu.Lock()
	s.begun = slices.DeleteFunc(s.begun, func(x *Client) bool { return x == s })
	s.Manager.mu.Unlock()
	s.unhear()
	s.Session.Leave()
	if len(s.agentServers.own) > 0 {
		s.Servers.Close()
	}
}

// Dynamic returns a function that lists the servers' tools and notifies the servers when the
// conversation's directories change.
func (s *Client) Dynamic() func() []tool.Tool {
	if s == nil {
		return nil
	}
	return func() []tool.Tool {
		s.follow(s.cfg.Gate.Standing())
		return s.signInTools.with(s.Manager, s.tools.Tools(s.Tools()))
	}
}

func (s *Client) follow(p *permission.Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == s.rules {
		return
	}
	dirs := p.Config().Dirs
	if s.rules != nil && !slices.Equal(dirs, s.roots) {
		s.RootsChanged()
	}
	s.rules, s.roots = p, slices.Clone(dirs)
}

// Await waits once for connecting servers, as long as an attempt may take. It returns
// immediately for a user at a terminal.
func (s *Client) Await(ctx context.Context) {
	if s == nil || s.cfg.Patience == 0 {
		return
	}
	s.await.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
		defer cancel()
		s.Wait(ctx)
		s.remind()
	})
}

// remind repeats the sign-in notice of an earlier run for non-interactive use.
func (s *Client) remind() {
	for _, status := range s.List() {
		var auth *mcp.AuthError
		if status.State == mcp.NeedsAuth && errors.As(status.Err, &auth) && auth.Cached {
			s.cfg.Say(mcp.SignInAdvice(status.Name))
		}
	}
}

// Part returns the servers' contribution to a conversation, except for [Client.Channels].
func (s *Client) Part() feature.Part {
	if s == nil {
		return feature.Part{Name: "servers"}
	}
	return feature.Part{Name: "servers", PromptHook: s.PromptHook, Offer: s.offer}
}

// PromptHook waits for servers before the first request, and announces changed resources to the
// model. It is a [session.PromptHook].
func (s *Client) PromptHook(ctx context.Context, p session.Prompt) (h session.HookResult) {
	s.Await(ctx)
	if s.cfg.Holds {
		if h.Blocked = s.agentServers.missing(ctx, s); h.Blocked != "" {
			return h
		}
	}
	h = s.cfg.Asker.PromptHook(ctx, p)
	if news := s.updates.News(); news != "" {
		h.Context = []msg.Part{msg.Reminder(msg.Neutralise(news))}
	}
	if s.cfg.Patience > 0 { // otherwise they may still connect
		h.Context = append(h.Context, s.agentServers.news(s.Servers)...)
	}
	return h
}

// ResourceTools returns the tools for server resources, or nil without servers.
func (s *Client) ResourceTools() []tool.Tool {
	var c mcpresource.Config
	if s != nil {
		c = mcpresource.Config{
			Servers: s, Content: s.cfg.Content, Read: s.updates.Read,
			Denied: func(server string) bool {
				_, denied := s.cfg.Gate.Standing().DeniesTool("mcp__" + server + "__" + mcpresource.ReadName)
				return denied
			},
		}
	}
	return []tool.Tool{mcpresource.NewList(c), mcpresource.NewRead(c)}
}

// offer makes server prompts and resources available to the user.
func (s *Client) offer(to *commands.Env) {
	to.Commands = func(wait bool) []commands.Command {
		if wait {
			s.Await(context.Background())
		}
		return promptCommands(s.Servers, s.cfg.Content)
	}
	to.Resources = func(ctx context.Context, typed string) []string { return mentions(ctx, s.Servers, typed) }
}

// Mentioned returns a function that reads a resource the user mentions, such as server:uri, or
// nil. It is read as if the model had called the tool and the user had allowed it.
func (s *Client) Mentioned(name string) func(context.Context) exec.Outcome {
	if s == nil {
		return nil
	}
	server, uri, ok := mentioned(s.Servers, name)
	input, err := json.Marshal(map[string]string{"server": server, "uri": uri})
	if !ok || err != nil {
		return nil
	}
	return func(ctx context.Context) exec.Outcome {
		ex := *s.cfg.Session().Executor()
		ex.Gates = []exec.Gate{{Name: "hooks", Gate: s.cfg.Hooks()}, {Name: "permission", Gate: allowAll{}}}
		return ex.Execute(ctx, s.cfg.Session().Pool(), msg.NewToolUse("attached_resource", mcpresource.ReadName, string(input)))
	}
}

// An allowAll is a gate that allows everything. It is used for resources named by the user.
type allowAll struct{}

// Before implements [tool.Gate].
func (allowAll) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Allow, "user", "the user mentioned it")
	return nil
}
