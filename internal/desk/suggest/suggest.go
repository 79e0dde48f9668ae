// Package suggest finds what may continue a text that is being typed: commands, their arguments, and files that it mentions.
// Showing and choosing is left to the front ends.
package suggest

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"adze/internal/desk"
	"adze/internal/platform/fuzzy"
	"adze/internal/platform/mention"
)

// A Kind is what is being typed.
type Kind uint8

// The kinds. Commands are found at once; the others may take a while.
const (
	Commands Kind = iota + 1
	Arguments
	Files
)

// A Query is something that is being typed. Queries can be compared; the zero value is none.
type Query struct {
	Kind Kind
	// Typed is what there is of the name, the argument or the path so far.
	Typed string
	// From is where in the text it begins, with the sign before it.
	From int
	// Command is the one that an argument is for.
	Command string
}

// Read returns what is being typed at the end of text, or none. Whole says that the text begins with the message.
func Read(text string, whole bool) Query {
	if path, at, ok := mention.Typed(text); ok && (whole || at > 0) {
		return Query{Kind: Files, Typed: path, From: at}
	}
	name, _, ok := desk.Parse(text)
	switch {
	case !ok || !whole || text[0] != '/':
		return Query{}
	case !strings.ContainsFunc(text, unicode.IsSpace):
		return Query{Kind: Commands, Typed: name}
	}
	arg := strings.TrimLeftFunc(text[len("/"+name):], unicode.IsSpace)
	return Query{Kind: Arguments, Typed: arg, From: len(text) - len(arg), Command: name}
}

// An Item is something that what was typed may become.
type Item struct {
	// Text takes its place.
	Text string
	// Label is what is shown, and Matched the bytes of it that were typed.
	Label   string
	Matched []int
	// Args names the arguments of a command, and Doc says what it does.
	Args, Doc string
	// Continues says that more may follow without another blank: the text is a directory, or ends with one.
	Continues bool
}

// Most is how many items are found.
const Most = 50

// A Finder finds what queries may become. Make it with [New].
type Finder struct {
	desk     *desk.Desk
	now      func() time.Time
	commands []desk.Command // as they were when they were last listed
	listed   time.Time
}

// New returns a finder for the commands and files of a desk.
func New(d *desk.Desk, now func() time.Time) *Finder { return &Finder{desk: d, now: now} }

// Commands returns the commands that what was typed of a name may become, the best first. It belongs to one goroutine.
func (f *Finder) Commands(typed string) []Item {
	f.list()
	var top ranking
	for i := range f.commands {
		c := candidate{command: &f.commands[i]}
		c.consider(c.command.Name, typed)
		for _, alias := range c.command.Aliases {
			c.consider(alias, typed)
		}
		if c.rank == 0 || c.rank < min(top.best, fuzzy.Words) {
			continue
		}
		if c.command.Origin != "" && f.desk.Surroundings.Score != nil {
			c.score = f.desk.Surroundings.Score(c.command.Name)
		}
		c.usual = usefulness(c.command)
		top.add(c)
	}
	items := make([]Item, len(top.list))
	names := make([]string, len(top.list))
	for i, c := range top.list {
		items[i], names[i] = c.item(typed), "/"+c.name
	}
	desk.Offered(f.desk, names)
	return items
}

// fresh is how long a list of commands is used: a name is typed in less.
const fresh = 2 * time.Second

// list lists the commands, which come and go, unless that was done a moment ago.
func (f *Finder) list() {
	if now := f.now(); f.commands == nil || now.Sub(f.listed) >= fresh {
		f.commands, f.listed = f.desk.Commands(), now
	}
}

// Find returns what an argument or a path may become, the best first. It may take a while, and returns nothing when ctx is
// done. Several goroutines may call it.
func (f *Finder) Find(ctx context.Context, q Query) []Item {
	switch q.Kind {
	case Arguments:
		return arguments(f.desk, q)
	case Files:
		return files(ctx, f.desk, q.Typed)
	}
	return nil
}

// A candidate is a command that fits what was typed of its name.
type candidate struct {
	command *desk.Command
	name    string
	rank    fuzzy.Rank
	score   float64
	usual   int // see [usefulness]
}

// A ranking holds the best candidates, in their order. Names that begin with what was typed come before those with words
// that do, and others only count if there are none of these; among equals the one that is used most comes first.
type ranking struct {
	list []candidate
	best fuzzy.Rank
}

func (r *ranking) add(c candidate) {
	if c.rank >= fuzzy.Words && r.best < fuzzy.Words {
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

// usual are the built-in commands that are used most, in the order in which they are suggested.
var usual = [...]string{"help", "model", "resume", "rewind", "diff", "context", "compact", "plan", "permissions", "memory", "config", "cost", "status", "export", "mcp", "agents"}

// usefulness ranks a command among others that fit as well: /clear comes last, since a slip would end the conversation.
func usefulness(c *desk.Command) int {
	if i := slices.Index(usual[:], c.Name); i >= 0 && c.Origin == "" {
		return len(usual) + 1 - i
	}
	if c.Name == "clear" || c.Origin != "" {
		return 0
	}
	return 1
}

// consider notes how well a name of the command fits, if it fits better than another one.
func (c *candidate) consider(name, typed string) {
	if rank := fuzzy.Match(name, typed); rank > c.rank {
		c.name, c.rank = name, rank
	}
}

func (c *candidate) item(typed string) Item {
	it := Item{Text: "/" + c.name, Label: "/" + c.name, Args: c.command.Args, Doc: c.command.Doc}
	for _, at := range fuzzy.Positions(c.name, typed) {
		it.Matched = append(it.Matched, at+len("/"))
	}
	return it
}

// arguments returns the arguments that a command knows and that begin with what was typed.
func arguments(d *desk.Desk, q Query) []Item {
	c, ok := d.Lookup(q.Command)
	if !ok || c.Complete == nil {
		return nil
	}
	var items []Item
	for _, arg := range c.Complete(d, q.Typed) {
		if len(items) == Most {
			break
		}
		if rank := fuzzy.Match(arg, q.Typed); rank >= fuzzy.Prefix && arg != q.Typed {
			items = append(items, Item{Text: arg, Label: arg, Matched: fuzzy.Positions(arg, q.Typed), Continues: strings.HasSuffix(arg, "/") || strings.HasSuffix(arg, " ")})
		}
	}
	return items
}

const (
	// mostResources is how many resources of servers are among the files.
	mostResources = 5
	// resourceTime is how long servers have to name them.
	resourceTime = 300 * time.Millisecond
)

// files returns the files that fit, and before them the resources of servers that do.
func files(ctx context.Context, d *desk.Desk, typed string) []Item {
	var items []Item
	if d.Surroundings.Resources != nil {
		within, cancel := context.WithTimeout(ctx, resourceTime)
		names := d.Surroundings.Resources(within, typed)
		cancel()
		for _, name := range names[:min(len(names), mostResources)] {
			it := Item{Text: mention.Write(name), Label: name, Matched: fuzzy.Positions(name, typed)}
			if strings.HasSuffix(name, ":") { // a server, whose resource follows
				it.Text, it.Continues = "@"+name, true
			}
			items = append(items, it)
		}
	}
	for _, m := range desk.FilesLike(ctx, d, typed) {
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
