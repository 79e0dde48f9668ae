package chaos

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"adze/internal/model"
)

// A fault is a way to fail.
type fault struct {
	name string
	// early replaces the answer before the request is read.
	early func(net.Conn, *rand.Rand)
	// change corrupts the answer. Both may be nil: then nothing fails.
	change func(*answer)
}

const page = "<!doctype html><html><head><title>Sign in</title></head><body><form action=/login>\n<input name=user></form></body></html>"

// faults lists the ways to fail. The first does nothing.
var faults = []fault{
	{name: "none"},
	{name: "no answer at all", early: func(net.Conn, *rand.Rand) {}},
	{name: "hangs up after the request", change: func(a *answer) { a.silent() }},
	{name: "silence", change: func(a *answer) { a.pieces, a.after = nil, hang }},
	{name: "silence from the start", early: func(c net.Conn, _ *rand.Rand) { hang(c) }},
	{name: "no HTTP", early: func(c net.Conn, r *rand.Rand) { c.Write(garbage(r, 200)) }},
	{name: "endless headers", early: func(c net.Conn, _ *rand.Rand) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for line := []byte("X-Filler: " + strings.Repeat("x", 60_000) + "\r\n"); err == nil; {
			_, err = c.Write(line)
		}
	}},
	{name: "error of the server", change: func(a *answer) {
		kind := model.RateLimited + model.Kind(a.r.IntN(int(model.Invalid-model.RateLimited)+1))
		status, body := a.dialect.EncodeError(kind, "")
		a.replace(status, "application/json", body)
	}},
	{name: "error cut off", change: func(a *answer) {
		status, body := a.dialect.EncodeError(model.ServerFault, "")
		a.replace(status, "application/json", body[:a.r.IntN(len(body))])
	}},
	{name: "error page", change: func(a *answer) {
		a.replace(pick(a.r, 400, 403, 404, 429, 500, 502, 503, 504, 529), "text/html", []byte(page))
	}},
	{name: "login page", change: func(a *answer) { a.replace(200, "text/html; charset=utf-8", []byte(page)) }},
	{name: "login page that says it is a stream", change: func(a *answer) { a.replace(200, a.media, []byte(page)) }},
	{name: "redirect to a login page", change: func(a *answer) {
		a.replace(pick(a.r, 301, 302, 303, 307, 308), "text/html", []byte(page))
		a.header = "Location: https://login.example/?next=/\r\n"
	}},
	{name: "nothing", change: func(a *answer) { a.pieces = nil }},
	{name: "no content", change: func(a *answer) { a.replace(204, "text/plain", nil) }},
	{name: "other content type", change: func(a *answer) {
		a.media = pick(a.r, "text/plain", "application/json", "image/png", "", "text/event-stream; charset=utf-16", "a/b/c;;")
	}},
	{name: "compressed garbage", change: func(a *answer) {
		a.header = "Content-Encoding: gzip\r\n"
		a.pieces = [][]byte{append([]byte{0x1f, 0x8b, 8, 0}, garbage(a.r, 300)...)}
	}},
	{name: "garbage", change: func(a *answer) { a.pieces = [][]byte{garbage(a.r, 500)} }},
	{name: "broken chunks", change: func(a *answer) { a.framed = misframed }},
	{name: "wrong length", change: func(a *answer) { a.framed = miscounted }},
	{name: "no length", change: func(a *answer) { a.framed = untilClose }},
	{name: "right length", change: func(a *answer) { a.framed = counted }},
	{name: "truncated", change: func(a *answer) { a.truncate(); a.framed = untilClose }},
	{name: "truncated, connection lost", change: func(a *answer) { a.truncate(); a.after = func(net.Conn) {} }},
	{name: "truncated, then silence", change: func(a *answer) { a.truncate(); a.after = hang }},
	{name: "an event lost", change: func(a *answer) {
		i := a.r.IntN(len(a.pieces))
		a.pieces = slices.Delete(a.pieces, i, i+1)
	}},
	{name: "an event doubled", change: func(a *answer) {
		i := a.r.IntN(len(a.pieces))
		a.pieces = slices.Insert(a.pieces, i, a.pieces[i])
	}},
	{name: "all doubled", change: func(a *answer) { a.pieces = append(a.pieces, a.pieces...) }},
	{name: "two events exchanged", change: func(a *answer) {
		i, j := a.r.IntN(len(a.pieces)), a.r.IntN(len(a.pieces))
		a.pieces[i], a.pieces[j] = a.pieces[j], a.pieces[i]
	}},
	{name: "shuffled", change: func(a *answer) {
		a.r.Shuffle(len(a.pieces), func(i, j int) { a.pieces[i], a.pieces[j] = a.pieces[j], a.pieces[i] })
	}},
	{name: "wrong types", change: func(a *answer) { a.each(retype) }},
	{name: "a wrong type", change: func(a *answer) {
		i := a.r.IntN(len(a.pieces))
		a.pieces[i] = retype(a.r, a.pieces[i])
	}},
	{name: "a byte changed", change: func(a *answer) {
		i := a.r.IntN(len(a.pieces))
		p := bytes.Clone(a.pieces[i])
		p[a.r.IntN(len(p))] ^= 1 << a.r.IntN(8)
		a.pieces[i] = p
	}},
	{name: "garbage in between", change: func(a *answer) {
		a.pieces = slices.Insert(a.pieces, a.r.IntN(len(a.pieces)+1), garbage(a.r, 100))
	}},
	{name: "a page in between", change: func(a *answer) {
		a.pieces = slices.Insert(a.pieces, a.r.IntN(len(a.pieces)+1), []byte("data: "+strings.ReplaceAll(page, "\n", "")+"\n\n"))
	}},
	{name: "an error in between", change: func(a *answer) {
		fail := a.dialect.NewResponseEncoder(a.stream).Fail(model.Overloaded, "No room <b>left</b>")
		i := a.r.IntN(len(a.pieces) + 1)
		a.pieces = append(a.pieces[:i:i], fail)
	}},
	{name: "delays", change: func(a *answer) {
		a.waits = map[int]time.Duration{}
		for i := range a.pieces {
			a.waits[i] = time.Duration(a.r.IntN(100)) * time.Second
		}
	}},
	{name: "keep-alives without end", change: func(a *answer) {
		ping := a.dialect.NewResponseEncoder(a.stream).Ping()
		if len(ping) == 0 {
			ping = []byte(": wait\n\n")
		}
		a.truncate()
		a.framed = untilClose
		a.after = func(c net.Conn) {
			for {
				time.Sleep(30 * time.Second)
				if _, err := c.Write(ping); err != nil {
					return
				}
			}
		}
	}},
	{name: "byte by byte", change: func(a *answer) {
		all := bytes.Join(a.pieces, nil)
		a.framed, a.pieces = untilClose, nil
		for i := range all {
			a.pieces = append(a.pieces, all[i:i+1])
		}
	}},
	{name: "data without end", change: func(a *answer) {
		a.framed = untilClose
		a.after = func(c net.Conn) {
			for line := []byte("data: " + strings.Repeat("x", 30_000) + "\n\n"); ; {
				if _, err := c.Write(line); err != nil {
					return
				}
			}
		}
	}},
	{name: "never hangs up", change: func(a *answer) { a.framed, a.after = untilClose, hang }},
	{name: "line feeds only", change: func(a *answer) {
		a.each(func(_ *rand.Rand, p []byte) []byte {
			if a.media != "text/event-stream" {
				return p
			}
			return bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n"))
		})
	}},
	{name: "a whole answer instead of a stream", change: func(a *answer) {
		if a.stream {
			a.media = "application/json"
		}
	}},
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// hang waits until the client disconnects.
func hang(c net.Conn) { io.Copy(io.Discard, c) } // ok: only its end matters

