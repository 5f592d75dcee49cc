package message

import (
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
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
	m := read(t, data)
	edited := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	want := &discordgo.Message{
		ID: "11", ChannelID: "77", Type: discordgo.MessageTypeReply, Content: "yes\u202e", Author: &discordgo.User{ID: "42", Bot: true}, EditedTimestamp: &edited,
		Attachments:      []*discordgo.MessageAttachment{{ID: "5", URL: "https://cdn.discordapp.com/a", Filename: "a\n.png"}},
		MessageReference: &discordgo.MessageReference{MessageID: "10", ChannelID: "77"}, Components: []discordgo.MessageComponent{},
	}
	answered := m.ReferencedMessage
	m.ReferencedMessage = nil
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	m.ReferencedMessage = answered
	if got := Text(m); got != "yes" {
		t.Errorf("text %q", got)
	}
	if id, text := Answered(m); id != "10" || text != "T\nD" {
		t.Errorf("answers %q, %q", id, text)
	}
	if d := cmp.Diff(want.Attachments, Files(m)); d != "" {
		t.Errorf("files: %s", d)
	}
}

// read decodes a message that can be read.
func read(t *testing.T, data string) *discordgo.Message {
	t.Helper()
	m, err := Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
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
			`,"message_snapshots":[{"message":{"content":"","embeds":[7,{"title":"Weather","description":"rain"}]}}]`,
			"[forwarded message]\nWeather\nrain",
		},
		"a sticker":      {`,"content":"","sticker_items":[{"id":"1","name":"Wave","format_type":1}]`, "[sticker: Wave]"},
		"a voice":        {`,"flags":8192,"attachments":[{"id":"1","filename":"voice-message.ogg","url":"https://cdn.discordapp.com/v","duration_secs":12.4}]`, "[voice message, 12 s]"},
		"a poll":         {`,"poll":{"question":{"text":"Lunch?"},"answers":[{"answer_id":1,"poll_media":{"text":"soup"}},{"answer_id":2,"poll_media":{"text":"salad"}}]}`, "[poll: Lunch?; to choose from: soup · salad]"},
		"nothing at all": {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := read(t, written(tc.data))
			if to, _ := Answered(m); Text(m) != tc.want || !Written(m) || to != "" {
				t.Errorf("%q, want %q (%+v)", Text(m), tc.want, m)
			}
		})
	}
}

func TestFilesOfAForwardedMessageComeAlong(t *testing.T) {
	m := read(t, written(`,"message_snapshots":[{"message":{"content":"look","attachments":[{"id":"5","url":"https://cdn.discordapp.com/a","filename":"a.png"}]}}]`))
	if d := cmp.Diff([]*discordgo.MessageAttachment{{ID: "5", URL: "https://cdn.discordapp.com/a", Filename: "a.png"}}, Files(m)); d != "" {
		t.Error(d)
	}
}

func TestNoticesOfDiscordAreNotTheUsersWords(t *testing.T) {
	for _, kind := range []string{"3", "6", "7", "20", "46"} {
		if m := read(t, strings.Replace(written(""), `"type":0`, `"type":`+kind, 1)); Written(m) || m.ID != "11" {
			t.Errorf("type %s: %+v", kind, m)
		}
	}
}

func TestAnAnswerToADeletedOrUnreadableMessageIsStillAMessage(t *testing.T) {
	for _, referenced := range []string{``, `,"referenced_message":null`, `,"referenced_message":"gone"`, `,"referenced_message":{"content":7}`} {
		m := read(t, `{"id":"11","channel_id":"77","guild_id":"3","type":19,"content":"yes","author":{"id":"42"},"message_reference":{"message_id":"10"}`+referenced+`}`)
		if id, text := Answered(m); id != "10" || text != "" || m.GuildID == "" {
			t.Errorf("%s: %q, %q, %+v", referenced, id, text, m)
		}
	}
}

