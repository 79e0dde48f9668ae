package read

import (
	"context"
	"fmt"
	"time"
)

// countTimeout is how long the provider may take to count.
const countTimeout = 5 * time.Second

// mostPerToken is how many bytes a token may be worth at the very most. A text that is larger cannot
// fit, whatever the provider would count.
const mostPerToken = 16

// bytesPerToken is what a token of the file is worth at least: data has more of them than prose.
func bytesPerToken(path string) int {
	switch extension(path) {
	case "json", "jsonl", "jsonc", "ipynb":
		return 2
	}
	return 4
}

// mostBytes is the size beyond which a text is refused without a closer look.
func (r *fileRead) mostBytes() int {
	if r.CountTokens != nil {
		return r.MaxTokens * mostPerToken
	}
	per := bytesPerToken(r.path)
	return r.MaxTokens*per + per - 1
}

// fits refuses a text of more tokens than are returned. The size is that of the file's part in it. An
// estimate settles most cases; the provider counts what is neither clearly small nor clearly large.
func (r *fileRead) fits(ctx context.Context, text string, size int) error {
	estimate := size / bytesPerToken(r.path)
	if estimate <= r.MaxTokens/4 || len(text) <= r.MaxTokens { // no token is less than a byte
		return nil
	}
	if r.CountTokens != nil {
		ctx, cancel := context.WithTimeout(ctx, countTimeout)
		defer cancel()
		if n, err := r.CountTokens(ctx, text); err == nil {
			if n > r.MaxTokens {
				return r.tooMany("exactly", n)
			}
			return nil
		}
	}
	if estimate > r.MaxTokens {
		return r.tooMany("about", estimate)
	}
	return ctx.Err()
}

func (r *fileRead) tooMany(how string, tokens int) error {
	advice := readLess
	if r.in.Limit != nil && *r.in.Limit == 1 {
		advice = "The line is very long: look at a part of it with a shell command such as cut, or find what you need with Grep."
	}
	return fmt.Errorf("this would be %s %d tokens, and at most %d are returned. %s", how, tokens, r.MaxTokens, advice)
}
