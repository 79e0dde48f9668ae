package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A fakeModel is a model that plays both a lead agent and its agents. The lead's answers come from
// a list; each agent answers with a number of calls, then with text.
type fakeModel struct {
	lead []string // content blocks of the lead's answers; the last one is repeated
	// calls is the number of calls per agent, and call the block of each; delay precedes each
	// answer. report is the last answer; empty means "Done.".
	calls  int
	call   string
	report string
	delay  time.Duration
	// probe, if non-nil, runs before the lead's answer to each request, with the number of
	// agents so far.
	probe func(agents int)
	// held, if non-nil, delays the agents' first answers until it is closed.
	held chan struct{}

	mu     sync.Mutex
	asked  int // requests from the lead
	agents map[string]*member
	left   time.Time       // time of the lead's last answer
	bodies [][]byte        // first requests of agents
	gaps   []time.Duration // time from a reading answer of the lead to its next request
}

// A member is an agent as seen by the model.
type member struct {
	asked       int
	first, last time.Time
	begun       time.Duration // time after the lead's answer
}

// item begins each agent's prompt; a number follows.
const item = "Work on item "

// ServeHTTP answers a request from the lead or an agent.
func (c *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if name := speaker(body); name != "" {
		c.answerAgent(w, name, body, now)
		return
	}
	c.mu.Lock()
	blocks := c.lead[min(c.asked, len(c.lead)-1)]
	if c.asked > 0 && strings.Contains(c.lead[min(c.asked-1, len(c.lead)-1)], `"Read"`) {
		c.gaps = append(c.gaps, now.Sub(c.left))
	}
	c.asked++
	n := c.asked
	c.mu.Unlock()
	if c.probe != nil {
		c.probe(c.begun())
	}
	answer(w, fmt.Sprintf("l%d", n), blocks)
	c.mu.Lock()
	c.left = time.Now()
	c.mu.Unlock()
}

func (c *fakeModel) answerAgent(w http.ResponseWriter, name string, body []byte, now time.Time) {
	c.mu.Lock()
	m := c.agents[name]
	if m == nil {
		m = &member{first: now, begun: now.Sub(c.left)}
		if c.agents == nil {
			c.agents = map[string]*member{}
		}
		c.agents[name] = m
		c.bodies = append(c.bodies, body)
	}
	m.asked++
	n := m.asked
	c.mu.Unlock()
	if c.held != nil && n == 1 {
		<-c.held
	}
	time.Sleep(c.delay)
	blocks := saying(cmp.Or(c.report, "Done."))
	if n <= c.calls {
		blocks = c.call
	}
	answer(w, fmt.Sprintf("%s_%d", name, n), blocks)
	c.mu.Lock()
	m.last = time.Now()
	c.mu.Unlock()
}

// begun returns how many agents have sent a request.
func (c *fakeModel) begun() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.agents)
}

// speaker returns the item an agent works on, or "" for the lead.
func speaker(body []byte) string {
	var req struct {
		Messages []struct {
			Role    string
			Content []struct{ Type, Text string }
		}
	}
	if json.Unmarshal(body, &req) != nil {
		return ""
	}
	for _, m := range req.Messages {
		for _, b := range m.Content {
			if m.Role != "user" || b.Type != "text" || strings.Contains(b.Text, "<task-notification>") {
				continue
			}
			if _, rest, ok := strings.Cut(b.Text, item); ok {
				name, _, _ := strings.Cut(rest, ".")
				return name
			}
		}
	}
	return ""
}

// answer streams content blocks, one per line, replacing ID in each with an id.
func answer(w http.ResponseWriter, id, blocks string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(format string, args ...any) { fmt.Fprintf(w, "data: "+format+"\n\n", args...) }
	send(`{"type":"message_start","message":{"id":"msg_%s","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`, id)
	for i, b := range strings.Split(blocks, "\n") {
		send(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, strings.ReplaceAll(b, "ID", fmt.Sprintf("toolu_%s_%d", id, i)))
		send(`{"type":"content_block_stop","index":%d}`, i)
	}
	send(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`)
	send(`{"type":"message_stop"}`)
}

// launches returns the blocks that launch n agents, starting at item from; more is added to
// their input.
func launches(from, n int, more string) string {
	var blocks []string
	for i := range n {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":"ID","name":"Agent","input":{"description":"item %d","prompt":"%s%d.%s}}`, from+i, item, from+i, more))
	}
	return strings.Join(blocks, "\n")
}

// saying returns a text block.
func saying(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

// reading returns a block with a call that reads a file.
func reading(file string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":"ID","name":"Read","input":{"file_path":%q}}`, file)
}
