package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"ollimbot/core/agent"
	"ollimbot/core/updates"
)

const deliveryFile = "state/delivery.json"

// delivery is a message on its way to the main session with the updates that it
// carries. It is on disk from before the message is sent until its updates are
// removed, so that after a crash in between the engine can be asked whether the
// message arrived: each update is delivered once, or is still pending.
type delivery struct {
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

func newDelivery(session, text string, list []updates.Update, waiting []string) delivery {
	sum := sha256.Sum256([]byte(text))
	d := delivery{Session: session, Digest: hex.EncodeToString(sum[:]), Waiting: waiting}
	for _, u := range list {
		d.Keys = append(d.Keys, u.Key)
	}
	return d
}

// empty reports that nothing would be lost or doubled with it.
func (d delivery) empty() bool { return len(d.Keys) == 0 && len(d.Waiting) == 0 }

// dispatch writes down what is about to be sent; nothing where nothing is carried.
func (b *Bot) dispatch(d delivery) error {
	if d.empty() {
		return nil
	}
	return b.dir.WriteJSON(deliveryFile, d)
}

// arrived forgets a delivery whose fate is known.
func (b *Bot) arrived(d delivery) {
	if d.empty() {
		return
	}
	if err := b.dir.Remove(deliveryFile); err != nil {
		b.log.Error("a finished delivery could not be forgotten", "error", err)
	}
}

// settleDelivery finds out what became of a message that was on its way when
// the program ended. An engine that cannot tell leaves its updates pending:
// rather twice than never.
func (b *Bot) settleDelivery(ctx context.Context) {
	var d delivery
	found, err := b.dir.ReadJSON(deliveryFile, &d)
	if err != nil {
		b.log.Error("an unfinished delivery could not be read; its updates stay pending", "error", err)
	}
	if !found {
		return
	}
	defer b.arrived(d)
	var digest [sha256.Size]byte
	witness, able := b.o.Engine.(agent.Witness)
	if n, err := hex.Decode(digest[:], []byte(d.Digest)); !able || err != nil || n != len(digest) {
		return
	}
	heard, err := witness.Heard(ctx, d.Session, digest)
	if err != nil {
		b.log.Error("it is not known whether the last message arrived; its updates stay pending", "error", err)
	}
	if !heard {
		return
	}
	b.taken(d.Waiting...)
	for _, key := range d.Keys {
		if _, err := b.updates.Discard(key); err != nil && !errors.Is(err, updates.ErrGone) {
			b.log.Error("a delivered update could not be removed", "error", err)
		}
	}
}
