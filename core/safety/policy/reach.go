package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// docsPrefix begins the names of the tools that show this program's own documentation.
const docsPrefix = "mcp__docs__"

// downloadFolder contains files that others sent.
const downloadFolder = "downloads"

// reach determines what calls can read, and its labels.
type reach struct {
	dir        *store.Dir
	tree       tree
	provenance *Provenance
	// network reports whether commands reach the network.
	network func() bool
	// trusted reports whether the results of an MCP server have no label.
	trusted func(server string) bool

	arrivals arrivals
	digests  digests
}

// reads returns the label of everything a call can reach, in any spelling: a file by its label, a
// search by the files that it may visit, a command by the labeled files that it can see and by the
// network, an edit by the text it changes. The bot's own commands are labeled by what they print
// (Runner).
func (r *reach) reads(x call) label.Label {
	switch {
	case x.tool == "WebFetch" || x.tool == "WebSearch":
		return label.From(labelWeb)
	case x.tool == "Read", writes(x.tool) && x.tool != "Write": // the part of a file that an edit leaves remains its author's
		return r.fileLabel(x.path)
	case x.tool == "Skill":
		return r.skillLabel(x.arg)
	case x.Name == toolset.Prefix+toolset.ListReminders:
		return r.tasksLabel()
	case x.tool == "Grep" || x.tool == "Glob":
		return r.searchLabel(x)
	case x.command != "":
		return r.commandLabel(x)
	case strings.HasPrefix(x.Name, toolset.Prefix), strings.HasPrefix(x.Name, docsPrefix), x.Name == toolset.Find:
		return ""
	}
	if server, ok := strings.CutPrefix(x.Name, "mcp__"); ok {
		name, _, _ := strings.Cut(server, "__")
		if r.trusted(name) {
			return ""
		}
		return label.From(fmt.Sprintf(labelServer, clean.Line(name)))
	}
	return ""
}

// commandLabel returns the label of everything a command can reach.
func (r *reach) commandLabel(x call) label.Label {
	if list, ok := plainWords(x.arg); x.tool == "Bash" && ok && list[0] == ownProgram {
		return "" // whoever runs it records what it prints
	}
	if r.network() {
		r.downloads() // so that they are recognized if the command moves them
		return label.From(labelNetwork)
	}
	for f := range r.labeled() {
		return f.label.Via(labelCommand)
	}
	return ""
}

// tasksLabel returns the label of the first task or webhook that has one.
func (r *reach) tasksLabel() label.Label {
	return r.firstLabel(func(rel string) bool { return !strings.HasPrefix(rel, skill.Folder+"/") })
}

// skillLabel returns the label of a skill. If only the engine may know a skill by that name, it
// returns the label of any skill.
func (r *reach) skillLabel(name string) label.Label {
	if s, ok := skill.Read(r.dir, name); ok {
		return r.versionLabel(s.Path, s.Digest)
	}
	return r.firstLabel(func(rel string) bool { return strings.HasPrefix(rel, skill.Folder+"/") })
}

func (r *reach) firstLabel(of func(rel string) bool) label.Label {
	for _, rel := range r.grantingFiles() {
		if data, err := r.dir.Read(rel); err == nil && of(rel) {
			if l := r.versionLabel(rel, routines.Digest(data)); l != "" {
				return l
			}
		}
	}
	return ""
}

// searchLabel returns the label of the first labeled file that a search may visit.
func (r *reach) searchLabel(x call) label.Label {
	folders, ok := r.tree.places(x.folder)
	if x.folder == "" {
		folders, ok = []string{r.tree.root}, true
	}
	for f := range r.labeled() {
		full := filepath.Join(r.tree.root, filepath.FromSlash(f.rel))
		if !ok || f.rel == "" {
			return f.label
		}
		for _, folder := range folders {
			rel, err := filepath.Rel(folder, full)
			if err == nil && filepath.IsLocal(rel) && mayVisit(x, filepath.ToSlash(rel)) {
				return f.label
			}
		}
	}
	return ""
}

// mayVisit reports whether a search with the call's glob may visit a file, given its path relative
// to the folder of the search. A glob with anything but names, * and ? may visit any file.
func mayVisit(x call, rel string) bool {
	glob := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(x.arg)), "./")
	if x.arg == "" || rel == "." || strings.HasPrefix(glob, "~") ||
		strings.ContainsAny(x.arg, "!{}[],\\ \t\r\n") || strings.HasPrefix(glob, "..") || filepath.IsAbs(glob) {
		return true
	}
	match := routines.Glob(strings.ToLower(glob))
	for rest, more := strings.ToLower(rel), true; more; _, rest, more = strings.Cut(rest, "/") {
		if match.MatchString(rest) {
			return true
		}
		if x.tool == "Glob" {
			return false // it matches whole paths only
		}
	}
	return false
}

