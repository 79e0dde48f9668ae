package prompt

import (
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/platform/text/texts"
)

// The pieces of an opening that differ between a project's sessions. They are not in the system
// prompt, which a provider caches for all sessions.
const (
	scratchPiece = "scratchpad"
	gitPiece     = "git"
	statusPiece  = "git status"
)

// facts returns the current fact pieces. Pieces without content are empty.
func (a *Announcer) facts(l texts.Language) []Piece {
	var g gitinfo.Snapshot
	if a.cfg.Git != nil {
		g = a.cfg.Git()
	}
	scratch := ""
	if a.cfg.Scratch != nil {
		if dir := a.cfg.Scratch(); dir != "" {
			scratch = catalogText(l, "scratchpad", dir)
		}
	}
	return []Piece{{scratchPiece, scratch}, {gitPiece, msg.Neutralise(describeGit(l, g))}, {statusPiece, msg.Neutralise(describeStatus(l, g))}}
}

// factNews returns an announcement of the facts that differ from the opening or the last
// announcement: in a resumed session, and for a late git status. The caller holds the lock.
func (a *Announcer) factNews(l texts.Language) string {
	if a.cfg.Git == nil && a.cfg.Scratch == nil {
		return ""
	}
	var changed, added []string
	known := a.cfg.Keeper.told.known(openingKey)
	for _, p := range a.facts(l) {
		if p.Text == "" && p.Name == statusPiece || !a.news(p.Name, p.Text) {
			continue
		}
		was := text(a.pieces, p.Name)
		switch {
		case p.Text == "":
			heading, _, _ := strings.Cut(was, "\n")
			changed = append(changed, catalogText(l, "since.gone", strings.TrimLeft(heading, "# ")))
		case was == "" && !slices.Contains(known, p.Name):
			added = append(added, p.Text)
		default:
			changed = append(changed, strings.Replace(p.Text, catalogText(l, "git"), catalogText(l, "since.git"), 1))
		}
	}
	if len(changed) > 0 {
		changed = append([]string{catalogText(l, "since")}, changed...)
	}
	return strings.Join(append(changed, added...), "\n\n")
}

// describeGit describes the repository, except for its status. Unknown values are omitted.
func describeGit(l texts.Language, g gitinfo.Snapshot) string {
	lines := []string{catalogText(l, "git")}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, catalogText(l, "git."+name, value))
		}
	}
	add("branch", g.Branch)
	add("default", g.Default)
	add("user", g.User)
	add("log", g.Log)
	if len(lines) == 1 {
		return ""
	}
	return strings.Join(lines, "\n")
}

// describeStatus describes the work tree changes, if git has answered.
func describeStatus(l texts.Language, g gitinfo.Snapshot) string {
	switch {
	case g.Clean:
		return catalogText(l, "git.clean")
	case g.Status == "":
		return ""
	case g.Cut:
		return catalogText(l, "git.status", g.Status) + "\n" + catalogText(l, "git.cut")
	}
	return catalogText(l, "git.status", g.Status)
}
