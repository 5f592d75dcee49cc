package routines

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
)

// slugLen is the longest slug, in characters.
const slugLen = 50

// slug makes a file name out of a text: lower case, each run of characters outside a-z
// and 0-9 becomes one dash, at most 50 characters. It may be empty.
func slug(s string) string {
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

// fileName returns the path for an item's file: the slug of its text, as in the original
// program. If that name belongs to an item with another id, or did within the last day,
// the id becomes part of the name, so that two items never share a name while they are
// being written to disk and history. An unreadable file counts as another item's.
// Concurrent callers must hold one WithLock around this call and the write.
func fileName(d *store.Dir, folder, id, text string) (rel string, err error) {
	own := slug(id)
	if own == "" {
		own = store.NewID()
	}
	base := slug(text)
	if base == "" {
		base = own
	}
	// The original program numbers files with the same text, and so did earlier versions of
	// this one.
	rel, mine, err := freeName(d, folder, base, id)
	if err != nil || mine || rel == folder+"/"+base+".md" && !trashed(d, rel, id) {
		return rel, err
	}
	rel, _, err = freeName(d, folder, base+"-"+own, id)
	return rel, err
}

// freeName returns the first of BASE.md, BASE-2.md, BASE-3.md … that is free or already
// belongs to the item.
func freeName(d *store.Dir, folder, base, id string) (rel string, mine bool, err error) {
	rel = folder + "/" + base + ".md"
	for n := 2; ; n++ {
		data, err := d.Read(rel)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return rel, false, nil
		case errors.Is(err, fs.ErrPermission):
			return "", false, store.Advise("look for a free name", err)
		case err == nil && frontmatter.HasID(data, id):
			return rel, true, nil
		}
		rel = fmt.Sprintf("%s/%s-%d.md", folder, base, n)
	}
}

// trashed reports whether another item's file had that name within the last day.
func trashed(d *store.Dir, rel, id string) bool {
	for _, f := range trash.List(d, time.Now(), path.Dir(rel)) {
		if f.Rel != rel {
			continue
		}
		if data, err := trash.Read(d, f); err != nil || !frontmatter.HasID(data, id) {
			return true
		}
	}
	return false
}
