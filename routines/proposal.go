package routines

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"ollimbot/core/base/visible"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
)

// Proposal is an agent's edit of a task file that awaits the user's approval. The text
// before it stays in force. Anything else that awaits approval with a diff uses it, too.
type Proposal struct {
	Version string `json:"version"` // its Digest; empty for no proposal
	Why     string `json:"why"`     // why it needs approval
	Diff    string `json:"diff"`    // the changes as a unified diff without its head; cleaned, may be cut
	// What names it and Text says why it waits, as a full sentence. Both are empty for an edit by
	// the agent.
	What string `json:"what,omitempty"`
	Text string `json:"text,omitempty"`
}

// Says returns why the proposal is waiting, as full sentences used by every view.
func (p Proposal) Says() string { return cmp.Or(p.Text, fmt.Sprintf(textProposal, p.Why)) }

// Named returns what is waiting, to be put behind an article. name is the task's, or its file's.
func (p Proposal) Named(name string) string { return cmp.Or(p.What, "edit of "+name) }

// Title returns what is waiting, as a title.
func (p Proposal) Title(name string) string {
	named := p.Named(name)
	return strings.ToUpper(named[:1]) + named[1:]
}

const textProposal = "With the agent's edit, %s. The old text stays in force until you decide."

const (
	// keptFolder holds, by version, the texts that stay in force while proposals await
	// approval: the task files contain the proposals, and there may be no git history.
	keptFolder = store.StateDir + "/approved"
	// mostDiff is the longest diff shown, in characters.
	mostDiff = 200_000
)

func keptFile(version string) string { return keptFolder + "/" + version + ".md" }

// KeepText stores a text so that it can stay in force while its file contains a proposal.
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

// keptText returns a kept text. It rejects one that was changed on disk.
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

// PruneTexts removes kept texts that are no longer wanted.
func PruneTexts(d *store.Dir, wanted func(version string) bool) {
	entries, err := d.Entries(keptFolder)
	if err != nil { // no texts are kept
		return
	}
	for _, e := range entries {
		if version, ok := strings.CutSuffix(e.Name(), ".md"); ok && !wanted(version) {
			_ = d.Remove(keptFolder + "/" + e.Name()) // retried at the next start
		}
	}
}

// ReadText returns the text of a task in force: its file's or, while a proposal is
// pending, the one before it.
func ReadText(d *store.Dir, t Task) ([]byte, error) {
	if t.Proposed.Version != "" {
		return keptText(d, t.Digest)
	}
	return d.Read(t.Path)
}

// RefuseProposal overwrites the proposal in a task's file with the text in force. It
// returns the proposal and also moves it to the trash. ErrOther means that the file has
// changed since.
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

// putBack is RefuseProposal without the lock.
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

// discard moves a task's file to the trash. If it contains a proposal, the proposal is
// trashed separately, so that a restore brings back the text in force.
func discard(d *store.Dir, now time.Time, rel string, inForce Task) error {
	if rel == inForce.Path && inForce.Proposed.Version != "" {
		_, err := putBack(d, now, inForce)
		if err != nil && !errors.Is(err, ErrOther) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return trash.Put(d, now, rel)
}

// Diff returns the changes between two texts without the head, which would only name the
// file twice.
func Diff(before, after []byte) string {
	old, changed := diffable(before), diffable(after)
	text, err := udiff.ToUnified("", "", old, udiff.Lines(old, changed), udiff.DefaultContextLines)
	if err != nil { // every error stems from the texts themselves
		return ""
	}
	if i := strings.Index(text, "@@"); i >= 0 {
		text = text[i:]
	}
	text = strings.TrimRight(text, "\n")
	text, _ = visible.Excerpt(text, mostDiff)
	return text
}

// diffable returns the picture of a text, ending in one newline.
func diffable(data []byte) string {
	text := Pictured(data)
	if text == "" { // a file that is new has no empty line to take away
		return ""
	}
	return text + "\n"
}

// Pictured returns the picture of a file (package visible), in which the line break at its end is not
// shown.
func Pictured(data []byte) string { return visible.Text(strings.TrimSuffix(string(data), "\n")) }
