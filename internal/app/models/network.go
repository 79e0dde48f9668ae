package models

import (
	"os"

	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// Network returns the transport configuration for providers: the certificates in the settings.
// Proxies come from the environment.
func Network(s *config.Settings, say func(string)) (c transport.Config, err error) {
	c.For = contacts.Model
	set := settings.DecodeProviders(s).Network
	if set.CAs.Text != "" {
		if c.RootCAs, err = os.ReadFile(set.CAs.Text); err != nil {
			say(set.CAs.Origin + ": " + err.Error() + "; only the system's certificates are trusted")
		}
	}
	if set.Certificate.Text != "" {
		if c.Certificate, err = transport.LoadCertificate(set.Certificate.Text, set.ClientKey); err != nil {
			return c, setup.Errorf("%s: %v", set.Certificate.Origin, err)
		}
	}
	return c, nil
}

// PlainNetwork returns the transport configuration for servers other than providers: with the
// user's proxies and trusted certificates, but without a client certificate that identifies the
// user.
func PlainNetwork(s *config.Settings, getenv func(string) string, say func(string), purpose string) transport.Config {
	n, err := Network(s, say)
	if err != nil {
		say(err.Error())
	}
	n.Getenv, n.Certificate, n.For = getenv, nil, purpose
	return n
}
