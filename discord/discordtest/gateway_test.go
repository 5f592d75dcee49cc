package discordtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

func TestAClientHearsWhatHappensInItsDirectMessages(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	c := dial(t, s)
	c.login()
	m := s.User().Say("hello")
	f := c.expect("MESSAGE_CREATE")
	var got struct {
		ID, Content string
		GuildID     *string `json:"guild_id"`
		Author      struct{ ID string }
	}
	testkit.Must(t, json.Unmarshal(f.D, &got))
	if got.ID != m.ID || got.Content != "hello" || got.GuildID != nil || got.Author.ID != s.Owner().ID || f.S != 2 {
		t.Errorf("got %+v with number %d", got, f.S)
	}
	c.send(1, f.S)
	c.expect("op 11")
	s.User().In("7").Say("in a guild") // nobody asked for these
	s.User().React(m.ID, "👍")
	c.expect("MESSAGE_REACTION_ADD")
	s.User().Edit(m.ID, "hello!")
	c.expect("MESSAGE_UPDATE")
	s.User().Delete(m.ID)
	c.expect("MESSAGE_DELETE")
}

func TestWhatHappenedMeanwhileIsReplayedInOrder(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	first := dial(t, s)
	session := first.login()
	s.User().Say("before")
	seen := first.expect("MESSAGE_CREATE").S
	s.DropSocket()
	if _, err := first.read(5 * time.Second); err == nil {
		t.Fatal("the connection is still there")
	}
	for i := range 3 {
		s.User().Say(fmt.Sprint("missed ", i))
	}
	second := dial(t, s)
	second.expect("op 10")
	second.send(6, obj{"token": "Bot token", "session_id": session, "seq": seen})
	for i := range 3 {
		f := second.expect("MESSAGE_CREATE")
		if f.S != seen+1+int64(i) || !strings.Contains(string(f.D), fmt.Sprint("missed ", i)) {
			t.Errorf("replayed %d: %s", f.S, f.D)
		}
	}
	second.expect("RESUMED")
	s.User().Say("after")
	if f := second.expect("MESSAGE_CREATE"); f.S != seen+5 {
		t.Errorf("numbered %d after the replay", f.S)
	}
}

func TestAFarewellEndsTheSession(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	first := dial(t, s)
	session := first.login()
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	testkit.Must(t, first.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)))
	s.Wait(t, "the farewell", func(st discordtest.State) bool { return !st.Connections[0].Closed.IsZero() })
	second := dial(t, s)
	second.expect("op 10")
	second.send(6, obj{"token": "Bot token", "session_id": session, "seq": 1})
	if f := second.expect("op 9"); string(f.D) != "false" {
		t.Errorf("op 9 says %s", f.D)
	}
	second.send(2, obj{"token": "Bot token", "intents": dmIntents})
	second.expect("READY")
}

func TestAStartMayBeAnsweredByAskingToReconnect(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	s.Op7First()
	c := dial(t, s)
	c.expect("op 10")
	c.send(2, obj{"token": "token", "intents": dmIntents})
	c.expect("op 7")
	dial(t, s).login()
}

func TestAWrongStartIsClosedWithItsCode(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	for want, in := range map[int]obj{
		4002: {"token": "Bot token", "intents": dmIntents, "presence": obj{ // P3: discordgo's empty keys
			"status": "online", "activities": []obj{{"name": "x", "type": 3, "created_at": "0001-01-01T00:00:00Z"}},
		}},
		4004: {"token": "Bot other", "intents": dmIntents},
		4013: {"token": "Bot token", "intents": 1 << 30},
		4014: {"token": "Bot token", "intents": dmIntents | 1<<15},
	} {
		c := dial(t, s)
		c.expect("op 10")
		c.send(2, in)
		var end *websocket.CloseError
		if _, err := c.read(time.Second); !errors.As(err, &end) || end.Code != want {
			t.Errorf("got %v, want %d", err, want)
		}
	}
}

func TestAnUnknownVersionIsClosed(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	ws, res, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL(), "http")+"/?v=5", nil)
	testkit.Must(t, err)
	defer ws.Close()
	_ = res.Body.Close()
	c := &client{t: t, ws: ws}
	c.expect("op 10")
	if _, err := c.read(time.Second); !websocket.IsCloseError(err, 4012) {
		t.Errorf("closed with %v", err)
	}
}

func TestFaultsOfARunningConnection(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	c := dial(t, s)
	c.login()
	s.SendOp7()
	c.expect("op 7")
	s.Dispatch("NOBODY_KNOWS", json.RawMessage(`{"id":7}`))
	f := c.expect("NOBODY_KNOWS")
	if !s.Again("NOBODY_KNOWS") || c.expect("NOBODY_KNOWS").S != f.S+1 {
		t.Error("the second one has no number of its own")
	}
	s.Repeat(1)
	if again := c.expect("NOBODY_KNOWS"); again.S != f.S+1 {
		t.Errorf("repeated with number %d", again.S)
	}
	s.Op9(true)
	if f := c.expect("op 9"); string(f.D) != "true" {
		t.Errorf("op 9 says %s", f.D)
	}
	s.Op9(false)
	c.expect("op 9")
	c.send(2, obj{"token": "token", "intents": dmIntents})
	c.expect("READY")
	s.CloseWith(4009)
	if _, err := c.read(time.Second); !websocket.IsCloseError(err, 4009) {
		t.Errorf("closed with %v", err)
	}
	if n := len(s.State().Identifies); n != 2 {
		t.Errorf("%d identifies", n)
	}
}

func TestAServerThatIsDownComesBackOnItsPort(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	c := dial(t, s)
	c.login()
	s.Down()
	if _, err := c.read(5 * time.Second); err == nil {
		t.Error("the connection is still there")
	}
	if _, err := try(t, s, "GET", "/gateway", nil); err == nil {
		t.Error("a server that is down answers")
	}
	s.Up()
	if r := do(t, s, "GET", "/gateway", nil); r.status != 200 {
		t.Errorf("status %d", r.status)
	}
	dial(t, s).login()
}

func TestMessagesInGuildsAreEmpty(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	c := dial(t, s)
	c.expect("op 10")
	c.send(2, obj{"token": "token", "intents": dmIntents | 1<<9})
	c.expect("READY")
	s.User().In("7").Say("secret")
	if f := c.expect("MESSAGE_CREATE"); strings.Contains(string(f.D), "secret") || !strings.Contains(string(f.D), `"guild_id":"7"`) {
		t.Errorf("got %s", f.D)
	}
}
