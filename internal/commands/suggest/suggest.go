// Package suggest finds completions for text being typed: commands, their arguments, and
// mentioned files.
package suggest

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"adze/internal/commands"
	"adze/internal/platform/text/mention"
	"adze/internal/platform/text/rank"
)

// A Kind is the kind of text being completed.
type Kind uint8

// The kinds. Commands are found immediately; the others may take a while.
const (
	Commands Kind = iota + 1
	Arguments
	Files
)

// A Query is text being completed. Queries are comparable; the zero value means none.
type Query struct {
	Kind Kind
	// Typed is the name, argument or path typed so far.
	Typed string
	// From is the offset in the text where it begins, including the sign before it.
	From int
	// Command is the command that an argument is for.
	Command string
}

// Read returns the query at the end of text, or the zero Query. If whole is true, text begins
// at the start of the message.
func Read(text string, whole bool) Query {
	if path, at, ok := mention.Typed(text); ok && (whole || at > 0) {
		return Query{Kind: Files, Typed: path, From: at}
	}
	name, _, ok := commands.Parse(text)
	switch {
	case !ok || !whole || text[0] != '/':
		return Query{}
	case !strings.ContainsFunc(text, unicode.IsSpace):
		return Query{Kind: Commands, Typed: name}
	}
	arg := strings.TrimLeftFunc(text[len("/"+name):], unicode.IsSpace)
	return Query{Kind: Arguments, Typed: arg, From: len(text) - len(arg), Command: name}
}

// An Item is a possible completion.
type Item struct {
	// Text replaces the typed text.
	Text string
	// Label is the displayed text, and Matched the offsets of the bytes in it that were typed.
	Label   string
	Matched []int
	// Args names the arguments of a command, and Doc describes it.
	Args, Doc string
	// If Continues is true, more may follow without another blank: the text is a directory or a
	// server, or ends with a blank.
	Continues bool
}

// Most is the maximum number of items found.
const Most = 200

// A Finder finds completions for queries. Create it with [New].
type Finder struct {
	registry *commands.Registry
	now      func() time.Time
	commands []commands.Command // cached command list
	listed   time.Time
}

// New returns a finder for the commands and files of a session.
func New(r *commands.Registry, now func() time.Time) *Finder { return &Finder{registry: r, now: now} }

// Commands returns the commands that match a partial name, best first. It is not safe for
// concurrent use.
func (f *Finder) Commands(typed string) []Item {
	f.list()
	var top ranking
	for i := range f.commands {
		c := candidate{command: &f.commands[i]}
		c.consider(c.command.Name, typed)
		for _, alias := range c.command.Aliases {
			c.consider(alias, typed)
		}
		if c.rank == 0 || c.rank < min(top.best, rank.Words) {
			continue
		}
		if c.command.Origin != "" && f.registry.Env.Score != nil {
			c.score = f.registry.Env.Score(c.command.Name)
		}
		c.usual = usefulness(c.command)
		top.add(c)
	}
	items := make([]Item, len(top.list))
	names := make([]string, len(top.list))
	for i, c := range top.list {
		items[i], names[i] = c.item(typed), "/"+c.name
	}
	f.registry.SetOffered(names)
	return items
}

// fresh is how long a command list is reused: a name is typed in less.
const fresh = 2 * time.Second

// list updates the list of dynamic commands, unless it is fresh.
func (f *Finder) list() {
	if now := f.now(); f.commands == nil || now.Sub(f.listed) >= fresh {
		f.commands, f.listed = f.registry.Commands(), now
	}
}

// Find returns completions of an argument or a path, best first. It may take a while, and
// returns nothing when ctx is done. It is safe for concurrent use.
func (f *Finder) Find(ctx context.Context, q Query) []Item {
	switch q.Kind {
	case Arguments:
		return arguments(f.registry, q)
	case Files:
		return files(ctx, f.registry, q.Typed)
	}
	return nil
}

// A candidate is a command that matches the typed name.
type candidate struct {
	command *commands.Command
	name    string
	rank    rank.Rank
	score   float64
	usual   int // see [usefulness]
}

