package imports

import (
	"errors"
	"strconv"
	"strings"

	"adze/internal/platform/text/jsonc"
)

// standard returns JSON without comments and trailing commas.
func standard(data []byte) ([]byte, error) {
	root, err := jsonc.Parse(data)
	if err == nil && root == nil {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, err
	}
	return jsonc.Plain(data, root), nil
}

// tomlServers returns the servers in the tables [name.SERVER] of a TOML file. It supports the
// usual values, strings and lists of strings on one line, and skips everything else: the result
// is only a suggestion shown to the user.
func tomlServers(text, name string) []server {
	var all []server
	in, env := -1, false // current server, and whether its variables follow
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if table, ok := strings.CutPrefix(line, "["); ok {
			keys := tomlKeys(strings.TrimSuffix(table, "]"))
			in, env = -1, false
			if len(keys) < 2 || keys[0] != name || len(all) > maxEntries {
				continue
			}
			if len(all) == 0 || all[len(all)-1].name != keys[1] {
				all = append(all, server{name: keys[1]})
			}
			in, env = len(all)-1, len(keys) == 3 && keys[2] == "env"
			if len(keys) > 2 && !env {
				in = -1
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if in < 0 || !ok || strings.HasPrefix(line, "#") {
			continue
		}
		key, value = strings.Trim(strings.TrimSpace(key), `"'`), strings.TrimSpace(value)
		sv := &all[in]
		switch {
		case env:
			sv.env = append(sv.env, key)
		case key == "command":
			sv.words = append(tomlStrings(value), sv.words...)
		case key == "args":
			sv.words = append(sv.words, tomlStrings(value)...)
		case key == "url":
			sv.url = strings.Join(tomlStrings(value), "")
		case key == "env":
			sv.env = append(sv.env, tomlNames(value)...)
		case key == "http_headers" || key == "env_http_headers":
			sv.headers = append(sv.headers, tomlNames(value)...)
		case key == "bearer_token_env_var":
			sv.headers = append(sv.headers, "Authorization")
		}
	}
	return all
}

// tomlNames returns the keys of an inline table.
func tomlNames(value string) (names []string) {
	for pair := range strings.SplitSeq(strings.Trim(value, "{} "), ",") {
		if name, _, ok := strings.Cut(pair, "="); ok {
			names = append(names, strings.Trim(strings.TrimSpace(name), `"'`))
		}
	}
	return names
}

// tomlKeys splits a dotted key whose parts may be quoted.
func tomlKeys(text string) (keys []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, ". ") {
		end := strings.IndexByte(text, '.')
		if q := text[0]; q == '"' || q == '\'' {
			if end = strings.IndexByte(text[1:], q) + 2; end < 2 {
				return nil
			}
		}
		if end < 0 {
			end = len(text)
		}
		keys = append(keys, strings.Trim(strings.TrimSpace(text[:end]), `"'`))
		text = text[end:]
	}
	return keys
}

// tomlStrings returns the strings in a one-line value.
func tomlStrings(value string) (all []string) {
	for value != "" {
		switch value[0] {
		case '#':
			return all
		case '\'':
			text, rest, ok := strings.Cut(value[1:], "'")
			if !ok {
				return all
			}
			all, value = append(all, text), rest
		case '"':
			quoted, err := strconv.QuotedPrefix(value)
			if err != nil {
				return all
			}
			text, _ := strconv.Unquote(quoted) // ok: it is known to be quoted
			all, value = append(all, text), value[len(quoted):]
		default:
			value = value[1:]
		}
	}
	return all
}
