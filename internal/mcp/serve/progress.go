package serve

import (
	"context"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/tool"
)

// interval is the minimum interval between progress notifications.
const interval = 100 * time.Millisecond

// reporter returns a function that reports a call's progress to the client, if it requested
// that, and a function that ends reporting. A tool never waits for the client: a pending report
// is replaced by a later one.
func reporter(ctx context.Context, req *sdk.CallToolRequest, activity string) (report func(tool.Progress), done func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(tool.Progress) {}, func() {}
	}
	news, ended, over := make(chan string, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		text := <-news // the first report arrives immediately and is sent even if the call ends soon
		for n := 1.0; req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: text}) == nil; n++ {
			select {
			case <-time.After(interval):
			case <-ended:
				return
			}
			select {
			case text = <-news:
			case <-ended:
				return
			}
		}
	}()
	report = func(p tool.Progress) {
		text := said(p.Display, activity)
		select {
		case <-news:
		default:
		}
		select {
		case news <- text:
		default:
		}
	}
	report(tool.Progress{})
	return report, func() { close(ended); <-over }
}

// said returns a line describing a display.
func said(d tool.Display, activity string) string {
	text := ""
	switch d := d.(type) {
	case tool.Plain:
		text = d.Text
	case tool.Output:
		text = d.Text
	}
	text = strings.TrimSpace(text)
	if last := strings.LastIndexByte(text, '\n'); last >= 0 {
		text = text[last+1:]
	}
	if text == "" {
		return activity
	}
	return tool.OneLine(text, 200)
}
