package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

const testToken = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"

// server is a gateway that does what a script says. It keeps the dispatches of
// its session, numbered, and replays what a resuming client has missed.
type server struct {
	script   func(n int, p *peer) // n counts connections from 1
	interval time.Duration        // of heartbeats; 0 is Discord's
	work     sync.WaitGroup
	fail     func(why string) // a script is wrong

	mu       sync.Mutex // guards what follows
	conns    int
	asked    []string    // addresses of connections
	refuse   error       // instead of connections
	resumeAt string      // where READY wants the session to be resumed
	last     time.Time   // when the last session was started
	noted    []time.Time // starts that the link reported
	searches int         // for the gateway
	refused  int         // connections
	dead     atomic.Bool // the address for resuming leads nowhere
	starts   []time.Time
	login    []string // every op 2 and 6, as sent
	resume   []int64  // the sequence number of every op 6
	shown    []string // presences: name, type, state, status
	told     []time.Time
	byes     []int // close codes that clients sent
	seq      int64
	log      []packetOut
}

type packetOut struct {
	Op int     `json:"op"`
	D  any     `json:"d"`
	S  *int64  `json:"s"`
	T  *string `json:"t"`
}

// peer is one connection.
type peer struct {
	s      *server
	ws     *websocket.Conn
	logins chan int      // op 2 or 6
	beats  chan struct{} // heartbeats; room for one
	gone   chan struct{}
	mute   atomic.Bool // no answers to heartbeats

	mu sync.Mutex // orders writes
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	s.mu.Lock()
	s.conns++
	s.asked = append(s.asked, r.Host+r.URL.String())
	n := s.conns
	s.mu.Unlock()
	p := &peer{s: s, ws: ws, logins: make(chan int, 64), beats: make(chan struct{}, 1), gone: make(chan struct{})}
	s.work.Go(p.read)
	s.script(n, p)
	<-p.gone
}

func (p *peer) read() {
	defer close(p.gone)
	for {
		_, data, err := p.ws.ReadMessage()
		if err != nil {
			var closed *websocket.CloseError
			if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
				p.s.mu.Lock()
				p.s.byes = append(p.s.byes, closed.Code)
				p.s.mu.Unlock()
			}
			return
		}
		p.handle(data)
	}
}

func (p *peer) handle(data []byte) {
	var in struct {
		Op int `json:"op"`
		D  struct {
			Seq        int64  `json:"seq"`
			Status     string `json:"status"`
			Activities []struct {
				Name, State string
				Type        int
			} `json:"activities"`
		} `json:"d"`
	}
	_ = json.Unmarshal(data, &in) // a heartbeat's d is a number
	if in.Op == opHeartbeat {
		select {
		case p.beats <- struct{}{}:
		default:
		}
		if !p.mute.Load() {
			p.send(packetOut{Op: opHeartbeatAck})
		}
		return
	}
	s := p.s
	s.mu.Lock()
	switch in.Op {
	case opIdentify:
		s.starts = append(s.starts, time.Now())
		s.login = append(s.login, string(data))
	case 6:
		s.resume = append(s.resume, in.D.Seq)
		s.login = append(s.login, string(data))
	default:
		var words []string
		for _, a := range in.D.Activities {
			words = append(words, strings.TrimSpace(fmt.Sprint(a.Name, " ", a.Type, " ", a.State)))
		}
		s.shown, s.told = append(s.shown, strings.Join(append(words, in.D.Status), " ")), append(s.told, time.Now())
	}
	s.mu.Unlock()
	if in.Op == opIdentify || in.Op == 6 {
		p.logins <- in.Op
	}
}

func (p *peer) send(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	p.write(websocket.TextMessage, data)
}

func (p *peer) raw(text string) { p.write(websocket.TextMessage, []byte(text)) }

func (p *peer) write(kind int, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.ws.WriteMessage(kind, data) // a client that is gone shows in p.gone
}

func (p *peer) hello() {
	interval := p.s.interval
	if interval == 0 {
		interval = 41250 * time.Millisecond
	}
	p.send(packetOut{Op: opHello, D: map[string]int64{"heartbeat_interval": interval.Milliseconds()}})
}

// login waits for IDENTIFY or RESUME, and gives its opcode, 0 if the client left.
func (p *peer) login() int {
	select {
	case op := <-p.logins:
		return op
	case <-p.gone:
		return 0
	}
}

// record numbers a dispatch and keeps it for a replay, without sending it.
func (s *server) record(kind string, d any) packetOut {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	n := s.seq
	out := packetOut{Op: 0, D: d, S: &n, T: &kind}
	s.log = append(s.log, out)
	return out
}

