package policy

import (
	"maps"
	"os"
	"path"
	"sync"
	"time"

	"ollimbot/core/skill"
	"ollimbot/routines"
)

// mostCommand is how long a command that has not said its end is taken to run: no
// engine lets one run for longer in front.
const mostCommand = 10 * time.Minute

// stampSlack is how much older than the clock the time stamp of a file system may be.
const stampSlack = 20 * time.Millisecond

// commands are the shell commands that sessions run now. What changes while one of
// them runs is taken for its work, because a shell can write anywhere: a user who
// saves a powerful task in that moment is asked about it once too often.
type commands struct {
	mu sync.Mutex
	// by is when each has begun. One that fails does not say its end: it is
	// forgotten with its turn, or in time.
	by map[command]time.Time
}

type command struct {
	of   *Session
	call string
}

func (c *commands) begin(s *Session, call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[command]time.Time{}
	}
	if _, runs := c.by[command{s, call}]; !runs {
		c.by[command{s, call}] = time.Now()
	}
}

func (c *commands) end(s *Session, call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, command{s, call})
}

// rest forgets the commands of sessions that have no turn any more.
func (c *commands) rest(of func(*Session) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.by, func(one command, _ time.Time) bool { return of(one.of) })
}

func (c *commands) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.by) > 0
}

// since is when the first of a session's commands has begun; zero when it runs none.
func (c *commands) since(s *Session) (first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one, from := range c.by {
		if one.of == s && (first.IsZero() || from.Before(first)) {
			first = from
		}
	}
	return first
}

// who is a session whose command ran when something was written.
func (c *commands) who(at time.Time) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one, from := range c.by {
		if !at.Before(from.Add(-stampSlack)) && at.Before(from.Add(mostCommand)) {
			return one.of
		}
	}
	return nil
}

// Rest is told that a turn of the conversation has ended: what its commands have
// written is noted, and what is written from now on is not theirs.
func (g *Guard) Rest() {
	if !g.commands.any() {
		return
	}
	g.commands.mu.Lock()
	sessions := map[*Session]bool{}
	for one := range g.commands.by {
		sessions[one.of] = one.of.scope.Kind != Background
	}
	g.commands.mu.Unlock()
	for s, rests := range sessions {
		if rests {
			s.claimWritten()
		}
	}
	g.commands.rest(func(s *Session) bool { return sessions[s] })
}

// End is Rest for the session of a background run that has ended.
func (s *Session) End() {
	s.claimWritten()
	s.g.commands.rest(func(other *Session) bool { return other == s })
}

// claimWritten notes what a session's commands have written so far.
func (s *Session) claimWritten() {
	since := s.g.commands.since(s)
	if since.IsZero() {
		return
	}
	for _, rel := range s.g.grantingFiles() {
		info, err := os.Stat(s.g.dir.Path(rel))
		if err != nil {
			continue
		}
		at := changedAt(info)
		if at.Before(since.Add(-stampSlack)) || at.After(since.Add(mostCommand)) {
			continue
		}
		if data, err := s.g.dir.Read(rel); err == nil {
			if _, known := s.g.provenance.Find(routines.Digest(data)); known {
				continue
			}
		}
		if f, ok := s.claim(rel); ok && s.waitsFor(f) {
			s.g.waits(rel, f.grants.Ask(f.excess))
		}
	}
}

// grantingFiles are all task files, webhooks and skills.
func (g *Guard) grantingFiles() []string {
	var list []string
	for _, folder := range []string{routines.RoutineFolder, routines.ReminderFolder, webhookFolder} {
		for _, e := range g.entries(folder) {
			if routines.IsTaskFile(e.Name()) {
				list = append(list, folder+"/"+e.Name())
			}
		}
	}
	for _, e := range g.entries(skill.Folder) {
		list = append(list, path.Join(skill.Folder, e.Name(), skill.File))
	}
	return list
}

func (g *Guard) entries(folder string) []os.DirEntry {
	entries, err := os.ReadDir(g.dir.Path(folder))
	if err != nil { // there is none
		return nil
	}
	return entries
}
