package rest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
)

// carrier answers each request, and keeps when it came and its body.
type carrier struct {
	at     []time.Time
	bodies []string
}

func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	c.at, c.bodies = append(c.at, time.Now()), append(c.bodies, string(body))
	h := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader("[]")), Request: r}, err
}

// S40: the first two reactions of a program were one too many for Discord, which allows one in a quarter of a second.
func TestTheFirstReactionsAreNotTooQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{}
		client := New(Options{Token: "x", Transport: c})
		for _, do := range []func(context.Context, string, string, string) error{client.React, client.Unreact, client.React} {
			if err := do(t.Context(), "1", "2", "x"); err != nil {
				t.Fatal(err)
			}
		}
		if gap := c.at[1].Sub(c.at[0]); gap < 250*time.Millisecond || gap > time.Second || c.at[2].Sub(c.at[1]) < 250*time.Millisecond {
			t.Errorf("sent at %v", c.at)
		}
	})
}

// S39: Discord's description of its API has no null for options and channel types.
func TestCommandsAreRegisteredWithoutNull(t *testing.T) {
	c := &carrier{}
	client := New(Options{Token: "x", Transport: c})
	list := []discordgo.ApplicationCommand{{Name: "model", Description: "d", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "name", Description: "d"},
	}}, {Name: "help", Description: "d"}}
	if err := client.PutCommands(t.Context(), "1", list); err != nil {
		t.Fatal(err)
	}
	var sent []discordgo.ApplicationCommand
	if body := c.bodies[0]; strings.Contains(body, "null") || json.Unmarshal([]byte(body), &sent) != nil || !Same(sent, list) {
		t.Errorf("sent %s", body)
	}
}
