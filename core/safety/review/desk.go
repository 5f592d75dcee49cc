// Package review holds back files that the agent has written until the user approves them: tasks,
// webhooks and skills that may do more than the agent itself. It must not know how they run, nor
// the rules, which package policy owns.
package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
)

// Options configure a Desk; all are required.
type Options struct {
	Dir      *store.Dir
	Log      *slog.Logger
	Guard    Guard
	Files    *policy.Provenance
	Index    *routines.Index
	Hooks    *webhook.Index
	Schedule Schedule
	Servers  Servers
	Tools    Tools
	// Note notifies the user and the agent.
	Note func(text string)
	// Tell notifies the agent only, in its next turn.
	Tell func(text string)
	// Post shows the user a message, and Retire removes its buttons. They may wait for a network.
	// Retire may be called again after an error.
	Post   func(context.Context, post.Post) (post.MessageID, error)
	Retire func(ctx context.Context, message post.MessageID, why string) error
	// Changed is called after something has started or stopped waiting.
	Changed func()
	// Ended is called after the user's approval of a file has ended.
	Ended func(file string)
}

// Guard returns why a file waits for the user's approval, or empty if it does not.
type Guard interface {
	TaskWaits(*routines.Task) string
	SkillWaits(skill.Skill) string
}

// Schedule determines again which tasks wait for approval, and writes their files.
type Schedule interface {
	Judge()
	// Refresh reloads files.
	Refresh(names ...string)
	// Refuse overwrites the waiting edit in a task's file with the text in force, and returns the
	// edit.
	Refuse(routines.Task) (refused []byte, err error)
}

// Desk holds back the agent's files until the user has approved them. Its methods may be called
// concurrently.
type Desk struct {
	o      Options
	skills atomic.Pointer[[]routines.Problem]
	cards  cards

	// judging makes a change of servers and the queueing of its cards one step.
	judging sync.Mutex
	servers atomic.Pointer[map[string]routines.Proposal] // waiting changes of the MCP servers, by ID
}

// New returns a Desk. It reads the skills.
func New(o Options) *Desk {
	d := &Desk{o: o, cards: cards{wake: make(chan struct{}, 1)}}
	d.judgeSkills()
	d.readServers()
	return d
}

// Handlers are the commands that answer what waits.
func (d *Desk) Handlers() []command.Handler {
	return []command.Handler{command.On(command.Directory, d.allow), command.On(command.Directory, d.refuse)}
}

// Beside returns the changes, other than tasks and webhooks, that were waiting when last checked:
// skills, the edit of the MCP servers' file, and changes to the servers' tools.
func (d *Desk) Beside() []routines.Problem {
	return slices.Concat(*d.skills.Load(), problems(d.heldServers()))
}

// WaitingTasks returns the tasks in the index that are waiting, or in which an edit is.
func (d *Desk) WaitingTasks() (list []routines.Problem) {
	for _, t := range d.o.Index.Set().Tasks() {
		if t.Waits != "" || t.Proposed.Version != "" {
			list = append(list, d.heldTask(*t).problem())
		}
	}
	return list
}

// Recover is for the program that owns the directory. An unreadable file of origins is set aside,
// and tasks that it could have held back are then held back.
func (d *Desk) Recover() {
	p := d.o.Files
	if err := p.Repair(); err != nil {
		d.o.Log.Error("the record of task writers was lost; tasks with extra rights need your approval", "error", err)
	}
	if _, err := p.Load(); err != nil {
		d.o.Log.Error("the record of task writers could not be checked", "error", err)
	}
	if err := p.Adopt(d.granting()); err != nil {
		d.o.Log.Error("the approvals of the last version were not taken over; those files wait", "error", err)
	}
	d.endApprovals(time.Now())
	live := d.inForce()
	routines.PruneTexts(d.o.Dir, p.Replaced(time.Now(), live))
	if err := p.Prune(time.Now(), live); err != nil {
		d.o.Log.Warn("old records of task writers were not removed", "error", err)
	}
	p.Scripts.Own()
	d.readServers()
	d.judge()
	d.recall()
}

// Reload loads what another command has approved.
func (d *Desk) Reload() {
	changed, err := d.o.Files.Load()
	if err != nil {
		d.o.Log.Error("the record of task writers could not be read; the previous one stays in force", "error", err)
	}
	if changed {
		d.judge()
	}
}

