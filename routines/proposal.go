package routines

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
)

// Proposal is a version of a file that an agent wrote over a text in force, and that waits
// for the user. The text before it stays in force.
type Proposal struct {
	Version string `json:"version"` // its Digest; empty for no proposal
	Why     string `json:"why"`     // why it waits
	Diff    string `json:"diff"`    // what it changes, as a unified diff without its head; cleaned, may be cut
}

// Says is why the proposal waits, in a sentence of its own, as every place shows it.
func (p Proposal) Says() string { return fmt.Sprintf(textProposal, p.Why) }

const textProposal = "With the agent's edit, %s. The old text stays in force until you decide."

const (
	// keptFolder has the texts that stay in force while proposals wait, by version: the files
	// themselves hold the proposals, and there may be no git history.
	keptFolder = store.StateDir + "/approved"
	// mostDiff is the longest diff that is shown, in characters.
	mostDiff = 20_000
	diffTail = "\n(the rest of the changes is not shown; open the file)"
)

func keptFile(version string) string { return keptFolder + "/" + version + ".md" }

// KeepText stores a text so that it can stay in force while a proposal waits in its file.
func KeepText(d *store.Dir, data []byte) error {
	version := Digest(data)
	if _, err := keptText(d, version); err == nil {
		return nil
	}
	if err := d.Write(keptFile(version), data); err != nil {
		return fmt.Errorf("keep the text in force: %w", err)
	}
	return nil
}

// keptText returns a text that was kept. One that was changed on the disk is no such text.
func keptText(d *store.Dir, version string) ([]byte, error) {
	if version == "" {
		return nil, fs.ErrNotExist
	}
	data, err := d.Read(keptFile(version))
	if err == nil && Digest(data) != version {
		err = fmt.Errorf("%s: %w", keptFile(version), ErrOther)
	}
	return data, err
}

// PruneTexts removes the kept texts that are not wanted any more.
func PruneTexts(d *store.Dir, wanted func(version string) bool) {
	entries, err := d.Entries(keptFolder)
	if err != nil { // there are none
		return
	}
	for _, e := range entries {
		if version, ok := strings.CutSuffix(e.Name(), ".md"); ok && !wanted(version) {
			_ = d.Remove(keptFolder + "/" + e.Name()) // it is tried again at the next start
		}
	}
}

// ReadText returns the text of a task in force: that of its file, or while a proposal waits
// there, the one before it.
func ReadText(d *store.Dir, t Task) ([]byte, error) {
	if t.Proposed.Version != "" {
		return keptText(d, t.Digest)
	}
	return d.Read(t.Path)
}

// RefuseProposal writes the text in force over the proposal that waits in a task's file, and
// returns the proposal, which is also kept in the trash. ErrOther says that the file is
// another version by now.
func RefuseProposal(d *store.Dir, now time.Time, t Task) (refused []byte, err error) {
	err = d.WithLock(path.Dir(t.Path), func() error {
		refused, err = putBack(d, now, t)
		return err
	})
	if err != nil && !errors.Is(err, ErrOther) {
		err = fmt.Errorf("restore %s: %w", t.Path, err)
	}
	return refused, err
}

// putBack is RefuseProposal within the lock.
func putBack(d *store.Dir, now time.Time, t Task) (refused []byte, err error) {
	if refused, err = d.Read(t.Path); err != nil {
		return refused, err
	}
	if Digest(refused) != t.Proposed.Version {
		return refused, ErrOther
	}
	before, err := keptText(d, t.Digest)
	if err != nil {
		return refused, err
	}
	if err := trash.Copy(d, now, t.Path, refused); err != nil {
		return refused, err
	}
	return refused, d.Write(t.Path, before)
}

// discard moves a task's file to the trash. A proposal that waits there goes to the trash
// beside it, so that what can be restored is the text in force.
func discard(d *store.Dir, now time.Time, rel string, inForce Task) error {
	if rel == inForce.Path && inForce.Proposed.Version != "" {
		_, err := putBack(d, now, inForce)
		if err != nil && !errors.Is(err, ErrOther) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return trash.Put(d, now, rel)
}

// Diff is what changes between two texts. Its head would only name the file twice.
func Diff(before, after []byte) string {
	old, changed := diffable(before), diffable(after)
	text, err := udiff.ToUnified("", "", old, udiff.Lines(old, changed), udiff.DefaultContextLines)
	if err != nil { // the changes are those of the text
		return ""
	}
	if i := strings.Index(text, "@@"); i >= 0 {
		text = text[i:]
	}
	text = strings.TrimRight(text, "\n")
	if cut := clean.Cut(text, mostDiff); cut != text {
		text = cut + diffTail
	}
	return text
}

// diffable is a text as it is shown, line by line.
func diffable(data []byte) string {
	return strings.TrimRight(clean.Text(string(data)), "\n") + "\n"
}
