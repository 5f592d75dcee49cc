package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Writer returns the session as an author of files, with its current rights.
func (s *Session) Writer() Writer {
	w := Writer{
		Kind: kindWords[s.scope.Kind], Session: s.scope.Session, Alone: s.scope.Kind == Background,
		Allowed: s.scope.Rules.Allowed, Disallowed: s.scope.Rules.Disallowed, Label: s.taint.Label(),
	}
	if l := s.turn().Limit; l != nil {
		w.Alone, w.Allowed, w.Disallowed = true, l.Allowed, l.Disallowed
	}
	return w.clone()
}

// Written records that this session is about to write a task file with an ollim-bot command. If it
// returns an error, the file must not be written.
func (s *Session) Written(rel string, data []byte) error { return s.g.Written(s.Writer(), rel, data) }

var kindWords = map[Kind]string{Main: "main session", Interactive: "fork", Background: "background run"}

// draft is a file as it will be after a call.
type draft struct {
	rel, digest string
	data        []byte
	grants      grants
	excess      []string
	origin      Origin
}

// draft returns the task, skill or webhook that a call would write.
func (s *Session) draft(x call) (draft, bool) {
	if !writes(x.tool) || x.path == "" {
		return draft{}, false
	}
	rel, ok := s.g.granting(x.path)
	if !ok {
		return draft{}, false
	}
	_, data, ok := s.g.proposed(x)
	if !ok {
		return draft{}, false
	}
	w := s.Writer()
	w.Kept = s.g.kept(rel)
	return s.g.drafted(w, rel, data)
}

// drafted returns a version of a file by a writer.
func (g *Guard) drafted(w Writer, rel string, data []byte) (draft, bool) {
	of, ok := grantsOf(rel, data, g.skill)
	if !ok {
		return draft{}, false
	}
	d := draft{rel: rel, digest: routines.Digest(data), data: data, grants: of, excess: excessOf(w, g.o.Base(), of)}
	d.origin = Origin{Path: rel, Writer: w, Excess: d.excess}
	return d, true
}

// kept returns the user's commands in a skill, or their check in a routine, before a call. The
// check keeps running as before; anything an agent may change next to it is bound by its own
// rights.
func (g *Guard) kept(rel string) []string {
	data, err := g.o.Dir.Read(rel)
	if err != nil {
		return nil
	}
	digest := routines.Digest(data)
	if o, byAgent := g.origin(rel, digest); byAgent {
		return o.Writer.Kept
	}
	of, _ := grantsOf(rel, data, g.skill)
	switch {
	case g.unknown(rel, digest):
		return nil
	case of.What == "skill":
		return of.Commands
	case of.Says:
		return []string{of.Check, keptSay + of.Check}
	case of.Check != "":
		return []string{of.Check}
	}
	return nil
}

// author records the writer of a task, a skill or a webhook before it is written. If it grants more
// than its writer has, the user is asked. If no user can be asked, the file is written and waits
// for approval.
func (s *Session) author(x call) agent.Decision {
	s.claimWritten()
	if s.g.allowsTask(x) {
		return agent.Decision{Reason: answerAllowing}
	}
	f, ok := s.draft(x)
	if !ok {
		if err := s.labels(x); err != nil {
			s.g.o.Log.Error("file of the agent not written: its label could not be recorded", "error", err)
			return agent.Decision{Reason: answerUnnoted}
		}
		if writes(x.tool) && x.path != "" {
			if _, grants := s.g.granting(x.path); grants { // the result is the agent's
				s.g.commands.look(s.g)
				s.g.commands.begin(s, x.ID)
			}
		}
		return x.allow()
	}
	if s.g.isUsers(f) {
		s.same.Store(f.digest, true)
		return x.allow()
	}
	f.origin.Before = s.g.keepBefore(f.rel)
	if err := s.g.record(f.origin, f.data); err != nil {
		s.g.o.Log.Error("task of the agent not written: its writer could not be recorded", "error", err)
		return agent.Decision{Reason: answerUnnoted}
	}
	d := x.allow()
	d.Ask = s.g.waitsFor(f) && s.asks()
	return d
}

// labels records the label of a file that a call is about to write.
func (s *Session) labels(x call) error {
	if s.Label() == "" {
		return nil
	}
	rel, data, ok := s.g.proposed(x)
	if !ok {
		return nil // the bytes are known after the write
	}
	return s.g.record(Origin{Path: rel, Writer: s.Writer(), guessed: true}, data)
}

// labelsWritten is labels after a call, for contents that could not be predicted: an edit, and all
// changes by a command.
func (s *Session) labelsWritten(x call, began time.Time) error {
	switch {
	case s.Label() == "":
		return nil
	case x.command != "" && !began.IsZero():
		return s.g.recordChanged(s.Writer(), began)
	case writes(x.tool):
		for _, rel := range s.g.rels(x.path) {
			if data, err := s.g.o.Dir.Read(rel); err == nil {
				return s.g.record(Origin{Path: rel, Writer: s.Writer(), guessed: true}, data)
			}
		}
	}
	return nil
}

