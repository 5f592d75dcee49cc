package routines

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
)

// Folders of the data directory that hold the files of each kind.
const (
	RoutineFolder  = "routines"
	ReminderFolder = "reminders"
)

// Before is called with a new file's path and bytes right before they are written;
// an error of its writes nothing. It must not write tasks itself.
type Before func(rel string, data []byte) error

// AddRoutine writes a routine to a file named after its prompt and returns it
// as the file says it, with its path. An empty id is filled in. What would not
// load again, such as a bad cron, is an error and writes nothing.
func AddRoutine(d *store.Dir, r Routine, before ...Before) (Routine, error) {
	r.Task = prepared(r.Task, KindRoutine)
	data := FormatRoutine(r)
	if _, problems := ParseRoutine("", data); HasErrors(problems) {
		return Routine{}, fmt.Errorf("add routine: %w", asError(problems))
	}
	rel, err := create(d, r.Task, data, before)
	if err != nil {
		return Routine{}, fmt.Errorf("add routine: %w", err)
	}
	r, _ = ParseRoutine(rel, data)
	r.Digest = Digest(data)
	return r, nil
}

// AddReminder is AddRoutine for a reminder. The first reminder of a chain
// (MaxChain above 0) becomes its own ChainParent.
func AddReminder(d *store.Dir, r Reminder, before ...Before) (Reminder, error) {
	r.Task = prepared(r.Task, KindReminder)
	if r.RunAt.IsZero() {
		return Reminder{}, errors.New("add reminder: " + msgNoRunAt)
	}
	if r.MaxChain > 0 && r.ChainParent == "" {
		r.ChainParent = r.ID
	}
	zone := r.RunAt.Location()
	data := FormatReminder(r)
	if _, problems := ParseReminder("", data, zone); HasErrors(problems) {
		return Reminder{}, fmt.Errorf("add reminder: %w", asError(problems))
	}
	rel, err := create(d, r.Task, data, before)
	if err != nil {
		return Reminder{}, fmt.Errorf("add reminder: %w", err)
	}
	r, _ = ParseReminder(rel, data, zone)
	r.Digest = Digest(data)
	return r, nil
}

// prepared fills in the id and cleans the texts: what comes from an agent or a
// command line is stored as it will be read.
func prepared(t Task, kind Kind) Task {
	t.Kind = kind
	if t.ID == "" {
		t.ID = store.NewID()
	}
	t.Description = clean.Line(t.Description)
	t.Body = strings.TrimSpace(clean.Text(t.Body))
	return t
}

