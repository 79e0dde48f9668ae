package main

import (
	"bytes"
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"

	"adze/internal/model/tokens"
)

// Size limits, in bytes, for the parts of the first request in a plain session. The web tools
// take 1.2 KB of it, the task list tools 1.8 KB, the agent tool 2.5 KB, and the tools that look
// up deferred tools 1 KB, in place of all deferred tools.
const (
	maxRequest = 28 << 10
	maxSystem  = 9 << 10
	maxTools   = 19 << 10
)

// budget checks the size of a request: budget FILE [ENGLISH]. With a second, English request,
// tokens are compared instead: the limit is the estimate for the byte limit in English, plus a
// tenth.
func budget(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: budget FILE [ENGLISH]")
	}
	size, unit := func(s string) int { return len(s) }, "bytes"
	english := partsOf(ts, args[len(args)-1])
	if len(args) == 2 {
		size, unit = tokens.New("claude").Text, "tokens"
	}
	for i, part := range partsOf(ts, args[0]) {
		most := [...]int{maxRequest, maxSystem, maxTools}[i] * size(english[i]) / len(english[i])
		if len(args) == 2 {
			most += most / 10
		}
		n := size(part)
		ts.Logf("%s: %d %s, at most %d", [...]string{"request", "system", "tools"}[i], n, unit, most)
		if n == 0 || n > most {
			ts.Fatalf("over the budget")
		}
	}
}

// partsOf returns a request, its system prompt and its tools, as sent.
func partsOf(ts *testscript.TestScript, file string) [3]string {
	var compact bytes.Buffer
	ts.Check(json.Compact(&compact, []byte(ts.ReadFile(file))))
	var request struct{ System, Tools json.RawMessage }
	ts.Check(json.Unmarshal(compact.Bytes(), &request))
	return [3]string{compact.String(), string(request.System), string(request.Tools)}
}
