package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// SessionFiles manages a stored session's files other than the transcript. Each function may be nil:
// then the session list does not offer the actions that need it.
type SessionFiles struct {
	// Inherit copies the original's files to a fork.
	Inherit func(ctx context.Context, from *archive.Info, fork string) error
	// Remove deletes a session with all of its files.
	Remove func(ctx context.Context, info *archive.Info) error
}

func resumeCommand() Command {
	return Command{Name: "resume", Kind: Change, Args: "[SESSION]", Doc: "continue an earlier session", Terminal: true,
		Run: func(_ context.Context, r *Registry, arg string) (Answer, error) {
			if arg != "" {
				return Switch{Session: arg}, nil
			}
			return r.sessionList()
		},
		Complete: func(r *Registry, _ string) []string {
			var names []string
			infos, _ := archive.List(r.Home, archive.ListOptions{Dir: r.Dir}) // ok: then nothing is offered
			for _, i := range infos {
				if i.ID != r.Session.ID() {
					names = append(names, i.ID, i.Name(), i.Tag)
				}
			}
			slices.Sort(names)
			return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
		}}
}

// sessionList lists the sessions of the directory, newest first, with a second view for all sessions.
func (r *Registry) sessionList() (Answer, error) {
	here, err := r.sessionChoices(r.Dir)
	if err != nil {
		return nil, err
	}
	if len(here) == 0 {
		others, err := r.sessionChoices("")
		if err != nil || len(others) == 0 {
			return Say("No earlier sessions in this directory."), err
		}
	}
	list := List{
		Full: true, Title: "Resume", Verb: "opens", Choices: here, Usage: "/resume SESSION",
		Choose:  func(_ context.Context, c Choice) (Answer, error) { return Switch{Session: c.ID}, nil },
		Preview: r.previewSession, Search: r.searchSessions, Actions: r.sessionActions(),
		Views: []View{{Name: "this project", Empty: "No earlier sessions in this directory."}, {Name: "all"}},
	}
	list.Views[0].Choices = append([]Choice{}, here...)
	list.Views[0].Load = func(context.Context) ([]Choice, error) { return r.sessionChoices(r.Dir) }
	list.Views[1].Load = func(context.Context) ([]Choice, error) { return r.sessionChoices("") }
	if len(here) == 0 {
		list.Page = Say("No earlier sessions in this directory; adze sessions list --all shows all sessions.")
	}
	return list, nil
}

// sessionChoices returns the sessions of a directory, or all.
func (r *Registry) sessionChoices(dir string) ([]Choice, error) {
	infos, left, err := archive.Survey(r.Home, archive.ListOptions{Dir: dir})
	if err != nil {
		return nil, err
	}
	if len(infos) == 0 && len(left.Unreadable) > 0 {
		return nil, &left.Unreadable[0]
	}
	var all []Choice
	for i := range infos {
		info := &infos[i]
		if info.ID == r.Session.ID() {
			continue
		}
		cells := []string{amount.Age(r.Now().Sub(info.Modified)), amount.Of(info.Messages, "message", "messages"), tool.OneLine(info.Branch, 24)}
		if info.Tag != "" {
			cells[2] = strings.TrimSpace(cells[2] + " #" + info.Tag)
		}
		if dir == "" {
			cells = append(cells, filepath.Base(info.Dir))
		}
		about := fmt.Sprintf("%s, %s", cells[0], cells[1])
		if info.Branch != "" {
			about += ", " + info.Branch
		}
		if info.Tag != "" {
			about += ", tag " + info.Tag
		}
		all = append(all, Choice{ID: info.ID, Title: info.Name(), About: about, Cells: cells})
	}
	return all, nil
}

// previewSession shows how a session began and how it ended.
func (r *Registry) previewSession(_ context.Context, c Choice) (Page, error) {
	info, err := archive.Find(r.Home, r.Dir, c.ID)
	if err != nil {
		return Page{}, err
	}
	contents, err := store.Load(info.Path, store.LoadOptions{})
	if err != nil {
		return Page{}, err
	}
	var p Page
	if first := firstSaid(contents.Entries, msg.User); first != "" {
		p.Add(Text("You: " + first))
	}
	slices.Reverse(contents.Entries)
	if last := firstSaid(contents.Entries, msg.Assistant); last != "" {
		p.Add(Text("Model: " + last))
	}
	about := contents.State.Model
	if spent := contents.State.Cost; spent != nil && spent.CostUSD > 0 {
		about = strings.TrimPrefix(about+", "+amount.USD(spent.CostUSD), ", ")
	}
	if about != "" {
		p.Add(Text(about))
	}
	return p, nil
}

