package sessions

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/feature/deferred"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/setup"
)

// A shownSession is a session in JSON output.
type shownSession struct {
	ID       string `json:"sessionId"`
	Title    string `json:"title"`
	Named    bool   `json:"named"` // named by the user
	Tag      string `json:"tag,omitempty"`
	Dir      string `json:"cwd,omitempty"`
	Branch   string `json:"gitBranch,omitempty"`
	Messages int    `json:"messages"`
	About    bool   `json:"messagesEstimated,omitempty"`
	Size     int64  `json:"bytes"`
	Created  string `json:"created,omitempty"`
	Modified string `json:"modified"`
	Path     string `json:"path"`
}

func shown(i *archive.Info) shownSession {
	s := shownSession{
		ID: i.ID, Title: i.Name(), Named: i.Title != "", Tag: i.Tag, Dir: i.Dir, Branch: i.Branch, Messages: i.Messages, About: i.About,
		Size: i.Size, Modified: i.Modified.UTC().Format(time.RFC3339), Path: i.Path,
	}
	if !i.Created.IsZero() {
		s.Created = i.Created.UTC().Format(time.RFC3339)
	}
	return s
}

func listSessions(_ context.Context, t *Task) error {
	o := archive.ListOptions{Dir: t.Dir}
	if t.All {
		o.Dir = ""
	}
	infos, left, err := archive.Survey(t.Home, o)
	if err != nil {
		return err
	}
	t.tellLeftOut(&left)
	infos = slices.DeleteFunc(infos, func(i archive.Info) bool { return t.Tag != "" && !strings.EqualFold(i.Tag, t.Tag) })
	if t.Limit > 0 {
		infos = infos[:min(t.Limit, len(infos))]
	}
	if t.JSON {
		list := make([]shownSession, len(infos))
		for i := range infos {
			list[i] = shown(&infos[i])
		}
		return t.PrintJSON(list)
	}
	if len(infos) == 0 {
		if t.Tag == "" && (len(left.Unreadable) > 0 || left.Empty > 0) {
			return nil // already reported
		}
		where := "no sessions in this directory yet; adze sessions list --all shows all sessions"
		switch {
		case t.Tag != "":
			where = fmt.Sprintf("no session has the tag %q", t.Tag)
		case t.All:
			where = "no sessions yet"
		}
		t.Say(where)
		return nil
	}
	return t.Page(t.table(infos))
}

// tellLeftOut reports unreadable and empty session files.
func (t *Task) tellLeftOut(left *archive.Omitted) {
	const most = 5
	for i := range left.Unreadable[:min(most, len(left.Unreadable))] {
		t.Say(left.Unreadable[i].Error())
	}
	if n := len(left.Unreadable) - most; n > 0 {
		t.Say(fmt.Sprintf("%s cannot be read either", amount.Of(n, "more session", "more sessions")))
	}
	if left.Empty > 0 {
		t.Say(left.EmptyText() + "; not listed")
	}
}