func (p *peer) dispatch(kind string, d any) { p.send(p.s.record(kind, d)) }

func (p *peer) ready() {
	p.dispatch("READY", map[string]any{
		"v": 10, "session_id": "session", "user": map[string]any{"id": "1000", "username": "ollim", "bot": true},
		"application": map[string]any{"id": "2000"}, "resume_gateway_url": p.s.resumeAt,
	})
}

// resumed replays from the sequence number of the last RESUME on.
func (p *peer) resumed() {
	p.s.mu.Lock()
	from := p.s.resume[len(p.s.resume)-1]
	var missed []packetOut
	for _, out := range p.s.log {
		if *out.S > from {
			missed = append(missed, out)
		}
	}
	p.s.mu.Unlock()
	for _, out := range missed {
		p.send(out)
	}
	p.dispatch("RESUMED", map[string]any{})
}

// welcome is the way into a session that works.
func (p *peer) welcome() {
	p.hello()
	switch p.login() {
	case opIdentify:
		p.ready()
	case 6:
		p.resumed()
	}
}

// idle lets time pass; false when the client left meanwhile.
func (p *peer) idle(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.gone:
		return false
	}
}

func (p *peer) drop() { _ = p.ws.UnderlyingConn().Close() }

func (p *peer) closeWith(code int) {
	p.write(websocket.CloseMessage, websocket.FormatCloseMessage(code, "no more"))
}

// words are the data of a MESSAGE_CREATE of the owner.
func words(id, text string) map[string]any {
	return map[string]any{
		"id": id, "channel_id": "77", "type": 0, "content": text, "timestamp": "2026-01-02T03:04:05Z",
		"author": map[string]any{"id": "42", "username": "user"}, "attachments": []any{}, "mentions": []any{}, "embeds": []any{},
	}
}

// count reads a number of the server's under its lock.
func (s *server) count(f func(*server) int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s)
}

func connections(s *server) int { return s.conns }
func identifies(s *server) int  { return len(s.starts) }
func resumes(s *server) int     { return len(s.resume) }

func (s *server) refuseWith(err error) { s.do(func() { s.refuse = err }) }

// do does something under the server's lock.
func (s *server) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// refusal is what the kernel says of a port where nobody listens.
func refusal() error { return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED} }

// dialPipe connects through memory, so that the time can be a bubble's.
func (s *server) dialPipe(ctx context.Context, _, addr string) (net.Conn, error) {
	var err error
	s.do(func() {
		if err = s.refuse; err != nil {
			s.refused++
		}
	})
	if addr == "127.0.0.1:2" && s.dead.Load() {
		return nil, refusal()
	}
	if errors.Is(err, errSwallowed) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	s.work.Go(func() {
		defer far.Close()
		rw := bufio.NewReadWriter(bufio.NewReader(far), bufio.NewWriter(far))
		r, err := http.ReadRequest(rw.Reader)
		if err != nil {
			return
		}
		s.ServeHTTP(&hijack{conn: far, rw: rw}, r)
	})
	return near, nil
}

// errSwallowed makes the server a network in which packets disappear.
var errSwallowed = errors.New("nothing comes back")

// hijack is as much of a ResponseWriter as an upgrade needs.
type hijack struct {
	conn net.Conn
	rw   *bufio.ReadWriter
}

func (h *hijack) Header() http.Header         { return http.Header{} }
func (h *hijack) Write(p []byte) (int, error) { return h.conn.Write(p) }
func (h *hijack) WriteHeader(int)             {}
func (h *hijack) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, h.rw, nil
}

// found is a Find that gives this address and room enough.
func found(address string) func(context.Context) (discordgo.GatewayBotResponse, error) {
	return func(context.Context) (discordgo.GatewayBotResponse, error) { return door(address, 1000, 0), nil }
}

func door(address string, left int, reset time.Duration) discordgo.GatewayBotResponse {
	limit := discordgo.SessionInformation{Remaining: left, ResetAfter: int(reset.Milliseconds())}
	return discordgo.GatewayBotResponse{URL: address, SessionStartLimit: limit}
}

// overLoopback starts the server on a port and gives the options that lead there.
func overLoopback(t testing.TB, s *server) Options {
	web := httptest.NewServer(s)
	t.Cleanup(func() { web.Close(); s.work.Wait() })
	return Options{Token: testToken, Find: found("ws" + strings.TrimPrefix(web.URL, "http"))}
}
