package core

import (
	"ollimbot/core/agent"
	"ollimbot/core/mcp"
)

// newServers reads the user's MCP servers. o has what the bot adds to them.
func newServers(o mcp.Options, from Options) *mcp.Host {
	o.Dir, o.Version, o.Redact = from.Dir, from.Version, from.Book.Redact
	o.Lookup = func(name string) (string, bool) {
		if from.Lookup != nil {
			if v := from.Lookup(name); v != "" {
				return v, true
			}
		}
		v := from.Env.Variable(name).Reveal()
		return v, v != ""
	}
	if from.Book != nil {
		o.Hide = from.Book.Hide
	}
	if from.Sandbox != nil {
		o.Fence = from.Sandbox
	}
	return mcp.New(o)
}

// allTools are the tools of all sessions, beside those that are bound to one.
func allTools(servers *mcp.Host) func() []agent.Tool {
	manual := library()
	return func() []agent.Tool { return append(manual[:len(manual):len(manual)], servers.Tools()...) }
}
