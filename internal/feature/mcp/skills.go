package mcp

import (
	"context"
	"strings"
	"time"

	"adze/internal/domain/skill"
	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/msg"
	"adze/internal/platform/text/frontmatter"
	"adze/internal/tool"
)

// skillScheme is the URI scheme of skill resources: skill://NAME, or skill://NAME/SKILL.md.
const skillScheme = "skill://"

// skillsTime is how long listing commands waits for server resources, which are cached.
const skillsTime = 300 * time.Millisecond

// Skills returns the skill resources of connected servers, named server:name. Like prompts they
// are untrusted text: nothing in them is run or expanded. The slice has the same skills until
// the resources change.
func (s *Client) Skills() []*skill.Skill {
	ctx, cancel := context.WithTimeout(context.Background(), skillsTime)
	defer cancel()
	var all []*skill.Skill
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skills == nil {
		s.skills = map[string]*skill.Skill{}
	}
	for _, status := range s.List() {
		if status.State != mcp.Connected || !status.About.Resources {
			continue
		}
		resources, err := s.Resources(ctx, status.Name)
		if err != nil {
			continue // ok: it offers none then
		}
		seen := map[string]bool{}
		for _, r := range resources {
			name := skillName(r.URI)
			if name == "" || seen[name] {
				continue
			}
			seen[name] = true
			known := s.skills[status.Name+":"+name]
			if doc := strings.TrimSpace(tool.OneLine(r.Description, 1000)); known == nil || known.Description != doc {
				known = serverSkill(s, status.Name, name, r.URI, doc)
				s.skills[known.Name] = known
			}
			all = append(all, known)
		}
	}
	return all
}

// skillName returns the name of a skill resource, or "". A skill's other files don't count.
func skillName(uri string) string {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	name, file, _ := strings.Cut(rest, "/")
	if !ok || file != "" && file != "SKILL.md" || tool.CheckName(name) != nil {
		return ""
	}
	return name
}

// serverSkill returns the skill of a resource.
func serverSkill(s *Client, server, name, uri, doc string) *skill.Skill {
	return &skill.Skill{
		Name: server + ":" + name, Head: skill.Head{Description: doc, Hint: "[ARGUMENTS]"}, Origin: skill.Origin{Kind: skill.Server, By: server},
		Text: func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, promptTime)
			defer cancel()
			read, err := s.Read(ctx, server, uri)
			if err != nil {
				return "", err
			}
			for i := range read {
				read[i].Text = withoutHead(read[i].Text)
				if read[i].Kind == mcp.ResourceText {
					read[i].Kind = mcp.TextContent
				}
			}
			return msg.PlainText(s.cfg.Content.Render(ctx, content.Source{Server: server, Name: name}, read, nil).Parts), nil
		},
	}
}

// withoutHead returns a text without its front matter, which is ignored: a server cannot grant
// itself tools.
func withoutHead(text string) string {
	if _, body, err := frontmatter.Split(text); err == nil {
		return body
	}
	return text
}
