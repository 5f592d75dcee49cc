package policy

import (
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
	by map[*Session]time.Time // when the first that may still run has begun
}

func (c *commands) begin(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[*Session]time.Time{}
	}
	if _, runs := c.by[s]; !runs {
		c.by[s] = time.Now()
	}
}

func (c *commands) end(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, s)
}

func (c *commands) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.by) > 0
}

// since is when a session's commands have begun; zero when it runs none.
func (c *commands) since(s *Session) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[s]
}

// who is a session whose command ran when something was written.
func (c *commands) who(at time.Time) *Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s, from := range c.by {
		if !at.Before(from.Add(-stampSlack)) && at.Before(from.Add(mostCommand)) {
			return s
		}
	}
	return nil
}

// claimWritten notes what a session's commands have written. One that has failed
// has not said so: it ends with the next call.
func (s *Session) claimWritten() {
	since := s.g.commands.since(s)
	if since.IsZero() {
		return
	}
	s.g.commands.end(s)
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
