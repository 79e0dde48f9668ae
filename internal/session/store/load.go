package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"adze/internal/msg"
)

// Contents is what a log holds, as far as it can be read.
type Contents struct {
	Entries []msg.Entry
	// Made lists the ids of entries that came without an id or a time and got one.
	Made []string
	// Other counts the records that are not messages of this conversation; they stay in the file.
	Other int
	// Bad counts the lines that cannot be read.
	Bad int
	// Torn says that the last line has no end. It is not among the entries.
	Torn bool
}

// Load reads the log at path. It changes nothing, and damage to one line costs that line alone.
func Load(path string) (*Contents, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading transcript: %w", err)
	}
	defer f.Close()
	c, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("reading transcript %s: %w", path, err)
	}
	return c, nil
}

func read(r io.Reader) (*Contents, error) {
	c := &Contents{}
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			c.Torn = len(line) > 0
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		c.add(line)
	}
}

func (c *Contents) add(line []byte) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		c.Bad++
		return
	}
	if r.IsSidechain || r.Type != string(msg.User) && r.Type != string(msg.Assistant) {
		c.Other++
		return
	}
	e, made, err := r.entry()
	if err != nil {
		c.Bad++
		return
	}
	if made {
		c.Made = append(c.Made, e.ID)
	}
	c.Entries = append(c.Entries, e)
}
