package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"ollimbot/discord/message"
)

// Send sends a message and gives its id. It is repeated safely: whatever became
// of the tries, one nonce is one message, and its id is the answer. Where that
// message was deleted in the meantime the error is ErrGone.
func (c *Client) Send(ctx context.Context, channel string, m Message) (id string, err error) {
	k := newCall("send the message", "POST /channels/{}/messages", channel)
	w := m.fresh()
	w.Nonce, w.Enforce = nonce(m.Nonce), true
	k.filling(w, m.Files)
	k.again, k.before = true, m.Before
	k.decode = decodeID(&id)
	if err = c.do(ctx, k); err != nil && k.maybe {
		err = Unknown(err)
	}
	return id, err
}

// decodeID reads the id of an answer; one without is no answer.
func decodeID(id *string) func([]byte) error {
	return func(data []byte) error {
		var said struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(data, &said) != nil || said.ID == "" {
			return errors.New(textNotJSON)
		}
		*id = said.ID
		return nil
	}
}

// into reads an answer into v.
func into(v any) func([]byte) error {
	return func(data []byte) error {
		if json.Unmarshal(data, v) != nil {
			return errors.New(textNotJSON)
		}
		return nil
	}
}

// Edit replaces a message: what m does not have is taken away, attachments stay.
// ErrGone says that the message was deleted, ErrOldEdit that it is too old to be
// changed often.
func (c *Client) Edit(ctx context.Context, channel, id string, m Message) error {
	return c.edit(ctx, newCall("edit the message", "PATCH /channels/{}/messages/{}", channel, id), m.filled(), m.Files)
}

// Buttons replaces the buttons of a message and nothing else.
func (c *Client) Buttons(ctx context.Context, channel, id string, rows []Row) error {
	m := Message{Components: rows}
	w := m.filled()
	w.Content, w.Embeds = nil, nil
	return c.edit(ctx, newCall("change the buttons", "PATCH /channels/{}/messages/{}", channel, id), w, nil)
}

// edit changes a message, in a channel or in answer to an interaction.
func (c *Client) edit(ctx context.Context, k *call, w wire, files []File) error {
	k.filling(w, files)
	k.again = true
	return c.do(ctx, k)
}

// Delete removes a message; ErrGone says that somebody was first.
func (c *Client) Delete(ctx context.Context, channel, id string) error {
	return c.remove(ctx, newCall("delete the message", "DELETE /channels/{}/messages/{}", channel, id))
}

// remove deletes a message, in a channel or in answer to an interaction.
func (c *Client) remove(ctx context.Context, k *call) error {
	k.again, k.done = true, 10008
	return c.do(ctx, k)
}

// React adds the bot's reaction: an emoji itself, or name:id for one of a server.
func (c *Client) React(ctx context.Context, channel, id, emoji string) error {
	return c.reaction(ctx, "PUT", [3]string{channel, id, emoji})
}

// Unreact takes the bot's own reaction back. ErrGone says that it, or its
// message, is not there.
func (c *Client) Unreact(ctx context.Context, channel, id, emoji string) error {
	return c.reaction(ctx, "DELETE", [3]string{channel, id, emoji})
}

func (c *Client) reaction(ctx context.Context, method string, at [3]string) error {
	k := newCall("react to the message", method+" /channels/{}/messages/{}/reactions/{}/@me", at[:]...)
	k.again = true
	return c.do(ctx, k)
}

// Typing shows for ten seconds that the bot is at work. It is not worth
// repeating, nor waiting for long.
func (c *Client) Typing(ctx context.Context, channel string) error {
	k := newCall("show that the bot is typing", "POST /channels/{}/typing", channel)
	k.tries, k.patience, k.time = 1, 2*time.Second, 5*time.Second
	return c.do(ctx, k)
}

// Text is what one message says, as it was sent. ErrGone: it was deleted.
func (c *Client) Text(ctx context.Context, channel, id string) (string, error) {
	k := newCall("read the message", "GET /channels/{}/messages/{}", channel, id)
	var said struct {
		Content string `json:"content"`
	}
	k.again, k.decode = true, into(&said)
	err := c.do(ctx, k)
	return said.Content, err
}

const maxPage = 100

// After gives what was written after a message, the oldest first, at most limit
// messages: the next call goes on after the last of them. Without an id it gives
// the newest, at most a hundred. A message that cannot be read is left away.
func (c *Client) After(ctx context.Context, channel, after string, limit int) ([]message.Message, error) {
	var all []message.Message
	for len(all) < limit {
		n := min(limit-len(all), maxPage)
		page, full, err := c.page(ctx, channel, after, n)
		if err != nil {
			return all, err
		}
		all = append(all, page...)
		// Without progress a further page would be the same one.
		if !full || len(page) == 0 || after == "" {
			break
		}
		after = page[len(page)-1].ID
	}
	return all, nil
}

// page is one page of the history, the oldest first and strictly after; full
// says that there may be another.
func (c *Client) page(ctx context.Context, channel, after string, n int) (page []message.Message, full bool, err error) {
	k := newCall("read the messages", "GET /channels/{}/messages", channel)
	query := url.Values{"limit": {strconv.Itoa(n)}}
	if after != "" {
		query.Set("after", after)
	}
	k.path += "?" + query.Encode()
	var raw []json.RawMessage
	k.again, k.decode = true, into(&raw)
	if err := c.do(ctx, k); err != nil {
		return nil, false, err
	}
	for _, one := range raw {
		m, err := message.Read(one)
		if err != nil {
			c.log.Warn("a message of the history could not be read")
			continue
		}
		if older(after, m.ID) {
			page = append(page, m)
		}
	}
	slices.SortFunc(page, func(a, b message.Message) int { return order(a.ID, b.ID) })
	page = slices.CompactFunc(page, func(a, b message.Message) bool { return a.ID == b.ID })
	return page, len(raw) >= n, nil
}

// older compares ids of Discord: they grow with time, in length and then in order.
func older(a, b string) bool { return order(a, b) < 0 }

func order(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
