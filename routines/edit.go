package routines

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
	"ollimbot/routines/leeway"
	"ollimbot/routines/recur"
	"ollimbot/routines/when"
)

// Folders of the data directory with the task files of each kind.
const (
	RoutineFolder  = "routines"
	ReminderFolder = "reminders"
)

// Before is called with a new file's path and bytes just before they are written. If it
// returns an error, nothing is written. It must not write tasks itself.
type Before func(rel string, data []byte) error

// AddRoutine writes a routine to a file named after its prompt and returns the routine as
// read back from the file, with its path. It fills in an empty id. A routine that would
// not load, for example because of a bad cron, is an error and writes nothing.
func AddRoutine(d *store.Dir, r Routine, before ...Before) (Routine, error) {
	r.Task = prepared(r.Task, KindRoutine)
	data := FormatRoutine(r)
	rel, err := create(d, r.Task, data, before)
	if err != nil {
		return Routine{}, fmt.Errorf("add routine: %w", err)
	}
	r, _ = ParseRoutine(rel, data)
	r.Digest = Digest(data)
	return r, nil
}

// AddReminder is AddRoutine for reminders. The first reminder of a chain (MaxChain above
// 0) becomes its own ChainParent.
func AddReminder(d *store.Dir, r Reminder, before ...Before) (Reminder, error) {
	r.Task = prepared(r.Task, KindReminder)
	if r.RunAt.IsZero() {
		return Reminder{}, errors.New("add reminder: " + msgNoRunAt)
	}
	if r.MaxChain > 0 && r.ChainParent == "" {
		r.ChainParent = r.ID
	}
	zone, data := r.RunAt.Location(), FormatReminder(r)
	rel, err := create(d, r.Task, data, before)
	if err != nil {
		return Reminder{}, fmt.Errorf("add reminder: %w", err)
	}
	r, _ = ParseReminder(rel, data, zone)
	r.Digest = Digest(data)
	return r, nil
}

// prepared fills in the id and cleans the texts, so that input from an agent or a command
// line is stored exactly as it will be read.
func prepared(t Task, kind Kind) Task {
	t.Kind = kind
	if t.ID == "" {
		t.ID = store.NewID()
	}
	t.Description = clean.Line(t.Description)
	t.Body = strings.TrimSpace(clean.Text(t.Body))
	return t
}

// create picks the file name and writes the file under one lock: two tasks that start
// with the same words must not get the same name.
func create(d *store.Dir, t Task, data []byte, before []Before) (rel string, err error) {
	if _, problems := Parse(t.Kind, "", data, time.UTC); HasErrors(problems) {
		return "", asError(problems)
	}
	folder, err := FolderOf(t.Kind)
	if err != nil {
		return "", err
	}
	err = d.WithLock(folder, func() error {
		rel, err = fileName(d, folder, t.ID, t.Body)
		if err != nil {
			return err
		}
		for _, f := range before {
			if err := f(rel, data); err != nil {
				return err
			}
		}
		return d.Write(rel, data)
	})
	return rel, err
}

// asError combines all problems of severity Error into one error.
func asError(problems []Problem) error {
	var messages []string
	for _, p := range problems {
		if p.Severity == Error {
			messages = append(messages, p.Message)
		}
	}
	return errors.New(strings.Join(messages, "; "))
}

// FolderOf returns the folder with the files of a kind.
func FolderOf(kind Kind) (string, error) {
	switch kind {
	case KindRoutine:
		return RoutineFolder, nil
	case KindReminder:
		return ReminderFolder, nil
	}
	return "", fmt.Errorf("a %s has no file here; remove a routine or a reminder", kind)
}