// fileLabel returns the label of a file, by its path, through its links, as another name of a
// labeled file, or by bytes that a labeled session wrote.
func (r *reach) fileLabel(file string) label.Label {
	places, ok := r.tree.places(file)
	if !ok {
		return label.From(labelUnknown)
	}
	for _, full := range append(places, r.tree.absolute(file)) { // the links of the last are not followed
		rel, inside := r.tree.within(full)
		first, _, _ := strings.Cut(rel, "/")
		if inside && isDownloads(first) {
			return download(rel)
		}
		if info, err := os.Stat(full); err == nil && otherNames(info) {
			for f := range r.labeled() {
				if other, err := os.Stat(r.dir.Path(f.rel)); err == nil && os.SameFile(info, other) {
					return f.label
				}
			}
		}
	}
	for _, full := range places {
		rel, inside := r.tree.within(full)
		if !inside || len(r.provenance.labeled()) == 0 {
			continue // there are no bytes to compare
		}
		if data, err := r.dir.Read(rel); err == nil {
			if l := r.versionLabel(rel, routines.Digest(data)); l != "" {
				return l
			}
		}
	}
	return ""
}

// otherNames reports whether a file has other names.
func otherNames(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && !info.IsDir() && s.Nlink > 1
}

// versionLabel returns the label of a version that an agent wrote in a file and the user has not approved.
func (r *reach) versionLabel(rel, digest string) label.Label {
	if o := r.provenance.labeled()[digest]; o.in(rel) {
		return o.Writer.Label
	}
	return ""
}

// TaskLabel returns the label of a task's file and of its skills, or "" if all of them are the
// user's own or approved.
func (g *Guard) TaskLabel(t routines.Task) label.Label {
	l := g.reach.versionLabel(t.Path, t.Digest)
	for _, name := range t.Skills {
		if s, ok := g.skill(name); ok {
			l = label.Join(l, g.reach.versionLabel(s.Path, s.Digest))
		}
	}
	return l
}

// FileLabel returns the label of a file of the data directory.
func (g *Guard) FileLabel(rel string) label.Label {
	if len(g.provenance.labeled()) == 0 {
		return ""
	}
	data, err := g.o.Dir.Read(rel)
	if err != nil { // it was removed, so nothing is read from it
		return ""
	}
	return g.reach.versionLabel(rel, routines.Digest(data))
}

