package about

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/redact"
)

// A Variable is an environment variable that the program reads.
type Variable struct {
	Name, Value, Doc string
	Set              bool
}

func envCommand(variables func() []Variable) commands.Command {
	return commands.Command{Name: "env", Rare: true, Args: "[WORD|all]", Doc: "show the environment variables in use, those matching a word, or all that adze reads",
		Run: func(_ context.Context, _ *commands.Registry, word string) (commands.Answer, error) {
			if variables == nil {
				return commands.Say("No variables are read in this session."), nil
			}
			return envPage(variables(), word), nil
		}}
}

// envPage shows the variables that are set, or explains the ones matching word.
func envPage(all []Variable, word string) commands.Page {
	if word != "" {
		var terms commands.Terms
		for _, v := range all {
			if word == "all" || strings.Contains(strings.ToLower(v.Name+" "+v.Doc), strings.ToLower(word)) {
				terms = append(terms, commands.Term{Name: v.Name, Text: v.Doc})
			}
		}
		if len(terms) == 0 {
			return commands.Say("No variable is about that; /env all lists them.")
		}
		return commands.Page{Blocks: []commands.Block{terms}}
	}
	var fields commands.Fields
	for _, v := range all {
		if v.Set {
			fields = append(fields, commands.Field{Name: v.Name, Value: masked(v.Name, v.Value)})
		}
	}
	p := commands.Say("No variable that adze reads is set.")
	if len(fields) > 0 {
		p = commands.Page{Blocks: []commands.Block{fields}}
	}
	p.Add(commands.Text("/env all explains all " + amount.Grouped(len(all)) + " variables that adze reads, /env WORD those about something."))
	return p
}

// masked returns a value with possible secrets masked.
func masked(name, value string) string {
	secret := func(word string) bool { return strings.Contains(strings.ToUpper(name), word) }
	if slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "HEADER", "CREDENTIAL", "AUTH"}, secret) {
		return "(set, not shown)"
	}
	if _, after, found := strings.Cut(value, "@"); found && strings.Contains(value, "://") { // a user and a password
		value = "...@" + after
	}
	const most = 200
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "..."
	}
	return redact.Field(name, value)
}

func heapdumpCommand() commands.Command {
	return commands.Command{Name: "heapdump", Rare: true, Kind: commands.Change, Doc: "write a heap profile of adze, without the contents of its memory",
		Run: func(_ context.Context, r *commands.Registry, _ string) (commands.Answer, error) { return heapdump(r) }}
}

// heapdump writes a heap profile into the debug log folder.
func heapdump(r *commands.Registry) (commands.Answer, error) {
	if r.Home == "" {
		return nil, commands.ErrNotKept
	}
	dir := filepath.Join(r.Home, "debug")
	if err := fsys.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "heap-"+r.Now().UTC().Format("20060102-150405.000")+".pprof")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	runtime.GC() // exclude garbage from the profile
	err = pprof.Lookup("heap").WriteTo(f, 0)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := commands.Page{Blocks: []commands.Block{commands.Fields{
		{Name: "In use", Value: amount.Bytes(int64(m.HeapAlloc))},
		{Name: "From the system", Value: amount.Bytes(int64(m.Sys))},
		{Name: "Written to", Value: r.Files.Short(path)},
	}}}
	p.Add(commands.Text("It names functions and sizes, and holds nothing of the conversation. To read it: go tool pprof " + path))
	return p, nil
}

func sandboxCommand() commands.Command {
	return commands.Command{Name: "sandbox", Doc: "show whether commands are sandboxed, with which limits, and how to turn the sandbox on",
		Run: func(ctx context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			return sandboxPage(ctx, r), nil
		}}
}

// sandboxPage shows the state of the sandbox: doctor's findings, and the settings that are set.
func sandboxPage(ctx context.Context, r *commands.Registry) commands.Page {
	var p commands.Page
	var fields commands.Fields
	on := false
	if enabled := r.Env.Enabled; enabled != nil {
		on = enabled("sandbox.enabled")
	}
	state := "off: commands run with your permissions; /config sandbox.enabled true turns it on"
	if on {
		state = "on: commands write to the workspace only, and reach the hosts only that are allowed"
	}
	fields = append(fields, commands.Field{Name: "Sandbox", Value: state})
	if examine := r.Env.Examine; examine != nil {
		for _, c := range examine(ctx, false) {
			if c.Name != "sandbox" {
				continue
			}
			if c.Fine != "" && c.Fine != "off" {
				fields = append(fields, commands.Field{Name: "This machine", Value: c.Fine})
			}
			for _, text := range slices.Concat(c.Problems, c.Notes) {
				p.Add(commands.Notice(text))
			}
		}
	}
	if options := r.Env.Options; options != nil {
		for _, o := range options(false) {
			if strings.HasPrefix(o.Key, "sandbox.") {
				fields = append(fields, commands.Field{Name: o.Key, Value: o.Value})
			}
		}
	}
	p.Blocks = append([]commands.Block{fields}, p.Blocks...)
	return p
}