// shownSaid is the maximum length of a message in a preview.
const shownSaid = 500

// firstSaid returns the first text of one side.
func firstSaid(entries []msg.Entry, role msg.Role) string {
	for _, e := range entries {
		if e.Hidden || e.Message.Role != role {
			continue
		}
		said := slices.ContainsFunc(e.Message.Parts, func(p msg.Part) bool {
			_, reminder := msg.ReminderText(p)
			_, text := p.(*msg.Text)
			return text && !reminder
		})
		if said {
			return archive.Gist(e.Message, shownSaid)
		}
	}
	return ""
}

// maxFound is the maximum number of sessions a search returns.
const maxFound = 500

// searchSessions searches the messages of sessions.
func (r *Registry) searchSessions(ctx context.Context, text string) ([]Found, error) {
	var found []Found
	for hit, err := range archive.Search(ctx, r.Home, archive.Query{Text: text}) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // an unreadable session must not hide others
		}
		if found = append(found, Found{ID: hit.Session.ID, Text: hit.Snippet}); len(found) == maxFound {
			break
		}
	}
	return found, nil
}

// sessionActions returns the other actions on a session.
func (r *Registry) sessionActions() []Action {
	actions := []Action{{
		Key: "ctrl+r", Name: "renames", Ask: "New title:", Text: func(c Choice) string { return c.Title },
		Run: func(_ context.Context, c Choice, title string) (Answer, error) { return r.renameSession(c, title) },
	}}
	if r.Env.Sessions.Inherit != nil {
		actions = append([]Action{{
			Key: "ctrl+f", Name: "forks",
			Run: func(ctx context.Context, c Choice, _ string) (Answer, error) { return r.forkSession(ctx, c) },
		}}, actions...)
	}
	if r.Env.Sessions.Remove != nil {
		actions = append(actions, Action{
			Key: "ctrl+x", Name: "deletes",
			Confirm: func(c Choice) string { return "Delete " + tool.OneLine(c.Title, 60) + " for good?" },
			Run:     func(ctx context.Context, c Choice, _ string) (Answer, error) { return r.removeSession(ctx, c) },
		})
	}
	return actions
}

func (r *Registry) renameSession(c Choice, title string) (Answer, error) {
	title, err := store.CheckTitle(title)
	if err != nil {
		return nil, err
	}
	info, err := archive.Find(r.Home, r.Dir, c.ID)
	if err != nil {
		return nil, err
	}
	if err := store.Annotate(info.Path, store.Title(title)); err != nil {
		return nil, err
	}
	return Say("The session is now called " + title + "."), nil
}

// forkSession copies a session and changes to the copy.
func (r *Registry) forkSession(ctx context.Context, c Choice) (Answer, error) {
	info, err := archive.Find(r.Home, r.Dir, c.ID)
	if err != nil {
		return nil, err
	}
	opt := store.Options{Home: r.Home, Dir: r.Dir, Session: msg.NewID(), Version: r.Version}
	if info.Dir != "" {
		opt.Dir = info.Dir
	}
	if _, err := store.Fork(info.Path, opt, ""); err != nil {
		return nil, err
	}
	if err := r.Env.Sessions.Inherit(ctx, info, opt.Session); err != nil {
		return nil, fmt.Errorf("%w; /resume %s continues it all the same", err, opt.Session)
	}
	return Switch{Session: opt.Session}, nil
}

// removeSession deletes a session, unless it is open.
func (r *Registry) removeSession(ctx context.Context, c Choice) (Answer, error) {
	if c.ID == r.Session.ID() {
		return nil, errors.New("this session is open")
	}
	info, err := archive.Find(r.Home, r.Dir, c.ID)
	if err != nil {
		return nil, err
	}
	if err := r.Env.Sessions.Remove(ctx, info); err != nil {
		return nil, err
	}
	return Say("Deleted " + c.Title + "."), nil
}
