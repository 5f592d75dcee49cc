// Package mcp is the bot as a host of MCP servers: it reads .mcp.json, keeps one process or
// connection per server for the whole bot, and gives their tools to the sessions of every
// engine as agent.Tool. It must not know which engine or session calls a tool, nor whether it
// may: package policy decides that, and the label of a result.
//
// # What a server can do to the bot
//
// A server is somebody else's program. It starts when it is first needed, in the sandbox, with
// the environment that it is given and no network but the hosts that are listed for it. What it
// says is cleaned and limited. Its tools are as it first listed them: one that is new or has
// changed waits for the user, because a description is read by the model as an instruction.
package mcp

import (
	"time"

	"ollimbot/core/storage/store"
)

const (
	// File is the user's file with the servers, in the data directory.
	File = ".mcp.json"
	// RecordFile keeps the tools of each server, and what was last known of it.
	RecordFile = store.StateDir + "/mcp.json"
	// folder has a folder for each server's own files, and logs.
	folder = store.StateDir + "/mcp"
)

// Status is the state of a server in one word.
type Status string

// The states.
const (
	Idle     Status = "idle"     // it starts when it is needed
	Starting Status = "starting" // it is started, or connected to
	Ready    Status = "ready"    // it runs
	Waiting  Status = "waiting"  // tools of it wait for the user
	Failed   Status = "failed"   // it could not be started, or has ended
	Off      Status = "off"      // the user has switched it off
)

// State is what is known of a server.
type State struct {
	Name   string
	Where  string // its command line or address, without secrets
	Status Status
	Text   string // a sentence; empty if there is nothing to say
	Tools  int    // in force
	// Waiting are tools that are new or have changed.
	Waiting int
	Trusted bool
	Asks    bool // for a login
	// Hosts says that the file lists hosts for its program.
	Hosts bool
	// Calls are the last ones, oldest first. Commands beside the bot know none.
	Calls []Call
}

// Call is a call of a tool that has ended.
type Call struct {
	At   time.Time // its begin
	Tool string
	Took time.Duration
	// Text is why it failed, one line; empty if it did not.
	Text string
}
