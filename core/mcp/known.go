package mcp

import (
	"fmt"

	"ollimbot/core/base/words"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Known returns the servers of a data directory with their last known states, for
// commands without the bot.
func Known(dir *store.Dir, lookup Lookup) ([]State, []routines.Problem, error) {
	servers, problems, err := Read(dir, lookup)
	if err != nil {
		return nil, nil, err
	}
	records, err := Records(dir)
	if err != nil {
		return nil, nil, err
	}
	var list []State
	for _, s := range servers {
		st := State{Name: s.Name, Where: s.where, Status: Idle, Trusted: s.Trusted, Hosts: s.hosts(), Text: textNotAsked}
		if one, ok := records[s.Name]; ok {
			if one.Status == Failed {
				st.Status, st.Text = one.Status, one.Text
			}
			if one.Of(s) {
				st.Status, st.Text, st.Tools, st.Waiting = one.Status, one.Text, len(one.Tools), len(one.Waiting())
			}
		}
		if s.Disabled {
			st.Status, st.Text = Off, ""
		}
		list = append(list, st)
	}
	return list, problems, nil
}

// Of reports whether the record belongs to the server as currently configured.
func (r Record) Of(s Server) bool { return r.Source == s.source }

// Unreached reports each server whose list of hosts has no effect. It inspects the
// sandbox only if there is such a list.
func Unreached(list []State, look func() sandbox.State) (said []string) {
	for _, s := range list {
		if !s.Hosts || s.Status == Off {
			continue
		}
		if box := look(); box.Kind != sandbox.Bubblewrap && box.Kind != sandbox.None {
			said = append(said, fmt.Sprintf(textUnreached, s.Name, box.Kind))
		}
	}
	return said
}

// String describes the server in one line.
func (s State) String() string {
	text := fmt.Sprintf("%s: %s, %s", s.Name, s.Status, words.Count(s.Tools, "tool"))
	if s.Trusted {
		text += textTrusted
	}
	if s.Text != "" {
		text += "; " + s.Text
	}
	return text + " (" + s.Where + ")"
}

const (
	textNotAsked = "it was not asked for its tools yet"
	textTrusted  = ", trusted"

	textUnreached = "%s: its network list opens nothing, because %s knows no hosts: install bubblewrap"
)