func TestAnUnknownKindOfComponentCostsNoMessage(t *testing.T) {
	const odd = `"components":[{"type":99}],"embeds":"none","content":"x"`
	m := read(t, written(`,`+odd+`,"referenced_message":{`+odd+`},"message_reference":{"message_id":"10"},"message_snapshots":[{"message":{`+odd+`}}]`))
	if _, quoted := Answered(m); Text(m) != "x\n[forwarded message]\nx" || quoted != "x" {
		t.Errorf("%q answers %q", Text(m), quoted)
	}
}

// D12, S36: a quoted card lost its title and fields, and a colour of the wrong form lost the card.
func TestAQuotedCardKeepsItsWords(t *testing.T) {
	const card = `"content":"Look:","embeds":[{"color":"red","title":"Plan","description":"Today","fields":[{"name":"9:00","value":"bank"},null]},7,{"title":"More"}]`
	m := read(t, written(`,"content":"yes","referenced_message":{`+card+`},"message_reference":{"message_id":"10"}`))
	if _, quoted := Answered(m); quoted != "Look:\nPlan\nToday\n9:00: bank\nMore" {
		t.Errorf("%q", quoted)
	}
	if got := Card(&discordgo.Message{Embeds: []*discordgo.MessageEmbed{nil, {Title: "Plan"}}}); got != "Plan" { // as discordgo reads null
		t.Errorf("%q", got)
	}
}

func TestIDsGrowInLengthAndThenInOrder(t *testing.T) {
	for _, pair := range [][2]string{{"", "0"}, {"9", "10"}, {"1111", "1112"}, {"999999999999999999", "1000000000000000000"}} {
		if Compare(pair[0], pair[1]) >= 0 || Compare(pair[1], pair[0]) <= 0 || Compare(pair[0], pair[0]) != 0 {
			t.Error(pair)
		}
	}
}

