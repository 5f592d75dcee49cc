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

// ErrUnsettled says that an earlier delivery has to be settled first.
var ErrUnsettled = errors.New(textUnsettled)

// Delivery is a message on its way to the main session, with the updates that
// it carries. It is on disk from before the message is sent until the updates
// are out of the queue, so that after a crash in between the engine can be
// asked whether the message arrived.
type Delivery struct {
	Session string   `json:"session"`
	Digest  string   `json:"sha256"` // of the message's text
	Keys    []string `json:"updates"`
	Waiting idList   `json:"waiting,omitempty"` // the user's messages, by their ids
}

// idList also reads what earlier versions wrote: one id as a text.
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
// messages in it. Claim fills in the updates.
func NewDelivery(session, text string, waiting []string) Delivery {
	sum := sha256.Sum256([]byte(text))
	return Delivery{Session: session, Digest: hex.EncodeToString(sum[:]), Waiting: waiting}
}

// empty reports that nothing could be lost or doubled with it: it has no record.
func (d Delivery) empty() bool { return len(d.Keys) == 0 && len(d.Waiting) == 0 }

// Claim hands everything that is pending to compose, which makes the message of
// it, and writes down the delivery that compose describes. The updates stay in
// the file, and nobody else can claim, discard or drop them, until Settle.
// Where an earlier delivery is not settled the error is ErrUnsettled. compose
// runs under the file's lock and must not block.
func (q *Queue) Claim(compose func([]Update) Delivery) (Delivery, error) {
	var d Delivery
	if len(q.look()) == 0 {
		if d = compose(nil); d.empty() {
			return d, nil // nothing to lock for, also where nothing can be written
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

// Unsettled is the delivery whose end is not on disk yet. Arrived says that it
// reached the engine in this process; otherwise only the engine can tell.
func (q *Queue) Unsettled() (d Delivery, arrived, found bool, err error) {
	d, found, err = q.record()
	q.mu.Lock()
	defer q.mu.Unlock()
	return d, found && d.Digest == q.arrived.Digest && d.Session == q.arrived.Session, found, err
}

// Settle ends a delivery: one that arrived takes its updates out of the queue,
// any other leaves them pending. Both happen under the lock that every change
// takes, the record last, so that a crash at any point leaves a record that can
// be settled again. After an error it is to be repeated; what arrived is shown
// by nobody in the meantime.
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

// remove takes updates out of the file. The caller holds its lock.
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

// record reads the delivery that is under way. One that cannot be understood is
// kept aside and reported: its updates stay pending.
func (q *Queue) record() (d Delivery, found bool, err error) {
	found, err = q.dir.LoadJSON(deliveryFile, &d, q.log)
	return d, found, err
}
