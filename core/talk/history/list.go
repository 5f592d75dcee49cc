package history

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/jsonl"
)

const (
	// wholeSize is the size in bytes up to which a listing reads a whole session, and
	// tailSize how much it reads from the end of a larger one. Since 2.1.330 the command
	// stores its API requests next to the messages, so one message takes 200 kB.
	wholeSize = 384 << 10
	tailSize  = 96 << 10
	// farthest is how far from either end of a file a listing looks for a message between
	// pictures, in bytes.
	farthest = 8 << 20
	// firstWords is the length of the shown beginning of the first message, in runes.
	firstWords = 100
)

// Session is a session as shown in a list. Times are zero if the file has none.
type Session struct {
	ID      string    `json:"id"`
	Folder  string    `json:"folder"` // the CLI's name for its working directory
	Kind    Kind      `json:"kind"`
	Parent  string    `json:"parent"` // the session that a fork branched off from, or empty
	Title   string    `json:"title"`  // of the task, for a background run
	Words   string    `json:"words"`  // the beginning of the first message that is not a copy
	Started time.Time `json:"started"`
	Last    time.Time `json:"last"`
	// Messages counts the messages of both sides, without a fork's copies. It is an
	// estimate unless Exact, because large files are not read as a whole.
	Messages int  `json:"messages"`
	Exact    bool `json:"exact"`
}

// Query selects sessions.
type Query struct {
	Since time.Time // those that changed since then; zero is all
	All   bool      // of all directories, not just this data directory
	Limit int       // the maximum number, newest first; must be above 0
}

// List returns the sessions, newest first, and the number of further ones. It reads only
// the ends of large files.
func (h *History) List(q Query) (list []Session, more int, err error) {
	in, err := h.folders()
	if err != nil {
		return nil, 0, err
	}
	defer in.close()
	files := h.find(in, q.Since, q.All)
	if len(files) > q.Limit {
		files, more = files[:q.Limit], len(files)-q.Limit
	}
	known := h.knowledge()
	for _, f := range files {
		s, err := h.summary(f)
		if err != nil {
			h.skipped(f, err)
			continue
		}
		list = append(list, known.complete(s))
	}
	slices.SortStableFunc(list, func(a, b Session) int { return b.Last.Compare(a.Last) })
	return list, more, nil
}

// complete adds the data from the bot's own records.
func (k knowledge) complete(s Session) Session {
	s.Parent = k.parent[s.ID]
	if kind, ok := k.kind[s.ID]; ok {
		s.Kind = kind
	}
	if v, ok := k.runs[s.ID]; ok {
		s.Title = clean.Cut(v.Title, firstWords)
	}
	return s
}

// summary reads the part of a session needed for a list.
func (h *History) summary(f found) (Session, error) {
	file, err := f.open()
	if err != nil {
		return Session{}, err
	}
	defer func() { _ = file.Close() }() // opened for reading only
	t := tally{h: h, s: Session{ID: f.id, Folder: f.folder, Kind: Other, Exact: true}}
	if f.size <= wholeSize {
		err = jsonl.EachLine(file, func(data []byte) bool {
			t.count(data)
			return true
		})
	} else {
		err = t.ends(file, f.size)
	}
	if t.s.Last.IsZero() {
		t.s.Last = f.changed
	}
	t.s.Started, t.s.Last = in(t.s.Started, h.o.Zone), in(t.s.Last, h.o.Zone)
	return t.s, err
}

func in(t time.Time, zone *time.Location) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(zone)
}

// tally summarizes a session line by line.
type tally struct {
	h    *History
	s    Session
	fork forking
}

// count adds one line. It reports whether the line was the session's own message, and
// whether it was a copied one.
func (t *tally) count(data []byte) (own, copied bool) {
	l, ok := readLine(data)
	if !ok {
		return false, false
	}
	copied = t.fork.copied(&l)
	t.s.Started = t.fork.began
	if l.kind == other {
		return false, false
	}
	if l.at.After(t.s.Last) {
		t.s.Last = l.at
	}
	if copied || !l.counts() {
		return false, copied
	}
	t.s.Messages++
	if t.s.Words == "" && l.kind == prompt {
		t.begin(l)
	}
	return true, false
}

// begin records the first message.
func (t *tally) begin(l line) {
	for _, e := range l.entries() {
		words := e.Text
		if e.Role == Program && e.Tag != "" {
			words = "[" + e.Tag + "] " + words
			if kind := kindOfTag(e.Tag); kind != "" {
				t.s.Kind = kind
			}
		}
		if words = clean.Cut(clean.Line(words), firstWords); words != "" {
			t.s.Words = words
			return
		}
	}
}

// kindOfTag returns the kind of a session that starts with such a message.
func kindOfTag(tag string) Kind {
	name, _, _ := strings.Cut(tag, ":")
	switch {
	case name == "fork-started":
		return Fork
	case strings.HasSuffix(name, "-bg"), name == "webhook":
		return Background
	}
	return ""
}

// ends reads the first message and the end of a large file, and estimates the messages
// in between from its end.
func (t *tally) ends(file *os.File, size int64) error {
	var head int64
	err := jsonl.EachLine(io.NewSectionReader(file, 0, min(size, farthest)), func(data []byte) bool {
		head += int64(len(data))
		if head == size || bytes.HasSuffix(data, []byte("\n")) {
			t.count(data)
		}
		return !t.fork.begun && head < size
	})
	if err != nil {
		return err
	}
	return t.end(file, head, size)
}

// end reads the last lines; from is where the head ended. A fork's own part is read from
// its start unless that is too far away, and is then exact.
func (t *tally) end(file *os.File, from, size int64) error {
	before, fork := *t, !t.fork.own
	for want := int64(tailSize); ; want *= 8 {
		at := max(from, size-want)
		data, err := io.ReadAll(io.NewSectionReader(file, at, size-at))
		if err != nil {
			return err
		}
		if at > from {
			_, data, _ = bytes.Cut(data, []byte("\n")) // a partial line
		}
		*t = before
		own, copies := t.lines(data)
		switch {
		case at == from || copies:
			return nil
		case own > 0 && !fork:
			t.s.Exact = false
			t.s.Messages += int(int64(own) * (at - from) / int64(len(data)))
			return nil
		case want >= farthest:
			t.s.Exact = false
			return nil
		}
	}
}

// lines counts the session's own messages at the end, and reports whether there are
// copied ones among them.
func (t *tally) lines(data []byte) (own int, copies bool) {
	for one := range bytes.Lines(data) {
		mine, copied := t.count(one)
		if mine {
			own++
		}
		copies = copies || copied
	}
	return own, copies
}
