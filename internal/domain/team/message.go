package team

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// MaxText is the maximum size of a message's text, in bytes.
	MaxText = 32 << 10
	// maxBody is the maximum size of a message's body, in bytes.
	maxBody = 256 << 10
	// maxSummary is the maximum length of a summary, in characters.
	maxSummary = 200
)

// A Message is a message between members. The program sets the sender, never a model.
type Message struct {
	ID      string    `json:"id"`
	From    string    `json:"from"`
	Time    time.Time `json:"time"`
	Read    bool      `json:"read"`
	Color   string    `json:"color,omitempty"`
	Summary string    `json:"summary,omitempty"`
	Text    string    `json:"text,omitempty"`
	Kind    Kind      `json:"kind,omitempty"`
	// Body is nil in a text-only message.
	Body Body `json:"-"`
}

// A Kind is the type of a message's body; empty means text only.
type Kind string

// A Body is a structured message that programs act on: a pointer to a type below.
type Body interface {
	kind() Kind
	// check returns an error if the body is incomplete.
	check() error
}

// Body types.
type (
	// ShutdownRequest asks a teammate to shut down.
	ShutdownRequest struct {
		Request string `json:"request"`
		Reason  string `json:"reason,omitempty"`
	}

	// ShutdownApproved announces that the teammate shuts down.
	ShutdownApproved struct {
		Request string `json:"request"`
	}

	// ShutdownRejected gives the reason the teammate does not shut down.
	ShutdownRejected struct {
		Request string `json:"request"`
		Reason  string `json:"reason"`
	}

	// PlanRequest asks the lead to approve a plan.
	PlanRequest struct {
		Request string `json:"request"`
		Plan    string `json:"plan"`
		Path    string `json:"path,omitempty"`
	}

	// PlanResponse answers PlanRequest. Mode is the permission mode for the work that follows.
	PlanResponse struct {
		Request  string `json:"request"`
		Approved bool   `json:"approved"`
		Feedback string `json:"feedback,omitempty"`
		Mode     string `json:"mode,omitempty"`
	}

	// PermissionRequest asks the user, at the lead's front end, whether a call may run.
	PermissionRequest struct {
		Request string `json:"request"`
		Question
	}

	// PermissionResponse answers PermissionRequest. Updates change the teammate's permissions
	// from then on.
	PermissionResponse struct {
		Request   string          `json:"request"`
		Allowed   bool            `json:"allowed"`
		Input     json.RawMessage `json:"input,omitempty"`
		Updates   json.RawMessage `json:"updates,omitempty"`
		Message   string          `json:"message,omitempty"`
		Interrupt bool            `json:"interrupt,omitempty"`
	}

	// ModeSet sets a teammate's permission mode.
	ModeSet struct {
		Mode string `json:"mode"`
	}

	// TaskAssignment assigns a task from the list to a teammate.
	TaskAssignment struct {
		Task        string `json:"task"`
		Subject     string `json:"subject,omitempty"`
		Description string `json:"description,omitempty"`
	}

	// Idle tells the lead that a teammate has nothing to do. Sent is its last message to
	// others.
	Idle struct {
		Reason string   `json:"reason"`
		Sent   []string `json:"sent,omitempty"`
	}

	// Lost tells the lead that a teammate has ended unexpectedly, and which tasks it leaves.
	Lost struct {
		Member string   `json:"member"`
		Reason string   `json:"reason"`
		Tasks  []string `json:"tasks,omitempty"`
	}
)

