package discordtest

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestAnAbsentDescriptionIsSkippedUnlessItIsRequired(t *testing.T) {
	absent := func() (*contract, error) { return nil, errNoDocument }
	t.Setenv(envDocument, "")
	if c, err := openContract(nil, absent); c != nil || err != nil {
		t.Errorf("not required: %v, %v", c, err)
	}
	t.Setenv(envDocument, filepath.Join(t.TempDir(), "none.json"))
	if _, err := openContract(nil, loadContract); !errors.Is(err, errNoDocument) {
		t.Errorf("required: %v", err)
	}
}

func TestABrokenDescriptionIsNeverSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.json")
	testkit.Must(t, os.WriteFile(path, []byte(`{"openapi":`), 0o600))
	t.Setenv(envDocument, path)
	if _, err := openContract(nil, loadContract); err == nil {
		t.Error("nobody complains")
	}
}

func TestAnAnswerThatDriftsIsNoticed(t *testing.T) {
	k, err := loadContract()
	if errors.Is(err, errNoDocument) {
		t.Skip(err)
	}
	testkit.Must(t, err)
	c := &call{method: "GET", path: "/gateway"}
	if err := k.checkAnswer(c, ok(object{"url": "ws://127.0.0.1/"})); err != nil {
		t.Errorf("a good one: %v", err)
	}
	if err := k.checkAnswer(c, ok(object{"uri": "ws://127.0.0.1/"})); err == nil {
		t.Error("a missing field goes through")
	}
	if err := k.checkAnswer(c, failure(404, 10003)); err != nil {
		t.Errorf("an error: %v", err)
	}
	if err := k.checkAnswer(c, &Plan{Status: 302}); err == nil {
		t.Error("a status that is not described goes through")
	}
}

func TestAWrongParameterIsNoticed(t *testing.T) {
	k, err := loadContract()
	if errors.Is(err, errNoDocument) {
		t.Skip(err)
	}
	testkit.Must(t, err)
	for path, good := range map[string]bool{
		"/channels/12345/messages":         true,
		"/channels/12345/messages?limit=7": true,
		"/channels/here/messages":          false, // no snowflake
		"/channels/12345/messages?limit=x": false,
		"/channels/12345/messages?after=x": false,
		"/nowhere":                         false,
	} {
		u, err := url.Parse(path)
		testkit.Must(t, err)
		if err := k.checkRequest(&call{method: "GET", path: u.Path, query: u.Query()}); (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
}
