// Package contacts counts which hosts this process has contacted, and what for. The count is that of the process, not
// of a value that is passed on: what connects to other machines cannot be built without it.
package contacts

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// What hosts are contacted for.
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
	Web      = "web tools"
)

// A Contact says how often a host was contacted for something.
type Contact struct {
	Host, For string
	// Times is how many requests were sent, or connections made if requests cannot be seen.
	Times int
}

// maxHosts bounds what is remembered: a command in the sandbox may contact any number of hosts.
const maxHosts = 1000

type key struct{ host, purpose string }

var contacted struct {
	sync.Mutex
	times map[key]int
	left  int // how many were not remembered one by one
}

// Add counts a contact. A host may have a port.
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

// List returns the contacts by purpose and host, and how many others were not remembered.
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
