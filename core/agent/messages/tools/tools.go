// Package tools owns the model's own tools for engines that speak the Messages API themselves:
// Read, Write, Edit, Glob, Grep, Bash, WebFetch, WebSearch, Skill, Agent and TodoWrite. Their names
// and input fields are those of the claude command, because package policy checks calls by them.
//
// Each session has its own Box. The package must not know rules, hooks, requests or sessions: the
// caller of a tool has already run the session's hooks.
package tools

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/schema"
	"ollimbot/core/base/web"
	"ollimbot/core/storage/store"
)

// Options configure a Box.
type Options struct {
	// Dir is the data directory, absolute: relative paths and commands start there.
	Dir string
	// Env is the environment of commands, as NAME=value; nil means os.Environ. Only harmless names
	// pass, and those of control.Token.Env, which must be in it.
	Env []string
	// Sandbox sandboxes a command before it starts: sandbox.Box.CommandIn. tmp is for files that
	// later commands need; done is called after the end. Nil means no sandbox.
	Sandbox func(tmp string, cmd *exec.Cmd) (done func())
	// Sight returns what the sandbox shows: sandbox.Box.Sight. It is called for each call of a file
	// tool, because those run outside the sandbox. The paths are real. If nil, everything is
	// visible.
	Sight func() (sees func(path string, write bool) bool)
	// Judge checks a path that resolves to a different place than it names: u is the call with the
	// real path, without an ID. The model reads the refusal. Judge applies the session's hook and
	// permission callback, so it may block while the user decides. If nil, nothing is refused.
	Judge func(ctx context.Context, u agent.ToolUse) (refusal string)
	// Agent runs a subagent to its end and returns its last message. If nil, there are no
	// subagents.
	Agent func(ctx context.Context, s Subagent) Result
	// Search asks the provider to search the web in a separate request, with Query.Definition as
	// its only tool: a server tool in the session's own requests would bypass the rules. If nil,
	// WebSearch is left out.
	Search func(ctx context.Context, q Query) Result
}

// Tool is one tool of a session.
type Tool struct {
	Name        string          // as on the wire and in hooks: "Read"
	Description string          // constant: it is part of the cached prefix
	Schema      json.RawMessage // JSON Schema of the input, an object; constant too
	// Alone means that calls change something: among one message's calls they run by themselves, in
	// order. Others run concurrently.
	Alone bool
	// Call runs an approved call of the tool and returns early if ctx ends. It does not panic on any
	// input.
	Call func(ctx context.Context, a agent.Approved) Result
}

// Result is what the model gets from a call: a text, plus anything that cannot be text. Mistakes of
// the model and refusals of the system are Results too, with a text that says what to do.
type Result struct {
	Text      string // valid UTF-8, cut to a message's limit, may be empty; clean it before showing it
	Images    []agent.Image
	Documents []Document
	IsError   bool
}

// Document is a file that the model reads in its own format.
type Document struct {
	Title     string // the file's name
	MediaType string // "application/pdf"
	Data      []byte
}

// Box contains the tools of one session and their memory: which files were read and where commands
// run. Its methods and tools may be called concurrently.
type Box struct {
	o    Options
	dir  *store.Dir
	real string // Dir without links

	shell shell
	web   *http.Client

	mu   sync.Mutex
	seen map[string]seen // by real path
}

// New creates the tools of a session and starts nothing.
func New(o Options) *Box {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Sandbox == nil {
		o.Sandbox = func(string, *exec.Cmd) func() { return func() {} }
	}
	if o.Sight == nil {
		o.Sight = func() func(string, bool) bool { return func(string, bool) bool { return true } }
	}
	if o.Judge == nil {
		o.Judge = func(context.Context, agent.ToolUse) string { return "" }
	}
	b := &Box{o: o, real: o.Dir, seen: map[string]seen{}, web: client(dialer(web.Public))}
	if plain, ok := store.Follow(o.Dir); ok {
		b.real = plain
	}
	b.dir, _ = store.At(o.Dir) // an absolute path always names one
	return b
}

// maxArgs limits the input of one call, in bytes.
const maxArgs = 4 << 20

