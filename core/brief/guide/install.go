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

// recordFile remembers what was installed. It is a file of its own because the
// original program knows nothing of it.
const recordFile = "state/installed.json"

// record is what is known of one installed file.
type record struct {
	Ours string `json:"ours"` // hash of our text that it was made from
	File string `json:"file"` // hash of the bytes that were written
}

// Install brings the files into a prepared data directory and keeps up those
// that are ours to keep up. It is called at every start, before the first
// session is opened; where nothing is to be done it writes nothing. What cannot be
// written is told in a note and tried again at the next start. Nothing is
// written through links that lead out of the directory. The error says that the
// directory itself cannot be used.
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

// installer is one Install on its way.
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

// install looks at one file and does what its rule asks for.
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
	case there.is != ordinary: // the user's own arrangement
	case bytes.Equal(there.data, want):
		in.know(it, want)
	case it.rule == follow && known.File == routines.Digest(there.data) && known.Ours != it.version:
		in.write(it, want, textRefreshed)
	}
}

// withdraw removes a file that promises what is not set up, as long as the user
// has not made it their own.
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

// replaceLink puts a document in the place of a link that leads out of the
// directory: the original program made such links, to documents of its own that
// the agent may not read from there.
func (in *installer) replaceLink(it item, data []byte) {
	if err := in.dir.Remove(it.path); err != nil {
		in.warn(it.path, clean.Line(err.Error()))
		return
	}
	in.write(it, data, textLinkReplaced)
}

// know records a file as it is now.
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

// The folder in which the engine looks for skills, and where it leads.
const (
	skillsLink   = ".claude/skills"
	skillsTarget = "../skills"
)

// link lets the engine find the user's skills. Whatever stands
// there already is left alone. The root keeps it within the directory;
// core/storage/store has files only.
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

// standing is what was found under a name.
type standing int

const (
	missing  standing = iota
	ordinary          // a file of the directory
	leadsOut          // a link out of the directory, or to nothing
	other             // a link within the directory, a folder, a pipe
)

// found is what stands under a name, and the bytes of an ordinary file.
type found struct {
	is   standing
	data []byte
}

// inspect never follows a link out of the directory: neither one in the path,
// which is an error, nor the last part, which is told as what it is.
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

// Offer is a file of which the program brings a newer version than the one that
// is there.
type Offer struct {
	File   string // relative to the data directory
	Edited bool   // the user has changed theirs, or it never was ours
	Text   string // a sentence: what is offered, and how to take it
}

// Offers are the newer versions that Install does not put in by itself, in the
// order of their paths. It only reads; what cannot be read is not offered. A
// file that is the user's own arrangement (a link, a folder) is none.
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
		return nil // the doctor tells it with the other state files
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
