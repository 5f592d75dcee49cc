package provider

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/storage/store/storetest"
)

func TestTheFileSaysWhoTranscribes(t *testing.T) {
	for name, tt := range map[string]struct{ entry, url, fails string }{
		"a server":       {"{url: 'http://127.0.0.1:8000'}", "http://127.0.0.1:8000/v1/audio/transcriptions", ""},
		"with v1":        {"{url: 'https://api.example.org/openai/v1/', model: m, key: A_KEY}", "https://api.example.org/openai/v1/audio/transcriptions", ""},
		"another path":   {"{url: 'http://127.0.0.1:8080/inference', format: wav}", "http://127.0.0.1:8080/inference", ""},
		"a command":      {"{command: [whisper-cli, -f]}", "", ""},
		"both":           {"{url: 'http://127.0.0.1:8000', command: [x]}", "", textOneWay},
		"neither":        {"{model: x}", "", textOneWay},
		"an open key":    {"{url: 'http://far.example.org', key: A_KEY}", "", textOpenListener},
		"no such key":    {"{url: 'https://api.example.org', key: B_KEY}", "", "B_KEY is not set"},
		"the key itself": {"{url: 'https://api.example.org', key: sk-123}", "", textBadKey},
		"no list":        {"{command: whisper-cli}", "", textBadCommand},
		"format":         {"{url: 'http://127.0.0.1', format: mp3}", "", "write one of: ogg, wav"},
	} {
		r := registry(t, map[string]string{"A_KEY": "very-secret"})
		storetest.Put(t, r.o.Dir, File, "transcribe: "+tt.entry+"\n")
		got, err := r.Transcriber()
		if tt.fails == "" && (err != nil || got.URL != tt.url) || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if problems := r.Problems(); (len(problems) > 0) != (tt.fails != "") || strings.Contains(fmt.Sprintf("%+v %v", got, problems), "very-secret") {
			t.Errorf("%s: %v", name, problems)
		}
		if len(r.Providers()) > 0 {
			t.Errorf("%s is taken for a provider", name)
		}
	}
	if _, err := registry(t, nil).Transcriber(); !errors.Is(err, ErrNoTranscriber) {
		t.Errorf("%v", err)
	}
}
