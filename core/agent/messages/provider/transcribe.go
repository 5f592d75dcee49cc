package provider

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
)

// transcribeKey is the only key of the file that is not a provider. It configures the transcriber
// of voice messages.
const transcribeKey = "transcribe"

// ErrNoTranscriber means that providers.yaml has no transcriber for voice messages.
var ErrNoTranscriber = errors.New(textNoTranscriber)

// Transcriber converts speech to text: a server with OpenAI's transcription API, or a command.
type Transcriber struct {
	// URL is the address to post a recording to; empty for a command.
	URL   string
	Model string
	// Key is empty for a server that needs none. It cannot be printed.
	Key config.Secret
	// WAV sends the server a WAV file instead of the recording. A command always gets one.
	WAV bool
	// Command is a program and its arguments.
	Command []string
}

// Free reports whether a transcription costs nothing: it is made on this machine or in its network.
func (t Transcriber) Free() bool { return t.URL == "" || (Provider{BaseURL: t.URL}).nearby() }

// Authorize sets the key in a request's headers.
func (t Transcriber) Authorize(h http.Header) {
	if t.Key != "" {
		h.Set("Authorization", "Bearer "+t.Key.Reveal())
	}
}

// transcriber is the entry of the file.
type transcriber struct {
	Transcriber
	keyVar string
	line   int
}

// defaultHearing is the model to request if the file names none; most self-hosted servers ignore
// it.
const defaultHearing = "whisper-1"

// transcriber parses the entry. If it has a mistake it is left out, because a recording must not go
// elsewhere.
func (f *file) transcriber(p frontmatter.Field) {
	t := transcriber{line: p.Line}
	sound := true
	for _, field := range p.Value.Fields {
		set, known := transcriberFields[field.Key]
		if !known {
			f.unknown(field, slices.Sorted(maps.Keys(transcriberFields)))
			continue
		}
		if err := set(&t, field.Value); err != nil {
			f.add(field.Value.Line, field.Value.Column, routines.Error, p.Key+"."+field.Key+": "+err.Error())
			sound = false
		}
	}
	switch {
	case !sound:
	case (t.URL == "") == (len(t.Command) == 0):
		f.add(p.Line, p.Column, routines.Error, p.Key+": "+textOneWay)
	case t.keyVar != "" && !(Provider{BaseURL: t.URL}).private():
		f.add(p.Line, p.Column, routines.Error, p.Key+": "+textOpenListener)
	default:
		t.Model = cmp.Or(t.Model, defaultHearing)
		f.hears = &t
	}
}

// transcriberFields are the keys of the entry.
var transcriberFields = map[string]func(*transcriber, frontmatter.Value) error{
	"url": func(t *transcriber, v frontmatter.Value) error {
		u, err := url.Parse(v.Text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return errors.New(textBadURL)
		}
		t.URL = strings.TrimRight(v.Text, "/")
		switch path := strings.TrimRight(u.Path, "/"); {
		case path == "":
			t.URL += "/v1/audio/transcriptions"
		case strings.HasSuffix(path, "/v1"):
			t.URL += "/audio/transcriptions"
		}
		return nil
	},
	"model": func(t *transcriber, v frontmatter.Value) error { return word(&t.Model, v) },
	"key": func(t *transcriber, v frontmatter.Value) error {
		if t.keyVar = v.Text; !variable().MatchString(v.Text) {
			return errors.New(textBadKey)
		}
		return nil
	},
	"format": func(t *transcriber, v frontmatter.Value) error {
		t.WAV = v.Text == "wav"
		return oneOf(v, "ogg", "wav")
	},
	"command": func(t *transcriber, v frontmatter.Value) error {
		if v.Kind != frontmatter.List || len(v.Items) == 0 {
			return errors.New(textBadCommand)
		}
		for _, item := range v.Items {
			if item.Kind != frontmatter.Scalar || clean.Line(item.Text) != item.Text {
				return errors.New(textBadCommand)
			}
			t.Command = append(t.Command, item.Text)
		}
		return nil
	},
}
