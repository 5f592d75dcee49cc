package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// slugLen is the longest slug, in characters.
const slugLen = 50

// Slug makes a file name out of a text: lower case, every run of characters
// outside a-z and 0-9 one dash, at most 50 characters. It may be empty.
func Slug(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		if r < 'a' || r > 'z' {
			if r < '0' || r > '9' {
				dash = b.Len() > 0
				continue
			}
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
		if b.Len() > slugLen {
			break
		}
	}
	out := b.String()
	return strings.TrimRight(out[:min(len(out), slugLen)], "-")
}

// NewID is a fresh id: eight random hexadecimal digits in lower case.
func NewID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the program instead
	return hex.EncodeToString(b[:])
}

// NewUUID returns a random UUID of version 4, the form of an engine's session ids.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, as above
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// PlaceFor finds the file for an item: the slug of its text, as the original
// names it. Where that name belongs to an item with another id, or did within
// the last day, the id is part of the name, so that no two items share one on
// their way to disk and into the history. A file that cannot be read counts as
// another's. Callers that may race wrap it and the write into one WithLock.
func (d *Dir) PlaceFor(folder, id, text string) (rel string, err error) {
	own := Slug(id)
	if own == "" {
		own = NewID()
	}
	slug := Slug(text)
	if slug == "" {
		slug = own
	}
	rel = folder + "/" + slug + ".md"
	free := true
	// The original numbers the files of one text, and so did we.
	for n := 2; ; n++ {
		taken, ours, err := d.taken(rel, id)
		if err != nil || ours {
			return rel, err
		}
		if !taken {
			break
		}
		free = false
		rel = fmt.Sprintf("%s/%s-%d.md", folder, slug, n)
	}
	rel = folder + "/" + slug + ".md"
	if free && !d.recent(time.Now(), rel, id) {
		return rel, nil
	}
	base := slug + "-" + own
	rel = folder + "/" + base + ".md"
	for n := 2; ; n++ {
		taken, ours, err := d.taken(rel, id)
		if err != nil || ours || !taken {
			return rel, err
		}
		rel = fmt.Sprintf("%s/%s-%d.md", folder, base, n)
	}
}

// taken reports whether there is a file of that name, and whether it is the
// item's own.
func (d *Dir) taken(rel, id string) (taken, ours bool, err error) {
	data, err := d.Read(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case errors.Is(err, fs.ErrPermission):
		return true, false, advise("look for a free name", err)
	}
	return true, err == nil && HoldsID(data, id), nil
}

// recent reports whether another item's file had that name within the last day.
func (d *Dir) recent(now time.Time, rel, id string) bool {
	for _, t := range d.Trash(now, path.Dir(rel)) {
		if t.Rel != rel {
			continue
		}
		if data, err := d.ReadDiscarded(t); err != nil || !HoldsID(data, id) {
			return true
		}
	}
	return false
}

// HoldsID reports whether a file's bytes are those of the item with that id.
func HoldsID(data []byte, id string) bool {
	if !bytes.Contains(data, []byte(id)) && !bytes.ContainsAny(data, `\'`) {
		return false // another's: only an escape can hide an id
	}
	doc, err := ParseFrontMatter(data)
	if err != nil {
		return false
	}
	f, ok := doc.Get("id")
	return ok && f.Value.Kind == Scalar && f.Value.Text == id
}