// judge determines again which files are waiting.
func (d *Desk) judge() {
	d.judgeSkills()
	d.o.Hooks.Judge()
	d.o.Schedule.Judge()
	d.Settle()
	d.o.Changed()
}

func (d *Desk) judgeSkills() {
	skills := problems(d.heldSkills())
	d.skills.Store(&skills)
}

// inForce returns a test for the versions of files that still exist: tasks and webhooks, which are
// known, and all other files, because a labeled session may have written them. The other files are
// read only if the test needs them.
func (d *Desk) inForce() func(digest string) bool {
	known := map[string]bool{}
	for _, digest := range slices.Concat(d.o.Index.Set().Versions, d.o.Hooks.Now().Versions) {
		known[digest] = true
	}
	files := sync.OnceValue(d.files)
	return func(digest string) bool { return known[digest] || files()[digest] }
}

// granting returns the paths of the files that can be approved, by the digests of their versions.
func (d *Desk) granting() map[string]string {
	files := map[string]string{}
	note := func(file string) {
		if data, err := d.o.Dir.Read(file); err == nil {
			files[routines.Digest(data)] = file
		}
	}
	for _, t := range d.o.Index.Set().Tasks() {
		files[t.Digest] = t.Path
		note(t.Path)
	}
	for _, s := range d.o.Hooks.Now().InForce {
		note(s.Path)
	}
	for _, s := range d.skillFiles() {
		note(s)
	}
	return files
}

// endApprovals ends the approvals of files that have gone or changed. A broken file whose last valid
// version is in force keeps that version's approval. again is when to check once more; zero means after
// the next change.
func (d *Desk) endApprovals(now time.Time) (again time.Time) {
	inForce := map[string]string{}
	for _, t := range d.o.Index.Set().Tasks() {
		inForce[t.Path] = t.Digest
	}
	for _, s := range d.o.Hooks.Now().InForce {
		inForce[s.Path] = s.Digest
	}
	ended, again, err := d.o.Files.EndApprovals(now, func(file, digest string) bool {
		data, err := d.o.Dir.Read(file)
		if err != nil {
			return !errors.Is(err, fs.ErrNotExist) // it cannot be read now
		}
		return routines.Digest(data) == digest || inForce[file] == digest
	})
	if err != nil {
		d.o.Log.Error("the end of an approval was not saved", "error", err)
		return now.Add(fresh)
	}
	for _, one := range ended {
		d.o.Ended(one.File)
	}
	return again
}

// fresh is how long after a failure the approvals are checked again.
const fresh = time.Minute

// files returns the digests of all files of the user.
func (d *Desk) files() map[string]bool {
	there := map[string]bool{}
	_ = fs.WalkDir(os.DirFS(d.o.Dir.Root()), ".", func(rel string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // it was removed, or even the bot may not read it
			return nil
		case e.IsDir() && (rel == store.StateDir || rel == ".git"):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if data, err := d.o.Dir.Read(rel); err == nil {
			there[routines.Digest(data)] = true
		}
		return nil
	})
	return there
}

// FileWaits reports once that a file is waiting for the user.
func (d *Desk) FileWaits(rel, why string) {
	d.o.Log.Warn("a file of the agent needs approval", "file", rel)
	text := textFileWaits
	d.refresh(rel)
	if one, ok := d.heldIn(rel); ok {
		d.cards.put(one, time.Time{})
		if one.edits() {
			text, why = textEditWaits, one.why
		}
	}
	d.o.Note(fmt.Sprintf(text, clean.Line(rel), why))
	if strings.HasPrefix(rel, skill.Folder+"/") {
		d.judge()
	}
}

// ScriptWaits tells the user that the check of the task in a file waits.
func (d *Desk) ScriptWaits(rel string) {
	d.judge()
	if one, ok := d.heldIn(rel); ok {
		d.cards.put(one, time.Time{})
		d.o.Note(fmt.Sprintf(textFileWaits, clean.Line(rel), one.why+"."))
	}
}

// refresh reloads a file that has just been written.
func (d *Desk) refresh(rel string) {
	d.o.Schedule.Refresh(rel)
	d.o.Hooks.Refresh([]string{rel})
}

