package guide

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// recordFile records what was installed. The original program does not use it.
const recordFile = "state/installed.json"

// record describes one installed file.
type record struct {
	Ours string `json:"ours"` // hash of the built-in text it was made from
	File string `json:"file"` // hash of the written bytes
}

// Install installs and updates the files in a prepared data directory. It is called at
// every start, before the first session, and writes only what is necessary. A file that
// cannot be written is reported in a note and retried at the next start. Nothing is
// written through links that lead out of the directory. An error means that the directory
// itself is unusable.
func Install(d *store.Dir, o Options) ([]Note, error) {
	list, err := items()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.Root())
	if err != nil {
		return nil, fmt.Errorf("install the agent's files: %w", err)
	}
	defer root.Close()
	in := &installer{dir: d, root: root, options: o}
	if err := d.WithLock("installed", func() error { in.run(list); return nil }); err != nil {
		in.warn(recordFile, fmt.Sprintf(textNotRecorded, err))
	}
	return in.notes, nil
}

// installer is a running Install.
type installer struct {
	dir     *store.Dir
	root    *os.Root
	options Options
	records map[string]record
	changed bool // records
	notes   []Note
}

func (in *installer) run(list []item) {
	if _, err := in.dir.ReadJSON(recordFile, &in.records); err != nil {
		in.warn(recordFile, err.Error())
	}
	if in.records == nil {
		in.records = map[string]record{}
	}
	for _, it := range list {
		if it.google && (!in.options.Google || in.options.NoMail) {
			in.withdraw(it)
			continue
		}
		in.install(it)
	}
	in.link()
	if !in.changed {
		return
	}
	if err := in.dir.WriteJSON(recordFile, in.records); err != nil {
		in.warn(recordFile, fmt.Sprintf(textNotRecorded, err))
	}
}

// install handles one file by its rule.
func (in *installer) install(it item) {
	known, recorded := in.records[it.path]
	there, err := inspect(in.root, in.dir, it.path)
	want := it.fill(in.options)
	switch {
	case err != nil:
		in.warn(it.path, fmt.Sprintf(textNotReached, clean.Line(err.Error())))
	case there.is == missing:
		if it.rule != once || !recorded {
			in.write(it, want, textInstalled)
		}
	case it.rule == once:
		if !recorded {
			in.know(it, there.data)
		}
	case there.is == leadsOut && it.rule == follow:
		in.replaceLink(it, want)
	case there.is != ordinary: // the user set it up this way
	case bytes.Equal(there.data, want):
		in.know(it, want)
	case it.rule == follow && known.File == routines.Digest(there.data) && known.Ours != it.version:
		in.write(it, want, textRefreshed)
	}
}

// withdraw removes a file about a feature that is not set up, unless the user has changed
// it.
func (in *installer) withdraw(it item) {
	there, err := inspect(in.root, in.dir, it.path)
	if err != nil || there.is != ordinary || in.records[it.path].File != routines.Digest(there.data) {
		return
	}
	if err := in.dir.Remove(it.path); err != nil {
		in.warn(it.path, clean.Line(err.Error()))
		return
	}
	delete(in.records, it.path)
	in.changed = true
}

func (in *installer) write(it item, data []byte, note string) {
	if err := in.dir.Write(it.path, data); err != nil {
		in.warn(it.path, clean.Line(err.Error()))
		return
	}
	in.know(it, data)
	in.notes = append(in.notes, Note{File: it.path, Text: note})
}

// replaceLink replaces a link that leads out of the directory with a document: the
// original program made such links to its own documents, which the agent may not read
// there.
func (in *installer) replaceLink(it item, data []byte) {
	if err := in.dir.Remove(it.path); err != nil {
		in.warn(it.path, clean.Line(err.Error()))
		return
	}
	in.write(it, data, textLinkReplaced)
}

// know records the current file.
func (in *installer) know(it item, data []byte) {
	now := record{Ours: it.version, File: routines.Digest(data)}
	if in.records[it.path] != now {
		in.records[it.path] = now
		in.changed = true
	}
}

func (in *installer) warn(file, text string) {
	in.notes = append(in.notes, Note{File: file, Text: text, Warning: true})
}

// The folder in which the engine looks for skills, and the target of the link in its
// place.
const (
	skillsLink   = ".claude/skills"
	skillsTarget = "../skills"
)

// link makes the user's skills visible to the engine. Anything that already exists there
// is kept.
func (in *installer) link() {
	_, err := in.root.Lstat(skillsLink)
	if errors.Is(err, fs.ErrNotExist) {
		if err = in.root.MkdirAll(path.Dir(skillsLink), 0o700); err == nil {
			err = in.root.Symlink(skillsTarget, skillsLink)
		}
	}
	if err != nil {
		in.warn(skillsLink, fmt.Sprintf(textNoLink, clean.Line(err.Error())))
	}
}

// standing is the kind of a file that was found.
type standing int

const (
	missing  standing = iota
	ordinary          // a file of the directory
	leadsOut          // a link out of the directory, or a dangling one
	other             // a link within the directory, a folder, a pipe
)

// found is the kind of a file, and the content of an ordinary one.
type found struct {
	is   standing
	data []byte
}

// inspect never follows a link out of the directory. One in the path is an error; one as
// the last component is reported as such.
func inspect(root *os.Root, d *store.Dir, name string) (found, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{is: missing}, nil
	case err != nil:
		return found{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		if _, err := root.Stat(name); err != nil {
			return found{is: leadsOut}, nil
		}
		return found{is: other}, nil
	case !info.Mode().IsRegular():
		return found{is: other}, nil
	}
	data, err := d.Read(name)
	if err != nil {
		return found{}, err
	}
	return found{is: ordinary, data: data}, nil
}

// Offer is a file of which the program has a newer version.
type Offer struct {
	File   string // relative to the data directory
	Edited bool   // the user changed it, or it was never ours
	Text   string // a sentence: what is offered, and how to take it
}

// Offers returns the newer versions that Install does not install by itself, sorted by
// path. It only reads; unreadable files are not offered. A file that the user replaced
// with a link or a folder is not offered either.
func Offers(d *store.Dir) []Offer {
	list, err := items()
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(d.Root())
	if err != nil {
		return nil
	}
	defer root.Close()
	var records map[string]record
	if _, err := d.PeekJSON(recordFile, &records); err != nil {
		return nil // the doctor reports it with the other state files
	}
	var offers []Offer
	for _, it := range list {
		known := records[it.path]
		there, err := inspect(root, d, it.path)
		if it.rule == once || err != nil || there.is != ordinary || known.Ours == it.version {
			continue
		}
		edited := known.File != routines.Digest(there.data)
		if it.rule == follow && !edited {
			continue // the next start refreshes it
		}
		offers = append(offers, Offer{File: it.path, Edited: edited, Text: offerText(it.path, edited)})
	}
	return offers
}

func offerText(file string, edited bool) string {
	text := textOffer
	if edited {
		text = textOfferEdited
	}
	return fmt.Sprintf(text, file, file)
}
