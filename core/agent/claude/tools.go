package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// serverVersion is the version of the bot's tool server, as the CLI is told.
const serverVersion = "1"

// callTool runs a tool of the bot.
type callTool func(ctx context.Context, server, name string, args json.RawMessage) agent.ToolResult

// toolServer serves the bot's tools over the control channel: each mcp_message
// carries one message of the CLI, which is an MCP client, and takes the answer
// back. Use newToolServer.
type toolServer struct {
	name  string
	mcp   *mcp.Server
	fault error // why a tool cannot be served

	mu     sync.Mutex
	client *toolConn // of the newest handshake, nil before the first
	closed bool
	// sessions are what each handshake began; close waits for all.
	sessions []*mcp.ServerSession
}

func newToolServer(name string, tools []agent.Tool, call callTool) *toolServer {
	s := &toolServer{name: name, mcp: mcp.NewServer(
		&mcp.Implementation{Name: name, Version: serverVersion},
		// The list never changes in the life of a process: no notification is promised.
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}},
	)}
	for _, t := range tools {
		if err := s.add(t, call); err != nil && s.fault == nil {
			s.fault = err
		}
	}
	return s
}

// add lists a tool. The library panics over a schema that is none.
func (s *toolServer) add(t agent.Tool, call callTool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("serve the tool %s: %v", t.Name, p)
		}
	}()
	s.mcp.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer := call(ctx, s.name, t.Name, r.Params.Arguments)
			if answer.Text == "" {
				answer.Text = answerNoText
			}
			return &mcp.CallToolResult{
				Content: []mcp.Content{&mcp.TextContent{Text: answer.Text}}, IsError: answer.IsError,
			}, nil
		})
	return nil
}

// callTool runs a tool of the bound run. A panic is an error result: it must
// not end the program, which has other sessions.
func (h *host) callTool(ctx context.Context, server, name string, args json.RawMessage) (r agent.ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("tool failed", "tool", name, "fault", fmt.Sprint(p))
			r = agent.ToolResult{Text: fmt.Sprintf(answerToolFault, name), IsError: true}
		}
	}()
	run := h.bound()
	if run == nil {
		return agent.ToolResult{Text: answerNoRun, IsError: true}
	}
	t, ok := run.tools[toolKey(server, name)]
	if !ok {
		return agent.ToolResult{Text: fmt.Sprintf(answerNoTool, name), IsError: true}
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	r = t.Call(ctx, args)
	if r.EndTurn {
		h.noteEnding("mcp__" + server + "__" + name)
	}
	return r
}

// mcpAnswer is the answer to an mcp_message.
type mcpAnswer struct {
	Response json.RawMessage `json:"mcp_response"`
}

// acknowledged answers a notification: the CLI waits for an answer to that too.
const acknowledged = `{"jsonrpc":"2.0","result":{},"id":0}`

// answer takes one message of the CLI to the server that it is for. A call
// blocks until its tool has returned; the end of ctx cancels the tool.
func (h *host) answer(ctx context.Context, request json.RawMessage) mcpAnswer {
	var r struct {
		Server  string          `json:"server_name"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return failure(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, textUnreadable)
	}
	message, err := jsonrpc.DecodeMessage(r.Message)
	if err != nil {
		return failure(jsonrpc.ID{}, jsonrpc.CodeParseError, textUnreadable)
	}
	m, ok := message.(*jsonrpc.Request)
	if !ok { // an answer to something that we never ask
		return mcpAnswer{Response: json.RawMessage(acknowledged)}
	}
	s := h.serverNamed(r.Server)
	if s == nil {
		return failure(m.ID, jsonrpc.CodeInvalidParams, textUnknownServer)
	}
	client, problem := s.clientFor(m)
	if problem != "" {
		return failure(m.ID, jsonrpc.CodeInternalError, problem)
	}
	if !m.IsCall() {
		client.notify(m)
		return mcpAnswer{Response: json.RawMessage(acknowledged)}
	}
	response, problem := client.call(ctx, m)
	if problem != "" {
		return failure(m.ID, jsonrpc.CodeInternalError, problem)
	}
	return encoded(response)
}

// clientFor is the connection that a message belongs to. Each initialize begins
// a new one, whose ids start again, and ends what the old one still runs: the
// CLI repeats the handshake when its list of servers changes.
func (s *toolServer) clientFor(m *jsonrpc.Request) (c *toolConn, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, textServerEnded
	case m.Method != "initialize" || !m.IsCall():
		if s.client == nil {
			return nil, textNotConnected
		}
		return s.client, ""
	}
	next := newToolConn()
	session, err := s.mcp.Connect(context.Background(), next, nil)
	if err != nil {
		return nil, clean.Line(err.Error())
	}
	if s.client != nil {
		_ = s.client.Close() // it never fails
	}
	s.client = next
	s.sessions = append(s.sessions, session)
	return next, ""
}

// close cancels the calls that run and waits until their tools have returned.
func (s *toolServer) close() {
	s.mu.Lock()
	s.closed = true
	if s.client != nil {
		_ = s.client.Close() // it never fails
	}
	sessions := s.sessions
	s.sessions = nil
	s.mu.Unlock()
	for _, session := range sessions {
		_ = session.Close() // what it says is only how the pipe ended
	}
}

// failure is a JSON-RPC error.
func failure(id jsonrpc.ID, code int64, message string) mcpAnswer {
	return encoded(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: message}})
}

func encoded(r *jsonrpc.Response) mcpAnswer {
	data, err := jsonrpc.EncodeMessage(r)
	if err != nil { // only a result that is no JSON, which the library has written itself
		return mcpAnswer{Response: json.RawMessage(acknowledged)}
	}
	return mcpAnswer{Response: data}
}
