package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Answering is how an interaction is answered at first, within three seconds.
type Answering int

// The kinds of answers: a message; a promise of one, which shows as thinking; a
// promise to change the message of a button, which shows nothing; that change.
const (
	WithMessage Answering = 4
	Thinking    Answering = 5
	Quietly     Answering = 6
	WithUpdate  Answering = 7
)

// callTo is a call whose right is the interaction's token, good for 15 minutes.
func callTo(what, rule, of, token string) *call {
	k := newCall(what, rule, of, token)
	k.bare, k.secret = true, token
	// Limits remember the interaction, but not the right to answer it.
	sum := sha256.Sum256([]byte(token))
	k.major = of + "/" + hex.EncodeToString(sum[:8])
	return k
}

// Answer is the first answer to an interaction. m may be nil where kind is a
// promise; the flag Ephemeral of a promise holds for what follows it. An
// interaction that is over, or answered already, is ErrExpired.
//
// It is repeated: an interaction takes one answer only, so that a second try
// cannot be a second answer.
func (c *Client) Answer(ctx context.Context, interaction, token string, kind Answering, m *Message) error {
	k := callTo("answer the interaction", "POST /interactions/{}/{}/callback", interaction, token)
	answer := struct {
		Type Answering `json:"type"`
		Data *wire     `json:"data,omitempty"`
	}{Type: kind}
	var files []File
	if m != nil && kind != Quietly {
		w := m.fresh()
		if kind == WithUpdate {
			w = m.filled()
		}
		w.Reference = nil
		answer.Data, files = &w, m.Files
	}
	k.filling(answer, files)
	k.again, k.done = true, 40060
	return c.do(ctx, k)
}

const original = " /webhooks/{}/{}/messages/@original"

// EditAnswer replaces the answer to an interaction, or keeps the promise of one.
// Late, it is ErrExpired: then a message is the way.
func (c *Client) EditAnswer(ctx context.Context, app, token string, m Message) error {
	return c.edit(ctx, callTo("edit the answer", "PATCH"+original, app, token), m.filled(), m.Files)
}

// DeleteAnswer removes the answer to an interaction.
func (c *Client) DeleteAnswer(ctx context.Context, app, token string) error {
	return c.remove(ctx, callTo("delete the answer", "DELETE"+original, app, token))
}

// FollowUp adds a message to the answer of an interaction and gives its id.
// Discord knows no nonce here, so that nothing is repeated that may have been
// carried out: after ErrTransient the message may be there.
func (c *Client) FollowUp(ctx context.Context, app, token string, m Message) (id string, err error) {
	k := callTo("follow up", "POST /webhooks/{}/{}", app, token)
	w := m.fresh()
	w.Reference = nil
	k.filling(w, m.Files)
	k.path += "?wait=true"
	k.decode = decodeID(&id)
	err = c.do(ctx, k)
	return id, err
}
