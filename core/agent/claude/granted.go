package claude

import (
	"slices"
	"sync"

	"ollimbot/core/agent"
)

// grants are the newest calls that the session's checks have allowed. The CLI carries out its own tools;
// the bot's tools are called by name and arguments, and run only with a record from here. The zero value
// is empty.
type grants struct {
	mu   sync.Mutex
	list []grant // the newest last
}

type grant struct {
	agent.Approved
	digest string
	used   bool
}

// keptGrants is how many calls are remembered. A call runs soon after it was allowed.
const keptGrants = 256

// add records an allowed call, which replaces an earlier record of the same call.
func (g *grants) add(a agent.Approved) {
	g.remove(a.Use().ID)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.list) == keptGrants {
		g.list = slices.Delete(g.list, 0, 1)
	}
	g.list = append(g.list, grant{Approved: a, digest: a.Use().Digest()})
}

// remove forgets a call that was refused after all.
func (g *grants) remove(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = slices.DeleteFunc(g.list, func(one grant) bool { return id != "" && one.Use().ID == id })
}

// take returns the record of an allowed call that has not run yet.
func (g *grants) take(u agent.ToolUse) (agent.Approved, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	digest := u.Digest()
	for i := range g.list {
		if one := &g.list[i]; !one.used && one.digest == digest {
			one.used = true
			return one.Approved, true
		}
	}
	return agent.Approved{}, false
}

// ran reports whether a call that has run is the one that was allowed, and forgets it.
func (g *grants) ran(u agent.ToolUse) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.list, func(one grant) bool { return one.Use().ID == u.ID })
	if i < 0 {
		return false
	}
	same := g.list[i].digest == u.Digest()
	g.list = slices.Delete(g.list, i, i+1)
	return same
}