func garbage(r *rand.Rand, most int) []byte {
	b := make([]byte, 1+r.IntN(most))
	for i := range b {
		b[i] = byte(r.UintN(256))
	}
	return b
}

// silent makes the connection end without a response.
func (a *answer) silent() { a.replace(0, "", nil) }

// replace replaces the response.
func (a *answer) replace(status int, media string, body []byte) {
	a.status, a.media, a.pieces, a.framed = status, media, nil, counted
	if len(body) > 0 {
		a.pieces = [][]byte{body}
	}
}

// truncate ends the body at a random byte.
func (a *answer) truncate() {
	size := 0
	for _, p := range a.pieces {
		size += len(p)
	}
	left := a.r.IntN(size + 1)
	for i, p := range a.pieces {
		if left < len(p) {
			a.pieces = append(a.pieces[:i:i], p[:left])
			return
		}
		left -= len(p)
	}
}

func (a *answer) each(change func(*rand.Rand, []byte) []byte) {
	for i, p := range a.pieces {
		a.pieces[i] = change(a.r, p)
	}
}

// retype changes the type of one value in a piece of JSON.
func retype(r *rand.Rand, piece []byte) []byte {
	var colons []int
	for i, c := range piece {
		if c == ':' && i > 0 && piece[i-1] == '"' && i+1 < len(piece) {
			colons = append(colons, i)
		}
	}
	if len(colons) == 0 {
		return piece
	}
	at := colons[r.IntN(len(colons))] + 1
	end := at + valueLen(piece[at:])
	other := pick(r, `null`, `7`, `-1e300`, `"x"`, `true`, `{}`, `[]`, `{"a":[{}]}`, `[null]`, `""`)
	return slices.Concat(piece[:at], []byte(other), piece[end:])
}

// valueLen returns the length of the JSON value at the start of b, judging only by brackets and
// quotes.
func valueLen(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == '\n'):
			return i
		}
	}
	return len(b)
}
