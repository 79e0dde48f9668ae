package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// host parses a host's hooks. An unknown event never occurs, so that ignoring its hooks loses
// nothing: it is noted, like an unknown field. Everything else must be valid.
func (p *parser) host(data json.RawMessage) (notes []Problem) {
	events, _ := p.object("", data)
	for _, name := range slices.Sorted(maps.Keys(events)) {
		k, ok := kindOf(Name(name))
		if !ok {
			unknown := &parser{src: p.src}
			unknown.unknownEvent(name)
			notes = append(notes, unknown.problems...)
			continue
		}
		for i, group := range p.list(name, events[name]) {
			notes = append(notes, p.callbacks(k, fmt.Sprintf("%s[%d]", name, i), group)...)
		}
	}
	return notes
}

func (p *parser) callbacks(k kind, path string, group json.RawMessage) (notes []Problem) {
	fields, ok := p.object(path, group)
	if !ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if known := []string{"matcher", "hookCallbackIds", "timeout"}; !slices.Contains(known, name) {
			if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
				p.report(path, "%s is written otherwise: %s", name, strings.Join(known, ", "))
			}
			notes = append(notes, Problem{Source: p.src.Name, Path: path, Text: name + " is not known and has no effect"})
		}
	}
	m := p.matcher(k, path+".matcher", fields["matcher"])
	timeout := p.timeout(path+".timeout", fields["timeout"])
	var ids []string
	if err := json.Unmarshal(fields["hookCallbackIds"], &ids); err != nil || ids == nil || slices.Contains(ids, "") {
		p.report(path+".hookCallbackIds", "expected a list of texts, found %s; it is left out", glimpse(fields["hookCallbackIds"]))
	}
	for _, id := range ids {
		p.specs = append(p.specs, &spec{
			event: k.name, matcher: m, source: p.src, handler: handler{typ: TypeCallback, callback: id}, timeout: timeout,
		})
	}
	return notes
}
