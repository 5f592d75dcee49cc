// Package message reads messages and ids as Discord writes them: the same
// reader for what the gateway tells and for what the history holds. It owns what
// counts as a message that somebody wrote, and how that which has no words of its
// own (a forwarded message, a sticker, a poll, a voice message) becomes words. It
// must not know who is listened to, nor any connection.
package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
)

// errNonsense says that a part is missing that each message has, or is of a wrong form.
var errNonsense = errors.New("read message: a part is missing")

// IsID reports whether a text is an id of Discord, a number of 64 bits. Ids
// become part of addresses, so nothing else is let in.
func IsID(s string) bool { return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == "" }

// Compare orders ids by age: they grow in length, then in order. Any id is newer
// than none.
func Compare(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// parts are the properties of a message that are read. What else Discord sends,
// such as a kind of component that the library does not know, costs no message.
var parts = []string{
	"id", "channel_id", "guild_id", "type", "author", "edited_timestamp", "message_reference",
	"content", "flags", "attachments", "sticker_items", "poll",
}

// Decode reads a message. Anything of the wrong form makes all of it nonsense:
// half a message is worse than none, since the other half may say who wrote it.
// What it answers and what it forwards are extras, and cost nothing when they
// are wrong.
func Decode(data []byte) (*discordgo.Message, error) {
	m, extra, err := decode(data)
	switch {
	case err != nil:
		return nil, err
	case m.Author == nil || !IsID(m.ID) || !IsID(m.ChannelID) || !IsID(m.Author.ID):
		return nil, errNonsense
	}
	if ref := m.MessageReference; ref != nil && ref.MessageID != "" && !IsID(ref.MessageID) {
		return nil, errNonsense
	}
	m.ReferencedMessage = inner(extra["referenced_message"])
	var snapshots []struct {
		Message json.RawMessage `json:"message"`
	}
	_ = json.Unmarshal(extra["message_snapshots"], &snapshots)
	for _, s := range snapshots {
		if forwarded := inner(s.Message); forwarded != nil {
			m.MessageSnapshots = append(m.MessageSnapshots, discordgo.MessageSnapshot{Message: forwarded})
		}
	}
	return m, nil
}

// decode reads the parts of a message; extra has the others.
func decode(data []byte) (m *discordgo.Message, extra map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(data, &extra); err != nil {
		return nil, nil, err
	}
	read := make(map[string]json.RawMessage, len(parts))
	for _, name := range parts {
		if value, there := extra[name]; there {
			read[name] = value
		}
	}
	lean, err := json.Marshal(read)
	if err != nil {
		return nil, nil, err
	}
	m = new(discordgo.Message)
	return m, extra, json.Unmarshal(lean, m)
}

// inner is a message inside of another with its cards; nil where it cannot be read.
func inner(data []byte) *discordgo.Message {
	m, extra, err := decode(data)
	if err != nil || extra == nil {
		return nil
	}
	_ = json.Unmarshal(extra["embeds"], &m.Embeds) // a card that is wrong is none
	return m
}

// Written reports whether somebody wrote a message. Of other kinds Discord tells
// of a pin, a call, or a command.
func Written(m *discordgo.Message) bool {
	return m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply
}

// Text is what a message says, clean, with a line for whatever has no words.
func Text(m *discordgo.Message) string {
	lines := []string{words(m), voice(m)}
	for _, s := range m.MessageSnapshots {
		said := joined(words(s.Message), voice(s.Message))
		if said == "" {
			said = card(s.Message)
		}
		lines = append(lines, textForwarded, said)
	}
	return joined(lines...)
}

// Answered is the id of the message that another one answers, and what it says:
// empty where it was deleted or Discord did not send it.
func Answered(m *discordgo.Message) (id, text string) {
	if m.MessageReference == nil || m.MessageReference.Type != discordgo.MessageReferenceTypeDefault {
		return "", ""
	}
	if to := m.ReferencedMessage; to != nil {
		if text = words(to); text == "" {
			text = card(to)
		}
	}
	return m.MessageReference.MessageID, text
}

// Files are those of a message and of what it forwards, as their senders declare
// them: size and type may be lies, and the address may lead anywhere.
func Files(m *discordgo.Message) []*discordgo.MessageAttachment {
	files := m.Attachments
	for _, s := range m.MessageSnapshots {
		files = append(files, s.Message.Attachments...)
	}
	return files
}

// words are the text of a message with a line for each thing that has none.
func words(m *discordgo.Message) string {
	lines := []string{clean.Text(m.Content)}
	for _, s := range m.StickerItems {
		lines = append(lines, fmt.Sprintf(textSticker, clean.Line(s.Name)))
	}
	if m.Poll != nil {
		var answers []string
		for _, a := range m.Poll.Answers {
			if a.Media != nil {
				answers = append(answers, clean.Line(a.Media.Text))
			}
		}
		lines = append(lines, fmt.Sprintf(textPoll, clean.Line(m.Poll.Question.Text), strings.Join(answers, " · ")))
	}
	return joined(lines...)
}

// voice names a voice message, which is a file.
func voice(m *discordgo.Message) string {
	if m.Flags&discordgo.MessageFlagsIsVoiceMessage == 0 || len(m.Attachments) == 0 {
		return ""
	}
	return fmt.Sprintf(textVoice, m.Attachments[0].DurationSecs)
}

// card is the text of the first embed, or empty.
func card(m *discordgo.Message) string {
	if len(m.Embeds) == 0 || m.Embeds[0] == nil {
		return ""
	}
	return joined(clean.Line(m.Embeds[0].Title), clean.Text(m.Embeds[0].Description))
}

// joined puts the lines that say something below each other.
func joined(lines ...string) string {
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