func FuzzMessagesAreWholeAndClean(f *testing.F) {
	f.Add([]byte(written(`,"content":"a\u001b[31mred\u202e"`)))
	f.Add([]byte(written(`,"message_snapshots":[{"message":{"content":"x","sticker_items":[{"name":"\u001b"}],"poll":{}}}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data)
		if err != nil {
			return
		}
		to, quoted := Answered(m)
		if !IsID(m.ID) || !IsID(m.ChannelID) || !IsID(m.Author.ID) || to != "" && !IsID(to) {
			t.Fatalf("half a message: %+v", m)
		}
		_ = Files(m)
		if said := Text(m) + quoted; strings.ContainsAny(said, "\x1b\x00\u202e") {
			t.Fatalf("unclean: %q", said)
		}
	})
}

// P9: an unexpected number cost a message.
func TestAnOddFieldThatIsNotReadCostsNoMessage(t *testing.T) {
	for _, odd := range []string{
		`,"author":{"id":"42","public_flags":"0","accent_color":"red","username":7,"avatar":{}}`,
		`,"attachments":[{"id":"5","filename":"a.png","url":"https://cdn.discordapp.com/a","size":"12","height":"tall","flags":"0"}]`,
		`,"flags":"none"`, `,"poll":{"question":7}`, `,"sticker_items":"wave"`, `,"mentions":[{"id":7}],"pinned":"no","nonce":5,"tts":"x"`,
	} {
		m := read(t, written(`,"content":"hello"`+odd))
		if m.ID != "11" || m.Author.ID != "42" || m.Author.Bot || Text(m) != "hello" {
			t.Errorf("%s: %+v", odd, m)
		}
	}
	m := read(t, written(`,"flags":8192,"poll":7,"sticker_items":[{"name":"Wave"}],"attachments":[{"id":"1","filename":"v.ogg","url":"https://cdn.discordapp.com/v","duration_secs":3,"waveform":9}]`))
	if want := "[sticker: Wave]\n[voice message, 3 s]"; Text(m) != want {
		t.Errorf("%q, want %q", Text(m), want)
	}
}

// P9: but a field that says who wrote it does.
func TestAMessageWithoutACertainAuthorIsUnreadableAndStillHasItsTraits(t *testing.T) {
	for author, id := range map[string]string{
		`{"id":42}`: "", `{"id":"42","bot":"no"}`: "42", `{"id":""}`: "", `"me"`: "", `null`: "", `{}`: "",
	} {
		data := []byte(`{"id":"11","channel_id":"77","nonce":"n1","type":0,"content":"x","author":` + author + `}`)
		if m, err := Decode(data); err == nil {
			t.Errorf("%s: %+v", author, m)
		}
		if got, want := TraitsOf(data), (Traits{ID: "11", Channel: "77", Author: id, Nonce: "n1"}); got != want {
			t.Errorf("%s: %+v, want %+v", author, got, want)
		}
	}
	for _, data := range []string{
		`{"id":"x","channel_id":"77","author":{"id":"42"}}`, `{"id":"11","channel_id":"","author":{"id":"42"}}`, `{"id":"11","channel_id":"77"}`,
		`{"id":"11","channel_id":"77","author":{"id":"42"},"message_reference":{"message_id":"x"}}`, `[]`,
	} {
		if m, err := Decode([]byte(data)); err == nil {
			t.Errorf("%s: %+v", data, m)
		}
	}
	if got := TraitsOf([]byte(`{"id":"` + strings.Repeat("1", 41) + `","nonce":"a\nb"}`)); got != (Traits{ID: strings.Repeat("1", 39) + "…", Nonce: "a b"}) {
		t.Errorf("long or dirty traits are %+v", got)
	}
	if m := read(t, written(`,"message_reference":{"message_id":""}`)); m.MessageReference.MessageID != "" {
		t.Errorf("%+v", m)
	}
	for _, data := range []string{``, `[]`, `7`, `null`, `{"id":7,"channel_id":null,"nonce":5,"author":[]}`} {
		if got := TraitsOf([]byte(data)); got != (Traits{}) {
			t.Errorf("%s: %+v", data, got)
		}
	}
}

func TestARecordingIsFoundAndHeardInAMessageAndInAForwardedOne(t *testing.T) {
	const file = `"attachments":[{"id":"1","filename":"v.ogg","url":"https://cdn.discordapp.com/v","duration_secs":3}]`
	for name, tc := range map[string]struct {
		data         string
		voices       int
		forwards     bool
		text, spoken string // without and with what was heard
	}{
		"its own":           {`,"flags":8192,` + file, 1, false, "[voice message, 3 s]", "[voice message, 3 s]\nbuy milk"},
		"of a forward":      {`,"message_snapshots":[{"message":{"flags":8192,` + file + `}}]`, 1, true, "[forwarded message]\n[voice message, 3 s]", "[forwarded message]\n[voice message, 3 s]\nbuy milk"},
		"only a sound file": {`,"content":"listen",` + file, 0, false, "listen", "listen"},
		"a lost recording":  {`,"flags":8192,"attachments":[]`, 0, false, "", ""},
	} {
		m := read(t, written(tc.data))
		voices, heard := Voices(m), map[*discordgo.MessageAttachment]string{}
		for _, v := range voices {
			heard[v] = "buy milk"
		}
		if len(voices) != tc.voices || Forwards(m) != tc.forwards || Text(m) != tc.text || TextWith(m, heard) != tc.spoken {
			t.Errorf("%s: %d recordings, forwards %v, %q, heard as %q", name, len(voices), Forwards(m), Text(m), TextWith(m, heard))
		}
	}
}

func TestAForwardAnswersNothing(t *testing.T) {
	m := read(t, written(`,"message_reference":{"type":1,"message_id":"9"},"referenced_message":{"id":"9","channel_id":"77","author":{"id":"1"},"content":"x"}`))
	if id, text := Answered(m); id != "" || text != "" {
		t.Errorf("it answers %q, %q", id, text)
	}
}

func TestAnIDIsANumberOfUpToTwentyDigits(t *testing.T) {
	for id, want := range map[string]bool{"": false, "0": true, strings.Repeat("9", 20): true, strings.Repeat("9", 21): false, "1a": false, "-1": false, "../1": false} {
		if IsID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}
