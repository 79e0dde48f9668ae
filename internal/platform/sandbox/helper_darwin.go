package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
)

// help runs a trial; everything else is done by the profile.
func help(args []string) error {
	if len(args) != 1 {
		return errors.New("nothing to do")
	}
	var t trial
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	return t.run()
}

func (t *trial) encode() (string, error) {
	text, err := json.Marshal(t)
	return string(text), err
}

func receiveListener(*net.UnixConn) (net.Listener, error) { return nil, errNoListener }
