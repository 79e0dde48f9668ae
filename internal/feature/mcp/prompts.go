package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"adze/internal/commands"
	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// promptTime is the timeout for fetching a server's prompt.
const promptTime = 30 * time.Second

// promptCommands returns the prompts of connected servers as commands. Prompt text from a server is
// sent to the model verbatim: nothing in it is run or expanded.
func promptCommands(s *mcp.Servers, c content.Config) []commands.Command {
	var all []commands.Command
	for _, status := range s.List() {
		if status.State != mcp.Connected || len(status.Prompts) == 0 {
			continue
		}
		var names []string
		for _, p := range status.Prompts {
			names = append(names, p.Name)
		}
		called := mcp.Names(status.Name, names)
		for i, p := range status.Prompts {
			if slices.Contains(names[:i], p.Name) {
				continue // the server lists the prompt twice
			}
			all = append(all, promptCommand(s, c, status.Name, called[p.Name], p))
		}
	}
	return all
}

func promptCommand(s *mcp.Servers, c content.Config, server, name string, p mcp.Prompt) commands.Command {
	about := p.Description
	if about == "" {
		about = p.Title
	}
	cmd := commands.Command{Name: name, Kind: commands.Ask, Origin: "server " + server, Args: arguments(p.Args), Doc: strings.TrimSpace(tool.OneLine(about, 100) + " (prompt of server " + server + ")")}
	cmd.Run = func(_ context.Context, _ *commands.Registry, arg string) (commands.Answer, error) {
		args, err := assign(p.Args, arg)
		if err != nil {
			return nil, fmt.Errorf("%w; usage: /%s", err, strings.TrimSpace(name+" "+cmd.Args))
		}
		return commands.Prompt{Text: strings.TrimSpace("/" + name + " " + arg), Make: func(ctx context.Context) (session.Prompt, error) {
			ctx, cancel := context.WithTimeout(ctx, promptTime)
			defer cancel()
			said, err := s.Prompt(ctx, server, p.Name, args)
			if err != nil {
				return session.Prompt{}, fmt.Errorf("the server %s did not return the prompt: %w", server, err)
			}
			parts := promptParts(ctx, c, content.Source{Server: server, Name: p.Name}, said)
			if len(parts) == 0 {
				return session.Prompt{}, fmt.Errorf("the prompt %s of server %s is empty", tool.OneLine(p.Name, 60), server)
			}
			return session.Prompt{Parts: parts, Quoted: true}, nil
		}}, nil
	}
	return cmd
}

// arguments formats a prompt's arguments for a usage line.
func arguments(args []mcp.PromptArg) string {
	var words []string
	for _, a := range args {
		word := strings.ToUpper(strings.ReplaceAll(tool.OneLine(a.Name, 40), " ", "_"))
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// assign assigns words to arguments by position. The last argument takes the rest.
func assign(args []mcp.PromptArg, typed string) (map[string]string, error) {
	words, err := split(typed)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 && len(words) > 0 {
		return nil, errors.New("the prompt takes no arguments")
	}
	if n := len(args); n > 0 && len(words) > n {
		words = append(words[:n-1:n-1], strings.Join(words[n-1:], " "))
	}
	given := map[string]string{}
	var missing []string
	for i, a := range args {
		switch {
		case i < len(words):
			given[a.Name] = words[i]
		case a.Required:
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the prompt needs %s", strings.Join(missing, ", "))
	}
	return given, nil
}

// split splits at blanks outside quotes.
func split(typed string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range typed {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case (r == '"' || r == '\'') && !begun:
			quote, begun = r, true
		case unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// promptParts merges a prompt's messages into one user message. If some are the assistant's,
// each is labeled with its role.
func promptParts(ctx context.Context, c content.Config, from content.Source, said []mcp.PromptMessage) []msg.Part {
	mixed := slices.ContainsFunc(said, func(m mcp.PromptMessage) bool { return m.Role == "assistant" })
	var all []mcp.Content
	for _, m := range said {
		if mixed {
			all = append(all, mcp.Content{Text: "[" + m.Role + "]"})
		}
		all = append(all, m.Content)
	}
	return c.Render(ctx, from, all, nil).Parts
}

// mentions returns completions for a partially typed resource mention: servers with resources,
// followed by a colon, and then their resources.
func mentions(ctx context.Context, s *mcp.Servers, typed string) []string {
	server, rest, chosen := strings.Cut(typed, ":")
	var all []string
	for _, status := range s.List() {
		switch {
		case status.State != mcp.Connected || !status.About.Resources:
		case !chosen && typed != "" && strings.HasPrefix(status.Name, typed):
			all = append(all, status.Name+":")
		case chosen && status.Name == server:
			resources, err := s.Resources(ctx, server)
			if err != nil {
				return nil // ok: no completions then
			}
			for _, r := range resources {
				if strings.HasPrefix(r.URI, rest) {
					all = append(all, server+":"+r.URI)
				}
			}
		}
	}
	return all
}

// mentioned parses a mention such as server:uri.
func mentioned(s *mcp.Servers, name string) (server, uri string, ok bool) {
	server, uri, ok = strings.Cut(name, ":")
	if !ok || uri == "" {
		return "", "", false
	}
	known := slices.ContainsFunc(s.List(), func(status mcp.Status) bool { return status.Name == server })
	return server, uri, known
}
