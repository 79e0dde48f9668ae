package hostapi

import (
	"context"
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf8"
)

// rewind restores the session's files to their state before a message.
func (a api) rewind(ctx context.Context, in struct {
	Message string `json:"user_message_id"`
	Dry     bool   `json:"dry_run"`
}) (any, error) {
	report, err := a.RewindFiles(ctx, in.Message, in.Dry)
	if err != nil {
		return object{"canRewind": false, "error": err.Error()}, nil
	}
	return object{
		"canRewind": true, "filesChanged": append([]string{}, report.Paths...),
		"insertions": report.Insertions, "deletions": report.Deletions,
	}, nil
}

// seed records that the model has seen a file that the host read earlier.
func (a api) seed(_ context.Context, in struct {
	Path  string  `json:"path"`
	MTime float64 `json:"mtime"`
}) (any, error) {
	return none{}, a.Files.Seed(in.Path, time.UnixMilli(int64(min(in.MTime, 1<<53))))
}

func (a api) readFile(ctx context.Context, in struct {
	Path     string `json:"path"`
	Max      int64  `json:"max_bytes"`
	Encoding string `json:"encoding"`
}) (any, error) {
	c, err := a.Files.Read(ctx, in.Path, in.Max)
	if err != nil {
		return nil, err
	}
	answer := object{"absPath": c.Path}
	if c.More {
		answer["truncated"] = true
	}
	if in.Encoding == "base64" {
		answer["contents"], answer["encoding"] = base64.StdEncoding.EncodeToString(c.Data), "base64"
		return answer, nil
	}
	answer["lossy"] = !utf8.Valid(c.Data)
	answer["contents"] = strings.ToValidUTF8(string(c.Data), "\uFFFD")
	return answer, nil
}

// suggestions returns the files that match the user's query.
func (a api) suggestions(ctx context.Context, in struct {
	Query string `json:"query"`
}) (any, error) {
	const most = 15
	matches, err := a.Files.Suggest(ctx, in.Query, most)
	if err != nil {
		return nil, err
	}
	found := []object{}
	for _, m := range matches {
		found = append(found, object{"path": m.Path, "isDirectory": m.Dir, "score": m.Score})
	}
	return object{"suggestions": found}, nil
}
