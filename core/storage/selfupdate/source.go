package selfupdate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a server may be silent.
const patience = 30 * time.Second

var errStalled = fmt.Errorf("the server sent nothing for %s", patience)

// read returns a small file of the release.
func (p Program) read(ctx context.Context, name string) ([]byte, error) {
	r, err := p.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf(textRead, name, p.Source, err)
	case len(data) > maxText:
		return nil, fmt.Errorf(textTooLong, name, p.Source)
	}
	return data, nil
}

// open opens a file of the release.
func (p Program) open(ctx context.Context, name string) (r io.ReadCloser, err error) {
	if strings.HasPrefix(p.Source, "http") {
		r, err = p.get(ctx, name)
	} else {
		r, err = openFile(p.Source, name)
	}
	if err != nil {
		return nil, fmt.Errorf(textRead, name, p.Source, err)
	}
	return r, nil
}

// openFile opens a regular file; opening a pipe would block forever.
func openFile(folder, name string) (*os.File, error) {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		folder = filepath.Join(home, rest)
	}
	path := filepath.Join(folder, name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	return os.Open(path)
}

// get requests a file from the server.
func (p Program) get(ctx context.Context, name string) (io.ReadCloser, error) {
	address, err := url.JoinPath(p.Source, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b := &body{ctx: ctx, cancel: cancel, timer: time.AfterFunc(patience, func() { cancel(errStalled) })}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	client := p.client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(request) //nolint:bodyclose // body closes it
	if err != nil {
		_ = b.Close() // nothing is open yet
		return nil, b.cause(err)
	}
	b.ReadCloser = answer.Body
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("the server answered %s", answer.Status), b.Close())
	}
	return b, nil
}

// body is a response that is cancelled when the server is silent for too long.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, b.cause(err)
	}
	b.timer.Reset(patience)
	return n, err
}

// cause returns the reason for a cancelled read.
func (b *body) cause(err error) error {
	if cause := context.Cause(b.ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	if b.ReadCloser == nil {
		return nil
	}
	return b.ReadCloser.Close()
}
