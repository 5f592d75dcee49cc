package policy

import (
	"fmt"
	"os"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// serversFile is the file of the MCP servers, in the data directory.
const serversFile = ".mcp.json"

// proposesServers judges a call that would write the file of the MCP servers. The call itself is
// always refused; its text waits for the user's approval if the session may write files. A session
// that has read untrusted text cannot even propose one, because asking the user is an action, too.
func proposesServers(s *Session, x call) (d agent.Decision, is bool) {
	if s.g.o.Propose == nil || !writes(x.tool) || !isServers(s.g, x.path) {
		return d, false
	}
	if v := s.listed(x); v.is == refused {
		return agent.Decision{Reason: v.reason}, true
	}
	if l := s.limits(x); l != "" {
		return agent.Decision{Reason: fmt.Sprintf(answerLabeled, clean.Line(x.Name), l)}, true
	}
	_, data, ok := s.g.proposed(x)
	if !ok {
		return agent.Decision{Reason: fmt.Sprintf(answerUnsure, serversFile)}, true
	}
	return agent.Decision{Reason: s.g.o.Propose(data)}, true
}

// isServers reports whether a path is that file, and not a link, in any of its spellings.
func isServers(g *Guard, file string) bool {
	rels := g.rels(file)
	if len(rels) != 1 || rels[0] != serversFile {
		return false
	}
	info, err := os.Lstat(g.o.Dir.Path(serversFile))
	return os.IsNotExist(err) || err == nil && info.Mode().IsRegular()
}
