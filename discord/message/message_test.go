package message

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written is a message of the user with more in it.
func written(more string) string {
	return `{"id":"11","channel_id":"77","type":0,"author":{"id":"42"}` + more + `}`
}

func TestAMessageIsReadWithItsFilesAndWhatItAnswers(t *testing.T) {
	const data = `{"id":"11","channel_id":"77","guild_id":null,"type":19,"content":"yes\u202e","author":{"id":"42","bot":true},"edited_timestamp":"2026-01-01T00:00:00Z",
		"attachments":[{"id":"5","url":"https://cdn.discordapp.com/a","filename":"a\n.png","content_type":"image/png","size":12}],
		"message_reference":{"message_id":"10","channel_id":"77"},
		"referenced_message":{"id":"10","channel_id":"77","author":{"id":"1000"},"content":"","embeds":[{"title":"T","description":"D"}]}}`
	got, err := Read([]byte(data))
	want := Message{
		ID: "11", Channel: "77", Author: "42", Bot: true, Text: "yes", ReplyTo: "10", Quoted: "T\nD", Edited: true,
		Attachments: []Attachment{{URL: "https://cdn.discordapp.com/a", Name: "a .png", Type: "image/png", Size: 12}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestWhatHasNoWordsOfItsOwnBecomesWords(t *testing.T) {
	for name, tc := range map[string]struct{ data, want string }{
		"a forwarded message": {
			`,"content":"","message_reference":{"type":1,"message_id":"9"},"message_snapshots":[{"message":{"type":0,"content":"The train leaves at nine.","embeds":[],"attachments":[]}}]`,
			"[forwarded message]\nThe train leaves at nine.",
		},
		"two of them, with a word about them": {
			`,"content":"see","message_snapshots":[{"message":{"content":"one"}},{"message":{"content":"two"}}]`,
			"see\n[forwarded message]\none\n[forwarded message]\ntwo",
		},
		"a forwarded card": {
			`,"message_snapshots":[{"message":{"content":"","embeds":[{"title":"Weather","description":"rain"}]}}]`,
			"[forwarded message]\nWeather\nrain",
		},
		"a sticker":      {`,"content":"","sticker_items":[{"id":"1","name":"Wave","format_type":1}]`, "[sticker: Wave]"},
		"a voice":        {`,"flags":8192,"attachments":[{"id":"1","filename":"voice-message.ogg","url":"https://cdn.discordapp.com/v","duration_secs":12.4}]`, "[voice message, 12 s]"},
		"a poll":         {`,"poll":{"question":{"text":"Lunch?"},"answers":[{"answer_id":1,"poll_media":{"text":"soup"}},{"answer_id":2,"poll_media":{"text":"salad"}}]}`, "[poll: Lunch?; to choose from: soup · salad]"},
		"nothing at all": {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(written(tc.data)))
			if err != nil || got.Text != tc.want || got.Notice || got.ReplyTo != "" {
				t.Errorf("%q, %v, want %q (%+v)", got.Text, err, tc.want, got)
			}
		})
	}
}

func TestFilesOfAForwardedMessageComeAlong(t *testing.T) {
	m, err := Read([]byte(written(`,"message_snapshots":[{"message":{"content":"look","attachments":[{"id":"5","url":"https://cdn.discordapp.com/a","filename":"a.png"}]}}]`)))
	if err != nil || len(m.Attachments) != 1 || m.Attachments[0].Name != "a.png" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestNoticesOfDiscordAreNobodysWords(t *testing.T) {
	for _, kind := range []string{"3", "6", "7", "20", "46"} {
		m, err := Read([]byte(strings.Replace(written(""), `"type":0`, `"type":`+kind, 1)))
		if err != nil || !m.Notice || m.ID != "11" {
			t.Errorf("type %s: %+v, %v", kind, m, err)
		}
	}
}

func TestAnAnswerToADeletedOrUnreadableMessageIsStillAMessage(t *testing.T) {
	for _, referenced := range []string{``, `,"referenced_message":null`, `,"referenced_message":"gone"`, `,"referenced_message":{"content":7}`} {
		m, err := Read([]byte(`{"id":"11","channel_id":"77","guild_id":"3","type":19,"content":"yes","author":{"id":"42"},"message_reference":{"message_id":"10"}` + referenced + `}`))
		if err != nil || m.ReplyTo != "10" || m.Quoted != "" || !m.Guild {
			t.Errorf("%s: %v %+v", referenced, err, m)
		}
	}
}

func FuzzMessagesAreWholeAndClean(f *testing.F) {
	f.Add([]byte(written(`,"content":"a\u001b[31mred\u202e"`)))
	f.Add([]byte(written(`,"message_snapshots":[{"message":{"content":"x","sticker_items":[{"name":"\u001b"}],"poll":{}}}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(data)
		if err != nil {
			return
		}
		if !IsID(m.ID) || !IsID(m.Channel) || !IsID(m.Author) || m.ReplyTo != "" && !IsID(m.ReplyTo) {
			t.Fatalf("half a message: %+v", m)
		}
		said, err := json.Marshal(m)
		if err != nil || strings.ContainsAny(m.Text+m.Quoted, "\x1b\x00\u202e") {
			t.Fatalf("unclean: %s, %v", said, err)
		}
	})
}
