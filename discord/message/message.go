// Package message reads messages and IDs in Discord's form, from the gateway and from the history. It decides which
// messages count as written by a user, and describes those without text: forwarded messages, stickers, polls, voice
// messages. It must not know the owner or any connection.
package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
)

// errNonsense means that a required part is missing or malformed.
var errNonsense = errors.New("read message: a part is missing")

// IsID reports whether a text is a Discord ID, a number of 64 bits. IDs become part of
// URLs, so anything else is refused.
func IsID(s string) bool { return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == "" }

// Compare orders IDs by age: first by length, then as text. Any ID is newer than none.
func Compare(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// parts are the required properties of a message. optional ones are read if they have the expected form. All others
// are ignored, so they cannot make a message unreadable.
var (
	parts = []string{
		"id", "channel_id", "guild_id", "type", "author", "edited_timestamp", "message_reference", "content", "attachments",
	}
	optional = []string{"flags", "sticker_items", "poll"}
)

// Decode reads a message. A malformed required part makes the whole message an error, because that part might
// identify the author. Malformed optional parts, replied-to messages and forwarded messages are skipped.
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

// Traits are the properties that can be read from any message, even one that Decode rejects. A malformed one is
// empty.
type Traits struct{ ID, Channel, Author, Nonce string }

// TraitsOf reads the traits of a message.
func TraitsOf(data []byte) Traits {
	var all, author map[string]json.RawMessage
	_ = json.Unmarshal(data, &all) // what is missing is empty
	_ = json.Unmarshal(all["author"], &author)
	text := func(raw json.RawMessage) (s string) {
		_ = json.Unmarshal(raw, &s)
		return clean.Cut(clean.Line(s), 40)
	}
	return Traits{ID: text(all["id"]), Channel: text(all["channel_id"]), Author: text(author["id"]), Nonce: text(all["nonce"])}
}

// Only reduces an object to the named properties. Values that are not objects are returned unchanged.
func Only(data json.RawMessage, names ...string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil || all == nil {
		return data
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
	return encode(all)
}

// OnlyUser reduces a user to the properties that are used.
func OnlyUser(data json.RawMessage) json.RawMessage { return Only(data, "id", "bot") }

// encode writes JSON that was just read, which cannot fail.
func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}

// decode reads the parts of a message and returns the others as extra.
func decode(data []byte) (m *discordgo.Message, extra map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(data, &extra); err != nil {
		return nil, nil, err
	}
	read := make(map[string]json.RawMessage, len(parts)+len(optional))
	for _, name := range parts {
		if value, there := extra[name]; there {
			read[name] = value
		}
	}
	for _, name := range optional {
		alone := map[string]json.RawMessage{name: extra[name]}
		if len(extra[name]) > 0 && json.Unmarshal(encode(alone), new(discordgo.Message)) == nil {
			read[name] = extra[name]
		}
	}
	if author, there := read["author"]; there {
		read["author"] = OnlyUser(author)
	}
	var files []json.RawMessage
	if json.Unmarshal(read["attachments"], &files) == nil && files != nil {
		for i, f := range files {
			files[i] = Only(f, "id", "filename", "url", "duration_secs")
		}
		read["attachments"] = encode(files)
	}
	m = new(discordgo.Message)
	return m, extra, json.Unmarshal(encode(read), m)
}

// inner reads a message nested in another one, with its embeds; nil if it is malformed.
func inner(data []byte) *discordgo.Message {
	m, extra, err := decode(data)
	if err != nil || extra == nil {
		return nil
	}
	var list []json.RawMessage
	_ = json.Unmarshal(OnlyWords(extra["embeds"]), &list)
	for _, data := range list {
		e := new(discordgo.MessageEmbed)
		if json.Unmarshal(data, e) == nil { // a malformed embed is skipped
			m.Embeds = append(m.Embeds, e)
		}
	}
	return m
}

// OnlyWords reduces embeds to their words. The rest, such as a colour of the wrong form, must not lose them.
func OnlyWords(embeds json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(embeds, &list) != nil {
		return nil
	}
	for i, e := range list {
		list[i] = Only(e, "title", "description", "fields")
	}
	return encode(list)
}

// Written reports whether a user wrote the message. Other kinds announce a pin, a call or a
// command.
func Written(m *discordgo.Message) bool {
	return m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply
}

// Text returns the clean text of a message, with a line for each part without text.
func Text(m *discordgo.Message) string { return TextWith(m, nil) }

// TextWith is Text with the transcripts of voice messages, by their files.
func TextWith(m *discordgo.Message, heard map[*discordgo.MessageAttachment]string) string {
	lines := []string{words(m), voice(m, heard)}
	for _, s := range m.MessageSnapshots {
		said := joined(words(s.Message), voice(s.Message, heard))
		if said == "" {
			said = Card(s.Message)
		}
		lines = append(lines, textForwarded, said)
	}
	return joined(lines...)
}

// Answered returns the ID and the text of the message that m answers. The text is empty if that message was deleted
// or not included.
func Answered(m *discordgo.Message) (id, text string) {
	if m.MessageReference == nil || m.MessageReference.Type != discordgo.MessageReferenceTypeDefault {
		return "", ""
	}
	if to := m.ReferencedMessage; to != nil {
		text = joined(words(to), Card(to))
	}
	return m.MessageReference.MessageID, text
}

// Files are the attachments of a message and of those that it forwards, as declared by
// their senders: size and type may be wrong, and the address may lead anywhere.
func Files(m *discordgo.Message) []*discordgo.MessageAttachment {
	files := m.Attachments
	for _, s := range m.MessageSnapshots {
		files = append(files, s.Message.Attachments...)
	}
	return files
}

// words returns the text of a message, with a line for each sticker and poll.
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

// Voices returns the recordings of a message: its own if it is a voice message, and those of forwarded voice
// messages.
func Voices(m *discordgo.Message) (list []*discordgo.MessageAttachment) {
	if f := recording(m); f != nil {
		list = append(list, f)
	}
	for _, s := range m.MessageSnapshots {
		if f := recording(s.Message); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// Forwards reports whether a message forwards text that someone else may have written. Discord does not report the
// author.
func Forwards(m *discordgo.Message) bool { return len(m.MessageSnapshots) > 0 }

// recording returns the file of a voice message, or nil for other messages.
func recording(m *discordgo.Message) *discordgo.MessageAttachment {
	if m.Flags&discordgo.MessageFlagsIsVoiceMessage == 0 || len(m.Attachments) == 0 {
		return nil
	}
	return m.Attachments[0]
}

// voice describes a voice message, with its transcript.
func voice(m *discordgo.Message, heard map[*discordgo.MessageAttachment]string) string {
	f := recording(m)
	if f == nil {
		return ""
	}
	return joined(fmt.Sprintf(textVoice, f.DurationSecs), heard[f])
}

// Card is the text of a message's embeds, with their fields, or empty.
func Card(m *discordgo.Message) string {
	var lines []string
	for _, e := range m.Embeds {
		if e == nil {
			continue
		}
		lines = append(lines, clean.Line(e.Title), clean.Text(e.Description))
		for _, f := range e.Fields {
			if f != nil {
				lines = append(lines, clean.Line(f.Name)+": "+clean.Text(f.Value))
			}
		}
	}
	return joined(lines...)
}

// joined joins the non-empty lines.
func joined(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// Placeholders that the agent reads.
const (
	textForwarded = "[forwarded message]"
	textSticker   = "[sticker: %s]"
	textPoll      = "[poll: %s; to choose from: %s]"
	textVoice     = "[voice message, %.0f s]"
)
