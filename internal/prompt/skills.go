package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/domain/skill"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// Skills are the skills the model may run. They are immutable.
type Skills struct {
	// Tool runs them. If empty, the model does not have the tool, and nothing is announced.
	Tool string
	// Finder finds unlisted skills; it may be empty.
	Finder string
	List   []*skill.Skill // sorted by name
	// Budget is the maximum size of the list, in characters.
	Budget int
	// Score, if non-nil, returns how much a skill is used.
	Score func(name string) float64
	// Ready, if non-nil, is an earlier opening's announcement of the same skills; List is empty
	// then.
	Ready *SkillList
	// Keep, if non-nil, is called with a function that returns the opening's announcement, for
	// later openings.
	Keep func(make func() *SkillList)
}

// A SkillList is an opening's announcement of skills. It is immutable.
type SkillList struct {
	Text string
	// AnnouncementLog is the record of the announced skills, as stored with a session.
	Told json.RawMessage
	// Names are the names of all skills, including unlisted ones, each with a newline.
	Names string
}

// known returns the names of all skills.
func (s *Skills) known() map[string]bool {
	known := make(map[string]bool, len(s.List))
	for _, k := range s.List {
		known[k.Name] = true
	}
	if s.Ready != nil {
		for name := range strings.Lines(s.Ready.Names) {
			known[strings.TrimSuffix(name, "\n")] = true
		}
	}
	return known
}

// Complete reports whether the list describes all skills.
func (s *Skills) Complete(l texts.Language) bool {
	list := skill.List(s.List, s.room(l, catalogText(l, "skills", s.Tool), s.Budget), s.Score)
	for _, shown := range list.Shown {
		if shown.Named && skill.Words(shown.Skill) != "" {
			return false
		}
	}
	return list.Left == 0
}

// room returns the part of the budget left for the list after the text around it.
func (s *Skills) room(l texts.Language, head string, budget int) int {
	return budget - utf8.RuneCountInString(head+s.rest(l, len(s.List))) - len("\n\n")
}

// rest returns a sentence with the number of unlisted skills.
func (s *Skills) rest(l texts.Language, left int) string {
	if s.Finder == "" {
		return catalogText(l, "skills.rest", fmt.Sprint(left))
	}
	return catalogText(l, "skills.rest.find", fmt.Sprint(left), s.Finder)
}

// maxGoneText bounds the names of removed skills, in characters.
const maxGoneText = 900

// announcedSkills records the skills announced to the model. It is stored with the session.
type announcedSkills struct {
	// Names maps announced skills to a hash of their announcement, which is empty if only the
	// name was announced.
	Names map[string]string
	Left  int // number of unlisted skills announced
	Used  int // characters of the budget used
}

