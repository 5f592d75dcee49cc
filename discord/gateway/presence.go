package gateway

import (
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
)

// presenceEvery is how often it may change: Discord allows five times in twenty
// seconds.
const presenceEvery = 5 * time.Second

// Presence is how the bot shows below its name.
type Presence struct {
	Watching string // "watching ..."; empty is textWatching
	Away     bool   // the yellow moon in place of the green dot
}

// presence is the one that is wanted, for whichever connection there is.
type presence struct {
	changed chan struct{} // has room for one

	mu         sync.Mutex
	want, told Presence
}

func newPresence() *presence { return &presence{changed: make(chan struct{}, 1)} }

// Show changes the presence, as soon as Discord allows. It does not block.
func (s *Supervisor) Show(p Presence) {
	s.presence.mu.Lock()
	same := s.presence.want == p
	s.presence.want = p
	s.presence.mu.Unlock()
	if same {
		return
	}
	select {
	case s.presence.changed <- struct{}{}:
	default:
	}
}

// stale reports whether Discord shows another one than is wanted.
func (p *presence) stale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.want != p.told
}

// tell is the presence as Discord reads it, and counts as told.
func (p *presence) tell() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = p.want
	type activity struct {
		Name string                 `json:"name"`
		Type discordgo.ActivityType `json:"type"`
	}
	out := struct {
		Since      *int             `json:"since"`
		Activities []activity       `json:"activities"`
		Status     discordgo.Status `json:"status"`
		AFK        bool             `json:"afk"`
	}{Status: discordgo.StatusOnline, Activities: []activity{{textWatching, discordgo.ActivityTypeWatching}}}
	if p.want.Watching != "" {
		out.Activities[0].Name = p.want.Watching
	}
	if p.want.Away {
		out.Status = discordgo.StatusIdle
	}
	return out
}
