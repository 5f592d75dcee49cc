package core

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/routines"
)

// makeGuard makes the guard and lets it say which tasks wait for the user.
func (b *Bot) makeGuard() {
	b.guard = policy.New(policy.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Waits: b.fileWaits,
		Confined: func() bool { return b.o.Sandbox != nil && b.o.Sandbox.State().Inner },
		Base: func() []string {
			tools, _ := b.policy.Load() // its problems are shown with those of the files
			return policy.Strip(tools.Background())
		},
	})
	b.index.JudgeBy(b.guard.TaskWaits)
	if _, err := b.guard.Provenance().Load(); err != nil {
		b.log.Error("which tasks the agent has written is not known", "error", err)
	}
}

// loadProvenance is for the program that owns the directory: a file that cannot be
// read is set aside, and what it said is lost for good, which holds the tasks that
// it could have held.
func (b *Bot) loadProvenance() {
	p := b.guard.Provenance()
	if err := p.Repair(); err != nil {
		b.log.Error("who has written the tasks is lost: those that may do much wait for your word", "error", err)
	}
	if _, err := p.Load(); err != nil {
		b.log.Error("which tasks the agent has written is not known", "error", err)
	}
	if err := p.Prune(time.Now(), b.inForce()); err != nil {
		b.log.Warn("old origins of tasks were not forgotten", "error", err)
	}
	b.judge()
}

// reloadProvenance takes in what a command beside the bot has allowed.
func (b *Bot) reloadProvenance() {
	changed, err := b.guard.Provenance().Load()
	if err != nil {
		b.log.Error("which tasks the agent has written could not be read; what was known stays in force", "error", err)
	}
	if changed {
		b.judge()
	}
}

// judge asks about all tasks anew.
func (b *Bot) judge() {
	b.judgeSkills()
	b.hooks.Judge()
	b.schedule.Judge()
	b.notify()
}

func (b *Bot) judgeSkills() {
	skills := b.waitingSkills()
	b.heldSkills.Store(&skills)
}

// inForce reports whether a version of a file is still there.
func (b *Bot) inForce() func(digest string) bool {
	there := map[string]bool{}
	for _, digest := range slices.Concat(b.index.Set().Versions, b.hooks.Now().Versions) {
		there[digest] = true
	}
	skills, _ := skill.List(b.dir)
	for _, s := range skills {
		there[s.Digest] = true
	}
	return func(digest string) bool { return there[digest] }
}

// fileWaits says once that a file waits for the user.
func (b *Bot) fileWaits(rel, why string) {
	b.log.Warn("a file of the agent waits for the user", "file", rel)
	b.notes.Add(fmt.Sprintf(textFileWaits, clean.Line(rel), why))
	if strings.HasPrefix(rel, skill.Folder+"/") {
		b.judge()
	}
}

// allowTask lets a task, a webhook or a skill that the agent wrote have what its
// file says, or takes that back.
func (b *Bot) allowTask(_ context.Context, c command.AllowTask) (command.Outcome, error) {
	one, err := b.waiting(c.ID)
	if err != nil {
		return command.Outcome{}, err
	}
	if c.Version != "" && c.Version != one.digest {
		return command.Outcome{}, fmt.Errorf(textOtherVersion, one.title)
	}
	p := b.guard.Provenance()
	if c.Withdraw {
		if err := p.Withdraw(one.digest); err != nil {
			return command.Outcome{}, err
		}
		b.judge()
		return command.Outcome{Message: fmt.Sprintf(textWaitsAgain, one.title), Decision: audit.Entry{Action: audit.TaskHeld, Subject: c.ID}}, nil
	}
	out := command.Outcome{Message: fmt.Sprintf(textNotWaiting, one.title), Decision: audit.Entry{Action: audit.TaskReleased, Subject: c.ID}}
	if one.why == "" {
		return out, nil
	}
	if err := p.Approve(one.digest, one.file, b.now()); err != nil {
		return command.Outcome{}, err
	}
	b.judge()
	out.Message, out.Undo = fmt.Sprintf(textAllowed, one.title), command.AllowTask{ID: c.ID, Version: one.digest, Withdraw: true}
	return out, nil
}

// held is one file that may wait for the user.
type held struct{ file, digest, title, why string }

// waiting finds a file by the id of its task or webhook, or by its path.
func (b *Bot) waiting(id string) (held, error) {
	if t, ok := b.index.Set().Find(id); ok {
		return b.heldTask(t), nil
	}
	for _, t := range b.index.Set().Tasks() {
		if t.Path == id {
			return b.heldTask(*t), nil
		}
	}
	for _, s := range b.hooks.Now().InForce {
		if s.ID == id || s.Path == id {
			return b.heldTask(s.Task), nil
		}
	}
	name := strings.TrimSuffix(strings.TrimPrefix(id, skill.Folder+"/"), "/"+skill.File)
	if s, ok := skill.Read(b.dir, name); ok {
		return held{s.Path, s.Digest, "skill " + s.Name, b.guard.SkillWaits(s)}, nil
	}
	return held{}, fmt.Errorf(textNothingWaits, clean.Cut(clean.Line(id), 60))
}

func (b *Bot) heldTask(t routines.Task) held {
	return held{t.Path, t.Digest, t.Title(), b.guard.TaskWaits(&t)}
}

// Waiting are the files that do nothing until the user says so, with the reasons.
func (b *Bot) Waiting() []routines.Problem {
	var list []routines.Problem
	add := func(h held) {
		if h.why != "" {
			list = append(list, routines.Problem{
				File: h.file, Severity: routines.Warning, Message: fmt.Sprintf(textWaits, clean.Line(h.why)), Waits: true, Version: h.digest,
			})
		}
	}
	for _, t := range b.index.Set().Tasks() {
		add(b.heldTask(*t))
	}
	list = append(list, b.waitingSkills()...)
	for _, s := range b.hooks.Specs(true) {
		add(b.heldTask(s.Task))
	}
	return list
}

// waitingSkills are the skills among them.
func (b *Bot) waitingSkills() []routines.Problem {
	entries, err := os.ReadDir(b.dir.Path(skill.Folder))
	if err != nil { // there are none
		return nil
	}
	var list []routines.Problem
	for _, e := range entries {
		s, ok := skill.Read(b.dir, e.Name())
		if !ok {
			continue
		}
		if why := b.guard.SkillWaits(s); why != "" {
			list = append(list, routines.Problem{
				File: path.Join(skill.Folder, e.Name(), skill.File), Severity: routines.Warning,
				Message: clean.Line(fmt.Sprintf(textSkillWaits, why)), Waits: true, Version: s.Digest,
			})
		}
	}
	return list
}
