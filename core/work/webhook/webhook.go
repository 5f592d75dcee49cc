package webhook

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
)

// Folder contains the spec files, relative to the data directory.
const Folder = "webhooks"

// Limits of a payload.
const (
	// MaxBody is the size of the largest accepted payload, in bytes. What is kept of a verified
	// sender's is not larger either.
	MaxBody = 10240
	// maxProperties is how many fields a spec can declare.
	maxProperties = 20
	// defaultMaxLength is the limit of a declared text without a maxLength, in characters.
	defaultMaxLength = 500
	// maxNesting is how deeply a payload can nest, including the payload itself.
	maxNesting = 32
	// maxPlaceholders is how often a template can use fields: each can insert thousands of
	// characters.
	maxPlaceholders = 50
)

// Job is a delivery that has passed all checks.
type Job struct {
	Spec     Spec
	Payload  Payload
	Delivery Delivery
	Ticket   string // by Options.Afford
}

// Payload is a valid payload. It is still untrusted.
type Payload struct {
	// Data are its fields in their original order.
	Data []prompt.Datum
	// Screened are the names of the fields with free text, which must be screened before the
	// run.
	Screened []string

	text []byte // the JSON of Data
}

// Results of the screening.
const (
	verdictSafe       = "safe"
	verdictHeld       = "held"
	verdictNone       = "none needed" // the payload has no free text
	verdictUnreadable = "unreadable"  // no verdict: also held
)

// Outcomes of a delivery. Refused ones have "refused 401" and the like.
const (
	Accepted    = "accepted" // on the disk, waiting for its screening or run
	Running     = "running"
	Done        = "done"
	Failed      = "failed"
	Held        = "held"
	Interrupted = "interrupted" // the bot stopped during its run
	Answered    = "answered"    // its sender only tried the address
)

// Delivery describes a delivery without private data: it contains no value of the payload,
// and only the field names that the spec declares.
type Delivery struct {
	ID      string    `json:"id"`      // 8 hexadecimal digits
	Webhook string    `json:"webhook"` // empty if an unauthorized sender used an unknown name
	At      time.Time `json:"at"`
	Ended   time.Time `json:"ended,omitzero"` // zero while it is accepted or running
	Size    int       `json:"size"`           // of the payload, in bytes; if that is too large, the bytes that were read
	Remote  string    `json:"remote"`
	Verdict string    `json:"verdict,omitempty"`
	Flagged []string  `json:"flagged,omitempty"` // fields that the screening flagged
	Outcome string    `json:"outcome"`
	Status  int       `json:"status"` // of the answer
	// Count is the number of refusals of the same kind within a minute that were merged into
	// this one; At is the time of the last.
	Count int `json:"count"`
}

// Run identifies the delivery's run.
func (d Delivery) Run() string { return d.ID + "-1" }

// open reports whether the delivery has not ended.
func (d Delivery) open() bool { return d.Outcome == Accepted || d.Outcome == Running }

// last returns when it last changed, if known.
func (d Delivery) last() time.Time {
	if d.Ended.After(d.At) {
		return d.Ended
	}
	return d.At
}

// refused ends it with the status that its sender got, without a run.
func (d *Delivery) refused(status int) {
	d.Status, d.Ended = status, time.Now()
	d.Outcome = "refused " + strconv.Itoa(status)
	if status == http.StatusOK {
		d.Outcome = Answered
	}
}

// cleaned returns a delivery from a file that is safe to show.
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
