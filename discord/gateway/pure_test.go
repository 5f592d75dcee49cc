package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/discord/message"
)

func FuzzDecodedEventsAreWholeAndClean(f *testing.F) {
	kinds := []string{"READY", "MESSAGE_CREATE", "MESSAGE_DELETE", "INTERACTION_CREATE", "MESSAGE_REACTION_ADD"}
	seed, _ := json.Marshal(words("1", "a\x1b[31mred\u202e"))
	for i := range kinds {
		f.Add(i, seed)
	}
	f.Add(3, []byte(`{"id":"5","application_id":"6","channel_id":"7","token":"t","type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":3}]}}`))
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		e, v := decode(kinds[uint(kind)%uint(len(kinds))], data)
		if v != wanted || e.Kind == Ready {
			return
		}
		if e.ChannelID == "" || e.MessageID == "" && e.InteractionID == "" {
			t.Fatalf("half an event: %#v", e)
		}
		for _, s := range []string{e.Message.Text, e.Message.Quoted, e.CustomID, e.CommandName, e.Emoji, e.Token} {
			if strings.ContainsAny(s, "\x1b\x00\u202e") {
				t.Fatalf("unclean: %q", s)
			}
		}
	})
}

func TestInteractionsAreReadWithTheirOptionsAndWhoTouchedThem(t *testing.T) {
	const head = `{"id":"5","application_id":"2000","channel_id":"77","token":"aW50.ZXJ_a-","version":1,`
	for name, tc := range map[string]struct {
		data string
		want Event
	}{
		"a command": {
			`"type":2,"user":{"id":"42","username":"u"},"data":{"id":"8","name":"ping-budget","type":1,"options":[
				{"name":"capacity","type":4,"value":6},{"name":"share","type":10,"value":0.5},{"name":"on","type":5,"value":true},{"name":"topic","type":3,"value":"a\tb"}]}}`,
			Event{CommandName: "ping-budget", Options: map[string]any{"capacity": int64(6), "share": 0.5, "on": true, "topic": "a    b"}},
		},
		"a click on a server": {
			`"type":3,"guild_id":"3","member":{"user":{"id":"42","username":"u"}},"message":{"id":"9"},"data":{"custom_id":"act:dismiss:_","component_type":2}}`,
			Event{Guild: true, MessageID: "9", CustomID: "act:dismiss:_"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, v := decode("INTERACTION_CREATE", []byte(head+tc.data))
			want := tc.want
			want.Kind, want.UserID = Interaction, "42"
			want.InteractionID, want.AppID, want.ChannelID, want.Token = "5", "2000", "77", "aW50.ZXJ_a-"
			if diff := cmp.Diff(want, got); diff != "" || v != wanted {
				t.Error(v, diff)
			}
		})
	}
	for _, bad := range []string{
		`"type":4,"user":{"id":"42"},"data":{"name":"fork"}}`, // completion: not offered
		`"type":3,"user":{"id":"42"},"data":{"custom_id":"act:dismiss:_"}}`,
		`"type":3,"user":{"id":"42"},"message":{"id":"9"},"data":{}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":1.5}]}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":1,"options":[]}]}}`,
		`"type":2,"user":{"id":"42"},"token":"../../x","data":{"name":"fork"}}`,
		`"type":2,"data":{"name":"fork"}}`,
	} {
		if e, v := decode("INTERACTION_CREATE", []byte(head+bad)); v != broke {
			t.Errorf("%s: %v %+v", bad, v, e)
		}
	}
}

func TestAnEventShowsNeitherItsTokenNorItsWords(t *testing.T) {
	e := Event{Kind: Interaction, UserID: "42", Token: "secret-token", Message: message.Message{Text: "private words"}}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("event", "event", e)
	fmt.Fprintf(&b, "%v %+v %#v %s", e, e, e, e)
	if strings.Contains(b.String(), "secret-token") || strings.Contains(b.String(), "private words") {
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
		"":                              "",
	} {
		if got, err := socketAddress(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", address, got, err)
		}
	}
}
