// Package content converts servers' results to content for the model: bounded text, images it
// can see, and file names for everything else. Text from servers is untrusted and marked so.
// Callers that display it must strip terminal control sequences.
package content

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"adze/internal/mcp"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/picture"
)

// Config configures rendering. The zero value saves no files and sends images.
type Config struct {
	// Save stores a file with the session's results and returns its path; nil means that files
	// cannot be saved.
	Save func(name, ext string, r io.Reader) (path string, err error)
	// Images reports whether the model accepts images; nil means that it does.
	Images func() bool
	// MaxTokens limits the text for the model; 0 means [MaxTokens].
	MaxTokens int
	// Count asks the provider for a text's token count; nil means that estimates are used.
	Count func(ctx context.Context, text string) (int, error)
}

// MaxTokens is the default token limit of a result.
const MaxTokens = 25_000

// imageTokens is the assumed cost of an image, and maxFiles the maximum number of files saved
// per result.
const (
	imageTokens = 1_600
	maxFiles    = 100
)

// A Source identifies the origin of content. Name is a tool, resource or prompt name, used in
// file names.
type Source struct{ Server, Name string }

// Rendered is content for the model, with details about it.
type Rendered struct {
	Parts []msg.Part
	// Text is the text in Parts as the server wrote it.
	Text string
	// Cut is set if the text is incomplete, and File names the file with the full text, if any.
	Cut  bool
	File string
	// Files holds the files with other content, by its index.
	Files map[int]string
}

// Render converts content and structured content, which may be nil, to message parts.
func (c Config) Render(ctx context.Context, from Source, all []mcp.Content, structured json.RawMessage) Rendered {
	r := renderer{Config: c, ctx: ctx, from: from, files: map[int]string{}}
	if r.MaxTokens <= 0 {
		r.MaxTokens = MaxTokens
	}
	r.room = r.MaxTokens
	for i, one := range all {
		r.add(i, one)
	}
	if len(structured) > 0 && !r.says(structured) {
		text := string(structured)
		if len(r.texts) > 0 {
			text = "Structured content:\n" + text
		}
		r.text(text)
	}
	return r.rendered()
}

// A renderer converts one result.
type renderer struct {
	Config
	ctx    context.Context
	from   Source
	texts  []string
	images []msg.Part
	room   int // tokens left
	files  map[int]string
}

func (r *renderer) text(text string) {
	if strings.TrimSpace(text) != "" {
		r.texts = append(r.texts, text)
	}
}

// note adds a line from adze.
func (r *renderer) note(format string, args ...any) { r.text("[" + fmt.Sprintf(format, args...) + "]") }

func (r *renderer) add(i int, c mcp.Content) {
	switch {
	case c.Flaw != "":
		r.note("Content was left out: %s", c.Flaw)
	case c.Kind == mcp.TextContent:
		r.text(c.Text)
	case c.Kind == mcp.ResourceText:
		r.text("Resource " + c.URI + ofType(c.MIME) + ":\n" + c.Text)
	case c.Kind == mcp.ResourceLink:
		r.link(c)
	case c.Kind == mcp.ImageContent || c.Kind == mcp.AudioContent || c.Kind == mcp.ResourceBlob:
		r.binary(i, c)
	default:
		r.note("Content of an unknown kind was left out")
	}
}

func ofType(mime string) string {
	if mime == "" {
		return ""
	}
	return " (" + mime + ")"
}

func (r *renderer) link(c mcp.Content) {
	text := "Link to a resource: " + c.URI + ofType(c.MIME)
	if c.Name != "" {
		text += ", " + c.Name
	}
	if c.Description != "" {
		text += ": " + c.Description
	}
	r.note("%s", text)
}

// binary sends an image the model can see, and saves everything else in a file. If the data
// contradict the server's declared type, the data decide.
func (r *renderer) binary(i int, c mcp.Content) {
	if kind := picture.Sniff(c.Data); kind != "" && (r.Images == nil || r.Images()) {
		if r.room < imageTokens {
			r.keep(i, c, "There are too many pictures to show; this one")
			return
		}
		fit, err := picture.Fit(r.ctx, c.Data, 0)
		if err == nil {
			r.room -= imageTokens
			r.images = append(r.images, &msg.Image{MediaType: fit.MediaType, Data: fit.Data})
			return
		}
		r.keep(i, c, "A picture that cannot be shown: "+err.Error())
		return
	} else if kind != "" {
		r.keep(i, c, "A picture that you cannot see")
		return
	}
	what := "A file"
	if c.Kind == mcp.AudioContent {
		what = "Audio"
	}
	if c.URI != "" {
		what = "Resource " + c.URI
	}
	r.keep(i, c, what)
}

// keep saves data and adds the file's name.
func (r *renderer) keep(i int, c mcp.Content, what string) {
	ext := Extension(c.Data, c.MIME)
	about := what + " (" + amount.Bytes(int64(len(c.Data)))
	if c.MIME != "" {
		about += ", " + c.MIME
	}
	about += ")"
	switch {
	case r.Save == nil:
		r.note("%s cannot be kept", about)
	case len(r.files) == maxFiles:
		r.note("%s was not kept: there are too many", about)
	default:
		path, err := r.Save(r.name(c.Data), ext, bytes.NewReader(c.Data))
		if err != nil {
			r.note("%s could not be kept: %v", about, err)
			return
		}
		r.files[i] = path
		r.note("%s is in %s", about, path)
	}
}

// says reports whether the texts repeat structured content: the same value, the value of its
// only member, or all of its strings.
func (r *renderer) says(structured json.RawMessage) bool {
	for _, text := range r.texts {
		if sameJSON(text, structured) {
			return true
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(structured, &members) != nil || len(members) == 0 {
		return false
	}
	if len(members) == 1 {
		for _, value := range members {
			if r.says(value) {
				return true
			}
		}
	}
	all, length := strings.Join(r.texts, "\n"), 0
	for _, value := range members {
		var text string
		if json.Unmarshal(value, &text) != nil || !strings.Contains(all, text) {
			return false
		}
		length += len(text)
	}
	return 2*length >= len(all)
}

// rendered returns the bounded texts and the images.
func (r *renderer) rendered() Rendered {
	out := Rendered{Files: r.files, Cut: r.tooLong()}
	if out.Cut {
		out.Text, out.File = r.persist()
	} else {
		out.Text = strings.Join(r.texts, "\n")
	}
	if out.Text != "" {
		out.Parts = append(out.Parts, &msg.Text{Text: msg.Neutralise(out.Text)})
	}
	out.Parts = append(out.Parts, r.images...)
	return out
}