// create finds the file name and writes, in one turn: two tasks that begin with
// the same words must not take each other's name.
func create(d *store.Dir, t Task, data []byte, before []Before) (rel string, err error) {
	folder, err := FolderOf(t.Kind)
	if err != nil {
		return "", err
	}
	err = d.WithLock(folder, func() error {
		rel, err = d.PlaceFor(folder, t.ID, t.Body)
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

// asError makes one error of all problems that are errors.
func asError(problems []Problem) error {
	var messages []string
	for _, p := range problems {
		if p.Severity == Error {
			messages = append(messages, p.Message)
		}
	}
	return errors.New(strings.Join(messages, "; "))
}

// FolderOf is where the files of a kind lie.
func FolderOf(kind Kind) (string, error) {
	switch kind {
	case KindRoutine:
		return RoutineFolder, nil
	case KindReminder:
		return ReminderFolder, nil
	}
	return "", fmt.Errorf("a %s has no file of its own here; remove a routine or a reminder", kind)
}

// RemoveTask removes a file whose id is id, and says which it was: the one in
// force, whose path the caller knows, or else the first by name. RestoreTask can
// put it back for a day. Files that cannot be read or parsed are passed over.
func RemoveTask(d *store.Dir, kind Kind, id, inForce string) (rel string, found bool, err error) {
	folder, err := FolderOf(kind)
	if err != nil {
		return "", false, err
	}
	err = d.WithLock(folder, func() error {
		rel = inForce
		if rel == "" || path.Dir(rel) != folder || !carries(d, rel, id) {
			if rel, err = findFile(d, folder, id); err != nil || rel == "" {
				return err
			}
		}
		found = true
		return d.Discard(time.Now(), rel)
	})
	if err != nil {
		return "", false, fmt.Errorf("remove %s %s: %w", kind, id, err)
	}
	return rel, found, nil
}

// findFile is the path of the first file of the folder with that id, or empty.
func findFile(d *store.Dir, folder, id string) (string, error) {
	entries, err := d.Entries(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".md") {
			continue
		}
		if rel := folder + "/" + e.Name(); carries(d, rel, id) {
			return rel, nil
		}
	}
	return "", nil
}

// carries reports whether a file can be read and has the id.
func carries(d *store.Dir, rel, id string) bool {
	data, err := d.Read(rel)
	if err != nil || !bytes.Contains(data, []byte(id)) && !bytes.ContainsAny(data, `\'`) {
		return false // gone, unreadable, or another task's: only an escape can hide an id
	}
	doc, err := store.ParseFrontMatter(data)
	if err != nil {
		return false
	}
	f, ok := doc.Get("id")
	return ok && f.Value.Kind == store.Scalar && f.Value.Text == id
}

// ErrNotRemoved says that no file of a task was removed within the last day.
var ErrNotRemoved = errors.New("nothing with this id was removed within the last day")

// Removed is a task whose file was removed and can be put back.
type Removed struct {
	Task
	At time.Time // when it was removed

	file store.Discarded
}

// RemovedTasks are the tasks whose files were removed within the day before
// now, the newest of each folder first. Files that cannot be read are left out.
func RemovedTasks(d *store.Dir, now time.Time) []Removed {
	var list []Removed
	seen := map[[2]string]bool{}
	for _, kind := range []Kind{KindReminder, KindRoutine} {
		folder, _ := FolderOf(kind)
		for _, file := range d.Trash(now, folder) {
			data, err := d.ReadDiscarded(file)
			if err != nil {
				continue
			}
			r, problems := ParseReminder(file.Rel, data, now.Location())
			t := r.Task
			if kind == KindRoutine {
				var routine Routine
				routine, problems = ParseRoutine(file.Rel, data)
				t = routine.Task
			}
			k := [2]string{string(kind), t.ID}
			if !HasErrors(problems) && !seen[k] {
				seen[k] = true
				list = append(list, Removed{Task: t, At: file.At, file: file})
			}
		}
	}
	return list
}

// RestoreTask puts the file of a removed task back and returns the task with
// its path: its old one, or another where that is taken. ErrNotRemoved says that
// there is none.
func RestoreTask(d *store.Dir, now time.Time, id string) (Task, error) {
	for _, r := range RemovedTasks(d, now) {
		if r.ID != id {
			continue
		}
		folder, _ := FolderOf(r.Kind)
		err := d.WithLock(folder, func() error {
			if there, err := findFile(d, folder, id); err != nil || there != "" {
				return errors.Join(err, present(there))
			}
			err := d.Restore(r.file, r.Path)
			if err == nil {
				return nil
			}
			place, perr := d.PlaceFor(folder, id, r.Body)
			if perr != nil || place == r.Path {
				return err
			}
			r.Path = place
			return d.Restore(r.file, place)
		})
		if err != nil {
			return Task{}, fmt.Errorf("restore %s %s: %w", r.Kind, id, err)
		}
		return r.Task, nil
	}
	return Task{}, ErrNotRemoved
}

func present(rel string) error {
	if rel == "" {
		return nil
	}
	return fmt.Errorf("it is there already (%s)", rel)
}

// FormatRoutine writes a routine as its file: keys in the order of the original,
// those left out that have their default.
func FormatRoutine(r Routine) []byte {
	out := []store.Out{{Key: "id", Value: r.ID}, {Key: "cron", Value: r.Cron}}
	if r.Background {
		out = append(out, store.Out{Key: "background", Value: true})
	}
	out = appendCommon(out, r.Task)
	if r.RunMissed {
		out = append(out, store.Out{Key: "missed", Value: "run"})
	}
	return store.FormatFrontMatter(out, r.Body)
}

// FormatReminder writes a reminder as its file. background is always written:
// the original program has another default than ours.
func FormatReminder(r Reminder) []byte {
	out := []store.Out{
		{Key: "id", Value: r.ID},
		{Key: "run-at", Value: r.RunAt.Format(runAtLayout)},
		{Key: "background", Value: r.Background},
	}
	if r.ChainDepth != 0 {
		out = append(out, store.Out{Key: "chain-depth", Value: r.ChainDepth})
	}
	if r.MaxChain != 0 {
		out = append(out, store.Out{Key: "max-chain", Value: r.MaxChain})
	}
	out = appendText(out, "chain-parent", r.ChainParent)
	if r.UntilDone {
		out = append(out, store.Out{Key: "until", Value: "done"})
		if r.Again != 0 && r.Again != DefaultAgain {
			out = append(out, store.Out{Key: "again", Value: r.Again})
		}
	}
	return store.FormatFrontMatter(appendCommon(out, r.Task), r.Body)
}

// appendCommon adds what both kinds share, from model on.
func appendCommon(out []store.Out, t Task) []store.Out {
	out = appendText(out, "model", t.Model)
	if !t.Thinking {
		out = append(out, store.Out{Key: "thinking", Value: false})
	}
	if t.Isolated {
		out = append(out, store.Out{Key: "isolated", Value: true})
	}
	out = appendText(out, "description", t.Description)
	if t.Mode != OnPing {
		out = appendText(out, "update-main-session", string(t.Mode))
	}
	if !t.AllowPing {
		out = append(out, store.Out{Key: "allow-ping", Value: false})
	}
	out = appendList(out, "allowed-tools", t.Allowed)
	out = appendList(out, "disallowed-tools", t.Disallowed)
	out = appendList(out, "skills", t.Skills)
	out = appendText(out, "subagent", t.Subagent)
	if t.TrustInput {
		out = append(out, store.Out{Key: "trust-input", Value: true})
	}
	if t.Critical {
		out = append(out, store.Out{Key: "critical", Value: true})
	}
	if t.MayWait {
		out = append(out, store.Out{Key: "may-wait", Value: true})
	}
	return out
}

func appendText(out []store.Out, key, text string) []store.Out {
	if text == "" {
		return out
	}
	return append(out, store.Out{Key: key, Value: text})
}

// appendList leaves out what is absent; an empty list says something: no tools.
func appendList(out []store.Out, key string, items []string) []store.Out {
	if items == nil {
		return out
	}
	return append(out, store.Out{Key: key, Value: items})
}
