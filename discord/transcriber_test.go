package discord

import (
	"net/http"
	"strings"
	"testing"

	"ollimbot/core/base/aimocktest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

// serversKey is the only key that the server accepts.
const serversKey = "the-servers-key"

// transcriber starts an independent server of OpenAI's interface and returns its address.
func transcriber(t *testing.T) string {
	t.Helper()
	return aimocktest.Start(t, spoken, "AIMOCK_API_KEYS="+serversKey)
}

// spoken are the answers of the server, by model.
const spoken = `{"fixtures": [
	{"match": {"model": "plain", "endpoint": "transcription"}, "response": {"transcription": {"text": "` + "```script\\nsay The milk is on the list.\\n```" + `"}}},
	{"match": {"model": "timed", "endpoint": "transcription"}, "response": {"transcription": {"text": "Buy milk.", "language": "german", "duration": 1.2,
		"words": [{"word": "Buy", "start": 0, "end": 0.5}, {"word": "milk", "start": 0.5, "end": 1.2}]}}},
	{"match": {"model": "busy", "endpoint": "transcription"}, "response": {"error": {"message": "The engine is overloaded", "type": "server_error"}, "status": 503}},
	{"match": {"model": "mute", "endpoint": "transcription"}, "response": {"transcription": {"text": ""}}}
]}`

// hearsFrom are the options of a surface whose voice messages go to the server.
func (st *stage) hearsFrom(address, model, key string) Options {
	return st.hearsBy("transcribe:\n  url: "+address+"/v1\n  model: "+model+"\n  key: VOICE_KEY\n", key)
}

func TestAnIndependentServerTranscribesAndTheBotAnswers(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	address := transcriber(t)
	st := newStage(t, discordtest.Options{})
	st.liveAs(st.hearsFrom(address, "plain", serversKey))
	st.up()
	reply := st.replyTo(st.s.User().Speak(recording(t), 1.2))
	if !strings.Contains(reply.Content, "> say The milk is on the list.") {
		t.Errorf("the user reads %q", reply.Content)
	}
	st.says("The milk is on the list.")
}

// What our own servers of the other stories answer, an independent one does too: the user reads
// the same words.
func TestAnIndependentServerAndThatOfTheStoriesAgree(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	address := transcriber(t)
	for name, tt := range map[string]struct {
		model, key string
		ours       http.HandlerFunc
		read       string
	}{
		"words":         {"timed", serversKey, says("Buy milk."), "> Buy milk."},
		"overloaded":    {"busy", serversKey, fails(http.StatusServiceUnavailable, "The engine is overloaded"), "503 Service Unavailable: The engine is overloaded"},
		"another's key": {"timed", "wrong", fails(http.StatusUnauthorized, "Invalid API key"), "refused the key (401 Unauthorized): check it"},
		"no such model": {"none", serversKey, fails(http.StatusServiceUnavailable, "Strict mode: no fixture matched"), "Strict mode: no fixture matched"},
		"no words":      {"mute", serversKey, says(""), "heard no words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listen := func(options func(*stage) Options) (shown, heard string) {
				st := newStage(t, discordtest.Options{})
				bot := newStub(nil)
				st.aloneWith(options(st), bot)
				st.up()
				shown = st.replyTo(st.s.User().Speak(recording(t), 1.2)).Content
				return shown, bot.wait(t, 1)[0].(command.Receive).Text
			}
			shown, heard := listen(func(st *stage) Options { return st.hearsFrom(address, tt.model, tt.key) })
			if !strings.Contains(shown, tt.read) {
				t.Errorf("the user reads %q, want %q", shown, tt.read)
			}
			if oursShown, oursHeard := listen(func(st *stage) Options { return st.hears(tt.ours) }); oursShown != shown || oursHeard != heard {
				t.Errorf("with ours the user reads %q, want %q; the bot gets %q, want %q", oursShown, shown, oursHeard, heard)
			}
		})
	}
}
