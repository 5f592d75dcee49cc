// Package message reads messages as Discord writes them: the same reader for
// what the gateway tells and for what the history holds. It owns what counts as
// a message that somebody wrote, and how that which has no words of its own (a
// forwarded message, a sticker, a poll, a voice message) becomes words. It must
// not know who is listened to, nor any connection.
package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/clean"
)

// ErrNonsense says that a part is missing that each message has, or is of a wrong form.
var ErrNonsense = errors.New("read message: a part is missing")

// ID is an id of Discord: a number of 64 bits as text. It becomes part of
// addresses, so nothing else is let in. The zero value is "not there".
type ID string

// UnmarshalJSON reads an id, null, or an empty text.
func (i *ID) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s != "" && !IsID(s) {
		return ErrNonsense
	}
	*i = ID(s)
	return nil
}

// IsID reports whether a text is an id of Discord.
func IsID(s string) bool { return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == "" }

// Message is a message that somebody wrote. Its texts are clean.
type Message struct {
	ID, Channel string
	Guild       bool // it stands on a server, not in private
	Author      string
	Bot         bool // its author is a program
	// Text are its words, with a line for whatever has none.
	Text        string
	Attachments []Attachment
	ReplyTo     string // the id of the message that it answers
	// Quoted is what that message says; empty where it was deleted or Discord did
	// not send it.
	Quoted string
	Edited bool
	// Notice: nobody wrote it. Discord tells of a pin, a call, or a command.
	Notice bool
}

// Attachment is a file at a message, as its sender declares it: size and type
// may be lies, and the address may lead anywhere.
type Attachment struct {
	URL, Name string
	Type      string
	Size      int64 // bytes
}

// raw holds messages, the ones that they answer, and those that they forward.
type raw struct {
	ID        ID                    `json:"id"`
	Channel   ID                    `json:"channel_id"`
	Guild     ID                    `json:"guild_id"`
	Type      discordgo.MessageType `json:"type"`
	Author    *rawUser              `json:"author"`
	Edited    *string               `json:"edited_timestamp"`
	Reference *struct {
		Type    int `json:"type"` // 1: a forwarded message
		Message ID  `json:"message_id"`
	} `json:"message_reference"`
	Referenced json.RawMessage `json:"referenced_message"`
	Snapshots  []struct {
		Message content `json:"message"`
	} `json:"message_snapshots"`
	content
}

type rawUser struct {
	ID  ID   `json:"id"`
	Bot bool `json:"bot"`
}

// content is what a message says, a forwarded one too.
type content struct {
	Content     string                 `json:"content"`
	Flags       discordgo.MessageFlags `json:"flags"`
	Attachments []struct {
		URL     string  `json:"url"`
		Name    string  `json:"filename"`
		Type    string  `json:"content_type"`
		Size    int64   `json:"size"`
		Seconds float64 `json:"duration_secs"`
	} `json:"attachments"`
	Embeds   json.RawMessage `json:"embeds"`
	Stickers []struct {
		Name string `json:"name"`
	} `json:"sticker_items"`
	Poll *struct {
		Question struct {
			Text string `json:"text"`
		} `json:"question"`
		Answers []struct {
			Media struct {
				Text string `json:"text"`
			} `json:"poll_media"`
		} `json:"answers"`
	} `json:"poll"`
}

// Read reads a message. Anything of the wrong form makes all of it nonsense:
// half a message is worse than none, since the other half may say who wrote it.
// What it answers is an extra and costs nothing when it is wrong.
func Read(data []byte) (Message, error) {
	var r raw
	if err := json.Unmarshal(data, &r); err != nil {
		return Message{}, err
	}
	if r.ID == "" || r.Channel == "" || r.Author == nil || r.Author.ID == "" {
		return Message{}, ErrNonsense
	}
	m := Message{
		ID: string(r.ID), Channel: string(r.Channel), Guild: r.Guild != "",
		Author: string(r.Author.ID), Bot: r.Author.Bot, Edited: r.Edited != nil,
		Notice: r.Type != discordgo.MessageTypeDefault && r.Type != discordgo.MessageTypeReply,
	}
	lines := []string{r.words(), m.files(r.content)}
	for _, s := range r.Snapshots {
		said := strings.TrimSpace(s.Message.words() + "\n" + m.files(s.Message))
		if said == "" {
			said = s.Message.card()
		}
		lines = append(lines, textForwarded, said)
	}
	m.Text = joined(lines)
	if r.Reference != nil && r.Reference.Type == 0 {
		m.ReplyTo, m.Quoted = string(r.Reference.Message), quoted(r.Referenced)
	}
	return m, nil
}

// words are the text of a message with a line for each thing that has none.
func (c content) words() string {
	lines := []string{clean.Text(c.Content)}
	for _, s := range c.Stickers {
		lines = append(lines, fmt.Sprintf(textSticker, clean.Line(s.Name)))
	}
	if c.Poll != nil {
		var answers []string
		for _, a := range c.Poll.Answers {
			answers = append(answers, clean.Line(a.Media.Text))
		}
		lines = append(lines, fmt.Sprintf(textPoll, clean.Line(c.Poll.Question.Text), strings.Join(answers, " · ")))
	}
	return joined(lines)
}

// files takes over the files, and names the voice message among them.
func (m *Message) files(c content) string {
	said := ""
	for _, a := range c.Attachments {
		m.Attachments = append(m.Attachments, Attachment{
			URL: clean.Line(a.URL), Name: clean.Line(a.Name), Type: clean.Line(a.Type), Size: a.Size,
		})
		if c.Flags&discordgo.MessageFlagsIsVoiceMessage != 0 {
			said = fmt.Sprintf(textVoice, a.Seconds)
		}
	}
	return said
}

// card is the text of the first embed, or empty.
func (c content) card() string {
	var embeds []struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	if json.Unmarshal(c.Embeds, &embeds) != nil || len(embeds) == 0 {
		return ""
	}
	return joined([]string{clean.Line(embeds[0].Title), clean.Text(embeds[0].Description)})
}

// quoted is what the message says that another one answers.
func quoted(data []byte) string {
	var c content
	if len(data) == 0 || json.Unmarshal(data, &c) != nil {
		return ""
	}
	if said := c.words(); said != "" {
		return said
	}
	return c.card()
}

// joined puts the lines that say something below each other.
func joined(lines []string) string {
	var out []string
	for _, l := range lines {
		if l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// What the agent reads for things without words.
const (
	textForwarded = "[forwarded message]"
	textSticker   = "[sticker: %s]"
	textPoll      = "[poll: %s; to choose from: %s]"
	textVoice     = "[voice message, %.0f s]"
)
