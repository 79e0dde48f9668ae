package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

func (p *parser) host(data json.RawMessage) {
	events, _ := p.object("", data)
	for _, name := range slices.Sorted(maps.Keys(events)) {
		k, ok := kindOf(Name(name))
		if !ok {
			p.unknownEvent(name)
			continue
		}
		for i, group := range p.list(name, events[name]) {
			p.callbacks(k, fmt.Sprintf("%s[%d]", name, i), group)
		}
	}
}

func (p *parser) callbacks(k kind, path string, group json.RawMessage) {
	fields, ok := p.object(path, group)
	if !ok {
		return
	}
	m := p.matcher(k, path+".matcher", fields["matcher"])
	timeout := p.timeout(path+".timeout", fields["timeout"])
	var ids []string
	if err := json.Unmarshal(fields["hookCallbackIds"], &ids); err != nil {
		p.report(path+".hookCallbackIds", "expected a list of texts, found %s; it is left out", glimpse(fields["hookCallbackIds"]))
	}
	for _, id := range ids {
		p.specs = append(p.specs, &spec{
			event: k.name, matcher: m, source: p.src, handler: handler{typ: TypeCallback, callback: id}, timeout: timeout,
		})
	}
}
