package sandbox

import (
	"errors"
	"os"
)

// seatbelt is the program that applies a sandbox profile.
const seatbelt = "/usr/bin/sandbox-exec"

func candidates() []candidate { return []candidate{{Seatbelt, lookSeatbelt}} }

func lookSeatbelt(*Sandbox) (*detectedTier, error) {
	if _, err := os.Stat(seatbelt); err != nil {
		return nil, errors.New(seatbelt + " is not there")
	}
	return &detectedTier{tier: Seatbelt, lacks: []string{trySignal}, detail: "seatbelt (" + seatbelt + ")", confine: confineSeatbelt}, nil
}

func confineSeatbelt(s *Sandbox, p *policy, net *netAccess, c Command) Command {
	env := insideEnv(c.Env, p, net)
	args := []string{"-p", profile(p, net.proxy)}
	if c.try != nil {
		helper, err := s.helper()
		if err != nil {
			return Command{err: err}
		}
		text, err := c.try.encode()
		if err != nil {
			return Command{err: err}
		}
		return Command{Path: seatbelt, Args: append(args, helper, HelperArg, text), Dir: c.Dir, Env: env}
	}
	return Command{Path: seatbelt, Args: append(append(args, c.Path), c.Args...), Dir: c.Dir, Env: env}
}
