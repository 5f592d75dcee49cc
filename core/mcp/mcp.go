// Package mcp makes the bot a host of MCP servers: it reads .mcp.json, keeps one process
// or connection per server for the whole bot, and provides their tools to the sessions of
// every engine as agent.Tool. It must not know which engine or session calls a tool, nor
// whether it may: package policy decides that, and the label of a result.
//
// # What a server can do to the bot
//
// A server is third-party code. It starts on first use, in the sandbox, with the
// environment it is given and network access only to the hosts listed for it. Its output
// is cleaned and limited. Its tools are approved as first listed: a new or changed tool
// needs the user's approval, because the model reads a description as an instruction.
package mcp

import (
	"time"

	"ollimbot/core/storage/store"
)

const (
	// File is the user's file with the servers, in the data directory.
	File = ".mcp.json"
	// RecordFile stores the tools of each server, and its last known state.
	RecordFile = store.StateDir + "/mcp.json"
	// folder contains a folder for each server's own files, and the logs.
	folder = store.StateDir + "/mcp"
)

// Status is the state of a server in one word.
type Status string

// The states.
const (
	Idle     Status = "idle"     // starts on demand
	Starting Status = "starting" // being started, or connected to
	Ready    Status = "ready"    // running
	Waiting  Status = "waiting"  // some of its tools need approval
	Failed   Status = "failed"   // could not be started, or has ended
	Off      Status = "off"      // switched off by the user
)

// State is the known state of a server.
type State struct {
	Name   string `json:"name"`
	Where  string `json:"where"` // its command line or address, without secrets
	Status Status `json:"status"`
	Text   string `json:"text,omitempty"` // a sentence
	Tools  int    `json:"tools"`          // approved tools
	// Waiting is the number of new or changed tools.
	Waiting int  `json:"waiting"`
	Trusted bool `json:"trusted"`
	Asks    bool `json:"-"` // requires a login
	// Hosts means that the file lists hosts for its program.
	Hosts bool `json:"-"`
	// Calls are the last calls, oldest first. Empty in commands without the bot.
	Calls []Call `json:"-"`
}

// MarshalJSON implements json.Marshaler: the state, with a field that says no more than its status.
func (s State) MarshalJSON() ([]byte, error) {
	type plain State
	return store.JSONLine(struct {
		plain
		Disabled bool `json:"disabled"`
	}{plain(s), s.Status == Off})
}

// Call is a finished call of a tool.
type Call struct {
	At   time.Time // its start
	Tool string
	Took time.Duration
	// Text is why it failed, one line; empty on success.
	Text string
}
