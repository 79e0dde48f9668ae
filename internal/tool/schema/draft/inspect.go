package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Keywords whose values are schemas, by whether these apply to the same value as the enclosing
// schema. A list may replace a single schema, and draft-07 has both forms of items and
// dependencies.
var (
	sameValue = [...]string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
	partValue = [...]string{
		"items", "prefixItems", "additionalItems", "contains", "additionalProperties", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema",
	}
	sameByName = [...]string{"dependentSchemas", "dependencies"}
	partByName = [...]string{"properties", "patternProperties"}
	onlyNamed  = [...]string{"$defs", "definitions"}
)

var typeNames = [...]string{"null", "boolean", "object", "array", "number", "integer", "string"}

// An inspector finds mistakes that the compiler reports without a location or cannot handle: a
// schema that refers back to itself for the same value would be checked forever.
type inspector struct {
	leads   map[string][]string // references between places, for the same value
	anchors map[string][]string // places by name
	within  map[string][]part   // schemas for parts of the value, by place
	// choices holds the number of values in each enumeration, and patterns the size of each
	// regular expression, by place.
	choices, patterns map[string]int
	size              int    // total size of all regular expressions
	id                string // ID of the whole schema
	broken            bool   // part of the schema cannot be decoded
}

// A part is the schema at a place for some parts of a value: the named member, or all members
// and elements if name is empty.
type part struct {
	name, to string
	pattern  int // size of a regular expression for names, or 0
}

// inspect returns an error with the location of a mistake in the schema.
func inspect(source json.RawMessage) (*inspector, error) {
	var s jsonschema.Schema
	in := &inspector{
		leads: map[string][]string{}, anchors: map[string][]string{}, within: map[string][]part{},
		choices: map[string]int{}, patterns: map[string]int{}, broken: json.Unmarshal(source, &s) != nil,
	}
	if err := in.schema("", source); err != nil {
		return nil, err
	}
	return in, in.circle()
}

