//go:build sdk && unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func init() {
	source, err := os.ReadFile(filepath.Join("..", "..", "test", "npm", "node_modules", "@agentclientprotocol", "sdk", "schema", "v1", "schema.json"))
	if err != nil {
		return // TestACPClient fails
	}
	schema, err := readACPSchema(source)
	if err != nil {
		panic(err)
	}
	checkACP = schema.check
}

// An acpSchema is the published schema of the Agent Client Protocol.
type acpSchema struct {
	params, results map[string]*jsonschema.Resolved // by method
	names           map[string]bool                 // of all properties
}

func readACPSchema(source []byte) (*acpSchema, error) {
	var doc struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(source, &doc); err != nil {
		return nil, err
	}
	s := &acpSchema{params: map[string]*jsonschema.Resolved{}, results: map[string]*jsonschema.Resolved{}, names: map[string]bool{}}
	for name, raw := range doc.Defs {
		var def struct {
			Method     string                     `json:"x-method"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(raw, &def); err != nil {
			return nil, err
		}
		if def.Method == "" {
			continue
		}
		whole, err := json.Marshal(map[string]any{"$defs": doc.Defs, "$ref": "#/$defs/" + name})
		if err != nil {
			return nil, err
		}
		var parsed jsonschema.Schema
		if err := json.Unmarshal(whole, &parsed); err != nil {
			return nil, err
		}
		resolved, err := parsed.Resolve(nil)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, "Response") {
			s.results[def.Method] = resolved
		} else {
			s.params[def.Method] = resolved
		}
	}
	var all any
	if err := json.Unmarshal(source, &all); err != nil {
		return nil, err
	}
	s.collect(all)
	return s, nil
}

// collect records the names of the properties in a schema.
func (s *acpSchema) collect(v any) {
	switch v := v.(type) {
	case map[string]any:
		properties, _ := v["properties"].(map[string]any) // ok: others have none
		for name := range properties {
			s.names[name] = true
		}
		for _, member := range v {
			s.collect(member)
		}
	case []any:
		for _, item := range v {
			s.collect(item)
		}
	}
}

// check checks a message. Methods of drafts are not in the schema.
func (s *acpSchema) check(t *testing.T, fromAgent bool, method string, frame []byte) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(frame, &m); err != nil || string(m["jsonrpc"]) != `"2.0"` {
		t.Errorf("not JSON-RPC: %s", frame)
		return
	}
	if m["error"] != nil || method == "" || method == "session/fork" {
		return
	}
	by, value := s.params[method], m["params"]
	if m["method"] == nil {
		by, value = s.results[method], m["result"]
	}
	if by == nil {
		t.Errorf("the schema has no %s: %s", method, frame)
		return
	}
	var instance any
	if err := json.Unmarshal(value, &instance); err != nil {
		t.Errorf("%s: %v: %s", method, err, value)
		return
	}
	if !fromAgent {
		return // tests send invalid messages too
	}
	if err := by.Validate(instance); err != nil {
		t.Errorf("%s does not fit the schema: %v\n%s", method, err, value)
	}
	s.spelled(t, method, instance)
}

// spelled checks that the schema knows the name of every property.
func (s *acpSchema) spelled(t *testing.T, method string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			switch name {
			case "rawInput", "rawOutput", "_meta", "requestedSchema", "fork": // fork is a draft
				continue
			}
			if !s.names[name] {
				t.Errorf("%s: the schema has no property %s", method, name)
			}
			s.spelled(t, method, member)
		}
	case []any:
		for _, item := range v {
			s.spelled(t, method, item)
		}
	}
}

// TestACPClient lets the official client library drive the program: its published interface is
// used as its documentation shows. It also checks that the other tests of the protocol run with
// the published schema.
//
// Proves X-080.
func TestACPClient(t *testing.T) {
	if checkACP == nil {
		t.Fatal("the published schema is not installed; run ./scripts/test install-clients")
	}
	cmd := exec.CommandContext(t.Context(), "node", "--test", "--test-timeout=300000", "--test-reporter=spec", npm(t, "editor.mjs"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "ADZE_BIN="+buildProgram(t), "STAGES="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("pass ")) {
		t.Errorf("no test ran:\n%s", out)
	}
	t.Logf("%s", out)
}
