package policy

import (
	"context"
	"encoding/json"

	"ollimbot/core/agent"
	"ollimbot/core/toolset"
)

// Send is what stands against handing a file to the user, or "": full is its real
// path. A session sends what its list lets it read within the data directory. For
// everything else a user is asked, who sees where the file lies; "always" counts
// within the directory only. It blocks while the approval waits.
func (s *Session) Send(ctx context.Context, full string) (refusal string) {
	input, err := json.Marshal(map[string]string{"file_path": full})
	u := agent.ToolUse{Name: toolset.Prefix + toolset.SendFile, Input: input}
	d := s.g.guarded(u, func() agent.Decision {
		x, set := use{tool: "Read", arg: full, path: full}, s.inForce()
		alone, _ := s.alone()
		closed := s.closedTo(x, full, false)
		_, inside := s.g.tree.within(full)
		switch {
		case err != nil:
			return agent.Decision{Reason: answerFault}
		case closed != "":
			return agent.Decision{Reason: closed}
		case set.forbids(x):
			return agent.Decision{Reason: answerSendUnread}
		case inside && set.allows(x):
			return agent.Decision{Allow: true}
		case alone != nil && inside:
			return agent.Decision{Reason: answerSendUnread}
		case alone != nil:
			return agent.Decision{Reason: answerSendOutside}
		case inside && (s.mode() == BypassPermissions || s.g.sessionAllows("Read") || s.g.sessionAllows(u.Name)):
			return agent.Decision{Allow: true}
		}
		return s.g.ask(ctx, s.scope.Session, u)
	})
	return d.Reason
}
