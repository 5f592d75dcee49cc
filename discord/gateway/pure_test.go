package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"ollimbot/discord/message"
)

func FuzzDecodedEventsAreWholeAndClean(f *testing.F) {
	kinds := []string{"READY", "MESSAGE_CREATE", "MESSAGE_DELETE", "INTERACTION_CREATE", "MESSAGE_REACTION_ADD"}
	seed, _ := json.Marshal(words("1", "a\x1b[31mred\u202e"))
	for i := range kinds {
		f.Add(i, seed)
	}
	f.Add(1, []byte(`{}`))
	f.Add(3, []byte(`{"id":"5","application_id":"6","channel_id":"7","token":"t","type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":3}]}}`))
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		v, err := decode(kinds[uint(kind)%uint(len(kinds))], data)
		if err != nil || v == nil {
			return
		}
		var ids, said []string
		switch e := v.(type) {
		case *discordgo.MessageCreate:
			_, quoted := message.Answered(e.Message)
			ids, said = []string{e.ID, e.ChannelID, e.Author.ID}, []string{message.Text(e.Message), quoted}
		case *discordgo.MessageDelete:
			ids = []string{e.ID, e.ChannelID}
		case *discordgo.MessageReactionAdd:
			ids, said = []string{e.MessageID, e.ChannelID, e.UserID}, []string{e.Emoji.Name}
		case *discordgo.InteractionCreate:
			ids, said = []string{e.ID, e.AppID, e.ChannelID, Who(e).ID}, []string{e.Token}
			switch d := e.Data.(type) {
			case discordgo.ApplicationCommandInteractionData:
				said = append(said, d.Name)
			case discordgo.MessageComponentInteractionData:
				ids, said = append(ids, e.Message.ID), append(said, d.CustomID)
			}
		}
		if slices.ContainsFunc(ids, func(id string) bool { return !message.IsID(id) }) {
			t.Fatalf("half an event: %q", ids)
		}
		if strings.ContainsAny(strings.Join(said, ""), "\x1b\x00\u202e") {
			t.Fatalf("unclean: %q", said)
		}
	})
}

