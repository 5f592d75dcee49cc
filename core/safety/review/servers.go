package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/routines"
)

const (
	// serversFile is the file of the MCP servers, in the data directory.
	serversFile = ".mcp.json"
	// toolsPrefix, followed by the name of a server, is the ID of a change to its tools in
	// command.AllowTask. The tools' own names begin with it.
	toolsPrefix = "mcp__"
	// toolsPause is the minimum time between two cards about one server, which may change its
	// tools as often as it likes.
	toolsPause = time.Hour
)

// Servers is the file of the MCP servers. The agent's text is not written to it before the user
// allows it.
type Servers interface {
	// Proposal returns the edit that is waiting; its version is empty if there is none.
	Proposal() routines.Proposal
	Allow(version string) error
	Refuse(version string) error
}

// Tools are the tools of the MCP servers. A new or changed one is not used before the user allows
// it.
type Tools interface {
	// Offered returns the changes that are waiting, by server.
	Offered() map[string]routines.Proposal
	AllowTools(server, version string) error
	RefuseTools(server, version string) error
}

// ofServers reports whether an ID belongs to the MCP servers.
func ofServers(id string) bool { return id == serversFile || strings.HasPrefix(id, toolsPrefix) }

// JudgeServers checks again which changes of the MCP servers are waiting, and notifies the user of
// new ones.
func (d *Desk) JudgeServers() { d.ServersEdited(policy.Writer{}) }

// ServersEdited is JudgeServers after a session has edited the servers' file.
func (d *Desk) ServersEdited(w policy.Writer) {
	for _, note := range d.announceServers(w) {
		d.o.Note(note)
	}
	d.Settle()
	d.o.Changed()
}

// announceServers queues the cards of new changes, and returns the notes about them.
func (d *Desk) announceServers(w policy.Writer) (notes []string) {
	d.judging.Lock()
	defer d.judging.Unlock()
	now := d.offered()
	before := d.servers.Swap(&now)
	for _, h := range d.heldServers() {
		if (*before)[h.file].Version == now[h.file].Version {
			continue
		}
		h.talked = w.Talks() && h.file == serversFile
		if note := d.announce(h); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// readServers takes what is waiting now as known.
func (d *Desk) readServers() {
	now := d.offered()
	d.servers.Store(&now)
}

// offered returns the changes that are waiting now, by ID.
func (d *Desk) offered() map[string]routines.Proposal {
	now := map[string]routines.Proposal{}
	if p := d.o.Servers.Proposal(); p.Version != "" {
		now[serversFile] = p
	}
	for server, p := range d.o.Tools.Offered() {
		now[toolsPrefix+server] = p
	}
	return now
}

// announce queues the card of a change that has just started to wait, and returns the note about
// it, or "" if the server has had one within the hour.
func (d *Desk) announce(h held) (note string) {
	if h.task.Proposed.What == "" {
		d.cards.put(h, time.Time{})
		return fmt.Sprintf(textEditWaits, h.file, h.why)
	}
	due := d.cards.turn(h, time.Now())
	d.cards.put(h, due)
	if due.IsZero() {
		return h.task.Proposed.Text + textWhereAllowed
	}
	return ""
}

// heldServers returns the waiting changes of the servers, in the form of a task's edit.
func (d *Desk) heldServers() (list []held) {
	all := *d.servers.Load()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, d.heldTask(routines.Task{Path: id, Description: id, Proposed: all[id]}))
	}
	return list
}

// decideServers allows or refuses the change that is waiting under an ID. Only a refusal may leave
// out its version.
func (d *Desk) decideServers(id, version string, allow bool) (command.Outcome, error) {
	p, ok := d.offered()[id]
	server, tools := strings.CutPrefix(id, toolsPrefix)
	if !ok && tools && allow && version != "" { // a change that was refused before
		p, ok = routines.Proposal{Version: version, What: fmt.Sprintf(textToolsOf, server)}, true
	}
	switch {
	case !ok && tools:
		return command.Outcome{}, fmt.Errorf(textNoTools, server)
	case !ok:
		return command.Outcome{}, fmt.Errorf(textNoServers, routines.Named(id))
	case version != p.Version && (allow || version != ""):
		return command.Outcome{}, fmt.Errorf(textOtherVersion, routines.Named(id))
	}
	do := map[bool]func(version string) error{true: d.o.Servers.Allow, false: d.o.Servers.Refuse}[allow]
	said := map[bool]string{true: fmt.Sprintf(textEditAllowed, routines.Named(id)), false: fmt.Sprintf(textEditRefused, routines.Named(id))}[allow]
	if tools {
		decide := map[bool]func(server, version string) error{true: d.o.Tools.AllowTools, false: d.o.Tools.RefuseTools}[allow]
		do = func(version string) error { return decide(server, version) }
		said = fmt.Sprintf(map[bool]string{true: textToolsAllowed, false: textToolsRefused}[allow], server)
	}
	err := do(p.Version)
	d.JudgeServers()
	if err != nil {
		return command.Outcome{}, err
	}
	if !tools { // it is the agent's own edit
		d.o.Tell(fmt.Sprintf(map[bool]string{true: toldAllowed, false: toldRefused}[allow], id))
	}
	action := map[bool]string{true: audit.TaskReleased, false: audit.TaskRefused}[allow]
	out := command.Outcome{Message: said, Decision: audit.Entry{Action: action, Subject: id, Detail: p.What}}
	if tools && !allow {
		out.Undo = command.AllowTask{ID: id, Version: p.Version}
	}
	return out, nil
}
