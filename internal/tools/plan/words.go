package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"path/filepath"
	"strings"
)

// File returns the path of a session's plan file in dir. Its name consists of three words
// derived only from the session ID, so that a resumed session finds its plan. A sub-agent has
// its own file.
func File(dir, session, agent string) string {
	sum := sha256.Sum256([]byte(session))
	words := make([]string, 0, 3)
	for i, list := range [][]string{strings.Fields(manners), strings.Fields(colours), strings.Fields(things)} {
		n := binary.BigEndian.Uint64(sum[8*i:])
		words = append(words, list[n%uint64(len(list))])
	}
	name := strings.Join(words, "-")
	if agent != "" {
		name += "-agent-" + agent
	}
	return filepath.Join(dir, name+".md")
}

const (
	manners = `able brisk calm candid careful clever crisp curious deft eager early even exact fair fleet fond frank free gentle glad
		good grand handy hardy honest humble jolly keen kind light lively loyal lucid merry mild modest neat nimble noble patient
		plain polite proud quick quiet rapid ready robust sane sharp simple sincere sleek smooth snug sober solid sound spry steady
		stout strong sturdy subtle sunny sure swift tame tender thrifty tidy tough true vivid warm wary wise witty young`
	colours = `amber aqua ashen auburn azure beige black blue bronze brown buff cherry chestnut clay cobalt copper coral cream crimson
		cyan ebony emerald fawn fuchsia gold grape green grey hazel heather honey indigo ivory jade khaki lavender lemon lilac lime
		maroon mauve mint moss mustard navy ochre olive orange orchid peach pearl pewter pine pink plum purple red rose ruby russet
		rust saffron sage sand sapphire scarlet sepia sienna silver slate snow tan tawny teal topaz umber violet wheat white yellow`
	things = `acorn anchor anvil apple arbor arrow aspen badger barn basin beacon birch boulder bridge brook cabin canoe canyon castle
		cedar chapel cliff clover comet compass cove crane creek dale delta dune eagle elm ember falcon fern field fjord flint forest
		fox garden glade glen grove harbor hawk hazel heron hill inlet island juniper kettle kite lagoon lake lantern lark ledge
		linden maple marsh meadow mill moon moor oak orchard otter owl path peak pebble pine plain plough pond poplar prairie quarry
		raven reef ridge river robin rowan saddle sail shore sparrow spring spruce stone stream summit swan thicket thistle timber
		trail valley walnut wharf willow wren`
)
