package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// slugLen is the longest slug, in characters (spec 01.3.3).
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

// PlaceFor finds the file for an item: the slug of its text, with -2, -3 and so
// on while that name belongs to an item with another id. A file that cannot be
// read counts as another's. Callers that may race wrap it and the write into
// one Exclusive.
func (d *Dir) PlaceFor(folder, id, text string) (rel string, err error) {
	slug := Slug(text)
	if slug == "" {
		slug = Slug(id)
	}
	if slug == "" {
		slug = NewID()
	}
	name := slug
	for n := 2; ; n++ {
		rel = folder + "/" + name + ".md"
		data, err := d.Read(rel)
		if errors.Is(err, fs.ErrNotExist) {
			return rel, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			return "", advise("look for a free name", err)
		}
		if err == nil && holdsID(data, id) {
			return rel, nil
		}
		name = fmt.Sprintf("%s-%d", slug, n)
	}
}

func holdsID(data []byte, id string) bool {
	doc, err := ParseFrontMatter(data)
	if err != nil {
		return false
	}
	f, ok := doc.Get("id")
	return ok && f.Value.Kind == Scalar && f.Value.Text == id
}
