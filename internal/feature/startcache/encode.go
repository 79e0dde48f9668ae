package startcache

import (
	"encoding/json"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/plugin"
	"adze/internal/platform/fs/cachefile"
)

// write encodes a start, preceded by its dependencies.
func (b *Cache) write(s *Listing, more []File) *cachefile.Writer {
	w := &cachefile.Writer{}
	w.Text(b.key)
	for _, files := range [][]File{b.files, more} {
		w.Number(uint64(len(files)))
		for _, f := range files {
			w.Text(f.Path)
			w.Stamp(f.Stamp)
		}
	}
	s.encode(w)
	return w
}

// read decodes a stored start, or returns nil if a dependency has changed.
func (b *Cache) read(r *cachefile.Reader) *Listing {
	if r.Text() != b.key || r.Count() != len(b.files) {
		return nil
	}
	for _, now := range b.files {
		if (File{r.Text(), r.Stamp()}) != now {
			return nil
		}
	}
	for range r.Count() {
		if was := (File{r.Text(), r.Stamp()}); r.Failed() || was != look(was.Path) {
			return nil
		}
	}
	s, words := decode(r)
	if !r.Whole() {
		return nil
	}
	s.Skills.Words = readWords(b.cfg.Path, words)
	return s
}

func (s *Listing) encode(w *cachefile.Writer) {
	w.Flags(s.Plugins.Served)
	w.List(s.Plugins.Errors)
	w.Number(uint64(len(s.Plugins.Hooks)))
	for _, h := range s.Plugins.Hooks {
		w.Text(h.ID.Name, h.ID.Market, h.Root, h.Data, h.JSON)
	}
	w.Number(uint64(len(s.Agents)))
	for _, d := range s.Agents {
		w.Text(d.Name, d.Description, d.Source.By)
		w.Number(uint64(d.Source.Kind))
		w.List(d.Required)
		w.Number(uint64(len(d.Servers)))
		for _, server := range d.Servers {
			w.Text(server.Name, string(server.Config))
		}
	}
	w.Text(s.Skills.Tool, s.Skills.Finder)
	w.Number(uint64(s.Skills.Budget))
	w.Text(s.Skills.List.Text, string(s.Skills.List.Told), s.Skills.List.Names)
	w.Number(uint64(s.Skills.Words.sum()))
}

// roomAtFirst is the initial slice capacity: a damaged file may claim any length.
const roomAtFirst = 512

// decode decodes a start and the checksum of its words.
func decode(r *cachefile.Reader) (*Listing, uint32) {
	s := &Listing{Plugins: Plugins{Served: r.Flags()[0], Errors: r.List()}}
	n := r.Count()
	s.Plugins.Hooks = make([]Hooks, 0, min(n, roomAtFirst))
	for i := 0; i < n && !r.Failed(); i++ {
		s.Plugins.Hooks = append(s.Plugins.Hooks, Hooks{plugin.ID{Name: r.Text(), Market: r.Text()}, r.Text(), r.Text(), r.Text()})
	}
	n = r.Count()
	s.Agents = make([]*agentdef.Definition, 0, min(n, roomAtFirst))
	for i := 0; i < n && !r.Failed(); i++ {
		s.Agents = append(s.Agents, decodeAgent(r))
	}
	s.Skills.Tool, s.Skills.Finder, s.Skills.Budget = r.Text(), r.Text(), int(r.Number())
	s.Skills.List.Text, s.Skills.List.Told = r.Text(), json.RawMessage(r.Text())
	s.Skills.List.Names = r.Text()
	return s, uint32(r.Number())
}

func decodeAgent(r *cachefile.Reader) *agentdef.Definition {
	d := &agentdef.Definition{Name: r.Text(), Description: r.Text(), Source: agentdef.Source{By: r.Text()}}
	d.Source.Kind = agentdef.Kind(r.Number())
	d.Required = r.List()
	n := r.Count()
	for i := 0; i < n && !r.Failed(); i++ {
		d.Servers = append(d.Servers, agentdef.Server{Name: r.Text(), Config: rawJSON(r.Text())})
	}
	return d
}

// rawJSON returns text as JSON, or nil if it is empty.
func rawJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
