package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"adze/internal/mcp/roster"
	"adze/internal/model/chat"
	"adze/internal/model/gemini"
	"adze/internal/model/messages"
	"adze/internal/model/responses"
	"adze/internal/model/wire"
	"adze/internal/settings/config"
)

// ownKey is the setting that defines the user's own providers, by name.
const ownKey = "providers"

// An ownRow is a user-defined provider.
type ownRow struct {
	// Dialect defaults to chat.
	Dialect string `json:"dialect"`
	BaseURL string `json:"baseUrl"`
	// APIKeyEnv is the variable holding the key, and APIKeyHelper a command that prints it.
	// Without either, no key is sent.
	APIKeyEnv    string `json:"apiKeyEnv"`
	APIKeyHelper string `json:"apiKeyHelper"`
	// Headers may refer to variables as ${NAME}.
	Headers map[string]string `json:"headers"`
	// Quirks sets fields of the dialect.
	Quirks json.RawMessage `json:"quirks"`
	// Model and SmallModel are the default and small models.
	Model      string                     `json:"model"`
	SmallModel string                     `json:"smallModel"`
	Models     map[string]json.RawMessage `json:"models"`

	dialect wire.Dialect
}

// ownRows returns the providers defined in the settings, by name. Invalid ones are skipped and
// reported with say.
func ownRows(s *config.Settings, known table, say func(string)) table {
	raw := s.Object(ownKey)
	if len(raw) == 0 {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		say(fmt.Sprintf("%s: %s is not an object by the name of a provider; it is ignored", s.Origin(ownKey), ownKey))
		return nil
	}
	var rows table
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row, err := readOwnRow(name, all[name], known)
		if err != nil {
			say(fmt.Sprintf("%s: %s.%s: %v; the provider is left out", s.Origin(ownKey), ownKey, name, err))
			continue
		}
		rows = append(rows, &provider{name: name, own: row, service: func(*config.Settings, string) wire.Service { return row.service() }})
	}
	return rows
}

func readOwnRow(name string, raw json.RawMessage, known table) (*ownRow, error) {
	if known.row(name) != nil {
		return nil, errors.New("the name is taken by a provider that is built in; choose another")
	}
	if name == "" || name[0] < 'a' || name[0] > 'z' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
		return nil, errors.New("a name begins with a small letter and has only small letters, digits, dots, dashes and underscores")
	}
	var row ownRow
	if err := decodeStrictly(raw, &row); err != nil {
		return nil, err
	}
	u, err := url.Parse(row.BaseURL)
	switch {
	case row.BaseURL == "":
		return nil, errors.New("baseUrl is missing")
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("baseUrl %q is not an address such as https://example.com/v1", row.BaseURL)
	case row.APIKeyEnv != "" && row.APIKeyHelper != "":
		return nil, errors.New("both apiKeyEnv and apiKeyHelper are set; remove one")
	}
	if row.dialect, err = readDialect(row.Dialect, row.Quirks); err != nil {
		return nil, err
	}
	return &row, nil
}

// decodeStrictly decodes a JSON object, rejecting unknown fields.
func decodeStrictly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s must be of type %s, not %s", wrong.Field, wrong.Type, wrong.Value)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// readDialect returns a dialect with the user's quirks.
func readDialect(name string, quirks json.RawMessage) (wire.Dialect, error) {
	read := func(v any) error {
		if len(quirks) == 0 {
			return nil
		}
		if err := decodeStrictly(quirks, v); err != nil {
			return fmt.Errorf("quirks: %w", err)
		}
		return nil
	}
	switch name {
	case "", "chat":
		d := chat.Dialect{Replay: chat.ReplaySame}
		err := read(&d)
		return d, err
	case "responses":
		var d responses.Dialect
		err := read(&d)
		return d, err
	case "messages":
		var d messages.Dialect
		err := read(&d)
		return d, err
	case "gemini":
		var d gemini.Dialect
		err := read(&d)
		return d, err
	}
	return nil, fmt.Errorf("unknown dialect %q (want chat, responses, messages or gemini)", name)
}

// service describes the provider.
func (o *ownRow) service() wire.Service { return dialectService(o.dialect, o.BaseURL, o.APIKeyEnv) }

// dialectService describes a server with a dialect at an address. The key, which variable holds, is sent
// where servers of the dialect expect it.
func dialectService(d wire.Dialect, address, variable string) wire.Service {
	s := wire.Service{Dialect: d, Address: address, KeyHeader: "Authorization", KeyVariable: variable}
	switch d.(type) {
	case messages.Dialect:
		s.KeyHeader = "X-Api-Key"
		s.Header = http.Header{"Anthropic-Version": {"2023-06-01"}}
	case gemini.Dialect:
		s.KeyHeader = "X-Goog-Api-Key"
	}
	return s
}

// headers returns the user's headers with variables expanded.
func (o *ownRow) headers(getenv func(string) string) (http.Header, error) {
	h := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		value, err := roster.Expand(o.Headers[name], getenv)
		if err != nil {
			return nil, fmt.Errorf("headers.%s: %w", name, err)
		}
		h.Set(name, value)
	}
	return h, nil
}
