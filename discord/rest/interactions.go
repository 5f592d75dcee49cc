package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

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

// Commands are the application's commands, as Discord has them.
func (c *Client) Commands(ctx context.Context, app string) ([]discordgo.ApplicationCommand, error) {
	k := newCall("list the commands", "GET /applications/{}/commands", app)
	var list []discordgo.ApplicationCommand
	k.again, k.decode = true, into(&list)
	err := c.do(ctx, k)
	return list, err
}

// PutCommands replaces all of them. Discord counts that: ask Same first.
func (c *Client) PutCommands(ctx context.Context, app string, list []discordgo.ApplicationCommand) error {
	k := newCall("register the commands", "PUT /applications/{}/commands", app)
	k.fill(append([]discordgo.ApplicationCommand{}, list...), nil) // never null
	k.again = true
	return c.do(ctx, k)
}

// Same reports whether two lists are the same to Discord: in any order, and
// whatever else it says about them.
func Same(a, b []discordgo.ApplicationCommand) bool {
	have, err := essence(a)
	want, err2 := essence(b)
	return err == nil && err2 == nil && bytes.Equal(have, want)
}

// essence is what a list of commands says, in one order.
func essence(list []discordgo.ApplicationCommand) ([]byte, error) {
	out := make([]discordgo.ApplicationCommand, 0, len(list))
	for _, c := range list {
		out = append(out, discordgo.ApplicationCommand{
			Name: c.Name, Description: c.Description, Options: c.Options,
			Contexts: ordered(c.Contexts), IntegrationTypes: ordered(c.IntegrationTypes),
		})
	}
	slices.SortFunc(out, func(a, b discordgo.ApplicationCommand) int { return cmp.Compare(a.Name, b.Name) })
	return json.Marshal(out)
}

func ordered[T cmp.Ordered](list *[]T) *[]T {
	if list == nil {
		return nil
	}
	out := slices.Sorted(slices.Values(*list))
	return &out
}