// allow approves the file of a task, a webhook or a skill that the agent wrote, or
// withdraws the approval.
func (d *Desk) allow(_ context.Context, c command.AllowTask) (command.Outcome, error) {
	if ofServers(c.ID) && !c.Withdraw {
		return d.decideServers(c.ID, c.Version, true)
	}
	one, err := d.findNow(c.ID)
	if err != nil {
		return command.Outcome{}, err
	}
	if c.Version != "" && c.Version != one.digest {
		return command.Outcome{}, fmt.Errorf(textOtherVersion, one.title)
	}
	p := d.o.Files
	if c.Withdraw {
		if err := p.Withdraw(one.digest); err != nil {
			return command.Outcome{}, err
		}
		d.judge()
		return command.Outcome{
			Message: fmt.Sprintf(textWaitsAgain, one.title), Undo: command.AllowTask{ID: c.ID, Version: one.digest},
			Decision: audit.Entry{Action: audit.TaskHeld, Subject: c.ID},
		}, nil
	}
	out := command.Outcome{Message: fmt.Sprintf(textNotWaiting, one.title), Decision: audit.Entry{Action: audit.TaskReleased, Subject: c.ID}}
	if one.why == "" {
		return out, nil
	}
	if one.task.Script != "" {
		if err := p.Scripts.Approve(one.task.Check, one.digest); err != nil {
			return command.Outcome{}, err
		}
		d.judge()
		out.Message = fmt.Sprintf(textScriptAllowed, one.title)
		return out, nil
	}
	data, err := d.o.Dir.Read(one.file)
	if err == nil {
		d.script(one, data) // known from now on, whether or not it was shown
	}
	if err := p.Approve(one.digest, one.file, time.Now()); err != nil {
		return command.Outcome{}, err
	}
	d.judge()
	out.Message, out.Undo = fmt.Sprintf(textAllowed, one.title), command.AllowTask{ID: c.ID, Version: one.digest, Withdraw: true}
	if one.edits() {
		out.Message = fmt.Sprintf(textEditAllowed, one.title)
	}
	return out, nil
}

// refuse restores the file of a task or a webhook to the text in force.
func (d *Desk) refuse(_ context.Context, c command.RefuseEdit) (command.Outcome, error) {
	if ofServers(c.ID) {
		return d.decideServers(c.ID, c.Version, false)
	}
	one, err := d.findNow(c.ID)
	switch {
	case err != nil:
		return command.Outcome{}, err
	case !one.edits():
		return command.Outcome{}, fmt.Errorf(textNoEdit, one.title)
	case c.Version != "" && c.Version != one.digest:
		return command.Outcome{}, fmt.Errorf(textOtherVersion, one.title)
	}
	refused, err := d.o.Schedule.Refuse(one.task)
	d.refresh(one.file)
	d.Settle()
	d.o.Changed()
	switch {
	case errors.Is(err, routines.ErrOther):
		return command.Outcome{}, fmt.Errorf(textOtherVersion, one.title)
	case err != nil:
		return command.Outcome{}, err
	}
	out := command.Outcome{Message: fmt.Sprintf(textEditRefused, one.title), Decision: audit.Entry{Action: audit.TaskRefused, Subject: c.ID}}
	if one.task.Kind != routines.KindWebhook {
		out.Undo = command.RevertTask{ID: one.task.ID, Version: one.task.Digest, File: refused}
	}
	return out, nil
}

// held is a file that may be waiting for the user, and the reason.
type held struct {
	file, digest, title, why string
	task                     routines.Task // the task in force; zero for a skill
}

// edits reports whether the file is an edit, so that the earlier text is in force.
func (h held) edits() bool { return h.task.Proposed.Version != "" }

// problem returns the file as an entry of the list of problems.
func (h held) problem() routines.Problem {
	p := routines.Problem{File: h.file, Severity: routines.Warning, Waits: true, Version: h.digest, Proposed: h.task.Proposed}
	text := textWaits
	switch {
	case h.edits():
		text = textEdit
	case h.task.Path == "":
		text = textSkillWaits
	}
	p.Message = clean.Line(fmt.Sprintf(text, h.why))
	if h.task.Proposed.Text != "" {
		p.Message = clean.Line(h.task.Proposed.Text)
	}
	return p
}

// Task returns the task or webhook in force that ID names, as in command.AllowTask.
func (d *Desk) Task(id string) (routines.Task, bool) {
	one, err := d.find(id)
	return one.task, err == nil && one.task.Path != ""
}

