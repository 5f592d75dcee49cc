package claudetest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// block returns a text of about this many tokens, with or without a mark.
func block(name string, tokens int, mark string) string {
	return fmt.Sprintf(`{"type":"text","text":"%s %s"%s}`, name, strings.Repeat("x", tokens*tokenBytes-30-len(name)), mark)
}

const (
	mark     = `,"cache_control":{"type":"ephemeral"}`
	markHour = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func asking(model, system string, messages ...string) []byte {
	return fmt.Appendf(nil, `{"model":%q,"system":[%s],"messages":[{"role":"user","content":[%s]}]}`, model, system, strings.Join(messages, ","))
}

func TestThePromptCacheFollowsTheRules(t *testing.T) {
	begin := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	system, small := block("system", 1000, markHour), block("small", 100, mark)
	one, two := block("one", 600, mark), block("two", 600, mark)
	plain := func(b string) string { return strings.Replace(b, mark, "", 1) }
	var many []string
	for i := range lookBack {
		many = append(many, block(fmt.Sprint(i), 50, ""))
	}
	far := append(append([]string{plain(one)}, many...), two)
	near := append(append([]string{plain(one)}, many[1:lookBack-1]...), two)
	for name, steps := range map[string][]struct {
		after time.Duration
		body  []byte
		read  int // tokens, about
		bad   bool
	}{
		"a prefix is read":                  {{0, asking("m", system, one), 0, false}, {time.Minute, asking("m", system, plain(one), two), 1600, false}},
		"another model has none":            {{0, asking("m", system, one), 0, false}, {time.Minute, asking("n", system, one), 0, false}},
		"five minutes":                      {{0, asking("m", system, one), 0, false}, {6 * time.Minute, asking("m", system, one), 1000, false}},
		"a hit renews the time":             {{0, asking("m", system, one), 0, false}, {4 * time.Minute, asking("m", system, one), 1600, false}, {4 * time.Minute, asking("m", system, one), 1600, false}},
		"an hour":                           {{0, asking("m", system, one), 0, false}, {61 * time.Minute, asking("m", system, one), 0, false}},
		"a changed block ends it":           {{0, asking("m", system, one, two), 0, false}, {time.Second, asking("m", system, block("new", 600, mark), two), 1000, false}},
		"a short prompt is not kept":        {{0, asking("m", "", small), 0, false}, {time.Second, asking("m", "", small), 0, false}},
		"nothing is found 20 blocks back":   {{0, asking("m", "", one), 0, false}, {time.Second, asking("m", "", far...), 0, false}},
		"but 19 back":                       {{0, asking("m", "", one), 0, false}, {time.Second, asking("m", "", near...), 600, false}},
		"without a mark nothing is read":    {{0, asking("m", "", one), 0, false}, {time.Second, asking("m", "", plain(one)), 0, false}},
		"five marks are too many":           {{0, asking("m", system, one, one, one, one), 0, true}},
		"an hour after five minutes is bad": {{0, asking("m", "", one, block("late", 600, markHour)), 0, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var c Cache
			now := begin
			for i, s := range steps {
				now = now.Add(s.after)
				used, err := c.Take(s.body, now)
				if (err != nil) != s.bad {
					t.Fatalf("request %d: %v", i, err)
				}
				if d := used.Read - s.read; d < -40 || d > 40 {
					t.Errorf("request %d reads %d tokens, want about %d", i, used.Read, s.read)
				}
			}
		})
	}
}

func TestTheTokensOfARequestAreCountedOnce(t *testing.T) {
	var c Cache
	now := time.Now()
	first, err := c.Take(asking("m", block("system", 1000, markHour), block("one", 600, mark), block("rest", 100, "")), now)
	if err != nil || first.Read != 0 || first.Hour < 960 || first.Hour > 1000 || first.Write < 1560 || first.Write > 1600 || first.Input < 60 || first.Input > 100 {
		t.Errorf("%+v, %v", first, err)
	}
	if _, err := c.Take(asking("m", block("system", 1000, markHour), block("one", 600, mark), block("other", 100, "")), now); err != nil {
		t.Error(err)
	}
	if total := c.Total(); total.Requests != 2 || total.Rewritten != 1 || total.Share() < 0.4 || total.Share() > 0.5 {
		t.Errorf("%+v, %.2f", total, total.Share())
	}
}

func TestForksShareTheAnswerAndRewriteNothing(t *testing.T) {
	conversation := func(words ...string) []byte {
		var list []string
		for i, w := range words {
			role := []string{"user", "assistant"}[i%2]
			list = append(list, fmt.Sprintf(`{"role":%q,"content":%q}`, role, w))
		}
		return fmt.Appendf(nil, `{"model":"m","messages":[%s]}`, strings.Join(list, ","))
	}
	var c Cache
	for _, body := range [][]byte{
		conversation("one"), conversation("one", "answer", "a fork"), conversation("one", "answer", "another"),
		conversation("one", "answer", "a fork", "done", "more"), conversation("elsewhere"),
	} {
		if used, err := c.Take(body, time.Now()); err != nil || used.Rewritten > 0 {
			t.Errorf("%s: %+v, %v", body, used, err)
		}
	}
	whole := conversation("a long one", "answer", "of an earlier", "answer", "process")
	if used, err := c.Take(whole, time.Now()); err != nil || used.Rewritten > 0 {
		t.Errorf("a resumed conversation: %+v, %v", used, err)
	}
	if used, err := c.Take(conversation("a long one", "answer", "changed", "answer", "process"), time.Now()); err != nil || used.Rewritten != 1 {
		t.Errorf("a changed message: %+v, %v", used, err)
	}
}
