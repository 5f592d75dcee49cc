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
// allows by itself. After a call, a markdown file that was written is handed to
// commit with its path relative to the data directory; nil commits nothing. commit
// must not block. Stop is left to the caller.
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

// PreTool is the hook before a call. It decides all that needs nobody to be asked
// and refuses by itself, because a refusal of a hook is what no setting and no
// other hook of an engine overrules. Where the user has to be asked, it sees to it
// that Permission is, also for what the engine would let pass.
func (s *Session) PreTool(_ context.Context, u agent.ToolUse) agent.Decision {
	return s.g.guarded(u, func() agent.Decision {
		v := s.judge(u)
		if v.is == refused {
			return agent.Decision{Reason: v.reason}
		}
		d := s.author(u)
		if !d.Allow {
			return d
		}
		if set, taint := s.alone(); set != nil {
			s.g.reads(taint, u)
		}
		if d.Ask = d.Ask || v.is == open; !d.Ask {
			s.begins(u) // an engine may run it without asking Permission
		}
		return agent.Decision{Allow: true, Ask: d.Ask, Reason: v.reason}
	})
}

// written is the markdown file inside the data directory that a call has
// written, where its links lead.
func (g *Guard) written(u agent.ToolUse) (rel string, ok bool) {
	x := g.tree.use(u)
	switch x.tool {
	case "Write", "Edit", "MultiEdit":
	default:
		return "", false
	}
	if g.tree.closed(x.path, true, nil) != "" {
		return "", false
	}
	places, ok := g.tree.places(x.path)
	if !ok {
		return "", false
	}
	for _, place := range places {
		rel, ok := g.tree.within(place)
		if !ok || path.Ext(rel) != ".md" {
			continue
		}
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return rel, true
		}
	}
	return "", false
}
