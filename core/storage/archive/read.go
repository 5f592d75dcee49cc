package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strings"

	"filippo.io/age"
)

// entry is a file or folder of an archive.
type entry struct {
	*tar.Header
	name   string // without the slash of a folder
	folder bool
}

// archive is an export on disk. It is read twice: to check it, and to unpack it.
type archive struct {
	file       *os.File
	passphrase func() (string, error)
	key        *onceKey // if it is encrypted
}

// onceKey derives the key from the passphrase only once, because that takes a second and much
// memory.
type onceKey struct {
	inner age.Identity
	key   []byte
}

// Unwrap implements age.Identity.
func (k *onceKey) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if k.key != nil {
		return bytes.Clone(k.key), nil
	}
	key, err := k.inner.Unwrap(stanzas)
	if err == nil {
		k.key = bytes.Clone(key)
	}
	return key, err
}

// counted counts the bytes read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// open starts reading the archive; raw counts the bytes read from the file.
func (a *archive) open() (r io.Reader, raw *counted, err error) {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", a.file.Name(), err)
	}
	raw = &counted{Reader: a.file}
	in := bufio.NewReaderSize(raw, 64<<10)
	const sealed = "age-encryption.org/v1\n"
	begin, _ := in.Peek(len(sealed)) // a shorter file is not encrypted
	if string(begin) != sealed {
		return in, raw, nil
	}
	if a.key == nil {
		word, err := a.passphrase()
		if err != nil {
			return nil, nil, err
		}
		id, err := age.NewScryptIdentity(word)
		if err != nil {
			return nil, nil, errors.New(textNoPassphrase)
		}
		id.SetMaxWorkFactor(workFactor)
		a.key = &onceKey{inner: id}
	}
	plain, err := age.Decrypt(in, a.key)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, nil, errors.New(textWrongPassphrase)
	}
	if err != nil {
		return nil, nil, fmt.Errorf(textDamaged, err)
	}
	return plain, raw, nil
}

// walk is one pass over an archive.
type walk struct {
	head    Head
	sum     Summary
	raw     *counted
	seen    map[string]bool // the value is true for a folder
	files   map[string]string
	entries int
	read    int64
	done    bool // the manifest was read
}

// each reads and checks the whole archive: each entry's name, kind, location and size before put
// gets it, its bytes while put reads them, and at the end that nothing is missing, added or
// changed. After an error, the results of put must be discarded.
func (a *archive) each(put func(e entry, r io.Reader) error) (Summary, error) {
	in, raw, err := a.open()
	if err != nil {
		return Summary{}, err
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return Summary{}, errors.New(textNoExport)
	}
	zip.Multistream(false)
	w := &walk{raw: raw, seen: map[string]bool{}, files: map[string]string{}}
	t := tar.NewReader(zip)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Summary{}, w.broken(err)
		}
		if err := w.entry(h, t, put); err != nil {
			return Summary{}, err
		}
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(zip, 1<<20)) // the checksum is at the end
	if err != nil || !w.done {
		return Summary{}, w.broken(cmp.Or(err, io.ErrUnexpectedEOF))
	}
	if n, _ := in.Read(make([]byte, 1)); n > 0 || rest == 1<<20 {
		return Summary{}, errors.New(textBehind)
	}
	return w.sum, nil
}

// broken returns an error that explains why an archive cannot be read to its end.
func (w *walk) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New(textCutOff)
	}
	if w.head.Format == 0 {
		return errors.New(textNoExport)
	}
	return fmt.Errorf(textDamaged, err)
}

