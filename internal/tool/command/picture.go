package command

import (
	"encoding/base64"
	"io"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/task"
)

// maxPicture bounds the text of a picture that a command prints.
const maxPicture = 16 << 20

// picture returns the picture that the output is, if it is one as a data URI and nothing else.
func picture(out *task.Output) (*msg.Image, bool) {
	if size := out.Size(); size > maxPicture || !strings.HasPrefix(string(out.Head(len("data:image/"))), "data:image/") {
		return nil, false
	}
	text, err := io.ReadAll(io.NewSectionReader(out, 0, out.Size()))
	if err != nil {
		return nil, false
	}
	media, data, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(text)), "data:"), ";base64,")
	if !ok {
		return nil, false
	}
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(data) // line ends are skipped
	if err != nil || len(raw) == 0 {
		return nil, false
	}
	return &msg.Image{MediaType: media, Data: raw}, true
}