// begins records that a command of the session is about to run, if it could write labeled files, or
// could write tasks because commands are not confined now or were not when the session began.
func (s *Session) begins(x call) {
	loose := !s.fenced || !s.g.o.Confined()
	if x.command == "" || !loose && s.Label() == "" {
		return
	}
	if loose {
		s.g.commands.look(s.g)
	}
	s.g.commands.begin(s, x.ID)
}

// inBackground reports whether a command outlives its call. It counts as running until its turn
// ends.
func inBackground(x call) bool {
	var input struct {
		Background bool `json:"run_in_background"`
	}
	return json.Unmarshal(x.Input, &input) == nil && input.Background
}

// isUsers reports whether a version is already on disk and is the user's.
func (g *Guard) isUsers(f draft) bool {
	if _, known := g.provenance.Find(f.rel, f.digest); known {
		return false
	}
	folder := func(rel string) string { first, _, _ := strings.Cut(rel, "/"); return strings.ToLower(first) }
	return slices.ContainsFunc(append(g.reach.grantingFiles(), f.rel), func(rel string) bool {
		if folder(rel) != folder(f.rel) {
			return false
		}
		data, err := g.o.Dir.Read(rel)
		return err == nil && routines.Digest(data) == f.digest
	})
}

// waitsFor reports whether a version needs the user's approval.
func (g *Guard) waitsFor(f draft) bool {
	o, _ := g.provenance.Find(f.rel, f.digest)
	return len(f.excess) > 0 && !o.approvedIn(f.rel)
}

// askRights asks the user about a file that grants more than its writer has.
func (s *Session) askRights(ctx context.Context, x call) (d agent.Decision, asked bool) {
	if !s.asks() {
		return d, false
	}
	f, ok := s.draft(x)
	if !ok || !s.g.waitsFor(f) {
		return d, false
	}
	question, r := f.grants.Ask(f.excess), s.g.tree.request(x, s.scope.Session)
	r.Question, r.Tool, r.Command = question+" "+r.Question, "", ""
	if script := s.g.provenance.Scripts.Shown(f.grants.Check); script != "" {
		r.Text += "\n" + script
	}
	v, err := s.g.approvals.Ask(ctx, r)
	if err != nil {
		s.g.o.Log.Warn("cannot ask for permission", "tool", clean.Line(x.Name), "error", err)
	}
	if !v.Allows() {
		return agent.Decision{Reason: fmt.Sprintf(answerExcess, question, v)}, true
	}
	if err := s.g.provenance.Approve(f.digest, f.rel, time.Now()); err != nil {
		s.g.o.Log.Error("approval not saved; the task waits", "error", err)
	}
	return x.allow(), true
}

// authored is called after a successful call: the files it wrote are the agent's, even if they
// differ from the prediction.
func (s *Session) authored(x call) {
	this := func(one command) bool { return one == command{s, x.ID} }
	if err := s.labelsWritten(x, s.g.commands.now()[command{s, x.ID}]); err != nil {
		s.g.o.Log.Error("labels of files not recorded", "error", err)
	}
	if x.command != "" {
		s.claimWritten()
		if x.tool == "Bash" && !inBackground(x) {
			s.g.commands.end(this)
		}
		return
	}
	defer s.g.commands.end(this)
	if !writes(x.tool) || x.path == "" {
		return
	}
	rel, ok := s.g.granting(x.path)
	if !ok {
		return
	}
	data, err := s.g.o.Dir.Read(rel)
	if err != nil {
		return
	}
	by := s
	o, known := s.g.provenance.Find(rel, routines.Digest(data))
	if !known { // a command may have written it since
		by = cmp.Or(s.g.wrote(rel, data), s)
	}
	// The hook before a write has ended the approvals of earlier ones.
	if !o.approvedIn(rel) {
		by.claimAloud(rel, data)
	}
}

// claim records that this session wrote a version that was found in a file, unless its writer is known.
func (s *Session) claim(rel string, data []byte) (draft, bool) {
	o, _ := s.g.provenance.Find(rel, routines.Digest(data))
	w := s.Writer()
	w.Kept = o.Writer.Kept
	f, ok := s.g.drafted(w, rel, data)
	before := s.g.replaced(rel, data)
	if !ok && before == "" {
		return f, false
	}
	if !ok { // the file has an error: its writer applies to the text that stays in force
		f = draft{rel: rel, digest: routines.Digest(data), data: data, origin: Origin{Path: rel, Writer: w}}
	}
	f.origin.Before, f.origin.guessed = before, true
	if _, same := s.same.Load(f.digest); same {
		return f, false
	}
	if err := s.g.record(f.origin, f.data); err != nil {
		s.g.o.Log.Error("writer of a task not recorded", "error", err)
	}
	return f, true
}

// claimAloud is claim with a notice if the user has to approve the file.
func (s *Session) claimAloud(rel string, data []byte) {
	if f, ok := s.claim(rel, data); ok && s.g.waitsFor(f) {
		s.g.o.Waits(s.Writer(), rel, f.grants.Ask(f.excess))
	}
}

