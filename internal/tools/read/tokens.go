package read

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/internal/platform/fs/textfile"
)

// countTimeout is the time limit for counting tokens.
const countTimeout = 5 * time.Second

// A token is between 2.5 and 6 bytes of text. The provider has to count only between these
// bounds.
const (
	mostPerToken  = 6
	leastPerToken = 2.5
)

// bytesPerToken returns the minimum number of bytes per token of the file: data has more tokens
// than prose.
func bytesPerToken(path string) int {
	switch extension(path) {
	case "json", "jsonl", "jsonc", "ipynb":
		return 2
	}
	return 4
}

// A budget limits the size of a result.
type budget struct {
	path   string
	max    int  // tokens
	ranged bool // the model requested a line range
	count  func(ctx context.Context, text string) (int, error)
}

func (r *fileRead) budget() budget {
	return budget{r.path, r.MaxTokens, r.in.Offset != nil || r.in.Limit != nil, r.CountTokens}
}

// mostBytes is the size above which a text is rejected without counting.
func (b budget) mostBytes() int {
	if b.count != nil {
		return b.max * mostPerToken
	}
	per := bytesPerToken(b.path)
	return b.max*per + per - 1
}

// fits returns an error with advice if a text exceeds the token limit. The size is the size of
// the file's part in it.
func (b budget) fits(ctx context.Context, text string, size int, advice string) error {
	tokens, how, err := b.over(ctx, text, size)
	if tokens > 0 {
		return fmt.Errorf("this would be %s%d tokens; one read returns at most %d. %s", how, tokens, b.max, advice)
	}
	return err
}

// least returns the size up to which a text always fits.
func (b budget) least() int {
	return int(float64(b.max) * min(leastPerToken, float64(bytesPerToken(b.path))))
}

// over returns the number of tokens of a text if it exceeds the limit, otherwise 0, and "about
// " if it is an estimate. Bounds settle most cases; the provider counts the rest.
func (b budget) over(ctx context.Context, text string, size int) (tokens int, how string, err error) {
	estimate := size / bytesPerToken(b.path)
	if size <= b.least() {
		return 0, "", nil
	}
	if b.count != nil && size <= b.max*mostPerToken {
		ctx, cancel := context.WithTimeout(ctx, countTimeout)
		defer cancel()
		if n, err := b.count(ctx, text); err == nil {
			if n > b.max {
				return n, "", nil
			}
			return 0, "", nil
		}
	}
	if estimate > b.max {
		return estimate, "about ", nil
	}
	return 0, "", ctx.Err()
}

// linesFit returns an error if lines exceed the token limit. The text is their delivered form.
func (b budget) linesFit(ctx context.Context, text string, part textfile.Text, span textfile.Range) error {
	tokens, how, err := b.over(ctx, text, part.Bytes)
	if tokens == 0 {
		return err
	}
	e := excess{span: span, tokens: tokens, how: how}
	e.Bytes, e.Lines, e.Total, e.AtLeast = part.Bytes, len(part.Lines), part.Total, part.AtLeast
	for i, line := range part.Lines {
		if len(line) > e.LongestBytes {
			e.Longest, e.LongestBytes = span.First+i, len(line)
		}
	}
	return b.tooMany(e)
}

// countable is the maximum size of a file whose lines are counted to suggest a range.
const countable = 64 << 20

// tooLong rejects a text file by its size.
func (r *fileRead) tooLong(ctx context.Context) error {
	if size := r.info.Size(); size > countable {
		return fmt.Errorf("%s has %d MB, more than one read returns. Read some of its lines with offset and limit, or find the part you need with Grep.", r.path, size>>20)
	}
	span := textfile.Range{First: 1, MaxBytes: r.budget().mostBytes(), MaxLine: maxLine}
	if r.in.Offset != nil {
		span.First = *r.in.Offset
	}
	file, err := textfile.Read(ctx, r.file, span)
	if err == nil && file.Cut != nil {
		return nil // large because of a few long lines
	}
	if err == nil {
		span.MaxBytes = 1
		_, err = textfile.Read(ctx, r.file, span)
	}
	var size *textfile.SizeError
	switch {
	case errors.As(err, &size):
		return r.budget().refuse(size, span)
	case err != nil:
		return r.unreadable(err)
	}
	return nil // nothing after the offset
}

// An excess is a range of lines that is too large to return.
type excess struct {
	textfile.SizeError
	span   textfile.Range
	tokens int
	how    string // "about ", or "" if they were counted
}

// refuse rejects a range that was not read.
func (b budget) refuse(e *textfile.SizeError, span textfile.Range) error {
	return b.tooMany(excess{*e, span, e.Bytes / bytesPerToken(b.path), "about "})
}

// tooMany returns an error for a range that exceeds the token limit, with the number of lines
// that would fit.
func (b budget) tooMany(e excess) error {
	if min(e.LongestBytes, maxLine)/bytesPerToken(b.path) > b.max {
		what := fmt.Sprintf("line %d of %s has", e.Longest, b.path)
		if e.Total == 1 {
			what = b.path + " is a single line of"
		}
		return fmt.Errorf("%s %d characters, about %d tokens; one read returns at most %d. Use Grep, or extract a part with a shell command such as jq or cut -c.", what, e.LongestBytes, e.LongestBytes/bytesPerToken(b.path), b.max)
	}
	// Lines differ in length, so suggest slightly fewer than the average allows.
	fitting := max(1, round(int(int64(e.Lines)*int64(b.max)/int64(max(e.tokens, 1))*9/10)))
	const advice = "or find the part you need with Grep."
	if !b.ranged {
		lines := fmt.Sprint(e.Lines)
		if e.AtLeast {
			lines = "at least " + lines
		}
		return fmt.Errorf("%s has %s lines, %s%d tokens; one read returns at most %d. Read up to %d lines at a time with offset and limit, %s", b.path, lines, e.how, e.tokens, b.max, fitting, advice)
	}
	return fmt.Errorf("lines %d to %d of %s are %s%d tokens; one read returns at most %d. Ask for at most %d lines, %s", e.span.First, e.span.First+e.Lines-1, b.path, e.how, e.tokens, b.max, fitting, advice)
}

// round rounds n down to two significant digits.
func round(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}
