package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/bwmarrin/discordgo"
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

// Answer is the first answer to an interaction, within three seconds: a message,
// or the promise of one, for which m may be nil; the flag for an ephemeral one
// holds for what follows a promise. An interaction that is over, or answered
// already, is ErrExpired.
//
// It is repeated: an interaction takes one answer only, so that a second try
// cannot be a second answer.
func (c *Client) Answer(ctx context.Context, i *discordgo.Interaction, kind discordgo.InteractionResponseType, m *Message) error {
	k := callTo("answer the interaction", "POST /interactions/{}/{}/callback", i.ID, i.Token)
	answer := struct {
		Type discordgo.InteractionResponseType `json:"type"`
		Data *payload                          `json:"data,omitempty"`
	}{Type: kind}
	if m != nil {
		p := m.fresh()
		answer.Data = &p
	}
	k.fill(answer, nil)
	k.again, k.done = true, discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged
	return c.do(ctx, k)
}

const theAnswer = " /webhooks/{}/{}/messages/@original"

// EditAnswer replaces the answer to an interaction, or keeps the promise of one.
// Late, it is ErrExpired: then a message is the way.
func (c *Client) EditAnswer(ctx context.Context, i *discordgo.Interaction, m Message) error {
	return c.edit(ctx, callTo("edit the answer", "PATCH"+theAnswer, i.AppID, i.Token), m.replacing())
}

// DeleteAnswer removes the answer to an interaction.
func (c *Client) DeleteAnswer(ctx context.Context, i *discordgo.Interaction) error {
	return c.remove(ctx, callTo("delete the answer", "DELETE"+theAnswer, i.AppID, i.Token))
}

// FollowUp adds a message to the answer of an interaction. Discord knows no nonce
// here, so that nothing is repeated that may have been carried out: after
// ErrTransient the message may be there.
func (c *Client) FollowUp(ctx context.Context, i *discordgo.Interaction, m Message) error {
	k := callTo("follow up", "POST /webhooks/{}/{}", i.AppID, i.Token)
	k.fill(m.fresh(), nil)
	k.path += "?wait=true"
	k.decode = decodeID(new(string))
	return c.do(ctx, k)
}