// granting returns the task file, skill or webhook that a path leads to: by its name, through its
// links, or because a task is a link to it.
func (g *Guard) granting(file string) (rel string, ok bool) {
	places, ok := g.tree.places(file)
	if !ok {
		return "", false
	}
	for _, full := range append([]string{g.tree.absolute(file)}, places...) {
		rel, ok := g.tree.within(full)
		if _, task := kindOf(rel); ok && (task || isSkill(rel)) {
			return rel, true
		}
	}
	for _, folder := range []string{routines.RoutineFolder, routines.ReminderFolder, webhookFolder} {
		entries, err := os.ReadDir(g.o.Dir.Path(folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			if at, ok := store.Follow(g.o.Dir.Path(folder + "/" + e.Name())); ok && (at == places[0] || at == places[len(places)-1]) {
				return folder + "/" + e.Name(), true
			}
		}
	}
	return "", false
}

// skill reads a skill.
func (g *Guard) skill(name string) (skill.Skill, bool) { return skill.Read(g.o.Dir, name) }

// allowsTask reports a shell call of `ollim-bot allow`, which only the user may run, regardless of
// patterns and modes.
func (g *Guard) allowsTask(x call) bool {
	words := strings.FieldsFunc(x.command, func(r rune) bool { return strings.ContainsRune(" \t\n\r;&|()\"'`\\", r) })
	bot := false
	for _, w := range words {
		switch {
		case path.Base(w) == "ollim-bot":
			bot = true
		case bot && w == "allow":
			return true
		}
	}
	return false
}

// keepBefore keeps the text in force at a path that an agent is about to replace, and returns its
// version.
func (g *Guard) keepBefore(rel string) string {
	data, err := g.o.Dir.Read(rel)
	if err != nil { // it is new
		return ""
	}
	version := routines.Digest(data)
	if _, byAgent := g.origin(rel, version); !byAgent && g.unknown(rel, version) {
		return ""
	}
	return g.keepText(rel, data)
}

// keepText keeps a text and returns its version. If the text itself is waiting for approval, it
// returns the version of the text before it.
func (g *Guard) keepText(rel string, data []byte) string {
	version := routines.Digest(data)
	of, ok := grantsOf(rel, data, g.skill)
	o, known := g.provenance.Find(rel, version)
	waits := known && waiting(o, rel, g.o.Base(), of)
	switch kind, task := kindOf(rel); {
	case !task, kind == routines.KindReminder && comesBack(rel, data):
		return ""
	case !ok, waits:
		return o.Before
	}
	if err := routines.KeepText(g.o.Dir, data); err != nil {
		g.o.Log.Error("the text before an edit of the agent was not kept; the task will wait for approval", "file", rel, "error", err)
		return ""
	}
	return version
}

// comesBack reports whether a reminder repeats until it is done. Its file moves with it, so an
// older text would restore a time that has passed.
func comesBack(rel string, data []byte) bool {
	r, _ := routines.ParseReminder(rel, data, nil)
	return r.UntilDone
}

// look keeps the texts of all tasks in memory while commands that could write them are running.
// Anything that a running command has already written does not replace the earlier text.
func (c *commands) look(g *Guard) {
	texts := map[string][]byte{}
	for _, rel := range g.reach.grantingFiles() {
		if _, task := kindOf(rel); !task {
			continue
		}
		if data, err := g.o.Dir.Read(rel); err == nil {
			texts[rel] = data
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) > 0 {
		maps.Copy(texts, c.texts)
	}
	c.texts = texts
}

// replaced returns the version that was in force before a command wrote a file: the version at its
// path, or that of the task whose file the command renamed.
func (g *Guard) replaced(rel string, data []byte) string {
	g.commands.mu.Lock()
	texts := g.commands.texts
	g.commands.mu.Unlock()
	was, ok := texts[rel]
	if id := taskOf(rel, data); !ok && id != "" {
		names := slices.Sorted(maps.Keys(texts))
		i := slices.IndexFunc(names, func(name string) bool { return taskOf(name, texts[name]) == id })
		if i >= 0 {
			was, ok = texts[names[i]], true
		}
	}
	version := routines.Digest(was)
	if _, foreseen := g.provenance.Find(rel, routines.Digest(data)); foreseen {
		return "" // it was recorded before the file was written
	}
	if _, known := g.provenance.Find(rel, version); !ok || version == routines.Digest(data) || !known && !g.provenance.Lost().IsZero() {
		return ""
	}
	return g.keepText(rel, was)
}

// taskOf identifies the task of a file by its kind and its ID; "" if it has none.
func taskOf(rel string, data []byte) string {
	kind, ok := kindOf(rel)
	if !ok {
		return ""
	}
	t, _ := routines.Parse(kind, rel, data, nil)
	if t.ID == "" {
		return ""
	}
	return string(kind) + " " + t.ID
}
