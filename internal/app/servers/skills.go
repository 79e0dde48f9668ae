package servers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/msg"
	"adze/internal/platform/frontmatter"
	"adze/internal/tool"
)

// skillScheme is that of resources that are skills: skill://NAME, or skill://NAME/SKILL.md.
const skillScheme = "skill://"

// skillsTime is how long listing commands waits for the resources of servers, which are remembered.
const skillsTime = 300 * time.Millisecond

// skills returns the resources of connected servers that are skills as commands called server:name. Like prompts they are
// words of others: nothing in them is run, looked up or replaced.
func skills(s *mcp.Servers, c content.Config) []desk.Command {
	ctx, cancel := context.WithTimeout(context.Background(), skillsTime)
	defer cancel()
	var all []desk.Command
	for _, status := range s.List() {
		if status.State != mcp.Connected || !status.About.Resources {
			continue
		}
		resources, err := s.Resources(ctx, status.Name)
		if err != nil {
			continue // ok: then it has none to offer
		}
		seen := map[string]bool{}
		for _, r := range resources {
			if name := skillName(r.URI); name != "" && !seen[name] {
				seen[name] = true
				all = append(all, skillCommand(s, c, status.Name, name, r))
			}
		}
	}
	return all
}

// skillName returns the name of the skill that a resource is, or nothing. Other files of a skill are none.
func skillName(uri string) string {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	name, file, _ := strings.Cut(rest, "/")
	if !ok || file != "" && file != "SKILL.md" || tool.CheckName(name) != nil {
		return ""
	}
	return name
}

func skillCommand(s *mcp.Servers, c content.Config, server, name string, r mcp.Resource) desk.Command {
	return desk.Command{
		Name: server + ":" + name, Kind: desk.Ask, Origin: "server " + server, Args: "[ARGUMENTS]", Doc: strings.TrimSpace(tool.OneLine(r.Description, 100) + " (skill of server " + server + ")"),
		Run: func(ctx context.Context, _ *desk.Desk, arg string) (desk.Answer, error) {
			ctx, cancel := context.WithTimeout(ctx, promptTime)
			defer cancel()
			read, err := s.Read(ctx, server, r.URI)
			if err != nil {
				return nil, fmt.Errorf("the skill cannot be read: %w", err)
			}
			for i := range read {
				read[i].Text = withoutHead(read[i].Text)
				if read[i].Kind == mcp.ResourceText {
					read[i].Kind = mcp.TextContent
				}
			}
			parts := c.Render(ctx, content.Source{Server: server, Name: name}, read, nil).Parts
			if len(parts) == 0 {
				return nil, fmt.Errorf("the skill %s of server %s is empty", name, server)
			}
			if arg != "" {
				parts = append(parts, &msg.Text{Text: "\n\nArguments: " + arg})
			}
			return desk.Prompt{Parts: parts}, nil
		},
	}
}

// withoutHead returns a text without its front matter, which says nothing to the model. Nothing in it counts: a server
// grants itself no tools.
func withoutHead(text string) string {
	if _, body, err := frontmatter.Split(text); err == nil {
		return body
	}
	return text
}