// encodedSkills is the encoding of announcedSkills. Named holds the names without a hash, which can be
// many.
type encodedSkills struct {
	Names map[string]string `json:"names,omitempty"`
	Named []string          `json:"named,omitempty"`
	Left  int               `json:"left,omitempty"`
	Used  int               `json:"used,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (t announcedSkills) MarshalJSON() ([]byte, error) {
	k := encodedSkills{Names: map[string]string{}, Left: t.Left, Used: t.Used}
	named := make([]string, 0, len(t.Names))
	for name, hash := range t.Names {
		if hash == "" {
			named = append(named, name)
		} else {
			k.Names[name] = hash
		}
	}
	slices.Sort(named)
	data, err := json.Marshal(k)
	if err != nil || len(named) == 0 {
		return data, err
	}
	size := len(data)
	for _, name := range named {
		size += len(name) + len(`"",`)
	}
	list := append(make([]byte, 0, size+len(`{"named":[],`)), `{"named":[`...) // encoded by hand, since there can be many
	for i, name := range named {
		if i > 0 {
			list = append(list, ',')
		}
		list = msg.AppendString(list, name)
	}
	if list = append(list, ']'); len(data) > len("{}") {
		list = append(list, ',')
	}
	return append(list, data[1:]...), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *announcedSkills) UnmarshalJSON(data []byte) error {
	var k encodedSkills
	if err := json.Unmarshal(data, &k); err != nil {
		return err
	}
	if k.Names == nil && len(k.Named) > 0 {
		k.Names = make(map[string]string, len(k.Named))
	}
	for _, name := range k.Named {
		k.Names[name] = ""
	}
	*t = announcedSkills{Names: k.Names, Left: k.Left, Used: k.Used}
	return nil
}

func (t announcedSkills) empty() bool { return len(t.Names) == 0 && t.Left == 0 }

func (t announcedSkills) equal(o announcedSkills) bool {
	return t.Left == o.Left && t.Used == o.Used && maps.Equal(t.Names, o.Names)
}

// skillAnnouncer announces skills: all of them in the opening, then changes.
type skillAnnouncer struct {
	from   func() *Skills // may be nil
	settle func()         // may be nil
	keeper *PrefixStore
	// opened records the opening's announcement, told all announcements so far.
	opened, told announcedSkills
	// before are the skills at the time of the opening, and latest the ones fully announced.
	// They are nil if only an earlier process knew them.
	before, latest *Skills
	kept           bool // a note was stored with the session
	// ready is the encoded form of opened and told; nil once decoded.
	ready json.RawMessage
}

// restore sets the announcements of an earlier process.
func (n *skillAnnouncer) restore(r record[announcedSkills]) {
	n.opened, n.told, n.kept = r.Opening, r.Told, r.Version != ""
}

// reset makes the next opening announce all skills.
func (n *skillAnnouncer) reset() {
	*n = skillAnnouncer{from: n.from, settle: n.settle, keeper: n.keeper, kept: n.kept}
}

// rewound resets the record to the opening's announcement.
func (n *skillAnnouncer) rewound() {
	n.unpack()
	n.told, n.latest = n.opened, n.before
}

// unpack decodes the opening's announcement, if it came from a cache. If that fails, skills are
// announced again.
func (n *skillAnnouncer) unpack() {
	if n.ready == nil {
		return
	}
	json.Unmarshal(n.ready, &n.opened) // ok: see above
	n.told, n.ready = n.opened, nil
}

// opening returns the opening's announcement of skills, and records it.
func (n *skillAnnouncer) opening(l texts.Language) string {
	if n.from == nil {
		return ""
	}
	n.latest = n.from()
	n.before = n.latest
	if r := n.latest.Ready; r != nil {
		n.ready, n.kept = r.Told, true
		n.keeper.note(skillsKind, map[string]any{"version": n.keeper.Version, "opening": r.Told})
		return r.Text
	}
	text, now := announceSkills(l, n.latest, nil, announcedSkills{})
	n.opened, n.told = now, now
	if n.kept || !now.empty() {
		n.keep()
	}
	if n.latest.Keep != nil && !now.empty() {
		list := n.latest.List
		n.latest.Keep(func() *SkillList { return listOf(list, text, now) })
	}
	return text
}

// listOf returns an opening's announcement as cached for later openings.
func listOf(all []*skill.Skill, text string, told announcedSkills) *SkillList {
	list := &SkillList{Text: text}
	list.Told, _ = told.MarshalJSON() // ok: strings and numbers
	var names strings.Builder
	for _, s := range all {
		names.WriteString(s.Name + "\n")
	}
	list.Names = names.String()
	return list
}

// news returns an announcement of changes since the last one, or "".
func (n *skillAnnouncer) news(l texts.Language) string {
	if n.from == nil {
		return ""
	}
	if n.settle != nil {
		n.settle()
	}
	s := n.from()
	if s == n.latest || s.Tool == "" {
		return ""
	}
	n.unpack()
	text, now := announceSkills(l, s, n.latest, n.told)
	n.latest = s
	if !now.equal(n.told) {
		n.told = now
		n.keep()
	}
	return text
}

func (n *skillAnnouncer) keep() {
	n.kept = true
	fields := map[string]any{"version": n.keeper.Version, "opening": n.opened}
	if !n.told.equal(n.opened) {
		fields["told"] = n.told
	}
	n.keeper.note(skillsKind, fields)
}

// skillsKind is the kind of the note that stores the opening's announcement under "opening",
// and all announcements so far under "told" if they differ.
const skillsKind = "told-skills"

// skillsPiece is the piece of the opening that lists skills.
const skillsPiece = "skills"

// announceSkills returns the announcement of changes, given the previous skills and
// announcements, and the updated record. latest is nil if the previous skills are unknown.
func announceSkills(l texts.Language, s, latest *Skills, before announcedSkills) (text string, now announcedSkills) {
	if s.Tool == "" {
		return "", before
	}
	fresh, gone := differences(s.List, latest, before)
	now = announcedSkills{Names: make(map[string]string, len(before.Names)+len(fresh)), Used: before.Used}
	maps.Copy(now.Names, before.Names)
	var lines []string
	head := catalogText(l, "skills", s.Tool)
	if !before.empty() {
		head = catalogText(l, "skills.more", s.Tool)
	}
	if len(fresh) > 0 {
		list := skill.List(fresh, s.room(l, head, max(s.Budget-before.Used, s.Budget/10)), s.Score)
		for _, shown := range list.Shown {
			now.Names[shown.Name] = ""
			if !shown.Named {
				now.Names[shown.Name] = hash(skill.Words(shown.Skill))
			}
		}
		if list.Text != "" {
			lines = append(lines, head+"\n"+strings.TrimSuffix(list.Text, "\n"))
		}
	}
	for _, name := range gone {
		delete(now.Names, name)
	}
	if len(gone) > 0 {
		room := maxGoneText
		lines = append(lines, catalogText(l, "skills.gone", (&notice{language: l}).list(gone, &room)))
	}
	if now.Left = len(s.List) - len(now.Names); now.Left > 0 && now.Left != before.Left {
		lines = append(lines, s.rest(l, now.Left))
	}
	text = strings.Join(lines, "\n\n")
	now.Used += utf8.RuneCountInString(text)
	return text, now
}

// differences returns the skills not yet announced in their current form, and the names of
// announced skills that are gone. Skills left unlisted before are not new; if it is unknown
// which ones were unlisted, none is considered new.
func differences(list []*skill.Skill, latest *Skills, before announcedSkills) (fresh []*skill.Skill, gone []string) {
	if before.empty() {
		return list, nil
	}
	var known map[string]bool
	if before.Left > 0 && latest != nil {
		known = latest.known()
	}
	there := make(map[string]bool, len(list))
	for _, s := range list {
		there[s.Name] = true
		was, told := before.Names[s.Name]
		switch {
		case told && (was == "" || was == hash(skill.Words(s))):
		case !told && before.Left > 0 && (known == nil || known[s.Name]):
		default:
			fresh = append(fresh, s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.Names)) {
		if !there[name] {
			gone = append(gone, name)
		}
	}
	return fresh, gone
}

// SuggestedSkills returns the announcement of skills that may help, one per line. tool runs
// them.
func SuggestedSkills(l texts.Language, tool string, lines []string) string {
	return msg.Neutralise(catalogText(l, "skills.suggested", tool) + "\n" + strings.Join(lines, "\n"))
}
