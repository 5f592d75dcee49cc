package webhook

import (
	"slices"
	"strconv"
	"time"

	"ollimbot/core/clean"
)

// What the screening found.
const (
	VerdictSafe       = "safe"
	VerdictHeld       = "held"
	VerdictNone       = "none needed" // the payload holds no free text
	VerdictUnreadable = "unreadable"  // no verdict: held as well
)

// What became of a delivery; a refused one has "refused 401" and its like.
const (
	Accepted    = "accepted" // it is on the disk and waits for its screening or its run
	Running     = "running"
	Done        = "done"
	Failed      = "failed"
	Held        = "held"
	Interrupted = "interrupted" // the bot stopped before its end
)

// Delivery is one delivery as people may see it. It never holds a value of the
// payload, and of the fields' names only those that the spec declares.
type Delivery struct {
	ID      string    `json:"id"`      // 8 hexadecimal digits
	Webhook string    `json:"webhook"` // empty where a stranger named one that does not exist
	At      time.Time `json:"at"`
	Ended   time.Time `json:"ended,omitzero"` // zero while it is accepted or running
	Size    int       `json:"size"`           // of the payload, in bytes; of one that is too large, what was read
	Remote  string    `json:"remote"`
	Verdict string    `json:"verdict,omitempty"`
	Flagged []string  `json:"flagged,omitempty"` // what the screening pointed at
	Outcome string    `json:"outcome"`
	Status  int       `json:"status"` // of the answer
	// Count is how many refusals of the same kind within a minute this one stands
	// for; At is that of the last of them.
	Count int `json:"count"`
}

// open reports whether it has no end yet.
func (d Delivery) open() bool { return d.Outcome == Accepted || d.Outcome == Running }

// last is when it last changed, as far as that is known.
func (d Delivery) last() time.Time {
	if d.Ended.After(d.At) {
		return d.Ended
	}
	return d.At
}

// refused ends it with the status that its sender was told.
func (d *Delivery) refused(status int) {
	d.Status, d.Ended = status, time.Now()
	d.Outcome = "refused " + strconv.Itoa(status)
}

// cleaned is a delivery that was read from a file.
func (d Delivery) cleaned() Delivery {
	for _, s := range []*string{&d.Webhook, &d.Remote, &d.Verdict, &d.Outcome} {
		*s = clean.Cut(clean.Line(*s), 100)
	}
	d.Flagged = slices.Clone(d.Flagged)
	for i := range d.Flagged {
		d.Flagged[i] = clean.Cut(clean.Line(d.Flagged[i]), 100)
	}
	d.Count = max(1, d.Count)
	return d
}
