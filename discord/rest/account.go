package rest

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// User is an account. Name is what people call it, and not cleaned.
type User struct {
	ID, Name string
	Bot      bool
}

// UnmarshalJSON reads Discord's form.
func (u *User) UnmarshalJSON(data []byte) error {
	var raw struct {
		ID     string `json:"id"`
		Name   string `json:"username"`
		Global string `json:"global_name"`
		Bot    bool   `json:"bot"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*u = User{ID: raw.ID, Name: raw.Name, Bot: raw.Bot}
	if raw.Global != "" {
		u.Name = raw.Global
	}
	return nil
}

// App is the application behind the bot.
type App struct {
	ID, Name string
	// OwnerID is the person who owns it; of a team, the team's owner. Empty where
	// Discord does not say.
	OwnerID string
	Team    bool
	// BotPublic: anybody may add the bot to a server.
	BotPublic bool
	Flags     int64
	// UserInstall and GuildInstall: how it may be installed.
	UserInstall, GuildInstall bool
}

// Gateway is where events come from, and how often one may still begin to
// listen: after the last start Discord resets the token.
type Gateway struct {
	URL            string
	Remaining      int
	ResetAfter     time.Duration
	MaxConcurrency int
}

// Me is the bot's own account.
func (c *Client) Me(ctx context.Context) (User, error) {
	var u User
	err := c.get(ctx, "look up the bot's account", "/users/@me", func(data []byte) error {
		if into(&u)(data) != nil || u.ID == "" {
			return errors.New(textNotJSON)
		}
		return nil
	})
	return u, err
}

// Application is the bot's application.
func (c *Client) Application(ctx context.Context) (App, error) {
	var a App
	err := c.get(ctx, "look up the bot's application", "/applications/@me", func(data []byte) (err error) {
		a, err = readApp(data)
		return err
	})
	return a, err
}

func readApp(data []byte) (App, error) {
	var raw struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		BotPublic bool   `json:"bot_public"`
		Flags     int64  `json:"flags"`
		Owner     User   `json:"owner"`
		Team      *struct {
			Owner string `json:"owner_user_id"`
		} `json:"team"`
		Install map[string]json.RawMessage `json:"integration_types_config"`
	}
	if json.Unmarshal(data, &raw) != nil || raw.ID == "" {
		return App{}, errors.New(textNotJSON)
	}
	a := App{ID: raw.ID, Name: raw.Name, OwnerID: raw.Owner.ID, BotPublic: raw.BotPublic, Flags: raw.Flags}
	if raw.Team != nil {
		// The owner of a team's application is an account that nobody can write to.
		a.Team, a.OwnerID = true, raw.Team.Owner
	}
	_, a.GuildInstall = raw.Install["0"]
	_, a.UserInstall = raw.Install["1"]
	return a, nil
}

// GatewayBot tells where the gateway is.
func (c *Client) GatewayBot(ctx context.Context) (Gateway, error) {
	var raw struct {
		URL   string `json:"url"`
		Start struct {
			Remaining int   `json:"remaining"`
			Reset     int64 `json:"reset_after"` // milliseconds
			Together  int   `json:"max_concurrency"`
		} `json:"session_start_limit"`
	}
	err := c.get(ctx, "ask for the gateway", "/gateway/bot", func(data []byte) error {
		if into(&raw)(data) != nil || raw.URL == "" {
			return errors.New(textNotJSON)
		}
		return nil
	})
	s := raw.Start
	reset := time.Duration(min(max(s.Reset, 0), (24*time.Hour).Milliseconds())) * time.Millisecond
	return Gateway{URL: raw.URL, Remaining: s.Remaining, ResetAfter: reset, MaxConcurrency: max(s.Together, 1)}, err
}

func (c *Client) get(ctx context.Context, what, path string, decode func([]byte) error) error {
	k := newCall(what, "GET "+path)
	k.again, k.decode = true, decode
	return c.do(ctx, k)
}

// OpenDM is the channel of the bot's direct messages with a user. Asking again
// gives the same one.
func (c *Client) OpenDM(ctx context.Context, user string) (channel string, err error) {
	k := newCall("open the direct messages", "POST /users/@me/channels")
	to := struct {
		User string `json:"recipient_id"`
	}{user}
	k.filling(to, nil)
	k.again, k.decode = true, decodeID(&channel)
	err = c.do(ctx, k)
	return channel, err
}