// A ranking holds the best candidates, in order. Names that begin with the typed text come
// before names with a word that does; others count only if neither exists. Among equals, the
// most used comes first.
type ranking struct {
	list []candidate
	best rank.Rank
}

func (r *ranking) add(c candidate) {
	if c.rank >= rank.Words && r.best < rank.Words {
		r.list = r.list[:0]
	}
	r.best = max(r.best, c.rank)
	at := len(r.list)
	for at > 0 && (r.list[at-1].rank < c.rank || r.list[at-1].rank == c.rank && (r.list[at-1].score < c.score || r.list[at-1].score == c.score && r.list[at-1].usual < c.usual)) {
		at--
	}
	if at < Most {
		r.list = slices.Insert(r.list[:min(len(r.list), Most-1)], at, c)
	}
}

// usual are the most used built-in commands, in the order they are suggested.
var usual = [...]string{"help", "model", "resume", "rewind", "diff", "context", "compact", "plan", "permissions", "memory", "config", "cost", "status", "export", "mcp", "agents"}

// usefulness ranks a command among equally good matches: /clear comes after others, since a slip
// would end the conversation, and rare ones last.
func usefulness(c *commands.Command) int {
	if i := slices.Index(usual[:], c.Name); i >= 0 && c.Origin == "" {
		return len(usual) + 1 - i
	}
	switch {
	case c.Rare:
		return -1
	case c.Name == "clear" || c.Origin != "":
		return 0
	}
	return 1
}

// consider records how well a name of the command matches, if it matches better than another
// one.
func (c *candidate) consider(name, typed string) {
	if quality := rank.Match(name, typed); quality > c.rank {
		c.name, c.rank = name, quality
	}
}

func (c *candidate) item(typed string) Item {
	it := Item{Text: "/" + c.name, Label: "/" + c.name, Args: c.command.Args, Doc: c.command.Doc}
	for _, at := range rank.Positions(c.name, typed) {
		it.Matched = append(it.Matched, at+len("/"))
	}
	return it
}

// arguments returns a command's known arguments that begin with the typed text.
func arguments(r *commands.Registry, q Query) []Item {
	c, ok := r.Lookup(q.Command)
	if !ok || c.Complete == nil {
		return nil
	}
	var items []Item
	for _, arg := range c.Complete(r, q.Typed) {
		if len(items) == Most {
			break
		}
		if quality := rank.Match(arg, q.Typed); quality >= rank.Prefix && arg != q.Typed {
			items = append(items, Item{Text: arg, Label: arg, Matched: rank.Positions(arg, q.Typed), Continues: strings.HasSuffix(arg, "/") || strings.HasSuffix(arg, " ")})
		}
	}
	return items
}

const (
	// mostResources is the maximum number of server resources among the files.
	mostResources = 5
	// resourceTime is how long servers have to list them.
	resourceTime = 300 * time.Millisecond
)

// files returns the matching files, preceded by matching server resources.
func files(ctx context.Context, r *commands.Registry, typed string) []Item {
	var items []Item
	if r.Env.Resources != nil {
		within, cancel := context.WithTimeout(ctx, resourceTime)
		names := r.Env.Resources(within, typed)
		cancel()
		for _, name := range names[:min(len(names), mostResources)] {
			it := Item{Text: mention.Write(name), Label: name, Matched: rank.Positions(name, typed)}
			if strings.HasSuffix(name, ":") { // a server, whose resource follows
				it.Text, it.Continues = "@"+name, true
			}
			items = append(items, it)
		}
	}
	for _, m := range commands.FilesLike(ctx, r, typed) {
		it := Item{Text: mention.Write(m.Path), Label: m.Path, Matched: m.Positions, Continues: m.Dir}
		if m.Dir { // the rest comes before the quote
			it.Text = strings.TrimSuffix(it.Text, `"`)
		}
		items = append(items, it)
	}
	if ctx.Err() != nil {
		return nil
	}
	return items
}
