package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
)

// field checks a value in a file of JSON lines: field FILE WHERE PATH WANT.
//
// WHERE selects lines by "type=user,subtype=init", or all with "-"; the last match is used.
// PATH is dot-separated, with len for the length of a list. WANT is JSON, ~ and a regular
// expression for a text, or "absent".
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: field FILE WHERE PATH WANT")
	}
	found := pick(ts, args[0], args[1])
	if len(found) == 0 {
		ts.Fatalf("no line with %s", args[1])
	}
	got, ok := lookup(found[len(found)-1], args[2])
	switch want := args[3]; {
	case want == "absent":
		if ok {
			ts.Fatalf("%s is there: %s", args[2], compact(got))
		}
	case !ok:
		ts.Fatalf("no %s", args[2])
	case strings.HasPrefix(want, "~"):
		text, isText := got.(string)
		if matched, err := regexp.MatchString(want[1:], text); err != nil || !isText || !matched {
			ts.Fatalf("%s is %s, want a text that matches %s (%v)", args[2], compact(got), want[1:], err)
		}
	default:
		var v any
		if err := json.Unmarshal([]byte(want), &v); err != nil {
			ts.Fatalf("%s is not JSON: %v", want, err)
		}
		if compact(v) != compact(got) {
			ts.Fatalf("%s is %s, want %s", args[2], compact(got), compact(v))
		}
	}
}

// countLines checks the number of matching lines in a file of JSON lines: lines FILE WHERE
// COUNT.
func countLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lines FILE WHERE COUNT")
	}
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	if got := len(pick(ts, args[0], args[1])); got != want {
		ts.Fatalf("%d lines with %s, want %d", got, args[1], want)
	}
}

// resultSchema is the schema of a result record.
var resultSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "result.schema.json"))
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// checkResult checks the last result record in a file: result FILE SUBTYPE REASON. It must
// match the schema.
func checkResult(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: result FILE SUBTYPE REASON")
	}
	found := pick(ts, args[0], "type=result")
	if len(found) == 0 {
		ts.Fatalf("no result in %s", args[0])
	}
	record := found[len(found)-1]
	schema, err := resultSchema()
	ts.Check(err)
	if err := schema.Validate(record); err != nil {
		ts.Fatalf("%v\nin %s", err, compact(record))
	}
	for path, want := range map[string]string{"subtype": args[1], "terminal_reason": args[2]} {
		if got, _ := lookup(record, path); got != want {
			ts.Fatalf("%s is %v, want %s", path, got, want)
		}
	}
}

// pick returns the lines of a file that have the given values. Every line must be JSON.
func pick(ts *testscript.TestScript, file, where string) []any {
	data := ts.ReadFile(file)
	var found []any
	for line := range strings.Lines(data) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("%s: %v in line %q", file, err, line)
		}
		if matchesAll(v, where) {
			found = append(found, v)
		}
	}
	return found
}

func matchesAll(v any, where string) bool {
	if where == "-" {
		return true
	}
	for condition := range strings.SplitSeq(where, ",") {
		path, want, _ := strings.Cut(condition, "=")
		if got, ok := lookup(v, path); !ok || got != want {
			return false
		}
	}
	return true
}

func lookup(v any, path string) (any, bool) {
	for step := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if step == "len" {
				v = float64(len(node))
				continue
			}
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // ok: it was JSON
	return strings.TrimSpace(b.String())
}
