package exec

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/picture"
)

// media returns parts with the media type of every image and document corrected from its bytes.
// Content that is neither an image nor a PDF would make the provider reject the whole
// conversation, so it is saved to a file that the notes name.
func (e *Executor) media(p *Pending, parts []msg.Part) (kept, notes []msg.Part) {
	for _, part := range parts {
		var declared, title string
		var data []byte
		switch m := part.(type) {
		case *msg.Image:
			declared, data = m.MediaType, m.Data
		case *msg.Document:
			declared, title, data = m.MediaType, m.Title, m.Data
		default:
			kept = append(kept, part)
			continue
		}
		kind, was := sniff(data), len(data)
		if kind != "" && kind != pdf {
			kind, data = fit(kind, data)
		}
		switch {
		case kind == declared && len(data) == was:
			kept = append(kept, part)
		case kind == "":
			text := e.keepBinary(p, len(notes)+1, declared, data)
			notes = append(notes, &msg.Text{Text: msg.Neutralise(text)})
		case kind == pdf:
			kept = append(kept, &msg.Document{MediaType: kind, Title: title, Data: data})
		default:
			kept = append(kept, &msg.Image{MediaType: kind, Data: data})
		}
	}
	return kept, notes
}

// Pictures within these limits are sent unchanged; a tool that reads pictures has scaled its
// own.
const (
	maxPixels = 2000 // maximum per side
	maxImage  = 3_750 << 10
)

// fit returns a picture in a form that providers accept, scaled if needed, or an empty kind if
// it cannot be decoded.
func fit(kind string, data []byte) (string, []byte) {
	_, size, err := picture.Measure(data)
	if err == nil && len(data) <= maxImage && size.Width <= maxPixels && size.Height <= maxPixels {
		return kind, data
	}
	p, err := picture.Fit(context.Background(), data, 0)
	if err != nil {
		return "", data
	}
	return p.MediaType, p.Data
}

// keepBinary saves a call's n-th binary content to a file and returns a note about it.
func (e *Executor) keepBinary(p *Pending, n int, declared string, data []byte) string {
	name := p.raw.ID
	if n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	what := fmt.Sprintf("Binary content (%s, %s)", declared, amount.Bytes(int64(len(data))))
	path, _, err := e.save(p, name, "bin", bytes.NewReader(data))
	if err != nil {
		return fmt.Sprintf("%s cannot be shown, and is lost: %v.", what, err)
	}
	return fmt.Sprintf("%s cannot be shown. It is in %s.", what, path)
}

const pdf = "application/pdf"

// sniff returns the media type of an image or document that providers accept, or "".
func sniff(data []byte) string {
	head := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && strings.HasSuffix(head, "WEBP"):
		return "image/webp"
	case strings.HasPrefix(head, "%PDF-"):
		return pdf
	}
	return ""
}
