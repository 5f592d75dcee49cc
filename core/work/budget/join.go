package budget

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/base/pycompat"
)

// JournalFile is the journal of pings in a data directory.
const JournalFile = journalFile

// placed is a line of a journal, and where it belongs in the joined one.
type placed struct {
	at     time.Time
	answer bool
	key    string // the same for the same line of both journals
	text   []byte
}

// Join makes one journal of two, whose lines may be the same in part: each line once and
// unchanged, by its time. An answer stays behind its ping, even if a clock was set back between
// them. Lines without a time, such as torn ones, are dropped. Times without a zone are in zone.
func Join(a, b []byte, zone *time.Location) []byte {
	var all []placed
	pings := map[string]time.Time{}
	for line := range bytes.Lines(slices.Concat(a, []byte("\n"), b)) {
		p, id, ok := readLine(line, zone)
		if !ok {
			continue
		}
		if first, known := pings[id]; id != "" && (!known || p.at.Before(first)) {
			pings[id] = p.at
		}
		all = append(all, p)
	}
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(p placed) bool {
		twice := seen[p.key]
		seen[p.key] = true
		return twice
	})
	for i := range all {
		if p := &all[i]; p.answer {
			p.at = later(p.at, pings[answered(p.text)])
		}
	}
	slices.SortStableFunc(all, func(x, y placed) int {
		if c := x.at.Compare(y.at); c != 0 {
			return c
		}
		return cmp.Compare(order(x), order(y))
	})
	var out []byte
	for _, p := range all {
		out = append(append(out, p.text...), '\n')
	}
	return out
}

// readLine reads a line; id is that of its ping. A ping is the same if its ID and its time are, and both are before or after it was sent, an
// answer if it answers the same ping in the same way at the same time, and a line of an earlier
// version, which has no ID, if all of it is.
func readLine(text []byte, zone *time.Location) (p placed, id string, ok bool) {
	text = bytes.TrimSpace(text)
	var l line
	if json.Unmarshal(text, &l) != nil {
		return p, "", false
	}
	at, err := pycompat.ParseTime(l.At, zone)
	if err != nil {
		return p, "", false
	}
	p = placed{at: at, answer: l.Answers != "", text: text, key: string(text)}
	switch moment := at.UTC().Format(time.RFC3339Nano); {
	case p.answer:
		p.key = fmt.Sprint("answer ", l.Answers, " ", l.How, " ", moment)
	case l.ID != "":
		p.key = fmt.Sprint("ping ", l.ID, " ", l.Begun, " ", moment)
	}
	return p, l.ID, true
}

// answered is the ping that a line answers.
func answered(text []byte) string {
	var l line
	_ = json.Unmarshal(text, &l) // it was read before
	return l.Answers
}

// order puts a ping before an answer of the same moment.
func order(p placed) int {
	if p.answer {
		return 1
	}
	return 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
