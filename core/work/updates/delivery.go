package updates

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

const deliveryFile = "state/delivery.json"

// ErrUnsettled means that an earlier delivery must be settled first.
var ErrUnsettled = errors.New(textUnsettled)

// Delivery is a message being sent to the main session, with the updates it contains. It
// is on disk from before the message is sent until the updates are out of the queue, so
// that after a crash the engine can be asked whether the message arrived.
type Delivery struct {
	Session string   `json:"session"`
	Digest  string   `json:"sha256"` // of the message's text
	Keys    []string `json:"updates"`
	Waiting idList   `json:"waiting,omitempty"` // the user's messages, by their ids
}

// idList also accepts the format of earlier versions: a single id as a string.
type idList []string

// UnmarshalJSON reads a list or one id.
func (l *idList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = idList{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// NewDelivery describes a message to a session; waiting are the ids of the user's
// messages in it. Claim adds the updates.
func NewDelivery(session, text string, waiting []string) Delivery {
	sum := sha256.Sum256([]byte(text))
	return Delivery{Session: session, Digest: hex.EncodeToString(sum[:]), Waiting: waiting}
}

// empty reports whether the delivery needs no record, because nothing could be lost or
// duplicated.
func (d Delivery) empty() bool { return len(d.Keys) == 0 && len(d.Waiting) == 0 }

// Claim passes all pending updates to compose, which writes a message with them, and
// records the delivery that compose returns. The updates stay in the file and cannot be
// claimed, discarded or dropped by anyone else until Settle. If an earlier delivery is
// not settled, the error is ErrUnsettled. compose runs under the file's lock and must not
// block.
func (q *Queue) Claim(compose func([]Update) Delivery) (Delivery, error) {
	var d Delivery
	if len(q.look()) == 0 {
		if d = compose(nil); d.empty() {
			return d, nil // nothing to lock for, and this works even if nothing can be written
		}
	}
	err := q.dir.WithLock(turnName, func() error {
		if _, found, err := q.record(); err != nil || found {
			return errors.Join(err, ErrUnsettled)
		}
		list, err := q.load()
		if err != nil {
			return err
		}
		d = compose(public(list))
		d.Keys = keys(list)
		if d.empty() {
			return nil
		}
		return q.dir.WriteJSON(deliveryFile, d)
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("claim the pending updates: %w", err)
	}
	return d, nil
}

// Unsettled returns the delivery whose end is not on disk yet. arrived means that it
// reached the engine in this process; otherwise only the engine knows.
func (q *Queue) Unsettled() (d Delivery, arrived, found bool, err error) {
	d, found, err = q.record()
	q.mu.Lock()
	defer q.mu.Unlock()
	return d, found && d.Digest == q.arrived.Digest && d.Session == q.arrived.Session, found, err
}

// Settle ends a delivery: one that arrived removes its updates from the queue, any other
// leaves them pending. Both happen under the lock that every change takes, and the record
// is removed last, so that after a crash at any point the delivery can be settled again.
// After an error, repeat it; until then, arrived updates are not shown.
func (q *Queue) Settle(d Delivery, arrived bool) error {
	if d.empty() {
		return nil
	}
	if arrived {
		q.mu.Lock()
		q.arrived = d
		q.mu.Unlock()
	}
	return q.alone("settle a delivery", func() error {
		if arrived {
			if err := q.remove(d.Keys); err != nil {
				return err
			}
		}
		if err := q.dir.Remove(deliveryFile); err != nil {
			return err
		}
		q.mu.Lock()
		q.arrived = Delivery{}
		q.mu.Unlock()
		return nil
	})
}

// remove removes updates from the file. The caller holds its lock.
func (q *Queue) remove(gone []string) error {
	list, err := q.load()
	if err != nil {
		return err
	}
	delivered := setOf(gone)
	kept := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return delivered[e.Key] })
	if len(kept) == len(list) {
		return nil
	}
	return q.write(kept)
}

// record reads the current delivery. An unreadable record is kept aside and reported, and
// its updates stay pending.
func (q *Queue) record() (d Delivery, found bool, err error) {
	found, err = q.dir.LoadJSON(deliveryFile, &d, q.log)
	return d, found, err
}