// table lists sessions, one per line.
func (t *Task) table(infos []archive.Info) string {
	var b strings.Builder
	short := shortIDs(infos)
	for n := range infos {
		i := &infos[n]
		title := i.Name()
		if i.Tag != "" {
			title += " [" + i.Tag + "]"
		}
		fmt.Fprintf(&b, "%s  %8s  %6s  %8s  %s", short[n], amount.Age(t.Now().Sub(i.Modified)), messages(i), bytesText(i.Size), title)
		if i.Branch != "" {
			fmt.Fprintf(&b, "  (%s)", i.Branch)
		}
		if t.All && i.Dir != "" {
			fmt.Fprintf(&b, "  %s", i.Dir)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shortIDs returns the shortest unique prefixes of the IDs.
func shortIDs(infos []archive.Info) []string {
	for length := 8; ; length += 4 {
		short := make([]string, len(infos))
		seen := map[string]bool{}
		longest := 0
		for n := range infos {
			id := infos[n].ID
			short[n] = id[:min(length, len(id))]
			seen[short[n]] = true
			longest = max(longest, len(id))
		}
		if len(seen) == len(infos) || length >= longest {
			return short
		}
	}
}

func messages(i *archive.Info) string {
	if i.About {
		return fmt.Sprintf("~%d", i.Messages)
	}
	return fmt.Sprint(i.Messages)
}

func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", n>>10)
	case n < 10<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// shownMessages is the default number of messages shown.
const shownMessages = 10

func showSession(_ context.Context, t *Task) error {
	if len(t.Args) > 1 {
		return setup.Errorf("name one session; a title of several words needs quotes")
	}
	info, err := t.find(t.Args[0])
	if err != nil {
		return err
	}
	c, err := store.Load(info.Path, store.LoadOptions{})
	if err != nil {
		return err
	}
	last := c.Entries[max(0, len(c.Entries)-cmp.Or(t.Limit, shownMessages)):]
	if t.JSON {
		type line struct {
			ID   string   `json:"uuid"`
			Role msg.Role `json:"role"`
			Time string   `json:"timestamp"`
			Text string   `json:"text"`
		}
		out := struct {
			shownSession
			Model   string  `json:"model,omitempty"`
			Mode    string  `json:"permissionMode,omitempty"`
			CostUSD float64 `json:"costUSD"`
			Last    []line  `json:"last"`
		}{shownSession: shown(info), Model: c.State.Model, Mode: c.State.Mode, Last: []line{}}
		if c.State.Cost != nil {
			out.CostUSD = c.State.Cost.CostUSD
		}
		for _, e := range last {
			out.Last = append(out.Last, line{e.ID, e.Message.Role, e.Time.Format(time.RFC3339), archive.Gist(archive.Seen(e.Message, deferred.Forwarders().See), 1000)})
		}
		return t.PrintJSON(out)
	}
	return t.Page(describeSession(info, c, last))
}

// describeSession formats a session's details and its last messages.
func describeSession(info *archive.Info, c *store.Contents, last []msg.Entry) string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	row("session", info.ID)
	row("title", info.Name())
	row("tag", info.Tag)
	row("folder", info.Dir)
	row("branch", info.Branch)
	if !info.Created.IsZero() {
		row("started", info.Created.Local().Format("2006-01-02 15:04"))
	}
	row("changed", info.Modified.Local().Format("2006-01-02 15:04"))
	row("messages", messages(info))
	row("size", bytesText(info.Size))
	row("model", c.State.Model)
	if spent := c.State.Cost; spent != nil {
		text := fmt.Sprintf("%.4f USD", spent.CostUSD)
		if spent.HasUnknownCost {
			text += " plus usage without a known price"
		}
		row("cost", text)
	}
	row("file", info.Path)
	for _, notice := range c.Notices {
		fmt.Fprintf(&b, "\n%s\n", notice)
	}
	b.WriteByte('\n')
	for _, e := range last {
		if e.Hidden {
			continue
		}
		who := "you"
		if e.Message.Role == msg.Assistant {
			who = "model"
		}
		fmt.Fprintf(&b, "%s  %-5s  %s\n", e.ID[:min(8, len(e.ID))], who, archive.Gist(archive.Seen(e.Message, deferred.Forwarders().See), 100))
	}
	fmt.Fprintf(&b, "\nTo continue it: adze --resume %s\n", info.ID)
	return b.String()
}

func searchSessions(ctx context.Context, t *Task) error {
	q := archive.Query{Text: strings.Join(t.Args, " "), MatchCase: t.MatchCase, Limit: t.Limit}
	type found struct {
		Session shownSession `json:"session"`
		Message string       `json:"uuid"`
		Role    msg.Role     `json:"role"`
		Time    string       `json:"timestamp"`
		Text    string       `json:"text"`
		Start   int          `json:"start"`
		End     int          `json:"end"`
	}
	all := []found{}
	session := ""
	for hit, err := range archive.Search(ctx, t.Home, q) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.Say(err.Error())
		case t.JSON:
			all = append(all, found{shown(&hit.Session), hit.Message, hit.Role, hit.Time.Format(time.RFC3339), hit.Snippet, hit.Start, hit.End})
		default:
			var b strings.Builder
			if session != hit.Session.Path {
				session = hit.Session.Path
				fmt.Fprintf(&b, "%s  %s  %s", hit.Session.ID, amount.Age(t.Now().Sub(hit.Session.Modified)), hit.Session.Name())
				if hit.Session.Dir != "" && hit.Session.Dir != t.Dir {
					fmt.Fprintf(&b, "  %s", filepath.Base(hit.Session.Dir))
				}
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "  %s\n", hit.Snippet)
			if err := t.Show(b.String()); err != nil {
				return err
			}
			all = append(all, found{})
		}
	}
	if t.JSON {
		return t.PrintJSON(all)
	}
	if len(all) == 0 {
		t.Say("no session contains that text")
	}
	return nil
}
