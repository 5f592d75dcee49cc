package review

import (
	"fmt"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines"
)

// serversFile is the file of the MCP servers, in the data directory.
const serversFile = ".mcp.json"

// ServersWait reports an edit of the MCP servers' file that has just started to wait.
func (d *Desk) ServersWait() {
	d.judgeServers()
	if t, ok := d.serverEdit(); ok {
		d.cards.put(d.heldTask(t))
		d.o.Note(fmt.Sprintf(textEditWaits, serversFile, t.Proposed.Why))
	}
	d.o.Changed()
}

// JudgeServers checks again whether an edit of the MCP servers' file is waiting.
func (d *Desk) JudgeServers() {
	d.judgeServers()
	d.Settle()
	d.o.Changed()
}

func (d *Desk) judgeServers() {
	p := d.o.Servers.Proposal()
	d.server.Store(&p)
}

// serverEdit returns the edit that is waiting, in the form of a task's.
func (d *Desk) serverEdit() (t routines.Task, ok bool) {
	p := *d.server.Load()
	return routines.Task{Path: serversFile, Description: serversFile, Proposed: p}, p.Version != ""
}

// serverProblems returns the edit as a list of problems.
func (d *Desk) serverProblems() []routines.Problem {
	t, ok := d.serverEdit()
	if !ok {
		return nil
	}
	return []routines.Problem{d.heldTask(t).problem()}
}

// decideServers allows or refuses the edit that is waiting. An empty version means any.
func (d *Desk) decideServers(version string, do func(version string) error, text, action string) (command.Outcome, error) {
	d.judgeServers()
	t, ok := d.serverEdit()
	switch {
	case !ok:
		return command.Outcome{}, fmt.Errorf(textNoServers, serversFile)
	case version != "" && version != t.Proposed.Version:
		return command.Outcome{}, fmt.Errorf(textOtherVersion, serversFile)
	}
	err := do(t.Proposed.Version)
	d.JudgeServers()
	if err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Message: fmt.Sprintf(text, serversFile), Decision: audit.Entry{Action: action, Subject: serversFile}}, nil
}
