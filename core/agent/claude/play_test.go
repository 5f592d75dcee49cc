package claude

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ollimbot/core/agent/claude/process"
)

// player imitates a command over pipes: it answers the handshake and all other control requests,
// and leaves the rest to a test.
type player struct {
	in       *io.PipeReader
	stdin    *io.PipeWriter
	out      *io.PipeWriter
	stdout   *io.PipeReader
	resident atomic.Int64
	mute     atomic.Bool // control requests are not answered
	deaf     atomic.Bool // only SIGKILL ends it

	messages chan sent   // the host's messages for the model
	asked    chan string // subtypes of the host's control requests
	signals  chan os.Signal
	over     chan struct{}
	end      func()
	spec     process.Spec // what it was started with
	greets   string       // the answer to the handshake; empty is {}
	hear     func(kind string, line []byte)
	totals   atomic.Value // the answer to the question for what was used, as a string
	stderr   atomic.Value
}

// sent is a message of the host.
type sent struct {
	UUID string `json:"uuid"`
}

func newPlayer() *player {
	p := &player{messages: make(chan sent, 100), asked: make(chan string, 100), signals: make(chan os.Signal, 10), over: make(chan struct{})}
	p.in, p.stdin = io.Pipe()
	p.stdout, p.out = io.Pipe()
	p.end = sync.OnceFunc(func() {
		close(p.over)
		_ = p.out.Close()
		_ = p.in.Close()
	})
	return p
}

// listen reads what the host writes until it closes the input.
func (p *player) listen() {
	in := bufio.NewReader(p.in)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if !p.deaf.Load() {
				p.end()
			}
			return
		}
		var l struct {
			Type    string `json:"type"`
			ID      string `json:"request_id"`
			Request struct {
				Subtype string `json:"subtype"`
			} `json:"request"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			panic(err)
		}
		if p.hear != nil {
			p.hear(l.Type, line)
		}
		switch l.Type {
		case "user":
			var m sent
			if err := json.Unmarshal(line, &m); err != nil {
				panic(err)
			}
			p.messages <- m
		case "control_request":
			answer := cmp.Or(p.greets, "{}")
			if l.Request.Subtype == "get_usage" { // at any time
				answer, _ = p.totals.Load().(string)
			} else {
				p.asked <- l.Request.Subtype
			}
			if !p.mute.Load() {
				p.say(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, l.ID, cmp.Or(answer, "{}")))
			}
		}
	}
}

// say writes lines.
func (p *player) say(lines ...string) {
	for _, l := range lines {
		if _, err := io.WriteString(p.out, l+"\n"); err != nil {
			return
		}
	}
}

func (p *player) Stdin() io.WriteCloser { return p.stdin }
func (p *player) Stdout() io.Reader     { return p.stdout }
func (p *player) StderrTail() string    { s, _ := p.stderr.Load().(string); return s }
func (p *player) PID() int              { return 4711 }
func (p *player) Err() error            { return nil }

func (p *player) Signal(s os.Signal) error {
	p.signals <- s
	return nil
}

func (p *player) Resident() (int64, bool) { return p.resident.Load(), true }

// Stop waits and finally kills, as the real one does.
func (p *player) Stop(ctx context.Context, patience time.Duration) error {
	_ = p.stdin.Close()
	late := time.NewTimer(3 * patience)
	defer late.Stop()
	select {
	case <-p.over:
	case <-late.C:
	case <-ctx.Done():
	}
	p.end()
	return nil
}

// The lines of a turn, as the command writes them.
const (
	running = `{"type":"system","subtype":"session_state_changed","state":"running"}`
	idle    = `{"type":"system","subtype":"session_state_changed","state":"idle"}`
	begin   = `{"type":"system","subtype":"init","session_id":"the-session"}`
	ended   = `{"type":"system","subtype":"task_notification","task_id":"b1","status":"completed","summary":"a command &quot;x &amp;&amp; y&quot; has ended"}`
)

func delta(text string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}}`, text)
}

func start(id string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{"type":"message_start","message":{"id":%q}}}`, id)
}

func answerLine(id, text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[{"type":"text","text":%q}]}}`, id, text)
}

func echoLine(m sent) string {
	return fmt.Sprintf(`{"type":"user","isReplay":true,"uuid":%q,"message":{"role":"user","content":"x"}}`, m.UUID)
}

// resultLine returns the end of a turn. origin is why it began by itself, or empty.
func resultLine(origin string) string {
	if origin != "" {
		origin = fmt.Sprintf(`,"origin":{"kind":%q}`, origin)
	}
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"terminal_reason":"completed","session_id":"the-session"` + origin + `}`
}

const aborted = `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","session_id":"the-session"}`

// stage is an engine whose processes are played by the test.
type stage struct {
	engine  *Engine
	players chan *player
}

// newStage runs an engine over played processes. play may change a player before it begins.
func newStage(t testing.TB, o Options, play ...func(*player)) *stage {
	t.Helper()
	o.Path = "/nowhere/claude"
	if o.Env == nil {
		o.Env = []string{"HOME=" + t.TempDir()}
	}
	if o.Log == nil {
		o.Log = testLog(t)
	}
	st := &stage{engine: New(o), players: make(chan *player, 1000)}
	var g sync.WaitGroup
	t.Cleanup(g.Wait)
	st.engine.start = func(spec process.Spec) (child, error) {
		p := newPlayer()
		p.spec = spec
		for _, f := range play {
			f(p)
		}
		g.Go(p.listen)
		st.players <- p
		return p, nil
	}
	runEngine(t, st.engine)
	return st
}
