package models

import (
	"os"

	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/transport"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// Network returns the transport configuration for providers: the certificates in the settings.
// Proxies come from the environment.
func Network(s *config.Settings, say func(string)) (c transport.Config, err error) {
	c.For = contacts.Model
	if file := s.Text("ADZE_EXTRA_CA_CERTS"); file != "" {
		if c.RootCAs, err = os.ReadFile(file); err != nil {
			say(s.Origin("ADZE_EXTRA_CA_CERTS") + ": " + err.Error() + "; only the system's certificates are trusted")
		}
	}
	if file := s.Text("ADZE_CLIENT_CERT"); file != "" {
		if c.Certificate, err = transport.LoadCertificate(file, s.Text("ADZE_CLIENT_KEY")); err != nil {
			return c, setup.Errorf("%s: %v", s.Origin("ADZE_CLIENT_CERT"), err)
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
