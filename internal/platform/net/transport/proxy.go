package transport

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Proxies returns a function that returns the proxy for a request according to the environment.
// An invalid proxy address is an error, because requests meant for a proxy would otherwise go
// to the network directly.
func (c Config) Proxies() (func(*http.Request) (*url.URL, error), error) {
	getenv := c.getenv()
	address := func(names ...string) (string, error) {
		for _, name := range names {
			if value := getenv(name); value != "" {
				return value, checkAddress(name, value)
			}
		}
		return "", nil
	}
	all, err := address("ALL_PROXY", "all_proxy")
	if err != nil {
		return nil, err
	}
	plain, err := address("HTTP_PROXY", "http_proxy")
	if err != nil {
		return nil, err
	}
	secure, err := address("HTTPS_PROXY", "https_proxy")
	if err != nil {
		return nil, err
	}
	found := httpproxy.Config{
		HTTPProxy: cmp.Or(plain, all), HTTPSProxy: cmp.Or(secure, all), NoProxy: cmp.Or(getenv("NO_PROXY"), getenv("no_proxy")),
		CGI: getenv("REQUEST_METHOD") != "", // under CGI, HTTP_PROXY is a request header
	}
	find := found.ProxyFunc()
	return func(req *http.Request) (*url.URL, error) { return find(req.URL) }, nil
}

// checkAddress returns an error if the variable is not a valid proxy address. The error does
// not include the value, which may contain a password.
func checkAddress(name, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme == "" || u.Host == "" {
		u, err = url.Parse("http://" + value)
	}
	if err == nil && u.Hostname() != "" {
		switch strings.ToLower(u.Scheme) {
		case "http", "https", "socks5", "socks5h":
			return nil
		}
	}
	return &Error{Text: name + " is not the address of a proxy", Advice: "Set " + name + " to an address such as http://proxy.example:3128 or socks5://127.0.0.1:1080, or unset it"}
}
