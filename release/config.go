package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"aead.dev/minisign"
)

//go:embed release.json
var defaultConfig []byte

// A config holds the addresses and names of a release. It is the only place that has them.
type config struct {
	Summary    string `json:"summary"`
	License    string `json:"license"`
	Maintainer string `json:"maintainer"` // name and address
	Homepage   string `json:"homepage"`
	// Downloads is the address that serves the files of a release below /vVERSION/, and
	// install.sh and the channels at the top. Without it, everything that needs it is left out.
	Downloads string `json:"downloads"`
	// Key is the public minisign key that belongs to the key of -key.
	Key string `json:"key"`
	// Channels are the channels that this release is offered in: latest, stable.
	Channels []string `json:"channels"`
	// NPM is the name of the npm package. The packages with the binaries are called @NPM/OS-ARCH.
	NPM string `json:"npm"`
	// Image is the name of the container image.
	Image string `json:"image"`
}

func readConfig(path string) (c config, err error) {
	data := defaultConfig
	if path != "" {
		if data, err = os.ReadFile(path); err != nil {
			return c, err
		}
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("reading the configuration: %w", err)
	}
	c.Downloads = strings.TrimRight(c.Downloads, "/")
	if c.Downloads != "" && !strings.HasPrefix(c.Downloads, "https://") && !strings.HasPrefix(c.Downloads, "http://127.0.0.1:") {
		return c, fmt.Errorf("downloads is %q, but has to be an https address", c.Downloads)
	}
	if c.Key != "" {
		var public minisign.PublicKey
		if err := public.UnmarshalText([]byte(c.Key)); err != nil {
			return c, fmt.Errorf("key: %w", err)
		}
	}
	return c, nil
}

// published reports whether the release has an address.
func (c config) published() bool { return c.Downloads != "" && c.Key != "" }