//go:embed schemas
var schemas embed.FS

// kind is the session-independent part of a tool. Its handler gets arguments that match the schema;
// its errors are shown to the model.
type kind struct {
	name, about string
	alone       bool
	handle      func(b *Box, ctx context.Context, c call) (Result, error)
}

// call is one call with its arguments.
type call struct {
	schema.Arguments
	tool string
}

// formerAgent is an older name of Agent.
const formerAgent = "Task"

// kinds returns all tools, sorted by name.
func kinds() []kind {
	return []kind{
		{"Agent", aboutAgent, false, (*Box).agent},
		{"Bash", aboutBash, true, (*Box).bash},
		{"Edit", aboutEdit, true, (*Box).edit},
		{"Glob", aboutGlob, false, (*Box).glob},
		{"Grep", aboutGrep, false, (*Box).grep},
		{"Read", aboutRead, false, (*Box).read},
		{"Skill", aboutSkill, true, (*Box).skill},
		{"TodoWrite", aboutTodo, true, (*Box).writeTodo},
		{"WebFetch", aboutFetch, false, (*Box).fetch},
		{"WebSearch", aboutSearch, false, (*Box).search},
		{"Write", aboutWrite, true, (*Box).write},
	}
}

// Tools returns all tools, sorted by name. With equal providers, the bytes are the same in every
// session.
func (b *Box) Tools() []Tool {
	var list []Tool
	for _, k := range kinds() {
		if k.name == "WebSearch" && b.o.Search == nil {
			continue
		}
		text, err := schemas.ReadFile("schemas/" + k.name + ".json")
		if err != nil { // the files are embedded
			panic(err)
		}
		list = append(list, Tool{
			Name: k.name, Description: k.about, Schema: text, Alone: k.alone,
			Call: func(ctx context.Context, a agent.Approved) Result { return b.call(ctx, k, text, a) },
		})
	}
	return list
}

// call runs a tool. A panic becomes an error result.
func (b *Box) call(ctx context.Context, k kind, text []byte, a agent.Approved) (r Result) {
	defer fault.Rescue("the tool "+k.name, func(err *fault.Error) { r = failed(fmt.Errorf(textFault, k.name, err.Kind())) })
	if name := a.Use().Name; name != k.name && (name != formerAgent || k.name != "Agent") {
		return failed(fmt.Errorf(textOtherCall, k.name))
	}
	s, err := schema.Read(text)
	if err != nil {
		return failed(err)
	}
	fields, problem := s.Arguments(k.name, a.Input(), maxArgs)
	if problem != "" {
		return Result{Text: problem, IsError: true}
	}
	if ctx.Err() != nil {
		return failed(errors.New(textInterrupted))
	}
	if r, err = k.handle(b, ctx, call{fields, k.name}); err != nil {
		return failed(err)
	}
	return r
}

// failed returns an error in the form for the model.
func failed(err error) Result {
	return Result{Text: "Error: " + clean.Text(err.Error()), IsError: true}
}

// Close ends the running commands and waits for them. Later calls of Bash are refused. It is
// idempotent.
func (b *Box) Close() error { return b.shell.close() }

// todo is one item of the model's list.
type todo struct{ content, status string }

// writeTodo returns the list, so that it stays visible to the model in a long turn.
func (*Box) writeTodo(_ context.Context, c call) (Result, error) {
	var list []todo
	busy := 0
	for _, one := range c.List("todos") {
		t := todo{clean.Cut(clean.Line(one.Text("content")), maxShown), one.Text("status")}
		if t.status == "in_progress" {
			busy++
		}
		list = append(list, t)
	}
	if busy > 1 {
		return Result{}, errors.New(textBusy)
	}
	if len(list) == 0 {
		return Result{Text: textNoTodo}, nil
	}
	marks := map[string]string{"pending": " ", "in_progress": ">", "completed": "x"}
	var out strings.Builder
	for _, t := range list {
		fmt.Fprintf(&out, "[%s] %s\n", marks[t.status], t.content)
	}
	return Result{Text: out.String()}, nil
}