// RemoveTask removes the file with this id and returns its path: the file of the task in
// force, if the caller knows it, or else the first by name. RestoreTask can bring it back
// for a day. Files that cannot be read or parsed are skipped.
func RemoveTask(d *store.Dir, kind Kind, id string, inForce Task) (rel string, found bool, err error) {
	folder, err := FolderOf(kind)
	if err != nil {
		return "", false, err
	}
	err = d.WithLock(folder, func() error {
		if rel, err = fileOf(d, folder, id, inForce); err != nil || rel == "" {
			return err
		}
		found = true
		return discard(d, time.Now(), rel, inForce)
	})
	if err != nil {
		return "", false, fmt.Errorf("remove %s %s: %w", kind, id, err)
	}
	return rel, found, nil
}

// fileOf returns the path of the file with this id in a folder: the file of the task in
// force, if the caller knows it, or else the first by name; empty if none matches. A
// proposal may have changed the id in the file. Unreadable files are skipped.
func fileOf(d *store.Dir, folder, id string, inForce Task) (string, error) {
	carries := func(rel string) bool {
		data, err := d.Read(rel)
		return err == nil && (frontmatter.HasID(data, id) || rel == inForce.Path && Digest(data) == inForce.Proposed.Version)
	}
	if path.Dir(inForce.Path) == folder && carries(inForce.Path) {
		return inForce.Path, nil
	}
	entries, err := d.Entries(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for _, e := range entries {
		if rel := folder + "/" + e.Name(); strings.HasSuffix(rel, ".md") && carries(rel) {
			return rel, nil
		}
	}
	return "", err
}

// ErrNotRemoved means that no task file with this id was removed within the last day.
var ErrNotRemoved = errors.New("nothing with this id was removed within the last day")

// Removed is a task whose file was removed and can be restored.
type Removed struct {
	Task
	At time.Time // when it was removed

	file trash.File
}

// RemovedTasks returns the tasks whose files were removed within the day before now, the
// newest of each folder first. Unreadable files are left out.
func RemovedTasks(d *store.Dir, now time.Time) []Removed {
	var list []Removed
	seen := map[[2]string]bool{}
	for _, kind := range []Kind{KindReminder, KindRoutine} {
		folder, _ := FolderOf(kind)
		for _, file := range trash.List(d, now, folder) {
			data, err := trash.Read(d, file)
			if err != nil {
				continue
			}
			t, problems := Parse(kind, file.Rel, data, now.Location())
			k := [2]string{string(kind), t.ID}
			if !HasErrors(problems) && !seen[k] {
				seen[k] = true
				list = append(list, Removed{Task: t, At: file.At, file: file})
			}
		}
	}
	return list
}

// RestoreTask restores the file of a removed task and returns the task with its path: the
// old one, or another if that is taken. It returns ErrNotRemoved if there is nothing to
// restore.
func RestoreTask(d *store.Dir, now time.Time, id string) (Task, error) {
	for _, r := range RemovedTasks(d, now) {
		if r.ID != id {
			continue
		}
		folder, _ := FolderOf(r.Kind)
		err := d.WithLock(folder, func() error {
			there, err := fileOf(d, folder, id, Task{})
			if err != nil {
				return err
			}
			if there != "" {
				return fmt.Errorf("it already exists (%s)", there)
			}
			if err = trash.Restore(d, r.file, r.Path); err == nil {
				return nil
			}
			place, perr := fileName(d, folder, id, r.Body)
			if perr != nil || place == r.Path {
				return err
			}
			r.Path = place
			return trash.Restore(d, r.file, place)
		})
		if err != nil {
			return Task{}, fmt.Errorf("restore %s %s: %w", r.Kind, id, err)
		}
		return r.Task, nil
	}
	return Task{}, ErrNotRemoved
}

// FormatRoutine returns the file of a routine: keys in the original program's order,
// without those that have their default.
func FormatRoutine(r Routine) []byte {
	out := []frontmatter.Entry{{Key: "id", Value: r.ID}, {Key: "cron", Value: r.Cron}}
	out = append(append(out, ScheduleKeys(r.Schedule)[1:]...), frontmatter.Entry{Key: "background", Value: unless(false, r.Background)})
	out = append(append(out, leewayKeys(r.Leeway)...), common(r.Task)...)
	if r.RunMissed {
		out = append(out, frontmatter.Entry{Key: "missed", Value: "run"})
	}
	if r.Late != 0 && r.Late != UsualLate {
		out = append(out, frontmatter.Entry{Key: "late", Value: leeway.FormatJitter(r.Late)})
	}
	out = append(out, frontmatter.Entry{Key: "check", Value: unless("", r.Check)})
	if r.Says {
		out = append(out, frontmatter.Entry{Key: "say", Value: "check"})
	}
	return frontmatter.Format(out, r.Body)
}

// ScheduleKeys returns cron and the keys that narrow and bound it, with nil for those that a file
// must not have.
func ScheduleKeys(r recur.Recurrence) []frontmatter.Entry {
	out := []frontmatter.Entry{{Key: "cron", Value: r.Cron.String()}}
	for _, k := range r.Keys() {
		e := frontmatter.Entry{Key: k.Name, Value: unless("", k.Value)}
		if k.Name == recur.KeyTimes {
			e.Value = unless(0, r.Times)
		}
		out = append(out, e)
	}
	return out
}

// FormatReminder returns the file of a reminder. It always writes background, because the
// original program's default differs from ours.
func FormatReminder(r Reminder) []byte {
	out := []frontmatter.Entry{
		{Key: "id", Value: r.ID},
		{Key: "run-at", Value: r.RunAt.Format(runAtLayout)},
		{Key: "background", Value: r.Background},
		{Key: "chain-depth", Value: unless(0, r.ChainDepth)},
		{Key: "max-chain", Value: unless(0, r.MaxChain)},
		{Key: "chain-parent", Value: unless("", r.ChainParent)},
	}
	out = append(out, leewayKeys(r.Leeway)...)
	if r.UntilDone {
		out = append(out, frontmatter.Entry{Key: "until", Value: "done"}, frontmatter.Entry{Key: "again", Value: unless(defaultAgain, cmp.Or(r.Again, defaultAgain))})
	}
	out = append(out, frontmatter.Entry{Key: "ahead", Value: given(AheadItems(r.Ahead))})
	return frontmatter.Format(append(out, common(r.Task)...), r.Body)
}

// AheadItems returns what a reminder says before it is due as its file has it; nil if it says nothing.
func AheadItems(list []when.Ahead) (items []string) {
	for _, a := range list {
		items = append(items, a.String())
	}
	return items
}

// common returns the keys that both kinds share, from model on.
func common(t Task) []frontmatter.Entry {
	return []frontmatter.Entry{
		{Key: "model", Value: unless("", t.Model)},
		{Key: "thinking", Value: unless(true, t.Thinking)},
		{Key: "isolated", Value: unless(false, t.Isolated)},
		{Key: "description", Value: unless("", t.Description)},
		{Key: "update-main-session", Value: unless(string(OnPing), cmp.Or(string(t.Mode), string(OnPing)))},
		{Key: "allow-ping", Value: unless(true, t.AllowPing)},
		{Key: "allowed-tools", Value: given(t.Allowed)},
		{Key: "disallowed-tools", Value: given(t.Disallowed)},
		{Key: "skills", Value: given(t.Skills)},
		{Key: "subagent", Value: unless("", t.Subagent)},
		{Key: "trust-input", Value: unless(false, t.TrustInput)},
		{Key: "critical", Value: unless(false, t.Critical)},
		{Key: "essential", Value: unless(false, t.Essential)},
	}
}

// unless returns the value of a key, or nil if it equals the default.
func unless[T comparable](standard, value T) any {
	if value == standard {
		return nil
	}
	return value
}

// given returns a list, or nil if it is nil. An empty list has a meaning: no tools.
func given(items []string) any {
	if items == nil {
		return nil
	}
	return items
}
