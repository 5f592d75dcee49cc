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

// Command is a slash command as Discord lists it.
type Command struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Options     []Option `json:"options,omitempty"`
	// Contexts are where it shows: 0 servers, 1 direct messages with the bot, 2
	// other direct messages. IntegrationTypes are how it is installed: 0 on a
	// server, 1 by a user.
	Contexts         []int `json:"contexts,omitempty"`
	IntegrationTypes []int `json:"integration_types,omitempty"`
}

// Option is an argument of a command.
type Option struct {
	Type        OptionType `json:"type"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Required    bool       `json:"required,omitempty"`
	Choices     []Choice   `json:"choices,omitempty"`
	MinValue    *float64   `json:"min_value,omitempty"`
	MaxValue    *float64   `json:"max_value,omitempty"`
	MaxLength   int        `json:"max_length,omitempty"`
}

// OptionType is what an argument is.
type OptionType int

// The types of arguments.
const (
	StringOption  OptionType = 3
	IntegerOption OptionType = 4
	BooleanOption OptionType = 5
)

// Choice is one of the values that an argument can have: a string or a number.
type Choice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Commands are the application's commands, as Discord has them.
func (c *Client) Commands(ctx context.Context, app string) ([]Command, error) {
	k := newCall("list the commands", "GET /applications/{}/commands", app)
	var list []Command
	k.again, k.decode = true, into(&list)
	err := c.do(ctx, k)
	return list, err
}

// PutCommands replaces all of them. Discord counts that: ask Same first.
func (c *Client) PutCommands(ctx context.Context, app string, list []Command) error {
	k := newCall("register the commands", "PUT /applications/{}/commands", app)
	if list == nil {
		list = []Command{}
	}
	k.fill(list, nil)
	k.again = true
	return c.do(ctx, k)
}

// Same reports whether two lists are the same to Discord: in any order, and
// whatever else it says about them.
func Same(a, b []Command) bool {
	have, err := normal(a)
	want, err2 := normal(b)
	return err == nil && err2 == nil && bytes.Equal(have, want)
}

func normal(list []Command) ([]byte, error) {
	list = append([]Command{}, list...)
	for i := range list {
		list[i].Contexts = slices.Sorted(slices.Values(list[i].Contexts))
		list[i].IntegrationTypes = slices.Sorted(slices.Values(list[i].IntegrationTypes))
	}
	slices.SortFunc(list, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	return json.Marshal(list)
}
