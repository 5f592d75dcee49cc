package messages

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

const (
	// firstWithin is how long a server may take for the head of its answer: a local one
	// reads a long prompt for minutes before it says a word.
	firstWithin = 10 * time.Minute
	// silentFor is how long a stream may be silent, pings counted.
	silentFor = 2 * time.Minute
	// maxRefusal is how much of an error's body is read.
	maxRefusal = 64 << 10
)

// errSilent is the cause with which a request ends that nothing comes from.
var errSilent = errors.New(textSilent)

// errCut says that a stream has ended before its answer.
var errCut = errors.New(textCut)

// watch ends ctx when it was not patted for the time that was given last.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel}
	w.timer = time.AfterFunc(firstWithin, func() { cancel(errSilent) })
	return ctx, w
}

func (w *watch) pat(limit time.Duration) { w.timer.Reset(limit) }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// receive sends a request and reads its answer to the end. What has come is returned
// beside the error too.
func receive(client *http.Client, r *http.Request, put piece) (*answer, error) {
	ctx, w := newWatch(r.Context())
	defer w.end()
	a := &answer{}
	resp, err := client.Do(r.WithContext(ctx))
	switch {
	case err != nil && resp != nil: // it leads to another server
		return a, refused(resp, nil)
	case err != nil:
		return a, because(ctx, err)
	}
	defer resp.Body.Close()
	w.pat(silentFor)
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // half a sentence is better than none
		return a, refused(resp, body)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("content-type"))
	switch kind {
	case "text/event-stream":
		err = a.stream(resp.Body, w, put)
	case "application/json":
		err = a.whole(resp.Body, put)
	default:
		return a, &failure{text: fmt.Sprintf(textNoAPI, short(r.URL.Host), short(kind))}
	}
	if err != nil {
		return a, because(ctx, err)
	}
	a.finish()
	return a, nil
}

// because is an error of the network, or why it was wanted.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errGarbled) {
		return cause
	}
	return err
}

// finish makes all blocks whole: the server has said that this is all.
func (a *answer) finish() {
	for _, b := range a.blocks {
		b.whole = true
	}
}

// stream reads server-sent events.
func (a *answer) stream(from io.Reader, w *watch, put piece) error {
	r := bufio.NewReader(from)
	var named string
	var data []byte
	for !a.over {
		text, err := readLine(r)
		if err != nil {
			if a.stop != "" && errors.Is(err, io.EOF) {
				return nil // all but the last word
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errCut
			}
			return err
		}
		w.pat(silentFor)
		name, value, _ := bytes.Cut(text, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(text) == 0 && len(data) > 0:
			if err := a.take(named, data, put); err != nil {
				return err
			}
			named, data = "", data[:0]
		case string(name) == "event":
			named = string(value)
		case string(name) == "data":
			data = append(data, value...)
		}
	}
	return nil
}

// readLine reads a line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > maxAnswer {
			return nil, errGarbled
		}
		switch {
		case err == nil && text == nil:
			return bytes.TrimRight(part, "\r\n"), nil
		case err == nil:
			return bytes.TrimRight(append(text, part...), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		text = append(text, part...)
	}
}

// whole reads the answer of a server that does not stream.
func (a *answer) whole(from io.Reader, put piece) error {
	data, err := io.ReadAll(io.LimitReader(from, maxAnswer+1))
	if err != nil {
		return errCut
	}
	var m message
	switch err := json.Unmarshal(data, &m); {
	case err != nil || len(data) > maxAnswer:
		return errGarbled
	case m.Error != nil:
		return inStream(m.Error)
	case m.Type != "message":
		return errGarbled
	}
	for i, raw := range m.Content {
		if err := a.begin(i, raw); err != nil {
			return err
		}
		b := a.blocks[i]
		if text := b.string(b.kind); text != "" {
			put(b.kind, text, true)
		}
	}
	a.stop, a.over = m.Stop, true
	a.count(m.Usage)
	return nil
}
