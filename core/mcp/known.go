package mcp

import (
	"cmp"
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
		one := records[s.Name]
		now := live{status: one.Status, text: one.Text}
		if !one.Of(s) {
			if one = (Record{}); now.status != Failed {
				now = live{text: textNotAsked}
			}
		}
		list = append(list, s.state(one, now))
	}
	return list, problems, nil
}

// live is what neither the file nor the tools of a server say. A command without the bot takes
// status and text from the record.
type live struct {
	status Status // only Starting, Failed and Ready count
	text   string // why it failed, or a remark
	asks   bool
	calls  []Call
}

// state is what is known of a server; one is its record, or empty.
func (s Server) state(one Record, now live) State {
	st := State{
		Name: s.Name, Where: s.where, Status: Idle, Text: now.text, Tools: len(one.Tools), Waiting: len(one.Waiting()), Trusted: s.Trusted,
		Asks: now.asks, Hosts: s.hosts(), Calls: now.calls,
	}
	switch {
	case s.Disabled:
		st.Status, st.Text = Off, ""
		return st
	case now.status == Failed:
		st.Status = Failed
		return st
	case now.status == Starting:
		st.Status = Starting
	case st.Waiting > 0:
		st.Status = Waiting
	case now.status == Ready:
		st.Status = Ready
	}
	st.Text = cmp.Or(one.differs(), st.Text)
	return st
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