// schema inspects the schema at a place, nested ones first.
func (in *inspector) schema(place string, source json.RawMessage) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(source, &fields) != nil {
		var anything bool
		if json.Unmarshal(source, &anything) == nil {
			return nil
		}
		return fmt.Errorf("%s: a schema is an object or a boolean", shown(place))
	}
	if err := in.parts(place, fields); err != nil {
		return err
	}
	if err := in.names(place, fields); err != nil {
		return err
	}
	if err := checkWords(fields); err != nil {
		return fmt.Errorf("%s: %w", shown(place), err)
	}
	if !in.broken {
		return nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(source, &s); err != nil {
		return fmt.Errorf("%s: %s", shown(place), strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// parts inspects the nested schemas.
func (in *inspector) parts(place string, fields map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := place + "/" + name
		single := slices.Contains(sameValue[:], name)
		named := slices.Contains(sameByName[:], name)
		var within map[string]json.RawMessage
		switch {
		case single || slices.Contains(partValue[:], name):
			within = listed(at, fields[name])
		case named || slices.Contains(partByName[:], name) || slices.Contains(onlyNamed[:], name):
			var byName map[string]json.RawMessage
			if err := json.Unmarshal(fields[name], &byName); err != nil {
				return fmt.Errorf("%s: it is not an object of schemas", shown(at))
			}
			within = map[string]json.RawMessage{}
			for key, s := range byName {
				if name != "dependencies" || !strings.HasPrefix(strings.TrimSpace(string(s)), "[") {
					within[at+"/"+escaped(key)] = s
				}
			}
		}
		for _, to := range slices.Sorted(maps.Keys(within)) {
			switch {
			case single || named:
				in.leads[place] = append(in.leads[place], to)
			case name == "properties":
				in.within[place] = append(in.within[place], part{unescaped(to[len(at)+1:]), to, 0})
			case name == "patternProperties":
				size, err := in.pattern(to, unescaped(to[len(at)+1:]))
				if err != nil {
					return err
				}
				in.within[place] = append(in.within[place], part{"", to, size})
			case !slices.Contains(onlyNamed[:], name):
				in.within[place] = append(in.within[place], part{"", to, 0})
			}
			if err := in.schema(to, within[to]); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed returns a single schema or the schemas of a list, by place.
func listed(at string, source json.RawMessage) map[string]json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(source, &list) != nil {
		return map[string]json.RawMessage{at: source}
	}
	all := map[string]json.RawMessage{}
	for i, s := range list {
		all[at+"/"+strconv.Itoa(i)] = s
	}
	return all
}

// names records a schema's names and the schema it refers to.
func (in *inspector) names(place string, fields map[string]json.RawMessage) error {
	text := func(name string) string {
		var s string
		json.Unmarshal(fields[name], &s) // ok: checkWords reports other types
		return s
	}
	if id := text("$id"); id != "" {
		if place != "" {
			return fmt.Errorf("%s/$id: only the whole schema may have one", place)
		}
		in.id = strings.TrimSuffix(id, "#")
	}
	if pattern := text("pattern"); pattern != "" {
		size, err := in.pattern(place, pattern)
		if err != nil {
			return err
		}
		in.patterns[place] = size
	}
	var choices []json.RawMessage
	if json.Unmarshal(fields["enum"], &choices) == nil { // checkWords reports other types
		in.choices[place] = len(choices)
	}
	for _, name := range [...]string{"$anchor", "$dynamicAnchor"} {
		if anchor := text(name); anchor != "" {
			in.anchors[anchor] = append(in.anchors[anchor], place)
		}
	}
	for _, name := range [...]string{"$ref", "$dynamicRef"} {
		if ref := text(name); ref != "" {
			in.leads[place] = append(in.leads[place], "ref:"+ref)
		}
	}
	return nil
}

// sizeOf returns a regular expression's size with repetitions expanded.
func sizeOf(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return len(pattern) // checkWords refuses it
	}
	return writtenOut(re)
}

func writtenOut(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += writtenOut(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, maxPatterns+1)
}

// maxPatterns limits the total size of a schema's regular expressions: each is compiled, which
// takes memory.
const maxPatterns = 200_000

// pattern records a regular expression before it is compiled.
func (in *inspector) pattern(place, pattern string) (size int, err error) {
	size = sizeOf(pattern)
	if in.size += size; in.size > maxPatterns {
		return size, fmt.Errorf("%s: the regular expressions of the schema are too large", shown(place))
	}
	return size, nil
}

// checkWords checks the keywords whose errors would otherwise have no location.
func checkWords(fields map[string]json.RawMessage) error {
	if source, ok := fields["type"]; ok {
		var types []string
		if json.Unmarshal(source, &types) != nil {
			types = []string{""}
			json.Unmarshal(source, &types[0]) // ok: then its type is unknown
		}
		for _, name := range types {
			if !slices.Contains(typeNames[:], name) {
				return fmt.Errorf("type: invalid value %s (want one of %s)", source, strings.Join(typeNames[:], ", "))
			}
		}
	}
	var pattern string
	if json.Unmarshal(fields["pattern"], &pattern) == nil {
		if _, err := regexp.Compile(pattern); err != nil {
			return fmt.Errorf("pattern: %w", err)
		}
	}
	for _, name := range [...]string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
		if source, ok := fields[name]; ok {
			var n float64
			if json.Unmarshal(source, &n) != nil || n < 0 || n != float64(int64(n)) {
				return fmt.Errorf("%s: %s is not a whole number of at least 0", name, source)
			}
		}
	}
	return nil
}

// circle finds a schema that refers back to itself.
func (in *inspector) circle() error {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(place string) error
	visit = func(place string) error {
		switch state[place] {
		case open:
			return fmt.Errorf("%s: the schema refers to itself without end", shown(place))
		case done:
			return nil
		}
		state[place] = open
		for _, lead := range in.leads[place] {
			for _, to := range in.resolve(lead) {
				if err := visit(to); err != nil {
					return err
				}
			}
		}
		state[place] = done
		return nil
	}
	for _, place := range slices.Sorted(maps.Keys(in.leads)) {
		if err := visit(place); err != nil {
			return err
		}
	}
	return nil
}

// resolve returns the places a reference names. The compiler reports a reference to nothing.
func (in *inspector) resolve(lead string) []string {
	ref, ok := strings.CutPrefix(lead, "ref:")
	if !ok {
		return []string{lead}
	}
	fragment, ok := strings.CutPrefix(strings.TrimPrefix(ref, in.id), "#")
	switch {
	case !ok && ref != in.id:
		return nil
	case fragment == "" || strings.HasPrefix(fragment, "/"):
		return []string{unescapedURL(fragment)}
	}
	return in.anchors[fragment]
}

// shown formats a place for users.
func shown(place string) string {
	if place == "" {
		return "the schema"
	}
	return place
}

// escaped returns a key as a JSON pointer token.
func escaped(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// unescaped undoes escaped.
func unescaped(step string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
}

// unescapedURL undoes the escapes of a URL fragment.
func unescapedURL(fragment string) string {
	if s, err := url.PathUnescape(fragment); err == nil {
		return s
	}
	return fragment
}
