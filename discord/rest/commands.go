package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
)

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
