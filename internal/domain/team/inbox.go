package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"adze/internal/platform/fs/replace"
)

func inboxFile(member string) string { return member + ".json" }

var errInbox = errors.New("the inbox cannot be read")

// editInbox changes the messages of an inbox while no other process can; if change returns nil,
// they are unchanged. An unreadable inbox is moved aside and a new one started.
func (s *Store) editInbox(ctx context.Context, team, member string, change func([]Message) ([]Message, error)) error {
	dir, err := s.dir(team, inboxes)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := inboxFile(member)
	edit := func(old []byte) ([]byte, error) {
		all, err := s.decodeInbox(team, member, old)
		if err != nil {
			return nil, err
		}
		if all, err = change(all); err != nil || all == nil {
			return nil, err
		}
		return encodeInbox(all)
	}
	return s.locked(ctx, dir, name, func(f *replace.File) error {
		err := rewrite(f, edit)
		if err == nil || !isCorrupt(dir, name, err) {
			return err
		}
		aside := fmt.Sprintf("%s.%s.broken", name, s.cfg.Now().UTC().Format("20060102-150405.000000000"))
		if bad := dir.Rename(name, aside); bad != nil {
			return fmt.Errorf("%w; moving it away failed, too: %w", err, bad)
		}
		s.cfg.Log.Warn("an inbox was moved aside", "team", team, "member", member, "to", aside, "why", err)
		return rewrite(f, edit)
	})
}

// isCorrupt reports whether an error means that the file is not a valid inbox.
func isCorrupt(dir *os.Root, name string, err error) bool {
	var large *replace.TooLarge
	if errors.Is(err, errInbox) || errors.As(err, &large) {
		return true
	}
	info, bad := dir.Lstat(name)
	return bad == nil && !info.Mode().IsRegular()
}

// encodeInbox encodes messages. If they are too large, read ones are dropped.
func encodeInbox(all []Message) ([]byte, error) {
	data, err := json.Marshal(all)
	if err == nil && len(data) >= maxFile {
		all = slices.DeleteFunc(slices.Clone(all), func(m Message) bool { return m.Read })
		data, err = json.Marshal(all)
	}
	if err != nil {
		return nil, err
	}
	if len(data) >= maxFile {
		return nil, fmt.Errorf("the inbox is full: %d MB wait there unread", maxFile>>20)
	}
	return append(data, '\n'), nil
}

// decodeInbox decodes the messages in a file. Invalid messages are dropped and logged.
func (s *Store) decodeInbox(team, member string, data []byte) ([]Message, error) {
	if data == nil {
		return nil, nil
	}
	var each []json.RawMessage
	if err := json.Unmarshal(data, &each); err != nil {
		return nil, fmt.Errorf("%w: %w", errInbox, err)
	}
	all := make([]Message, 0, len(each))
	for _, one := range each {
		var m Message
		if err := json.Unmarshal(one, &m); err != nil {
			s.cfg.Log.Warn("skipping an invalid message in an inbox", "team", team, "member", member, "why", err)
			continue
		}
		all = append(all, m)
	}
	return all, nil
}