// entry handles one entry.
func (w *walk) entry(h *tar.Header, r io.Reader, put func(entry, io.Reader) error) error {
	w.entries++
	switch {
	case w.entries > maxEntries:
		return fmt.Errorf(textTooMany, maxEntries)
	case w.done:
		return fmt.Errorf(textUnknown, h.Name)
	case w.entries == 1:
		return w.begin(h, r)
	case h.Name == manifestName && h.Typeflag == tar.TypeReg:
		return w.end(h, r)
	}
	e, err := w.check(h)
	if err != nil {
		return err
	}
	w.sum.count(e.name, e.folder, h.Size)
	if e.folder {
		return put(e, nil)
	}
	in := &measured{walk: w, in: r, sum: sha256.New()}
	if err := put(e, in); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // the rest, if put has not read all of it
		return err
	}
	w.files[e.name] = hex.EncodeToString(in.sum.Sum(nil))
	return nil
}

// measured reads an entry's bytes within the limits, and hashes them.
type measured struct {
	walk *walk
	in   io.Reader
	sum  hash.Hash
}

func (m *measured) Read(b []byte) (int, error) {
	n, err := m.in.Read(b)
	_, _ = m.sum.Write(b[:n]) // a hash never fails
	m.walk.read += int64(n)
	if m.walk.read > freeBytes+maxRatio*m.walk.raw.n {
		return n, fmt.Errorf(textBomb, maxRatio)
	}
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, m.walk.broken(err)
	}
	return n, err
}

// begin reads the head.
func (w *walk) begin(h *tar.Header, r io.Reader) error {
	if h.Name != headName || h.Typeflag != tar.TypeReg || h.Size > 64<<10 {
		return errors.New(textNoExport)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return w.broken(err)
	}
	if err := json.Unmarshal(data, &w.head); err != nil || w.head.Format < 1 {
		return errors.New(textNoExport)
	}
	if w.head.Format > format {
		return fmt.Errorf(textNewer, shown(w.head.Version))
	}
	w.head.Version, w.head.Dir = shown(w.head.Version), shown(w.head.Dir)
	w.sum.Head = w.head
	return nil
}

// end compares the entries with the manifest.
func (w *walk) end(h *tar.Header, r io.Reader) error {
	if h.Size > maxEntries*(maxPath+100) {
		return errors.New(textNoExport)
	}
	data, err := io.ReadAll(&measured{walk: w, in: r, sum: sha256.New()})
	if err != nil {
		return err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf(textDamaged, err)
	}
	for name, sum := range m.Files {
		switch got, there := w.files[name]; {
		case !there:
			return fmt.Errorf(textMissing, shown(name))
		case got != sum:
			return fmt.Errorf(textChanged, shown(name))
		}
	}
	for name := range w.files {
		if _, listed := m.Files[name]; !listed {
			return fmt.Errorf(textUnknown, shown(name))
		}
	}
	w.done = true
	return nil
}

// check returns an error for an entry that does not belong in an export.
func (w *walk) check(h *tar.Header) (entry, error) {
	e := entry{Header: h, name: h.Name, folder: h.Typeflag == tar.TypeDir}
	if e.folder {
		e.name = strings.TrimSuffix(h.Name, "/")
	}
	name := shown(h.Name)
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink, tar.TypeLink:
		return e, fmt.Errorf(textLink, name)
	default:
		return e, fmt.Errorf(textDevice, name)
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse") {
			return e, fmt.Errorf(textDevice, name)
		}
	}
	rel, inData := strings.CutPrefix(e.name, dataPrefix)
	if !inData {
		rest, inSessions := strings.CutPrefix(e.name, sessPrefix)
		if !inSessions {
			return e, fmt.Errorf(textOutside, name)
		}
		rel = rest
	}
	if !fits(rel) {
		return e, fmt.Errorf(textOutside, name)
	}
	if v := judge(rel); inData && (v == stays || v == secret && !w.head.Secrets) {
		return e, fmt.Errorf(textUnwanted, name)
	}
	if _, twice := w.seen[e.name]; twice {
		return e, fmt.Errorf(textTwice, name)
	}
	for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
		if folder, seen := w.seen[dir]; seen && !folder {
			return e, fmt.Errorf(textTwice, name)
		}
	}
	w.seen[e.name] = e.folder
	return e, nil
}