// find finds a file by the id of its task or webhook, or by its path.
func (d *Desk) find(id string) (held, error) {
	if t, ok := d.o.Index.Set().Find(id); ok {
		return d.heldTask(t), nil
	}
	for _, t := range d.o.Index.Set().Tasks() {
		if t.Path == id {
			return d.heldTask(*t), nil
		}
	}
	for _, s := range d.o.Hooks.Now().InForce {
		if s.ID == id || s.Path == id {
			return d.heldTask(s.Task), nil
		}
	}
	name := strings.TrimSuffix(strings.TrimPrefix(id, skill.Folder+"/"), "/"+skill.File)
	if s, ok := skill.Read(d.o.Dir, name); ok {
		return d.heldSkill(s), nil
	}
	return held{}, fmt.Errorf(textNothingWaits, clean.Cut(clean.Line(id), 60))
}

// findNow is find after the file has been read again: what is decided about is what is on the disk.
func (d *Desk) findNow(id string) (held, error) {
	one, err := d.find(id)
	if err != nil {
		return held{}, err
	}
	d.refresh(one.file)
	return d.find(id)
}

func (d *Desk) heldTask(t routines.Task) held {
	if p := t.Proposed; p.Version != "" {
		return held{file: t.Path, digest: p.Version, title: t.Title(), why: p.Why, task: t}
	}
	why := d.o.Guard.TaskWaits(&t)
	return held{file: t.Path, digest: cmp.Or(t.Script, t.Digest), title: t.Title(), why: why, task: t}
}

// Look returns what ID names, as in command.AllowTask, and the picture of what allowing it would put in
// force. Waits is false if there is nothing to allow.
func (d *Desk) Look(id string) (p routines.Problem, picture string, err error) {
	if ofServers(id) {
		one := d.offered()[id]
		h := d.heldTask(routines.Task{Path: id, Description: id, Proposed: one})
		p, picture = h.problem(), one.Diff
		p.Waits = one.Version != ""
		return p, picture, nil
	}
	h, err := d.find(id)
	if err != nil {
		return p, "", err
	}
	p = h.problem()
	if p.Waits = h.why != ""; !p.Waits {
		return p, "", nil
	}
	picture, ok := d.diff(h)
	if !ok {
		return p, "", fmt.Errorf(textOtherVersion, h.title)
	}
	return p, picture, nil
}

// Waiting returns the files that have no effect until the user approves them, with the reasons.
func (d *Desk) Waiting() []routines.Problem { return problems(d.held()) }

func problems(list []held) (out []routines.Problem) {
	for _, h := range list {
		out = append(out, h.problem())
	}
	return out
}

// held returns the files that are waiting.
func (d *Desk) held() (list []held) {
	for _, t := range d.o.Index.Set().Tasks() {
		list = append(list, d.heldTask(*t))
	}
	list = append(list, d.heldSkills()...)
	list = append(list, d.heldServers()...)
	for _, s := range d.o.Hooks.Now().InForce {
		list = append(list, d.heldTask(s.Task))
	}
	return slices.DeleteFunc(list, func(h held) bool { return h.why == "" })
}

// heldIn returns the file at a path if it is waiting.
func (d *Desk) heldIn(rel string) (held, bool) {
	list := d.held()
	i := slices.IndexFunc(list, func(h held) bool { return h.file == rel })
	if i < 0 {
		return held{}, false
	}
	return list[i], true
}

// heldSkills returns the skills that are waiting.
func (d *Desk) heldSkills() (list []held) {
	for _, file := range d.skillFiles() {
		s, ok := skill.Read(d.o.Dir, path.Base(path.Dir(file)))
		if !ok {
			continue
		}
		if h := d.heldSkill(s); h.why != "" {
			h.file = file
			list = append(list, h)
		}
	}
	return list
}

// skillFiles returns the main files of all skills.
func (d *Desk) skillFiles() (list []string) {
	entries, err := os.ReadDir(d.o.Dir.Path(skill.Folder))
	if err != nil { // there are no skills
		return nil
	}
	for _, e := range entries {
		list = append(list, path.Join(skill.Folder, e.Name(), skill.File))
	}
	return list
}

func (d *Desk) heldSkill(s skill.Skill) held {
	return held{file: s.Path, digest: s.Digest, title: "skill " + s.Name, why: d.o.Guard.SkillWaits(s)}
}
