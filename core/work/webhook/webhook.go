// Package webhook owns the outside triggers: the spec files in webhooks/, the
// HTTP server on loopback that takes their deliveries, the checks that a
// payload has to pass, the screening of its texts, and the ledger of what came. It must not know engines, forks, dashboards or the main session:
// what it needs of them are the functions in Options.
package webhook

import (
	"slices"
	"strconv"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
)

// folder is where the spec files lie, relative to the data directory.
const folder = "webhooks"

// Limits of a payload.
const (
	// MaxBody is the largest payload that is taken, in bytes.
	MaxBody = 10240
	// maxProperties is how many fields a spec may declare.
	maxProperties = 20
	// defaultMaxLength is how many characters a declared text may have where its
	// spec says nothing else.
	defaultMaxLength = 500
	// maxNesting is how deep a payload may nest; the payload itself counts.
	maxNesting = 32
	// maxPlaceholders is how often a template may name fields: each may bring
	// thousands of characters.
	maxPlaceholders = 50
)

// Job is a delivery that has passed all checks.
type Job struct {
	Spec     Spec
	Payload  Payload
	Delivery Delivery
	Ticket   string // by Options.Afford
}

// Payload is a payload that fits its spec. It is not to be trusted even so.
type Payload struct {
	// Data are its fields in its own order, as prompt.WebhookPrompt takes them.
	Data []prompt.Datum
	// Screened are the names of those that hold free text and have to be
	// screened before anything runs.
	Screened []string
}

// What the screening found.
const (
	verdictSafe       = "safe"
	verdictHeld       = "held"
	verdictNone       = "none needed" // the payload holds no free text
	verdictUnreadable = "unreadable"  // no verdict: held as well
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
