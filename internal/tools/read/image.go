package read

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/picture"
	"adze/internal/tool"
)

func (r *fileRead) readImage(ctx context.Context) (tool.Result, error) {
	data, err := r.whole()
	if err != nil {
		return tool.Result{}, err
	}
	if !enabled(r.Images) {
		return r.describeImage(data)
	}
	entry := r.entry(data)
	entry.Content = nil // pictures are not edited as bytes
	if r.repeats(entry) {
		return r.unchanged(), nil
	}
	p, err := picture.Fit(ctx, data, r.MaxTokens)
	if err != nil {
		return tool.Result{}, fmt.Errorf("reading %s: %w", r.path, err)
	}
	r.record(entry)
	text := fmt.Sprintf("%s image, %v pixels", format(picture.Sniff(data)), p.Original)
	display := text
	if p.Scaled() {
		factor := float64(p.Original.Width) / float64(p.Size.Width)
		text += fmt.Sprintf(", shown at %v: multiply coordinates by %.3g to find them in the file", p.Size, factor)
	}
	return tool.Result{
		Parts:      []msg.Part{&msg.Image{MediaType: p.MediaType, Data: p.Data}, &msg.Text{Text: text + "."}},
		Display:    tool.Plain{Text: display},
		Structured: r.imageOutput(p.MediaType, len(data), p.Original, p.Size),
	}, nil
}

// describeImage returns the result for a model without image support.
func (r *fileRead) describeImage(data []byte) (tool.Result, error) {
	mediaType, size, err := picture.Measure(data)
	if err != nil {
		return tool.Result{}, fmt.Errorf("reading %s: %w", r.path, err)
	}
	text := fmt.Sprintf("%s image, %v pixels, %d bytes", format(mediaType), size, len(data))
	return tool.Result{
		Parts:      []msg.Part{&msg.Text{Text: text + ". It is not shown, because the model in use takes no images."}},
		Display:    tool.Plain{Text: text},
		Structured: r.imageOutput(mediaType, len(data), size, picture.Size{}),
	}, nil
}

func (r *fileRead) imageOutput(mediaType string, bytes int, original, shown picture.Size) Output {
	return Output{"image", imageOutput{
		FilePath: r.path, MediaType: mediaType, OriginalSize: bytes,
		Dimensions: dimensions{original.Width, original.Height, shown.Width, shown.Height},
	}}
}

// format returns the common name of a media type.
func format(mediaType string) string {
	return strings.ToUpper(strings.TrimPrefix(mediaType, "image/"))
}

// enabled calls question, which may be nil.
func enabled(question func() bool) bool { return question != nil && question() }
