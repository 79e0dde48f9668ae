package command

import (
	"encoding/base64"
	"io"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
)

// maxPicture limits the text of an image that a command prints.
const maxPicture = 16 << 20

// picture returns the image in the output, if the output is a single data URI.
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
	raw, err := base64.StdEncoding.DecodeString(data) // newlines are skipped
	if err != nil || len(raw) == 0 {
		return nil, false
	}
	return &msg.Image{MediaType: media, Data: raw}, true
}