func TestInteractionsAreReadWithTheirOptionsAndWhoTouchedThem(t *testing.T) {
	const head = `{"id":"5","application_id":"2000","channel_id":"77","token":"aW50.ZXJ_a-","version":1,`
	read := func(data string) (*discordgo.InteractionCreate, error) {
		v, err := decode("INTERACTION_CREATE", []byte(head+data))
		i, _ := v.(*discordgo.InteractionCreate)
		return i, err
	}
	i, err := read(`"type":2,"user":{"id":"42","username":"u"},"data":{"id":"8","name":"ping-budget","type":1,"options":[
		{"name":"capacity","type":4,"value":6},{"name":"share","type":10,"value":0.5},{"name":"on","type":5,"value":true},{"name":"topic","type":3,"value":"a\tb"},{"name":"least","type":4,"value":-9007199254740992},{"name":"most","type":4,"value":9007199254740992}]}}`)
	if err != nil || Who(i).ID != "42" || i.ApplicationCommandData().Name != "ping-budget" {
		t.Fatal(err, i)
	}
	options := map[string]any{}
	for _, o := range i.ApplicationCommandData().Options {
		options[o.Name] = o.Value
	}
	if diff := cmp.Diff(map[string]any{"capacity": int64(6), "share": 0.5, "on": true, "topic": "a    b", "least": int64(-1 << 53), "most": int64(1 << 53)}, options); diff != "" {
		t.Error(diff)
	}
	i, err = read(`"type":3,"guild_id":"3","member":{"user":{"id":"42","username":"u"}},"message":{"id":"9"},"data":{"custom_id":"act:dismiss:_","component_type":2}}`)
	if err != nil || Who(i).ID != "42" || i.GuildID != "3" || i.Message.ID != "9" || i.MessageComponentData().CustomID != "act:dismiss:_" {
		t.Error(err, i)
	}
	i, err = read(`"type":5,"user":{"id":"42"},"message":{"id":"9","content":"x","components":[]},"data":{"custom_id":"act:form:_","components":[]}}`)
	if err != nil || i.Message.ID != "9" || i.Message.Content != "" || i.ModalSubmitData().CustomID != "act:form:_" {
		t.Error(err, i)
	}
	if i, err = read(`"type":5,"user":{"id":"42"},"data":{"custom_id":"act:form:_","components":[]}}`); err != nil || i.Message != nil { // of a command
		t.Error(err, i)
	}
	if i, err = read(`"type":3,"member":{"user":{"id":"42","avatar":7}},"message":{"id":"9"},"data":{"custom_id":"x","component_type":2}}`); err != nil || Who(i).ID != "42" {
		t.Error("what is not used costs the interaction", err, i)
	}
	if i, err = read(`"type":3,"user":{"id":"42"},"member":{"user":{"id":"43"}},"message":{"id":"9"},"data":{"custom_id":"x","component_type":2}}`); err != nil || Who(i).ID != "42" {
		t.Error(err, i)
	}
	i, err = read(`"type":2,"user":{"id":"42"},"data":{"name":"Remind","type":3,"target_id":"9","resolved":{"users":{"1":{"id":7}},"messages":{
		"9":{"id":"9","channel_id":"77","content":"w","author":{"id":"43","avatar":7},"embeds":[{"title":"t","color":"red"}]}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	if m := i.ApplicationCommandData().Resolved.Messages["9"]; m.ID != "9" || m.ChannelID != "77" || m.Content != "w" || m.Author.ID != "43" || len(m.Embeds) != 1 || m.Embeds[0].Title != "t" {
		t.Errorf("the message that a command is about: %+v", m)
	}
	if i, err = read(`"type":2,"user":{"id":"42"},"data":{"name":"Look","type":2,"target_id":"9","resolved":{"users":{"9":{"id":7}}}}}`); err != nil {
		t.Error("what is not used costs the command", err, i)
	}
	for _, bad := range []string{
		`"type":5,"user":{"id":"42"},"message":{"id":"../x"},"data":{"custom_id":"act:form:_","components":[]}}`,
		`"type":2,"user":{"id":"42"},"token":"` + strings.Repeat("x", 1025) + `","data":{"name":"fork"}}`,
		`"type":2,"user":{"id":"42"},"token":"a~b","data":{"name":"fork"}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"\u001b[31m"}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":9007199254740994}]}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":-9007199254740994}]}}`,
		`"type":5,"user":{"id":"42"},"data":{"components":[]}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"Remind","type":3,"target_id":"../x"}}`,
		`"type":3,"user":{"id":"42"},"data":{"custom_id":"act:dismiss:_"}}`,
		`"type":3,"user":{"id":"42"},"message":{"id":"9"},"data":{}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":1.5}]}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":1,"options":[]}]}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[null]}}`,
		`"type":2,"user":{"id":"42"},"token":"../../x","data":{"name":"fork"}}`,
		`"type":2,"data":{"name":"fork"}}`,
	} {
		if i, err := read(bad); err == nil {
			t.Errorf("%s: %+v", bad, i)
		}
	}
}

func TestAnEventShowsNeitherItsTokenNorItsWords(t *testing.T) {
	e := Event{Data: &discordgo.InteractionCreate{Interaction: &discordgo.Interaction{Token: "secret-token"}}}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("event", "event", e)
	fmt.Fprintf(&b, "%v %+v %s", e, e, e)
	if strings.Contains(b.String(), "secret-token") {
		t.Error(b.String())
	}
}

func TestTheAddressOfTheGatewayIsEncryptedOrThisMachines(t *testing.T) {
	for address, want := range map[string]string{
		"wss://gateway.discord.gg":      "wss://gateway.discord.gg/?encoding=json&v=10",
		"wss://gateway.discord.gg/?v=9": "wss://gateway.discord.gg/?encoding=json&v=10",
		"ws://127.0.0.1:5/":             "ws://127.0.0.1:5/?encoding=json&v=10",
		"ws://example.com":              "",
		"file:///etc/passwd":            "",
		"wss:///x":                      "",
		"ws://%zz":                      "",
		"":                              "",
	} {
		if got, err := socketAddress(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", address, got, err)
		}
	}
}
