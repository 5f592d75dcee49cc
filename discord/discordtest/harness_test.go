package discordtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

const agent = "DiscordBot (https://example.org, 1)"

// quiet runs a fake whose violations the test looks at by itself.
func quiet(t *testing.T, o discordtest.Options) *discordtest.Server {
	t.Helper()
	s, err := discordtest.StartProcess(o)
	testkit.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reply is an answer with its JSON taken apart.
type reply struct {
	status int
	header http.Header
	raw    string
	json   map[string]any
}

func (r reply) code() int {
	n, _ := r.json["code"].(float64)
	return int(n)
}

func (r reply) id() string {
	id, _ := r.json["id"].(string)
	return id
}

// do sends one request as a bot would. A nil body is none.
func do(t testing.TB, s *discordtest.Server, method, path string, body any) reply {
	t.Helper()
	r, err := try(t, s, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

func try(t testing.TB, s *discordtest.Server, method, path string, body any) (reply, error) {
	t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		testkit.Must(t, err)
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/api/v10"+path, in)
	testkit.Must(t, err)
	r.Header.Set("Content-Type", "application/json")
	return send(t, r)
}

func send(t testing.TB, r *http.Request) (reply, error) {
	t.Helper()
	r.Header.Set("User-Agent", agent)
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bot token")
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	out := reply{status: res.StatusCode, header: res.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &out.json) // lists and HTML stay raw
	return out, nil
}

type obj = map[string]any

// dm opens the channel with the owner.
func dm(t testing.TB, s *discordtest.Server) string {
	t.Helper()
	r := do(t, s, "POST", "/users/@me/channels", obj{"recipient_id": s.Owner().ID})
	if r.status != 200 {
		t.Fatalf("open the channel: %d %s", r.status, r.raw)
	}
	return r.id()
}

// client is a gateway client that does what a test wants.
type client struct {
	t  testing.TB
	ws *websocket.Conn
}

// frame is a packet from the gateway.
type frame struct {
	Op int             `json:"op"`
	T  string          `json:"t"`
	S  int64           `json:"s"`
	D  json.RawMessage `json:"d"`
}

func dial(t testing.TB, s *discordtest.Server, query string) *client {
	t.Helper()
	ws, res, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL(), "http")+"/?"+query, nil)
	testkit.Must(t, err)
	_ = res.Body.Close()
	t.Cleanup(func() { _ = ws.Close() })
	return &client{t: t, ws: ws}
}

func (c *client) send(op int, d any) {
	c.t.Helper()
	testkit.Must(c.t, c.ws.WriteJSON(obj{"op": op, "d": d}))
}

func (c *client) read(patience time.Duration) (frame, error) {
	var f frame
	if err := c.ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return f, err
	}
	err := c.ws.ReadJSON(&f)
	return f, err
}

// expect reads one packet and checks what it is: "op 11" or "READY".
func (c *client) expect(what string) frame {
	c.t.Helper()
	f, err := c.read(time.Minute)
	testkit.Must(c.t, err)
	got := f.T
	if f.Op != 0 {
		got = fmt.Sprintf("op %d", f.Op)
	}
	if got != what {
		c.t.Fatalf("got %s %s, want %s", got, f.D, what)
	}
	return f
}

const dmIntents = 1<<12 | 1<<13

// login goes as far as READY and returns the session's id.
func (c *client) login() string {
	c.t.Helper()
	c.expect("op 10")
	c.send(2, obj{"token": "Bot token", "intents": dmIntents, "properties": obj{}})
	var ready struct {
		SessionID string `json:"session_id"`
	}
	testkit.Must(c.t, json.Unmarshal(c.expect("READY").D, &ready))
	return ready.SessionID
}
