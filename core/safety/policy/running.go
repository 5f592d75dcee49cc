package policy

import (
	"maps"
	"os"
	"path"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/brief/skill"
	"ollimbot/routines"
)

const (
	// mostCommand is how long a command that has not said its end is taken to run: no
	// engine lets one run for longer in front.
	mostCommand = 10 * time.Minute
	// stampSlack is how much older than the clock the time stamp of a file system may be.
	stampSlack = 20 * time.Millisecond
)

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

// end forgets commands.
func (c *commands) end(which func(command) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.by, func(one command, _ time.Time) bool { return which(one) })
}

// now is a copy of those that run.
func (c *commands) now() map[command]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}

// who is a session whose command ran when something was written.
func (c *commands) who(at time.Time) *Session {
	for one, from := range c.now() {
		if !at.Before(from.Add(-stampSlack)) && at.Before(from.Add(mostCommand)) {
			return one.of
		}
	}
	return nil
}

// Rest is told that a turn of the conversation has ended: what its commands have
// written is noted, and what is written from now on is not theirs.
func (g *Guard) Rest() {
	rested := map[*Session]bool{}
	for one := range g.commands.now() {
		if one.of.scope.Kind != Background && !rested[one.of] {
			rested[one.of] = true
			one.of.claimWritten()
		}
	}
	g.commands.end(func(one command) bool { return rested[one.of] })
}

// End is Rest for the session of a background run that has ended.
func (s *Session) End() {
	s.claimWritten()
	s.g.commands.end(func(one command) bool { return one.of == s })
}

// claimWritten notes what a session's commands have written so far.
func (s *Session) claimWritten() {
	var since time.Time // its first command
	for one, from := range s.g.commands.now() {
		if one.of == s && (since.IsZero() || from.Before(since)) {
			since = from
		}
	}
	if since.IsZero() {
		return
	}
	for _, rel := range s.g.grantingFiles() {
		at, ok := s.g.changedAt(rel)
		if !ok || at.Before(since.Add(-stampSlack)) || at.After(since.Add(mostCommand)) {
			continue
		}
		if data, err := s.g.o.Dir.Read(rel); err == nil {
			if _, known := s.g.provenance.Find(routines.Digest(data)); known {
				continue
			}
		}
		s.claimAloud(rel)
	}
}

// changedAt is when a file or its name was last changed: unlike the time of its
// last writing, nobody can set it.
func (g *Guard) changedAt(rel string) (time.Time, bool) {
	var s unix.Stat_t
	if err := unix.Stat(g.o.Dir.Path(rel), &s); err != nil {
		return time.Time{}, false
	}
	return time.Unix(s.Ctim.Unix()), true
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
	entries, err := os.ReadDir(g.o.Dir.Path(folder))
	if err != nil { // there is none
		return nil
	}
	return entries
}
