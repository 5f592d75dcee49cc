// Package transcribe converts the recording of a voice message to text, with a server
// that has OpenAI's transcription API or with a command of the user. It owns the sound:
// it decodes it, measures its length and detects silence. It must not know where a
// recording comes from, nor how the text is used.
package transcribe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/web"
	"ollimbot/core/base/words"
)

const (
	// patience is the time limit for a transcription, in addition to the length of the
	// recording.
	patience = time.Minute
	// maxAnswer limits the text of a recording, in bytes.
	maxAnswer = 256 << 10
	// maxWhy is how much of an external error is shown, in characters.
	maxWhy = 200
)

// Options configure a Service. All are required but Sandbox and Client.
type Options struct {
	// Find returns the transcriber to use.
	Find func() (provider.Transcriber, error)
	// Language returns the language of the speech, as a code such as "de"; empty to detect
	// it.
	Language func() string
	// Longest returns the length up to which recordings are transcribed.
	Longest func() time.Duration
	// Begin notes that a request that may cost money is under way, until end is called. Charge books
	// it.
	Begin  func() (end func())
	Charge func(agent.Charge)
	// Sandbox sandboxes a command before it starts: sandbox.Box.CommandIn.
	Sandbox func(tmp string, cmd *exec.Cmd) (done func())
	// Dir is the working directory of a command, Env its environment.
	Dir string
	Env []string
}

// Service transcribes recordings. Its methods are safe for concurrent use.
type Service struct {
	o      Options
	client *http.Client
}

// New returns a service without starting anything.
func New(o Options) *Service {
	if o.Sandbox == nil {
		o.Sandbox = func(string, *exec.Cmd) func() { return func() {} }
	}
	return &Service{o: o, client: &http.Client{CheckRedirect: provider.CheckRedirect}}
}

// Words transcribes a recording, Opus in an Ogg file. It ends with ctx, or by itself if
// it takes too long. The error is a phrase for the user about why there is no text.
func (s *Service) Words(ctx context.Context, recording []byte) (string, error) {
	by, err := s.o.Find()
	if err != nil {
		return "", err
	}
	samples, err := decode(recording, s.o.Longest())
	switch {
	case errors.Is(err, errTooLong):
		return "", fmt.Errorf(textTooLong, words.Long(s.o.Longest()))
	case err != nil:
		return "", err
	case silent(samples):
		return "", errors.New(textSilent)
	}
	limit := patience + time.Duration(len(samples))*time.Second/rate
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var text string
	switch {
	case len(by.Command) > 0:
		text, err = s.run(within, by.Command, wav(samples))
	case by.WAV:
		text, err = s.ask(within, by, "voice-message.wav", wav(samples))
	default:
		text, err = s.ask(within, by, "voice-message.ogg", recording)
	}
	if within.Err() != nil && ctx.Err() == nil {
		return "", fmt.Errorf(textHangs, words.Long(limit.Round(time.Second)))
	}
	if text = strings.TrimSpace(clean.Text(text)); err == nil && text == "" {
		err = errors.New(textNoWords)
	}
	return text, err
}

// ask posts a recording to a server.
func (s *Service) ask(ctx context.Context, by provider.Transcriber, name string, sound []byte) (string, error) {
	kind, body, err := s.form(by, name, sound)
	if err != nil {
		return "", err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, by.URL, body)
	if err != nil {
		return "", fmt.Errorf(textNoServer, clean.Cut(clean.Line(err.Error()), maxWhy))
	}
	if !by.Free() {
		defer s.o.Begin()()
	}
	q.Header.Set("Content-Type", kind)
	q.Header.Set("Accept", "application/json")
	by.Authorize(q.Header)
	res, err := s.client.Do(q)
	if err != nil {
		if dial, ok := errors.AsType[*net.OpError](err); !by.Free() && (!ok || dial.Op != "dial") { // the server may have done its work
			s.o.Charge(agent.Charge{Model: by.Model, Unknown: true})
		}
		return "", fmt.Errorf(textNoServer, trouble(err))
	}
	defer func() { _ = res.Body.Close() }() // opened for reading only
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if !by.Free() && res.StatusCode == http.StatusOK {
		s.o.Charge(charge(by.Model, answer))
	}
	switch {
	case err != nil:
		return "", fmt.Errorf(textNoServer, trouble(err))
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf(textRefused, res.Status)
	case res.StatusCode != http.StatusOK:
		return "", fmt.Errorf(textStatus, clean.Line(res.Status), reason(answer))
	case len(answer) > maxAnswer:
		return "", errors.New(textTooMuch)
	}
	var said struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(answer, &said) != nil || said.Text == nil {
		return "", errors.New(textNonsense)
	}
	return *said.Text, nil
}

// charge is what an answer has cost: its tokens, if the server counts in tokens. Others bill seconds,
// for which there are no prices.
func charge(model string, answer []byte) agent.Charge {
	var said struct {
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	}
	_ = json.Unmarshal(answer, &said) // an answer that is none has no tokens
	c := agent.Charge{Model: model, Used: agent.Usage{InputTokens: max(0, said.Usage.Input), OutputTokens: max(0, said.Usage.Output)}}
	c.Unknown = c.Used.Tokens() == 0
	return c
}

// trouble describes a network error, without the address.
func trouble(err error) string {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	return cmp.Or(web.Trouble(err), clean.Cut(clean.Line(err.Error()), maxWhy))
}

// form builds the request as documented by OpenAI:
// platform.openai.com/docs/api-reference/audio/createTranscription.
func (s *Service) form(by provider.Transcriber, name string, sound []byte) (kind string, body io.Reader, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fields := [][2]string{{"model", by.Model}, {"response_format", "json"}}
	if language := s.o.Language(); language != "" {
		fields = append(fields, [2]string{"language", language})
	}
	for _, f := range fields {
		err = errors.Join(err, w.WriteField(f[0], f[1]))
	}
	part, err2 := w.CreateFormFile("file", name)
	if err = errors.Join(err, err2); err == nil {
		_, err = part.Write(sound)
	}
	return w.FormDataContentType(), &b, errors.Join(err, w.Close())
}

// reason returns an answer's own description of its failure.
func reason(answer []byte) string {
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := string(answer)
	if json.Unmarshal(answer, &said) == nil && len(said.Error) > 0 {
		text = strings.Trim(string(said.Error), `"`)
		if json.Unmarshal(said.Error, &inner) == nil && inner.Message != "" {
			text = inner.Message
		}
	}
	return clean.Cut(clean.Line(text), maxWhy)
}
