// Package contacts counts which hosts this process has contacted, and why. The counters are
// global so that no connecting code can be built without them.
package contacts

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Purposes of contacts.
const (
	Other    = "other requests"
	Cloud    = "credentials of the cloud"
	Commands = "commands in the sandbox"
	Hooks    = "hooks"
	Local    = "model servers on this machine"
	Model    = "the model"
	Plugins  = "plugins"
	Proxy    = "proxy"
	Servers  = "MCP servers"
	Update   = "updates"
	Web      = "web tools"
)

// A Contact counts contacts to a host for one purpose.
type Contact struct {
	Host, For string
	// Times is the number of requests, or of connections if the requests are not visible.
	Times int
}

// maxHosts limits the number of entries: a command in the sandbox may contact any number of
// hosts.
const maxHosts = 1000

type key struct{ host, purpose string }

var contacted struct {
	sync.Mutex
	times map[key]int
	left  int // contacts not recorded individually
}

// Add counts a contact. host may include a port.
func Add(host, purpose string) {
	contacted.Lock()
	defer contacted.Unlock()
	k := key{strings.ToLower(host), cmp.Or(purpose, Other)}
	if _, known := contacted.times[k]; !known && len(contacted.times) >= maxHosts {
		contacted.left++
		return
	}
	if contacted.times == nil {
		contacted.times = map[key]int{}
	}
	contacted.times[k]++
}

// List returns the contacts by purpose and host, and the number of contacts not recorded
// individually.
func List() (all []Contact, left int) {
	contacted.Lock()
	defer contacted.Unlock()
	for k, n := range contacted.times {
		all = append(all, Contact{k.host, k.purpose, n})
	}
	slices.SortFunc(all, func(a, b Contact) int {
		return cmp.Or(strings.Compare(a.For, b.For), strings.Compare(a.Host, b.Host))
	})
	return all, contacted.left
}
