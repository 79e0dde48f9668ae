package acp

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// promptOf converts the content of a prompt. Mentions are looked for only in text that the user
// wrote.
func promptOf(blocks []contentBlock) (session.Prompt, error) {
	var p session.Prompt
	var words []string
	for i, b := range blocks {
		part, err := promptPart(b)
		if err != nil {
			return session.Prompt{}, errorf(codeParams, "prompt[%d]: %v", i, err)
		}
		text, ok := part.(*msg.Text)
		if !ok || b.Type == "resource" {
			p.Parts = append(p.Parts, part)
			continue
		}
		words = append(words, text.Text)
		if i > 0 && (linked(b) || linked(blocks[i-1])) && len(p.Parts) > 0 { // a link is part of a sentence
			if before, ok := p.Parts[len(p.Parts)-1].(*msg.Text); ok && blocks[i-1].Type != "resource" {
				before.Text += text.Text
				continue
			}
		}
		p.Parts = append(p.Parts, text)
	}
	p.Words = strings.Join(words, "")
	p.Quoted = strings.TrimSpace(p.Words) == ""
	if p.Quoted && !slices.ContainsFunc(blocks, func(b contentBlock) bool { return b.Type != "text" }) {
		return session.Prompt{}, errorf(codeParams, "the prompt is empty")
	}
	return p, nil
}

func linked(b contentBlock) bool { return b.Type == "resource_link" }

// imageTypes are the types of pictures that models take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func promptPart(b contentBlock) (msg.Part, error) {
	switch b.Type {
	case "text":
		if b.Text == nil {
			return nil, fmt.Errorf("text is missing")
		}
		return &msg.Text{Text: *b.Text}, nil
	case "image":
		if !slices.Contains(imageTypes, b.MIMEType) {
			return nil, fmt.Errorf("a picture of the type %q cannot be sent; use %s", tool.OneLine(b.MIMEType, 60), strings.Join(imageTypes, ", "))
		}
		data, err := base64.StdEncoding.DecodeString(b.Data)
		if err != nil || len(data) == 0 {
			return nil, fmt.Errorf("the data of the picture is not base64")
		}
		return &msg.Image{MediaType: b.MIMEType, Data: data}, nil
	case "resource_link":
		return &msg.Text{Text: mention(b.URI)}, nil
	case "resource":
		return embedded(b.Resource)
	}
	return nil, fmt.Errorf("content of the type %q is not supported", tool.OneLine(b.Type, 60))
}

// mention returns the text for a linked resource: a mention of a local file, which is then
// attached under the permission rules, or else the address.
func mention(uri string) string {
	if path := filePath(uri); path != "" {
		path += lineRange(uri)
		if strings.ContainsAny(path, " \t\n\"") {
			return `@"` + strings.NewReplacer(`"`, "", "\n", "").Replace(path) + `"`
		}
		return "@" + path
	}
	return uri
}

// filePath returns the path of a file URI, or "".
func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /C:/dir
	}
	return filepath.FromSlash(path)
}

// lineFragment matches the fragment of a link to lines of a file, as editors write it.
var lineFragment = regexp.MustCompile(`#L(\d{1,9})(?:[-:]L?(\d{1,9}))?$`)

// lineRange returns the lines of a link as the suffix of a mention, or "".
func lineRange(uri string) string {
	m := lineFragment.FindStringSubmatch(uri)
	switch {
	case m == nil:
		return ""
	case m[2] == "":
		return "#L" + m[1]
	}
	return "#L" + m[1] + "-" + m[2]
}

// embedded returns the part for a resource that the client has sent with the prompt.
func embedded(r *resourceContent) (msg.Part, error) {
	switch {
	case r == nil:
		return nil, fmt.Errorf("resource is missing")
	case r.Text != nil:
		name := r.URI
		if path := filePath(r.URI); path != "" {
			name = path
		}
		return msg.Reminder(fmt.Sprintf("The user attached %s from the editor. Its content, which may not be saved yet:\n%s", msg.Neutralise(name), msg.Neutralise(*r.Text))), nil
	case r.Blob == nil:
		return nil, fmt.Errorf("the resource has neither text nor blob")
	case slices.Contains(imageTypes, r.MIMEType):
		return promptPart(contentBlock{Type: "image", MIMEType: r.MIMEType, Data: *r.Blob})
	case r.MIMEType == "application/pdf":
		data, err := base64.StdEncoding.DecodeString(*r.Blob)
		if err != nil || len(data) == 0 {
			return nil, fmt.Errorf("the blob of the resource is not base64")
		}
		return &msg.Document{MediaType: r.MIMEType, Title: filepath.Base(filePath(r.URI)), Data: data}, nil
	}
	return nil, fmt.Errorf("a resource of the type %q cannot be sent", tool.OneLine(r.MIMEType, 60))
}