// recordChanged records the files that a command of a writer with a label has changed since the command began, without
// those that grant something: claimWritten finds their writer among all sessions.
func (g *Guard) recordChanged(w Writer, since time.Time) error {
	var problems []error
	granting := g.reach.grantingFiles()
	for _, rel := range g.reach.changedFiles(since) {
		if slices.Contains(granting, rel) {
			continue
		}
		data, err := g.o.Dir.Read(rel)
		if err == nil {
			err = g.recordSince(Origin{Path: rel, Writer: w, guessed: true}, data, since)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// record stores that an agent writes a version of a file now.
func (g *Guard) record(o Origin, data []byte) error { return g.recordSince(o, data, time.Now()) }

// recordSince is record for a file that was written by a call that began at since.
func (g *Guard) recordSince(o Origin, data []byte, since time.Time) error {
	o.At = time.Now()
	o.Own = g.unchanged(o.Path, data, since)
	ended, err := g.provenance.record(routines.Digest(data), o)
	if ended && err == nil {
		g.o.Ended(o.Path)
	}
	return err
}

// unchanged lists the files, without the one at rel, that have these bytes and had them when a call, or the
// first running command, began: in those files they are not the agent's.
func (g *Guard) unchanged(rel string, data []byte, since time.Time) []string {
	for _, began := range g.commands.now() {
		if began.Before(since) {
			since = began
		}
	}
	var list []string
	digest, looked := routines.Digest(data), 0
	for at, other := range g.reach.files() {
		if looked++; looked > maxLooked {
			break
		}
		info, err := os.Lstat(at)
		if err != nil || info.Size() != int64(len(data)) || other == rel {
			continue
		}
		changed, ok := g.reach.changedAt(other)
		if ok && changed.Before(since.Add(-stampSlack)) && g.reach.digests.of(g.o.Dir, other, identify(at)) == digest {
			list = append(list, other)
		}
	}
	return list
}

// changedFiles lists the files of the data directory, except the bot's own, that have changed since
// a time.
func (r *reach) changedFiles(since time.Time) []string {
	var list []string
	for at, rel := range r.files() {
		if len(list) > maxLabeled {
			break
		}
		changed, ok := r.changedAt(rel)
		// Moving a folder does not change the files in it.
		if ok && (!changed.Before(since.Add(-stampSlack)) || r.arrivals.label(identify(at)) != "") {
			list = append(list, rel)
		}
	}
	return list
}

// Taint is the label of everything that a session has read. A session with a label may not write
// tasks or files, send files or run commands, because the text may have talked it into anything.
// The zero Taint has read nothing. It is safe for concurrent use.
type Taint struct {
	// Trusted means that the user's own file lets a run keep its tools.
	Trusted bool
	// Changed is called when a label is added or, with "", cleared, before the labeled text
	// is read. It may write a file, and may be nil.
	Changed func(label.Label)

	mu    sync.Mutex
	label label.Label
	// approved are tools whose next call the user has approved.
	approved []string
}

// NewTaint returns the taint of a session that starts with a label.
func NewTaint(l label.Label) *Taint { return &Taint{label: l} }

// Label returns the label of what was read, or "" if it was only the user's own text.
func (t *Taint) Label() label.Label {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.label
}

// Read records what a session is about to read.
func (t *Taint) Read(l label.Label) {
	t.mu.Lock()
	first := t.label == "" && l != ""
	t.label = label.Join(t.label, l)
	t.mu.Unlock()
	if first && t.Changed != nil {
		t.Changed(l)
	}
}

// Clear forgets the label: the user has seen what was read and answered it.
func (t *Taint) Clear() {
	t.mu.Lock()
	had := t.label != ""
	t.label, t.approved = "", nil
	t.mu.Unlock()
	if had && t.Changed != nil {
		t.Changed("")
	}
}

// approve records that the user has approved one call of a tool.
func (t *Taint) approve(tool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.approved = append(t.approved, tool)
}

// LabelOf returns the label of what a call of the tool writes. A call that the user has
// approved writes the user's own text, once.
func (t *Taint) LabelOf(tool string) label.Label {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.approved, tool); i >= 0 {
		t.approved = slices.Delete(t.approved, i, i+1)
		return ""
	}
	return t.label
}

// limits returns the label that limits a call, or "".
func (s *Session) limits(x call) label.Label {
	if s.taint.Trusted || s.turn().Trusted {
		return ""
	}
	if l, ok := s.judged.of(x); ok {
		return l
	}
	return s.taint.Label()
}

// judgements are the labels that limited calls when the hook allowed them. The permission check
// that follows must not count what the call itself is about to read. The zero value is empty.
type judgements struct {
	mu sync.Mutex
	by map[string]label.Label
}

func (j *judgements) of(x call) (l label.Label, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, ok = j.by[x.key()]
	return l, ok
}

func (j *judgements) note(x call, l label.Label) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.by == nil || len(j.by) >= maxJudged {
		j.by = map[string]label.Label{}
	}
	j.by[x.key()] = l
}

func (j *judgements) forget(x call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.by, x.key())
}

// key identifies a call of a session.
func (x call) key() string { return x.ID + "\x00" + x.Name + "\x00" + string(x.Input) }

// actingTools are the bot's tools that a tainted run loses. It may still ping, report and continue
// its own chain.
var actingTools = []string{toolset.AddReminder, toolset.CancelReminder, toolset.UpdateNames, toolset.SendFile, toolset.StopRoutine}

// Quiet returns the tool lists for the prompt of a run that starts with untrusted text,
// without the tools that would be refused.
func (g *Guard) Quiet(allowed, disallowed []string) (may, mayNot []string) {
	for _, s := range allowed {
		p := parsePattern(tree{"/"}, s)
		if p.tool != "Bash" || p.arg != "" && (g.onlyReads(p.arg) || g.onlyReads(strings.TrimSuffix(strings.TrimSuffix(p.arg, "*"), ":"))) {
			may = append(may, s)
		}
	}
	mayNot = Merge(disallowed)
	for _, name := range []string{"Write", "Edit", "NotebookEdit"} {
		may = slices.DeleteFunc(may, func(s string) bool { return parsePattern(tree{"/"}, s).tool == name })
	}
	for _, name := range actingTools {
		mayNot = Merge(mayNot, []string{toolset.Prefix + name})
		may = slices.DeleteFunc(may, func(s string) bool { return s == toolset.Prefix+name })
	}
	return may, mayNot
}

// acts reports whether a call writes, sends files or runs a command.
func (g *Guard) acts(x call) bool {
	switch _, known := argumentOf[x.tool]; {
	case x.tool == "Bash":
		return !g.onlyReads(x.arg)
	case strings.HasPrefix(x.Name, toolset.Prefix):
		return slices.Contains(actingTools, strings.TrimPrefix(x.Name, toolset.Prefix))
	case strings.HasPrefix(x.Name, docsPrefix), x.Name == toolset.Find:
		return false
	default: // an unknown tool may do anything
		return writes(x.tool) || !known
	}
}

// onlyReads reports whether a command is one of the bot's own that change nothing. A run that has read mail may read
// more mail.
func (g *Guard) onlyReads(command string) bool {
	u := call{tool: "Bash", arg: command}
	return slices.ContainsFunc(g.reading, func(p pattern) bool { return p.allows(u, tree{"/"}) })
}
