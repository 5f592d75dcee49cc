package policy

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// Hooks are the guards that stand before every call, those too that an engine
// allows by itself: state/ is protected, and routine and reminder files must be
// valid. After a call, a markdown file that was written is handed to commit with
// its path relative to the data directory; nil commits nothing. commit must not
// block. Stop is left to the caller.
func (s *Session) Hooks(commit func(rel, msg string)) agent.Hooks {
	g := s.g
	h := agent.Hooks{PreTool: s.PreTool}
	h.PostTool = func(_ context.Context, u agent.ToolUse) {
		defer func() {
			if p := recover(); p != nil {
				g.log.Error("written file was not recorded", "tool", clean.Line(u.Name), "fault", fmt.Sprint(p))
			}
		}()
		s.authored(u)
		if commit != nil {
			if rel, ok := g.written(u); ok {
				commit(rel, "auto: "+strings.ToLower(u.Name)+" "+clean.Line(rel))
			}
		}
	}
	return h
}

// PreTool is the hook before a call. Allow means that it has no objection, not
// that the call is permitted: that is for the engine's list and Permission.
//
// An engine allows by itself what its own reading of the patterns allows. For a
// run that can ask nobody, the hook therefore asks what the callback would say.
func (s *Session) PreTool(ctx context.Context, u agent.ToolUse) agent.Decision {
	g := s.g
	return g.guarded(u, func() agent.Decision {
		set, taint := s.alone()
		if set != nil {
			// First, so that a file is read only for calls that may be made.
			if d := s.Permission(ctx, u); !d.Allow {
				return d
			}
		}
		if d, ok := g.stateGuard(u); !ok {
			return d
		}
		if problems := g.invalid(u); problems != "" {
			return agent.Decision{Reason: validatorPrefix + problems}
		}
		if reason := g.smuggles(u); reason != "" {
			return agent.Decision{Reason: reason}
		}
		d, ok := s.author(u)
		if !ok {
			return d
		}
		if set != nil {
			s.g.reads(taint, u)
		}
		// An engine lets commands pass that it takes for reading only, and those
		// can read the user's secrets: the rules decide about each.
		return agent.Decision{Allow: true, Ask: d.Ask || toolName(u.Name) == "Bash"}
	})
}

// written is the markdown file inside the data directory that a call has
// written, where its links lead.
func (g *Guard) written(u agent.ToolUse) (rel string, ok bool) {
	x := readUse(u)
	switch x.tool {
	case "Write", "Edit", "MultiEdit":
	default:
		return "", false
	}
	if x.path == "" || g.tree.protected(x.path) {
		return "", false
	}
	places, ok := g.tree.places(x.path)
	if !ok {
		return "", false
	}
	for _, place := range places {
		rel, ok := g.tree.within(place)
		if !ok || path.Ext(rel) != ".md" || rel == ".git" || strings.HasPrefix(rel, ".git/") {
			continue
		}
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return rel, true
		}
	}
	return "", false
}
