package discordtest

import (
	"net/url"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestAnAnswerThatDriftsIsNoticed(t *testing.T) {
	k, err := theContract()
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
	k, err := theContract()
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
