package archive

import (
	"archive/tar"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"

	"ollimbot/core/storage/store"
)

// workFactor makes a passphrase hard to guess: 2^18 rounds of scrypt take a second and 256 MB
// on a small machine. Files with more are refused.
const workFactor = 18

// ExportOptions describe an export.
type ExportOptions struct {
	Dir      *store.Dir
	Sessions string // the folder of the conversation's sessions, which may be missing
	File     string // the export, which must not exist yet
	Version  string // of the program
	// Passphrase encrypts the export and includes the secrets; empty leaves them out.
	Passphrase string
	Now        time.Time

	work int // 0 means workFactor
}

// Export writes an export of a data directory, whose bot may be running. An error says what to do
// and means that no file was written.
func Export(o ExportOptions) (Summary, error) {
	if !o.Dir.Exists() {
		return Summary{}, fmt.Errorf(textNoDir, o.Dir.Display())
	}
	file, err := filepath.Abs(o.File)
	if err != nil {
		return Summary{}, fmt.Errorf("find %s: %w", o.File, err)
	}
	if _, err := os.Lstat(file); err == nil {
		return Summary{}, fmt.Errorf(textFileThere, o.File)
	}
	if within(o.Dir.Root(), file) {
		return Summary{}, fmt.Errorf(textInside, o.File, o.Dir.Display())
	}
	p, err := snapshotOf(o.Dir.Root(), o.Sessions, o.Passphrase != "", filepath.Dir(file))
	if err != nil {
		return Summary{}, advise(err)
	}
	defer p.close()
	head := Head{Format: format, Version: o.Version, Made: o.Now.Truncate(time.Second), Dir: o.Dir.Display(), Secrets: o.Passphrase != ""}
	if err := p.save(file, head, o); err != nil {
		return Summary{}, advise(fmt.Errorf("write %s: %w", o.File, err))
	}
	return p.sum(head), nil
}

// within reports whether a path is in a directory. Links are resolved.
func within(dir, file string) bool {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(folder, filepath.Base(file))
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// save writes the archive to a temporary file and renames it when it is complete.
func (p *snapshot) save(file string, h Head, o ExportOptions) (err error) {
	sweep(filepath.Dir(file))
	temp, err := createTemp(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	defer func() { err = errors.Join(err, temp.Close()) }() // the lock protects it from sweep until then
	err = p.encrypt(temp, h, o)
	if err = errors.Join(err, temp.Sync()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), file); err != nil { // never overwrites a file
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Rename(temp.Name(), file) // the file system does not support links
	}
	return os.Remove(temp.Name())
}

// encrypt writes the archive, encrypted if there is a passphrase.
func (p *snapshot) encrypt(w io.Writer, h Head, o ExportOptions) error {
	if o.Passphrase == "" {
		return p.write(w, h)
	}
	key, err := age.NewScryptRecipient(o.Passphrase)
	if err != nil {
		return err
	}
	key.SetWorkFactor(workFactor)
	if o.work > 0 {
		key.SetWorkFactor(o.work)
	}
	sealed, err := age.Encrypt(w, key)
	if err != nil {
		return err
	}
	return errors.Join(p.write(sealed, h), sealed.Close())
}

// write writes the archive.
func (p *snapshot) write(w io.Writer, h Head) error {
	zip := gzip.NewWriter(w)
	t := tar.NewWriter(zip)
	if err := addJSON(t, headName, h); err != nil {
		return err
	}
	m := manifest{Files: map[string]string{}}
	for _, name := range p.names() {
		it := p.items[name]
		if err := t.WriteHeader(it.entry(name, h.Made).Header); err != nil {
			return err
		}
		if it.folder {
			continue
		}
		m.Files[name] = hex.EncodeToString(it.sum[:])
		if _, err := io.Copy(t, p.open(it)); err != nil {
			return err
		}
	}
	if err := addJSON(t, manifestName, m); err != nil {
		return err
	}
	return errors.Join(t.Close(), zip.Close())
}

// addJSON adds an entry with a JSON value.
func addJSON(t *tar.Writer, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Typeflag: tar.TypeReg, Size: int64(len(data)), Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = t.Write(data)
	return err
}

// advise adds the cure to an error about a full disk.
func advise(err error) error {
	if store.Full(err) {
		return fmt.Errorf("%w: %s", err, textFull)
	}
	return err
}
