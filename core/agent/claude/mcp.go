package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/agent"
)

// serverVersion is the version that the bot's tool servers report to the CLI.
const serverVersion = "1"

// Error codes of JSON-RPC.
const (
	codeUnreadable = -32700
	codeNoMethod   = -32601
	codeBadParams  = -32602
	codeRefused    = -32603
)

// serverOf returns the name of a tool's server.
func serverOf(t agent.Tool) string { return cmp.Or(t.Server, server) }

// rpc is a message of the CLI, which is the MCP client. A notification has no ID.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// rpcAnswer is the answer to a message, with either Result or Error.
type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// serveTools answers one mcp_message, which contains a message from the CLI to one of the bot's
// tool servers. A call blocks until its tool returns; the end of ctx cancels the tool. The CLI
// expects an answer to notifications too.
func (h *host) serveTools(ctx context.Context, request json.RawMessage) rpcAnswer {
	var r struct {
		Server  string `json:"server_name"`
		Message rpc    `json:"message"`
	}
	m := &r.Message
	if err := json.Unmarshal(request, &r); err != nil || m.Version != "2.0" {
		return rpcAnswer{Version: "2.0", ID: json.RawMessage("null"), Error: &rpcError{codeUnreadable, textUnreadable}}
	}
	answer := rpcAnswer{Version: "2.0", ID: m.ID}
	if m.ID == nil {
		h.notified(r.Server, *m)
		answer.ID, answer.Result = json.RawMessage("0"), struct{}{}
		return answer
	}
	var err *rpcError
	if answer.Result, err = h.serve(ctx, r.Server, *m); err != nil {
		answer.Result, answer.Error = nil, err
	}
	return answer
}

// serve answers a request of the CLI.
func (h *host) serve(ctx context.Context, name string, m rpc) (any, *rpcError) {
	switch {
	case h.run.Ended():
		return nil, &rpcError{codeRefused, textServerEnded}
	case !slices.Contains(h.servers, name):
		return nil, &rpcError{codeBadParams, textUnknownServer}
	}
	switch m.Method {
	case "initialize":
		return h.hello(name, m.Params), nil
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return map[string]any{"tools": h.listed(name)}, nil
	case "tools/call":
		return h.call(ctx, name, m)
	}
	return nil, &rpcError{codeNoMethod, textNoMethod}
}

// hello answers the handshake: request IDs start over and running calls are cancelled. The CLI
// repeats it when its list of servers changes. The list of tools never changes within a process, so
// no change notification is announced.
func (h *host) hello(name string, params json.RawMessage) any {
	h.mu.Lock()
	for key, cancel := range h.calls {
		if strings.HasPrefix(key, name+"/") {
			cancel()
			delete(h.calls, key)
		}
	}
	h.early = nil
	h.mu.Unlock()
	var client struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &client) // without a version the CLI reports the mismatch
	return map[string]any{
		"protocolVersion": client.Version, "capabilities": map[string]any{"tools": struct{}{}},
		"serverInfo": map[string]string{"name": name, "version": serverVersion},
	}
}

// listedTool is a tool in the CLI's form.
type listedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
}

// listed returns a server's tools, sorted by name, because forks share the prompt cache only if the
// lists are equal.
func (h *host) listed(name string) []listedTool {
	list := []listedTool{}
	for _, t := range h.o.Tools {
		if serverOf(t) == name {
			list = append(list, listedTool{t.Name, t.Description, t.Schema})
		}
	}
	slices.SortFunc(list, func(a, b listedTool) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// call runs a tool.
func (h *host) call(ctx context.Context, server string, m rpc) (any, *rpcError) {
	var p struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &rpcError{codeBadParams, textUnreadable}
	}
	i := slices.IndexFunc(h.o.Tools, func(t agent.Tool) bool { return t.Name == p.Name && serverOf(t) == server })
	if i < 0 {
		return nil, &rpcError{codeBadParams, fmt.Sprintf(textNoTool, p.Name)}
	}
	if len(p.Args) == 0 {
		p.Args = json.RawMessage("{}")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	key := server + "/" + string(m.ID)
	if !h.beginCall(key, cancel) {
		return nil, &rpcError{codeRefused, textTwice}
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.calls, key)
	}()
	a, ok := h.granted.take(agent.ToolUse{Name: "mcp__" + server + "__" + p.Name, Input: p.Args})
	if !ok {
		h.log.Error("claude called a tool without asking, so it was refused", "tool", p.Name)
		return nil, &rpcError{codeRefused, textNotGranted}
	}
	r, ok := h.run.Call(ctx, h.o.Tools[i], a)
	if !ok {
		return nil, &rpcError{codeRefused, textServerEnded}
	}
	if r.EndTurn {
		h.mu.Lock()
		h.ending = "mcp__" + server + "__" + p.Name
		h.mu.Unlock()
	}
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return struct {
		Content []content `json:"content"`
		IsError bool      `json:"isError,omitempty"`
	}{[]content{{"text", cmp.Or(r.Text, answerNoText)}}, r.IsError}, nil
}

// beginCall records the start of a call and cancels it if its cancellation arrived first. It
// returns false if the ID is in use.
func (h *host) beginCall(key string, cancel context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[key] != nil {
		return false
	}
	h.calls[key] = cancel
	if h.early.has(key) {
		cancel()
	}
	return true
}

// notified handles a notification. Only cancellations have an effect.
func (h *host) notified(name string, m rpc) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &p) != nil || p.ID == nil {
		return
	}
	key := name + "/" + string(p.ID)
	h.mu.Lock()
	defer h.mu.Unlock()
	if cancel := h.calls[key]; cancel != nil {
		cancel()
		return
	}
	h.early.add(key)
}

// takeEnding reports once whether a call of this tool ends the turn.
func (h *host) takeEnding(tool string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	ends := h.ending != "" && h.ending == tool
	if ends {
		h.ending = ""
	}
	return ends
}

// recent contains the newest IDs; "" is ignored.
type recent []string

// keptIDs is how many refused and cancelled calls are remembered. A call's result follows its
// refusal at once, so a few would be enough.
const keptIDs = 256

func (r *recent) add(id string) {
	if id == "" || r.has(id) {
		return
	}
	if len(*r) == keptIDs {
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, id)
}

func (r *recent) has(id string) bool { return slices.Contains(*r, id) }
