package transcribe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
)

// sample reads a recording of the testdata: hello.ogg says "hello world", quiet.ogg is a quiet
// room, ten.ogg are ten seconds of speech.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	testkit.Must(t, err)
	return data
}

// service transcribes by this; recordings may last a minute.
func service(by provider.Transcriber) *Service {
	return New(Options{
		Find:     func() (provider.Transcriber, error) { return by, nil },
		Language: func() string { return "" }, Longest: func() time.Duration { return time.Minute },
		Env: os.Environ(), Dir: os.TempDir(),
		Begin: func() func() { return func() {} }, Charge: func(agent.Charge) {},
	})
}

// shell is a command that runs a script; $1 is the recording.
func shell(script string) provider.Transcriber {
	return provider.Transcriber{Command: []string{"/bin/sh", "-c", script, "sh", fileWord}}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// asks is a service whose server is a function.
func asks(by provider.Transcriber, f roundTrip) *Service {
	by.URL = "http://server.invalid/v1/audio/transcriptions"
	s := service(by)
	s.client.Transport = f
	return s
}

// A transcription that costs money was in no sum.
func TestATranscriptionIsBookedWhereItMayCost(t *testing.T) {
	const elsewhere, here = "http://server.invalid/v1/audio/transcriptions", "http://192.168.1.4:8000/v1/audio/transcriptions"
	for name, c := range map[string]struct {
		url, answer string
		status      int
		want        []agent.Charge
	}{
		"counted in tokens":  {elsewhere, `{"text":"hi","usage":{"type":"tokens","input_tokens":14,"output_tokens":3}}`, 200, []agent.Charge{{Model: "m", Used: agent.Usage{InputTokens: 14, OutputTokens: 3}}}},
		"counted in seconds": {elsewhere, `{"text":"hi","usage":{"type":"duration","seconds":9}}`, 200, []agent.Charge{{Model: "m", Unknown: true}}},
		"not counted":        {elsewhere, `{"text":"hi"}`, 200, []agent.Charge{{Model: "m", Unknown: true}}},
		"no answer":          {elsewhere, `nonsense`, 200, []agent.Charge{{Model: "m", Unknown: true}}},
		"refused":            {elsewhere, `{}`, 401, nil},
		"broken off":         {elsewhere, "", 0, []agent.Charge{{Model: "m", Unknown: true}}},
		"not reached":        {elsewhere, "", -1, nil},
		"in the network":     {here, `{"text":"hi","usage":{"type":"tokens","input_tokens":14,"output_tokens":3}}`, 200, nil},
	} {
		t.Run(name, func(t *testing.T) {
			under, begun := 0, 0
			var got []agent.Charge
			s := asks(provider.Transcriber{Model: "m"}, func(*http.Request) (*http.Response, error) {
				if (under == 1) != (c.url == elsewhere) {
					t.Errorf("%d count as under way", under)
				}
				switch c.status {
				case 0:
					return nil, io.ErrUnexpectedEOF
				case -1:
					return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
				}
				return &http.Response{StatusCode: c.status, Body: io.NopCloser(strings.NewReader(c.answer))}, nil
			})
			s.o.Find = func() (provider.Transcriber, error) { return provider.Transcriber{URL: c.url, Model: "m"}, nil }
			s.o.Begin = func() func() { under++; begun++; return func() { under-- } }
			s.o.Charge = func(charge agent.Charge) {
				if under != 1 {
					t.Error("booked when nothing is under way")
				}
				got = append(got, charge)
			}
			_, _ = s.Words(t.Context(), sample(t, "ten.ogg"))
			if !slices.Equal(got, c.want) || under != 0 || begun > 1 {
				t.Errorf("booked %+v, want %+v; %d under way of %d", got, c.want, under, begun)
			}
		})
	}
}

func TestTheSoundOfARecordingIsDecoded(t *testing.T) {
	samples, err := decode(sample(t, "ten.ogg"), time.Minute)
	testkit.Must(t, err)
	if seconds := float64(len(samples)) / rate; seconds < 9 || seconds > 13 {
		t.Errorf("%.1f seconds", seconds)
	}
	if silent(samples) || silent(samples[len(samples)/2:]) {
		t.Error("speech is silent")
	}
	file := wav(samples)
	if len(file) != 44+2*len(samples) || string(file[:4]) != "RIFF" || string(file[8:16]) != "WAVEfmt " || http.DetectContentType(file) != "audio/wave" {
		t.Errorf("% x", file[:44])
	}
}

func TestAWAVFileHasTheHeaderOfItsSamples(t *testing.T) {
	const want = "RIFF(\x00\x00\x00" + "WAVEfmt \x10\x00\x00\x00" + // 40 bytes follow; the format has 16
		"\x01\x00" + "\x01\x00" + "\x80\x3e\x00\x00" + "\x00\x7d\x00\x00" + // PCM, one channel, 16,000 samples and 32,000 bytes a second
		"\x02\x00" + "\x10\x00" + // two bytes a sample, 16 bits
		"data\x04\x00\x00\x00" + "\x01\x00\xfe\xff"
	if got := wav([]int16{1, -2}); string(got) != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestSilenceReachesNoModel(t *testing.T) {
	asked := 0
	s := asks(provider.Transcriber{}, func(*http.Request) (*http.Response, error) {
		asked++
		return nil, errors.New("asked")
	})
	for name, recording := range map[string][]byte{"a quiet room": sample(t, "quiet.ogg"), "nothing": sample(t, "quiet.ogg")[:400]} {
		if text, err := s.Words(t.Context(), recording); err == nil || text != "" || asked > 0 {
			t.Errorf("%s: %q, %v, asked %d times", name, text, err, asked)
		}
	}
	if _, err := s.Words(t.Context(), sample(t, "quiet.ogg")); err == nil || err.Error() != textSilent {
		t.Errorf("%v", err)
	}
}

func TestALongRecordingIsRefusedBeforeAllOfItIsDecoded(t *testing.T) {
	s := service(shell("echo never"))
	s.o.Longest = func() time.Duration { return 3 * time.Second }
	_, err := s.Words(t.Context(), sample(t, "ten.ogg"))
	if err == nil || !strings.Contains(err.Error(), "longer than 3 seconds") || !strings.Contains(err.Error(), "voice_limit") {
		t.Errorf("%v", err)
	}
}

func TestPropertyNoRecordingBreaksTheDecoder(t *testing.T) {
	whole := sample(t, "hello.ogg")
	testkit.Check(t, func(t *rapid.T) {
		data := bytes.Clone(whole[:rapid.IntRange(0, len(whole)).Draw(t, "length")])
		for range rapid.IntRange(0, 20).Draw(t, "flaws") {
			if len(data) > 0 {
				data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		samples, err := decode(data, time.Minute)
		if err != nil && !errors.Is(err, errNotOpus) && !errors.Is(err, errTooLong) || len(samples) > 61*rate {
			t.Fatalf("%d samples, %v", len(samples), err)
		}
	})
	for _, data := range [][]byte{nil, []byte("hello"), bytes.Repeat([]byte("OggS"), 1000)} {
		if _, err := service(shell("echo never")).Words(t.Context(), data); err == nil || err.Error() != textNotOpus {
			t.Errorf("%.10q: %v", data, err)
		}
	}
}

func TestAServerThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asks(provider.Transcriber{}, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		begun := time.Now()
		_, err := s.Words(t.Context(), sample(t, "hello.ogg"))
		if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), "did not answer within 1 minute") || took > 2*patience {
			t.Errorf("%v after %v", err, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Words(ctx, sample(t, "hello.ogg")); err == nil || strings.Contains(err.Error(), "within") {
			t.Errorf("when the bot stops: %v", err)
		}
	})
}

func TestAServerGetsItsKeyAndItsFormat(t *testing.T) {
	for name, c := range map[string]struct {
		wav          bool
		language     string
		file, begins string
		form         string
	}{
		"wav":    {true, "", "voice-message.wav", "RIFF", "model=m&response_format=json"},
		"german": {false, "de", "voice-message.ogg", "OggS", "language=de&model=m&response_format=json"},
	} {
		s := asks(provider.Transcriber{Key: "very-secret", WAV: c.wav, Model: "m"}, func(r *http.Request) (*http.Response, error) {
			f, head, err := r.FormFile("file")
			if err != nil {
				return nil, err
			}
			data, _ := io.ReadAll(f)
			if r.Header.Get("Authorization") != "Bearer very-secret" || head.Filename != c.file || !bytes.HasPrefix(data, []byte(c.begins)) || r.Form.Encode() != c.form {
				t.Errorf("%s: %v %v %.10q %v", name, r.Header, head.Filename, data, r.Form)
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"text":" a\u001b[31mb "}`)), Request: r}, nil
		})
		s.o.Language = func() string { return c.language }
		if text, err := s.Words(t.Context(), sample(t, "hello.ogg")); err != nil || text != "ab" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestAServerThatDoesNotTranscribeIsQuoted(t *testing.T) {
	long := strings.Repeat("x", maxAnswer+1)
	for _, c := range []struct {
		status       string
		answer, want string
	}{
		{"200 OK", `{"text":""}`, textNoWords},
		{"200 OK", `{"words":"hi"}`, textNonsense},
		{"200 OK", `<html>`, textNonsense},
		{"200 OK", long, textTooMuch},
		{"401 Unauthorized", `{}`, "the transcriber refused the key (401 Unauthorized): check it"},
		{"403 Forbidden", `{}`, "the transcriber refused the key (403 Forbidden): check it"},
		{"500 Broken", `{"error":{"message":"no\u001b[1m model"}}`, "the transcriber answered 500 Broken: no model"},
		{"500 Broken", `{"error":"no model"}`, "the transcriber answered 500 Broken: no model"},
		{"500 Broken", `{"error":{"code":1}}`, `the transcriber answered 500 Broken: {"code":1}`},
		{"502 Bad Gateway", "no\nmodel", "the transcriber answered 502 Bad Gateway: no model"},
		{"307 Temporary Redirect", "", "elsewhere.invalid"},
	} {
		s := asks(provider.Transcriber{}, func(r *http.Request) (*http.Response, error) {
			status, err := strconv.Atoi(c.status[:3])
			return &http.Response{
				StatusCode: status, Status: c.status, Header: http.Header{"Location": {"https://elsewhere.invalid/"}},
				Body: io.NopCloser(strings.NewReader(c.answer)), Request: r,
			}, err
		})
		if _, err := s.Words(t.Context(), sample(t, "hello.ogg")); err == nil || err.Error() != c.want && (c.answer != "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %.50s: %v", c.status, c.answer, err)
		}
	}
}

func TestACommandTranscribes(t *testing.T) {
	testkit.Alone(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for name, tt := range map[string]struct{ script, want, why string }{
		"words":         {`head -c 4 "$1" && echo " heard"`, "RIFF heard", ""},
		"fails":         {"echo starting >&2; echo no such model >&2; exit 3", "", "no such model"},
		"prints 10 MB":  {"while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "", textTooMuch},
		"says nothing":  {"true", "", textNoWords},
		"leaves a file": {`: >"$TMPDIR/left"; echo done`, "done", ""},
	} {
		text, err := service(shell(tt.script)).Words(t.Context(), sample(t, "hello.ogg"))
		if text != tt.want || (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %.100q, %v", name, text, err)
		}
	}
	_, err := service(provider.Transcriber{Command: []string{"/nonexistent/whisper"}}).Words(t.Context(), sample(t, "hello.ogg"))
	if err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheFileAndTheLanguageAreArguments(t *testing.T) {
	s := service(provider.Transcriber{})
	if got := strings.Join(s.arguments([]string{"-l", languageWord, "-nt"}, "/a.wav"), " "); got != "-l auto -nt /a.wav" {
		t.Error(got)
	}
	s.o.Language = func() string { return "de" }
	if got := strings.Join(s.arguments([]string{"-f=" + fileWord, "-l", languageWord}, "/a.wav"), " "); got != "-f=/a.wav -l de" {
		t.Error(got)
	}
}

// BenchmarkATenSecondMessage is what the bot adds to the time of the server: decoding,
// recognizing silence, making a WAV file, and the request.
func BenchmarkATenSecondMessage(b *testing.B) {
	recording := sample(b, "ten.ogg")
	s := asks(provider.Transcriber{WAV: true}, func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"text":"words"}`)), Request: r}, nil
	})
	before := processor(b)
	for b.Loop() {
		if _, err := s.Words(b.Context(), recording); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processor(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// processor is the processor time that this process has used.
func processor(t testing.TB) time.Duration {
	var u syscall.Rusage
	testkit.Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
