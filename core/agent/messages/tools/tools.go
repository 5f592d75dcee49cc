// Package tools owns the model's own tools where the bot speaks the Messages API
// itself: Read, Write, Edit, Glob, Grep, Bash, WebFetch, WebSearch, Skill, Agent
// and TodoWrite. Their names and input fields are those of the claude command,
// because the rules of package policy judge calls by them.
//
// A Box is made for each session. It must not know rules, hooks, requests or
// sessions: whoever calls a tool has asked the session's hooks before.
package tools

import (
	"context"
	"encoding/json"
	"os/exec"

	"ollimbot/core/agent"
)

// Options of a Box.
type Options struct {
	// Dir is where relative paths count from and commands begin: the data directory,
	// absolute.
	Dir string
	// Env is what commands get of the environment, as NAME=value; nil is os.Environ.
	// Only harmless names of it pass, and what control.Token.Env says, which belongs
	// in here.
	Env []string
	// Sandbox puts a command into its fence before it starts: sandbox.Box.Command.
	// done is called after its end. Nil is none.
	Sandbox func(*exec.Cmd) (done func())
	// Judge is asked about a path that has turned out to lead elsewhere than it
	// says: u is the call with the real path in it. A refusal is what the model is
	// told. The session's PreTool hook belongs here; nil refuses nothing.
	Judge func(ctx context.Context, u agent.ToolUse) (refusal string)
	// Agent runs a subagent to its end and answers with its last words. Nil answers
	// that there are none.
	Agent func(ctx context.Context, s Subagent) Result
	// Search asks the provider to search the web. It sends a request of its own, with
	// Query.Definition as its only tool: a server tool in the session's own requests
	// would search without asking the rules. Nil leaves WebSearch out.
	Search func(ctx context.Context, q Query) Result
}

// Tool is one tool of a session.
type Tool struct {
	Name        string          // as on the wire and in hooks: "Read"
	Description string          // constant: it is part of the cached prefix
	Schema      json.RawMessage // JSON Schema of the input, an object; constant too
	// Alone says that a call changes something: of one message's calls it runs by
	// itself, in their order. Others may run at the same time.
	Alone bool
	// Call runs the tool and ends early with ctx. It does not panic on any input.
	Call func(ctx context.Context, args json.RawMessage) Result
}

// Result is what a call gives to the model: a text, then what cannot be text. A
// mistake of the model, and what the system refuses, is a Result too, with a text
// that says what to do.
type Result struct {
	Text      string // cleaned, cut to what a message may hold; may be empty
	Images    []agent.Image
	Documents []Document
	IsError   bool
}

// Document is a file that the model reads as it is.
type Document struct {
	Title     string // the file's name
	MediaType string // "application/pdf"
	Data      []byte
}

// Subagent is a piece of work for a session of its own.
type Subagent struct {
	Type   string // as the call names it; "general-purpose" where it names none
	About  string // three to five words
	Prompt string // what it is to do
	System string // the text of its file in .claude/agents; empty for general-purpose
	Model  string // by its file; empty is the session's
	// Tools are patterns, as lists of tools have them, of what it may use at most; nil
	// is what the session may.
	Tools []string
}

// Query is a search of the web.
type Query struct {
	Text           string
	Allowed, Block []string // domains: only these, or all but these; one of them is empty
}

// Box holds the tools of one session, and what they remember: which files were
// read, where commands work. Its methods and tools may be used concurrently.
type Box struct {
	o     Options
	tools []Tool
}

// New makes the tools of a session. It starts nothing.
func New(o Options) *Box {
	return &Box{o: o}
}

// Tools are all tools, in the order of their names: for equal providers the same
// bytes in every session.
func (b *Box) Tools() []Tool { return b.tools }

// Close ends the commands that still run, and waits for them. Calls after it are
// refused. It is idempotent.
func (b *Box) Close() error { return nil }
