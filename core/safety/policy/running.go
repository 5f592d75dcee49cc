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
	// mostCommand is how long a command without a known end counts as running: no engine lets a
	// foreground command run longer.
	mostCommand = 10 * time.Minute
	// stampSlack is how far a file system's time stamp may lag behind the clock.
	stampSlack = 20 * time.Millisecond
)

// commands are the running shell commands of sessions. Files that change while one runs count as
// its work, because a shell can write anywhere. A user who saves a powerful task at that moment is
// asked about it unnecessarily.
type commands struct {
	mu sync.Mutex
	// by is the start of each. A command that fails does not report its end, so it is forgotten
	// with its turn, or after mostCommand.
	by map[command]time.Time
	// texts are the task files as they were before the running commands, by path.
	texts map[string][]byte
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
	if len(c.by) == 0 {
		c.texts = nil
	}
}

// now returns a copy of the running commands.
func (c *commands) now() map[command]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}

// who returns a session whose command ran at that time, or nil.
func (c *commands) who(at time.Time) *Session {
	for one, from := range c.now() {
		if !at.Before(from.Add(-stampSlack)) && at.Before(from.Add(mostCommand)) {
			return one.of
		}
	}
	return nil
}

// Rest ends a turn of the conversation: the files that its commands wrote are recorded, and later
// files are not attributed to them.
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

// End is Rest for the session of a finished background run.
func (s *Session) End() {
	s.claimWritten()
	s.g.commands.end(func(one command) bool { return one.of == s })
}

// claimWritten records what a session's commands have written so far.
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
	for _, rel := range s.g.reach.grantingFiles() {
		at, ok := s.g.reach.changedAt(rel)
		if !ok || at.Before(since.Add(-stampSlack)) || at.After(since.Add(mostCommand)) {
			continue
		}
		if data, err := s.g.o.Dir.Read(rel); err == nil {
			if o, known := s.g.provenance.Find(rel, routines.Digest(data)); known && (!o.approvedIn(rel) || !o.rewritten(at)) {
				continue
			}
		}
		s.claimAloud(rel)
	}
}

// changedAt returns the change time of a file, which programs cannot set, unlike its
// modification time.
func (r *reach) changedAt(rel string) (time.Time, bool) {
	var s unix.Stat_t
	if err := unix.Stat(r.dir.Path(rel), &s); err != nil {
		return time.Time{}, false
	}
	return time.Unix(s.Ctim.Unix()), true
}

// grantingFiles returns all task files, webhooks and skills.
func (r *reach) grantingFiles() []string {
	var list []string
	for _, folder := range []string{routines.RoutineFolder, routines.ReminderFolder, webhookFolder} {
		for _, e := range r.entries(folder) {
			if routines.IsTaskFile(e.Name()) {
				list = append(list, folder+"/"+e.Name())
			}
		}
	}
	for _, e := range r.entries(skill.Folder) {
		list = append(list, path.Join(skill.Folder, e.Name(), skill.File))
	}
	return list
}

func (r *reach) entries(folder string) []os.DirEntry {
	entries, err := os.ReadDir(r.dir.Path(folder))
	if err != nil { // the folder is missing
		return nil
	}
	return entries
}
