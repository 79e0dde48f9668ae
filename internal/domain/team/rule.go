package team

import (
	"errors"
	"fmt"
)

// direction restricts the sender and recipient of a kind of message.
type direction int

const (
	anyway   direction = iota
	fromLead           // lead to teammate
	toLead             // teammate to lead
	toSelf             // lead's program to lead
)

func (k Kind) direction() direction {
	switch k {
	case kindShutdownRequest, kindPlanResponse, kindPermissionResponse, kindModeSet:
		return fromLead
	case kindShutdownApproved, kindShutdownRejected, kindPlanRequest, kindPermissionRequest, kindIdle:
		return toLead
	case kindLost:
		return toSelf
	}
	return anyway
}

// May returns the reason a member may not send a message to another, or nil. It is checked on
// sending and, because other programs can write the file, again on reading.
func (t *Team) May(from, to string, b Body) error {
	if t.Member(from) == nil {
		return fmt.Errorf("%q is not in the team", clip(from))
	}
	if t.Member(to) == nil {
		return t.unknown(to, from)
	}
	if b == nil {
		return nil
	}
	switch d := b.kind().direction(); {
	case d == fromLead && (from != Lead || to == Lead):
		return fmt.Errorf("only the lead sends %s, to a teammate", b.kind())
	case d == toLead && (from == Lead || to != Lead):
		return fmt.Errorf("only a teammate sends %s, to the lead", b.kind())
	case d == toSelf && (from != Lead || to != Lead):
		return fmt.Errorf("no member sends %s", b.kind())
	}
	return nil
}

// answers returns the id and kind of the request that a message answers, or "" if it answers
// none.
func answers(b Body) (request string, kind Kind) {
	switch b := b.(type) {
	case *ShutdownApproved:
		return b.Request, kindShutdownRequest
	case *ShutdownRejected:
		return b.Request, kindShutdownRequest
	case *PlanResponse:
		return b.Request, kindPlanRequest
	case *PermissionResponse:
		return b.Request, kindPermissionRequest
	}
	return "", ""
}

// requests returns the id of the request that a message makes, or "".
func requests(b Body) string {
	switch b := b.(type) {
	case *ShutdownRequest:
		return b.Request
	case *PlanRequest:
		return b.Request
	case *PermissionRequest:
		return b.Request
	}
	return ""
}

var errBroadcast = errors.New("only text can be sent to everyone; send requests and answers to one member at a time")