// A Question is a call that needs the user's decision.
type Question struct {
	Tool        string          `json:"tool"`
	Title       string          `json:"title"`
	DisplayName string          `json:"displayName,omitempty"`
	Command     string          `json:"command,omitempty"`
	About       string          `json:"about,omitempty"`
	Consent     string          `json:"consent,omitempty"`
	Server      string          `json:"server,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	BlockedPath string          `json:"blockedPath,omitempty"`
	Suggestions json.RawMessage `json:"suggestions,omitempty"`
	Preview     string          `json:"preview,omitempty"`
	// Changes are the resulting file changes; empty if unknown.
	Changes     json.RawMessage `json:"changes,omitempty"`
	NeedsPerson bool            `json:"needsPerson,omitempty"`
	Firm        bool            `json:"firm,omitempty"`
	Dir         string          `json:"dir,omitempty"`
	Warning     string          `json:"warning,omitempty"`
}

// Kind names.
const (
	kindShutdownRequest    Kind = "shutdown_request"
	kindShutdownApproved   Kind = "shutdown_approved"
	kindShutdownRejected   Kind = "shutdown_rejected"
	kindPlanRequest        Kind = "plan_approval_request"
	kindPlanResponse       Kind = "plan_approval_response"
	kindPermissionRequest  Kind = "permission_request"
	kindPermissionResponse Kind = "permission_response"
	kindModeSet            Kind = "mode_set"
	kindTaskAssignment     Kind = "task_assignment"
	kindIdle               Kind = "idle"
	kindLost               Kind = "teammate_lost"
)

func (*ShutdownRequest) kind() Kind    { return kindShutdownRequest }
func (*ShutdownApproved) kind() Kind   { return kindShutdownApproved }
func (*ShutdownRejected) kind() Kind   { return kindShutdownRejected }
func (*PlanRequest) kind() Kind        { return kindPlanRequest }
func (*PlanResponse) kind() Kind       { return kindPlanResponse }
func (*PermissionRequest) kind() Kind  { return kindPermissionRequest }
func (*PermissionResponse) kind() Kind { return kindPermissionResponse }
func (*ModeSet) kind() Kind            { return kindModeSet }
func (*TaskAssignment) kind() Kind     { return kindTaskAssignment }
func (*Idle) kind() Kind               { return kindIdle }
func (*Lost) kind() Kind               { return kindLost }

func (b *ShutdownRequest) check() error    { return checkRequest(b.Request) }
func (b *ShutdownApproved) check() error   { return checkRequest(b.Request) }
func (b *ShutdownRejected) check() error   { return checkRequest(b.Request) }
func (b *PlanRequest) check() error        { return checkRequest(b.Request) }
func (b *PlanResponse) check() error       { return checkRequest(b.Request) }
func (b *PermissionResponse) check() error { return checkRequest(b.Request) }
func (b *PermissionRequest) check() error {
	return errors.Join(checkRequest(b.Request), required("tool", b.Tool))
}
func (b *ModeSet) check() error        { return required("mode", b.Mode) }
func (b *TaskAssignment) check() error { return required("task", b.Task) }
func (b *Idle) check() error           { return nil }
func (b *Lost) check() error           { return required("member", b.Member) }

func required(field, value string) error {
	if value == "" {
		return fmt.Errorf("it has no %s", field)
	}
	return nil
}

// checkRequest returns an error if a request id is invalid.
func checkRequest(id string) error {
	if len(id) > 64 || !safe(id) {
		return fmt.Errorf("%q is not a request id", clip(id))
	}
	return nil
}

// newBody returns an empty body of a kind, or nil for an unknown kind.
func newBody(k Kind) Body {
	switch k {
	case kindShutdownRequest:
		return &ShutdownRequest{}
	case kindShutdownApproved:
		return &ShutdownApproved{}
	case kindShutdownRejected:
		return &ShutdownRejected{}
	case kindPlanRequest:
		return &PlanRequest{}
	case kindPlanResponse:
		return &PlanResponse{}
	case kindPermissionRequest:
		return &PermissionRequest{}
	case kindPermissionResponse:
		return &PermissionResponse{}
	case kindModeSet:
		return &ModeSet{}
	case kindTaskAssignment:
		return &TaskAssignment{}
	case kindIdle:
		return &Idle{}
	case kindLost:
		return &Lost{}
	}
	return nil
}

// wire is the file format of a message with its body.
type wire struct {
	plain
	Body json.RawMessage `json:"body,omitempty"`
}

// plain is a Message without methods.
type plain Message

// MarshalJSON implements [json.Marshaler], including the body.
func (m Message) MarshalJSON() ([]byte, error) {
	w := wire{plain: plain(m)}
	if m.Body == nil {
		w.Kind = ""
		return json.Marshal(w)
	}
	w.Kind = m.Body.kind()
	body, err := json.Marshal(m.Body)
	if err != nil {
		return nil, err
	}
	w.Body = body
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler]. It rejects a message that can't have been sent.
func (m *Message) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	got := Message(w.plain)
	if got.ID == "" || !safe(got.From) {
		return errors.New("it has no id or no sender")
	}
	if w.Kind != "" {
		if got.Body = newBody(w.Kind); got.Body == nil {
			return fmt.Errorf("unknown message kind %q", clip(string(w.Kind)))
		}
		if err := json.Unmarshal(w.Body, got.Body); err != nil {
			return fmt.Errorf("its body cannot be read: %w", err)
		}
	}
	if err := got.bounds(len(w.Body)); err != nil {
		return err
	}
	*m = got
	return nil
}

// bounds returns an error if a message's size or body is invalid.
func (m *Message) bounds(body int) error {
	switch {
	case len(m.Text) > MaxText:
		return fmt.Errorf("the text is longer than %d KB: write it to a file and send the path", MaxText>>10)
	case body > maxBody:
		return fmt.Errorf("the message is larger than %d KB", maxBody>>10)
	case len([]rune(m.Summary)) > maxSummary:
		return fmt.Errorf("the summary is longer than %d characters", maxSummary)
	case m.Body != nil:
		return m.Body.check()
	}
	return nil
}
